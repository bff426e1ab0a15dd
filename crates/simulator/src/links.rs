//! When a message arrives at the end of its link.

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use chaos::{Delay, Draw};
use model::plan::{Plan, Schedule};
use rustc_hash::{FxHashMap, FxHashSet};

/// The links of a simulated world.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    delay: Delay,
    /// Who goes first, where priorities decide.
    priorities: Option<Priorities>,
    /// What every draw for a message begins with.
    draw: Draw,
    sent: Sent,
    /// The latest arrival on each link; `None` where links may reorder, or where a constant delay keeps
    /// the order.
    latest: Option<Latest>,
}

/// A directed link: the sender above, the addressee below.
type Link = u64;

/// How many messages have been sent: what tells the draws of a link apart.
#[derive(Clone, Debug)]
enum Sent {
    /// Messages are not counted, since no draw depends on it.
    Uncounted,
    /// Messages are counted by link.
    ByLink { nodes: usize, counts: Vec<u32> },
    /// Messages are counted by sender. Among many nodes a count for each link would cost more than
    /// the event it is for; so a link's draws also depend on what else its sender has sent, and on
    /// nothing more.
    BySender { counts: Vec<u32> },
}

/// The most nodes for which each link counts for itself.
const LINKS_COUNT_UP_TO: u32 = 256;

/// Sets a message's delay apart from all other chance in a run.
const DELAY: u64 = 0x0064_656c_6179;

impl Links {
    /// Where faults may change how long a message takes, order does not keep itself.
    pub(crate) fn new(plan: &Plan, faulty: bool) -> Self {
        let constant = plan.constant_delay_ns().is_some();
        let nodes = plan.nodes as usize;
        Self {
            delay: plan.delay,
            priorities: Priorities::of(plan),
            draw: Draw::new([plan.seed, DELAY]),
            sent: match plan.nodes {
                _ if constant => Sent::Uncounted,
                0..=LINKS_COUNT_UP_TO => Sent::ByLink {
                    nodes,
                    counts: vec![0; nodes * nodes],
                },
                _ => Sent::BySender {
                    counts: vec![0; nodes],
                },
            },
            latest: (plan.links == LinkOrder::Fifo && (faulty || !constant))
                .then(|| Latest::new(plan.nodes)),
        }
    }

    /// A message is sent now: when does it arrive?
    pub(crate) fn carry(&mut self, now_ns: u64, from: NodeId, to: NodeId) -> u64 {
        let delay_ns = match (&mut self.priorities, self.delay) {
            (Some(priorities), _) => priorities.delay_ns(from, to),
            (None, Delay::Constant { ns }) => ns,
            (None, drawn) => {
                let nth = self.sent.count(from, to);
                let draw = self.draw.clone().with(link(from, to)).with(nth);
                drawn.draw_ns(&mut { draw })
            }
        };
        self.in_order(now_ns, from, to, now_ns.saturating_add(delay_ns))
    }

    /// When a message arrives that would arrive at that moment if it were alone on its link.
    pub(crate) fn in_order(&mut self, now_ns: u64, from: NodeId, to: NodeId, at_ns: u64) -> u64 {
        match &mut self.latest {
            None => at_ns,
            Some(latest) => latest.behind(now_ns, from, to, at_ns),
        }
    }
}

/// The priorities of the links, where they and not chance alone decide who goes first (probabilistic
/// concurrency testing: Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). There the threads
/// of a program have them, and the first that can run does; here links have them, and the first is as
/// much faster than the last as delays allow, since nobody may be told of a bound that is broken.
#[derive(Clone, Debug)]
struct Priorities {
    draw: Draw,
    longest_ns: u64,
    /// The messages, by number, with which a link falls behind all others; ascending.
    changes: Vec<u64>,
    sent: u64,
    behind: FxHashSet<Link>,
}

/// Sets the priorities of links apart from all other chance in a run.
const PRIORITIES: u64 = 0x0070_6374;

/// How many times as fast as the last the first link is: so many times may a message go to and fro
/// while another is still under way.
const FASTEST: f64 = 256.0;

/// Changes come within so many messages; the first ones are as likely as all later ones.
const CHANGES_WITHIN: f64 = 4_096.0;

impl Priorities {
    fn of(plan: &Plan) -> Option<Self> {
        let Schedule::Pct { changes } = plan.schedule else {
            return None;
        };
        let mut draw = Draw::new([plan.seed, PRIORITIES]);
        let changes = (0..changes).map(|_| CHANGES_WITHIN.powf(draw.unit()) as u64);
        let mut changes = changes.collect::<Vec<_>>();
        changes.sort_unstable();
        Some(Self {
            // Hardly any is longer; of those that have a longest, none.
            longest_ns: plan.delay.at_deviation_ns(3.0),
            draw,
            changes,
            sent: 0,
            behind: FxHashSet::default(),
        })
    }

    /// How long the next message takes on this link.
    fn delay_ns(&mut self, from: NodeId, to: NodeId) -> u64 {
        self.sent += 1;
        let link = link(from, to);
        if self.changes.binary_search(&self.sent).is_ok() {
            self.behind.insert(link);
        }
        if self.behind.contains(&link) {
            return self.longest_ns;
        }
        let rank = self.draw.clone().with(link).unit();
        (self.longest_ns as f64 * FASTEST.powf(rank - 1.0)) as u64
    }
}

/// When the latest message of each link arrives, as far as it is still under way.
#[derive(Clone, Debug)]
struct Latest {
    /// For each sender its latest message of all: mostly it has no other under way.
    newest: Vec<Arrival>,
    /// Those that were a sender's newest and may still be under way.
    others_ns: FxHashMap<Link, u64>,
    /// How many others to remember before forgetting those that have arrived.
    room: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Arrival {
    to: NodeId,
    at_ns: u64,
}

impl Latest {
    fn new(nodes: u32) -> Self {
        Self {
            newest: vec![Arrival::default(); nodes as usize],
            others_ns: FxHashMap::default(),
            room: 0,
        }
    }

    /// When a message arrives that would arrive at that moment if it were alone on its link.
    fn behind(&mut self, now_ns: u64, from: NodeId, to: NodeId, at_ns: u64) -> u64 {
        let newest = self.newest[from.index()];
        let ahead_ns = if newest.to == to {
            newest.at_ns
        } else {
            if newest.at_ns > now_ns {
                self.remember(now_ns, link(from, newest.to), newest.at_ns);
            }
            let other = match self.others_ns.is_empty() {
                true => None,
                false => self.others_ns.get(&link(from, to)),
            };
            other.copied().unwrap_or(now_ns)
        };
        let at_ns = at_ns.max(ahead_ns);
        self.newest[from.index()] = Arrival { to, at_ns };
        at_ns
    }

    fn remember(&mut self, now_ns: u64, link: Link, at_ns: u64) {
        if self.others_ns.len() >= self.room {
            self.others_ns.retain(|_, at_ns| *at_ns > now_ns);
            self.room = (2 * self.others_ns.len()).max(1_024);
        }
        self.others_ns.insert(link, at_ns);
    }
}

impl Sent {
    /// Counts a message, and says its number, from 1; 0 where messages are not counted.
    fn count(&mut self, from: NodeId, to: NodeId) -> u64 {
        let count = match self {
            Sent::Uncounted => return 0,
            Sent::ByLink { nodes, counts } => &mut counts[from.index() * *nodes + to.index()],
            Sent::BySender { counts } => &mut counts[from.index()],
        };
        *count = count.wrapping_add(1);
        u64::from(*count)
    }
}

fn link(from: NodeId, to: NodeId) -> Link {
    u64::from(from.0) << 32 | u64::from(to.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn no_message_overtakes_another_of_its_link() {
        for seed in 0..20 {
            let mut draw = Draw::new([seed]);
            let mut latest = Latest::new(4);
            let mut plain = BTreeMap::<_, u64>::new();
            let mut now_ns = 0;
            for _ in 0..5_000 {
                now_ns += draw.below(3);
                let from = NodeId(draw.below(4) as u32);
                let to = NodeId(draw.below(4) as u32);
                let alone_ns = now_ns + draw.below(50);
                let expected = plain.entry((from, to)).or_default();
                *expected = alone_ns.max(*expected);
                let at_ns = latest.behind(now_ns, from, to, alone_ns);
                assert_eq!(at_ns, *expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn links_with_priorities_take_as_long_as_before_until_they_fall_behind() {
        let info = algorithms::registry::find("lamport").expect("a registered algorithm");
        let of = |schedule: &str| Plan {
            schedule: schedule.parse().expect("a schedule"),
            delay: "5ms 5ms".parse().expect("a delay"),
            ..Plan::usual(info, 3, 1)
        };
        let arrivals = |plan: &Plan| {
            let mut links = Links::new(plan, false);
            let pairs = (0..300).map(|n| (n * 100_000_000, NodeId(n as u32 % 3)));
            let carried = pairs.map(|(now_ns, from)| {
                let to = NodeId((from.0 + 1) % 3);
                links.carry(now_ns, from, to) - now_ns
            });
            carried.collect::<Vec<_>>()
        };
        let still = arrivals(&of("pct:0"));
        assert!(still.windows(4).all(|four| four[0] == four[3]), "{still:?}");
        assert!(still[0] != still[1] && still[1] != still[2], "{still:?}");
        assert!(still.iter().all(|delay_ns| *delay_ns <= 10_000_000));
        let moved = arrivals(&of("pct:9"));
        let behind = moved.iter().filter(|delay_ns| **delay_ns > 9_950_000);
        assert!(behind.count() > 50, "{moved:?}");
        // A link that has fallen behind stays there.
        assert!(moved.windows(4).all(|four| four[0] <= four[3]), "{moved:?}");
    }

    #[test]
    fn what_has_arrived_is_forgotten() {
        let mut latest = Latest::new(2_000);
        for n in 0..100_000 {
            let (from, to) = (NodeId(n % 3), NodeId(n % 1_999));
            latest.behind(u64::from(n), from, to, u64::from(n) + 20);
        }
        assert!(latest.others_ns.len() <= 1_024);
    }

    #[test]
    fn a_links_draws_do_not_depend_on_other_links() {
        let carry = |plan: &Plan, also: bool| {
            let mut links = Links::new(plan, false);
            let mut arrivals = Vec::new();
            for now_ns in 0..100 {
                if also {
                    links.carry(now_ns, NodeId(0), NodeId(2));
                }
                arrivals.push(links.carry(now_ns, NodeId(0), NodeId(1)));
            }
            arrivals
        };
        let info = algorithms::registry::find("naimi-trehel").expect("a registered algorithm");
        let plan = Plan {
            delay: "5ms 1ms".parse().expect("a delay"),
            ..Plan::usual(info, 3, 1)
        };
        assert_eq!(carry(&plan, false), carry(&plan, true));
    }
}
