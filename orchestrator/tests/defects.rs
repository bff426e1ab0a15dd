//! Every defect of a printed text in the world that shows it: as printed it fails as the text says, and
//! repaired it holds there. The lines are those that `explain` prints.

mod common;

use std::process::Command;

use algorithms::printed::{Costs, Defect, Fails, Run, Shows, World};
use algorithms::registry::{self, AlgorithmInfo};
use common::{Finished, Place};
use serde_json::Value;

/// Every algorithm's defects that can be run, dealt to so many tests.
fn every(nth: usize) -> impl Iterator<Item = (&'static AlgorithmInfo, &'static Defect)> {
    const TESTS: usize = 4;
    let all = registry::ALL.iter();
    let all = all.flat_map(|info| info.more.defects.iter().map(move |defect| (*info, defect)));
    let all = all.filter(|(_, defect)| !defect.rules.is_empty());
    all.enumerate()
        .filter(move |(place, _)| place % TESTS == nth)
        .map(|(_, one)| one)
}

/// A line as a shell takes it.
fn typed(place: &Place, line: &str) -> Finished {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec \"$0\" {line}")])
        .arg(env!("CARGO_BIN_EXE_orchestrator"))
        .current_dir(place.path());
    Finished::new(shell.output().expect("there is a shell"))
}

fn fails_as_the_text_says_and_holds_repaired(nth: usize) {
    let place = Place::new();
    let mut tried = 0;
    for (info, defect) in every(nth) {
        let id = defect.id;
        match defect.shows {
            Shows::Nothing => panic!("{id} can be run and nothing shows it"),
            Shows::World(world) => in_a_small_world(&place, info, defect, world),
            Shows::Run(run) => in_a_run(&place, info, defect, run),
        }
        tried += 1;
    }
    assert!(tried > 20, "only {tried}");
}

fn in_a_small_world(place: &Place, info: &AlgorithmInfo, defect: &Defect, world: World) {
    let id = defect.id;
    let printed = defect.line_as_printed(info.name).expect(id);
    let repaired = defect.line_repaired(info.name).expect(id);
    if world.fails == Fails::Messages {
        let sends = |line: &str| {
            typed(place, line)
                .expect(0)
                .stdout
                .matches("sends ")
                .count()
        };
        let fewer = printed.replace(&format!("--as-printed={id} "), "");
        assert!(sends(&printed) > sends(&fewer), "{id}: {printed}");
    } else {
        let failed = typed(place, &printed).expect(1);
        let kind = match world.fails {
            Fails::Exclusion => "too many inside",
            Fails::Uninvited => "uninvited entry",
            Fails::ProtocolError => "protocol error",
            Fails::Deadlock => "deadlock",
            Fails::Trapped => "trapped",
            Fails::Messages => unreachable!("that is no failure"),
        };
        let because = match defect.is_replayed() {
            true => format!(": {kind}: "),
            false => format!("because {kind}: "),
        };
        assert!(
            failed.stdout.contains(&because),
            "{id}: {printed}\n{}",
            failed.stdout
        );
    }
    let held = place
        .line(&format!("{repaired} --max-states 300000"))
        .expect(0);
    held.says("verdict: holds");
    held.says("all there are");
}

fn in_a_run(place: &Place, info: &AlgorithmInfo, defect: &Defect, run: Run) {
    let id = defect.id;
    let printed = defect.line_as_printed(info.name).expect(id);
    // What is needed to see it stays as printed.
    let repaired = defect.line_repaired(info.name).expect(id);
    let repaired = match defect.needs_printed {
        [] => repaired,
        needed => format!("{repaired} --as-printed={}", needed.join(",")),
    };
    let judged = |line: &str, code| -> Value {
        let done = typed(place, &format!("{line} --json")).expect(code);
        serde_json::from_str(&done.stdout).expect("JSON")
    };
    let numbers = |line: &str, name: &str| {
        let judged = judged(line, 0);
        let number = &judged["summary"][name];
        number
            .as_f64()
            .unwrap_or_else(|| panic!("{id}: no {name} in {judged:#}"))
    };
    match run.costs {
        Costs::LiveLock => {
            assert!(
                judged(&printed, 1).to_string().contains("live-lock"),
                "{id}"
            );
            judged(&repaired, 0);
        }
        Costs::Messages => {
            let name = "messages_per_entry";
            assert!(numbers(&printed, name) > numbers(&repaired, name), "{id}");
        }
        Costs::Wait => {
            let name = "wait_max_us";
            assert!(
                numbers(&printed, name) > 1.5 * numbers(&repaired, name),
                "{id}"
            );
        }
    }
}

#[test]
fn a_quarter_of_the_defects() {
    fails_as_the_text_says_and_holds_repaired(0);
}

#[test]
fn another_quarter_of_the_defects() {
    fails_as_the_text_says_and_holds_repaired(1);
}

#[test]
fn a_third_quarter_of_the_defects() {
    fails_as_the_text_says_and_holds_repaired(2);
}

#[test]
fn the_last_quarter_of_the_defects() {
    fails_as_the_text_says_and_holds_repaired(3);
}

/// What `explain` offers to explore is explored whole.
#[test]
fn every_algorithm_has_a_small_world_that_ends() {
    let place = &Place::new();
    for info in registry::ALL {
        let line = format!("explore {} {}", info.name, info.more.small_world);
        let explained = typed(place, &format!("explain {}", info.name)).expect(0);
        explained.says(&format!("orchestrator {}\n", line.trim_end()));
        for defect in info.more.defects {
            let shown = defect.line_as_printed(info.name);
            if let Some(shown) = shown {
                explained.says(&format!("orchestrator {shown}\n"));
            }
        }
        let held = typed(place, &format!("{line} --max-states 200000")).expect(0);
        held.says("verdict: holds");
    }
}
