//! What the person did, written into the scenario so that it happens again.

use std::path::Path;

use algorithms::NodeId;
use chaos::timeline::{FaultAction, Step, Timeline};
use model::run::{Engine, RequestRow, Run};
use model::workload::{Arrivals, Ask, Batch, Quota};

use crate::scenario::{Layers, Resolved};

/// How long somebody stays inside who has not been told to leave: longer than anybody watches.
pub(super) const UNTIL_TOLD_NS: u64 = 24 * 3_600 * 1_000_000_000;

/// The scenario that grows by what the person does.
pub(super) struct Script {
    resolved: Resolved,
    /// Whether nobody asks but the person.
    pub(super) manual: bool,
}

impl Script {
    pub(super) fn new(mut resolved: Resolved, manual: bool) -> Self {
        if resolved.engine == Engine::Sim {
            // The transport must run from the start: a fault that comes later must not change what was
            // before.
            resolved.plan.transport = model::plan::UseTransport::Always;
            resolved.plan.trace = true;
        }
        if let Arrivals::Batch(Batch { asks, .. }) = &mut resolved.plan.workload.arrivals
            && manual
        {
            asks.clear();
        }
        Self { resolved, manual }
    }

    /// The scenario as it is now.
    pub(super) fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// Whether there is anything to simulate.
    pub(super) fn is_empty(&self) -> bool {
        self.asks().is_some_and(Vec::is_empty)
    }

    /// A fault from that moment on, in the words of `--fault` without a time: when it will be over, if that
    /// is known.
    pub(super) fn fault(&mut self, at_ns: u64, words: &str) -> Result<Option<u64>, String> {
        let timeline = self.with_fault(at_ns, words)?;
        let known = std::mem::replace(&mut self.resolved.plan.faults, timeline).steps;
        let mut steps = self.resolved.plan.faults.steps.iter();
        let step = steps.find(|step| known.iter().all(|known| known.text != step.text));
        Ok(step.and_then(|step| step.over_ns(at_ns)))
    }

    /// The same, behind the faults that there are, so that their numbers stay what they are.
    pub(super) fn append_fault(&mut self, at_ns: u64, words: &str) -> Result<Vec<Step>, String> {
        let timeline = self.with_fault(at_ns, words)?;
        let known = &mut self.resolved.plan.faults.steps;
        let is_new = |step: &Step| known.iter().all(|known| known.text != step.text);
        let steps = timeline.steps.into_iter().filter(is_new);
        let steps = steps.collect::<Vec<_>>();
        if steps.is_empty() {
            return Err(format!("'{words}' could never do anything"));
        }
        let of_message = |step: &Step| matches!(step.action, FaultAction::Message(_));
        if steps.iter().any(of_message) {
            return Err(format!(
                "'{words}' is about single messages; write it into the scenario, processes hear of it \
                 before they start"
            ));
        }
        known.extend(steps.iter().cloned());
        Ok(steps)
    }

    /// The faults, with another one.
    fn with_fault(&self, at_ns: u64, words: &str) -> Result<Timeline, String> {
        let mut resolved = self.resolved.clone();
        if self.is_empty() {
            // A batch of nobody cannot be written, and the faults do not depend on who asks.
            let arrivals = &mut resolved.plan.workload.arrivals;
            *arrivals = Batch {
                asks: vec![Ask::at(0, NodeId(0))],
                settled: false,
            }
            .into();
        }
        let mut scenario = resolved.to_scenario();
        let text = format!("at {at_ns}ns {words}");
        let fault = text.parse().map_err(|error| format!("{error}"))?;
        scenario.fault.push(fault);
        let table = toml::Table::try_from(&scenario).map_err(|error| error.to_string())?;
        let resolved = Layers::from_table(table, Path::new("live.toml"))?.resolve()?;
        Ok(resolved.plan.faults)
    }

    /// The requests as they came in a run that is over, and how long each client stayed, so that
    /// the scenario repeats them.
    pub(super) fn ask_as_in(&mut self, run: &Run) {
        let mut asks: Vec<_> = run.requests.iter().map(as_it_came).collect();
        asks.sort_by_key(|ask| ask.at_ns);
        let settled = false;
        let workload = &mut self.resolved.plan.workload;
        workload.quota = Quota::Total(asks.len() as u64);
        workload.arrivals = Batch { asks, settled }.into();
    }

    /// A client at this node wants in, and stays until it is told to leave.
    pub(super) fn ask(&mut self, at_ns: u64, node: NodeId) -> Result<(), String> {
        let nodes = self.resolved.plan.nodes;
        if node.0 >= nodes {
            return Err(format!(
                "there is no node {node}; there are {nodes}, from 0"
            ));
        }
        let Some(asks) = self.asks_mut() else {
            return Err("the workload decides who asks; with --workload manual you do".to_owned());
        };
        asks.push(Ask {
            hold_ns: Some(UNTIL_TOLD_NS),
            ..Ask::at(at_ns, node)
        });
        Ok(())
    }

    /// The client that entered at that moment as this node's `nth` leaves after so long.
    pub(super) fn leave(&mut self, node: NodeId, nth: usize, after_ns: u64) -> Result<(), String> {
        let asks = self.asks_mut().into_iter().flatten();
        let mut own = asks.filter(|ask| ask.node == node);
        match nth.checked_sub(1).and_then(|before| own.nth(before)) {
            Some(ask) if ask.hold_ns == Some(UNTIL_TOLD_NS) => {
                ask.hold_ns = Some(after_ns);
                Ok(())
            }
            _ => Err(format!("{node} is not inside by your wish")),
        }
    }

    /// Nobody is left to tell the others when to leave: they stay as long as the workload says.
    pub(super) fn let_go(&mut self) {
        for ask in self.asks_mut().into_iter().flatten() {
            ask.hold_ns = ask.hold_ns.filter(|hold_ns| *hold_ns != UNTIL_TOLD_NS);
        }
    }

    fn asks(&self) -> Option<&Vec<Ask>> {
        match &self.resolved.plan.workload.arrivals {
            Arrivals::Batch(Batch { asks, .. }) if self.manual => Some(asks),
            _ => None,
        }
    }

    fn asks_mut(&mut self) -> Option<&mut Vec<Ask>> {
        match &mut self.resolved.plan.workload.arrivals {
            Arrivals::Batch(Batch { asks, .. }) if self.manual => Some(asks),
            _ => None,
        }
    }
}

fn as_it_came(request: &RequestRow) -> Ask {
    let stayed = request.entered_ns.zip(request.left_ns);
    Ask {
        priority: Some(request.priority).filter(|priority| *priority > 0),
        hold_ns: stayed.map(|(entered_ns, left_ns)| left_ns.saturating_sub(entered_ns)),
        ..Ask::at(request.arrived_ns, request.node)
    }
}

#[cfg(test)]
mod tests {
    use model::event::Event;

    use super::*;

    fn events(resolved: &Resolved) -> Vec<Event> {
        let mut events = Vec::<Event>::new();
        simulator::run(&resolved.plan, &mut events).expect("it runs");
        events
    }

    fn script(table: &str, manual: bool) -> Script {
        let table = table.parse().expect("a table");
        let layers = Layers::from_table(table, Path::new("t.toml")).expect("a scenario");
        Script::new(layers.resolve().expect("it resolves"), manual)
    }

    #[test]
    fn a_fault_changes_nothing_that_was_before_it() {
        let mut script = script(
            "algorithm = 'raymond'\nnodes = 5\nengine = 'sim'\nseed = 7\nentries = 5\nworkload = 'closed'",
            false,
        );
        let before = events(script.resolved());
        let at_ns = before[before.len() / 2].time_ns;
        for words in ["loss 20% on all", "cut 0-1 for 3ms", "kill 4", "pause 2"] {
            script.fault(at_ns + 1, words).expect(words);
            let after = events(script.resolved());
            let past = |events: &[Event]| {
                let events = events.iter().filter(|event| event.time_ns <= at_ns);
                events.cloned().collect::<Vec<_>>()
            };
            assert!(past(&before) == past(&after), "{words}");
            assert_ne!(before, after, "{words}");
        }
        assert!(script.fault(at_ns, "explode 3").is_err());
        assert_eq!(script.resolved().plan.faults.steps.len(), 4);
    }

    #[test]
    fn who_asks_stays_until_told_to_leave() {
        let mut script = script(
            "algorithm = 'raymond'\nnodes = 3\nengine = 'sim'\nworkload = 'batch'",
            true,
        );
        assert!(script.is_empty());
        script
            .fault(5, "pause 2")
            .expect("also before anybody asked");
        script.ask(10, NodeId(1)).expect("it is there");
        assert!(script.ask(10, NodeId(3)).is_err());
        script.ask(20, NodeId(2)).expect("it is there");
        assert!(script.leave(NodeId(1), 2, 7).is_err(), "it asked once");
        script.leave(NodeId(1), 1, 7).expect("it is inside");
        assert!(script.leave(NodeId(1), 1, 9).is_err(), "it has left");
        script.let_go();
        let holds: Vec<_> = script
            .asks()
            .expect("a batch")
            .iter()
            .map(|ask| ask.hold_ns)
            .collect();
        assert_eq!(holds, [Some(7), None]);
    }
}
