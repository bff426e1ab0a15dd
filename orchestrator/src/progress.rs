//! How far a long run has come, for those who watch; quiet in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use model::engine::Progress;
use model::time::rounded_us;

use crate::numbers::count;
use crate::scenario::Resolved;

/// A line on the terminal that goes when the run is over.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// The progress line of this run. Nothing is shown where stderr is no terminal.
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

    /// Shows how far the run has come.
    pub(crate) fn show(&self, progress: &Progress) {
        self.bar.set_position(progress.entries);
        let entries = count(progress.entries);
        self.bar.set_message(match progress.events {
            // Of processes nobody counts the events.
            0 => format!("{entries} entries"),
            events => format!(
                "{entries} entries, {} events, {} of virtual time",
                count(events),
                rounded_us(progress.now_ns as f64 / 1e3),
            ),
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
