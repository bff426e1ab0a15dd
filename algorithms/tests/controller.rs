//! The cells of the migrating-controller framework, message by message.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use algorithms::erased::{Group, Input, MessageId};
use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo};
use algorithms::{Effect, NodeId, Request, Setting, Topology, taxonomy};

/// Who entered, in that order, and how many messages were sent.
type Outcome = (Vec<u32>, u32);

/// Parameters of the framework, and what comes of requests 1, 2, 3 and of requests 3, 0, 1, 2.
type Total = (&'static str, (&'static [u32], u32), (&'static [u32], u32));

const TOTALS: &[Total] = &[
    ("migrate=never", (&[1, 2, 3], 9), (&[0, 3, 1, 2], 9)),
    ("max_req=2", (&[1, 2, 3], 12), (&[0, 3, 1, 2], 13)),
    (
        "max_req=2 inform=none",
        (&[1, 2, 3], 10),
        (&[0, 3, 1, 2], 9),
    ),
    (
        "max_req=2 routing=static",
        (&[1, 2, 3], 10),
        (&[0, 3, 1, 2], 10),
    ),
    ("max_req=1", (&[1, 2, 3], 18), (&[0, 3, 1, 2], 21)),
    (
        "migrate=each test=wake inform=none",
        (&[1, 2, 3], 8),
        (&[0, 3, 1, 2], 6),
    ),
    (
        "queue=distributed max_req=2",
        (&[1, 2, 3], 11),
        (&[0, 3, 1, 2], 15),
    ),
    (
        "queue=distributed max_req=1",
        (&[1, 2, 3], 19),
        (&[0, 3, 1, 2], 21),
    ),
    (
        "queue=distributed routing=static migrate=each",
        (&[1, 2, 3], 8),
        (&[0, 3, 1, 2], 8),
    ),
    (
        "queue=hierarchical arity=1 migrate=each",
        (&[1, 2, 3], 6),
        (&[0, 1, 2, 3], 6),
    ),
    (
        "queue=hierarchical arity=1 max_req=2",
        (&[1, 2, 3], 12),
        (&[0, 1, 2, 3], 9),
    ),
    (
        "queue=hierarchical arity=1 migrate=never",
        (&[1, 2, 3], 15),
        (&[0, 1, 2, 3], 15),
    ),
    (
        "queue=hierarchical routing=static groups=2 max_req=2",
        (&[1, 3, 2], 9),
        (&[0, 2, 1, 3], 9),
    ),
    (
        "queue=ring routing=static migrate=each",
        (&[1, 2, 3], 6),
        (&[0, 1, 2, 3], 6),
    ),
    (
        "queue=ring routing=static groups=2 max_req=2",
        (&[1, 3, 2], 10),
        (&[0, 2, 1, 3], 8),
    ),
    (
        "queue=replicated max_req=2",
        (&[1, 2, 3], 16),
        (&[0, 3, 1, 2], 15),
    ),
    (
        "queue=replicated migrate=each test=wake",
        (&[1, 2, 3], 12),
        (&[0, 3, 1, 2], 12),
    ),
    (
        "queue=replicated routing=static groups=2 max_req=2",
        (&[1, 2, 3], 12),
        (&[0, 3, 1, 2], 11),
    ),
];

#[test]
fn four_nodes_enter_in_this_order_for_so_many_messages() {
    for &(params, first, second) in TOTALS {
        for (requests, (order, messages)) in [(&[1, 2, 3][..], first), (&[3, 0, 1, 2], second)] {
            let outcome = play(&given(params), 4, requests);
            assert_eq!(
                outcome,
                (order.to_vec(), messages),
                "{params}: {requests:?}"
            );
        }
    }
}

#[test]
fn the_table_has_every_cell_once_and_none_is_refused() {
    let cells = taxonomy::of("controller");
    let mut places = Vec::new();
    for row in taxonomy::ROWS {
        places.extend(taxonomy::COLUMNS.map(|column| (row, column)));
    }
    let named: Vec<_> = cells.iter().map(|cell| (cell.row, cell.column)).collect();
    assert_eq!(named, places);
    assert!(taxonomy::of("cdc").is_empty());
    for cell in cells {
        for nodes in [1, 2, 3, 5, 9] {
            let groups = cell.params.iter().find(|(name, _)| *name == "groups");
            if groups.is_some_and(|(_, groups)| groups.parse::<u32>().unwrap() > nodes) {
                continue;
            }
            let params = params(&of_cell(cell));
            assert_eq!(
                (framework().more.refuses)(&params, nodes),
                None,
                "{}",
                cell.name
            );
        }
    }
}

#[test]
fn every_cell_serves_everybody() {
    for cell in taxonomy::of("controller") {
        for nodes in [3, 7] {
            let all: Vec<_> = (0..nodes).rev().collect();
            let (mut order, _) = play(&of_cell(cell), nodes, &all);
            order.sort_unstable();
            let once: Vec<_> = (0..nodes).collect();
            assert_eq!(order, once, "{}, {}", cell.row, cell.column);
        }
    }
}

#[test]
fn where_two_cells_are_one_machine_they_do_the_same() {
    let cell = |row, column| {
        let cells = taxonomy::of("controller").iter();
        of_cell(
            cells
                .clone()
                .find(|cell| (cell.row, cell.column) == (row, column))
                .unwrap(),
        )
    };
    let token = "dynamic, each exit";
    for requests in [&[1, 2, 3, 4][..], &[4, 0, 3, 1, 2], &[2, 4]] {
        let one = play(&cell("centralised", token), 5, requests);
        assert_eq!(one, play(&cell("replicated", token), 5, requests));
    }
}

#[test]
fn pairs_that_make_no_sense_are_refused_with_the_reason() {
    let cases = [
        (
            "migrate=never routing=static",
            "says how a moving role is found",
        ),
        ("migrate=never test=wake", "there is none"),
        ("test=wake target=last", "leave target out"),
        (
            "queue=distributed target=second",
            "knows only its first and its last",
        ),
        (
            "queue=distributed inform=none seek=broadcast",
            "seek=broadcast means nothing",
        ),
        ("seek=broadcast", "seek=broadcast means nothing"),
        (
            "queue=ring routing=static inform=none",
            "inform=none means nothing to a ring",
        ),
        (
            "queue=hierarchical candidates=0,1",
            "means nothing to a tree with migrate=counter",
        ),
        (
            "queue=hierarchical routing=static arity=3",
            "means nothing to cohorts",
        ),
        (
            "queue=replicated inform=selective",
            "means nothing to a replicated queue",
        ),
        ("migrate=each max_req=3", "max_req=3 means nothing"),
        (
            "migrate=timer max_req=3",
            "it heeds queue, routing, migrate, test",
        ),
        ("recent=2", "recent=2 means nothing"),
        (
            "queue=ring routing=static groups=9",
            "there are only 4 nodes",
        ),
        ("hop_limit=often", "it is a number, n or none"),
        ("candidates=0,x", "node numbers such as 0,1,2"),
        (
            "candidates=0,4",
            "there is no node 4; the nodes are numbered 0 to 3",
        ),
    ];
    for (said, why) in cases {
        let refused = (framework().more.refuses)(&params(&given(said)), 4).expect(said);
        assert!(refused.contains(why), "{said}: {refused}");
    }
}

fn framework() -> &'static AlgorithmInfo {
    registry::find("controller").expect("it is registered")
}

fn given(words: &str) -> BTreeMap<String, String> {
    let pairs = words
        .split_whitespace()
        .map(|word| word.split_once('=').expect("written name=value"));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn of_cell(cell: &taxonomy::Cell) -> BTreeMap<String, String> {
    let pairs = cell.params.iter();
    pairs
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn params(given: &BTreeMap<String, String>) -> Params {
    let info = framework();
    Params::resolve(info.name, info.more.params, given).expect("every value is in its domain")
}

/// All ask in this order before anything arrives; messages arrive in the order they were sent; when
/// nothing is under way the node that is inside leaves.
fn play(given: &BTreeMap<String, String>, nodes: u32, requests: &[u32]) -> Outcome {
    let params = params(given);
    let machine = framework().machine(&params, &Printed::repaired());
    let (complete, bound) = (Topology::complete(nodes), Duration::from_millis(1));
    let setting = Setting::new(complete, NodeId(0), params, Printed::repaired(), bound);
    let mut table = Table {
        group: machine.group(&setting, 0..nodes),
        flight: VecDeque::new(),
        inside: VecDeque::new(),
        order: Vec::new(),
        sent: 0,
    };
    for &node in requests {
        table.happen(NodeId(node), Input::Request(Request { priority: 0 }));
    }
    for _ in 0..10_000 {
        if let Some((from, to, message)) = table.flight.pop_front() {
            table.happen(to, Input::Receive { from, message });
        } else if let Some(node) = table.inside.pop_front() {
            table.happen(node, Input::Release);
        } else {
            return (table.order, table.sent);
        }
    }
    panic!("there is no end to it: {given:?}");
}

struct Table {
    group: Box<dyn Group>,
    flight: VecDeque<(NodeId, NodeId, MessageId)>,
    inside: VecDeque<NodeId>,
    order: Vec<u32>,
    sent: u32,
}

impl Table {
    fn happen(&mut self, node: NodeId, input: Input) {
        let mut effects = Vec::new();
        self.group.handle(node, input, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    self.sent += 1;
                    self.flight.push_back((node, to, message));
                }
                Effect::Enter { .. } => {
                    assert!(self.inside.is_empty(), "{node} enters as well");
                    self.inside.push_back(node);
                    self.order.push(node.0);
                }
                Effect::Note { .. } | Effect::SetTimer { .. } | Effect::CancelTimer { .. } => {}
                Effect::Post { .. } => panic!("{node} posts; only a print does"),
                Effect::ProtocolError { why } | Effect::Fail { why } => panic!("{node}: {why}"),
            }
        }
    }
}
