//! What a run measured, by name: everything that a claim or a sweep may ask for beside the columns
//! of `summary.csv`. `docs/sweeps.md` has the table of their names.

use std::collections::BTreeMap;

use algorithms::NodeId;
use algorithms::registry::AlgorithmInfo;
use model::plan::Plan;
use model::run::{End, RequestRow, Run};

use crate::measured::Measured;
use crate::occupancy::stays;
use crate::summary::Summary;
use crate::{Status, Verdict, order, times};

/// Something that a run measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A column of `summary.csv`.
    Column(&'static crate::Column<Summary>),
    /// Whether the run was or ended so.
    Fate(Fate),
    /// Messages of these kinds.
    Messages(Vec<String>),
    /// Messages received by a node.
    Received(Statistic),
    /// What the algorithm noted.
    Note(String, Statistic),
    /// Something of every entry.
    Entry(Column, Statistic, Choice),
    /// Hand-overs, perhaps of one pair; in link delays, or else in microseconds.
    Sync {
        /// Whether in link delays.
        in_delays: bool,
        /// Over the hand-overs.
        statistic: Statistic,
        /// From whom to whom.
        between: Option<(NodeId, NodeId)>,
    },
    /// Whether the first got in before the second.
    Before(NodeId, NodeId),
    /// The links of the first holder, whatever their direction.
    HolderLinks,
    /// Pairs of which the one of lower priority entered while the other waited.
    PairsAgainstPriority,
    /// Requests whose nodes stay connected with the first holder, as a share.
    ConnectedShare,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The verdict is violated.
    Violated,
    /// Safety is.
    Unsafe,
    /// Liveness is.
    NotLive,
    /// The verdict is inconclusive.
    Inconclusive,
    /// It ended with somebody waiting and nothing moving.
    Deadlock,
    /// It ended with somebody waiting and messages without end.
    LiveLock,
    /// The time limit ended it.
    TimeLimit,
}

/// What is known of every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// From arrival to entry.
    Wait,
    /// From arrival to exit.
    Turnaround,
    /// Messages charged to it.
    Messages,
    /// Entries of others between the request and its own.
    PassedOver,
    /// Requests registered after it that entered before it.
    Overtaken,
}

/// A number that stands for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// How many.
    Count,
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The median.
    Median,
    /// What one in a hundred exceeds.
    P99,
}

/// Which entries are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    node: Option<(bool, u32)>,
    priority: Option<(bool, u32)>,
}

const FATES: [(&str, Fate); 7] = [
    ("violated", Fate::Violated),
    ("unsafe", Fate::Unsafe),
    ("not_live", Fate::NotLive),
    ("inconclusive", Fate::Inconclusive),
    ("deadlock", Fate::Deadlock),
    ("live_lock", Fate::LiveLock),
    ("time_limit", Fate::TimeLimit),
];

const COLUMNS: [(&str, Column); 5] = [
    ("wait_us", Column::Wait),
    ("turnaround_us", Column::Turnaround),
    ("messages", Column::Messages),
    ("passed_over", Column::PassedOver),
    ("overtaken", Column::Overtaken),
];

const STATISTICS: [(&str, Statistic); 7] = [
    ("count", Statistic::Count),
    ("sum", Statistic::Sum),
    ("mean", Statistic::Mean),
    ("min", Statistic::Min),
    ("max", Statistic::Max),
    ("p50", Statistic::Median),
    ("p99", Statistic::P99),
];

impl Quantity {
    /// The quantity of that name, or what there is instead.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (path, choice) = match name.split_once('[') {
            Some((path, choice)) => (path, Some(choice.trim_end_matches(']'))),
            None => (name, None),
        };
        let parts = path.split('.').collect::<Vec<_>>();
        match (parts.as_slice(), choice) {
            (["messages", kinds], None) => {
                let kinds = kinds.split('+').map(str::to_owned);
                Ok(Self::Messages(kinds.collect()))
            }
            (["received", statistic], None) => Ok(Self::Received(named(statistic, &STATISTICS)?)),
            (["note", note, statistic], None) => {
                let statistic = named(statistic, &STATISTICS)?;
                match statistic {
                    Statistic::Median | Statistic::P99 => Err(format!(
                        "'{name}': of notes only count, sum, mean, min and max are kept"
                    )),
                    _ => Ok(Self::Note((*note).to_owned(), statistic)),
                }
            }
            (["entry", column, statistic], choice) => Ok(Self::Entry(
                named(column, &COLUMNS)?,
                named(statistic, &STATISTICS)?,
                choice.map_or(Ok(Choice::default()), Choice::parse)?,
            )),
            ([unit @ ("sync_us" | "sync_t"), statistic], choice) => Ok(Self::Sync {
                in_delays: *unit == "sync_t",
                statistic: named(statistic, &STATISTICS)?,
                between: choice.map(|pair| nodes(pair, '>')).transpose()?,
            }),
            (["before"], Some(pair)) => {
                let (first, second) = nodes(pair, ',')?;
                Ok(Self::Before(first, second))
            }
            (["holder_links"], None) => Ok(Self::HolderLinks),
            (["pairs_against_priority"], None) => Ok(Self::PairsAgainstPriority),
            (["connected_share"], None) => Ok(Self::ConnectedShare),
            ([word], None) => {
                if let Some((_, fate)) = FATES.iter().find(|(known, _)| known == word) {
                    return Ok(Self::Fate(*fate));
                }
                let column = Summary::metric(word).map(Self::Column);
                column.ok_or_else(|| unknown(name))
            }
            _ => Err(unknown(name)),
        }
    }

    /// Whether the algorithm has what this names; its messages are of these kinds.
    pub fn fits(&self, info: &AlgorithmInfo, kinds: &[&str]) -> bool {
        match self {
            Self::Messages(wanted) => wanted.iter().any(|kind| kinds.contains(&kind.as_str())),
            Self::Note(name, _) => info.more.notes.iter().any(|(known, _)| known == name),
            Self::Column(_)
            | Self::Fate(_)
            | Self::Received(_)
            | Self::Entry(..)
            | Self::Sync { .. }
            | Self::Before(..)
            | Self::HolderLinks
            | Self::PairsAgainstPriority
            | Self::ConnectedShare => true,
        }
    }

    /// What it was in this run; `None` where the run does not have it.
    pub fn of(&self, plan: &Plan, run: &Run, summary: &Summary) -> Option<f64> {
        match self {
            Self::Column(column) => (column.of)(summary).number(),
            Self::Fate(fate) => Some(f64::from(u8::from(fate.of(run, summary)))),
            Self::Messages(kinds) => {
                let wanted = |of: &str| kinds.iter().any(|kind| kind == of);
                let rows = run.messages.iter().filter(|((.., of), _)| wanted(of));
                Some(rows.map(|(_, row)| row.sent).sum::<u64>() as f64)
            }
            Self::Received(statistic) => {
                let mut received = (0..plan.nodes)
                    .map(|node| (NodeId(node), 0))
                    .collect::<BTreeMap<_, _>>();
                for ((_, to, _), row) in &run.messages {
                    *received.get_mut(&(*to)?)? += row.received;
                }
                let received = received.values().map(|&count| count as f64);
                statistic.of(received.collect())
            }
            Self::Note(name, statistic) => {
                let Some(row) = run.window.notes.get(name) else {
                    return matches!(statistic, Statistic::Count | Statistic::Sum).then_some(0.0);
                };
                Some(match statistic {
                    Statistic::Count => row.count as f64,
                    Statistic::Sum => row.sum as f64,
                    Statistic::Mean => row.sum as f64 / row.count as f64,
                    Statistic::Min => row.min as f64,
                    Statistic::Max => row.max as f64,
                    Statistic::Median | Statistic::P99 => return None,
                })
            }
            Self::Entry(column, statistic, choice) => {
                let measured = Measured::of(plan, run);
                let counted = match column {
                    Column::PassedOver => order::passed_over(run),
                    Column::Overtaken => order::overtaken(run),
                    Column::Wait | Column::Turnaround | Column::Messages => Vec::new(),
                };
                let rows = run.requests.iter().enumerate().filter(|(_, row)| {
                    !row.uninvited && measured.contains(row) && choice.takes(row)
                });
                let since_arrival = |row: &RequestRow, ns: Option<u64>| {
                    Some(ns?.saturating_sub(row.arrived_ns) as f64 / 1e3)
                };
                let values = rows.filter_map(|(place, row)| match column {
                    Column::Wait => since_arrival(row, row.entered_ns),
                    Column::Turnaround => since_arrival(row, row.left_ns),
                    Column::Messages => Some(row.messages? as f64),
                    Column::PassedOver | Column::Overtaken => Some(counted[place]? as f64),
                });
                statistic.of(values.collect())
            }
            Self::Sync {
                in_delays,
                statistic,
                between,
            } => {
                let measured = Measured::of(plan, run);
                let admitted = (plan.info().more.admits)(&plan.params);
                let handovers = times::handovers(run, &stays(run), admitted);
                let unit_ns = match in_delays {
                    true => summary.link_delay_mean_us.filter(|&unit| unit > 0.0)? * 1e3,
                    false => 1e3,
                };
                let node = |row: usize| run.requests[row].node;
                let chosen = handovers.iter().filter(|handover| {
                    let pair = (node(handover.after), node(handover.row));
                    measured.contains(&run.requests[handover.row])
                        && between.is_none_or(|wanted| wanted == pair)
                });
                statistic.of(chosen.map(|one| one.delay_ns as f64 / unit_ns).collect())
            }
            Self::HolderLinks => {
                let links = plan.build_topology().ok()?.without_direction();
                Some(links.neighbours(plan.holder).count() as f64)
            }
            Self::PairsAgainstPriority => Some(order::pairs_against_priority(run) as f64),
            Self::ConnectedShare => {
                let connected = plan.connected_for_good()?;
                let asked = run.requests.iter().filter(|row| !row.uninvited);
                let asked = asked.map(|row| f64::from(u8::from(connected[row.node.index()])));
                let asked = asked.collect::<Vec<_>>();
                Statistic::Mean.of(asked)
            }
            Self::Before(first, second) => {
                let entered = |node: &NodeId| {
                    let rows = run.requests.iter().filter(|row| row.node == *node);
                    rows.filter_map(|row| row.entered_ns).min()
                };
                let before = match (entered(first), entered(second)) {
                    (Some(first_ns), Some(second_ns)) => first_ns < second_ns,
                    (Some(_), None) => true,
                    (None, _) => false,
                };
                Some(f64::from(u8::from(before)))
            }
        }
    }
}

impl Fate {
    fn of(self, run: &Run, summary: &Summary) -> bool {
        match self {
            Fate::Violated => summary.verdict == Verdict::Violated,
            Fate::Unsafe => summary.safety == Status::Violated,
            Fate::NotLive => summary.liveness == Status::Violated,
            Fate::Inconclusive => summary.verdict == Verdict::Inconclusive,
            Fate::Deadlock => run.end == End::Deadlock,
            Fate::LiveLock => run.end == End::LiveLock,
            Fate::TimeLimit => run.end == End::TimeLimit,
        }
    }
}

impl Statistic {
    fn of(self, mut values: Vec<f64>) -> Option<f64> {
        let count = values.len();
        if count == 0 {
            return matches!(self, Statistic::Count | Statistic::Sum).then_some(0.0);
        }
        values.sort_by(f64::total_cmp);
        let quantile = |share: f64| values[((share * count as f64).ceil() as usize).max(1) - 1];
        Some(match self {
            Statistic::Count => count as f64,
            Statistic::Sum => values.iter().sum(),
            Statistic::Mean => values.iter().sum::<f64>() / count as f64,
            Statistic::Min => values[0],
            Statistic::Max => values[count - 1],
            Statistic::Median => quantile(0.5),
            Statistic::P99 => quantile(0.99),
        })
    }
}

impl Choice {
    fn parse(text: &str) -> Result<Self, String> {
        let mut choice = Self::default();
        for part in text.split(',') {
            let wrong = || format!("'[{text}]': node=0, node!=0 or priority=2 is expected");
            let (key, number) = part.split_once('=').ok_or_else(wrong)?;
            let (key, equal) = match key.strip_suffix('!') {
                Some(key) => (key, false),
                None => (key, true),
            };
            let wanted = Some((equal, number.parse().map_err(|_| wrong())?));
            match key {
                "node" => choice.node = wanted,
                "priority" => choice.priority = wanted,
                _ => return Err(wrong()),
            }
        }
        Ok(choice)
    }

    fn takes(&self, row: &RequestRow) -> bool {
        let fits = |wanted: Option<(bool, u32)>, is: u32| {
            wanted.is_none_or(|(equal, number)| equal == (is == number))
        };
        fits(self.node, row.node.0) && fits(self.priority, row.priority)
    }
}

fn named<T: Copy>(word: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known = known.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        format!("there is no '{word}'; there are {}", known.join(", "))
    })
}

fn nodes(pair: &str, between: char) -> Result<(NodeId, NodeId), String> {
    let numbers = pair.split_once(between);
    let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (first, second) =
        numbers.ok_or_else(|| format!("'[{pair}]': two nodes are expected, [0{between}1]"))?;
    Ok((NodeId(first), NodeId(second)))
}

fn unknown(name: &str) -> String {
    let known = Summary::metrics().map(|column| column.name);
    let known = known.collect::<Vec<_>>().join(", ");
    format!(
        "nothing measured is called '{name}'; there are violated, unsafe, not_live, inconclusive, \
         deadlock, live_lock, time_limit, messages.KIND, received.max, note.NAME.sum, \
         info.wait_us.mean, sync_t.mean, holder_links, pairs_against_priority, connected_share, \
         before[0,1], and {known}"
    )
}

#[cfg(test)]
mod tests {
    use model::run::{MessageRow, NoteRow};

    use super::*;
    use crate::fixtures::{entry, faults, plan, run};

    fn value(name: &str, run: &Run) -> Option<f64> {
        let plan = Plan {
            topology: "star".parse().unwrap(),
            ..plan("raymond", 3)
        };
        let links = plan.build_topology().unwrap();
        let judgement = crate::judge(&plan, &links, run);
        let quantity = Quantity::parse(name).unwrap();
        quantity.of(&plan, run, &judgement.summary)
    }

    fn sample() -> Run {
        let mut run = run(vec![
            entry(0, 0, 1_000, 5_000),
            entry(1, 1_000, 7_000, 9_000),
            entry(2, 2_000, 12_000, 13_000),
        ]);
        run.requests[2].priority = 4;
        (run.requests[1].registered, run.requests[2].registered) = (Some(2), Some(1));
        let row = |sent, received| MessageRow {
            sent,
            received,
            ..MessageRow::default()
        };
        let link = |from, to, kind| (NodeId(from), Some(NodeId(to)), kind);
        run.messages.insert(link(0, 1, "TOKEN"), row(3, 3));
        run.messages.insert(link(2, 1, "REQUEST"), row(4, 4));
        run.messages.insert(link(1, 0, "TOKEN"), row(2, 2));
        let hops = NoteRow {
            count: 2,
            sum: 6,
            min: 1,
            max: 5,
        };
        run.window.notes.insert("hops".to_owned(), hops);
        run
    }

    #[test]
    fn every_kind_of_quantity_is_found_in_a_run() {
        let run = sample();
        for (name, expected) in [
            ("entries", 3.0),
            ("violated", 0.0),
            ("deadlock", 0.0),
            ("messages.TOKEN", 5.0),
            ("messages.TOKEN+REQUEST", 9.0),
            ("received.max", 7.0),
            ("received.mean", 3.0),
            ("note.hops.mean", 3.0),
            ("note.hops.max", 5.0),
            ("entry.wait_us.mean", 17.0 / 3.0),
            ("entry.wait_us.max[node!=2]", 6.0),
            ("entry.wait_us.count[priority=4]", 1.0),
            ("entry.turnaround_us.max", 11.0),
            ("entry.passed_over.max", 1.0),
            ("entry.overtaken.max", 1.0),
            ("entry.overtaken.max[node=1]", 0.0),
            ("holder_links", 2.0),
            ("pairs_against_priority", 1.0),
            ("connected_share", 1.0),
            ("sync_us.mean", 2.5),
            ("sync_us.max[1>2]", 3.0),
            ("sync_us.count[2>1]", 0.0),
            ("before[0,1]", 1.0),
            ("before[2,1]", 0.0),
        ] {
            let found = value(name, &run);
            assert!(
                found.is_some_and(|found| (found - expected).abs() < 1e-9),
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn whoever_is_cut_off_for_good_is_not_connected() {
        let share = |fault: &str| {
            let plan = Plan {
                topology: "path".parse().unwrap(),
                faults: faults(3, [fault]),
                ..plan("raymond", 3)
            };
            let run = sample();
            let judgement = crate::judge(&plan, &plan.build_topology().unwrap(), &run);
            let quantity = Quantity::parse("connected_share").unwrap();
            quantity.of(&plan, &run, &judgement.summary)
        };
        assert_eq!(share("at 0s cut 1-2"), Some(2.0 / 3.0));
        assert_eq!(share("at 5ms cut 0->1"), Some(1.0 / 3.0));
        assert_eq!(share("delay 5ms on 0-1"), Some(1.0));
        assert_eq!(share("at 0s cut 1-2 for 1s"), None);
        assert_eq!(share("at 1s kill 1"), None);
    }

    #[test]
    fn what_was_never_noted_has_a_sum_and_no_mean() {
        let run = sample();
        assert_eq!(value("note.strays.sum", &run), Some(0.0));
        assert_eq!(value("note.strays.mean", &run), None);
        assert_eq!(value("entry.messages.max", &run), None);
    }

    #[test]
    fn every_name_is_documented_and_every_documented_name_means_something() {
        let page = include_str!("../../../docs/sweeps.md");
        let (_, table) = page.split_once("## What can be measured").unwrap();
        let words = FATES.map(|(word, _)| word).into_iter();
        let words = words.chain(COLUMNS.map(|(word, _)| word));
        let words = words.chain(STATISTICS.map(|(word, _)| word));
        for word in words.chain(["holder_links", "pairs_against_priority", "connected_share"]) {
            assert!(table.contains(word), "{word}");
        }
        let cells = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = cells.filter_map(|row| row.split(" |").next());
        let names = cells.flat_map(|cell| cell.split("`, `"));
        let names = names.map(|name| name.trim_matches('`'));
        let names = names.filter(|name| !name.starts_with('.'));
        let names = names.collect::<Vec<_>>();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(Quantity::parse(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_name_that_means_nothing_is_refused() {
        for name in [
            "beauty",
            "entry.beauty.mean",
            "entry.wait_us.average",
            "entry.wait_us.mean[colour=1]",
            "note.hops.p99",
            "sync_us.mean[1]",
            "before[1]",
            "seed",
        ] {
            assert!(Quantity::parse(name).is_err(), "{name}");
        }
    }
}
