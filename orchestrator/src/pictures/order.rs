//! How far each request came in before or after its turn.

use std::fmt::Write;

use model::run::Run;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke};
use super::palette::{BLUE, INK};
use super::{BOTTOM, HEIGHT, LEFT, Picture, RIGHT, TOP};
use crate::numbers::count;

/// Requests that are drawn; of more, every n-th.
const CLOUD: usize = 2_000;

/// How far each request came in before or after its turn; nothing if fewer than two came in.
pub(crate) fn order(run: &Run) -> Option<Picture> {
    let served = run
        .requests
        .iter()
        .filter(|row| row.entered_ns.is_some() && !row.uninvited);
    let mut served = served.enumerate().collect::<Vec<_>>();
    served.sort_by_key(|(arrival, row)| (row.entered_ns, *arrival));
    let moved = served.iter().enumerate();
    let moved = moved.map(|(turn, (arrival, _))| (*arrival, turn as f64 - *arrival as f64));
    let moved = moved.collect::<Vec<_>>();
    if moved.len() < 2 {
        return None;
    }
    let places = moved.iter().map(|(_, places)| places.abs());
    let farthest = places.fold(1.0, f64::max) * 1.1;
    let x = Axis::new(0.0..=moved.len() as f64, LEFT, RIGHT);
    let y = Axis::new(-farthest..=farthest, BOTTOM, TOP);
    let mut canvas = Canvas::default();
    let label = "requests, in the order of their arrival";
    canvas.along_x(&x, BOTTOM, TOP, label);
    let label = "places later (+) or earlier (−) than its turn";
    canvas.along_y(&y, LEFT, RIGHT, label);
    let (left, right) = ((LEFT, y.at(0.0)), (RIGHT, y.at(0.0)));
    canvas.line(left, right, Stroke::new(INK, 1.0));
    let step = moved.len().div_ceil(CLOUD);
    let mut cloud = String::new();
    for (arrival, places) in moved.iter().step_by(step) {
        let (x, y) = (x.at(*arrival as f64), y.at(*places));
        write!(cloud, "M{:.0} {y:.1}h3", x - 1.5).expect("a text takes every letter");
    }
    canvas.path(&cloud, Stroke::new(BLUE, 3.0).opacity(0.8));
    let thinned = match step {
        1 => String::new(),
        step => format!(" One in {step} of {} is drawn.", count(moved.len() as u64)),
    };
    let of_all = match moved.iter().filter(|(_, places)| *places != 0.0).count() {
        0 => "Everybody entered in the order of arrival.".to_owned(),
        others => format!(
            "{} of {} entered out of turn.",
            count(others as u64),
            count(moved.len() as u64)
        ),
    };
    Some(Picture {
        svg: canvas.svg(HEIGHT),
        caption: format!("Order of execution. {of_all}{thinned}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::occupancy::tests::{request, run};

    #[test]
    fn a_request_that_was_passed_came_later_than_its_turn() {
        let requests = vec![
            request(0, 0, 50, 60),
            request(1, 1, 10, 20),
            request(2, 2, 30, 40),
        ];
        let picture = order(&run(requests, 60)).expect("three were served");
        let caption = &picture.caption;
        assert!(caption.contains("3 of 3 entered out of turn"), "{caption}");
        assert_eq!(picture.svg.matches("h3").count(), 3);
    }
}
