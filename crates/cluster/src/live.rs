//! A run that a person watches while it goes on, and interferes with.
//!
//! The supervisor gives the person a turn some times a second. In it they say what is to be done, and
//! every member is looked at; what came of the looks they hear in the next turn. A fault that they ask for
//! joins the plan's faults behind the others and goes the same way as these.

use algorithms::NodeId;
use chaos::timeline::Step;
use model::workload::Cue;
pub use node::control::{Glance, Portrait, SeenEvent};

/// Somebody who watches a run of processes and interferes with it.
pub trait Person {
    /// What is to be done at this moment.
    fn turn(&mut self, now_ns: u64) -> Vec<Act>;

    /// How many events each member keeps until it is looked at again.
    fn most_events(&self) -> u32;

    /// All members that can answer were looked at.
    fn saw(&mut self, glances: Vec<(NodeId, Glance)>);

    /// A step of the faults has struck this member.
    fn struck(&mut self, now_ns: u64, step: &Step, victim: NodeId);

    /// Nothing will happen any more unless the person does something.
    fn at_rest(&mut self);
}

/// Something that a person does to a run of processes.
#[derive(Clone, Debug)]
pub enum Act {
    /// Another fault, as if it were the last of the plan's. It begins at its time, or at once where that is
    /// over.
    Fault(Box<Step>),
    /// A client of this node is told to ask, or to leave.
    Cue(NodeId, Cue),
    /// Clients stay inside, and think, so many times as long from now on as the workload says.
    Stretch(f64),
    /// Nothing more will be done: the run goes on to its end by itself.
    Finish,
}
