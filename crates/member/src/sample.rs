//! A plan for unit tests.

use algorithms::registry;
use chaos::Delay;
use model::plan::Plan;
use model::workload::{Closed, PerNode, Quota, Span, Workload};

/// An ordinary plan: five members of naimi-trehel in a closed loop.
pub(crate) fn plan() -> Plan {
    let info = registry::find("naimi-trehel").expect("a registered algorithm");
    let usual = Plan::usual(info, 5, 1);
    Plan {
        workload: Workload {
            arrivals: Closed {
                think: PerNode::All(Span::Constant(100)),
            }
            .into(),
            hold: PerNode::All(Span::Constant(10)),
            quota: Quota::PerNode(2),
            ..usual.workload
        },
        delay: Delay::Constant { ns: 5 },
        bound_ns: 5,
        ..usual
    }
}
