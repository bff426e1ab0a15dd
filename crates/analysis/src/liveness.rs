//! Liveness: everybody who asks gets in.
//!
//! Violated when somebody waits though no fault stands in the way and no more members died than the
//! algorithm tolerates, and either nothing moves any more (deadlock) or more messages were sent
//! while nobody was inside than [`AlgorithmInfo::live_lock_messages`] says, 1 000·N as a rule (live-lock).
//! The engine sees which; [`End`] says it.
//!
//! What stands in the way of messages without end is any fault in force. Where nothing moves any
//! more, a fault of patient links is no excuse once it holds nothing back: every message arrived, and
//! all that the links did was to take their time.

use std::collections::BTreeSet;

use algorithms::registry::{AlgorithmInfo, LinkContract};
use algorithms::{NodeId, Topology};
use model::plan::Plan;
use model::run::{End, FaultKind, FaultOutcome, FaultTarget, Run, deaths};
use model::time::exact_ns;

use crate::judgement::Property;
use crate::{prose, suspicion};

pub(crate) fn check(info: &AlgorithmInfo, plan: &Plan, topology: &Topology, run: &Run) -> Property {
    let waiting = waiting(run);
    let whom = for_whom(run, &waiting);
    let stands_still = matches!(run.end, End::Deadlock | End::Finished);
    let hindrance = hindrance(info, plan, run, |fault| {
        !stands_still || holds_back(info, run, fault)
    });
    let stuck = |how: &str| match &hindrance {
        Some(hindrance) => {
            Property::inconclusive(format!("{}, but {hindrance}{whom}", wait(&waiting)))
        }
        None => {
            let after = suspicion::before(run, run.ended_ns);
            Property::violated(format!("{how}: {}{whom}{after}", wait(&waiting)))
        }
    };
    match run.end {
        End::Deadlock => stuck("deadlock, nothing moves any more"),
        End::LiveLock => {
            let messages = info.live_lock_messages(topology);
            match waiting[..] {
                [] => Property::inconclusive(format!(
                    "it never came to rest: more than {messages} messages since the last request \
                     was served"
                )),
                _ => stuck(&format!(
                    "live-lock, more than {messages} messages while nobody was inside"
                )),
            }
        }
        // Whatever the engine says of itself: at rest, and somebody waits.
        End::Finished if !waiting.is_empty() => stuck("deadlock, nothing moves any more"),
        End::Finished if run.requests.iter().all(|row| row.uninvited) => {
            Property::not_exercised("nobody asked")
        }
        // The requests of the dead are excused, but then nobody is left of whom to say anything.
        End::Finished if deaths(&run.faults).len() >= plan.nodes as usize => {
            let all = plan.nodes;
            Property::inconclusive(format!("nobody was left: {all} of {all} members died"))
        }
        End::Finished => Property::Holds,
        End::TimeLimit => {
            let hindrance = hindrance.as_ref().filter(|_| !waiting.is_empty());
            let but = hindrance.map_or_else(String::new, |why| format!(", but {why}"));
            Property::inconclusive(format!(
                "{} ended the run at {} while it still moved; {}{but}{whom}",
                time_limit(plan),
                exact_ns(run.ended_ns),
                wait(&waiting)
            ))
        }
        End::Interrupted | End::Failed | End::Abandoned | End::ProgramFailed => {
            let how = match run.end {
                End::ProgramFailed => "ended when a member's program failed,",
                End::Failed => "was cut short",
                End::Abandoned => "was abandoned, because its orchestrator was killed,",
                _ => "was interrupted",
            };
            Property::inconclusive(format!(
                "the run {how} at {}; {}",
                exact_ns(run.ended_ns),
                wait(&waiting)
            ))
        }
    }
}

/// The limit, and the flag and key by which it is set.
fn time_limit(plan: &Plan) -> String {
    let limit = plan.time_limit_ns.map(exact_ns);
    let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    format!("the time limit{limit} (--time-limit, in a file time-limit)")
}

/// The living members with an unserved request, each once, with the time since when.
fn waiting(run: &Run) -> Vec<(NodeId, u64)> {
    let deaths = deaths(&run.faults);
    let unserved = run.requests.iter().filter(|row| row.entered_ns.is_none());
    let mut waiting = unserved
        .filter(|row| !deaths.contains_key(&row.node))
        .map(|row| (row.node, row.arrived_ns))
        .collect::<Vec<_>>();
    waiting.sort_unstable();
    waiting.dedup_by_key(|(node, _)| *node);
    waiting
}

fn wait(waiting: &[(NodeId, u64)]) -> String {
    let Some(first_ns) = waiting.iter().map(|&(_, since_ns)| since_ns).min() else {
        return "nobody was waiting".to_owned();
    };
    let nodes = waiting.iter().map(|&(node, _)| node).collect::<Vec<_>>();
    let (verb, since) = match nodes.len() {
        1 => ("waited", "since"),
        _ => ("waited", "the first since"),
    };
    format!(
        "{} still {verb}, {since} {}",
        prose::nodes(&nodes),
        exact_ns(first_ns)
    )
}

/// At most this many waiting members are named together with those that they wait for.
const NAMED: usize = 5;

/// The members that each of them waits for, as far as messages between the two have not arrived.
fn for_whom(run: &Run, waiting: &[(NodeId, u64)]) -> String {
    let missing = run.messages.iter().filter_map(|(&(from, to, _), row)| {
        let arrived_or_lost = row.received + row.lost;
        (row.sent > arrived_or_lost).then_some((from, to?))
    });
    let missing = missing.collect::<Vec<_>>();
    let waits = waiting.iter().filter_map(|&(node, _)| {
        let others = missing.iter().filter_map(|&(from, to)| match node {
            _ if node == from => Some(to),
            _ if node == to => Some(from),
            _ => None,
        });
        let others = others.collect::<BTreeSet<_>>();
        let others = others.into_iter().collect::<Vec<_>>();
        (!others.is_empty()).then(|| format!("{node} for {}", prose::nodes(&others)))
    });
    let waits = waits.collect::<Vec<_>>();
    let more = match waits.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match &waits[..waits.len().min(NAMED)] {
        [] => String::new(),
        named => format!(
            "; messages have not arrived, so these wait: {}{more}",
            named.join(", ")
        ),
    }
}

/// Whether a fault in force may be why nothing moves any more.
fn holds_back(info: &AlgorithmInfo, run: &Run, fault: &FaultOutcome) -> bool {
    match (fault.kind, &fault.target, info.link_contract) {
        (FaultKind::Links, FaultTarget::Links(reach), LinkContract::Patient) => {
            let missing = run
                .messages
                .iter()
                .filter(|(_, row)| row.sent > row.received);
            let mut links = missing.map(|((from, to, _), _)| (from, to));
            links.any(|(from, to)| to.is_none_or(|to| reach.covers(from.0, to.0)))
        }
        // Where links have sessions, members are told that one is gone and cannot do without it.
        _ => true,
    }
}

/// Why the algorithm is not to blame, if it is not: a fault in force of those that excuse, or
/// deaths.
fn hindrance(
    info: &AlgorithmInfo,
    plan: &Plan,
    run: &Run,
    excuses: impl Fn(&FaultOutcome) -> bool,
) -> Option<String> {
    let mut lasting = run.faults.iter().filter(|fault| !fault.is_death());
    if let Some(fault) = lasting.find(|fault| fault.is_in_force_at(run.ended_ns) && excuses(fault))
    {
        return Some(format!("{} was still in force", fault.told(&plan.faults)));
    }
    let dead = deaths(&run.faults).len();
    let survives = info.survives(&plan.params);
    (dead > survives as usize).then(|| {
        let died = prose::count(dead as u64, "member died", "members died");
        let tolerates = match survives {
            0 => "none".to_owned(),
            some => some.to_string(),
        };
        let deaths = run.faults.iter().filter(|fault| fault.is_death());
        let deaths = deaths.map(|fault| {
            let (node, name) = (&fault.target, fault.name(&plan.faults));
            match &fault.remark {
                Some(remark) => format!("; node {node}: {name} ({remark})"),
                None => format!("; node {node}: {name}"),
            }
        });
        format!(
            "{died} and {} tolerates {tolerates}{}",
            info.name,
            deaths.collect::<String>()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::run::{Happened, MessageRow};

    use super::*;
    use crate::fixtures::{
        death, entry, fault, faults, never, plan, registered, run, served, waiting,
    };

    fn judged(run: &Run) -> Property {
        judged_with([], run)
    }

    /// Judges a run of a plan with these faults.
    fn judged_with<const N: usize>(texts: [&str; N], run: &Run) -> Property {
        let topology = Topology::complete(3);
        let mut plan = plan("raymond", 3);
        plan.faults = faults(3, texts);
        check(registered("raymond"), &plan, &topology, run)
    }

    type Messages = BTreeMap<(NodeId, Option<NodeId>, &'static str), MessageRow>;

    fn stuck(end: End) -> Run {
        let mut run = run(vec![entry(0, 0, 1, 5), waiting(1, 2), waiting(2, 3)]);
        run.end = end;
        run.ended_ns = 50;
        run
    }

    #[test]
    fn a_finished_run_in_which_all_were_served_is_live() {
        assert_eq!(judged(&served([(0, 0, 1, 5)])), Property::Holds);
    }

    #[test]
    fn a_deadlock_names_those_who_wait() {
        let property = judged(&stuck(End::Deadlock));
        let why = property.why().unwrap();
        assert!(property.is_violated());
        assert!(
            why.contains("deadlock") && why.contains("nodes 1 and 2"),
            "{why}"
        );
    }

    #[test]
    fn a_live_lock_is_told_apart() {
        let property = judged(&stuck(End::LiveLock));
        assert!(property.is_violated());
        assert!(
            property
                .why()
                .unwrap()
                .contains("live-lock, more than 3000 messages")
        );
    }

    #[test]
    fn messages_without_end_leave_it_open_if_nobody_waits() {
        let mut run = served([(0, 0, 1, 5)]);
        run.end = End::LiveLock;
        let property = judged(&run);
        assert!(property.is_inconclusive());
        assert!(property.why().unwrap().contains("never came to rest"));
    }

    #[test]
    fn an_unserved_request_at_rest_is_a_deadlock_whatever_the_engine_says() {
        assert!(judged(&stuck(End::Finished)).is_violated());
    }

    #[test]
    fn a_run_that_still_moved_says_nothing() {
        assert!(judged(&stuck(End::TimeLimit)).is_inconclusive());
        assert!(judged(&stuck(End::Interrupted)).is_inconclusive());
        let mut limited = served([(0, 0, 1, 5)]);
        limited.end = End::TimeLimit;
        assert!(judged(&limited).is_inconclusive());
    }

    #[test]
    fn the_flag_that_ended_a_run_is_named() {
        let mut plan = plan("raymond", 3);
        plan.time_limit_ns = Some(60_000_000_000);
        let topology = Topology::complete(3);
        let run = stuck(End::TimeLimit);
        let property = check(registered("raymond"), &plan, &topology, &run);
        let why = property.why().unwrap();
        let expected = "the time limit of 60 s (--time-limit, in a file time-limit) ended the run";
        assert!(why.starts_with(expected), "{why}");
    }

    #[test]
    fn nobody_asked_nobody_knows() {
        assert!(matches!(
            judged(&run(vec![])),
            Property::NotExercised { .. }
        ));
        let mut uninvited = served([(0, 1, 1, 2)]);
        uninvited.requests[0].uninvited = true;
        assert!(matches!(judged(&uninvited), Property::NotExercised { .. }));
    }

    #[test]
    fn a_fault_in_force_excuses_and_a_healed_one_does_not() {
        let mut run = stuck(End::Deadlock);
        let cut = ["cut 0-1"];
        run.faults = vec![fault(&faults(3, cut), "cut", (1, None), 3)];
        run.messages = sent(1, 0, 3, 2);
        assert!(judged_with(cut, &run).is_inconclusive());
        run.faults[0].happened = Happened::from(1, Some(50));
        assert!(judged_with(cut, &run).is_inconclusive());
        run.faults[0].happened = Happened::from(1, Some(49));
        assert!(judged_with(cut, &run).is_violated());
    }

    fn sent(from: u32, to: u32, sent: u64, received: u64) -> Messages {
        let row = MessageRow {
            sent,
            received,
            ..Default::default()
        };
        [((NodeId(from), Some(NodeId(to)), "REQUEST"), row)].into()
    }

    #[test]
    fn a_fault_of_links_that_holds_nothing_back_is_no_excuse_for_a_deadlock() {
        for text in ["delay 1ms on all", "loss 5% on all", "cut 0-1"] {
            let mut run = stuck(End::Deadlock);
            run.faults = vec![fault(&faults(3, [text]), "", (0, None), 3)];
            run.messages = sent(1, 0, 3, 3);
            assert!(judged_with([text], &run).is_violated(), "{text}");
            run.messages = sent(1, 0, 3, 2);
            assert!(judged_with([text], &run).is_inconclusive(), "{text}");
            // What is missing elsewhere is not held back by it.
            run.messages = sent(1, 2, 3, 2);
            let excused = text != "cut 0-1";
            assert_eq!(
                judged_with([text], &run).is_inconclusive(),
                excused,
                "{text}"
            );
            run.end = End::LiveLock;
            run.messages = sent(1, 0, 3, 3);
            assert!(judged_with([text], &run).is_inconclusive(), "{text}");
        }
    }

    #[test]
    fn who_is_paused_and_who_is_told_of_links_is_excused() {
        let mut run = stuck(End::Deadlock);
        let pause = ["at 1ns pause 0"];
        run.faults = vec![fault(&faults(3, pause), "pause", (1, None), 1)];
        assert!(judged_with(pause, &run).is_inconclusive());
        let mut plan = plan("lfrt", 3);
        plan.faults = faults(3, ["cut 0-1"]);
        run.faults = vec![fault(&plan.faults, "cut", (1, None), 1)];
        let property = check(registered("lfrt"), &plan, &Topology::complete(3), &run);
        assert!(property.is_inconclusive(), "{property:?}");
    }

    #[test]
    fn who_waits_for_whom_is_told() {
        let mut run = stuck(End::TimeLimit);
        let parted = ["at 1ns partition 0|1,2"];
        run.faults = vec![fault(&faults(3, parted), "partition", (1, None), 3)];
        let row = |received| MessageRow {
            sent: 3,
            received,
            ..Default::default()
        };
        let (zero, one, two) = (NodeId(0), NodeId(1), NodeId(2));
        run.messages.insert((one, Some(zero), "REQUEST"), row(2));
        run.messages.insert((zero, Some(two), "PRIVILEGE"), row(2));
        run.messages.insert((two, Some(one), "REQUEST"), row(3));
        let property = judged_with(parted, &run);
        let why = property.why().unwrap();
        assert!(
            why.contains("'partition' on 0|1,2 was still in force"),
            "{why}"
        );
        assert!(why.ends_with("wait: 1 for node 0, 2 for node 0"), "{why}");
        run.faults[0].happened = Happened::Never;
        let property = judged_with(parted, &run);
        assert!(!property.why().unwrap().contains("in force"));
    }

    #[test]
    fn a_death_beyond_what_is_tolerated_excuses() {
        let mut run = stuck(End::Deadlock);
        let kills = ["at 1ns kill 0", "at 1h kill 2"];
        let timeline = faults(3, kills);
        run.faults = vec![
            fault(&timeline, "kill 0", (1, None), 1),
            never(&timeline, "kill 2"),
        ];
        let property = judged_with(kills, &run);
        let why = property.why().unwrap();
        assert!(
            why.ends_with("1 member died and raymond tolerates none; node 0: kill"),
            "{why}"
        );
        assert!(property.is_inconclusive());
    }

    #[test]
    fn the_dead_do_not_wait() {
        let mut run = stuck(End::Finished);
        run.faults = vec![death(1, 4), death(2, 4)];
        assert_eq!(judged(&run), Property::Holds);
    }

    /// Raymond tolerates no death, but what was asked of the survivors was served all the same.
    #[test]
    fn a_run_that_nobody_survives_says_nothing() {
        let mut run = run(vec![entry(0, 0, 1, 5), entry(1, 2, 6, 9), waiting(2, 3)]);
        run.faults = vec![death(2, 4), death(1, 10)];
        assert_eq!(judged(&run), Property::Holds);
        run.faults.push(death(0, 11));
        let property = judged(&run);
        assert!(property.is_inconclusive(), "{property:?}");
        assert!(property.why().unwrap().starts_with("nobody was left"));
    }
}
