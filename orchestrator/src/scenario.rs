//! What a run shall do, as a person describes it: in flags, in a file, or both.
//!
//! A flag and a key of the same name mean the same, and flags win. Both end as one [`Plan`], in
//! which nothing is left to decide.
//!
//! [`Plan`]: model::plan::Plan

mod arrivals;
mod faults;
mod file;
mod layers;
mod links;
mod load;
mod program;
mod render;
mod resolve;
mod values;
mod workload_word;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use chaos::{Delay, FaultSpec};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use cluster::hosts::spec::{HostsSpec, PlaceSpec};
use model::plan::{Schedule, UseTransport, WitnessKind};
use model::run::Engine;
use model::workload::{KeyError, Span, Urgency};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::suggest::did_you_mean;
pub(crate) use file::{complaint, read_toml};
pub use layers::Layers;
pub use resolve::Resolved;
pub(crate) use resolve::{params, usual_size};
pub(crate) use values::{
    AsPrinted, Assignment, List, ShapeSpec, Time, assignments, maybe_a_word, maybe_whole, named,
    whole, whole_in_file,
};
use values::{AskText, Between, Detecting, DuplicateSpec, LossSpec, ReorderSpec, Weight};
use workload_word::WorkloadWord;

/// Everything that describes a run. A key without a value has a default.
///
/// The help of each flag says how a file says the same, where it differs.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Name of the run, and of its directory under results/ [default: the scenario file's name, or
    /// the algorithm's]
    #[arg(long, help_heading = "Group")]
    pub name: Option<String>,

    /// Algorithm, instead of the one the scenario file names
    #[arg(long, help_heading = "Group")]
    pub algorithm: Option<String>,

    /// Number of nodes [default: the topology's own where it has one, as edges:... has, else 10 or
    /// the nearest number that the algorithm admits]
    #[arg(short = 'n', long, help_heading = "Group", value_parser = values::whole::<u32>)]
    pub nodes: Option<u32>,

    /// Links between the nodes, such as complete, tree:2, edges:0-1,1-2 or file:EDGES
    ///
    /// `orchestrator list topologies` shows what there is. A file has an edge in each line, and its
    /// name is relative to the scenario file. [default: what the algorithm needs; tree:2 where
    /// that is a tree]
    #[arg(long, value_name = "SHAPE", help_heading = "Group")]
    pub topology: Option<ShapeSpec>,

    /// Node where the token or the controller starts [default: the one that the topology leads to,
    /// such as 4 of kanrar:4.2, else 0]
    #[arg(long, value_name = "NODE", help_heading = "Group", value_parser = values::whole::<u32>)]
    pub holder: Option<u32>,

    /// Parameter of the algorithm; may be given several times
    ///
    /// `orchestrator explain ALGORITHM` shows which there are and their defaults. In a file:
    /// a table `[params]`.
    #[arg(long = "param", value_name = "NAME=VALUE", help_heading = "Group")]
    #[serde(
        with = "values::assignments",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub params: Vec<Assignment>,

    /// Leave the defects of the printed text unrepaired: all, or those named [default: none]
    ///
    /// `orchestrator explain ALGORITHM` shows their ids. In a file: `true` or an array of ids.
    #[arg(long, value_name = "IDS", help_heading = "Group", num_args = 0..=1,
          require_equals = true, default_missing_value = "all")]
    pub as_printed: Option<AsPrinted>,

    /// external: program that is the algorithm, and its arguments, in any language
    ///
    /// docs/protocol.md says what it is asked and answers. In a file: `program = ["python3", "lock.py"]`,
    /// started in the directory of the file.
    #[arg(last = true, value_name = "PROGRAM", help_heading = "Group")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,

    /// external: time in which the program must answer each line, such as 500ms [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Group")]
    pub answer_within: Option<Time>,

    /// external: memory that each program may take, in MiB, with all that it starts [default: no limit]
    #[arg(long, value_name = "MIB", help_heading = "Group", value_parser = values::whole::<u64>)]
    #[serde(default, deserialize_with = "values::maybe_whole")]
    pub program_memory: Option<u64>,

    /// external: processes that each program may be, with all that it starts [default: no limit]
    #[arg(long, value_name = "NUMBER", help_heading = "Group", value_parser = values::whole::<u32>)]
    pub program_processes: Option<u32>,

    /// What the program is, where it does not say so itself: a table with the keys of its answer to `init`.
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub declares: Table,

    /// Who asks, and when [default: closed]
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Load")]
    pub workload: Option<WorkloadWord>,

    /// Entries of each node [default: 50, fewer above 200 nodes: 10,000 in all, 1 each at least]
    #[arg(long, value_name = "PER_NODE", help_heading = "Load", value_parser = values::whole::<u64>,
          conflicts_with_all = ["total", "duration"])]
    #[serde(default, deserialize_with = "values::maybe_whole")]
    pub entries: Option<u64>,

    /// Entries in all, dealt to the nodes in advance by their weights [default for one-at-a-time:
    /// 1000]
    #[arg(long, value_name = "ALL", help_heading = "Load", value_parser = values::whole::<u64>,
          conflicts_with = "duration")]
    #[serde(default, deserialize_with = "values::maybe_whole")]
    pub total: Option<u64>,

    /// Time after which nobody asks again, such as 10s; the run then drains
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub duration: Option<Time>,

    /// Time inside: 1ms, exp:1ms or uniform:1ms..5ms, or several, by node in turn [default: 1ms]
    #[arg(long, value_name = "SPAN", help_heading = "Load")]
    pub hold: Option<List<Span>>,

    /// closed: time between leaving and asking again; as --hold [default: exp:10ms]
    #[arg(long, value_name = "SPAN", help_heading = "Load")]
    pub think: Option<List<Span>>,

    /// open: requests per second at each node [default: 20]
    #[arg(
        long,
        value_name = "PER_SECOND",
        help_heading = "Load",
        conflicts_with = "gap",
        value_parser = values::number
    )]
    pub rate: Option<f64>,

    /// open: the same as mean time between two requests at one node, such as 50ms
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub gap: Option<Time>,

    /// batch: who asks, in this order: NODE [at TIME] [priority NUMBER] [hold TIME], and so on
    ///
    /// For example `--asks "2, 0, 3 at 5ms"`. In a file: an array, `asks = [2, 0, "3 at 5ms"]`.
    /// [default: every node once, at time 0]
    #[arg(long, value_name = "ASKS", help_heading = "Load")]
    pub asks: Option<List<AskText>>,

    /// batch: each asks when nothing else is under way [default: false]
    ///
    /// The first to enter stays inside until all have asked.
    #[arg(long, value_name = "BOOL", help_heading = "Load", num_args = 0..=1,
          require_equals = true, default_missing_value = "true")]
    pub settled: Option<bool>,

    /// window: how many different nodes ask, once each [default: half of them]
    #[arg(long, value_name = "NUMBER", help_heading = "Load", value_parser = values::whole::<u32>)]
    pub askers: Option<u32>,

    /// window: time from the start within which they ask [default: 10ms]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    pub within: Option<Time>,

    /// trace: CSV file of requests
    ///
    /// Columns node and request_ns (nanoseconds from the start), and if there are such: priority,
    /// hold_ns. The entries.csv of a run is such a file. In a scenario file: relative to it.
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    pub arrivals: Option<PathBuf>,

    /// How often each node asks, relative to the others: one number for each node, or NODE=WEIGHT
    /// for hot spots, such as 0=10,3=5 [default: 1 each]
    #[arg(long, value_name = "WEIGHTS", help_heading = "Load")]
    pub weights: Option<List<Weight>>,

    /// Urgency of requests, larger is more urgent: a number, or uniform:LEAST..MOST drawn for each
    /// request; several, at most one for each: by node in turn [default: 0]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    pub priority: Option<List<Urgency>>,

    /// Clients that share a member, waiting in a queue of its own [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Load", value_parser = values::whole::<u32>)]
    pub clients: Option<u32>,

    /// Time a message takes: TIME, TIME JITTER (uniform), TIME JITTER distribution normal, or
    /// TIME distribution exponential [default: 1ms 500us in the simulator, none on the cluster]
    #[arg(long, help_heading = "Network")]
    #[serde(default, deserialize_with = "values::maybe_a_word")]
    pub delay: Option<Delay>,

    /// Whether links keep the order of messages: fifo or any [default: fifo]
    #[arg(long, value_name = "ORDER", help_heading = "Network",
          value_parser = PossibleValuesParser::new(["fifo", "any"]).try_map(values::named::<LinkOrder>))]
    pub links: Option<LinkOrder>,

    /// Bound on a message's delay that algorithms are told, their T
    ///
    /// [default: the longest --delay there can be; where there is no longest, the mean plus six standard
    /// deviations of a normal delay, twenty times the mean of an exponential one; on the cluster 50ms
    /// more, for the machine itself]
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    pub bound: Option<Time>,

    /// Packets that get lost on every link, as netem says it: 5%, or gemodel ..., or every 7
    /// [default: none]
    #[arg(long, value_name = "LOSS", help_heading = "Faults")]
    pub loss: Option<LossSpec>,

    /// Packets that arrive twice on every link, such as 1% [default: none]
    #[arg(long, value_name = "PERCENT", help_heading = "Faults")]
    pub duplicate: Option<DuplicateSpec>,

    /// Packets that overtake others on every link, such as 10% or 25% gap 5 [default: none]
    #[arg(long, value_name = "PERCENT", help_heading = "Faults")]
    pub reorder: Option<ReorderSpec>,

    /// Something that goes wrong, and when; may be given several times
    ///
    /// For example "at 2s cut 3-4 for 1s", "when enter 3 kill 3" or "at 1s isolate holder for 500ms".
    /// `orchestrator list faults` shows the words. In a file: one of them, or an array.
    #[arg(long, value_name = "FAULT", help_heading = "Faults")]
    #[serde(
        default,
        deserialize_with = "values::faults",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub fault: Vec<FaultSpec>,

    /// Who says that a member has died: told, or timeout:TIME [default: told]
    ///
    /// told: when a member dies, every other member is told, each after --detect-after; no live member
    /// is suspected. timeout:500ms: members keep asking each other, and suspect for good a member that
    /// has not answered for 500ms. That is how it is done in practice, and it errs: a member that is
    /// paused, cut off or slow is suspected as well. Such a false suspicion is a row of faults.csv, and
    /// a violation that comes after one is reported as that.
    #[arg(long, value_name = "DETECTOR", help_heading = "Faults")]
    pub detector: Option<Detecting>,

    /// told: time until a member learns that another has died: between the two [default: 50ms..500ms]
    #[arg(long, value_name = "TIME..TIME", help_heading = "Faults")]
    pub detect_after: Option<Between>,

    /// Silence after which a link has failed, where members are told of that: lfrt and lfrt-p
    /// [default: 1s]
    ///
    /// It counts from a message or a question that is not answered: with 200ms a link that is cut fails
    /// after about that time. What was on it is lost then, and both ends are told; a cut that is shorter
    /// only delays.
    #[arg(long, value_name = "TIME", help_heading = "Faults")]
    pub silence: Option<Time>,

    /// Where the reliable transport runs: auto, always or never [default: auto]
    ///
    /// In the simulator auto means as soon as a fault can lose, double or damage what travels, and
    /// never means that what is lost stays lost. On the cluster every message travels through it.
    #[arg(long, value_name = "WHEN", help_heading = "Faults",
          value_parser = PossibleValuesParser::new(["auto", "always", "never"]).try_map(values::named::<UseTransport>))]
    pub transport: Option<UseTransport>,

    /// What decides in which order messages arrive (simulator): random or pct:CHANGES [default: random]
    ///
    /// random: the delay of each message alone. pct:3: each link has a priority, and the less it has the
    /// longer its messages take, up to the longest delay; three times a link falls behind all others. That
    /// finds orders that chance alone hardly ever makes. Only where no fault is on links and no transport
    /// runs.
    #[arg(long, value_name = "SCHEDULE", help_heading = "Network")]
    pub schedule: Option<Schedule>,

    /// Hosts that the members are on, each with an agent that this starts [default: this host]
    ///
    /// ssh:a,b*2,@FILE: by ssh; b takes twice as many members, and a file has a host in each line.
    /// slurm: by srun, inside an allocation; slurm:N outside. join:N: whoever starts an agent on N hosts by
    /// the line that is printed. 'cmd:a,b:COMMAND': by a command for each, with {host} and {agent} in it.
    /// docs/hosts.md has examples.
    #[arg(long, value_name = "HOSTS", help_heading = "Hosts")]
    pub hosts: Option<HostsSpec>,

    /// Which member is on which host: block, cyclic, or listed as a=0-3,5;b=4 [default: block]
    #[arg(long, value_name = "PLACE", help_heading = "Hosts", requires = "hosts")]
    pub place: Option<PlaceSpec>,

    /// What runs it; each command has its own flag for that.
    #[arg(skip)]
    pub engine: Option<Engine>,

    /// Number that all chance in the run comes from [default: a fresh one, shown at the end]
    #[arg(long, help_heading = "Run", value_parser = values::whole::<u64>)]
    #[serde(default, deserialize_with = "values::maybe_whole")]
    pub seed: Option<u64>,

    /// Time after which the run is given up, such as 60s; virtual in the simulator [default: 60s on
    /// the cluster, or 30s after the last request can come, as --duration says, if that is later; none in
    /// the simulator]
    ///
    /// Without a limit the simulator gives up when nothing has happened to any member for 60 s but
    /// faults that come and go, and a transport that gets no answer. Where links can fail (--silence),
    /// both engines do so after 20 silences, with a limit and without.
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    pub time_limit: Option<Time>,

    /// Entries that pass before measuring begins [default: 0, and the whole run is measured]
    #[arg(long, value_name = "ENTRIES", help_heading = "Run", value_parser = values::whole::<u64>)]
    #[serde(default, deserialize_with = "values::maybe_whole")]
    pub warm_up: Option<u64>,

    /// Record everything that happens in events.jsonl, message by message [default: false]
    ///
    /// An event takes about 100 bytes and more where messages are long; none is left out.
    /// messages.csv then has a row for every link, however many nodes there are.
    #[arg(long, value_name = "BOOL", help_heading = "Run", num_args = 0..=1,
          require_equals = true, default_missing_value = "true")]
    pub trace: Option<bool>,

    /// What shows that processes are inside together, without a clock: memory or kernel [default: memory]
    ///
    /// memory: words that the members of a host share. kernel: locks on files, which take two calls of the
    /// kernel for every entry; who was refused one is not seen by those who enter later.
    #[arg(long, value_name = "WITNESS", help_heading = "Run",
          value_parser = PossibleValuesParser::new(["memory", "kernel"]).try_map(values::named::<WitnessKind>))]
    pub witness: Option<WitnessKind>,
}

/// A value of a scenario that a layer may have, and the layer below it as well.
trait Layered {
    /// This value, or the one below where there is none.
    fn over(self, below: Self) -> Self;
    /// Whether there is a value.
    fn is_given(&self) -> bool;
}

impl<T> Layered for Option<T> {
    fn over(self, below: Self) -> Self {
        self.or(below)
    }

    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl Layered for Vec<FaultSpec> {
    fn over(self, below: Self) -> Self {
        if self.is_empty() { below } else { self }
    }

    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Layered for Vec<String> {
    fn over(self, below: Self) -> Self {
        if self.is_empty() { below } else { self }
    }

    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Layered for Table {
    fn over(self, below: Self) -> Self {
        below.into_iter().chain(self).collect()
    }

    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

/// Parameters are layered one by one.
impl Layered for Vec<Assignment> {
    fn over(self, below: Self) -> Self {
        let both = below.into_iter().chain(self);
        let by_name = both.map(|param| (param.name.clone(), param));
        by_name.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

/// Walks all keys of a scenario; the compiler insists that none is missing.
macro_rules! keys {
    ($($key:ident)*) => {
        impl Scenario {
            /// These values, and those of the layer below where there are none.
            pub(crate) fn over(self, below: Self) -> Self {
                Self { $($key: self.$key.over(below.$key)),* }
            }

            /// These values without those of the given keys, as a file writes them.
            pub(crate) fn without(mut self, keys: &[&str]) -> Self {
                $(if keys.contains(&&*stringify!($key).replace('_', "-")) {
                    self.$key = Default::default();
                })*
                self
            }

            /// The keys that have a value, as a file writes them.
            pub(crate) fn keys(&self) -> BTreeSet<String> {
                let keys = [$((stringify!($key), self.$key.is_given())),*];
                let given = keys.into_iter().filter(|(_, is_given)| *is_given);
                given.map(|(key, _)| key.replace('_', "-")).collect()
            }
        }
    };
}

keys! {
    name algorithm nodes topology holder params as_printed
    program answer_within program_memory program_processes declares
    workload entries total duration hold think rate gap asks settled askers within arrivals weights
    priority clients
    delay links bound schedule
    loss duplicate reorder fault detector detect_after silence transport
    hosts place engine seed time_limit warm_up trace witness
}

/// The flags that describe one run: the scenario, and the engine that runs it.
#[derive(Clone, Debug, Args)]
pub struct Flags {
    #[command(flatten)]
    scenario: Scenario,
    /// What runs it: processes that speak UDP, or the simulator in virtual time [default: cluster]
    #[arg(long, help_heading = "Run", display_order = 0,
          value_parser = PossibleValuesParser::new(["cluster", "sim"]).try_map(values::named::<Engine>))]
    engine: Option<Engine>,
}

impl From<Flags> for Scenario {
    fn from(Flags { scenario, engine }: Flags) -> Self {
        Self { engine, ..scenario }
    }
}

impl Scenario {
    /// Refuses flags of which one would silently replace another.
    pub(crate) fn says_nothing_twice(&self) -> Result<(), String> {
        for (place, Assignment { name, .. }) in self.params.iter().enumerate() {
            if self.params[..place]
                .iter()
                .any(|before| before.name == *name)
            {
                return Err(format!("--param: {name} is given twice; keep one"));
            }
        }
        Ok(())
    }

    /// The scenario that a table describes, with the keys of a file.
    pub(crate) fn try_from_table(table: Table) -> Result<Self, KeyError> {
        let scenario = table.try_into();
        scenario.map_err(|error| KeyError::new("", error.message().to_owned()))
    }

    /// The scenario that the text of a file describes.
    pub(crate) fn from_toml(text: &str) -> Result<Self, KeyError> {
        let scenario = toml::from_str(text);
        scenario.map_err(|error: toml::de::Error| KeyError::new("", error.message().to_owned()))
    }

    /// The plan that it makes; names of files lead on from where the program runs.
    pub(crate) fn resolve(&self) -> Result<Resolved, KeyError> {
        let origin = resolve::Origin {
            name: None,
            folder: std::path::Path::new(""),
            by_flags: &BTreeSet::new(),
        };
        resolve::resolve(self, &origin)
    }

    /// The scenario that these flags describe.
    pub fn from_flags(flags: &[&str]) -> Result<Self, String> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            flags: Flags,
        }
        let words = std::iter::once(&"run").chain(flags);
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        Ok(line.flags.into())
    }
}

/// The algorithm of that name, or what there is instead.
pub fn find_algorithm(name: &str) -> Result<&'static AlgorithmInfo, String> {
    registry::find(name).ok_or_else(|| {
        let known = registry::ALL.iter().map(|info| info.name);
        let hint = did_you_mean(name, known.clone());
        let known = known.collect::<Vec<_>>().join(", ");
        format!("there is no algorithm '{name}'{hint}\nThere are {known}.")
    })
}
