//! What a page shows of a member is what its machine knew at that moment, and every algorithm shows its
//! own structure.

use algorithms::NodeId;
use algorithms::printed::Printed;
use algorithms::registry::{self, AlgorithmInfo};
use algorithms::taxonomy;
use analysis::replay::Replay;
use analysis::view::{MemberState, Recorder, Recording, usual_window};
use model::event::Event;
use model::plan::Plan;

use crate::replays::{events, traced};

fn recorded(plan: &Plan, events: &[Event], window: (u64, u64)) -> Recording {
    let topology = plan.build_topology().expect("the usual shape always fits");
    let setting = plan.setting(topology);
    let mut recorder = Recorder::new(plan.info(), &setting, window, true);
    for event in events {
        recorder.take(event);
    }
    recorder.finish()
}

/// What the page shows of a member after so many of its events, by what it does itself: it begins at the
/// start and makes the changes of every event.
fn shown(recording: &Recording, node: NodeId, events: usize) -> MemberState {
    let mut member = recording.start[node.index()].clone();
    let own = |moment: &&analysis::view::Moment| {
        let of = moment.event.get("node").map(ToString::to_string);
        of == Some(node.to_string())
    };
    for moment in recording.events[..events].iter().filter(own) {
        for (place, value) in &moment.set {
            member.state[*place].1.clone_from(value);
        }
        if let Some(view) = &moment.view {
            member.view = view.clone();
        }
    }
    member
}

/// Every machine there is: repaired, and as printed where the print differs.
fn plans(info: &AlgorithmInfo, seed: u64) -> Vec<Plan> {
    let mut plans = vec![traced(info, seed)];
    if !info.more.defects.is_empty() {
        let mut plan = traced(info, seed);
        plan.printed = Printed::all(info.more.defects);
        // Some prints never come to an end.
        plan.time_limit_ns = Some(200_000_000);
        plans.push(plan);
    }
    plans
}

/// `TURNSTILE_PAIRS=1000` draws more pairs of a run and an event; the soak does.
#[test]
fn a_page_shows_what_the_machine_knew() {
    let pairs = std::env::var("TURNSTILE_PAIRS").ok();
    let pairs: usize = pairs.map_or(90, |text| {
        text.parse().expect("TURNSTILE_PAIRS is a number")
    });
    let each = pairs.div_ceil(registry::ALL.len());
    let mut compared = 0;
    for (number, info) in (1..).zip(registry::ALL) {
        for plan in plans(info, number) {
            let events = events(&plan);
            let all = recorded(&plan, &events, (1, events.len() as u64));
            assert_eq!(all.diverged, None, "{}", info.name);
            let half = events.len() as u64 / 2;
            let late = recorded(&plan, &events, (half, events.len() as u64));
            let topology = plan.build_topology().expect("it fits");
            for nth in 0..each {
                // Places that no seed repeats, spread over the run.
                let draw = (nth as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                let last = (draw % events.len() as u64) as usize;
                let mut machines = Replay::new(&plan, topology.clone());
                events[..=last]
                    .iter()
                    .for_each(|event| machines.take(event).expect("it is the same run"));
                for node in (0..plan.nodes).map(NodeId) {
                    let member = shown(&all, node, last + 1);
                    let fields = member
                        .state
                        .iter()
                        .map(|(name, value)| format!("{name}: {value}"));
                    let words = fields.collect::<Vec<_>>().join(", ");
                    let state = machines.state(node);
                    let told = format!("{} after event {last}: {state}", info.name);
                    assert!(
                        state.ends_with(&format!(" {{ {words} }}")),
                        "{told} but {words}"
                    );
                    assert_eq!(member.view, machines.view(node), "{told}");
                    if let Some(since) = (last as u64 + 2).checked_sub(half) {
                        let same = shown(&late, node, since as usize);
                        assert_eq!(
                            (same.state, same.view),
                            (member.state, member.view),
                            "{told}"
                        );
                    }
                }
                compared += 1;
            }
        }
    }
    println!("{compared} pairs of a run and an event compared");
    assert!(compared >= pairs);
}

/// A page without pointers, queues, sets or a token would show only data.
#[test]
fn every_algorithm_shows_its_own_structure() {
    for info in registry::ALL {
        for plan in plans(info, 5) {
            shows_structure(&plan, info.name);
        }
    }
}

#[test]
fn every_cell_of_the_framework_shows_its_own_structure() {
    let info = registry::find("controller").expect("it is registered");
    for cell in taxonomy::of("controller") {
        let mut plan = traced(info, 5);
        plan.params = info.choose(cell.params).expect("a cell's parameters fit");
        shows_structure(&plan, &format!("{:?}", cell.params));
    }
}

fn shows_structure(plan: &Plan, told: &str) {
    let events = events(plan);
    let recording = recorded(plan, &events, (1, events.len() as u64));
    let changes = recording
        .events
        .iter()
        .filter_map(|moment| moment.view.as_ref());
    let shown = recording.start.iter().map(|member| &member.view);
    let views = shown.chain(changes.clone()).filter(|view| !view.is_empty());
    let all: Vec<_> = views.collect();
    assert!(!all.is_empty(), "{told} shows nothing");
    // A print may be stuck after its first steps, or let everybody in without a word.
    if !plan.printed.is_repaired() {
        return;
    }
    assert!(changes.count() > 5, "{told} shows the same all the time");
    let related = all.iter().any(|view| {
        let lists = view.queues.iter().chain(&view.sets);
        !view.points_to.is_empty() || lists.into_iter().any(|list| !list.nodes.is_empty())
    });
    assert!(related, "{told} shows nobody's relation to anybody");
}

#[test]
fn of_a_long_run_a_page_shows_what_is_around_the_violation() {
    assert_eq!(usual_window(500, None, false), (1, 500));
    assert_eq!(usual_window(500, Some(400), true), (1, 500));
    assert_eq!(usual_window(100_000, None, false), (1, 20_000));
    assert_eq!(usual_window(100_000, None, true), (80_001, 100_000));
    assert_eq!(usual_window(100_000, Some(50_000), true), (35_000, 54_999));
    assert_eq!(usual_window(100_000, Some(99_999), true), (80_001, 100_000));
}
