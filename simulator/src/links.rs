//! When a message arrives.

use algorithms::NodeId;
use algorithms::registry::Order;
use chaos::{Delay, Draw};
use node::plan::Plan;
use rustc_hash::FxHashMap;

/// The links of a simulated world.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    delay: Delay,
    /// What every draw for a message begins with.
    draw: Draw,
    sent: Sent,
    /// When the latest message of a link arrives, while it is under way; nothing where order need
    /// not be kept, or keeps itself.
    latest_ns: Option<FxHashMap<Link, u64>>,
}

/// A directed link: the sender above, the addressee below.
type Link = u64;

/// How many messages each link has carried.
#[derive(Clone, Debug)]
enum Sent {
    /// Nobody needs to know.
    Uncounted,
    /// A table of all links.
    Dense { nodes: usize, counts: Vec<u32> },
    /// The links that have carried any.
    Sparse(FxHashMap<Link, u32>),
}

/// Up to so many nodes a table of all links is small.
const DENSE_UP_TO: u32 = 1_024;

/// Sets a message's delay apart from all other chance in a run.
const DELAY: u64 = 0x0064_656c_6179;

impl Links {
    pub(crate) fn new(plan: &Plan) -> Self {
        let constant = plan.delay.constant_ns().is_some();
        let nodes = plan.nodes as usize;
        Self {
            delay: plan.delay,
            draw: Draw::new([plan.seed, DELAY]),
            sent: match plan.nodes {
                _ if constant => Sent::Uncounted,
                0..=DENSE_UP_TO => Sent::Dense {
                    nodes,
                    counts: vec![0; nodes * nodes],
                },
                _ => Sent::Sparse(FxHashMap::default()),
            },
            latest_ns: (plan.links == Order::Fifo && !constant).then(FxHashMap::default),
        }
    }

    /// A message is sent now: when does it arrive?
    pub(crate) fn carry(&mut self, now_ns: u64, from: NodeId, to: NodeId) -> u64 {
        let delay_ns = match self.delay {
            Delay::Constant { ns } => ns,
            drawn => {
                let nth = self.sent.count(from, to);
                let draw = self.draw.clone().with(link(from, to)).with(nth);
                drawn.draw_ns(&mut { draw })
            }
        };
        let at_ns = now_ns.saturating_add(delay_ns);
        let Some(latest_ns) = &mut self.latest_ns else {
            return at_ns;
        };
        let latest_ns = latest_ns.entry(link(from, to)).or_default();
        *latest_ns = at_ns.max(*latest_ns);
        *latest_ns
    }

    /// A message arrives now.
    pub(crate) fn arrived(&mut self, now_ns: u64, from: NodeId, to: NodeId) {
        if let Some(latest_ns) = &mut self.latest_ns
            && latest_ns.get(&link(from, to)) == Some(&now_ns)
        {
            latest_ns.remove(&link(from, to));
        }
    }
}

impl Sent {
    /// Counts a message: the how-manieth of its link is it?
    fn count(&mut self, from: NodeId, to: NodeId) -> u64 {
        let count = match self {
            Sent::Uncounted => return 0,
            Sent::Dense { nodes, counts } => &mut counts[from.index() * *nodes + to.index()],
            Sent::Sparse(counts) => counts.entry(link(from, to)).or_default(),
        };
        *count = count.wrapping_add(1);
        u64::from(*count)
    }
}

fn link(from: NodeId, to: NodeId) -> Link {
    u64::from(from.0) << 32 | u64::from(to.0)
}
