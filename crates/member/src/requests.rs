//! What the clients want, request by request.
//!
//! Everything here follows from the plan: the n-th request of a node has the same priority, the
//! same time inside and the same time of thought before it in every engine, and nothing has to
//! remember it. A member keeps nothing but how many requests there have been.

use std::collections::BTreeMap;

use algorithms::NodeId;
use model::plan::Plan;
use model::workload::{Ask, PerNode, Purpose, Quota, Rhythm, Span, Urgency, Weights, draw};

/// What the clients of all nodes want.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    seed: u64,
    rhythm: Rhythm,
    hold: PerNode<Span>,
    priority: PerNode<Urgency>,
    /// How many clients each node has.
    pub(crate) clients: u32,
    shares: Shares,
    /// From this moment nobody asks again.
    until_ns: Option<u64>,
    weights: Weights,
    /// The moments of the requests that the clients make by themselves, in the order to arm them.
    script: Vec<(u64, NodeId)>,
    /// The requests that are known in advance, by node and in the order in which they come.
    by_node: BTreeMap<NodeId, Vec<Ask>>,
    /// So many times as long as the workload says clients stay inside, and think.
    pub(crate) stretch: f64,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        let workload = &plan.workload;
        let weights = Weights::new(&workload.weights, plan.nodes);
        let rhythm = workload.arrivals.rhythm();
        let asks = workload.arrivals.asks(plan);
        let mut by_node = BTreeMap::<_, Vec<Ask>>::new();
        for ask in asks.iter() {
            by_node.entry(ask.node).or_default().push(*ask);
        }
        let mut script = Vec::new();
        if rhythm == Rhythm::Scripted {
            script.extend(asks.iter().map(|ask| (ask.at_ns, ask.node)));
            for asks in by_node.values_mut() {
                asks.sort_by_key(|ask| ask.at_ns);
            }
        }
        let (shares, until_ns) = match workload.quota {
            Quota::PerNode(share) => (Shares::Alike(share), None),
            Quota::Total(total) => (Shares::Dealt(weights.deal(total)), None),
            Quota::Until(moment_ns) => (Shares::Alike(u64::MAX), Some(moment_ns)),
        };
        Self {
            seed: plan.seed,
            rhythm,
            hold: workload.hold.clone(),
            priority: workload.priority.clone(),
            clients: workload.clients.max(1),
            shares,
            until_ns,
            weights,
            script,
            by_node,
            stretch: 1.0,
        }
    }

    /// What makes clients ask.
    pub(crate) fn rhythm(&self) -> &Rhythm {
        &self.rhythm
    }

    /// The moments of the requests that the clients make by themselves.
    pub(crate) fn script(&self) -> &[(u64, NodeId)] {
        &self.script
    }

    /// How urgent the n-th request of a node is.
    pub(crate) fn priority(&self, node: NodeId, nth: u64) -> u32 {
        let own = self.known(node, nth).and_then(|ask| ask.priority);
        own.unwrap_or_else(|| match self.priority.of(node) {
            Urgency::Constant(priority) => priority,
            drawn => drawn.draw(&mut draw(self.seed, Purpose::Priority, node, nth)),
        })
    }

    /// How long the client stays inside with the n-th request of a node.
    pub(crate) fn hold_ns(&self, node: NodeId, nth: u64) -> u64 {
        let own = self.known(node, nth).and_then(|ask| ask.hold_ns);
        let hold_ns = own.unwrap_or_else(|| match self.hold.of(node) {
            Span::Constant(ns) => ns,
            drawn => drawn.draw_ns(&mut draw(self.seed, Purpose::Hold, node, nth)),
        });
        self.stretched(hold_ns)
    }

    fn stretched(&self, ns: u64) -> u64 {
        match self.stretch == 1.0 {
            true => ns,
            false => (ns as f64 * self.stretch) as u64,
        }
    }

    /// When the n-th request of a node arrives, if the one before it left (or, in an open workload,
    /// arrived) now; `None` if there is no such request.
    pub(crate) fn next_ns(&self, now_ns: u64, node: NodeId, nth: u64) -> Option<u64> {
        if nth >= self.shares.of(node) {
            return None;
        }
        let gap_ns = match &self.rhythm {
            Rhythm::AfterLeaving { think } => match think.of(node) {
                Span::Constant(ns) => ns,
                drawn => drawn.draw_ns(&mut draw(self.seed, Purpose::Think, node, nth)),
            },
            Rhythm::AfterArriving { mean_gap_ns } => {
                let gap = Span::Exponential(*mean_gap_ns);
                gap.draw_ns(&mut draw(self.seed, Purpose::Gap, node, nth))
            }
            Rhythm::Scripted | Rhythm::Conducted => return None,
        };
        let gap_ns = self.stretched(self.weights.stretch(node, gap_ns)?);
        let at_ns = now_ns.saturating_add(gap_ns);
        let in_time = self.until_ns.is_none_or(|until_ns| at_ns < until_ns);
        in_time.then_some(at_ns)
    }

    /// The n-th request of a node, if it is known in advance.
    fn known(&self, node: NodeId, nth: u64) -> Option<&Ask> {
        if self.by_node.is_empty() {
            return None;
        }
        self.by_node.get(&node)?.get(usize::try_from(nth).ok()?)
    }
}

/// How many requests each node makes.
#[derive(Clone, Debug)]
enum Shares {
    Alike(u64),
    Dealt(Vec<u64>),
}

impl Shares {
    fn of(&self, node: NodeId) -> u64 {
        match self {
            Shares::Alike(share) => *share,
            Shares::Dealt(shares) => shares[node.index()],
        }
    }
}
