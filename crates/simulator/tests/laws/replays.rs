//! What a trace tells of a run is enough to have the same of its machines again.

use std::collections::BTreeMap;

use algorithms::NodeId;
use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use analysis::replay::Replay;
use model::event::{Event, Letter, What};
use model::plan::Plan;
use model::workload::Span;

use crate::worlds::{closed, plan};

/// A traced plan in which members wait for each other, overtake each other and think.
pub(crate) fn traced(info: &AlgorithmInfo, seed: u64) -> Plan {
    let nodes = (4..).find(|&nodes| info.admits_size(nodes));
    let mut plan = plan(info.name, nodes.expect("it admits some size"), seed);
    plan.trace = true;
    plan.delay = "2ms 1ms".parse().expect("a delay");
    plan.workload.arrivals = closed(Span::Exponential(3_000_000));
    if info.link_order == LinkOrder::Any {
        plan.links = LinkOrder::Any;
    }
    plan
}

pub(crate) fn events(plan: &Plan) -> Vec<Event> {
    let mut events = Vec::<Event>::new();
    simulator::run(plan, &mut events).unwrap_or_else(|stuck| panic!("{stuck}: {plan:?}"));
    events
}

/// How many of the events were replayed, and what was different then.
fn replay(plan: &Plan, events: &[Event]) -> (usize, Result<(), String>) {
    let topology = plan.build_topology().expect("the usual shape always fits");
    let mut machines = Replay::new(plan, topology);
    for (nth, event) in events.iter().enumerate() {
        if let Err(why) = machines.take(event) {
            return (nth, Err(why));
        }
    }
    (events.len(), machines.close(&BTreeMap::new()))
}

#[test]
fn every_machine_does_again_what_it_did() {
    for info in registry::ALL {
        let plan = traced(info, 11);
        let events = events(&plan);
        assert!(events.len() > 50, "{plan:?}");
        let (nth, same) = replay(&plan, &events);
        assert_eq!(same, Ok(()), "event {nth}: {plan:?}");
    }
}

/// The print has members post messages to themselves, and lets in who is inside.
#[test]
fn a_machine_as_printed_does_again_what_it_did() {
    for name in ["naimi-trehel", "sanders", "cdc", "ddc"] {
        let info = registry::find(name).expect("it is registered");
        let mut plan = traced(info, 11);
        plan.printed = Printed::all(info.more.defects);
        plan.time_limit_ns = Some(10_000_000_000);
        let events = events(&plan);
        let posts = |event: &&Event| matches!(event.what, What::Post { .. });
        assert!(events.iter().any(|event| posts(&event)), "{name}");
        let (nth, same) = replay(&plan, &events);
        assert_eq!(same, Ok(()), "event {nth}: {plan:?}");
    }
}

#[test]
fn a_copy_is_what_was_sent_before() {
    let info = registry::find("ricart-agrawala").expect("it is registered");
    let plan = traced(info, 5);
    let whole = events(&plan);
    let is_send = |event: &Event| matches!(event.what, What::Send { .. });
    let nth = whole.iter().position(is_send).expect("something is sent");
    // Behind it, the same once more, but for what was done to it.
    type Alter<'a> = &'a dyn Fn(&mut NodeId, &mut Letter);
    let with_copy = |alter: Alter<'_>| {
        let mut events = whole.clone();
        let mut copy = events[nth].clone();
        if let What::Send { to, letter, .. } = &mut copy.what {
            alter(to, letter);
        }
        events.insert(nth + 1, copy);
        replay(&plan, &events)
    };
    assert_eq!(with_copy(&|_, _| ()), (whole.len() + 1, Ok(())));
    let nowhere = NodeId(plan.nodes - 1);
    let altered: [Alter<'_>; 3] = [
        &|_, letter| letter.body.0.push(0),
        &|to, _| *to = if *to == nowhere { NodeId(0) } else { nowhere },
        &|_, letter| letter.number = 0,
    ];
    for alter in altered {
        let (at, different) = with_copy(alter);
        assert!(at == nth + 1 && different.is_err(), "event {at}");
    }
}

#[test]
fn what_was_left_out_or_changed_is_found_where_it_is() {
    let info = registry::find("ricart-agrawala").expect("it is registered");
    let plan = traced(info, 5);
    let whole = events(&plan);
    let of = |is: fn(&What) -> bool| {
        let mut found = (10..whole.len()).filter(|&nth| is(&whole[nth].what));
        found.next().expect("there is one")
    };
    let send = of(|what| matches!(what, What::Send { .. }));
    let receive = of(|what| matches!(what, What::Receive { .. }));
    let enter = of(|what| matches!(what, What::Enter { .. }));
    for (nth, why) in [
        (send, "sends"),
        (receive, "now it does nothing more"),
        (enter, "lets its client in"),
    ] {
        let mut events = whole.clone();
        events.remove(nth);
        let (at, different) = replay(&plan, &events);
        let said = different.expect_err("something is missing");
        assert!(at >= nth && said.contains(why), "event {nth}, {at}: {said}");
    }
    let mut events = whole.clone();
    if let What::Receive { letter, .. } = &mut events[receive].what {
        letter.number += 1;
    }
    let (at, different) = replay(&plan, &events);
    let said = different.expect_err("nobody sent it");
    assert!(at == receive && said.contains("no such message"), "{said}");
    let mut events = whole.clone();
    events[0].what = What::Release;
    let (at, different) = replay(&plan, &events);
    let said = different.expect_err("nobody was inside");
    assert!(at == 0 && said.contains("not inside"), "{said}");
    let (_, cut_off) = replay(&plan, &whole[..send]);
    let said = cut_off.expect_err("the last is missing");
    assert!(said.contains("did nothing more"), "{said}");
}
