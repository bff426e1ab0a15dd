//! Small algorithms that are wrong on purpose, one way each.

use std::time::Duration;

use algorithms::contract::{Invariant, Snapshot};
use algorithms::erased::{Machine, Of};
use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry::{
    AlgorithmInfo, Family, Graph, LinkContract, LinkOrder, MachineSource, More,
};
use algorithms::{
    After, Algorithm, Change, Message, NodeId, Outbox, Request, Setting, Setup, Timer, Topology,
};
use serde::{Deserialize, Serialize};

/// What toys say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Word {
    Ask,
    Grant,
    Busy,
    Done,
    Number(u8),
}

impl Message for Word {
    const KINDS: &'static [&'static str] = &["ASK", "GRANT", "BUSY", "DONE", "NUMBER"];

    fn kind(&self) -> usize {
        match self {
            Word::Ask => 0,
            Word::Grant => 1,
            Word::Busy => 2,
            Word::Done => 3,
            Word::Number(_) => 4,
        }
    }

    fn origin(&self) -> Option<NodeId> {
        None
    }
}

type Out = Outbox<Word>;

/// The info of a toy, as a registry would have it.
pub(crate) const fn info(
    name: &'static str,
    machine: fn(&Params, &Printed) -> &'static dyn Machine,
) -> AlgorithmInfo {
    AlgorithmInfo {
        name,
        title: name,
        paper: "none",
        family: Family::Permission,
        cost: "nothing",
        explanation: "a toy",
        graph: Graph::Complete,
        link_order: LinkOrder::Any,
        link_contract: LinkContract::Patient,
        token: None,
        state_bytes: |_| 8,
        machine: MachineSource::Rules(machine),
        more: More::NONE,
    }
}

/// So many nodes, everyone linked with everyone.
pub(crate) fn setting(nodes: u32) -> Setting {
    Setting::new(
        Topology::complete(nodes),
        NodeId(0),
        Params::default(),
        Printed::repaired(),
        Duration::from_millis(1),
    )
}

/// The events a toy cares about; it ignores the others.
trait Toy: Sized {
    /// Whether it is told of deaths.
    const TOLD_OF_DEATHS: bool = false;

    fn request(&mut self, out: &mut Out);
    fn release(&mut self, _: &mut Out) {}
    fn receive(&mut self, _from: NodeId, _: Word, _: &mut Out) {}
    fn timer(&mut self, _: &mut Out) {}
    fn peer_down(&mut self, _: NodeId, _: &mut Out) {}
}

/// Declares a toy, which knows its name, how many there are and these fields, and makes an algorithm
/// of it.
macro_rules! toy {
    (
        $(#[$doc:meta])*
        $toy:ident { $($field:ident: $Type:ty),* }, $info:ident = $made:expr, $invariants:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
        pub(crate) struct $toy {
            me: NodeId,
            nodes: u32,
            $($field: $Type,)*
        }

        pub(crate) static $info: AlgorithmInfo = $made;

        impl Algorithm for $toy {
            type Message = Word;

            const WANTS_PEER_EVENTS: bool = <Self as Toy>::TOLD_OF_DEATHS;

            const WANTS_LINK_EVENTS: bool = false;

            #[allow(clippy::needless_update, reason = "some toys have no other fields")]
            fn new(setup: &Setup<'_>) -> Self {
                Self {
                    me: setup.me,
                    nodes: setup.nodes(),
                    ..Self::default()
                }
            }

            fn request(&mut self, _: Request, out: &mut Out) {
                Toy::request(self, out);
            }

            fn release(&mut self, out: &mut Out) {
                Toy::release(self, out);
            }

            fn receive(&mut self, from: NodeId, word: Word, out: &mut Out) {
                Toy::receive(self, from, word, out);
            }

            fn timer(&mut self, _: Timer, out: &mut Out) {
                Toy::timer(self, out);
            }

            fn peer(&mut self, peer: NodeId, change: Change, out: &mut Out) {
                match change {
                    Change::Down => Toy::peer_down(self, peer, out),
                    Change::Up => {}
                }
            }

            fn link(&mut self, _: NodeId, _: Change, _: &mut Out) {}

            fn invariants() -> &'static [Invariant<Self>] {
                $invariants
            }
        }
    };
}

toy! {
    /// Lets everybody in who asks.
    Reckless {}, RECKLESS = info("reckless", |_, _| &Of::<Reckless>::MACHINE), &[]
}

impl Toy for Reckless {
    fn request(&mut self, out: &mut Out) {
        out.enter();
    }
}

toy! {
    /// Node 0 decides, and after somebody asked at the wrong moment it never grants anything again.
    Grudge { given_away: bool, holds_a_grudge: bool }, GRUDGE = info("grudge", |_, _| &Of::<Grudge>::MACHINE), &[]
}

impl Toy for Grudge {
    fn request(&mut self, out: &mut Out) {
        out.send(NodeId(0), Word::Ask);
    }

    fn release(&mut self, out: &mut Out) {
        out.send(NodeId(0), Word::Done);
    }

    fn receive(&mut self, from: NodeId, word: Word, out: &mut Out) {
        match word {
            Word::Ask => {
                self.holds_a_grudge |= self.given_away;
                if self.holds_a_grudge {
                    out.send(from, Word::Busy);
                } else {
                    self.given_away = true;
                    out.send(from, Word::Grant);
                }
            }
            Word::Busy => out.send(from, Word::Ask),
            Word::Grant => out.enter(),
            Word::Done => self.given_away = false,
            Word::Number(_) => out.protocol_error("nobody says that"),
        }
    }
}

toy! {
    /// A node that leaves lets the next one in, asked or not.
    Generous {}, GENEROUS = info("generous", |_, _| &Of::<Generous>::MACHINE), &[]
}

impl Toy for Generous {
    fn request(&mut self, out: &mut Out) {
        if self.me == NodeId(0) {
            out.enter();
        }
    }

    fn release(&mut self, out: &mut Out) {
        out.send(NodeId((self.me.0 + 1) % self.nodes), Word::Grant);
    }

    fn receive(&mut self, _: NodeId, _: Word, out: &mut Out) {
        out.enter();
    }
}

toy! {
    /// Two nodes. A node that asks says so and waits a while; unless it hears an objection, it enters. That
    /// is right as long as no message takes longer than the wait.
    Hasty { waiting: bool, inside: bool }, HASTY = info("hasty", |_, _| &Of::<Hasty>::MACHINE), &[]
}

const WAIT: Timer = Timer::named("wait");

impl Hasty {
    fn other(&self) -> NodeId {
        NodeId(1 - self.me.0)
    }

    fn wait(out: &mut Out) {
        out.set_timer(WAIT, After::Exactly(Duration::from_millis(3)));
    }
}

impl Toy for Hasty {
    fn request(&mut self, out: &mut Out) {
        self.waiting = true;
        out.send(self.other(), Word::Ask);
        Self::wait(out);
    }

    fn release(&mut self, out: &mut Out) {
        self.inside = false;
        out.send(self.other(), Word::Done);
    }

    fn receive(&mut self, from: NodeId, word: Word, out: &mut Out) {
        match word {
            Word::Ask if self.inside => out.send(from, Word::Busy),
            // The smaller number goes first.
            Word::Ask if self.waiting && from < self.me => out.cancel_timer(WAIT),
            Word::Ask if self.waiting => out.send(from, Word::Busy),
            Word::Busy => out.cancel_timer(WAIT),
            Word::Done if self.waiting => Self::wait(out),
            Word::Ask | Word::Done => {}
            Word::Grant | Word::Number(_) => out.protocol_error("nobody says that"),
        }
    }

    fn timer(&mut self, out: &mut Out) {
        self.waiting = false;
        self.inside = true;
        out.enter();
    }
}

toy! {
    /// Node 0 has the one permission; when it dies, node 1 believes that it inherits it.
    Heir { waiting: bool, inherited: bool, given_away: bool }, HEIR = heir(), &[]
}

/// The info of [`Heir`], to be changed.
pub(crate) const fn heir() -> AlgorithmInfo {
    AlgorithmInfo {
        more: More {
            crashes: 1,
            ..info("heir", |_, _| &Of::<Heir>::MACHINE).more
        },
        ..info("heir", |_, _| &Of::<Heir>::MACHINE)
    }
}

impl Toy for Heir {
    const TOLD_OF_DEATHS: bool = true;

    fn request(&mut self, out: &mut Out) {
        if self.inherited {
            out.enter();
        } else {
            self.waiting = true;
            out.send(NodeId(0), Word::Ask);
        }
    }

    fn release(&mut self, out: &mut Out) {
        out.send(NodeId(0), Word::Done);
    }

    fn receive(&mut self, from: NodeId, word: Word, out: &mut Out) {
        match word {
            Word::Ask if self.given_away => {}
            Word::Ask => {
                self.given_away = true;
                out.send(from, Word::Grant);
            }
            Word::Grant if self.waiting => {
                self.waiting = false;
                out.enter();
            }
            Word::Grant => {}
            Word::Done => self.given_away = false,
            Word::Busy | Word::Number(_) => out.protocol_error("nobody says that"),
        }
    }

    fn peer_down(&mut self, peer: NodeId, out: &mut Out) {
        if peer == NodeId(0) && self.me == NodeId(1) {
            self.inherited = true;
            if self.waiting {
                self.waiting = false;
                out.enter();
            }
        }
    }
}

toy! {
    /// Counts to two for everybody on leaving, and complains when it hears two before one.
    Pedant { heard: u8 }, PEDANT = info("pedant", |_, _| &Of::<Pedant>::MACHINE), &[Invariant {
        name: "nobody has heard two numbers",
        check: |world: &Snapshot<'_, Self>| match world.alive().find(|(_, node)| node.heard > 1) {
            Some((node, _)) => Err(format!("{node} has")),
            None => Ok(()),
        },
    }]
}

impl Toy for Pedant {
    fn request(&mut self, out: &mut Out) {
        out.enter();
    }

    fn release(&mut self, out: &mut Out) {
        for to in (0..self.nodes).map(NodeId).filter(|&to| to != self.me) {
            out.send(to, Word::Number(1));
            out.send(to, Word::Number(2));
        }
    }

    fn receive(&mut self, _: NodeId, word: Word, out: &mut Out) {
        if word != Word::Number(self.heard + 1) {
            out.protocol_error(format!("heard {word:?} after {}", self.heard));
        }
        self.heard += 1;
    }
}

toy! {
    /// Posts itself the permission to enter.
    Postal {}, POSTAL = info("postal", |_, _| &Of::<Postal>::MACHINE), &[]
}

impl Toy for Postal {
    fn request(&mut self, out: &mut Out) {
        out.post(Word::Grant);
    }

    fn receive(&mut self, _: NodeId, _: Word, out: &mut Out) {
        out.enter();
    }
}

toy! {
    /// Would enter once all is quiet, and never is quiet: it keeps posting itself the same word.
    Restless {}, RESTLESS = info("restless", |_, _| &Of::<Restless>::MACHINE), &[]
}

impl Toy for Restless {
    fn request(&mut self, out: &mut Out) {
        out.set_timer(WAIT, After::Exactly(Duration::from_millis(3)));
        out.post(Word::Busy);
    }

    fn receive(&mut self, _: NodeId, word: Word, out: &mut Out) {
        out.post(word);
    }

    fn timer(&mut self, out: &mut Out) {
        out.enter();
    }
}
