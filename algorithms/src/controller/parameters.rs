//! The parameters of the framework, each once, and what they refuse.

use super::chosen::Chosen;
use crate::contract::NodeId;
use crate::params::{Param, Params, Value};
use crate::registry::Promise;

/// Declares the parameters of the framework, and `ALL`, the list of them.
macro_rules! params {
    ($($(#[$what:meta])* $PARAM:ident = $make:ident($($argument:expr),+ $(,)?)
        $(such as $examples:expr)?;)+) => {
        $($(#[$what])*
        pub(super) const $PARAM: Param = Param::$make($($argument),+)$(.such_as(&$examples))?;)+

        /// All parameters of the framework.
        pub(super) const ALL: &[Param] = &[$($PARAM),+];
    };
}

params! {
    /// Chooses the row of the taxonomy.
    QUEUE = choice("queue", &["centralised", "distributed", "hierarchical", "ring", "replicated"],
        "where the pending requests are");
    ROUTING = choice("routing", &["dynamic", "static"],
        "how a moving role is found: by pointers that follow it, or through a fixed structure");
    /// Chooses the column of the taxonomy.
    MIGRATE = choice("migrate", &["counter", "never", "each", "timer"],
        "when the role moves: after max_req entries, never, at each exit, after max_time");
    /// How many entries a tenure lasts.
    MAX_REQ = integer("max_req", 1..=u64::MAX, 5,
        "the role moves after so many entries");
    MAX_TIME = integer("max_time", 1..=u64::MAX, 20_000,
        "with migrate=timer the role moves after so many microseconds");
    TEST = choice("test", &["exit", "wake"],
        "when it is tested whether to move: at exits, as printed, or (token style) also when a \
         request finds the role idle");
    INFORM = choice("inform", &["all", "selective", "none"],
        "who is told of a move");
    SEEK = choice("seek", &["propagate", "broadcast"],
        "with inform=none, how a request looks for the controller");
    RECENT = integer("recent", 1..=1_000, 3,
        "with inform=selective, how many of the last to enter are told");
    TARGET = choice("target", &["usual", "first", "second", "last", "next"],
        "who is next: the first, second or last in the queue or the next by number; usually the \
         second, of a distributed queue the last, in token style the first");
    LAZY = choice("lazy", &["no", "yes"],
        "whether the role stays where nobody waits");
    /// How long a request may chase the role.
    HOP_LIMIT = text("hop_limit", "n",
        "a request that was passed on so often is told to everybody: a number, n for as many as \
         there are nodes, or none, in which case it may chase the role for ever")
        such as ["n", "0", "1", "2", "3", "none"];
    /// Who may become controller.
    CANDIDATES = text("candidates", "all",
        "the nodes that may become controller, such as 0,1,2; the first one may always")
        such as ["all", "0", "1", "0,1", "0,2", "1,2"];
    GROUPS = integer("groups", 0..=u32::MAX as u64, 0,
        "how many coordinators a ring, heads the cohorts or copies a replicated queue with static \
         routing has; 0 for the usual: every node on a ring, else 3");
    ARITY = integer("arity", 1..=1_000, 2,
        "how many children a node of the tree has; 1 makes it a line");
}

/// The parameters of CDC and DDC, whose row and column are fixed.
pub(super) const OF_DERIVED: &[Param] = &[MAX_REQ, HOP_LIMIT, CANDIDATES];

/// The machines that the cells are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Centralised,
    Distributed,
    Replicated,
    Tree,
    Cohort,
    Ring,
    TailAtHome,
}

impl Shape {
    /// The machine that the parameters choose.
    pub(super) fn of(params: &Params) -> Self {
        let chosen = Chosen(params);
        let broadcasts = chosen.word("seek", "propagate") == "broadcast";
        match (chosen.word("queue", "centralised"), chosen.is_static()) {
            ("distributed", true) if chosen.word("migrate", "counter") == "each" => {
                Shape::TailAtHome
            }
            ("distributed", _) => Shape::Distributed,
            ("hierarchical", false) => Shape::Tree,
            ("hierarchical", true) => Shape::Cohort,
            ("ring", true) => Shape::Ring,
            ("replicated", _) => Shape::Replicated,
            // A request that everybody hears is a replicated one.
            _ if broadcasts => Shape::Replicated,
            _ => Shape::Centralised,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Shape::Centralised => "a queue at the controller",
            Shape::Distributed => "a distributed queue",
            Shape::Replicated => "a replicated queue",
            Shape::Tree => "a tree",
            Shape::Cohort => "cohorts",
            Shape::Ring => "a ring that the role goes round",
            Shape::TailAtHome => "a distributed queue with its tail at home",
        }
    }

    /// The parameters that mean something to it, besides queue, routing and migrate.
    fn heeds(self, chosen: &Chosen<'_>) -> Vec<&'static str> {
        let mut heeded = match self {
            Shape::Centralised | Shape::Distributed => {
                vec!["test", "target", "lazy", "hop_limit", "candidates"]
            }
            Shape::Replicated if chosen.is_static() => vec!["test", "target", "lazy", "groups"],
            Shape::Replicated => vec!["test", "target", "lazy", "candidates"],
            Shape::Tree => vec!["arity"],
            Shape::Cohort | Shape::Ring => vec!["groups"],
            Shape::TailAtHome => Vec::new(),
        };
        let points = matches!(self, Shape::Centralised | Shape::Distributed);
        let by_name = chosen.word("queue", "centralised") != "replicated";
        if !chosen.is_static() && (points || (self == Shape::Replicated && by_name)) {
            heeded.push("inform");
            match chosen.word("inform", "all") {
                "selective" => heeded.push("recent"),
                "none" if self != Shape::Distributed => heeded.push("seek"),
                _ => {}
            }
        }
        match chosen.word("migrate", "counter") {
            "counter" => heeded.push("max_req"),
            "timer" => heeded.push("max_time"),
            _ => {}
        }
        heeded
    }
}

/// Why these values do not go together in a group of so many.
pub(super) fn refuses(params: &Params, nodes: u32) -> Option<String> {
    let chosen = Chosen(params);
    unreadable(&chosen, nodes)
        .or_else(|| senseless(&chosen))
        .or_else(|| unheeded(params, &chosen))
        .or_else(|| {
            let groups = chosen.groups().filter(|&groups| groups > nodes)?;
            Some(format!("groups={groups}: there are only {nodes} nodes"))
        })
}

/// A request that chases the role without a limit may do so for ever.
pub(super) fn gives_up(params: &Params, _: u32) -> Option<Promise> {
    let endless = Chosen(params).word("hop_limit", "n") == "none";
    endless.then_some(Promise::Liveness)
}

/// A text that does not say what it should.
fn unreadable(chosen: &Chosen<'_>, nodes: u32) -> Option<String> {
    if chosen.hop_limit().is_none() {
        let given = chosen.word("hop_limit", "n");
        return Some(format!(
            "hop_limit={given} does not fit; it is a number, n or none"
        ));
    }
    let Some(candidates) = chosen.candidate_numbers() else {
        let given = chosen.word("candidates", "all");
        return Some(format!(
            "candidates={given} does not fit; it is all, or node numbers such as 0,1,2"
        ));
    };
    let missing = |node: &&NodeId| node.0 >= nodes;
    candidates.iter().find(missing).map(|node| {
        let last = nodes - 1;
        format!("candidates: there is no node {node}; the nodes are numbered 0 to {last}")
    })
}

/// A pair that would be no algorithm, or not the one it says.
fn senseless(chosen: &Chosen<'_>) -> Option<String> {
    let (queue, target) = (
        chosen.word("queue", "centralised"),
        chosen.word("target", "usual"),
    );
    let why = match chosen.word("migrate", "counter") {
        "never" if chosen.is_static() => {
            "routing=static says how a moving role is found; with migrate=never leave it out"
        }
        "never" if chosen.tests_on_wake() => {
            "test=wake says when to test for a migration; with migrate=never there is none"
        }
        _ if chosen.tests_on_wake() && !["usual", "first"].contains(&target) => {
            "with test=wake the role goes to the first who waits, as a token does; leave target out"
        }
        _ if queue == "distributed" && target == "second" => {
            "the controller of a distributed queue knows only its first and its last; target=second \
             is neither"
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// A parameter that was changed and means nothing here.
fn unheeded(params: &Params, chosen: &Chosen<'_>) -> Option<String> {
    let shape = Shape::of(params);
    let mut heeded = vec!["queue", "routing", "migrate"];
    heeded.extend(shape.heeds(chosen));
    let defaults = Params::resolve("controller", ALL, &Default::default()).ok()?;
    let usual = |name: &str| -> Option<&Value> {
        let mut all = defaults.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    let changed = params
        .iter()
        .find(|(name, value)| !heeded.contains(name) && usual(name) != Some(*value));
    changed.map(|(name, value)| {
        format!(
            "{name}={value} means nothing to {} with migrate={}; it heeds {}",
            shape.in_words(),
            chosen.word("migrate", "counter"),
            heeded.join(", ")
        )
    })
}

/// What the kernel and the routing note.
pub(super) const NOTES: &[(&str, &str)] = &[
    (
        "asked_here",
        "a request of the controller's own client, which costs no REQUEST",
    ),
    (
        "granted_here",
        "an entry of the controller's own client, which costs no GRANT and no EXIT",
    ),
    ("forwards", "a request passed on because the role had moved"),
    (
        "hops",
        "how often a request had been passed on when the controller got it, if at all",
    ),
    (
        "broadcasts",
        "a request told to everybody because it could not find the role",
    ),
    (
        "registered",
        "place of a request in the order in which controllers took them, where one keeps the queue",
    ),
    ("moves", "a migration of the role"),
    (
        "links",
        "a NEXT message, which links a request behind another",
    ),
];
