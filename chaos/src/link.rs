//! One directed link: an ordered stack of faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::churn::{Outages, link_word};
use crate::draw::Draw;
use crate::fate::{Datagram, Fate, Member};
use crate::fault::{InFlight, Packet, Working};
use crate::reach::Reach;
use crate::rule::{Count, Posted, Rule};
use crate::time_window::TimeWindow;

/// What becomes of a datagram that reaches the end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The datagram arrives.
    Deliver,
    /// A cut came while it was under way; the rule that cut, as it was numbered, unless it is
    /// forgotten.
    Drop(Option<usize>),
    /// A cut holds the datagram back.
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
    /// The faults on it, in the order of their [`Stage`](crate::fault::Stage)s.
    stack: SmallVec<[Layer; 1]>,
    /// When cuts of this link are healed: at the beginning of each stretch.
    heals: Vec<TimeWindow>,
    /// When the last cut began that is no longer in the stack, and its number if it is not forgotten.
    cut_before: Option<(u64, Option<usize>)>,
    /// The edition of the rule book that the stack was made from.
    edition: u64,
}

#[derive(Clone, Debug)]
struct Layer {
    number: usize,
    posted: Arc<Posted>,
    /// The stream of (seed, fault, link).
    draw: Draw,
    outages: Option<Box<Outages>>,
    working: Working,
}

impl Link {
    pub(crate) fn new(from: Member, to: Member) -> Self {
        Self {
            from,
            to,
            passed: 0,
            stack: SmallVec::new(),
            heals: Vec::new(),
            cut_before: None,
            edition: 0,
        }
    }

    /// A rule that drops what is under way makes room for another.
    pub(crate) fn remember_cut(&mut self, number: usize, rule: &Rule) {
        if rule.reach.covers(self.from, self.to) {
            self.cut_before = self
                .cut_before
                .max(Some((rule.window.from_ns, Some(number))));
        }
    }

    /// A rule is taken out. What it cut under way stays cut.
    pub(crate) fn forget(&mut self, number: usize, now_ns: u64) {
        let ours = self.stack.iter_mut().find(|layer| layer.number == number);
        if let Some(layer) = ours
            && layer.posted.cut == Some(InFlight::Drop)
        {
            let began_ns = layer.latest(now_ns);
            self.cut_before = self.cut_before.max(began_ns.map(|ns| (ns, None)));
        }
        if let Some((_, before)) = &mut self.cut_before
            && *before == Some(number)
        {
            *before = None;
        }
        self.stack.retain(|layer| layer.number != number);
    }

    /// Takes over what is new in the rule book, if something is.
    pub(crate) fn take_over(
        &mut self,
        edition: u64,
        seed: u64,
        rules: &[Option<Arc<Posted>>],
        heals: &BTreeMap<u64, (TimeWindow, Reach)>,
    ) {
        if self.edition != edition {
            self.edition = edition;
            self.restack(seed, rules, heals);
        }
    }

    /// Takes over a new edition of the rule book; layers that stay keep their memory.
    fn restack(
        &mut self,
        seed: u64,
        rules: &[Option<Arc<Posted>>],
        heals: &BTreeMap<u64, (TimeWindow, Reach)>,
    ) {
        let mut before = std::mem::take(&mut self.stack);
        for (number, posted) in rules.iter().enumerate() {
            let Some(posted) = posted else { continue };
            if !posted.rule.reach.covers(self.from, self.to) {
                continue;
            }
            let kept = before.iter().position(|layer| layer.number == number);
            let mut layer = match kept {
                Some(place) => before.swap_remove(place),
                None => Layer::new(seed, number, posted, (self.from, self.to)),
            };
            layer.posted = Arc::clone(posted);
            self.stack.push(layer);
        }
        self.stack
            .sort_by_key(|layer| (layer.posted.rule.fault.stage(), layer.number));
        let ours = heals
            .values()
            .filter(|(_, reach)| reach.covers(self.from, self.to));
        self.heals = ours.map(|(window, _)| *window).collect();
    }

    /// The fate of the next packet.
    pub(crate) fn carry(&mut self, now_ns: u64, size: u32, counts: &mut [Count]) -> Fate {
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
            let was_lost = fate.is_lost();
            let mut packet = Packet {
                datagram: &datagram,
                fate: &mut fate,
                draw: &mut layer.draw.clone().with(self.passed),
            };
            let acted = layer.working.apply(began_ns, &mut packet);
            let count = &mut counts[layer.number];
            count.seen += 1;
            count.acted += u64::from(acted);
            if fate.is_lost() && !was_lost {
                fate.lost_to = Some(layer.number);
            }
        }
        fate
    }

    /// What becomes of a datagram that was sent then and would arrive now.
    pub(crate) fn arrive(&mut self, now_ns: u64, sent_ns: u64) -> Arrival {
        let after_it_was_sent = |began_ns: Option<u64>| began_ns.is_some_and(|ns| ns > sent_ns);
        if let Some((began_ns, number)) = self.cut_before
            && after_it_was_sent(Some(began_ns))
        {
            return Arrival::Drop(number);
        }
        let mut held = false;
        for layer in &mut self.stack {
            match layer.posted.cut {
                Some(InFlight::Drop) => {
                    if after_it_was_sent(layer.latest(now_ns)) {
                        return Arrival::Drop(Some(layer.number));
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
    pub(crate) fn rules(&self) -> impl Iterator<Item = usize> {
        self.stack.iter().map(|layer| layer.number)
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
    fn new(seed: u64, number: usize, posted: &Arc<Posted>, (from, to): (Member, Member)) -> Self {
        let rule = &posted.rule;
        let fault = Draw::new([seed, rule.identity]);
        let outages = |churn| Outages::new(churn, &fault, (from, to), rule.window.from_ns);
        Self {
            number,
            draw: fault.clone().with(link_word(from, to)),
            outages: rule.churn.map(outages).map(Box::new),
            working: posted.fresh.clone(),
            posted: Arc::clone(posted),
        }
    }

    /// Since when it is in force, if it is.
    fn in_force(&mut self, now_ns: u64, heals: &[TimeWindow]) -> Option<u64> {
        let mut began_ns = self.posted.rule.window.current(now_ns)?;
        if let Some(outages) = &mut self.outages {
            began_ns = outages.current(now_ns)?;
        }
        let since = |heal: &TimeWindow| heal.latest(now_ns).is_some_and(|ns| ns > began_ns);
        let ended = self.posted.cut.is_some() && heals.iter().any(since);
        (!ended).then_some(began_ns)
    }

    /// When it last came into force, whether or not it still is.
    fn latest(&mut self, now_ns: u64) -> Option<u64> {
        let began_ns = self.posted.rule.window.latest(now_ns)?;
        match &mut self.outages {
            Some(outages) => {
                outages.latest(now_ns.min(self.posted.rule.window.end_ns(began_ns) - 1))
            }
            None => Some(began_ns),
        }
    }

    fn next_change_ns(&mut self, now_ns: u64) -> Option<u64> {
        let window_ns = self.posted.rule.window.next_change_ns(now_ns);
        let outages = self.outages.as_mut();
        let outage_ns = match self.posted.rule.window.current(now_ns) {
            Some(_) => outages.map(|outages| outages.next_change_ns(now_ns)),
            None => None,
        };
        [window_ns, outage_ns].into_iter().flatten().min()
    }
}
