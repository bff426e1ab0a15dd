//! A structure's every schedule, under both kinds of rules.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use algorithms::printed::Printed;
use algorithms::sanders::structure::Structure;
use algorithms::{NodeId, Setting, Topology, registry};
use serde_json::json;
use simulator::explore::{Exploration, Kind, Options, explore};

use crate::numbers::count;
use crate::table::indented;
use crate::{Exit, Failure, interrupt};

/// What the search of one structure found.
pub(super) struct Searched {
    rules: &'static str,
    /// The report of the search, in which deadlocks are only counted.
    report: Exploration,
}

/// Tries every schedule in which each node wants in once, with the basic rules and with the
/// deadlock-free ones.
pub(super) fn both_rules(structure: &Structure, max_states: u32) -> Result<Vec<Searched>, Failure> {
    let interrupted = interrupt::flag_on_interrupt()?;
    let info = registry::find("sanders").expect("it is registered");
    let mut searched = Vec::new();
    for rules in ["basic", "deadlock-free"] {
        let written = structure.to_string();
        let params = info.choose(&[("structure", &written), ("rules", rules)]);
        let setting = Setting::new(
            Topology::complete(structure.nodes()),
            NodeId(0),
            params.map_err(|error| Failure::Usage(error.to_string()))?,
            Printed::repaired(),
            Duration::from_millis(50),
        );
        let options = Options {
            safety_only: true,
            max_states,
            ..Options::new(info, structure.nodes())
        };
        let watch = &mut |_| match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let report = explore(info, &setting, &options, watch);
        let report = report.map_err(|unfit| Failure::Usage(unfit.to_string()))?;
        searched.push(Searched { rules, report });
    }
    Ok(searched)
}

impl Searched {
    /// Deadlocks are the basic rules' own and do not speak against the structure.
    pub(super) fn exit(&self) -> Exit {
        let live = self.rules == "basic" || self.report.trapped == Some(0);
        match (&self.report.finding, self.report.complete) {
            (None, true) if live => Exit::Holds,
            (Some(_), _) | (None, true) => Exit::Violated,
            (None, false) => Exit::Inconclusive,
        }
    }

    /// What was found, as a sentence.
    pub(super) fn told(&self) -> String {
        let states = count(self.report.states);
        let lead = format!("explored, {} rules: ", self.rules);
        let what = match (&self.report.finding, self.report.complete) {
            (Some(finding), _) => {
                let what = match finding.kind {
                    Kind::Exclusion => "not safe",
                    _ => "wrong",
                };
                format!("{what}: {}\nschedule: {}", finding.why, finding.schedule)
            }
            (None, false) => format!("cut off after {states} states"),
            (None, true) => match self.report.trapped {
                Some(0) => format!("safe and live in all {states} states"),
                _ => format!("safe in all {states} states, but it may deadlock"),
            },
        };
        indented(&lead, &what)
    }

    pub(super) fn object(&self) -> serde_json::Value {
        json!({ "rules": self.rules, "report": self.report })
    }
}
