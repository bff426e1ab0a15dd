//! A space-time diagram: time to the right, a line for each member, messages across.

use std::fmt::Write;

use algorithms::NodeId;
use model::time::exact_ns;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Key, Stroke};
use super::palette::{BLUE, COLOURS, GOLD, INK, ORANGE, SKY, WINE};
use super::{BELOW, LEFT, Picture, RIGHT, TOP};
use crate::trace::{MessageEnd, Phase, Selection, Trace};

/// More messages than this make a black picture.
pub(crate) const MOST_MESSAGES: usize = 1_000;
/// More members than this do not fit on a page.
pub(crate) const MOST_MEMBERS: usize = 40;

/// The lines of the n-th kind of message: colours that nothing else in the picture has, and when all are
/// used the same with gaps.
fn stroke_of(nth: usize) -> Stroke {
    let taken = [BLUE, SKY, ORANGE, GOLD, WINE];
    let free = COLOURS.iter().filter(|colour| !taken.contains(colour));
    let free = free.copied().collect::<Vec<_>>();
    Stroke::new(free[nth % free.len()], 1.6).dashes(nth / free.len())
}

/// What happened to the selected members in the selected time; an error says what does not fit.
pub(crate) fn space_time(trace: &Trace, selection: &Selection) -> Result<Picture, String> {
    let members = selection.nodes.len();
    if members > MOST_MEMBERS {
        return Err(format!(
            "there are {members} members to draw, and room for {MOST_MEMBERS}; choose some with --nodes"
        ));
    }
    let shown = trace.messages.iter().filter(|message| {
        let until_ns = match message.end {
            MessageEnd::Received(at_ns) => at_ns,
            MessageEnd::Lost | MessageEnd::UnderWay => message.sent_ns,
        };
        let (from, to) = message.link;
        selection.has(from) && selection.has(to) && selection.meets(message.sent_ns, until_ns)
    });
    let messages = shown.collect::<Vec<_>>();
    if messages.len() > MOST_MESSAGES {
        return Err(format!(
            "there are {} messages to draw, and {MOST_MESSAGES} make it black; choose a time with --from \
             and --to, or members with --nodes",
            messages.len()
        ));
    }
    let each = (520.0 / members.max(1) as f64).clamp(24.0, 64.0);
    let bottom = TOP + each * members as f64;
    let until_ns = selection.until_ns.max(selection.from_ns + 1);
    let axis = Axis::new(ms(selection.from_ns)..=ms(until_ns), LEFT, RIGHT);
    let x = |at_ns: u64| axis.at(ms(at_ns));
    let lane = |node: NodeId| {
        let place = selection.nodes.iter().position(|shown| *shown == node);
        TOP + each * (place.unwrap_or(0) as f64 + 0.5)
    };
    let mut canvas = Canvas::default();
    for fault in &trace.faults {
        let until_ns = fault.until_ns.unwrap_or(fault.from_ns);
        if !selection.meets(fault.from_ns, until_ns) {
            continue;
        }
        match fault.node {
            None => {
                let (start, end) = (x(fault.from_ns), x(until_ns));
                canvas.block(
                    (start, TOP),
                    ((end - start).max(1.0), bottom - TOP),
                    GOLD,
                    0.3,
                );
            }
            Some(node) if selection.has(node) => {
                let (at, y) = (x(fault.from_ns), lane(node));
                let half = each * 0.4;
                canvas.line((at, y - half), (at, y + half), Stroke::new(WINE, 3.0));
            }
            Some(_) => {}
        }
    }
    canvas.along_x(&axis, bottom, TOP, "time, ms");
    for node in &selection.nodes {
        let y = lane(*node);
        canvas.line((LEFT, y), (RIGHT, y), Stroke::new(INK, 1.0));
        canvas.text((LEFT - 8.0, y + 4.0), Anchor::End, &node.to_string());
    }
    canvas.text((16.0, TOP - 12.0), Anchor::Start, "member");
    let mut kinds = Vec::<&str>::new();
    for message in &messages {
        let kind = message.kind.as_str();
        let nth = kinds.iter().position(|known| *known == kind);
        let nth = nth.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        let stroke = stroke_of(nth);
        let (from, to) = message.link;
        let (from, to) = ((ms(message.sent_ns), lane(from)), lane(to));
        match message.end {
            MessageEnd::Received(at_ns) => {
                arrow(&mut canvas, &axis, from, (ms(at_ns), to), stroke);
            }
            MessageEnd::Lost | MessageEnd::UnderWay => {
                stub(&mut canvas, &axis, from, to, message.end, stroke);
            }
        }
    }
    spans(&mut canvas, trace, selection, &x, &lane);
    let mut keys: Vec<Key<'_>> = Vec::new();
    for (name, colour, height) in [("inside", BLUE, 10.0), ("waiting", SKY, 5.0)] {
        keys.push((
            name,
            Box::new(move |canvas, (x, y)| {
                canvas.block((x - 10.0, y - height / 2.0), (20.0, height), colour, 1.0);
            }),
        ));
    }
    for (nth, kind) in kinds.iter().enumerate() {
        keys.push((
            kind,
            Box::new(move |canvas, (x, y)| {
                canvas.line((x - 12.0, y), (x + 12.0, y), stroke_of(nth));
            }),
        ));
    }
    let end = canvas.legend(bottom + BELOW, &keys);
    let (from, until) = (exact_ns(selection.from_ns), exact_ns(selection.until_ns));
    let left_out = trace.nodes as usize - members.min(trace.nodes as usize);
    let others = match left_out {
        0 => String::new(),
        one => format!(" {one} other members are left out."),
    };
    Ok(Picture {
        svg: canvas.svg(end + 16.0),
        caption: format!(
            "From {from} to {until}: a line for each member, messages across it, and the index of each \
             entry. A message that ends in a cross was lost.{others}"
        ),
    })
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Who waited, who was inside, and in another colour where two were.
fn spans(
    canvas: &mut Canvas,
    trace: &Trace,
    selection: &Selection,
    x: &dyn Fn(u64) -> f64,
    lane: &dyn Fn(NodeId) -> f64,
) {
    let shown = trace
        .spans
        .iter()
        .filter(|span| selection.has(span.node) && selection.meets(span.from_ns, span.until_ns));
    let inside = shown
        .clone()
        .filter(|span| matches!(span.phase, Phase::Inside(_)));
    let inside = inside.collect::<Vec<_>>();
    let block = |canvas: &mut Canvas, node, from_ns, until_ns, height: f64, colour| {
        let (start, end, y) = (x(from_ns), x(until_ns), lane(node));
        let width = (end - start).max(1.5);
        canvas.block((start, y - height / 2.0), (width, height), colour, 1.0);
    };
    for span in shown {
        let (from_ns, until_ns) = (span.from_ns, span.until_ns);
        match span.phase {
            Phase::Waiting => block(canvas, span.node, from_ns, until_ns, 5.0, SKY),
            Phase::Inside(index) => {
                block(canvas, span.node, from_ns, until_ns, 12.0, BLUE);
                let begins = selection.meets(from_ns, from_ns);
                if let Some(index) = index.filter(|_| begins) {
                    let place = (x(from_ns), lane(span.node) - 9.0);
                    canvas.text(place, Anchor::Start, &index.to_string());
                }
            }
        }
    }
    for (nth, one) in inside.iter().enumerate() {
        for other in &inside[nth + 1..] {
            let (from_ns, until_ns) = (
                one.from_ns.max(other.from_ns),
                one.until_ns.min(other.until_ns),
            );
            if from_ns < until_ns {
                for node in [one.node, other.node] {
                    block(canvas, node, from_ns, until_ns, 12.0, ORANGE);
                }
            }
        }
    }
}

/// A line from one time and height to another, as much of it as the axis shows, with a head at its end.
fn arrow(canvas: &mut Canvas, axis: &Axis, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
    let (start, end) = (inner(axis, from, to), inner(axis, to, from));
    canvas.line(start, end, stroke);
    // What arrives after the picture ends has no head in it.
    if end.1 != to.1 {
        return;
    }
    let (across, down) = (end.0 - start.0, end.1 - start.1);
    let length = across.hypot(down).max(1.0);
    let (across, down) = (across / length, down / length);
    let mut head = String::new();
    for side in [-1.0, 1.0] {
        let x = end.0 - 7.0 * across - side * 3.0 * down;
        let y = end.1 - 7.0 * down + side * 3.0 * across;
        write!(head, "M{:.1} {:.1}L{x:.1} {y:.1}", end.0, end.1)
            .expect("a text takes every letter");
    }
    canvas.path(&head, stroke);
}

/// The place on the paper of one end of a line, moved along it to the edge if it lies beyond.
fn inner(axis: &Axis, end: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    let shown = axis.shown(end.0);
    let share = match end.0 == other.0 {
        true => 0.0,
        false => (shown - end.0) / (other.0 - end.0),
    };
    (axis.at(shown), end.1 + share * (other.1 - end.1))
}

/// A message that did not arrive: a short line towards its addressee, with a cross if it was lost.
fn stub(
    canvas: &mut Canvas,
    axis: &Axis,
    (sent_ms, y): (f64, f64),
    towards: f64,
    end: MessageEnd,
    stroke: Stroke,
) {
    let x = axis.at(sent_ms);
    let (tip_x, tip_y) = (x + 12.0, y + (towards - y).signum() * 18.0);
    canvas.line(
        (x, y),
        (tip_x, tip_y),
        stroke.dashes(usize::from(end == MessageEnd::UnderWay)),
    );
    if end == MessageEnd::Lost {
        let (left, top) = (tip_x - 4.0, tip_y - 4.0);
        let cross = format!("M{left:.1} {top:.1}l8 8m0 -8l-8 8");
        canvas.path(&cross, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::tests::trace;

    fn selection(from_ns: u64, until_ns: u64) -> Selection {
        Selection {
            from_ns,
            until_ns,
            nodes: vec![NodeId(0), NodeId(1)],
        }
    }

    #[test]
    fn messages_spans_and_faults_are_drawn() {
        let picture = space_time(&trace(), &selection(0, 30)).expect("it fits");
        for part in [
            "TOKEN",
            "inside",
            "waiting",
            &WINE.to_string(),
            "l8 8m0 -8l-8 8",
        ] {
            assert!(picture.svg.contains(part), "{part}");
        }
        // Nobody was inside with another.
        assert!(!picture.svg.contains(&ORANGE.to_string()));
    }

    #[test]
    fn two_inside_are_shown() {
        let mut trace = trace();
        trace.spans[1].until_ns = 17;
        let picture = space_time(&trace, &selection(0, 30)).expect("it fits");
        assert!(picture.svg.contains(&ORANGE.to_string()));
    }

    #[test]
    fn a_message_that_leaves_before_the_picture_keeps_its_slope() {
        let axis = Axis::new(0.0..=10.0, 0.0, 100.0);
        let (from, to) = ((-10.0, 0.0), (10.0, 40.0));
        assert_eq!(inner(&axis, from, to), (0.0, 20.0));
        assert_eq!(inner(&axis, to, from), (100.0, 40.0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut wide = selection(0, 30);
        wide.nodes = (0..41).map(NodeId).collect();
        let why = space_time(&trace(), &wide).err().expect("too many");
        assert!(why.contains("--nodes"), "{why}");
    }
}
