//! The line that repeats a run.

use std::borrow::Cow;
use std::path::Path;

/// The program's own command line, with the seed that it took and without a directory of its own:
/// what is repeated must not overwrite what it repeats.
pub(crate) fn line(seed: u64) -> String {
    repeat(command_line().into_iter(), seed)
}

/// The program as it was called.
pub(crate) fn program() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    program.to_string_lossy().into_owned()
}

/// The command line, with the program as any directory finds it: by its name, or by its whole path.
pub(crate) fn command_line() -> Vec<String> {
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(from_anywhere(&program()))
        .chain(arguments)
        .collect()
}

/// A relative path is good only where the program was called; a name alone is looked up.
fn from_anywhere(program: &str) -> String {
    let whole = std::path::absolute(Path::new(program));
    match whole {
        Ok(whole) if program.contains('/') => whole.display().to_string(),
        _ => program.to_owned(),
    }
}

/// The program's own command line, with one flag and its value instead of those it had.
pub(crate) fn line_with(flag: &str, value: &str) -> String {
    instead(command_line(), flag, value)
}

fn instead(arguments: impl IntoIterator<Item = String>, flag: &str, value: &str) -> String {
    let mut words = without(arguments, flag);
    add(&mut words, flag, value);
    joined(&words)
}

/// Adds a flag and its value: before two dashes, since what follows them is for a program.
fn add(words: &mut Vec<String>, flag: &str, value: &str) {
    let end = words.iter().position(|word| word == PROGRAM);
    let end = end.unwrap_or(words.len());
    words.splice(end..end, [flag.to_owned(), value.to_owned()]);
}

/// What stands before the words of a program.
const PROGRAM: &str = "--";

/// These words without a flag and its value.
pub(crate) fn without(arguments: impl IntoIterator<Item = String>, flag: &str) -> Vec<String> {
    let mut arguments = arguments.into_iter();
    let mut words: Vec<String> = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == PROGRAM {
            words.push(argument);
            words.extend(arguments);
            break;
        }
        if argument == flag {
            arguments.next();
        } else if !argument.starts_with(&format!("{flag}=")) {
            words.push(argument);
        }
    }
    words
}

/// A command line of this program, with the seed that it took and without a directory of its own.
pub(crate) fn repeat(arguments: impl Iterator<Item = String>, seed: u64) -> String {
    let mut words = without(arguments, "--out");
    let seeds = |word: &String| word == "--seed" || word.starts_with("--seed=");
    if !words.iter().take_while(|word| *word != PROGRAM).any(seeds) {
        add(&mut words, "--seed", &seed.to_string());
    }
    joined(&words)
}

/// The line that a shell takes for these words.
pub(crate) fn joined(words: &[String]) -> String {
    let words = words.iter().map(|word| quoted(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The argument as a shell takes it.
pub(crate) fn quoted(argument: &str) -> Cow<'_, str> {
    // The crate also quotes `k=2`, `1,1,2` and `5%`, which no shell changes in an argument.
    let plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return Cow::Borrowed(argument);
    }
    // Only a NUL cannot be quoted, and no argument has one.
    shlex::try_quote(argument).unwrap_or(Cow::Borrowed(argument))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(line: &[&str]) -> String {
        repeat(line.iter().map(|&word| word.to_owned()), 7)
    }

    #[test]
    fn the_program_is_found_from_anywhere() {
        assert_eq!(from_anywhere("orchestrator"), "orchestrator");
        assert_eq!(
            from_anywhere("/usr/bin/orchestrator"),
            "/usr/bin/orchestrator"
        );
        let here = std::env::current_dir().unwrap();
        let whole = here.join("target/release/orchestrator");
        assert_eq!(
            from_anywhere("target/release/orchestrator"),
            whole.to_string_lossy()
        );
    }

    #[test]
    fn the_seed_is_added_once() {
        assert_eq!(again(&["o", "run", "raymond"]), "o run raymond --seed 7");
        assert_eq!(
            again(&["o", "run", "raymond", "--seed", "3"]),
            "o run raymond --seed 3"
        );
    }

    #[test]
    fn what_follows_two_dashes_is_the_programs() {
        assert_eq!(
            again(&["o", "run", "external", "--", "lock", "--out", "x", "--seed"]),
            "o run external --seed 7 -- lock --out x --seed"
        );
    }

    #[test]
    fn a_directory_of_its_own_is_left_out() {
        assert_eq!(
            again(&["o", "--out", "here", "x", "--out=there"]),
            "o x --seed 7"
        );
    }

    #[test]
    fn a_flag_is_replaced_with_its_value() {
        let line = [
            "o",
            "explore",
            "lamport",
            "--replay",
            "req 1",
            "--json",
            "--replay=req 2",
        ];
        let line = line.iter().map(|&word| word.to_owned());
        assert_eq!(
            instead(line, "--replay", "req 0"),
            "o explore lamport --json --replay 'req 0'"
        );
    }

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        assert_eq!(
            again(&["o", "--delay", "1ms 2ms"]),
            "o --delay '1ms 2ms' --seed 7"
        );
        assert_eq!(again(&["it's"]), "\"it's\" --seed 7");
    }
}
