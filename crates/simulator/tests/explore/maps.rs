//! The map of a small world has the states and steps that a search meets.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use algorithms::printed::Printed;
use algorithms::registry;
use algorithms::{NodeId, Setting, Topology};
use simulator::explore::{Options, Schedule, explore, map, replay};

fn setting(name: &str, nodes: u32, printed: Printed) -> Setting {
    let info = registry::find(name).expect("it is registered");
    let topology = match info.graph {
        registry::Graph::Tree => {
            Topology::undirected(nodes, &[(NodeId(0), NodeId(1)), (NodeId(0), NodeId(2))])
        }
        registry::Graph::Complete | registry::Graph::Digraph => Topology::complete(nodes),
    };
    let bound = Duration::from_millis(1);
    Setting::new(topology, NodeId(0), info.defaults(), printed, bound)
}

#[test]
fn a_map_has_what_a_search_meets() {
    for (name, lose, crash) in [
        ("raymond", 0, 0),
        ("raymond", 1, 0),
        ("suzuki-kasami", 0, 1),
        ("ricart-agrawala", 0, 0),
        ("naimi-trehel", 0, 0),
        ("centralised", 1, 0),
    ] {
        let info = registry::find(name).expect("it is registered");
        let setting = setting(name, 3, Printed::repaired());
        let mut options = Options::new(info, 3);
        (options.lose, options.crash, options.safety_only) = (lose, crash, true);
        let found = explore(info, &setting, &options, &mut |_| ControlFlow::Continue(()));
        let found = found.expect("it fits");
        assert!(found.complete, "{name}: {:?}", found.finding);
        let drawn = map(info, &setting, &options, 1_000_000).expect("it fits");
        assert!(drawn.complete);
        assert_eq!(drawn.states.len() as u64, found.states, "{name}");
        let steps: usize = drawn.states.iter().map(|state| state.steps.len()).sum();
        assert_eq!(steps as u64, found.edges, "{name}");
        let part = map(info, &setting, &options, 20).expect("it fits");
        assert!(!part.complete && part.states.len() == 20, "{name}");
    }
}

/// Going along a map from step to step is what a replay of these steps does.
#[test]
fn a_way_on_the_map_is_a_schedule() {
    let info = registry::find("raymond").expect("it is registered");
    let setting = setting("raymond", 3, Printed::repaired());
    let options = Options::new(info, 3);
    let drawn = map(info, &setting, &options, 20_000).expect("it fits");
    for turn in 0..5 {
        let (mut at, mut steps) = (0, Vec::new());
        while let Some(step) = drawn.states[at].steps.iter().cycle().nth(turn) {
            steps.push(step.step.clone());
            at = step.to as usize;
        }
        let outcome =
            replay(info, &setting, &options, &Schedule::of(steps)).expect("it can happen");
        let ended = drawn.states[at]
            .sites
            .iter()
            .map(|&site| drawn.sites[site as usize].state.clone());
        assert_eq!(ended.collect::<Vec<_>>(), outcome.ending.states);
        assert_eq!(outcome.possible, []);
    }
}

#[test]
fn a_map_says_what_is_wrong_and_goes_on() {
    let info = registry::find("suzuki-kasami").expect("it is registered");
    let printed = info.as_printed(&["SK1"]).expect("a defect");
    let setting = setting("suzuki-kasami", 3, printed);
    let drawn = map(info, &setting, &Options::new(info, 3), 20_000).expect("it fits");
    let wrong = drawn.states.iter().filter_map(|state| state.wrong.as_ref());
    let kinds: BTreeSet<_> = wrong.map(|(kind, _)| kind.to_string()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["deadlock"]);
}
