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
    instead(command_line().into_iter(), flag, value)
}

fn instead(mut arguments: impl Iterator<Item = String>, flag: &str, value: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == flag {
            arguments.next();
        } else if !argument.starts_with(&format!("{flag}=")) {
            words.push(argument);
        }
    }
    words.extend([flag.to_owned(), value.to_owned()]);
    joined(&words)
}

/// A command line of this program, with the seed that it took and without a directory of its own.
pub(crate) fn repeat(arguments: impl Iterator<Item = String>, seed: u64) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut seeded = false;
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        if argument == "--out" {
            arguments.next();
            continue;
        }
        if argument.starts_with("--out=") {
            continue;
        }
        seeded |= argument == "--seed" || argument.starts_with("--seed=");
        words.push(argument);
    }
    if !seeded {
        words.extend(["--seed".to_owned(), seed.to_string()]);
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
