//! `run.json`: where a run came from, how it ended, and how it was judged.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use algorithms::params::Params;
use algorithms::{NodeId, Topology};
use chaos::Totals;
use model::plan::{MEMORY_LIMIT_BYTES, Plan, members_bytes};
use model::run::{End, Engine, Run, StateBytes, Window};
use safe_io::input;
use serde::{Deserialize, Serialize};

use super::FilesError;
use super::table::MOST_COUNTED;
use crate::{Judgement, Property, Verdict};

pub(super) const NAME: &str = "run.json";

/// The most bytes of it: it holds the requests of a trace, one by one.
const MOST_BYTES: u64 = 1 << 30;

/// The form of the files; it rises when a column changes its meaning.
const SCHEMA: u32 = 1;

/// Where a run came from: everything about it that need not repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The run's name, as in `results/NAME/`; runs of earlier versions do not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The commit it was built from, where that is known.
    pub commit: Option<String>,
    /// The machine it ran on.
    pub host: String,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// When the run began, in UTC; see [`utc`].
    pub started: String,
    /// When the run was over, in UTC.
    pub finished: String,
}

/// The moment that [`utc`] has written so.
pub(super) fn from_utc(text: &str) -> Option<SystemTime> {
    let numbers = text.strip_suffix('Z')?.split(['-', 'T', ':']);
    let numbers = numbers.map(|part| part.parse::<u64>().ok());
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    let [
        year @ 1970..=9999,
        month @ 1..=12,
        day,
        hour,
        minute,
        second,
    ] = numbers[..]
    else {
        return None;
    };
    // The year begins with March, so that a day is added at its end and nowhere else.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5;
    let days = (days + day).checked_sub(719_469)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// A moment as `2026-02-28T23:59:59Z`.
pub fn utc(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (mut days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        days + 1
    )
}

/// How far a run came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum State {
    /// It came to its end.
    Complete,
    /// The testbed failed.
    Failed {
        /// What failed, and how.
        why: String,
    },
    /// Somebody interrupted it; what was recorded until then is here.
    Interrupted,
    /// Its orchestrator was killed; what was recorded until then is here.
    Abandoned,
}

impl State {
    /// The state that a run is in.
    pub fn of(run: &Run) -> Self {
        match (run.end, &run.failure) {
            (_, Some(why)) => Self::Failed { why: why.clone() },
            (End::Failed, None) => Self::Failed { why: String::new() },
            (End::Interrupted, None) => Self::Interrupted,
            (End::Abandoned, None) => Self::Abandoned,
            (
                End::Finished | End::Deadlock | End::LiveLock | End::TimeLimit | End::ProgramFailed,
                None,
            ) => Self::Complete,
        }
    }

    /// What failed, if the testbed did.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed { why } => Some(why),
            Self::Complete | Self::Interrupted | Self::Abandoned => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Failed { .. } => "failed",
            Self::Interrupted => "interrupted",
            Self::Abandoned => "abandoned",
        })
    }
}

/// The whole of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunFile {
    schema: u32,
    scenario: Plan,
    seed: u64,
    engine: Engine,
    #[serde(flatten)]
    provenance: Provenance,
    /// Runs from before there was such a field were written only if they came to an end.
    #[serde(default)]
    state: Option<State>,
    pub verdict: Sentence,
    run: Remainder,
}

/// The verdict on a run and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sentence {
    pub verdict: Verdict,
    pub safety: Property,
    pub liveness: Property,
    pub well_formedness: Property,
    pub reasons: Vec<String>,
}

/// What was measured and has no table of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Remainder {
    end: End,
    ended_ns: u64,
    window: Window,
    most_inside: Option<u32>,
    link_delay_sum_ns: u64,
    link_delay_count: u64,
    bound_broken: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy: Option<Totals>,
    state_bytes: StateBytes,
    protocol_error_count: u64,
    protocol_errors: Vec<ProtocolError>,
    /// How many lines `events.jsonl` has, where there is one.
    #[serde(default)]
    events: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProtocolError {
    time_ns: u64,
    node: NodeId,
    why: String,
}

impl Sentence {
    pub(super) fn of(judgement: &Judgement) -> Self {
        Self {
            verdict: judgement.verdict,
            safety: judgement.safety.clone(),
            liveness: judgement.liveness.clone(),
            well_formedness: judgement.well_formedness.clone(),
            reasons: judgement.reasons.clone(),
        }
    }
}

impl RunFile {
    pub(super) fn new(
        plan: &Plan,
        run: &Run,
        judgement: &Judgement,
        provenance: &Provenance,
    ) -> Self {
        let errors = run.protocol_errors.iter().cloned();
        Self {
            schema: SCHEMA,
            scenario: plan.clone(),
            seed: plan.seed,
            engine: run.engine,
            provenance: provenance.clone(),
            state: Some(State::of(run)),
            verdict: Sentence::of(judgement),
            run: Remainder {
                end: run.end,
                ended_ns: run.ended_ns,
                window: run.window.clone(),
                most_inside: run.most_inside,
                link_delay_sum_ns: run.link_delay_sum_ns,
                link_delay_count: run.link_delay_count,
                bound_broken: run.bound_broken,
                proxy: run.proxy,
                state_bytes: run.state_bytes,
                protocol_error_count: run.protocol_error_count,
                protocol_errors: errors
                    .map(|(time_ns, node, why)| ProtocolError { time_ns, node, why })
                    .collect(),
                events: run.events,
            },
        }
    }

    pub(super) fn write(&self, dir: &Path) -> Result<(), FilesError> {
        let path = dir.join(NAME);
        let mut text = serde_json::to_string_pretty(self).expect("a record is plain data");
        text.push('\n');
        // On a full disk the one that is there stays.
        let fresh = dir.join(".run.json");
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, &path))
            .map_err(|source| {
                let _ = fs::remove_file(&fresh);
                FilesError::io("write", &path, source)
            })
    }

    /// Reads the record, checks that its plan is one that could have been made, and builds its links.
    pub(super) fn read(dir: &Path) -> Result<(Self, Topology), FilesError> {
        let path = dir.join(NAME);
        let mut text = String::new();
        input::open(&path, MOST_BYTES)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|source| FilesError::io("read", &path, source))?;
        let unfit = |why: String| FilesError::record(&path, why);
        // The form is asked for first: a file of another form would be refused for a wrong reason.
        let Form { schema } =
            serde_json::from_str(&text).map_err(|error| unfit(error.to_string()))?;
        if schema != SCHEMA {
            return Err(unfit(format!(
                "its schema is {schema}, expected {SCHEMA}; another version wrote it"
            )));
        }
        let mut record: Self =
            serde_json::from_str(&text).map_err(|error| unfit(error.to_string()))?;
        let topology = record.check().map_err(unfit)?;
        Ok((record, topology))
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.scenario
    }

    pub(super) fn engine(&self) -> Engine {
        self.engine
    }

    /// How far the run came.
    pub(super) fn state(&self) -> State {
        let of_end = || match self.run.end {
            End::Interrupted => State::Interrupted,
            _ => State::Complete,
        };
        self.state.clone().unwrap_or_else(of_end)
    }

    pub(super) fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    pub(super) fn into_plan(self) -> (Plan, Provenance) {
        (self.scenario, self.provenance)
    }

    /// The run as far as this file knows it.
    pub(super) fn run(&self) -> Run {
        let rest = &self.run;
        let errors = rest.protocol_errors.iter().cloned();
        Run {
            engine: self.engine,
            window: rest.window.clone(),
            protocol_errors: errors
                .map(|error| (error.time_ns, error.node, error.why))
                .collect(),
            protocol_error_count: rest.protocol_error_count,
            state_bytes: rest.state_bytes,
            link_delay_sum_ns: rest.link_delay_sum_ns,
            link_delay_count: rest.link_delay_count,
            bound_broken: rest.bound_broken,
            proxy: rest.proxy,
            most_inside: rest.most_inside,
            events: rest.events,
            end: rest.end,
            ended_ns: rest.ended_ns,
            failure: self.state().failure().map(str::to_owned),
            ..Run::default()
        }
    }

    /// Checks what a plan promises to everybody who uses it. Parameters that were not there when
    /// the run was made get their defaults.
    fn check(&mut self) -> Result<Topology, String> {
        let plan = &mut self.scenario;
        let info = plan.info();
        let given = plan.params.iter();
        let given = given
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .collect::<BTreeMap<_, _>>();
        plan.params = Params::resolve(info.name, info.more.params, &given)
            .map_err(|error| format!("scenario.params: {error}"))?;
        if !info.admits_size(plan.nodes) {
            let nodes = plan.nodes;
            return Err(format!(
                "scenario.nodes: {} does not admit {nodes}",
                info.name
            ));
        }
        if let Some(why) = (info.more.refuses)(&plan.params, plan.nodes) {
            return Err(format!("scenario.params: {}: {why}", info.name));
        }
        if members_bytes(info, plan.nodes) > MEMORY_LIMIT_BYTES {
            let (nodes, limit) = (plan.nodes, MEMORY_LIMIT_BYTES >> 30);
            return Err(format!(
                "scenario.nodes: {nodes} nodes of {} take more than {limit} GiB",
                info.name
            ));
        }
        if plan.holder.0 >= plan.nodes {
            let last = plan.nodes - 1;
            let holder = plan.holder;
            return Err(format!(
                "scenario.holder: found {holder}, expected a node from 0 to {last}"
            ));
        }
        if self.seed != plan.seed {
            let (seed, other) = (self.seed, plan.seed);
            return Err(format!(
                "seed: found {seed}, expected the scenario's, {other}"
            ));
        }
        if let Some(proxy) = self.run.proxy.filter(|proxy| most(proxy) > MOST_COUNTED) {
            let most = most(&proxy);
            return Err(format!("run.proxy: found {most}, expected at most 2^53"));
        }
        plan.build_topology()
            .map_err(|error| format!("scenario.topology: {} {error}", info.name))
    }
}

/// The largest of the counts, which are added to those of the members.
fn most(proxy: &Totals) -> u64 {
    let &Totals {
        received,
        delivered,
        lost,
        doubled,
        under_way,
        strays,
        unsent,
        overflowed,
    } = proxy;
    let counts = [
        received, delivered, lost, doubled, under_way, strays, unsent,
    ];
    counts.into_iter().chain(overflowed).fold(0, u64::max)
}

/// The one field that every form has.
#[derive(Deserialize)]
struct Form {
    schema: u32,
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
        for seconds in [0, 951_782_399, 951_782_400, 1_772_323_199, 4_107_542_399] {
            let moment = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(from_utc(&utc(moment)), Some(moment), "{}", utc(moment));
        }
        for wrong in [
            "",
            "2026-13-01T00:00:00Z",
            "2026-01-01",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(from_utc(wrong), None, "{wrong}");
        }
    }
}
