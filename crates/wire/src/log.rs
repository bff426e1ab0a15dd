//! What a process says of its doings to whoever looks for a fault in it.
//!
//! Quiet unless asked for: `TURNSTILE_LOG=debug orchestrator run …` has every process write to stderr
//! what it does; a member's stderr is kept beside its records.

use tracing::level_filters::LevelFilter;

/// The environment variable that asks for it.
pub const VARIABLE: &str = "TURNSTILE_LOG";

/// Writes to stderr what the environment asks for.
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
