//! The page of a sweep, from the files in its directory.

use std::collections::BTreeMap;
use std::path::Path;

use safe_io::input;

use super::page::{Cell, Page, Section, Table, Tone};
use crate::numbers::{self, count};
use crate::sweep::SweepProvenance;
use crate::sweep::columns::{heading, in_a_column, in_words};

/// A row of a table, by column.
type Row = BTreeMap<String, String>;

/// What the page shows of each cell: heading, metric, and how many of its units make one here.
const SHOWN: [(&str, &str, f64); 6] = [
    ("messages per entry", "messages_per_entry", 1.0),
    ("theory", "expected_messages_per_entry", 1.0),
    ("wait, ms", "wait_mean_us", 1e-3),
    ("turnaround, ms", "turnaround_mean_us", 1e-3),
    ("sync delay, T", "sync_delay_mean_t", 1.0),
    ("served, %", "success_rate", 100.0),
];

/// A page has no more cells than this; the table has all of them.
const MOST_CELLS: usize = 1_000;
/// A plot that is larger is only named.
const LARGEST_PLOT: usize = 1_000_000;

/// Whether this directory is that of a sweep.
pub(crate) fn is_one(directory: &Path) -> bool {
    directory.join("sweep.toml").is_file()
}

/// Everything about one sweep.
pub(crate) fn page(directory: &Path) -> Result<Page, String> {
    let file = |name: &str| directory.join(name);
    let asked = input::read_text(&file("sweep.toml"));
    let asked =
        asked.map_err(|error| format!("cannot read {}: {error}", file("sweep.toml").display()))?;
    if !file("aggregate.csv").is_file() {
        return Err(format!(
            "the sweep in {0} is not complete; orchestrator sweep {0}/sweep.toml --out {0} goes on with it",
            directory.display()
        ));
    }
    let (columns, aggregates) = table(&file("aggregate.csv"))?;
    let (_, runs) = table(&file("runs.csv"))?;
    let keys = columns
        .iter()
        .skip(1)
        .take_while(|column| *column != "metric");
    let keys = keys.map(String::as_str).collect::<Vec<_>>();
    let mut cells = BTreeMap::<u64, Vec<&Row>>::new();
    for row in &aggregates {
        let number = row
            .get("cell")
            .and_then(|cell| cell.parse().ok())
            .unwrap_or_default();
        cells.entry(number).or_default().push(row);
    }
    let manifest = asked.parse::<toml::Table>().unwrap_or_default();
    let stated_name = manifest.get("name").and_then(toml::Value::as_str);
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let (all, done) = (count(cells.len() as u64), count(runs.len() as u64));
    let about = format!("sweep · {all} cells · {done} runs");
    let mut page = Page::new(stated_name.unwrap_or(&name), &about);
    let verdicts = verdicts(&runs);
    let all = tally(verdicts.values().flatten());
    page.banner(tone(&all), &counted(&all), &[]);
    if let Ok(svg) = input::read_text(&file("plot.svg")) {
        plot(page.section("Plot"), &svg);
    }
    let section = page.section("Cells");
    if cells.len() > MOST_CELLS {
        section.say(&format!(
            "The first {MOST_CELLS} cells; aggregate.csv has all of them."
        ));
    }
    // That everybody was served needs no column.
    let there = |metric: &str| {
        let mut rows = aggregates.iter().filter(|row| row["metric"] == metric);
        rows.any(|row| metric != "success_rate" || row["mean"] != "1")
    };
    let plotted = manifest
        .get("plot")
        .and_then(|plot| plot.get("y")?.as_str());
    let shown = metrics(plotted).filter(|(_, metric, _)| there(metric));
    let shown = shown.collect::<Vec<_>>();
    let headings = keys.iter().map(|key| heading(key));
    let headings = headings
        .chain(shown.iter().map(|(heading, ..)| heading.as_str()))
        .chain(["verdicts"]);
    let rows = cells.iter().take(MOST_CELLS).map(|(number, metrics)| {
        let values = keys.iter().map(|key| {
            let value = metrics[0].get(*key).map_or("", String::as_str);
            Cell::text(in_a_column(value))
        });
        let numbers = shown.iter().map(|(_, metric, scale)| {
            let row = metrics.iter().find(|row| row["metric"] == *metric);
            Cell::number(row.map_or_else(String::new, |row| with_interval(row, *scale)))
        });
        let of_cell = tally(verdicts.get(number).into_iter().flatten());
        let last = Cell::toned(counted(&of_cell), tone(&of_cell));
        values.chain(numbers).chain([last]).collect()
    });
    section.table(&Table::new(headings).rows(rows));
    section.say("± is half a 95 % interval (Student's), over the repetitions.");
    let files = page.section("Files");
    let about = [
        ("runs.csv", "a row for each run"),
        (
            "aggregate.csv",
            "mean, deviation and intervals of every metric of each cell",
        ),
        ("sweep.toml", "what was asked for"),
        ("sweep.json", "where and when the runs were made"),
    ];
    // A sweep from before there was a sweep.json has none.
    let there = about.into_iter().filter(|(name, _)| file(name).is_file());
    let rows = there.map(|(name, what)| vec![Cell::text(name).leading_to(name), Cell::text(what)]);
    files.table(&Table::new(["file", "what it has"]).rows(rows));
    let asked_for = page.section("What was asked for");
    asked_for.command(asked.trim_end());
    let again = page.provenance();
    let invocations = SweepProvenance::read(directory)?;
    match invocations.iter().len() {
        0 => again.say("There is no sweep.json that says where and when the runs were made."),
        1 => {}
        several => again.say(&format!(
            "It was made by {several} invocations of the program."
        )),
    }
    for invocation in invocations.iter() {
        let from = &invocation.from;
        again.facts([
            ("runs", count(invocation.runs as u64).as_str()),
            ("started", &from.started),
            ("finished", &from.finished),
            ("host", &from.host),
            ("version", &from.version),
            ("commit", from.commit.as_deref().unwrap_or("unknown")),
            ("command", &from.command_line.join(" ")),
        ]);
    }
    again.say("The line that repeats it:");
    again.command(&crate::sweep::repeat_line("orchestrator", directory));
    Ok(page)
}

/// What is plotted, if it is not among the usual, and those: heading, metric, and how many of its
/// units make one here.
fn metrics(plotted: Option<&str>) -> impl Iterator<Item = (String, &str, f64)> {
    let usual = SHOWN.map(|(heading, metric, scale)| (heading.to_owned(), metric, scale));
    let unusual = plotted.filter(|plotted| SHOWN.iter().all(|(_, usual, _)| usual != plotted));
    let unusual = unusual.map(|metric| {
        let (scale, heading) = in_words(metric);
        (heading, metric, scale)
    });
    unusual.into_iter().chain(usual)
}

/// The columns of a file and its rows.
fn table(path: &Path) -> Result<(Vec<String>, Vec<Row>), String> {
    let unfit = |why: String| format!("{}: {why}", path.display());
    let file = input::open(path, input::TABLE_BYTES).map_err(|error| unfit(error.to_string()))?;
    let mut reader = csv::Reader::from_reader(file);
    let columns = reader.headers().map_err(|error| unfit(error.to_string()))?;
    let columns = columns.iter().map(str::to_owned).collect::<Vec<_>>();
    for needed in ["cell", "metric", "verdict"] {
        let elsewhere = (needed == "metric") != path.ends_with("aggregate.csv") && needed != "cell";
        if !elsewhere && !columns.iter().any(|column| column == needed) {
            return Err(unfit(format!("there is no column '{needed}'")));
        }
    }
    let rows = reader.deserialize().collect::<Result<Vec<Row>, _>>();
    Ok((columns, rows.map_err(|error| unfit(error.to_string()))?))
}

/// The verdicts of each cell's runs.
fn verdicts(runs: &[Row]) -> BTreeMap<u64, Vec<&str>> {
    let mut verdicts = BTreeMap::<u64, Vec<&str>>::new();
    for run in runs {
        let cell = run["cell"].parse().unwrap_or_default();
        verdicts.entry(cell).or_default().push(&run["verdict"]);
    }
    verdicts
}

fn tally<'a>(verdicts: impl Iterator<Item = &'a &'a str>) -> BTreeMap<&'a str, u64> {
    let mut tally = BTreeMap::new();
    for verdict in verdicts {
        *tally.entry(*verdict).or_default() += 1;
    }
    tally
}

/// How many runs have each verdict: `8 holds, 2 inconclusive`.
fn counted(tally: &BTreeMap<&str, u64>) -> String {
    let parts = tally
        .iter()
        .map(|(verdict, runs)| format!("{} {verdict}", count(*runs)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The tone of the worst verdict among them.
fn tone(tally: &BTreeMap<&str, u64>) -> Tone {
    let worst = ["violated", "inconclusive", "holds"];
    let worst = worst
        .into_iter()
        .find(|verdict| tally.contains_key(verdict));
    Tone::of_run(worst.unwrap_or_default())
}

fn with_interval(row: &Row, scale: f64) -> String {
    let number = |column: &str| row.get(column).and_then(|cell| cell.parse::<f64>().ok());
    let interval = number("low_95").zip(number("high_95"));
    let mean = number("mean");
    mean.map_or_else(String::new, |mean| {
        numbers::with_interval(mean, interval, scale)
    })
}

/// The plot, if it is one that we have drawn.
fn plot(section: &mut Section, svg: &str) {
    let strange = ["<script", "href", "<foreignobject", "<image"];
    // HTML knows its elements in capitals, too.
    let plain = svg.to_ascii_lowercase();
    if svg.len() > LARGEST_PLOT || strange.iter().any(|word| plain.contains(word)) {
        section.say("plot.svg is not shown: it is very large, or somebody else has drawn it.");
        return;
    }
    section.figure(
        svg,
        "Means over the repetitions; bars are 95 % intervals (Student's).",
    );
}
