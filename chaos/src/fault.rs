//! The faults: one file each, pure, repeatable.
//!
//! A link hands each packet to its faults in the order of [`STACKING`]; each changes the packet's
//! [`Fate`]. What a fault remembers of packets 1…n is folded from its own draws alone: for a packet
//! that another fault already took it draws and remembers all the same, so adding or removing a
//! fault reshuffles no other. (A [`Rate`] is the exception that nature makes: what never came does not
//! fill its queue.) A fault that begins again, by `every`, begins without memory.

pub mod burst;
pub mod corrupt;
pub mod cut;
pub mod duplicate;
pub mod every_nth;
pub mod late;
pub mod loss;
pub mod rate;
pub mod reorder;
pub mod truncate;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use burst::Burst;
pub use corrupt::Corrupt;
pub use cut::{Cut, InFlight};
pub use duplicate::Duplicate;
pub use every_nth::EveryNth;
pub use late::{Late, Law, PacketOrder};
pub use loss::Loss;
pub use rate::Rate;
pub use reorder::Reorder;
pub use truncate::Truncate;

use crate::{Datagram, Draw, Fate};

/// Something a link does to packets.
pub trait Fault {
    /// What it remembers of the packets before.
    type Memory: Clone + fmt::Debug + Default;

    /// Changes the fate of a packet, and says whether that made a difference.
    ///
    /// `draw` is made anew for each packet from (seed, fault, link, n).
    fn apply(
        &self,
        memory: &mut Self::Memory,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool;
}

/// Any of the faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnyFault {
    /// `cut`
    Cut(Cut),
    /// `loss 5%`
    Loss(Loss),
    /// `loss gemodel 1% 10%`
    Burst(Burst),
    /// `loss every 7`
    EveryNth(EveryNth),
    /// `duplicate 1%`
    Duplicate(Duplicate),
    /// `truncate 1%`
    Truncate(Truncate),
    /// `corrupt 1%`
    Corrupt(Corrupt),
    /// `rate 1mbit`
    Rate(Rate),
    /// `delay 10ms`
    Late(Late),
    /// `reorder 25%`
    Reorder(Reorder),
}

/// The order in which a link's faults see a packet, and why. Of two of a kind the one that was asked
/// for first goes first.
pub const STACKING: [(&str, &str); 8] = [
    ("cut", "nothing enters a link that is cut"),
    (
        "loss",
        "what is lost is neither duplicated nor delayed, and fills no queue",
    ),
    ("duplicate", "from here on each copy has a fate of its own"),
    (
        "truncate",
        "before corruption, so that every flipped bit arrives",
    ),
    ("corrupt", "the bits of what is left"),
    ("rate", "the queue at the sender's end"),
    ("delay", "the way itself, after the queue"),
    ("reorder", "last: takes back what queue and way have added"),
];

impl AnyFault {
    /// Its place in [`STACKING`].
    pub fn place(&self) -> usize {
        match self {
            AnyFault::Cut(_) => 0,
            AnyFault::Loss(_) | AnyFault::Burst(_) | AnyFault::EveryNth(_) => 1,
            AnyFault::Duplicate(_) => 2,
            AnyFault::Truncate(_) => 3,
            AnyFault::Corrupt(_) => 4,
            AnyFault::Rate(_) => 5,
            AnyFault::Late(_) => 6,
            AnyFault::Reorder(_) => 7,
        }
    }

    /// Whether a message could get lost, damaged or doubled by it, so that only a transport that
    /// repairs such things brings it across exactly once.
    pub fn harms(&self) -> bool {
        match self {
            AnyFault::Cut(_)
            | AnyFault::Loss(_)
            | AnyFault::Burst(_)
            | AnyFault::EveryNth(_)
            | AnyFault::Duplicate(_)
            | AnyFault::Truncate(_)
            | AnyFault::Corrupt(_)
            | AnyFault::Rate(_) => true,
            AnyFault::Late(_) | AnyFault::Reorder(_) => false,
        }
    }

    /// Whether it could never do anything, as `loss 0%`.
    pub fn is_idle(&self) -> bool {
        match self {
            AnyFault::Loss(Loss { chance })
            | AnyFault::Duplicate(Duplicate { chance })
            | AnyFault::Truncate(Truncate { chance, .. })
            | AnyFault::Corrupt(Corrupt { chance, .. })
            | AnyFault::Reorder(Reorder { chance, .. }) => chance.percent.is_zero(),
            AnyFault::Burst(burst) => {
                burst.good_loss.is_zero() && (burst.bad_loss.is_zero() || burst.worsens.is_zero())
            }
            AnyFault::Late(late) => match &late.law {
                Law::Formula(delay) => delay.largest_ns() == Some(0),
                Law::Sample(sample) => sample.largest_ns() == 0,
                Law::Matrix(matrix) => matrix.largest_ns() == Some(0),
            },
            AnyFault::Cut(_) | AnyFault::EveryNth(_) | AnyFault::Rate(_) => false,
        }
    }

    /// The fault at work, with nothing to remember yet.
    pub(crate) fn begin(&self) -> Working {
        match self {
            AnyFault::Cut(cut) => Working::Cut(At::work(cut)),
            AnyFault::Loss(loss) => Working::Loss(At::work(loss)),
            AnyFault::Burst(burst) => Working::Burst(At::work(burst)),
            AnyFault::EveryNth(nth) => Working::EveryNth(At::work(nth)),
            AnyFault::Duplicate(duplicate) => Working::Duplicate(At::work(duplicate)),
            AnyFault::Truncate(truncate) => Working::Truncate(At::work(truncate)),
            AnyFault::Corrupt(corrupt) => Working::Corrupt(At::work(corrupt)),
            AnyFault::Rate(rate) => Working::Rate(At::work(rate)),
            AnyFault::Late(late) => Working::Late(At::work(late)),
            AnyFault::Reorder(reorder) => Working::Reorder(At::work(reorder)),
        }
    }
}

impl fmt::Display for AnyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyFault::Cut(Cut {
                in_flight: InFlight::Drop,
            }) => f.write_str("cut"),
            AnyFault::Cut(Cut { in_flight }) => write!(f, "cut {in_flight}"),
            AnyFault::Loss(loss) => loss.fmt(f),
            AnyFault::Burst(burst) => burst.fmt(f),
            AnyFault::EveryNth(nth) => nth.fmt(f),
            AnyFault::Duplicate(duplicate) => duplicate.fmt(f),
            AnyFault::Truncate(truncate) => truncate.fmt(f),
            AnyFault::Corrupt(corrupt) => corrupt.fmt(f),
            AnyFault::Rate(rate) => rate.fmt(f),
            AnyFault::Late(late) => late.fmt(f),
            AnyFault::Reorder(reorder) => reorder.fmt(f),
        }
    }
}

/// A fault and what it remembers of one link. The fault is shared, so that the many links of a large
/// group keep little more than their memories.
#[derive(Clone, Debug)]
pub(crate) struct At<F: Fault> {
    fault: Arc<F>,
    memory: F::Memory,
    /// When the fault began that this is the memory of.
    began_ns: u64,
}

impl<F: Fault + Clone> At<F> {
    fn work(fault: &F) -> Self {
        Self {
            fault: Arc::new(fault.clone()),
            memory: F::Memory::default(),
            began_ns: 0,
        }
    }

    fn apply(
        &mut self,
        began_ns: u64,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        if self.began_ns != began_ns {
            self.began_ns = began_ns;
            self.memory = F::Memory::default();
        }
        self.fault.apply(&mut self.memory, datagram, fate, draw)
    }
}

/// Any fault at work on one link. An enum, not a boxed trait: the simulator comes here for every
/// packet.
#[derive(Clone, Debug)]
pub(crate) enum Working {
    Cut(At<Cut>),
    Loss(At<Loss>),
    Burst(At<Burst>),
    EveryNth(At<EveryNth>),
    Duplicate(At<Duplicate>),
    Truncate(At<Truncate>),
    Corrupt(At<Corrupt>),
    Rate(At<Rate>),
    Late(At<Late>),
    Reorder(At<Reorder>),
}

impl Working {
    /// Lets the fault, in force since `began_ns`, change the fate of a packet.
    pub fn apply(
        &mut self,
        began_ns: u64,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        match self {
            Working::Cut(cut) => cut.apply(began_ns, datagram, fate, draw),
            Working::Loss(loss) => loss.apply(began_ns, datagram, fate, draw),
            Working::Burst(burst) => burst.apply(began_ns, datagram, fate, draw),
            Working::EveryNth(nth) => nth.apply(began_ns, datagram, fate, draw),
            Working::Duplicate(duplicate) => duplicate.apply(began_ns, datagram, fate, draw),
            Working::Truncate(truncate) => truncate.apply(began_ns, datagram, fate, draw),
            Working::Corrupt(corrupt) => corrupt.apply(began_ns, datagram, fate, draw),
            Working::Rate(rate) => rate.apply(began_ns, datagram, fate, draw),
            Working::Late(late) => late.apply(began_ns, datagram, fate, draw),
            Working::Reorder(reorder) => reorder.apply(began_ns, datagram, fate, draw),
        }
    }
}
