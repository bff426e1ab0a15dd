//! Draws the picture that a sweep's file asks for: what was measured, and what should have been.

use std::path::PathBuf;

use analysis::aggregate::Aggregate;
use analysis::claims::Evidence;
use analysis::expression::Expression;
use analysis::statistics::Moments;

use super::columns::in_words;
use super::figure::{Across, Curve, Plot};
use super::{Grid, Swept};
use crate::pictures::heat_map::{Field, HeatMap};
use crate::pictures::line_chart::{Line, LineChart, LineKind, Point};
use crate::{Failure, results};

/// Draws what the file asks for, and says where it is.
pub(crate) fn draw(grid: &Grid, swept: &Swept) -> Result<Option<PathBuf>, Failure> {
    let Some(plot) = &grid.plot else {
        return Ok(None);
    };
    let (_, y) = in_words(&plot.y);
    let y = plot.y_label.clone().unwrap_or(y);
    let x = plot.label.as_deref().unwrap_or(&plot.x);
    let title = match &plot.title {
        Some(title) => title.clone(),
        None => format!("{}: {y} over {x}", grid.name),
    };
    let svg = match &plot.rows {
        Some(rows) => {
            let map = HeatMap {
                title: &title,
                value: &y,
                note: plot.note.as_deref(),
                fields: fields(grid, plot, rows, swept).map_err(Failure::Usage)?,
            };
            map.svg()
        }
        None => {
            let chart = LineChart {
                title: &title,
                x,
                y: &y,
                logarithmic: (plot.logarithmic.x, plot.logarithmic.y),
                note: plot.note.as_deref(),
                lines: lines(grid, plot, swept).map_err(Failure::Usage)?,
            };
            chart.svg()
        }
    };
    let path = swept.directory.join("plot.svg");
    results::replace(&path, &svg)?;
    Ok(Some(path))
}

/// Every cell of the sweep as a field of a map.
fn fields(grid: &Grid, plot: &Plot, rows: &str, swept: &Swept) -> Result<Vec<Field>, String> {
    let (scale, _) = in_words(&plot.y);
    let (row, column) = (grid.place(rows), grid.place(&plot.x));
    let formulas = plot.values()?;
    let evidence = grid.evidence(&swept.done);
    let fields = grid.cells.iter().enumerate().map(|(number, cell)| {
        let moments = Moments::of(evidence.values(number, &formulas[0]));
        let interval = moments.interval(0.95);
        Field {
            row: cell.values[row].clone(),
            column: cell.values[column].clone(),
            value: (moments.n > 0).then_some(moments.mean * scale),
            half: interval.map(|(low, high)| (high - low) * scale / 2.0),
            written: plot.written.get(number).cloned().unwrap_or_default(),
        }
    });
    Ok(fields.collect())
}

/// The lines of a chart: what was measured, then curves, then what papers print.
fn lines(grid: &Grid, plot: &Plot, swept: &Swept) -> Result<Vec<Line>, String> {
    let (scale, _) = in_words(&plot.y);
    let evidence = grid.evidence(&swept.done);
    let across = grid.across(plot)?;
    let mut lines = Lines::default();
    for (number, aggregates) in swept.aggregates.iter().enumerate() {
        let label = grid.line_of(plot, number);
        let name = grid.name_of(plot, number);
        for mut point in points(grid, plot, &across, &evidence, number)? {
            point.theory = theory(&plot.y, aggregates);
            point.name.clone_from(&name);
            lines.add(&label, LineKind::Measured, point.scaled(scale));
        }
    }
    let mut printed = Vec::new();
    for published in &plot.published {
        printed.push((published.label.clone(), published.points()?));
    }
    let places = printed.iter().flat_map(|(_, points)| points);
    let range = lines.range(places.map(|(x, _)| *x));
    for curve in &plot.curve {
        for point in curve.points(grid, plot, &across, range) {
            lines.add(
                std::slice::from_ref(&curve.label),
                LineKind::Formula,
                point.scaled(scale),
            );
        }
    }
    // Among measured places, printed examples are no line.
    let is_joined = !matches!(across, Across::Measured(_));
    for (label, points) in printed {
        for (x, y) in points {
            let label = std::slice::from_ref(&label);
            lines.add(label, LineKind::Published, Point::plain(x, y));
        }
        lines.join_last(is_joined);
    }
    Ok(lines.finished())
}

/// The points of a cell: one, but for several numbers of `#` and several values of what is measured.
fn points(
    grid: &Grid,
    plot: &Plot,
    across: &Across,
    evidence: &Evidence,
    cell: usize,
) -> Result<Vec<Point>, String> {
    let formulas = plot.values()?;
    let of = |formula: &Expression| Moments::of(evidence.values(cell, formula));
    let point = |x: f64, moments: Moments| {
        (moments.n > 0).then(|| Point {
            interval: moments.interval(0.95),
            ..Point::plain(x, moments.mean)
        })
    };
    Ok(match across {
        Across::Key(place) => {
            let x = grid.place_of(plot, &grid.cells[cell].values[*place]);
            let one = x.and_then(|x| point(x, of(&formulas[0])));
            one.into_iter().collect()
        }
        Across::Each => {
            let places = (0..formulas.len()).map(|nth| match &plot.at {
                Some(places) => places[nth],
                None => nth as f64 + 1.0,
            });
            let pairs = places.zip(&formulas);
            let points = pairs.filter_map(|(x, formula)| point(x, of(formula)));
            points.collect()
        }
        Across::Measured(x) if plot.groups => {
            let pairs = evidence.pairs(cell, x, &formulas[0]);
            let mut values = pairs.iter().map(|(x, _)| *x).collect::<Vec<_>>();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let points = values.into_iter().filter_map(|value| {
                let of_it = pairs.iter().filter(|(x, _)| *x == value);
                point(value, Moments::of(of_it.map(|(_, y)| *y)))
            });
            points.collect()
        }
        Across::Measured(x) => {
            let x = of(x);
            let one = point(x.mean, of(&formulas[0])).filter(|_| x.n > 0);
            let across = x.interval(0.95);
            let one = one.map(|point| Point { across, ..point });
            one.into_iter().collect()
        }
    })
}

/// Lines in the making, by what they show.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    /// What tells each of the lines apart, in the order of the keys.
    words: Vec<Vec<String>>,
}

impl Lines {
    /// Puts a point on the line that these words name.
    fn add(&mut self, words: &[String], kind: LineKind, point: Point) {
        let mut known = self.lines.iter().zip(&self.words);
        let place = known.position(|(line, its)| line.kind == kind && its == words);
        let place = place.unwrap_or_else(|| {
            self.lines.push(Line {
                label: words.join(" "),
                points: Vec::new(),
                kind,
                look: (0, 0),
                is_joined: true,
            });
            self.words.push(words.to_vec());
            self.lines.len() - 1
        });
        self.lines[place].points.push(point);
    }

    /// Whether the points of the line that was added last are joined.
    fn join_last(&mut self, is_joined: bool) {
        if let Some(line) = self.lines.last_mut() {
            line.is_joined = is_joined;
        }
    }

    /// The smallest and the largest place along the x axis, of these too.
    fn range(&self, others: impl Iterator<Item = f64>) -> (f64, f64) {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let places = points.map(|point| point.x).chain(others);
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        })
    }

    /// The lines from left to right. Where two keys tell them apart, the first decides the colour and the
    /// others how the line is dashed, so that lines which have something in common look it.
    fn finished(mut self) -> Vec<Line> {
        let measured = |line: &Line| line.kind == LineKind::Measured;
        let place_of = |word: &[String], among: &mut Vec<Vec<String>>| {
            let place = among.iter().position(|known| known == word);
            place.unwrap_or_else(|| {
                among.push(word.to_vec());
                among.len() - 1
            })
        };
        let (mut firsts, mut rests) = (Vec::new(), Vec::new());
        let mut others = (0, 0);
        for (line, words) in self.lines.iter_mut().zip(&self.words) {
            line.look = match line.kind {
                LineKind::Measured => {
                    let (first, rest) = words.split_at(words.len().min(1));
                    (place_of(first, &mut firsts), place_of(rest, &mut rests))
                }
                LineKind::Formula => (others.0, 0),
                LineKind::Published => (others.1, 0),
            };
            match line.kind {
                LineKind::Measured => {}
                LineKind::Formula => others.0 += 1,
                LineKind::Published => others.1 += 1,
            }
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        // More kinds of dashes than these cannot be told apart: then every line has its own colour.
        if rests.len() > DASHES {
            let lines = self.lines.iter_mut().filter(|line| measured(line));
            for (nth, line) in lines.enumerate() {
                line.look = (nth, 0);
            }
        }
        self.lines
    }
}

/// How many kinds of dashes there are.
const DASHES: usize = 4;
/// Points of a curve that is smooth.
const SMOOTH: usize = 96;

/// What a line of the plot has for this key, as its name says it.
pub(crate) fn line_name(key: &str, value: &str) -> String {
    match (key, value) {
        ("as-printed", "[]" | "false") => "repaired".to_owned(),
        ("as-printed", "true") => "as printed".to_owned(),
        ("as-printed", ids) => {
            let ids = ids.trim_matches(['[', ']']).replace('"', "");
            format!("as printed: {ids}")
        }
        // A program: its command as one types it.
        ("program", words) => words.trim_matches(['[', ']']).replace(['"', ','], ""),
        ("variant", name) => name.to_owned(),
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

    /// The keys that tell the lines of a plot apart, in the order in which it names them: by default those
    /// that do not follow from the one along its axis, as the number of askers follows from the number of
    /// nodes where each size has its own, and that do not name the points. Where x is measured, all cells are
    /// one line.
    pub(super) fn lines(&self, plot: &Plot) -> Vec<usize> {
        let x = self.keys.iter().position(|key| *key == plot.x);
        let known = x.into_iter().chain(self.named(plot)).collect::<Vec<_>>();
        let keys = 0..self.keys.len();
        let is_measured = matches!(self.across(plot), Ok(Across::Measured(_)));
        match plot.lines.as_slice() {
            [] if is_measured => Vec::new(),
            [] => keys.filter(|&key| !self.follows(key, &known)).collect(),
            named => named.iter().map(|key| self.place(key)).collect(),
        }
    }

    /// The keys whose values stand beside the points.
    pub(super) fn named(&self, plot: &Plot) -> Vec<usize> {
        plot.names.iter().map(|key| self.place(key)).collect()
    }

    /// What tells the line of a cell from others, a word for each key.
    fn line_of(&self, plot: &Plot, cell: usize) -> Vec<String> {
        let values = &self.cells[cell].values;
        let words = self.lines(plot).into_iter();
        let words = words.map(|key| line_name(&self.keys[key], &values[key]));
        let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>();
        match words.is_empty() {
            true => vec!["measured".to_owned()],
            false => words,
        }
    }

    /// What stands beside the points of a cell.
    fn name_of(&self, plot: &Plot, cell: usize) -> Option<String> {
        let values = &self.cells[cell].values;
        let words = self.named(plot).into_iter();
        let words = words.map(|key| line_name(&self.keys[key], &values[key]));
        let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

impl Curve {
    /// What the formula says: of the cells it is about, or all along the axis if it needs nothing of them.
    fn points(
        &self,
        grid: &Grid,
        plot: &Plot,
        across: &Across,
        (left, right): (f64, f64),
    ) -> Vec<Point> {
        let is_smooth = self.x.is_none() && self.formula.names().iter().all(|name| *name == "x");
        if is_smooth && left < right {
            let places = (0..=SMOOTH).map(|nth| {
                let share = nth as f64 / SMOOTH as f64;
                match plot.logarithmic.x && left > 0.0 {
                    true => left * (right / left).powf(share),
                    false => left + (right - left) * share,
                }
            });
            let point = |x: f64| {
                let value = self.formula.evaluate(&|name| (name == "x").then_some(x));
                value.map(|y| Point::plain(x, y))
            };
            return places.filter_map(point).collect();
        }
        let mut points: Vec<Point> = Vec::new();
        for (number, cell) in grid.cells.iter().enumerate() {
            if !self.is_about(grid, cell) {
                continue;
            }
            let of_key = |name: &str| {
                let place = grid.keys.iter().position(|key| key == name)?;
                cell.values[place].parse::<f64>().ok()
            };
            let x = match (&self.x, across) {
                (Some(formula), _) => formula.evaluate(&of_key),
                (None, Across::Key(place)) => grid.place_of(plot, &cell.values[*place]),
                (None, Across::Each | Across::Measured(_)) => None,
            };
            let number_of = |name: &str| match name {
                "x" => x,
                name => of_key(name),
            };
            let (Some(x), Some(y)) = (x, self.formula.evaluate(&number_of)) else {
                continue;
            };
            let name = grid.name_of(plot, number);
            if points
                .iter()
                .all(|known| known.x != x || known.name != name)
            {
                points.push(Point {
                    name,
                    ..Point::plain(x, y)
                });
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        assert_eq!(line_name("variant", "25 %"), "25 %");
        assert_eq!(line_name("as-printed", "[]"), "repaired");
        let print = line_name("as-printed", r#"["F7", "F8"]"#);
        assert_eq!(print, "as printed: F7, F8");
    }

    #[test]
    fn the_first_key_decides_the_colour_and_the_second_the_dashes() {
        let mut lines = Lines::default();
        let word = |words: [&str; 2]| words.map(str::to_owned);
        for words in [["nhme", "25 %"], ["nhme", "50 %"], ["tb-dva", "25 %"]] {
            lines.add(&word(words), LineKind::Measured, Point::plain(1.0, 1.0));
        }
        let print = ["in print".to_owned()];
        lines.add(&print, LineKind::Formula, Point::plain(1.0, 1.0));
        let looks = lines.finished().into_iter().map(|line| line.look);
        assert_eq!(looks.collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (0, 0)]);
    }

    /// A curve of the axis alone has no corners where the sweep has no cell.
    #[test]
    fn a_curve_of_the_axis_alone_is_smooth() {
        let text = "[scenario]\nengine = \"sim\"\nalgorithm = \"raymond\"\n[grid]\nnodes = [3, 9]\n\
                    [plot]\nx = \"nodes\"\ny = \"messages\"\n\
                    curve = [{ label = \"a\", formula = \"9/x\" }, { label = \"b\", formula = \"nodes\" }]\n";
        let grid = Grid::parse(text, "test", Path::new("")).expect("a sweep");
        let plot = grid.plot.as_ref().expect("a plot");
        let across = grid.across(plot).expect("an axis");
        let points = |nth: usize| plot.curve[nth].points(&grid, plot, &across, (3.0, 9.0));
        assert_eq!(points(0).len(), SMOOTH + 1);
        assert_eq!(points(0)[SMOOTH / 2], Point::plain(6.0, 1.5));
        assert_eq!(points(1), [Point::plain(3.0, 3.0), Point::plain(9.0, 9.0)]);
    }
}
