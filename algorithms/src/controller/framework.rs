//! Any pair of a row and a column, chosen by parameters.

use super::forms;
use super::kernel::Kernel;
use super::parameters::{self, Shape};
use super::rows::centralised::Centralised;
use super::rows::cohort::Cohort;
use super::rows::distributed::Distributed;
use super::rows::replicated::Replicated;
use super::rows::ring::Ring;
use super::rows::tail_at_home::TailAtHome;
use super::rows::tree::Tree;
use crate::erased::{Machine, Of};
use crate::params::Params;
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, info};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "controller", title: "The migrating-controller framework",
    paper: "S. Rana, K. Raman, V. Chaudhary, \"Migrating controller based framework for mutual \
            exclusion in distributed systems\"",
    cost: "by its parameters; the table of cells says",
    family Controller, graph Complete, order Any, links Patient, token Some("BECOME"),
    more: {
        params: parameters::ALL,
        refuses: parameters::refuses,
        gives_up: parameters::gives_up,
        notes: parameters::NOTES,
        defects: DEFECTS,
        forms: forms::FRAMEWORK,
    },
    explanation: EXPLANATION,
    // Replicated queues have a number for everybody.
    state_bytes: |nodes| size_of::<Kernel<Distributed>>() as u64 + 32 + 16 * nodes,
    machine: |params, _| machine(params),
};

/// The registry's entry of an algorithm that the paper derives: a row with dynamic routing and
/// counter-based migration.
macro_rules! derived {
    (
        name: $name:expr, title: $title:expr, section: $section:literal,
        cost: $cost:expr,
        row $Row:ty, defects: $defects:expr, forms: $forms:expr, explanation: $explanation:expr,
    ) => {
        $crate::registry::AlgorithmInfo {
            name: $name,
            title: $title,
            paper: concat!(
                "S. Rana, K. Raman, V. Chaudhary, \"Migrating controller based framework for mutual ",
                "exclusion in distributed systems\", section ",
                $section
            ),
            cost: $cost,
            explanation: $explanation,
            // The queue and the numbers exist once; what is remembered elsewhere is rare.
            state_bytes: |_| (size_of::<$crate::controller::kernel::Kernel<$Row>>() + 32) as u64,
            machine: $crate::registry::MachineSource::Rules(|_, _| &$crate::erased::Of::<$crate::controller::kernel::Kernel<$Row>>::MACHINE),
            more: $crate::registry::More {
                params: $crate::controller::parameters::OF_DERIVED,
                refuses: $crate::controller::parameters::refuses,
                gives_up: $crate::controller::parameters::gives_up,
                notes: $crate::controller::parameters::NOTES,
                defects: $defects,
                forms: $forms,
                ..$crate::registry::More::NONE
            },
            ..$crate::controller::framework::INFO
        }
    };
}
pub(super) use derived;

fn machine(params: &Params) -> &'static dyn Machine {
    match Shape::of(params) {
        Shape::Centralised => &Of::<Kernel<Centralised>>::MACHINE,
        Shape::Distributed => &Of::<Kernel<Distributed>>::MACHINE,
        Shape::Replicated => &Of::<Kernel<Replicated>>::MACHINE,
        Shape::Tree => &Of::<Tree>::MACHINE,
        Shape::Cohort => &Of::<Cohort>::MACHINE,
        Shape::Ring => &Of::<Ring>::MACHINE,
        Shape::TailAtHome => &Of::<TailAtHome>::MACHINE,
    }
}

const EXPLANATION: &str = "\
One node, the controller, decides who enters; the role may move. The framework
says that two questions about such an algorithm can be answered apart from each
other:

    queue     where are the pending requests, and how does a request get there?
    migrate   when does the role move, and where to?

Every pair of answers is an algorithm. Some are known under other names, most
are not. The table of cells names all of them with what they cost.

    client        controller 0            controller 3
      |-- REQUEST -->|                         |
      |<-- GRANT ----|                         |
      |-- EXIT ----->|-- BECOME (the queue) -->|
      |<-- INFORM ---|                         |
      |-- REQUEST ---------------------------->|

With queue = centralised the requests are in a queue that moves with the role;
distributed, each waiting node knows who is behind it; replicated, everybody
hears every request and the role knows which are served. hierarchical is a tree
whose root moves (dynamic) or cohorts that the role is delegated to (static);
ring is a queue in ring order (dynamic) or a ring that the role goes round
(static).

routing says how a moving role is found: dynamic, by pointers that follow it;
static, through the first controller, which never stops relaying, or through a
fixed structure. inform says who is told of a move: all, the few that entered
last (selective), or nobody (none), in which case a request either follows old
pointers (propagate) or goes to everybody (broadcast).

The paper tests whether to migrate at exits only. Then an idle role stays where
it is, and Suzuki and Kasami's, Raymond's and Martin's algorithms are no cells
of the table; with test = wake it is tested also when a request finds the role
idle, which makes a token of it. The tree and the ring always do that.";

const DEFECTS: &[Defect] = &[Defect {
    id: "rana-B1",
    what: "with inform=none and seek=broadcast only the controller listens, and a request may fall \
           between two controllers",
    rules: &["everybody-remembers"],
    with: &[("inform", "none"), ("seek", "broadcast"), ("max_req", "1")],
    shows: Shows::World(World::of(&[2, 0, 0], Fails::Deadlock)),
    schedule: "req 0; exit 0; req 0; 0>1:REQUEST; 0>1:BECOME; 0>2:REQUEST",
    result: "deadlock: the old controller has let go, the new one has not begun, nobody heard it",
    ..Defect::BLANK
}];
