//! `orchestrator hunt`: looks for what nobody has thought of.

use std::path::PathBuf;
use std::time::Duration;

use algorithms::registry::{self, AlgorithmInfo};
use clap::Args;

use crate::hunt::tried::OFTEN;
use crate::hunt::worth::Measure;
use crate::hunt::{self, Engines, State};
use crate::numbers::{count, many};
use crate::result_table::warn;
use crate::results;
use crate::scenario::{AsPrinted, Time, find_algorithm, whole};
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print};

/// How many runs a hunt makes by default.
const USUAL_RUNS: u64 = 2_000;

/// Draws scenarios by chance, runs and judges them, and makes what fails as small as it gets
///
/// Sizes, links, workloads, parameters and faults are drawn from the seed; which of them are drawn at all
/// is drawn first. An algorithm answers for what it promises, and every run for not panicking, not going
/// on for ever, and replaying. The same command with the same --out DIR goes on where it was.
/// Exit code 1: something was found; DIR/found has the smallest scenario of each sort.
#[derive(Debug, Args)]
pub(crate) struct Hunt {
    /// Algorithms, as `orchestrator list` shows them [default: all]
    #[arg(value_name = "NAME")]
    algorithms: Vec<String>,
    /// Number of runs [default: 2000, or no end with --for]
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>)]
    runs: Option<u64>,
    /// Time after which no run begins any more, such as 10m
    #[arg(long = "for", value_name = "TIME")]
    lasts: Option<Time>,
    /// What runs them; on processes one after the other
    #[arg(long, value_name = "ENGINE", value_enum, default_value = "sim")]
    engine: Engines,
    /// Number that all chance comes from
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole::<u64>)]
    seed: u64,
    /// Leave the defects of the printed text unrepaired, all of one algorithm, or those named, to see
    /// that they are found [default: none]
    #[arg(long, value_name = "IDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "all")]
    as_printed: Option<AsPrinted>,
    /// Show the scenario of one run, counted from 0, as a scenario file, and run nothing
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>, conflicts_with_all = ["worth", "out"])]
    show: Option<u64>,
    /// Measure what a hunt is worth instead: how many runs it takes to find each defect that can be
    /// switched on, as the median of so many seeds. With --out DIR it can be interrupted and goes on
    #[arg(long, value_name = "SEEDS", num_args = 0..=1, require_equals = true,
          default_missing_value = "20", value_parser = whole::<u64>, conflicts_with_all = ["lasts", "as_printed"])]
    worth: Option<u64>,
    /// Directory for the results, which may hold an interrupted hunt [default: results/hunt/UTC-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Hunt {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let algorithms = self.algorithms().map_err(Failure::Usage)?;
        if self.runs == Some(0) || self.lasts.is_some_and(|time| time.0 == 0) {
            return Err(Failure::Usage("a hunt has at least one run".to_owned()));
        }
        let as_printed = self.defects(&algorithms).map_err(Failure::Usage)?;
        let interrupted = interrupt::flag_on_interrupt()?;
        if let Some(seeds) = self.worth {
            let measure = Measure {
                seed: self.seed,
                seeds,
                limit: self.runs.unwrap_or(USUAL_RUNS),
            };
            return hunt::worth::measure(&algorithms, measure, self.out.as_deref(), &interrupted);
        }
        let hunt = hunt::Hunt {
            algorithms,
            as_printed,
            engines: self.engine,
            seed: self.seed,
            runs: match (self.runs, self.lasts) {
                (None, None) => Some(USUAL_RUNS),
                (runs, _) => runs,
            },
            lasts: self.lasts.map(|time| Duration::from_nanos(time.0)),
        };
        if let Some(nth) = self.show {
            print(&hunt.scenario(nth))?;
            return Ok(Exit::Holds);
        }
        let out = self.out.clone();
        let out = out.map_or_else(|| results::reserve("hunt"), Ok)?;
        let state = hunt::hunt(&hunt, &out, &interrupted)?;
        results::make_latest(&out)
            .iter()
            .for_each(|text| warn(text));
        print(&told(&hunt, &state))?;
        print(&format!("files: {}\n", out.display()))?;
        let is_cut_off = hunt.runs.is_some_and(|runs| state.next < runs) && hunt.lasts.is_none();
        if is_cut_off || interrupted.load(std::sync::atomic::Ordering::Relaxed) {
            print(&format!(
                "interrupted; the same command with --out {} goes on from there\n",
                out.display()
            ))?;
            return Ok(Exit::Interrupted);
        }
        Ok(match state.found.is_empty() {
            true => Exit::Holds,
            false => Exit::Violated,
        })
    }

    fn algorithms(&self) -> Result<Vec<&'static AlgorithmInfo>, String> {
        let mut named: Vec<&'static AlgorithmInfo> = Vec::new();
        for name in &self.algorithms {
            let info = find_algorithm(name)?;
            if named.iter().any(|other| other.name == info.name) {
                return Err(format!("{name} is named twice"));
            }
            named.push(info);
        }
        Ok(match named.is_empty() {
            true => registry::ALL.to_vec(),
            false => named,
        })
    }

    /// The ids of the defects that are left unrepaired.
    fn defects(&self, algorithms: &[&'static AlgorithmInfo]) -> Result<Vec<String>, String> {
        let Some(asked) = &self.as_printed else {
            return Ok(Vec::new());
        };
        let [info] = algorithms else {
            return Err("--as-printed: name the one algorithm whose defects are meant".to_owned());
        };
        let printed = match asked {
            AsPrinted::All => algorithms::printed::Printed::all(info.more.defects),
            AsPrinted::Some(ids) => {
                let printed = info.as_printed(ids);
                printed.map_err(|error| format!("--as-printed: {error}"))?
            }
        };
        Ok(printed.defects.into_iter().collect())
    }
}

/// What was tried and found, for people.
fn told(hunt: &hunt::Hunt, state: &State) -> String {
    let all = state.tried.all();
    let engine = match hunt.engines {
        Engines::Sim => "simulator",
        Engines::Cluster => "processes",
        Engines::Both => "simulator and processes",
    };
    let printed = match hunt.as_printed.is_empty() {
        true => String::new(),
        false => format!(" · as printed: {}", hunt.as_printed.join(",")),
    };
    let mut text = format!(
        "hunt · {} · {engine} · seed {} · {}{printed}\n\n",
        many(hunt.algorithms.len() as u64, "algorithm", "algorithms"),
        hunt.seed,
        many(state.next, "run", "runs"),
    );
    let mut table = Table::new([
        "algorithm",
        "runs",
        "faults acted",
        "entries",
        "holds",
        "violated",
        "inconclusive",
        "found",
    ]);
    let mut add = |name: &str, row: &hunt::tried::Row| {
        let numbers = [
            row.runs,
            row.acted,
            row.entries,
            row.verdicts.holds,
            row.verdicts.violated,
            row.verdicts.inconclusive,
            row.failed,
        ];
        let cells = numbers.iter().map(|number| count(*number));
        table.add(std::iter::once(name.to_owned()).chain(cells).collect());
    };
    for (name, row) in &state.tried.algorithms {
        add(name, row);
    }
    add("all", &all);
    text += &table.show();
    let (cells, tried) = state.tried.well_tried(1);
    let (_, often) = state.tried.well_tried(OFTEN);
    text += &format!(
        "\n{} of {} (algorithm × fault) acted, {} in at least {} runs; {} replayed\n",
        count(tried as u64),
        many(cells as u64, "pair", "pairs"),
        count(often as u64),
        count(OFTEN),
        many(state.tried.replayed, "trace", "traces"),
    );
    text += match state.found.is_empty() {
        true => "found nothing\n",
        false => "\nfound:\n",
    };
    for (nth, finding) in state.found.iter().enumerate() {
        text += &format!("\n{}. {}", nth + 1, hunt::line(finding));
    }
    text
}
