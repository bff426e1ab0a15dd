//! Banta's algorithm for k inside: a token with a queue and a semaphore.
//!
//! P. Banta, "Distributed mutual exclusion algorithms", M.S. thesis, University of Nevada, Las Vegas,
//! 1993, chapter 6.
//!
//! The queue, the good site and the wait are those of the efficient algorithm. But the token does not
//! stay while a site is inside: it carries a semaphore, the number of free slots; each site takes one
//! if there is one, passes the token on at once, and when it leaves releases its slot to the k-th
//! site behind it, or to the good site if that is nearer.
//!
//! ```text
//!     queue [1 2 3 4*], k = 2      1 and 2 enter; 3 waits for 1, and 4 for all
//!     1 leaves: RELEASE to 3       3 enters
//!     2, 3 leave: RELEASE to 4     4 has both slots
//! ```
//!
//! Cost: a cycle of `m` entries takes `m` REQUESTs, `n-1-m` UPDATEs, `m` TOKENs and `m-1` RELEASEs,
//! so `2 + (n-2)/m` messages per entry; the thesis says `2 + n/m`. Links need not keep order.
//! With `mode=drain` as designed: the good site waits until all slots are home and is then inside
//! alone. With `mode=pipeline` it takes one slot like anybody and begins the next cycle while it is
//! inside; the slots that are out when the token leaves it owes to the first of the next cycle.
//! Added: everything that the efficient algorithm needed, and what the thesis leaves open about the
//! release site and the count of releases.

mod defects;
mod drain;
mod entry;
mod line;
mod pipeline;

use serde::{Deserialize, Serialize};

use crate::contract::{NodeId, Timer, messages, shown};
use crate::token::banta_efficient::queue;

pub(crate) use entry::INFO;

messages! {
    /// What sites say to each other.
    pub(crate) enum Message, shown as below {
        /// `site` wants the token.
        Request { site: NodeId } of site = "REQUEST",
        /// `good` is the site to ask since that epoch began.
        Update { good: NodeId, epoch: u64 } = "UPDATE",
        /// The token itself. The first of its queue is the addressee.
        Token(Token) = "TOKEN",
        /// A slot for the addressee.
        Release = "RELEASE",
    }
}

/// What goes from site to site.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    /// What it carries in the algorithm for one.
    line: queue::Token,
    /// How many slots are free.
    semaphore: u32,
}

shown! {
    Message:
    Self::Request { site } => "Request({site})",
    Self::Update { good, epoch } => "Update({good} epoch {epoch})",
    Self::Token(token) => "Token({token:?})",
    Self::Release => "Release",
}

// The semaphore, then the queue with a star behind the good site, as the thesis draws it.
shown! { Token: Self { semaphore, line } => "{semaphore} {line:?}" }

const WAIT: Timer = Timer::named("wait");
