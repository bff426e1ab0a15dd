//! Carvalho and Roucairol's algorithm: a permission once given stays given until it is asked back.
//!
//! O. S. F. Carvalho, G. Roucairol, "On mutual exclusion in computer networks", Communications of the
//! ACM 26(2), 1983; as a dynamic information structure in B. A. Sanders, "The information structure of
//! distributed mutual exclusion algorithms", ACM Transactions on Computer Systems 5(3), 1987, section
//! 8, whose rules and sets these are.
//!
//! Of any two nodes one has the other's permission. It asks only those whose permission it has not,
//! its request set R, and a reply moves the permission:
//!
//! ```text
//!     0 may enter as far as 1 is concerned:   R_0 = {}     R_1 = {0}
//!     1 --REQUEST--> 0 --REPLY--> 1           R_0 = {1}    R_1 = {}
//! ```
//!
//! I and S are kept beside R, to check Sanders' two conditions: j in I_i means that i is to tell j, and
//! S_j knows it.
//!
//! Cost: 0 to `2(n-1)` messages per entry: none for who was alone and last, `n-1` on average when one
//! node at a time, drawn uniformly, asks. Links need not keep order.

use std::collections::BTreeSet;

use crate::common::broadcast;
use crate::common::phase::Phase;
use crate::common::stamp::Stamp;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::params::Param;
use crate::permission::requester::Requester;
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, FormKind, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "carvalho-roucairol", title: "Carvalho and Roucairol",
    paper: "O. S. F. Carvalho, G. Roucairol, \"On mutual exclusion in computer networks\", CACM \
            26(2), 1983; Sanders 1987, section 8",
    cost: "0 to 2(N-1) messages per entry",
    family Permission, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[Param::choice(
            "start",
            &["all", "staircase"],
            "whom each asks at first: all others, as in the paper, or those with smaller numbers",
        )],
        defects: DEFECTS, forms: &[broadcast::two_each(FormKind::AtMost)],
    },
    explanation: EXPLANATION,
    // I, R and S together name everybody once or twice.
    node CarvalhoRoucairol, further bytes: |nodes| 24 * nodes,
};

const EXPLANATION: &str = "\
Ricart and Agrawala's nodes ask everybody for every entry. Here a reply is a
permission to enter as often as one likes, until the other asks for it back.

Each node knows whom it must ask, its request set R: those whose permission it
does not have. It enters when R is empty.

    R_0 = {}                       R_1 = {0}
    0 enters and leaves, twice,    1 wants in:
    without a message              1 -- REQUEST 3 --> 0
    0 -- REPLY --> 1               0 is idle, or asked later: it replies
    R_0 = {1}                      R_1 = {}: 1 enters

Who is inside, or waits with a smaller pair (time stamp, node), puts its reply
off until it leaves. Who waits with a larger pair replies, and must ask again at
once, for with the reply it has given its permission away.

Why it is safe: of two nodes at most one has the permission of the pair, and who
is inside has the permission of every pair it is in. Why nobody starves: as in
Ricart and Agrawala's algorithm the smaller pair goes first, and nobody who has
seen my request can ask with a smaller pair again.

What it costs: a REQUEST and a REPLY for each whose permission is missing. A
node alone pays for its first entry and for no other; when everybody wants in
all the time, almost all permissions must be asked for every time, 2(N-1). With
one request at a time, by a node drawn uniformly, N-1 on average. From one exit
to the next entry it takes one message. Links need not keep order.

In Sanders' words the information structure is dynamic: a reply from i to j
puts j into I_i and R_i, and i into S_j.";

const DEFECTS: &[Defect] = &[
    Defect {
        id: "sanders-C1",
        what: "whoever replies while it waits has the other in R again, but it is not said that it \
               must ask again at once",
        rules: &["asks-back"],
        with: &[("start", "staircase")],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Deadlock)),
        schedule: "req 1; req 2; 1>0:REQUEST; req 0; 2>0:REQUEST; 2>1:REQUEST; 0>1:REPLY; exit 1; \
                   0>1:REQUEST; 0>2:REPLY; 1>2:REPLY; exit 2; 1>0:REPLY",
        result: "deadlock: 0 waits for 2, which it has not asked",
        ..Defect::BLANK
    },
    Defect {
        id: "sanders-C2",
        what: "a reply that arrives takes its sender out of R, but not out of I, which property a \
               wants to be part of R",
        rules: &["reply-ends-informing"],
        shows: Shows::World(World::of(&[1, 1], Fails::ProtocolError)),
        schedule: "req 0; 0>1:REQUEST; 1>0:REPLY; exit 0; req 1; 1>0:REQUEST; 0>1:REPLY; exit 1; \
                   1>0:RELEASE",
        result: "every exit sends RELEASEs to nodes that do not keep the sender's status",
        ..Defect::BLANK
    },
    Defect::told(
        "sanders-C3",
        "\"if j in I_i, then i in S_i\"; an algorithm \"will be satisfied\"",
        "read: if j in I_i then i in S_j; it will be correct",
    ),
    Defect {
        id: "banta-CR1",
        what: "the survey lets a node ask those who have asked it since its last request, and at \
               first nobody has",
        rules: &["starts-by-asking"],
        shows: Shows::World(World::of(&[1, 1], Fails::Exclusion)),
        schedule: "req 0; req 1",
        result: "0 and 1 are inside",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-CR2",
        what: "the survey clears the list when a node asks: who replies while it waits does not wait \
               for the other again",
        rules: &["asks-back", "waits-for-the-new"],
        with: &[("start", "staircase")],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Exclusion)),
        schedule: "req 1; req 2; 1>0:REQUEST; req 0; 2>0:REQUEST; 2>1:REQUEST; 0>1:REPLY; exit 1; \
                   0>1:REQUEST; 0>2:REPLY; 1>2:REPLY; 1>0:REPLY",
        result: "0 and 2 are inside",
        ..Defect::BLANK
    },
];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in and lacks the addressee's permission.
        Request { t: u64 } = "REQUEST",
        /// The sender gives its permission to the addressee.
        Reply = "REPLY",
        /// The sender has left. Only the printed rules send it (sanders-C2).
        Release = "RELEASE",
    }
}

node! {
    /// A node. Its sets leave itself out: it always asks and informs itself, without a message.
    pub(crate) struct CarvalhoRoucairol of setup with me
    given
        staircase = setup.setting.params.word("start") == "staircase",
        smaller = (0..setup.me.0).map(NodeId),
        larger = (setup.me.0 + 1..setup.nodes()).map(NodeId);
    {
        /// Our request, and R: those whose permission we have not.
        requester: Requester = Requester::new(setup.me, match staircase {
            // banta-CR1: the survey's first list is empty.
            _ if setup.without("starts-by-asking") => BTreeSet::new(),
            true => smaller.clone().collect(),
            false => smaller.clone().chain(larger.clone()).collect(),
        }),
        /// I: those who rely on us.
        inform_set: BTreeSet<NodeId> = smaller.clone().filter(|_| staircase).collect(),
        /// S: those we rely on.
        status_set: BTreeSet<NodeId> = larger.clone().filter(|_| staircase).collect(),
        /// Those whose reply we put off until we leave.
        deferred: BTreeSet<NodeId> = BTreeSet::new(),
        /// Rules that the prints leave out.
        asks_back: bool = !setup.without("asks-back"),
        reply_ends_informing: bool = !setup.without("reply-ends-informing"),
        waits_for_the_new: bool = !setup.without("waits-for-the-new"),
        /// As the survey has it: those we replied to since we asked.
        asked_since: BTreeSet<NodeId> = BTreeSet::new(),
    }
}

impl Algorithm for CarvalhoRoucairol {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requester.ask(|t| Message::Request { t }, out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requester.leave();
        // With sanders-C2 repaired nobody is left in I: who is inside has everybody's permission.
        for &other in &self.inform_set {
            out.send_for(self.me, other, Message::Release);
        }
        self.requester.request_set.append(&mut self.asked_since);
        for other in std::mem::take(&mut self.deferred) {
            self.grant(other, out);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { t } => {
                if self.requester.goes_before(Stamp { t, id: from }) {
                    self.deferred.insert(from);
                } else {
                    self.grant(from, out);
                }
            }
            Message::Reply if !self.requester.request_set.contains(&from) => {
                out.protocol_error(format!("a permission of {from} that we have already"));
            }
            Message::Reply => {
                self.requester.request_set.remove(&from);
                // sanders-C2: the second rule of section 8 does not say this.
                if self.reply_ends_informing {
                    self.inform_set.remove(&from);
                }
                self.status_set.insert(from);
                self.requester.try_enter(out);
            }
            Message::Release if !self.status_set.contains(&from) => {
                out.protocol_error(format!("{from} left, and we do not keep its status"));
            }
            Message::Release => {}
        }
    }

    ignores! { timer, peer: "the permission of the dead is gone with them", link }

    fn draw(&self, view: &mut View) {
        view.set("asks", &self.requester.request_set);
        view.set("informs", &self.inform_set);
        view.set("relies on", &self.status_set);
        view.set("deferred", &self.deferred);
    }

    invariants! {
        "the union of the local views satisfies the theorem (section 8, first \
         condition)": the_views_are_safe,
        "if j is in I_i, then i is in S_j, or a reply is on its way (section 8, second \
         condition)": the_views_are_consistent,
        "of two nodes at most one has the permission": one_permission,
    }
}

impl CarvalhoRoucairol {
    /// Gives our permission away; who still wants in must ask for the other's at once.
    fn grant(&mut self, other: NodeId, out: &mut Outbox<Message>) {
        let waits = self.requester.phase == Phase::Waiting;
        let asked = self.requester.request_set.contains(&other);
        out.send_for(other, other, Message::Reply);
        self.status_set.remove(&other);
        // banta-CR2: the survey's list of those to wait for was fixed when we asked.
        if waits && !asked && !self.waits_for_the_new {
            self.asked_since.insert(other);
            return;
        }
        self.inform_set.insert(other);
        self.requester.request_set.insert(other);
        // sanders-C1: the first rule of section 8 does not say this.
        if waits && !asked && self.asks_back {
            let t = self.requester.stamp.t;
            out.send_for(self.me, other, Message::Request { t });
        }
    }
}

fn reply_under_way(world: &Snapshot<'_, CarvalhoRoucairol>, i: NodeId, j: NodeId) -> bool {
    let between = |from, to| (from, to) == (i, j) || (from, to) == (j, i);
    let mut flight = world.flight.iter();
    flight.any(|&(from, to, message)| between(from, to) && *message == Message::Reply)
}

fn the_views_are_safe(world: &Snapshot<'_, CarvalhoRoucairol>) -> Result<(), String> {
    for (i, node) in world.alive() {
        if let Some(k) = node
            .inform_set
            .difference(&node.requester.request_set)
            .next()
        {
            return Err(format!("{k} is in I{i} and not in R{i}"));
        }
        for (j, other) in world.alive().filter(|&(j, _)| j > i) {
            let meet = node.inform_set.contains(&j)
                || other.inform_set.contains(&i)
                || !node.inform_set.is_disjoint(&other.inform_set);
            let ask_each_other =
                node.requester.request_set.contains(&j) && other.requester.request_set.contains(&i);
            if !meet && !ask_each_other {
                return Err(format!("{i} and {j} know nothing of each other"));
            }
        }
    }
    Ok(())
}

fn the_views_are_consistent(world: &Snapshot<'_, CarvalhoRoucairol>) -> Result<(), String> {
    for (i, node) in world.alive() {
        for &j in &node.inform_set {
            let keeps = world.nodes[j.index()].is_none_or(|other| other.status_set.contains(&i));
            if !keeps && !reply_under_way(world, i, j) {
                return Err(format!("{j} is in I{i}, but {i} is not in S{j}"));
            }
        }
    }
    Ok(())
}

fn one_permission(world: &Snapshot<'_, CarvalhoRoucairol>) -> Result<(), String> {
    for (i, node) in world.alive() {
        for (j, other) in world.alive().filter(|&(j, _)| j > i) {
            let i_has_it = !node.requester.request_set.contains(&j);
            let j_has_it = !other.requester.request_set.contains(&i);
            if i_has_it && j_has_it {
                return Err(format!(
                    "{i} and {j} may both enter without asking the other"
                ));
            }
        }
    }
    Ok(())
}
