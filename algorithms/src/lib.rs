//! Distributed mutual exclusion algorithms as pure state machines.
//!
//! An algorithm is a value that reacts to events and says what to do; it never does it itself. It
//! knows no clock, no socket, no thread and no random source, so the same value runs under the
//! transcript tests, in the simulator, in the explorer and in a process that speaks UDP.
//!
//! ```
//! use algorithms::erased::Input;
//! use algorithms::printed::Printed;
//! use algorithms::{Effect, NodeId, Request, Setting, Topology, registry};
//!
//! let info = registry::find("suzuki-kasami").expect("it is in the registry");
//! let (params, printed) = (info.defaults(), Printed::repaired());
//! let machine = info.machine(&params, &printed);
//! let bound = std::time::Duration::from_millis(1);
//! let setting = Setting::new(Topology::complete(2), NodeId(0), params, printed, bound);
//! let mut group = machine.group(&setting, 0..2);
//!
//! // Node 1 wants in. Nothing happens by itself: the effects say what a driver is to do.
//! let mut effects = Vec::new();
//! group.handle(NodeId(1), Input::Request(Request { priority: 0 }), &mut effects);
//! let [Effect::Send { to, message, .. }] = effects[..] else { panic!("{effects:?}") };
//! assert_eq!((to, group.describe(message).as_str()), (NodeId(0), "Request { node: 1, number: 1 }"));
//! ```
//!
//! Start with [`contract`], then open any algorithm's file beside its paper: there is a folder for
//! each family. [`registry`] lists them; [`erased`] hides the types so that the engines are compiled
//! once.

/// Files hold a value of this type as the text that it prints and reads.
#[macro_export]
macro_rules! written_as_text {
    ($Type:ty: $Error:ty) => {
        impl TryFrom<String> for $Type {
            type Error = $Error;

            fn try_from(text: String) -> Result<Self, $Error> {
                text.parse()
            }
        }

        impl From<$Type> for String {
            fn from(value: $Type) -> String {
                value.to_string()
            }
        }
    };
}

pub mod contract;
pub mod erased;
pub mod external;
pub mod params;
pub mod printed;
pub mod registry;
pub mod setup;
pub mod topology;
pub mod view;

mod common;
mod controller;
mod coordinator;
mod permission;
mod structure;
mod token;
mod voting;

pub use contract::{After, Algorithm, Change, Effect, Message, NodeId, Outbox, Request, Timer};
pub use controller::taxonomy;
pub use permission::sanders;
pub use setup::{Setting, Setup};
pub use topology::Topology;
