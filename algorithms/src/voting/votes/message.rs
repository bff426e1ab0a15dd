//! What processes say to each other.

use serde::{Deserialize, Serialize};

use super::rule::Claim;
use crate::common::stamp::Stamp;
use crate::contract::{NodeId, messages};

messages! {
    /// A message. The names are the book's; what VOTE and P2V carry is ours.
    pub(crate) enum Message {
        /// The sender wants in and asks for the addressee's vote.
        Req { req: Stamp, held: u32 } of req.id = "REQ",
        /// The sender's vote, lent to `req`.
        Vote {
            req: Stamp,
            serial: u64,
            fence: u64,
            done: Vec<u64>,
        } of req.id = "VOTE",
        /// The sender's vote is out, with `holder`.
        No {
            req: Stamp,
            holder: Stamp,
            held: u32,
        } of req.id = "NO",
        /// Hand me the votes that your request of time `rival` has.
        P2req { claim: Claim, rival: u64 } of claim.req.id = "P2REQ",
        /// Votes handed over to `req`.
        P2v {
            req: Stamp,
            tokens: Vec<Token>,
            fence: u64,
            done: Vec<u64>,
        } of req.id = "P2V",
        /// `req` is finished, and if the addressee's vote was with it, here it is.
        Rel {
            req: Stamp,
            serial: Option<u64>,
            fence: u64,
        } of req.id = "REL",
    }
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
