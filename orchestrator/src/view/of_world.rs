//! The page of a schedule of the explorer, and of a whole small world.

use std::collections::BTreeMap;

use algorithms::view::View;
use analysis::view::{Phase, Recorder, Recording, Violation, in_fields};
use model::event::Event;
use serde::Serialize;
use simulator::explore::{MapSite, WorldMap};

use super::{Heading, ViewPage};
use crate::commands::explore::World;
use crate::numbers::count;

/// The most states of a world that a page can be walked on.
pub(crate) const MOST_STATES: u32 = 20_000;

/// A world for the page: texts are told once.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Graph {
    sites: Vec<Site>,
    states: Vec<State>,
    texts: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Site {
    phase: Phase,
    state: Vec<(String, String)>,
    view: View,
    mail: Vec<(u32, &'static str, String)>,
}

/// What happens in words, to whom, where it leads, as a schedule writes it, and what is wrong with it.
type Step = (usize, Option<u32>, u32, String, Option<String>);

#[derive(Clone, Debug, Serialize)]
struct State {
    sites: Vec<u32>,
    steps: Vec<Step>,
    wrong: Option<String>,
}

/// The page of a schedule; `wrong` says what it leads to, if that is something bad.
pub(crate) fn of_schedule<'a>(
    world: &World,
    events: impl Iterator<Item = &'a Event>,
    verdict: &str,
    wrong: Option<String>,
) -> ViewPage {
    let mut recorder = recorder(world);
    for event in events {
        recorder.take(event);
    }
    let mut recording = recorder.finish();
    let last = recording.in_all;
    if let Some(text) = &wrong
        && last > 0
        && recording
            .violations
            .iter()
            .all(|violation| violation.event != last)
    {
        let text = text.clone();
        recording.violations.push(Violation { event: last, text });
    }
    let note = "This is a schedule of the explorer: it knows no time but its order, and every step is given a millisecond.";
    page(world, recording, verdict, wrong, note.to_owned(), None)
}

/// The page of a whole world, in which every step can be taken.
pub(crate) fn of_map(world: &World, map: WorldMap) -> ViewPage {
    let recording = recorder(world).finish();
    let note = match map.complete {
        true => format!(
            "This is a whole world of {} states: choose what happens next, below. It knows no time but the \
             order; every step is given a millisecond.",
            count(map.states.len() as u64)
        ),
        false => format!(
            "These are the first {} states of a larger world: choose what happens next, below. Steps that \
             lead farther are left out.",
            count(map.states.len() as u64)
        ),
    };
    let wrong = map.states.iter().find_map(|state| state.wrong.as_ref());
    let wrong = wrong.map(|(kind, why)| format!("{kind}: {why}"));
    let verdict = match (&wrong, map.complete) {
        (Some(_), _) => "violated",
        (None, true) => "holds",
        (None, false) => "inconclusive",
    };
    page(world, recording, verdict, wrong, note, Some(graph(map)))
}

fn recorder(world: &World) -> Recorder {
    Recorder::new(world.info, &world.setting, (1, u64::MAX), true)
}

fn page(
    world: &World,
    recording: Recording,
    verdict: &str,
    wrong: Option<String>,
    note: String,
    graph: Option<Graph>,
) -> ViewPage {
    let open_at = recording
        .violations
        .first()
        .map(|violation| violation.event);
    ViewPage {
        page: Heading {
            title: world.headline.clone(),
            verdict: verdict.to_owned(),
            because: wrong.into_iter().collect(),
            notes: vec![note],
            open_at,
        },
        recording,
        live: None,
        graph,
    }
}

fn graph(map: WorldMap) -> Graph {
    let mut numbers = BTreeMap::new();
    let mut texts = Vec::new();
    let mut text = |words: String| {
        *numbers.entry(words).or_insert_with_key(|words| {
            texts.push(words.clone());
            texts.len() - 1
        })
    };
    let told = |wrong: Option<(simulator::explore::Kind, String)>| {
        wrong.map(|(kind, why)| format!("{kind}: {why}"))
    };
    let states = map.states.into_iter().map(|state| State {
        sites: state.sites,
        steps: state
            .steps
            .into_iter()
            .map(|step| {
                let node = step.step.node().map(|node| node.0);
                let (words, written) = (step.step.in_words(), step.step.to_string());
                (text(words), node, step.to, written, told(step.wrong))
            })
            .collect(),
        wrong: told(state.wrong),
    });
    let states = states.collect();
    Graph {
        sites: map.sites.into_iter().map(site).collect(),
        states,
        texts,
    }
}

fn site(site: MapSite) -> Site {
    let mail = site.mail.into_iter();
    Site {
        phase: match (&site.state, site.inside, site.waiting) {
            (None, ..) => Phase::Dead,
            (_, true, _) => Phase::Inside,
            (_, _, true) => Phase::Waiting,
            _ => Phase::Idle,
        },
        state: site.state.as_deref().map(in_fields).unwrap_or_default(),
        view: site.view,
        mail: mail
            .map(|(from, kind, text)| (from.0, kind, text))
            .collect(),
    }
}
