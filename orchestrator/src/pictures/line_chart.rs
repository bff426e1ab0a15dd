//! Lines over a number, with intervals: the chart of a sweep.

use super::WIDTH;
use super::axis::{Axis, named};
use super::canvas::{Canvas, Key, SAMPLE, Stroke, width_of};
use super::palette::{INK, Look, look};

/// A chart and its lines.
pub(crate) struct LineChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) lines: Vec<Line>,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Both axes go by logarithms, if all numbers are above zero.
    pub(crate) logarithmic: bool,
}

/// One line of a chart: a label and its points, from left to right.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<Point>,
    pub(crate) kind: LineKind,
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// What was measured: solid, with marks and intervals.
    Measured,
    /// What a formula says: dashed.
    Formula,
    /// What a paper printed: dashed, with marks.
    Published,
}

/// A value of a line, and the interval around it if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// The value that a closed form gives.
    pub(crate) theory: Option<f64>,
}

/// Where the legend begins, below the title.
const LEGEND: f64 = 38.0;
/// Room for the label of the axis that stands.
const ABOVE: f64 = 32.0;
/// How high the lines may rise, and the room below them.
const HEIGHT: f64 = 420.0;
const BELOW: f64 = 52.0;
/// The least distance between two numbers along the axis.
const APART: f64 = 14.0;
const RIGHT: f64 = WIDTH - 24.0;

impl LineChart<'_> {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        canvas.title(self.title);
        let top = canvas.legend(LEGEND, &self.keys()) + ABOVE;
        let bottom = top + HEIGHT;
        let (x, y) = self.axes(bottom, top);
        canvas.along_y(&y, x.start, x.end, self.y);
        canvas.along_x_at(&x, &self.ticks(&x), bottom, top, self.x);
        for (nth, line) in self.lines.iter().enumerate() {
            let places = line
                .points
                .iter()
                .map(|point| (x.at(point.x), y.at(point.y)));
            let places = places.collect::<Vec<_>>();
            canvas.curve(&places, self.stroke(nth));
            if line.kind == LineKind::Formula {
                continue;
            }
            for (place, point) in places.into_iter().zip(&line.points) {
                canvas.mark(place, look(nth), self.scale(nth));
                if let Some((low, high)) = point.interval {
                    let thin = Stroke::new(look(nth).colour, 1.0);
                    canvas.upright_interval(place.0, (y.at(low), y.at(high)), thin);
                }
            }
        }
        for point in self.points() {
            if let Some(theory) = point.theory {
                closed_form(&mut canvas, (x.at(point.x), y.at(theory)));
            }
        }
        canvas.svg(bottom + BELOW)
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// The axis that lies and the one that stands, between these heights.
    fn axes(&self, bottom: f64, top: f64) -> (Axis, Axis) {
        let (left, right) = range(self.points().map(|point| point.x));
        let (low, high) = range(self.points().flat_map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [low, high, point.theory.unwrap_or(high)]
        }));
        let logarithmic = self.logarithmic && left > 0.0 && low > 0.0;
        let y = match logarithmic {
            true => Axis::new(low / 1.2..=high * 1.2, bottom, top).logarithmic(),
            false => {
                let floor = low.min(0.0);
                Axis::new(floor..=high + (high - floor) * 0.06, bottom, top)
            }
        };
        let numbers = y.ticks();
        let numbers = numbers.iter().map(|(_, name)| width_of(name));
        let start = numbers.fold(30.0, f64::max) + 24.0;
        let x = match logarithmic {
            true => Axis::new(left / 1.2..=right * 1.2, start, RIGHT).logarithmic(),
            false => {
                let margin = match right > left {
                    true => (right - left) * 0.03,
                    false => 0.5,
                };
                Axis::new(left - margin..=right + margin, start, RIGHT)
            }
        };
        (x, y)
    }

    /// The numbers below the chart: those it is about if they can be told apart, else round ones.
    fn ticks(&self, axis: &Axis) -> Vec<(f64, String)> {
        let mut measured: Vec<f64> = self.points().map(|point| point.x).collect();
        measured.sort_by(f64::total_cmp);
        measured.dedup();
        let measured = measured.into_iter().map(named).collect::<Vec<_>>();
        let are_apart = |pair: &[(f64, String)]| {
            let [(one, its_name), (next, next_name)] = pair else {
                return true;
            };
            let names = width_of(its_name).midpoint(width_of(next_name));
            axis.at(*next) - axis.at(*one) >= names + APART
        };
        match measured.windows(2).all(are_apart) {
            true => measured,
            false => axis.ticks(),
        }
    }

    /// What the lines and the strokes mean.
    fn keys(&self) -> Vec<Key<'_>> {
        let lines = self.lines.iter().enumerate().map(|(nth, line)| -> Key<'_> {
            let draw = move |canvas: &mut Canvas, (x, y): (f64, f64)| {
                let half = SAMPLE / 2.0;
                canvas.line((x - half, y), (x + half, y), self.stroke(nth));
                if line.kind != LineKind::Formula {
                    canvas.mark((x, y), look(nth), self.scale(nth));
                }
            };
            (&line.label, Box::new(draw))
        });
        let mut keys = lines.collect::<Vec<_>>();
        if self.points().any(|point| point.theory.is_some()) {
            keys.push(("closed form", Box::new(closed_form)));
        }
        keys
    }

    fn stroke(&self, nth: usize) -> Stroke {
        let Look { colour, .. } = look(nth);
        match self.lines[nth].kind {
            LineKind::Formula | LineKind::Published => Stroke::new(colour, 1.5).dashed(true),
            LineKind::Measured => Stroke::new(colour, 2.0 + 4.0 * self.hidden_below(nth)),
        }
    }

    /// How much larger than usual a line's marks are.
    fn scale(&self, nth: usize) -> f64 {
        1.0 + 0.7 * self.hidden_below(nth)
    }

    /// How many of the lines that are drawn later lie on this one; it is drawn wider, so that it can
    /// be seen below them.
    fn hidden_below(&self, nth: usize) -> f64 {
        let near = |a: f64, b: f64| (a - b).abs() <= 0.005 * a.abs().max(b.abs());
        let on_it = |a: &Point, b: &Point| a.x == b.x && near(a.y, b.y);
        let line = &self.lines[nth];
        let covers = |later: &&Line| {
            let mut points = line.points.iter().zip(&later.points);
            later.kind == LineKind::Measured
                && later.points.len() == line.points.len()
                && points.all(|(a, b)| on_it(a, b))
        };
        match line.kind {
            LineKind::Formula | LineKind::Published => 0.0,
            LineKind::Measured => self.lines[nth + 1..].iter().filter(covers).count() as f64,
        }
    }
}

/// The stroke of a closed form at its place.
fn closed_form(canvas: &mut Canvas, (x, y): (f64, f64)) {
    canvas.line((x - 9.0, y), (x + 9.0, y), Stroke::new(INK, 2.0));
}

/// The smallest and the largest; something to draw if there is none.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::COLOURS;

    fn chart(logarithmic: bool) -> LineChart<'static> {
        let point = |x: f64| Point {
            x,
            y: 2.0 * x,
            interval: Some((x, 3.0 * x)),
            theory: (x > 5.0).then_some(21.0),
        };
        LineChart {
            title: "messages",
            x: "nodes",
            y: "messages per entry",
            logarithmic,
            lines: vec![Line {
                label: "raymond".to_owned(),
                points: [5.0, 10.0].map(point).to_vec(),
                kind: LineKind::Measured,
            }],
        }
    }

    #[test]
    fn a_chart_names_its_axes_and_its_lines() {
        for logarithmic in [false, true] {
            let svg = chart(logarithmic).svg();
            for word in [
                "<svg",
                "nodes",
                "messages per entry",
                "raymond",
                "closed form",
            ] {
                assert!(svg.contains(word), "{word} is missing in {svg}");
            }
        }
    }

    /// An interval has a line with two ends, and the mark stands where the value is.
    #[test]
    fn a_value_stands_in_its_interval() {
        let chart = chart(false);
        let (x, y) = chart.axes(500.0, 100.0);
        let svg = chart.svg();
        let (x, y) = (x.at(5.0), y.at(5.0) - y.at(15.0));
        let bar = svg
            .lines()
            .find(|line| line.contains(&format!("M{x:.1} ")) && line.contains("h8"));
        let bar = bar.expect("an interval");
        let (low, rest) = bar[11..].split_once('V').expect("a line upwards");
        let low: f64 = low
            .split_once(' ')
            .expect("a place")
            .1
            .parse()
            .expect("a height");
        let high: f64 = rest
            .split_once('M')
            .expect("its ends")
            .0
            .parse()
            .expect("a height");
        assert!((low - high - y * HEIGHT / 400.0).abs() < 0.2, "{bar}");
        assert_eq!(bar.matches("h8").count(), 2);
    }

    #[test]
    fn every_line_of_a_full_chart_has_its_colour() {
        let mut full = chart(false);
        let labels = (0..12).map(|nth| format!("series {nth}"));
        full.lines = labels
            .map(|label| Line {
                label,
                points: chart(false).lines[0].points.clone(),
                kind: LineKind::Measured,
            })
            .collect();
        let svg = full.svg();
        for colour in COLOURS {
            assert!(svg.contains(&colour.to_string()), "{colour}");
        }
    }

    /// Of two equal lines the first is wider, and is seen below the second.
    #[test]
    fn no_line_hides_another() {
        let mut two = chart(false);
        let mut other = chart(false).lines;
        other[0].label = "lamport".to_owned();
        two.lines.append(&mut other);
        assert_eq!([two.hidden_below(0), two.hidden_below(1)], [1.0, 0.0]);
        let svg = two.svg();
        assert!(svg.contains("stroke-width=\"6\""), "{svg}");
        two.lines[1].points[0].y *= 1.2;
        assert_eq!(two.hidden_below(0), 0.0);
    }

    #[test]
    fn numbers_below_a_chart_are_those_it_is_about_unless_they_are_too_many() {
        let ticks = |x: &[f64], logarithmic| {
            let mut chart = chart(logarithmic);
            let one = chart.lines[0].points[0];
            chart.lines[0].points = x.iter().map(|&x| Point { x, ..one }).collect();
            let axis = Axis::new(x[0]..=x[x.len() - 1], 0.0, 800.0);
            let ticks = match logarithmic {
                true => chart.ticks(&axis.logarithmic()),
                false => chart.ticks(&axis),
            };
            ticks.into_iter().map(|(tick, _)| tick).collect::<Vec<_>>()
        };
        assert_eq!(ticks(&[5.0, 6.0, 7.0], false), [5.0, 6.0, 7.0]);
        assert_eq!(ticks(&[3.0, 30.0, 300.0], true), [3.0, 30.0, 300.0]);
        // 3 and 5 would be one blot between 0 and 300.
        let round = [50.0, 100.0, 150.0, 200.0, 250.0, 300.0];
        assert_eq!(ticks(&[3.0, 5.0, 300.0], false), round);
    }

    #[test]
    fn an_empty_chart_is_drawn_too() {
        let empty = LineChart {
            lines: Vec::new(),
            ..chart(true)
        };
        assert!(empty.svg().contains("nodes"));
    }
}
