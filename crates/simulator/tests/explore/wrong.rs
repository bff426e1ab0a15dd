//! What the explorer finds in algorithms that are wrong on purpose.

use std::ops::ControlFlow;

use algorithms::registry::{self, AlgorithmInfo, LinkOrder, More};
use simulator::explore::{Exploration, Finding, Kind, Options, Timers, explore};

use crate::toys;

/// What is different from a world in which everybody asks once and nothing fails.
pub(crate) type Change = fn(&mut Options);

pub(crate) const DOUBLE: Change = |options| options.duplicate = 1;

/// Worlds in which something goes wrong, in various ways: what runs, how many nodes, what is different.
pub(crate) fn worlds() -> impl Iterator<Item = (&'static AlgorithmInfo, u32, Change)> {
    let ricart_agrawala = registry::find("ricart-agrawala").expect("it is registered");
    let nothing: Change = |_| ();
    let lose: Change = |options| options.lose = 1;
    let crash: Change = |options| (options.wants, options.crash) = (vec![0, 1, 1], 1);
    let worlds: [(&AlgorithmInfo, u32, Change); 8] = [
        (&toys::RECKLESS, 2, nothing),
        (&toys::GENEROUS, 3, nothing),
        (&toys::HASTY, 2, nothing),
        (&toys::HEIR, 3, crash),
        (&toys::PEDANT, 2, nothing),
        (&toys::POSTAL, 1, lose),
        (&toys::POSTAL, 1, DOUBLE),
        (ricart_agrawala, 3, lose),
    ];
    worlds.into_iter()
}

#[test]
fn two_inside_are_found_by_the_shortest_way() {
    let finding = found(&toys::RECKLESS, 2, |_| ());
    assert_eq!(finding.kind, Kind::Exclusion);
    assert_eq!(finding.why, "0 and 1 are inside");
    assert_eq!(finding.schedule.to_string(), "req 0; req 1");
}

#[test]
fn nobody_else_inside_is_fine() {
    let report = search(&toys::RECKLESS, 2, |options| options.wants = vec![3, 0]);
    assert_eq!(report.finding, None);
    // Three times outside, inside and outside again.
    assert_eq!((report.states, report.edges, report.depth), (7, 6, 6));
    assert_eq!((report.complete, report.trapped), (true, Some(0)));
}

#[test]
fn a_client_that_can_never_be_served_is_trapped_though_things_go_on() {
    let finding = found(&toys::GRUDGE, 3, |options| options.wants = vec![0, 1, 1]);
    assert_eq!(finding.kind, Kind::Trapped);
    assert_eq!(
        finding.schedule.to_string(),
        "req 1; 1>0:ASK; req 2; 2>0:ASK"
    );
    assert!(finding.why.ends_with("waiting: 1 and 2"), "{}", finding.why);
}

#[test]
fn trapped_states_can_be_merely_counted() {
    let report = search(&toys::GRUDGE, 3, |options| {
        options.wants = vec![0, 1, 1];
        options.safety_only = true;
    });
    assert_eq!(report.finding, None);
    assert_eq!((report.complete, report.stuck), (true, 0));
    // Either of the two came first; its GRANT is under way, it is inside, its DONE is under way, or
    // it is out again; the other's BUSY or ASK is under way.
    assert_eq!(report.trapped, Some(2 * 4 * 2));
}

#[test]
fn a_fault_that_would_help_is_no_way_out() {
    // Only the loss of the word that goes round would let the timer go off.
    let finding = found(&toys::RESTLESS, 1, |options| {
        options.timers = Timers::Patient;
        options.lose = 1;
    });
    assert_eq!(finding.kind, Kind::Trapped);
    assert_eq!(finding.schedule.to_string(), "");
    let report = search(&toys::RESTLESS, 1, |options| options.timers = Timers::Free);
    assert_eq!(report.finding, None, "a timer that need not wait goes off");
}

#[test]
fn an_entry_that_nobody_asked_for_is_found() {
    let finding = found(&toys::GENEROUS, 2, |_| ());
    assert_eq!(finding.kind, Kind::Uninvited);
    assert_eq!(finding.schedule.to_string(), "req 0; exit 0; 0>1:GRANT");
    assert_eq!(finding.why, "1 is let in and did not ask");
}

#[test]
fn a_timer_that_may_go_off_at_any_moment_breaks_what_patience_keeps() {
    let finding = found(&toys::HASTY, 2, |_| ());
    assert_eq!(finding.kind, Kind::Exclusion);
    assert_eq!(
        finding.schedule.to_string(),
        "req 0; timer 0:wait; req 1; timer 1:wait"
    );
    let report = search(&toys::HASTY, 2, |options| {
        options.timers = Timers::Patient;
        options.wants = vec![2, 2];
        options.order = LinkOrder::Fifo;
    });
    assert_eq!(report.finding, None);
    assert_eq!((report.complete, report.trapped), (true, Some(0)));
}

#[test]
fn a_crash_that_breaks_exclusion_is_found() {
    let finding = found(&toys::HEIR, 3, |options| {
        options.wants = vec![0, 1, 1];
        options.crash = 1;
    });
    assert_eq!(finding.kind, Kind::Exclusion);
    assert_eq!(
        finding.schedule.to_string(),
        "req 1; req 2; 2>0:ASK; 0>2:GRANT; crash 0; down 0@1"
    );
}

#[test]
fn liveness_is_owed_only_after_crashes_the_algorithm_survives() {
    let fragile = AlgorithmInfo {
        more: More {
            crashes: 0,
            ..toys::heir().more
        },
        ..toys::heir()
    };
    let report = search(&fragile, 3, |options| {
        options.wants = vec![0, 0, 1];
        options.crash = 1;
    });
    assert_eq!(report.finding, None);
    assert_eq!((report.complete, report.stuck), (true, 0));
}

#[test]
fn a_message_that_cannot_arrive_is_found() {
    let finding = found(&toys::PEDANT, 2, |options| options.wants = vec![1, 0]);
    assert_eq!(finding.kind, Kind::ProtocolError);
    assert_eq!(finding.why, "1: heard Number(2) after 0");
    assert_eq!(finding.schedule.to_string(), "req 0; exit 0; 0>1:NUMBER#2");
}

#[test]
fn a_broken_invariant_is_found() {
    let finding = found(&toys::PEDANT, 2, |options| {
        options.wants = vec![1, 0];
        options.order = LinkOrder::Fifo;
    });
    assert_eq!(finding.kind, Kind::Invariant);
    assert_eq!(finding.why, "not so: nobody has heard two numbers (1 has)");
    assert_eq!(
        finding.schedule.to_string(),
        "req 0; exit 0; 0>1:NUMBER; 0>1:NUMBER"
    );
}

#[test]
fn a_posted_message_travels() {
    let report = search(&toys::POSTAL, 2, |options| options.wants = vec![2, 0]);
    assert_eq!(report.finding, None);
    assert_eq!((report.states, report.depth), (7, 6));
}

#[test]
fn a_lost_message_is_missed_and_a_doubled_one_comes_twice() {
    let finding = found(&toys::POSTAL, 2, |options| {
        options.wants = vec![1, 0];
        options.lose = 1;
    });
    assert_eq!(finding.kind, Kind::Deadlock);
    assert_eq!(finding.schedule.to_string(), "req 0; lose 0>0:GRANT");
    let finding = found(&toys::POSTAL, 2, |options| {
        options.wants = vec![1, 0];
        options.duplicate = 1;
    });
    assert_eq!(finding.kind, Kind::Uninvited);
    assert_eq!(
        finding.schedule.to_string(),
        "req 0; dup 0>0:GRANT; 0>0:GRANT; 0>0:GRANT"
    );
    assert_eq!(finding.why, "0 is let in and is inside already");
}

#[test]
fn a_search_that_is_cut_off_says_so() {
    let report = search(&toys::RECKLESS, 1, |options| {
        options.wants = vec![3];
        options.max_states = 6;
    });
    assert_eq!((report.states, report.complete), (6, false));
    assert_eq!(report.depth, 5);
    assert_eq!(report.trapped, None);
    let report = search(&toys::RECKLESS, 1, |options| {
        options.wants = vec![3];
        options.max_states = 7;
    });
    assert_eq!((report.states, report.complete), (7, true));
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let refused = |change: &dyn Fn(&mut Options)| {
        let mut options = Options::new(&toys::RECKLESS, 3);
        change(&mut options);
        let setting = toys::setting(3);
        let error = explore(&toys::RECKLESS, &setting, &options, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap_err();
        error.to_string()
    };
    assert_eq!(
        refused(&|options| options.wants = vec![1, 1]),
        "wants for 2 nodes, but there are 3"
    );
    assert_eq!(
        refused(&|options| options.priorities = vec![1]),
        "priorities for 1 nodes, but there are 3"
    );
    assert_eq!(
        refused(&|options| options.max_states = 0),
        "at least 1 state must be allowed"
    );
    let too_many = Options::new(&toys::RECKLESS, 65).fit(65).unwrap_err();
    assert_eq!(
        too_many.to_string(),
        "65 nodes are no small world; there may be 1 to 64"
    );
    for (wrong, why) in [
        ("bounded:0", "'0' is no bound"),
        ("bounded:x,ties=either", "'x' is no bound"),
        ("bounded:2,ties=none", "neither messages nor either"),
    ] {
        let error = wrong.parse::<Timers>().unwrap_err();
        assert!(error.contains(why), "{wrong}: {error}");
    }
    for timers in ["free", "patient", "bounded:3", "bounded:2,ties=either"] {
        let read: Timers = timers.parse().unwrap();
        assert_eq!(read.to_string(), timers);
    }
    assert!(
        "eager"
            .parse::<Timers>()
            .unwrap_err()
            .contains("neither free nor patient")
    );
}

fn found(info: &AlgorithmInfo, nodes: u32, change: impl Fn(&mut Options)) -> Finding {
    let report = search(info, nodes, change);
    report.finding.expect("there is something to find")
}

fn search(info: &AlgorithmInfo, nodes: u32, change: impl Fn(&mut Options)) -> Exploration {
    let mut options = Options::new(info, nodes);
    change(&mut options);
    explore(info, &toys::setting(nodes), &options, &mut |_| {
        ControlFlow::Continue(())
    })
    .expect("the options fit")
}
