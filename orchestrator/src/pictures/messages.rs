//! How many messages of each kind were sent.

use std::collections::BTreeMap;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::palette::BLUE;
use super::{BELOW, Picture, RIGHT, TOP};

/// Where the bars begin, right of the kinds' names.
const LEFT: f64 = 190.0;
/// The height of a kind's line.
const LINE: f64 = 28.0;

/// A bar for each kind of message; nothing if none was sent.
pub(crate) fn by_kind(sent: &BTreeMap<&str, u64>) -> Option<Picture> {
    let most = *sent.values().max()?;
    let bottom = TOP + LINE * sent.len() as f64;
    let x = Axis::new(0.0..=most as f64, LEFT, RIGHT);
    let mut canvas = Canvas::default();
    canvas.along_x(&x, bottom, TOP, "messages sent");
    for (nth, (kind, sent)) in sent.iter().enumerate() {
        let y = TOP + LINE * nth as f64;
        canvas.text((LEFT - 10.0, y + LINE / 2.0 + 4.0), Anchor::End, kind);
        let size = ((x.at(*sent as f64) - LEFT).max(1.0), LINE - 8.0);
        canvas.block((LEFT, y + 4.0), size, BLUE, 1.0);
    }
    Some(Picture {
        svg: canvas.svg(bottom + BELOW),
        caption: "Messages by kind, counted where they are sent.".to_owned(),
    })
}
