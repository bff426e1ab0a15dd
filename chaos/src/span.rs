//! Lengths of time as people write them: `75ms`, `1.5s`, `200us`.

use thiserror::Error;

/// A text that is no length of time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "'{text}' is not a length of time; write a number and a unit, such as 200us, 75ms or 1.5s, \
     of at most a year (8760h)"
)]
pub struct SpanError {
    text: String,
}

/// The longest length of time there is, a year: short enough that hundreds of them can be added up.
pub const LONGEST_NS: u64 = 365 * 24 * 3_600_000_000_000;

/// When virtual time is over, whatever is still to come: after a hundred years.
pub const HORIZON_NS: u64 = 100 * LONGEST_NS;

/// The nanoseconds that the text says; `0` needs no unit.
pub fn parse_ns(text: &str) -> Result<u64, SpanError> {
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (amount, unit) = text.split_at(digits);
    let size = match unit {
        "µs" => Some(1_000),
        // As most programs say it; netem has no minutes.
        "m" => Some(60_000_000_000),
        "" => Some(0),
        _ => UNITS
            .iter()
            .find(|(_, name)| *name == unit)
            .map(|(size, _)| *size),
    };
    size.and_then(|size| scale(amount, size))
        .filter(|ns| *ns <= LONGEST_NS)
        .filter(|ns| !unit.is_empty() || (*ns == 0 && amount.bytes().all(|b| b == b'0')))
        .ok_or_else(|| SpanError {
            text: text.to_owned(),
        })
}

/// The nanoseconds in the largest unit that writes them without a fraction.
pub fn show_ns(ns: u64) -> String {
    let fits = |(size, _): &&(u64, &str)| ns >= *size && ns.is_multiple_of(*size);
    match UNITS.iter().find(fits) {
        Some((size, unit)) => format!("{}{unit}", ns / size),
        None => "0s".to_owned(),
    }
}

/// The units, largest first, in nanoseconds.
const UNITS: [(u64, &str); 6] = [
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// A decimal number times a unit, rounded to the nearest whole one; in whole numbers throughout, so
/// that what [`show_ns`] prints is read back exactly.
pub(crate) fn scale(amount: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    if whole.is_empty() || fraction.is_empty() {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(18)];
    let one = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let parts: u128 = fraction.parse().ok()?;
    let whole = u128::from(whole.parse::<u64>().ok()?) * u128::from(unit);
    u64::try_from(whole + (parts * u128::from(unit) + one / 2) / one).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        for ns in [0, 1, 999, 1_500, 75_000_000, 90_000_000_000, LONGEST_NS] {
            assert_eq!(parse_ns(&show_ns(ns)), Ok(ns));
        }
    }

    #[test]
    fn fractions_and_every_unit_are_read() {
        assert_eq!(parse_ns("1.5s"), Ok(1_500_000_000));
        assert_eq!(parse_ns("0.1us"), Ok(100));
        assert_eq!(parse_ns("2µs"), Ok(2_000));
        assert_eq!(parse_ns("0"), Ok(0));
        assert_eq!(parse_ns("2m"), parse_ns("2min"));
        assert_eq!(parse_ns("1.5h"), Ok(5_400_000_000_000));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "5",
            "ms",
            "1.s",
            ".5s",
            "1.2.3s",
            "-1s",
            "5 ms",
            "5M",
            "8761h",
            "99999999999h",
            "0.5",
        ] {
            assert!(parse_ns(text).is_err(), "{text}");
        }
    }
}
