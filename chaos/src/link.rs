//! One directed link: an ordered stack of faults.

use smallvec::SmallVec;

use crate::churn::{Outages, link_word};
use crate::draw::Draw;
use crate::fate::{Datagram, Fate, Member};
use crate::fault::{AnyFault, Cut, InFlight, Working};
use crate::reach::Reach;
use crate::rule::{Count, Rule};
use crate::window::Window;

/// What becomes of a datagram that reaches the end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It arrives.
    Deliver,
    /// A cut came while it was under way; the rule that cut, as it was numbered.
    Drop(usize),
    /// A cut holds it back.
    Hold {
        /// When to ask again; if never, then after the next change that was not foreseen (a rule
        /// ended or healed by hand).
        until_ns: Option<u64>,
    },
}

/// One directed link and what its faults remember of it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    from: Member,
    to: Member,
    /// How many packets it has seen.
    passed: u64,
    /// In the order of [`STACKING`](crate::fault::STACKING).
    stack: Vec<Layer>,
    /// When cuts of this link are healed: at the beginning of each stretch.
    heals: SmallVec<[Window; 1]>,
    /// The edition of the rule book that the stack was made from.
    pub edition: u64,
}

#[derive(Clone, Debug)]
struct Layer {
    rule: usize,
    /// The stream of (seed, fault, link).
    draw: Draw,
    window: Window,
    outages: Option<Outages>,
    /// If this is a cut: what it does to datagrams under way.
    cut: Option<InFlight>,
    working: Working,
}

impl Link {
    pub fn new(from: Member, to: Member) -> Self {
        Self {
            from,
            to,
            passed: 0,
            stack: Vec::new(),
            heals: SmallVec::new(),
            edition: 0,
        }
    }

    /// Takes over a new edition of the rule book; layers that stay keep their memory.
    pub fn restack(&mut self, seed: u64, rules: &[Rule], heals: &[(Window, Reach)]) {
        let mut before = std::mem::take(&mut self.stack);
        for (number, rule) in rules.iter().enumerate() {
            if !rule.reach.covers(self.from, self.to) {
                continue;
            }
            let kept = before.iter().position(|layer| layer.rule == number);
            let mut layer = match kept {
                Some(place) => before.swap_remove(place),
                None => Layer::new(seed, number, rule, (self.from, self.to)),
            };
            layer.window = rule.window;
            self.stack.push(layer);
        }
        self.stack
            .sort_by_key(|layer| (rules[layer.rule].fault.place(), layer.rule));
        let ours = heals
            .iter()
            .filter(|(_, reach)| reach.covers(self.from, self.to));
        self.heals = ours.map(|(window, _)| *window).collect();
    }

    /// The fate of the next packet.
    pub fn carry(&mut self, now_ns: u64, size: u32, counts: &mut [Count]) -> Fate {
        self.passed += 1;
        let mut fate = Fate::untouched();
        let datagram = Datagram {
            from: self.from,
            to: self.to,
            size,
            nth: self.passed,
            sent_ns: now_ns,
        };
        for layer in &mut self.stack {
            let Some(began_ns) = layer.in_force(now_ns, &self.heals) else {
                continue;
            };
            let mut draw = layer.draw.clone().with(self.passed);
            let was_lost = fate.is_lost();
            let acted = layer
                .working
                .apply(began_ns, &datagram, &mut fate, &mut draw);
            let count = &mut counts[layer.rule];
            count.seen += 1;
            count.acted += u64::from(acted);
            if fate.is_lost() && !was_lost {
                fate.lost_to = Some(layer.rule);
            }
        }
        fate
    }

    /// What becomes of a datagram that was sent then and would arrive now.
    pub fn arrive(&mut self, now_ns: u64, sent_ns: u64) -> Arrival {
        let after_it_was_sent = |began_ns: Option<u64>| began_ns.is_some_and(|ns| ns > sent_ns);
        let mut held = false;
        for layer in &mut self.stack {
            match layer.cut {
                Some(InFlight::Drop) => {
                    if after_it_was_sent(layer.latest(now_ns)) {
                        return Arrival::Drop(layer.rule);
                    }
                }
                Some(InFlight::Hold) => {
                    held |= after_it_was_sent(layer.in_force(now_ns, &self.heals));
                }
                Some(InFlight::Deliver) | None => {}
            }
        }
        if held {
            Arrival::Hold {
                until_ns: self.next_change_ns(now_ns),
            }
        } else {
            Arrival::Deliver
        }
    }

    /// The rules on this link, in the order they act.
    pub fn rules(&self) -> impl Iterator<Item = usize> {
        self.stack.iter().map(|layer| layer.rule)
    }

    /// The first moment after this one at which a fault of the link comes into force or ends.
    fn next_change_ns(&mut self, now_ns: u64) -> Option<u64> {
        let heals = self.heals.iter();
        let heals = heals.filter_map(|heal| heal.next_change_ns(now_ns));
        let layers = self.stack.iter_mut();
        let layers = layers.filter_map(|layer| layer.next_change_ns(now_ns));
        heals.chain(layers).min()
    }
}

impl Layer {
    fn new(seed: u64, number: usize, rule: &Rule, (from, to): (Member, Member)) -> Self {
        let fault = Draw::new([seed, rule.identity]);
        let outages = |churn| Outages::new(churn, &fault, (from, to), rule.window.from_ns);
        Self {
            rule: number,
            draw: fault.clone().with(link_word(from, to)),
            window: rule.window,
            outages: rule.churn.map(outages),
            cut: match &rule.fault {
                AnyFault::Cut(Cut { in_flight }) => Some(*in_flight),
                _ => None,
            },
            working: rule.fault.begin(),
        }
    }

    /// Since when it is in force, if it is.
    fn in_force(&mut self, now_ns: u64, heals: &[Window]) -> Option<u64> {
        let mut began_ns = self.window.current(now_ns)?;
        if let Some(outages) = &mut self.outages {
            began_ns = outages.current(now_ns)?;
        }
        let since = |heal: &Window| heal.latest(now_ns).is_some_and(|ns| ns > began_ns);
        let ended = self.cut.is_some() && heals.iter().any(since);
        (!ended).then_some(began_ns)
    }

    /// When it last came into force, whether or not it still is.
    fn latest(&mut self, now_ns: u64) -> Option<u64> {
        let began_ns = self.window.latest(now_ns)?;
        match &mut self.outages {
            Some(outages) => outages.latest(now_ns.min(self.window.end_ns(began_ns) - 1)),
            None => Some(began_ns),
        }
    }

    fn next_change_ns(&mut self, now_ns: u64) -> Option<u64> {
        let window_ns = self.window.next_change_ns(now_ns);
        let outages = self.outages.as_mut();
        let outage_ns = match self.window.current(now_ns) {
            Some(_) => outages.map(|outages| outages.next_change_ns(now_ns)),
            None => None,
        };
        [window_ns, outage_ns].into_iter().flatten().min()
    }
}
