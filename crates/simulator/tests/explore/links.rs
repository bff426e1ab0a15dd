//! Small worlds on trees and digraphs of the book: priorities, and links that are cut at any moment.

use std::ops::ControlFlow;

use algorithms::registry::{self, LinkContract, LinkOrder};
use algorithms::topology::Shape;
use algorithms::{NodeId, Setting};
use simulator::explore::{Exploration, Kind, Options, Timers, explore};

use crate::registry::{apart, setting_of};

/// An algorithm on these links, node 0 having the token; so many wants each, and priorities so far apart
/// that they overtake each other even where they age.
fn world(name: &str, shape: &str, wants: &[u32]) -> (Setting, Options) {
    let info = registry::find(name).expect("it is registered");
    let nodes = wants.len() as u32;
    let shape: Shape = shape.parse().expect("a shape");
    let topology = shape.build(nodes, 0).expect("it can be built");
    assert_eq!(topology.fits(info.graph, NodeId(0)), Ok(()), "{name}");
    let usual = setting_of(info, nodes);
    let setting = Setting::new(
        topology,
        NodeId(0),
        usual.params,
        usual.printed,
        usual.bound,
    );
    let options = Options {
        wants: wants.to_vec(),
        priorities: apart(nodes),
        timers: Timers::Patient,
        max_states: 400_000,
        ..Options::new(info, nodes)
    };
    (setting, options)
}

/// The same with this aging.
fn aging(name: &str, setting: &mut Setting, aging: &str) {
    let info = registry::find(name).expect("it is registered");
    let params = info.choose(&[("aging", aging)]);
    setting.params = params.expect("it is a parameter");
}

fn search(name: &str, setting: &Setting, options: &Options) -> Exploration {
    let info = registry::find(name).expect("it is registered");
    let watch = &mut |_| ControlFlow::Continue(());
    explore(info, setting, options, watch).expect("the options fit")
}

fn assert_fine(name: &str, what: &str, report: &Exploration) {
    if let Some(finding) = &report.finding {
        let (kind, why, schedule) = (finding.kind, &finding.why, &finding.schedule);
        panic!("{name}, {what}: {kind}: {why}\n{schedule}");
    }
    assert!(
        report.complete,
        "{name}, {what}: cut off at {}",
        report.states
    );
    assert_eq!(report.trapped, Some(0), "{name}, {what}");
}

#[test]
fn trees_with_priorities_serve_everybody() {
    for (name, word) in [
        ("raymond", None),
        ("mra", None),
        ("mra-p", Some("off")),
        ("mra-p", Some("step")),
        ("mra-p", Some("slow(2)")),
        ("fapp", Some("off")),
        ("fapp", Some("step")),
        ("fapp", Some("slow(2)")),
    ] {
        for (shape, wants, priorities) in [
            ("path", &[2, 2, 2][..], &[1, 5, 3][..]),
            ("path", &[1, 1, 1, 1], &[5, 1, 9, 3]),
            ("star", &[1, 1, 1, 1], &[4, 4, 3, 5]),
            ("star", &[1, 1, 1, 1], &[5, 1, 9, 3]),
            ("edges:0-1,1-2,1-3", &[1, 1, 1, 1], &[1, 3, 9, 5]),
            ("edges:0-1,1-2,1-3,3-4", &[1, 1, 1, 1, 1], &[1, 7, 3, 5, 9]),
        ] {
            let (mut setting, mut options) = world(name, shape, wants);
            if let Some(word) = word {
                aging(name, &mut setting, word);
            }
            options.priorities = priorities.to_vec();
            assert_fine(name, shape, &search(name, &setting, &options));
        }
    }
}

/// What a world with priorities explores is its own: each kind of aging leads elsewhere, and none where
/// all are equally urgent.
#[test]
fn priorities_and_aging_make_worlds_of_their_own() {
    for (name, shape, wants, cut) in [
        ("mra-p", "path", &[1, 1, 1, 1][..], 0),
        ("fapp", "path", &[1, 1, 1, 1], 0),
        ("lfrt-p", "edges:2>1,1>0", &[1, 1, 1], 1),
        ("lfrt-p", "edges:2>0,2>1,1>0", &[0, 1, 1], 1),
    ] {
        let states = |word: &str, equal: bool| {
            let (mut setting, mut options) = world(name, shape, wants);
            (options.order, options.cut) = (LinkOrder::Fifo, cut);
            aging(name, &mut setting, word);
            if equal {
                options.priorities.fill(5);
            }
            let report = search(name, &setting, &options);
            assert_fine(name, shape, &report);
            report.states
        };
        let (off, step, slow) = (
            states("off", false),
            states("step", false),
            states("slow(2)", false),
        );
        println!("{name}, {shape}: {off}, {step}, {slow} states");
        assert!(off != step && off != slow, "{name}, {shape}");
        for word in ["off", "step", "slow(2)"] {
            assert_ne!(states(word, true), step, "{name}, {shape}: {word}");
        }
    }
}

#[test]
fn on_trees_order_matters_to_them() {
    for name in ["mra", "mra-p", "fapp"] {
        let (setting, mut options) = world(name, "path", &[1, 1, 1]);
        options.order = LinkOrder::Any;
        let finding = search(name, &setting, &options).finding.expect(name);
        // FAPP's invariant sees it coming.
        let bad = [Kind::Deadlock, Kind::Invariant].contains(&finding.kind);
        assert!(bad, "{name}: {} by {}", finding.kind, finding.schedule);
    }
}

#[test]
fn digraphs_serve_everybody_in_any_order() {
    for name in ["lfrt", "lfrt-p"] {
        for (shape, wants) in [
            ("edges:0>1,1>2,2>0", &[1, 1, 2][..]),
            ("edges:2>0,2>1,1>0", &[1, 1, 2]),
            ("edges:3>1,3>2,1>0,2>0", &[0, 1, 1, 1]),
            ("edges:3>2,2>1,1>0,0>3,3>1", &[0, 1, 1, 1]),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            for order in [LinkOrder::Fifo, LinkOrder::Any] {
                options.order = order;
                assert_fine(name, shape, &search(name, &setting, &options));
            }
        }
    }
}

/// One cut of any link at any moment, each end told when chance will have it: as long as the rest
/// connects everybody, everybody is served.
#[test]
fn a_link_of_a_digraph_may_be_cut_at_any_moment() {
    for name in ["lfrt", "lfrt-p"] {
        let info = registry::find(name).expect("it is registered");
        assert_eq!(info.link_contract, LinkContract::Sessions);
        for (shape, wants) in [
            ("edges:0>1,1>2,2>0", &[0, 1, 1][..]),
            ("edges:2>0,2>1,1>0", &[0, 1, 1]),
            ("edges:3>1,3>2,1>0,2>0", &[0, 1, 0, 1]),
            ("edges:3>2,2>1,1>0,0>3", &[0, 1, 1, 0]),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            (options.order, options.cut) = (LinkOrder::Fifo, 1);
            let report = search(name, &setting, &options);
            assert_fine(name, shape, &report);
            let uncut = Options { cut: 0, ..options };
            assert!(report.states > 3 * search(name, &setting, &uncut).states);
        }
    }
}

/// A link that was cut comes back at any moment, and what was lost with its session is made good.
#[test]
fn a_link_of_a_digraph_may_come_back_at_any_moment() {
    for name in ["lfrt", "lfrt-p"] {
        for (shape, wants) in [
            ("edges:0>1,1>2,2>0", &[0, 1, 1][..]),
            ("edges:2>0,2>1,1>0", &[0, 0, 1]),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            (options.order, options.cut, options.heal) = (LinkOrder::Fifo, 1, true);
            assert_fine(name, shape, &search(name, &setting, &options));
        }
    }
}

/// The only way is cut and comes back, perhaps far from the holder: the node that waits is found in the
/// end, because the holder looks again. There is an end: it looks again only after a link changed.
#[test]
fn a_graph_may_come_apart_and_together_again() {
    for name in ["lfrt", "lfrt-p"] {
        for (shape, wants, order, cut) in [
            ("edges:2>1,1>0", &[1, 1, 1][..], LinkOrder::Fifo, 1),
            ("edges:2>1,1>0", &[0, 1, 1], LinkOrder::Any, 1),
            ("edges:0>1,1>2,2>0", &[0, 0, 1], LinkOrder::Any, 2),
            ("edges:2>0,2>1,1>0", &[0, 0, 1], LinkOrder::Fifo, 2),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            (options.order, options.cut, options.heal) = (order, cut, true);
            assert_fine(name, shape, &search(name, &setting, &options));
        }
    }
}

/// Where a cut is for good and parts the graph, nothing worse happens than that those wait who are
/// cut off.
#[test]
fn a_graph_that_stays_apart_does_no_harm() {
    for name in ["lfrt", "lfrt-p"] {
        let (setting, mut options) = world(name, "edges:2>1,1>0", &[1, 1, 1]);
        (options.order, options.cut) = (LinkOrder::Fifo, 2);
        assert_fine(name, "path", &search(name, &setting, &options));
    }
}

/// kanrar-L8: 0 asks while the token goes from 1 to 2, that link is cut, and the only other one of 1 leads
/// back to 0. A request that may not go there is lost.
#[test]
fn after_a_cut_the_only_way_may_lead_through_whoever_asked() {
    for name in ["lfrt", "lfrt-p"] {
        let (mut setting, mut options) = world(name, "edges:2>0,2>1,1>0", &[1, 0, 1]);
        (options.order, options.cut) = (LinkOrder::Fifo, 1);
        assert_fine(name, "repaired", &search(name, &setting, &options));
        let info = registry::find(name).expect("it is registered");
        setting.printed = info.as_printed(&["L8"]).expect("its defect");
        let finding = search(name, &setting, &options).finding.expect(name);
        assert_eq!(finding.kind, Kind::Deadlock, "{name}: {}", finding.schedule);
    }
}

/// Messages that overtake each other do no harm, with cuts or without.
#[test]
fn cuts_and_overtaking_go_together() {
    for (name, shape, wants) in [
        ("lfrt", "edges:2>0,2>1,1>0", &[0, 0, 1][..]),
        ("lfrt", "edges:3>1,3>2,1>0,2>0", &[0, 0, 0, 1]),
        ("lfrt-p", "edges:2>0,2>1,1>0", &[0, 1, 1]),
        ("lfrt-p", "edges:3>1,3>2,1>0,2>0", &[0, 0, 0, 1]),
    ] {
        let (setting, mut options) = world(name, shape, wants);
        (options.order, options.cut) = (LinkOrder::Any, 1);
        assert_fine(name, shape, &search(name, &setting, &options));
    }
}

/// A link that was not there at the start: both ends know, and it may appear at any moment or never. Without
/// it the ring around it is the only way.
#[test]
fn a_link_that_was_not_there_may_appear_at_any_moment() {
    for name in ["lfrt", "lfrt-p"] {
        let (setting, mut options) = world(name, "edges:2>0,2>1,1>0", &[0, 1, 1]);
        (options.order, options.cut, options.heal) = (LinkOrder::Fifo, 1, true);
        let absent = "cut 0-2; link-down 2@0; link-down 0@2";
        options.after = absent.parse().expect("the schedule is well written");
        let report = search(name, &setting, &options);
        assert_fine(name, "a link that appears", &report);
        assert!(report.states > 100, "{name}: {}", report.states);
    }
}
