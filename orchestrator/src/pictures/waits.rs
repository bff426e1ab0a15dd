//! How long requests waited: by share of the requests, and in the course of the run.

use model::run::{RequestRow, Run};
use model::time::rounded_us;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke};
use super::palette::{BLUE, Look, ORANGE, look};
use super::pixels::seconds;
use super::{BOTTOM, HEIGHT, LEFT, Picture, RIGHT, TOP, faults};
use crate::numbers::count;

/// Points of the curve of percentiles.
const CURVE: usize = 160;
/// Parts of the run of which each has its median.
const PARTS: usize = 80;

/// How long the unlucky waited: for each share of the requests, the wait that it does not exceed.
///
/// `waits` are in nanoseconds, ascending.
pub(crate) fn wait_percentiles(waits: &[u64]) -> Option<Picture> {
    let most = *waits.last()?;
    let (unit_ns, unit) = unit(most);
    // One request of this many waits longer; the last of n is one in n.
    let rarest = (waits.len() as f64).max(2.0);
    let x = Axis::new(1.0..=rarest, LEFT, RIGHT).logarithmic();
    let y = Axis::new(0.0..=most as f64 / unit_ns, BOTTOM, TOP);
    let shares = [
        (1.0, "0 %"),
        (2.0, "50 %"),
        (10.0, "90 %"),
        (100.0, "99 %"),
        (1e3, "99.9 %"),
        (1e4, "99.99 %"),
        (1e5, "99.999 %"),
    ];
    let shares = shares.into_iter().filter(|(one_in, _)| *one_in <= rarest);
    let shares = shares.map(|(one_in, name)| (one_in, name.to_owned()));
    let mut canvas = Canvas::default();
    let label = "share of the requests";
    canvas.along_x_at(&x, &shares.collect::<Vec<_>>(), BOTTOM, TOP, label);
    canvas.along_y(&y, LEFT, RIGHT, &format!("wait, {unit}"));
    let points = (0..=CURVE).map(|nth| {
        let one_in = rarest.powf(nth as f64 / CURVE as f64);
        let rank = ((1.0 - 1.0 / one_in) * waits.len() as f64).ceil() as usize;
        let wait = waits[rank.clamp(1, waits.len()) - 1];
        (x.at(one_in), y.at(wait as f64 / unit_ns))
    });
    canvas.curve(&points.collect::<Vec<_>>(), Stroke::new(BLUE, 2.0));
    Some(Picture {
        svg: canvas.svg(HEIGHT),
        caption: format!(
            "Wait percentiles: so large a share of the {} measured requests waited no longer than this. \
             The longest wait was {}.",
            count(waits.len() as u64),
            rounded_us(most as f64 / 1e3)
        ),
    })
}

/// How long requests waited in the course of the run.
pub(crate) fn wait_over_time(run: &Run) -> Option<Picture> {
    let mut parts = vec![Vec::new(); PARTS];
    let length = run.ended_ns.max(1);
    for (entered_ns, wait_ns) in run.requests.iter().filter_map(wait) {
        let part = u128::from(entered_ns) * PARTS as u128 / u128::from(length);
        parts[(part as usize).min(PARTS - 1)].push(wait_ns);
    }
    let most = parts.iter().flatten().copied().max()?;
    let (unit_ns, unit) = unit(most);
    let x = seconds(0, length);
    let y = Axis::new(0.0..=most as f64 / unit_ns, BOTTOM, TOP);
    let mut canvas = Canvas::default();
    faults::bands(&mut canvas, run, (0, length), BOTTOM);
    canvas.along_x(&x, BOTTOM, TOP, "time, s");
    canvas.along_y(&y, LEFT, RIGHT, &format!("wait, {unit}"));
    let gaps = parts.iter().any(Vec::is_empty);
    for (first, together) in without_gaps(&mut parts) {
        let (mut medians, mut longest) = (Vec::new(), Vec::new());
        for (nth, part) in together.iter_mut().enumerate() {
            part.sort_unstable();
            let middle = ((first + nth) as f64 + 0.5) / PARTS as f64 * length as f64 / 1e9;
            let point = |wait: u64| (x.at(middle), y.at(wait as f64 / unit_ns));
            medians.push(point(part[(part.len() - 1) / 2]));
            longest.push(point(part[part.len() - 1]));
        }
        for (curve, colour) in [(&longest, ORANGE), (&medians, BLUE)] {
            canvas.curve(curve, Stroke::new(colour, 2.0));
            if let [alone] = curve[..] {
                let disc = Look { colour, ..look(0) };
                canvas.mark(alone, disc, 0.5);
            }
        }
    }
    faults::legend(&mut canvas, run, &[("median", BLUE), ("longest", ORANGE)]);
    let no_line = match gaps {
        true => " There is no line where nobody entered.",
        false => "",
    };
    Some(Picture {
        svg: canvas.svg(HEIGHT),
        caption: format!(
            "Wait over time: median and longest of those who entered in each {} of the run.{no_line}",
            rounded_us(length as f64 / PARTS as f64 / 1e3),
        ),
    })
}

/// The unit that suits times up to this one, in nanoseconds, and its name.
pub(super) fn unit(most_ns: u64) -> (f64, &'static str) {
    match most_ns {
        0..10_000 => (1.0, "ns"),
        10_000..10_000_000 => (1e3, "µs"),
        10_000_000..10_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// The parts that follow each other without an empty one between, each time with the number of the
/// first.
fn without_gaps(parts: &mut [Vec<u64>]) -> Vec<(usize, &mut [Vec<u64>])> {
    let mut first = 0;
    let mut found = Vec::new();
    for together in parts.chunk_by_mut(|one, next| one.is_empty() == next.is_empty()) {
        let length = together.len();
        if !together[0].is_empty() {
            found.push((first, together));
        }
        first += length;
    }
    found
}

/// When a request entered and how long it had waited by then.
fn wait(row: &RequestRow) -> Option<(u64, u64)> {
    let entered_ns = row.entered_ns.filter(|_| !row.uninvited)?;
    Some((entered_ns, entered_ns.saturating_sub(row.arrived_ns)))
}
