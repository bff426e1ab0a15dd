//! A scenario whose algorithm is a program: what the program says of itself, and what the scenario adds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::external::protocol::{self, Init, Parameter};
use algorithms::external::{self, Cost, Declaration, Limits, Program};
use algorithms::registry::AlgorithmInfo;
use cluster::THIS_PROGRAM;
use model::workload::KeyError;
use toml::Table;

use super::Scenario;
use super::values::Assignment;

/// How long a program may take to answer by default.
pub(super) const ANSWER_WITHIN_NS: u64 = 5_000_000_000;

/// How many members a program is told of when it is asked what it is, where the scenario does not say.
const ASKED_OF: u32 = 3;

/// What is known of a program once it was asked: by what it was started with.
type Known = BTreeMap<String, &'static AlgorithmInfo>;

static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());

/// The registry's entry of the program that the scenario names; the program is started to say what it is.
pub(super) fn info(scenario: &Scenario, folder: &Path) -> Result<&'static AlgorithmInfo, KeyError> {
    let unfit = |why: String| KeyError::new("program", why);
    if scenario.program.is_empty() {
        return Err(unfit(
            "external runs a program; write it after --, such as -- python3 lock.py, or in a file \
             program = [\"python3\", \"lock.py\"]"
                .to_owned(),
        ));
    }
    let directory = std::path::absolute(match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let directory = directory.map_err(|error| unfit(error.to_string()))?;
    let answer_within_ns = scenario
        .answer_within
        .map_or(ANSWER_WITHIN_NS, |time| time.0);
    if answer_within_ns == 0 {
        let why = "no program answers in no time; write 5s";
        return Err(KeyError::new("answer-within", why));
    }
    let names = scenario.params.iter().map(|param| param.name.as_str());
    let names = names.collect::<Vec<_>>();
    let limits = limits(scenario)?;
    let key = format!(
        "{:?} {} {answer_within_ns} {limits:?} {:?} {:?} {:?}",
        scenario.program,
        directory.display(),
        scenario.nodes,
        scenario.params,
        scenario.declares,
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(info) = known.get(&key) {
        return Ok(info);
    }
    let asked = declared(scenario, &directory, answer_within_ns, limits);
    let declares = asked.map_err(|why| unfit(format!("{}: {why}", scenario.program.join(" "))))?;
    let declares = with_scenario(declares, &scenario.declares)?;
    if let Some(Cost::Exactly(formula) | Cost::AtMost(formula)) = &declares.messages_per_entry {
        let cost = analysis::cost_of(formula, ASKED_OF, declares.k);
        cost.map_err(|why| KeyError::new("declares", format!("messages_per_entry: {why}")))?;
    }
    let program = Program {
        command: scenario.program.clone(),
        directory: directory.display().to_string(),
        answer_within_ns,
        limits,
        declares,
    };
    let info = external::info(program, &names);
    known.insert(key, info);
    Ok(info)
}

fn limits(scenario: &Scenario) -> Result<Limits, KeyError> {
    let none = |key, instead: &str| {
        let why = format!("no program lives with 0; write {instead}");
        Err(KeyError::new(key, why))
    };
    match (scenario.program_memory, scenario.program_processes) {
        (Some(0), _) => none("program-memory", "200"),
        (_, Some(0)) => none("program-processes", "1"),
        (mib, processes) => Ok(Limits {
            memory_bytes: mib.map(|mib| mib.saturating_mul(1 << 20)),
            processes,
        }),
    }
}

fn declared(
    scenario: &Scenario,
    directory: &Path,
    answer_within_ns: u64,
    limits: Limits,
) -> Result<Declaration, String> {
    let nodes = scenario.nodes.unwrap_or(ASKED_OF).max(1);
    let params = scenario.params.iter();
    let params = params.map(|Assignment { name, value }| (name.clone(), Parameter::from(&**value)));
    let init = Init {
        protocol: protocol::VERSION,
        me: 0,
        nodes,
        neighbours: (1..nodes).collect(),
        holder: 0,
        // The program has not declared yet whether it runs on a tree; on one it would be the holder.
        towards_holder: Some(0),
        bound_ms: 1.0,
        params: params.collect(),
    };
    ::external::declaration(
        &scenario.program,
        directory.to_owned(),
        Duration::from_nanos(answer_within_ns),
        limits,
        Some(PathBuf::from(THIS_PROGRAM)),
        &init,
    )
}

/// What the program declares, with what the scenario says instead.
fn with_scenario(declares: Declaration, says: &Table) -> Result<Declaration, KeyError> {
    if says.is_empty() {
        return Ok(declares);
    }
    let unfit = |why: String| KeyError::new("declares", why);
    let table = Table::try_from(&declares).map_err(|error| unfit(error.to_string()))?;
    let both = table.into_iter().chain(says.clone()).collect::<Table>();
    let both = both.try_into::<Declaration>();
    let both = both.map_err(|error| unfit(super::file::in_our_words(error.message())))?;
    both.check().map_err(unfit)?;
    Ok(both)
}
