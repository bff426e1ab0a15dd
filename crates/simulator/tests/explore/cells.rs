//! Every schedule of the migrating controllers, cell by cell, and what their printed text does.

use std::ops::ControlFlow;
use std::time::Duration;

use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use algorithms::{NodeId, Setting, Topology, taxonomy};
use simulator::explore::{Exploration, Kind, Options, explore};

/// At most so many states per search.
const BUDGET: u32 = 200_000;

#[test]
fn no_cell_lets_two_in_or_anybody_wait_for_ever() {
    for cell in taxonomy::of("controller") {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            let once_or_twice = CellSearch::of("controller", cell.params, &[1, 2, 1], order);
            once_or_twice.is_fine();
            let moving = tightened(cell.params);
            CellSearch::of("controller", &moving, &[1, 1, 1], order).is_fine();
            // Where some nodes have a part of their own, not all of them.
            if cell.params.contains(&("routing", "static")) && cell.row != "centralised" {
                let mut grouped = moving.clone();
                grouped.retain(|(name, _)| *name != "groups");
                grouped.push(("groups", "2"));
                let search = CellSearch::new("controller", &grouped, &[1, 2, 2], order);
                search.iter().for_each(CellSearch::is_fine);
            }
        }
    }
}

#[test]
fn no_cell_of_four_nodes_does_either() {
    all_cells_are_fine(&[1, 1, 0, 1]);
}

#[test]
#[ignore = "fifty searches of up to some million states; scripts/soak has the time"]
fn no_cell_does_if_all_four_nodes_ask() {
    all_cells_are_fine(&[1, 1, 1, 1]);
}

/// Every cell, on ordered and unordered links, its role moving as often as it can.
fn all_cells_are_fine(wants: &[u32]) {
    for cell in taxonomy::of("controller") {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            let params = tightened(cell.params);
            let mut search = CellSearch::of("controller", &params, wants, order);
            search.options.max_states = 40 * BUDGET;
            search.is_fine();
        }
    }
}

#[test]
fn every_way_to_spread_the_news_is_safe_and_live() {
    for algorithm in ["cdc", "ddc"] {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            CellSearch::of(algorithm, &[("max_req", "1")], &[1, 2, 1], order).is_fine();
            CellSearch::of(algorithm, &[("max_req", "2")], &[2, 2, 2], order).is_fine();
            // Notes do occur where no hop, or one, is allowed.
            for hops in ["0", "1", "none"] {
                let params = [("max_req", "1"), ("hop_limit", hops)];
                CellSearch::of(algorithm, &params, &[1, 2, 1], order).is_fine();
            }
            let few = [("max_req", "1"), ("candidates", "0,2")];
            CellSearch::of(algorithm, &few, &[1, 2, 1], order).is_fine();
        }
    }
    for queue in ["centralised", "distributed"] {
        for inform in ["selective", "none"] {
            let params = [("queue", queue), ("inform", inform), ("max_req", "1")];
            CellSearch::of("controller", &params, &[1, 2, 1], LinkOrder::Any).is_fine();
        }
        for more in [("lazy", "yes"), ("target", "next"), ("target", "first")] {
            let params = [("queue", queue), more, ("max_req", "1")];
            CellSearch::of("controller", &params, &[1, 1, 1], LinkOrder::Any).is_fine();
        }
    }
}

/// The printed text fails as it is said to, by a schedule that is no longer than the one listed.
#[test]
fn the_printed_text_fails_as_listed() {
    use Kind::{Deadlock, Exclusion, ProtocolError, Trapped};
    let cases: [(&str, &str, [u32; 3], LinkOrder, Kind); 19] = [
        ("cdc", "rana-C1", [1, 1, 1], LinkOrder::Fifo, Exclusion),
        ("cdc", "rana-C2", [0, 1, 1], LinkOrder::Fifo, Deadlock),
        ("cdc", "rana-C2'", [2, 1, 1], LinkOrder::Fifo, Exclusion),
        ("cdc", "rana-C3", [2, 2, 1], LinkOrder::Any, Deadlock),
        ("cdc", "rana-C4", [1, 2, 2], LinkOrder::Any, Trapped),
        ("cdc", "rana-C5", [1, 0, 1], LinkOrder::Fifo, ProtocolError),
        ("cdc", "rana-P7a", [1, 1, 1], LinkOrder::Fifo, ProtocolError),
        ("cdc", "rana-P7c", [1, 1, 0], LinkOrder::Fifo, ProtocolError),
        ("ddc", "rana-D1", [0, 1, 0], LinkOrder::Fifo, Deadlock),
        ("ddc", "rana-D2", [1, 1, 0], LinkOrder::Fifo, Deadlock),
        ("ddc", "rana-D3", [1, 1, 1], LinkOrder::Any, Deadlock),
        ("ddc", "rana-D4", [0, 1, 1], LinkOrder::Fifo, Deadlock),
        ("ddc", "rana-D5", [2, 1, 1], LinkOrder::Fifo, Exclusion),
        ("ddc", "rana-D6", [1, 1, 1], LinkOrder::Fifo, Deadlock),
        ("ddc", "rana-P7b", [1, 1, 0], LinkOrder::Fifo, ProtocolError),
        ("ddc", "rana-C1", [1, 1, 1], LinkOrder::Fifo, Exclusion),
        ("ddc", "rana-C4", [2, 2, 1], LinkOrder::Any, Trapped),
        ("ddc", "rana-C5", [1, 0, 1], LinkOrder::Fifo, ProtocolError),
        ("controller", "rana-B1", [2, 0, 0], LinkOrder::Any, Deadlock),
    ];
    for (name, id, wants, order, kind) in cases {
        let info = registry::find(name).expect("it is registered");
        let defect = info
            .more
            .defects
            .iter()
            .find(|defect| defect.id == id)
            .expect(id);
        // Two nodes are enough where there is nobody else to choose.
        let wants = match id {
            "rana-P7c" => &wants[..2],
            _ => &wants[..],
        };
        let mut search = CellSearch::of(name, defect.with, wants, order);
        search.setting.printed = info.as_printed(&[id]).expect("the defect is its own");
        let finding = search
            .report()
            .finding
            .unwrap_or_else(|| panic!("{name}, {id}"));
        assert_eq!(finding.kind, kind, "{name}, {id}: {}", finding.schedule);
        let (found, listed) = (
            finding.schedule.steps.len(),
            defect.schedule.split(';').count(),
        );
        assert!(found <= listed, "{name}, {id}: {}", finding.schedule);
    }
}

#[test]
fn all_of_the_printed_text_at_once_lets_two_in_or_stops() {
    for (name, kind) in [("cdc", Kind::Exclusion), ("ddc", Kind::Deadlock)] {
        let info = registry::find(name).expect("it is registered");
        let mut search = CellSearch::of(name, &[], &[1, 1, 1], LinkOrder::Fifo);
        search.setting.printed = Printed::all(info.more.defects);
        let finding = search.report().finding.expect(name);
        assert_eq!(finding.kind, kind, "{name}: {}", finding.schedule);
    }
}

struct CellSearch {
    info: &'static AlgorithmInfo,
    setting: Setting,
    options: Options,
}

impl CellSearch {
    fn of(name: &str, params: &[(&str, &str)], wants: &[u32], order: LinkOrder) -> Self {
        Self::new(name, params, wants, order).expect("they go together")
    }

    /// Nothing, if the parameters are refused.
    fn new(name: &str, params: &[(&str, &str)], wants: &[u32], order: LinkOrder) -> Option<Self> {
        let info = registry::find(name).expect("it is registered");
        let params = info.choose(params).expect("they are there");
        let nodes = wants.len() as u32;
        if (info.more.refuses)(&params, nodes).is_some() {
            return None;
        }
        let (complete, bound) = (Topology::complete(nodes), Duration::from_millis(1));
        Some(Self {
            info,
            setting: Setting::new(complete, NodeId(0), params, Printed::repaired(), bound),
            options: Options {
                wants: wants.to_vec(),
                order,
                max_states: BUDGET,
                ..Options::new(info, nodes)
            },
        })
    }

    fn report(&self) -> Exploration {
        let go_on = &mut |_| ControlFlow::Continue(());
        explore(self.info, &self.setting, &self.options, go_on).expect("the options fit")
    }

    fn is_fine(&self) {
        let report = self.report();
        let (params, options) = (&self.setting.params, &self.options);
        if let Some(finding) = &report.finding {
            let (kind, why, schedule) = (finding.kind, &finding.why, &finding.schedule);
            panic!("{params}: {kind}: {why}\n{schedule}\n{options:?}");
        }
        assert!(report.complete, "{params}: cut off\n{options:?}");
        assert_eq!(report.trapped, Some(0), "{params}\n{options:?}");
    }
}

/// The same with a role that moves after every entry, where a counter says how many.
fn tightened(params: &'static [(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let mut params = params.to_vec();
    if params.iter().all(|(name, _)| *name != "migrate") {
        params.push(("max_req", "1"));
    }
    params
}
