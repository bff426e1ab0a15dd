//! Maekawa's algorithm: ask a quorum; every two quorums share an arbiter.
//!
//! M. Maekawa, "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on
//! Computer Systems 3(2), 1985.
//!
//! Each node locks the members of its quorum, each of which can be locked by one node at a time. So
//! that two nodes never hold half of what both need for ever, a member that hears of a smaller stamp
//! asks the one that has locked it to relinquish:
//!
//! ```text
//!     2 --REQUEST--> 1 --LOCKED--> 2
//!     0 --REQUEST--> 1 --INQUIRE--> 2             (1,0) < (1,2)
//!          2 has FAILED elsewhere: 2 --RELINQUISH--> 1 --LOCKED--> 0
//! ```
//!
//! Cost: `3(K-1)` messages per entry for quorums of K when nobody competes, about `4(K-1)` when all do.
//! With the lines of a projective plane K is about √N.
//! Corrected: a node that is overtaken in a queue is told (maekawa-M1), as B. A. Sanders noted in
//! 1987. The algorithm is then that of `sanders` with I = R = the quorum, message for message.
//! The original's text was not at hand: what `--as-printed` runs is reconstructed from descriptions.

use std::collections::BTreeSet;

use crate::common::stamp::Stamp;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::params::{Param, Params};
use crate::permission::sanders::costs;
use crate::permission::sanders::structure::{Set, Structure};
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "maekawa", title: "Maekawa",
    paper: "M. Maekawa, \"A sqrt(N) algorithm for mutual exclusion in decentralized systems\", ACM \
            TOCS 3(2), 1985",
    cost: "3(K-1) to 5(K-1); K: 2 sqrt(N)-1 (grid), about sqrt(N) (plane)",
    // order: an INQUIRE that overtakes its LOCKED is taken for an old one.
    family Permission, graph Complete, order Fifo, links Patient, token None,
    more: {
        params: &[Param::text(
            "quorums",
            "grid",
            "plane, grid, cyclic, tree, mq, or each node's quorum such as 0,1;1,2;0,2",
        )
        .such_as(&["plane", "grid", "cyclic", "tree", "mq", "0,1;1,2;0,2"])],
        refuses,
        defects: DEFECTS,
        forms: &[
            ClosedForm::messages(
                FormKind::Exact, "3(K-1)", "quorums of one size K, one request at a time", light,
            ),
            ClosedForm::messages(
                FormKind::AtLeast, "3(K-1)",
                "without faults, K the smallest quorum, where the window cuts no request in two",
                at_least,
            ),
        ],
    },
    explanation: EXPLANATION,
    // A quorum may be everybody.
    node Maekawa, further bytes: |nodes| 12 * nodes,
};

const EXPLANATION: &str = "\
Each node has a quorum, itself among it, and any two quorums have a node in
common. A node enters when it has locked its whole quorum; a node can be locked
by one at a time, so two nodes can never both have locked what they share.

    a plane of 7       quorum of 0: 0 1 3        of 1: 1 2 4       of 2: 2 3 5
                       of 3: 3 4 6    of 4: 4 5 0    of 5: 5 6 1    of 6: 6 0 2

With the lines of a finite projective plane K = |quorum| is about sqrt(N), the
least there is; rows and columns of a grid (K about 2 sqrt(N)) exist for any N.

    1 --REQUEST--> the others of its quorum
    free:        --LOCKED-->  1
    taken:       the request waits in a queue, smallest (time stamp, node) first
    1 leaves:    1 --RELEASE--> the same; each locks for the first in its queue

Two nodes might now hold half of what both need for ever. So a node that is not
next in some queue is told: FAILED. And a member that is locked by a larger
stamp asks it: INQUIRE. Who has FAILED somewhere answers RELINQUISH, goes back
into the queue, and the smaller stamp gets the lock. Who has not FAILED keeps
the question in mind: it will enter, or FAIL and answer then.

Why nobody starves: the smallest stamp of all is never told FAILED, and a node
that holds what it needs is inside, or will be told, and relinquishes.

What it costs: 3(K-1) when nobody competes; at most 2(K-1) more in conflict on
the way, about 4(K-1) in all when everybody wants in. From one exit to the next
entry it takes two messages, or one where the two share only one of them.
Links must keep the order of messages.";

const DEFECTS: &[Defect] = &[Defect {
    id: "maekawa-M1",
    what: "only the newcomer is told FAILED: who was first in a queue and is overtaken, while an \
           INQUIRE is out, never learns it",
    rules: &["the-overtaken-are-told"],
    with: &[("quorums", "mq")],
    shows: Shows::World(World::of(&[1, 1, 1], Fails::Deadlock)),
    schedule: "req 0; req 1; req 2; 0>1:REQUEST; 1>2:REQUEST; 0>2:REQUEST; 2>1:REQUEST; 1>2:FAILED; \
               2>0:LOCKED",
    result: "deadlock: 1 keeps its own lock, which 0 needs, and hopes for 2's, which 0 has",
    ..Defect::BLANK
}];

fn refuses(params: &Params, nodes: u32) -> Option<String> {
    let listed = match Structure::of_one_size(&word(params)) {
        Some(Err(why)) => return Some(why),
        Some(Ok(listed)) => Some(listed),
        None => None,
    };
    let complaint = listed.as_ref().and_then(complaint);
    complaint.or_else(|| quorums(params, nodes).err())
}

/// What is wrong with quorums that somebody has listed.
fn complaint(quorums: &Structure) -> Option<String> {
    let sets: Vec<_> = quorums.ids().map(|i| quorums.request_set(i)).collect();
    for (i, quorum) in quorums.ids().zip(&sets) {
        if quorums.inform_set(i) != *quorum {
            return Some(format!(
                "quorums: I{i} and R{i} differ; 'sanders' runs any structure"
            ));
        }
        if !quorum.contains(&i) {
            return Some(format!("quorums: {i} is not in its own quorum; add it"));
        }
        let apart = |j: &NodeId| quorum.is_disjoint(&sets[j.index()]);
        if let Some(j) = quorums.ids().find(apart) {
            return Some(format!(
                "quorums: those of {i} and {j} do not meet; add a node to both"
            ));
        }
    }
    None
}

/// The quorums, as a structure with I = R.
fn quorums(params: &Params, nodes: u32) -> Result<Structure, String> {
    Structure::read(&word(params), nodes, NodeId(0))
}

/// Their name; or, where they are listed, the structure in which each is both I and R.
fn word(params: &Params) -> String {
    let word = params.word("quorums");
    let listed = word.contains([',', ';']) && !word.contains('/');
    let twice = |quorum: &str| format!("{quorum}/{quorum}");
    let written: Vec<_> = word.split(';').map(twice).collect();
    if listed {
        written.join(";")
    } else {
        word.to_owned()
    }
}

fn least(run: &Circumstances<'_>) -> Option<Vec<u32>> {
    let quorums = quorums(run.params, run.nodes).ok()?;
    let ids = quorums.ids();
    Some(ids.map(|i| costs::least_messages(&quorums, i)).collect())
}

fn light(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_alone() {
        return None;
    }
    let least = least(run)?;
    let alike = least.iter().all(|cost| *cost == least[0]);
    alike.then(|| f64::from(least[0]))
}

fn at_least(run: &Circumstances<'_>) -> Option<f64> {
    if !run.is_whole() {
        return None;
    }
    least(run)?.into_iter().min().map(f64::from)
}

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in.
        Request { t: u64 } = "REQUEST",
        /// The sender is locked for the addressee.
        Locked = "LOCKED",
        /// Somebody else comes first here.
        Failed = "FAILED",
        /// Can you succeed? Somebody with a smaller stamp has asked.
        Inquire = "INQUIRE",
        /// No: take the lock back.
        Relinquish = "RELINQUISH",
        /// The sender has left.
        Release = "RELEASE",
    }
}

node! {
    /// What one node knows.
    pub(crate) struct Maekawa of setup with me {
        quorum: Set = quorums(&setup.setting.params, setup.nodes())
            .expect("the registry refuses quorums that do not fit")
            .request_set(setup.me),
        clock: u64 = 0,
        /// Of our request while we wait or are inside.
        request: Option<Stamp> = None,
        inside: bool = false,
        /// The members of our quorum that are locked for us.
        locked: Set = Set::new(),
        /// Those where we are not next: they sent FAILED, or we relinquished, and no LOCKED since.
        failing: Set = Set::new(),
        /// Those that inquired and wait for an answer.
        inquirers: Set = Set::new(),
        /// For whom we are locked.
        locking_request: Option<Stamp> = None,
        /// Those who wait for us.
        waiting_queue: BTreeSet<Stamp> = BTreeSet::new(),
        /// The one we are locked for has been inquired.
        inquired: bool = false,
        /// Those who wait for us and know that they are not next.
        told: Set = Set::new(),
        /// The rule that the original lacks.
        the_overtaken_are_told: bool = !setup.without("the-overtaken-are-told"),
    }
}

impl Algorithm for Maekawa {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.clock = self.clock.saturating_add(1);
        self.request = Some(Stamp {
            t: self.clock,
            id: self.me,
        });
        for &member in &self.quorum {
            out.send(member, Message::Request { t: self.clock });
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.request = None;
        self.inside = false;
        self.locked.clear();
        for &member in &self.quorum {
            out.send(member, Message::Release);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        let waits = self.request.is_some() && !self.inside;
        match message {
            Message::Request { t } => self.queue(Stamp { t, id: from }, out),
            Message::Release | Message::Relinquish if !self.is_locked_for(from) => {
                out.protocol_error(format!("{from} gives back a lock it does not have"));
            }
            Message::Release => self.unlock(out),
            Message::Relinquish => {
                self.waiting_queue.extend(self.locking_request);
                self.told.insert(from);
                self.unlock(out);
            }
            Message::Locked if !waits || !self.quorum.contains(&from) => {
                out.protocol_error(format!("{from} is locked for us, and nobody asked"));
            }
            Message::Locked => {
                self.locked.insert(from);
                self.failing.remove(&from);
                if self.locked == self.quorum {
                    self.inside = true;
                    self.failing.clear();
                    self.inquirers.clear();
                    out.enter();
                }
            }
            Message::Failed if !waits => {
                out.protocol_error(format!("{from} fails a request that nobody makes"));
            }
            Message::Failed => {
                self.failing.insert(from);
                for inquirer in std::mem::take(&mut self.inquirers) {
                    self.relinquish(inquirer, out);
                }
            }
            // Inside, or about a lock of the past: the RELEASE is the answer.
            Message::Inquire if !waits || !self.locked.contains(&from) => {}
            Message::Inquire if self.failing.is_empty() => {
                self.inquirers.insert(from);
            }
            Message::Inquire => self.relinquish(from, out),
        }
    }

    ignores! { timer, peer: "nothing is done about a death; 'sanders' with recovery=on does", link }

    fn draw(&self, view: &mut View) {
        view.set("quorum", &self.quorum);
        view.set("locked for us", &self.locked);
        view.points_to("locked by", self.locking_request.map(|request| request.id));
        view.queue(
            "waiting_queue",
            self.waiting_queue.iter().map(|request| request.id),
        );
    }

    invariants! {
        "a lock that somebody has is on that one, and on nobody else": locks_are_true,
        "a node that is not next somewhere knows it, or will": the_hopeless_know,
    }
}

impl Maekawa {
    fn is_locked_for(&self, node: NodeId) -> bool {
        self.locking_request.is_some_and(|stamp| stamp.id == node)
    }

    /// A request arrives: it locks us, or waits.
    fn queue(&mut self, newcomer: Stamp, out: &mut Outbox<Message>) {
        self.clock = self.clock.max(newcomer.t);
        if self
            .waiting_queue
            .iter()
            .any(|stamp| stamp.id == newcomer.id)
        {
            out.protocol_error(format!("{} asks again before it was served", newcomer.id));
            return;
        }
        self.waiting_queue.insert(newcomer);
        let Some(holder) = self.locking_request else {
            self.lock_for_the_first(out);
            return;
        };
        if newcomer < holder && !self.inquired {
            self.inquired = true;
            out.send(holder.id, Message::Inquire);
        }
        let first = self.waiting_queue.first().copied();
        for &stamp in &self.waiting_queue {
            let not_next = holder < stamp || Some(stamp) != first;
            // maekawa-M1: the original looks at the newcomer only.
            let looked_at = stamp == newcomer || self.the_overtaken_are_told;
            if not_next && looked_at && self.told.insert(stamp.id) {
                out.send(stamp.id, Message::Failed);
            }
        }
    }

    fn lock_for_the_first(&mut self, out: &mut Outbox<Message>) {
        if let Some(first) = self.waiting_queue.pop_first() {
            self.told.remove(&first.id);
            self.locking_request = Some(first);
            out.send(first.id, Message::Locked);
        }
    }

    fn unlock(&mut self, out: &mut Outbox<Message>) {
        self.locking_request = None;
        self.inquired = false;
        self.lock_for_the_first(out);
    }

    fn relinquish(&mut self, member: NodeId, out: &mut Outbox<Message>) {
        self.locked.remove(&member);
        self.failing.insert(member);
        out.send(member, Message::Relinquish);
    }
}

fn locks_are_true(world: &Snapshot<'_, Maekawa>) -> Result<(), String> {
    for (i, node) in world.alive() {
        for &k in &node.locked {
            let Some(member) = world.nodes[k.index()] else {
                continue;
            };
            if member.locking_request != node.request {
                let locked_for = member.locking_request;
                return Err(format!(
                    "{i} has locked {k}, which is locked for {locked_for:?}"
                ));
            }
        }
    }
    Ok(())
}

fn the_hopeless_know(world: &Snapshot<'_, Maekawa>) -> Result<(), String> {
    for (k, member) in world.alive() {
        for (place, stamp) in member.waiting_queue.iter().enumerate() {
            let i = stamp.id;
            let is_next = place == 0 && Some(*stamp) < member.locking_request;
            let knows = world.nodes[i.index()].is_none_or(|node| node.failing.contains(&k));
            let mut flight = world.flight.iter();
            let will = flight
                .any(|&(from, to, message)| (from, to) == (k, i) && *message == Message::Failed);
            if !is_next && !knows && !will {
                return Err(format!("{i} is not next at {k} and will not hear of it"));
            }
        }
    }
    Ok(())
}
