//! A schedule as events: what a traced run would have written.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use algorithms::registry::{self, AlgorithmInfo};
use algorithms::{NodeId, Setting, Topology};
use analysis::replay::Replay;
use model::event::{Event, What};
use simulator::explore::{Ending, Options, Outcome, Schedule, TakenStep, explore, replay};

use crate::registry::setting_of;
use crate::{toys, wrong};

/// Gives the events to fresh machines, which must do the same and end in the same states.
fn assert_the_same_comes_out<'a>(
    info: &AlgorithmInfo,
    setting: &Setting,
    events: impl Iterator<Item = &'a Event>,
    ending: &Ending,
) {
    let name = info.name;
    let machine = info.machine(&setting.params, &setting.printed);
    let mut machines = Replay::of_machine(machine, setting);
    let mut last_ns = 0;
    for event in events {
        let line = event.line();
        let different = machines.take(event).err();
        assert_eq!(different, None, "{name}: {line}");
        assert!(last_ns <= event.time_ns, "{name}: {line}");
        last_ns = event.time_ns;
    }
    assert_eq!(machines.close(&BTreeMap::new()), Ok(()), "{name}");
    assert!(machines.progress.inputs > 0, "{name}");
    for (node, state) in (0..).map(NodeId).zip(&ending.states) {
        if let Some(state) = state {
            assert_eq!(machines.state(node), *state, "{name}: {node}");
        }
    }
}

#[test]
fn a_counter_example_is_events_out_of_which_the_same_comes() {
    let doubled = registry::find("suzuki-kasami").expect("it is registered");
    let doubled = (doubled, 3, wrong::DOUBLE);
    for (info, nodes, change) in wrong::worlds().chain([doubled]) {
        let setting = setting_of(info, nodes);
        let mut options = Options::new(info, nodes);
        change(&mut options);
        let watch = &mut |_| ControlFlow::Continue(());
        let report = explore(info, &setting, &options, watch).expect("the options fit");
        let finding = report.finding.expect(info.name);
        assert_the_same_comes_out(info, &setting, finding.events(), &finding.ending);
    }
}

#[test]
fn what_happened_before_a_schedule_is_told_with_it() {
    let info = registry::find("banta-k").expect("it is registered");
    let mut setting = setting_of(info, 2);
    setting.printed = info.as_printed(&["K2"]).expect("there is that defect");
    let mut options = Options::new(info, 2);
    options.wants = vec![0, 1];
    options.after = "req 1; 1>0:REQUEST".parse().expect("a schedule");
    let watch = &mut |_| ControlFlow::Continue(());
    let report = explore(info, &setting, &options, watch).expect("the options fit");
    let finding = report.finding.expect("it is printed wrong");
    assert_the_same_comes_out(info, &setting, finding.events(), &finding.ending);
    let outcome = replay(info, &setting, &options, &finding.schedule).expect("it was just found");
    assert!(outcome.events().eq(finding.events()));
}

/// The n-th step of a world is at n milliseconds.
#[test]
fn faults_are_told_as_runs_tell_them() {
    let crash = "req 1; req 2; 2>0:ASK; crash 0 losing 0>2:GRANT; down 0@1";
    let outcome = replayed(&toys::HEIR, 3, crash);
    assert_eq!(
        lines(&outcome.told[3]),
        [
            r#"{"time_ns":4000000,"node":0,"what":"fault","fault":"kill","target":"0"}"#,
            r#"{"time_ns":4000000,"node":0,"what":"lose","to":2,"number":1,"kind":"GRANT"}"#,
            r#"{"time_ns":4000000,"node":1,"what":"lose","to":0,"number":1,"kind":"ASK"}"#,
        ]
    );
    let down = r#"{"time_ns":5000000,"node":1,"what":"peer-down","peer":0}"#;
    assert_eq!(lines(&outcome.told[4])[0], down);

    let twice = replayed(&toys::POSTAL, 1, "req 0; dup 0>0; lose 0>0; 0>0");
    let number = |event: &Event| match &event.what {
        What::Post { letter } | What::Receive { letter, .. } => Some(letter.number),
        What::Lose { number, .. } => Some(*number),
        _ => None,
    };
    let numbers: Vec<_> = twice.events().filter_map(number).collect();
    assert_eq!(numbers, [1, 1, 1, 1], "a copy has its original's number");
    let tampered =
        r#"{"time_ns":2000000,"node":0,"what":"tamper","fault":"duplicate message","step":0}"#;
    assert_eq!(lines(&twice.told[1])[0], tampered);

    let lfrt = registry::find("lfrt").expect("it is registered");
    let cut = "req 2; cut 2-0; link-down 0@2; link-down 2@0; heal 0-2; link-up 2@0; link-up 0@2";
    let setting = on(lfrt, Topology::complete(3));
    let outcome = played(lfrt, &setting, cut);
    assert_the_same_comes_out(lfrt, &setting, outcome.events(), &outcome.ending);
    let cut = r#"{"time_ns":2000000,"what":"fault","fault":"cut","target":"0-2"}"#;
    assert_eq!(lines(&outcome.told[1])[0], cut);
    let healed = r#"{"time_ns":5000000,"what":"fault-over","fault":"cut","target":"0-2"}"#;
    assert_eq!(lines(&outcome.told[4]), [healed]);
}

/// What a node sends to one that is dead is told as lost, and so is nothing else.
#[test]
fn what_is_sent_to_the_dead_is_lost() {
    let outcome = replayed(&toys::HEIR, 3, "req 1; crash 0; req 2");
    let what = |step: usize| {
        let lines = lines(&outcome.told[step]).into_iter();
        lines.filter(|line| line.contains("lose")).count()
    };
    assert_eq!([what(0), what(1), what(2)], [0, 1, 1]);
    assert_eq!(outcome.told[2].effects(), ["sends Ask to 0"]);
}

/// Of what is lost with a node each is named by its own kind and age, whichever value was met first.
#[test]
fn what_is_lost_with_a_node_is_named_by_its_place() {
    let cases = [
        // From 0 to 1 a REQUEST was sent, then an ACK, then a RELEASE and a REQUEST again.
        (
            "lamport",
            "req 0; req 1; 1>0:REQUEST; 0>1:REQUEST; 1>0:ACK; exit 0; req 0",
            vec!["0>1:ACK", "0>1:RELEASE", "0>1:REQUEST"],
        ),
        // The privilege left first, and the request for its return followed it.
        (
            "raymond",
            "req 1; 1>0:REQUEST; req 0",
            vec!["0>1:PRIVILEGE", "0>1:REQUEST"],
        ),
    ];
    for (name, before, lost) in cases {
        let info = registry::find(name).expect("it is registered");
        let setting = setting_of(info, 2);
        let all = format!("{before}; crash 0 losing {}", lost.join(", "));
        let outcome = played(info, &setting, &all);
        let last = outcome.told.last().expect("there are steps");
        let step = last.step.to_string();
        let names = step
            .strip_prefix("crash 0 losing ")
            .expect("it is that step");
        let mut names: Vec<_> = names.split(", ").collect();
        names.sort_unstable();
        assert_eq!(names, lost, "{name}");
        let again = format!("{before}; {step}");
        assert_eq!(played(info, &setting, &again).told, outcome.told, "{name}");
    }
}

/// Two equal messages, and both are lost.
#[test]
fn equal_mail_that_is_lost_is_named_by_its_age() {
    let schedule = "req 1; dup 1>0:ASK; crash 1 losing 1>0:ASK, 1>0:ASK";
    let outcome = replayed(&toys::HEIR, 2, schedule);
    let step = outcome
        .told
        .last()
        .expect("there are steps")
        .step
        .to_string();
    assert_eq!(step, "crash 1 losing 1>0:ASK, 1>0:ASK#2");
}

fn lines(told: &TakenStep) -> Vec<String> {
    told.events.iter().map(Event::line).collect()
}

fn replayed(info: &AlgorithmInfo, nodes: u32, schedule: &str) -> Outcome {
    played(info, &toys::setting(nodes), schedule)
}

fn played(info: &AlgorithmInfo, setting: &Setting, schedule: &str) -> Outcome {
    let schedule: Schedule = schedule.parse().expect("the schedule is well written");
    let options = Options {
        wants: vec![0; setting.nodes() as usize],
        ..Options::new(info, setting.nodes())
    };
    replay(info, setting, &options, &schedule).expect("every step is possible")
}

fn on(info: &AlgorithmInfo, topology: Topology) -> Setting {
    let usual = setting_of(info, topology.nodes());
    let Setting {
        holder,
        params,
        printed,
        bound,
        ..
    } = usual;
    Setting::new(topology, holder, params, printed, bound)
}
