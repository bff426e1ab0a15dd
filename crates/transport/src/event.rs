//! What a transport tells its member.

use algorithms::NodeId;

/// Something the member should know, in the order it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A message arrived.
    Message {
        /// The sender.
        from: NodeId,
        /// The message, exactly as it was sent.
        bytes: &'a [u8],
    },
    /// The session with a peer ended; what it had not acknowledged is lost. (Sessions only.)
    LinkDown {
        /// Which peer.
        peer: NodeId,
    },
    /// There is a new session. (Sessions only.)
    LinkUp {
        /// With which peer.
        peer: NodeId,
    },
    /// A peer is in a new incarnation: it will get nothing that was sent to the old one.
    Restarted {
        /// Which peer.
        peer: NodeId,
        /// The new incarnation.
        incarnation: u32,
    },
    /// A peer owes an answer for longer than is normal. (Patient links, if asked for.)
    Silent {
        /// Which peer.
        peer: NodeId,
    },
    /// A silent peer was heard again.
    Heard {
        /// Which peer.
        peer: NodeId,
    },
    /// A round trip was measured: a frame left, and its answer came. Frames are told apart, so a
    /// repetition is never taken for a slow first attempt.
    RoundTrip {
        /// To which peer.
        peer: NodeId,
        /// How long it took, without what the peer held its answer back.
        ns: u64,
    },
}
