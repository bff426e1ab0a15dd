//! Scenarios by chance.
//!
//! Which knobs of a scenario are turned at all is drawn first, and so is how many of them: so rare
//! combinations come up, and a run in which one thing is odd is as usual as one in which everything
//! is (swarm testing: Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012). What a knob is turned to is
//! drawn after that. What turns out not to fit the rest of its scenario is left out of it.

mod faults;
mod load;
mod structures;

use algorithms::Topology;
use algorithms::params::{Domain, Param};
use algorithms::printed::Printed;
use algorithms::registry::{AlgorithmInfo, Graph, LinkContract, LinkOrder};
use algorithms::topology::{Figure, Shape};
use chaos::Delay;
use model::run::Engine;
use model::workload::KeyError;
use toml::{Table, Value};

use super::dice::Dice;
use crate::scenario::{Resolved, Scenario, usual_size};

/// How knobs are chosen. A hunt swarms; the others are there for who measures what that is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// How many are turned is drawn first, then which.
    Swarm,
    /// The same, but for one: links have no priorities.
    WithoutPriorities,
    /// Each is turned in every other run, and links have no priorities.
    Plain,
    /// The same, and links have priorities in every run.
    PlainWithPriorities,
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
    Everywhere,
    Fault(faults::Kind),
}

/// All knobs but faults.
const PLAIN_KNOBS: [Knob; 22] = [
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
    Knob::Everywhere,
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
    fitting(table(source, nth), source.params)
}

/// What was drawn, whether it fits or not.
fn table(source: Source<'_>, nth: u64) -> Table {
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
    drawing.table
}

/// The knobs that this run turns.
fn turned(manner: Manner, dice: &mut Dice) -> Vec<Knob> {
    let (share, of_faults) = match manner {
        Manner::Plain | Manner::PlainWithPriorities => (0.5, 0.5),
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

/// The scenario that a table describes, without what does not fit; of the parameters these go last.
fn fitting(mut table: Table, fixed: &[(&str, &str)]) -> (Scenario, Resolved) {
    loop {
        let error = match resolved(&table) {
            Ok(both) => return both,
            Err(error) => error,
        };
        // It comes to an end, since a scenario with nothing but the algorithm is one.
        let wrong = match ESSENTIAL.contains(&error.key) {
            true => None,
            false => table.remove(error.key),
        };
        match wrong {
            Some(Value::Array(several)) if error.key == "fault" => {
                let several = several.into_iter().map(|fault| (String::new(), fault));
                table = with_what_fits(table, error.key, several);
            }
            Some(Value::Table(several)) => {
                let is_fixed = |name: &str| fixed.iter().any(|(other, _)| *other == name);
                let (first, rest): (Vec<_>, Vec<_>) =
                    several.into_iter().partition(|(name, _)| is_fixed(name));
                table = with_what_fits(table, error.key, first.into_iter().chain(rest));
            }
            Some(_) => {}
            None => {
                let wrong = wrong_key(&table, &error).unwrap_or_else(|| {
                    panic!(
                        "{} cannot be run as it comes: {}",
                        table["algorithm"], error.why
                    )
                });
                table.remove(&wrong);
            }
        }
    }
}

/// The key without which this is not wrong any more, or else the last one that can go.
fn wrong_key(table: &Table, error: &KeyError) -> Option<String> {
    let keys = || {
        let optional = |key: &&String| !ESSENTIAL.contains(&key.as_str());
        table.keys().filter(optional)
    };
    let is_of = |key: &&String| {
        let mut less = table.clone();
        less.remove(*key);
        resolved(&less)
            .err()
            .is_none_or(|other| other.why != error.why)
    };
    keys().find(is_of).or_else(|| keys().next_back()).cloned()
}

fn resolved(table: &Table) -> Result<(Scenario, Resolved), KeyError> {
    let scenario = Scenario::try_from_table(table.clone())?;
    let resolved = scenario.resolve()?;
    Ok((scenario, resolved))
}

/// The table, with those of several faults or parameters that fit it and those before them.
fn with_what_fits(
    mut table: Table,
    key: &str,
    several: impl Iterator<Item = (String, Value)>,
) -> Table {
    for (name, value) in several {
        let mut more = table.clone();
        match more.get_mut(key) {
            Some(Value::Array(before)) => before.push(value),
            Some(Value::Table(before)) => {
                before.insert(name, value);
            }
            Some(_) | None => {
                let first = match name.is_empty() {
                    true => Value::Array(vec![value]),
                    false => Value::Table(Table::from_iter([(name, value)])),
                };
                more.insert(key.to_owned(), first);
            }
        }
        if !is_about(&more, key) {
            table = more;
        }
    }
    table
}

/// Whether what is wrong with it is about this key.
fn is_about(table: &Table, key: &str) -> bool {
    resolved(table).is_err_and(|error| error.key == key)
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
        let printed = self.source.as_printed;
        let all = Printed::all(info.more.defects).defects;
        // Some of them may hide others: listed one by one that is refused.
        match printed.len() > 1 && all.iter().eq(printed) {
            _ if printed.is_empty() => {}
            true => self.set("as-printed", true),
            false => self.set("as-printed", printed.to_vec()),
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
            // Each is a process of its own.
            0..=9 if self.is_real() => self.dice.between(13, 40),
            10..=39 if self.is_real() => self.dice.between(7, 12),
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
                let made = match self.dice.chance(0.5) {
                    true => self.structure(param.name),
                    false => None,
                };
                made.unwrap_or_else(|| match param.examples.is_empty() {
                    true => default.to_owned(),
                    false => (*self.dice.one_of(param.examples)).to_owned(),
                })
            }
        }
    }

    /// The links, and those among which faults choose.
    fn topology(&mut self) -> Topology {
        let info = self.source.info;
        if let Some(links) = self.figure() {
            return links;
        }
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

    /// The links of a figure, of a group that is as large as nobody has asked for.
    fn figure(&mut self) -> Option<Topology> {
        let is_free = self.is_on(Knob::Topology) && !self.is_on(Knob::Size);
        if !is_free || !self.dice.chance(0.1) {
            return None;
        }
        let figure = self.dice.one_of(Figure::ALL);
        let links = Shape::Figure(figure).build(figure.nodes, self.seed).ok()?;
        let mut with_figure = self.table.clone();
        with_figure.insert("topology".to_owned(), figure.name.into());
        with_figure.insert("nodes".to_owned(), i64::from(figure.nodes).into());
        if resolved(&with_figure).is_err() {
            return None;
        }
        self.table = with_figure;
        self.nodes = figure.nodes;
        Some(links)
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
            // With so much jitter some messages would arrive before they are sent.
            if delay.parse::<Delay>().is_ok() {
                self.set("delay", delay);
            }
        }
        if self.is_on(Knob::Overtaking) && info.link_order == LinkOrder::Any {
            self.set("links", "any");
        }
        if self.is_on(Knob::Bound) {
            let bound = self.dice.time(500, 50_000);
            self.set("bound", bound);
        }
        if self.is_on(Knob::Detector) && info.wants_peer_events() {
            // In large groups everybody asking everybody is most of the run.
            let least_us = if self.nodes > 12 { 200_000 } else { 20_000 };
            let detector = format!("timeout:{}", self.dice.time(least_us, 500_000));
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
        let prioritised = match self.source.manner {
            _ if self.is_real() => false,
            Manner::Swarm => self.is_on(Knob::Schedule),
            Manner::PlainWithPriorities => true,
            Manner::Plain | Manner::WithoutPriorities => false,
        };
        if prioritised {
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
        if self.is_on(Knob::Everywhere) {
            self.everywhere();
        }
    }

    /// Faults on all links from beginning to end, which have keys of their own.
    fn everywhere(&mut self) {
        let loss = match self.dice.between(0, 3) {
            0 => format!("gemodel {} {}", self.dice.percent(), self.dice.percent()),
            1 => format!("every {}", self.dice.between(2, 9)),
            _ => self.dice.likely(),
        };
        let (duplicate, reorder) = (self.dice.likely(), self.dice.likely());
        for (key, value) in [
            ("loss", loss),
            ("duplicate", duplicate),
            ("reorder", reorder),
        ] {
            if self.dice.chance(0.4) {
                self.set(key, value);
            }
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

    fn source(nth: u64) -> Source<'static> {
        let all = registry::ALL;
        Source {
            info: all[(nth % all.len() as u64) as usize],
            as_printed: &[],
            params: &[],
            engine: Engine::Sim,
            manner: Manner::Swarm,
            seed: 1,
        }
    }

    fn drawn(nth: u64) -> (Scenario, Resolved) {
        scenario(source(nth), nth)
    }

    #[test]
    fn whatever_is_drawn_can_be_read() {
        for nth in 0..1_500 {
            let table = table(source(nth), nth);
            if let Err(error) = Scenario::try_from_table(table.clone()) {
                panic!("{nth}: {}\n{table}", error.why);
            }
        }
    }

    #[test]
    fn what_is_as_printed_stays_so() {
        for info in registry::ALL {
            let all = Printed::all(info.more.defects).defects;
            let as_printed = all.into_iter().collect::<Vec<_>>();
            let source = Source {
                info,
                as_printed: &as_printed,
                ..source(0)
            };
            for nth in 0..20 {
                let (_, resolved) = scenario(source, nth);
                assert!(
                    resolved.plan.printed.defects.iter().eq(&as_printed),
                    "{}",
                    info.name
                );
            }
        }
    }

    /// Little of what is drawn may be left out, or it is not really drawn.
    #[test]
    fn most_of_what_is_drawn_fits() {
        let (mut drawn, mut kept) = (0, 0);
        for nth in 0..1_500 {
            let faults = |table: &Table| {
                table
                    .get("fault")
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len)
            };
            drawn += faults(&table(source(nth), nth));
            kept += scenario(source(nth), nth).0.fault.len();
        }
        assert!(drawn > 1_000, "only {drawn}");
        assert!(kept * 10 > drawn * 9, "{kept} of {drawn}");
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
                   asks settled askers within weights priority clients delay links bound schedule loss \
                   duplicate reorder rate fault detector detect-after silence transport engine seed time-limit warm-up";
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
