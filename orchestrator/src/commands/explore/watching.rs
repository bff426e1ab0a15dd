//! Watches a search: says how far it is, and ends it when it is interrupted or takes too much memory.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::time::rounded_us;
use simulator::explore::Progress;

use crate::numbers::{count, significant};

/// Who watches a search.
pub(super) struct Watching {
    bar: ProgressBar,
    start: Instant,
    interrupted: Arc<AtomicBool>,
    max_memory_mib: Option<u64>,
    /// Whether the memory limit ended the search.
    pub(super) out_of_memory: bool,
}

impl Watching {
    pub(super) fn new(interrupted: Arc<AtomicBool>, max_memory_mib: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg}");
        bar.set_style(style.expect("the template is well formed"));
        Self {
            bar,
            start: Instant::now(),
            interrupted,
            max_memory_mib,
            out_of_memory: false,
        }
    }

    /// Looks at how far it is, and says whether it may go on.
    pub(super) fn look(&mut self, progress: Progress) -> ControlFlow<()> {
        let elapsed = self.start.elapsed().as_secs_f64().max(1e-9);
        let memory = Memory::now();
        self.bar.set_message(format!(
            "{} states, {} of them to be looked at, {} steps deep, {} states per second, {} MiB, {}",
            count(progress.states),
            count(progress.open),
            progress.depth,
            significant(progress.states as f64 / elapsed),
            count(memory.mib),
            rounded_us(elapsed * 1e6),
        ));
        self.bar.tick();
        self.out_of_memory = self.max_memory_mib.is_some_and(|most| memory.mib >= most);
        match self.out_of_memory || self.interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// The search is over; it took so long.
    pub(super) fn finish(&self) -> Duration {
        self.bar.finish_and_clear();
        self.start.elapsed()
    }
}

/// What this process has of the machine's memory.
pub(super) struct Memory {
    /// Now.
    pub(super) mib: u64,
    /// When it was most.
    pub(super) peak_mib: u64,
}

impl Memory {
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            kib.unwrap_or(0) / 1024
        };
        Self {
            mib: mib("VmRSS:"),
            peak_mib: mib("VmHWM:"),
        }
    }
}
