//! `orchestrator explore`, as a user types it.

mod common;

use std::fs;

use algorithms::registry;
use analysis::replay::Replay;
use common::Place;
use model::event::Event;
use model::plan::Plan;
use serde_json::Value;

#[test]
fn a_world_without_anything_bad_holds() {
    let done = Place::new().line("explore raymond --wants 1,1,2");
    let done = done.expect(0);
    assert_eq!(done.stderr, "", "progress is for terminals");
    let head = "raymond · 3 nodes · tree:2 · wants 1,1,2 · links any\n";
    assert!(done.stdout.starts_with(head), "{}", done.stdout);
    done.says("all there are");
    assert!(done.stdout.ends_with("verdict: holds\n"), "{}", done.stdout);
}

#[test]
fn a_counter_example_is_shown_with_the_line_that_replays_it() {
    let place = Place::new();
    let done = place.line("explore lamport -n 2 --links any");
    let done = done.expect(1);
    let shown = "\
verdict: violated
  because too many inside: 0 and 1 are inside

    1  req 0        0 asks: sends Request { time: 1 } to 1
    2  req 1        1 asks: sends Request { time: 1 } to 0
    3  1>0:REQUEST  0 receives REQUEST from 1: sends Ack { time: 2 } to 1, enters
    4  0>1:ACK      1 receives ACK from 0: enters

schedule: req 0; req 1; 1>0:REQUEST; 0>1:ACK
";
    done.says(shown);
    let line = done.stdout.lines().last().expect("there is a last line");
    let (_, arguments) = line.split_once("orchestrator ").expect("the program");
    let again = place.line(arguments).expect(1);
    let end = "\
inside at the end:  0, 1
waiting at the end: nobody
possible next:      exit 0; exit 1; 0>1:REQUEST

verdict: violated
  because after step 4: too many inside: 0 and 1 are inside
";
    assert!(again.stdout.ends_with(end), "{}", again.stdout);
}

/// Maekawa's original: 1 is overtaken at 2 and never told.
#[test]
fn a_deadlock_says_who_waits_for_whom_and_with_its_states_what_each_step_changed() {
    let place = Place::new();
    let line = "explore maekawa --param quorums=mq --as-printed=M1 --states";
    let found = place.line(line).expect(1);
    let steps = "  \
    5  2>1:REQUEST  1 receives REQUEST from 2: sends Failed to 2
                    | waiting_queue: {(1,0)} -> {(1,0), (1,2)}
                    | told: {} -> {2}
";
    let end = "\
  0 waits for 1: asked, and no answer came
  1 waits for 2: asked, and no answer came
  2 waits; 1 answered when it asked
  nothing is on its way, and no timer is set
";
    found.says(steps);
    found.says(end);
    found.says("at the end:\n  0  Maekawa { me: 0, quorum: {0, 1, 2}, ");
    let schedule = found
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("schedule: "));
    let schedule = schedule.expect("a schedule").to_owned();
    let again = line.split_whitespace().map(str::to_owned);
    let again = place.run(again.chain(["--replay".to_owned(), schedule.clone()]));
    let again = again.expect(1);
    again.says(steps);
    again.says(end);
    // Without --states only who acts, and why nothing can move.
    let short = place.run([
        "explore",
        "maekawa",
        "--param",
        "quorums=mq",
        "--as-printed=M1",
    ]);
    let short = short.expect(1);
    short.says(end);
    assert!(!short.stdout.contains("waiting_queue"), "{}", short.stdout);
}

#[test]
fn a_topology_of_one_size_sets_it_and_the_head_names_what_was_chosen() {
    let line = "explore lfrt-p --topology kanrar:4.2 --wants 0,1,0,0,0,0 --priority 0,3,0,0,0,0";
    let done = Place::new().line(line).expect(0);
    let head = "lfrt-p · 6 nodes · kanrar:4.2 · holder 4 · wants 0,1,0,0,0,0 · \
                priority 0,3,0,0,0,0 · ";
    assert!(done.stdout.starts_with(head), "{}", done.stdout);
}

#[test]
fn the_help_names_every_kind_of_step() {
    let help = Place::new().line("explore --help").expect(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for step in [
        "crash 2",
        "down 2@1",
        "cut 1-2",
        "heal 1-2",
        "link-down",
        "link-up",
    ] {
        assert!(help.contains(step), "{step} is not in:\n{help}");
    }
}

#[test]
fn a_search_that_is_cut_off_is_inconclusive() {
    let line = "explore lamport --max-states 1000";
    let done = Place::new().line(line).expect(3);
    done.says("verdict: inconclusive");
    done.says("--max-states");
}

#[test]
fn a_script_reads_numbers_and_the_schedule() {
    let json = |line: &[&str], code| {
        let done = Place::new().run(line).expect(code);
        serde_json::from_str::<Value>(&done.stdout).expect("it is JSON")
    };
    let fine = json(
        &["explore", "ricart-agrawala", "--links", "fifo", "--json"],
        0,
    );
    assert_eq!(fine["verdict"], "holds");
    assert_eq!(fine["report"]["states"], 2101);
    assert_eq!(fine["report"]["trapped"], 0);
    let line = [
        "explore",
        "suzuki-kasami",
        "--as-printed=SK1",
        "--wants",
        "0,1",
        "--json",
    ];
    let bad = json(&line, 1);
    assert_eq!(bad["report"]["finding"]["kind"], "deadlock");
    assert_eq!(bad["report"]["finding"]["schedule"], "req 1; 1>0:REQUEST");
    let line = ["explore", "raymond", "--replay", "req 0; exit 0", "--json"];
    let replayed = json(&line, 0);
    assert_eq!(replayed["outcome"]["told"][0]["effects"][0], "enters");
}

/// What `--events` writes, fresh machines can be given, and JSON has the same.
#[test]
fn the_events_of_a_counter_example_replay() {
    let place = Place::new();
    let line = "explore lamport -n 2 --links any --events found.jsonl --json";
    let shown = place.line(line).expect(1).stdout;
    let lines = fs::read_to_string(place.path().join("found.jsonl")).expect("it was written");
    let info = registry::find("lamport").expect("it is registered");
    let plan = Plan::usual(info, 2, 0);
    let mut machines = Replay::new(&plan, plan.build_topology().expect("it runs on two"));
    for line in lines.lines() {
        let event: Event = serde_json::from_str(line).expect(line);
        assert_eq!(machines.take(&event), Ok(()), "{line}");
    }
    assert_eq!(machines.progress.inputs, 4);
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    let told = shown["report"]["finding"]["told"].as_array();
    let told = told.expect("there are steps").iter();
    let events = told.flat_map(|step| step["events"].as_array().expect("events"));
    let lines = lines.lines().map(serde_json::from_str::<Value>);
    assert!(events.cloned().eq(lines.map(Result::unwrap)));
    // A world without anything bad has no schedule to show.
    place.line("explore raymond --events none.jsonl").expect(0);
    assert!(!place.path().join("none.jsonl").exists());
}

#[test]
fn every_wrong_input_is_named() {
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 16] = [
        (&["raymnod"], "did you mean 'raymond'"),
        (&["raymond.toml"], "there is no algorithm 'raymond.toml'"),
        (&["raymond", "-n", "0"], "--nodes: raymond does not run on 0 nodes"),
        (&["raymond", "-n", "1000"], "--nodes: 1000 nodes are no small world; there may be 1 to 64"),
        (&["raymond", "--wants", "1,2", "-n", "3"], "--wants: 2 numbers for 3 nodes"),
        (&["raymond", "--wants", "1,x"], "invalid value 'x' for '--wants"),
        (&["raymond", "--links", "sorted"], "invalid value 'sorted' for '--links"),
        (&["raymond", "--timers", "bounded:x"], "'x' is no bound; write bounded:2"),
        (&["lfrt", "--cut", "1", "--timers", "bounded:3"], "--cut: the news of a cut has no bound"),
        (&["raymond", "--cut", "1"], "--cut: on the links of raymond a cut only delays"),
        (&["raymond", "--max-states", "0"], "--max-states: at least 1 state"),
        (&["raymond", "--holder", "9"], "--holder: there is no node 9"),
        (&["raymond", "--as-printed=Z9"], "--as-printed: raymond has no defect 'Z9'"),
        (&["raymond", "--param", "k=2"], "--param: raymond has no parameter 'k'"),
        (&["raymond", "--replay", "req 0; jump"], "--replay: step 2, 'jump': 'jump' is no step"),
        (&["raymond", "--replay", "req 0; req 0"], "--replay: step 2, 'req 0': it cannot happen here; possible here: exit 0"),
    ];
    for (arguments, culprit) in cases {
        let done = Place::new()
            .run([&["explore"], arguments].concat())
            .expect(2);
        assert!(
            done.stderr.contains(culprit),
            "{arguments:?}: {}",
            done.stderr
        );
        assert_eq!(done.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_search_may_begin_later() {
    let place = Place::new();
    let asked = "req 1; 1>0:REQUEST";
    let line = format!("explore banta-k --as-printed=K2 --wants 0,1 --after '{asked}'");
    let done = place.line(&line).expect(1);
    let shown = "schedule: timer 0:wait; 0>1:TOKEN\n";
    done.says(shown);
    done.says(" · after req 1; ");
    // What is found there is replayed there.
    let found = "timer 0:wait; 0>1:TOKEN";
    place.line(&format!("{line} --replay '{found}'")).expect(1);
    for (after, message) in [
        ("req 1; 0>1:TOKEN", "step 2, '0>1:TOKEN'"),
        ("req 1; beg", "--after: "),
    ] {
        let line = format!("explore banta-k --wants 0,1 --after '{after}'");
        let done = place.line(&line).expect(2);
        done.warns(message);
    }
}
