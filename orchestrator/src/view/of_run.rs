//! The page of a run's directory.

use std::path::Path;
use std::str::FromStr;

use algorithms::Setting;
use analysis::files::{self, Contents};
use analysis::view::{MOST_EVENTS, Recorder, Violation, Watch, events_of_tables, usual_window};
use analysis::{Judgement, Verdict};
use chaos::span;
use model::event::Event;

use super::{Heading, ViewPage};
use crate::numbers::count;
use crate::result_table;

/// A moment, as a person names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// The event of that number, which is its line in events.jsonl.
    Event(u64),
    /// The time since the start, in nanoseconds.
    Time(u64),
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is no moment: write the number of an event, such as 1500, or a time, such as 2.5ms"
            )
        };
        if let Ok(number) = text.parse::<u64>() {
            return match number {
                0 => Err("events are counted from 1".to_owned()),
                number => Ok(At::Event(number)),
            };
        }
        span::parse_ns(text).map(At::Time).map_err(|_| wrong())
    }
}

/// Which events of a long run the page shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choice {
    /// The first event, if somebody chose one.
    pub(crate) from: Option<At>,
    /// The last event, if somebody chose one.
    pub(crate) to: Option<At>,
    /// What the page shows the surroundings of.
    pub(crate) around: Option<Around>,
}

/// What a page shows the surroundings of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// The first violation.
    Violation,
    /// A moment that the person named.
    Moment(At),
}

impl FromStr for Around {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "violation" => Ok(Around::Violation),
            _ => text
                .parse()
                .map(Around::Moment)
                .map_err(|why: String| format!("{why}, or violation")),
        }
    }
}

/// What a first look at the events finds.
#[derive(Default)]
struct Survey {
    in_all: u64,
    violation: Option<Violation>,
    /// Where each of the times asked for is among the events.
    times: Vec<Moment>,
}

/// A time, and the events beside it.
struct Moment {
    time_ns: u64,
    /// The number of the first event that is not before it, if there is one.
    next: Option<u64>,
    /// The number of the last event that is not after it; 0 if there is none.
    last: u64,
}

impl Survey {
    fn of(choice: &Choice) -> Self {
        let around = match choice.around {
            Some(Around::Moment(at)) => Some(at),
            Some(Around::Violation) | None => None,
        };
        let asked = [choice.from, choice.to, around];
        let times = asked.into_iter().flatten().filter_map(|at| match at {
            At::Time(time_ns) => Some(Moment {
                time_ns,
                next: None,
                last: 0,
            }),
            At::Event(_) => None,
        });
        Self {
            times: times.collect(),
            ..Self::default()
        }
    }

    fn take(&mut self, watch: &mut Watch, event: &Event) {
        self.in_all += 1;
        let violation = watch.take(self.in_all, event);
        self.violation = self.violation.take().or(violation);
        for moment in &mut self.times {
            if event.time_ns >= moment.time_ns {
                moment.next.get_or_insert(self.in_all);
            }
            if event.time_ns <= moment.time_ns {
                moment.last = self.in_all;
            }
        }
    }

    /// The number of the event at a moment, or of the last one.
    fn number(&self, at: At) -> u64 {
        match at {
            At::Event(number) => number.min(self.in_all),
            At::Time(ns) => self
                .at(ns)
                .and_then(|moment| moment.next)
                .unwrap_or(self.in_all),
        }
    }

    /// The number of the last event that is not after a moment.
    fn last_until(&self, at: At) -> u64 {
        match at {
            At::Event(number) => number.min(self.in_all),
            At::Time(ns) => self.at(ns).map_or(0, |moment| moment.last),
        }
    }

    fn at(&self, ns: u64) -> Option<&Moment> {
        self.times.iter().find(|moment| moment.time_ns == ns)
    }

    /// The first and the last event to show.
    fn window(&self, choice: &Choice, ended_badly: bool) -> Result<(u64, u64), String> {
        let violation = self.violation.as_ref().map(|violation| violation.event);
        let around = match choice.around {
            Some(Around::Violation) if violation.is_none() => {
                return Err("--around violation: no event of this run is a violation".to_owned());
            }
            Some(Around::Violation) | None => violation,
            Some(Around::Moment(at)) => Some(self.number(at)),
        };
        let from = choice.from.map(|at| self.number(at));
        let to = choice.to.map(|at| self.last_until(at));
        match (from, to) {
            (None, None) => Ok(usual_window(self.in_all, around, ended_badly)),
            (_, Some(0)) => Err("--to: no event is so early".to_owned()),
            (Some(from), Some(to)) if from > to => Err(format!(
                "--from is event {}, --to is event {}: nothing is between them",
                count(from),
                count(to)
            )),
            (Some(from), to) => {
                let last = from + MOST_EVENTS - 1;
                Ok((from, to.unwrap_or(self.in_all).min(last)))
            }
            (None, Some(to)) => Ok((to.saturating_sub(MOST_EVENTS - 1).max(1), to)),
        }
    }
}

/// The page of a run whose files are in a directory.
pub(crate) fn of_run(
    directory: &Path,
    contents: &Contents,
    judgement: &Judgement,
    choice: &Choice,
) -> Result<ViewPage, String> {
    let Contents {
        plan,
        topology,
        run,
        ..
    } = contents;
    let setting: Setting = plan.setting(topology.clone());
    let mut survey = Survey::of(choice);
    let mut watch = Watch::new(judgement.admits);
    let told = (!plan.trace).then(|| events_of_tables(plan, run));
    each_event(directory, contents, told.as_deref(), |event| {
        survey.take(&mut watch, event);
    })?;
    let ended_badly = judgement.verdict != Verdict::Holds;
    let window = survey.window(choice, ended_badly)?;
    let mut recorder = Recorder::new(plan.info(), &setting, window, plan.trace);
    each_event(directory, contents, told.as_deref(), |event| {
        recorder.take(event);
    })?;
    let recording = recorder.finish();
    let mut notes = Vec::new();
    if !plan.trace {
        notes.push(
            "Only requests, entries, exits and faults are known of this run; made with --trace it would \
             also have its messages and the state of every member."
                .to_owned(),
        );
    }
    if (recording.events.len() as u64) < recording.in_all {
        notes.push(format!(
            "These are events {} to {} of {}; --from, --to and --around choose others.",
            count(window.0),
            count(window.1),
            count(recording.in_all)
        ));
    }
    if let Some(diverged) = &recording.diverged {
        notes.push(format!(
            "From event {} on no states are known: the machines of this program do something else ({}).",
            count(diverged.event),
            diverged.text
        ));
    }
    let first_violation = recording
        .violations
        .first()
        .map(|violation| violation.event);
    let last = recording.first + (recording.events.len() as u64).saturating_sub(1);
    let page = Heading {
        title: result_table::headline(plan, &judgement.summary)
            .trim_end()
            .to_owned(),
        verdict: judgement.verdict.to_string(),
        because: judgement.reasons.clone(),
        notes,
        open_at: first_violation.or(ended_badly.then_some(last)),
    };
    Ok(ViewPage {
        page,
        recording,
        live: None,
        graph: None,
    })
}

/// Tells every event of a run: those of its trace, or else what its tables tell.
fn each_event(
    directory: &Path,
    contents: &Contents,
    told: Option<&[Event]>,
    mut each: impl FnMut(&Event),
) -> Result<(), String> {
    if let Some(told) = told {
        told.iter().for_each(each);
        return Ok(());
    }
    files::read_events(directory, &contents.plan, |_, event| {
        each(&event);
        Ok(())
    })
    .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use model::event::What;

    use super::*;

    #[test]
    fn a_window_by_time_has_the_events_within_it() {
        let window = |from, to| {
            let choice = Choice {
                from,
                to,
                around: None,
            };
            let mut survey = Survey::of(&choice);
            let mut watch = Watch::new(1);
            for time_ns in [1, 2, 4, 4, 6] {
                let (node, what) = (Some(NodeId(0)), What::Release);
                let event = Event {
                    time_ns,
                    node,
                    what,
                };
                survey.take(&mut watch, &event);
            }
            survey.window(&choice, false)
        };
        let time = |ns| Some(At::Time(ns));
        assert_eq!(window(time(2), time(5)), Ok((2, 4)));
        assert_eq!(window(time(3), time(4)), Ok((3, 4)));
        assert_eq!(window(time(4), None), Ok((3, 5)));
        assert_eq!(window(None, time(3)), Ok((1, 2)));
        assert_eq!(window(None, Some(At::Event(9))), Ok((1, 5)));
        assert!(window(time(5), time(5)).is_err(), "nothing is there");
        assert!(window(None, time(0)).is_err(), "nothing is so early");
    }
}
