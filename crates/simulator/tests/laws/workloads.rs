//! What the workloads promise, whatever the algorithm.

use algorithms::{NodeId, registry};
use model::run::Run;
use model::workload::{OneAtATime, Open, PerNode, Quota, Span, Urgency, Window};

use crate::worlds::{MS, ask, batch, closed, plan, retries, simulate};

#[test]
fn in_a_settled_batch_the_first_stays_inside_until_all_have_asked() {
    let calm = registry::ALL.iter();
    for info in calm.filter(|info| !retries(info)) {
        let mut plan = plan(info.name, 5, 1);
        let order = [3, 1, 4, 0, 2];
        let asks = order.map(|node| ask(node, 0)).to_vec();
        plan.workload.arrivals = batch(asks, true);
        let run = simulate(&plan);
        let asked = run
            .requests
            .iter()
            .map(|row| row.node.0)
            .collect::<Vec<_>>();
        assert_eq!(asked, order, "{}", info.name);
        let first = &run.requests[0];
        let last = &run.requests[4];
        assert!(
            first.entered_ns <= run.requests[1].asked_ns,
            "{}",
            info.name
        );
        assert!(first.left_ns >= last.asked_ns, "{}", info.name);
        let priorities = run.requests.iter().map(|row| row.priority);
        assert_eq!(priorities.collect::<Vec<_>>(), [0, 1, 1, 0, 2]);
    }
}

#[test]
fn drawn_priorities_follow_from_the_seed_alone() {
    let drawn = |algorithm: &str, seed| {
        let mut plan = plan(algorithm, 5, seed);
        plan.workload.priority = PerNode::All(Urgency::Uniform(1, 10));
        let mut rows = simulate(&plan).requests;
        rows.sort_by_key(|row| (row.node, row.arrived_ns));
        let rows = rows.iter().map(|row| (row.node, row.priority));
        rows.collect::<Vec<_>>()
    };
    let of_fapp = drawn("fapp", 1);
    assert!(
        of_fapp
            .iter()
            .all(|(_, priority)| (1..=10).contains(priority))
    );
    assert_eq!(of_fapp, drawn("lfrt-p", 1));
    assert_ne!(of_fapp, drawn("fapp", 2));
    // Each request has its own.
    let own = of_fapp.iter().filter(|(node, _)| *node == NodeId(0));
    let own = own
        .map(|(_, priority)| priority)
        .collect::<std::collections::BTreeSet<_>>();
    assert!(own.len() > 1, "{own:?}");
}

#[test]
fn one_at_a_time_nobody_ever_meets() {
    for info in registry::ALL {
        let mut plan = plan(info.name, 5, 1);
        plan.workload.arrivals = OneAtATime.into();
        plan.workload.quota = Quota::Total(200);
        let run = simulate(&plan);
        for pair in run.requests.windows(2) {
            assert!(pair[0].left_ns <= Some(pair[1].arrived_ns), "{}", info.name);
        }
        let asked = by_node(&run, 5);
        assert!(asked.iter().all(|&asked| asked > 20), "{asked:?}");
    }
}

#[test]
fn several_clients_of_a_node_wait_for_each_other() {
    let mut plan = plan("naimi-trehel", 3, 1);
    plan.workload.clients = 4;
    let run = simulate(&plan);
    let queued = run
        .requests
        .iter()
        .filter(|row| row.asked_ns > Some(row.arrived_ns));
    assert!(queued.count() >= 9, "{:?}", run.requests);
    for node in (0..3).map(NodeId) {
        let own = run.requests.iter().filter(|row| row.node == node);
        let own = own.collect::<Vec<_>>();
        assert!(
            own.windows(2)
                .all(|pair| pair[0].left_ns <= pair[1].asked_ns)
        );
    }
}

#[test]
fn an_open_request_may_arrive_long_before_it_is_asked_for() {
    let mut plan = plan("centralised", 3, 1);
    plan.workload.arrivals = Open { mean_gap_ns: MS }.into();
    plan.workload.quota = Quota::PerNode(20);
    let run = simulate(&plan);
    let queued = run
        .requests
        .iter()
        .filter(|row| row.asked_ns > Some(row.arrived_ns));
    assert!(queued.count() > 30);
    assert!(run.requests.is_sorted_by_key(|row| row.arrived_ns));
}

#[test]
fn a_total_is_dealt_by_the_weights() {
    let mut plan = plan("raymond", 3, 1);
    plan.workload.weights = vec![1.0, 2.0, 7.0];
    plan.workload.quota = Quota::Total(100);
    assert_eq!(by_node(&simulate(&plan), 3), [10, 20, 70]);
}

#[test]
fn a_heavier_node_asks_more_often_in_the_same_time() {
    for arrivals in [
        closed(Span::Exponential(500 * MS)),
        Open {
            mean_gap_ns: 500 * MS,
        }
        .into(),
    ] {
        let mut plan = plan("centralised", 2, 1);
        plan.workload.arrivals = arrivals;
        plan.workload.weights = vec![1.0, 4.0];
        plan.workload.quota = Quota::Until(1_000_000 * MS);
        let asked = by_node(&simulate(&plan), 2);
        let ratio = asked[1] as f64 / asked[0] as f64;
        assert!((3.6..4.4).contains(&ratio), "{asked:?}");
    }
}

#[test]
fn a_window_lets_different_nodes_ask_once_each() {
    let mut plan = plan("naimi-trehel", 9, 1);
    plan.workload.arrivals = Window {
        nodes: 5,
        within_ns: 10 * MS,
    }
    .into();
    let run = simulate(&plan);
    let asked = by_node(&run, 9);
    assert_eq!(asked.iter().filter(|&&asked| asked == 1).count(), 5);
    assert_eq!(asked.iter().sum::<u64>(), 5);
    assert!(run.requests.iter().all(|row| row.arrived_ns < 10 * MS));
}

#[test]
fn hold_times_are_each_nodes_own() {
    let mut plan = plan("raymond", 3, 1);
    let holds = [1, 2, 3].map(|ms| Span::Constant(ms * MS));
    plan.workload.hold = PerNode::Each(holds.to_vec());
    for row in &simulate(&plan).requests {
        let stayed_ns = row.left_ns.unwrap() - row.entered_ns.unwrap();
        assert_eq!(stayed_ns, (u64::from(row.node.0) + 1) * MS);
    }
}

#[test]
fn after_the_time_is_up_nobody_arrives() {
    let mut plan = plan("ricart-agrawala", 4, 1);
    plan.workload.arrivals = closed(Span::Exponential(3 * MS));
    plan.workload.quota = Quota::Until(100 * MS);
    let run = simulate(&plan);
    assert!(run.requests.iter().all(|row| row.arrived_ns < 100 * MS));
    assert!(run.requests.iter().any(|row| row.left_ns > Some(100 * MS)));
}

fn by_node(run: &Run, nodes: usize) -> Vec<u64> {
    let mut asked = vec![0; nodes];
    for row in &run.requests {
        asked[row.node.index()] += 1;
    }
    asked
}
