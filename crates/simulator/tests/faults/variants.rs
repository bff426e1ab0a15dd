//! Bad links and the other rules that an algorithm's source describes.

use model::run::End;

use crate::common::VARIANTS;
use crate::laws::bad_links;
use crate::scenes::{judge, simulate};

#[test]
fn with_other_rules_too_loss_and_a_partition_only_delay() {
    let faults = ["at 0s loss 10% on all", "at 15ms partition halves for 2s"];
    for &(algorithm, with) in VARIANTS {
        let info = algorithms::registry::find(algorithm).expect("it is registered");
        for seed in 0..10 {
            let mut plan = bad_links(info, seed, &faults);
            plan.params = info.choose(with).expect("they fit");
            let run = simulate(&plan);
            let judgement = judge(&plan, &run);
            assert_eq!(run.end, End::Finished, "{plan:?}");
            assert!(judgement.safety.holds(), "{judgement:?}: {plan:?}");
            assert!(judgement.liveness.holds(), "{judgement:?}: {plan:?}");
            assert!(
                !judgement.well_formedness.is_violated(),
                "{judgement:?}: {plan:?}"
            );
        }
    }
}

#[test]
fn with_other_rules_too_nobody_meets_inside_whatever_goes_wrong() {
    let faults = [
        "at 12ms kill random",
        "at 13ms pause holder for 40ms",
        "at 0s loss 5% on all",
        "at 14ms isolate random for 60ms",
        "at 0s duplicate 10% on all",
    ];
    for &(algorithm, with) in VARIANTS {
        let info = algorithms::registry::find(algorithm).expect("it is registered");
        for seed in 0..20 {
            let mut plan = bad_links(info, seed, &faults[seed as usize % 2..]);
            plan.params = info.choose(with).expect("they fit");
            let admitted = (info.more.admits)(&plan.params);
            assert!(simulate(&plan).most_inside <= Some(admitted), "{plan:?}");
        }
    }
}
