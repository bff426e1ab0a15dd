//! A process as a voter: one vote, at home or lent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::common::stamp::Stamp;
use crate::contract::NodeId;
use crate::params::{Params, Value};

/// One vote: the process that has it, and those that want it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Voter {
    /// Where the vote is, unless it is at home.
    pub(crate) out: Option<Loan>,
    /// How often it has been lent.
    pub(crate) serial: u64,
    /// Requests that are not known to be finished.
    pub(crate) q: BTreeMap<Stamp, Queued>,
    order: Order,
    /// The time of each process's last finished request, as far as known.
    pub(crate) done: Vec<u64>,
}

/// A request that wants the vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Queued {
    /// What its process holds, or how urgent it is.
    held: u32,
    /// In which place it came, where that decides; else 0 for all.
    arrival: u64,
}

/// Who has the vote first of those that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Order {
    /// The oldest request.
    Stamp,
    /// Who asked this voter first, as in Thomas's algorithm.
    Arrival,
}

impl Order {
    pub(crate) fn of(params: &Params) -> Self {
        match params.get("queue") {
            Some(Value::Word(word)) if word == "arrival" => Order::Arrival,
            Some(_) | None => Order::Stamp,
        }
    }
}

/// A vote that is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Loan {
    pub(crate) serial: u64,
    /// The first to have it; it may have been handed on since.
    pub(crate) to: Stamp,
}

impl Voter {
    pub(crate) fn new(nodes: u32, order: Order) -> Self {
        Self {
            order,
            out: None,
            serial: 0,
            q: BTreeMap::new(),
            done: vec![0; nodes as usize],
        }
    }

    /// Queues a request unless it is finished. Returns an older one of the same process that must
    /// be finished, since a process has one at a time.
    pub(crate) fn queue(&mut self, req: Stamp, held: u32) -> Option<Stamp> {
        if req.t <= self.done[req.id.index()] {
            return None;
        }
        let older = |other: &&Stamp| other.id == req.id && **other < req;
        let older = self.q.keys().find(older).copied();
        let arrival = match (self.order, self.q.get(&req)) {
            (Order::Stamp, _) => 0,
            (Order::Arrival, Some(known)) => known.arrival,
            (Order::Arrival, None) => {
                let last = self.q.values().map(|queued| queued.arrival).max();
                last.unwrap_or(0) + 1
            }
        };
        self.q.insert(req, Queued { held, arrival });
        older
    }

    /// Learns that a request and all before it are finished; says whether that is news.
    pub(crate) fn learn(&mut self, id: NodeId, t: u64) -> bool {
        let done = &mut self.done[id.index()];
        if t <= *done {
            return false;
        }
        *done = t;
        self.q.retain(|req, _| req.id != id || req.t > t);
        true
    }

    /// Lends the vote, if it is at home, to the request that is first.
    pub(crate) fn lend(&mut self) -> Option<Loan> {
        if self.out.is_some() {
            return None;
        }
        let places = self.q.iter().map(|(&req, queued)| (queued.arrival, req));
        let (_, to) = places.min()?;
        self.serial = self.serial.saturating_add(1);
        let serial = self.serial;
        self.out = Some(Loan { serial, to });
        self.out
    }

    /// The vote comes home. It is known by its serial number, never by whom it was lent to: it may
    /// outlive that request in the hands of another.
    pub(crate) fn take_back(&mut self, serial: u64) {
        self.out.take_if(|loan| loan.serial == serial);
    }

    /// What the process of a queued request holds.
    pub(crate) fn held(&self, req: Stamp) -> u32 {
        self.q.get(&req).map_or(0, |queued| queued.held)
    }
}
