//! Raymond's tree algorithm.
//!
//! K. Raymond, "A tree-based algorithm for distributed mutual exclusion",
//! ACM Transactions on Computer Systems 7(1), 1989.
//!
//! The sites form a tree and one privilege moves along its edges. A site knows nothing but the
//! direction of the privilege and which of its neighbours (or itself) wait for it:
//!
//! ```text
//!     0* <--- 1 <--- 2        2 asks: the request climbs the arrows
//!     0 ---> 1 ---> 2*        the privilege comes down and turns them
//! ```
//!
//! Cost: `2d` messages for an isolated request `d` hops away; `4(n-1)/n` per entry when saturated
//! (constant delay, hold no shorter than the delay). A request stands for everybody behind it, so
//! no message can be charged to one site's request. Links need not keep order.
//! Kept from the paper: names, the two procedures, and their order after every event.
//! Left out: recovery from a site failure.

use std::collections::VecDeque;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, Metric, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "raymond", title: "Raymond's tree",
    paper: "K. Raymond, \"A tree-based algorithm for distributed mutual exclusion\", ACM TOCS \
            7(1), 1989",
    cost: "2 x distance alone; 4(N-1)/N saturated",
    family Structure, graph Tree, order Any, links Patient, token Some("PRIVILEGE"),
    more: {
        defects: DEFECTS,
        forms: &[
            LIGHT,
            ClosedForm::messages(
                FormKind::Exact, "4(N-1)/N",
                "every site asks again the moment it leaves, constant hold >= constant delay, \
                 whole cycles",
                saturated,
            ),
        ],
    },
    explanation: EXPLANATION,
    // A queue of at most one's neighbours and oneself: four on average, in a tree.
    node Raymond, further bytes: |_| (4 * size_of::<NodeId>()) as u64,
};

const EXPLANATION: &str = "\
The sites form a tree, and one privilege moves along its edges; the site that
has it may enter. A site does not know where the privilege is, only in which
direction: its `holder` is the neighbour on the way to it.

    0* <--- 1 <--- 3        the arrows are `holder`; 0 has the privilege
            ^
            |
            2

    3 wants in:    3 --REQUEST--> 1 --REQUEST--> 0
    0 lets it go:  0 --PRIVILEGE--> 1 --PRIVILEGE--> 3
                   and every edge it crosses turns round

    0 ----> 1 ----> 3*
            ^
            |
            2

Each site has a queue of the neighbours (and itself) that want the privilege. It
asks its holder once, however many wait behind it: while its REQUEST is
unanswered, further requests only join the queue. When the privilege comes, it
goes to the first in the queue; if others remain, a new REQUEST follows it.

Why it is safe: there is one privilege. Why nobody starves: in every queue on
the way a request is behind at most one request per neighbour, and each of those
is served in turn. The order is not that of asking: a subtree far away waits
longer than one that is near.

What it costs: 2d messages for a single request d hops from the privilege, so it
depends on the tree: on average under 4 on a star, at most 4 log2 N on a binary
tree, 2N/3 on a path. When everybody always wants in, the privilege walks round
the whole tree and serves everybody on the way: 4(N-1) messages for N entries,
under 4 each however large the tree. A site's memory grows only with its
neighbours. Links need not keep order.";

const DEFECTS: &[Defect] = &[
    Defect {
        id: "banta-R1",
        what: "the survey serves a site's queue only when the privilege comes, so an idle root \
               neither lets it go nor uses it",
        rules: &["idle-root-serves"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock).on("path")),
        schedule: "req 1; 1>0:REQUEST",
        result: "deadlock: 0 has the privilege and no use for it, 1 waits",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-R2",
        "\"no special sequence numbers or queue structures are needed\", and log(n) messages",
        "a misreading: each site has a queue, and it is 2 x the distance to the privilege",
    ),
];

/// The privilege is where the last request was made, so requester and holder are two sites drawn
/// uniformly; a REQUEST goes one way and the privilege comes back, once per edge between them.
pub(crate) const LIGHT: ClosedForm = ClosedForm {
    metric: Metric::MessagesPerEntry,
    formula: "2 x mean distance",
    condition: "one request at a time, by a site drawn uniformly",
    value: light,
    kind: FormKind::Mean,
};

fn light(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone()
        .then(|| run.topology.mean_distance().map(|hops| 2.0 * hops))?
}

fn saturated(run: &Circumstances<'_>) -> Option<f64> {
    let (hold, delay) = run.saturated()?;
    (hold >= delay).then(|| 4.0 * f64::from(run.nodes - 1) / f64::from(run.nodes))
}

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// A neighbour wants the privilege, for itself or for a site behind it.
        Request = "REQUEST",
        /// The privilege goes to the addressee.
        Privilege = "PRIVILEGE",
    }
}

node! {
    /// What one site knows.
    pub(crate) struct Raymond of setup with me {
        /// The neighbour towards the privilege, or `me`.
        holder: NodeId = setup.towards_holder(),
        /// The local client is inside.
        using: bool = false,
        /// A request to `holder` is unanswered.
        asked: bool = false,
        /// Who waits here for the privilege: neighbours, or `me`.
        request_q: VecDeque<NodeId> = VecDeque::new(),
        /// A rule that Banta's survey leaves out.
        idle_root_serves: bool = !setup.without("idle-root-serves"),
    }
}

impl Algorithm for Raymond {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.request_q.push_back(self.me);
        self.serve(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.using = false;
        self.assign_privilege(out);
        self.make_request(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request if self.request_q.contains(&from) => {
                out.protocol_error(format!("{from} asked twice"));
            }
            Message::Request => {
                self.request_q.push_back(from);
                self.serve(out);
                return;
            }
            Message::Privilege if self.holder != from => {
                out.protocol_error(format!("a privilege from {from}, where it was not"));
            }
            Message::Privilege => self.holder = self.me,
        }
        self.assign_privilege(out);
        self.make_request(out);
    }

    ignores! { timer, peer: "the paper's recovery is left out: a lost privilege stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("holder", self.holder);
        view.queue("request_q", &self.request_q);
        view.token(self.holder == self.me);
        view.mark("asked", self.asked);
    }

    invariants! {
        "there is one privilege": one_privilege,
        "a site that asked is queued where it asked": the_asked_remember,
    }
}

impl Raymond {
    /// What follows a new request.
    fn serve(&mut self, out: &mut Outbox<Message>) {
        // banta-R1: the survey leaves this rule out.
        if self.idle_root_serves {
            self.assign_privilege(out);
        }
        self.make_request(out);
    }

    /// ASSIGN_PRIVILEGE: hands the privilege to the first in the queue.
    fn assign_privilege(&mut self, out: &mut Outbox<Message>) {
        if self.holder != self.me || self.using {
            return;
        }
        let Some(first) = self.request_q.pop_front() else {
            return;
        };
        self.holder = first;
        self.asked = false;
        if first == self.me {
            self.using = true;
            out.enter();
        } else {
            out.send(first, Message::Privilege);
        }
    }

    /// MAKE_REQUEST: asks once, however many wait behind us. If others still wait here when the
    /// privilege moves on, a new request follows it.
    fn make_request(&mut self, out: &mut Outbox<Message>) {
        if self.holder == self.me || self.request_q.is_empty() || self.asked {
            return;
        }
        self.asked = true;
        out.send(self.holder, Message::Request);
    }
}

fn one_privilege(world: &Snapshot<'_, Raymond>) -> Result<(), String> {
    world.one_token(
        |site| site.holder == site.me,
        |message| *message == Message::Privilege,
    )
}

fn the_asked_remember(world: &Snapshot<'_, Raymond>) -> Result<(), String> {
    world.nobody_asks_in_vain(
        |site| site.asked.then_some(site.holder),
        |holder, me| holder.request_q.contains(&me),
        |message, to_holder| match message {
            Message::Request => to_holder,
            Message::Privilege => !to_holder,
        },
    )
}
