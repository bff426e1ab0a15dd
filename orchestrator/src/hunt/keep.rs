//! A failure as a scenario file that shows it again.

use super::failure::Failure;
use super::journal::Again;
use crate::scenario::Scenario;

/// The scenario as a file says it.
pub(super) fn text(scenario: &Scenario) -> String {
    toml::to_string(scenario).expect("a scenario is plain data")
}

/// The name of a failure's file: who failed, and how.
pub(super) fn name(algorithm: &str, as_printed: &[String], failure: &Failure) -> String {
    let mut words = vec![algorithm.to_owned()];
    words.extend(as_printed.iter().map(|id| id.replace('\'', "x")));
    words.push(format!("{} {}", failure.what, failure.class));
    let mut name = String::new();
    for letter in words.join(" ").chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.truncate(80);
    name.trim_matches('-').to_owned()
}

/// The file: what it showed, what it shows today, and the scenario.
pub(super) fn file(
    name: &str,
    scenario: &Scenario,
    failure: &Failure,
    again: Option<Again>,
) -> String {
    let Failure { what, told, .. } = failure;
    let told = told.lines().collect::<Vec<_>>().join(" ");
    let often = match again {
        None => String::new(),
        Some(Again { runs, failed }) => {
            format!("# On processes it came again in {failed} of {runs} runs of what was drawn.\n")
        }
    };
    let text = text(scenario);
    format!(
        "# Showed: {what}: {told}.\n{often}# Today: violated, {what}\n# orchestrator run {name}.toml\n{text}"
    )
}
