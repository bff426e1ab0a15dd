//! Ctrl-C and its like: stop cleanly and keep what was recorded.

use std::fs;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use safe_io::to_stderr;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::table::indented;
use crate::{Exit, Failure};

/// The signals that stop the program. Batch systems send SIGUSR1 some time before they kill, so it is
/// among them.
const STOPPING: [i32; 5] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1];

/// A second signal sooner than this is part of the first: `timeout` signals a process and its group.
const SAME_SIGNAL: Duration = Duration::from_millis(300);

/// What is done when the program is stopped at once, and returns what to print.
type StopMessage = Box<dyn FnOnce() -> String + Send>;

static STOP_MESSAGE: Mutex<Option<StopMessage>> = Mutex::new(None);

/// A flag that the first signal to stop raises; a second one, some time later, ends the program at
/// once.
pub fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let raised = Arc::new(AtomicBool::new(false));
    let failed = |error| Failure::Testbed(format!("cannot watch for Ctrl-C: {error}"));
    // Under nohup the program goes on when the terminal closes.
    let watched = STOPPING
        .iter()
        .filter(|&&signal| signal != SIGHUP || !is_ignored(signal));
    let mut signals = Signals::new(watched).map_err(failed)?;
    let flag = Arc::clone(&raised);
    let watch = move || {
        let mut first = None;
        for _ in signals.forever() {
            let since = *first.get_or_insert_with(Instant::now);
            flag.store(true, Ordering::Relaxed);
            if since.elapsed() >= SAME_SIGNAL {
                stop_at_once();
            }
        }
    };
    let started = thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch);
    started.map(drop).map_err(failed)?;
    Ok(raised)
}

/// From now on a second signal does this before it ends the program, and prints what it returns: what
/// is lost, and what is in the results.
pub(crate) fn before_stopping_at_once(message: impl FnOnce() -> String + Send + 'static) {
    *STOP_MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(message));
}

fn stop_at_once() {
    let message = STOP_MESSAGE.lock();
    let message = message.unwrap_or_else(PoisonError::into_inner).take();
    let dropped = message.map_or_else(|| "nothing of it is kept".to_owned(), |say| say());
    to_stderr(&indented("stopped at once by a second signal: ", &dropped));
    process::exit(Exit::Interrupted.code().into());
}

/// Whether this process was started so that it ignores a signal, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
