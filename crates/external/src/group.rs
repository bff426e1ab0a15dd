//! Programs that are the members of a run.

use std::ops::Range;

use algorithms::erased::{DecodeError, Group, Input, MessageId, Shelf};
use algorithms::external::External;
use algorithms::view::View;
use algorithms::{Effect, NodeId, Setting};
use serde_json::value::RawValue;

use crate::member::{Member, Message, told};
use crate::process::{self, Start};
use crate::protocol;

/// So many events without an entry, and it would go on for ever. Our own algorithms have no such limit: they
/// are quicker, and known to end.
const MOST_IN_VAIN: u32 = 300_000;

/// More bytes of messages than this may not be under way, nor be sent without an entry: a program that sends and sends
/// must take neither the machine's memory nor, where the run is traced, its disk.
const MOST_BYTES: usize = 64 << 20;

/// One program for each member, and the messages they have under way.
pub(crate) struct Programs {
    of: External,
    first: u32,
    members: Vec<Seat>,
    under_way: UnderWay,
    /// Events since somebody was last let in.
    in_vain: u32,
    /// Bytes of messages that were sent since then.
    bytes_in_vain: usize,
    effects: Vec<Effect<Message>>,
}

/// The messages that are under way, and how long they are in all.
#[derive(Default)]
struct UnderWay {
    messages: Shelf<Message>,
    bytes: usize,
}

impl UnderWay {
    fn keep(&mut self, message: Message) -> MessageId {
        self.bytes += message.text.len();
        self.messages.keep(message)
    }

    fn take(&mut self, id: MessageId) -> Message {
        let message = self.messages.take(id);
        self.bytes -= message.text.len();
        message
    }

    fn get(&self, id: MessageId) -> &Message {
        self.messages.get(id)
    }
}

/// The program of a member, or what became of it.
enum Seat {
    Running(Box<Member>),
    /// It failed; why is told with the next event, and only once.
    Failed(Option<String>),
}

impl Programs {
    /// Starts them all, so that they come to life side by side, and tells each who it is.
    pub(crate) fn start(
        of: External,
        start: &Start,
        setting: &Setting,
        members: Range<u32>,
    ) -> Self {
        let first = members.start;
        let spawned = members.map(|me| {
            let me = NodeId(me);
            Member::spawn(of, start, setting, me)
                .map(Box::new)
                .map_err(|error| Some(told(of, me, 0, &error)))
                .map_or_else(Seat::Failed, Seat::Running)
        });
        let mut members = spawned.collect::<Vec<_>>();
        for seat in &mut members {
            if let Seat::Running(member) = seat
                && let Err(error) = member.init(setting)
            {
                *seat = Seat::Failed(Some(member.told(&error)));
            }
        }
        Self {
            of,
            first,
            members,
            under_way: UnderWay::default(),
            in_vain: 0,
            bytes_in_vain: 0,
            effects: Vec::new(),
        }
    }

    fn state(&self, member: NodeId) -> Option<&str> {
        match &self.members[(member.0 - self.first) as usize] {
            Seat::Running(member) => member.state.as_deref(),
            Seat::Failed(_) => None,
        }
    }

    fn kind_of(&self, text: &str) -> Option<usize> {
        let kinds = &self.of.program.declares.kinds;
        let message: &RawValue = serde_json::from_str(text).ok()?;
        match kinds.is_empty() {
            true => Some(0),
            false => {
                let named = protocol::kind_of(message)?;
                kinds.iter().position(|kind| *kind == named)
            }
        }
    }
}

impl Group for Programs {
    fn handle(&mut self, member: NodeId, input: Input, effects: &mut Vec<Effect<MessageId>>) {
        let seat = &mut self.members[(member.0 - self.first) as usize];
        let received = match input {
            Input::Receive { message, .. } => Some(self.under_way.take(message)),
            _ => None,
        };
        let program = match seat {
            Seat::Running(program) => program,
            Seat::Failed(why) => {
                effects.extend(why.take().map(|why| Effect::Fail { why }));
                return;
            }
        };
        let happened = program
            .happen(input, received.as_ref(), &mut self.effects)
            .map_err(|error| program.told(&error));
        let entered = self
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Enter { .. }));
        self.in_vain = if entered { 0 } else { self.in_vain + 1 };
        self.bytes_in_vain = if entered { 0 } else { self.bytes_in_vain };
        let happened = happened.and_then(|()| match self.in_vain < MOST_IN_VAIN {
            true => program.count_uninvited(input, entered),
            false => Err(format!(
                "{MOST_IN_VAIN} events and nobody was let in; the last was at member {member}"
            )),
        });
        for effect in self.effects.drain(..) {
            effects.push(effect.map_message(|message| {
                self.bytes_in_vain += message.text.len();
                self.under_way.keep(message)
            }));
        }
        let happened = happened.and_then(|()| {
            let too_many = |bytes: usize, what: &str| match bytes > MOST_BYTES {
                true => Err(format!(
                    "more than {} MiB of messages {what}; member {member} sent the last of them",
                    MOST_BYTES >> 20
                )),
                false => Ok(()),
            };
            too_many(self.bytes_in_vain, "and nobody was let in")?;
            too_many(self.under_way.bytes, "are under way")
        });
        if let Err(why) = happened {
            *seat = Seat::Failed(None);
            effects.push(Effect::Fail { why });
        }
    }

    fn kind(&self, message: MessageId) -> usize {
        self.under_way.get(message).kind
    }

    fn origin(&self, _: MessageId) -> Option<NodeId> {
        None
    }

    fn describe(&self, message: MessageId) -> String {
        protocol::traced(&self.under_way.get(message).text)
    }

    fn duplicate(&mut self, message: MessageId) -> MessageId {
        let again = self.under_way.get(message).clone();
        self.under_way.keep(again)
    }

    fn discard(&mut self, message: MessageId) {
        self.under_way.take(message);
    }

    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.under_way.get(message).text.as_bytes());
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<MessageId, DecodeError> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| DecodeError::because(error.to_string()))?;
        let kind = self.kind_of(text);
        let kind = kind.ok_or_else(|| DecodeError::because(format!("no message: {text:.80}")))?;
        let text = text.into();
        Ok(self.under_way.keep(Message { kind, text }))
    }

    fn state_bytes(&self, member: NodeId) -> usize {
        self.state(member).map_or(0, str::len)
    }

    fn describe_state(&self, member: NodeId) -> String {
        match self.state(member) {
            Some(state) => protocol::traced(state),
            None => "(it does not show its state)".to_owned(),
        }
    }

    /// How a program wants to be drawn it cannot say; its state is shown as it is.
    fn view(&self, _: NodeId) -> View {
        View::default()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let members = self.members.drain(..);
        let processes = members.filter_map(|seat| match seat {
            Seat::Running(member) => Some(member.into_process()),
            Seat::Failed(_) => None,
        });
        process::end_all(processes.collect());
    }
}
