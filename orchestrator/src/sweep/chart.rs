//! Lines over a number, with intervals, as SVG.

use std::fmt::Display;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{
    AsRangedCoord, DefaultFormatting, KeyPointHint, Ranged, ValueFormatter,
};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::plot::{Axis, Colour, RULE, look, plain};

/// A chart and its lines.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    pub(crate) logarithmic: bool,
    pub(crate) lines: Vec<Line>,
}

/// One line: a label and its points, from left to right.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<Point>,
    /// Whether it is what should be, not what was measured.
    pub(crate) dashed: bool,
}

/// A value, and the interval around it if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// What a closed form says.
    pub(crate) theory: Option<f64>,
}

const SIZE: (u32, u32) = (900, 560);
/// How wide the lines themselves are, about.
const WIDTH: f64 = 800.0;
/// Numbers below the chart need so much room.
const TICKS_APART: f64 = 36.0;

impl Chart<'_> {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> Result<String, String> {
        let mut text = String::new();
        self.draw(SVGBackend::with_string(&mut text, SIZE))?;
        Ok(text)
    }

    fn draw(&self, onto: SVGBackend<'_>) -> Result<(), String> {
        let area = onto.into_drawing_area();
        area.fill(&WHITE).map_err(said)?;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (left, right) = range(points().map(|point| point.x));
        let (bottom, top) = range(points().flat_map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [low, high, point.theory.unwrap_or(high)]
        }));
        if self.logarithmic && left > 0.0 && bottom > 0.0 {
            let ticks = self.ticks(&Axis::new(left..=right, 0.0, WIDTH).logarithmic());
            let (x, y) = (left / 1.2..right * 1.2, bottom / 1.2..top * 1.2);
            self.draw_on(
                &area,
                Ticked::<LogCoord<f64>>::new(x.log_scale(), ticks),
                y.log_scale(),
            )?;
        } else {
            let ticks = self.ticks(&Axis::new(left..=right, 0.0, WIDTH));
            let (margin, floor) = ((right - left) * 0.03 + 1e-9, bottom.min(0.0));
            let (x, y) = (
                left - margin..right + margin,
                floor..top + (top - floor) * 0.06 + 1e-9,
            );
            self.draw_on(&area, Ticked::<RangedCoordf64>::new(x, ticks), y)?;
        }
        area.present().map_err(said)
    }

    /// The numbers below the chart: those it is about if they can be told apart, else round ones.
    fn ticks(&self, axis: &Axis) -> Vec<f64> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let mut measured: Vec<f64> = points.map(|point| point.x).collect();
        measured.sort_by(f64::total_cmp);
        measured.dedup();
        let apart = |pair: &[f64]| axis.at(pair[1]) - axis.at(pair[0]) >= TICKS_APART;
        match measured.windows(2).all(apart) {
            true => measured,
            false => axis.ticks(),
        }
    }

    fn draw_on<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        x: impl AsRangedCoord<CoordDescType = X, Value = f64>,
        y: impl AsRangedCoord<CoordDescType = Y, Value = f64>,
    ) -> Result<(), String>
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let rule = RULE;
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(50)
            .y_label_area_size(74)
            .build_cartesian_2d(x, y)
            .map_err(said)?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 16))
            .x_label_formatter(&|number| plain(*number))
            .y_label_formatter(&|number| plain(*number))
            .bold_line_style(RGBColor(rule.0, rule.1, rule.2))
            .light_line_style(WHITE)
            .draw()
            .map_err(said)?;
        for (number, line) in self.lines.iter().enumerate() {
            let (Colour(red, green, blue), mark) = look(number);
            let colour = RGBColor(red, green, blue);
            let hidden = self.hidden_below(number);
            let width = 2 + 4 * hidden;
            let mark = larger(mark, hidden);
            let points = line.points.iter();
            let places = points.clone().map(|point| (point.x, point.y));
            let drawn = match line.dashed {
                false => chart.draw_series(LineSeries::new(places, colour.stroke_width(width))),
                true => {
                    chart.draw_series(DashedLineSeries::new(places, 6, 5, colour.stroke_width(1)))
                }
            };
            let drawn = drawn.map_err(said)?.label(&line.label);
            let sample = move || PathElement::new([(0, 0), (18, 0)], colour.stroke_width(width));
            if line.dashed {
                drawn.legend(move |place| EmptyElement::at(place) + sample());
                continue;
            }
            let marked = || Polygon::new(mark.clone(), colour.filled());
            let middle = mark.iter().map(|(x, y)| (x + 9, *y)).collect::<Vec<_>>();
            drawn.legend(move |place| {
                let mark = Polygon::new(middle.clone(), colour.filled());
                EmptyElement::at(place) + sample() + mark
            });
            let places = points.clone().map(|point| (point.x, point.y));
            let marks = places.map(|place| EmptyElement::at(place) + marked());
            chart.draw_series(marks).map_err(said)?;
            let thin = colour.stroke_width(1);
            let intervals = points.filter_map(|point| Some((point.x, point.interval?)));
            let bars = intervals.clone();
            let bars = bars.map(|(x, (low, high))| PathElement::new([(x, low), (x, high)], thin));
            chart.draw_series(bars).map_err(said)?;
            let ends = intervals.flat_map(|(x, (low, high))| [(x, low), (x, high)]);
            let end = |place| EmptyElement::at(place) + PathElement::new([(-4, 0), (4, 0)], thin);
            chart.draw_series(ends.map(end)).map_err(said)?;
        }
        let expected = self.lines.iter().flat_map(|line| &line.points);
        let expected = expected.filter_map(|point| Some((point.x, point.theory?)));
        let expected = expected.collect::<Vec<_>>();
        if !expected.is_empty() {
            let stroke = |(x, y)| EmptyElement::at((x, y)) + across();
            chart
                .draw_series(expected.into_iter().map(stroke))
                .map_err(said)?
                .label("closed form")
                .legend(|(x, y)| EmptyElement::at((x + 9, y)) + across());
        }
        chart
            .configure_series_labels()
            .label_font(("sans-serif", 14))
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .position(self.emptiest_place())
            .draw()
            .map_err(said)
    }
}

/// An axis with its numbers where they are wanted. (The library's own way of saying so keeps the lack
/// of a format that an axis of floats has, and then draws no mesh.)
struct Ticked<R> {
    axis: R,
    ticks: Vec<f64>,
}

impl<R: Ranged<ValueType = f64>> Ticked<R> {
    fn new(axis: impl Into<R>, ticks: Vec<f64>) -> Self {
        let axis = axis.into();
        Self { axis, ticks }
    }
}

impl<R: Ranged<ValueType = f64>> Ranged for Ticked<R> {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn range(&self) -> Range<f64> {
        self.axis.range()
    }

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.axis.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.clone(),
        }
    }
}

/// The stroke of a closed form, around its place.
fn across() -> PathElement<(i32, i32)> {
    PathElement::new([(-9, 0), (9, 0)], BLACK.stroke_width(2))
}

/// A mark that looks out from under so many others.
fn larger(mark: &[(i32, i32)], others: u32) -> Vec<(i32, i32)> {
    let share = 1.0 + 0.7 * f64::from(others);
    let far = |way: i32| (f64::from(way) * share).round() as i32;
    mark.iter().map(|&(x, y)| (far(x), far(y))).collect()
}

impl Chart<'_> {
    /// How many of the lines that are drawn later lie on this one; it is drawn wider, so that it can
    /// be seen below them.
    fn hidden_below(&self, number: usize) -> u32 {
        let near = |a: f64, b: f64| (a - b).abs() <= 0.005 * a.abs().max(b.abs());
        let on_it = |a: &Point, b: &Point| a.x == b.x && near(a.y, b.y);
        let line = &self.lines[number];
        let covers = |later: &&Line| {
            let mut points = line.points.iter().zip(&later.points);
            !later.dashed
                && later.points.len() == line.points.len()
                && points.all(|(a, b)| on_it(a, b))
        };
        let later = self.lines[number + 1..].iter();
        match line.dashed {
            true => 0,
            false => later.filter(covers).count() as u32,
        }
    }

    /// Where the labels hide fewest points: at a corner if one is as empty as the sides.
    fn emptiest_place(&self) -> SeriesLabelPosition {
        use SeriesLabelPosition::*;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let scaled = |value: f64| match self.logarithmic {
            true => value.max(f64::MIN_POSITIVE).ln(),
            false => value,
        };
        let floor = (!self.logarithmic).then_some(0.0);
        let (left, right) = range(points().map(|point| scaled(point.x)));
        let (bottom, top) = range(points().map(|point| scaled(point.y)).chain(floor));
        // Each place is a third of the width and of the height.
        let third = |value: f64, (low, high): (f64, f64)| {
            let share = (value - low) / (high - low).max(f64::MIN_POSITIVE);
            ((share * 3.0) as u32).min(2)
        };
        let hidden = |column: u32, row: u32| {
            let near = |point: &&Point| {
                third(scaled(point.x), (left, right)) == column
                    && third(scaled(point.y), (bottom, top)) == row
            };
            points().filter(near).count()
        };
        let places = [
            (hidden(0, 2), UpperLeft),
            (hidden(2, 2), UpperRight),
            (hidden(2, 0), LowerRight),
            (hidden(0, 0), LowerLeft),
            (hidden(0, 1), MiddleLeft),
            (hidden(2, 1), MiddleRight),
            (hidden(1, 2), UpperMiddle),
        ];
        let emptiest = places.into_iter().min_by_key(|(hidden, _)| *hidden);
        emptiest.expect("there are places").1
    }
}

fn said(error: impl Display) -> String {
    error.to_string()
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
    use std::collections::BTreeSet;

    use super::*;
    use crate::plot::COLOURS;

    fn chart(logarithmic: bool) -> Chart<'static> {
        let point = |x: f64| Point {
            x,
            y: 2.0 * x,
            interval: Some((x, 3.0 * x)),
            theory: (x > 5.0).then_some(21.0),
        };
        Chart {
            title: "messages",
            x: "nodes",
            y: "messages per entry",
            logarithmic,
            lines: vec![Line {
                label: "raymond".to_owned(),
                points: [5.0, 10.0].map(point).to_vec(),
                dashed: false,
            }],
        }
    }

    #[test]
    fn a_chart_names_its_axes_and_its_lines() {
        for logarithmic in [false, true] {
            let svg = chart(logarithmic).svg().unwrap();
            for word in [
                "<svg",
                "nodes",
                "messages per entry",
                "raymond",
                "polyline",
                "closed form",
            ] {
                assert!(svg.contains(word), "{word} is missing in {svg}");
            }
        }
    }

    /// The seventh has another colour than the first, and the eleventh another mark.
    #[test]
    fn no_two_lines_of_a_full_chart_look_alike() {
        let looks = (0..100).map(look);
        let distinct = looks.collect::<BTreeSet<_>>();
        assert_eq!(distinct.len(), 100);
        let marks = (0..10).map(|nth| look(nth).1);
        assert_eq!(marks.collect::<BTreeSet<_>>().len(), 10);
        let mut full = chart(false);
        let labels = (0..12).map(|nth| format!("series {nth}"));
        full.lines = labels
            .map(|label| Line {
                label,
                points: chart(false).lines[0].points.clone(),
                dashed: false,
            })
            .collect();
        let svg = full.svg().unwrap();
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
        assert_eq!([two.hidden_below(0), two.hidden_below(1)], [1, 0]);
        let svg = two.svg().unwrap();
        assert!(svg.contains("stroke-width=\"6\""), "{svg}");
        two.lines[1].points[0].y *= 1.2;
        assert_eq!(two.hidden_below(0), 0);
    }

    #[test]
    fn numbers_below_a_chart_are_those_it_is_about_unless_they_are_too_many() {
        let ticks = |x: &[f64], logarithmic| {
            let mut chart = chart(logarithmic);
            let one = chart.lines[0].points[0];
            chart.lines[0].points = x.iter().map(|&x| Point { x, ..one }).collect();
            let axis = Axis::new(x[0]..=x[x.len() - 1], 0.0, WIDTH);
            match logarithmic {
                true => chart.ticks(&axis.logarithmic()),
                false => chart.ticks(&axis),
            }
        };
        assert_eq!(ticks(&[5.0, 6.0, 7.0], false), [5.0, 6.0, 7.0]);
        assert_eq!(ticks(&[3.0, 30.0, 300.0], true), [3.0, 30.0, 300.0]);
        // 3 and 5 would be one blot between 0 and 300.
        let round = [50.0, 100.0, 150.0, 200.0, 250.0, 300.0];
        assert_eq!(ticks(&[3.0, 5.0, 300.0], false), round);
    }

    #[test]
    fn an_empty_chart_is_drawn_too() {
        let empty = Chart {
            lines: Vec::new(),
            ..chart(true)
        };
        assert!(empty.svg().is_ok());
    }
}
