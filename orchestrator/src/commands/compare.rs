//! `orchestrator compare`: one scenario, several algorithms.

use std::path::{Path, PathBuf};

use algorithms::external;
use analysis::aggregate::Aggregate;
use chaos::span::show_ns;
use clap::{Args, ValueEnum};
use model::engine::Silent;
use model::run::Engine;
use toml::Table as Toml;

use super::sweep::{cells, report, verdict, verdicts, with_interval};
use crate::numbers::{count, decimal, many};
use crate::pictures::dot_chart::{Dot, DotChart, DotRow};
use crate::result_table::warn;
use crate::results;
use crate::scenario::{AsPrinted, Assignment, Layers, Scenario, find_algorithm, whole};
use crate::sweep::{Grid, Share, SweepKeys, Swept, line_name, sweep};
use crate::table::{Table, indented};
use crate::{Exit, Failure, interrupt, print};

/// Runs one scenario with several algorithms, and shows what each costs
///
/// `orchestrator compare raymond naimi-trehel lamport` is enough; a scenario file among the names and
/// the flags of `run` say the rest. The file's own algorithm, if it has one, is compared with those
/// named, and keeps its parameters to itself. `--param ALGORITHM.NAME=VALUE` is for one of them alone.
/// A program of your own is compared as `external`: `orchestrator compare raymond external -- python3 lock.py`.
/// Each runs on the topology that it needs unless --topology says one for all. With both engines the table says how far the processes are from the simulator. Writes what a sweep
/// writes, and plot.svg.
#[derive(Debug, Args)]
#[command(mut_arg("seed", |arg| arg.help("Number that the first repetition's chance comes from, \
    the next has the next [default: 1]")))]
// Of its runs only numbers are kept, so there is nothing to trace.
#[command(mut_arg("trace", |arg| arg.hide(true)))]
pub(crate) struct Compare {
    /// Algorithms, as `orchestrator list` shows them, and perhaps a scenario file: NAME.toml
    #[arg(required = true, value_name = "ALGORITHM")]
    targets: Vec<String>,
    #[command(flatten)]
    scenario: Scenario,
    /// What runs them: the simulator, processes, or first one and then the other [default: what
    /// the scenario file says, or sim]
    #[arg(
        long = "engine",
        value_name = "ENGINE",
        value_enum,
        help_heading = "Run",
        display_order = 0
    )]
    engines: Option<Engines>,
    /// Runs of each algorithm
    #[arg(long, value_name = "NUMBER", default_value_t = 5, help_heading = "Run", value_parser = whole::<u64>)]
    repetitions: u64,
    /// Directory for the results, which may hold an interrupted comparison [default:
    /// results/compare/UTC-TIME]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Show what would be run, and run nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print the tables as Markdown
    #[arg(long, help_heading = "Output")]
    markdown: bool,
}

/// The engines that run the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engines {
    /// The simulator, in virtual time
    Sim,
    /// Processes that speak UDP
    Cluster,
    /// Both, with the relative difference
    Both,
}

/// One of the algorithms, with what is for it alone.
#[derive(Clone, Debug)]
struct Compared {
    name: String,
    params: Vec<Assignment>,
    as_printed: Option<AsPrinted>,
}

impl Compared {
    fn named(name: String) -> Self {
        Self {
            name,
            params: Vec::new(),
            as_printed: None,
        }
    }
}

/// The default delay of messages where both engines run: the simulator's, because processes have none
/// of their own.
const DELAY: &str = "1ms 500us";

impl Compare {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let grid = self.grid().map_err(Failure::Usage)?;
        if self.dry_run {
            print(&cells(&grid))?;
            return Ok(Exit::Holds);
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        let out = self.out.map_or_else(|| results::reserve("compare"), Ok)?;
        let swept = sweep(&grid, &out, Share::default(), &interrupted)?;
        results::make_latest(&out)
            .iter()
            .for_each(|text| warn(text));
        if swept.missing > 0 {
            let (done, all) = (count(swept.done.len() as u64), count(grid.runs()));
            let out = out.display();
            print(&format!(
                "interrupted after {done} of {all} runs; the same command with --out {out} goes on \
                 from there\n"
            ))?;
            return Ok(Exit::Interrupted);
        }
        let comparison = Comparison::new(&grid, &swept);
        let path = out.join("plot.svg");
        let mut text = comparison.show(self.markdown);
        text += &format!("\nfiles: {}\n", out.display());
        let undrawn = results::afterwards("plot.svg", || {
            results::replace(&path, &comparison.draw())?;
            text += &format!("plot:  {}\n", path.display());
            Ok(())
        });
        let unwritten = results::afterwards("report.html", || report(&out));
        print(&text)?;
        undrawn.iter().chain(&unwritten).for_each(|text| warn(text));
        Ok(verdict(&swept))
    }

    /// The sweep that this is: an alternative for each algorithm, on one engine or both.
    fn grid(&self) -> Result<Grid, String> {
        let (files, algorithms): (Vec<_>, Vec<_>) = self
            .targets
            .iter()
            .partition(|target| Layers::names_a_file(target));
        if let Some(algorithm) = &self.scenario.algorithm {
            return Err(format!(
                "--algorithm: name all algorithms at the beginning: orchestrator compare {algorithm} ..."
            ));
        }
        self.scenario.says_nothing_twice()?;
        for (place, name) in algorithms.iter().enumerate() {
            if *name != external::NAME {
                find_algorithm(name)?;
            }
            if algorithms[..place].contains(name) {
                return Err(format!("{name} is named twice"));
            }
        }
        let (file, mut scenario) = match files[..] {
            [] => (Path::new(""), self.scenario.clone()),
            [file] => {
                let layers = Layers::new(file, self.scenario.clone())?;
                (Path::new(file), layers.scenario().clone())
            }
            [one, other, ..] => {
                return Err(format!(
                    "one scenario is compared, not two: {one} and {other}"
                ));
            }
        };
        let of_file = self.of_file(&mut scenario);
        let named = algorithms.into_iter().cloned().map(Compared::named);
        let others = named.filter(|other| of_file.iter().all(|own| own.name != other.name));
        let compared = of_file.iter().cloned().chain(others).collect::<Vec<_>>();
        if compared.len() < 2 {
            return Err(
                "at least two algorithms are compared: orchestrator compare raymond lamport"
                    .to_owned(),
            );
        }
        let grid = Grid::made(self.sweep(scenario, compared)?, "compare", file)?;
        same_size(&grid)?;
        Ok(grid)
    }

    /// The algorithm that the file names, with what of it the others know nothing about.
    fn of_file(&self, scenario: &mut Scenario) -> Option<Compared> {
        let name = scenario.algorithm.take()?;
        let flags = &self.scenario;
        let by_flag = |param: &Assignment| {
            let mut by_flag = flags.params.iter();
            by_flag.any(|other| other.name == param.name)
        };
        let params = std::mem::take(&mut scenario.params).into_iter();
        let (shared, own) = params.partition(by_flag);
        scenario.params = shared;
        let as_printed = match flags.as_printed {
            Some(_) => None,
            None => scenario.as_printed.take(),
        };
        Some(Compared {
            name,
            params: own,
            as_printed,
        })
    }

    /// The keys of the sweep that the comparison is.
    fn sweep(&self, mut scenario: Scenario, compared: Vec<Compared>) -> Result<SweepKeys, String> {
        let name = scenario.name.take().unwrap_or_else(|| "compare".to_owned());
        if i64::try_from(self.repetitions).is_err() {
            return Err("--repetitions: too many".to_owned());
        }
        let seed = scenario.seed.take().unwrap_or(1);
        if i64::try_from(seed).is_err() {
            return Err(format!("--seed: at most {}", i64::MAX));
        }
        let program = Scenario {
            program: std::mem::take(&mut scenario.program),
            answer_within: scenario.answer_within.take(),
            program_memory: scenario.program_memory.take(),
            program_processes: scenario.program_processes.take(),
            declares: std::mem::take(&mut scenario.declares),
            ..Scenario::default()
        };
        let is_there = compared.iter().any(|one| one.name == external::NAME);
        if !program.program.is_empty() && !is_there {
            return Err(format!(
                "no algorithm here is a program; with the name {0} it is compared: orchestrator compare \
                 raymond {0} -- python3 lock.py",
                external::NAME
            ));
        }
        let mut params = std::mem::take(&mut scenario.params);
        let mut variants = Vec::new();
        for one in compared {
            let prefix = format!("{}.", one.name);
            let mut own = one.params;
            params.retain(|param| match param.name.strip_prefix(&prefix) {
                Some(name) => {
                    own.retain(|other| other.name != name);
                    own.push(Assignment {
                        name: name.to_owned(),
                        ..param.clone()
                    });
                    false
                }
                None => true,
            });
            // The keys that describe a program are for the program alone.
            let program = match one.name.as_str() {
                external::NAME => program.clone(),
                _ => Scenario::default(),
            };
            let variant = Scenario {
                algorithm: Some(one.name),
                as_printed: one.as_printed,
                params: own,
                ..program
            };
            variants.push(table(&variant));
        }
        if let Some(param) = params.iter().find(|param| param.name.contains('.')) {
            let name = &param.name;
            return Err(format!(
                "--param {name}: before the point stands one of the algorithms that are compared"
            ));
        }
        scenario.params = params;
        let both = self.engines == Some(Engines::Both);
        if both && scenario.delay.is_none() {
            scenario.delay = Some(DELAY.parse().expect("a delay"));
        }
        let mut grid = Toml::new();
        scenario.engine = match self.engines {
            Some(Engines::Both) => {
                let engines = [Engine::Sim, Engine::Cluster].map(|engine| engine.to_string());
                grid.insert("engine".to_owned(), engines.to_vec().into());
                None
            }
            Some(Engines::Sim) => Some(Engine::Sim),
            Some(Engines::Cluster) => Some(Engine::Cluster),
            None => scenario.engine.or(Some(Engine::Sim)),
        };
        Ok(SweepKeys {
            name: Some(name),
            repetitions: Some(self.repetitions),
            seed: Some(seed),
            scenario: table(&scenario),
            grid,
            variant: variants,
            ..SweepKeys::default()
        })
    }
}

/// The keys of a scenario, as a sweep has them.
fn table(scenario: &Scenario) -> Toml {
    Toml::try_from(scenario).expect("a scenario is plain data")
}

/// Groups of different sizes are two scenarios; the default size may differ.
fn same_size(grid: &Grid) -> Result<(), String> {
    let mut first = None;
    for cell in 0..grid.cells.len() {
        let plan = grid.resolve(cell, 0)?.plan;
        let (algorithm, nodes) = first.get_or_insert((plan.algorithm, plan.nodes));
        if *nodes != plan.nodes {
            return Err(format!(
                "{algorithm} would have {nodes} nodes and {} {}; say -n with a number that all admit",
                plan.algorithm, plan.nodes
            ));
        }
    }
    Ok(())
}

/// The results of a comparison, ready to be shown.
struct Comparison<'a> {
    grid: &'a Grid,
    swept: &'a Swept,
    /// The engines, and the cells of each algorithm on each of them.
    engines: Vec<String>,
    rows: Vec<(String, Vec<usize>)>,
}

impl<'a> Comparison<'a> {
    fn new(grid: &'a Grid, swept: &'a Swept) -> Self {
        let mut engines: Vec<String> = Vec::new();
        let mut rows: Vec<(String, Vec<usize>)> = Vec::new();
        for (number, cell) in grid.cells.iter().enumerate() {
            let run = swept.done.iter().find(|run| run.cell == number);
            let engine = run.map_or_else(String::new, |run| run.summary.engine.to_string());
            if !engines.contains(&engine) {
                engines.push(engine);
            }
            let named = grid.keys.iter().zip(&cell.values);
            let own = named.filter(|(key, value)| *key != "engine" && !value.is_empty());
            let name = own.map(|(key, value)| line_name(key, value));
            let name = name.collect::<Vec<_>>().join(" ");
            match rows.last_mut() {
                Some((last, cells)) if *last == name => cells.push(number),
                _ => rows.push((name, vec![number])),
            }
        }
        Self {
            grid,
            swept,
            engines,
            rows,
        }
    }

    fn of(&self, cell: usize, metric: &str) -> Option<&Aggregate> {
        let mut aggregates = self.swept.aggregates[cell].iter();
        aggregates.find(|aggregate| aggregate.metric == metric)
    }

    fn show(&self, markdown: bool) -> String {
        let summary = &self.swept.done[0].summary;
        let mut text = format!(
            "{} · {} · {} · {} · {} of each, seeds from {}\n\n",
            self.grid.name,
            many(summary.nodes.into(), "node", "nodes"),
            summary.workload,
            self.engines.join(" and "),
            runs(self.grid.repetitions),
            self.grid.seed,
        );
        // Each has the topology that it needs: where that is not the same, it is part of the answer.
        let topologies = self.topologies();
        let differ = topologies.iter().any(|one| *one != topologies[0]);
        let with_topology = |mut cells: Vec<String>, topology: &str| {
            if differ {
                cells.insert(1, topology.to_owned());
            }
            cells
        };
        let headings = [
            "algorithm",
            "messages per entry",
            "theory",
            "mean wait, ms",
            "sync delay, T",
            "verdicts",
        ];
        let headings = headings.map(str::to_owned).to_vec();
        let mut table = Table::of(with_topology(headings, "topology"));
        for (name, cells) in &self.rows {
            for &cell in cells {
                let engine = &self.swept.done.iter().find(|run| run.cell == cell);
                let engine = engine.map_or_else(String::new, |run| run.summary.engine.to_string());
                let name = match cells.len() {
                    1 => name.clone(),
                    _ => format!("{name}, {engine}"),
                };
                let cell_of = |metric, scale| {
                    let aggregate = self.of(cell, metric);
                    aggregate.map_or_else(String::new, |one| with_interval(one, scale))
                };
                let theory = self.of(cell, "expected_messages_per_entry");
                let row = vec![
                    name,
                    cell_of("messages_per_entry", 1.0),
                    theory.map_or_else(String::new, |theory| decimal(theory.moments.mean, 3)),
                    cell_of("wait_mean_us", 1e-3),
                    cell_of("sync_delay_mean_t", 1.0),
                    verdicts(self.swept, cell),
                ];
                table.add(with_topology(row, topologies[cell]));
            }
        }
        text += &table.shown(markdown);
        text += "\n± is half a 95 % interval (Student's), over the repetitions.\n";
        if self.engines.len() == 2 {
            text += &self.differences(markdown);
        }
        text
    }

    /// The topology of each cell.
    fn topologies(&self) -> Vec<&str> {
        let cells = 0..self.grid.cells.len();
        let topology = |cell| {
            let mut runs = self.swept.done.iter();
            let run = runs.find(|run| run.cell == cell);
            run.map_or("", |run| run.summary.topology.as_str())
        };
        cells.map(topology).collect()
    }

    /// How far the second engine is from the first.
    fn differences(&self, markdown: bool) -> String {
        let (from, to) = (&self.engines[0], &self.engines[1]);
        let mut text = format!("\n{to} against {from}, in %:\n\n");
        let mut table = Table::new(["algorithm", "messages per entry", "wait", "sync delay, T"]);
        for (name, cells) in &self.rows {
            let [one, other] = cells[..] else {
                continue;
            };
            let difference = |metric: &str| {
                let pair = self.of(one, metric).zip(self.of(other, metric));
                pair.map_or_else(String::new, |(one, other)| apart(one, other))
            };
            table.row([
                name,
                &difference("messages_per_entry"),
                &difference("wait_mean_us"),
                &difference("sync_delay_mean_t"),
            ]);
        }
        text += &table.shown(markdown);
        text += "\n= where the two 95 % intervals overlap.\n";
        let longer = self
            .rows
            .iter()
            .filter_map(|(name, cells)| self.longer_bound(name, cells));
        longer.fold(text, |text, why| text + &indented("", &why))
    }

    /// Why an algorithm waits longer on the cluster, where that is the bound it is told there: with
    /// the same bound it does so in the simulator, too.
    fn longer_bound(&self, name: &str, cells: &[usize]) -> Option<String> {
        let [sim, cluster] = cells[..] else {
            return None;
        };
        let sim = self.grid.resolve(sim, 0).ok()?;
        let cluster_ns = self.grid.resolve(cluster, 0).ok()?.plan.bound_ns;
        let wait_us = |bound_ns: u64| {
            let mut plan = sim.plan.clone();
            plan.bound_ns = bound_ns;
            let run = simulator::run(&plan, &mut Silent).ok()?;
            analysis::judge(&plan, &sim.topology, &run)
                .summary
                .wait_mean_us
        };
        let sim_ns = sim.plan.bound_ns;
        if sim_ns == cluster_ns || wait_us(sim_ns)? == wait_us(cluster_ns)? {
            return None;
        }
        let [sim, cluster] = [sim_ns, cluster_ns].map(show_ns);
        Some(format!(
            "{name} waits for the bound on a message's delay that it is told: {sim} in the simulator, \
             {cluster} on the cluster, where 50ms are added for the machine itself. With --bound \
             {cluster} both are told the same."
        ))
    }

    fn draw(&self) -> String {
        let title = format!("{}: messages per entry", self.grid.name);
        let rows = self.rows.iter().map(|(name, cells)| {
            let dots = cells.iter().map(|&cell| {
                let moments = self.of(cell, "messages_per_entry")?.moments;
                Some(Dot {
                    value: moments.mean,
                    interval: moments.interval(0.95),
                })
            });
            let theory = cells.iter().map(|&cell| {
                let theory = self.of(cell, "expected_messages_per_entry")?;
                Some(theory.moments.mean)
            });
            DotRow {
                name: name.clone(),
                dots: dots.collect(),
                theory: theory.collect(),
            }
        });
        let chart = DotChart {
            title: &title,
            x: "messages per entry, mean and 95 % interval",
            series: self.engines.iter().map(String::as_str).collect(),
            rows: rows.collect(),
        };
        chart.svg()
    }
}

fn runs(number: u64) -> String {
    match number {
        1 => "1 run".to_owned(),
        number => format!("{} runs", count(number)),
    }
}

/// The relative difference of two means, and whether it may be none.
fn apart(one: &Aggregate, other: &Aggregate) -> String {
    if one.moments.mean == 0.0 {
        return String::new();
    }
    let percent = (other.moments.mean / one.moments.mean - 1.0) * 100.0;
    let sign = if percent > 0.0 { "+" } else { "" };
    let ends = |aggregate: &Aggregate| {
        let mean = aggregate.moments.mean;
        aggregate.moments.interval(0.95).unwrap_or((mean, mean))
    };
    let ((low, high), (other_low, other_high)) = (ends(one), ends(other));
    let overlap = low <= other_high && other_low <= high;
    let mark = if overlap { " =" } else { "" };
    format!("{sign}{}{mark}", decimal(percent, 1))
}
