//! How runs end.

use std::ops::ControlFlow;

use algorithms::erased::Machine;
use algorithms::{NodeId, Topology, registry};
use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{OneAtATime, PerNode, Quota, Span};
use simulator::simulate_machine;

use crate::toys;
use crate::worlds::{MS, ask, batch, closed, plan, simulate};

#[test]
fn nothing_moves_and_somebody_waits() {
    let run = toy(toys::SILENT, &asks_once(3, 1));
    assert_eq!((run.end, run.ended_ns), (End::Deadlock, 0));
    assert_eq!(run.requests[0].entered_ns, None);
}

#[test]
fn a_conducted_workload_notices_too() {
    let mut plan = asks_once(3, 1);
    plan.workload.arrivals = OneAtATime.into();
    plan.workload.quota = Quota::Until(u64::MAX);
    let run = toy(toys::SILENT, &plan);
    assert_eq!((run.end, run.requests.len()), (End::Deadlock, 1));
    plan.workload.arrivals = batch(vec![ask(2, 0), ask(1, 0)], true);
    let run = toy(toys::SILENT, &plan);
    assert_eq!((run.end, run.requests.len()), (End::Deadlock, 2));
}

#[test]
fn everything_moves_and_nobody_enters() {
    let run = toy(toys::CHATTERING, &asks_once(3, 1));
    assert_eq!(run.end, End::LiveLock);
    assert_eq!(run.window.messages, 3_001);
    let rows = run.messages.values();
    let (sent, received) = rows.fold((0, 0), |(sent, received), row| {
        (sent + row.sent, received + row.received)
    });
    assert_eq!((sent, received), (3_001, 3_000));
}

/// As printed, a request that brings the token back has its sender enter unasked (kanrar-M6), and so
/// the token goes to and fro when everybody has been served.
#[test]
fn entries_that_nobody_asked_for_do_not_keep_a_run_going() {
    let info = registry::find("mra").expect("it is registered");
    let mut plan = plan("mra", 3, 1);
    plan.printed = info.as_printed(&["M6"]).expect("a defect of its");
    let run = simulate(&plan);
    assert_eq!(run.end, End::LiveLock);
    let asked = run.requests.iter().filter(|row| !row.uninvited);
    assert!(asked.clone().all(|row| row.left_ns.is_some()));
    assert_eq!((asked.count(), run.requests.len() > 100), (15, true));
}

/// Everybody's request may flood the whole digraph before the first one enters.
#[test]
fn requests_that_flood_are_no_live_lock() {
    let edges = |far: u32| (0..100).map(move |node| (NodeId(node), NodeId((node + far) % 100)));
    let all = (1..=20).flat_map(edges).collect::<Vec<_>>();
    let dense = Topology::directed(100, &all);
    let named = |name| registry::find(name).expect("it is registered");
    assert_eq!(named("lfrt").live_lock_messages(&dense), 100 * 6_100);
    assert_eq!(named("raymond").live_lock_messages(&dense), 100_000);
}

#[test]
fn the_time_limit_comes_first() {
    let mut plan = plan("raymond", 5, 1);
    plan.workload.quota = Quota::PerNode(1_000_000);
    plan.time_limit_ns = Some(100 * MS);
    let run = simulate(&plan);
    assert_eq!((run.end, run.ended_ns), (End::TimeLimit, 100 * MS));
    assert!(run.requests.iter().all(|row| row.left_ns <= Some(100 * MS)));
    let rows = run.messages.values();
    assert!(rows.clone().map(|row| row.sent).sum::<u64>() >= run.link_delay_count);
    assert_eq!(
        rows.map(|row| row.received).sum::<u64>(),
        run.link_delay_count
    );
}

#[test]
fn whoever_watches_may_end_it() {
    let mut plan = plan("raymond", 5, 1);
    plan.workload.quota = Quota::PerNode(1_000_000);
    let mut reports = Vec::new();
    let run = simulator::simulate(&plan, plan.build_topology().unwrap(), &mut |progress| {
        reports.push(progress);
        match reports.len() {
            3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })
    .unwrap();
    assert_eq!((run.end, reports.len()), (End::Interrupted, 3));
    assert!(reports.is_sorted_by_key(|progress| (progress.events, progress.now_ns)));
}

#[test]
fn a_moment_without_end_is_an_error() {
    let mut plan = plan("centralised", 1, 1);
    plan.workload.hold = PerNode::All(Span::Constant(0));
    plan.workload.quota = Quota::PerNode(u64::MAX);
    let stuck = simulator::simulate(&plan, Topology::complete(1), &mut |_| {
        ControlFlow::Continue(())
    });
    let message = stuck.unwrap_err().to_string();
    assert!(message.starts_with("time stands still"), "{message}");
}

#[test]
fn an_uninvited_entry_is_recorded_and_ends_as_usual() {
    // 0 asks, 1 enters uninvited and lets 0 in when it leaves.
    let run = toy(toys::CONFUSED, &asks_once(2, 1));
    assert_eq!(run.end, End::Finished);
    let [asked, uninvited] = &run.requests[..] else {
        panic!("{:?}", run.requests);
    };
    assert!(!asked.uninvited && uninvited.uninvited);
    assert_eq!((uninvited.asked_ns, uninvited.node.0), (None, 1));
    assert_eq!(uninvited.entered_ns, Some(MS));
    assert_eq!(uninvited.left_ns, Some(2 * MS));
    assert_eq!(asked.entered_ns, Some(3 * MS));
}

#[test]
fn a_moved_timer_goes_off_once_and_a_cancelled_one_keeps_nobody_waiting() {
    let run = toy(toys::PUNCTUAL, &asks_once(2, 1));
    assert_eq!(run.end, End::Finished);
    assert_eq!(run.requests[0].entered_ns, Some(3 * MS));
    assert_eq!(run.ended_ns, 4 * MS);
}

#[test]
fn a_posted_message_travels_uncounted() {
    let run = toy(toys::POSTING, &asks_once(2, 1));
    assert_eq!(run.requests[0].entered_ns, Some(MS));
    assert_eq!((run.messages.len(), run.link_delay_count), (0, 0));
}

#[test]
fn notes_and_fences_are_kept_with_the_request() {
    let mut plan = asks_once(2, 3);
    plan.warm_up_entries = 1;
    let run = toy(toys::NOTING, &plan);
    let kept = run.requests.iter().map(|row| (row.fence, row.registered));
    let expected = [1, 2, 3].map(|n| (Some(n), Some(10 * n)));
    assert_eq!(kept.collect::<Vec<_>>(), expected);
    let (_, row) = run.notes.first_key_value().unwrap();
    assert_eq!((row.count, row.sum, row.min, row.max), (3, 60, 10, 30));
    // The second and third entry are in the window, and what was noted on the way.
    assert_eq!(run.window.entries, 2);
    assert_eq!(run.window.notes["registered"].sum, 50);
}

/// Node 0 asks so often.
fn asks_once(nodes: u32, requests: u64) -> Plan {
    let mut plan = plan("centralised", nodes, 1);
    plan.workload.arrivals = closed(Span::Constant(0));
    plan.workload.weights = (0..nodes)
        .map(|node| f64::from(u8::from(node == 0)))
        .collect();
    plan.workload.quota = Quota::Total(requests);
    plan
}

fn toy(machine: &dyn Machine, plan: &Plan) -> Run {
    let topology = Topology::complete(plan.nodes);
    simulate_machine(machine, plan, topology, &mut |_| ControlFlow::Continue(()))
        .expect("time passes")
}
