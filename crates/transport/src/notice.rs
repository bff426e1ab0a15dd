//! What a transport tells its member.

use algorithms::NodeId;

/// Something the member should know, in the order it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// A message arrived.
    Message {
        /// The peer that sent it.
        from: NodeId,
        /// The message, exactly as it was sent.
        bytes: &'a [u8],
    },
    /// The session with a peer ended; what it had not acknowledged is lost. (Sessions only.)
    LinkDown {
        /// The peer at the other end of the link.
        peer: NodeId,
    },
    /// A new session with a peer began. (Sessions only.)
    LinkUp {
        /// The peer at the other end of the link.
        peer: NodeId,
    },
    /// A peer is in a new incarnation: it will get nothing that was sent to the old one.
    Restarted {
        /// The peer that was restarted.
        peer: NodeId,
        /// The new incarnation.
        incarnation: u32,
    },
    /// A peer owes an answer for longer than is normal. (Patient links, if asked for.)
    Silent {
        /// The peer that is silent.
        peer: NodeId,
    },
    /// A silent peer was heard again.
    Heard {
        /// The peer that was silent before.
        peer: NodeId,
    },
    /// A round trip was measured: a frame left, and its answer came. Frames are told apart, so a
    /// repetition is never taken for a slow first attempt.
    RoundTrip {
        /// The peer that answered.
        peer: NodeId,
        /// How long it took, without what the peer held its answer back.
        ns: u64,
    },
}
