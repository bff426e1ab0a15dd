//! Neilsen and Mizuno's algorithm: a request climbs a tree, the token comes back in one step.
//!
//! M. L. Neilsen, M. Mizuno, "A DAG based algorithm for distributed mutual exclusion", 11th
//! International Conference on Distributed Computing Systems, 1991.
//!
//! The sites form a logical tree whose edges never change, only their direction: `last` points to the
//! neighbour on the way to the site that asked last, the sink. The waiting line is a chain of `next`,
//! and the token goes from site to site of that chain without regard to the tree:
//!
//! ```text
//!     last:  1 --> 0 --> 2*       1 asks: REQUEST from 1 to 0, from 0 to 2, and the edges turn round
//!            1 <-- 0 <-- 2*       next: 2 --> 1; 2 leaves: PRIVILEGE from 2 to 1
//! ```
//!
//! Cost: `d + 1` messages for a request `d > 0` edges away from the sink, so at most `D + 1` on a tree of
//! diameter D: 3 on a star. Links need not keep order.
//! Kept from the paper: HOLDING, LAST and NEXT, and the two procedures P1 and P2.
//! Left out: how the paper's sites agree on the first directions; here they are computed.
//! The original's text was not at hand: this is built from its description in textbooks and surveys.

use crate::common::phase::Phase;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::params::{Param, Params};
use crate::registry::{ALONE, AlgorithmInfo, Circumstances, ClosedForm, FormKind, WHOLE, info};
use crate::topology::{Shape, Topology};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "neilsen-mizuno", title: "Neilsen and Mizuno",
    paper: "M. L. Neilsen, M. Mizuno, \"A DAG based algorithm for distributed mutual exclusion\", \
            ICDCS, 1991",
    cost: "distance + 1 alone, at most D + 1: 3 on a star",
    family Token, graph Complete, order Any, links Patient, token Some("PRIVILEGE"),
    more: {
        params: &[Param::choice(
            "tree",
            &["star", "path", "binary"],
            "the logical tree: node 0 in the middle, a path, or node i at node (i-1)/2",
        )],
        forms: &[
            ClosedForm::messages(FormKind::Mean, "mean distance + (N-1)/N", ALONE, light),
            ClosedForm::messages(FormKind::AtMost, "D + 1", WHOLE, at_most),
        ],
    },
    explanation: EXPLANATION,
    node NeilsenMizuno, further bytes: |_| 0,
};

const EXPLANATION: &str = "\
There is one token, the PRIVILEGE; the site that has it may enter. The sites
form a logical tree. Its edges stay where they are, only their direction
changes. Each site remembers three things:

    last      the neighbour on the way to the sink; nobody, at the sink itself
    next      who gets the token from it
    holding   the token is here, and nobody uses it

The sink is the site that asked last. Who wants in sends a REQUEST to `last` and
becomes the sink. Each site that passes the request on turns `last` to the
neighbour it came from. The old sink sends the token, if it holds it, or else
remembers the requester as its `next`.

    2 is inside; arrows are `last`       1 asks, and then 3

        1 --> 0 --> 2*                       1 --> 0 <-- 2      2.next = 1
              ^                                    |
              3                                    v
                                                   3            1.next = 3

    2 leaves: PRIVILEGE from 2 to 1; 1 leaves: PRIVILEGE from 1 to 3

A request climbs the tree edge by edge; the token takes no such detour.

Why it is safe: there is one token. Why nobody starves: the arrows always lead
to the end of the waiting line, so a new request is behind all those before it.

What it costs: d REQUESTs for the d edges to the sink, and one PRIVILEGE;
nothing, where the token is at hand. That is at most D + 1, and 3 on a star,
where the mean is 3 - 5/N + 2/N^2 for one request at a time. Raymond's tree
takes 2d, for its token goes back by the edges. From one exit to the next entry
it takes one message. A site stores three values however many sites there are.
Links need not keep order.";

/// The tree that the sites form.
fn tree(params: &Params, nodes: u32) -> Topology {
    let shape = match params.word("tree") {
        "path" => Shape::Path,
        "binary" => Shape::default_for(crate::registry::Graph::Tree, nodes),
        _ => Shape::Star,
    };
    shape.build(nodes, 0).expect("these shapes fit every size")
}

/// The neighbour of `me` towards the holder of that tree, worked out for one site alone: in a large
/// group nobody builds the tree for each.
fn towards(params: &Params, me: NodeId, holder: NodeId) -> Option<NodeId> {
    let above = |node: u32| node.checked_sub(1).map(|node| node / 2);
    if me == holder {
        return None;
    }
    Some(match params.word("tree") {
        "path" if me < holder => NodeId(me.0 + 1),
        "path" => NodeId(me.0 - 1),
        "binary" => {
            // The way from the holder up to the root either comes by, from one of our children, or not.
            let mut below = holder.0;
            loop {
                match above(below) {
                    Some(parent) if parent == me.0 => break NodeId(below),
                    Some(parent) => below = parent,
                    None => break NodeId(above(me.0).expect("the root is on every way up")),
                }
            }
        }
        _ if me == NodeId(0) => holder,
        _ => NodeId(0),
    })
}

/// The sink is where the last request was made: requester and sink are two sites drawn uniformly.
fn light(run: &Circumstances<'_>) -> Option<f64> {
    let nodes = f64::from(run.nodes);
    let distance = tree(run.params, run.nodes).mean_distance()?;
    run.is_alone().then(|| distance + (nodes - 1.0) / nodes)
}

fn at_most(run: &Circumstances<'_>) -> Option<f64> {
    let diameter = diameter(run.params.word("tree"), run.nodes);
    let most = if diameter == 0 { 0 } else { diameter + 1 };
    run.is_whole().then(|| f64::from(most))
}

/// D, the edges between the two sites of the tree that are farthest apart.
fn diameter(tree: &str, nodes: u32) -> u32 {
    match (tree, nodes) {
        (_, 1) => 0,
        ("path", nodes) => nodes - 1,
        ("binary", nodes) => {
            // The lowest level fills from the left. The other half of the tree is as deep only where
            // that level reaches into it.
            let depth = nodes.ilog2();
            let lowest = nodes + 1 - (1 << depth);
            let other_half = depth - u32::from(lowest <= 1 << (depth - 1));
            depth + other_half
        }
        (_, nodes) => (nodes - 1).min(2),
    }
}

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// `origin` wants the token; passed on from neighbour to neighbour until it is at the sink.
        Request { origin: NodeId } of origin = "REQUEST",
        /// The token goes to the addressee.
        Privilege = "PRIVILEGE",
    }
}

node! {
    /// What one site knows.
    pub(crate) struct NeilsenMizuno of setup with me, nodes {
        /// HOLDING: the token is here, and nobody uses it.
        holding: bool = setup.is_holder(),
        /// LAST: the neighbour towards the sink; none at the sink itself.
        last: Option<NodeId> = towards(&setup.setting.params, setup.me, setup.setting.holder),
        /// NEXT: who gets the token from us.
        next: Option<NodeId> = None,
        phase: Phase = Phase::Idle,
    }
}

impl Algorithm for NeilsenMizuno {
    declared! { Message }

    /// P1, up to the critical section.
    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        if self.holding {
            self.holding = false;
            self.phase = Phase::Inside;
            out.enter();
            return;
        }
        self.phase = Phase::Waiting;
        match self.last.take() {
            Some(last) => out.send_for(self.me, last, Message::Request { origin: self.me }),
            None => out.protocol_error("no way leads to the token"),
        }
    }

    /// P1, from the critical section on.
    fn release(&mut self, out: &mut Outbox<Message>) {
        self.phase = Phase::Idle;
        match self.next.take() {
            Some(next) => out.send_for(next, next, Message::Privilege),
            None => self.holding = true,
        }
    }

    /// P2, and the wait for the token in P1.
    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { origin } if origin.0 >= self.nodes => {
                out.protocol_error(format!(
                    "{from} passed on a request of {origin}, nobody here"
                ));
            }
            Message::Request { origin } => self.pass_on(from, origin, out),
            Message::Privilege if self.phase != Phase::Waiting => {
                out.protocol_error(format!("a token from {from} that nobody waits for"));
            }
            Message::Privilege => {
                self.phase = Phase::Inside;
                out.enter();
            }
        }
    }

    ignores! { timer, peer: "a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("last", self.last);
        view.points_to("next", self.next);
        view.token(self.holding || self.phase == Phase::Inside);
        view.mark("sink", self.last.is_none());
    }

    invariants! {
        "there is one token": one_token,
        "a request is in one place until it is served": requests_are_in_one_place,
        "an edge has one direction, or a request is on it": edges_have_one_direction,
    }
}

impl NeilsenMizuno {
    /// P2: a request of `origin` comes from a neighbour, to which we then point.
    fn pass_on(&mut self, from: NodeId, origin: NodeId, out: &mut Outbox<Message>) {
        match self.last.replace(from) {
            Some(last) => out.send_for(origin, last, Message::Request { origin }),
            None if self.holding => {
                self.holding = false;
                out.send_for(origin, origin, Message::Privilege);
            }
            None if self.next.is_some() => {
                out.protocol_error(format!("{origin} asks a sink that has a next one"));
            }
            None => self.next = Some(origin),
        }
    }
}

fn one_token(world: &Snapshot<'_, NeilsenMizuno>) -> Result<(), String> {
    world.one_token(
        |site| site.holding || site.phase == Phase::Inside,
        |message| *message == Message::Privilege,
    )
}

fn requests_are_in_one_place(world: &Snapshot<'_, NeilsenMizuno>) -> Result<(), String> {
    let queued = world.alive().filter_map(|(_, site)| site.next);
    let under_way = world.flight.iter().map(|(_, to, message)| match message {
        Message::Request { origin } => *origin,
        Message::Privilege => *to,
    });
    world.in_one_place(queued.chain(under_way), |site| site.phase == Phase::Waiting)
}

/// No two sites point at each other, and no request travels along an edge that still has a direction:
/// so a request always goes on, and never meets another one.
fn edges_have_one_direction(world: &Snapshot<'_, NeilsenMizuno>) -> Result<(), String> {
    let pointers = world
        .alive()
        .filter_map(|(me, site)| Some((me, site.last?)));
    let requests = world.flight.iter().filter_map(|&(from, to, message)| {
        matches!(message, Message::Request { .. }).then_some((from, to))
    });
    let mut edges = std::collections::BTreeSet::new();
    for (from, to) in pointers.chain(requests) {
        if !edges.insert((from.min(to), from.max(to))) {
            return Err(format!("the edge of {from} and {to} is used twice"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(tree: &str) -> Params {
        INFO.choose(&[("tree", tree)])
            .expect("the parameter is there")
    }

    #[test]
    fn the_first_directions_lead_along_the_tree_to_the_holder() {
        for word in ["star", "path", "binary"] {
            for nodes in 1..=20 {
                let params = with(word);
                let topology = tree(&params, nodes);
                for holder in (0..nodes).map(NodeId) {
                    let wanted = topology.towards(holder).expect("it is a tree");
                    for me in (0..nodes).map(NodeId).filter(|&me| me != holder) {
                        let first = towards(&params, me, holder);
                        assert_eq!(
                            first,
                            Some(wanted[me.index()]),
                            "{word} {nodes} {me} {holder}"
                        );
                    }
                    assert_eq!(towards(&params, holder, holder), None);
                }
            }
        }
    }

    #[test]
    fn no_two_sites_are_farther_apart_than_the_diameter_and_two_are_as_far() {
        for word in ["star", "path", "binary"] {
            for nodes in 1..=20 {
                let topology = tree(&with(word), nodes);
                let farthest = (0..nodes).map(NodeId).flat_map(|root| {
                    let towards = topology.towards(root).expect("it is a tree");
                    (0..nodes)
                        .map(NodeId)
                        .map(move |from| {
                            let step = |&at: &NodeId| Some(towards[at.index()]);
                            let way = std::iter::successors(Some(from), step);
                            way.take_while(|&at| at != root).count() as u32
                        })
                        .collect::<Vec<_>>()
                });
                assert_eq!(
                    farthest.max(),
                    Some(diameter(word, nodes)),
                    "{word}, {nodes} nodes"
                );
            }
        }
    }
}
