//! A simulated run as it goes on under the eyes of the person.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use algorithms::NodeId;
use analysis::view::Recorder;
use model::engine::{Observer, Progress};
use model::event::{Event, What};
use serde_json::json;

use super::act::Act;
use super::clock::Clock;
use super::script::Script;
use super::server::Desk;
use super::told::{Bands, MOST_AT_ONCE, Told};
use super::{opening_page, recorder};
use crate::Failure;
use crate::scenario::Resolved;

/// How often the page is told what is new.
const TOLD_EVERY: Duration = Duration::from_millis(40);
/// A run that a person watches.
pub(super) struct Session {
    script: Script,
    desk: Arc<Desk>,
    acts: Receiver<Act>,
    clock: Clock,
    interrupted: Arc<AtomicBool>,
    /// What happened so far, as the page was told; each as a number that tells it from others.
    past: Vec<u64>,
    last_ns: u64,
    /// One event happens though time stands still.
    steps: u32,
    /// How often each node has entered, and since when it is inside.
    entries: BTreeMap<NodeId, (usize, Option<u64>)>,
    bands: Bands,
    fresh: Told,
    skipped: u64,
    told_at: Instant,
    /// The pace, and whether time stands still, as the page knows it.
    told_going: Option<(f64, bool)>,
}

/// Why the simulation was left.
enum Left {
    /// It came to its end.
    AtEnd,
    /// The person wants something that changes what comes.
    For(Act),
}

impl Session {
    pub(super) fn new(script: Script, pace: f64, interrupted: &Arc<AtomicBool>) -> Self {
        let (sender, acts) = mpsc::channel();
        let now = Instant::now();
        Self {
            script,
            desk: Arc::new(Desk::new(sender)),
            acts,
            clock: Clock::new(pace, now),
            interrupted: Arc::clone(interrupted),
            past: Vec::new(),
            last_ns: 0,
            steps: 0,
            entries: BTreeMap::new(),
            bands: Bands::default(),
            fresh: Told::default(),
            skipped: 0,
            told_at: now,
            told_going: None,
        }
    }

    /// Where the server leaves what the person wants and finds what is new.
    pub(super) fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }

    /// The page before anything has happened.
    pub(super) fn page(&self) -> String {
        opening_page(&self.script)
    }

    /// Lets the run go on until the person has finished: the scenario with all that was done.
    pub(super) fn conduct(mut self) -> Result<Resolved, Failure> {
        loop {
            let act = match self.simulate()? {
                Left::For(act) => act,
                Left::AtEnd => self.wait(None).unwrap_or(Act::Finish),
            };
            if act == Act::Finish {
                break;
            }
            if let Err(why) = self.perform(&act) {
                self.desk.tell(&json!({"refused": why}));
            }
        }
        let now_ns = self.now_ns();
        for (node, (nth, since)) in self.entries.clone() {
            // Who is inside now leaves now.
            let leaves =
                since.map(|since| self.script.leave(node, nth, now_ns.saturating_sub(since)));
            drop(leaves);
        }
        self.script.let_go();
        if self.script.is_empty() {
            return Err(Failure::Usage(
                "nobody asked, so there is no run".to_owned(),
            ));
        }
        Ok(self.script.resolved().clone())
    }

    /// Simulates from the start; what the page has seen already passes without being told again.
    fn simulate(&mut self) -> Result<Left, Failure> {
        if self.script.is_empty() {
            return Ok(Left::AtEnd);
        }
        let plan = self.script.resolved().plan.clone();
        let recorder = self.recorder();
        let mut watcher = Watcher {
            session: self,
            recorder,
            number: 0,
            left: None,
        };
        simulator::run(&plan, &mut watcher)?;
        let left = watcher.left.take();
        self.tell();
        if left.is_none() {
            self.desk.tell(&json!({"status": "quiet"}));
        }
        Ok(left.unwrap_or(Left::AtEnd))
    }

    fn recorder(&self) -> Recorder {
        recorder(self.script.resolved())
    }

    /// The moment at which an act of now happens: after everything that was told.
    fn now_ns(&self) -> u64 {
        self.clock.now_ns(Instant::now()).max(self.last_ns + 1)
    }

    /// Waits until the clock shows a time, for ever if none is given; an act that changes what comes ends it.
    fn wait(&mut self, until_ns: Option<u64>) -> Option<Act> {
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Some(Act::Finish);
            }
            let now = Instant::now();
            if self.steps > 0 && until_ns.is_some() {
                self.steps -= 1;
                self.clock.advance_to(until_ns.unwrap_or_default(), now);
                return None;
            }
            let left = until_ns.and_then(|at_ns| self.clock.until(at_ns, now));
            if left == Some(Duration::ZERO) {
                // Acts are heard even if time never has to be waited for.
                match self.acts.try_recv() {
                    Ok(act) => {
                        if let Some(act) = self.hear(act) {
                            return Some(act);
                        }
                        continue;
                    }
                    Err(_) => return None,
                }
            }
            if now.saturating_duration_since(self.told_at) >= TOLD_EVERY {
                self.tell();
            }
            let patience = left.unwrap_or(TOLD_EVERY).min(TOLD_EVERY);
            match self.acts.recv_timeout(patience) {
                Ok(act) => {
                    if let Some(act) = self.hear(act) {
                        return Some(act);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Act::Finish),
            }
        }
    }

    /// Does what concerns only the clock; returns what changes the run.
    fn hear(&mut self, act: Act) -> Option<Act> {
        let now = Instant::now();
        match act {
            Act::Stop => self.clock.change(now, |clock| clock.stands = true),
            Act::GoOn => self.clock.change(now, |clock| clock.stands = false),
            Act::Step => {
                self.clock.change(now, |clock| clock.stands = true);
                self.steps += 1;
            }
            Act::Faster { times } if times.is_finite() && times > 0.0 => {
                self.clock.change(now, |clock| clock.pace *= times);
            }
            Act::Faster { .. } => {}
            act => return Some(act),
        }
        self.tell();
        None
    }

    /// Writes an act into the scenario, and tells the page of it.
    fn perform(&mut self, act: &Act) -> Result<(), String> {
        let at_ns = self.now_ns();
        match act {
            Act::Ask { node } => self.script.ask(at_ns, NodeId(*node)),
            Act::Leave { node } => {
                let node = NodeId(*node);
                let (nth, since) = self.entries.get(&node).copied().unwrap_or_default();
                let since = since.ok_or_else(|| format!("{node} is not inside"))?;
                self.script.leave(node, nth, at_ns - since)
            }
            Act::Fault { words } => {
                let over_ns = self.script.fault(at_ns, words)?;
                self.clock.advance_to(at_ns, Instant::now());
                self.last_ns = at_ns;
                // A fault is no event of a member, so the page is told of it beside them.
                self.fresh
                    .moments
                    .extend(self.bands.begin(at_ns, words, over_ns));
                self.tell();
                Ok(())
            }
            Act::Stop | Act::GoOn | Act::Step | Act::Faster { .. } | Act::Finish => Ok(()),
        }
    }

    /// Tells the page what is new, if anything is. How time passes it works out for itself.
    fn tell(&mut self) {
        self.told_at = Instant::now();
        let going = (self.clock.pace, self.clock.stands);
        if self.fresh.moments.is_empty() && self.told_going == Some(going) {
            return;
        }
        self.told_going = Some(going);
        let fresh = std::mem::take(&mut self.fresh);
        let skipped = std::mem::take(&mut self.skipped);
        self.desk.tell(&json!({
            "moments": fresh.moments,
            "violations": fresh.violations,
            "skipped": skipped,
            "now_ns": self.clock.now_ns(self.told_at),
            "pace": self.clock.pace,
            "stands": self.clock.stands,
        }));
    }
}

/// Follows a simulation at the pace of the clock.
struct Watcher<'a> {
    session: &'a mut Session,
    recorder: Recorder,
    number: usize,
    left: Option<Left>,
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: &Event) {
        if self.left.is_some() {
            return;
        }
        self.number += 1;
        let mut hasher = DefaultHasher::new();
        event.line().hash(&mut hasher);
        let seal = hasher.finish();
        let is_past = self.number <= self.session.past.len();
        if !is_past && let Some(act) = self.session.wait(Some(event.time_ns)) {
            self.left = Some(Left::For(act));
            return;
        }
        let violations = self.recorder.recording().violations.len();
        let moment = self.recorder.take(event).map(serde_json::to_value);
        let moment = moment.and_then(Result::ok).unwrap_or_default();
        let violation = self
            .recorder
            .recording()
            .violations
            .get(violations)
            .cloned();
        self.recorder.forget_events();
        if is_past {
            // The page was told of it, unless the past has changed, which it must not.
            if self.session.past[self.number - 1] != seal {
                self.session.desk.tell(&json!({"refused": "the simulation did not repeat itself; this is a mistake in the program"}));
            }
            return;
        }
        self.session.note(
            event,
            seal,
            moment,
            violation.map(|violation| json!(violation)),
        );
        if self.session.fresh.moments.len() > MOST_AT_ONCE {
            self.thin();
        }
        if self.session.told_at.elapsed() >= TOLD_EVERY {
            self.session.tell();
        }
    }

    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        match self.left {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Watcher<'_> {
    /// Too much for a person to see: the page is told only what every member is like after it, and how much
    /// was left out.
    fn thin(&mut self) {
        let session = &mut *self.session;
        let left_out = session.fresh.moments.len();
        let time_ns = session.last_ns;
        session.skipped += left_out as u64;
        let members = self.recorder.members().iter().enumerate().map(|(node, member)| {
            let fields = member.state.iter().enumerate();
            let set: Vec<_> = fields.map(|(place, (_, value))| (place, value)).collect();
            json!({"time_ns": time_ns, "node": node, "what": "skipped", "phase": member.phase, "set": set, "view": member.view})
        });
        let mut moments: Vec<_> = members.collect();
        moments.insert(
            0,
            json!({"time_ns": time_ns, "what": "skipped", "count": left_out}),
        );
        session.fresh.moments = moments;
        session.tell();
    }
}

impl Session {
    /// Something new has happened.
    fn note(
        &mut self,
        event: &Event,
        seal: u64,
        moment: serde_json::Value,
        violation: Option<serde_json::Value>,
    ) {
        self.past.push(seal);
        self.last_ns = event.time_ns;
        self.fresh.moments.extend(self.bands.ended(event.time_ns));
        if let Some(node) = event.node {
            let (entries, since) = self.entries.entry(node).or_default();
            match event.what {
                What::Enter { .. } => {
                    *entries += 1;
                    *since = Some(event.time_ns);
                }
                What::Release => *since = None,
                _ => {}
            }
        }
        if let Some(violation) = violation {
            self.fresh
                .violations
                .push(json!({"moment": self.fresh.moments.len(), "text": violation["text"]}));
        }
        self.fresh.moments.push(moment);
    }
}
