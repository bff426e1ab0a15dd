//! Ctrl-C: stop cleanly and keep what was recorded.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::{Exit, Failure};

/// A flag that the first Ctrl-C, or a request to terminate, raises; the second ends the program at
/// once.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let raised = Arc::new(AtomicBool::new(false));
    let watch = || -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that the first signal finds the flag down.
            let code = i32::from(Exit::Interrupted.code());
            flag::register_conditional_shutdown(signal, code, Arc::clone(&raised))?;
            flag::register(signal, Arc::clone(&raised))?;
        }
        Ok(())
    };
    watch().map_err(|error| Failure::Testbed(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(raised)
}
