//! `orchestrator sweep`: a grid of scenarios, so often each.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use analysis::aggregate::Aggregate;
use clap::Args;

use crate::numbers::{count, significant};
use crate::sweep::chart::{Chart, Line, Point};
use crate::sweep::{Grid, Swept, sweep};
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print, report};

/// Runs a grid of scenarios, each several times, and adds it up
///
/// Simulated cells run side by side on all processors, clusters one after another. An interrupted
/// sweep goes on where it was when it is started again. Writes runs.csv (a row for each run),
/// aggregate.csv (mean, deviation and intervals of every metric) and, if the file says [plot],
/// plot.svg.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// Sweep file, such as experiments/sweeps/light-load.toml
    file: PathBuf,
    /// Directory for the results, which may hold an interrupted sweep [default: results/NAME.sweep]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Repetitions of each cell, instead of what the file says
    #[arg(long, value_name = "NUMBER")]
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
    if let Some(path) = draw(grid, &swept)? {
        writeln!(text, "plot:  {}", path.display()).expect("a text takes every letter");
    }
    report(out)?;
    print(&text)?;
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

/// What the table shows of each cell.
const SHOWN: [(&str, &str); 3] = [
    ("messages per entry", "messages_per_entry"),
    ("wait, µs", "wait_mean_us"),
    ("sync delay, T", "sync_delay_mean_t"),
];

fn show(grid: &Grid, swept: &Swept) -> String {
    let mut text = format!(
        "{} · {} cells · {} runs\n\n",
        grid.name,
        grid.cells.len(),
        grid.runs()
    );
    let headings = SHOWN.map(|(heading, _)| heading);
    let mut table = Table::new(["cell", headings[0], headings[1], headings[2], "verdicts"]);
    let mut needed = 0;
    for (number, cell) in grid.cells.iter().enumerate() {
        let aggregates = &swept.aggregates[number];
        let of = |metric: &str| {
            aggregates
                .iter()
                .find(|aggregate| aggregate.metric == metric)
        };
        let shown = SHOWN
            .map(|(_, metric)| of(metric).map_or_else(String::new, |one| with_interval(one, 1.0)));
        let wanted = of("messages_per_entry").and_then(Aggregate::repetitions_needed);
        needed = needed.max(wanted.unwrap_or(0));
        let name = match cell.values.is_empty() {
            true => grid.name.clone(),
            false => cell.values.join(" "),
        };
        table.row([
            &name,
            &shown[0],
            &shown[1],
            &shown[2],
            &verdicts(swept, number),
        ]);
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

/// A mean and half its interval, in units of which so many make one of the metric's.
pub(super) fn with_interval(aggregate: &Aggregate, scale: f64) -> String {
    let mean = significant(aggregate.moments.mean * scale);
    match aggregate.moments.interval(0.95) {
        Some((low, high)) if high > low => {
            format!("{mean} ±{}", significant((high - low) / 2.0 * scale))
        }
        Some(_) | None => mean,
    }
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

/// Draws what the file asks for, and says where it is.
fn draw(grid: &Grid, swept: &Swept) -> Result<Option<PathBuf>, Failure> {
    let Some(plot) = &grid.plot else {
        return Ok(None);
    };
    let place = grid.keys.iter().position(|key| *key == plot.x);
    let place = place.expect("a grid has been checked");
    let (scale, y) = in_words(&plot.y);
    let distinct = apart_from(grid, place);
    let mut lines: Vec<Line> = Vec::new();
    for (cell, aggregates) in grid.cells.iter().zip(&swept.aggregates) {
        let aggregate = aggregates
            .iter()
            .find(|aggregate| aggregate.metric == plot.y);
        let x = grid.place_of(plot, &cell.values[place]);
        let (Some(aggregate), Some(x)) = (aggregate, x) else {
            continue;
        };
        let label = distinct
            .iter()
            .map(|&key| cell.values[key].as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let interval = aggregate.moments.interval(0.95);
        let point = Point {
            x,
            y: aggregate.moments.mean * scale,
            interval: interval.map(|(low, high)| (low * scale, high * scale)),
        };
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                label,
                points: vec![point],
            }),
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let x = plot.label.as_deref().unwrap_or(&plot.x);
    let title = format!("{}: {y} over {x}", grid.name);
    let chart = Chart {
        title: &title,
        x,
        y: &y,
        logarithmic: plot.logarithmic,
        lines,
    };
    let path = swept.directory.join("plot.svg");
    let failed = |why: String| Failure::Testbed(format!("cannot draw {}: {why}", path.display()));
    let svg = chart.svg().map_err(failed)?;
    std::fs::write(&path, svg).map_err(|error| failed(error.to_string()))?;
    Ok(Some(path))
}

/// The keys that tell the lines of a plot apart: those that do not follow from the one along its axis,
/// as the number of askers follows from the number of nodes where each size has its own.
fn apart_from(grid: &Grid, place: usize) -> Vec<usize> {
    let follows = |key: usize| {
        let mut seen = std::collections::BTreeMap::new();
        grid.cells.iter().all(|cell| {
            let value = &cell.values[key];
            *seen.entry(&cell.values[place]).or_insert(value) == value
        })
    };
    let keys = 0..grid.keys.len();
    keys.filter(|&key| key != place && !follows(key)).collect()
}

/// A metric as it stands at an axis, and how many of its units make one there.
fn in_words(metric: &str) -> (f64, String) {
    let words = |name: &str| name.replace('_', " ");
    match (metric.strip_suffix("_us"), metric.strip_suffix("_t")) {
        (Some(name), _) => (1e-3, words(name) + ", ms"),
        (_, Some(name)) => (1.0, words(name) + ", link delays"),
        (None, None) => (1.0, words(metric)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_the_axis_makes_no_lines() {
        let text = "[scenario]\nengine = \"sim\"\nworkload = \"window\"\n\
                    [grid]\nalgorithm = [\"raymond\", \"lamport\"]\n\
                    [[variant]]\nnodes = 3\naskers = 2\n[[variant]]\nnodes = 5\naskers = 4\n";
        let grid = Grid::parse(text, "test", Path::new("")).expect("a sweep");
        let place = |name: &str| grid.keys.iter().position(|key| key == name);
        let nodes = place("nodes").expect("a key");
        assert_eq!(
            apart_from(&grid, nodes),
            [place("algorithm").expect("a key")]
        );
    }

    #[test]
    fn a_metric_has_its_unit() {
        assert_eq!(in_words("wait_mean_us"), (1e-3, "wait mean, ms".to_owned()));
        assert_eq!(in_words("messages_per_entry").1, "messages per entry");
        assert_eq!(
            in_words("sync_delay_mean_t").1,
            "sync delay mean, link delays"
        );
    }
}
