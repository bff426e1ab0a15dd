//! The log of a process, for people who look for a fault in it.
//!
//! A process logs nothing by default. `TURNSTILE_LOG=debug orchestrator run …` makes every process
//! log to stderr; a member's stderr goes to a file beside its records.

use tracing::level_filters::LevelFilter;

/// The environment variable that sets the level of the log.
pub const VARIABLE: &str = "TURNSTILE_LOG";

/// Logs to stderr at the level that the environment asks for.
pub fn begin() -> Result<(), String> {
    let Some(asked) = std::env::var_os(VARIABLE) else {
        return Ok(());
    };
    let asked = asked.to_string_lossy();
    let level = asked.parse::<LevelFilter>().map_err(|_| {
        format!("{VARIABLE}={asked} is no level; use off, error, warn, info, debug or trace")
    })?;
    if level != LevelFilter::OFF {
        tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            // A full disk under stderr is no reason to panic.
            .log_internal_errors(false)
            .init();
    }
    Ok(())
}
