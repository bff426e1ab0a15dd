//! What entering costs, against the closed forms.

use algorithms::registry;
use analysis::{TheoryLine, judge};
use model::plan::Plan;
use model::workload::{OneAtATime, PerNode, Quota, Span};

use crate::worlds::{MS, plan, simulate, worlds};

#[test]
fn no_closed_form_is_missed_in_any_world() {
    let mut lines = 0;
    for info in registry::ALL {
        for (plan, _) in worlds(info, 4) {
            for line in theory(&plan) {
                assert!(!line.missed(), "{line:?}: {plan:?}");
                lines += 1;
            }
        }
    }
    assert!(lines > 100, "only {lines} closed forms applied");
}

#[test]
fn permissions_cost_exactly_what_the_papers_say() {
    for (algorithm, each) in [("ricart-agrawala", 2), ("lamport", 3)] {
        for nodes in [1, 2, 5, 10, 32] {
            let run = simulate(&light(algorithm, nodes, 100, 1));
            assert_eq!(run.requests.len(), 100);
            let messages = run.window.messages;
            assert_eq!(messages, 100 * each * (u64::from(nodes) - 1), "{algorithm}");
            let charged = run.requests.iter().map(|row| row.messages.unwrap_or(0));
            assert!(
                charged
                    .into_iter()
                    .all(|messages| messages == each * (u64::from(nodes) - 1)),
                "{algorithm}, {nodes} nodes"
            );
        }
    }
}

#[test]
fn naimi_and_trehels_token_costs_a_harmonic_number_on_average() {
    for (nodes, entries) in [(5, 60_000), (10, 50_000), (32, 40_000), (100, 40_000)] {
        let harmonic = (1..nodes).map(|k| 1.0 / f64::from(k)).sum();
        for seed in [1, 2, 3] {
            costs_on_average(&light("naimi-trehel", nodes, entries, seed), harmonic);
        }
    }
}

#[test]
fn suzuki_and_kasamis_token_costs_one_less_than_the_nodes_on_average() {
    for (nodes, entries) in [(5, 50_000), (10, 20_000), (32, 6_000)] {
        for seed in [1, 2, 3] {
            let plan = light("suzuki-kasami", nodes, entries, seed);
            costs_on_average(&plan, f64::from(nodes - 1));
        }
    }
}

#[test]
fn a_saturated_tree_costs_exactly_what_raymond_says() {
    for shape in ["tree:2", "tree:3", "star", "path", "random-tree"] {
        for nodes in [2, 3, 7, 15, 31] {
            for hold in [1, 2, 3] {
                let mut plan = plan("raymond", nodes, 5);
                plan.topology = shape.parse().expect("a shape");
                plan.workload.hold = PerNode::All(Span::Constant(hold * MS));
                plan.workload.quota = Quota::PerNode(30);
                plan.warm_up_entries = 5 * u64::from(nodes);
                let run = simulate(&plan);
                let (window, cycle) = (&run.window, u64::from(nodes));
                assert!(window.entries >= 10 * cycle, "{window:?}: {plan:?}");
                assert_eq!(window.entries % cycle, 0, "{window:?}: {plan:?}");
                let cycles = window.entries / cycle;
                assert_eq!(window.messages, cycles * 4 * (cycle - 1), "{plan:?}");
            }
        }
    }
}

/// One request at a time, by nodes drawn uniformly.
fn light(algorithm: &str, nodes: u32, entries: u64, seed: u64) -> Plan {
    let mut plan = plan(algorithm, nodes, seed);
    plan.workload.arrivals = OneAtATime.into();
    plan.workload.quota = Quota::Total(entries);
    plan
}

/// The expected number lies within the run's 99.9 % interval, which is narrower than 1 % on either
/// side.
fn costs_on_average(plan: &Plan, expected: f64) {
    let lines = theory(plan);
    let [line] = &lines[..] else {
        panic!("{lines:?}: {plan:?}");
    };
    assert!(
        (line.expected - expected).abs() < 1e-9,
        "{line:?}: {plan:?}"
    );
    let (low, high) = line.interval.expect("every message is charged");
    assert!((high - low) / 2.0 < 0.01 * expected, "{line:?}: {plan:?}");
    assert_eq!(line.agrees, Some(true), "{line:?}: {plan:?}");
}

fn theory(plan: &Plan) -> Vec<TheoryLine> {
    let topology = plan.build_topology().expect("the usual shape always fits");
    judge(plan, &topology, &simulate(plan)).theory
}
