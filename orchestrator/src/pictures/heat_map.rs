//! Rows and columns of values, the larger the darker: the chart of a table.

use super::WIDTH;
use super::canvas::{Anchor, Canvas, width_of};
use super::palette::{BLUE, INK, WHITE};
use crate::numbers::decimal;

/// A map and its fields.
pub(crate) struct HeatMap<'a> {
    pub(crate) title: &'a str,
    /// What the values are, with their unit.
    pub(crate) value: &'a str,
    /// What stands below it.
    pub(crate) note: Option<&'a str>,
    pub(crate) fields: Vec<Field>,
}

/// A value at its place.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) row: String,
    pub(crate) column: String,
    /// What else stands in the field.
    pub(crate) written: String,
    /// Nothing if no run had it.
    pub(crate) value: Option<f64>,
    /// Half of the interval around it.
    pub(crate) half: Option<f64>,
}

/// Where the name of the values stands, and the names of the columns.
const VALUE: f64 = 52.0;
const COLUMNS: f64 = 82.0;
const TOP: f64 = 94.0;
/// The height of a row.
const ROW: f64 = 66.0;
const RIGHT: f64 = WIDTH - 16.0;
/// Room around the names of rows.
const MARGIN: f64 = 16.0;
/// The gap between two fields.
const GAP: f64 = 2.0;
/// A field that is darker than this has white letters.
const DARK: f64 = 0.55;
const PALEST: f64 = 0.06;
const DARKEST: f64 = 0.9;

impl HeatMap<'_> {
    /// The map as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut canvas = Canvas::titled(self.title);
        canvas.text((MARGIN, VALUE), Anchor::Start, self.value);
        let (rows, columns) = (
            self.names(|field| &field.row),
            self.names(|field| &field.column),
        );
        let widths = rows.iter().map(|name| width_of(name));
        let left = MARGIN + widths.fold(0.0, f64::max) + 12.0;
        let width = (RIGHT - left) / columns.len().max(1) as f64;
        for (nth, name) in columns.iter().enumerate() {
            let middle = left + width * (nth as f64 + 0.5);
            canvas.text((middle, COLUMNS), Anchor::Middle, name);
        }
        for (nth, name) in rows.iter().enumerate() {
            let middle = TOP + ROW * (nth as f64 + 0.5);
            canvas.text((left - 12.0, middle + 4.0), Anchor::End, name);
        }
        let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
        for field in &self.fields {
            let (Some(row), Some(column)) =
                (place(&rows, &field.row), place(&columns, &field.column))
            else {
                continue;
            };
            let corner = (left + width * column as f64, TOP + ROW * row as f64);
            self.draw(&mut canvas, field, corner, width);
        }
        let bottom = TOP + ROW * rows.len() as f64;
        let end = canvas.note(bottom + 8.0, self.note);
        canvas.svg(end + 12.0)
    }

    fn draw(&self, canvas: &mut Canvas, field: &Field, (x, y): (f64, f64), width: f64) {
        let shade = field.value.map_or(0.0, |value| self.shade(value));
        let size = (width - GAP, ROW - GAP);
        canvas.block((x, y), size, BLUE, shade);
        let ink = if shade > DARK { WHITE } else { INK };
        let words = match (field.value, field.half) {
            (None, _) => "none".to_owned(),
            (Some(value), Some(half)) => format!("{} ±{}", decimal(value, 2), decimal(half, 2)),
            (Some(value), None) => decimal(value, 2),
        };
        let middle = x + size.0 / 2.0;
        let lines = std::iter::once(words.as_str()).chain(field.written.lines());
        let lines = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>();
        let first = y + size.1 / 2.0 - 8.0 * (lines.len() as f64 - 1.0) + 4.0;
        for (nth, line) in lines.into_iter().enumerate() {
            let place = (middle, first + 16.0 * nth as f64);
            canvas.inked_text(place, Anchor::Middle, line, ink);
        }
    }

    /// How dark a value is, from the smallest to the largest, by logarithms where that is possible.
    fn shade(&self, value: f64) -> f64 {
        let values = self.fields.iter().filter_map(|field| field.value);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let share = match low > 0.0 {
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        match share.is_finite() {
            true => PALEST + (DARKEST - PALEST) * share,
            false => PALEST,
        }
    }

    /// The names of the rows or of the columns, in the order in which they come up.
    fn names<'a>(&'a self, of: impl Fn(&'a Field) -> &'a String) -> Vec<&'a str> {
        let mut names = Vec::new();
        for field in &self.fields {
            let name = of(field).as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(values: [Option<f64>; 4]) -> HeatMap<'static> {
        let places = [("a", "one"), ("a", "two"), ("b", "one"), ("b", "two")];
        let fields = places
            .iter()
            .zip(values)
            .map(|((row, column), value)| Field {
                row: (*row).to_owned(),
                column: (*column).to_owned(),
                value,
                half: value.map(|_| 0.25),
                written: "named".to_owned(),
            });
        HeatMap {
            title: "cells",
            value: "messages per entry",
            note: Some("a note"),
            fields: fields.collect(),
        }
    }

    #[test]
    fn every_field_says_its_value() {
        let svg = map([Some(1.0), Some(2.0), Some(10.0), None]).svg();
        for word in [
            "cells",
            "a note",
            "one",
            "two",
            "1.00 ±0.25",
            "10.00 ±0.25",
            "none",
            "named",
        ] {
            assert!(svg.contains(word), "{word} is missing in {svg}");
        }
    }

    #[test]
    fn the_larger_the_darker() {
        let map = map([Some(1.0), Some(10.0), Some(100.0), Some(100.0)]);
        let shades = [1.0, 10.0, 100.0].map(|value| map.shade(value));
        let expected = [PALEST, f64::midpoint(PALEST, DARKEST), DARKEST];
        for (shade, expected) in shades.iter().zip(expected) {
            assert!((shade - expected).abs() < 1e-9, "{shades:?}");
        }
        let same = self::map([Some(2.0); 4]);
        assert_eq!(same.shade(2.0), PALEST);
    }
}
