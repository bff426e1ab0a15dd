//! Every cell of the migrating-controller framework on links that lose and part.

use algorithms::registry::{self, LinkOrder};
use algorithms::taxonomy;
use model::run::End;
use model::workload::Quota;

use crate::scenes::{judge, plan, simulate};

#[test]
fn bad_links_only_delay_a_moving_role() {
    let info = registry::find("controller").expect("it is registered");
    let faults = [
        "at 0s loss 10% on all",
        "at 15ms partition halves for 200ms",
    ];
    for cell in taxonomy::of(info.name) {
        for (seed, links) in [(1, LinkOrder::Fifo), (2, LinkOrder::Any)] {
            let mut plan = plan(info.name, 5, seed, &faults);
            plan.params = info.choose(cell.params).expect("they are there");
            plan.delay = "2ms 1ms".parse().expect("a delay");
            plan.workload.quota = Quota::PerNode(4);
            plan.links = links;
            let run = simulate(&plan);
            let judgement = judge(&plan, &run);
            assert_eq!(run.end, End::Finished, "{cell:?}: {plan:?}");
            assert!(judgement.safety.holds(), "{judgement:?}: {plan:?}");
            assert!(judgement.liveness.holds(), "{judgement:?}: {plan:?}");
            let served = run.requests.iter().filter(|row| row.left_ns.is_some());
            assert_eq!(served.count(), 20, "{cell:?}: {plan:?}");
        }
    }
}
