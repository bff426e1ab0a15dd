//! Small worlds on trees and digraphs of the book: priorities, and links that are cut at any moment.

use std::ops::ControlFlow;

use algorithms::params::Params;
use algorithms::registry::{self, Links, Order};
use algorithms::topology::Shape;
use algorithms::{NodeId, Setting};
use simulator::explore::{Kind, Options, Report, Timers, explore};

use crate::registry::setting_of;

/// An algorithm on these links, node 0 having the token; so many wants each.
fn world(name: &str, shape: &str, wants: &[u32]) -> (Setting, Options) {
    let entry = registry::find(name).expect("it is registered");
    let nodes = wants.len() as u32;
    let shape: Shape = shape.parse().expect("a shape");
    let topology = shape.build(nodes, 0).expect("it can be built");
    assert_eq!(topology.fits(entry.graph, NodeId(0)), Ok(()), "{name}");
    let usual = setting_of(entry, nodes);
    let setting = Setting::new(
        topology,
        NodeId(0),
        usual.params,
        usual.printed,
        usual.bound,
    );
    let options = Options {
        wants: wants.to_vec(),
        timers: Timers::Patient,
        max_states: 400_000,
        ..Options::new(entry, nodes)
    };
    (setting, options)
}

fn search(name: &str, setting: &Setting, options: &Options) -> Report {
    let entry = registry::find(name).expect("it is registered");
    let watch = &mut |_| ControlFlow::Continue(());
    explore(entry, setting, options, watch).expect("the options fit")
}

fn assert_fine(name: &str, what: &str, report: &Report) {
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
    for (name, aging) in [
        ("raymond", None),
        ("mra", None),
        ("mra-p", Some("off")),
        ("mra-p", Some("step")),
        ("mra-p", Some("slow(2)")),
        ("fapp", None),
    ] {
        for (shape, wants, priorities) in [
            ("path", &[2, 2, 2][..], &[1, 5, 3][..]),
            ("path", &[1, 1, 1, 1], &[1, 5, 3, 4]),
            ("star", &[1, 1, 1, 1], &[4, 4, 3, 5]),
            ("edges:0-1,1-2,1-3", &[1, 1, 1, 1], &[1, 2, 3, 1]),
            ("edges:0-1,1-2,1-3,3-4", &[1, 1, 1, 1, 1], &[1, 5, 2, 3, 4]),
        ] {
            let (mut setting, mut options) = world(name, shape, wants);
            if let Some(aging) = aging {
                let entry = registry::find(name).expect("it is registered");
                let given = [("aging".to_owned(), aging.to_owned())].into();
                setting.params =
                    Params::resolve(name, entry.params, &given).expect("it is a parameter");
            }
            options.priorities = priorities.to_vec();
            assert_fine(name, shape, &search(name, &setting, &options));
        }
    }
}

#[test]
fn on_trees_order_matters_to_them() {
    for name in ["mra", "mra-p", "fapp"] {
        let (setting, mut options) = world(name, "path", &[1, 1, 1]);
        options.order = Order::Any;
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
            options.priorities = (1..=wants.len() as u32).collect();
            for order in [Order::Fifo, Order::Any] {
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
        let entry = registry::find(name).expect("it is registered");
        assert_eq!(entry.links, Links::Sessions);
        for (shape, wants) in [
            ("edges:0>1,1>2,2>0", &[0, 1, 1][..]),
            ("edges:2>0,2>1,1>0", &[0, 1, 1]),
            ("edges:3>1,3>2,1>0,2>0", &[0, 1, 0, 1]),
            ("edges:3>2,2>1,1>0,0>3", &[0, 1, 1, 0]),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            (options.order, options.cut) = (Order::Fifo, 1);
            options.priorities = (1..=wants.len() as u32).collect();
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
            (options.order, options.cut, options.heal) = (Order::Fifo, 1, true);
            assert_fine(name, shape, &search(name, &setting, &options));
        }
    }
}

/// The only way is cut and comes back, perhaps far from the holder: whoever waits is found in the
/// end, because the holder looks again. There is an end: it looks again only after a link changed.
#[test]
fn a_graph_may_come_apart_and_together_again() {
    for name in ["lfrt", "lfrt-p"] {
        for (shape, wants, order, cut) in [
            ("edges:2>1,1>0", &[1, 1, 1][..], Order::Fifo, 1),
            ("edges:2>1,1>0", &[0, 1, 1], Order::Any, 1),
            ("edges:0>1,1>2,2>0", &[0, 0, 1], Order::Any, 2),
            ("edges:2>0,2>1,1>0", &[0, 0, 1], Order::Fifo, 2),
        ] {
            let (setting, mut options) = world(name, shape, wants);
            (options.order, options.cut, options.heal) = (order, cut, true);
            options.priorities = (1..=wants.len() as u32).collect();
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
        (options.order, options.cut) = (Order::Fifo, 2);
        assert_fine(name, "path", &search(name, &setting, &options));
    }
}

/// Messages that overtake each other do no harm, with cuts or without.
#[test]
fn cuts_and_overtaking_go_together() {
    for (shape, wants) in [
        ("edges:2>0,2>1,1>0", &[0, 0, 1][..]),
        ("edges:3>1,3>2,1>0,2>0", &[0, 0, 0, 1]),
    ] {
        let (setting, mut options) = world("lfrt", shape, wants);
        (options.order, options.cut) = (Order::Any, 1);
        assert_fine("lfrt", shape, &search("lfrt", &setting, &options));
    }
}
