//! All links of a group, and the rules that make them bad.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::churn::link_word;
use crate::delay::Delay;
use crate::fate::{Fate, Member};
use crate::fault::{AnyFault, InFlight, Late};
use crate::link::{Arrival, Link};
use crate::reach::Reach;
use crate::rule::{Count, Posted, Rule, Turn};
use crate::time_window::TimeWindow;

/// The network between the members: it decides what happens to each datagram, and carries none.
///
/// Time does not run backwards on a link. A rule's window may lie in the past, the present or the
/// future; nobody has to tell the network that time has passed.
#[derive(Clone, Debug)]
pub struct Network {
    seed: u64,
    /// In their places; the place of one that was forgotten is empty until another gets it.
    rules: Vec<Option<Arc<Posted>>>,
    /// How many packets each of the rules saw and changed.
    counts: Vec<Count>,
    /// What stood in the place of one of them before, the first first.
    earlier: BTreeMap<usize, Vec<Turn>>,
    /// When which cuts are healed: at the beginning of each stretch.
    heals: BTreeMap<u64, (TimeWindow, Reach)>,
    /// How many healings there ever were.
    ever_healed: u64,
    /// Whether some rule cares about datagrams under way.
    watches_arrivals: bool,
    /// Goes up with every change of the rules; a link whose edition is older restacks when used.
    edition: u64,
    links: Vec<Link>,
    places: Places,
}

/// Where each link stands among those that have been used.
#[derive(Clone, Debug)]
enum Places {
    /// A table of all pairs, for groups small enough: its reading is half the cost of a packet.
    Table { nodes: u32, places: Vec<u32> },
    /// A map from the word of a link to its place.
    Map(FxHashMap<u64, u32>),
}

/// Sets the delay that links have by themselves apart from all faults.
const DELAY: u64 = 0x0064_656c_6179;

impl Network {
    /// A network without faults, for a group of this size.
    pub fn new(seed: u64, nodes: u32) -> Self {
        Self {
            seed,
            rules: Vec::new(),
            counts: Vec::new(),
            earlier: BTreeMap::new(),
            heals: BTreeMap::new(),
            ever_healed: 0,
            watches_arrivals: false,
            edition: 0,
            links: Vec::new(),
            places: Places::new(nodes),
        }
    }

    /// The same, but its links take that long by themselves, each datagram for itself.
    pub fn taking(mut self, delay: Delay) -> Self {
        if delay != Delay::NONE {
            self.add(Rule {
                identity: DELAY,
                fault: AnyFault::Late(Late::plain(delay)),
                reach: Reach::All,
                window: TimeWindow::ALWAYS,
                step: None,
                churn: None,
            });
        }
        self
    }

    /// What happens to a datagram that is sent now.
    pub fn fate(&mut self, now_ns: u64, from: Member, to: Member, size: u32) -> Fate {
        let link = self.link(from, to);
        self.links[link].carry(now_ns, size, &mut self.counts)
    }

    /// What becomes of a datagram that was sent then and would arrive now.
    pub fn arrive(&mut self, now_ns: u64, from: Member, to: Member, sent_ns: u64) -> Arrival {
        if !self.watches_arrivals {
            return Arrival::Deliver;
        }
        let link = self.link(from, to);
        let arrival = self.links[link].arrive(now_ns, sent_ns);
        if let Arrival::Drop(Some(rule)) = arrival {
            *self.count_of_cut(rule, (from, to), sent_ns) += Count { seen: 1, acted: 1 };
        }
        arrival
    }

    /// Adds a rule, and says its number.
    pub fn add(&mut self, rule: Rule) -> usize {
        let posted = Posted::new(rule);
        self.watches_arrivals |= match posted.cut {
            Some(InFlight::Drop | InFlight::Hold) => true,
            Some(InFlight::Deliver) | None => false,
        };
        let posted = Some(Arc::new(posted));
        self.edition += 1;
        if let Some(number) = self.rules.iter().position(Option::is_none) {
            self.rules[number] = posted;
            return number;
        }
        self.rules.push(posted);
        self.counts.push(Count::default());
        self.rules.len() - 1
    }

    /// Takes a rule out for good, and says what it did. What it cut under way stays cut. Its number
    /// is that of a later rule.
    pub fn forget(&mut self, number: usize, now_ns: u64) -> Count {
        self.end(number, now_ns);
        for link in &mut self.links {
            link.take_over(self.edition, self.seed, &self.rules, &self.heals);
            link.forget(number, now_ns);
        }
        let count = self.count(number);
        self.rules[number] = None;
        self.counts[number] = Count::default();
        self.earlier.remove(&number);
        self.edition += 1;
        count
    }

    /// Puts a rule now in the place of an earlier one, which ends with that. What it did stays
    /// counted, as its own, and what it cut under way stays cut.
    pub(crate) fn replace(&mut self, number: usize, rule: Rule, now_ns: u64) {
        let Some(before) = self.rules[number].clone() else {
            return;
        };
        if before.cut == Some(InFlight::Drop) {
            for link in &mut self.links {
                link.remember_cut(number, &before.rule);
            }
        }
        self.earlier.entry(number).or_default().push(Turn {
            rule: before.rule.clone(),
            gone_ns: now_ns,
            count: std::mem::take(&mut self.counts[number]),
        });
        self.rules[number] = Some(Arc::new(Posted::new(rule)));
        self.edition += 1;
    }

    /// Ends a rule now, if it is not over.
    pub fn end(&mut self, rule: usize, now_ns: u64) {
        if let Some(posted) = &mut self.rules[rule] {
            Arc::make_mut(posted).rule.window.end(now_ns);
            self.edition += 1;
        }
    }

    /// Ends, at the beginning of each stretch of the window, every cut of these links that is then
    /// in force. Its number says which healing that is.
    pub fn heal(&mut self, window: TimeWindow, reach: Reach) -> u64 {
        self.ever_healed += 1;
        self.heals.insert(self.ever_healed, (window, reach));
        self.edition += 1;
        self.ever_healed
    }

    /// Has no more cuts healed by that healing from now on.
    pub fn end_healing(&mut self, number: u64, now_ns: u64) {
        if let Some((window, _)) = self.heals.get_mut(&number) {
            window.end(now_ns);
            self.edition += 1;
        }
    }

    /// Whether the healing of that number will heal nothing more.
    pub fn healing_is_over(&self, number: u64, now_ns: u64) -> bool {
        let window = self.heals.get(&number).map(|(window, _)| window);
        window.is_none_or(|window| window.next_beginning_ns(now_ns).is_none())
    }

    /// Forgets healings that are over, and make no difference to any cut that is left.
    pub fn forget_healings(&mut self, now_ns: u64) {
        let cuts = self.rules.iter().flatten();
        let cuts = cuts.filter(|posted| posted.cut.is_some());
        let began = cuts.filter_map(|posted| posted.rule.window.latest(now_ns));
        let first_ns = began.min().unwrap_or(u64::MAX);
        let mut later: Vec<(Reach, Option<u64>)> = Vec::new();
        let before = self.heals.len();
        let mut needed = BTreeMap::new();
        // Of several on the same links the last does what all did.
        for (number, (window, reach)) in std::mem::take(&mut self.heals).into_iter().rev() {
            let last_ns = window.latest(now_ns);
            let to_come = window.next_beginning_ns(now_ns).is_some();
            let undone = later
                .iter()
                .any(|(links, ns)| *links == reach && *ns >= last_ns);
            if to_come || last_ns > Some(first_ns) && !undone {
                later.push((reach.clone(), last_ns));
                needed.insert(number, (window, reach));
            }
        }
        self.heals = needed;
        self.edition += u64::from(self.heals.len() < before);
    }

    /// How many healings are not forgotten.
    pub fn healings(&self) -> usize {
        self.heals.len()
    }

    /// Whether a rule is in force at this moment, where it was not healed. One that comes and goes
    /// edge by edge is.
    pub fn is_in_force(&self, number: usize, now_ns: u64) -> bool {
        self.rule(number).is_some_and(|rule| {
            rule.window.current(now_ns).is_some() && self.healed_ns(rule, now_ns).is_none()
        })
    }

    /// Steps of a timeline of which a rule is in force at this moment.
    pub fn steps_in_force(&self, now_ns: u64) -> BTreeSet<usize> {
        let places = 0..self.places_of_rules();
        let in_force = places.filter(|number| self.is_in_force(*number, now_ns));
        in_force.filter_map(|number| self.step_of(number)).collect()
    }

    /// The step of a timeline that a rule belongs to, if it belongs to one.
    pub fn step_of(&self, number: usize) -> Option<usize> {
        self.rule(number)?.step
    }

    /// The first moment after this one at which a rule comes into force, is over or is healed.
    pub fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        let rules = self.rules.iter().flatten();
        let rules = rules.filter_map(|posted| posted.rule.window.next_change_ns(now_ns));
        let heals = self.heals.values();
        let heals = heals.filter_map(|(window, _)| window.next_beginning_ns(now_ns));
        rules.chain(heals).min()
    }

    /// Whether a rule will never be in force again.
    pub fn is_over(&self, number: usize, now_ns: u64) -> bool {
        self.rule(number).is_none_or(|rule| {
            let for_good = rule.window.every_ns.is_none();
            rule.window.over_ns() <= now_ns || for_good && self.healed_ns(rule, now_ns).is_some()
        })
    }

    /// Where the rules of a step stand.
    pub(crate) fn places_of(&self, step: usize) -> Vec<usize> {
        let rules = self.rules.iter().enumerate();
        let ours = rules.filter(|(_, posted)| {
            let rule = posted.as_ref().map(|posted| &posted.rule);
            rule.is_some_and(|rule| rule.step == Some(step))
        });
        ours.map(|(number, _)| number).collect()
    }

    /// Each rule that stood in this place until now, the first first: when it was over, if it was,
    /// and what it did.
    pub(crate) fn turns(
        &self,
        number: usize,
        now_ns: u64,
    ) -> impl Iterator<Item = (&Rule, Option<u64>, Count)> {
        let earlier = self.earlier_in(number).iter().map(|turn| {
            let over_ns = self.over_ns(&turn.rule, turn.gone_ns);
            let over_ns = over_ns.or(Some(turn.gone_ns));
            (&turn.rule, over_ns, turn.count)
        });
        let last = self.rule(number);
        let last = last.map(|rule| (rule, self.over_ns(rule, now_ns), self.counts[number]));
        earlier.chain(last)
    }

    /// When a rule was over, if it was by now.
    fn over_ns(&self, rule: &Rule, now_ns: u64) -> Option<u64> {
        let over_ns = Some(rule.window.over_ns()).filter(|over_ns| *over_ns <= now_ns);
        let healed_ns = self.healed_ns(rule, now_ns);
        over_ns.into_iter().chain(healed_ns).min()
    }

    /// When a cut that is in force at this moment, or was last, was healed on all its links.
    fn healed_ns(&self, rule: &Rule, now_ns: u64) -> Option<u64> {
        let began_ns = rule.window.latest(now_ns)?;
        let heals = self.heals.values();
        let whole = heals.filter(|(_, reach)| *reach == Reach::All || *reach == rule.reach);
        let after = whole.filter_map(|(window, _)| window.next_beginning_ns(began_ns));
        let after = after.filter(|heal_ns| *heal_ns <= now_ns);
        match (&rule.fault, rule.churn) {
            (AnyFault::Cut(_), None) => after.min(),
            // Only cuts are healed, and churn cuts again.
            _ => None,
        }
    }

    /// The rules in their places, and what each did, with those before it in its place.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, Count)> {
        let places = 0..self.places_of_rules();
        places.filter_map(|number| Some((self.rule(number)?, self.count(number))))
    }

    /// How many places for rules there are.
    pub(crate) fn places_of_rules(&self) -> usize {
        self.rules.len()
    }

    /// What the rules in this place did.
    pub fn count(&self, number: usize) -> Count {
        let mut count = self.counts[number];
        for turn in self.earlier_in(number) {
            count += turn.count;
        }
        count
    }

    /// The rules on a link, in the order in which they see a packet.
    pub fn stack(&mut self, from: Member, to: Member) -> impl Iterator<Item = &Rule> {
        let link = self.link(from, to);
        let rules = self.links[link].rules();
        rules.filter_map(|number| self.rule(number))
    }

    /// Whether a message on this link could, at some time, get lost, damaged or doubled.
    pub fn harms(&self, from: Member, to: Member) -> bool {
        let mut rules = self.rules.iter().flatten().map(|posted| &posted.rule);
        rules.any(|rule| rule.fault.harms() && rule.reach.covers(from, to))
    }

    fn rule(&self, number: usize) -> Option<&Rule> {
        Some(&self.rules.get(number)?.as_ref()?.rule)
    }

    fn earlier_in(&self, number: usize) -> &[Turn] {
        self.earlier.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Where it counts that something was cut which was sent then: with the first that did, of those
    /// that have stood in this place.
    fn count_of_cut(
        &mut self,
        number: usize,
        (from, to): (Member, Member),
        sent_ns: u64,
    ) -> &mut Count {
        let earlier = self.earlier.get_mut(&number).map_or(&mut [][..], |all| all);
        let later = earlier.iter_mut().rev();
        let later = later.take_while(|turn| turn.rule.window.from_ns > sent_ns);
        let cut = later.filter(|turn| turn.rule.reach.covers(from, to));
        match cut.last() {
            Some(turn) => &mut turn.count,
            None => &mut self.counts[number],
        }
    }

    /// Where the link stands, stacked after the latest edition of the rules.
    fn link(&mut self, from: Member, to: Member) -> usize {
        let next = self.links.len() as u32;
        let place = self.places.of(from, to, next);
        if place == next {
            self.links.push(Link::new(from, to));
        }
        let link = &mut self.links[place as usize];
        link.take_over(self.edition, self.seed, &self.rules, &self.heals);
        place as usize
    }
}

impl Places {
    fn new(nodes: u32) -> Self {
        if nodes <= LARGEST_TABLE {
            Places::Table {
                nodes,
                places: vec![NOWHERE; nodes as usize * nodes as usize],
            }
        } else {
            Places::Map(FxHashMap::default())
        }
    }

    /// Where the link stands; `next` from now on if it has no place yet.
    fn of(&mut self, from: Member, to: Member, next: u32) -> u32 {
        match self {
            Places::Table { nodes, places } => {
                assert!(
                    from < *nodes && to < *nodes,
                    "{from}->{to} is outside the group"
                );
                let place = &mut places[from as usize * *nodes as usize + to as usize];
                if *place == NOWHERE {
                    *place = next;
                }
                *place
            }
            Places::Map(places) => *places.entry(link_word(from, to)).or_insert(next),
        }
    }
}

/// A table for this many members takes 4 MiB.
const LARGEST_TABLE: u32 = 1024;
const NOWHERE: u32 = u32::MAX;
