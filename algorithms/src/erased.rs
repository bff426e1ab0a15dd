//! Algorithms with their types hidden, so that the engines are compiled once.
//!
//! Messages stay values: an engine holds a small [`MessageId`] and the value stays with its
//! algorithm until it is delivered, or becomes bytes at the socket. Two views serve the two ways
//! of running: a [`Group`] of members that live and change, and an [`Atlas`] of all local states
//! that an exhaustive search meets.

mod atlas;
mod group;
mod numbered;
mod shelf;

use crate::contract::{Algorithm, Change, Message, NodeId, Outbox, Request, Timer};
use crate::printed::Printed;
use crate::setup::Setting;

pub use atlas::{Atlas, Broken, StateId, Step};
pub use group::{DecodeError, Group};
pub use numbered::Numbered;
pub use shelf::Shelf;

/// A message held for an engine by a [`Group`] or an [`Atlas`].
///
/// A group's id stands for one message under way and is used up by its delivery. An atlas's id
/// stands for all messages of that value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

/// Something that happens to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Its client wants in.
    Request(Request),
    /// The local client leaves.
    Release,
    /// A message arrives.
    Receive {
        /// The node that sent the message.
        from: NodeId,
        /// The message that arrives.
        message: MessageId,
    },
    /// A timer goes off.
    Timer(Timer),
    /// Another member died or is back.
    Peer {
        /// The member that died or came back.
        peer: NodeId,
        /// What became of it.
        change: Change,
    },
    /// The link to a neighbour went down or came up.
    Link {
        /// The node at the other end of the link.
        neighbour: NodeId,
        /// What became of it.
        change: Change,
    },
}

/// An algorithm as the registry holds it: it makes groups and atlases.
pub trait Machine: Sync {
    /// Some members of a run: all of them in the simulator, one in a process.
    fn group(&self, setting: &Setting, members: std::ops::Range<u32>) -> Box<dyn Group>;

    /// The local states of a small world.
    fn atlas(&self, setting: Setting) -> Box<dyn Atlas>;

    /// The kinds of its messages.
    fn kinds(&self) -> &'static [&'static str];

    /// Whether members want to be told when another one dies or comes back.
    fn wants_peer_events(&self) -> bool;

    /// Whether members want to be told when a link goes down or comes up.
    fn wants_link_events(&self) -> bool;
}

/// The machine of one algorithm type.
pub struct Of<A>(std::marker::PhantomData<fn() -> A>);

impl<A> Of<A> {
    /// The machine itself; it has no state.
    pub const MACHINE: Self = Self(std::marker::PhantomData);
}

/// The machine of the printed text where it is asked for without this rule, else the repaired one.
pub(crate) fn printed_or_repaired<P: Algorithm, R: Algorithm>(
    printed: &Printed,
    rule: &str,
) -> &'static dyn Machine {
    match printed.leaves_out(rule) {
        true => &Of::<P>::MACHINE,
        false => &Of::<R>::MACHINE,
    }
}

impl<A: Algorithm> Machine for Of<A> {
    fn group(&self, setting: &Setting, members: std::ops::Range<u32>) -> Box<dyn Group> {
        Box::new(group::Members::<A>::new(setting, members))
    }

    fn atlas(&self, setting: Setting) -> Box<dyn Atlas> {
        Box::new(atlas::Interned::<A>::new(setting))
    }

    fn kinds(&self) -> &'static [&'static str] {
        A::Message::KINDS
    }

    fn wants_peer_events(&self) -> bool {
        A::WANTS_PEER_EVENTS
    }

    fn wants_link_events(&self) -> bool {
        A::WANTS_LINK_EVENTS
    }
}

/// Lets one event happen to one node; what it says to itself happens before this returns.
fn happen<A: Algorithm>(
    node: &mut A,
    me: NodeId,
    input: Input,
    out: &mut Outbox<A::Message>,
    look_up: impl FnOnce(MessageId, &mut Outbox<A::Message>) -> A::Message,
) {
    out.address(me);
    match input {
        Input::Request(request) => node.request(request, out),
        Input::Release => node.release(out),
        Input::Receive { from, message } => {
            let message = look_up(message, out);
            node.receive(from, message, out);
        }
        Input::Timer(timer) => node.timer(timer, out),
        Input::Peer { peer, change } => node.peer(peer, change, out),
        Input::Link { neighbour, change } => node.link(neighbour, change, out),
    }
    while let Some(message) = out.take_own() {
        node.receive(me, message, out);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::contract::{Effect, ignores, invariants};
    use crate::params::Params;
    use crate::setup::Setup;
    use crate::topology::Topology;

    /// Counts down, telling itself before it tells its neighbour.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
    struct Talker {
        heard: Vec<(NodeId, u8)>,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    struct Word(u8);

    impl Message for Word {
        const KINDS: &'static [&'static str] = &["WORD"];

        fn kind(&self) -> usize {
            0
        }

        fn origin(&self) -> Option<NodeId> {
            None
        }
    }

    const ME: NodeId = NodeId(3);
    const OTHER: NodeId = NodeId(4);

    impl Algorithm for Talker {
        type Message = Word;

        fn new(_: &Setup<'_>) -> Self {
            Self { heard: Vec::new() }
        }

        fn request(&mut self, _: Request, out: &mut Outbox<Word>) {
            out.send(ME, Word(20));
            out.send(OTHER, Word(1));
            out.send(ME, Word(10));
            out.enter();
        }

        fn release(&mut self, _: &mut Outbox<Word>) {}

        fn receive(&mut self, from: NodeId, Word(word): Word, out: &mut Outbox<Word>) {
            self.heard.push((from, word));
            if word.is_multiple_of(10) {
                out.send_for(ME, ME, Word(word + 1));
                out.send_for(ME, OTHER, Word(word + 2));
            }
        }

        ignores! { timer, peer: "nobody dies", link }

        invariants! {}
    }

    #[test]
    fn what_a_node_says_to_itself_it_hears_in_order_before_the_event_is_over() {
        let complete = Topology::complete(5);
        let bound = Duration::from_millis(1);
        let (none, repaired) = (Params::default(), Printed::repaired());
        let setting = Setting::new(complete, NodeId(0), none, repaired, bound);
        let mut group = Of::<Talker>::MACHINE.group(&setting, 0..5);
        let mut effects = Vec::new();
        group.handle(ME, Input::Request(Request { priority: 0 }), &mut effects);
        let heard = "Talker { heard: [(3, 20), (3, 10), (3, 21), (3, 11)] }";
        assert_eq!(group.describe_state(ME), heard, "first said, first heard");
        let shown = effects.iter().map(|effect| match effect {
            Effect::Send {
                to,
                message,
                charge,
            } => format!("{} to {to} for {charge:?}", group.describe(*message)),
            other => format!("{other:?}"),
        });
        let expected = [
            "Word(1) to 4 for None",
            "Enter { fence: None }",
            "Word(22) to 4 for Some(3)",
            "Word(12) to 4 for Some(3)",
        ];
        assert_eq!(
            shown.collect::<Vec<_>>(),
            expected,
            "and none of it is sent"
        );
    }
}
