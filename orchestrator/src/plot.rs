//! Small pictures as SVG: an axis or two, and what was measured along them.
//!
//! Colours are written as they are on white paper; the style of a page replaces them where it is
//! dark.

pub(crate) mod dots;

use std::fmt::{self, Display, Write};
use std::ops::RangeInclusive;

use crate::numbers::decimal;
use crate::report::page::escaped;

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Colours that people tell apart whether or not they see red and green: Okabe and Ito's, without
/// those that are too light for a thin line, and then the darker ones of Tol's muted scheme.
pub(crate) const COLOURS: [Colour; 10] = [
    Colour(0x00, 0x72, 0xB2),
    Colour(0xD5, 0x5E, 0x00),
    Colour(0x00, 0x9E, 0x73),
    Colour(0xCC, 0x79, 0xA7),
    Colour(0xE6, 0x9F, 0x00),
    Colour(0x56, 0xB4, 0xE9),
    Colour(0x33, 0x22, 0x88),
    Colour(0x88, 0x22, 0x55),
    Colour(0x99, 0x99, 0x33),
    Colour(0x6E, 0x6E, 0x6E),
];
/// A shape as well, around its place: not every printer has colours.
const MARKS: [&[(i32, i32)]; 10] = [
    // A disc, a triangle, a square, a diamond, a cross; a triangle that hangs, two that lie, a bar
    // and a post.
    &[
        (4, 0),
        (3, 3),
        (0, 4),
        (-3, 3),
        (-4, 0),
        (-3, -3),
        (0, -4),
        (3, -3),
    ],
    &[(0, -6), (5, 4), (-5, 4)],
    &[(4, 4), (-4, 4), (-4, -4), (4, -4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
    &[
        (2, -6),
        (2, -2),
        (6, -2),
        (6, 2),
        (2, 2),
        (2, 6),
        (-2, 6),
        (-2, 2),
        (-6, 2),
        (-6, -2),
        (-2, -2),
        (-2, -6),
    ],
    &[(0, 6), (5, -4), (-5, -4)],
    &[(-6, 0), (4, 5), (4, -5)],
    &[(6, 0), (-4, 5), (-4, -5)],
    &[(6, 2), (-6, 2), (-6, -2), (6, -2)],
    &[(2, 6), (-2, 6), (-2, -6), (2, -6)],
];
/// For words.
pub(crate) const INK: Colour = Colour(0, 0, 0);
/// For lines that lead the eye.
pub(crate) const RULE: Colour = Colour(0xD9, 0xDD, 0xE1);

/// How the n-th of several series looks: its colour and its mark. When the colours begin anew, each
/// comes with the next mark, so that no two of the first hundred look alike.
pub(crate) fn look(nth: usize) -> (Colour, &'static [(i32, i32)]) {
    let (round, place) = (nth / COLOURS.len(), nth % COLOURS.len());
    (COLOURS[place], MARKS[(place + round) % MARKS.len()])
}

impl Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Colour(red, green, blue) = self;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

/// From a number to a place on the paper.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Axis {
    /// An axis for these numbers between two places; one number alone gets some room around it.
    pub(crate) fn new(numbers: RangeInclusive<f64>, start: f64, end: f64) -> Self {
        let (from, mut to) = numbers.into_inner();
        if to <= from {
            to = from + from.abs().max(1.0);
        }
        Self {
            from,
            to,
            start,
            end,
            logarithmic: false,
        }
    }

    /// The same in powers, if all its numbers are above zero.
    pub(crate) fn logarithmic(self) -> Self {
        Self {
            logarithmic: self.from > 0.0,
            ..self
        }
    }

    /// Where a number lies.
    pub(crate) fn at(&self, number: f64) -> f64 {
        let share = match self.logarithmic {
            true => (number / self.from).ln() / (self.to / self.from).ln(),
            false => (number - self.from) / (self.to - self.from),
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Round numbers on it.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
            let ticks = decades.flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10_f64.powi(power)));
            return ticks
                .filter(|tick| (self.from..=self.to).contains(tick))
                .collect();
        }
        let rough = (self.to - self.from) / 6.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).map(|nth| nth as f64 * step).collect()
    }
}

/// A picture in the making.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands at its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    /// White paper of that size.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let body = format!("<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n");
        Self {
            width,
            height,
            body,
        }
    }

    /// Words.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let words = escaped(words);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{words}</text>\n"
        ));
    }

    /// A line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, width: f64) {
        let path = format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
        self.path(&path, colour, width, 1.0);
    }

    /// Lines, in SVG's own words.
    pub(crate) fn path(&mut self, path: &str, colour: Colour, width: f64, opacity: f64) {
        if !path.is_empty() {
            self.put(format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
                 opacity=\"{opacity}\"/>\n"
            ));
        }
    }

    /// A line through all of these.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], colour: Colour) {
        let mut path = String::new();
        for (nth, (x, y)) in points.iter().enumerate() {
            let letter = if nth == 0 { 'M' } else { 'L' };
            write!(path, "{letter}{x:.1} {y:.1}").expect("a text takes every letter");
        }
        self.path(&path, colour, 2.0, 1.0);
    }

    /// A filled rectangle.
    pub(crate) fn block(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        colour: Colour,
        opacity: f64,
    ) {
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\" opacity=\"{opacity}\"/>\n"
        ));
    }

    /// A dot.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour) {
        self.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>\n"
        ));
    }

    /// Round numbers along an axis that lies at that height, with lines across to `top`.
    pub(crate) fn along_x(&mut self, axis: &Axis, bottom: f64, top: f64, label: &str) {
        let ticks = axis.ticks().into_iter().map(|tick| (tick, plain(tick)));
        self.along_x_at(axis, &ticks.collect::<Vec<_>>(), bottom, top, label);
    }

    /// The same with these numbers, which have names.
    pub(crate) fn along_x_at(
        &mut self,
        axis: &Axis,
        ticks: &[(f64, String)],
        bottom: f64,
        top: f64,
        label: &str,
    ) {
        for (tick, name) in ticks {
            let x = axis.at(*tick);
            self.line((x, bottom), (x, top), RULE, 1.0);
            self.text((x, bottom + 18.0), Anchor::Middle, name);
        }
        self.line((axis.start, bottom), (axis.end, bottom), INK, 1.0);
        let middle = f64::midpoint(axis.start, axis.end);
        self.text((middle, bottom + 38.0), Anchor::Middle, label);
    }

    /// Round numbers along an axis that stands there, with lines across to `right`.
    pub(crate) fn along_y(&mut self, axis: &Axis, left: f64, right: f64, label: &str) {
        for tick in axis.ticks() {
            let y = axis.at(tick);
            self.line((left, y), (right, y), RULE, 1.0);
            self.text((left - 8.0, y + 4.0), Anchor::End, &plain(tick));
        }
        self.line((left, axis.start), (left, axis.end), INK, 1.0);
        self.text((left, axis.end - 10.0), Anchor::Start, label);
    }

    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let Self {
            width,
            height,
            body,
        } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             {body}</svg>\n"
        )
    }

    fn put(&mut self, what: fmt::Arguments<'_>) {
        self.body
            .write_fmt(what)
            .expect("a text takes every letter");
    }
}

/// A round number without zeros that say nothing.
pub(crate) fn plain(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_owned(),
        // Long numbers are whole ones; their thousands are kept apart.
        _ if number >= 1e4 => decimal(number, 0),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_numbers() {
        let ticks = |axis: &Axis| {
            axis.ticks()
                .iter()
                .map(|&tick| plain(tick))
                .collect::<Vec<_>>()
        };
        let axis = Axis::new(0.0..=1.0, 0.0, 100.0);
        assert_eq!(ticks(&axis), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(
            ticks(&Axis::new(3.0..=11.0, 0.0, 1.0)),
            ["4", "6", "8", "10"]
        );
        let powers = Axis::new(3.0..=60.0, 0.0, 1.0).logarithmic();
        assert_eq!(ticks(&powers), ["5", "10", "20", "50"]);
        assert_eq!(
            ticks(&Axis::new(7.0..=7.0, 0.0, 1.0)),
            ["8", "10", "12", "14"]
        );
        assert_eq!(
            ticks(&Axis::new(0.0..=25e3, 0.0, 1.0))[4..],
            ["20,000", "25,000"]
        );
    }

    #[test]
    fn a_number_lies_where_it_should() {
        let axis = Axis::new(0.0..=10.0, 100.0, 300.0);
        assert_eq!(
            (axis.at(0.0), axis.at(5.0), axis.at(99.0)),
            (100.0, 200.0, 300.0)
        );
        let powers = Axis::new(1.0..=100.0, 0.0, 2.0).logarithmic();
        assert!((powers.at(10.0) - 1.0).abs() < 1e-12);
        assert!(!Axis::new(0.0..=1.0, 0.0, 1.0).logarithmic().logarithmic);
    }
}
