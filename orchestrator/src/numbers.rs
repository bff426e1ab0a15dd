//! Numbers as people read them.

/// A whole number with commas between its thousands: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 node`, `2,000 nodes`.
pub(crate) fn many(number: u64, one: &str, several: &str) -> String {
    let noun = if number == 1 { one } else { several };
    format!("{} {noun}", count(number))
}

/// A number with this many digits after the point, and commas between its thousands.
pub fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", number.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text.as_str(), String::new()),
    };
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    let sign = if number < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{whole}{fraction}")
}

/// A rate or a ratio with three digits that mean something.
pub(crate) fn significant(number: f64) -> String {
    let digits = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    decimal(number, digits)
}

/// A mean and half the interval around it, both multiplied by `scale` to change their unit.
pub(crate) fn with_interval(mean: f64, interval: Option<(f64, f64)>, scale: f64) -> String {
    let mean = significant(mean * scale);
    match interval {
        Some((low, high)) if high > low => {
            format!("{mean} ±{}", significant((high - low) / 2.0 * scale))
        }
        Some(_) | None => mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_kept_apart() {
        let counts = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        let decimals = [1234.5678, -0.5, -0.001].map(|number| decimal(number, 2));
        assert_eq!(decimals, ["1,234.57", "−0.50", "0.00"]);
    }
}
