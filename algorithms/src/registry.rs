//! Every algorithm there is, and everything the rest of the workspace needs to know about it.
//!
//! Adding an algorithm touches one new file and two lines: its `mod` and its place in [`ALL`].
//! Command line, tables, laws and default scenarios walk this list.

use std::time::Duration;

use crate::contract::NodeId;
use crate::erased::Machine;
use crate::external::{External, Program};
use crate::params::{Param, ParamError, Params, Value};
use crate::printed::{Defect, Printed, PrintedError};
use crate::topology::Topology;
use crate::{controller, coordinator, permission, structure, token, voting};

/// All algorithms, in the order they are listed.
pub static ALL: &[&AlgorithmInfo] = &[
    &coordinator::centralised::INFO,
    &controller::FRAMEWORK,
    &controller::CDC,
    &controller::DDC,
    &controller::MARTIN,
    &permission::lamport::INFO,
    &permission::ricart_agrawala::INFO,
    &permission::carvalho_roucairol::INFO,
    &permission::singhal_dynamic::INFO,
    &permission::maekawa::INFO,
    &permission::sanders::INFO,
    &token::suzuki_kasami::INFO,
    &token::ricart_agrawala_token::INFO,
    &token::singhal_heuristic::INFO,
    &structure::raymond::INFO,
    &token::naimi_trehel::INFO,
    &token::naimi_trehel_queue::INFO,
    &token::banta_simple::INFO,
    &token::banta_efficient::INFO,
    &token::banta_k::INFO,
    &permission::raymond_k::INFO,
    &structure::mra::INFO,
    &structure::mra::WITH_PRIORITIES,
    &structure::fapp::INFO,
    &structure::lfrt::INFO,
    &structure::lfrt::WITH_PRIORITIES,
    &voting::thomas::INFO,
    &voting::bmav::INFO,
    &voting::nhme::INFO,
    &voting::tb_dva::INFO,
];

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static AlgorithmInfo> {
    ALL.iter().copied().find(|info| info.name == name)
}

/// What the rest of the workspace knows of one algorithm.
///
/// The compiler asks every algorithm for these fields. What most algorithms do without is in
/// [`more`](Self::more).
pub struct AlgorithmInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// Authors, title, year and section of its source.
    pub paper: &'static str,
    /// The family it belongs to.
    pub family: Family,
    /// What it costs, in a few words.
    pub cost: &'static str,
    /// How it works, for somebody who has not read the paper.
    pub explanation: &'static str,
    /// The graph it runs on.
    pub graph: Graph,
    /// Whether messages of one link must arrive in the order they were sent.
    pub link_order: LinkOrder,
    /// What a cut link does to messages.
    pub link_contract: LinkContract,
    /// The kind of message that carries the token, where there is one; the first holder has it.
    pub token: Option<&'static str>,
    /// The estimated size of a node's state in bytes, in a group of `nodes`.
    pub state_bytes: fn(nodes: u64) -> u64,
    /// The state machine; where the print is a machine of its own, that one if it is asked for.
    pub machine: MachineSource,
    /// What is particular to it: parameters, defects, closed forms.
    pub more: More,
}

/// Where the state machine of an algorithm comes from.
#[derive(Clone, Copy)]
pub enum MachineSource {
    /// Written in this crate: chosen by the parameters, and by what is left unrepaired.
    Rules(fn(&Params, &Printed) -> &'static dyn Machine),
    /// A program that somebody else wrote.
    Program(External),
}

/// The registry's entry of an algorithm, its family and links in one line. The compiler asks for
/// all but what is in `more`.
///
/// `node Raymond, further bytes: |nodes| …` says that the machine is that of this type of node, and how
/// much a node stores beside the value itself in a group of so many. An algorithm with several
/// machines says `state_bytes` and `machine` instead.
macro_rules! info {
    (
        name: $name:expr,
        title: $title:expr,
        paper: $paper:expr,
        cost: $cost:expr,
        family $family:ident, graph $graph:ident, order $order:ident, links $contract:ident,
        token $token:expr,
        more: { $($field:ident $(: $value:expr)?),* $(,)? },
        explanation: $explanation:expr,
        $($machine:tt)+
    ) => {
        $crate::registry::AlgorithmInfo {
            name: $name,
            title: $title,
            paper: $paper,
            family: $crate::registry::Family::$family,
            cost: $cost,
            explanation: $explanation,
            graph: $crate::registry::Graph::$graph,
            link_order: $crate::registry::LinkOrder::$order,
            link_contract: $crate::registry::LinkContract::$contract,
            token: $token,
            state_bytes: $crate::registry::machine!(bytes of $($machine)+),
            machine: $crate::registry::machine!(machine of $($machine)+),
            more: $crate::registry::More {
                $($field $(: $value)?,)*
                ..$crate::registry::More::NONE
            },
        }
    };
}
pub(crate) use info;

/// What `info!` makes of its last lines.
macro_rules! machine {
    (bytes of node $Node:ty, further bytes: $further:expr,) => {
        |nodes| {
            const FURTHER: fn(u64) -> u64 = $further;
            size_of::<$Node>() as u64 + FURTHER(nodes)
        }
    };
    (machine of node $Node:ty, further bytes: $further:expr,) => {
        $crate::registry::MachineSource::Rules(|_, _| &$crate::erased::Of::<$Node>::MACHINE)
    };
    (bytes of state_bytes: $state_bytes:expr, machine: $machine:expr,) => {
        $state_bytes
    };
    (machine of state_bytes: $state_bytes:expr, machine: $machine:expr,) => {
        $crate::registry::MachineSource::Rules($machine)
    };
}
pub(crate) use machine;

/// What most algorithms do without. An algorithm names what it has; `info!`, or else
/// `..More::NONE`, fills in the rest.
pub struct More {
    /// The numbers of nodes it admits.
    pub sizes: Sizes,
    /// The parameters that the algorithm has of its own.
    pub params: &'static [Param],
    /// Says why these values do not go together in a group of `nodes`, where they do not.
    pub refuses: fn(&Params, nodes: u32) -> Option<String>,
    /// How many clients it admits at once: k.
    pub admits: fn(&Params) -> u32,
    /// Whether it waits for multiples of the bound on message delay that it is told, so that a
    /// message which takes longer may mislead it.
    pub uses_bound: bool,
    /// Whether a member that waits tries again and again, so that a group in which somebody waits
    /// never comes to rest.
    pub retries: fn(&Params) -> bool,
    /// The numbers it notes, each with what it means.
    pub notes: &'static [(&'static str, &'static str)],
    /// Whether it keeps members apart by time (leases, bounded waits), so that two entries may exclude
    /// each other though no chain of messages leads from one's exit to the other.
    pub safe_by_time: bool,
    /// The promise that it does not keep with these parameters in a group of `nodes`, where a source
    /// describes such rules or a parameter asks for them: to be watched, and held against nobody.
    pub gives_up: fn(&Params, nodes: u32) -> Option<Promise>,
    /// How many crashes it survives, unless its parameter `recovery` is off.
    pub crashes: u32,
    /// The flags of `orchestrator explore` for a small world that can be explored whole; empty where
    /// three nodes that want in once each are one.
    pub small_world: &'static str,
    /// What is wrong in the printed text.
    pub defects: &'static [Defect],
    /// What it costs, as formulas with their conditions.
    pub forms: &'static [ClosedForm],
}

impl More {
    /// One client inside, any number of nodes; no parameters, retries, notes, defects or
    /// closed forms; no crash survived.
    pub const NONE: Self = Self {
        sizes: Sizes {
            least: 1,
            fits: None,
        },
        params: &[],
        refuses: |_, _| None,
        admits: |_| 1,
        uses_bound: false,
        retries: |_| false,
        notes: &[],
        safe_by_time: false,
        gives_up: |_, _| None,
        crashes: 0,
        small_world: "",
        defects: &[],
        forms: &[],
    };
}

/// What an algorithm promises to everybody who runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Never more than k inside. Who gives this up promises nothing at all.
    Safety,
    /// Everybody who asks gets in.
    Liveness,
}

/// How an algorithm decides who enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// One node decides who enters.
    Coordinator,
    /// A node enters with the permission of everybody, or of a quorum.
    Permission,
    /// A node enters with the token.
    Token,
    /// The token moves along a tree or a digraph.
    Structure,
    /// A node enters with the votes of a majority.
    Voting,
    /// The deciding role itself moves.
    Controller,
}

/// The graph an algorithm runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Graph {
    /// Anyone may send to anyone: only a complete graph will do.
    Complete,
    /// The links form an undirected tree.
    Tree,
    /// A directed graph in which every node reaches the holder.
    Digraph,
}

/// The sizes of group an algorithm admits.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The smallest number of nodes.
    pub least: u32,
    /// Further restrictions, e.g. q² + q + 1; `None` if every size from `least` on will do.
    pub fits: Option<fn(u32) -> bool>,
}

/// Whether the links keep the order of messages, or need not.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum LinkOrder {
    /// Messages of one directed link arrive in the order they were sent.
    Fifo,
    /// Messages of one link may arrive in any order.
    Any,
}

/// What a cut link does to messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkContract {
    /// It only delays them.
    Patient,
    /// Its session ends: what was under way is lost, and both ends are told.
    Sessions,
}

/// A closed form for a measured number.
#[derive(Clone, Copy)]
pub struct ClosedForm {
    /// The measured number that it predicts.
    pub metric: Metric,
    /// As a reader would write it: `2(N−1)`.
    pub formula: &'static str,
    /// When it holds, in words.
    pub condition: &'static str,
    /// Its value under these circumstances, if they meet the condition.
    pub value: fn(&Circumstances<'_>) -> Option<f64>,
    /// Whether it holds exactly, on average, or as a bound.
    pub kind: FormKind,
}

impl ClosedForm {
    /// A closed form for the messages of an entry.
    pub const fn messages(
        kind: FormKind,
        formula: &'static str,
        condition: &'static str,
        value: fn(&Circumstances<'_>) -> Option<f64>,
    ) -> Self {
        Self {
            metric: Metric::MessagesPerEntry,
            formula,
            condition,
            value,
            kind,
        }
    }
}

/// The condition of a closed form that [`Circumstances::is_alone`] checks.
pub(crate) const ALONE: &str = "one request at a time, by a node drawn uniformly";

/// The condition of a closed form that [`Circumstances::is_whole`] checks.
pub(crate) const WHOLE: &str = "without faults, where the window cuts no request in two";

/// The condition of a closed form that [`Circumstances::saturated`] checks, with a hold that is longer
/// than the delay.
pub(crate) const SATURATED: &str = "everybody asks again the moment it leaves, constant hold > \
                                    constant delay, whole cycles";

/// What a closed form predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Algorithm messages per entry.
    MessagesPerEntry,
    /// Exit to next entry in units of the link delay, where the next one was already waiting.
    SyncDelay,
}

/// Whether a closed form holds exactly, on average, or as a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// It holds in every run, to the message.
    Exact,
    /// It holds on average over many requests.
    Mean,
    /// It is never exceeded.
    AtMost,
    /// It is never undercut.
    AtLeast,
    /// The source says so, and it is known not to hold: shown beside, and decides nothing.
    Printed,
}

/// What a closed form may depend on.
pub struct Circumstances<'a> {
    /// The number of nodes.
    pub nodes: u32,
    /// The links between the nodes.
    pub topology: &'a Topology,
    /// The node that has the token, or is the controller, at the start.
    pub holder: NodeId,
    /// The values of the algorithm's parameters.
    pub params: &'a Params,
    /// Who asks, and when.
    pub load: Load,
    /// The delay of every message, where it is constant.
    pub constant_delay: Option<Duration>,
    /// The time inside, where it is constant.
    pub constant_hold: Option<Duration>,
    /// Whether links keep the order of messages.
    pub order: LinkOrder,
    /// Whether anything is lost, cut, killed or otherwise disturbed.
    pub undisturbed: bool,
    /// Whether the measured window begins and ends at an exit and its entries are a multiple of N.
    pub whole_cycles: bool,
    /// Whether the window holds every message of every entry in it and no others: nothing is cut
    /// through at its edges. True of a run that finished, if the window is all of it or there was one
    /// request at a time.
    pub whole_requests: bool,
    /// Whether entries passed before the window began, so that what they still cost afterwards is in it.
    pub cut: bool,
    /// Sum and count of a note over the window.
    pub note: &'a dyn Fn(&str) -> Option<(u64, u64)>,
    /// Entries in the window.
    pub entries: u64,
}

/// Who asks, and when, as far as closed forms care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// One request at a time, by a node drawn uniformly, the next when nothing is under way.
    OneAtATime,
    /// Every node asks again the moment it leaves.
    Saturated,
    /// Requests come in any other way.
    Other,
}

impl Circumstances<'_> {
    /// Whether nothing disturbs a request but what it costs itself: there is one at a time, and none that
    /// a time limit cut off.
    pub fn is_alone(&self) -> bool {
        self.is_whole() && self.load == Load::OneAtATime
    }

    /// Whether nothing is disturbed, and the window has every message of its entries and no others.
    pub(crate) fn is_whole(&self) -> bool {
        self.undisturbed && self.whole_requests
    }

    /// The constant hold and the constant delay of a run in which everybody asks again the moment it
    /// leaves, nothing is disturbed, and the window has whole cycles; nothing of any other run.
    pub(crate) fn saturated(&self) -> Option<(Duration, Duration)> {
        let fits = self.undisturbed && self.load == Load::Saturated && self.whole_cycles;
        let times = Some((self.constant_hold?, self.constant_delay?));
        times.filter(|_| fits)
    }
}

impl AlgorithmInfo {
    /// More messages than this while somebody waits and nobody is inside are a live-lock: a
    /// thousand for each node. Where requests flood along the edges everybody's may do so before the
    /// first enters: each takes a message per edge, two more where links have failed, and then the
    /// token comes its way.
    pub fn live_lock_messages(&self, topology: &Topology) -> u64 {
        const EACH: u64 = 1_000;
        let nodes = u64::from(topology.nodes());
        nodes
            * match self.graph {
                Graph::Complete | Graph::Tree => EACH,
                Graph::Digraph => EACH.max(3 * topology.edge_count() + nodes),
            }
    }

    /// Whether the algorithm admits that many nodes.
    pub fn admits_size(&self, nodes: u32) -> bool {
        nodes >= self.more.sizes.least && self.more.sizes.fits.is_none_or(|fits| fits(nodes))
    }

    /// Its parameters, each with its default.
    pub fn defaults(&self) -> Params {
        self.choose(&[])
            .expect("the defaults of a parameter are values of it")
    }

    /// Its parameters: these with the values given, the others with their defaults.
    pub fn choose(&self, given: &[(&str, &str)]) -> Result<Params, ParamError> {
        let given = given.iter();
        let given = given.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Params::resolve(self.name, self.more.params, &given.collect())
    }

    /// Its printed text as far as these defects go, and those they need; the rest is repaired.
    pub fn as_printed(&self, ids: &[impl AsRef<str>]) -> Result<Printed, PrintedError> {
        Printed::some(self.name, self.more.defects, ids)
    }

    /// Whether its members want to be told when another one dies or comes back.
    pub fn wants_peer_events(&self) -> bool {
        self.usual_machine().wants_peer_events()
    }

    /// Whether its members want to be told when a link goes down or comes up.
    pub fn wants_link_events(&self) -> bool {
        self.usual_machine().wants_link_events()
    }

    /// Its repaired machine with default parameters.
    fn usual_machine(&self) -> &dyn Machine {
        self.machine(&self.defaults(), &Printed::repaired())
    }

    /// Its machine with these parameters, as far as it is repaired.
    pub fn machine(&self, params: &Params, printed: &Printed) -> &dyn Machine {
        match &self.machine {
            MachineSource::Rules(choose) => choose(params, printed),
            MachineSource::Program(program) => program,
        }
    }

    /// The program that it is, where it is one.
    pub fn program(&self) -> Option<&'static Program> {
        match self.machine {
            MachineSource::Rules(_) => None,
            MachineSource::Program(External { program, .. }) => Some(program),
        }
    }

    /// How many crashes it survives with these parameters.
    pub fn survives(&self, params: &Params) -> u32 {
        match params.get("recovery") {
            Some(Value::Word(word)) if word == "off" => 0,
            Some(_) | None => self.more.crashes,
        }
    }
}
