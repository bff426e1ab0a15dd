//! Whether the print of a command is what a document shows.

use super::COMMIT;

/// Stands for lines that the document leaves out.
const LEFT_OUT: &str = "…";

/// Whether the line prints what is shown: all of it, or, of processes, the same words.
pub(crate) fn shows(line: &str, shown: &str, printed: &str) -> bool {
    let on_processes = line.contains(" run ") && !line.contains("--engine sim");
    let on_processes = on_processes && !line.contains(".toml") && !line.contains("--dry-run");
    let told = |text| match on_processes {
        true => steady(text).map(without_numbers).collect::<Vec<_>>(),
        false => steady(text).map(str::to_owned).collect(),
    };
    are_shown(&told(shown), &told(printed))
}

/// Whether the document leaves lines out.
pub(crate) fn leaves_out(shown: &str) -> bool {
    shown.lines().any(|line| line == LEFT_OUT)
}

fn are_shown(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((line, rest)), _) if line == LEFT_OUT => {
            (0..=printed.len()).any(|skipped| are_shown(rest, &printed[skipped..]))
        }
        (Some((line, rest)), Some((first, more))) => line == first && are_shown(rest, more),
        _ => false,
    }
}

/// The lines that are the same wherever and whenever the program runs.
fn steady(text: &str) -> impl Iterator<Item = &str> {
    let passing = ["files: ", "again: ", "replay: ", "plot: ", "  time "];
    let passes = move |line: &str| {
        passing.iter().any(|start| line.starts_with(start)) && !line.ends_with(COMMIT)
    };
    text.trim_end().lines().filter(move |line| !passes(line))
}

/// The words of a line between which numbers and their units stand.
fn without_numbers(line: &str) -> String {
    let is_word = |word: &&str| {
        let word = word.trim_end_matches([',', ';']);
        !word.starts_with(|c: char| c.is_ascii_digit()) && !["ns", "µs", "ms", "s"].contains(&word)
    };
    let words = line.split_whitespace().filter(is_word);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_left_out_may_be_anything() {
    let printed = "a\nb\nc\nd\n";
    for shown in ["a\nb\nc\nd", "…\nb\n…", "a\n…\nd\n", "…"] {
        assert!(shows("x", shown, printed), "{shown}");
    }
    for shown in ["a\nb\nc", "b\n…", "…\nc", "…\nc\nb\n…", ""] {
        assert!(!shows("x", shown, printed), "{shown}");
    }
}

#[test]
fn numbers_of_processes_may_differ_and_words_may_not() {
    let shown = "  wait, median  2.16 ms  p99 11.7 ms\nfiles: there";
    let line = "orchestrator run raymond";
    assert!(shows(line, shown, "  wait, median  820 µs  p99 1.25 s\n"));
    assert!(!shows(line, shown, "  wait, mean  2.16 ms  p99 11.7 ms\n"));
    let line = "orchestrator run raymond --engine sim";
    assert!(!shows(
        line,
        shown,
        "  wait, median  2.17 ms  p99 11.7 ms\n"
    ));
}
