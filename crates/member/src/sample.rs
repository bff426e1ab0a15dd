//! A plan and its faults for unit tests.

use algorithms::registry;
use chaos::timeline::Group;
use chaos::{Delay, Timeline};
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

/// These faults, on five members that are all linked and share a token.
pub(crate) fn faults(texts: &[&str]) -> Timeline {
    let group = Group {
        token: Some(true),
        ..Group::complete(5, 7)
    };
    let entries = texts.iter().map(|text| text.parse().expect("a fault"));
    let entries = entries.collect::<Vec<_>>();
    Timeline::resolve(&entries, &group).expect("faults that fit the group")
}
