//! What a person may have meant.

/// The known name nearest to a given one, if it is near at all.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, name), name))
        .filter(|&(likeness, _)| likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// `; did you mean 'raymond'?`, or nothing.
pub(crate) fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(given, known) {
        Some(name) => format!("; did you mean '{name}'?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_name() {
        let known = ["raymond", "lamport", "naimi-trehel"];
        assert_eq!(nearest("raimond", known), Some("raymond"));
        assert_eq!(nearest("Naimi", known), Some("naimi-trehel"));
        assert_eq!(nearest("xyzzy", known), None);
    }
}
