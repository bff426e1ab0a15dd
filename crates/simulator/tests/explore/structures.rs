//! Sanders' theorem against every schedule: all information structures of three nodes.
//!
//! The conditions and the explorer know nothing of each other. A structure is *safe* when no schedule
//! lets two in; whether the theorem says so is another matter. Structures that differ only in the
//! numbers of their nodes stand for each other here; `--ignored` runs them all, one by one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use algorithms::registry;
use algorithms::sanders::conditions::Conditions;
use algorithms::sanders::structure::{Set, Structure};
use algorithms::{NodeId, Setting, Topology};
use simulator::explore::{Exploration, Kind, Options, explore};

/// A structure of three nodes and how many there are like it.
struct Case {
    structure: Structure,
    alike: u32,
}

/// All structures of three nodes in which everybody informs itself: 8 request sets and 4 inform sets
/// for each node.
fn all() -> impl Iterator<Item = [(u32, u32); 3]> {
    let sets = |i: u32| {
        let informs = (0..8).filter(move |inform| inform >> i & 1 == 1);
        informs.flat_map(|inform| (0..8).map(move |request| (inform, request)))
    };
    sets(0).flat_map(move |a| sets(1).flat_map(move |b| sets(2).map(move |c| [a, b, c])))
}

fn structure(masks: &[(u32, u32); 3]) -> Structure {
    let sets = masks.iter().map(|&(i, r)| (set(3, i), set(3, r))).collect();
    Structure::listed(sets).expect("there are only three nodes")
}

/// The nodes whose bit is set.
fn set(nodes: u32, mask: u32) -> Set {
    let members = (0..nodes).filter(|i| mask >> i & 1 == 1);
    members.map(NodeId).collect()
}

/// Every structure stands for itself.
fn each() -> Vec<Case> {
    let cases = all().map(|masks| Case {
        structure: structure(&masks),
        alike: 1,
    });
    cases.collect()
}

/// One of those that differ only in the numbers of their nodes.
fn inequivalent() -> Vec<Case> {
    const ORDERS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let mut cases = Vec::new();
    for masks in all() {
        let renumbered = ORDERS.map(|order| {
            let mask = |mask: u32| (0..3).fold(0, |sum, i| sum | (mask >> i & 1) << order[i]);
            let mut new = [(0, 0); 3];
            for (i, &(inform, request)) in masks.iter().enumerate() {
                new[order[i]] = (mask(inform), mask(request));
            }
            new
        });
        let alike: BTreeSet<_> = renumbered.into_iter().collect();
        if alike.first() == Some(&masks) {
            cases.push(Case {
                structure: structure(&masks),
                alike: alike.len() as u32,
            });
        }
    }
    cases
}

/// Every schedule of a structure, with these parameters and defects.
fn explored(
    structure: &Structure,
    given: &[(&str, &str)],
    defects: &[&str],
    change: impl Fn(&mut Options),
) -> Exploration {
    let info = registry::find("sanders").expect("it is registered");
    let nodes = structure.nodes();
    let written = structure.to_string();
    let given = [given, &[("structure", written.as_str())]].concat();
    let (params, printed) = (info.choose(&given), info.as_printed(defects));
    let setting = Setting::new(
        Topology::complete(nodes),
        NodeId(0),
        params.expect("the parameters fit"),
        printed.expect("the defects are sanders' own"),
        Duration::from_millis(50),
    );
    let mut options = Options::new(info, nodes);
    change(&mut options);
    let report = explore(info, &setting, &options, &mut |_| ControlFlow::Continue(()));
    report.expect("the options fit")
}

/// Whether no schedule lets two in.
fn is_safe(structure: &Structure, given: &[(&str, &str)], defects: &[&str]) -> bool {
    let report = explored(structure, given, defects, |options| {
        options.safety_only = true;
    });
    match report.finding {
        None => {
            assert!(report.complete, "{structure}: cut off");
            true
        }
        Some(finding) => {
            assert_eq!(
                finding.kind,
                Kind::Exclusion,
                "{structure}: {}",
                finding.why
            );
            false
        }
    }
}

const BASIC: &[(&str, &str)] = &[("rules", "basic")];
const DEADLOCK_FREE: &[(&str, &str)] = &[("rules", "deadlock-free")];
const RECOVERY: &[(&str, &str)] = &[("recovery", "on")];

/// How many structures there are of each class, and how many of them are safe: with the basic rules,
/// and with RELEASE believed from every sender, as printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    there_are: u32,
    safe: u32,
    safe_as_printed: u32,
    /// Structures whose safety the exact condition gets wrong.
    exact_is_wrong: u32,
}

fn classify(cases: &[Case]) -> [Counts; 4] {
    let mut classes: [Counts; 4] = Default::default();
    for Case { structure, alike } in cases {
        let conditions = Conditions::of(structure);
        let (a, b) = (conditions.a.is_empty(), conditions.b.is_empty());
        let class = match (a, b) {
            (true, true) => 0,
            (true, false) => 1,
            (false, false) => 2,
            (false, true) => 3,
        };
        let counts = &mut classes[class];
        counts.there_are += alike;
        let safe = is_safe(structure, BASIC, &[]);
        counts.safe += alike * u32::from(safe);
        // As printed the same can only be worse, and differs only where somebody tells unasked.
        let safe_as_printed = safe && (a || is_safe(structure, BASIC, &["sanders-S5"]));
        counts.safe_as_printed += alike * u32::from(safe_as_printed);
        counts.exact_is_wrong += alike * u32::from(safe != conditions.exact.is_empty());
    }
    classes
}

fn counts(there_are: u32, safe: u32, safe_as_printed: u32) -> Counts {
    Counts {
        there_are,
        safe,
        safe_as_printed,
        exact_is_wrong: 0,
    }
}

/// Given property a, property b is exactly right. But a is not necessary, though the paper calls its
/// necessity obvious.
fn assert_theorem(cases: &[Case]) {
    let [both, not_b, neither, not_a] = classify(cases);
    assert_eq!(both, counts(297, 297, 297), "a and b");
    assert_eq!(not_b, counts(432, 0, 0), "a, not b");
    assert_eq!(neither, counts(10_152, 0, 0), "neither");
    assert_eq!(not_a, counts(21_887, 2_928, 2_829), "b, not a");
}

#[test]
fn the_theorem_for_all_inequivalent_structures_of_three_nodes() {
    assert_theorem(&inequivalent());
}

#[test]
#[ignore = "takes minutes; scripts/soak runs it"]
fn the_theorem_for_all_structures_of_three_nodes() {
    assert_theorem(&each());
}

/// The structures that satisfy both properties.
fn good(cases: Vec<Case>) -> Vec<Case> {
    let good = |case: &Case| Conditions::of(&case.structure).hold();
    cases.into_iter().filter(good).collect()
}

#[test]
fn the_repaired_rules_are_safe_and_live_with_every_good_structure_and_unsafe_with_the_others() {
    let (mut fine, mut unsafe_ones) = (0, 0);
    for Case { structure, alike } in inequivalent() {
        let conditions = Conditions::of(&structure);
        if conditions.hold() {
            assert_fine(
                &structure,
                &explored(&structure, DEADLOCK_FREE, &[], |_| ()),
            );
            fine += alike;
        } else if conditions.a.is_empty() {
            assert!(!is_safe(&structure, DEADLOCK_FREE, &[]), "{structure}");
            unsafe_ones += alike;
        }
    }
    assert_eq!((fine, unsafe_ones), (297, 432));
}

/// How many good structures deadlock. Here the numbers of the nodes matter, for they decide between
/// equal clocks; so every structure stands for itself.
fn deadlocking(given: &[(&str, &str)], defects: &[&str]) -> usize {
    let deadlocks = |case: &Case| {
        let structure = &case.structure;
        let report = explored(structure, given, defects, |_| ());
        match report.finding.map(|finding| finding.kind) {
            None => false,
            Some(Kind::Deadlock) => true,
            Some(other) => panic!("{structure}: {other}"),
        }
    };
    good(each()).iter().filter(|case| deadlocks(case)).count()
}

#[test]
fn the_basic_rules_deadlock_with_all_but_the_centralised_structures() {
    assert_eq!(deadlocking(BASIC, &[]), 294);
    let late = [("rules", "basic"), ("self", "late")];
    assert_eq!(deadlocking(&late, &[]), 254);
}

#[test]
fn the_printed_deadlock_free_rules_deadlock_where_the_basic_ones_do() {
    assert_eq!(deadlocking(DEADLOCK_FREE, &["sanders-F1"]), 294);
    assert_eq!(deadlocking(DEADLOCK_FREE, &["sanders-F2"]), 24);
}

#[test]
fn a_death_is_survived_by_structures_without_needless_questions_and_by_one_with() {
    let redundant = |case: &Case| !Conditions::of(&case.structure).redundant.is_empty();
    let (with, mut cases): (Vec<_>, _) = good(inequivalent()).into_iter().partition(redundant);
    assert_eq!((with.len(), cases.len()), (43, 16));
    let shown = "0,2/0,1,2;1,2/1,2;2/2";
    let shown = Structure::read(shown, 3, NodeId(0)).expect("that of sanders-L3");
    let structure = shown;
    cases.push(Case {
        structure,
        alike: 1,
    });
    assert_deaths_are_survived(&cases);
}

#[test]
#[ignore = "takes minutes; scripts/soak runs it"]
fn a_death_is_survived_by_every_good_structure() {
    let cases = good(each());
    assert_eq!(cases.len(), 297);
    assert_deaths_are_survived(&cases);
}

/// Anybody may die, at any moment; the others learn it each at its own time.
fn assert_deaths_are_survived(cases: &[Case]) {
    let mut states = 0;
    for Case { structure, .. } in cases {
        let report = explored(structure, RECOVERY, &[], |options| options.crash = 1);
        assert_fine(structure, &report);
        states += report.states;
    }
    assert!(states > 500_000, "only {states} states");
}

/// Structures of four nodes that satisfy both properties, drawn from a seed; `own` says whether
/// everybody informs itself, as recovery needs.
fn drawn_of_four(seed: u64, own: bool) -> impl Iterator<Item = Structure> {
    let mut draw = seed;
    let drawn = std::iter::repeat_with(move || {
        let mut mask = || {
            draw = draw * 48_271 % 0x7fff_ffff;
            draw as u32 >> 8 & 15
        };
        let sets = (0..4).map(|i| {
            let inform = mask() & mask() | u32::from(own) << i;
            let request = inform | mask() & mask();
            (set(4, inform), set(4, request))
        });
        Structure::listed(sets.collect()).expect("there are only four nodes")
    });
    drawn.filter(move |structure| {
        let conditions = Conditions::of(structure);
        conditions.hold() && conditions.recovery_complaint().is_none() == own
    })
}

/// Explores so many of them with a death; how many were explored whole, and the states of all.
fn deaths_among_four(how_many: usize, wants: [u32; 4]) -> (usize, u64) {
    let (mut whole, mut states) = (0, 0);
    for structure in drawn_of_four(5, true).take(how_many) {
        let report = explored(&structure, RECOVERY, &[], |options| {
            (options.crash, options.wants) = (1, wants.to_vec());
            options.max_states = 2_000_000;
        });
        states += report.states;
        match (&report.finding, report.complete) {
            (None, false) => {}
            _ => {
                assert_fine(&structure, &report);
                whole += 1;
            }
        }
    }
    (whole, states)
}

#[test]
fn a_death_is_survived_by_structures_of_four_nodes() {
    assert_eq!(deaths_among_four(12, [1, 1, 0, 0]), (12, 171_096));
}

#[test]
#[ignore = "takes minutes; scripts/soak runs it"]
fn a_death_is_survived_by_many_structures_of_four_nodes() {
    let (whole, states) = deaths_among_four(100, [1, 1, 1, 0]);
    println!("{whole} of 100 structures explored whole, {states} states");
    assert!(whole >= 80, "only {whole} of 100 explored whole");
}

/// Without condition r the theorem's structures are safe until somebody dies.
#[test]
fn without_an_arbiter_of_its_own_one_death_lets_two_in() {
    let watched = [("recovery", "on"), ("unsafe", "yes")];
    for written in ["2/2;2/2;2/2", "2/2;1,2/1,2;0,1,2/0,1,2"] {
        let structure = Structure::read(written, 3, NodeId(0)).expect(written);
        let conditions = Conditions::of(&structure);
        assert!(conditions.hold(), "{written}");
        assert!(conditions.recovery_complaint().is_some(), "{written}");
        assert!(is_safe(&structure, DEADLOCK_FREE, &[]), "{written}");
        let report = explored(&structure, &watched, &[], |options| {
            (options.crash, options.safety_only) = (1, true);
        });
        let finding = report.finding.expect(written);
        assert_eq!(finding.kind, Kind::Exclusion, "{written}: {}", finding.why);
    }
    let four = drawn_of_four(3, false).take(20).filter(|structure| {
        let report = explored(structure, &watched, &[], |options| {
            (options.crash, options.wants) = (1, vec![1, 1, 0, 0]);
            (options.safety_only, options.max_states) = (true, 20_000);
        });
        report
            .finding
            .is_some_and(|finding| finding.kind == Kind::Exclusion)
    });
    assert!(four.count() > 0);
}

/// Which rules `rules=auto` takes: none that can deadlock, whenever a node grants itself.
fn assert_auto_never_deadlocks(cases: &[Case]) {
    let info = registry::find("sanders").expect("it is registered");
    let mut explored_ones = 0;
    for Case { structure, .. } in cases {
        let written = structure.to_string();
        for own in ["auto", "atomic", "late"] {
            let given = [("structure", written.as_str()), ("self", own)];
            let params = info.choose(&given).expect("the parameters exist");
            if (info.more.refuses)(&params, 3).is_some() {
                assert_eq!(own, "late", "{structure}");
                continue;
            }
            assert_fine(
                structure,
                &explored(structure, &[("self", own)], &[], |_| ()),
            );
            explored_ones += 1;
        }
    }
    assert!(explored_ones > 2 * cases.len(), "only {explored_ones}");
}

#[test]
fn the_rules_that_auto_takes_never_deadlock() {
    assert_auto_never_deadlocks(&good(inequivalent()));
}

#[test]
#[ignore = "takes minutes; scripts/soak runs it"]
fn the_rules_that_auto_takes_never_deadlock_with_any_structure_of_three_nodes() {
    assert_auto_never_deadlocks(&good(each()));
}

/// A checker with a mistake in it disagrees with the explorer, which never asks one.
#[test]
fn a_wrong_condition_is_noticed() {
    let half_of_b = |structure: &Structure| {
        let pairs = structure
            .ids()
            .flat_map(|i| structure.ids().map(move |j| (i, j)));
        let mut pairs = pairs.filter(|(i, j)| i < j);
        pairs.all(|(i, j)| {
            let (inform, other) = (structure.inform_set(i), structure.inform_set(j));
            // The second "and i asks j" is missing.
            !inform.is_disjoint(&other) || structure.asks(i, j)
        })
    };
    let wrong = inequivalent().into_iter().filter(|case| {
        let structure = &case.structure;
        let conditions = Conditions::of(structure);
        let called_safe = conditions.a.is_empty() && half_of_b(structure);
        called_safe && !conditions.hold() && !is_safe(structure, BASIC, &[])
    });
    assert!(wrong.count() > 0);
}

#[test]
fn the_papers_structures_explored() {
    let named = |name: &str, nodes| Structure::read(name, nodes, NodeId(0)).expect(name);
    let centralised = explored(&named("centralised", 3), BASIC, &[], |_| ());
    assert_fine(&named("centralised", 3), &centralised);
    assert_eq!(centralised.states, 117);
    for (name, nodes) in [("complete", 3), ("fig4", 3), ("mq", 3), ("two-hot", 4)] {
        let structure = named(name, nodes);
        assert_fine(
            &structure,
            &explored(&structure, DEADLOCK_FREE, &[], |_| ()),
        );
    }
    let no_fail = explored(&named("complete", 3), &[("rules", "no-fail")], &[], |_| ());
    assert_fine(&named("complete", 3), &no_fail);
    let late = explored(&named("complete", 3), &[], &[], |_| ());
    assert_fine(&named("complete", 3), &late);
    for name in ["fig3a", "fig3b"] {
        let figure = Structure::of_one_size(name).expect(name).expect(name);
        assert!(!is_safe(&figure, BASIC, &[]), "{name}");
        assert!(!is_safe(&figure, DEADLOCK_FREE, &[]), "{name}");
    }
}

fn assert_fine(structure: &Structure, report: &Exploration) {
    if let Some(finding) = &report.finding {
        panic!(
            "{structure}: {}: {}\n{}",
            finding.kind, finding.why, finding.schedule
        );
    }
    assert!(report.complete && report.trapped == Some(0), "{structure}");
}
