//! What is wrong with the network, and how that is changed while it runs.

use std::collections::{BTreeMap, BTreeSet};

use super::control::{FaultRow, FaultState, Refusal};
use super::files::FaultFiles;
use crate::delay::Delay;
use crate::fate::Member;
use crate::language::{FaultSpec, Scope};
use crate::network::Network;
use crate::partition::Edges;
use crate::rule::Count;
use crate::timeline::{Enacted, FaultAction, Group, LinkFaultOutcome, Step, Timeline};

/// The network, and every fault that was asked for.
pub(super) struct Faults {
    pub network: Network,
    delay: Delay,
    timeline: Timeline,
    names: Vec<String>,
    files: FaultFiles,
    /// Those that were not ended by hand, by their number.
    asked: BTreeMap<u64, Asked>,
    ever: u64,
}

/// A fault that was asked for.
struct Asked {
    text: String,
    /// Its canonical text, and how many equal faults came before it: its draws are made from the two.
    canonical: (String, u64),
    heals: bool,
    /// Whether it is of the timeline, whose outcomes are asked for at the end.
    is_planned: bool,
    /// What stands for it in the network, unless it is over.
    enacted: Option<Enacted>,
    /// How many datagrams it saw and changed, once it is over.
    did: Count,
}

/// How many faults may be in force or waiting.
const MOST_FAULTS: usize = 1024;
/// How many faults that are over are still listed.
const MOST_OVER: usize = 100;

impl Faults {
    /// The faults of the timeline that do not wait for an event.
    pub(super) fn new(
        timeline: Timeline,
        delay: Delay,
        names: Vec<String>,
        files: FaultFiles,
    ) -> Self {
        let mut faults = Self {
            network: Network::new(timeline.seed, names.len() as u32).taking(delay),
            delay,
            timeline,
            names,
            files,
            asked: BTreeMap::new(),
            ever: 0,
        };
        for step in std::mem::take(&mut faults.timeline.steps) {
            faults.extend(step);
        }
        faults
    }

    /// Another step of the timeline; it begins at its time, unless it waits for something.
    pub(super) fn extend(&mut self, step: Step) {
        let number = self.timeline.steps.len();
        if step.runs_itself() {
            self.begin(&step, Some(number), (step.text.clone(), 0), 0);
        }
        self.timeline.steps.push(step);
    }

    /// Lets this be wrong from now on.
    pub(super) fn add(&mut self, text: &str, now_ns: u64) -> Result<FaultRow, Refusal> {
        self.add_with(text, now_ns, &self.files.clone())
    }

    /// The same, for one who may have these files read.
    pub(super) fn add_with(
        &mut self,
        text: &str,
        now_ns: u64,
        files: &FaultFiles,
    ) -> Result<FaultRow, Refusal> {
        self.sweep(now_ns);
        let going_on = self.asked.values().filter(|asked| asked.enacted.is_some());
        if going_on.count() >= MOST_FAULTS {
            let why = format!("there are {MOST_FAULTS} faults already; end some first");
            return Err(Refusal::Misread(why));
        }
        let (step, equals) = self.settle(text, files)?;
        let id = self.begin(&step, None, (text.to_owned(), equals), now_ns);
        Ok(self.row(id, &self.asked[&id], now_ns))
    }

    /// Puts another fault in the place of one.
    pub(super) fn change(&mut self, id: u64, text: &str, now_ns: u64) -> Result<FaultRow, Refusal> {
        if !self.asked.contains_key(&id) {
            return Err(Refusal::NoSuchFault(id));
        }
        let (step, equals) = self.settle(text, &self.files)?;
        self.remove(id, now_ns)?;
        let fresh = self.begin(&step, None, (text.to_owned(), equals), now_ns);
        if let Some(asked) = self.asked.remove(&fresh) {
            self.asked.insert(id, asked);
        }
        Ok(self.row(id, &self.asked[&id], now_ns))
    }

    /// Lets it be over, and forgets it.
    pub(super) fn remove(&mut self, id: u64, now_ns: u64) -> Result<(), Refusal> {
        let asked = self.asked.remove(&id).ok_or(Refusal::NoSuchFault(id))?;
        if let Some(enacted) = &asked.enacted {
            self.withdraw(enacted, now_ns);
        }
        self.network.forget_healings(now_ns);
        Ok(())
    }

    /// Ends all cuts, or those of some links.
    pub(super) fn heal(&mut self, links: Option<&str>, now_ns: u64) -> Result<(), Refusal> {
        let text = format!("heal {}", links.unwrap_or("all"));
        let (step, _) = self.settle(&text, &self.files)?;
        step.begin_from(now_ns, None, (self.timeline.nodes, None), &mut self.network);
        self.sweep(now_ns);
        Ok(())
    }

    /// Ends all faults and forgets all links: the next datagram of each link is its first again.
    pub(super) fn reset(&mut self) {
        self.asked.clear();
        self.network = Network::new(self.timeline.seed, self.timeline.nodes).taking(self.delay);
    }

    /// Puts a step of the timeline that waited for something in force.
    pub(super) fn enact(
        &mut self,
        step: usize,
        who: Option<Member>,
        now_ns: u64,
    ) -> Result<(), Refusal> {
        let known = self.timeline.steps.get(step);
        let about_links = known.is_some_and(|step| match &step.action {
            FaultAction::Isolate(..) => who.is_some_and(|who| who < self.timeline.nodes),
            action => action.is_about_links(),
        });
        if !about_links {
            return Err(Refusal::Misread(format!("step {step} is not about links")));
        }
        self.timeline.enact(step, now_ns, who, &mut self.network);
        Ok(())
    }

    /// Those that were not ended by hand, and what each did.
    pub(super) fn rows(&self, now_ns: u64) -> Vec<FaultRow> {
        let asked = self.asked.iter();
        asked
            .map(|(id, asked)| self.row(*id, asked, now_ns))
            .collect()
    }

    /// A step of the timeline, as it was written.
    pub(super) fn text(&self, step: usize) -> Option<&str> {
        Some(&self.timeline.steps.get(step)?.text)
    }

    /// The step of the timeline that a rule belongs to, as it was written.
    pub(super) fn text_of_rule(&self, rule: Option<usize>) -> Option<&str> {
        self.text(self.network.step_of(rule?)?)
    }

    /// What each step of the timeline did.
    pub(super) fn report(&self, now_ns: u64) -> Vec<LinkFaultOutcome> {
        self.timeline.report(&self.network, now_ns)
    }

    /// Takes what is over out of the network, so that no datagram has to pass it any more.
    pub(super) fn sweep(&mut self, now_ns: u64) {
        let network = &self.network;
        let over = |asked: &&mut Asked| match &asked.enacted {
            Some(enacted) if !asked.is_planned => {
                let mut healing = enacted.healing.iter();
                let mut rules = enacted.rules.iter();
                healing.all(|number| network.healing_is_over(*number, now_ns))
                    && rules.all(|rule| network.is_over(*rule, now_ns))
            }
            _ => false,
        };
        let over = self.asked.values_mut().filter(over);
        let over = over.filter_map(|asked| asked.enacted.take().map(|enacted| (asked, enacted)));
        for (asked, enacted) in over.collect::<Vec<_>>() {
            for rule in &enacted.rules {
                asked.did += self.network.forget(*rule, now_ns);
            }
        }
        self.network.forget_healings(now_ns);
        let over = self
            .asked
            .iter()
            .filter(|(_, asked)| asked.enacted.is_none());
        let over = over.map(|(id, _)| *id).collect::<Vec<_>>();
        for id in &over[..over.len().saturating_sub(MOST_OVER)] {
            self.asked.remove(id);
        }
    }

    /// Reads a fault, and says how many equal faults came before it.
    fn settle(&self, text: &str, files: &FaultFiles) -> Result<(Step, u64), Refusal> {
        let misread = |why: String| Refusal::Misread(why);
        let read = |file: &str| files.read(file);
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
            links_only: true,
            ..group.scope()
        };
        let spec = FaultSpec::parse(text, &scope).map_err(|error| misread(error.to_string()))?;
        let canonical = spec.to_string();
        let asked = self.asked.values().map(|asked| &asked.canonical);
        let equals = asked.filter(|(text, _)| *text == canonical);
        let taken = equals.map(|(_, nth)| *nth).collect::<BTreeSet<_>>();
        let equals = (0..).find(|nth| !taken.contains(nth)).unwrap_or_default();
        let step = group.settle(&spec, equals);
        let step = step.map_err(|error| misread(error.to_string()))?;
        let step = step.ok_or_else(|| misread(format!("'{text}' could never do anything")))?;
        Ok((step, equals))
    }

    fn begin(
        &mut self,
        step: &Step,
        number: Option<usize>,
        (text, equals): (String, u64),
        now_ns: u64,
    ) -> u64 {
        let nodes = self.timeline.nodes;
        let everyone = (0..nodes).collect::<Vec<_>>();
        let who = step.random(self.timeline.seed, 0, &everyone);
        let enacted = step.begin_from(now_ns, number, (nodes, Some(who)), &mut self.network);
        self.ever += 1;
        self.asked.insert(
            self.ever,
            Asked {
                text,
                canonical: (step.text.clone(), equals),
                heals: matches!(step.action, FaultAction::Heal(_)),
                is_planned: number.is_some(),
                enacted: Some(enacted),
                did: Count::default(),
            },
        );
        self.ever
    }

    fn withdraw(&mut self, enacted: &Enacted, now_ns: u64) {
        for rule in &enacted.rules {
            self.network.forget(*rule, now_ns);
        }
        if let Some(number) = enacted.healing {
            self.network.end_healing(number, now_ns);
        }
    }

    fn row(&self, id: u64, asked: &Asked, now_ns: u64) -> FaultRow {
        let rules = asked.enacted.iter().flat_map(|enacted| &enacted.rules);
        let mut count = asked.did;
        rules
            .clone()
            .for_each(|rule| count += self.network.count(*rule));
        let in_force = rules
            .clone()
            .any(|rule| self.network.is_in_force(*rule, now_ns));
        let over = || {
            rules
                .clone()
                .all(|rule| self.network.is_over(*rule, now_ns))
        };
        let state = match in_force {
            true => FaultState::InForce,
            false if asked.enacted.is_none() || !asked.heals && over() => FaultState::Over,
            false => FaultState::Waiting,
        };
        FaultRow {
            id,
            fault: asked.text.clone(),
            state,
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn faults() -> Faults {
        let timeline = Timeline {
            nodes: 2,
            ..Timeline::default()
        };
        let names = vec!["a".to_owned(), "b".to_owned()];
        Faults::new(timeline, Delay::NONE, names, FaultFiles::Refused)
    }

    fn add(faults: &mut Faults, text: &str, now_ns: u64) -> u64 {
        let row = faults.add(text, now_ns);
        row.unwrap_or_else(|why| panic!("{why}")).id
    }

    /// What a datagram has to pass, and what heals.
    fn left(faults: &Faults) -> (usize, usize) {
        (faults.network.rules().count(), faults.network.healings())
    }

    #[test]
    fn what_was_ended_by_hand_is_forgotten() {
        let mut faults = faults();
        for round in 0..2_000 {
            let loss = add(&mut faults, "loss 5% on a->b", round * MS);
            let heal = add(&mut faults, "every 1s heal", round * MS);
            faults.network.fate(round * MS, 0, 1, 100);
            faults.remove(loss, round * MS).unwrap();
            faults.remove(heal, round * MS).unwrap();
            assert_eq!(left(&faults), (0, 0), "round {round}");
        }
        assert!(faults.rows(0).is_empty());
    }

    #[test]
    fn what_is_over_by_itself_is_forgotten_but_listed_for_a_while() {
        let mut faults = faults();
        for round in 0..2_000 {
            let now_ns = round * 10 * MS;
            add(&mut faults, "cut a-b for 5ms", now_ns);
            assert!(faults.network.fate(now_ns, 0, 1, 100).is_lost());
            faults.heal(None, now_ns + MS).unwrap();
            faults.sweep(now_ns + 9 * MS);
            assert_eq!(left(&faults), (0, 0), "round {round}");
        }
        let rows = faults.rows(20_000 * MS);
        assert_eq!(rows.len(), MOST_OVER);
        assert!(rows.iter().all(|row| row.state == FaultState::Over));
        assert_eq!((rows[0].count.seen, rows[0].count.acted), (1, 1));
    }

    #[test]
    fn what_is_in_force_is_said() {
        let mut faults = faults();
        add(&mut faults, "every 2s for 1s loss 5%", 0);
        add(&mut faults, "at 1s cut a-b until 4s", 0);
        add(&mut faults, "partition a|b", 0);
        let mut states = |heal, now_ns| {
            if heal {
                faults.heal(None, now_ns).unwrap();
            }
            [0, 1, 2].map(|n| faults.rows(now_ns)[n].state)
        };
        use FaultState::{InForce, Over, Waiting};
        assert_eq!(states(false, 500 * MS), [Waiting, Waiting, InForce]);
        assert_eq!(states(false, 2_500 * MS), [InForce, InForce, InForce]);
        assert_eq!(states(true, 2_600 * MS), [InForce, Over, Over]);
        assert_eq!(states(false, 3_500 * MS), [Waiting, Over, Over]);
    }

    /// After a reset the same faults do the same again.
    #[test]
    fn a_reset_begins_anew() {
        let mut faults = faults();
        let mut losses = || {
            add(&mut faults, "loss 50%", 0);
            let lost = [(); 64].map(|()| faults.network.fate(0, 0, 1, 100).is_lost());
            faults.reset();
            assert_eq!(left(&faults), (0, 0));
            lost
        };
        assert_eq!(losses(), losses());
    }

    #[test]
    fn faults_of_equal_words_differ_in_what_they_draw() {
        let mut faults = faults();
        let first = add(&mut faults, "loss 50%", 0);
        add(&mut faults, "loss 50%", 0);
        let second = faults.network.rules().nth(1).unwrap().0.identity;
        faults.remove(first, 0).unwrap();
        add(&mut faults, "loss 50%", 0);
        let identities = faults.network.rules().map(|(rule, _)| rule.identity);
        let identities = identities.collect::<BTreeSet<_>>();
        assert!(identities.len() == 2 && identities.contains(&second));
    }

    #[test]
    fn there_are_no_more_faults_than_may_be() {
        let mut faults = faults();
        for _ in 0..MOST_FAULTS {
            add(&mut faults, "loss 1%", 0);
        }
        let why = faults.add("loss 1%", 0).unwrap_err().to_string();
        assert!(why.contains("1024 faults already"), "{why}");
        faults.reset();
        add(&mut faults, "loss 1%", 0);
    }
}
