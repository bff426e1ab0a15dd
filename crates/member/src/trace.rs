//! What a trace tells of what a member does.

use std::borrow::Cow;

use algorithms::erased::{self, MessageId};
use algorithms::{Change, NodeId, Timer};
use chaos::Timeline;
use model::event::{Letter, What};

use crate::members::{Members, Record};

/// A member's message leaves.
pub fn sent(members: &Members, to: NodeId, message: MessageId, charge: Option<NodeId>) -> What {
    What::Send {
        to,
        letter: members.letter(message),
        charge,
        text: members.group().describe(message),
    }
}

/// A member sends itself a message that travels.
pub fn posted(members: &Members, message: MessageId) -> What {
    What::Post {
        letter: members.letter(message),
    }
}

/// A message arrives.
pub fn received(members: &Members, from: NodeId, message: MessageId) -> What {
    What::Receive {
        from,
        letter: members.letter(message),
    }
}

/// A member's message will never arrive.
pub fn lost(members: &Members, to: NodeId, message: MessageId) -> What {
    let Letter { number, kind, .. } = members.letter(message);
    What::Lose { to, number, kind }
}

/// What a member's record says, where no other event does.
pub fn of_record(record: &Record, witness: Option<u32>, faults: &Timeline) -> Option<What> {
    match record {
        Record::Arrived { priority } => Some(What::Arrive {
            priority: *priority,
        }),
        Record::Entered { fence, invited } => Some(What::Enter {
            fence: *fence,
            invited: *invited,
            witness,
        }),
        Record::Retired => Some(What::Retire),
        Record::Note {
            name,
            value,
            charge,
        } => Some(What::Note {
            name: Cow::Borrowed(name),
            value: *value,
            charge: *charge,
        }),
        Record::ProtocolError { why } => Some(What::ProtocolError { why: why.clone() }),
        Record::Tampered { step } => Some(What::Tamper {
            fault: faults.steps[*step].name.clone(),
        }),
        Record::Traced(what) => Some(What::clone(what)),
        // The algorithm is told of both, and that is traced.
        Record::Asked | Record::Left => None,
    }
}

/// A timer is set.
pub(crate) fn timer_set(Timer { name, tag }: Timer, at_ns: u64) -> What {
    What::SetTimer {
        timer: Cow::Borrowed(name),
        tag,
        at_ns,
    }
}

/// A timer is forgotten.
pub(crate) fn timer_cancelled(Timer { name, tag }: Timer) -> What {
    What::CancelTimer {
        timer: Cow::Borrowed(name),
        tag,
    }
}

/// What the algorithm is given; messages are traced where they arrive.
pub(crate) fn of_input(event: erased::Event) -> Option<What> {
    Some(match event {
        erased::Event::Request(request) => What::Request {
            priority: request.priority,
        },
        erased::Event::Release => What::Release,
        erased::Event::Receive { .. } => return None,
        erased::Event::Timer(Timer { name, tag }) => What::Timer {
            timer: Cow::Borrowed(name),
            tag,
        },
        erased::Event::Peer { peer, change } => match change {
            Change::Down => What::PeerDown { peer },
            Change::Up => What::PeerUp { peer },
        },
        erased::Event::Link { neighbour, change } => match change {
            Change::Down => What::LinkDown { neighbour },
            Change::Up => What::LinkUp { neighbour },
        },
    })
}
