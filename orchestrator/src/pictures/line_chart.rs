//! Lines over a number, with intervals: the chart of a sweep.

use super::WIDTH;
use super::axis::{Axis, named};
use super::canvas::{Anchor, Canvas, Key, SAMPLE, Stroke, width_of};
use super::palette::{Colour, INK, Look, look};

/// A chart and its lines.
pub(crate) struct LineChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) lines: Vec<Line>,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Whether the x axis and the y axis go by logarithms, if all numbers are above zero.
    pub(crate) logarithmic: (bool, bool),
    /// What stands below it.
    pub(crate) note: Option<&'a str>,
}

/// One line of a chart: a label and its points, from left to right.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<Point>,
    pub(crate) kind: LineKind,
    /// The number of its colour and of its dashes; of lines in print that of their mark.
    pub(crate) look: (usize, usize),
    /// Whether its points are joined; those with names never are.
    pub(crate) is_joined: bool,
}

impl Line {
    fn has_a_stroke(&self) -> bool {
        self.is_joined && self.points.iter().all(|point| point.name.is_none())
    }
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// What was measured: coloured, with marks and intervals.
    Measured,
    /// What a formula says: black and dashed.
    Formula,
    /// What a paper printed: black and dashed, with hollow marks.
    Published,
}

/// A value of a line, and the interval around it if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    /// The interval around `x` where that was measured, too.
    pub(crate) across: Option<(f64, f64)>,
    pub(crate) y: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// The value that a closed form gives.
    pub(crate) theory: Option<f64>,
    /// What stands beside it; points with names are not joined.
    pub(crate) name: Option<String>,
}

impl Point {
    /// A point without an interval.
    pub(crate) fn plain(x: f64, y: f64) -> Self {
        Self {
            x,
            across: None,
            y,
            interval: None,
            theory: None,
            name: None,
        }
    }

    /// The same point in another unit of y. What theory says of it is in that unit already.
    pub(crate) fn scaled(self, scale: f64) -> Self {
        let interval = self.interval.map(|(low, high)| (low * scale, high * scale));
        Self {
            y: self.y * scale,
            interval,
            ..self
        }
    }
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
/// From one name beside a point to the next above it.
const NAME_LINE: f64 = 15.0;
/// Two points of one name that are closer than this have it once.
const NEAR: f64 = 40.0;
/// How many ways there are to dash a line.
const DASH_KINDS: usize = 3;

impl LineChart<'_> {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut canvas = Canvas::titled(self.title);
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
            let is_named = |point: &Point| point.name.is_some();
            if line.has_a_stroke() {
                canvas.curve(&places, self.stroke(nth));
            }
            for (place, point) in places.into_iter().zip(&line.points) {
                if line.kind != LineKind::Formula || is_named(point) {
                    self.mark(&mut canvas, nth, place);
                }
                let thin = Stroke::new(self.colour(nth), 1.0);
                if let Some((low, high)) = point.interval {
                    canvas.upright_interval(place.0, (y.at(low), y.at(high)), thin);
                }
                if let Some((low, high)) = point.across {
                    canvas.level_interval(place.1, (x.at(low), x.at(high)), thin);
                }
            }
        }
        self.names(&mut canvas, &x, &y);
        for point in self.points() {
            if let Some(theory) = point.theory {
                closed_form(&mut canvas, (x.at(point.x), y.at(theory)));
            }
        }
        let end = canvas.note(bottom + BELOW, self.note);
        canvas.svg(end)
    }

    /// Writes the names beside their points, above those that would be written over.
    fn names(&self, canvas: &mut Canvas, x: &Axis, y: &Axis) {
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        let mut written: Vec<(&str, f64, f64)> = Vec::new();
        for point in self.points() {
            let Some(name) = &point.name else {
                continue;
            };
            let (place, width) = (x.at(point.x), width_of(name));
            // Two points of one name close together need it once.
            let is_near = |(other, left, line): &(&str, f64, f64)| {
                let near = (left - place).abs() + (line - y.at(point.y)).abs() < NEAR;
                *other == name && near
            };
            if written.iter().any(is_near) {
                continue;
            }
            written.push((name, place, y.at(point.y)));
            let (start, anchor) = match place + 10.0 + width > RIGHT {
                true => (place - 10.0 - width, Anchor::End),
                false => (place + 10.0, Anchor::Start),
            };
            // Above what may cross it: an interval, or the stroke of a closed form.
            let mut height = y.at(point.y) - 7.0;
            let crosses = |height: f64, (left, right, line): &(f64, f64, f64)| {
                (line - height).abs() < NAME_LINE && *left < start + width && start < *right
            };
            while taken.iter().any(|other| crosses(height, other)) {
                height -= NAME_LINE;
            }
            taken.push((start, start + width, height));
            let at = match anchor {
                Anchor::End => place - 10.0,
                Anchor::Start | Anchor::Middle => place + 10.0,
            };
            canvas.text((at, height), anchor, name);
        }
    }

    fn colour(&self, nth: usize) -> Colour {
        match self.lines[nth].kind {
            LineKind::Measured => look(self.lines[nth].look.0).colour,
            LineKind::Formula | LineKind::Published => INK,
        }
    }

    /// The mark of a line: filled where it was measured, hollow in print.
    fn mark(&self, canvas: &mut Canvas, nth: usize, place: (f64, f64)) {
        let Line {
            kind,
            look: (first, second),
            ..
        } = self.lines[nth];
        match kind {
            LineKind::Measured => {
                let Look { colour, .. } = look(first);
                let Look { mark, .. } = look(first + second);
                canvas.mark(place, Look { colour, mark }, self.scale(nth));
            }
            LineKind::Formula | LineKind::Published => {
                canvas.hollow_mark(place, look(first).mark, INK);
            }
        }
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// The axis that lies and the one that stands, between these heights.
    fn axes(&self, bottom: f64, top: f64) -> (Axis, Axis) {
        let (left, right) = range(self.points().flat_map(|point| {
            let (low, high) = point.across.unwrap_or((point.x, point.x));
            [low, high]
        }));
        let (low, high) = range(self.points().flat_map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [low, high, point.theory.unwrap_or(high)]
        }));
        let logarithmic = (
            self.logarithmic.0 && left > 0.0,
            self.logarithmic.1 && low > 0.0,
        );
        let y = match logarithmic.1 {
            true => Axis::new(low / 1.2..=high * 1.2, bottom, top).logarithmic(),
            false => {
                let floor = low.min(0.0);
                Axis::new(floor..=high + (high - floor) * 0.06, bottom, top)
            }
        };
        let numbers = y.ticks();
        let numbers = numbers.iter().map(|(_, name)| width_of(name));
        let start = numbers.fold(30.0, f64::max) + 24.0;
        let x = match logarithmic.0 {
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
        let given = self.lines.iter();
        let given = given.filter(|line| line.kind != LineKind::Formula);
        let given = given.flat_map(|line| &line.points);
        if given.clone().any(|point| point.across.is_some()) {
            return axis.ticks();
        }
        let mut measured: Vec<f64> = given.map(|point| point.x).collect();
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
                if line.has_a_stroke() {
                    canvas.line((x - half, y), (x + half, y), self.stroke(nth));
                }
                if line.kind != LineKind::Formula || !line.has_a_stroke() {
                    self.mark(canvas, nth, (x, y));
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
        let Line {
            kind,
            look: (first, second),
            ..
        } = self.lines[nth];
        match kind {
            LineKind::Formula | LineKind::Published => {
                Stroke::new(INK, 1.5).dashes(first % DASH_KINDS + 1)
            }
            LineKind::Measured => {
                let width = 2.0 + 3.0 * self.hidden_below(nth);
                Stroke::new(self.colour(nth), width).dashes(second)
            }
        }
    }

    /// How much larger than usual a line's marks are.
    fn scale(&self, nth: usize) -> f64 {
        1.0 + 0.5 * self.hidden_below(nth)
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
            interval: Some((x, 3.0 * x)),
            theory: (x > 5.0).then_some(21.0),
            ..Point::plain(x, 2.0 * x)
        };
        LineChart {
            title: "messages",
            x: "nodes",
            y: "messages per entry",
            logarithmic: (logarithmic, logarithmic),
            note: None,
            lines: vec![Line {
                label: "raymond".to_owned(),
                points: [5.0, 10.0].map(point).to_vec(),
                kind: LineKind::Measured,
                look: (0, 0),
                is_joined: true,
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
        let series = (0..12).map(|nth| Line {
            label: format!("series {nth}"),
            points: chart(false).lines[0].points.clone(),
            kind: LineKind::Measured,
            look: (nth, 0),
            is_joined: true,
        });
        full.lines = series.collect();
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
        assert!(svg.contains("stroke-width=\"5\""), "{svg}");
        two.lines[1].points[0].y *= 1.2;
        assert_eq!(two.hidden_below(0), 0.0);
    }

    #[test]
    fn numbers_below_a_chart_are_those_it_is_about_unless_they_are_too_many() {
        let ticks = |x: &[f64], logarithmic| {
            let mut chart = chart(logarithmic);
            let one = chart.lines[0].points[0].clone();
            let points = x.iter().map(|&x| Point { x, ..one.clone() });
            chart.lines[0].points = points.collect();
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

    /// What is in print is black and hollow, so that nobody takes it for a measurement.
    #[test]
    fn what_is_in_print_looks_it() {
        let mut chart = chart(false);
        for kind in [LineKind::Formula, LineKind::Published] {
            chart.lines.push(Line {
                label: format!("{kind:?}"),
                points: vec![Point::plain(5.0, 1.0), Point::plain(10.0, 2.0)],
                kind,
                look: (0, 0),
                is_joined: true,
            });
        }
        assert_eq!([chart.colour(1), chart.colour(2)], [INK, INK]);
        assert_ne!(chart.colour(0), INK);
        let svg = chart.svg();
        // Two points and the legend's; a formula has none.
        let hollow = svg.lines().filter(|line| {
            line.contains("fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\"")
                && line.contains("translate")
        });
        assert_eq!(hollow.count(), 3);
    }

    #[test]
    fn points_with_names_are_not_joined_and_no_name_covers_another() {
        let mut chart = chart(false);
        chart.lines[0].points = ["grid", "plane"]
            .map(|name| Point {
                name: Some(name.to_owned()),
                across: Some((4.9, 5.1)),
                ..Point::plain(5.0, 2.0)
            })
            .to_vec();
        let svg = chart.svg();
        let height = |name: &str| {
            let line = svg.lines().find(|line| line.contains(&format!(">{name}<")));
            let (_, rest) = line.expect("a name").split_once(" y=\"").expect("a place");
            rest.split_once('"')
                .expect("it ends")
                .0
                .parse::<f64>()
                .expect("a number")
        };
        assert!((height("grid") - height("plane") - NAME_LINE).abs() < 0.1);
        // The only coloured paths are marks and intervals.
        let joined = svg
            .lines()
            .filter(|line| line.contains("stroke-width=\"2\""));
        assert_eq!(
            joined
                .filter(|line| line.contains(&chart.colour(0).to_string()))
                .count(),
            0
        );
    }

    #[test]
    fn a_note_stands_below_in_as_many_lines_as_it_takes() {
        let height = |note: Option<&'static str>| {
            let svg = LineChart {
                note,
                ..chart(false)
            }
            .svg();
            let (_, rest) = svg.split_once("height=\"").expect("a height");
            rest.split_once('"')
                .expect("it ends")
                .0
                .parse::<f64>()
                .expect("a number")
        };
        let long = "a word and another ".repeat(12);
        let long: &'static str = Box::leak(long.into_boxed_str());
        assert!(height(None) < height(Some("a note")));
        assert!(height(Some("a note")) < height(Some(long)));
    }
}
