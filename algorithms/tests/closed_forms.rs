//! What each closed form says, and when it keeps silent.

use std::time::Duration;

use algorithms::params::Params;
use algorithms::registry::{self, Circumstances, FormKind, LinkOrder, Load};
use algorithms::topology::Shape;
use algorithms::{NodeId, Topology};

/// A run whose circumstances meet every condition but the load's.
fn run<'a>(topology: &'a Topology, params: &'a Params, load: Load) -> Circumstances<'a> {
    Circumstances {
        nodes: topology.nodes(),
        topology,
        holder: NodeId(0),
        params,
        load,
        constant_delay: Some(Duration::from_millis(1)),
        constant_hold: Some(Duration::from_millis(2)),
        order: LinkOrder::Fifo,
        undisturbed: true,
        whole_cycles: load == Load::Saturated,
        whole_requests: load == Load::OneAtATime,
        cut: false,
        note: &|_| None,
        entries: 100,
    }
}

/// The values of an algorithm's forms under changed circumstances, and how they hold.
fn values(
    algorithm: &str,
    shape: &str,
    nodes: u32,
    load: Load,
    change: impl Fn(&mut Circumstances<'_>),
) -> Vec<(f64, FormKind)> {
    let info = registry::find(algorithm).expect("it is registered");
    let shape: Shape = shape.parse().expect("a shape");
    let topology = shape.build(nodes, 0).expect("it can be built");
    let params = info.defaults();
    let mut circumstances = run(&topology, &params, load);
    change(&mut circumstances);
    let forms = info.more.forms.iter();
    forms
        .filter_map(|form| Some(((form.value)(&circumstances)?, form.kind)))
        .collect()
}

/// What it says when nothing is changed.
fn plainly(algorithm: &str, shape: &str, nodes: u32, load: Load) -> Vec<(f64, FormKind)> {
    values(algorithm, shape, nodes, load, |_| ())
}

/// A member that enters beside another, or with a majority, leaves before the last answers come: they
/// are not in a window that ends with its exit.
#[test]
fn what_comes_after_an_exit_keeps_forms_of_a_cut_window_silent() {
    let cut = |run: &mut Circumstances<'_>| run.cut = true;
    for algorithm in ["raymond-k", "thomas"] {
        let once = |run: &mut Circumstances<'_>| run.note = &|_| Some((100, 100));
        let forms = |cuts: bool| {
            values(algorithm, "complete", 5, Load::OneAtATime, |run| {
                once(run);
                if cuts {
                    cut(run);
                }
            })
        };
        assert!(!forms(false).is_empty(), "{algorithm}");
        assert_eq!(forms(true), [], "{algorithm}");
    }
    let all_answer = values("ricart-agrawala", "complete", 5, Load::OneAtATime, cut);
    assert_eq!(all_answer, [(8.0, FormKind::Exact)]);
}

#[test]
fn one_at_a_time() {
    use FormKind::{Exact, Mean};
    let alone = |algorithm, nodes| plainly(algorithm, "complete", nodes, Load::OneAtATime);
    assert_eq!(alone("ricart-agrawala", 5), [(8.0, Exact)]);
    assert_eq!(alone("lamport", 5), [(12.0, Exact)]);
    assert_eq!(alone("centralised", 4), [(2.25, Mean)]);
    assert_eq!(alone("suzuki-kasami", 5), [(4.0, Mean)]);
    assert_eq!(alone("naimi-trehel", 4), [(1.0 + 0.5 + 1.0 / 3.0, Mean)]);
    // A star of 4: of 16 ordered pairs 4 are the same node, 6 one edge apart, 6 two.
    let star = plainly("raymond", "star", 4, Load::OneAtATime);
    assert_eq!(star, [(2.0 * 18.0 / 16.0, Mean)]);
    // A path of 3: 4 pairs one edge apart, 2 two.
    let path = plainly("raymond", "path", 3, Load::OneAtATime);
    assert_eq!(path, [(2.0 * 8.0 / 9.0, Mean)]);
}

#[test]
fn saturated() {
    use FormKind::Exact;
    let busy = |algorithm, nodes| plainly(algorithm, "complete", nodes, Load::Saturated);
    assert_eq!(busy("centralised", 4), [(2.25, Exact)]);
    assert_eq!(busy("suzuki-kasami", 5), [(5.0, Exact)]);
    assert_eq!(busy("naimi-trehel", 5), []);
    let raymond = plainly("raymond", "tree:2", 8, Load::Saturated);
    assert_eq!(raymond, [(3.5, Exact)]);
}

/// What sanders' forms say with these parameters.
fn sanders(nodes: u32, given: &[(&str, &str)], load: Load, hold_ms: u64) -> Vec<(f64, FormKind)> {
    let info = registry::find("sanders").expect("it is registered");
    let params = info.choose(given).expect("they fit");
    let topology = Topology::complete(nodes);
    let mut circumstances = run(&topology, &params, load);
    circumstances.whole_requests = true;
    circumstances.constant_hold = Some(Duration::from_millis(hold_ms));
    let forms = info.more.forms.iter();
    forms
        .filter_map(|form| Some(((form.value)(&circumstances)?, form.kind)))
        .collect()
}

#[test]
fn an_information_structure_says_what_it_costs() {
    use FormKind::{AtLeast, AtMost, Exact, Mean};
    let plane = [("structure", "plane")];
    let light = sanders(7, &plane, Load::OneAtATime, 2);
    assert_eq!(light, [(6.0, Exact), (6.0, AtLeast), (17.0, AtMost)]);
    let busy = sanders(7, &plane, Load::Saturated, 2);
    assert_eq!(busy, [(6.0, AtLeast), (17.0, AtMost)]);
    // A hold of 20 delays lets everything settle, and the hand-over is bounded too.
    let settled = sanders(7, &plane, Load::Saturated, 20);
    assert_eq!(settled, [(6.0, AtLeast), (17.0, AtMost), (2.0, AtMost)]);
    let two_hot = sanders(4, &[("structure", "two-hot")], Load::OneAtATime, 2);
    assert_eq!(two_hot, [(4.0, Mean), (2.0, AtLeast), (14.0, AtMost)]);
    // The late self-grant never takes a grant back: exactly Ricart and Agrawala's cost.
    let complete = sanders(5, &[("structure", "complete")], Load::Saturated, 20);
    let exact = [(8.0, Exact), (8.0, AtLeast), (8.0, AtMost), (1.0, AtMost)];
    assert_eq!(complete, exact);
}

#[test]
fn a_node_alone_needs_no_message() {
    for info in registry::ALL {
        for load in [Load::OneAtATime, Load::Saturated] {
            for (value, _) in plainly(info.name, "path", 1, load) {
                assert_eq!(value, 0.0, "{}", info.name);
            }
        }
    }
}

#[test]
fn outside_their_conditions_forms_keep_silent() {
    for info in registry::ALL {
        for load in [Load::OneAtATime, Load::Saturated, Load::Other] {
            let silent = |change: fn(&mut Circumstances<'_>)| {
                assert_eq!(
                    values(info.name, "path", 5, load, change),
                    [],
                    "{}",
                    info.name
                );
            };
            silent(|run| run.undisturbed = false);
            silent(|run| {
                run.whole_cycles = false;
                run.whole_requests = false;
                if run.load == Load::OneAtATime {
                    run.load = Load::Other;
                }
            });
        }
    }
    for algorithm in ["raymond", "centralised", "suzuki-kasami"] {
        let silent = |change: fn(&mut Circumstances<'_>)| {
            let values = values(algorithm, "path", 5, Load::Saturated, change);
            assert_eq!(values, [], "{algorithm}");
        };
        silent(|run| run.constant_delay = None);
        silent(|run| run.constant_hold = None);
        silent(|run| run.constant_hold = Some(Duration::from_micros(999)));
        silent(|run| run.load = Load::Other);
    }
}
