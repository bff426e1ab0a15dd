//! A plan as the scenario file that makes it again.

use algorithms::params::Value;
use algorithms::registry::LinkContract;
use chaos::timeline::Step;
use model::plan::Detector;
use model::workload::{PerNode, Quota, Workload};
use toml::Table;

use super::Scenario;
use super::resolve::Resolved;
use super::values::{AsPrinted, Assignment, Between, Detecting, List, ShapeSpec, Time, Weight};
use super::workload_word::WorkloadWord;

impl Resolved {
    /// The scenario file that makes exactly this run.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_scenario()).expect("a scenario is plain data")
    }

    /// The scenario with every key, defaults included.
    pub fn to_scenario(&self) -> Scenario {
        let plan = &self.plan;
        let params = plan.params.iter().map(|(name, value)| Assignment {
            name: name.to_owned(),
            value: match value {
                Value::Integer(number) => number.to_string(),
                Value::Word(word) => word.clone(),
            },
        });
        let printed = &plan.printed.defects;
        let program = plan.info().program();
        let scenario = Scenario {
            name: Some(self.name.clone()),
            algorithm: Some(plan.algorithm.name.to_owned()),
            nodes: Some(plan.nodes),
            topology: Some(ShapeSpec::Shape(plan.topology.clone())),
            holder: Some(plan.holder.0),
            params: params.collect(),
            as_printed: (!printed.is_empty())
                .then(|| AsPrinted::Some(printed.iter().cloned().collect())),
            program: program.map_or_else(Vec::new, |program| program.command.clone()),
            answer_within: program.map(|program| Time(program.answer_within_ns)),
            program_memory: program
                .and_then(|program| program.limits.memory_bytes)
                .map(|bytes| bytes >> 20),
            program_processes: program.and_then(|program| program.limits.processes),
            declares: program.map_or_else(Table::new, |program| {
                Table::try_from(&program.declares).expect("a declaration is plain data")
            }),
            delay: Some(plan.delay),
            links: Some(plan.links),
            bound: Some(Time(plan.bound_ns)),
            hosts: self.hosts.clone(),
            place: self.place.clone(),
            engine: Some(self.engine),
            seed: Some(plan.seed),
            time_limit: plan.time_limit_ns.map(Time),
            warm_up: Some(plan.warm_up_entries),
            trace: Some(plan.trace),
            fault: plan.faults.steps.iter().map(Step::spec).collect(),
            silence: (plan.info().link_contract == LinkContract::Sessions)
                .then_some(Time(plan.silence_ns)),
            transport: Some(plan.transport),
            schedule: (!plan.schedule.is_usual()).then_some(plan.schedule),
            witness: (!plan.witness.is_usual()).then_some(plan.witness),
            detector: Some(Detecting(plan.detector)),
            detect_after: (plan.detector == Detector::Told)
                .then_some(Between(plan.detect_after_ns.0, plan.detect_after_ns.1)),
            ..Scenario::default()
        };
        with_workload(scenario, &plan.workload)
    }
}

fn with_workload(scenario: Scenario, workload: &Workload) -> Scenario {
    let own = workload.arrivals.write().try_into::<Scenario>();
    let own = own.expect("a workload writes keys of a scenario");
    let mut scenario = own.over(scenario);
    let kind = workload.arrivals.kind();
    match workload.quota {
        _ if !kind.takes_quota() => {}
        Quota::PerNode(entries) => scenario.entries = Some(entries),
        Quota::Total(entries) => scenario.total = Some(entries),
        Quota::Until(ns) => scenario.duration = Some(Time(ns)),
    }
    scenario.workload = WorkloadWord::named(kind.word);
    scenario.hold = Some(list(&workload.hold));
    scenario.priority = Some(list(&workload.priority));
    if !workload.weights.is_empty() {
        let weights = workload.weights.iter().copied().map(Weight::InTurn);
        scenario.weights = Some(List(weights.collect()));
    }
    scenario.clients = Some(workload.clients);
    scenario
}

fn list<T: Clone>(values: &PerNode<T>) -> List<T> {
    match values {
        PerNode::All(one) => List(vec![one.clone()]),
        PerNode::Each(several) => List(several.clone()),
    }
}
