//! What must be true of every algorithm there is.

use std::collections::BTreeSet;
use std::time::Duration;

use algorithms::erased::{Group, Input, MessageId};
use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use algorithms::topology::Shape;
use algorithms::{After, Effect, NodeId, Request, Setting, Timer};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn kinds(info: &AlgorithmInfo) -> &'static [&'static str] {
    info.machine(&info.defaults(), &Printed::repaired()).kinds()
}

#[test]
fn names_are_unique_and_can_be_typed() {
    let names: BTreeSet<_> = registry::ALL.iter().map(|info| info.name).collect();
    assert_eq!(names.len(), registry::ALL.len());
    for name in names {
        let typed = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        assert!(name.chars().all(typed), "{name}");
        assert_eq!(registry::find(name).map(|info| info.name), Some(name));
    }
    assert!(registry::find("no-such-algorithm").is_none());
}

#[test]
fn kinds_are_shouted_and_the_token_is_one_of_them() {
    for info in registry::ALL {
        let kinds = kinds(info);
        let distinct: BTreeSet<_> = kinds.iter().collect();
        assert_eq!(distinct.len(), kinds.len(), "{}", info.name);
        for kind in kinds {
            let shouted = |letter: char| matches!(letter, 'A'..='Z' | '0'..='9' | '_');
            assert!(kind.chars().all(shouted), "{}: {kind}", info.name);
        }
        if let Some(token) = info.token {
            assert!(kinds.contains(&token), "{}: {token}", info.name);
        }
    }
}

#[test]
fn those_who_are_told_of_deaths_and_of_links_are_known() {
    let told = |of: fn(&AlgorithmInfo) -> bool| {
        let such = registry::ALL.iter().filter(|info| of(info));
        such.map(|info| info.name).collect::<Vec<_>>()
    };
    let of_deaths = told(AlgorithmInfo::wants_peer_events);
    assert_eq!(of_deaths, ["sanders", "bmav", "nhme"]);
    let of_links = told(AlgorithmInfo::wants_link_events);
    assert_eq!(of_links, ["lfrt", "lfrt-p"]);
    for info in registry::ALL {
        let printed = info.machine(&info.defaults(), &Printed::all(info.more.defects));
        let print_wants = (printed.wants_peer_events(), printed.wants_link_events());
        let wants = (info.wants_peer_events(), info.wants_link_events());
        assert_eq!(print_wants, wants, "{}", info.name);
    }
}

#[test]
fn explanations_fit_a_terminal_and_teach() {
    for info in registry::ALL {
        let lines: Vec<_> = info.explanation.lines().collect();
        let enough = (20..=50).contains(&lines.len());
        assert!(enough, "{} takes {} lines", info.name, lines.len());
        for line in lines {
            assert!(line.chars().count() <= 80, "{}: {line}", info.name);
            assert_eq!(line.trim_end(), line, "{}", info.name);
        }
        assert!(info.explanation.is_ascii(), "{}", info.name);
    }
}

#[test]
fn defects_are_told_and_can_be_chosen_by_name() {
    for info in registry::ALL {
        for defect in info.more.defects {
            let (id, name) = (defect.id, info.name);
            assert!(id.contains('-'), "{name}: {id} does not name its source");
            assert!(!defect.what.is_empty() && !defect.result.is_empty(), "{id}");
            let chosen = info.as_printed(&[id]);
            assert_eq!(chosen.is_ok(), !defect.rules.is_empty(), "{id}");
            assert_eq!(defect.schedule.is_empty(), defect.rules.is_empty(), "{id}");
        }
    }
}

#[test]
fn every_size_that_is_admitted_has_a_default_topology() {
    for info in registry::ALL {
        let sizes = (1..=30).filter(|&nodes| info.admits_size(nodes));
        for nodes in sizes {
            let shape = Shape::default_for(info.graph, nodes);
            let topology = shape.build(nodes, 0).expect("a default shape can be built");
            let last = NodeId(nodes - 1);
            assert_eq!(topology.fits(info.graph, last), Ok(()), "{}", info.name);
        }
    }
}

#[test]
fn no_size_that_is_admitted_refuses_the_defaults() {
    for info in registry::ALL {
        for nodes in (1..=30).filter(|&nodes| info.admits_size(nodes)) {
            let why = (info.more.refuses)(&info.defaults(), nodes);
            assert_eq!(why, None, "{}, {nodes} nodes", info.name);
        }
    }
}

#[test]
fn the_estimate_of_a_nodes_size_is_no_less_than_what_it_needs_at_rest() {
    for info in registry::ALL {
        for nodes in [1, 10, 1000].into_iter().filter(|&n| info.admits_size(n)) {
            let play = Play::new(info, nodes);
            let largest = (0..nodes).map(|node| play.group.state_bytes(NodeId(node)));
            let largest = largest.max().unwrap_or_default() as u64;
            let estimate = (info.state_bytes)(u64::from(nodes));
            // The holder of a token may carry what exists once.
            let once = 16 * u64::from(nodes);
            assert!(largest <= estimate + once, "{}: {largest}", info.name);
        }
    }
}

/// Some members that are played by chance, and everything that goes wrong.
struct Play {
    info: &'static AlgorithmInfo,
    group: Box<dyn Group>,
    kinds: &'static [&'static str],
    nodes: u32,
    waiting: BTreeSet<NodeId>,
    inside: BTreeSet<NodeId>,
    flight: Vec<(NodeId, NodeId, MessageId)>,
    /// By when they are due, if nothing else takes time.
    timers: BTreeSet<(Duration, NodeId, Timer)>,
    now: Duration,
    entries: u32,
    errors: Vec<String>,
}

impl Play {
    fn new(info: &'static AlgorithmInfo, nodes: u32) -> Self {
        let shape = Shape::default_for(info.graph, nodes);
        let topology = shape.build(nodes, 0).expect("a default shape can be built");
        let (params, printed) = (info.defaults(), Printed::repaired());
        let machine = info.machine(&params, &printed);
        let bound = Duration::from_millis(50);
        let setting = Setting::new(topology, NodeId(0), params, printed, bound);
        Self {
            info,
            group: machine.group(&setting, 0..nodes),
            kinds: machine.kinds(),
            nodes,
            waiting: BTreeSet::new(),
            inside: BTreeSet::new(),
            flight: Vec::new(),
            timers: BTreeSet::new(),
            now: Duration::ZERO,
            entries: 0,
            errors: Vec::new(),
        }
    }

    /// Lets one thing happen, chosen by a number.
    fn step(&mut self, choice: usize) {
        let node = NodeId(choice as u32 / 2 % self.nodes);
        let flight = self.flight.len();
        if choice.is_multiple_of(2) && flight > 0 {
            self.deliver(choice / 2 % flight);
        } else if self.inside.remove(&node) {
            self.happen(node, Input::Release);
        } else if self.waiting.insert(node) {
            self.happen(node, Input::Request(Request { priority: 0 }));
        } else if let Some(&timer) = self.timers.iter().nth(choice % 7) {
            self.ring(timer);
        }
    }

    /// Lets everything happen that is under way, until everybody who waits has been in and left.
    fn finish(&mut self) {
        for _ in 0..10_000 {
            if let Some(node) = self.inside.pop_first() {
                self.happen(node, Input::Release);
            } else if !self.flight.is_empty() {
                self.deliver(0);
            } else if let Some(&timer) = self.timers.first() {
                self.ring(timer);
            } else {
                return;
            }
        }
        self.errors.push("there is no end to it".to_owned());
    }

    fn ring(&mut self, (due, node, timer): (Duration, NodeId, Timer)) {
        self.now = self.now.max(due);
        self.timers.remove(&(due, node, timer));
        self.happen(node, Input::Timer(timer));
    }

    fn deliver(&mut self, choice: usize) {
        let (from, to, _) = self.flight[choice];
        let same_link = |&(a, b, _): &(NodeId, NodeId, MessageId)| (a, b) == (from, to);
        let index = match self.info.link_order {
            LinkOrder::Any => choice,
            LinkOrder::Fifo => self.flight.iter().position(same_link).expect("it is there"),
        };
        let (from, to, message) = self.flight.remove(index);
        self.survives_the_wire(message);
        self.happen(to, Input::Receive { from, message });
    }

    fn happen(&mut self, node: NodeId, input: Input) {
        let mut effects = Vec::new();
        self.group.handle(node, input, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send {
                    to,
                    message,
                    charge,
                } => {
                    assert!(to != node && to.0 < self.nodes, "{node} sends to {to}");
                    assert!(charge.is_none_or(|origin| origin.0 < self.nodes));
                    self.flight.push((node, to, message));
                }
                Effect::Post { message } => {
                    let what = self.group.describe(message);
                    self.errors
                        .push(format!("{node} posts {what}; only a print does"));
                }
                Effect::Enter { .. } => {
                    if !self.waiting.remove(&node) {
                        self.errors.push(format!("{node} enters uninvited"));
                    }
                    self.inside.insert(node);
                    self.entries += 1;
                    if self.inside.len() as u32 > (self.info.more.admits)(&self.info.defaults()) {
                        self.errors.push(format!("{:?} are inside", self.inside));
                    }
                }
                Effect::Note { name, .. } => {
                    let known = self.info.more.notes.iter().any(|(note, _)| *note == name);
                    assert!(known, "the entry does not tell what {name} is");
                }
                Effect::ProtocolError { why } | Effect::Fail { why } => {
                    self.errors.push(format!("{node}: {why}"));
                }
                Effect::SetTimer { timer, after } => {
                    let after = match after {
                        After::Exactly(after) | After::Again(after) => after,
                        After::Uniform(least, most) => {
                            least + (most - least) * (node.0 + 1) / (self.nodes + 1)
                        }
                    };
                    self.timers
                        .retain(|&(_, owner, set)| (owner, set) != (node, timer));
                    self.timers.insert((self.now + after, node, timer));
                }
                Effect::CancelTimer { timer } => {
                    self.timers
                        .retain(|&(_, owner, set)| (owner, set) != (node, timer));
                }
            }
        }
    }

    /// A message becomes bytes and the same message again.
    fn survives_the_wire(&mut self, message: MessageId) {
        let mut bytes = Vec::new();
        self.group.encode(message, &mut bytes);
        let again = self.group.decode(&bytes).expect("what was encoded decodes");
        assert_eq!(self.group.describe(again), self.group.describe(message));
        assert_eq!(self.group.kind(again), self.group.kind(message));
        assert_eq!(self.group.origin(again), self.group.origin(message));
        assert!(self.group.kind(message) < self.kinds.len());
        self.group.discard(again);
    }
}

/// The same cases in every run; 1000 of them meet every algorithm over a hundred times.
fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1981),
        ..ProptestConfig::default()
    }
}

/// Bytes that may be a message: a kind, then numbers as the codec writes them, some of them absurd.
fn forged() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![3 => 0_u64..5, 1 => Just(u64::MAX), 1 => any::<u64>()];
    (0_u8..4, prop::collection::vec(number, 0..5)).prop_map(|(kind, numbers)| {
        let mut bytes = vec![kind];
        for mut number in numbers {
            while number > 0x7f {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        bytes
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn by_chance_nothing_goes_wrong(
        which in 0..registry::ALL.len(),
        nodes in 1_u32..7,
        choices in prop::collection::vec(any::<usize>(), 0..300),
    ) {
        let info = registry::ALL[which];
        prop_assume!(info.admits_size(nodes));
        let mut play = Play::new(info, nodes);
        choices.iter().for_each(|&choice| play.step(choice));
        play.finish();
        prop_assert!(play.errors.is_empty(), "{}: {:?}", info.name, play.errors);
        prop_assert!(play.waiting.is_empty(), "{}: {:?} wait", info.name, play.waiting);
        prop_assert!(choices.len() < 20 || play.entries > 0, "{}: nobody entered", info.name);
    }

    /// Whatever a message says, it is the same after a journey, and a node that gets it may complain
    /// but does not break.
    #[test]
    fn no_message_breaks_a_node(
        which in 0..registry::ALL.len(),
        nodes in 2_u32..5,
        forged in prop::collection::vec((forged(), 0_u32..5, 0_u32..5), 1..40),
        choices in prop::collection::vec(any::<usize>(), 0..200),
    ) {
        let info = registry::ALL[which];
        prop_assume!(info.admits_size(nodes));
        let mut play = Play::new(info, nodes);
        let mut forged = forged.into_iter();
        for (number, &choice) in choices.iter().enumerate() {
            if number % 4 == 0 && let Some((bytes, from, to)) = forged.next() {
                let (from, to) = (NodeId(from % nodes), NodeId(to % nodes));
                if from != to && let Ok(message) = play.group.decode(&bytes) {
                    play.survives_the_wire(message);
                    play.happen(to, Input::Receive { from, message });
                }
            }
            play.step(choice);
        }
    }
}

#[test]
fn a_group_refuses_bytes_that_are_no_message() {
    for info in registry::ALL {
        let mut play = Play::new(info, 2);
        let refused = play.group.decode(&[]).expect_err("nothing is no message");
        assert!(refused.to_string().contains("not a message"), "{refused}");
        let unknown_kind = [kinds(info).len() as u8; 40];
        assert!(play.group.decode(&unknown_kind).is_err(), "{}", info.name);
    }
}

#[test]
fn a_message_with_something_behind_it_is_refused() {
    for info in registry::ALL {
        let mut play = Play::new(info, 2);
        play.waiting.insert(NodeId(1));
        play.happen(NodeId(1), Input::Request(Request { priority: 0 }));
        let &(_, _, message) = play.flight.first().expect("node 1 has to ask");
        let mut bytes = Vec::new();
        play.group.encode(message, &mut bytes);
        bytes.push(0);
        let refused = play.group.decode(&bytes).expect_err("one byte too many");
        assert!(
            refused.to_string().contains("1 bytes too many"),
            "{refused}"
        );
    }
}

/// Every text that shows a form says before it how it holds: "at least 3(K-1)".
#[test]
fn a_formula_does_not_say_again_how_it_holds() {
    for info in registry::ALL {
        for form in info.more.forms {
            let first = form.formula.split(' ').next();
            let said = ["at", "least", "most", "greatest", "exactly"];
            assert!(
                !said.map(Some).contains(&first),
                "{}: {}",
                info.name,
                form.formula
            );
        }
    }
}
