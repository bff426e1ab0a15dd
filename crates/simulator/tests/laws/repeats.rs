//! The same plan gives the same run.

use algorithms::registry::{self, Graph};
use model::workload::Span;

use crate::worlds::{MS, closed, plan, retries, simulate, worlds};

#[test]
fn the_same_seed_gives_the_same_run() {
    for info in registry::ALL {
        for (plan, _) in worlds(info, 4) {
            assert_eq!(simulate(&plan), simulate(&plan), "{plan:?}");
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    for info in registry::ALL {
        let run = |seed| {
            let mut plan = plan(info.name, 5, seed);
            plan.delay = "5ms 4ms".parse().unwrap();
            plan.workload.arrivals = closed(Span::Exponential(10 * MS));
            simulate(&plan)
        };
        assert_ne!(run(1).requests, run(2).requests, "{}", info.name);
    }
}

#[test]
fn chance_is_no_part_of_a_plan_without_any() {
    let calm = registry::ALL.iter();
    for info in calm.filter(|info| !retries(info)) {
        let [one, two] = [1, 2].map(|seed| {
            let mut plan = plan(info.name, 5, seed);
            if info.graph == Graph::Digraph {
                // The usual digraph is drawn from the seed.
                plan.topology = "ring".parse().expect("a shape");
            }
            simulate(&plan)
        });
        assert_eq!(one, two, "{}", info.name);
    }
}
