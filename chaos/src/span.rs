//! Lengths of time as people write them: `75ms`, `1.5s`, `200us`.

use thiserror::Error;

/// A text that is no length of time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{text}' is not a length of time; write a number and a unit, such as 200us, 75ms or 1.5s")]
pub struct SpanError {
    text: String,
}

/// The nanoseconds that the text says; `0` needs no unit.
pub fn parse_ns(text: &str) -> Result<u64, SpanError> {
    let error = || SpanError {
        text: text.to_owned(),
    };
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let amount: f64 = text[..digits].parse().map_err(|_| error())?;
    let unit = match &text[digits..] {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3_600e9,
        "" if amount == 0.0 => 1.0,
        _ => return Err(error()),
    };
    let ns = (amount * unit).round();
    if ns < u64::MAX as f64 {
        Ok(ns as u64)
    } else {
        Err(error())
    }
}

/// The nanoseconds in the largest unit that writes them without a fraction.
pub fn show_ns(ns: u64) -> String {
    let units = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
    ];
    let small = [(1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let fits = |&&(size, _): &&(u64, &str)| ns >= size && ns.is_multiple_of(size);
    match units.iter().chain(&small).find(fits) {
        Some((size, unit)) => format!("{}{unit}", ns / size),
        None => "0s".to_owned(),
    }
}
