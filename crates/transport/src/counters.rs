//! What a transport did, counted apart from the messages it carries.

use serde::{Deserialize, Serialize};

use crate::frame::Rejected;

/// Counts since the start of this incarnation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Datagrams handed to the socket.
    pub datagrams_sent: u64,
    /// Datagrams that came from it, rejected ones too.
    pub datagrams_received: u64,
    /// Bytes in the datagrams sent.
    pub bytes_sent: u64,
    /// Bytes in the datagrams received.
    pub bytes_received: u64,
    /// Datagrams sent that carried an acknowledgement and nothing else.
    pub acks: u64,
    /// Datagrams sent to ask for an answer and for nothing else.
    pub heartbeats: u64,
    /// Datagrams sent to begin a session.
    pub handshakes: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Segments sent, for the first time, that were only a part of their message.
    pub fragments: u64,
    /// Frames and segments that had arrived before.
    pub duplicates: u64,
    /// Segments that came too early to be kept.
    pub too_early: u64,
    /// Messages accepted for sending.
    pub messages_sent: u64,
    /// Messages handed to the member.
    pub messages_delivered: u64,
    /// Messages given up unacknowledged because a session ended, or the peer restarted or died.
    /// Some of them may have arrived.
    pub messages_lost: u64,
    /// Sessions that ended.
    pub sessions_ended: u64,
    /// Datagrams rejected, for each reason of [`Rejected::ALL`].
    pub rejected_for: [u64; Rejected::ALL.len()],
}

impl Counters {
    /// Datagrams rejected for this reason.
    pub fn rejected_for(&self, reason: Rejected) -> u64 {
        self.rejected_for[reason as usize]
    }

    /// Datagrams rejected for any reason but having been seen before, which networks do.
    pub fn rejected(&self) -> u64 {
        let reasons = Rejected::ALL.iter();
        let hostile = reasons.filter(|&&reason| reason != Rejected::Duplicate);
        hostile.map(|&reason| self.rejected_for(reason)).sum()
    }

    pub(crate) fn reject(&mut self, reason: Rejected) {
        self.rejected_for[reason as usize] += 1;
        if reason == Rejected::Duplicate {
            self.duplicates += 1;
        }
    }
}
