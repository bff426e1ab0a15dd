//! Members that live and change.

use thiserror::Error;

use super::{Input, MessageId, happen};
use crate::contract::{Algorithm, Effect, Message, NodeId, Outbox};
use crate::setup::{Setting, Setup};
use crate::view::View;

/// Some members of one run and the messages they have under way.
pub trait Group: Send {
    /// Lets an event happen to a member and appends what it wants done.
    ///
    /// # Panics
    /// If the member is not of this group, or the message is not under way.
    fn handle(&mut self, member: NodeId, input: Input, effects: &mut Vec<Effect<MessageId>>);

    /// Which kind of message this is, of those its machine lists.
    fn kind(&self, message: MessageId) -> usize;

    /// Whose request the message is about, if any.
    fn origin(&self, message: MessageId) -> Option<NodeId>;

    /// The message in words.
    fn describe(&self, message: MessageId) -> String;

    /// A second message of the same value.
    fn duplicate(&mut self, message: MessageId) -> MessageId;

    /// Forgets a message that will never be delivered.
    fn discard(&mut self, message: MessageId);

    /// Appends the message as bytes; the message itself stays.
    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>);

    /// The message these bytes are.
    fn decode(&mut self, bytes: &[u8]) -> Result<MessageId, DecodeError>;

    /// How many bytes the member's state takes, encoded.
    fn state_bytes(&self, member: NodeId) -> usize;

    /// The member's state in words.
    fn describe_state(&self, member: NodeId) -> String;

    /// How the member wants to be drawn.
    fn view(&self, member: NodeId) -> View;
}

/// Bytes that are no message of this algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a message of this algorithm: {why}")]
pub struct DecodeError {
    why: String,
}

impl DecodeError {
    /// They are none for this reason.
    pub fn because(why: String) -> Self {
        Self { why }
    }
}

/// Members of one algorithm type, side by side in memory.
pub(super) struct Members<A: Algorithm> {
    first: u32,
    nodes: Vec<A>,
    /// Also has the messages under way.
    out: Outbox<A::Message>,
}

impl<A: Algorithm> Members<A> {
    pub(super) fn new(setting: &Setting, members: std::ops::Range<u32>) -> Self {
        let node = |me| {
            let me = NodeId(me);
            A::new(&Setup { me, setting })
        };
        Self {
            first: members.start,
            nodes: members.map(node).collect(),
            out: Outbox::new(NodeId(0)),
        }
    }

    fn node(&self, member: NodeId) -> &A {
        &self.nodes[(member.0 - self.first) as usize]
    }

    fn message(&self, message: MessageId) -> &A::Message {
        self.out.under_way.get(message)
    }

    fn keep(&mut self, message: A::Message) -> MessageId {
        self.out.under_way.keep(message)
    }
}

impl<A: Algorithm> Group for Members<A> {
    fn handle(&mut self, member: NodeId, input: Input, effects: &mut Vec<Effect<MessageId>>) {
        let node = &mut self.nodes[(member.0 - self.first) as usize];
        happen(node, member, input, &mut self.out, |message, out| {
            out.under_way.take(message)
        });
        self.out.pour_into(effects);
    }

    fn kind(&self, message: MessageId) -> usize {
        self.message(message).kind()
    }

    fn origin(&self, message: MessageId) -> Option<NodeId> {
        self.message(message).origin()
    }

    fn describe(&self, message: MessageId) -> String {
        format!("{:?}", self.message(message))
    }

    fn duplicate(&mut self, message: MessageId) -> MessageId {
        let again = self.message(message).clone();
        self.keep(again)
    }

    fn discard(&mut self, message: MessageId) {
        self.out.under_way.take(message);
    }

    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>) {
        postcard::to_io(self.message(message), bytes).expect("a message is plain data");
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<MessageId, DecodeError> {
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(self.keep(message)),
            Ok((_, rest)) => Err(DecodeError {
                why: format!("{} bytes too many", rest.len()),
            }),
            Err(error) => Err(DecodeError {
                why: error.to_string(),
            }),
        }
    }

    fn state_bytes(&self, member: NodeId) -> usize {
        postcard::experimental::serialized_size(self.node(member)).expect("a state is plain data")
    }

    fn describe_state(&self, member: NodeId) -> String {
        format!("{:?}", self.node(member))
    }

    fn view(&self, member: NodeId) -> View {
        let mut view = View::default();
        self.node(member).draw(&mut view);
        view
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::contract::Request;
    use crate::permission::ricart_agrawala::RicartAgrawala;
    use crate::printed::Printed;
    use crate::topology::Topology;

    fn three() -> Members<RicartAgrawala> {
        Members::new(&setting(), 0..3)
    }

    fn setting() -> Setting {
        let bound = Duration::from_millis(1);
        let entry = &crate::permission::ricart_agrawala::INFO;
        let (params, repaired) = (entry.defaults(), Printed::repaired());
        Setting::new(Topology::complete(3), NodeId(0), params, repaired, bound)
    }

    fn ask(group: &mut dyn Group, node: u32) -> Vec<MessageId> {
        let mut effects = Vec::new();
        let request = Input::Request(Request { priority: 0 });
        group.handle(NodeId(node), request, &mut effects);
        let sent = effects.into_iter().filter_map(|effect| match effect {
            Effect::Send { message, .. } => Some(message),
            _ => None,
        });
        sent.collect()
    }

    #[test]
    fn a_duplicate_is_a_message_of_its_own() {
        let mut group = three();
        let sent = ask(&mut group, 0);
        let again = group.duplicate(sent[0]);
        assert!(!sent.contains(&again));
        assert_eq!(group.describe(again), group.describe(sent[0]));
        let from = NodeId(0);
        let mut effects = Vec::new();
        for message in [sent[0], again] {
            group.handle(NodeId(1), Input::Receive { from, message }, &mut effects);
        }
        assert_eq!(effects.len(), 2, "each was delivered and answered");
    }

    #[test]
    fn what_is_discarded_makes_room_for_another() {
        let mut group = three();
        let sent = ask(&mut group, 0);
        group.discard(sent[0]);
        let next = ask(&mut group, 1);
        assert_eq!(next[0], sent[0], "its place is used again");
        assert_ne!(next[1], sent[1], "the other is still under way");
    }

    #[test]
    #[should_panic(expected = "the message is under way")]
    fn a_message_arrives_once() {
        let mut group = three();
        let message = ask(&mut group, 0)[0];
        group.discard(message);
        let from = NodeId(0);
        group.handle(NodeId(1), Input::Receive { from, message }, &mut Vec::new());
    }

    #[test]
    fn some_members_may_live_elsewhere() {
        let mut group = Members::<RicartAgrawala>::new(&setting(), 2..3);
        assert_eq!(ask(&mut group, 2).len(), 2);
        assert!(group.describe_state(NodeId(2)).contains("me: 2"));
    }
}
