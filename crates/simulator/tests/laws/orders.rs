//! In what order members get in: what the book's algorithms promise, and what they keep.

use algorithms::NodeId;
use analysis::judge;
use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{Closed, PerNode, Quota, Span};

use crate::worlds::{MS, plan, simulate};

/// Saturated, on a random graph that suits it, with delays that vary and links that keep order.
fn saturated(algorithm: &str, nodes: u32, seed: u64, priorities: &[u32]) -> Plan {
    let mut plan = plan(algorithm, nodes, seed);
    if plan.info().graph == algorithms::registry::Graph::Tree {
        plan.topology = "random-tree".parse().expect("a shape");
    }
    plan.delay = "1ms 900us".parse().expect("a delay");
    plan.bound_ns = 2 * MS;
    plan.workload.quota = Quota::PerNode(20);
    let each = (0..nodes).map(|node| priorities[node as usize % priorities.len()].into());
    plan.workload.priority = PerNode::Each(each.collect());
    plan
}

fn with(mut plan: Plan, name: &str, value: &str) -> Plan {
    let params = plan.info().choose(&[(name, value)]);
    plan.params = params.expect("the parameter is there");
    plan
}

fn finished(plan: &Plan) -> Run {
    let run = simulate(plan);
    assert_eq!(run.end, End::Finished, "{plan:?}");
    run
}

#[test]
fn whoever_was_written_down_first_enters_first() {
    for algorithm in ["mra", "lfrt"] {
        for seed in 0..12 {
            let plan = saturated(algorithm, 12, seed, &[0]);
            let run = finished(&plan);
            let topology = plan.build_topology().expect("it was built");
            let summary = judge(&plan, &topology, &run).summary;
            assert_eq!(summary.registration_inversions, Some(0), "{plan:?}");
            assert!(run.requests.iter().all(|row| row.registered.is_some()));
        }
    }
}

/// For each request its priority and how many that were written down later entered before it.
fn overtaken(run: &Run) -> Vec<(u32, u32)> {
    let rows = &run.requests;
    let times = rows.iter().map(|row| {
        let later = rows
            .iter()
            .filter(|other| other.registered > row.registered);
        let before = later.filter(|other| other.entered_ns < row.entered_ns);
        (row.priority, before.count() as u32)
    });
    times.collect()
}

/// The book's claim, made exact: an entry of priority q is overtaken at most max(0, Pmax - 1 - q)
/// times, or max(0, k(Pmax - q) - 1) times with slow(k). Both are reached, for every priority.
#[test]
fn aging_bounds_how_often_anybody_is_overtaken() {
    const MOST: u32 = 8;
    let priorities: Vec<_> = (1..=MOST).collect();
    for algorithm in ["lfrt-p", "mra-p"] {
        for newcomers in [1, 2] {
            let mut worst = vec![0; MOST as usize + 1];
            for seed in 0..6 {
                let plan = saturated(algorithm, 12, seed, &priorities);
                let plan = with(plan, "aging", &format!("slow({newcomers})"));
                for (priority, times) in overtaken(&finished(&plan)) {
                    let bound = (newcomers * (MOST - priority)).saturating_sub(1);
                    assert!(times <= bound, "{priority} by {times}: {plan:?}");
                    let most = &mut worst[priority as usize];
                    *most = times.max(*most);
                }
            }
            let bound = |priority: u32| (newcomers * (MOST - priority)).saturating_sub(1);
            let bounds: Vec<_> = (1..=MOST).map(bound).collect();
            assert_eq!(worst[1..], bounds, "{algorithm}, slow({newcomers})");
        }
    }
}

#[test]
fn without_aging_the_urgent_always_go_first_and_others_starve() {
    for algorithm in ["mra-p", "lfrt-p", "fapp"] {
        let plan = saturated(algorithm, 3, 1, &[1, 5, 5]);
        let mut plan = with(plan, "aging", "off");
        plan.topology = "path".parse().expect("a shape");
        let longest = longest_wait(&finished(&plan), 1);
        assert!(longest > 30, "{algorithm}: 0 waited for only {longest}");
        let aged = longest_wait(&finished(&with(plan, "aging", "step")), 1);
        assert!(aged < 12, "{algorithm}: 0 waited for {aged} though it ages");
    }
}

/// The book's picture of starvation: C(1)-L(5)-X(5), L has the token, L and X ask again at once, C once,
/// and before X. A stay takes twice as long as a message, so that nobody leaves at the instant at which a
/// request arrives: then C might be the only one who is written down, and enter at once.
fn before_c(algorithm: &str, aging: &str, printed: &[&str]) -> usize {
    let mut plan = saturated(algorithm, 3, 1, &[1, 5, 5]);
    (plan.topology, plan.holder) = ("path".parse().expect("a shape"), NodeId(1));
    plan.delay = "1ms".parse().expect("a delay");
    plan.workload.hold = PerNode::All(Span::Constant(2 * MS));
    plan.workload.arrivals = Closed {
        think: PerNode::All(Span::Constant(0)),
    }
    .into();
    plan.workload.quota = Quota::Total(61);
    plan.workload.weights = vec![1.0, 30.0, 30.0];
    plan.printed = plan.info().as_printed(printed).expect("its defects");
    longest_wait(&finished(&with(plan, "aging", aging)), 1)
}

/// Four points, one for each that comes before it, make C an equal of L and X.
#[test]
fn on_a_path_between_two_that_never_pause_a_third_starves_unless_it_ages() {
    for algorithm in ["mra-p", "lfrt-p", "fapp"] {
        let waits =
            ["step", "slow(2)", "slow(3)", "off"].map(|aging| before_c(algorithm, aging, &[]));
        println!("{algorithm}: {waits:?}");
        assert_eq!(waits, [4, 8, 12, 60], "{algorithm}");
    }
}

/// kanrar-F6: the token that comes to C goes straight back, and what C gained by waiting is lost. As
/// printed, where the returning token ages nobody (F7), it comes for nothing as often as it comes.
#[test]
fn a_sender_that_is_filed_before_the_next_is_chosen_keeps_fapps_token() {
    let (alone, as_printed) = (
        before_c("fapp", "step", &["F6"]),
        before_c("fapp", "step", &["F6", "F7"]),
    );
    println!("F6: {alone}, F6 and F7: {as_printed}");
    assert_eq!(as_printed, 60, "all others");
    assert_eq!((before_c("fapp", "step", &["F7"]), alone), (4, 18));
}

/// The most entries of others between two entries of one member with that priority.
fn longest_wait(run: &Run, priority: u32) -> usize {
    let mut entries: Vec<_> = run
        .requests
        .iter()
        .filter(|row| row.entered_ns.is_some())
        .collect();
    entries.sort_by_key(|row| row.entered_ns);
    let concerned = |row: &&model::run::RequestRow| row.priority == priority;
    let nodes: std::collections::BTreeSet<NodeId> = run
        .requests
        .iter()
        .filter(concerned)
        .map(|row| row.node)
        .collect();
    let gaps = nodes.iter().flat_map(|node| {
        let own = entries
            .iter()
            .enumerate()
            .filter(move |(_, row)| row.node == *node);
        let places: Vec<_> = own.map(|(place, _)| place as isize).collect();
        let from_start = std::iter::once(-1).chain(places.clone());
        from_start
            .zip(places)
            .map(|(before, own)| (own - before - 1) as usize)
            .collect::<Vec<_>>()
    });
    gaps.max().unwrap_or(0)
}

/// FAPP on six trees whose members, half of them urgent, ask so many times: the worst wait of one that is
/// not, and how many messages there were in all.
fn fapp_on_trees(printed: &[&str], aging: &str, rounds: u64) -> (usize, u64) {
    let runs = (0..6).map(|seed| {
        let mut plan = saturated("fapp", 12, seed, &[1, 5]);
        plan.printed = plan.info().as_printed(printed).expect("its defects");
        plan.workload.quota = Quota::PerNode(rounds);
        let run = finished(&with(plan, "aging", aging));
        let sent: u64 = run.messages.values().map(|row| row.sent).sum();
        (longest_wait(&run, 1), sent)
    });
    runs.fold((0, 0), |(worst, all), (wait, sent)| {
        (worst.max(wait), all + sent)
    })
}

/// kanrar-F7 alone does it: what comes back with the token must age those whom it passes.
#[test]
fn fapps_printed_aging_starves_the_longer_the_run_and_the_repaired_does_not() {
    let worst = |printed: &[&str], aging: &str| {
        let wait = |rounds| fapp_on_trees(printed, aging, rounds).0;
        let waits = (wait(40), wait(120));
        println!("entries of others, 40 and 120 rounds: {printed:?} {aging} {waits:?}");
        waits
    };
    let repaired = worst(&[], "step");
    assert!(
        repaired.1 < 2 * repaired.0 && repaired.1 < 100,
        "{repaired:?}"
    );
    for (printed, aging) in [(&["F7"][..], "step"), (&["F7", "F8"], "step"), (&[], "off")] {
        let starved = worst(printed, aging);
        assert!(
            starved.1 > 2 * starved.0,
            "{printed:?}, {aging}: {starved:?}"
        );
        assert!(
            starved.0 > 2 * repaired.0,
            "{printed:?}, {aging}: {starved:?}"
        );
    }
    // Slower, but no less sure.
    let slow = worst(&[], "slow(2)");
    assert!(slow.0 > repaired.0 && slow.1 < 2 * slow.0, "{slow:?}");
    // kanrar-F8: those overtaken by the site they asked wait longer, and not for ever.
    let unaged = worst(&["F8"], "step");
    assert!(
        unaged.1 > repaired.1 && unaged.1 < 2 * unaged.0,
        "{unaged:?}"
    );
}

/// kanrar-F4: line 9 passes every request on. It costs half as much again, and nothing else.
#[test]
fn telling_more_than_a_raise_costs_fapp_messages() {
    let (repaired, every) = (
        fapp_on_trees(&[], "step", 40),
        fapp_on_trees(&["F4"], "step", 40),
    );
    println!("wait and messages: {repaired:?}, every request told {every:?}");
    assert!(
        2 * every.1 > 3 * repaired.1,
        "{every:?} against {repaired:?}"
    );
    assert!(every.0 < 100, "{every:?}");
}

/// With equal priorities nothing ages, and FAPP is Raymond's algorithm: not first come, first served.
#[test]
fn among_equals_fapp_serves_in_raymonds_order() {
    for seed in 0..40 {
        let order = |algorithm: &str| {
            let mut plan = saturated(algorithm, 10, seed, &[5]);
            plan.delay = "1ms".parse().expect("a delay");
            plan.workload.quota = Quota::PerNode(3);
            let run = finished(&plan);
            let mut entries: Vec<_> = run.requests.iter().collect();
            entries.sort_by_key(|row| row.entered_ns);
            entries.iter().map(|row| row.node).collect::<Vec<_>>()
        };
        assert_eq!(order("fapp"), order("raymond"), "seed {seed}");
    }
}
