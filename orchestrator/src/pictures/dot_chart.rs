//! Names below each other, and what was measured of each: dots with intervals along one axis.

use super::WIDTH;
use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Key, Stroke};
use super::palette::{INK, RULE, look};

/// A picture of names and dots.
pub(crate) struct DotChart<'a> {
    pub(crate) title: &'a str,
    /// What is measured, with its unit.
    pub(crate) x: &'a str,
    /// What the dots of one name are, each with its colour and mark.
    pub(crate) series: Vec<&'a str>,
    pub(crate) rows: Vec<DotRow>,
}

/// A name and its dots.
pub(crate) struct DotRow {
    pub(crate) name: String,
    /// One for each of the series, where there is one.
    pub(crate) dots: Vec<Option<Dot>>,
    /// The closed form of each of them, drawn as a stroke; one for all where they agree.
    pub(crate) theory: Vec<Option<f64>>,
}

/// A value, and the interval around it if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// Where the legend and the rows begin, and how high a row is.
const LEGEND: f64 = 38.0;
const TOP: f64 = 78.0;
const ROW: f64 = 34.0;
/// The edges of the rows.
const LEFT: f64 = 190.0;
const RIGHT: f64 = WIDTH - 40.0;
/// From the first dot of a row to the next.
const APART: f64 = 10.0;
/// How far the stroke of the closed form reaches to both sides.
const REACH: f64 = 13.0;
/// With a wider range than this the axis goes by logarithms.
const WIDE: f64 = 30.0;

impl DotChart<'_> {
    /// The picture as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut canvas = Canvas::titled(self.title);
        canvas.legend(LEGEND, &self.keys());
        let bottom = TOP + ROW * self.rows.len() as f64;
        let axis = self.axis();
        canvas.along_x(&axis, bottom, TOP, self.x);
        for (number, row) in self.rows.iter().enumerate() {
            let middle = TOP + ROW * (number as f64 + 0.5);
            let (left, right) = ((LEFT, middle), (RIGHT, middle));
            canvas.line(left, right, Stroke::new(RULE, 1.0));
            canvas.text((LEFT - 12.0, middle + 4.0), Anchor::End, &row.name);
            self.draw(&mut canvas, row, &axis, middle);
        }
        canvas.svg(bottom + 56.0)
    }

    /// The strokes and the dots of one row, around that height.
    fn draw(&self, canvas: &mut Canvas, row: &DotRow, axis: &Axis, middle: f64) {
        let first = middle - APART * (self.series.len() as f64 - 1.0) / 2.0;
        let alike = row.theory.windows(2).all(|pair| pair[0] == pair[1]);
        for (nth, theory) in row.theory.iter().enumerate() {
            if let Some(theory) = theory {
                let (y, reach) = match alike {
                    true => (middle, REACH),
                    false => (first + APART * nth as f64, APART / 2.0),
                };
                closed_form(canvas, (axis.at(*theory), y), reach);
            }
        }
        for (nth, dot) in row.dots.iter().enumerate() {
            if let Some(dot) = dot {
                let y = first + APART * nth as f64;
                if let Some((low, high)) = dot.interval {
                    let stroke = Stroke::new(look(nth).colour, 2.0);
                    canvas.level_interval(y, (axis.at(low), axis.at(high)), stroke);
                }
                canvas.mark((axis.at(dot.value), y), look(nth), 1.0);
            }
        }
    }

    fn axis(&self) -> Axis {
        let dots = self.rows.iter().flat_map(|row| row.dots.iter().flatten());
        let ends = dots.flat_map(|dot| {
            let (low, high) = dot.interval.unwrap_or((dot.value, dot.value));
            [low, dot.value, high]
        });
        let theory = self.rows.iter().flat_map(|row| row.theory.iter().flatten());
        let numbers = ends
            .chain(theory.copied())
            .filter(|number| number.is_finite());
        let (low, high) = numbers.fold((f64::INFINITY, 0.0), |(low, high), number| {
            (number.min(low), number.max(high))
        });
        if low > 0.0 && high / low > WIDE {
            return Axis::new(low / 1.2..=high * 1.2, LEFT, RIGHT).logarithmic();
        }
        Axis::new(low.min(0.0)..=high * 1.05, LEFT, RIGHT)
    }

    /// What the dots and the strokes mean.
    fn keys(&self) -> Vec<Key<'_>> {
        let series = self
            .series
            .iter()
            .enumerate()
            .map(|(nth, &name)| -> Key<'_> {
                let draw = move |canvas: &mut Canvas, place| canvas.mark(place, look(nth), 1.0);
                (name, Box::new(draw))
            });
        let mut keys = series.collect::<Vec<_>>();
        let mut theory = self.rows.iter().flat_map(|row| &row.theory);
        if theory.any(Option::is_some) {
            let draw = |canvas: &mut Canvas, place| closed_form(canvas, place, 9.0);
            keys.push(("closed form", Box::new(draw)));
        }
        keys
    }
}

/// The stroke of a closed form around its place.
fn closed_form(canvas: &mut Canvas, (x, y): (f64, f64), reach: f64) {
    canvas.line((x, y - reach), (x, y + reach), Stroke::new(INK, 2.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_dots_and_its_stroke() {
        let row = |name: &str, value: f64, theory| DotRow {
            name: name.to_owned(),
            dots: vec![
                Some(Dot {
                    value,
                    interval: Some((value - 1.0, value + 1.0)),
                }),
                None,
            ],
            theory,
        };
        let dots = DotChart {
            title: "compare",
            x: "messages per entry",
            series: vec!["sim", "cluster"],
            rows: vec![
                row("raymond", 4.0, vec![Some(3.6)]),
                row("lamport", 27.0, vec![None]),
            ],
        };
        let svg = dots.svg();
        for word in [
            "raymond",
            "lamport",
            "cluster",
            "closed form",
            "messages per entry",
        ] {
            assert!(svg.contains(word), "{word} is missing in {svg}");
        }
        // A dot for each of the two, and one in the legend.
        let disc = look(0).mark;
        assert_eq!(svg.matches(disc).count(), 3);
    }

    /// What theory says of one engine need not be what it says of the other.
    #[test]
    fn each_series_has_its_own_closed_form() {
        let strokes = |theory: Vec<Option<f64>>| {
            let dot = Dot {
                value: 4.0,
                interval: None,
            };
            let dots = DotChart {
                title: "costs",
                x: "messages per entry",
                series: vec!["sim", "cluster"],
                rows: vec![DotRow {
                    name: "banta-efficient".to_owned(),
                    dots: vec![Some(dot); 2],
                    theory,
                }],
            };
            let svg = dots.svg();
            let strokes = svg
                .lines()
                .filter(|line| line.contains("stroke-width=\"2\""));
            let strokes = strokes.filter(|line| line.contains(&INK.to_string()));
            strokes.collect::<std::collections::BTreeSet<_>>().len()
        };
        // One of them is the legend's.
        assert_eq!(strokes(vec![None, None]), 0);
        assert_eq!(strokes(vec![Some(3.0), Some(3.0)]), 2);
        assert_eq!(strokes(vec![Some(3.0), Some(2.0)]), 3);
        assert_eq!(strokes(vec![None, Some(2.0)]), 2);
    }
}
