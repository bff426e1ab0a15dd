//! What processes say to each other.

use serde::{Deserialize, Serialize};

use super::rule::Claim;
use crate::common::stamp::Stamp;
use crate::contract::{NodeId, kinds};

/// A message. The names are the book's; what VOTE and P2V carry is ours.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The sender wants in and asks for the addressee's vote.
    Req { req: Stamp, held: u32 },
    /// The sender's vote, lent to `req`.
    Vote {
        req: Stamp,
        serial: u64,
        fence: u64,
        done: Vec<u64>,
    },
    /// The sender's vote is out, with `holder`.
    No {
        req: Stamp,
        holder: Stamp,
        held: u32,
    },
    /// Hand me the votes that your request of time `rival` has.
    P2req { claim: Claim, rival: u64 },
    /// Votes handed over to `req`.
    P2v {
        req: Stamp,
        tokens: Vec<Token>,
        fence: u64,
        done: Vec<u64>,
    },
    /// `req` is finished, and if the addressee's vote was with it, here it is.
    Rel {
        req: Stamp,
        serial: Option<u64>,
        fence: u64,
    },
}

/// A vote that has been lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    /// Whose vote it is.
    pub(crate) voter: NodeId,
    /// The how many-eth loan of it this is.
    pub(crate) serial: u64,
    /// How often it has been handed over since.
    pub(crate) hop: u64,
}

impl crate::contract::Message for Message {
    kinds! { Req: "REQ", Vote: "VOTE", No: "NO", P2req: "P2REQ", P2v: "P2V", Rel: "REL" }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Req { req, .. }
            | Message::Vote { req, .. }
            | Message::No { req, .. }
            | Message::P2v { req, .. }
            | Message::Rel { req, .. } => Some(req.id),
            Message::P2req { claim, .. } => Some(claim.req.id),
        }
    }
}
