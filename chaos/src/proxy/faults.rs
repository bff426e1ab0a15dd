//! What is wrong with the network, and how that is changed while it runs.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use super::control::{FaultRow, Refusal};
use crate::delay::Delay;
use crate::fate::Member;
use crate::language::{Entry, Scope, Who};
use crate::network::Network;
use crate::partition::Edges;
use crate::rule::Count;
use crate::timeline::{Begin, Deed, Did, Group, Step, Timeline};

/// The network, and every fault that was asked for.
pub(super) struct Faults {
    pub network: Network,
    timeline: Timeline,
    names: Vec<String>,
    /// Those that were not ended, by their number.
    live: BTreeMap<u64, Live>,
    ever: u64,
}

struct Live {
    text: String,
    /// Its rules in the network.
    rules: Range<usize>,
}

impl Faults {
    /// Those of the timeline that need nobody's help.
    pub fn new(timeline: Timeline, delay: Delay, names: Vec<String>) -> Self {
        let mut faults = Self {
            network: Network::new(timeline.seed, names.len() as u32).taking(delay),
            timeline,
            names,
            live: BTreeMap::new(),
            ever: 0,
        };
        for step in 0..faults.timeline.steps.len() {
            if faults.timeline.steps[step].runs_itself() {
                let id = faults.next_id();
                let text = faults.timeline.steps[step].text.clone();
                faults.begin(id, step, text, 0);
            }
        }
        faults
    }

    /// Lets this be wrong from now on.
    pub fn add(&mut self, text: &str, now_ns: u64) -> Result<FaultRow, Refusal> {
        let step = self.settle(text)?;
        let id = self.next_id();
        Ok(self.begin(id, step, text.to_owned(), now_ns))
    }

    /// Lets this be wrong instead.
    pub fn change(&mut self, id: u64, text: &str, now_ns: u64) -> Result<FaultRow, Refusal> {
        if !self.live.contains_key(&id) {
            return Err(Refusal::NoSuchFault(id));
        }
        let step = self.settle(text)?;
        self.remove(id, now_ns)?;
        Ok(self.begin(id, step, text.to_owned(), now_ns))
    }

    /// Lets it be over.
    pub fn remove(&mut self, id: u64, now_ns: u64) -> Result<(), Refusal> {
        let live = self.live.remove(&id).ok_or(Refusal::NoSuchFault(id))?;
        live.rules.for_each(|rule| self.network.end(rule, now_ns));
        Ok(())
    }

    /// Ends all cuts, or those of some links.
    pub fn heal(&mut self, links: Option<&str>, now_ns: u64) -> Result<(), Refusal> {
        let step = self.settle(&format!("heal {}", links.unwrap_or("all")))?;
        self.put_in_force(step, now_ns);
        Ok(())
    }

    /// Ends everything.
    pub fn reset(&mut self, now_ns: u64) {
        let rules = self.network.rules().len();
        for rule in 0..rules {
            self.network.end(rule, now_ns);
        }
        self.live.clear();
    }

    /// Puts a step of the timeline that waited for something in force.
    pub fn enact(&mut self, step: usize, who: Option<Member>, now_ns: u64) -> Result<(), Refusal> {
        let known = self.timeline.steps.get(step);
        let about_links = known.is_some_and(|step| match &step.deed {
            Deed::Links(_) | Deed::Heal(_) => true,
            Deed::Isolate(..) => who.is_some_and(|who| who < self.timeline.nodes),
            Deed::Kill(_)
            | Deed::Pause(_)
            | Deed::Resume(_)
            | Deed::Restart(..)
            | Deed::Message(_) => false,
        });
        if !about_links {
            return Err(Refusal::Misread(format!("step {step} is not about links")));
        }
        self.timeline.enact(step, now_ns, who, &mut self.network);
        Ok(())
    }

    /// Those that were not ended, and what each did.
    pub fn rows(&self) -> Vec<FaultRow> {
        self.live.keys().map(|id| self.row(*id)).collect()
    }

    /// What each step of the timeline did.
    pub fn report(&self, now_ns: u64) -> Vec<Did> {
        self.timeline.report(&self.network, now_ns)
    }

    /// Reads a fault that the proxy can enact, and adds it to the timeline.
    fn settle(&mut self, text: &str) -> Result<usize, Refusal> {
        let misread = |why: String| Refusal::Misread(why);
        let read = |file: &str| fs::read_to_string(file).map_err(|error| error.to_string());
        let group = Group {
            nodes: self.timeline.nodes,
            edges: Edges::Complete {
                nodes: self.timeline.nodes,
            },
            kinds: None,
            token: Some(false),
            seed: self.timeline.seed,
            read: &read,
        };
        let scope = Scope {
            names: &self.names,
            ..group.scope()
        };
        let entry = Entry::parse(text, &scope).map_err(|error| misread(error.to_string()))?;
        let step = self.timeline.add(&entry, &group);
        let step = step.map_err(|error| misread(error.to_string()))?;
        let step = step.ok_or_else(|| misread(format!("'{text}' could never do anything")))?;
        match beyond_us(&self.timeline.steps[step]) {
            None => Ok(step),
            Some(why) => {
                self.timeline.steps.pop();
                Err(misread(format!("'{text}': {why}")))
            }
        }
    }

    fn begin(&mut self, id: u64, step: usize, text: String, now_ns: u64) -> FaultRow {
        let rules = self.put_in_force(step, now_ns);
        self.live.insert(id, Live { text, rules });
        self.row(id)
    }

    fn put_in_force(&mut self, step: usize, now_ns: u64) -> Range<usize> {
        let first = self.network.rules().len();
        let everyone = (0..self.timeline.nodes).collect::<Vec<_>>();
        let who = self.timeline.random(step, 0, &everyone);
        let network = &mut self.network;
        self.timeline.enact_from(step, now_ns, Some(who), network);
        first..self.network.rules().len()
    }

    fn row(&self, id: u64) -> FaultRow {
        let live = &self.live[&id];
        let rules = self
            .network
            .rules()
            .skip(live.rules.start)
            .take(live.rules.len());
        let count = rules.fold(Count::default(), |sum, (_, count)| Count {
            seen: sum.seen + count.seen,
            acted: sum.acted + count.acted,
        });
        FaultRow {
            id,
            fault: live.text.clone(),
            count,
        }
    }

    fn next_id(&mut self) -> u64 {
        self.ever += 1;
        self.ever
    }
}

/// Why the proxy cannot do this, if it cannot.
pub(super) fn beyond_us(step: &Step) -> Option<&'static str> {
    match (&step.begin, &step.deed) {
        (Begin::When { .. }, _) => Some("a proxy sees datagrams, not what members do; say at"),
        (Begin::At(_), Deed::Links(_) | Deed::Heal(_) | Deed::Isolate(Who::Random, _)) => None,
        (Begin::At(_), Deed::Isolate(..)) => {
            Some("a proxy does not know who is inside; name a member, or random")
        }
        (Begin::At(_), Deed::Kill(_) | Deed::Pause(_) | Deed::Resume(_) | Deed::Restart(..)) => {
            Some("a proxy has no hold on processes; only faults of links")
        }
        (Begin::At(_), Deed::Message(_)) => {
            Some("a proxy does not look into datagrams; only faults of links")
        }
    }
}
