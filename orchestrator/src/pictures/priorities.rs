//! How each priority fared, as pictures.

use analysis::PriorityLine;

use super::Picture;
use super::dot_chart::{Dot, DotChart, DotRow};
use super::waits::unit;

/// A picture has no more lines than this.
const MOST: usize = 40;

/// How long those of each priority waited, where there are several.
pub(crate) fn wait_by_priority(lines: &[PriorityLine]) -> Option<Picture> {
    let most_us = lines
        .iter()
        .map(|line| line.wait_max_us)
        .fold(0.0, f64::max);
    let (unit_ns, unit) = unit((1e3 * most_us) as u64);
    let wait = |us: f64| 1e3 * us / unit_ns;
    let dots =
        |line: &PriorityLine| vec![line.wait_mean_us.map(wait), Some(wait(line.wait_max_us))];
    let x = format!("wait, {unit}");
    by_priority("Wait by priority", &x, &["mean", "longest"], lines, dots)
}

/// How often those of each priority were overtaken, where there are several and somebody was.
pub(crate) fn overtaking_by_priority(lines: &[PriorityLine]) -> Option<Picture> {
    lines.iter().find(|line| line.overtaken_max > Some(0))?;
    let dots = |line: &PriorityLine| vec![line.overtaken_max.map(|most| most as f64)];
    let x = "requests that were registered later and entered before";
    by_priority("Overtaking by priority", x, &["at most"], lines, dots)
}

/// A line for each priority, the most urgent on top.
fn by_priority(
    title: &str,
    x: &str,
    series: &[&str],
    lines: &[PriorityLine],
    dots: impl Fn(&PriorityLine) -> Vec<Option<f64>>,
) -> Option<Picture> {
    if lines.len() < 2 {
        return None;
    }
    let step = lines.len().div_ceil(MOST);
    let thinned = match step {
        1 => String::new(),
        step => format!(" One in {step} of {} is drawn.", lines.len()),
    };
    let dot = |value| Dot {
        value,
        interval: None,
    };
    let row = |line: &PriorityLine| DotRow {
        name: format!("priority {}", line.priority),
        dots: dots(line).into_iter().map(|value| value.map(dot)).collect(),
        theory: Vec::new(),
    };
    let picture = DotChart {
        title,
        x,
        series: series.to_vec(),
        rows: lines.iter().rev().step_by(step).map(row).collect(),
    };
    Some(Picture {
        svg: picture.svg(),
        caption: format!("{title}; larger numbers are more urgent.{thinned}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_shown_where_there_are_several() {
        let line = |priority, overtaken_max| PriorityLine {
            priority,
            requests: 4,
            entries: 4,
            wait_mean_us: Some(10.0),
            wait_max_us: 30.0,
            overtaken_max,
        };
        let lines = [line(1, Some(3)), line(5, Some(0))];
        for picture in [wait_by_priority(&lines), overtaking_by_priority(&lines)] {
            let svg = picture.expect("two priorities").svg;
            let urgent = svg.find("priority 5").expect("it has a line");
            assert!(urgent < svg.find("priority 1").expect("it has a line"));
        }
        assert!(wait_by_priority(&lines[..1]).is_none());
        assert!(overtaking_by_priority(&[line(1, Some(0)), line(5, None)]).is_none());
        let many: Vec<_> = (0..100).map(|priority| line(priority, None)).collect();
        let caption = wait_by_priority(&many).expect("many priorities").caption;
        assert!(caption.ends_with("One in 3 of 100 is drawn."), "{caption}");
    }
}
