//! A small world: what a person says of it in flags or in a claims file, and what that means.

use std::fmt;
use std::path::Path;

use algorithms::registry::{AlgorithmInfo, LinkContract, LinkOrder};
use algorithms::{Setting, external};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Deserialize;
use simulator::explore::{Finding, Options, Schedule, Timers, Unfit};
use toml::Table;

use super::show::headline;
use crate::repeat_line::joined;
use crate::scenario::{
    AsPrinted, Assignment, Layers, Resolved, Scenario, ShapeSpec, Time, assignments,
    find_algorithm, maybe_a_word, named, params, usual_size, whole, whole_in_file,
};

/// How many states a search looks at by default.
const MAX_STATES: u32 = 10_000_000;

fn max_states() -> u32 {
    MAX_STATES
}

/// Everything that describes a small world. A flag and a key of the same name mean the same.
#[derive(Clone, Debug, PartialEq, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct WorldSpec {
    /// An algorithm, as `orchestrator list` shows it
    algorithm: String,

    /// Number of nodes [default: the topology's own where it has one, else as many as --wants names,
    /// else 3 or the nearest number that the algorithm admits]
    #[arg(short = 'n', long, help_heading = "Group", value_parser = whole::<u32>)]
    nodes: Option<u32>,

    /// Links between the nodes, such as complete, tree:2 or edges:0-1,1-2 [default: what the
    /// algorithm needs]
    #[arg(long, value_name = "SHAPE", help_heading = "Group")]
    topology: Option<ShapeSpec>,

    /// Number that a random topology comes from
    #[arg(long, default_value_t = 0, help_heading = "Group", value_parser = whole::<u64>)]
    #[serde(default, deserialize_with = "whole_in_file")]
    seed: u64,

    /// Node where the token or the controller starts [default: the one that the topology leads to,
    /// such as 4 of kanrar:4.2, else 0]
    #[arg(long, value_name = "NODE", help_heading = "Group", value_parser = whole::<u32>)]
    holder: Option<u32>,

    /// Parameter of the algorithm; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", help_heading = "Group")]
    #[serde(with = "assignments", default)]
    params: Vec<Assignment>,

    /// Leave the defects of the printed text unrepaired: all, or those named [default: none]
    #[arg(long, value_name = "IDS", help_heading = "Group", num_args = 0..=1,
          require_equals = true, default_missing_value = "all")]
    as_printed: Option<AsPrinted>,

    /// external: program that is the algorithm, and its arguments; it must answer `save` and `load`
    #[arg(last = true, value_name = "PROGRAM", help_heading = "Group")]
    #[serde(default)]
    program: Vec<String>,

    /// external: time in which the program must answer each line, such as 500ms [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Group")]
    #[serde(default)]
    answer_within: Option<Time>,

    /// external: memory that each program may take, in MiB, with all that it starts [default: no limit]
    #[arg(long, value_name = "MIB", help_heading = "Group", value_parser = whole::<u64>)]
    #[serde(default)]
    program_memory: Option<u64>,

    /// external: processes that each program may be, with all that it starts [default: no limit]
    #[arg(long, value_name = "NUMBER", help_heading = "Group", value_parser = whole::<u32>)]
    #[serde(default)]
    program_processes: Option<u32>,

    /// What the program is, where it does not say so itself; only in a file.
    #[arg(skip)]
    #[serde(default)]
    declares: Table,

    /// How often each node wants in, such as 1,1,2; one number: each node that often [default: 1]
    #[arg(long, value_name = "NUMBERS", help_heading = "World", value_delimiter = ',',
          value_parser = whole::<u32>)]
    #[serde(default)]
    wants: Vec<u32>,

    /// Urgency of each node's requests, larger is more urgent; one number: of all [default: 0]
    #[arg(long, value_name = "NUMBERS", help_heading = "World", value_delimiter = ',',
          value_parser = whole::<u32>)]
    #[serde(default)]
    priority: Vec<u32>,

    /// Whether links keep the order of messages: fifo or any [default: what the algorithm needs]
    #[arg(long, value_name = "ORDER", help_heading = "World",
          value_parser = PossibleValuesParser::new(["fifo", "any"]).try_map(named::<LinkOrder>))]
    links: Option<LinkOrder>,

    /// When timers go off: free, at any moment, patient, when no message is under way, or bounded:T
    /// [default: patient with --cut, otherwise free]
    ///
    /// With bounded:T time passes in ticks. A message takes at most T of them, which is the bound
    /// that the algorithm knows, and a timer goes off when its time has come. A message that has to
    /// arrive at that very tick comes first, or with bounded:T,ties=either before or after it.
    /// With patient, who tries again what has failed does so only after some link has changed.
    #[arg(long, help_heading = "World")]
    #[serde(default, deserialize_with = "maybe_a_word")]
    timers: Option<Timers>,

    /// What has happened when the search or the replay begins, as steps of a schedule (see
    /// --replay); its requests count among what is wanted
    #[arg(long, value_name = "SCHEDULE", help_heading = "World")]
    #[serde(default, deserialize_with = "maybe_a_word")]
    after: Option<Schedule>,

    /// Messages that may be lost
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "World",
          value_parser = whole::<u32>)]
    #[serde(default)]
    lose: u32,

    /// Messages that may arrive twice
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "World",
          value_parser = whole::<u32>)]
    #[serde(default)]
    duplicate: u32,

    /// Nodes that may crash
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "World",
          value_parser = whole::<u32>)]
    #[serde(default)]
    crash: u32,

    /// How often a link's session may end, losing what is under way on it (lfrt and lfrt-p)
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "World",
          value_parser = whole::<u32>)]
    #[serde(default)]
    cut: u32,

    /// A link that was cut may come back; a node that still has a path must not have to wait for that
    #[arg(long, requires = "cut", help_heading = "World")]
    #[serde(default)]
    heal: bool,

    /// Only count deadlocks and trapped states, and look past them
    #[arg(long, help_heading = "Search")]
    #[serde(default)]
    safety_only: bool,

    /// States after which to give up; a state takes about 70 bytes
    #[arg(long, value_name = "NUMBER", default_value_t = MAX_STATES, help_heading = "Search",
          value_parser = whole::<u32>)]
    #[serde(default = "max_states")]
    max_states: u32,

    /// Replay this schedule instead, such as "req 1; 1>0:REQUEST; 0>1:REPLY"
    ///
    /// Steps: req 1 · exit 1 · 1>0:KIND, or 1>0:KIND#2 for the second oldest · timer 0:NAME ·
    /// tick · lose 1>0:KIND · dup 1>0:KIND · crash 2 [losing 2>0:KIND, …] · down 2@1 (1 learns that 2 has
    /// crashed) · cut 1-2 · link-down 2@1 (1 learns that its link to 2 was cut) · heal 1-2 · link-up 2@1.
    /// Nobody asks again unless --wants says so.
    #[arg(long, value_name = "SCHEDULE", help_heading = "Search")]
    #[serde(default, deserialize_with = "maybe_a_word")]
    replay: Option<Schedule>,
}

/// A small world, ready to be explored.
pub(crate) struct World {
    pub(crate) info: &'static AlgorithmInfo,
    pub(crate) setting: Setting,
    pub(super) options: Options,
    /// The only schedule to look at, if there is one.
    pub(super) replay: Option<Schedule>,
    /// What the world is, in one line.
    pub(crate) headline: String,
}

/// The flags that mean this world, as they stand after `orchestrator explore`.
impl fmt::Display for WorldSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[u32]| {
            let numbers = numbers.iter().map(u32::to_string).collect::<Vec<_>>();
            (!numbers.is_empty()).then(|| numbers.join(","))
        };
        let unless = |default: u32, number: u32| (number != default).then(|| number.to_string());
        let order = |order| match order {
            LinkOrder::Fifo => "fifo".to_owned(),
            LinkOrder::Any => "any".to_owned(),
        };
        let text = |schedule: &Option<Schedule>| schedule.as_ref().map(ToString::to_string);
        let mut words = vec![self.algorithm.clone()];
        let mut flags = vec![
            ("-n", self.nodes.map(|nodes| nodes.to_string())),
            (
                "--topology",
                self.topology.as_ref().map(ToString::to_string),
            ),
            ("--seed", (self.seed != 0).then(|| self.seed.to_string())),
            ("--holder", self.holder.map(|holder| holder.to_string())),
        ];
        let params = self.params.iter();
        let params = params.map(|Assignment { name, value }| format!("{name}={value}"));
        flags.extend(params.map(|param| ("--param", Some(param))));
        // Its value is optional, so it cannot be a word of its own.
        let as_printed = self.as_printed.as_ref().map(|ids| match ids {
            AsPrinted::All => "--as-printed".to_owned(),
            AsPrinted::Some(ids) if ids.is_empty() => "--as-printed=none".to_owned(),
            AsPrinted::Some(ids) => format!("--as-printed={}", ids.join(",")),
        });
        flags.extend(
            as_printed
                .as_deref()
                .map(|flag| (flag, Some(String::new()))),
        );
        flags.extend([
            ("--after", text(&self.after)),
            ("--wants", list(&self.wants)),
            ("--priority", list(&self.priority)),
            ("--links", self.links.map(order)),
            ("--timers", self.timers.map(|timers| timers.to_string())),
            ("--lose", unless(0, self.lose)),
            ("--duplicate", unless(0, self.duplicate)),
            ("--crash", unless(0, self.crash)),
            ("--cut", unless(0, self.cut)),
            ("--heal", self.heal.then(String::new)),
            ("--safety-only", self.safety_only.then(String::new)),
            ("--max-states", unless(MAX_STATES, self.max_states)),
            ("--replay", text(&self.replay)),
        ]);
        for (flag, value) in flags {
            let Some(value) = value else { continue };
            words.push(flag.to_owned());
            words.extend((!value.is_empty()).then_some(value));
        }
        if !self.program.is_empty() {
            words.push("--".to_owned());
            words.extend(self.program.iter().cloned());
        }
        f.write_str(&joined(&words))
    }
}

impl WorldSpec {
    /// The same world with the schedule of a finding to be replayed.
    pub(crate) fn replaying(&self, finding: &Finding) -> Self {
        Self {
            replay: Some(finding.schedule.clone()),
            ..self.clone()
        }
    }

    /// The world that this means, or what is wrong with it.
    pub(crate) fn world(&self) -> Result<World, String> {
        let info = match self.algorithm.as_str() {
            external::NAME => self.program_info()?,
            name => find_algorithm(name)?,
        };
        if self.cut > 0 && info.link_contract == LinkContract::Patient {
            return Err(format!(
                "--cut: on the links of {} a cut only delays, and every delay is explored anyhow; \
                 leave it out",
                info.name
            ));
        }
        if self.cut > 0 && matches!(self.timers, Some(Timers::Bounded { .. })) {
            return Err("--cut: the news of a cut has no bound; use --timers patient".to_owned());
        }
        if self.cut == 0 && self.heal {
            return Err("--heal: with --cut 0 there is nothing to heal; write --cut 1".to_owned());
        }
        let nobody = !self.wants.is_empty() && self.wants.iter().all(|&wants| wants == 0);
        if nobody && self.replay.is_none() {
            return Err(
                "--wants: nobody wants in, so there is nothing to explore; write 1, or a number for \
                 each node"
                    .to_owned(),
            );
        }
        let resolved = self.resolved(info)?;
        let nodes = resolved.plan.nodes;
        let each = |numbers: &[u32], default| match *numbers {
            [] => vec![default; nodes as usize],
            [one] => vec![one; nodes as usize],
            _ => numbers.to_vec(),
        };
        // A timer that goes off before the news of a cut is there would be set again for ever.
        let usual_timers = match self.cut {
            0 => Timers::Free,
            _ => Timers::Patient,
        };
        let options = Options {
            wants: each(&self.wants, u32::from(self.replay.is_none())),
            priorities: each(&self.priority, 0),
            order: self.links.unwrap_or(info.link_order),
            after: self.after.clone().unwrap_or_default(),
            timers: self.timers.unwrap_or(usual_timers),
            lose: self.lose,
            duplicate: self.duplicate,
            crash: self.crash,
            cut: self.cut,
            heal: self.heal,
            safety_only: self.safety_only,
            max_states: self.max_states,
        };
        options.fit(nodes).map_err(|unfit| match unfit {
            Unfit::Count { what, given, nodes } => {
                let flag = if what == "wants" { what } else { "priority" };
                format!(
                    "--{flag}: {given} numbers for {nodes} nodes; write one number, or one for each node"
                )
            }
            Unfit::Size { .. } => format!("--nodes: {unfit}"),
            Unfit::NoStates => format!("--max-states: {unfit}"),
        })?;
        Ok(World {
            info,
            headline: headline(&resolved, &options, self.replay.is_some()),
            setting: resolved.plan.setting(resolved.topology),
            options,
            replay: self.replay.clone(),
        })
    }

    /// The group, with everything that a run would decide decided.
    fn resolved(&self, info: &'static AlgorithmInfo) -> Result<Resolved, String> {
        let flags = Scenario {
            nodes: Some(self.nodes.unwrap_or_else(|| self.size(info))),
            topology: self.topology.clone(),
            holder: self.holder,
            params: self.params.clone(),
            as_printed: self.as_printed.clone(),
            seed: Some(self.seed),
            ..self.program_keys()
        };
        Layers::new(info.name, flags)?.resolve()
    }

    /// The scenario keys that describe the program, where the algorithm is one.
    fn program_keys(&self) -> Scenario {
        Scenario {
            program: self.program.clone(),
            answer_within: self.answer_within,
            program_memory: self.program_memory,
            program_processes: self.program_processes,
            declares: self.declares.clone(),
            ..Scenario::default()
        }
    }

    /// What the program says of itself, if it can be explored.
    fn program_info(&self) -> Result<&'static AlgorithmInfo, String> {
        let flags = Scenario {
            nodes: self
                .nodes
                .or((self.wants.len() > 1).then_some(self.wants.len() as u32)),
            params: self.params.clone(),
            ..self.program_keys()
        };
        let info = Layers::new(external::NAME, flags)?.resolve()?.plan.info();
        match info.program() {
            Some(program) if !program.declares.saves => Err(format!(
                "{}: it does not declare `\"saves\": true`, and only a program that answers save and load \
                 can be explored (docs/protocol.md)",
                program.command.join(" ")
            )),
            _ => Ok(info),
        }
    }

    /// How many nodes there are by default.
    fn size(&self, info: &'static AlgorithmInfo) -> u32 {
        // A topology or a parameter that cannot be read is refused later, when all is resolved.
        let topology = self.topology.as_ref();
        let shape = topology.and_then(|spec| spec.shape(Path::new("")).ok());
        if let Some(nodes) = shape.and_then(|shape| shape.size()) {
            return nodes;
        }
        match self.wants.len() {
            0 | 1 => params(&self.params, info, Path::new(""))
                .map_or(3, |params| usual_size(info, &params, 3)),
            named => named as u32,
        }
    }
}
