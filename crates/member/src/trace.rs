//! Events that tell of messages, timers and inputs.

use std::borrow::Cow;

use algorithms::erased::{self, MessageId};
use algorithms::{Change, NodeId, Timer};
use model::event::What;

use crate::members::Members;

/// The event of a message that leaves.
pub fn sent(members: &Members, to: NodeId, message: MessageId, charge: Option<NodeId>) -> What {
    let mut letter = members.letter(message);
    let traced = members.is_traced();
    letter.text = traced.then(|| members.group().describe(message));
    let bytes = u32::try_from(letter.body.0.len()).unwrap_or(u32::MAX);
    What::Send {
        to,
        letter: Box::new(letter),
        charge,
        bytes,
    }
}

/// The event of a message that a member sends itself.
pub fn posted(members: &Members, message: MessageId) -> What {
    What::Post {
        letter: Box::new(members.letter(message)),
    }
}

/// The event of a message that arrives and was under way for `delay_ns`.
pub fn received(members: &Members, from: NodeId, message: MessageId, delay_ns: u64) -> What {
    What::Receive {
        from,
        letter: Box::new(members.letter(message)),
        delay_ns,
    }
}

/// The event of a message that will never arrive.
pub fn lost(members: &Members, to: NodeId, message: MessageId) -> What {
    What::Lose {
        to,
        number: members.number(message),
        kind: Cow::Borrowed(members.kind(message)),
    }
}

/// The event of a timer that is set.
pub fn timer_set(Timer { name, tag }: Timer, at_ns: u64) -> What {
    What::SetTimer {
        timer: Cow::Borrowed(name),
        tag,
        at_ns,
    }
}

/// The event of a timer that is cancelled.
pub fn timer_cancelled(Timer { name, tag }: Timer) -> What {
    What::CancelTimer {
        timer: Cow::Borrowed(name),
        tag,
    }
}

/// What the algorithm is given and only a trace tells: a request and a release are told in any case, and
/// messages where they arrive.
pub(crate) fn of_input(event: erased::Input) -> Option<What> {
    Some(match event {
        erased::Input::Request(_) | erased::Input::Release | erased::Input::Receive { .. } => {
            return None;
        }
        erased::Input::Timer(Timer { name, tag }) => What::Timer {
            timer: Cow::Borrowed(name),
            tag,
        },
        erased::Input::Peer { peer, change } => match change {
            Change::Down => What::PeerDown { peer },
            Change::Up => What::PeerUp { peer },
        },
        erased::Input::Link { neighbour, change } => match change {
            Change::Down => What::LinkDown { neighbour },
            Change::Up => What::LinkUp { neighbour },
        },
    })
}
