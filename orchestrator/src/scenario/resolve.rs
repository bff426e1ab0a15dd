//! From a scenario to a plan in which nothing is left to decide.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use algorithms::external;
use algorithms::params::{Domain, Params};
use algorithms::printed::Printed;
use algorithms::registry::{AlgorithmInfo, LinkOrder};
use algorithms::topology::Shape;
use algorithms::{NodeId, Topology};
use chaos::Delay;
use chaos::span::LONGEST_NS;
use cluster::hosts::Hosts;
use cluster::hosts::spec::{HostsSpec, PlaceSpec};
use model::plan::{
    Algorithm, MEMORY_LIMIT_BYTES, Placement, Plan, REQUEST_BYTES, WitnessKind, members_bytes,
    usual_delay,
};
use model::run::Engine;
use model::workload::{KeyError, Quota, Workload, node_of};

use super::faults::{self, FaultContext};
use super::values::{AsPrinted, Assignment, Between};
use super::{Scenario, find_algorithm, links, load, program};
use crate::embedded;
use crate::names::directory_name;
use crate::numbers::count;
use crate::reach::ReachFlags;

/// A scenario with nothing left to decide.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The name of the run, and of its directory.
    pub name: String,
    /// The engine that runs it.
    pub engine: Engine,
    /// What the run does, with nothing left to decide.
    pub plan: Plan,
    /// The hosts that the members are on, if not this one.
    pub hosts: Option<HostsSpec>,
    /// Which member is on which of them, as it was written.
    pub place: Option<PlaceSpec>,
    /// The links of the plan, built.
    pub topology: Topology,
}

impl Resolved {
    /// Its hosts, reached as usual.
    pub(crate) fn usual_hosts(&self) -> Option<Hosts> {
        let hosts = self.hosts.as_ref();
        hosts.map(|hosts| ReachFlags::default().hosts(hosts))
    }

    /// How many entries there will be, where that is known.
    pub fn entries(&self) -> Option<u64> {
        load::entries(&self.plan.workload, self.plan.nodes)
    }
}

/// What a scenario's file lends to it.
pub(super) struct Origin<'a> {
    /// The default name of the run.
    pub(super) name: Option<&'a str>,
    /// The directory of the scenario file, from which names of files lead on.
    pub(super) folder: &'a Path,
    /// The keys whose values come from flags.
    pub(super) by_flags: &'a BTreeSet<String>,
}

impl Origin<'_> {
    /// What the file names under this key are relative to: the scenario file, if it says them.
    fn folder(&self, key: &str) -> &Path {
        match self.by_flags.contains(key) {
            true => Path::new(""),
            false => self.folder,
        }
    }
}

/// Gives every missing key its default, and checks every key that is there.
pub(super) fn resolve(scenario: &Scenario, origin: &Origin<'_>) -> Result<Resolved, KeyError> {
    let Some(algorithm) = &scenario.algorithm else {
        return Err(KeyError::new(
            "algorithm",
            "no algorithm is named; write algorithm = \"raymond\"",
        ));
    };
    let info = match algorithm.as_str() {
        external::NAME => program::info(scenario, origin.folder("program"))?,
        other => {
            let info = find_algorithm(other).map_err(|why| KeyError::new("algorithm", why))?;
            let keys = scenario.keys();
            let programs = [
                "program",
                "answer-within",
                "program-memory",
                "program-processes",
                "declares",
            ];
            if let Some(key) = programs.into_iter().find(|key| keys.contains(*key)) {
                let why = format!("{other} is no program; only external takes this");
                return Err(KeyError::new(key, why));
            }
            info
        }
    };
    let name = name(scenario, origin, info)?;
    let seed = scenario.seed.unwrap_or_else(fresh_seed);
    let params = params(&scenario.params, info, origin.folder("params"))
        .map_err(|why| KeyError::new("params", why))?;
    let unfit = |why: String| KeyError::new("topology", why);
    let given = scenario.topology.as_ref();
    let given = given.map(|spec| spec.shape(origin.folder("topology")));
    let given = given.transpose().map_err(unfit)?;
    let nodes = nodes(scenario, info, &params, given.as_ref())?;
    let shape = given.unwrap_or_else(|| Shape::default_for(info.graph, nodes));
    let holder = holder(scenario, &shape, nodes)?;
    if let Some(why) = (info.more.refuses)(&params, nodes) {
        return Err(KeyError::new("params", format!("{}: {why}", info.name)));
    }
    let printed = printed(scenario, info)?;
    let order = order(scenario, info)?;
    let workload = load::resolve(scenario, (info, &params), nodes, origin.folder("arrivals"))?;
    let warm_up_entries = warm_up(scenario, &workload, nodes)?;
    memory(info, nodes, &workload)?;
    let topology = links::build(&shape, info, nodes, holder, seed).map_err(unfit)?;
    let whole = match shape.whole() {
        whole if *whole == shape => None,
        whole => {
            let links = whole.build(nodes, seed);
            Some(links.map_err(|error| unfit(error.to_string()))?)
        }
    };
    let engine = scenario.engine.unwrap_or(Engine::Cluster);
    if engine == Engine::Sim {
        load::time_passes(&workload, nodes)?;
    }
    let placement = placement(scenario, engine, nodes)?;
    let delay = delay(scenario, engine);
    let machine = info.machine(&params, &printed);
    let context = FaultContext {
        info,
        links: whole.as_ref().unwrap_or(&topology),
        kinds: machine.kinds(),
        seed,
        folder: origin.folder("fault"),
        placement: placement.as_ref(),
    };
    let faults = faults::resolve(scenario, &context)?;
    let detect_after_ns = match scenario.detect_after {
        Some(Between(least_ns, most_ns)) => (least_ns, most_ns),
        None => model::plan::default_detect_after_ns(),
    };
    let bound_ns = bound_ns(scenario, engine, &delay)?;
    faults::within_reason(&faults, bound_ns)?;
    let time_limit_ns = time_limit_ns(scenario, engine, &workload)?;
    let plan = Plan {
        algorithm: Algorithm(info),
        nodes,
        topology: shape,
        holder,
        params,
        printed,
        workload,
        delay,
        links: order,
        bound_ns,
        seed,
        time_limit_ns,
        warm_up_entries,
        trace: scenario.trace.unwrap_or(false),
        faults,
        detect_after_ns,
        detector: faults::detector(scenario, info)?,
        silence_ns: faults::silence_ns(scenario, info)?,
        transport: faults::transport(scenario, engine)?,
        schedule: scenario.schedule.unwrap_or_default(),
        certificate: true,
        witness: witness(scenario, engine)?,
        placement,
    };
    schedule(&plan, engine)?;
    Ok(Resolved {
        name,
        engine,
        plan,
        topology,
        hosts: scenario.hosts.clone(),
        place: scenario.place.clone(),
    })
}

/// What the witness of processes looks at.
fn witness(scenario: &Scenario, engine: Engine) -> Result<WitnessKind, KeyError> {
    match (scenario.witness, engine) {
        (Some(_), Engine::Sim) => {
            let why = "a simulated member takes nothing as it enters; leave it out".to_owned();
            Err(KeyError::new("witness", why))
        }
        (asked, _) => Ok(asked.unwrap_or_default()),
    }
}

fn name(
    scenario: &Scenario,
    origin: &Origin<'_>,
    info: &AlgorithmInfo,
) -> Result<String, KeyError> {
    let name = scenario
        .name
        .as_deref()
        .or(origin.name)
        .unwrap_or(info.name);
    let name = directory_name(name).map_err(|why| KeyError::new("name", why))?;
    Ok(name.to_owned())
}

fn nodes(
    scenario: &Scenario,
    info: &AlgorithmInfo,
    params: &Params,
    shape: Option<&Shape>,
) -> Result<u32, KeyError> {
    let near = |nodes: u32| {
        let below = (0..nodes).rev().find(|&size| info.admits_size(size));
        let above = (nodes..nodes.saturating_mul(2).saturating_add(1_000)).skip(1);
        (
            below,
            above.into_iter().find(|&size| info.admits_size(size)),
        )
    };
    let nodes = scenario
        .nodes
        .or_else(|| shape?.size())
        .unwrap_or_else(|| usual_size(info, params, 10));
    if info.admits_size(nodes) {
        return Ok(nodes);
    }
    let instead = match near(nodes) {
        (Some(below), Some(above)) => format!("the nearest sizes are {below} and {above}"),
        (Some(size), None) | (None, Some(size)) => format!("the nearest size is {size}"),
        (None, None) => format!("it needs at least {}", info.more.sizes.least),
    };
    let why = format!("{} does not run on {nodes} nodes; {instead}", info.name);
    Err(KeyError::new("nodes", why))
}

fn holder(scenario: &Scenario, shape: &Shape, nodes: u32) -> Result<NodeId, KeyError> {
    match scenario.holder {
        Some(holder) => node_of(holder, nodes).map_err(|why| KeyError::new("holder", why)),
        // A shape that names a node which is not there is refused when it is built.
        None => Ok(NodeId(shape.holder().0.min(nodes - 1))),
    }
}

/// The size nearest to the wanted one that suits algorithm and parameters; the larger of two.
pub(crate) fn usual_size(info: &AlgorithmInfo, params: &Params, wanted: u32) -> u32 {
    let suits = |&size: &u32| info.admits_size(size) && (info.more.refuses)(params, size).is_none();
    let outwards = (0..=wanted).flat_map(|far| [wanted + far, wanted - far]);
    let above = wanted * 2 + 1..wanted * 2 + 1_000;
    // A group of one would suit almost anything.
    let group = outwards.chain(above).filter(|&size| size > 1);
    group.into_iter().find(suits).unwrap_or(wanted)
}

/// The parameters as given and the defaults of the rest; files among them are read.
pub(crate) fn params(
    given: &[Assignment],
    info: &'static AlgorithmInfo,
    folder: &Path,
) -> Result<Params, String> {
    let mut values = BTreeMap::new();
    for Assignment { name, value } in given {
        let param = info.more.params.iter().find(|param| param.name == name);
        let value = match param.map(|param| param.domain) {
            Some(Domain::Document { condense, .. }) if value.ends_with(".toml") => {
                let path = folder.join(value);
                let path_is = |why: String| format!("{name}: {}: {why}", path.display());
                let text =
                    embedded::read_text(&path).map_err(|error| path_is(error.to_string()))?;
                condense(&text).map_err(path_is)?
            }
            _ => value.clone(),
        };
        values.insert(name.clone(), value);
    }
    Params::resolve(info.name, info.more.params, &values).map_err(|error| error.to_string())
}

fn printed(scenario: &Scenario, info: &'static AlgorithmInfo) -> Result<Printed, KeyError> {
    let printed = match &scenario.as_printed {
        None => Printed::repaired(),
        Some(AsPrinted::Some(ids)) => info
            .as_printed(ids)
            .map_err(|error| KeyError::new("as-printed", error.to_string()))?,
        Some(AsPrinted::All) => {
            let printed = Printed::all(info.more.defects);
            if printed.is_repaired() {
                let why = format!("no defect of {}'s printed text is known", info.name);
                return Err(KeyError::new("as-printed", why));
            }
            printed
        }
    };
    Ok(printed)
}

fn order(scenario: &Scenario, info: &AlgorithmInfo) -> Result<LinkOrder, KeyError> {
    match (scenario.links, info.link_order) {
        (Some(LinkOrder::Any), LinkOrder::Fifo) => {
            let why = format!(
                "{} needs links that keep the order of messages; leave it out or write fifo",
                info.name
            );
            Err(KeyError::new("links", why))
        }
        (given, _) => Ok(given.unwrap_or(LinkOrder::Fifo)),
    }
}

/// Refuses priorities of links where they would decide nothing.
fn schedule(plan: &Plan, engine: Engine) -> Result<(), KeyError> {
    if plan.schedule.is_usual() {
        return Ok(());
    }
    let why = if engine == Engine::Cluster {
        "among processes the machine decides; use --engine sim"
    } else if plan.has_bad_links() || plan.runs_transport() {
        "where links are bad or a transport runs, they decide; leave those out, or this"
    } else if plan.delay == Delay::NONE {
        "links that take no time have no priorities; give them a delay"
    } else {
        return Ok(());
    };
    Err(KeyError::new("schedule", why.to_owned()))
}

fn warm_up(scenario: &Scenario, workload: &Workload, nodes: u32) -> Result<u64, KeyError> {
    let warm_up = scenario.warm_up.unwrap_or(0);
    match load::entries(workload, nodes) {
        Some(all) if warm_up >= all => {
            let why = format!("{warm_up} entries of {all} leave nothing to measure");
            Err(KeyError::new("warm-up", why))
        }
        _ => Ok(warm_up),
    }
}

fn memory(info: &AlgorithmInfo, nodes: u32, workload: &Workload) -> Result<(), KeyError> {
    let needed = members_bytes(info, nodes);
    if needed > MEMORY_LIMIT_BYTES {
        let (mut fits, mut too_many) = (0, nodes);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            if members_bytes(info, middle) > MEMORY_LIMIT_BYTES {
                too_many = middle;
            } else {
                fits = middle;
            }
        }
        let why = format!(
            "{} nodes of {} take about {} GiB, above the limit of {} GiB; \
             {} nodes fit",
            count(nodes.into()),
            info.name,
            count(needed >> 30),
            MEMORY_LIMIT_BYTES >> 30,
            count(fits.into()),
        );
        return Err(KeyError::new("nodes", why));
    }
    let entries = load::entries(workload, nodes).unwrap_or(0);
    let needed = entries.saturating_mul(REQUEST_BYTES);
    if needed > MEMORY_LIMIT_BYTES {
        let why = format!(
            "recording {} entries takes about {} GiB, above the limit of {} GiB",
            count(entries),
            count(needed >> 30),
            MEMORY_LIMIT_BYTES >> 30,
        );
        return Err(KeyError::new(load::quota_key(workload), why));
    }
    Ok(())
}

/// Which member is on which host, where there are several.
fn placement(
    scenario: &Scenario,
    engine: Engine,
    nodes: u32,
) -> Result<Option<Placement>, KeyError> {
    let Some(hosts) = &scenario.hosts else {
        return match scenario.place {
            Some(_) => Err(KeyError::new(
                "place",
                "there are no hosts; write hosts, too",
            )),
            None => Ok(None),
        };
    };
    if engine == Engine::Sim {
        let why = "the simulator has no hosts; use --engine cluster, or leave it out";
        return Err(KeyError::new("hosts", why));
    }
    let place = scenario.place.clone().unwrap_or_default();
    let placed = place.place(hosts, nodes);
    placed.map(Some).map_err(|why| KeyError::new("place", why))
}

/// The delay of every message, besides what the machine itself takes on the cluster.
fn delay(scenario: &Scenario, engine: Engine) -> Delay {
    scenario.delay.unwrap_or(usual_delay(engine))
}

fn bound_ns(scenario: &Scenario, engine: Engine, delay: &Delay) -> Result<u64, KeyError> {
    let largest_ns = match (scenario.bound, *delay) {
        (Some(bound), _) if bound.0 == 0 => {
            return Err(KeyError::new(
                "bound",
                "the bound is longer than 0, such as 50ms",
            ));
        }
        (Some(bound), _) => return Ok(bound.0),
        (None, Delay::Constant { ns }) => ns,
        (None, Delay::Uniform { mean_ns, jitter_ns }) => mean_ns + jitter_ns,
        // Beyond these lie one message in a billion, one in half a billion, and one in thirty
        // thousand.
        (None, Delay::Normal { mean_ns, jitter_ns }) => mean_ns + 6 * jitter_ns,
        (None, Delay::Exponential { mean_ns }) => 20 * mean_ns,
        (None, Delay::Pareto { .. } | Delay::Lognormal { .. }) => delay.at_deviation_ns(4.0),
    };
    let bound_ns = match engine {
        Engine::Sim => largest_ns,
        // Processes of a busy machine take their time, too.
        Engine::Cluster => largest_ns + 50_000_000,
    };
    // No delay is longer than that.
    Ok(bound_ns.min(LONGEST_NS))
}

fn time_limit_ns(
    scenario: &Scenario,
    engine: Engine,
    workload: &Workload,
) -> Result<Option<u64>, KeyError> {
    match scenario.time_limit {
        Some(limit) if limit.0 == 0 => Err(KeyError::new(
            "time-limit",
            "nothing can happen in no time; write 60s",
        )),
        Some(limit) => Ok(Some(limit.0)),
        None => Ok((engine == Engine::Cluster).then(|| default_limit_ns(workload))),
    }
}

/// A run on the cluster has a minute, and at least half a minute to drain after the last request.
fn default_limit_ns(workload: &Workload) -> u64 {
    const RUN_NS: u64 = 60_000_000_000;
    const DRAIN_NS: u64 = 30_000_000_000;
    let last_request_ns = match (workload.arrivals.last_request_ns(), workload.quota) {
        (Some(last_ns), _) | (None, Quota::Until(last_ns)) => last_ns,
        // It is not known when the last of a number of requests will come.
        (None, Quota::PerNode(_) | Quota::Total(_)) => 0,
    };
    RUN_NS.max(last_request_ns.saturating_add(DRAIN_NS).min(LONGEST_NS))
}

/// A seed nobody has chosen, short enough to type.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}
