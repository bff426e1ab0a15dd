//! Links of digraphs that fail and come back, thousands of times: no request and no token is lost.

use algorithms::registry::LinkOrder;
use algorithms::{NodeId, Topology};
use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{Closed, PerNode, Quota, Span, Urgency};

use crate::scenes::{MS, judge, messages, plan, simulate};

/// How many runs there are of each algorithm; `TURNSTILE_CUTS` asks for more, as `scripts/soak` does.
fn runs() -> u64 {
    let more = std::env::var("TURNSTILE_CUTS").map(|cuts| cuts.parse());
    more.map_or(40, |cuts| cuts.expect("TURNSTILE_CUTS is a number"))
}

/// A small digraph with slow messages and long stays, so that much is under way when a link fails;
/// sessions end after a second of silence.
fn failing(algorithm: &str, seed: u64, faults: &[&str]) -> Plan {
    let nodes = 3 + (seed % 6) as u32;
    let mut plan = plan(algorithm, nodes, seed, &[]);
    plan.holder = NodeId((seed / 6) as u32 % nodes);
    plan.delay = "60ms 50ms".parse().expect("a delay");
    plan.bound_ns = 110 * MS;
    plan.links = match seed % 2 {
        0 => LinkOrder::Fifo,
        _ => LinkOrder::Any,
    };
    plan.workload.arrivals = Closed {
        think: PerNode::All(Span::Exponential(700 * MS)),
    }
    .into();
    plan.workload.hold = PerNode::All(Span::Uniform(10 * MS, 300 * MS));
    plan.workload.priority = apart(nodes);
    plan.workload.quota = Quota::PerNode(4);
    let topology = plan.build_topology().expect("the usual shape always fits");
    plan.faults = crate::scenes::timeline(&plan, &topology, faults);
    plan
}

/// Priorities two apart or more: each may overtake each lower one, even where those age.
fn apart(nodes: u32) -> PerNode<Urgency> {
    let each = [5, 1, 9, 3].map(Urgency::Constant).into_iter().cycle();
    PerNode::Each(each.take(nodes as usize).collect())
}

fn assert_all_served(plan: &Plan, run: &Run) {
    let judgement = judge(plan, run);
    assert_eq!(run.end, End::Finished, "seed {}: {plan:?}", plan.seed);
    // Where nobody ever met anybody there is nothing to say about safety.
    assert!(!judgement.safety.is_violated(), "{judgement:?}: {plan:?}");
    assert!(judgement.liveness.holds(), "{judgement:?}: {plan:?}");
    let well_formed = &judgement.well_formedness;
    assert!(!well_formed.is_violated(), "{judgement:?}: {plan:?}");
    let served = run.requests.iter().filter(|row| row.left_ns.is_some());
    assert_eq!(served.count() as u32, 4 * plan.nodes, "{plan:?}");
}

#[test]
fn links_that_fail_and_come_back_lose_no_request_and_no_token() {
    for algorithm in ["lfrt", "lfrt-p"] {
        let (mut lost, mut relays, mut searches) = (0, 0, 0);
        for seed in 0..runs() {
            let plan = failing(algorithm, seed, &["churn edges fail 4s repair 2s"]);
            let run = simulate(&plan);
            assert_all_served(&plan, &run);
            relays += messages(&run, "RELAY").0;
            searches += messages(&run, "FIND").0;
            let kinds = plan.machine().kinds().iter();
            lost += kinds.map(|kind| messages(&run, kind).2).sum::<u64>();
        }
        println!("{algorithm}: {lost} messages lost, {relays} relays, {searches} finds");
        assert!(lost > 0 && relays > 0 && searches > 0, "{algorithm}");
    }
}

/// A link that is no bridge is cut for good: everybody who asks is served all the same.
#[test]
fn a_cut_for_good_that_leaves_the_graph_connected_stops_nobody() {
    for algorithm in ["lfrt", "lfrt-p"] {
        for seed in 0..runs() {
            let whole = failing(algorithm, seed, &[]);
            let topology = whole.build_topology().expect("the usual shape always fits");
            let edges: Vec<_> = topology.without_direction().edges().collect();
            let chosen = edges.iter().cycle().skip(seed as usize).take(edges.len());
            let Some((a, b)) = chosen
                .copied()
                .find(|&cut| survives(&edges, whole.nodes, cut))
            else {
                continue;
            };
            let at_ms = 300 + seed * 37 % 2_000;
            let cut = format!("at {at_ms}ms cut {a}-{b}");
            let plan = failing(algorithm, seed, &[&cut]);
            let run = simulate(&plan);
            let served = run.requests.iter().filter(|row| row.left_ns.is_some());
            assert_eq!(run.end, End::Finished, "seed {seed}, {cut}: {plan:?}");
            assert_eq!(served.count() as u32, 4 * plan.nodes, "seed {seed}, {cut}");
            // Where nobody ever met anybody there is nothing to say about safety.
            let safety = judge(&plan, &run).safety;
            assert!(!safety.is_violated(), "{safety:?}: seed {seed}, {cut}");
        }
    }
}

fn survives(edges: &[(NodeId, NodeId)], nodes: u32, cut: (NodeId, NodeId)) -> bool {
    let left: Vec<_> = edges.iter().copied().filter(|&edge| edge != cut).collect();
    Topology::undirected(nodes, &left).is_connected()
}

/// A cut link of a tree stops the tree algorithms until it is whole again.
#[test]
fn a_cut_tree_waits_and_goes_on() {
    for algorithm in ["mra", "mra-p", "fapp"] {
        for seed in 0..10 {
            let cut = ["at 15ms cut 0-1 for 2s"];
            let mut plan = plan(algorithm, 5, seed, &cut);
            plan.workload.priority = apart(5);
            let run = simulate(&plan);
            assert_eq!(run.end, End::Finished, "{algorithm}, seed {seed}");
            assert!(run.ended_ns > 2_000 * MS, "{algorithm}, seed {seed}");
            assert!(judge(&plan, &run).verdict == analysis::Verdict::Holds);
            let entered = run.requests.iter().filter_map(|row| row.entered_ns);
            let meanwhile = entered.filter(|at| (500 * MS..2_000 * MS).contains(at));
            assert_eq!(meanwhile.count(), 0, "{algorithm}, seed {seed}");
        }
    }
}

/// A link that is cut from the beginning is one that was not there: when it is whole it appears. Two links
/// of each graph do so, one after the other; requests that depend on them wait until then.
#[test]
fn links_that_appear_are_used_and_until_then_nobody_is_lost() {
    for algorithm in ["lfrt", "lfrt-p"] {
        for seed in 0..20 {
            let nodes = 3 + (seed % 6) as u32;
            let edges = plan(algorithm, nodes, seed, &[]).build_topology();
            let edges = edges.expect("the usual shape always fits");
            let edges: Vec<_> = edges.edges().collect();
            let later = |place: u64, at: u64| {
                let (a, b) = edges[(seed + place) as usize % edges.len()];
                format!("at 0s cut {a}-{b} until {at}s")
            };
            let [first, second] = [later(0, 5), later(1, 9)];
            let plan = failing(algorithm, seed, &[&first, &second]);
            assert_all_served(&plan, &simulate(&plan));
        }
    }
}
