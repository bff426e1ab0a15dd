//! What a run leaves behind: complete or not there at all, readable again, and checked when read.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use algorithms::NodeId;
use analysis::files::{self, FilesError, Provenance};
use analysis::{Certified, Verdict, judge, recheck};
use model::plan::Plan;
use model::run::{
    End, Engine, FaultOutcome, MessageRow, NoteRow, RequestRow, RoundTrips, Run, StateBytes,
    TransportRow, UsageRow, Window,
};
use support::{plan, simulate, topology};

/// The files of a run that is not traced.
fn untraced() -> impl Iterator<Item = &'static str> {
    let files = files::FILES.into_iter();
    files.filter(|name| *name != "events.jsonl")
}

/// A place of its own for each test, empty.
fn place(test: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if place.exists() {
        fs::remove_dir_all(&place).expect("an earlier test's place can be removed");
    }
    place
}

fn provenance() -> Provenance {
    Provenance {
        name: "toy".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("abc".to_owned()),
        host: "here".to_owned(),
        command_line: vec!["orchestrator".to_owned(), "run".to_owned()],
        started: "2026-01-01T00:00:00Z".to_owned(),
        finished: "2026-01-01T00:00:01Z".to_owned(),
    }
}

fn write(dir: &Path, plan: &Plan, run: &Run) -> Result<(), FilesError> {
    let judgement = judge(plan, &topology(plan), run);
    let draft = files::Draft::begin(dir)?;
    files::write_into(draft.path(), plan, run, &judgement, &provenance())?;
    draft.publish().map(drop)
}

/// A simulated run of raymond, written.
fn simulated(test: &str) -> (PathBuf, Plan, Run) {
    simulated_of("raymond", test)
}

fn simulated_of(algorithm: &str, test: &str) -> (PathBuf, Plan, Run) {
    let dir = place(&format!("{test}_{algorithm}")).join("run");
    let plan = plan(algorithm, 5);
    let run = simulate(&plan);
    write(&dir, &plan, &run).expect("the place is empty");
    (dir, plan, run)
}

#[test]
fn a_simulated_run_is_read_back_as_it_was() {
    for algorithm in ["raymond", "ricart-agrawala", "naimi-trehel"] {
        let (dir, plan, run) = simulated_of(algorithm, "read_back");
        let read = files::read(&dir).unwrap();
        assert_eq!(read.plan, plan);
        assert_eq!(read.run, run);
        assert_eq!(read.provenance, provenance());
    }
}

/// A run that has something to say in every file and every column.
fn eventful(plan: &Plan) -> Run {
    let served = RequestRow {
        node: NodeId(1),
        incarnation: 2,
        priority: 3,
        arrived_ns: 10,
        asked_ns: Some(20),
        entered_ns: Some(30),
        left_ns: Some(40),
        fence: Some(5),
        witness_slot: Some(0),
        witness_refused: true,
        uninvited: false,
        messages: Some(6),
        registered: Some(7),
        index: Some(1),
    };
    let bare = RequestRow {
        witness_refused: false,
        messages: None,
        registered: None,
        fence: None,
        witness_slot: None,
        ..served.clone()
    };
    let uninvited = RequestRow {
        asked_ns: None,
        uninvited: true,
        ..bare.clone()
    };
    let inside = RequestRow {
        left_ns: None,
        ..bare.clone()
    };
    let waiting = RequestRow {
        entered_ns: None,
        index: None,
        ..inside.clone()
    };
    let queued = RequestRow {
        asked_ns: None,
        ..waiting.clone()
    };
    let note = plan.info().more.notes.first().map(|&(name, _)| name);
    let mut row = NoteRow::default();
    row.add(4);
    Run {
        engine: Engine::Cluster,
        events: None,
        requests: vec![served, uninvited, inside, waiting, queued],
        messages: [
            (
                (NodeId(0), Some(NodeId(1)), "PRIVILEGE"),
                MessageRow {
                    sent: 4,
                    received: 3,
                    lost: 1,
                    bytes: 99,
                },
            ),
            (
                (NodeId(0), None, "REQUEST"),
                MessageRow {
                    sent: 4,
                    ..MessageRow::default()
                },
            ),
        ]
        .into(),
        notes: note
            .map(|name| ((NodeId(2), name), row))
            .into_iter()
            .collect(),
        window: Window {
            from_ns: 1,
            until_ns: 2,
            entries: 3,
            messages: 4,
            notes: [("n".to_owned(), row)].into(),
            marks: vec![1, 4],
            stride: 2,
        },
        protocol_errors: vec![(9, NodeId(0), "a \"quoted\", and\nbroken line".to_owned())],
        protocol_error_count: 101,
        state_bytes: StateBytes {
            sum: 10,
            max: 7,
            peak: Some(9),
        },
        link_delay_sum_ns: 11,
        link_delay_count: 12,
        bound_broken: 13,
        proxy: Some(chaos::Totals {
            received: 14,
            delivered: 15,
            lost: 16,
            doubled: 17,
            under_way: 18,
            strays: 19,
            unsent: 20,
            overflowed: Some(21),
        }),
        most_inside: Some(2),
        // Only the log has them.
        round_trips: RoundTrips::default(),
        transport: [(
            NodeId(0),
            TransportRow {
                datagrams_sent: 1,
                datagrams_received: 2,
                acks: 3,
                retransmissions: 4,
                duplicates: 5,
                rejected: 6,
                bytes: 7,
                unsent: 8,
                overflowed: Some(9),
                rejected_for: std::array::from_fn(|reason| 10 + reason as u64),
            },
        )]
        .into(),
        clocks: Vec::new(),
        usage: [(
            NodeId(1),
            UsageRow {
                cpu_ms: 0.1 + 0.2,
                max_rss_kib: 5,
                private_kib: 700,
                involuntary_switches: 6,
            },
        )]
        .into(),
        faults: vec![FaultOutcome::false_suspicion(1, NodeId(2), NodeId(0))],
        end: End::LiveLock,
        ended_ns: 50,
        failure: Some("member 3 died unexpectedly".to_owned()),
    }
}

#[test]
fn nothing_of_an_eventful_run_is_lost() {
    let dir = place("eventful").join("run");
    let mut plan = plan("raymond", 3);
    plan.workload.weights = vec![0.1 + 0.2, 1.0 / 3.0, 1e-300];
    plan.seed = u64::MAX;
    let run = eventful(&plan);
    write(&dir, &plan, &run).unwrap();
    let read = files::read(&dir).unwrap();
    assert_eq!(read.plan, plan);
    assert_eq!(read.run, run);
}

#[test]
fn the_columns_are_those_that_scripts_rely_on() {
    let dir = place("columns").join("run");
    let mut plan = plan("raymond", 3);
    plan.delay = model::plan::usual_delay(Engine::Sim);
    write(&dir, &plan, &Run::default()).unwrap();
    let header = |file| fs::read_to_string(dir.join(file)).unwrap();
    assert_eq!(
        header("entries.csv"),
        "node,incarnation,priority,request_ns,asked_ns,enter_ns,exit_ns,outcome,fence,\
         witness_slot,messages,registered,witness_refused,overtaken,index\n"
    );
    assert_eq!(
        header("messages.csv"),
        "from,to,kind,sent,received,lost,bytes\n"
    );
    assert_eq!(header("counters.csv"), "node,name,count,sum,min,max\n");
    assert_eq!(
        header("transport.csv"),
        "node,datagrams_sent,datagrams_received,acks,retransmissions,duplicates,rejected,bytes,\
         unsent,overflowed,rejected_too_short,rejected_wrong_version,rejected_other_run,\
         rejected_other_algorithm,rejected_not_for_us,rejected_unknown_source,rejected_bad_mac,\
         rejected_malformed,rejected_stale_source,rejected_stale_destination,rejected_duplicate,\
         rejected_replayed,rejected_other_session\n"
    );
    assert_eq!(
        header("nodes.csv"),
        "node,cpu_ms,max_rss_kib,involuntary_switches,private_kib\n"
    );
    assert_eq!(
        header("faults.csv"),
        "time_ns,fault,target,until_ns,acted,remark,step\n"
    );
}

#[test]
fn a_run_from_before_a_computed_column_is_read_all_the_same() {
    let dir = place("before").join("run");
    let plan = plan("raymond", 3);
    let mut run = eventful(&plan);
    write(&dir, &plan, &run).unwrap();
    let path = dir.join("entries.csv");
    let text = fs::read_to_string(&path).unwrap();
    // `overtaken` can be computed again, `index` cannot.
    let without = text.lines().map(|line| {
        let columns = line.rsplitn(3, ',').nth(2).unwrap();
        columns.to_owned() + "\n"
    });
    fs::write(&path, without.collect::<String>()).unwrap();
    run.requests.iter_mut().for_each(|row| row.index = None);
    assert_eq!(files::read(&dir).unwrap().run, run);
}

#[test]
fn a_request_is_one_readable_line() {
    let dir = place("line").join("run");
    let plan = plan("raymond", 3);
    write(&dir, &plan, &eventful(&plan)).unwrap();
    let text = fs::read_to_string(dir.join("entries.csv")).unwrap();
    let lines = text.lines().skip(1).collect::<Vec<_>>();
    assert_eq!(
        lines,
        [
            "1,2,3,10,20,30,40,served,5,0,6,7,1,0,1",
            "1,2,3,10,,30,40,uninvited,,,,,0,,1",
            "1,2,3,10,20,30,,inside,,,,,0,,1",
            "1,2,3,10,20,,,waiting,,,,,,,",
            "1,2,3,10,,,,queued,,,,,,,",
        ]
    );
}

#[test]
fn the_same_plan_writes_the_same_bytes_in_every_file_but_run_json() {
    let (one, ..) = simulated("same_one");
    let (two, ..) = simulated("same_two");
    for file in untraced().filter(|file| *file != "run.json") {
        let (one, two) = (
            fs::read(one.join(file)).unwrap(),
            fs::read(two.join(file)).unwrap(),
        );
        assert_eq!(one, two, "{file}");
        assert!(!one.is_empty(), "{file}");
    }
}

#[test]
fn a_result_is_never_overwritten() {
    let (dir, plan, run) = simulated("overwritten");
    let error = write(&dir, &plan, &run).unwrap_err().to_string();
    assert!(error.contains("is already there"), "{error}");
    let begun = files::Draft::begin(&dir);
    assert!(matches!(begun, Err(FilesError::Exists(_))), "{begun:?}");
}

#[test]
fn a_failed_write_names_the_file_and_leaves_nothing_behind() {
    let place = place("failed");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("file"), "not a directory").unwrap();
    let plan = plan("raymond", 3);
    let error = write(&place.join("file/run"), &plan, &Run::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot write "), "{error}");

    let draft = files::Draft::begin(&place.join("draft")).unwrap();
    fs::create_dir(draft.path().join("faults.csv")).unwrap();
    let judgement = judge(&plan, &topology(&plan), &Run::default());
    let error = files::write_into(
        draft.path(),
        &plan,
        &Run::default(),
        &judgement,
        &provenance(),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("faults.csv"), "{error}");
    drop(draft);
    let left = fs::read_dir(&place)
        .unwrap()
        .map(|file| file.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["file"]);
}

#[test]
fn every_missing_file_is_named() {
    let (dir, ..) = simulated("missing");
    for file in untraced() {
        let kept = fs::read(dir.join(file)).unwrap();
        fs::remove_file(dir.join(file)).unwrap();
        let error = recheck(&dir).unwrap_err().to_string();
        assert!(error.contains(&format!("{file} is missing")), "{error}");
        fs::write(dir.join(file), kept).unwrap();
    }
    recheck(&dir).unwrap();
}

#[test]
fn what_no_run_could_have_written_is_refused_with_its_place() {
    let (dir, ..) = simulated("refused");
    // (file, from, to, what the message must say); `from` is replaced once.
    let cases = [
        (
            "entries.csv",
            "enter_ns",
            "entry_ns",
            "line 1: there is no column 'enter_ns'; expected node,",
        ),
        (
            "entries.csv",
            "\n0,0,0,",
            "\nzero,0,0,",
            "column node: found 'zero', expected a node from 0 to 4",
        ),
        (
            "entries.csv",
            "\n0,0,0,",
            "\n5,0,0,",
            "column node: found '5', expected a node from 0 to 4",
        ),
        (
            "entries.csv",
            "\n0,0,0,",
            "\n0,0,-1,",
            "column priority: found '-1', expected a whole number",
        ),
        (
            "entries.csv",
            ",served,",
            ",waiting,",
            "column outcome: found 'waiting', expected 'served', as its times say",
        ),
        (
            "entries.csv",
            ",served,",
            ",served,1,",
            "it has 16 fields, expected 15",
        ),
        (
            "entries.csv",
            ",served,,",
            ",served,1.5,",
            "column fence: found '1.5', expected a whole number or nothing",
        ),
        (
            "messages.csv",
            "PRIVILEGE",
            "TOKEN",
            "column kind: found 'TOKEN', expected one of REQUEST, PRIVILEGE",
        ),
        (
            "messages.csv",
            "\n0,1,",
            "\n0,9,",
            "column to: found '9', expected a node from 0 to 4",
        ),
        (
            "messages.csv",
            "\n1,0,",
            "\n0,1,REQUEST,1,1,0,\n0,1,REQUEST,1,1,0,\n1,0,",
            "column kind: found 'REQUEST', expected a link and kind that no line above has",
        ),
        (
            "messages.csv",
            ",kind,",
            ",sort,",
            "there is no column 'kind'",
        ),
        (
            "counters.csv",
            "max\n",
            "max\n0,hops,1,1,1,1\n",
            "line 2, column name: found 'hops', expected no line at all",
        ),
        (
            "faults.csv",
            "step\n",
            "step\n1,unasked pause,1,soon,1,,\n",
            "line 2, column until_ns: found 'soon'",
        ),
        (
            "faults.csv",
            "step\n",
            "step\n7,unasked pause,1,6,1,,\n",
            "line 2, column until_ns: found '6', expected 7, its time_ns, or later",
        ),
        (
            "faults.csv",
            "step\n",
            "step\n7,cut,1-2,,1,,0\n",
            "column step: found '0', expected nothing: the plan has no faults",
        ),
        (
            "faults.csv",
            "step\n",
            "step\n7,earthquake,1,,1,,\n",
            "column fault: found 'earthquake', expected a fault of the plan",
        ),
        (
            "nodes.csv",
            "private_kib\n",
            "private_kib\n0,fast,1,1,1\n",
            "column cpu_ms: found 'fast', expected a number",
        ),
        (
            "transport.csv",
            "other_session\n",
            "other_session\n0,1,2,3,4,5,6,,8,9,0,0,0,0,0,0,0,0,0,0,0,0,0\n",
            "line 2, column bytes: found ''",
        ),
        (
            "run.json",
            "\"schema\": 1",
            "\"schema\": 9",
            "its schema is 9, expected 1",
        ),
        (
            "run.json",
            "\"ended_ns\"",
            "\"over_ns\"",
            "missing field `ended_ns`",
        ),
        (
            "run.json",
            "\"raymond\"",
            "\"raimond\"",
            "there is no algorithm 'raimond'; there are",
        ),
        (
            "run.json",
            "\"nodes\": 5",
            "\"nodes\": 0",
            "scenario.nodes: raymond does not admit 0",
        ),
        (
            "run.json",
            "\"holder\": 0",
            "\"holder\": 5",
            "scenario.holder: found 5, expected a node from 0 to 4",
        ),
        (
            "run.json",
            "\"params\": {}",
            "\"params\": {\"x\": 1}",
            "raymond has no parameter 'x'",
        ),
        (
            "run.json",
            "\"seed\": 7",
            "\"seed\": 8",
            "seed: found 7, expected the scenario's, 8",
        ),
        ("run.json", "\"tree:2\"", "\"tree:x\"", "topology: "),
        (
            "run.json",
            "\"tree:2\"",
            "\"complete\"",
            "scenario.topology: raymond needs a tree",
        ),
        (
            "run.json",
            "\"nodes\": 5",
            "\"nodes\": 400000000",
            "scenario.nodes: 400000000 nodes of raymond take more than 8 GiB",
        ),
        ("run.json", "{", "[", "run.json"),
        ("summary.csv", "\n", "", "it has no row, expected one"),
    ];
    for (file, from, to, expected) in cases {
        let path = dir.join(file);
        let kept = fs::read_to_string(&path).unwrap();
        assert!(kept.contains(from), "{file} has no '{from}'");
        fs::write(&path, kept.replacen(from, to, 1)).unwrap();
        let error = recheck(&dir).expect_err(expected).to_string();
        assert!(
            error.contains(expected),
            "expected '{expected}', got '{error}'"
        );
        assert!(error.contains(&path.display().to_string()), "{error}");
        fs::write(&path, kept).unwrap();
    }
    recheck(&dir).unwrap();
}

/// The first request's line with other times.
fn with_times(dir: &Path, times: &str) -> String {
    let path = dir.join("entries.csv");
    let kept = fs::read_to_string(&path).expect("it was written");
    let lines = kept.lines().enumerate().map(|(number, line)| {
        let mut fields = line.split(',').collect::<Vec<_>>();
        if number == 1 {
            fields.splice(3..7, times.split(','));
        }
        fields.join(",") + "\n"
    });
    fs::write(&path, lines.collect::<String>()).expect("it can be written");
    let error = recheck(dir).expect_err("such times cannot be");
    fs::write(&path, kept).expect("it can be written");
    error.to_string()
}

#[test]
fn times_that_run_backwards_are_refused() {
    let (dir, ..) = simulated("backwards");
    for (times, expected) in [
        (
            "5,4,6,7",
            "line 2, column asked_ns: found '4', expected at least 5",
        ),
        ("5,5,4,7", "column enter_ns: found '4', expected at least 5"),
        ("5,5,7,6", "column exit_ns: found '6', expected at least 7"),
        (
            "5,5,,6",
            "column enter_ns: found '', expected a whole number",
        ),
        (
            "5,5,6,9999999999999",
            "column exit_ns: found '9999999999999', expected at most",
        ),
    ] {
        let error = with_times(&dir, times);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_run_judged_again_is_judged_the_same() {
    for algorithm in ["raymond", "ricart-agrawala", "naimi-trehel"] {
        let (dir, plan, run) = simulated_of(algorithm, "again");
        let again = recheck(&dir).unwrap();
        assert_eq!(again.differences, [] as [String; 0]);
        assert_eq!(again.judgement, judge(&plan, &topology(&plan), &run));
        assert_eq!(again.judgement.verdict, Verdict::Holds);
    }
}

#[test]
fn a_record_that_was_changed_is_noticed() {
    let (dir, ..) = simulated("changed");
    // The first to enter stays until the end of the run.
    let path = dir.join("entries.csv");
    let text = fs::read_to_string(&path).unwrap();
    let ended = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(6)?.parse::<u64>().ok())
        .max()
        .unwrap();
    let changed = text.lines().enumerate().map(|(number, line)| {
        let mut fields = line.split(',').map(str::to_owned).collect::<Vec<_>>();
        if number == 1 {
            fields[6] = ended.to_string();
        }
        fields.join(",") + "\n"
    });
    fs::write(&path, changed.collect::<String>()).unwrap();
    let again = recheck(&dir).unwrap();
    assert_eq!(again.judgement.verdict, Verdict::Violated);
    let says = |what: &str| again.differences.iter().any(|line| line.contains(what));
    assert!(says(
        "run.json: the verdict was 'holds', the records say 'violated'"
    ));
    assert!(says(
        "run.json: safety was 'holds', the records say 'violated'"
    ));
    assert!(says("summary.csv: max_inside was '1', the records say '2'"));
}

/// A run that an earlier version traced has no indices; its events say what they are.
#[test]
fn an_old_traced_run_gets_its_certificate_from_its_events() {
    let dir = place("old_trace").join("run");
    let plan = Plan {
        trace: true,
        ..plan("raymond", 5)
    };
    let mut events = Vec::new();
    let mut run = simulator::run(&plan, &mut events).expect("time passes");
    let judgement = judge(&plan, &topology(&plan), &run);
    assert_eq!(judgement.summary.certified, Certified::Yes);
    fs::create_dir_all(&dir).expect("a place");
    let mut file = files::Events::begin(&dir).expect("a file");
    events.iter().for_each(|event| file.add(event));
    file.finish(&plan, &mut run).expect("it can be written");
    files::write_into(&dir, &plan, &run, &judgement, &provenance()).expect("it can be written");
    assert_eq!(recheck(&dir).expect("a run").differences, [] as [String; 0]);
    let path = dir.join("entries.csv");
    let text = fs::read_to_string(&path).expect("a table");
    let old = text
        .lines()
        .map(|line| line.rsplit_once(',').expect("columns").0);
    fs::write(&path, old.collect::<Vec<_>>().join("\n") + "\n").expect("it can be written");
    assert_eq!(files::read(&dir).expect("a run").run, run);
    // Of a run without a trace nothing is known.
    fs::remove_file(dir.join("events.jsonl")).expect("it is there");
    let rows = files::read(&dir).expect("a run").run.requests;
    assert!(rows.iter().all(|row| row.index.is_none()));
}
