//! The pictures of one run.
//!
//! A picture shows no more than its pixels: stays and waits are drawn to the pixel, and of very many
//! requests every n-th. What is left out is said in the caption, so a page stays small however long
//! its run was.

use std::collections::BTreeMap;
use std::fmt::Write;

use node::run::{FaultOutcome, Happened, RequestRow, Run};

use crate::numbers::{count, time};
use crate::plot::{Anchor, Axis, COLOURS, Colour, Drawing, INK};

/// A picture as SVG, and what it shows.
pub(super) struct Picture {
    pub(super) svg: String,
    pub(super) caption: String,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 44.0;
const BELOW: f64 = 50.0;
const BLUE: Colour = COLOURS[0];
const ORANGE: Colour = COLOURS[1];
const GOLD: Colour = COLOURS[4];
const SKY: Colour = COLOURS[5];
const WINE: Colour = COLOURS[7];
/// Of what lies behind the rest.
const PALE: f64 = 0.3;

/// Places from left to right at which somebody is inside, or not.
const COLUMNS: usize = 700;
/// Lines in which members are shown; where there are more members, several share a line.
const LANES: u32 = 48;
/// Parts of the run of which each has its median.
const PARTS: usize = 80;
/// Points of a curve, and of a cloud.
const CURVE: usize = 160;
const CLOUD: usize = 2_000;

/// How long the unlucky waited: the wait that so large a share of the requests does not exceed.
///
/// `waits` are in nanoseconds, ascending.
pub(super) fn percentiles(waits: &[u64]) -> Option<Picture> {
    let most = *waits.last()?;
    let height = 300.0;
    let bottom = height - BELOW;
    let mut drawing = Drawing::new(WIDTH, height);
    let (unit_ns, unit) = unit(most);
    // One in so many waits longer; the last of n is one in n.
    let rarest = (waits.len() as f64).max(2.0);
    let x = Axis::new(1.0..=rarest, LEFT, RIGHT).logarithmic();
    let y = Axis::new(0.0..=most as f64 / unit_ns, bottom, TOP);
    let named = [(1.0, "0 %"), (2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %")];
    let named = named
        .into_iter()
        .chain([(1e3, "99.9 %"), (1e4, "99.99 %"), (1e5, "99.999 %")]);
    let named = named.filter(|(one_in, _)| *one_in <= rarest);
    let named = named
        .map(|(one_in, name)| (one_in, name.to_owned()))
        .collect::<Vec<_>>();
    drawing.along_x_at(&x, &named, bottom, TOP, "share of the requests");
    drawing.along_y(&y, LEFT, RIGHT, &format!("wait, {unit}"));
    let points = (0..=CURVE).map(|nth| {
        let one_in = rarest.powf(nth as f64 / CURVE as f64);
        let rank = ((1.0 - 1.0 / one_in) * waits.len() as f64).ceil() as usize;
        let wait = waits[rank.clamp(1, waits.len()) - 1];
        (x.at(one_in), y.at(wait as f64 / unit_ns))
    });
    drawing.curve(&points.collect::<Vec<_>>(), BLUE);
    Some(Picture {
        svg: drawing.svg(),
        caption: format!(
            "Wait percentiles: so large a share of the {} measured requests waited no longer than this. \
             The longest wait was {}.",
            count(waits.len() as u64),
            time(most as f64 / 1e3)
        ),
    })
}

/// How long requests waited in the course of the run.
pub(super) fn over_time(run: &Run) -> Option<Picture> {
    let mut parts = vec![Vec::new(); PARTS];
    let length = run.ended_ns.max(1);
    for (entered_ns, wait_ns) in run.requests.iter().filter_map(wait) {
        let part = u128::from(entered_ns) * PARTS as u128 / u128::from(length);
        parts[(part as usize).min(PARTS - 1)].push(wait_ns);
    }
    let most = parts.iter().flatten().copied().max()?;
    let height = 300.0;
    let bottom = height - BELOW;
    let mut drawing = Drawing::new(WIDTH, height);
    let (unit_ns, unit) = unit(most);
    let x = seconds(0, length);
    let y = Axis::new(0.0..=most as f64 / unit_ns, bottom, TOP);
    bands(&mut drawing, run, (0, length), bottom);
    drawing.along_x(&x, bottom, TOP, "time, s");
    drawing.along_y(&y, LEFT, RIGHT, &format!("wait, {unit}"));
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
            drawing.curve(curve, colour);
            if let [alone] = curve[..] {
                drawing.dot(alone, 2.0, colour);
            }
        }
    }
    legend(&mut drawing, run, &[("median", BLUE), ("longest", ORANGE)]);
    Some(Picture {
        svg: drawing.svg(),
        caption: format!(
            "Wait over time: median and longest of those who entered in each {} of the run.{}",
            time(length as f64 / PARTS as f64 / 1e3),
            if gaps {
                " There is no line where nobody entered."
            } else {
                ""
            },
        ),
    })
}

/// Who waited and who was inside, from the first of these times to the second.
pub(super) fn inside(run: &Run, nodes: u32, (from_ns, until_ns): (u64, u64)) -> Picture {
    let until_ns = until_ns.max(from_ns + 1);
    let lanes = nodes.clamp(1, LANES);
    let each = (440.0 / f64::from(lanes)).clamp(9.0, 22.0);
    let bottom = TOP + each * f64::from(lanes);
    let mut drawing = Drawing::new(WIDTH, bottom + BELOW);
    let x = seconds(from_ns, until_ns);
    bands(&mut drawing, run, (from_ns, until_ns), bottom);
    drawing.along_x(&x, bottom, TOP, "time, s");
    let lane = |node: u32| (u64::from(node) * u64::from(lanes) / u64::from(nodes.max(1))) as usize;
    let mut waiting = vec![Columns::new(from_ns, until_ns); lanes as usize];
    let mut staying = waiting.clone();
    for row in &run.requests {
        let lane = lane(row.node.0).min(lanes as usize - 1);
        waiting[lane].mark(row.arrived_ns, row.entered_ns.unwrap_or(run.ended_ns));
        if let Some(entered_ns) = row.entered_ns {
            staying[lane].mark(entered_ns, row.left_ns.unwrap_or(run.ended_ns));
        }
    }
    let (mut waits, mut stays) = (String::new(), String::new());
    for nth in 0..lanes as usize {
        let y = TOP + each * (nth as f64 + 0.5);
        waiting[nth].draw(&mut waits, y);
        staying[nth].draw(&mut stays, y);
        // As many names as there is room for.
        let first = (0..nodes).find(|&node| lane(node) == nth).unwrap_or(0);
        if each >= 12.0 || nth % 2 == 0 {
            drawing.text((LEFT - 8.0, y + 4.0), Anchor::End, &first.to_string());
        }
    }
    drawing.path(&waits, SKY, each * 0.3, 0.8);
    drawing.path(&stays, BLUE, each * 0.75, 1.0);
    drawing.text((16.0, TOP - 12.0), Anchor::Start, "node");
    legend(&mut drawing, run, &[("inside", BLUE), ("waiting", SKY)]);
    let pixel = time((until_ns - from_ns) as f64 / COLUMNS as f64 / 1e3);
    let shared = match nodes > LANES {
        true => format!(
            " Each line stands for about {} nodes.",
            nodes.div_ceil(LANES)
        ),
        false => String::new(),
    };
    Picture {
        svg: drawing.svg(),
        caption: format!(
            "Who waited and who was inside. The narrowest mark is {pixel} wide, so two may seem inside \
             at once who were not; the verdict counts to the nanosecond.{shared}"
        ),
    }
}

/// How far a request came in before or after its turn.
pub(super) fn order(run: &Run) -> Option<Picture> {
    let served = run
        .requests
        .iter()
        .filter(|row| row.entered_ns.is_some() && !row.uninvited);
    let mut served = served.enumerate().collect::<Vec<_>>();
    served.sort_by_key(|(arrival, row)| (row.entered_ns, *arrival));
    let moved = served
        .iter()
        .enumerate()
        .map(|(entry, (arrival, _))| (*arrival, entry as f64 - *arrival as f64));
    let moved = moved.collect::<Vec<_>>();
    if moved.len() < 2 {
        return None;
    }
    let step = moved.len().div_ceil(CLOUD);
    let drawn = moved.iter().step_by(step);
    let farthest = moved
        .iter()
        .map(|(_, places)| places.abs())
        .fold(1.0, f64::max)
        * 1.1;
    let height = 300.0;
    let bottom = height - BELOW;
    let mut drawing = Drawing::new(WIDTH, height);
    let x = Axis::new(0.0..=moved.len() as f64, LEFT, RIGHT);
    let y = Axis::new(-farthest..=farthest, bottom, TOP);
    drawing.along_x(&x, bottom, TOP, "requests, in the order of their arrival");
    drawing.along_y(
        &y,
        LEFT,
        RIGHT,
        "places later (+) or earlier (−) than its turn",
    );
    drawing.line((LEFT, y.at(0.0)), (RIGHT, y.at(0.0)), INK, 1.0);
    let mut cloud = String::new();
    for (arrival, places) in drawn {
        let (x, y) = (x.at(*arrival as f64), y.at(*places));
        write!(cloud, "M{:.0} {y:.1}h3", x - 1.5).expect("a text takes every letter");
    }
    drawing.path(&cloud, BLUE, 3.0, 0.8);
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
        svg: drawing.svg(),
        caption: format!("Order of execution. {of_all}{thinned}"),
    })
}

/// How many messages of each kind there were.
pub(super) fn kinds(sent: &BTreeMap<&str, u64>) -> Option<Picture> {
    let most = *sent.values().max()?;
    let each = 28.0;
    let bottom = TOP + each * sent.len() as f64;
    let left = 190.0;
    let mut drawing = Drawing::new(WIDTH, bottom + BELOW);
    let x = Axis::new(0.0..=most as f64, left, RIGHT);
    drawing.along_x(&x, bottom, TOP, "messages sent");
    for (nth, (kind, sent)) in sent.iter().enumerate() {
        let y = TOP + each * nth as f64;
        drawing.text((left - 10.0, y + each / 2.0 + 4.0), Anchor::End, kind);
        let size = ((x.at(*sent as f64) - left).max(1.0), each - 8.0);
        drawing.block((left, y + 4.0), size, BLUE, 1.0);
    }
    Some(Picture {
        svg: drawing.svg(),
        caption: "Messages by kind, counted where they are sent.".to_owned(),
    })
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

/// When it entered and how long it had waited by then.
fn wait(row: &RequestRow) -> Option<(u64, u64)> {
    let entered_ns = row.entered_ns.filter(|_| !row.uninvited)?;
    Some((entered_ns, entered_ns.saturating_sub(row.arrived_ns)))
}

fn seconds(from_ns: u64, until_ns: u64) -> Axis {
    Axis::new(from_ns as f64 / 1e9..=until_ns as f64 / 1e9, LEFT, RIGHT)
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

/// Bands while a fault is in force, and strokes where one strikes.
fn bands(drawing: &mut Drawing, run: &Run, (from_ns, until_ns): (u64, u64), bottom: f64) {
    let (mut lasting, mut striking) = (
        Columns::new(from_ns, until_ns),
        Columns::new(from_ns, until_ns),
    );
    for fault in &run.faults {
        match Shown::of(fault, run) {
            Shown::Nowhere => {}
            Shown::Stroke(at_ns) => striking.mark(at_ns, at_ns),
            Shown::Band(start_ns, end_ns) => lasting.mark(start_ns, end_ns),
        }
    }
    for (first, last) in lasting.runs() {
        let (start, end) = (place(first), place(last + 1));
        drawing.block((start, TOP), (end - start, bottom - TOP), GOLD, PALE);
    }
    for (first, _) in striking.runs() {
        drawing.line((place(first), TOP), (place(first), bottom), WINE, 2.0);
    }
}

/// How a fault is shown in the pictures.
enum Shown {
    /// Not at all: it never happened, or it was in force from the beginning to the end, where a band
    /// would only hide the others.
    Nowhere,
    /// It is a moment rather than a time.
    Stroke(u64),
    /// From one moment to another.
    Band(u64, u64),
}

impl Shown {
    fn of(fault: &FaultOutcome, run: &Run) -> Self {
        let Happened::From { at_ns, until_ns } = fault.happened else {
            return Shown::Nowhere;
        };
        let end_ns = until_ns.unwrap_or(run.ended_ns);
        if fault.is_death() || until_ns == Some(at_ns) {
            Shown::Stroke(at_ns)
        } else if at_ns == 0 && end_ns >= run.ended_ns {
            Shown::Nowhere
        } else {
            Shown::Band(at_ns, end_ns.max(at_ns))
        }
    }
}

/// Whether it was in force from the beginning of the run to its end.
pub(super) fn lasts_throughout(fault: &FaultOutcome, run: &Run) -> bool {
    matches!(fault.happened, Happened::From { .. })
        && matches!(Shown::of(fault, run), Shown::Nowhere)
}

fn legend(drawing: &mut Drawing, run: &Run, names: &[(&str, Colour)]) {
    let shown = run.faults.iter().map(|fault| Shown::of(fault, run));
    let lasting = shown.clone().any(|shown| matches!(shown, Shown::Band(..)));
    let striking = shown.clone().any(|shown| matches!(shown, Shown::Stroke(_)));
    let faults = [
        (lasting, "a fault is in force", GOLD, PALE),
        (striking, "a fault strikes", WINE, 1.0),
    ];
    let faults = faults.into_iter().filter(|(there, ..)| *there);
    let faults = faults.map(|(_, name, colour, opacity)| (name, colour, opacity));
    let names = names
        .iter()
        .rev()
        .map(|&(name, colour)| (name, colour, 1.0));
    let mut end = RIGHT;
    for (name, colour, opacity) in faults.chain(names) {
        // As wide as the widest of the usual fonts makes a word with an m.
        let start = end - 8.2 * name.chars().count() as f64 - 18.0;
        drawing.block((start, 12.0), (12.0, 12.0), colour, opacity);
        drawing.text((start + 18.0, 22.0), Anchor::Start, name);
        end = start - 22.0;
    }
}

/// The columns of a picture in which something is going on.
#[derive(Clone)]
struct Columns {
    from_ns: u64,
    until_ns: u64,
    marked: Vec<bool>,
}

impl Columns {
    fn new(from_ns: u64, until_ns: u64) -> Self {
        Self {
            from_ns,
            until_ns,
            marked: vec![false; COLUMNS],
        }
    }

    fn mark(&mut self, start_ns: u64, end_ns: u64) {
        if end_ns < start_ns || end_ns < self.from_ns || start_ns > self.until_ns {
            return;
        }
        let column = |ns: u64| {
            let ns = u128::from(ns.clamp(self.from_ns, self.until_ns) - self.from_ns);
            let column = ns * COLUMNS as u128 / u128::from(self.until_ns - self.from_ns);
            (column as usize).min(COLUMNS - 1)
        };
        let (first, last) = (column(start_ns), column(end_ns));
        self.marked[first..=last].fill(true);
    }

    /// The first and the last of neighbouring columns.
    fn runs(&self) -> Vec<(usize, usize)> {
        let columns = (0..COLUMNS).collect::<Vec<_>>();
        let runs = columns.chunk_by(|one, next| self.marked[*one] == self.marked[*next]);
        let runs = runs.filter(|run| self.marked[run[0]]);
        runs.map(|run| (run[0], run[run.len() - 1])).collect()
    }

    fn draw(&self, path: &mut String, y: f64) {
        for (first, last) in self.runs() {
            let (start, end) = (place(first), place(last + 1));
            write!(path, "M{start:.1} {y:.0}h{:.1}", end - start)
                .expect("a text takes every letter");
        }
    }
}

/// Where a column begins.
fn place(column: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * column as f64 / COLUMNS as f64
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use node::run::FaultKind;

    use super::*;

    fn request(node: u32, arrived_ns: u64, entered_ns: u64, left_ns: u64) -> RequestRow {
        RequestRow {
            asked_ns: Some(arrived_ns),
            entered_ns: Some(entered_ns),
            left_ns: Some(left_ns),
            ..RequestRow::arrived(NodeId(node), 0, arrived_ns)
        }
    }

    fn run(requests: Vec<RequestRow>, ended_ns: u64) -> Run {
        Run {
            requests,
            ended_ns,
            ..Run::default()
        }
    }

    #[test]
    fn neighbouring_columns_are_one_mark() {
        let mut columns = Columns::new(0, 700);
        columns.mark(10, 12);
        columns.mark(13, 20);
        columns.mark(30, 30);
        columns.mark(800, 900);
        assert_eq!(columns.runs(), [(10, 20), (30, 30)]);
    }

    #[test]
    fn a_request_that_was_passed_came_later_than_its_turn() {
        let run = run(
            vec![
                request(0, 0, 50, 60),
                request(1, 1, 10, 20),
                request(2, 2, 30, 40),
            ],
            60,
        );
        let picture = order(&run).expect("three were served");
        assert!(
            picture.caption.contains("3 of 3 entered out of turn"),
            "{}",
            picture.caption
        );
        let cloud = picture.svg.matches("h3").count();
        assert_eq!(cloud, 3);
    }

    /// However long a run was, its pictures are small.
    #[test]
    fn pictures_of_a_long_run_are_small() {
        let nodes = 5_000;
        let requests = (0..200_000_u64).map(|n| {
            let node = (n * 7_919 % u64::from(nodes)) as u32;
            request(
                node,
                n * 1_000,
                n * 1_000 + n * 37 % 9_000,
                n * 1_000 + 10_000,
            )
        });
        let run = run(requests.collect(), 200_010_000);
        let all = [
            inside(&run, nodes, (0, run.ended_ns)),
            order(&run).expect("many were served"),
            over_time(&run).expect("many were served"),
        ];
        let size = all.iter().map(|picture| picture.svg.len()).sum::<usize>();
        assert!(size < 1_000_000, "{size} bytes");
        assert!(
            all[0].caption.contains("about 105 nodes"),
            "{}",
            all[0].caption
        );
        assert!(
            all[1].caption.contains("One in 100 of 200,000"),
            "{}",
            all[1].caption
        );
    }

    #[test]
    fn a_fault_is_a_band_and_a_death_a_stroke() {
        let fault = |kind, happened| FaultOutcome::unasked(kind, NodeId(1), happened);
        let mut run = run(vec![request(0, 0, 50, 60)], 1_000);
        let plain = inside(&run, 2, (0, 1_000)).svg;
        assert!(!plain.contains("a fault"));
        run.faults = vec![
            fault(FaultKind::Links, Happened::from(0, None)),
            fault(FaultKind::Pause, Happened::Never),
        ];
        let svg = inside(&run, 2, (0, 1_000)).svg;
        assert!(
            !svg.contains("a fault") && !svg.contains("opacity=\"0.3\""),
            "{svg}"
        );
        run.faults.extend([
            fault(FaultKind::Links, Happened::from(100, Some(300))),
            fault(FaultKind::Kill, Happened::from(100, None)),
        ]);
        let svg = inside(&run, 2, (0, 1_000)).svg;
        assert!(
            svg.contains("a fault is in force") && svg.contains("a fault strikes"),
            "{svg}"
        );
        // The band, and its sample in the legend, which is as pale.
        assert_eq!(
            svg.matches(&format!("fill=\"{GOLD}\" opacity=\"0.3\""))
                .count(),
            2
        );
        assert!(
            !svg.contains(&ORANGE.to_string()),
            "the longest wait has that"
        );
    }
}
