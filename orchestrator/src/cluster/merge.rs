//! One account of a run from the files its members left.

use std::fs;
use std::path::Path;

use algorithms::NodeId;
use algorithms::registry::Links;
use node::ledger::Ledger;
use node::members;
use node::mischief::TokenTrail;
use node::plan::Plan;
use node::record::{self, Record};
use node::run::{End, Engine, FaultRow, MessageRow, Run, deaths};
use node::tally::LINKS_COUNTED_UP_TO;

use super::stage::Played;
use crate::Failure;

/// Reads every member's records, puts them in order of time, and tells them to the ledger.
pub(super) fn merge(plan: &Plan, members: &Path, played: Played) -> Result<Run, Failure> {
    let mut files = Vec::new();
    for node in (0..plan.nodes).map(NodeId) {
        // Only a member's first life runs the algorithm; later ones have nothing to tell.
        let path = members.join(format!("{node}.0.rec"));
        let bytes = fs::read(&path).map_err(|error| {
            Failure::Testbed(format!("cannot read {}: {error}", path.display()))
        })?;
        files.push((node, path, bytes));
    }
    let mut all = Vec::new();
    for (node, path, bytes) in &files {
        let records = record::read(bytes)
            .map_err(|error| Failure::Testbed(format!("{}: {error}", path.display())))?;
        all.extend(
            records
                .into_iter()
                .map(|(at_ns, record)| (at_ns, *node, record)),
        );
    }
    all.sort_by_key(|&(at_ns, node, _)| (at_ns, node));
    Ok(Account::new(plan).of(all, played))
}

struct Account<'a> {
    plan: &'a Plan,
    kinds: &'static [&'static str],
    ledger: Ledger,
    token: TokenTrail,
    /// Who took whom for dead, and when.
    suspicions: Vec<(u64, NodeId, NodeId)>,
    /// What the ledger does not keep.
    rest: Run,
}

impl<'a> Account<'a> {
    fn new(plan: &'a Plan) -> Self {
        let machine = (plan.entry().machine)(&plan.params, &plan.printed);
        Self {
            plan,
            kinds: machine.kinds(),
            ledger: Ledger::new(plan),
            token: TokenTrail::new(plan, machine.kinds()),
            suspicions: Vec::new(),
            rest: Run::default(),
        }
    }

    fn of(mut self, records: Vec<(u64, NodeId, Record<'_>)>, played: Played) -> Run {
        for (at_ns, node, record) in records {
            self.tell(at_ns, node, record);
        }
        let token = self.token;
        if played.end == End::Finished && self.plan.entry().links == Links::Sessions {
            // Nothing is under way any more: what did not arrive was lost with its session.
            for row in self.rest.messages.values_mut() {
                row.lost = row.sent.saturating_sub(row.received);
            }
        }
        let deaths = deaths(&played.faults);
        let died =
            |who: NodeId, at_ns: u64| deaths.get(&who).is_some_and(|&died_ns| died_ns <= at_ns);
        let suspicions = self.suspicions.into_iter();
        let untrue = suspicions.filter(|&(at_ns, _, of)| !died(of, at_ns));
        let untrue = untrue.map(|(at_ns, by, of)| FaultRow::false_suspicion(at_ns, by, of));
        let untrue = untrue.collect::<Vec<_>>();
        let mut run = self.ledger.close(played.end, played.ended_ns);
        run.faults
            .extend(played.faults.into_iter().map(|fault| token.explain(fault)));
        run.faults.extend(untrue);
        run.faults.sort_by_key(|fault| fault.time_ns);
        Run {
            engine: Engine::Cluster,
            messages: self.rest.messages,
            transport: self.rest.transport,
            link_delay_sum_ns: self.rest.link_delay_sum_ns,
            link_delay_count: self.rest.link_delay_count,
            bound_broken: self.rest.bound_broken,
            most_inside: None,
            usage: played.usage,
            state_bytes: played.state_bytes,
            ..run
        }
    }

    fn tell(&mut self, at_ns: u64, node: NodeId, record: Record<'_>) {
        use members::Record as Core;
        match record {
            Record::Arrived { priority } => {
                self.ledger.record(at_ns, node, Core::Arrived { priority });
            }
            Record::Asked => self.ledger.record(at_ns, node, Core::Asked),
            Record::Entered {
                fence,
                invited,
                witness,
            } => {
                self.ledger
                    .record(at_ns, node, Core::Entered { fence, invited });
                self.ledger.witnessed(node, witness);
            }
            Record::Left => self.ledger.record(at_ns, node, Core::Left),
            Record::Retired => self.ledger.record(at_ns, node, Core::Retired),
            Record::Note {
                name,
                value,
                charge,
            } => {
                // Only what the registry lists can be noted; a test holds every algorithm to it.
                let mut known = self.plan.entry().notes.iter().map(|(known, _)| *known);
                if let Some(name) = known.find(|known| *known == name) {
                    let note = Core::Note {
                        name,
                        value,
                        charge,
                    };
                    self.ledger.record(at_ns, node, note);
                }
            }
            Record::ProtocolError { why } => {
                let why = why.into_owned();
                self.ledger.record(at_ns, node, Core::ProtocolError { why });
            }
            Record::Tampered { step } => {
                let step = step as usize;
                self.ledger.record(at_ns, node, Core::Tampered { step });
            }
            Record::Lost { to, kind } => {
                self.ledger.sent(None);
                let row = self.link(node, to, kind);
                row.sent += 1;
                row.lost += 1;
            }
            Record::Sent { to, kind, bytes } => {
                self.ledger.sent(None);
                self.token.sent(at_ns, kind, node, to);
                let row = self.link(node, to, kind);
                row.sent += 1;
                row.bytes += u64::from(bytes);
            }
            Record::Received {
                from,
                kind,
                delay_ns,
            } => {
                self.token.received(at_ns, kind, node);
                self.link(from, node, kind).received += 1;
                self.rest.link_delay_sum_ns += delay_ns;
                self.rest.link_delay_count += 1;
                self.rest.bound_broken += u64::from(delay_ns > self.plan.bound_ns);
            }
            Record::Transport(row) => {
                self.rest.transport.insert(node, row);
            }
            Record::Stalled { .. } => {}
            Record::Suspected { peer } => self.suspicions.push((at_ns, node, peer)),
        }
    }

    fn link(&mut self, from: NodeId, to: NodeId, kind: u8) -> &mut MessageRow {
        let to = (self.plan.nodes <= LINKS_COUNTED_UP_TO).then_some(to);
        let kind = self.kinds.get(usize::from(kind)).copied().unwrap_or("?");
        self.rest.messages.entry((from, to, kind)).or_default()
    }
}
