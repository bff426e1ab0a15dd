//! Well-formedness: everybody keeps the rules of the game.
//!
//! Nobody enters without having asked, only the one inside leaves, nothing arrives that cannot,
//! there is one token, and fences rise from entry to entry.

use std::collections::BTreeMap;

use algorithms::NodeId;
use algorithms::registry::AlgorithmInfo;
use model::plan::Plan;
use model::run::{RequestRow, Run};
use model::time::exact_ns;

use crate::judgement::Property;
use crate::{prose, suspicion};

pub(crate) fn check(info: &AlgorithmInfo, plan: &Plan, run: &Run) -> Property {
    let broken = uninvited(run)
        .or_else(|| misplaced_exit(run))
        .or_else(|| protocol_errors(run))
        .or_else(|| fences(run))
        .or_else(|| tokens(info, plan, run));
    match broken {
        Some(why) => Property::violated(why),
        None if run.requests.is_empty() && run.messages.is_empty() => {
            Property::not_exercised("nothing happened")
        }
        None => Property::Holds,
    }
}

fn uninvited(run: &Run) -> Option<String> {
    let is_uninvited =
        |row: &&RequestRow| row.uninvited || (row.entered_ns.is_some() && row.asked_ns.is_none());
    let row = run.requests.iter().find(is_uninvited)?;
    Some(told(row, "entered without having asked", row.entered_ns))
}

fn misplaced_exit(run: &Run) -> Option<String> {
    let misplaced = |row: &&RequestRow| {
        row.left_ns.is_some() && row.left_ns < row.entered_ns
            || row.left_ns.is_some() && row.entered_ns.is_none()
    };
    let row = run.requests.iter().find(misplaced)?;
    Some(told(row, "left without being inside", row.left_ns))
}

/// What the member of a request did, and when; at its arrival, if nothing else is known.
fn told(row: &RequestRow, did: &str, at_ns: Option<u64>) -> String {
    let at = exact_ns(at_ns.unwrap_or(row.arrived_ns));
    format!("node {} {did}, at {at}", row.node)
}

fn protocol_errors(run: &Run) -> Option<String> {
    if run.protocol_error_count == 0 {
        return None;
    }
    let errors = prose::count(
        run.protocol_error_count,
        "protocol error",
        "protocol errors",
    );
    Some(match run.protocol_errors.first() {
        Some((at_ns, node, why)) => {
            let at = exact_ns(*at_ns);
            let after = suspicion::before(run, *at_ns);
            format!("{errors}, the first at node {node} at {at}: {why}{after}")
        }
        None => errors,
    })
}

/// Where entries have fences they rise, or a resource that looks at them would refuse an entry.
fn fences(run: &Run) -> Option<String> {
    let entries = run.requests.iter();
    let entries = entries.filter_map(|row| Some((row.entered_ns?, row.fence?, row.node)));
    let mut entries = entries.collect::<Vec<_>>();
    entries.sort_unstable();
    let falls = |pair: &&[(u64, u64, NodeId)]| pair[1].1 <= pair[0].1;
    let pair = entries.windows(2).find(falls)?;
    let ((_, before, first), (at_ns, fence, second)) = (pair[0], pair[1]);
    Some(format!(
        "node {second} entered with fence {fence} at {}, after node {first} with {before}",
        exact_ns(at_ns)
    ))
}

/// Follows the one token by counting: a node that sends it had it, and no second one appears.
///
/// What a node has is what it had at the start and received, less what it sent. That is decided
/// where the receiver of every message is known and nothing disturbed the run; a second token
/// that has come and gone by the end is for the explorer's invariants to find.
fn tokens(info: &AlgorithmInfo, plan: &Plan, run: &Run) -> Option<String> {
    let kind = info.token?;
    if (info.more.admits)(&plan.params) > 1 || !run.faults.is_empty() {
        return None;
    }
    let mut balance = BTreeMap::from([(plan.holder, 1_i128)]);
    let traffic = run.messages.iter().filter(|((_, _, of), _)| *of == kind);
    for (&(from, to, _), row) in traffic {
        let to: NodeId = to?;
        if row.lost > 0 {
            return None;
        }
        *balance.entry(from).or_default() -= i128::from(row.sent);
        *balance.entry(to).or_default() += i128::from(row.received);
    }
    if let Some((node, has)) = balance.iter().find(|&(_, &has)| has < 0) {
        return Some(format!(
            "node {node} sent {kind} more often than it had it, by {}",
            -has
        ));
    }
    let tokens = balance.values().sum::<i128>();
    let holders = balance.into_iter().filter(|&(_, has)| has > 0);
    let holders = holders.map(|(node, _)| node).collect::<Vec<_>>();
    (tokens > 1).then(|| {
        format!(
            "there are {tokens} tokens ({kind}), at {}",
            prose::nodes(&holders)
        )
    })
}

#[cfg(test)]
mod tests {
    use model::run::MessageRow;

    use super::*;
    use crate::fixtures::{death, entry, plan, registered, run, served, waiting};

    fn judged(run: &Run) -> Property {
        check(registered("raymond"), &plan("raymond", 3), run)
    }

    fn privileges(rows: &[(u32, u32, u64, u64)]) -> Run {
        let mut run = served([(0, 0, 1, 2)]);
        for &(from, to, sent, received) in rows {
            let key = (NodeId(from), Some(NodeId(to)), "PRIVILEGE");
            let row = MessageRow {
                sent,
                received,
                ..MessageRow::default()
            };
            run.messages.insert(key, row);
        }
        run
    }

    #[test]
    fn fences_rise() {
        let fenced = |node, entered_ns, fence| RequestRow {
            fence: Some(fence),
            ..entry(node, 0, entered_ns, entered_ns + 1)
        };
        let rising = run(vec![fenced(1, 50, 3), fenced(0, 10, 2)]);
        assert_eq!(judged(&rising), Property::Holds);
        let equal = run(vec![fenced(0, 10, 2), fenced(1, 50, 2)]);
        assert!(judged(&equal).is_violated());
    }

    #[test]
    fn an_ordinary_run_keeps_the_rules() {
        assert_eq!(
            judged(&run(vec![entry(0, 0, 1, 5), waiting(1, 2)])),
            Property::Holds
        );
        assert!(matches!(
            judged(&run(vec![])),
            Property::NotExercised { .. }
        ));
    }

    #[test]
    fn entering_uninvited_breaks_them() {
        let mut flagged = served([(0, 1, 1, 5)]);
        flagged.requests[0].uninvited = true;
        assert!(judged(&flagged).is_violated());
        let mut unasked = served([(0, 1, 1, 5)]);
        unasked.requests[0].asked_ns = None;
        assert!(judged(&unasked).is_violated());
    }

    #[test]
    fn leaving_without_being_inside_breaks_them() {
        let mut never_in = served([(0, 1, 1, 5)]);
        never_in.requests[0].entered_ns = None;
        assert!(judged(&never_in).is_violated());
        assert!(judged(&served([(0, 1, 6, 5)])).is_violated());
    }

    #[test]
    fn a_protocol_error_breaks_them_and_is_quoted() {
        let mut run = served([(0, 0, 1, 5)]);
        run.protocol_error_count = 2;
        run.protocol_errors = vec![(7, NodeId(1), "a privilege from nowhere".to_owned())];
        let why = judged(&run).why().unwrap().to_owned();
        assert_eq!(
            why,
            "2 protocol errors, the first at node 1 at 7 ns: a privilege from nowhere"
        );
    }

    #[test]
    fn one_token_wanders() {
        let run = privileges(&[(0, 1, 2, 2), (1, 2, 1, 1), (2, 0, 1, 1), (1, 0, 1, 0)]);
        assert_eq!(judged(&run), Property::Holds);
    }

    #[test]
    fn a_token_from_nowhere_is_noticed() {
        let run = privileges(&[(1, 2, 1, 1)]);
        assert!(
            judged(&run)
                .why()
                .unwrap()
                .contains("node 1 sent PRIVILEGE more often")
        );
    }

    #[test]
    fn a_second_token_is_noticed() {
        let run = privileges(&[(0, 1, 1, 1), (1, 2, 1, 2), (2, 0, 1, 1)]);
        let why = judged(&run).why().unwrap().to_owned();
        assert_eq!(why, "there are 2 tokens (PRIVILEGE), at nodes 0 and 2");
    }

    #[test]
    fn where_the_receiver_is_unknown_or_faults_act_tokens_are_not_followed() {
        let mut run = privileges(&[(1, 2, 1, 1)]);
        run.faults = vec![death(0, 0)];
        assert_eq!(judged(&run), Property::Holds);
        run.faults.clear();
        let (key, row) = run.messages.pop_first().unwrap();
        run.messages.insert((key.0, None, key.2), row);
        assert_eq!(judged(&run), Property::Holds);
    }
}
