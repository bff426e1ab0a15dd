//! Algorithms that are wrong on purpose, one way each, to see the simulator notice.

use std::time::Duration;

use algorithms::contract::Invariant;
use algorithms::erased::{Machine, Of};
use algorithms::{After, Algorithm, Change, Message, NodeId, Outbox, Request, Setup, Timer};
use serde::{Deserialize, Serialize};

/// Never lets anybody in.
pub(crate) static SILENT: &dyn Machine = &Of::<Toy<0>>::MACHINE;
/// Never lets anybody in, and talks about it for ever.
pub(crate) static CHATTERING: &dyn Machine = &Of::<Toy<1>>::MACHINE;
/// Lets the neighbour in, who did not ask, and then the one that asked.
pub(crate) static CONFUSED: &dyn Machine = &Of::<Toy<2>>::MACHINE;
/// Waits for a timer that it has moved, while another that it cancelled would have been too late.
pub(crate) static PUNCTUAL: &dyn Machine = &Of::<Toy<3>>::MACHINE;
/// Takes a message that it posts to itself for the permission.
pub(crate) static POSTING: &dyn Machine = &Of::<Toy<4>>::MACHINE;
/// Writes down every request, as if it were a queue.
pub(crate) static NOTING: &dyn Machine = &Of::<Toy<5>>::MACHINE;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Toy<const WRONG: u8> {
    me: NodeId,
    nodes: u32,
    asked: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Word;

impl Message for Word {
    const KINDS: &'static [&'static str] = &["WORD"];

    fn kind(&self) -> usize {
        0
    }

    fn origin(&self) -> Option<NodeId> {
        None
    }
}

impl<const WRONG: u8> Toy<WRONG> {
    fn neighbour(&self) -> NodeId {
        NodeId((self.me.0 + 1) % self.nodes)
    }
}

impl<const WRONG: u8> Algorithm for Toy<WRONG> {
    type Message = Word;

    fn new(setup: &Setup<'_>) -> Self {
        let (me, nodes, asked) = (setup.me, setup.nodes(), 0);
        Self { me, nodes, asked }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Word>) {
        self.asked += 1;
        match WRONG {
            0 => {}
            1 | 2 => out.send(self.neighbour(), Word),
            3 => {
                let ms = |ms| After::Exactly(Duration::from_millis(ms));
                out.set_timer(Timer::named("late"), ms(100));
                out.set_timer(Timer::named("go"), ms(5));
                out.set_timer(Timer::named("go"), ms(3));
                out.cancel_timer(Timer::named("late"));
            }
            4 => out.post(Word),
            _ => {
                out.note_for(self.me, "registered", 10 * self.asked);
                out.enter_with(self.asked);
            }
        }
    }

    fn release(&mut self, out: &mut Outbox<Word>) {
        if WRONG == 2 && self.me == NodeId(1) {
            out.send(NodeId(0), Word);
        }
    }

    fn receive(&mut self, _: NodeId, _: Word, out: &mut Outbox<Word>) {
        match WRONG {
            1 => out.send(self.neighbour(), Word),
            _ => out.enter(),
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Word>) {
        assert_eq!(timer.name, "go");
        out.enter();
    }

    fn peer(&mut self, _: NodeId, _: Change, _: &mut Outbox<Word>) {}

    fn link(&mut self, _: NodeId, _: Change, _: &mut Outbox<Word>) {}

    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }
}
