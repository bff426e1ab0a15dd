//! What a transport is told before it starts.

use algorithms::registry::LinkOrder;

use crate::frame;
use crate::packet;

/// How a member's links behave. All members of a run have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether messages of one link are delivered in the order they were sent, or on arrival.
    pub order: LinkOrder,
    /// What silence does to a link.
    pub contract: Contract,
    /// The largest datagram that is sent.
    pub datagram_bytes: usize,
    /// When acknowledgements and repetitions leave.
    pub timing: Timing,
    /// How much may be unacknowledged at one peer at a time.
    pub window_bytes: usize,
    /// Above this much queued to one peer the member is congested: it should ask for nothing new.
    pub soft_limit_bytes: usize,
    /// Above this much queued to one peer the member should stop.
    pub hard_limit_bytes: usize,
}

/// What silence does to a link. It counts from a frame that wants an answer and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// Nothing: a cut only delays. If asked, the peer is suspected after so much silence, which is
    /// an opinion and changes nothing either.
    Patient {
        /// The silence after which a peer is suspected, if any.
        suspect_after_ns: Option<u64>,
    },
    /// After so much silence the session ends, what is unacknowledged is lost, and both ends are
    /// told.
    Sessions {
        /// The silence that ends a session.
        silence_ns: u64,
    },
}

/// When acknowledgements and repetitions leave. The module's documentation has the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long an acknowledgement waits for a message it can travel with.
    pub ack_delay_ns: u64,
    /// The least that a round trip is taken for.
    pub floor_ns: u64,
    /// What a round trip is taken for before it was measured.
    pub first_ns: u64,
    /// The longest pause between repetitions on a path that is not slower than that.
    pub cap_ns: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self::PATIENT
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::LOOPBACK
    }
}

impl Timing {
    /// What a round trip is taken for on a path whose shortest one took so long, when nothing is
    /// known of queues.
    pub(crate) fn at_rest_ns(&self, least_ns: u64) -> u64 {
        self.first_ns.max(2 * least_ns)
    }

    /// What suits members on one machine; slower paths are measured.
    pub const LOOPBACK: Self = Self {
        ack_delay_ns: 5_000_000,
        floor_ns: 5_000_000,
        first_ns: 50_000_000,
        cap_ns: 2_000_000_000,
    };
}

/// The longest pause between repetitions, and between the calls of a handshake, on links with
/// sessions: a silence ends those, so that patience would only make sessions begin later.
const SESSION_CAP_NS: u64 = 250_000_000;

impl Config {
    /// Patient links in order, with datagrams that pass everywhere.
    pub const PATIENT: Self = Self {
        order: LinkOrder::Fifo,
        contract: Contract::Patient {
            suspect_after_ns: None,
        },
        datagram_bytes: 1_200,
        timing: Timing::LOOPBACK,
        window_bytes: 48 * 1024,
        soft_limit_bytes: 256 * 1024,
        hard_limit_bytes: 16 * 1024 * 1024,
    };

    /// Links that keep this order and this contract.
    pub fn new(order: LinkOrder, contract: Contract) -> Self {
        let usual = match contract {
            Contract::Patient { .. } => Timing::default().cap_ns,
            Contract::Sessions { .. } => SESSION_CAP_NS,
        };
        let cap_ns = contract.silence_ns().map_or(usual, |ns| usual.min(ns / 2));
        Self {
            order,
            contract,
            timing: Timing {
                cap_ns,
                ..Timing::default()
            },
            ..Self::default()
        }
    }

    /// The smallest datagram budget: room for the fields and some bytes of a message.
    pub const MIN_DATAGRAM_BYTES: usize =
        frame::MAX_OVERHEAD + packet::MAX_HEAD + packet::MAX_SEGMENT_OVERHEAD + 32;

    /// What every path takes: IPv4 promises packets of 576 bytes, of which IP and UDP take 28.
    pub const NARROW_DATAGRAM_BYTES: usize = 576 - 28;

    /// The largest datagram budget: what UDP over IPv4 can carry.
    pub const MAX_DATAGRAM_BYTES: usize = 65_507;

    /// The most bytes of a message that one segment carries.
    pub(crate) fn segment_bytes(&self) -> usize {
        self.datagram_bytes - frame::MAX_OVERHEAD - packet::MAX_HEAD - packet::MAX_SEGMENT_OVERHEAD
    }

    /// Asserts what everything else relies on.
    pub(crate) fn check(&self) {
        let budgets = Self::MIN_DATAGRAM_BYTES..=Self::MAX_DATAGRAM_BYTES;
        assert!(
            budgets.contains(&self.datagram_bytes),
            "a datagram budget is within {budgets:?}"
        );
        assert!(
            self.soft_limit_bytes <= self.hard_limit_bytes,
            "the soft limit comes before the hard one"
        );
        if let Some(silence_ns) = self.contract.silence_ns() {
            assert!(
                self.timing.cap_ns <= silence_ns / 2,
                "silence is only silence if something was said twice"
            );
        }
    }
}

impl Contract {
    /// After how much silence something happens, if anything does.
    pub(crate) fn silence_ns(self) -> Option<u64> {
        match self {
            Contract::Patient { suspect_after_ns } => suspect_after_ns,
            Contract::Sessions { silence_ns } => Some(silence_ns),
        }
    }
}
