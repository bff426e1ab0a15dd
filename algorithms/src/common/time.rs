//! A parameter that is a time, in bounds T on a message's delay or as such: `2T`, `2.5T`, `30ms`, `0s`.

use std::time::Duration;

use crate::params::Params;
use crate::setup::Setup;

/// The time that the parameter of this name has in this run.
pub(crate) fn of(setup: &Setup<'_>, name: &str) -> Duration {
    let text = setup.setting.params.word(name);
    parse(text, setup.setting.bound).expect("a time that cannot be read is refused")
}

/// Why the parameter of this name cannot be read, where it cannot.
pub(crate) fn refuses(params: &Params, name: &str) -> Option<String> {
    let text = params.word(name);
    let why = || format!("{name}={text} is no time; write 2T, 2.5T, 30ms, 500us or 0s");
    match parse(text, Duration::from_secs(1)) {
        Some(_) => None,
        None => Some(why()),
    }
}

fn parse(text: &str, bound: Duration) -> Option<Duration> {
    let split = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "T" => bound,
        "ns" => Duration::from_nanos(1),
        "us" => Duration::from_micros(1),
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        _ => return None,
    };
    let factor: f64 = number.parse().ok()?;
    // A million of whatever it is will do.
    let sensible = (0.0..=1e6).contains(&factor);
    sensible.then(|| Duration::try_from_secs_f64(unit.as_secs_f64() * factor).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_bounds_or_absolute() {
        let bound = Duration::from_millis(50);
        let ms = |number| Some(Duration::from_millis(number));
        assert_eq!(parse("2T", bound), ms(100));
        assert_eq!(parse("2.5T", bound), ms(125));
        assert_eq!(parse("30ms", bound), ms(30));
        assert_eq!(parse("0s", bound), ms(0));
        for wrong in [
            "", "2", "T", "-1T", "2 T", "infT", "NaNT", "2t", "5min", "1e9T",
        ] {
            assert_eq!(parse(wrong, bound), None, "{wrong}");
        }
    }
}
