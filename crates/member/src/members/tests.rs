use super::*;
use algorithms::Topology;
use model::workload::{Ask, Batch, Closed, OneAtATime, Open, PerNode, Quota, Span};

const ZERO: NodeId = NodeId(0);
const ONE: NodeId = NodeId(1);
const ARRIVED: What = What::Arrive { priority: 0 };
const ENTERED: What = entered(1);

/// A client that asked is let in, as the entry with this index.
const fn entered(index: u32) -> What {
    What::Enter {
        fence: None,
        invited: true,
        witness: None,
        index: Some(index),
    }
}

fn closed(think_ns: u64, clients: u32, quota: Quota) -> Plan {
    let mut plan = crate::sample::plan();
    plan.workload.arrivals = Closed {
        think: PerNode::All(Span::Constant(think_ns)),
    }
    .into();
    plan.workload.clients = clients;
    plan.workload.quota = quota;
    plan
}

fn members(plan: &Plan) -> Members {
    let setting = plan.setting(Topology::complete(plan.nodes));
    Members::new(plan, &setting, 0..plan.nodes)
}

fn handle(members: &mut Members, now_ns: u64, node: NodeId, input: Input) -> Vec<Effect> {
    let mut effects = Vec::new();
    members.handle(now_ns, node, input, &mut effects);
    effects
}

fn arrive(members: &mut Members, now_ns: u64, node: NodeId) -> Vec<Effect> {
    handle(members, now_ns, node, Input::Alarm(Alarm::Arrive(node)))
}

fn leave(members: &mut Members, now_ns: u64, node: NodeId) -> Vec<Effect> {
    handle(members, now_ns, node, Input::Alarm(Alarm::Leave(node)))
}

fn arm(at_ns: u64, alarm: Alarm) -> Effect {
    Effect::Arm { at_ns, alarm }
}

#[test]
fn a_closed_loop_thinks_asks_enters_leaves_and_ends_with_its_quota() {
    let mut members = members(&closed(100, 1, Quota::PerNode(2)));
    let opening = members.opening();
    assert_eq!(opening.len(), 5);
    assert_eq!(opening[0], (100, Alarm::Arrive(ZERO)));
    assert_eq!(members.armed(), 5);
    assert_eq!(
        arrive(&mut members, 100, ZERO),
        [
            Effect::Tell(ARRIVED),
            Effect::Tell(What::Request { priority: 0 }),
            Effect::Tell(ENTERED),
            arm(110, Alarm::Leave(ZERO)),
        ]
    );
    assert_eq!(
        leave(&mut members, 110, ZERO),
        [Effect::Tell(What::Release), arm(210, Alarm::Arrive(ZERO)),]
    );
    arrive(&mut members, 210, ZERO);
    assert_eq!(
        leave(&mut members, 220, ZERO),
        [Effect::Tell(What::Release), Effect::Tell(What::Retire),]
    );
    assert_eq!(members.armed(), 4);
}

#[test]
fn several_clients_wait_in_the_members_own_queue() {
    let mut members = members(&closed(0, 2, Quota::Total(15)));
    assert_eq!(members.opening().len(), 10);
    arrive(&mut members, 0, ZERO);
    let second = arrive(&mut members, 0, ZERO);
    assert_eq!(second, [Effect::Tell(ARRIVED)]);
    assert_eq!(members.waiting(), 1);
    assert_eq!(
        leave(&mut members, 10, ZERO),
        [
            Effect::Tell(What::Release),
            arm(10, Alarm::Arrive(ZERO)),
            Effect::Tell(What::Request { priority: 0 }),
            Effect::Tell(entered(2)),
            arm(20, Alarm::Leave(ZERO)),
        ]
    );
}

#[test]
fn nobody_asks_when_the_time_is_up() {
    let mut members = members(&closed(100, 1, Quota::Until(205)));
    members.opening();
    arrive(&mut members, 100, ZERO);
    let last = leave(&mut members, 110, ZERO);
    assert_eq!(last[1], Effect::Tell(What::Retire));
}

#[test]
fn an_open_workload_does_not_wait_for_the_one_before() {
    let mut plan = closed(0, 1, Quota::PerNode(2));
    plan.workload.arrivals = Open { mean_gap_ns: 1_000 }.into();
    let mut members = members(&plan);
    members.opening();
    let first = arrive(&mut members, 7, ZERO);
    assert_eq!(first[0], Effect::Tell(ARRIVED));
    assert!(matches!(first[1], Effect::Arm { at_ns, alarm: Alarm::Arrive(ZERO) } if at_ns > 7));
    let second = arrive(&mut members, 8, ZERO);
    assert_eq!(second, [Effect::Tell(ARRIVED), Effect::Tell(What::Retire)]);
    assert_eq!(members.waiting(), 1);
}

#[test]
fn a_batch_knows_the_priority_and_the_stay_of_each_request() {
    let ask = |node, at_ns, priority, hold_ns| Ask {
        node: NodeId(node),
        at_ns,
        priority,
        hold_ns,
    };
    let mut plan = closed(0, 1, Quota::PerNode(1));
    plan.workload.arrivals = Batch {
        asks: vec![
            ask(0, 50, Some(7), Some(3)),
            ask(1, 0, None, None),
            ask(0, 20, Some(9), None),
        ],
        settled: false,
    }
    .into();
    let mut members = members(&plan);
    let opening = [(50, 0), (0, 1), (20, 0)].map(|(at, n)| (at, Alarm::Arrive(NodeId(n))));
    assert_eq!(members.opening(), opening);
    let first = arrive(&mut members, 20, ZERO);
    assert_eq!(first[0], Effect::Tell(What::Arrive { priority: 9 }));
    assert_eq!(first[3], arm(30, Alarm::Leave(ZERO)));
    leave(&mut members, 30, ZERO);
    let second = arrive(&mut members, 50, ZERO);
    assert_eq!(second[0], Effect::Tell(What::Arrive { priority: 7 }));
    assert_eq!(second[3], arm(53, Alarm::Leave(ZERO)));
}

#[test]
fn whoever_is_told_to_stay_leaves_when_told() {
    let mut plan = closed(0, 1, Quota::PerNode(1));
    plan.workload.arrivals = OneAtATime.into();
    let mut members = members(&plan);
    assert_eq!(members.opening(), []);
    let asked = handle(&mut members, 5, ZERO, Input::Cue(Cue::Ask { stay: true }));
    assert_eq!(asked.last(), Some(&Effect::Tell(ENTERED)));
    assert_eq!(members.armed(), 0);
    let left = handle(&mut members, 90, ZERO, Input::Cue(Cue::Leave));
    assert_eq!(left, [Effect::Tell(What::Release)]);
    assert_eq!(handle(&mut members, 91, ZERO, Input::Cue(Cue::Leave)), []);
}

/// Each who was to stay is told by itself; letting go lets all of them go.
#[test]
fn several_who_are_to_stay_leave_one_by_one_or_all_at_once() {
    let mut members = members(&closed(0, 1, Quota::PerNode(9)));
    let cue = |members: &mut Members, now_ns, cue| handle(members, now_ns, ZERO, Input::Cue(cue));
    let entries = |effects: &[Effect]| {
        let enters = |effect: &&Effect| matches!(effect, Effect::Tell(What::Enter { .. }));
        effects.iter().filter(enters).count()
    };
    let leaves_by_itself = |effects: &[Effect]| {
        let mut effects = effects.iter();
        effects.any(|effect| {
            matches!(
                effect,
                Effect::Arm {
                    alarm: Alarm::Leave(_),
                    ..
                }
            )
        })
    };
    assert_eq!(entries(&cue(&mut members, 5, Cue::Ask { stay: true })), 1);
    for _ in 0..3 {
        assert_eq!(entries(&cue(&mut members, 6, Cue::Ask { stay: true })), 0);
    }
    let second = cue(&mut members, 7, Cue::Leave);
    assert_eq!((entries(&second), leaves_by_itself(&second)), (1, false));
    let third = cue(&mut members, 8, Cue::LetGo);
    assert_eq!((entries(&third), leaves_by_itself(&third)), (1, true));
}

/// Who slows a run down lets clients stay and think longer, from now on.
#[test]
fn stretched_clients_stay_and_think_longer() {
    let mut members = members(&closed(100, 1, Quota::PerNode(9)));
    members.opening();
    members.stretch(3.0);
    let hold_ns = match arrive(&mut members, 100, ZERO)[..] {
        [.., Effect::Arm { at_ns, .. }] => at_ns - 100,
        ref other => panic!("{other:?}"),
    };
    let left = leave(&mut members, 100 + hold_ns, ZERO);
    let thinks = Effect::Arm {
        at_ns: 100 + hold_ns + 300,
        alarm: Alarm::Arrive(ZERO),
    };
    assert!(left.contains(&thinks), "{left:?}");
    assert_eq!(hold_ns % 3, 0);
}

#[test]
fn a_clogged_member_asks_for_nothing_new() {
    let mut members = members(&closed(0, 1, Quota::PerNode(1)));
    members.opening();
    handle(&mut members, 0, ZERO, Input::Clogged(true));
    assert_eq!(arrive(&mut members, 0, ZERO), [Effect::Tell(ARRIVED)]);
    let clear = handle(&mut members, 9, ZERO, Input::Clogged(false));
    assert_eq!(
        clear[..2],
        [What::Request { priority: 0 }, ENTERED].map(Effect::Tell)
    );
}

#[test]
fn a_token_that_nobody_asked_for_is_a_protocol_error() {
    let mut members = members(&closed(0, 1, Quota::PerNode(1)));
    members.opening();
    // Naimi and Trehel's TOKEN is the second kind of message and has no fields.
    let message = members.group_mut().decode(&[1]).unwrap();
    let effects = handle(
        &mut members,
        0,
        ONE,
        Input::Message {
            from: ZERO,
            message,
        },
    );
    assert!(matches!(
        effects[..],
        [Effect::Tell(What::ProtocolError { .. })]
    ));
}

#[test]
fn an_uninvited_client_holds_and_leaves_as_usual() {
    let mut members = members(&closed(100, 1, Quota::PerNode(1)));
    members.opening();
    let mut effects = Vec::new();
    members.enter(3, ONE, None, &mut effects);
    let uninvited = What::Enter {
        fence: None,
        invited: false,
        witness: None,
        index: Some(1),
    };
    assert_eq!(
        effects,
        [Effect::Tell(uninvited), arm(13, Alarm::Leave(ONE))]
    );
    effects.clear();
    members.enter(4, ONE, None, &mut effects);
    assert!(matches!(
        effects[..],
        [Effect::Tell(What::ProtocolError { .. })]
    ));
    assert_eq!(leave(&mut members, 13, ONE), [Effect::Tell(What::Release)]);
}

/// What a message carries is what its sender knew when it made it; a copy of it carries the same.
#[test]
fn a_copy_carries_what_its_original_does() {
    let mut members = members(&closed(0, 1, Quota::PerNode(3)));
    let made = |members: &mut Members| members.group_mut().decode(&[1]).unwrap();
    let first = made(&mut members);
    members.came(first, 0, 41);
    let copy = members.duplicate(first);
    assert_eq!((members.known(first), members.known(copy)), (41, 41));
    let unknown = made(&mut members);
    assert_eq!(members.known(unknown), 0);
    for (message, from) in [(copy, ZERO), (unknown, ZERO)] {
        handle(&mut members, 0, ONE, Input::Message { from, message });
    }
    let mut effects = Vec::new();
    members.enter(3, ONE, None, &mut effects);
    let index = effects.iter().find_map(|effect| match effect {
        Effect::Tell(What::Enter { index, .. }) => *index,
        _ => None,
    });
    assert_eq!(index, Some(42));
}
