//! The plan of a run: a scenario with nothing left to decide.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

use algorithms::erased::Machine;
use algorithms::external::{self, Program};
use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo, LinkContract, LinkOrder};
use algorithms::topology::{Shape, TopologyError};
use algorithms::{NodeId, Setting, Topology};
use chaos::process_fault::ProcessEffect;
use chaos::timeline::{Begin, FaultAction};
use chaos::{AnyFault, Delay, Reach, Timeline};
use serde::{Deserialize, Deserializer, Serialize, de};
use transport::Contract;

use crate::run::Engine;
use crate::workload::{Closed, PerNode, Quota, Span, Urgency, Workload};

/// Everything that decides what a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The algorithm that the members run; files have its name, and the program where it is one.
    #[serde(flatten)]
    pub algorithm: Algorithm,
    /// The number of members.
    pub nodes: u32,
    /// The links between them; files have it as a person writes it: `tree:2`, `edges:0-1,1-2`.
    #[serde(deserialize_with = "topology")]
    pub topology: Shape,
    /// Who has the token, or is the controller, at the start.
    pub holder: NodeId,
    /// The algorithm's parameters, all of them.
    pub params: Params,
    /// The rules left out, where the printed text is run unrepaired.
    pub printed: Printed,
    /// Who asks, when, and for how long they stay inside.
    pub workload: Workload,
    /// How long a link takes (simulator, or the proxy).
    pub delay: Delay,
    /// Whether links keep the order of messages.
    pub links: LinkOrder,
    /// The bound on delays that algorithms are told, their T, in nanoseconds.
    pub bound_ns: u64,
    /// What all chance in the run comes from.
    pub seed: u64,
    /// When to give up, in nanoseconds from the start; virtual time in the simulator.
    pub time_limit_ns: Option<u64>,
    /// How many entries pass before measuring begins; with a warm-up, the window begins and ends at
    /// an exit and excludes the drain.
    pub warm_up_entries: u64,
    /// Whether every send and receipt is recorded too.
    pub trace: bool,
    /// What goes wrong, and when.
    #[serde(default)]
    pub faults: Timeline,
    /// How long it takes a member to learn that another has died: between the two, in nanoseconds.
    #[serde(default = "default_detect_after_ns")]
    pub detect_after_ns: (u64, u64),
    /// Who says that a member has died.
    #[serde(default)]
    pub detector: Detector,
    /// Silence after which a link's session ends, in nanoseconds, where links have sessions.
    #[serde(default = "default_silence_ns")]
    pub silence_ns: u64,
    /// Where the simulator runs the reliable transport.
    #[serde(default)]
    pub transport: UseTransport,
    /// What decides in which order simulated messages arrive.
    #[serde(default, skip_serializing_if = "Schedule::is_usual")]
    pub schedule: Schedule,
    /// Whether messages carry what their sender knew of exits, by which entries are shown to exclude
    /// each other. Only who measures what that costs goes without.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub certificate: bool,
    /// What the witness of processes looks at.
    #[serde(default, skip_serializing_if = "WitnessKind::is_usual")]
    pub witness: WitnessKind,
    /// Which member is on which host, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

/// Which member is on which host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// What the hosts are called.
    pub hosts: Vec<String>,
    /// The place of each member's host in that list.
    pub of: Vec<u32>,
}

impl Placement {
    /// The place of a member's host in the list of hosts.
    pub fn host_of(&self, node: NodeId) -> usize {
        self.of.get(node.index()).map_or(0, |host| *host as usize)
    }

    /// The members of a host.
    pub fn members(&self, host: usize) -> impl Iterator<Item = NodeId> {
        let nodes = (0..).map(NodeId).zip(&self.of);
        nodes.filter_map(move |(node, of)| (*of as usize == host).then_some(node))
    }

    /// Whether every member is on one of the hosts.
    pub fn fits(&self, nodes: u32) -> bool {
        let hosts = self.hosts.len();
        self.of.len() == nodes as usize && self.of.iter().all(|of| (*of as usize) < hosts)
    }
}

fn yes() -> bool {
    true
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_yes(value: &bool) -> bool {
    *value
}

/// An algorithm of the registry, or a program.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Algorithm(pub &'static AlgorithmInfo);

/// An algorithm as files have it.
#[derive(Serialize, Deserialize)]
struct Written {
    algorithm: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<WrittenProgram>,
}

/// A program as files have it, with the names of the parameters that it was given.
#[derive(Serialize, Deserialize)]
struct WrittenProgram {
    #[serde(flatten)]
    program: Program,
    params: Vec<String>,
}

impl Deref for Algorithm {
    type Target = AlgorithmInfo;

    fn deref(&self) -> &AlgorithmInfo {
        self.0
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.program() == other.program()
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl From<Algorithm> for Written {
    fn from(algorithm: Algorithm) -> Self {
        let params = algorithm.more.params.iter();
        let params = || params.map(|param| param.name.to_owned()).collect();
        Self {
            algorithm: algorithm.name.to_owned(),
            program: algorithm.program().cloned().map(|program| WrittenProgram {
                program,
                params: params(),
            }),
        }
    }
}

impl TryFrom<Written> for Algorithm {
    type Error = String;

    fn try_from(Written { algorithm, program }: Written) -> Result<Self, String> {
        if let Some(WrittenProgram { program, params }) = program {
            program.declares.check()?;
            let params = params.iter().map(String::as_str).collect::<Vec<_>>();
            return Ok(Self(external::info(program, &params)));
        }
        algorithm.try_into()
    }
}

/// The algorithm of the registry that has this name.
impl TryFrom<String> for Algorithm {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        registry::find(&name).map(Self).ok_or_else(|| {
            let names = registry::ALL.iter().map(|info| info.name);
            let names = names.collect::<Vec<_>>().join(", ");
            format!("there is no algorithm '{name}'; there are {names}")
        })
    }
}

/// Reads a shape; an error names the key that it stands under.
fn topology<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
    let text = String::deserialize(deserializer)?;
    let shape = text.parse();
    shape.map_err(|error: TopologyError| de::Error::custom(format!("topology: {error}")))
}

/// Whether simulated messages travel through the reliable transport; on a cluster they always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UseTransport {
    /// Messages travel through the transport as soon as a fault can lose, double or damage what
    /// travels.
    #[default]
    Auto,
    /// Messages travel through the transport in every run.
    Always,
    /// Messages never travel through the transport: what a link loses is lost.
    Never,
}

/// What a process takes as it enters, and cannot take while as many others have it as may be inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WitnessKind {
    /// A word in memory that the members of a host share.
    #[default]
    Memory,
    /// The kernel's lock on a file.
    Kernel,
}

impl WitnessKind {
    /// Whether nobody asked for another one.
    pub fn is_usual(&self) -> bool {
        *self == WitnessKind::Memory
    }
}

/// What decides in which order simulated messages arrive: `random`, or `pct:3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// The delay of each message alone.
    #[default]
    Random,
    /// Each link has a priority, drawn once, and the less it has the longer its messages take, up to
    /// the longest delay. At so many moments the link whose turn it is falls behind all others.
    Pct {
        /// How many links fall behind, at moments that are drawn.
        changes: u32,
    },
}

impl Schedule {
    /// Whether delays alone decide.
    pub fn is_usual(&self) -> bool {
        *self == Schedule::Random
    }
}

/// More changes than this are hardly any different.
const MOST_CHANGES: u32 = 1_000;

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let changes = text.strip_prefix("pct:");
        let changes = changes.and_then(|changes| changes.parse().ok());
        match (text, changes) {
            ("random", _) => Ok(Schedule::Random),
            (_, Some(changes)) if changes <= MOST_CHANGES => Ok(Schedule::Pct { changes }),
            _ => Err(format!(
                "'{text}' is neither random nor pct:CHANGES, such as pct:3, with at most {MOST_CHANGES}"
            )),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Random => f.write_str("random"),
            Schedule::Pct { changes } => write!(f, "pct:{changes}"),
        }
    }
}

algorithms::written_as_text!(Schedule: String);

/// Who says that a member has died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// The engine tells the other members, each after a while of its own. Nobody is taken for dead
    /// who is not.
    #[default]
    Told,
    /// Every member keeps asking every other, and takes for dead one that is silent for this number
    /// of nanoseconds: the dead, sooner or later, and sometimes one that is only slow.
    Timeout(u64),
}

/// What the members of a run, and what is recorded of it, may take together by their estimates.
pub const MEMORY_LIMIT_BYTES: u64 = 8 << 30;

/// About how many bytes one request takes while it is recorded.
pub const REQUEST_BYTES: u64 = 160;

/// About how many bytes the members of a run take in one process.
pub fn members_bytes(info: &AlgorithmInfo, nodes: u32) -> u64 {
    /// About how many bytes a member takes besides its algorithm's state.
    const MEMBER_BYTES: u64 = 350;
    let each = (info.state_bytes)(nodes.into()).saturating_add(MEMBER_BYTES);
    each.saturating_mul(nodes.into())
}

/// By default a death is known after 50 to 500 ms.
pub fn default_detect_after_ns() -> (u64, u64) {
    (50_000_000, 500_000_000)
}

/// By default a link whose other end has been silent for a second has failed.
pub fn default_silence_ns() -> u64 {
    1_000_000_000
}

/// The delay of links by default, besides what the machine itself takes.
pub fn usual_delay(engine: Engine) -> Delay {
    match engine {
        Engine::Sim => Delay::Uniform {
            mean_ns: 1_000_000,
            jitter_ns: 500_000,
        },
        Engine::Cluster => Delay::NONE,
    }
}

impl Plan {
    /// The algorithm as it comes, on its usual graph, undisturbed: everybody asks five times, again
    /// the moment it leaves, and stays for a millisecond, over links that take as long and keep
    /// order. For those who make plans by hand, and then say what theirs is about.
    pub fn usual(info: &'static AlgorithmInfo, nodes: u32, seed: u64) -> Self {
        const MS: u64 = 1_000_000;
        Self {
            algorithm: Algorithm(info),
            nodes,
            topology: Shape::default_for(info.graph, nodes),
            holder: NodeId(0),
            params: info.defaults(),
            printed: Printed::repaired(),
            workload: Workload {
                arrivals: Closed {
                    think: PerNode::All(Span::Constant(0)),
                }
                .into(),
                hold: PerNode::All(Span::Constant(MS)),
                quota: Quota::PerNode(5),
                priority: PerNode::All(Urgency::Constant(0)),
                weights: Vec::new(),
                clients: 1,
            },
            delay: Delay::Constant { ns: MS },
            links: LinkOrder::Fifo,
            bound_ns: MS,
            seed,
            time_limit_ns: None,
            warm_up_entries: 0,
            trace: false,
            faults: Timeline::default(),
            detect_after_ns: default_detect_after_ns(),
            detector: Detector::default(),
            silence_ns: default_silence_ns(),
            transport: UseTransport::default(),
            schedule: Schedule::default(),
            certificate: true,
            witness: WitnessKind::default(),
            placement: None,
        }
    }

    /// Whether entries get an index, by which they are shown to exclude each other: where messages carry
    /// what that takes, and one at a time may be inside.
    pub fn counts_entries(&self) -> bool {
        self.certificate && (self.info().more.admits)(&self.params) == 1
    }

    /// What the registry says of the algorithm.
    pub fn info(&self) -> &'static AlgorithmInfo {
        self.algorithm.0
    }

    /// The algorithm as a machine, with its parameters and its unrepaired rules.
    pub fn machine(&self) -> &'static dyn Machine {
        self.info().machine(&self.params, &self.printed)
    }

    /// Whether simulated messages travel through the reliable transport.
    pub fn runs_transport(&self) -> bool {
        match self.transport {
            UseTransport::Auto => self.faults.harms() || self.suspects_after_ns().is_some(),
            UseTransport::Always => true,
            UseTransport::Never => false,
        }
    }

    /// Whether a fault changes how long messages take, or what becomes of them on their links.
    pub fn has_bad_links(&self) -> bool {
        let of_links = |action: &FaultAction| match action {
            FaultAction::Links(_) | FaultAction::Isolate(..) | FaultAction::Heal(_) => true,
            FaultAction::Process(..) | FaultAction::Message(_) => false,
        };
        self.faults.steps.iter().any(|step| of_links(&step.action))
    }

    /// The delay of every simulated message, where it is always the same.
    pub fn constant_delay_ns(&self) -> Option<u64> {
        self.delay
            .constant_ns()
            .filter(|_| self.schedule.is_usual())
    }

    /// After how much silence members take another for dead, if that is how they learn it.
    pub fn suspects_after_ns(&self) -> Option<u64> {
        match self.detector {
            Detector::Told => None,
            Detector::Timeout(silence_ns) => Some(silence_ns),
        }
    }

    /// How the links of its members behave, by the contract that their algorithm needs.
    pub fn transport_config(&self, links: LinkContract) -> transport::Config {
        let contract = match links {
            LinkContract::Patient => Contract::Patient {
                suspect_after_ns: self.suspects_after_ns(),
            },
            LinkContract::Sessions => Contract::Sessions {
                silence_ns: self.silence_ns,
            },
        };
        transport::Config::new(self.links, contract)
    }

    /// The links it names, if the algorithm can run on them. Every process builds them for itself,
    /// from the same seed.
    pub fn build_topology(&self) -> Result<Topology, TopologyError> {
        let topology = self.topology.build(self.nodes, self.seed)?;
        topology.fits(self.info().graph, self.holder)?;
        Ok(topology)
    }

    /// For each member, whether it is connected with the first holder by links that are never cut,
    /// whatever their direction; `None` where a cut may end, or members die.
    pub fn connected_for_good(&self) -> Option<Vec<bool>> {
        let mut cuts = Vec::new();
        for step in &self.faults.steps {
            let bad = match &step.action {
                FaultAction::Links(bad) => bad,
                FaultAction::Process(_, ProcessEffect::Stop | ProcessEffect::Continue)
                | FaultAction::Message(_) => continue,
                FaultAction::Isolate(..)
                | FaultAction::Heal(_)
                | FaultAction::Process(_, ProcessEffect::End { .. }) => return None,
            };
            let lasts = matches!(&step.begin, Begin::At(window) if window.over_ns() == u64::MAX
                && window.every_ns.is_none());
            for links in bad {
                match links.fault {
                    AnyFault::Cut(_) if lasts && links.churn.is_none() => cuts.push(&links.reach),
                    AnyFault::Cut(_) => return None,
                    _ => {}
                }
            }
        }
        let links = self.build_topology().ok()?.without_direction();
        let is_cut = |a: NodeId, b: NodeId| {
            let covers = |reach: &&Reach| reach.covers(a.0, b.0) || reach.covers(b.0, a.0);
            cuts.iter().any(covers)
        };
        let mut connected = vec![false; self.nodes as usize];
        connected[self.holder.index()] = true;
        let mut found = vec![self.holder];
        while let Some(node) = found.pop() {
            for next in links.neighbours(node) {
                if !connected[next.index()] && !is_cut(node, next) {
                    connected[next.index()] = true;
                    found.push(next);
                }
            }
        }
        Some(connected)
    }

    /// What the members are told.
    pub fn setting(&self, topology: Topology) -> Setting {
        Setting::new(
            topology,
            self.holder,
            self.params.clone(),
            self.printed.clone(),
            Duration::from_nanos(self.bound_ns),
        )
    }
}
