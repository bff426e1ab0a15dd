//! The account of a run: events in, rows and sums out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use algorithms::NodeId;
use chaos::Timeline;
use chaos::timeline::FaultAction;

use crate::measure::Measure;
use model::event::What;
use model::plan::Plan;
use model::run::{End, FaultOutcome, FaultTarget, Happened, NoteRow, RequestRow, Run};

/// The most protocol errors of which the words are recorded.
const ERRORS_KEPT: usize = 100;

/// The account of a run. It is told every event in the order of time.
#[derive(Debug)]
pub struct Ledger {
    run: Run,
    /// For each request the next one of the same node, if that arrived while this one was queued.
    following: Vec<u32>,
    open: Vec<Open>,
    notes: BTreeMap<(NodeId, &'static str), NoteRow>,
    inside: u32,
    most_inside: u32,
    /// How many of those inside had asked.
    served_inside: u32,
    /// How many requests were served.
    served: u64,
    entries: u64,
    measure: Measure,
    /// The plan's faults.
    timeline: Timeline,
    /// What the algorithm can note.
    known_notes: &'static [(&'static str, &'static str)],
}

/// The requests of one node that something may still happen to, by their rows.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The one the algorithm was asked for last.
    asked: u32,
    /// The first one that it has not been asked for.
    queued: u32,
    /// The one that arrived last.
    newest: u32,
    /// The one inside, or that was inside last.
    entered: u32,
    /// The phase of the one asked for that is measured: the note of its time, and when it began.
    began: Option<(&'static str, u64)>,
    /// Whether the one asked for was put on a queue already.
    listed: bool,
}

/// The row number that stands for no row.
const NONE: u32 = u32::MAX;

/// What a note ends in that marks when a phase of a request began. An algorithm knows no clock: how long
/// it then took to enter, in microseconds, is noted here, under the same name with `_us`.
const BEGAN: &str = "_began";

/// The note of an algorithm that a request was put on the queue where it is served. What it had cost by
/// then is noted here, the first time.
const QUEUED: &str = "queued";
const SENT_UNTIL_QUEUED: &str = "sent_until_queued";

impl Ledger {
    /// The account of a planned run before it begins.
    pub fn new(plan: &Plan) -> Self {
        let nobody = Open {
            asked: NONE,
            queued: NONE,
            newest: NONE,
            entered: NONE,
            began: None,
            listed: false,
        };
        Self {
            run: Run::default(),
            following: Vec::new(),
            open: vec![nobody; plan.nodes as usize],
            notes: BTreeMap::new(),
            inside: 0,
            most_inside: 0,
            served_inside: 0,
            served: 0,
            entries: 0,
            measure: Measure::new(plan),
            timeline: plan.faults.clone(),
            known_notes: plan.info().more.notes,
        }
    }

    /// How many clients have entered so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// How many clients are inside now.
    pub fn inside(&self) -> u32 {
        self.inside
    }

    /// How many requests have been served so far; who enters uninvited is not among them.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// How many are inside now who had asked.
    pub fn served_inside(&self) -> u32 {
        self.served_inside
    }

    /// A member sent an algorithm message to another, charged to the latest request of that node.
    pub fn sent(&mut self, charge: Option<NodeId>) {
        self.measure.sent();
        if let Some(row) = charge.and_then(|node| self.latest(node)) {
            *row.messages.get_or_insert(0) += 1;
        }
    }

    /// Something happened to a member.
    pub fn record(&mut self, now_ns: u64, node: NodeId, what: &What) {
        match what {
            What::Arrive { priority } => self.arrived(now_ns, node, *priority),
            What::Request { .. } => self.asked(now_ns, node),
            What::Enter {
                fence,
                invited,
                index,
                ..
            } => self.entered(now_ns, node, *fence, *invited, *index),
            What::Release => self.left(now_ns, node),
            What::Retire => self.measure.retired(),
            What::Tamper { step, .. } => self.tampered(now_ns, *step as usize),
            What::Note {
                name,
                value,
                charge,
            } => {
                // Only what the registry lists can be noted: a test holds every algorithm to it, and
                // what a file says beyond that is damage.
                let known = match name {
                    Cow::Borrowed(name) => Some(*name),
                    Cow::Owned(name) => {
                        let mut known = self.known_notes.iter().map(|(known, _)| *known);
                        known.find(|known| known == name)
                    }
                };
                if let Some(name) = known {
                    self.note(now_ns, node, name, *value, *charge);
                }
            }
            What::ProtocolError { why } => {
                self.run.protocol_error_count += 1;
                if self.run.protocol_errors.len() < ERRORS_KEPT {
                    self.run.protocol_errors.push((now_ns, node, why.clone()));
                }
            }
            // The engines count messages; the rest is nothing that a run's tables have.
            What::Send { .. }
            | What::Hold { .. }
            | What::Post { .. }
            | What::Receive { .. }
            | What::Lose { .. }
            | What::SetTimer { .. }
            | What::CancelTimer { .. }
            | What::Timer { .. }
            | What::PeerDown { .. }
            | What::PeerUp { .. }
            | What::LinkDown { .. }
            | What::LinkUp { .. }
            | What::Suspect { .. }
            | What::Stall { .. }
            | What::Fault { .. }
            | What::FaultOver { .. } => {}
        }
    }

    /// A member died: if it was inside, it no longer is.
    pub fn died(&mut self, node: NodeId) {
        let row = self.open[node.index()].entered;
        if let Some(request) = self.run.requests.get(row as usize)
            && request.left_ns.is_none()
        {
            let served = u32::from(!request.uninvited);
            self.inside = self.inside.saturating_sub(1);
            self.served_inside = self.served_inside.saturating_sub(served);
        }
    }

    /// The lock file that the kernel gave the member that entered last, if any.
    pub fn witnessed(&mut self, node: NodeId, slot: Option<u32>) {
        let row = self.open[node.index()].entered;
        let request = &mut self.run.requests[row as usize];
        request.witness_slot = slot;
        request.witness_refused = slot.is_none();
    }

    /// The run is over; what the ledger does not know is for the engine to fill in.
    pub fn close(mut self, end: End, ended_ns: u64) -> Run {
        let requests = &mut self.run.requests;
        if requests.iter().any(|row| row.messages.is_some()) {
            // The algorithm says what each request costs, so these cost nothing.
            for row in requests {
                row.messages.get_or_insert(0);
            }
        }
        let faults = &mut self.run.faults;
        for (number, step) in self.timeline.steps.iter().enumerate() {
            let acted = faults.iter().any(|fault| fault.step == Some(number));
            if matches!(step.action, FaultAction::Message(_)) && !acted {
                faults.push(FaultOutcome::never(number, &self.timeline));
            }
        }
        Run {
            notes: self.notes,
            window: self.measure.window(ended_ns),
            most_inside: Some(self.most_inside),
            end,
            ended_ns,
            ..self.run
        }
    }

    fn arrived(&mut self, now_ns: u64, node: NodeId, priority: u32) {
        let row = self.add(now_ns, node, priority);
        let open = &mut self.open[node.index()];
        match open.queued {
            NONE => open.queued = row,
            _ => self.following[open.newest as usize] = row,
        }
        open.newest = row;
    }

    fn asked(&mut self, now_ns: u64, node: NodeId) {
        let open = &mut self.open[node.index()];
        // Records from files may be incomplete: there may be nobody in the queue.
        if let Some(request) = self.run.requests.get_mut(open.queued as usize) {
            request.asked_ns = Some(now_ns);
            open.asked = open.queued;
            open.listed = false;
            open.queued = self.following[open.asked as usize];
        }
    }

    fn entered(
        &mut self,
        now_ns: u64,
        node: NodeId,
        fence: Option<u64>,
        invited: bool,
        index: Option<u32>,
    ) {
        let row = match self.open[node.index()].asked {
            asked if invited && asked != NONE => asked,
            _ => self.add(now_ns, node, 0),
        };
        self.open[node.index()].entered = row;
        let request = &mut self.run.requests[row as usize];
        request.entered_ns = Some(now_ns);
        request.fence = fence;
        request.uninvited = !invited;
        request.index = index;
        if let Some((name, since_ns)) = self.open[node.index()].began.take() {
            self.add_note(node, name, now_ns.saturating_sub(since_ns) / 1_000);
        }
        self.entries += 1;
        self.inside += 1;
        self.served += u64::from(invited);
        self.served_inside += u32::from(invited);
        self.most_inside = self.most_inside.max(self.inside);
    }

    fn left(&mut self, now_ns: u64, node: NodeId) {
        let row = self.open[node.index()].entered;
        if let Some(request) = self.run.requests.get_mut(row as usize) {
            request.left_ns = Some(now_ns);
            let served = u32::from(!request.uninvited);
            self.inside = self.inside.saturating_sub(1);
            self.served_inside = self.served_inside.saturating_sub(served);
            self.measure.left(now_ns);
        }
    }

    fn add(&mut self, now_ns: u64, node: NodeId, priority: u32) -> u32 {
        let row =
            u32::try_from(self.run.requests.len()).expect("fewer than 2^32 requests in a run");
        self.following.push(NONE);
        let request = RequestRow::arrived(node, priority, now_ns);
        self.run.requests.push(request);
        row
    }

    /// A fault acted on a message: once more, or for the first time.
    fn tampered(&mut self, now_ns: u64, step: usize) {
        if step >= self.timeline.steps.len() {
            // A record of another plan; the files that members left may be damaged.
            return;
        }
        let mut known = self.run.faults.iter_mut();
        match known.find(|fault| fault.step == Some(step)) {
            Some(fault) => fault.acted += 1,
            None => self.run.faults.push(FaultOutcome {
                happened: Happened::from(now_ns, Some(now_ns)),
                ..FaultOutcome::at(step, &self.timeline, now_ns, FaultTarget::Messages)
            }),
        }
    }

    /// The request of a node that the algorithm was asked for last.
    fn latest(&mut self, node: NodeId) -> Option<&mut RequestRow> {
        let row = self.open.get(node.index())?.asked;
        self.run.requests.get_mut(row as usize)
    }

    fn note(
        &mut self,
        now_ns: u64,
        node: NodeId,
        name: &'static str,
        value: u64,
        charge: Option<NodeId>,
    ) {
        self.add_note(node, name, value);
        if name == "registered"
            && let Some(row) = charge.and_then(|node| self.latest(node))
        {
            row.registered = Some(value);
        }
        if name == QUEUED
            && let Some(origin) = charge
        {
            self.was_queued(node, origin);
        }
        if let Some(phase) = name.strip_suffix(BEGAN)
            && let Some(time) = self.time_since(phase)
            && let Some(open) = charge.and_then(|node| self.open.get_mut(node.index()))
        {
            open.began = Some((time, now_ns));
        }
    }

    fn was_queued(&mut self, node: NodeId, origin: NodeId) {
        let sent = self.latest(origin).and_then(|row| row.messages);
        let Some(open) = self.open.get_mut(origin.index()) else {
            return;
        };
        let before = std::mem::replace(&mut open.listed, true);
        if let Some(sent) = sent.filter(|_| !before) {
            self.add_note(node, SENT_UNTIL_QUEUED, sent);
        }
    }

    fn add_note(&mut self, node: NodeId, name: &'static str, value: u64) {
        self.notes.entry((node, name)).or_default().add(value);
        self.measure.note(name, value);
    }

    /// The note that says how long this phase of a request took, if the registry has one.
    fn time_since(&self, phase: &str) -> Option<&'static str> {
        let mut known = self.known_notes.iter().map(|(known, _)| *known);
        known.find(|known| known.strip_suffix("_us") == Some(phase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two requests, one after the other; the second is charged three messages if any are.
    fn charged(charge: Option<NodeId>) -> Vec<Option<u64>> {
        let mut ledger = Ledger::new(&crate::sample::plan());
        for node in [NodeId(0), NodeId(1)] {
            ledger.record(1, node, &What::Arrive { priority: 0 });
            ledger.record(1, node, &What::Request { priority: 0 });
        }
        for _ in 0..3 {
            ledger.sent(charge);
        }
        let run = ledger.close(End::Finished, 9);
        run.requests.iter().map(|row| row.messages).collect()
    }

    #[test]
    fn what_a_request_had_cost_is_noted_when_it_is_queued_first() {
        let mut ledger = Ledger::new(&crate::sample::plan());
        let (site, asked) = (NodeId(1), What::Request { priority: 0 });
        ledger.record(1, site, &What::Arrive { priority: 0 });
        ledger.record(1, site, &asked);
        for _ in 0..2 {
            ledger.sent(Some(site));
            ledger.sent(Some(site));
            ledger.note(2, NodeId(0), QUEUED, 1, Some(site));
        }
        let run = ledger.close(End::Finished, 9);
        let noted = &run.window.notes[SENT_UNTIL_QUEUED];
        assert_eq!((noted.count, noted.max), (1, 2));
    }

    #[test]
    fn records_that_are_incomplete_do_no_harm() {
        let invited = What::Enter {
            fence: None,
            invited: true,
            witness: None,
            index: None,
        };
        let asked = What::Request { priority: 0 };
        let mut ledger = Ledger::new(&crate::sample::plan());
        for what in [What::Release, asked, invited, What::Release] {
            ledger.record(7, NodeId(0), &what);
        }
        let run = ledger.close(End::Finished, 9);
        assert_eq!(run.requests.len(), 1);
        assert_eq!(run.requests[0].left_ns, Some(7));
    }

    #[test]
    fn where_messages_are_charged_a_request_without_any_cost_nothing() {
        assert_eq!(charged(Some(NodeId(1))), [Some(0), Some(3)]);
        assert_eq!(charged(None), [None, None]);
    }
}
