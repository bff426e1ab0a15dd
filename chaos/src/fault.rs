//! The faults of links: one file each, pure, repeatable.
//!
//! A link hands each packet to its faults in the order of their [`Stage`]s; each changes the packet's
//! [`Fate`]. What a fault remembers of packets 1…n is folded from its own draws alone: for a packet
//! that another fault already took it draws and remembers all the same, so adding or removing a
//! fault reshuffles no other. (A [`Rate`] is the exception that nature makes: what never came does not
//! fill its queue.) A fault that begins again, by `every`, begins without memory.
//!
//! One more fault is one more file in `fault/`, with a type that is a `Fault`, and its line in the
//! list `link_faults!` below; everything else follows from the two.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use cut::InFlight;
pub use late::{Law, PacketOrder};
pub(crate) use late::{quoted, write_rest};

use crate::language::{Form, LinkFault, Word};
use crate::{Datagram, Draw, Fate};

/// Something that a link does to packets. It prints itself as it is written.
pub(crate) trait Fault: FaultInfo + Clone + fmt::Debug + fmt::Display {
    /// What the fault remembers of the packets before.
    type Memory: Clone + fmt::Debug + Default;

    /// Whether a message could get lost, damaged or doubled by it, so that only a transport that
    /// repairs such things brings it across exactly once.
    const HARMS: bool = true;

    /// Whether the fault could never do anything, as `loss 0%`.
    fn is_idle(&self) -> bool {
        false
    }

    /// Changes the fate of a packet, and says whether that made a difference.
    fn apply(&self, memory: &mut Self::Memory, packet: &mut Packet<'_>) -> bool;
}

/// A packet at one of a link's faults.
pub(crate) struct Packet<'a> {
    /// What was sent.
    pub(crate) datagram: &'a Datagram,
    /// What has become of it so far.
    pub(crate) fate: &'a mut Fate,
    /// The fault's randomness for this packet alone, made from (seed, fault, link, n).
    pub(crate) draw: &'a mut Draw,
}

/// How a fault is written, and where it acts. Most faults say so with `fault_info!`.
pub(crate) trait FaultInfo {
    /// Where on the link it meets a packet.
    const STAGE: Stage;
    /// The ways to write it. A fault without any has a syntax of its own.
    const FORMS: &'static [Form];
    /// The word that it begins with.
    const WORD: &'static str = Self::FORMS[0].word.first();
    /// Words that the glossary explains right after the fault.
    const ALSO: &'static [Word] = &[];
}

/// Says of a fault where it acts, and for each way to write it the form, an example, the meaning and
/// the function that reads what follows the words.
macro_rules! fault_info {
    (
        $Fault:ident at $stage:ident $(also $also:ident)?;
        $($form:literal, as in $example:literal, by $parse:path: $meaning:literal)+
    ) => {
        impl super::FaultInfo for $Fault {
            const STAGE: super::Stage = super::Stage::$stage;
            const FORMS: &'static [crate::language::Form] = &[$(crate::language::Form {
                word: crate::language::Word::new($form, $example, $meaning),
                parse: |cursor| $parse(cursor).map(Into::into),
            }),+];
            $(const ALSO: &'static [crate::language::Word] = &[$also];)?
        }
    };
}

/// The stages of a link, in the order in which a packet passes them. Of two faults at one stage the
/// one that was asked for first acts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Nothing enters a link that is cut.
    Entrance,
    /// What is lost is neither duplicated nor delayed, and fills no queue.
    Loss,
    /// From here on each copy has a fate of its own.
    Copies,
    /// The length comes before the bits, so that every flipped bit arrives.
    Length,
    /// The bits of what is left.
    Bits,
    /// The queue at the sender's end.
    Queue,
    /// The way itself, after the queue.
    Way,
    /// The last stage takes back what the queue and the way have added.
    Overtaking,
}

/// Makes of the list of all faults their modules, [`AnyFault`], which is one of them, and `Working`,
/// which is one of them at work on a link. Both are enums and not boxed traits: the simulator comes
/// here for every packet.
macro_rules! link_faults {
    ($($module:ident::$Fault:ident),+ $(,)?) => {
        $(
            mod $module;
            pub use $module::$Fault;
        )+

        /// Any of the faults.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyFault {
            $(
                #[doc = concat!("See [`", stringify!($Fault), "`].")]
                $Fault($Fault),
            )+
        }

        /// How all faults are written, and what the glossary explains after each of them.
        pub(crate) const WRITTEN: &[(&[Form], &[Word])] = &[$(($Fault::FORMS, $Fault::ALSO)),+];

        impl AnyFault {
            /// The word that it begins with.
            pub fn word(&self) -> &'static str {
                match self {
                    $(AnyFault::$Fault(_) => $Fault::WORD,)+
                }
            }

            /// Where on the link it meets a packet.
            pub fn stage(&self) -> Stage {
                match self {
                    $(AnyFault::$Fault(_) => $Fault::STAGE,)+
                }
            }

            /// Whether a message could get lost, damaged or doubled by it, so that only a transport
            /// that repairs such things brings it across exactly once.
            pub fn harms(&self) -> bool {
                match self {
                    $(AnyFault::$Fault(_) => $Fault::HARMS,)+
                }
            }

            /// Whether the fault could never do anything, as `loss 0%`.
            pub fn is_idle(&self) -> bool {
                match self {
                    $(AnyFault::$Fault(fault) => fault.is_idle(),)+
                }
            }

            /// The fault at work, with nothing to remember yet.
            pub(crate) fn begin(&self) -> Working {
                match self {
                    $(AnyFault::$Fault(fault) => Working::$Fault(At::work(fault)),)+
                }
            }
        }

        impl fmt::Display for AnyFault {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(AnyFault::$Fault(fault) => fault.fmt(f),)+
                }
            }
        }

        $(
            impl From<$Fault> for AnyFault {
                fn from(fault: $Fault) -> Self {
                    AnyFault::$Fault(fault)
                }
            }

            impl From<$Fault> for LinkFault {
                fn from(fault: $Fault) -> Self {
                    LinkFault::Model(fault.into())
                }
            }
        )+

        /// Any fault at work on one link.
        #[derive(Clone, Debug)]
        pub(crate) enum Working {
            $($Fault(At<$Fault>),)+
        }

        impl Working {
            /// Lets the fault, in force since `began_ns`, change the fate of a packet.
            pub(crate) fn apply(&mut self, began_ns: u64, packet: &mut Packet<'_>) -> bool {
                match self {
                    $(Working::$Fault(fault) => fault.apply(began_ns, packet),)+
                }
            }
        }
    };
}

// In the order in which the glossary and the error messages list them. `cargo fmt` does not find
// modules that a macro declares: `scripts/test` formats them by their names.
link_faults! {
    cut::Cut,
    loss::Loss,
    burst::Burst,
    every_nth::EveryNth,
    late::Late,
    duplicate::Duplicate,
    reorder::Reorder,
    corrupt::Corrupt,
    truncate::Truncate,
    rate::Rate,
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

impl<F: Fault> At<F> {
    fn work(fault: &F) -> Self {
        Self {
            fault: Arc::new(fault.clone()),
            memory: F::Memory::default(),
            began_ns: 0,
        }
    }

    fn apply(&mut self, began_ns: u64, packet: &mut Packet<'_>) -> bool {
        if self.began_ns != began_ns {
            self.began_ns = began_ns;
            self.memory = F::Memory::default();
        }
        self.fault.apply(&mut self.memory, packet)
    }
}
