//! Links that are bad at times: what `chaos` says becomes of what travels there.

use algorithms::NodeId;
use algorithms::erased::MessageId;
use chaos::{Arrival, Fate, Network};
use model::plan::Plan;

use super::{Due, World};

/// The network between the members.
pub(super) struct FaultyNetwork {
    pub(super) network: Network,
    /// The last moment at which the network is known to change by itself, but for what comes and
    /// goes for ever.
    pub(super) last_change_ns: u64,
    /// What a cut holds back until a change that nobody foresaw.
    held: Vec<Due>,
}

/// About what an envelope takes: the header of a frame with small numbers, and its mac.
const ENVELOPE_BYTES: usize = 36;

impl FaultyNetwork {
    pub(super) fn new(plan: &Plan) -> Self {
        let network = match plan.faults.steps.is_empty() {
            true => Network::new(plan.seed, plan.nodes),
            false => plan.faults.network(),
        };
        Self {
            // How long a link takes is one of the things it does to a packet, so that a packet may be
            // reordered out of it.
            network: network.taking(plan.delay),
            last_change_ns: plan.faults.last_change_ns(),
            held: Vec::new(),
        }
    }

    /// Whether the network will yet change in a way it has not changed before.
    pub(super) fn expects_change(&self, now_ns: u64) -> bool {
        now_ns <= self.last_change_ns
    }

    pub(super) fn fate(&mut self, now_ns: u64, from: NodeId, to: NodeId, bytes: usize) -> Fate {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.network.fate(now_ns, from.0, to.0, bytes)
    }
}

impl World<'_> {
    /// A step about links comes into force.
    pub(super) fn change_links(&mut self, step: usize, who: Option<NodeId>) {
        let (plan, now_ns) = (self.plan, self.now_ns);
        let faults = self.faults();
        faults.process_faults.changed_links(step);
        let network = faults.network.as_mut();
        let network = network.expect("a plan with steps about links has network");
        let who = who.map(|node| node.0);
        plan.faults.enact(step, now_ns, who, &mut network.network);
        let over_ns = plan.faults.steps[step].over_ns(now_ns);
        network.last_change_ns = network.last_change_ns.max(over_ns.unwrap_or(now_ns));
        // What waits for a change that nobody foresaw asks again.
        for due in std::mem::take(&mut network.held) {
            self.queue.push(now_ns, due);
        }
    }

    /// Whether what is due comes through to the end of its link; if not, it is seen to.
    pub(super) fn comes_through(&mut self, due: Due) -> bool {
        let now_ns = self.now_ns;
        let flights = &self.flights;
        let faults = self.faults.as_mut().expect("only a world with faults asks");
        let Some(network) = &mut faults.network else {
            return true;
        };
        let (from, to, sent_ns) = match (due, &faults.transports) {
            (Due::Datagram(id), Some(transports)) => transports.journey(id),
            (Due::Message(message), None) => {
                let flight = flights[message.0 as usize];
                (flight.from, flight.to, flight.sent_ns)
            }
            _ => return true,
        };
        if from == to {
            return true;
        }
        match network.network.arrive(now_ns, from.0, to.0, sent_ns) {
            Arrival::Deliver => return true,
            Arrival::Hold {
                until_ns: Some(until_ns),
            } => self.queue.push(until_ns, due),
            Arrival::Hold { until_ns: None } => network.held.push(due),
            Arrival::Drop(_) => match (due, &mut faults.transports) {
                (Due::Datagram(id), Some(transports)) => transports.drop_datagram(id),
                (Due::Message(message), _) => {
                    self.under_way -= 1;
                    self.lose(from, to, message);
                }
                _ => unreachable!("nothing else travels"),
            },
        }
        false
    }

    /// Lets a message travel alone, without anybody to repair what the link does to it.
    pub(super) fn carry(&mut self, from: NodeId, to: NodeId, message: MessageId) {
        let now_ns = self.now_ns;
        let mut bytes = Vec::new();
        self.members.group().encode(message, &mut bytes);
        let network = self.faults().network.as_mut().expect("it has a road");
        let fate = network.fate(now_ns, from, to, ENVELOPE_BYTES + bytes.len());
        // A mac would not verify what was cut short or turned over: it is as good as lost.
        let copies = fate.copies.iter().filter(|copy| copy.is_intact());
        let copies = copies.map(|copy| copy.delay_ns).collect::<Vec<_>>();
        let Some((first, again)) = copies.split_first() else {
            return self.lose(from, to, message);
        };
        let kind = self.members.group().kind(message);
        for delay_ns in again {
            let message = self.members.duplicate(message);
            self.tally.doubled(from, to, kind);
            let at_ns = now_ns.saturating_add(*delay_ns);
            let at_ns = self.links.in_order(now_ns, from, to, at_ns);
            self.fly(from, to, message, at_ns);
        }
        let at_ns = now_ns.saturating_add(*first);
        let at_ns = self.links.in_order(now_ns, from, to, at_ns);
        self.fly(from, to, message, at_ns);
    }
}
