//! All links of a group, and the rules that make them bad.

use rustc_hash::FxHashMap;

use crate::churn::link_word;
use crate::fate::{Fate, Member};
use crate::fault::{AnyFault, Cut, InFlight};
use crate::link::{Arrival, Link};
use crate::reach::Reach;
use crate::rule::{Count, Rule};
use crate::window::Window;

/// The network between the members: it decides what happens to each datagram, and carries none.
///
/// Time does not run backwards on a link. A rule's window may lie in the past, the present or the
/// future; nobody has to tell the network that time has passed.
#[derive(Clone, Debug)]
pub struct Network {
    seed: u64,
    rules: Vec<Rule>,
    counts: Vec<Count>,
    /// When which cuts are healed: at the beginning of each stretch.
    heals: Vec<(Window, Reach)>,
    /// Whether some rule cares about datagrams under way.
    watches_arrivals: bool,
    /// Goes up with every change of the rules; a link whose edition is older restacks when used.
    edition: u64,
    links: Vec<Link>,
    /// Where a link stands, by its word.
    places: FxHashMap<u64, u32>,
}

impl Network {
    /// One without faults.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            rules: Vec::new(),
            counts: Vec::new(),
            heals: Vec::new(),
            watches_arrivals: false,
            edition: 0,
            links: Vec::new(),
            places: FxHashMap::default(),
        }
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
        self.watches_arrivals |= match rule.fault {
            AnyFault::Cut(Cut { in_flight }) => in_flight != InFlight::Deliver,
            _ => false,
        };
        self.rules.push(rule);
        self.counts.push(Count::default());
        self.edition += 1;
        self.rules.len() - 1
    }

    /// Ends a rule now, if it is not over.
    pub fn end(&mut self, rule: usize, now_ns: u64) {
        let window = &mut self.rules[rule].window;
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

    /// The rules, in the order they were added, and what each did.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, Count)> {
        self.rules.iter().zip(self.counts.iter().copied())
    }

    /// The rules on a link, in the order in which they see a packet.
    pub fn stack(&mut self, from: Member, to: Member) -> impl Iterator<Item = &Rule> {
        let link = self.link(from, to);
        self.links[link].rules().map(|rule| &self.rules[rule])
    }

    /// Whether a message on this link could, at some time, get lost, damaged or doubled.
    pub fn harms(&self, from: Member, to: Member) -> bool {
        let harmful = |rule: &Rule| rule.fault.harms() && rule.reach.covers(from, to);
        self.rules.iter().any(harmful)
    }

    /// Where the link stands, stacked after the latest edition of the rules.
    fn link(&mut self, from: Member, to: Member) -> usize {
        let next = self.links.len() as u32;
        let place = *self.places.entry(link_word(from, to)).or_insert(next);
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
