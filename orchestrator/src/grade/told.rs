//! What became of the checks, for people, for programs and for whatever reads JUnit.

use std::fmt::Write;

use serde_json::json;

use super::challenge::Challenge;
use super::checking::{Answer, Checked, Graded};
use crate::numbers::many;
use crate::table::{Table, indented};

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Passed => "passed",
        Answer::Failed => "failed",
        Answer::Undecided => "undecided",
        Answer::NotRun => "not run",
    }
}

/// What became of one program, a paragraph for each check that did not pass.
pub(crate) fn text(challenge: &Challenge, graded: &Graded) -> String {
    let mut text = format!(
        "{} · {} · {}\n\n",
        challenge.name, challenge.title, graded.name
    );
    for check in &graded.checks {
        let lead = format!(
            "  {:<9}  {} of {}  ",
            word(check.answer),
            check.score.points,
            check.score.of
        );
        text += &indented(&lead, &check.name);
        text += &indented("             ", &check.seen);
        if !check.schedule.is_empty() {
            text += "\n";
            text.extend(
                check
                    .schedule
                    .iter()
                    .map(|step| format!("         {step}\n")),
            );
            text += "\n";
        }
        for (lead, what) in [
            (
                "             page:  ",
                check.page.as_ref().map(|page| page.display().to_string()),
            ),
            ("             again: ", check.again.clone()),
        ] {
            // Commands and paths stay in one line, to be copied. Where a name has more, no report is made of it.
            let what = what.filter(|what| !what.contains('\n'));
            text.extend(what.map(|what| format!("{lead}{what}\n")));
        }
    }
    let _ = writeln!(
        text,
        "\n{} of {}",
        graded.score.points,
        many(graded.score.of.into(), "point", "points")
    );
    text
}

/// A row for each program, a column for each check.
pub(crate) fn table(challenge: &Challenge, graded: &[Graded]) -> String {
    let checks = challenge.checks.iter().enumerate();
    let headings = checks.map(|(place, _)| (place + 1).to_string());
    let headings = ["submission".to_owned(), "points".to_owned()]
        .into_iter()
        .chain(headings);
    let mut table = Table::of(headings.collect());
    for one in graded {
        let checks = one.checks.iter().map(|check| match check.answer {
            Answer::Passed | Answer::Failed => check.score.to_string(),
            answer => word(answer).to_owned(),
        });
        let first = [one.name.clone(), one.score.to_string()];
        table.add(first.into_iter().chain(checks).collect());
    }
    table.show()
}

/// All of it as one object.
pub(crate) fn object(challenge: &Challenge, graded: &[Graded], exit_code: u8) -> String {
    let object = json!({
        "challenge": challenge.name,
        "title": challenge.title,
        "of": challenge.points(),
        "submissions": graded,
        "exit_code": exit_code,
    });
    format!("{object:#}\n")
}

/// All of it as JUnit has it: a suite for each program, a case for each check.
pub(crate) fn junit(challenge: &Challenge, graded: &[Graded]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for one in graded {
        let with = |wanted: &[Answer]| {
            let checks = one.checks.iter();
            checks
                .filter(|check| wanted.contains(&check.answer))
                .count()
        };
        let failed = with(&[Answer::Failed]);
        let skipped = with(&[Answer::Undecided, Answer::NotRun]);
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.3}\">",
            escaped(&one.name),
            one.checks.len(),
            one.seconds
        );
        for check in &one.checks {
            text += &case(challenge, check);
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn case(challenge: &Challenge, check: &Checked) -> String {
    let mut text = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&challenge.name),
        escaped(&check.name),
        check.seconds
    );
    let seen = escaped(&check.seen);
    let schedule = check
        .schedule
        .iter()
        .map(|step| format!("\n{}", escaped(step)));
    let schedule = schedule.collect::<String>();
    text += &match check.answer {
        Answer::Passed => "/>\n".to_owned(),
        Answer::Failed => {
            format!(">\n      <failure message=\"{seen}\">{schedule}</failure>\n    </testcase>\n")
        }
        Answer::Undecided | Answer::NotRun => {
            format!(">\n      <skipped message=\"{seen}\"/>\n    </testcase>\n")
        }
    };
    text
}

/// Text as XML may have it: what it cannot have at all is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}
