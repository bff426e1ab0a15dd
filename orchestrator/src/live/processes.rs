//! A run of processes as it goes on under the eyes of the person.
//!
//! Members are looked at some times a second, and tell what happened since: not at the same moment, so what
//! one of them tells waits until all have told what was before it. Where more happens than a person can
//! see, members are asked only what they are like, and how much that was.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use algorithms::NodeId;
use analysis::view::{Phase, Violation, Watch, as_shown, in_fields};
use chaos::timeline::{Begin, FaultAction, Step};
use cluster::live::{self, Glance, Person, Portrait, SeenEvent};
use model::event::Event;
use model::run::Run;
use model::workload::Cue;
use serde_json::{Value, json};

use super::act::Act;
use super::opening_page;
use super::script::Script;
use super::server::Desk;
use super::told::{Bands, MOST_AT_ONCE, Told};
use crate::scenario::Resolved;

/// The largest factor by which holds and thinks are made longer or shorter.
const MOST_STRETCH: f64 = 1e4;

/// Somebody who watches a run of processes at the live page.
pub struct Onlooker {
    script: Script,
    desk: Arc<Desk>,
    acts: Receiver<Act>,
    watch: Watch,
    /// What the page knows of each member.
    members: Vec<Known>,
    /// What was heard and not told yet, because something that was before it may still be heard.
    held: Vec<Held>,
    bands: Bands,
    /// Everything until then was told.
    told_ns: u64,
    now_ns: u64,
    /// How many events members keep for the next look.
    most: u32,
    /// Clients stay inside, and think, so many times as long.
    stretch: f64,
    stretched: bool,
    /// Who stands still until told to go on.
    paused: BTreeSet<NodeId>,
    dead: BTreeSet<NodeId>,
    /// Whether the person has stopped all members.
    stands: bool,
    is_quiet: bool,
}

/// What the page knows of a member.
#[derive(Clone, Debug, Default)]
struct Known {
    state: Vec<(String, String)>,
    view: Value,
}

/// Something that waits to be told.
#[derive(Debug)]
struct Held {
    at_ns: u64,
    what: Heard,
}

#[derive(Debug)]
enum Heard {
    Event(NodeId, Box<SeenEvent>),
    /// A fault, as the page's moment.
    Fault(Value),
}

impl Onlooker {
    pub(super) fn new(script: Script) -> Self {
        let (sender, acts) = mpsc::channel();
        let plan = &script.resolved().plan;
        let mut onlooker = Self {
            desk: Arc::new(Desk::new(sender)),
            acts,
            watch: Watch::new((plan.info().more.admits)(&plan.params)),
            members: vec![Known::default(); plan.nodes as usize],
            held: Vec::new(),
            bands: Bands::default(),
            told_ns: 0,
            now_ns: 0,
            most: MOST_AT_ONCE as u32,
            stretch: 1.0,
            stretched: false,
            paused: BTreeSet::new(),
            dead: BTreeSet::new(),
            stands: false,
            is_quiet: false,
            script,
        };
        let planned = onlooker.script.resolved().plan.faults.steps.clone();
        for step in planned.iter().filter(|step| step.runs_itself()) {
            onlooker.show_on_links(step);
        }
        onlooker
    }

    pub(super) fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }

    /// The page before anything has happened.
    pub(super) fn page(&self) -> String {
        opening_page(&self.script)
    }

    /// The scenario of the run.
    pub fn resolved(&self) -> &Resolved {
        self.script.resolved()
    }

    /// The scenario that repeats the run, which is over: with all that was done. Requests that a person made,
    /// or stretched, are there as they came.
    pub(crate) fn repeating(mut self, run: &Run) -> Result<Resolved, String> {
        if self.script.manual || self.stretched {
            if run.requests.is_empty() {
                return Err("nobody asked, so there is no scenario that repeats it".to_owned());
            }
            self.script.ask_as_in(run);
        }
        Ok(self.script.resolved().clone())
    }

    fn do_act(&mut self, now_ns: u64, act: Act) -> Result<Vec<live::Act>, String> {
        match act {
            Act::Stop => {
                self.stands = true;
                let nodes = 0..self.members.len() as u32;
                let going = nodes.map(NodeId).filter(|node| !self.stands_still(*node));
                let going: Vec<_> = going.collect();
                self.fault_on_each(now_ns, "pause", &going)
            }
            Act::GoOn => {
                self.stands = false;
                let paused: Vec<_> = self.paused.iter().copied().collect();
                self.fault_on_each(now_ns, "resume", &paused)
            }
            Act::Step => Err("only the simulator can be stepped event by event".to_owned()),
            Act::Faster { times } if times.is_finite() && times > 0.0 => {
                self.stretch = (self.stretch / times).clamp(1.0 / MOST_STRETCH, MOST_STRETCH);
                self.stretched = true;
                Ok(vec![live::Act::Stretch(self.stretch)])
            }
            Act::Faster { .. } => Ok(Vec::new()),
            Act::Ask { node } => self.cue(node, Cue::Ask { stay: true }),
            Act::Leave { node } => self.cue(node, Cue::Leave),
            Act::Fault { words } => self.fault(now_ns, &words),
            Act::Finish => {
                // Who stands still would do so for ever, and who stays inside, too.
                let paused: Vec<_> = self.paused.iter().copied().collect();
                let mut acts = self.fault_on_each(now_ns, "resume", &paused)?;
                if self.script.manual {
                    let nodes = (0..self.members.len() as u32).map(NodeId);
                    acts.extend(nodes.map(|node| live::Act::Cue(node, Cue::LetGo)));
                }
                acts.push(live::Act::Finish);
                Ok(acts)
            }
        }
    }

    fn stands_still(&self, node: NodeId) -> bool {
        self.paused.contains(&node) || self.dead.contains(&node)
    }

    fn fault_on_each(
        &mut self,
        now_ns: u64,
        fault: &str,
        nodes: &[NodeId],
    ) -> Result<Vec<live::Act>, String> {
        let mut acts = Vec::new();
        for node in nodes {
            acts.extend(self.fault(now_ns, &format!("{fault} {node}"))?);
        }
        Ok(acts)
    }

    fn cue(&mut self, node: u32, cue: Cue) -> Result<Vec<live::Act>, String> {
        let nodes = self.members.len();
        if !self.script.manual {
            return Err("the workload decides who asks; with --workload manual you do".to_owned());
        }
        if node as usize >= nodes {
            return Err(format!(
                "there is no node {node}; there are {nodes}, from 0"
            ));
        }
        match self.dead.contains(&NodeId(node)) {
            true => Err(format!("{node} is dead")),
            false => Ok(vec![live::Act::Cue(NodeId(node), cue)]),
        }
    }

    /// Writes a fault down.
    fn fault(&mut self, now_ns: u64, words: &str) -> Result<Vec<live::Act>, String> {
        let steps = self.script.append_fault(now_ns, words)?;
        for step in steps.iter().filter(|step| step.runs_itself()) {
            self.show_on_links(step);
        }
        let steps = steps.into_iter();
        Ok(steps.map(|step| live::Act::Fault(Box::new(step))).collect())
    }

    /// Shows a fault that the network does by itself, when its time has come.
    fn show_on_links(&mut self, step: &Step) {
        let Begin::At(window) = &step.begin else {
            return;
        };
        let words = match &step.action {
            FaultAction::Links(bad) => {
                let reach = bad.first().map(|bad| format!(" on {}", bad.reach));
                format!("{}{}", step.name, reach.unwrap_or_default())
            }
            _ => step.name.clone(),
        };
        let over_ns = step.over_ns(window.from_ns);
        let mut moments = self.bands.begin(window.from_ns, &words, over_ns);
        moments.extend(self.bands.ended(u64::MAX));
        self.hold_faults(moments);
    }

    fn hold_faults(&mut self, moments: Vec<Value>) {
        self.held.extend(moments.into_iter().map(|moment| Held {
            at_ns: moment["time_ns"].as_u64().unwrap_or(self.now_ns),
            what: Heard::Fault(moment),
        }));
    }

    /// Tells what is held and was not later than that.
    fn tell_until(&mut self, until_ns: u64, told: &mut Told) -> u64 {
        self.held.sort_by_key(|held| held.at_ns);
        let due = self.held.partition_point(|held| held.at_ns <= until_ns);
        let mut too_late = 0;
        for held in self.held.drain(..due).collect::<Vec<_>>() {
            match held.what {
                // Its place is behind the page already; the member is shown as it is now.
                Heard::Event(..) if held.at_ns < self.told_ns => too_late += 1,
                Heard::Event(node, seen) => self.tell_event(node, *seen, told),
                Heard::Fault(mut moment) => {
                    moment["time_ns"] = held.at_ns.max(self.told_ns).into();
                    told.moments.push(moment);
                }
            }
        }
        self.told_ns = self.told_ns.max(until_ns);
        too_late
    }

    fn tell_event(&mut self, node: NodeId, seen: SeenEvent, told: &mut Told) {
        let event = Event {
            time_ns: seen.at_ns,
            node: Some(node),
            what: seen.what,
        };
        if let Some(Violation { text, .. }) = self.watch.take(1, &event) {
            let moment = told.moments.len();
            told.violations
                .push(json!({"moment": moment, "text": text}));
        }
        let mut moment = Value::Object(as_shown(&event));
        if let Some(after) = seen.after {
            let known = &mut self.members[node.index()];
            let state = in_fields(&after.state);
            let set = state.iter().enumerate();
            let set = set.filter(|(place, field)| known.state.get(*place) != Some(*field));
            let set: Vec<_> = set.map(|(place, (_, value))| (place, value)).collect();
            moment["set"] = json!(set);
            if known.view != after.view {
                moment["view"] = after.view.clone();
            }
            *known = Known {
                state,
                view: after.view,
            };
        }
        told.moments.push(moment);
    }

    /// The page's moment of what a member is like, where not all is told that made it so.
    fn snapshot(&mut self, node: NodeId, glance: &Glance) -> Value {
        let Portrait { state, view } = &glance.now;
        let known = &mut self.members[node.index()];
        *known = Known {
            state: in_fields(state),
            view: view.clone(),
        };
        let phase = match glance {
            Glance { inside: true, .. } => Phase::Inside,
            Glance { waiting: true, .. } => Phase::Waiting,
            _ => Phase::Idle,
        };
        let set = known.state.iter().enumerate();
        let set: Vec<_> = set.map(|(place, (_, value))| (place, value)).collect();
        json!({"time_ns": self.told_ns, "node": node, "what": "skipped", "phase": phase, "set": set, "view": view})
    }

    /// Too much for a person to see: the page is told only what every member is like after it, and how much
    /// was left out.
    fn thin(&mut self, glances: &[(NodeId, Glance)], left_out: u64, told: &mut Told) {
        let held = std::mem::take(&mut self.held);
        let (events, faults): (Vec<_>, Vec<_>) = held
            .into_iter()
            .partition(|held| matches!(held.what, Heard::Event(..)));
        self.held = faults;
        // The new watch does not know which members are inside now.
        let plan = &self.script.resolved().plan;
        self.watch = Watch::new((plan.info().more.admits)(&plan.params));
        let looked_ns = glances.iter().map(|(_, glance)| glance.now_ns).max();
        self.tell_until(looked_ns.unwrap_or(self.now_ns), told);
        let skipped = left_out + events.len() as u64;
        let told_ns = self.told_ns;
        told.moments
            .push(json!({"time_ns": told_ns, "what": "skipped", "count": skipped}));
        for (node, glance) in glances {
            let moment = self.snapshot(*node, glance);
            told.moments.push(moment);
        }
        let told = std::mem::take(told);
        self.tell(&told, skipped);
    }

    fn tell(&mut self, told: &Told, skipped: u64) {
        self.desk.tell(&json!({
            "moments": told.moments,
            "violations": told.violations,
            "skipped": skipped,
            "now_ns": self.now_ns,
            "pace": 1.0,
            "stands": self.stands,
            "stretch": self.stretch,
        }));
    }
}

impl Person for Onlooker {
    fn turn(&mut self, now_ns: u64) -> Vec<live::Act> {
        self.now_ns = now_ns;
        let mut done = Vec::new();
        let acts: Vec<_> = self.acts.try_iter().collect();
        // No two faults of the same words have the same moment.
        for (at_ns, act) in (now_ns..).zip(acts) {
            self.is_quiet = false;
            match self.do_act(at_ns, act) {
                Ok(acts) => done.extend(acts),
                Err(why) => self.desk.tell(&json!({"refused": why})),
            }
            self.tell(&Told::default(), 0);
        }
        done
    }

    fn most_events(&self) -> u32 {
        self.most
    }

    fn saw(&mut self, glances: Vec<(NodeId, Glance)>) {
        let until_ns = glances.iter().map(|(_, glance)| glance.now_ns).min();
        // Nobody can answer, so nothing is heard that was before.
        let until_ns = until_ns.unwrap_or(self.now_ns);
        let left_out: u64 = glances.iter().map(|(_, glance)| glance.left_out).sum();
        let heard: usize = glances.iter().map(|(_, glance)| glance.events.len()).sum();
        let happened = left_out + heard as u64;
        self.most = match happened > MOST_AT_ONCE as u64 {
            true => 0,
            false => MOST_AT_ONCE as u32,
        };
        let mut told = Told::default();
        if left_out > 0 || heard > MOST_AT_ONCE {
            self.thin(&glances, happened, &mut told);
            return;
        }
        let mut glances = glances;
        for (node, glance) in &mut glances {
            let events = std::mem::take(&mut glance.events).into_iter();
            self.held.extend(events.map(|event| Held {
                at_ns: event.at_ns,
                what: Heard::Event(*node, Box::new(event)),
            }));
        }
        let too_late = self.tell_until(until_ns, &mut told);
        if too_late > 0 {
            self.thin(&glances, too_late, &mut told);
        } else if !told.moments.is_empty() {
            self.tell(&told, 0);
        }
    }

    fn struck(&mut self, now_ns: u64, step: &Step, victim: NodeId) {
        let word = step.name.split(' ').next().unwrap_or_default();
        match word {
            "kill" | "restart" => {
                self.dead.insert(victim);
                self.paused.remove(&victim);
            }
            "pause" if step.over_ns(now_ns).is_none() => {
                self.paused.insert(victim);
            }
            "resume" => {
                self.paused.remove(&victim);
            }
            _ => {}
        }
        let moments = self.bands.begin(now_ns, &format!("{word} {victim}"), None);
        self.hold_faults(moments);
    }

    fn at_rest(&mut self) {
        if !std::mem::replace(&mut self.is_quiet, true) {
            self.desk.tell(&json!({"status": "quiet"}));
        }
    }
}
