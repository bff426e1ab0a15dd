//! Requests from a file: `--workload trace --arrivals FILE`.

use std::collections::BTreeMap;
use std::path::Path;

use algorithms::NodeId;
use analysis::files::ENTRY_COLUMNS;
use chaos::span::LONGEST_NS;
use csv::StringRecord;
use model::plan::{MEMORY_LIMIT_BYTES, REQUEST_BYTES};
use model::workload::{Ask, KeyError, node_of};
use safe_io::input;

use super::Scenario;

/// What the columns of a run's `entries.csv`, from which its requests can be made again, do not say.
const HOLD: &str = "hold_ns";

/// The requests of the file, in order of time.
pub(super) fn read(scenario: &Scenario, nodes: u32, folder: &Path) -> Result<Vec<Ask>, KeyError> {
    let Some(file) = &scenario.arrivals else {
        let why = "a trace needs a file of requests; write --arrivals FILE";
        return Err(KeyError::new("workload", why));
    };
    let path = folder.join(file);
    let wrong = |why: String| KeyError::new("arrivals", format!("{}{why}", path.display()));
    let broken = |error: csv::Error| wrong(format!(": {error}"));
    let file = input::open(&path, input::TABLE_BYTES);
    let file = file.map_err(|error| wrong(format!(": {error}")))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(file);
    let columns = columns(reader.headers().map_err(broken)?).map_err(&wrong)?;
    let mut asks = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row {
            record,
            columns: &columns,
        };
        let ask = row
            .ask(nodes)
            .map_err(|why| wrong(format!(":{line}: {why}")))?;
        if asks.len() == MOST_ASKS {
            return Err(wrong(format!(
                ":{line}: more than {MOST_ASKS} requests, the most that fit in memory"
            )));
        }
        asks.push(ask);
    }
    if asks.is_empty() {
        return Err(wrong(" has no requests".to_owned()));
    }
    asks.sort_by_key(|ask| ask.at_ns);
    Ok(asks)
}

/// The most requests of a file.
const MOST_ASKS: usize = (MEMORY_LIMIT_BYTES / REQUEST_BYTES) as usize;

/// The time, if it is one that a person could write.
fn in_time(column: &str, ns: u64) -> Result<u64, String> {
    match ns <= LONGEST_NS {
        true => Ok(ns),
        false => Err(format!("{column} is {ns}, more than a year ({LONGEST_NS})")),
    }
}

type Columns = BTreeMap<&'static str, usize>;

fn columns(headings: &StringRecord) -> Result<Columns, String> {
    let mut columns = Columns::new();
    for (place, heading) in headings.iter().enumerate() {
        let known = ENTRY_COLUMNS.iter().copied().chain([HOLD]);
        let column = known.clone().find(|column| *column == heading);
        let column = column.ok_or_else(|| {
            let hint = crate::suggest::did_you_mean(heading, known);
            format!(":1: there is no column '{heading}'{hint}")
        })?;
        columns.insert(column, place);
    }
    match ["node", "request_ns"]
        .iter()
        .find(|column| !columns.contains_key(**column))
    {
        Some(missing) => Err(format!(":1: the column {missing} is missing")),
        None => Ok(columns),
    }
}

struct Row<'a> {
    record: StringRecord,
    columns: &'a Columns,
}

impl Row<'_> {
    fn ask(&self, nodes: u32) -> Result<Ask, String> {
        let number = self.needed("node")?;
        let node = u32::try_from(number).unwrap_or(u32::MAX);
        let NodeId(node) = node_of(node, nodes)?;
        let inside = match (self.number("enter_ns")?, self.number("exit_ns")?) {
            (Some(entered), Some(left)) => left.checked_sub(entered),
            _ => None,
        };
        Ok(Ask {
            node: NodeId(node),
            at_ns: in_time("request_ns", self.needed("request_ns")?)?,
            priority: match self.number("priority")? {
                Some(priority) => Some(
                    u32::try_from(priority)
                        .map_err(|_| format!("priority {priority} is larger than {}", u32::MAX))?,
                ),
                None => None,
            },
            hold_ns: match self.number(HOLD)?.or(inside) {
                Some(hold_ns) => Some(in_time(HOLD, hold_ns)?),
                None => None,
            },
        })
    }

    fn needed(&self, column: &str) -> Result<u64, String> {
        self.number(column)?
            .ok_or_else(|| format!("{column} is empty"))
    }

    fn number(&self, column: &str) -> Result<Option<u64>, String> {
        let cell = self
            .columns
            .get(column)
            .and_then(|&place| self.record.get(place));
        match cell {
            None | Some("") => Ok(None),
            Some(text) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("{column} is '{text}', not a whole number")),
            },
        }
    }
}
