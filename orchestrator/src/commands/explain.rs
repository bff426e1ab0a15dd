//! `orchestrator explain`: one algorithm, for somebody who has not read the paper.

use algorithms::registry::Entry;
use clap::Args;

use crate::{Exit, Failure, print, scenario};

/// Teaches an algorithm: how it works, what it costs, what can be set, what is wrong in print.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Its name, as `orchestrator list` shows it.
    algorithm: String,
}

impl Explain {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let entry = scenario::find_algorithm(&self.algorithm).map_err(Failure::Usage)?;
        print(&explain(entry))?;
        Ok(Exit::Holds)
    }
}

fn explain(entry: &Entry) -> String {
    let mut text = format!(
        "{}\n{}\n\n{}\n",
        entry.title, entry.paper, entry.explanation
    );
    text.push_str(&format!("\nCost: {}\n", entry.cost));
    for form in entry.forms {
        text.push_str(&format!("  {}, {}\n", form.formula, form.condition));
    }
    text.push_str(&format!("\nTry: orchestrator run {}\n", entry.name));
    text
}
