//! `orchestrator sweep`: a grid of scenarios, so often each.

use std::path::{Path, PathBuf};

use analysis::aggregate::Aggregate;
use clap::Args;

use crate::numbers::{self, count};
use crate::outcome::warn;
use crate::scenario::whole;
use crate::sweep::columns::{heading, in_a_column, in_words};
use crate::sweep::{Grid, Swept, draw, sweep};
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print, report, results};

/// Runs a grid of scenarios, each several times, and adds it up
///
/// Simulated cells run side by side on all processors, clusters one after another. An interrupted
/// sweep goes on where it was when it is started again. Writes runs.csv (a row for each run),
/// aggregate.csv (mean, deviation and intervals of every metric), sweep.json (where and when they were
/// made) and, if the file says [plot], plot.svg.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// Sweep file, such as experiments/sweeps/light-load.toml
    file: PathBuf,
    /// Directory for the results, which may hold an interrupted sweep [default: results/NAME.sweep]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Repetitions of each cell, instead of what the file says
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>)]
    repetitions: Option<u64>,
    /// Show the cells, and run nothing
    #[arg(long)]
    dry_run: bool,
}

impl Sweep {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let mut grid = Grid::read(&self.file).map_err(Failure::Usage)?;
        if let Some(repetitions) = self.repetitions {
            grid.repeat(repetitions).map_err(Failure::Usage)?;
        }
        if self.dry_run {
            print(&cells(&grid))?;
            return Ok(Exit::Holds);
        }
        let name = format!("{}.sweep", grid.name);
        let out = self.out.unwrap_or_else(|| Path::new("results").join(name));
        perform(&grid, &out)
    }
}

/// Sweeps, and shows what came out.
pub(super) fn perform(grid: &Grid, out: &Path) -> Result<Exit, Failure> {
    let interrupted = interrupt::flag_on_interrupt()?;
    let swept = sweep(grid, out, &interrupted)?;
    results::make_latest(out).iter().for_each(|text| warn(text));
    if swept.missing > 0 {
        let done = swept.done.len() as u64;
        print(&format!(
            "interrupted after {} of {} runs; the same command goes on from there\nfiles: {}\n",
            count(done),
            count(grid.runs()),
            swept.directory.display()
        ))?;
        return Ok(Exit::Interrupted);
    }
    let mut text = show(grid, &swept);
    let undrawn = results::afterwards("plot.svg", || {
        if let Some(path) = draw(grid, &swept)? {
            text += &format!("plot:  {}\n", path.display());
        }
        Ok(())
    });
    let program = std::env::args_os().next().unwrap_or_default();
    let again = crate::sweep::again(&program.to_string_lossy(), out);
    text += &format!("again: {again}\n");
    let unwritten = results::afterwards("report.html", || report(out));
    print(&text)?;
    undrawn.iter().chain(&unwritten).for_each(|text| warn(text));
    Ok(verdict(&swept))
}

/// Writes the page of a sweep that is complete.
pub(super) fn report(directory: &Path) -> Result<(), Failure> {
    let page = report::of_sweep(directory).map_err(Failure::Testbed)?;
    report::write(&page, &directory.join(report::NAME))
}

/// The cells and nothing else.
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
    ("wait, ms", "wait_mean_us", 1e-3),
    ("sync delay, T", "sync_delay_mean_t", 1.0),
];

fn show(grid: &Grid, swept: &Swept) -> String {
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
    text += &table.show();
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
    let plotted = grid.plot.as_ref().map(|plot| plot.y.as_str());
    let unusual = plotted.filter(|plotted| USUAL.iter().all(|(_, usual, _)| usual != plotted));
    let unusual = unusual.map(|metric| {
        let (scale, heading) = in_words(metric);
        (heading, metric, scale)
    });
    unusual.into_iter().chain(usual).collect()
}

/// A mean and half its interval, in units of which so many make one of the metric's.
pub(super) fn with_interval(aggregate: &Aggregate, scale: f64) -> String {
    let moments = &aggregate.moments;
    numbers::with_interval(moments.mean, moments.interval(0.95), scale)
}

/// How many runs of a cell ended how: `10 hold`, `8 hold, 2 inconclusive`.
pub(super) fn verdicts(swept: &Swept, cell: usize) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for run in swept.done.iter().filter(|run| run.cell == cell) {
        *counts.entry(run.summary.verdict.as_str()).or_insert(0_u64) += 1;
    }
    let counts = counts
        .iter()
        .map(|(verdict, runs)| format!("{runs} {verdict}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The worst of all runs.
pub(super) fn verdict(swept: &Swept) -> Exit {
    let any = |verdict: &str| swept.done.iter().any(|run| run.summary.verdict == verdict);
    if any("violated") {
        Exit::Violated
    } else if any("inconclusive") {
        Exit::Inconclusive
    } else {
        Exit::Holds
    }
}
