//! All links of a group, and the rules that make them bad.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::churn::link_word;
use crate::delay::Delay;
use crate::fate::{Fate, Member};
use crate::fault::{AnyFault, InFlight, Late};
use crate::link::{Arrival, Link};
use crate::reach::Reach;
use crate::rule::{Count, Posted, Rule};
use crate::window::Window;

/// The network between the members: it decides what happens to each datagram, and carries none.
///
/// Time does not run backwards on a link. A rule's window may lie in the past, the present or the
/// future; nobody has to tell the network that time has passed.
#[derive(Clone, Debug)]
pub struct Network {
    seed: u64,
    rules: Vec<Arc<Posted>>,
    counts: Vec<Count>,
    /// When which cuts are healed: at the beginning of each stretch.
    heals: Vec<(Window, Reach)>,
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
    /// By the link's word.
    Map(FxHashMap<u64, u32>),
}

/// Sets the delay that links have by themselves apart from all faults.
const DELAY: u64 = 0x0064_656c_6179;

impl Network {
    /// One without faults, for a group of this size.
    pub fn new(seed: u64, nodes: u32) -> Self {
        Self {
            seed,
            rules: Vec::new(),
            counts: Vec::new(),
            heals: Vec::new(),
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
                window: Window::ALWAYS,
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
        if let Arrival::Drop(rule) = arrival {
            self.counts[rule].seen += 1;
            self.counts[rule].acted += 1;
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
        self.rules.push(Arc::new(posted));
        self.counts.push(Count::default());
        self.edition += 1;
        self.rules.len() - 1
    }

    /// Puts a rule in the place of an earlier one, which ends with that. What it did stays counted,
    /// and what it cut under way stays cut.
    pub(crate) fn replace(&mut self, number: usize, rule: Rule) {
        let before = Arc::clone(&self.rules[number]);
        if before.cut == Some(InFlight::Drop) {
            for link in &mut self.links {
                link.remember_cut(number, &before.rule);
            }
        }
        self.rules[number] = Arc::new(Posted {
            first_ns: before.first_ns,
            ..Posted::new(rule)
        });
        self.edition += 1;
    }

    /// When a rule began, or the first that stood in its place.
    pub(crate) fn first_ns(&self, number: usize) -> u64 {
        self.rules[number].first_ns
    }

    /// Ends a rule now, if it is not over.
    pub fn end(&mut self, rule: usize, now_ns: u64) {
        let window = &mut Arc::make_mut(&mut self.rules[rule]).rule.window;
        window.until_ns = Some(
            window
                .until_ns
                .map_or(now_ns, |until_ns| until_ns.min(now_ns)),
        );
        self.edition += 1;
    }

    /// Ends, at the beginning of each stretch of the window, every cut of these links that is then
    /// in force.
    pub fn heal(&mut self, window: Window, reach: Reach) {
        self.heals.push((window, reach));
        self.edition += 1;
    }

    /// When a cut that is in force at this moment, or was last, was healed on all its links.
    pub(crate) fn healed_ns(&self, rule: &Rule, now_ns: u64) -> Option<u64> {
        let began_ns = rule.window.latest(now_ns)?;
        let heals = self.heals.iter();
        let whole = heals.filter(|(_, reach)| *reach == Reach::All || *reach == rule.reach);
        let after = whole.filter_map(|(window, _)| {
            let mut beginnings = window.beginnings(now_ns);
            beginnings.find(|heal_ns| *heal_ns > began_ns)
        });
        match (&rule.fault, rule.churn) {
            (AnyFault::Cut(_), None) => after.min(),
            // Only cuts are healed, and churn cuts anew.
            _ => None,
        }
    }

    /// The rules, in the order they were added, and what each did.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&Rule, Count)> {
        let rules = self.rules.iter().map(|posted| &posted.rule);
        rules.zip(self.counts.iter().copied())
    }

    /// The rules on a link, in the order in which they see a packet.
    pub fn stack(&mut self, from: Member, to: Member) -> impl Iterator<Item = &Rule> {
        let link = self.link(from, to);
        let rules = self.links[link].rules();
        rules.map(|number| &self.rules[number].rule)
    }

    /// Whether a message on this link could, at some time, get lost, damaged or doubled.
    pub fn harms(&self, from: Member, to: Member) -> bool {
        let mut rules = self.rules.iter().map(|posted| &posted.rule);
        rules.any(|rule| rule.fault.harms() && rule.reach.covers(from, to))
    }

    /// Where the link stands, stacked after the latest edition of the rules.
    fn link(&mut self, from: Member, to: Member) -> usize {
        let next = self.links.len() as u32;
        let place = self.places.of(from, to, next);
        if place == next {
            self.links.push(Link::new(from, to));
        }
        let link = &mut self.links[place as usize];
        if link.edition != self.edition {
            link.edition = self.edition;
            link.restack(self.seed, &self.rules, &self.heals);
        }
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

/// A table for so many members takes 4 MiB.
const LARGEST_TABLE: u32 = 1024;
const NOWHERE: u32 = u32::MAX;
