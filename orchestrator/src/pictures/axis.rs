//! From a number to a place on the paper, and the round numbers between.

use std::ops::RangeInclusive;

use crate::numbers::decimal;

/// Numbers laid out between two places, evenly or by their logarithms.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    from: f64,
    to: f64,
    /// The place of the smallest number.
    pub(super) start: f64,
    /// The place of the largest number.
    pub(super) end: f64,
    logarithmic: bool,
}

/// A logarithmic axis with more decades than this names only the powers of ten.
const MANY_DECADES: usize = 4;
/// A logarithmic axis with fewer powers on it than this has evenly spaced numbers instead.
const FEW_TICKS: usize = 3;

impl Axis {
    /// An axis for these numbers between two places; one number alone gets some room around it.
    pub(super) fn new(numbers: RangeInclusive<f64>, start: f64, end: f64) -> Self {
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

    /// The same axis by logarithms, if all its numbers are above zero.
    pub(super) fn logarithmic(self) -> Self {
        Self {
            logarithmic: self.from > 0.0,
            ..self
        }
    }

    /// The place of a number; what lies beyond an end is put there.
    pub(super) fn at(&self, number: f64) -> f64 {
        let share = match self.logarithmic {
            true => (number / self.from).ln() / (self.to / self.from).ln(),
            false => (number - self.from) / (self.to - self.from),
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// The number itself, or the end of the axis that it lies beyond.
    pub(super) fn shown(&self, number: f64) -> f64 {
        number.clamp(self.from, self.to)
    }

    /// Round numbers on the axis, each with its name.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let powers = self.powers();
        let ticks = match powers.len() < FEW_TICKS {
            true => self.steps(),
            false => powers,
        };
        ticks.into_iter().map(named).collect()
    }

    /// Powers of ten, twice and five times them; none unless the axis is logarithmic.
    fn powers(&self) -> Vec<f64> {
        if !self.logarithmic {
            return Vec::new();
        }
        let decades = self.from.log10().floor() as i32..=self.to.log10().ceil() as i32;
        let factors: &[f64] = match decades.clone().count() > MANY_DECADES + 1 {
            true => &[1.0],
            false => &[1.0, 2.0, 5.0],
        };
        let ticks = decades.flat_map(|power| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(power))
        });
        ticks
            .filter(|tick| (self.from..=self.to).contains(tick))
            .collect()
    }

    fn steps(&self) -> Vec<f64> {
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

/// A number of an axis and its name.
pub(super) fn named(number: f64) -> (f64, String) {
    (number, plain(number))
}

/// A round number without zeros that say nothing.
fn plain(number: f64) -> String {
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
            let ticks = axis.ticks().into_iter();
            ticks.map(|(_, name)| name).collect::<Vec<_>>()
        };
        let linear = |from, to| ticks(&Axis::new(from..=to, 0.0, 100.0));
        let powers = |from, to| ticks(&Axis::new(from..=to, 0.0, 1.0).logarithmic());
        assert_eq!(linear(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(linear(3.0, 11.0), ["4", "6", "8", "10"]);
        assert_eq!(linear(7.0, 7.0), ["8", "10", "12", "14"]);
        assert_eq!(linear(0.0, 25e3)[4..], ["20,000", "25,000"]);
        assert_eq!(powers(3.0, 60.0), ["5", "10", "20", "50"]);
        // Between 2.2 and 4.8 there is no power of ten, nor twice or five times one.
        assert_eq!(powers(2.2, 4.8), ["2.5", "3", "3.5", "4", "4.5"]);
        assert_eq!(powers(0.5, 2e5).len(), 6);
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
