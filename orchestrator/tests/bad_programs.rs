//! Bad programs get one clear report with the right exit code, and leave nothing running.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use common::processes::run_and_look;
use common::{Finished, Place, assert_contains};

/// What is wrong with a program, how the run ends, and what its report says.
type Bad = (&'static str, i32, &'static [&'static str]);

/// Wrong before the run begins: the command is refused, as a bad scenario is.
const REFUSED: [Bad; 13] = [
    (
        "dies at once",
        2,
        &["exit status: 3", "{\"init\":", "nothing to stderr"],
    ),
    (
        "raises at once",
        2,
        &["exit status: 1", "ValueError: no idea"],
    ),
    (
        "hangs at once",
        2,
        &["no answer to {\"init\":", "within 30s", "--answer-within"],
    ),
    ("prints garbage at once", 2, &["`hello`", "no answer"]),
    ("prints a banner first", 2, &["`Welcome!`", "no answer"]),
    ("lets somebody in at once", 2, &["before the first event"]),
    ("declares what nobody knows", 2, &["unknown field `colour`"]),
    (
        "declares a token that is no kind",
        2,
        &["the token 'TOKEN' is not among the kinds"],
    ),
    ("declares a kind twice", 2, &["the kind 'A' is there twice"]),
    ("declares that nobody may be inside", 2, &["k is 0"]),
    (
        "declares a kind that colours the terminal",
        2,
        &["\\u001b", "letters, digits"],
    ),
    (
        "is not there",
        2,
        &["No such file or directory", "no-such-program"],
    ),
    ("may not be run", 2, &["Permission denied"]),
];

/// Wrong while the run goes on: the algorithm under test has failed.
const FAILED: [Bad; 40] = [
    (
        "dies on request",
        1,
        &["member", "line 2", "exit status: 7", "{\"request\":"],
    ),
    ("dies inside", 1, &["exit status: 9", "{\"release\":{}}"]),
    ("segfaults", 1, &["line 2", "signal: 11"]),
    (
        "hangs on request",
        1,
        &[
            "no answer to {\"request\":",
            "within 4s",
            "it wrote nothing",
        ],
    ),
    ("hangs inside", 1, &["no answer to {\"release\":{}}"]),
    (
        "ignores SIGTERM and hangs",
        1,
        &["no answer to {\"request\":"],
    ),
    (
        "prints garbage on request",
        1,
        &["line 2", "`lock acquired :-)`", "no answer"],
    ),
    (
        "answers with an empty line",
        1,
        &["line 2", "``", "no answer"],
    ),
    (
        "answers with bytes that are no text",
        1,
        &["line 2", "no answer"],
    ),
    ("colours the terminal", 1, &["\\u001b[31mred"]),
    (
        "prints megabytes without a newline",
        1,
        &["longer than 16 MiB", "xxxx"],
    ),
    (
        "prints half a line and hangs",
        1,
        &["it wrote `{\"do\":` and no end of line"],
    ),
    (
        "answers the wrong question",
        1,
        &["`{\"state\":{}}`", "missing field `do`"],
    ),
    ("answers with a list", 1, &["`[]`", "an object in braces"]),
    (
        "answers with 100,000 nested lists",
        1,
        &["line 2", "no answer"],
    ),
    (
        "answers twice",
        1,
        &["a line that nobody asked for: {\"do\":[]}"],
    ),
    ("enters twice", 1, &["lets a client in that is inside"]),
    ("lets everybody in", 1, &["safety", "violated"]),
    ("lets nobody in", 1, &["liveness", "deadlock"]),
    ("enters uninvited", 1, &["entered without having asked"]),
    (
        "sends to nobody",
        1,
        &["line 2", "it sends to 99, and the members are 0 to 2"],
    ),
    ("sends to member -1", 1, &["invalid value", "-1"]),
    (
        "sends a kind that it did not declare",
        1,
        &["'REQEUST'", "REQUEST, REPLY"],
    ),
    (
        "sends a message without a kind",
        1,
        &["without a kind", "REQUEST, REPLY"],
    ),
    (
        "wants an effect that does not exist",
        1,
        &["unknown variant `sned`", "`send`"],
    ),
    ("misspells a field", 1, &["unknown field `massage`"]),
    ("declares late", 1, &["only the answer to init"]),
    (
        "sets a timer in the past",
        1,
        &["no timer goes off after -1 ms"],
    ),
    (
        "gives a thousand notes a name each",
        1,
        &["one name of a timer or a note too many"],
    ),
    (
        "charges a member that does not exist",
        1,
        &["there is no member 17 to charge"],
    ),
    (
        "talks to itself without end",
        1,
        &["more than 10000 messages in a row"],
    ),
    (
        "reports an error of the algorithm",
        1,
        &["I do not like it"],
    ),
    ("closes stdout", 1, &["line 2", "closed its stdout"]),
    ("stops itself", 1, &["line 2", "no answer to {\"request\":"]),
    (
        "does not flush",
        1,
        &["line 2", "it wrote nothing", "must flush each line"],
    ),
    ("enters with a list", 1, &["line 2", "an object in braces"]),
    (
        "sends to a name",
        1,
        &["line 2", "string \"one\", expected a whole number"],
    ),
    (
        "wants an effect without braces",
        1,
        &["line 2", "an effect, such as {\"enter\":{}}"],
    ),
    (
        "wants two effects in one",
        1,
        &["line 2", "one effect in each pair of braces"],
    ),
    ("floods stderr", 0, &["verdict: holds"]),
];

/// Strange, but none of our business: what they start ends with them.
const STRANGE: [Bad; 4] = [
    ("forks", 0, &["verdict: holds"]),
    ("forks a daemon", 0, &["verdict: holds"]),
    ("forks a daemon without environment", 0, &["verdict: holds"]),
    ("stays when its stdin ends", 0, &["verdict: holds"]),
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn run(place: &Place, line: &str) -> Finished {
    run_and_look(place, &line.replace("ROOT", root().to_str().unwrap()))
}

fn try_bad((wrong, code, says): Bad, engine: &str) -> Result<(), String> {
    let place = Place::new();
    let program = match wrong {
        "is not there" => "no-such-program".to_owned(),
        "may not be run" => "ROOT/Cargo.toml".to_owned(),
        wrong => format!("python3 ROOT/orchestrator/tests/programs/bad.py '{wrong}'"),
    };
    // Nobody waits for long where that is the point; elsewhere a busy machine does no harm.
    let patience = match wrong {
        "hangs at once"
        | "hangs on request"
        | "hangs inside"
        | "ignores SIGTERM and hangs"
        | "prints half a line and hangs"
        | "stops itself"
        | "does not flush" => "4s",
        _ => "60s",
    };
    // A message takes longer than all need to ask, so that they do so at the same time.
    let line = format!(
        "run external -n 3 --engine {engine} --seed 1 --entries 1 --think 0 --delay 5ms \
         --answer-within {patience} -- {program}"
    );
    let finished = run(&place, &line);
    let told = format!("{}{}", finished.stdout, finished.stderr);
    // The table folds long lines.
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing = says.iter().find(|words| !told.contains(**words));
    match (finished.code == code, missing) {
        (true, None) => Ok(()),
        (_, missing) => Err(format!(
            "{wrong}: exit code {} and not {code}, or no {missing:?} in\n{}{}",
            finished.code, finished.stdout, finished.stderr
        )),
    }
}

/// Tries a table of bad programs, several at a time, and tells all that surprised.
fn try_all(table: &[Bad], engine: &str) {
    const AT_ONCE: usize = 3;
    let next = AtomicU32::new(0);
    let surprises = std::thread::scope(|scope| {
        let workers = (0..AT_ONCE).map(|_| {
            scope.spawn(|| {
                let mut surprises = Vec::new();
                while let Some(bad) = table.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    surprises.extend(try_bad(*bad, engine).err());
                }
                surprises
            })
        });
        let workers = workers.collect::<Vec<_>>().into_iter();
        workers
            .flat_map(|worker| worker.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(surprises.is_empty(), "{}", surprises.join("\n\n"));
}

#[test]
fn a_program_that_does_not_begin_is_refused() {
    try_all(&REFUSED, "sim");
}

#[test]
fn a_program_that_goes_wrong_is_reported() {
    try_all(&FAILED, "sim");
}

#[test]
fn what_a_program_starts_ends_with_it() {
    try_all(&STRANGE, "sim");
}

/// Whatever begins goes wrong in the same way where the members are processes.
#[test]
fn bad_programs_are_reported_by_processes_as_well() {
    let all = FAILED.iter().chain(&STRANGE).copied();
    try_all(&all.collect::<Vec<_>>(), "cluster");
}

/// A search and a grade end as clearly, and leave as little behind.
#[test]
fn a_search_and_a_grade_report_them_as_well() {
    let place = Place::new();
    for (wrong, says) in [
        ("dies on request", "exit status: 7"),
        ("hangs on request", "no answer to {\"request\":"),
        ("prints garbage on request", "`lock acquired :-)`"),
        ("sends to nobody", "it sends to 99"),
        ("prints megabytes without a newline", "longer than 16 MiB"),
        ("enters with a list", "an object in braces"),
    ] {
        let program = format!("python3 ROOT/orchestrator/tests/programs/bad.py '{wrong}' saves");
        let patience = if wrong.starts_with("hangs") {
            "4s"
        } else {
            "60s"
        };
        let lines = ["explore external -n 2", "grade safe --out graded"];
        // Who grades a program that hangs waits once for every thing that is tried.
        let lines = if wrong.starts_with("hangs") {
            &lines[..1]
        } else {
            &lines
        };
        for line in lines {
            let line = format!("{line} --answer-within {patience} -- {program}");
            let finished = run(&place, &line);
            let told = finished
                .stdout
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert_eq!(finished.code, 1, "{line}\n{told}\n{}", finished.stderr);
            assert_contains(&told, &["line", says]);
        }
    }
}

const PAGE: &str = "docs/bad-programs.md";
const BEGIN: &str = "<!-- made by UPDATE=1 cargo test -p orchestrator --test bad_programs -->\n";
const END: &str = "<!-- end -->\n";

/// The page of all that can be wrong is the tables of this file.
#[test]
fn the_page_has_every_bad_program() {
    let mut made = String::new();
    for (title, bads) in [
        ("Refused before the run begins", REFUSED.as_slice()),
        ("Found while it runs", &FAILED),
        ("Odd, but nobody's business", &STRANGE),
    ] {
        made += &format!(
            "\n## {title}\n\n| the program | exit code | the report says |\n|---|---|---|\n"
        );
        for (wrong, code, says) in bads {
            let says = says.iter().map(|words| quoted(words)).collect::<Vec<_>>();
            made += &format!("| {wrong} | {code} | {} |\n", says.join(" · "));
        }
    }
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (there, after) = rest.split_once(END).unwrap();
    if there != made && std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
        return;
    }
    assert!(
        there == made,
        "UPDATE=1 cargo test -p orchestrator --test bad_programs makes {PAGE} again"
    );
    let many = REFUSED.len() + FAILED.len() + STRANGE.len();
    assert!(
        page.contains(&format!("There are {many} of them")),
        "{many}"
    );
}

/// Words as they are, which may have a quotation mark of their own.
fn quoted(words: &str) -> String {
    match words.contains('`') {
        true => format!("`` {words} ``"),
        false => format!("`{words}`"),
    }
}
