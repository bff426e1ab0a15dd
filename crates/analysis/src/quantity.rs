//! What a run measured, by name: the columns of `summary.csv` and the quantities below.
//!
//! A quantity is one row of `QUANTITIES`. How its name is read, how it is computed, its place in
//! error messages and its line in `docs/sweeps.md` follow from it.

use std::collections::BTreeMap;
use std::fmt;

use algorithms::NodeId;
use algorithms::registry::AlgorithmInfo;
use model::plan::Plan;
use model::run::{End, NoteRow, RequestRow, Run};

use Measure::{Before, Entries, Handovers, Messages, Nodes, Note, Number};

use crate::measured::Measured;
use crate::occupancy::stays;
use crate::summary::Summary;
use crate::{Status, Verdict, order, times};

/// Something that a run measured.
#[derive(Debug)]
pub enum Quantity {
    /// A column of `summary.csv`.
    Column(&'static crate::Column<Summary>),
    /// A quantity that is worked out where a claim or a sweep asks for it.
    Derived(Derived),
}

/// A quantity that no column of `summary.csv` has.
pub struct Derived {
    name: String,
    of: Compute,
    needs: Needs,
}

/// Works a quantity out of a run; `None` where the run does not have it.
type Compute = Box<dyn Fn(&Seen<'_>) -> Option<f64> + Send + Sync>;

/// What an algorithm must have for a quantity to mean something.
enum Needs {
    Nothing,
    /// One of these kinds of messages.
    Messages(Vec<String>),
    /// A note of this name.
    Note(String),
}

/// A run, and what it was judged to be.
#[derive(Clone, Copy)]
struct Seen<'a> {
    plan: &'a Plan,
    run: &'a Run,
    summary: &'a Summary,
}

/// One line of the table of quantities.
struct Row {
    name: &'static str,
    about: &'static str,
    measure: Measure,
}

/// How a quantity is computed, and with that what its name is followed by.
#[derive(Clone, Copy)]
enum Measure {
    /// One number of the run: `holder_links`.
    Number(fn(&Seen<'_>) -> Option<f64>),
    /// A statistic over one value for each node: `received.max`.
    Nodes(fn(&Seen<'_>) -> Option<Vec<f64>>),
    /// A statistic over one value for each request, of those that entered while the run was
    /// measured: `entry.wait_us.max[node=0]`.
    Entries(fn(&Run) -> Vec<Option<f64>>),
    /// A statistic over hand-overs in this unit, in nanoseconds: `sync_us.mean[0>1]`.
    Handovers(fn(&Summary) -> Option<f64>),
    /// How many messages of these kinds were sent: `messages.REQUEST+REPLY`.
    Messages,
    /// A statistic over what the algorithm noted: `note.hops.mean`.
    Note,
    /// Whether one node entered before another: `before[8,11]`.
    Before,
}

/// Declares the table of quantities: the meaning, as `docs/sweeps.md` says it, the name or what all
/// its names begin with, and how it is computed.
macro_rules! quantities {
    ($($(#[doc = $about:literal])+ $name:literal: $measure:expr;)+) => {
        static QUANTITIES: &[Row] = &[$(Row {
            name: $name,
            about: concat!($($about),+),
            measure: $measure,
        }),+];
    };
}

quantities! {
    /// 1 if a property was violated, else 0
    "violated": Number(|seen| yes(seen.summary.verdict == Verdict::Violated));
    /// 1 if safety was violated, else 0
    "unsafe": Number(|seen| yes(seen.summary.safety == Status::Violated));
    /// 1 if liveness was violated, else 0
    "not_live": Number(|seen| yes(seen.summary.liveness == Status::Violated));
    /// 1 if the verdict is inconclusive, else 0
    "inconclusive": Number(|seen| yes(seen.summary.verdict == Verdict::Inconclusive));
    /// 1 if the run ended because somebody waited and nothing moved, else 0
    "deadlock": Number(|seen| yes(seen.run.end == End::Deadlock));
    /// 1 if the run ended because somebody waited while messages went on, else 0
    "live_lock": Number(|seen| yes(seen.run.end == End::LiveLock));
    /// 1 if the time limit ended the run, else 0
    "time_limit": Number(|seen| yes(seen.run.end == End::TimeLimit));
    /// messages of that kind, or of several, sent in the run; `orchestrator explain` names the kinds
    "messages": Messages;
    /// messages that a node received, over the nodes
    "received": Nodes(received);
    /// what the algorithm noted while it was measured; `orchestrator explain` names the notes
    "note": Note;
    /// from the arrival of a request to its entry, over the entries
    "entry.wait_us": Entries(|run| since_arrival(run, |row| row.entered_ns));
    /// from the arrival of a request to its exit, over the entries
    "entry.turnaround_us": Entries(|run| since_arrival(run, |row| row.left_ns));
    /// messages that are charged to an entry, over the entries
    "entry.messages": Entries(|run| counts(run.requests.iter().map(|row| row.messages)));
    /// entries of others between a request and its own, over the entries
    "entry.passed_over": Entries(|run| counts(order::passed_over(run)));
    /// requests that were registered after one and entered before it, over the entries
    "entry.overtaken": Entries(|run| counts(order::overtaken(run)));
    /// from an exit to the next entry, over the hand-overs, in microseconds
    "sync_us": Handovers(|_| Some(1e3));
    /// from an exit to the next entry, over the hand-overs, in mean link delays
    "sync_t": Handovers(|summary| {
        let unit_us = summary.link_delay_mean_us.filter(|&unit| unit > 0.0)?;
        Some(unit_us * 1e3)
    });
    /// links of the node that has the token at the start, in and out
    "holder_links": Number(|seen| {
        let links = seen.plan.build_topology().ok()?.without_direction();
        Some(links.neighbours(seen.plan.holder).count() as f64)
    });
    /// the largest encoded algorithm state of a member after any event of the run, in bytes; of groups of up
    /// to 64
    "state_bytes_peak": Number(|seen| seen.run.state_bytes.peak.map(|peak| peak as f64));
    /// pairs of which the one of lower priority entered while the other waited
    "pairs_against_priority": Number(|seen| Some(order::pairs_against_priority(seen.run) as f64));
    /// the share of requests whose nodes are connected with the first holder by links that are never cut
    "connected_share": Number(connected_share);
    /// 1 if the first node entered, and before the second did, else 0
    "before": Before;
}

/// A number that stands for many.
struct Statistic {
    name: &'static str,
    /// Over one or more values, in ascending order.
    of: fn(&[f64]) -> f64,
    /// Over no values, where that means something.
    of_none: Option<f64>,
    /// Over the values of a note, of which not each one is recorded.
    of_note: Option<fn(&NoteRow) -> f64>,
}

static STATISTICS: &[Statistic] = &[
    Statistic {
        name: "count",
        of: |values| values.len() as f64,
        of_none: Some(0.0),
        of_note: Some(|note| note.count as f64),
    },
    Statistic {
        name: "sum",
        of: |values| values.iter().sum(),
        of_none: Some(0.0),
        of_note: Some(|note| note.sum as f64),
    },
    Statistic {
        name: "mean",
        of: |values| values.iter().sum::<f64>() / values.len() as f64,
        of_none: None,
        of_note: Some(|note| note.sum as f64 / note.count as f64),
    },
    Statistic {
        name: "min",
        of: |values| values[0],
        of_none: None,
        of_note: Some(|note| note.min as f64),
    },
    Statistic {
        name: "max",
        of: |values| values[values.len() - 1],
        of_none: None,
        of_note: Some(|note| note.max as f64),
    },
    Statistic {
        name: "p50",
        of: |values| quantile(values, 0.5),
        of_none: None,
        of_note: None,
    },
    Statistic {
        name: "p99",
        of: |values| quantile(values, 0.99),
        of_none: None,
        of_note: None,
    },
];

/// Which entries are looked at.
#[derive(Clone, Copy, Default)]
struct Choice {
    node: Option<(bool, u32)>,
    priority: Option<(bool, u32)>,
}

impl Quantity {
    /// The quantity of that name, or what there is instead.
    pub fn parse(name: &str) -> Result<Self, String> {
        if let Some(column) = Summary::metric(name) {
            return Ok(Self::Column(column));
        }
        let (path, brackets) = match name.split_once('[') {
            Some((path, brackets)) => (path, Some(brackets.trim_end_matches(']'))),
            None => (name, None),
        };
        let mut rows = QUANTITIES.iter().filter_map(|row| {
            let rest = path.strip_prefix(row.name)?;
            let rest = rest.strip_prefix('.').or(rest.is_empty().then_some(""))?;
            Some((row.measure, rest))
        });
        let (measure, rest) = rows.next().ok_or_else(|| unknown(name))?;
        let mut needs = Needs::Nothing;
        let of: Compute = match (measure, brackets) {
            (Number(of), None) if rest.is_empty() => Box::new(of),
            (Nodes(of), None) => {
                let statistic = Statistic::named(rest)?;
                Box::new(move |seen| statistic.of(of(seen)?))
            }
            (Entries(of), choice) => {
                let statistic = Statistic::named(rest)?;
                let choice = choice.map_or(Ok(Choice::default()), Choice::parse)?;
                Box::new(move |seen| statistic.of(choice.among(seen, of(seen.run))))
            }
            (Handovers(unit_ns), pair) => {
                let statistic = Statistic::named(rest)?;
                let between = pair.map(|pair| nodes(pair, '>')).transpose()?;
                Box::new(move |seen| statistic.of(handovers(seen, unit_ns(seen.summary)?, between)))
            }
            (Messages, None) if !rest.is_empty() => {
                let kinds = rest.split('+').map(str::to_owned).collect::<Vec<_>>();
                needs = Needs::Messages(kinds.clone());
                Box::new(move |seen| Some(messages(seen.run, &kinds) as f64))
            }
            (Note, None) => {
                let (note, statistic) = rest.split_once('.').ok_or_else(|| unknown(name))?;
                let statistic = Statistic::named(statistic)?;
                let of = statistic.of_note.ok_or_else(|| {
                    let kept = STATISTICS.iter().filter(|one| one.of_note.is_some());
                    let kept = kept.map(|one| one.name).collect::<Vec<_>>().join(", ");
                    format!("'{name}': of notes there are only {kept}")
                })?;
                let note = note.to_owned();
                needs = Needs::Note(note.clone());
                Box::new(move |seen| {
                    let row = seen.run.window.notes.get(&note);
                    row.map(of).or(statistic.of_none)
                })
            }
            (Before, Some(pair)) if rest.is_empty() => {
                let (first, second) = nodes(pair, ',')?;
                Box::new(move |seen| yes(is_before(seen.run, first, second)))
            }
            _ => return Err(unknown(name)),
        };
        Ok(Self::Derived(Derived {
            name: name.to_owned(),
            of,
            needs,
        }))
    }

    /// Whether the algorithm has what this names; its messages are of these kinds.
    pub fn fits(&self, info: &AlgorithmInfo, kinds: &[&str]) -> bool {
        let Self::Derived(derived) = self else {
            return true;
        };
        match &derived.needs {
            Needs::Nothing => true,
            Needs::Messages(wanted) => wanted.iter().any(|kind| kinds.contains(&kind.as_str())),
            Needs::Note(name) => info.more.notes.iter().any(|(known, _)| known == name),
        }
    }

    /// What it was in this run; `None` where the run does not have it.
    pub fn of(&self, plan: &Plan, run: &Run, summary: &Summary) -> Option<f64> {
        match self {
            Self::Column(column) => (column.of)(summary).number(),
            Self::Derived(derived) => (derived.of)(&Seen { plan, run, summary }),
        }
    }

    /// The lines of a table of all quantities that are not columns: name and meaning.
    pub fn documented() -> impl Iterator<Item = String> {
        let rows = QUANTITIES.iter();
        rows.map(|row| format!("| `{}` | {} |", row.pattern(), row.about.trim()))
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Derived({})", self.name)
    }
}

impl Row {
    /// Its name, with capitals for what the reader fills in.
    fn pattern(&self) -> String {
        let rest = match self.measure {
            Number(_) => "",
            Nodes(_) | Entries(_) | Handovers(_) => ".STATISTIC",
            Messages => ".KIND+KIND",
            Note => ".NAME.STATISTIC",
            Before => "[8,11]",
        };
        format!("{}{rest}", self.name)
    }
}

impl Statistic {
    fn named(name: &str) -> Result<&'static Self, String> {
        let found = STATISTICS.iter().find(|known| known.name == name);
        found.ok_or_else(|| {
            let known = STATISTICS.iter().map(|known| known.name);
            let known = known.collect::<Vec<_>>().join(", ");
            format!("there is no '{name}'; there are {known}")
        })
    }

    fn of(&self, mut values: Vec<f64>) -> Option<f64> {
        if values.is_empty() {
            return self.of_none;
        }
        values.sort_by(f64::total_cmp);
        Some((self.of)(&values))
    }
}

/// The value that this share of the values, which are in ascending order, does not exceed.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = (share * values.len() as f64).ceil() as usize;
    values[place.max(1) - 1]
}

fn yes(is_so: bool) -> Option<f64> {
    Some(f64::from(u8::from(is_so)))
}

/// For each request, the time from its arrival to that moment, in microseconds.
fn since_arrival(run: &Run, until: fn(&RequestRow) -> Option<u64>) -> Vec<Option<f64>> {
    let since = |row| Some(until(row)?.saturating_sub(row.arrived_ns) as f64 / 1e3);
    run.requests.iter().map(since).collect()
}

fn counts(counts: impl IntoIterator<Item = Option<u64>>) -> Vec<Option<f64>> {
    let numbers = counts.into_iter().map(|count| Some(count? as f64));
    numbers.collect()
}

/// How many messages of these kinds were sent.
fn messages(run: &Run, kinds: &[String]) -> u64 {
    let wanted = |of: &str| kinds.iter().any(|kind| kind == of);
    let rows = run.messages.iter().filter(|((.., of), _)| wanted(of));
    rows.map(|(_, row)| row.sent).sum()
}

/// How many messages each node received; `None` where it is not known who did.
fn received(seen: &Seen<'_>) -> Option<Vec<f64>> {
    let nodes = (0..seen.plan.nodes).map(|node| (NodeId(node), 0));
    let mut received = nodes.collect::<BTreeMap<_, _>>();
    for ((_, to, _), row) in &seen.run.messages {
        *received.get_mut(&(*to)?)? += row.received;
    }
    Some(received.values().map(|&count| count as f64).collect())
}

/// How long the measured hand-overs took in this unit, perhaps only those of one pair of nodes.
fn handovers(seen: &Seen<'_>, unit_ns: f64, between: Option<(NodeId, NodeId)>) -> Vec<f64> {
    let Seen { plan, run, .. } = *seen;
    let measured = Measured::of(plan, run);
    let admitted = (plan.info().more.admits)(&plan.params);
    let node = |row: usize| run.requests[row].node;
    let handovers = times::handovers(run, &stays(run), admitted);
    let chosen = handovers.iter().filter(|handover| {
        let pair = (node(handover.after), node(handover.row));
        measured.contains(&run.requests[handover.row])
            && between.is_none_or(|wanted| wanted == pair)
    });
    chosen.map(|one| one.delay_ns as f64 / unit_ns).collect()
}

/// The share of requests whose nodes are connected with the first holder by links never cut.
fn connected_share(seen: &Seen<'_>) -> Option<f64> {
    let connected = seen.plan.connected_for_good()?;
    let asked = seen.run.requests.iter().filter(|row| !row.uninvited);
    let (all, with_holder) = asked.fold((0_u64, 0_u64), |(all, with_holder), row| {
        let is_connected = connected[row.node.index()];
        (all + 1, with_holder + u64::from(is_connected))
    });
    (all > 0).then(|| with_holder as f64 / all as f64)
}

/// Whether the first node entered at all, and before the second did.
fn is_before(run: &Run, first: NodeId, second: NodeId) -> bool {
    let entered = |node: NodeId| {
        let rows = run.requests.iter().filter(|row| row.node == node);
        rows.filter_map(|row| row.entered_ns).min()
    };
    match (entered(first), entered(second)) {
        (Some(first_ns), Some(second_ns)) => first_ns < second_ns,
        (Some(_), None) => true,
        (None, _) => false,
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

    /// Of one value for each request, those of the measured entries that are looked at.
    fn among(&self, seen: &Seen<'_>, values: Vec<Option<f64>>) -> Vec<f64> {
        let measured = Measured::of(seen.plan, seen.run);
        let rows = seen.run.requests.iter().zip(values);
        let chosen =
            rows.filter(|(row, _)| !row.uninvited && measured.contains(row) && self.takes(row));
        chosen.filter_map(|(_, value)| value).collect()
    }

    fn takes(&self, row: &RequestRow) -> bool {
        let fits = |wanted: Option<(bool, u32)>, is: u32| {
            wanted.is_none_or(|(equal, number)| equal == (is == number))
        };
        fits(self.node, row.node.0) && fits(self.priority, row.priority)
    }
}

fn nodes(pair: &str, between: char) -> Result<(NodeId, NodeId), String> {
    let numbers = pair.split_once(between);
    let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (first, second) =
        numbers.ok_or_else(|| format!("'[{pair}]': two nodes are expected, [0{between}1]"))?;
    Ok((NodeId(first), NodeId(second)))
}

fn unknown(name: &str) -> String {
    let known = QUANTITIES.iter().map(Row::pattern);
    let known = known.chain(Summary::metrics().map(|column| column.name.to_owned()));
    let known = known.collect::<Vec<_>>().join(", ");
    format!("nothing measured is called '{name}'; there are {known}")
}

#[cfg(test)]
mod tests {
    use model::run::MessageRow;

    use super::*;
    use crate::fixtures::{faults, plan, served};

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
        let mut run = served([
            (0, 0, 1_000, 5_000),
            (1, 1_000, 7_000, 9_000),
            (2, 2_000, 12_000, 13_000),
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
    fn a_node_that_is_cut_off_for_good_is_not_connected() {
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
    fn every_pattern_is_the_name_of_a_quantity() {
        for row in QUANTITIES {
            let pattern = row.pattern();
            let name = pattern.replace("STATISTIC", "mean");
            assert!(Quantity::parse(&name).is_ok(), "{name}");
            let refused = Quantity::parse("beauty").unwrap_err();
            assert!(refused.contains(&pattern), "{refused}");
        }
    }

    #[test]
    fn every_statistic_is_documented() {
        let page = include_str!("../../../docs/sweeps.md");
        let (_, part) = page.split_once("## What can be measured").unwrap();
        for statistic in STATISTICS {
            assert!(part.contains(&format!("`{}`", statistic.name)));
        }
    }

    #[test]
    fn a_name_that_means_nothing_is_refused() {
        for name in [
            "beauty",
            "entry.beauty.mean",
            "entry.wait_us",
            "holder_links.mean",
            "messages.",
            "deadlock[1,2]",
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
