//! How far a long run has come, for those who watch; quiet in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::numbers::{count, time};
use crate::scenario::Resolved;

/// A line on the terminal that goes when the run is over.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// The line of this run. It stays away where stderr is no terminal.
    pub(crate) fn new(resolved: &Resolved) -> Self {
        let expected = resolved.entries();
        let bar = ProgressBar::with_draw_target(expected, ProgressDrawTarget::stderr());
        let form = match expected {
            Some(_) => "{bar:30} {percent:>3} %  {msg}  ({eta} left)",
            None => "{spinner} {msg}",
        };
        bar.set_style(ProgressStyle::with_template(form).expect("the template is well formed"));
        Self { bar }
    }

    /// Shows how many have entered.
    pub(crate) fn show_entries(&self, entries: u64) {
        self.bar.set_position(entries);
        self.bar.set_message(format!("{} entries", count(entries)));
    }

    /// Shows how far it has come.
    pub(crate) fn show(&self, progress: &simulator::Progress) {
        self.bar.set_position(progress.entries);
        self.bar.set_message(format!(
            "{} entries, {} events, {} of virtual time",
            count(progress.entries),
            count(progress.events),
            time(progress.now_ns as f64 / 1e3),
        ));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
