//! The paper: lines, marks, words, axes and a legend, written as SVG.

use std::fmt::{self, Write};

use super::WIDTH;
use super::axis::Axis;
use super::palette::{Colour, INK, Look, RULE};
use crate::report::page::escaped;

/// A picture in the making, as wide as all pictures are.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

/// Where a text stands at its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    colour: Colour,
    width: f64,
    opacity: f64,
    /// Which of [`DASHES`] it has.
    dashes: usize,
}

/// Ways to dash a line, as SVG has them; the first has no gaps.
const DASHES: [&str; 4] = ["", "6 5", "2 4", "11 4 2 4"];

/// What a sign in a legend stands for, and how to draw it in the middle of a box of [`SAMPLE`] by
/// [`SAMPLE`] points.
pub(super) type Key<'a> = (&'a str, Box<dyn Fn(&mut Canvas, (f64, f64)) + 'a>);

/// A place on the paper, from the left and from the top.
type Place = (f64, f64);

/// The height of letters.
const FONT: f64 = 13.0;
/// The height of a title that is not too long for it.
const TITLE: f64 = 17.0;
/// The width of a letter as a share of its height, in the widest of the usual fonts.
const LETTER: f64 = 0.62;
/// The room that a legend's sign has.
pub(super) const SAMPLE: f64 = 28.0;
/// From one line of a legend to the next.
const LEGEND_LINE: f64 = 20.0;
/// From one line of a note to the next.
const NOTE_LINE: f64 = 17.0;
/// The distance that a title and a legend keep from the edges of the paper.
const MARGIN: f64 = 16.0;

impl Stroke {
    /// A line without gaps.
    pub(super) fn new(colour: Colour, width: f64) -> Self {
        Self {
            colour,
            width,
            opacity: 1.0,
            dashes: 0,
        }
    }

    /// The same line, partly transparent.
    pub(super) fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// The same line, dashed in one of several ways; 0 is without gaps.
    pub(super) fn dashes(self, nth: usize) -> Self {
        Self {
            dashes: nth % DASHES.len(),
            ..self
        }
    }
}

/// About how wide a text is.
pub(super) fn width_of(text: &str) -> f64 {
    FONT * LETTER * text.chars().count() as f64
}

impl Canvas {
    /// An empty picture with this title, which is smaller if it would be cut off.
    pub(super) fn titled(words: &str) -> Self {
        let mut canvas = Self::default();
        let room = (WIDTH - 2.0 * MARGIN) / (LETTER * words.chars().count().max(1) as f64);
        let (size, words) = (TITLE.min(room), escaped(words));
        canvas.put(format_args!(
            "<text x=\"{MARGIN}\" y=\"26.0\" font-size=\"{size:.1}\" fill=\"{INK}\">{words}</text>\n"
        ));
        canvas
    }

    /// Writes text at a place.
    pub(super) fn text(&mut self, place: Place, anchor: Anchor, words: &str) {
        self.inked_text(place, anchor, words, INK);
    }

    /// Writes text of that colour.
    pub(super) fn inked_text(
        &mut self,
        (x, y): Place,
        anchor: Anchor,
        words: &str,
        colour: Colour,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let words = escaped(words);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>\n"
        ));
    }

    /// Writes a note from that height downwards, in as many lines as it takes. Says where it ends.
    pub(super) fn note(&mut self, top: f64, words: Option<&str>) -> f64 {
        let Some(words) = words else {
            return top;
        };
        let room = ((WIDTH - 2.0 * MARGIN) / (FONT * LETTER)) as usize;
        let mut lines = vec![String::new()];
        for word in words.split_whitespace() {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            match line.is_empty() || line.chars().count() + 1 + word.chars().count() <= room {
                true => {
                    if !line.is_empty() {
                        line.push(' ');
                    }
                    line.push_str(word);
                }
                false => lines.push(word.to_owned()),
            }
        }
        let mut y = top;
        for line in &lines {
            y += NOTE_LINE;
            self.text((MARGIN, y), Anchor::Start, line);
        }
        y + NOTE_LINE / 2.0
    }

    /// Draws a straight line.
    pub(super) fn line(&mut self, from: Place, to: Place, stroke: Stroke) {
        self.curve(&[from, to], stroke);
    }

    /// A line through all of these.
    pub(super) fn curve(&mut self, points: &[Place], stroke: Stroke) {
        let mut path = String::new();
        for (nth, (x, y)) in points.iter().enumerate() {
            let letter = if nth == 0 { 'M' } else { 'L' };
            write!(path, "{letter}{x:.1} {y:.1}").expect("a text takes every letter");
        }
        self.path(&path, stroke);
    }

    /// Draws lines and curves, written as the path of an SVG file.
    pub(super) fn path(&mut self, path: &str, stroke: Stroke) {
        if path.is_empty() {
            return;
        }
        let Stroke { colour, width, .. } = stroke;
        self.put(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\""
        ));
        if stroke.opacity < 1.0 {
            self.put(format_args!(" opacity=\"{}\"", stroke.opacity));
        }
        if stroke.dashes > 0 {
            let dashes = DASHES[stroke.dashes];
            self.put(format_args!(" stroke-dasharray=\"{dashes}\""));
        }
        self.put(format_args!("/>\n"));
    }

    /// Draws a filled rectangle.
    pub(super) fn block(
        &mut self,
        (x, y): Place,
        (width, height): (f64, f64),
        colour: Colour,
        opacity: f64,
    ) {
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\" opacity=\"{opacity}\"/>\n"
        ));
    }

    /// Draws the mark of a series, `scale` times as large as usual.
    pub(super) fn mark(&mut self, (x, y): Place, Look { colour, mark }: Look, scale: f64) {
        self.put(format_args!(
            "<path d=\"{mark}\" transform=\"translate({x:.1} {y:.1}) scale({scale:.1})\" fill=\"{colour}\"/>\n"
        ));
    }

    /// Draws a mark as its outline, through which one sees what is below.
    pub(super) fn hollow_mark(&mut self, (x, y): Place, mark: &str, colour: Colour) {
        self.put(format_args!(
            "<path d=\"{mark}\" transform=\"translate({x:.1} {y:.1})\" fill=\"none\" \
             stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"
        ));
    }

    /// An interval beside a mark, upwards: a thin line with an end on each side.
    pub(super) fn upright_interval(&mut self, x: f64, (low, high): (f64, f64), stroke: Stroke) {
        let left = x - 4.0;
        let path = format!("M{x:.1} {low:.1}V{high:.1}M{left:.1} {low:.1}h8M{left:.1} {high:.1}h8");
        self.path(&path, stroke);
    }

    /// The same along a line of writing.
    pub(super) fn level_interval(&mut self, y: f64, (low, high): (f64, f64), stroke: Stroke) {
        let top = y - 4.0;
        let path = format!("M{low:.1} {y:.1}H{high:.1}M{low:.1} {top:.1}v8M{high:.1} {top:.1}v8");
        self.path(&path, stroke);
    }

    /// Round numbers along an axis that lies at that height, with lines across to `top`.
    pub(super) fn along_x(&mut self, axis: &Axis, bottom: f64, top: f64, label: &str) {
        self.along_x_at(axis, &axis.ticks(), bottom, top, label);
    }

    /// The same with these numbers, which have names.
    pub(super) fn along_x_at(
        &mut self,
        axis: &Axis,
        ticks: &[(f64, String)],
        bottom: f64,
        top: f64,
        label: &str,
    ) {
        for (tick, name) in ticks {
            let x = axis.at(*tick);
            self.line((x, bottom), (x, top), Stroke::new(RULE, 1.0));
            self.text((x, bottom + 18.0), Anchor::Middle, name);
        }
        let (start, end) = ((axis.start, bottom), (axis.end, bottom));
        self.line(start, end, Stroke::new(INK, 1.0));
        let middle = f64::midpoint(axis.start, axis.end);
        self.text((middle, bottom + 38.0), Anchor::Middle, label);
    }

    /// Round numbers along an axis that stands there, with lines across to `right`, and the label
    /// above it.
    pub(super) fn along_y(&mut self, axis: &Axis, left: f64, right: f64, label: &str) {
        for (tick, name) in axis.ticks() {
            let y = axis.at(tick);
            self.line((left, y), (right, y), Stroke::new(RULE, 1.0));
            self.text((left - 8.0, y + 4.0), Anchor::End, &name);
        }
        let (start, end) = ((left, axis.start), (left, axis.end));
        self.line(start, end, Stroke::new(INK, 1.0));
        // Not beyond the paper, where the numbers leave little room before it.
        self.text((MARGIN, axis.end - 12.0), Anchor::Start, label);
    }

    /// What the signs mean, from that height downwards: one line if they fit, columns otherwise. Says
    /// where it ends.
    pub(super) fn legend(&mut self, top: f64, keys: &[Key<'_>]) -> f64 {
        let room = WIDTH - 2.0 * MARGIN;
        let width = |(label, _): &Key<'_>| SAMPLE + 6.0 + width_of(label) + 18.0;
        let widest = keys.iter().map(width).fold(1.0, f64::max);
        let in_one_line = keys.iter().map(width).sum::<f64>() <= room;
        let (mut x, mut y) = (MARGIN, top + LEGEND_LINE / 2.0);
        for key in keys {
            let own = if in_one_line { width(key) } else { widest };
            if x > MARGIN && x + own > MARGIN + room {
                (x, y) = (MARGIN, y + LEGEND_LINE);
            }
            let (label, draw) = key;
            draw(self, (x + SAMPLE / 2.0, y));
            self.text((x + SAMPLE + 6.0, y + 4.0), Anchor::Start, label);
            x += own;
        }
        y + LEGEND_LINE / 2.0
    }

    /// The picture, on white paper of that height.
    pub(super) fn svg(&self, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"{FONT}\">\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn put(&mut self, what: fmt::Arguments<'_>) {
        self.body
            .write_fmt(what)
            .expect("a text takes every letter");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_begins_a_new_line_where_the_paper_ends() {
        let ends = |labels: &[&str]| {
            let nothing = |_: &mut Canvas, _| {};
            let keys = labels
                .iter()
                .map(|&label| -> Key<'_> { (label, Box::new(nothing)) });
            Canvas::default().legend(0.0, &keys.collect::<Vec<_>>())
        };
        let long = "lfrt as printed: L2 ring-chords:3";
        assert_eq!(ends(&["mean", "longest"]), LEGEND_LINE);
        assert_eq!(ends(&[long; 3]), 2.0 * LEGEND_LINE);
        assert_eq!(ends(&[long.repeat(9).as_str(); 3]), 3.0 * LEGEND_LINE);
    }

    #[test]
    fn a_long_title_is_smaller() {
        let size = |title: &str| {
            let canvas = Canvas::titled(title);
            let (_, rest) = canvas
                .body
                .split_once("font-size=\"")
                .expect("it has a size");
            let (size, _) = rest.split_once('"').expect("it ends");
            size.parse::<f64>().expect("a number")
        };
        assert_eq!(size("short"), TITLE);
        assert!(size(&"x".repeat(200)) < 8.0);
    }
}
