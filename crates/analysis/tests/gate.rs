//! The theory gate on simulated runs: the closed forms of the papers come out, and where their
//! conditions are not met the gate is silent.

mod support;

use analysis::{Judgement, TheoryLine, Verdict, judge};
use model::plan::Plan;
use model::workload::{Closed, OneAtATime, PerNode, Quota, Span};
use support::{plan, simulate, topology};

fn judged(plan: &Plan) -> Judgement {
    let run = simulate(plan);
    judge(plan, &topology(plan), &run)
}

fn one_at_a_time(algorithm: &str, nodes: u32, entries: u64) -> Plan {
    let mut plan = plan(algorithm, nodes);
    plan.workload.arrivals = OneAtATime.into();
    plan.workload.quota = Quota::Total(entries);
    plan
}

fn saturated(algorithm: &str, nodes: u32) -> Plan {
    let mut plan = plan(algorithm, nodes);
    plan.workload.arrivals = Closed {
        think: PerNode::All(Span::Constant(0)),
    }
    .into();
    plan.warm_up_entries = 5 * u64::from(nodes);
    plan
}

/// The one line about messages, which must agree.
fn messages(judgement: &Judgement) -> &TheoryLine {
    let lines = judgement.theory.iter();
    let lines = lines.filter(|line| line.metric == "messages_per_entry");
    let lines = lines.collect::<Vec<_>>();
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines[0]
}

#[test]
fn permissions_cost_exactly_what_the_papers_say() {
    for nodes in [1, 2, 5, 32] {
        for (algorithm, each) in [("ricart-agrawala", 2), ("lamport", 3)] {
            let light = judged(&one_at_a_time(algorithm, nodes, 200));
            let busy = judged(&plan(algorithm, nodes));
            for judgement in [&light, &busy] {
                let line = messages(judgement);
                assert_eq!(
                    line.expected,
                    f64::from(each * (nodes - 1)),
                    "{algorithm} {nodes}"
                );
                assert_eq!(line.agrees, Some(true), "{line:?}");
                assert_eq!(
                    judgement.conclusion(),
                    Verdict::Holds,
                    "{:?}",
                    judgement.reasons
                );
            }
        }
    }
}

#[test]
fn a_token_costs_on_average_what_the_papers_say() {
    let harmonic = |n: u32| (1..=n).map(|k| 1.0 / f64::from(k)).sum::<f64>();
    for nodes in [5, 10, 32] {
        let forms = [
            ("naimi-trehel", harmonic(nodes - 1)),
            ("suzuki-kasami", f64::from(nodes - 1)),
        ];
        for (algorithm, expected) in forms {
            let judgement = judged(&one_at_a_time(algorithm, nodes, 60_000));
            let line = messages(&judgement);
            assert!((line.expected - expected).abs() < 1e-12);
            let (low, high) = line.interval.expect("a long run has one");
            assert!(
                (high - low) / 2.0 < 0.01 * expected,
                "{algorithm} {nodes}: {low} to {high}"
            );
            assert_eq!(line.agrees, Some(true), "{algorithm} {nodes}: {line:?}");
        }
    }
}

#[test]
fn a_tree_costs_on_average_twice_the_distance() {
    // On the path 1 - 0 - 2 two ordered pairs of nine are two apart, four are one apart.
    let judgement = judged(&one_at_a_time("raymond", 3, 60_000));
    let line = messages(&judgement);
    assert!((line.expected - 16.0 / 9.0).abs() < 1e-12, "{line:?}");
    assert_eq!(line.agrees, Some(true), "{line:?}");
}

#[test]
fn a_saturated_tree_costs_exactly_what_the_paper_says() {
    for nodes in [2, 3, 7, 15] {
        let judgement = judged(&saturated("raymond", nodes));
        let line = messages(&judgement);
        assert_eq!(line.expected, 4.0 * f64::from(nodes - 1) / f64::from(nodes));
        assert_eq!(line.agrees, Some(true), "{nodes}: {line:?}");
        assert_eq!(
            (judgement.verdict, judgement.conclusion()),
            (Verdict::Holds, Verdict::Holds)
        );
    }
}

#[test]
fn outside_its_condition_a_form_is_silent() {
    let mut jitter = saturated("raymond", 7);
    jitter.delay = "1ms 500us".parse().unwrap();
    assert_eq!(judged(&jitter).theory, []);

    let mut short_hold = saturated("raymond", 7);
    short_hold.workload.hold = PerNode::All(Span::Constant(999_999));
    assert_eq!(judged(&short_hold).theory, []);

    let mut uneven = one_at_a_time("naimi-trehel", 5, 100);
    uneven.workload.weights = vec![1.0, 1.0, 1.0, 1.0, 2.0];
    assert_eq!(judged(&uneven).theory, []);

    let mut cut_off = plan("ricart-agrawala", 5);
    cut_off.time_limit_ns = Some(50_000_000);
    assert_eq!(judged(&cut_off).theory, []);
    let mut warm = plan("ricart-agrawala", 5);
    warm.warm_up_entries = 10;
    assert_eq!(judged(&warm).theory, []);
}
