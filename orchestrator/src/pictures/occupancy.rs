//! Who waited and who was inside: a lane for each member.

use model::run::Run;
use model::time::rounded_us;

use super::canvas::{Anchor, Canvas, Stroke};
use super::palette::{BLUE, SKY};
use super::pixels::{COLUMNS, PixelRow, seconds};
use super::{BELOW, LEFT, Picture, TOP, faults};

/// Lanes in which members are shown; where there are more members, several share a lane.
const LANES: u32 = 48;

/// Who waited and who was inside, from the first of these times to the second.
pub(crate) fn occupancy(run: &Run, nodes: u32, (from_ns, until_ns): (u64, u64)) -> Picture {
    let until_ns = until_ns.max(from_ns + 1);
    let lanes = nodes.clamp(1, LANES);
    let each = (440.0 / f64::from(lanes)).clamp(9.0, 22.0);
    let bottom = TOP + each * f64::from(lanes);
    let mut canvas = Canvas::default();
    faults::bands(&mut canvas, run, (from_ns, until_ns), bottom);
    canvas.along_x(&seconds(from_ns, until_ns), bottom, TOP, "time, s");
    let lane = |node: u32| (u64::from(node) * u64::from(lanes) / u64::from(nodes.max(1))) as usize;
    let mut waiting = vec![PixelRow::new(from_ns, until_ns); lanes as usize];
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
            canvas.text((LEFT - 8.0, y + 4.0), Anchor::End, &first.to_string());
        }
    }
    canvas.path(&waits, Stroke::new(SKY, each * 0.3).opacity(0.8));
    canvas.path(&stays, Stroke::new(BLUE, each * 0.75));
    canvas.text((16.0, TOP - 12.0), Anchor::Start, "node");
    faults::legend(&mut canvas, run, &[("inside", BLUE), ("waiting", SKY)]);
    let pixel = rounded_us((until_ns - from_ns) as f64 / COLUMNS as f64 / 1e3);
    let shared = match nodes > LANES {
        true => format!(
            " Each line stands for about {} nodes.",
            nodes.div_ceil(LANES)
        ),
        false => String::new(),
    };
    Picture {
        svg: canvas.svg(bottom + BELOW),
        caption: format!(
            "Who waited and who was inside. The narrowest mark is {pixel} wide, so two may seem inside \
             at once who were not; the verdict counts to the nanosecond.{shared}"
        ),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use algorithms::NodeId;
    use model::run::RequestRow;

    use super::*;
    use crate::pictures::{order, wait_over_time};

    pub(in crate::pictures) fn request(
        node: u32,
        arrived_ns: u64,
        entered_ns: u64,
        left_ns: u64,
    ) -> RequestRow {
        RequestRow {
            asked_ns: Some(arrived_ns),
            entered_ns: Some(entered_ns),
            left_ns: Some(left_ns),
            ..RequestRow::arrived(NodeId(node), 0, arrived_ns)
        }
    }

    pub(in crate::pictures) fn run(requests: Vec<RequestRow>, ended_ns: u64) -> Run {
        Run {
            requests,
            ended_ns,
            ..Run::default()
        }
    }

    /// However long a run was, its pictures are small.
    #[test]
    fn pictures_of_a_long_run_are_small() {
        let nodes = 5_000;
        let requests = (0..200_000_u64).map(|n| {
            let node = (n * 7_919 % u64::from(nodes)) as u32;
            let arrived_ns = n * 1_000;
            let entered_ns = arrived_ns + n * 37 % 9_000;
            request(node, arrived_ns, entered_ns, arrived_ns + 10_000)
        });
        let run = run(requests.collect(), 200_010_000);
        let all = [
            occupancy(&run, nodes, (0, run.ended_ns)),
            order(&run).expect("many were served"),
            wait_over_time(&run).expect("many were served"),
        ];
        let size = all.iter().map(|picture| picture.svg.len()).sum::<usize>();
        assert!(size < 1_000_000, "{size} bytes");
        let [lanes, order, _] = all.map(|picture| picture.caption);
        assert!(lanes.contains("about 105 nodes"), "{lanes}");
        assert!(order.contains("One in 100 of 200,000"), "{order}");
    }
}
