//! Scenarios by chance.
//!
//! Which knobs of a scenario are turned at all is drawn first, and so is how many of them: so rare
//! combinations come up, and a run in which one thing is odd is as usual as one in which everything
//! is (swarm testing: Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012). What a knob is turned to is
//! drawn after that. What turns out not to fit the rest of its scenario is left out of it.

mod faults;
mod load;

use algorithms::Topology;
use algorithms::params::{Domain, Param};
use algorithms::registry::{AlgorithmInfo, Graph, LinkContract, LinkOrder};
use algorithms::topology::Shape;
use model::run::Engine;
use toml::{Table, Value};

use super::dice::Dice;
use crate::scenario::{Resolved, Scenario, usual_size};

/// How knobs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// How many are turned is drawn first, then which.
    Swarm,
    /// The same, but for one: links have no priorities. Only who measures what they are worth draws so.
    WithoutPriorities,
    /// Each is turned in every other run. Only who measures what swarms are worth draws so.
    Plain,
}

/// What is drawn, and from what.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) info: &'static AlgorithmInfo,
    /// The defects that are left unrepaired, if any.
    pub(crate) as_printed: &'a [String],
    /// Parameters that are not drawn.
    pub(crate) params: &'a [(&'static str, &'static str)],
    pub(crate) engine: Engine,
    pub(crate) manner: Manner,
    pub(crate) seed: u64,
}

/// Something that a scenario may leave as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    Size,
    Topology,
    Holder,
    Params,
    Workload,
    Think,
    Hold,
    Entries,
    Clients,
    Weights,
    Priorities,
    Delay,
    Overtaking,
    Bound,
    Detector,
    DetectAfter,
    Silence,
    Transport,
    Schedule,
    WarmUp,
    TimeLimit,
    Fault(faults::Kind),
}

/// All knobs but faults.
const PLAIN_KNOBS: [Knob; 21] = [
    Knob::Size,
    Knob::Topology,
    Knob::Holder,
    Knob::Params,
    Knob::Workload,
    Knob::Think,
    Knob::Hold,
    Knob::Entries,
    Knob::Clients,
    Knob::Weights,
    Knob::Priorities,
    Knob::Delay,
    Knob::Overtaking,
    Knob::Bound,
    Knob::Detector,
    Knob::DetectAfter,
    Knob::Silence,
    Knob::Transport,
    Knob::Schedule,
    Knob::WarmUp,
    Knob::TimeLimit,
];

/// How many of the knobs of a swarm are turned, and how many of its faults.
const SHARES: [f64; 3] = [0.1, 0.3, 0.6];
const FAULT_SHARES: [f64; 4] = [0.0, 0.03, 0.1, 0.3];

/// At most so many faults of a kind.
const SAME_FAULTS: u64 = 3;

/// A scenario under construction.
struct Drawing<'a> {
    source: Source<'a>,
    dice: Dice,
    knobs: Vec<Knob>,
    nodes: u32,
    seed: u64,
    table: Table,
}

/// The scenario of one run of a hunt, and what it comes to.
pub(crate) fn scenario(source: Source<'_>, nth: u64) -> (Scenario, Resolved) {
    let mut dice = Dice::new(source.seed, nth);
    let knobs = turned(source.manner, &mut dice);
    let seed = dice.between(1, 1 << 32);
    let mut drawing = Drawing {
        source,
        dice,
        knobs,
        nodes: 0,
        seed,
        table: Table::new(),
    };
    drawing.all();
    fitting(drawing.table)
}

/// The knobs that this run turns.
fn turned(manner: Manner, dice: &mut Dice) -> Vec<Knob> {
    let (share, of_faults) = match manner {
        Manner::Plain => (0.5, 0.5),
        Manner::Swarm | Manner::WithoutPriorities => {
            (*dice.one_of(&SHARES), *dice.one_of(&FAULT_SHARES))
        }
    };
    let plain = PLAIN_KNOBS.iter().filter(|_| dice.chance(share));
    let mut knobs = plain.copied().collect::<Vec<_>>();
    let faults = faults::KINDS.iter().filter(|_| dice.chance(of_faults));
    knobs.extend(faults.map(|kind| Knob::Fault(*kind)));
    knobs
}

/// The scenario that a table describes, without what does not fit.
fn fitting(mut table: Table) -> (Scenario, Resolved) {
    loop {
        let scenario = Scenario::try_from_table(table.clone());
        let resolved = scenario.and_then(|scenario| Ok((scenario.resolve()?, scenario)));
        let error = match resolved {
            Ok((resolved, scenario)) => return (scenario, resolved),
            Err(error) => error,
        };
        // Of several faults or parameters the last one goes first; it comes to an end, since a scenario
        // with nothing but the algorithm is one.
        let rest = match table.get_mut(error.key) {
            Some(Value::Array(several)) if several.len() > 1 && error.key == "fault" => {
                several.pop();
                continue;
            }
            Some(Value::Table(several)) if several.len() > 1 => several,
            Some(_) => {
                table.remove(error.key);
                continue;
            }
            None => {
                let last = table.keys().rfind(|key| !ESSENTIAL.contains(&key.as_str()));
                let last = last.cloned().unwrap_or_else(|| {
                    panic!(
                        "{} cannot be run as it comes: {}",
                        table["algorithm"], error.why
                    )
                });
                table.remove(&last);
                continue;
            }
        };
        let last = rest.keys().next_back().cloned().expect("more than one");
        rest.remove(&last);
    }
}

/// What every scenario of a hunt says.
const ESSENTIAL: [&str; 5] = ["algorithm", "engine", "seed", "as-printed", "nodes"];

impl Drawing<'_> {
    fn is_on(&self, knob: Knob) -> bool {
        self.knobs.contains(&knob)
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.table.insert(key.to_owned(), value.into());
    }

    /// Whether members are processes, which take real time.
    fn is_real(&self) -> bool {
        self.source.engine == Engine::Cluster
    }

    fn all(&mut self) {
        let info = self.source.info;
        self.set("algorithm", info.name);
        self.set("engine", self.source.engine.to_string());
        self.set("seed", self.seed as i64);
        if !self.source.as_printed.is_empty() {
            self.set("as-printed", self.source.as_printed.to_vec());
        }
        self.nodes = self.size();
        self.set("nodes", i64::from(self.nodes));
        self.params();
        if self.is_on(Knob::Holder) {
            let holder = self.member();
            self.set("holder", i64::from(holder));
        }
        let links = self.topology();
        self.load();
        self.network();
        self.faults(&links);
        if self.is_real() {
            self.set("time-limit", "20s");
        } else if self.is_on(Knob::TimeLimit) {
            let limit = self.dice.time(5_000, 60_000_000);
            self.set("time-limit", limit);
        }
    }

    /// One of the members, the first more often than others.
    fn member(&mut self) -> u32 {
        self.dice.rather_small(0, u64::from(self.nodes) - 1) as u32
    }

    fn size(&mut self) -> u32 {
        let wanted = match self.dice.between(0, 199) {
            _ if !self.is_on(Knob::Size) => self.dice.between(2, 4),
            _ if self.is_real() => self.dice.between(1, 6),
            0 => self.dice.rather_small(41, 1_000),
            1..=19 => self.dice.between(13, 40),
            20..=59 => self.dice.between(6, 12),
            _ => self.dice.between(1, 6),
        };
        let info = self.source.info;
        match wanted {
            1 if info.admits_size(1) => 1,
            _ => usual_size(info, &info.defaults(), wanted.max(2) as u32),
        }
    }

    fn params(&mut self) {
        let fixed = self.source.params;
        let mut table = Table::new();
        for (name, value) in fixed {
            table.insert((*name).to_owned(), (*value).into());
        }
        if self.is_on(Knob::Params) {
            for param in self.source.info.more.params {
                if !table.contains_key(param.name) && self.dice.chance(0.4) {
                    let value = self.value(param);
                    table.insert(param.name.to_owned(), value.into());
                }
            }
        }
        if !table.is_empty() {
            self.set("params", table);
        }
    }

    fn value(&mut self, param: &Param) -> String {
        match param.domain {
            Domain::Integer { least, most, .. } => {
                let few = most.min(least.saturating_add(7));
                let many = most.min(u64::from(self.nodes) * 4).max(few);
                match self.dice.chance(0.7) {
                    true => self.dice.between(least, few),
                    false => self.dice.rather_small(least, many),
                }
                .to_string()
            }
            Domain::Choice(words) => (*self.dice.one_of(words)).to_owned(),
            Domain::Document { default, .. } | Domain::Text { default } => {
                match param.examples.is_empty() {
                    true => default.to_owned(),
                    false => (*self.dice.one_of(param.examples)).to_owned(),
                }
            }
        }
    }

    /// The links, and those among which faults choose.
    fn topology(&mut self) -> Topology {
        let info = self.source.info;
        let usual = Shape::default_for(info.graph, self.nodes);
        let shape = match (self.is_on(Knob::Topology), info.graph) {
            (false, _) | (_, Graph::Complete) => None,
            (true, Graph::Tree) => Some(self.tree()),
            (true, Graph::Digraph) => Some(self.digraph()),
        };
        let built = shape.and_then(|text| {
            let shape = text.parse::<Shape>().ok()?;
            let links = shape.build(self.nodes, self.seed).ok()?;
            self.set("topology", text);
            Some(links)
        });
        built.unwrap_or_else(|| {
            let usual = usual.build(self.nodes, self.seed);
            usual.unwrap_or_else(|_| Topology::complete(self.nodes))
        })
    }

    fn tree(&mut self) -> String {
        match self.dice.between(0, 6) {
            0 => "path".to_owned(),
            1 => "star".to_owned(),
            2 => "random-tree".to_owned(),
            3 => format!("random-tree:{}", self.dice.between(1, 4)),
            4 => format!("tree-of:ring-chords:{}", self.dice.between(2, 4)),
            _ => format!("tree:{}", self.dice.between(1, 4)),
        }
    }

    /// A directed graph in which every node reaches the holder.
    fn digraph(&mut self) -> String {
        let holder = self.table.get("holder").and_then(Value::as_integer);
        let holder = holder.unwrap_or(0);
        match self.dice.between(0, 5) {
            0 => format!("oriented:{}@{holder}", self.dice.between(2, 4)),
            1 => format!("ring-chords:{}", self.dice.between(2, 4)),
            2 => {
                let least = self.dice.between(1, 2);
                let most = least + self.dice.between(0, 2);
                format!("digraph:{least}-{most}")
            }
            _ => self.edges(holder as u32),
        }
    }

    /// Each node in a random order gets links to one or two of those before it, and some get one back.
    fn edges(&mut self, holder: u32) -> String {
        let mut order = (0..self.nodes)
            .filter(|node| *node != holder)
            .collect::<Vec<_>>();
        for place in (1..order.len()).rev() {
            let other = self.dice.between(0, place as u64) as usize;
            order.swap(place, other);
        }
        order.insert(0, holder);
        let mut edges = std::collections::BTreeSet::new();
        for place in 1..order.len() {
            for _ in 0..self.dice.between(1, 2) {
                let before = self.dice.between(0, place as u64 - 1) as usize;
                edges.insert((order[place], order[before]));
            }
            if self.dice.chance(0.2) {
                let before = self.dice.between(0, place as u64 - 1) as usize;
                edges.insert((order[before], order[place]));
            }
        }
        let edges = edges.into_iter().map(|(from, to)| format!("{from}>{to}"));
        format!("edges:{}", edges.collect::<Vec<_>>().join(","))
    }

    fn network(&mut self) {
        let info = self.source.info;
        if self.is_on(Knob::Delay) {
            let delay = self.delay();
            self.set("delay", delay);
        }
        if self.is_on(Knob::Overtaking) && info.link_order == LinkOrder::Any {
            self.set("links", "any");
        }
        if self.is_on(Knob::Bound) {
            let bound = self.dice.time(500, 50_000);
            self.set("bound", bound);
        }
        if self.is_on(Knob::Detector) && info.wants_peer_events() {
            let detector = format!("timeout:{}", self.dice.time(20_000, 500_000));
            self.set("detector", detector);
        } else if self.is_on(Knob::DetectAfter) {
            let least = self.dice.between(0, 50);
            let most = least + self.dice.rather_small(0, 500);
            self.set("detect-after", format!("{least}ms..{most}ms"));
        }
        if self.is_on(Knob::Silence) && info.link_contract == LinkContract::Sessions {
            let silence = self.dice.time(20_000, 2_000_000);
            self.set("silence", silence);
        }
        let prioritised = self.source.manner != Manner::WithoutPriorities && !self.is_real();
        if self.is_on(Knob::Schedule) && prioritised {
            let changes = self.dice.rather_small(0, 12);
            self.set("schedule", format!("pct:{changes}"));
        }
        if self.is_on(Knob::Transport) {
            let words = ["always", "auto", "never"];
            let transport = *self
                .dice
                .one_of(&words[..if self.is_real() { 2 } else { 3 }]);
            self.set("transport", transport);
        }
    }

    fn delay(&mut self) -> String {
        let mean = self.dice.time(50, 10_000);
        match self.dice.between(0, 6) {
            0 => mean,
            1 => format!("{mean} distribution exponential"),
            2 => format!("{mean} {} distribution normal", self.dice.time(50, 5_000)),
            3 => format!("{mean} {} distribution pareto", self.dice.time(50, 5_000)),
            4 => format!(
                "{mean} {} distribution lognormal",
                self.dice.time(50, 5_000)
            ),
            // From no time at all to twice the mean.
            _ => format!("{mean} {mean}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use algorithms::registry;

    use super::*;

    fn drawn(nth: u64) -> (Scenario, Resolved) {
        let all = registry::ALL;
        let source = Source {
            info: all[(nth % all.len() as u64) as usize],
            as_printed: &[],
            params: &[],
            engine: Engine::Sim,
            manner: Manner::Swarm,
            seed: 1,
        };
        scenario(source, nth)
    }

    #[test]
    fn every_key_but_those_of_files_and_programs_is_drawn() {
        let mut keys = BTreeSet::new();
        let mut faults = BTreeSet::new();
        for nth in 0..1_500 {
            let (scenario, resolved) = drawn(nth);
            assert_eq!(scenario, drawn(nth).0, "{nth} is the same again");
            assert_eq!(scenario.nodes, Some(resolved.plan.nodes));
            keys.extend(scenario.keys());
            let verbs = scenario.fault.iter().map(|fault| fault.action.verb());
            faults.extend(verbs.map(str::to_owned));
        }
        let all = "algorithm nodes topology holder params workload entries total duration hold think gap \
                   asks settled askers within weights priority clients delay links bound schedule fault \
                   detector detect-after silence transport engine seed time-limit warm-up";
        let missing = all.split_whitespace().filter(|key| !keys.contains(*key));
        assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
        for verb in [
            "loss",
            "churn",
            "restart",
            "heal",
            "hide",
            "lose message",
            "preset",
        ] {
            assert!(faults.contains(verb), "no {verb} among {faults:?}");
        }
    }
}
