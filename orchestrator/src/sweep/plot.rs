//! The picture that a sweep's file asks for: what was measured, and what should have been.

use std::path::{Path, PathBuf};

use analysis::aggregate::Aggregate;
use analysis::statistics::Moments;

use super::columns::in_words;
use super::grid::{Curve, Plot, PublishedLine};
use super::{Grid, Swept};
use crate::claims::{PAPERS, Published};
use crate::pictures::line_chart::{Line, LineChart, LineKind, Point};
use crate::{Failure, results};

/// Draws what the file asks for, and says where it is.
pub(crate) fn draw(grid: &Grid, swept: &Swept) -> Result<Option<PathBuf>, Failure> {
    let Some(plot) = &grid.plot else {
        return Ok(None);
    };
    let place = grid.place(&plot.x);
    let (scale, y) = in_words(&plot.y);
    let y = plot.y_label.clone().unwrap_or(y);
    let distinct = grid.lines(plot);
    let mut lines: Vec<Line> = Vec::new();
    let formula = grid.plotted(plot).map_err(Failure::Usage)?;
    let evidence = grid.evidence(&swept.done);
    for (number, (cell, aggregates)) in grid.cells.iter().zip(&swept.aggregates).enumerate() {
        let moments = Moments::of(evidence.values(number, &formula));
        let x = grid.place_of(plot, &cell.values[place]);
        let (Some(x), true) = (x, moments.n > 0) else {
            continue;
        };
        let words = distinct
            .iter()
            .map(|&key| line_name(&grid.keys[key], &cell.values[key]));
        let label = match words.collect::<Vec<_>>().join(" ") {
            none if none.is_empty() => "measured".to_owned(),
            label => label,
        };
        let interval = moments.interval(0.95);
        let point = Point {
            x,
            y: moments.mean * scale,
            interval: interval.map(|(low, high)| (low * scale, high * scale)),
            theory: theory(&plot.y, aggregates),
        };
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                label,
                points: vec![point],
                kind: LineKind::Measured,
            }),
        }
    }
    for curve in &plot.curve {
        lines.push(curve.line(grid, plot, place, scale));
    }
    for published in &plot.published {
        lines.push(published.line().map_err(Failure::Usage)?);
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let x = plot.label.as_deref().unwrap_or(&plot.x);
    let title = match &plot.title {
        Some(title) => title.clone(),
        None => format!("{}: {y} over {x}", grid.name),
    };
    let chart = LineChart {
        title: &title,
        x,
        y: &y,
        logarithmic: plot.logarithmic,
        lines,
    };
    let path = swept.directory.join("plot.svg");
    results::replace(&path, &chart.svg())?;
    Ok(Some(path))
}

/// What a line of the plot has for this key, as its name says it.
pub(crate) fn line_name(key: &str, value: &str) -> String {
    match (key, value) {
        ("as-printed", "[]" | "false") => "repaired".to_owned(),
        ("as-printed", "true") => "as printed".to_owned(),
        ("as-printed", ids) => {
            let ids = ids.trim_matches(['[', ']']).replace('"', "");
            format!("as printed: {ids}")
        }
        // A number, a time or a share by itself would say nothing.
        _ if is_quantity(value) => format!("{key}={value}"),
        _ => value.to_owned(),
    }
}

/// Whether a value is an amount of something and no name: `5`, `1ms 500us`, `exp:1ms`, `5%`.
fn is_quantity(value: &str) -> bool {
    let amount = ["exp:", "uniform:"]
        .iter()
        .find_map(|law| value.strip_prefix(law));
    let amount = amount.unwrap_or(value);
    amount.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// What a closed form says about the metric in this cell.
fn theory(metric: &str, aggregates: &[Aggregate]) -> Option<f64> {
    let expected = format!("expected_{metric}");
    let mut aggregates = aggregates.iter();
    let found = aggregates.find(|aggregate| aggregate.metric == expected)?;
    Some(found.moments.mean)
}

impl Grid {
    /// Where a key stands that the plot names.
    pub(super) fn place(&self, key: &str) -> usize {
        let place = self.keys.iter().position(|other| other == key);
        place.expect("a grid has been checked")
    }

    /// The keys that tell the lines of a plot apart: by default those that do not follow from the one
    /// along its axis, as the number of askers follows from the number of nodes where each size has its
    /// own.
    pub(super) fn lines(&self, plot: &Plot) -> Vec<usize> {
        let x = self.place(&plot.x);
        let keys = 0..self.keys.len();
        match plot.lines.as_slice() {
            [] => keys.filter(|&key| !self.follows(key, &[x])).collect(),
            named => keys
                .filter(|&key| named.contains(&self.keys[key]))
                .collect(),
        }
    }
}

impl Curve {
    /// What the formula says wherever the sweep measures, a dashed line.
    fn line(&self, grid: &Grid, plot: &Plot, place: usize, scale: f64) -> Line {
        let mut points: Vec<Point> = Vec::new();
        for cell in &grid.cells {
            let x = grid.place_of(plot, &cell.values[place]);
            let number = |name: &str| {
                if name == "x" {
                    return x;
                }
                let place = grid.keys.iter().position(|key| key == name)?;
                cell.values[place].parse::<f64>().ok()
            };
            let (Some(x), Some(y)) = (x, self.formula.evaluate(&number)) else {
                continue;
            };
            if points.iter().all(|known| known.x != x) {
                points.push(Point {
                    x,
                    y: y * scale,
                    interval: None,
                    theory: None,
                });
            }
        }
        Line {
            label: self.label.clone(),
            points,
            kind: LineKind::Formula,
        }
    }
}

impl PublishedLine {
    /// The points as they are printed, in the unit of the axis.
    pub(super) fn line(&self) -> Result<Line, String> {
        let wrong = |why: String| format!("plot.published: {}: {why}", self.table);
        let table = Published::read(Path::new(PAPERS), &self.table).map_err(wrong)?;
        let (x, y) = (table.numbers(&self.x), table.numbers(&self.y));
        let points = x.map_err(wrong)?.into_iter().zip(y.map_err(wrong)?);
        let points = points.map(|(x, y)| Point {
            x,
            y,
            interval: None,
            theory: None,
        });
        Ok(Line {
            label: self.label.clone(),
            points: points.collect(),
            kind: LineKind::Published,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_the_axis_makes_no_lines() {
        let text = "[scenario]\nengine = \"sim\"\nworkload = \"window\"\n\
                    [grid]\nalgorithm = [\"raymond\", \"lamport\"]\n\
                    [[variant]]\nnodes = 3\naskers = 2\n[[variant]]\nnodes = 5\naskers = 4\n\
                    [plot]\nx = \"nodes\"\ny = \"messages\"\n";
        let grid = Grid::parse(text, "test", Path::new("")).expect("a sweep");
        let plot = grid.plot.as_ref().expect("a plot");
        assert_eq!(grid.lines(plot), [grid.place("algorithm")]);
    }

    #[test]
    fn a_line_says_what_it_is() {
        assert_eq!(line_name("algorithm", "raymond"), "raymond");
        assert_eq!(line_name("nodes", "5"), "nodes=5");
        assert_eq!(line_name("think", "exp:1ms"), "think=exp:1ms");
        assert_eq!(line_name("delay", "1ms 500us"), "delay=1ms 500us");
        assert_eq!(line_name("topology", "tree:2"), "tree:2");
        assert_eq!(line_name("as-printed", "[]"), "repaired");
        let print = line_name("as-printed", r#"["F7", "F8"]"#);
        assert_eq!(print, "as printed: F7, F8");
    }
}
