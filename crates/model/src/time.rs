//! Lengths of time as people read them: `12.5 ms`, a number and one of `ns`, `µs`, `ms` and `s`.
//!
//! What people write and the program reads back, `75ms`, is [`chaos::span`].

/// The units, smallest first, in nanoseconds.
const UNITS: [(u64, &str); 4] = [
    (1, "ns"),
    (1_000, "µs"),
    (1_000_000, "ms"),
    (1_000_000_000, "s"),
];

/// A moment or a setting, to the nanosecond, so that it can be found in the files of a run:
/// `60.000000001 s`.
pub fn exact_ns(ns: u64) -> String {
    let (size, unit) = unit(|size| ns >= size);
    let digits = size.to_string().len() - 1;
    let (whole, rest) = (ns / size, ns % size);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

/// A measured length of time, given in microseconds, to three digits: `12.3 µs`.
pub fn rounded_us(us: f64) -> String {
    let ns = us * 1e3;
    // Just below a thousand, three digits round up to the next unit.
    let (size, unit) = unit(|size| ns >= 0.9995 * size as f64);
    let amount = ns / size as f64;
    let digits = match amount {
        0.0 | 100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{amount:.digits$} {unit}")
}

/// The largest unit that is not too large, or the smallest.
fn unit(fits: impl Fn(u64) -> bool) -> (u64, &'static str) {
    let mut larger = UNITS.iter().rev();
    *larger.find(|(size, _)| fits(*size)).unwrap_or(&UNITS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_exact_and_in_a_readable_unit() {
        for (time, shown) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_050, "1.05 µs"),
            (12_500_000, "12.5 ms"),
            (60_000_000_001, "60.000000001 s"),
        ] {
            assert_eq!(exact_ns(time), shown);
        }
    }

    #[test]
    fn a_measured_time_has_three_digits_in_the_unit_that_suits_it() {
        for (time, shown) in [
            (0.0, "0 ns"),
            (0.25, "250 ns"),
            (12.34, "12.3 µs"),
            (999.9, "1.00 ms"),
            (1_500.0, "1.50 ms"),
            (123_456.0, "123 ms"),
            (7_200_000_000.0, "7200 s"),
        ] {
            assert_eq!(rounded_us(time), shown);
        }
    }
}
