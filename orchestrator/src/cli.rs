//! The arguments of the program.

use std::error::Error;
use std::ffi::OsString;

use algorithms::topology::TopologyError;
use chaos::FaultError;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use simulator::explore::ParseError;

use crate::commands::Command;

/// Runs distributed mutual exclusion algorithms, checks that they are safe and live, and measures
/// what they cost.
///
/// Try `orchestrator run raymond`, then `orchestrator explain raymond`.
#[derive(Debug, Parser)]
#[command(name = "orchestrator", version = env!("TURNSTILE_VERSION"), max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 everything exercised holds · 1 violated, or an exact expectation missed ·
            2 bad usage or scenario · 3 inconclusive ·
            4 the testbed itself failed; what was recorded is kept, and marked in run.json ·
            130 interrupted, what was recorded is written
Signals:    SIGINT (Ctrl-C), SIGTERM, SIGHUP (unless nohup), SIGQUIT and SIGUSR1 interrupt. A second
            one, at least 300 ms later, ends the program at once and says what it drops.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The arguments, with a value below zero joined to its option: `-n -3` is `-n=-3`. No option is a
/// number, so it can only be a value, and is refused as one.
pub(crate) fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let below_zero = |argument: &OsString| {
        let rest = argument.to_str().and_then(|text| text.strip_prefix('-'));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let lacks_value = |argument: &OsString| {
        let text = argument.to_str().unwrap_or_default();
        text.starts_with('-') && text != "--" && !text.contains('=')
    };
    let mut joined: Vec<OsString> = Vec::new();
    let mut arguments = arguments.into_iter();
    for argument in arguments.by_ref() {
        if argument == "--" {
            joined.push(argument);
            break;
        }
        match joined.last_mut() {
            Some(option) if below_zero(&argument) && lacks_value(option) => {
                option.push("=");
                option.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    // What follows is for a program.
    joined.extend(arguments);
    joined
}

/// What is wrong with a value, where our own words are better than clap's: they may point at a place
/// in the value.
pub(crate) fn in_our_words(error: &clap::Error) -> Option<String> {
    let why = error.source()?;
    if !why.is::<FaultError>() && !why.is::<TopologyError>() && !why.is::<ParseError>() {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let flag = flag.split(' ').next()?;
    Some(format!("{flag}: {why}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_value_below_zero_belongs_to_the_option_before_it() {
        let line = |text: &str| joined(text.split(' ').map(OsString::from));
        assert_eq!(
            line("o run -n -3 --trace"),
            ["o", "run", "-n=-3", "--trace"]
        );
        assert_eq!(line("o --delay -5ms"), ["o", "--delay=-5ms"]);
        assert_eq!(
            line("o --seed=1 -2 -- -3"),
            ["o", "--seed=1", "-2", "--", "-3"]
        );
        assert_eq!(
            line("o -n 3 -- cmd -x -3"),
            ["o", "-n", "3", "--", "cmd", "-x", "-3"]
        );
    }
}
