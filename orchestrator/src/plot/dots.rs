//! Names below each other, and what was measured of each: dots with intervals along one axis.

use super::{Anchor, Axis, COLOURS, Drawing, INK, RULE};

/// A picture of names and dots.
pub(crate) struct Dots<'a> {
    pub(crate) title: &'a str,
    /// What is measured, with its unit.
    pub(crate) x: &'a str,
    /// What the dots of one name are, each with its colour and shape.
    pub(crate) series: Vec<&'a str>,
    pub(crate) rows: Vec<Row>,
}

/// A name and its dots.
pub(crate) struct Row {
    pub(crate) name: String,
    /// One for each of the series, where there is one.
    pub(crate) dots: Vec<Option<Dot>>,
    /// What theory says of each of them, drawn as a stroke; one for all where it says the same.
    pub(crate) theory: Vec<Option<f64>>,
}

/// A value, and the interval around it if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 78.0;
const ROW: f64 = 34.0;
/// From the first dot of a row to the next.
const APART: f64 = 10.0;
/// With a wider range than this the axis goes in powers.
const WIDE: f64 = 30.0;

impl Dots<'_> {
    /// The picture as SVG.
    pub(crate) fn svg(&self) -> String {
        let bottom = TOP + ROW * self.rows.len() as f64;
        let mut drawing = Drawing::new(WIDTH, bottom + 56.0);
        drawing.text((16.0, 26.0), Anchor::Start, self.title);
        let axis = self.axis();
        drawing.along_x(&axis, bottom, TOP, self.x);
        for (number, row) in self.rows.iter().enumerate() {
            let middle = TOP + ROW * (number as f64 + 0.5);
            drawing.line((LEFT, middle), (WIDTH - RIGHT, middle), RULE, 1.0);
            drawing.text((LEFT - 12.0, middle + 4.0), Anchor::End, &row.name);
            let first = middle - APART * (self.series.len() as f64 - 1.0) / 2.0;
            let alike = row.theory.windows(2).all(|pair| pair[0] == pair[1]);
            for (nth, theory) in row.theory.iter().enumerate() {
                let Some(theory) = theory else {
                    continue;
                };
                let (y, half) = match alike {
                    true => (middle, 13.0),
                    false => (first + APART * nth as f64, APART / 2.0),
                };
                let x = axis.at(*theory);
                drawing.line((x, y - half), (x, y + half), INK, 2.0);
            }
            for (nth, dot) in row.dots.iter().enumerate() {
                if let Some(dot) = dot {
                    let y = first + APART * nth as f64;
                    mark(&mut drawing, nth, &axis, y, *dot);
                }
            }
        }
        self.legend(&mut drawing);
        drawing.svg()
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
            return Axis::new(low / 1.2..=high * 1.2, LEFT, WIDTH - RIGHT).logarithmic();
        }
        Axis::new(low.min(0.0)..=high * 1.05, LEFT, WIDTH - RIGHT)
    }

    fn legend(&self, drawing: &mut Drawing) {
        let (mut x, y) = (LEFT, 56.0);
        let here = Axis::new(0.0..=1.0, 0.0, 1.0);
        for (nth, name) in self.series.iter().enumerate() {
            let place = Axis {
                start: x,
                end: x,
                ..here.clone()
            };
            let dot = Dot {
                value: 0.0,
                interval: None,
            };
            mark(drawing, nth, &place, y - 4.0, dot);
            drawing.text((x + 12.0, y), Anchor::Start, name);
            x += 40.0 + 8.0 * name.chars().count() as f64;
        }
        if self
            .rows
            .iter()
            .any(|row| row.theory.iter().any(Option::is_some))
        {
            drawing.line((x, y - 13.0), (x, y + 5.0), INK, 2.0);
            drawing.text((x + 12.0, y), Anchor::Start, "closed form");
        }
    }
}

/// A dot of the n-th series at that height, and its interval.
fn mark(drawing: &mut Drawing, series: usize, axis: &Axis, y: f64, dot: Dot) {
    let colour = COLOURS[series % COLOURS.len()];
    if let Some((low, high)) = dot.interval {
        drawing.line((axis.at(low), y), (axis.at(high), y), colour, 2.0);
        for end in [low, high] {
            let x = axis.at(end);
            drawing.line((x, y - 4.0), (x, y + 4.0), colour, 2.0);
        }
    }
    let x = axis.at(dot.value);
    // A shape for each as well: not every printer has colours.
    match series {
        0 => drawing.dot((x, y), 4.5, colour),
        _ => drawing.block((x - 4.0, y - 4.0), (8.0, 8.0), colour, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_dots_and_its_stroke() {
        let row = |name: &str, value: f64, theory| Row {
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
        let dots = Dots {
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
        assert_eq!(svg.matches("<circle").count(), 3);
    }

    /// What theory says of one engine need not be what it says of the other.
    #[test]
    fn each_series_has_its_own_closed_form() {
        let strokes = |theory: Vec<Option<f64>>| {
            let dot = Dot {
                value: 4.0,
                interval: None,
            };
            let dots = Dots {
                title: "costs",
                x: "messages per entry",
                series: vec!["sim", "cluster"],
                rows: vec![Row {
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
