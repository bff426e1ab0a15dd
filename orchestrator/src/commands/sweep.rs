//! `orchestrator sweep`: every combination of a grid of scenarios, each repeated several times.

mod typed;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use algorithms::registry;
use analysis::Verdict;
use analysis::aggregate::Aggregate;
use clap::Args;

use crate::numbers::{self, count};
use crate::result_table::warn;
use crate::scenario::{Flags, Layers, Scenario, whole};
use crate::sweep::columns::{heading, in_a_column, in_words};
use crate::sweep::{Grid, Shard, Share, Swept, draw, merge, sweep};
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print, repeat_line, report, results};
use typed::{Factor, Typed};

/// Runs a grid of scenarios, each several times, and adds it up
///
/// Simulated cells run side by side on all processors, clusters one after another. An interrupted
/// sweep goes on where it was when it is started again. Writes runs.csv (a row for each run),
/// aggregate.csv (mean, deviation and intervals of every metric), sweep.json (where and when they were
/// made) and, if the file says [plot], plot.svg. docs/sweeps.md has every key of a sweep file.
///
/// A small sweep needs no file: `orchestrator sweep raymond --grid nodes=5,10,20` with the flags of
/// `run` for what all cells share.
#[derive(Debug, Args)]
#[command(mut_arg("seed", |arg| arg.help("Number that the first repetition's chance comes from, \
    the next has the next [default: 1]")))]
#[command(mut_arg("engine", |arg| arg.help("What runs the cells: processes that speak UDP, or the \
    simulator in virtual time [default: what the file says; with --grid or --vary sim]")))]
// Of its runs only numbers are kept, so there is nothing to trace.
#[command(mut_arg("trace", |arg| arg.hide(true)))]
pub(crate) struct Sweep {
    /// Sweep file, such as experiments/sweeps/light-load.toml; with --grid or --vary an algorithm or
    /// a scenario file
    target: Option<String>,
    /// Key and values of which every combination is a cell; may be given several times
    ///
    /// For example `--grid nodes=5,10,20 --grid algorithm=raymond,lamport`, six cells. Keys are those
    /// of a scenario file, `params.NAME` too. Values with commas in them are written as a list:
    /// `--grid 'weights=[[1, 0, 0], [1, 1, 0]]'`. Numbers are the x axis of a plot of the messages per
    /// entry.
    #[arg(long, value_name = "KEY=V1,V2", help_heading = "Cells")]
    grid: Vec<Factor>,
    /// Key and values to try one at a time, all else as in the base; may be given several times
    ///
    /// The base is what target and flags say, and a cell as well: `--vary think=1ms,5ms --vary
    /// hold=2ms` makes four cells and not six. Each is combined with the whole --grid.
    #[arg(long, value_name = "KEY=V1,V2", help_heading = "Cells")]
    vary: Vec<Factor>,
    #[command(flatten)]
    flags: Flags,
    /// Directory for the results, which may hold an interrupted sweep [default: results/NAME.sweep;
    /// with --grid or --vary results/sweep/UTC-TIME]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Repetitions of each cell [default: what the file says, or 5]
    #[arg(long, value_name = "NUMBER", help_heading = "Run", value_parser = whole::<u64>)]
    repetitions: Option<u64>,
    /// Simulated runs side by side [default: one for each processor]
    #[arg(long, value_name = "NUMBER", help_heading = "Run")]
    jobs: Option<NonZeroUsize>,
    /// Make only the I-th of N shares of the runs, in DIR/shards/I-of-N
    ///
    /// Cells are dealt in turn. Each shard can run on another machine, at any time, and goes on where it
    /// was like any sweep; `--merge DIR` puts them together. The exit code is 0 when all runs of the shard
    /// were made, whatever their verdicts. docs/hosts.md has job arrays.
    #[arg(long, value_name = "I/N", help_heading = "Several machines", conflicts_with_all = ["merge", "commands"])]
    shard: Option<Shard>,
    /// Put the shards in this directory together, as one sweep would have written them
    ///
    /// Refuses shards of another sweep or of another build, and names those that are missing.
    #[arg(long, value_name = "DIR", help_heading = "Several machines", conflicts_with_all = ["out", "commands", "jobs"])]
    merge: Option<PathBuf>,
    /// Print a command for each of N shards, and run nothing [default: a shard for each cell]
    #[arg(long, value_name = "N", help_heading = "Several machines", num_args = 0..=1, require_equals = true)]
    commands: Option<Option<NonZeroUsize>>,
    /// Show the cells, and run nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print the table as Markdown
    #[arg(long, help_heading = "Output")]
    markdown: bool,
}

impl Sweep {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let scenario = Scenario::from(self.flags);
        let is_typed = !self.grid.is_empty() || !self.vary.is_empty();
        let grid = match self.target.as_deref() {
            target if is_typed => {
                let typed = Typed {
                    target,
                    scenario: &scenario,
                    grid: &self.grid,
                    vary: &self.vary,
                    repetitions: self.repetitions,
                };
                typed.grid()
            }
            Some(file) => written(file, &scenario, self.repetitions),
            None => Err(
                "name a sweep file, or say what varies: orchestrator sweep raymond --grid nodes=5,10,20"
                    .to_owned(),
            ),
        };
        let grid = grid.map_err(Failure::Usage)?;
        if self.dry_run {
            print(&cells(&grid))?;
            return Ok(Exit::Holds);
        }
        if let Some(directory) = &self.merge {
            let swept = merge(&grid, directory)?;
            return present(&grid, directory, &swept, self.markdown);
        }
        let divided = self.shard.is_some() || self.commands.is_some();
        if divided && is_typed && self.out.is_none() {
            let why = "name the directory that all shards share with --out";
            return Err(Failure::Usage(why.to_owned()));
        }
        let out = match (self.out, is_typed) {
            (Some(out), _) => out,
            (None, true) => results::reserve(typed::NAME)?,
            (None, false) => Path::new("results").join(format!("{}.sweep", grid.name)),
        };
        let how = match is_typed {
            true => format!("the same command with --out {}", out.display()),
            false => "the same command".to_owned(),
        };
        if let Some(number) = self.commands {
            let shards = number.map_or(grid.cells.len(), usize::from);
            print(&commands(&grid, shards, self.target.as_deref(), &out).map_err(Failure::Usage)?)?;
            return Ok(Exit::Holds);
        }
        let share = Share {
            shard: self.shard,
            jobs: self.jobs,
        };
        perform(&grid, &out, share, &how, self.markdown)
    }
}

/// A line for each shard that makes it, wherever it is typed.
fn commands(
    grid: &Grid,
    shards: usize,
    target: Option<&str>,
    out: &Path,
) -> Result<String, String> {
    let whole = |path: &Path| {
        let whole = std::path::absolute(path).map_err(|error| error.to_string())?;
        Ok::<_, String>(whole.display().to_string())
    };
    let mut words = repeat_line::without(repeat_line::command_line(), "--out");
    words.retain(|word| word != "--commands" && !word.starts_with("--commands="));
    // A file that is not there is part of the program, and found from anywhere.
    if let Some(file) = target.filter(|file| Path::new(file).is_file()) {
        let there = words.iter_mut().skip(1).find(|word| *word == file);
        if let Some(word) = there {
            *word = whole(Path::new(file))?;
        }
    }
    let out = whole(out)?;
    let lines = Shard::all(shards).map(|shard| {
        shard.check(grid.cells.len())?;
        let words = words.iter().cloned();
        let more = [
            "--shard".to_owned(),
            shard.to_string(),
            "--out".to_owned(),
            out.clone(),
        ];
        let words = words.chain(more).collect::<Vec<_>>();
        Ok(repeat_line::joined(&words) + "\n")
    });
    lines.collect()
}

/// Reads the sweep of a file.
fn written(file: &str, scenario: &Scenario, repetitions: Option<u64>) -> Result<Grid, String> {
    if !Layers::names_a_file(file) && registry::find(file).is_some() {
        return Err(format!(
            "{file} is an algorithm; say what varies, such as --grid nodes=5,10,20, or use \
             `orchestrator run {file}`"
        ));
    }
    let mut grid = Grid::read(Path::new(file))?;
    if let Some(flag) = scenario.keys().first() {
        return Err(format!(
            "--{flag}: {file} says in [scenario] what all its cells share; flags are for sweeps by \
             --grid and --vary"
        ));
    }
    if let Some(repetitions) = repetitions {
        grid.repeat(repetitions)?;
    }
    Ok(grid)
}

/// Sweeps, and shows what came out; an interruption says how to go on.
fn perform(
    grid: &Grid,
    out: &Path,
    share: Share,
    how: &str,
    markdown: bool,
) -> Result<Exit, Failure> {
    if let Some(shard) = share.shard {
        shard.check(grid.cells.len()).map_err(Failure::Usage)?;
    }
    let interrupted = interrupt::flag_on_interrupt()?;
    let swept = sweep(grid, out, share, &interrupted)?;
    if swept.missing > 0 {
        let done = swept.done.len() as u64;
        print(&format!(
            "interrupted after {} of {} runs; {how} goes on from there\nfiles: {}\n",
            count(done),
            count(done + swept.missing as u64),
            swept.directory.display()
        ))?;
        return Ok(Exit::Interrupted);
    }
    if let Some(shard) = share.shard {
        print(&format!(
            "{} · shard {shard} · {} runs\nfiles: {}\n",
            grid.name,
            count(swept.done.len() as u64),
            swept.directory.display()
        ))?;
        return Ok(Exit::Holds);
    }
    present(grid, out, &swept, markdown)
}

/// Shows a sweep that is complete, and writes what is made of its files.
fn present(grid: &Grid, out: &Path, swept: &Swept, markdown: bool) -> Result<Exit, Failure> {
    results::make_latest(out).iter().for_each(|text| warn(text));
    let mut text = show(grid, swept, markdown);
    let undrawn = results::afterwards("plot.svg", || {
        if let Some(path) = draw(grid, swept)? {
            text += &format!("plot:  {}\n", path.display());
        }
        Ok(())
    });
    let program = repeat_line::command_line().swap_remove(0);
    let again = crate::sweep::repeat_line(&program, out);
    text += &format!("again: {again}\n");
    let unwritten = results::afterwards("report.html", || report(out));
    print(&text)?;
    undrawn.iter().chain(&unwritten).for_each(|text| warn(text));
    Ok(verdict(swept))
}

/// Writes the page of a sweep that is complete.
pub(super) fn report(directory: &Path) -> Result<(), Failure> {
    let page = report::of_sweep(directory).map_err(Failure::Testbed)?;
    report::write(&page, &directory.join(report::NAME))
}

/// The cells of a sweep, a line for each, and how many runs there are.
pub(super) fn cells(grid: &Grid) -> String {
    let mut text = String::new();
    for cell in &grid.cells {
        text += &crate::sweep::label(&grid.keys, &cell.values);
        text.push('\n');
    }
    let (cells, runs) = (count(grid.cells.len() as u64), count(grid.runs()));
    text + &format!("{cells} cells, {runs} runs\n")
}

/// What the table shows of each cell, whatever is plotted.
const USUAL: [(&str, &str, f64); 3] = [
    ("messages per entry", "messages_per_entry", 1.0),
    ("mean wait, ms", "wait_mean_us", 1e-3),
    ("sync delay, T", "sync_delay_mean_t", 1.0),
];

fn show(grid: &Grid, swept: &Swept, markdown: bool) -> String {
    let mut text = format!(
        "{} · {} cells · {} runs\n\n",
        grid.name,
        grid.cells.len(),
        grid.runs()
    );
    let telling = grid.telling();
    let metrics = metrics(grid);
    let keys = telling
        .iter()
        .map(|&key| heading(&grid.keys[key]).to_owned());
    let headings = keys.chain(metrics.iter().map(|(heading, ..)| heading.clone()));
    let mut table = Table::of(headings.chain(["verdicts".to_owned()]).collect());
    let mut needed = 0;
    for (number, cell) in grid.cells.iter().enumerate() {
        let aggregates = &swept.aggregates[number];
        let of = |metric: &str| {
            aggregates
                .iter()
                .find(|aggregate| aggregate.metric == metric)
        };
        let wanted = of("messages_per_entry").and_then(Aggregate::repetitions_needed);
        needed = needed.max(wanted.unwrap_or(0));
        let values = telling.iter().map(|&key| in_a_column(&cell.values[key]));
        let numbers = metrics.iter().map(|(_, metric, scale)| {
            of(metric).map_or_else(String::new, |one| with_interval(one, *scale))
        });
        let verdicts = verdicts(swept, number);
        table.add(values.chain(numbers).chain([verdicts]).collect());
    }
    text += &table.shown(markdown);
    text += "\n± is half a 95 % interval (Student's), over the repetitions.\n";
    if needed > grid.repetitions {
        text += &format!(
            "±2 % of the messages per entry in every cell would take about {} repetitions.\n",
            count(needed)
        );
    }
    text + &format!("\nfiles: {}\n", swept.directory.display())
}

/// What the table shows of each cell, and how many of its units make one there: what the sweep is
/// about, and the usual.
fn metrics(grid: &Grid) -> Vec<(String, &str, f64)> {
    let usual = USUAL.map(|(heading, metric, scale)| (heading.to_owned(), metric, scale));
    // Of a picture with a quantity for each of several nodes no column says enough.
    let plot = grid.plot.as_ref().filter(|plot| plot.each.is_empty());
    let unusual = plot.filter(|plot| USUAL.iter().all(|(_, usual, _)| *usual != plot.y));
    let unusual = unusual.map(|plot| {
        let (scale, heading) = in_words(&plot.y);
        let heading = plot.y_label.clone().unwrap_or(heading);
        (heading, plot.y.as_str(), scale)
    });
    unusual.into_iter().chain(usual).collect()
}

/// A mean and half its interval, both multiplied by `scale` to change their unit.
pub(super) fn with_interval(aggregate: &Aggregate, scale: f64) -> String {
    let moments = &aggregate.moments;
    numbers::with_interval(moments.mean, moments.interval(0.95), scale)
}

/// How many runs of a cell ended how: `10 hold`, `8 hold, 2 inconclusive`.
pub(super) fn verdicts(swept: &Swept, cell: usize) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for run in swept.done.iter().filter(|run| run.cell == cell) {
        let verdict = run.summary.verdict.to_string();
        *counts.entry(verdict).or_insert(0_u64) += 1;
    }
    let counts = counts
        .iter()
        .map(|(verdict, runs)| format!("{runs} {verdict}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The exit code of the worst of all runs.
pub(super) fn verdict(swept: &Swept) -> Exit {
    let any = |verdict| swept.done.iter().any(|run| run.summary.verdict == verdict);
    if any(Verdict::Violated) {
        Exit::Violated
    } else if any(Verdict::Inconclusive) {
        Exit::Inconclusive
    } else {
        Exit::Holds
    }
}
