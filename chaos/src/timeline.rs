//! Faults with nothing left to decide: what happens when, in order.
//!
//! Faults as they are written leave things open: which edges are the four random ones, what `halves`
//! means for nine members, what stands in a file. A timeline has all that settled, so it can be
//! printed, stored and run again. Left open is only what the run itself decides: when an event
//! happens, and who is then the holder.

mod resolve;
mod saved_action;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::churn::Churn;
use crate::draw::Draw;
use crate::fate::Member;
use crate::fault::{AnyFault, Cut, InFlight};
use crate::language::{FaultSpec, MessageFault, Trigger, Who};
use crate::network::Network;
use crate::partition::isolate;
use crate::process_fault::ProcessEffect;
use crate::reach::Reach;
use crate::rule::{Count, Rule};
use crate::time_window::TimeWindow;

pub use resolve::Group;
use saved_action::SavedAction;

/// All faults of a run, in the order they begin; those that wait for an event come last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The seed of all random draws.
    pub seed: u64,
    /// How many members there are.
    pub nodes: u32,
    /// The faults, one step each.
    pub steps: Vec<Step>,
}

/// One fault with nothing left to decide but what the run decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// As it was written, in the canonical way.
    pub text: String,
    /// The word that its draws are made from: it depends on the text, and on how many steps before
    /// it have the same text.
    pub identity: u64,
    /// What it is, without when and where: `loss 30%`, `partition halves`.
    pub name: String,
    /// When the fault happens.
    pub begin: Begin,
    /// What the fault does.
    pub action: FaultAction,
}

/// When a step happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begin {
    /// It happens at known times.
    At(TimeWindow),
    /// It happens once, when an event occurs.
    When {
        /// The event that it waits for.
        event: Trigger,
        /// How long the fault lasts after the event.
        for_ns: Option<u64>,
        /// When the fault is over at the latest.
        until_ns: Option<u64>,
    },
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedAction", into = "SavedAction")]
pub enum FaultAction {
    /// Links misbehave, in one or more ways.
    Links(Vec<BadLinks>),
    /// A member that has yet to be found is cut off from all others.
    Isolate(Who, InFlight),
    /// Cuts of these links end.
    Heal(Reach),
    /// Something is done to the process of a member.
    Process(Who, ProcessEffect),
    /// One message of the algorithm meets with something, above the transport.
    Message(MessageFault),
}

impl FaultAction {
    /// Whether it changes what links do.
    pub fn is_about_links(&self) -> bool {
        match self {
            FaultAction::Links(_) | FaultAction::Isolate(..) | FaultAction::Heal(_) => true,
            FaultAction::Process(..) | FaultAction::Message(_) => false,
        }
    }

    /// The member that it is about, if it is about one that has yet to be found or struck.
    pub fn who(&self) -> Option<Who> {
        match self {
            FaultAction::Process(who, _) | FaultAction::Isolate(who, _) => Some(*who),
            FaultAction::Links(_) | FaultAction::Heal(_) | FaultAction::Message(_) => None,
        }
    }

    fn harms(&self) -> bool {
        match self {
            FaultAction::Links(bad) => bad.iter().any(|bad| bad.fault.harms()),
            FaultAction::Isolate(..) => true,
            FaultAction::Heal(_) | FaultAction::Process(..) | FaultAction::Message(_) => false,
        }
    }
}

/// A way in which links are bad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BadLinks {
    /// What the links do to packets.
    pub fault: AnyFault,
    /// The links that the fault is on.
    pub reach: Reach,
    /// How the fault comes and goes on each link, if it does.
    pub churn: Option<Churn>,
}

/// What a step did to datagrams; if somebody has to be found each time it begins, what it did to one
/// of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFaultOutcome {
    /// The place of the step in the timeline; none asked for what a proxy drops that has no room for
    /// what is under way.
    pub step: Option<usize>,
    /// How often the step had been put in force before, for other members.
    pub turn: usize,
    /// When it began, or was to begin; if it begins again and again by itself, the first time.
    pub from_ns: u64,
    /// The links that it was on.
    pub reach: Reach,
    /// When it was over for good, if it was.
    pub until_ns: Option<u64>,
    /// How many datagrams it saw, and to how many it made a difference.
    pub count: Count,
}

impl Timeline {
    /// A network that does by itself all steps that need nobody to be found and no event to happen;
    /// see [`Step::runs_itself`].
    pub fn network(&self) -> Network {
        let mut network = Network::new(self.seed, self.nodes);
        for (number, step) in self.steps.iter().enumerate() {
            if step.runs_itself() {
                step.begin_from(0, Some(number), (self.nodes, None), &mut network);
            }
        }
        network
    }

    /// Puts a step about links that waited for an event, or for somebody to be found, in force from
    /// now on. A step with `every` is put in force each time, and then no longer concerns the member
    /// that it concerned before.
    ///
    /// # Panics
    /// If the step is not about links, or somebody is to be isolated and `who` does not say who.
    pub fn enact(&self, step: usize, now_ns: u64, who: Option<Member>, network: &mut Network) {
        let window = TimeWindow {
            from_ns: now_ns,
            length_ns: None,
            every_ns: None,
            until_ns: self.steps[step].over_ns(now_ns),
        };
        let among = (self.nodes, who);
        self.steps[step].put_in_force(Some(step), window, among, now_ns, network);
    }

    /// The member that `random` means, among these, the n-th time the step happens.
    ///
    /// # Panics
    /// If `among` is empty.
    pub fn random(&self, step: usize, nth: u64, among: &[Member]) -> Member {
        self.steps[step].random(self.seed, nth, among)
    }

    /// Whether some datagram could get lost, damaged or doubled on its way, so that members need a
    /// transport that repairs such things.
    pub fn harms(&self) -> bool {
        self.steps.iter().any(|step| step.action.harms())
    }

    /// Until when some datagram could: the end of time where that is not known, and `None` where none
    /// ever could.
    pub fn harms_until_ns(&self) -> Option<u64> {
        let harmful = self.steps.iter().filter(|step| step.action.harms());
        let ends = harmful.map(|step| match &step.begin {
            Begin::At(window) => window.over_ns(),
            Begin::When { until_ns, .. } => until_ns.unwrap_or(u64::MAX),
        });
        ends.max()
    }

    /// The last moment at which a step is known to begin or to be over; of one that does so again and
    /// again, the first time.
    pub fn last_change_ns(&self) -> u64 {
        let changes = self.steps.iter().filter_map(|step| match &step.begin {
            Begin::At(window) => Some(match window.over_ns() {
                u64::MAX => window.from_ns,
                over_ns => over_ns,
            }),
            Begin::When { .. } => None,
        });
        changes.max().unwrap_or(0)
    }

    /// What each step about links did until the run ended, in the order they began. A step that was
    /// put in force several times is told each time it did something; if it never did, once.
    pub fn report(&self, network: &Network, ended_ns: u64) -> Vec<LinkFaultOutcome> {
        // The parts of a step are put in force together.
        let mut by_turn: BTreeMap<(usize, usize), LinkFaultOutcome> = BTreeMap::new();
        for place in 0..network.places_of_rules() {
            let turns = network.turns(place, ended_ns).enumerate();
            for (nth, (rule, until_ns, count)) in turns {
                let Some(step) = rule.step else { continue };
                let outcome = by_turn
                    .entry((step, nth))
                    .or_insert_with(|| LinkFaultOutcome {
                        step: Some(step),
                        turn: nth,
                        from_ns: rule.window.from_ns,
                        reach: rule.reach.clone(),
                        until_ns,
                        count: Count::default(),
                    });
                outcome.count += count;
            }
        }
        told_once(by_turn)
    }
}

/// Outcomes by step and turn, as a report tells them.
fn told_once(mut by_turn: BTreeMap<(usize, usize), LinkFaultOutcome>) -> Vec<LinkFaultOutcome> {
    let acted = by_turn
        .iter()
        .filter(|(_, outcome)| outcome.count.acted > 0);
    let acted = acted.map(|((step, _), _)| *step).collect::<BTreeSet<_>>();
    by_turn.retain(|(step, nth), outcome| match acted.contains(step) {
        true => outcome.count.acted > 0,
        false => *nth == 0,
    });
    let mut report = by_turn.into_values().collect::<Vec<_>>();
    report.sort_by_key(|outcome| outcome.from_ns);
    report
}

impl LinkFaultOutcome {
    /// What the same timeline did at several proxies, each of which carried links of its own.
    pub fn together(reports: impl IntoIterator<Item = Vec<Self>>) -> Vec<Self> {
        let mut by_turn = BTreeMap::<(usize, usize), Self>::new();
        let mut unasked = Vec::new();
        for outcome in reports.into_iter().flatten() {
            let Some(step) = outcome.step else {
                unasked.push(outcome);
                continue;
            };
            match by_turn.get_mut(&(step, outcome.turn)) {
                None => drop(by_turn.insert((step, outcome.turn), outcome)),
                Some(sum) => {
                    sum.count += outcome.count;
                    sum.from_ns = sum.from_ns.min(outcome.from_ns);
                    sum.until_ns = sum.until_ns.max(outcome.until_ns);
                }
            }
        }
        let mut report = told_once(by_turn);
        report.append(&mut unasked);
        report
    }
}

/// What a step has put on the network: what may be taken away again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enacted {
    /// The numbers of the rules that stand for the step.
    pub rules: Vec<usize>,
    /// The number of its healing, if it heals.
    pub healing: Option<u64>,
}

impl Step {
    /// The fault that the step came from, as a value.
    ///
    /// # Panics
    /// If the text was written by hand, and not by the fault that settled as this step.
    pub fn spec(&self) -> FaultSpec {
        self.text.parse().expect("a step has the text of its fault")
    }

    /// Puts a step about links in force with its times counted from that moment, which is what a person
    /// means who asks for it in the middle of a run. `among` is how many members there are, and the one
    /// that it isolates; `number` is its place in a timeline, if it has one.
    ///
    /// # Panics
    /// As [`Timeline::enact`], or if the step waits for an event.
    pub(crate) fn begin_from(
        &self,
        now_ns: u64,
        number: Option<usize>,
        among: (u32, Option<Member>),
        network: &mut Network,
    ) -> Enacted {
        let Begin::At(window) = &self.begin else {
            unreachable!("'{}' waits for an event", self.text);
        };
        let window = TimeWindow {
            from_ns: now_ns.saturating_add(window.from_ns),
            until_ns: window.until_ns.map(|ns| now_ns.saturating_add(ns)),
            ..*window
        };
        self.put_in_force(number, window, among, now_ns, network)
    }

    /// The member that `random` means, among these, the n-th time the step happens.
    ///
    /// # Panics
    /// If `among` is empty.
    pub fn random(&self, seed: u64, nth: u64, among: &[Member]) -> Member {
        let mut draw = Draw::new([seed, self.identity, nth]);
        among[draw.below(among.len() as u64) as usize]
    }

    fn put_in_force(
        &self,
        number: Option<usize>,
        window: TimeWindow,
        (nodes, who): (u32, Option<Member>),
        now_ns: u64,
        network: &mut Network,
    ) -> Enacted {
        let mut enacted = Enacted::default();
        let bad = match &self.action {
            FaultAction::Links(bad) => bad.clone(),
            FaultAction::Isolate(_, in_flight) => {
                let member = who.expect("somebody is isolated");
                vec![BadLinks::cut(isolate(member, nodes), *in_flight)]
            }
            FaultAction::Heal(reach) => {
                enacted.healing = Some(network.heal(window, reach.clone()));
                return enacted;
            }
            FaultAction::Process(..) | FaultAction::Message(_) => {
                unreachable!("'{}' is not about links", self.text)
            }
        };
        // What it did to others, or at other times, is over.
        let earlier = number.map_or_else(Vec::new, |number| network.places_of(number));
        let mut earlier = earlier.into_iter();
        for (part, bad) in bad.into_iter().enumerate() {
            let rule = Rule {
                identity: match part {
                    0 => self.identity,
                    _ => Draw::new([self.identity, part as u64]).bits(),
                },
                fault: bad.fault,
                reach: bad.reach,
                window,
                step: number,
                churn: bad.churn,
            };
            match earlier.next() {
                Some(place) => {
                    network.replace(place, rule, now_ns);
                    enacted.rules.push(place);
                }
                None => enacted.rules.push(network.add(rule)),
            }
        }
        enacted
    }

    /// Whether the network can do it without help: it is about links, and everything is known.
    pub fn runs_itself(&self) -> bool {
        matches!(
            (&self.begin, &self.action),
            (Begin::At(_), FaultAction::Links(_) | FaultAction::Heal(_))
        )
    }

    /// When it is over, if it comes into force at this moment; `None` if it lasts.
    pub fn over_ns(&self, now_ns: u64) -> Option<u64> {
        let (for_ns, until_ns) = match &self.begin {
            Begin::At(window) => (window.length_ns, window.until_ns),
            Begin::When {
                for_ns, until_ns, ..
            } => (*for_ns, *until_ns),
        };
        let after_ns = for_ns.map(|for_ns| now_ns.saturating_add(for_ns));
        after_ns.into_iter().chain(until_ns).min()
    }
}

impl BadLinks {
    pub(crate) fn cut(reach: Reach, in_flight: InFlight) -> Self {
        Self {
            fault: AnyFault::Cut(Cut { in_flight }),
            reach,
            churn: None,
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.steps.iter().map(|step| {
            let decided = match &step.action {
                FaultAction::Links(bad) => bad.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            };
            // What stands in the text word for word is not printed twice.
            let news = decided
                .into_iter()
                .filter(|part: &String| !step.text.contains(part));
            (step.begin.to_string(), &step.text, news)
        });
        let rows = rows.collect::<Vec<_>>();
        let width = rows.iter().map(|(begin, ..)| begin.chars().count()).max();
        let width = width.unwrap_or(0);
        for (begin, text, news) in rows {
            writeln!(f, "{begin:width$}  {text}")?;
            for part in news {
                writeln!(f, "{:width$}    {part}", "")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Begin::At(window) => window.fmt(f),
            Begin::When { event, .. } => write!(f, "when {event}"),
        }
    }
}

impl fmt::Display for BadLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, in_flight) = match (&self.fault, &self.churn) {
            (AnyFault::Cut(cut), None) => ("cut", cut.in_flight),
            (AnyFault::Cut(cut), Some(_)) => ("churn", cut.in_flight),
            (fault, _) => return write!(f, "{fault} on {}", self.reach),
        };
        write!(f, "{verb} {}", self.reach)?;
        if let Some(churn) = self.churn {
            write!(f, " {churn}")?;
        }
        match in_flight {
            InFlight::Drop => Ok(()),
            InFlight::Hold | InFlight::Deliver => write!(f, " {in_flight}"),
        }
    }
}
