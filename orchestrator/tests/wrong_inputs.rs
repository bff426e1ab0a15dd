//! Every wrong input gets exit code 2 and one message that names the culprit.
//!
//! The snapshot shows all of them as a user sees them.

mod common;

use common::Place;

/// A wrong input: what is wrong, the line a user types, and a word that the message must contain.
struct Case {
    what: &'static str,
    line: &'static [&'static str],
    culprit: &'static str,
}

const fn case(what: &'static str, culprit: &'static str, line: &'static [&'static str]) -> Case {
    Case {
        what,
        line,
        culprit,
    }
}

#[rustfmt::skip]
const FLAGS: &[Case] = &[
    case("an unknown command", "rum", &["rum", "raymond"]),
    case("nothing to run", "TARGET", &["run"]),
    case("an unknown algorithm, nearly right", "raymnod", &["run", "raymnod"]),
    case("an unknown algorithm, far off", "paxos", &["run", "paxos"]),
    case("an unknown algorithm to explain", "lampert", &["explain", "lampert"]),
    case("an unknown flag", "--nods", &["run", "raymond", "--nods", "5"]),
    case("an unknown list", "fruits", &["list", "fruits"]),
    case("a survey of faults", "--surveyed", &["list", "faults", "--surveyed"]),
    case("nothing to compare", "ALGORITHM", &["compare"]),
    case("a single algorithm to compare", "at least two", &["compare", "raymond"]),
    case("an unknown algorithm to compare", "raymnod", &["compare", "lamport", "raymnod"]),
    case("an algorithm compared with itself", "twice", &["compare", "raymond", "lamport", "raymond"]),
    case("algorithms for which one flag does not fit", "speed", &["compare", "raymond", "lamport", "--param", "speed=9"]),
    case("a parameter of an algorithm that is not compared", "sanders.structure", &["compare", "raymond", "lamport", "--param", "sanders.structure=fano"]),
    case("algorithms that have no common size", "-n", &["compare", "raymond", "sanders", "--param", "sanders.structure=plane"]),
    case("no repetitions", "repetitions", &["compare", "raymond", "lamport", "--repetitions", "0"]),
    case("an engine that is none of the two", "steam", &["compare", "raymond", "lamport", "--engine", "steam"]),
    case("two scenarios to compare", "two.toml", &["compare", "one.toml", "two.toml", "raymond"]),
    case("a report of nothing", "nowhere", &["report", "nowhere"]),
    case("a report of something else", "taken", &["report", "taken"]),
    case("no nodes", "0 nodes", &["run", "raymond", "-n", "0"]),
    case("a number that is none", "many", &["run", "raymond", "-n", "many"]),
    case("a number below zero", "-3", &["run", "raymond", "-n=-3"]),
    case("a holder beyond the last node", "10", &["run", "raymond", "--holder", "10"]),
    case("an unknown parameter", "speed", &["run", "raymond", "--param", "speed=9"]),
    case("a parameter without a value", "speed", &["run", "raymond", "--param", "speed"]),
    case("an unknown defect", "Z9", &["run", "raymond", "--as-printed=Z9"]),
    case("a printed text without defects", "lamport", &["run", "lamport", "--as-printed"]),
    case("no entries", "--entries", &["run", "raymond", "--entries", "0"]),
    case("no entries in all", "--total", &["run", "raymond", "--total", "0"]),
    case("no duration", "--duration", &["run", "raymond", "--duration", "0s"]),
    case("two answers to how much", "--total", &["run", "raymond", "--total", "9", "--entries", "9"]),
    case("a time without a unit", "10", &["run", "raymond", "--duration", "10"]),
    case("a span of an unknown kind", "normal:1ms", &["run", "raymond", "--hold", "normal:1ms"]),
    case("a span upside down", "uniform:5ms..1ms", &["run", "raymond", "--think", "uniform:5ms..1ms"]),
    case("time that does not pass", "time would not pass", &["run", "raymond", "--engine", "sim", "--think", "0", "--hold", "0"]),
    case("a cluster without its transport", "--engine sim", &["run", "raymond", "--transport", "never"]),
    case("a detector for one who does not listen", "sanders, bmav", &["run", "raymond", "--detector", "timeout:1s"]),
    case("a detector without patience", "20ms to 20s", &["run", "sanders", "--detector", "timeout:1ms"]),
    case("a detector of no kind", "timeout:500ms", &["run", "sanders", "--detector", "often"]),
    case("a silence where links never fail", "however long they are silent", &["run", "raymond", "--silence", "1s"]),
    case("too short a silence", "use 20ms to", &["run", "lfrt", "--silence", "1ms"]),
    case("two ways to learn of a death", "leave one of them out", &["run", "sanders", "--detector", "timeout:1s", "--detect-after", "1ms..2ms"]),
    case("a detector without a transport", "leave out transport", &["run", "sanders", "--engine", "sim", "--detector", "timeout:1s", "--transport", "never"]),
    case("a transport that runs sometimes", "sometimes", &["run", "raymond", "--transport", "sometimes"]),
    case("time that does not pass at one node", "node 1", &["run", "raymond", "--engine", "sim", "--think", "0", "--hold", "1ms,0"]),
    case("a delay of unknown words", "5ms roughly", &["run", "raymond", "--delay", "5ms roughly"]),
    case("a delay that may be negative", "1ms 2ms", &["run", "raymond", "--delay", "1ms 2ms"]),
    case("a bound of nothing", "--bound", &["run", "raymond", "--bound", "0"]),
    case("an order that is none", "sorted", &["run", "raymond", "--links", "sorted"]),
    case("unordered links under an algorithm that needs order", "lamport", &["run", "lamport", "--links", "any"]),
    case("an unknown workload", "bursty", &["run", "raymond", "--workload", "bursty"]),
    case("a flag of another workload", "--rate", &["run", "raymond", "--rate", "5"]),
    case("a rate of nothing", "--rate", &["run", "raymond", "--workload", "open", "--rate", "0"]),
    case("rate and gap", "--gap", &["run", "raymond", "--workload", "open", "--rate", "5", "--gap", "5ms"]),
    case("a quota for a batch", "--entries", &["run", "raymond", "--workload", "batch", "--entries", "5"]),
    case("an ask of a missing node", "12", &["run", "raymond", "--workload", "batch", "--asks", "2,12"]),
    case("an ask of unknown words", "2 soon", &["run", "raymond", "--workload", "batch", "--asks", "2 soon"]),
    case("times in a settled batch", "2 at 5ms", &["run", "raymond", "--workload", "batch", "--settled", "--asks", "2 at 5ms"]),
    case("more askers than nodes", "--askers", &["run", "raymond", "--workload", "window", "--askers", "11"]),
    case("a trace without a file", "--arrivals", &["run", "raymond", "--workload", "trace"]),
    case("too few weights", "3 weights", &["run", "raymond", "--weights", "1,2,3"]),
    case("no weight at all", "--weights", &["run", "raymond", "-n", "2", "--weights", "0,0"]),
    case("weights of two forms", "--weights", &["run", "raymond", "-n", "2", "--weights", "1,1=4"]),
    case("no clients", "--clients", &["run", "raymond", "--clients", "0"]),
    case("a warm-up that eats everything", "--warm-up", &["run", "raymond", "--warm-up", "500"]),
    case("a time limit of nothing", "--time-limit", &["run", "raymond", "--time-limit", "0"]),
    case("a seed beyond what a file holds", "18446744073709551615", &["run", "raymond", "--seed", "18446744073709551615"]),
    case("an engine that is none", "quantum", &["run", "raymond", "--engine", "quantum"]),
    case("a trace of many runs", "trace", &["compare", "raymond", "lamport", "--trace"]),
    case("more state than memory", "GiB", &["run", "lamport", "-n", "1000000"]),
    case("more records than memory", "GiB", &["run", "raymond", "--total", "1000000000000"]),
    case("a name that is no directory", "a/b", &["run", "raymond", "--name", "a/b"]),
    case("a directory inside a file", "a-file", &["run", "raymond", "--out", "a-file/results"]),
    case("a directory that is taken", "taken", &["run", "raymond", "--out", "taken"]),
    case("an unknown topology", "tre", &["run", "raymond", "--topology", "tre:2"]),
    case("a tree without arity", "tree:", &["run", "raymond", "--topology", "tree:"]),
    case("a tree of no children", "tree:0", &["run", "raymond", "--topology", "tree:0"]),
    case("a ring for a tree algorithm", "raymond", &["run", "raymond", "--topology", "ring"]),
    case("a path for an algorithm that needs all links", "lamport", &["run", "lamport", "--topology", "path"]),
    case("an edge that is none", "1~2", &["run", "raymond", "-n", "3", "--topology", "edges:0-1,1~2"]),
    case("an edge to itself", "1-1", &["run", "raymond", "-n", "3", "--topology", "edges:0-1,1-1"]),
    case("an edge twice", "1-0", &["run", "raymond", "-n", "3", "--topology", "edges:0-1,1-0"]),
    case("an edge to a missing node", "1-7", &["run", "raymond", "-n", "3", "--topology", "edges:0-1,1-7"]),
    case("a node without an edge", "node 2", &["run", "raymond", "-n", "3", "--topology", "edges:0-1"]),
    case("a directed tree", "direction", &["run", "raymond", "-n", "3", "--topology", "edges:0>1,1>2"]),
    case("a digraph of impossible degrees", "digraph:3-9", &["run", "raymond", "-n", "3", "--topology", "digraph:3-9"]),
    case("a topology in a missing file", "edges.txt", &["run", "raymond", "--topology", "file:edges.txt"]),
    case("a topology in a wrong file", "line 2", &["run", "raymond", "--topology", "file:wrong-edges"]),
    case("a fault with a slip in it", "                  ^^\n", &["run", "mra", "--fault", "at 10ms cut 3-4 fr 5s"]),
    case("a share without a percent sign", "         5\n         ^\n", &["run", "mra", "--loss", "5"]),
    case("a loss of nothing", "something is missing", &["run", "mra", "--loss", ""]),
    case("a loss of some links", "--fault", &["run", "mra", "--loss", "5% on 3->4"]),
    case("a structure with a slip in it", "             ^^^^^", &["structure", "wrong-structure.toml"]),
    case("a figure of another size", "-n 5", &["run", "mra", "--topology", "kanrar:3.1", "-n", "4"]),
    case("a holder whom not everybody reaches", "--holder 4", &["run", "lfrt", "--topology", "kanrar:4.2", "--holder", "0"]),
    case("a holder in a digraph of one's own", "--holder 0", &["run", "lfrt", "--topology", "edges:1>0,2>1", "--holder", "2"]),
    case("a priority that is a word", "'high' is neither a whole NUMBER", &["run", "mra-p", "--priority", "high"]),
    case("a priority below zero", "'-1' is neither a whole NUMBER", &["run", "mra-p", "--priority", "-1"]),
    case("a priority of nothing", "'' is neither a whole NUMBER", &["run", "mra-p", "--priority", ""]),
    case("more priorities than nodes", "4 priorities for 3 nodes", &["run", "mra-p", "-n", "3", "--priority", "1,2,3,4"]),
    case("more priorities than nodes to explore", "--priority", &["explore", "mra-p", "-n", "3", "--priority", "1,2,3,4"]),
    case("a wish that is a word", "'x' is not a whole number", &["explore", "mra", "--wants", "x"]),
    case("a line that is a word", "'x' is not a whole number", &["replay", "taken", "--to", "x"]),
    case("a line before the first", "counted from 1", &["replay", "taken", "--to", "0"]),
    case("a rate that is a word", "'often' is not a number", &["run", "raymond", "--workload", "open", "--rate", "often"]),
    case("nodes below zero", "'-3' is not a whole number", &["run", "raymond", "-n", "-3"]),
    case("a delay below zero", "-5ms", &["run", "raymond", "--delay", "-5ms"]),
    case("a holder below zero", "'-1' is not a whole number", &["explore", "raymond", "--holder", "-1"]),
    case("aging too slow", "from 1 to 4294967295", &["run", "mra-p", "--param", "aging=slow(99999999999)"]),
    case("a sweep to run", "orchestrator sweep sweep.toml", &["run", "sweep.toml"]),
    case("a scenario to sweep", "orchestrator run scenario.toml", &["sweep", "scenario.toml"]),
    case("a grid with a value twice", "5 is there twice", &["sweep", "twice.toml"]),
    case("a grid without values", "no cell", &["sweep", "empty.toml"]),
    case("a parameter given twice", "aging is given twice", &["run", "mra-p", "--param", "aging=off", "--param", "aging=step"]),
    case("a parameter given twice to compare", "aging is given twice", &["compare", "mra-p", "fapp", "--param", "aging=off", "--param", "aging=step"]),
    case("nobody who wants in", "nobody wants in", &["explore", "raymond", "--wants", "0,0,0"]),
    case("nothing to heal", "nothing to heal", &["explore", "lfrt", "--cut", "0", "--heal"]),
    case("JSON of a run that is not made", "--dry-run", &["run", "raymond", "--dry-run", "--json"]),
    case("a cut where nothing is sent", "no link", &["run", "mra", "--fault", "at 10ms cut 8-9"]),
    case("loss where nothing is sent", "no link", &["run", "lfrt", "--topology", "kanrar:4.2", "--fault", "at 0s loss 5% on 0->1"]),
    case("two algorithms", "--algorithm", &["run", "raymond", "--algorithm", "lamport"]),
];

/// A sweep up to the values of its grid.
const SWEEP: &str = "scenario.algorithm = \"raymond\"\n[grid]\n";

/// A wrong file: what is wrong, its text, and a word that the message must contain.
type WrongFile = (&'static str, &'static str, &'static str);

#[rustfmt::skip]
const SCENARIOS: &[WrongFile] = &[
    ("an empty scenario", "", "algorithm"),
    ("a scenario that is no TOML", "algorithm = \n", ":1:"),
    ("a key twice", "algorithm = \"raymond\"\nalgorithm = \"lamport\"\n", ":2:"),
    ("an unknown key", "algoritm = \"raymond\"\n", "algoritm"),
    ("a key of the wrong type", "algorithm = \"raymond\"\nnodes = \"ten\"\n", ":2:"),
    ("a number that does not fit", "algorithm = \"raymond\"\nnodes = -1\n", ":2:"),
    ("an unknown algorithm", "nodes = 3\nalgorithm = \"raymon\"\n", ":2:"),
    ("a holder beyond the last node", "algorithm = \"raymond\"\nnodes = 5\n\nholder = 5\n", ":4:"),
    ("a span that is none", "algorithm = \"raymond\"\nhold = [\"1ms\", \"soon\"]\n", "soon"),
    ("a time that is a number", "algorithm = \"raymond\"\nduration = 10\n", "'10'"),
    ("a delay that is none", "algorithm = \"raymond\"\ndelay = \"fast\"\n", "fast"),
    ("a delay that is a number", "algorithm = \"raymond\"\ndelay = 5\n", "such as 200us"),
    ("a loss that is a number", "algorithm = \"raymond\"\nloss = 5\n", "such as 5%"),
    ("a fault that is a number", "algorithm = \"raymond\"\nfault = 5\n", "an array of texts"),
    ("one fault with a slip in it", "algorithm = \"raymond\"\nfault = \"at 5 cut 0-1\"\n", "            ^\n"),
    ("no spans at all", "algorithm = \"raymond\"\nhold = []\n", ":2:"),
    ("an unknown workload", "algorithm = \"raymond\"\nworkload = \"bursty\"\n", "bursty"),
    ("two answers to how much", "algorithm = \"raymond\"\nentries = 5\ntotal = 5\n", ":3:"),
    ("a key of another workload", "algorithm = \"raymond\"\nrate = 5\n", ":2:"),
    ("an unknown parameter", "algorithm = \"raymond\"\n[params]\nspeed = 9\n", "speed"),
    ("a parameter of a wrong type", "algorithm = \"raymond\"\n[params]\nspeed = [9]\n", ":3:"),
    ("a missing trace", "algorithm = \"raymond\"\nworkload = \"trace\"\narrivals = \"none.csv\"\n", "none.csv"),
];

#[rustfmt::skip]
const TRACES: &[WrongFile] = &[
    ("no columns", "", "node"),
    ("a missing column", "node,priority\n1,2\n", "request_ns"),
    ("an unknown column", "node,request_ns,prioriti\n1,2,3\n", "prioriti"),
    ("no requests", "node,request_ns\n", "no requests"),
    ("a time that is none", "node,request_ns\n1,soon\n", ":2:"),
    ("a missing time", "node,request_ns\n1,5\n2,\n", ":3:"),
    ("a missing node", "node,request_ns\n1,5\n77,6\n", "77"),
    ("a torn line", "node,request_ns\n1\n", "line: 2"),
];

#[test]
fn every_wrong_input_is_named() {
    let mut pages = Vec::new();
    for Case {
        what,
        line,
        culprit,
    } in FLAGS
    {
        let place = Place::new();
        place.file("a-file", "");
        place.file("taken/notes.txt", "");
        place.file("wrong-edges", "0-1\n0-x\n");
        place.file(
            "wrong-structure.toml",
            "[[node]]\ninform = [\"one\"]\nrequest = [0]\n",
        );
        place.file("scenario.toml", "algorithm = \"raymond\"\n");
        place.file("sweep.toml", "[grid]\nalgorithm = [\"raymond\"]\n");
        place.file("twice.toml", &format!("{SWEEP}nodes = [5, 5]\n"));
        place.file("empty.toml", &format!("{SWEEP}nodes = []\n"));
        pages.push(refused(&place, what, line, culprit));
    }
    for (what, text, culprit) in SCENARIOS {
        let place = Place::new();
        place.file("wrong.toml", text);
        pages.push(refused(
            &place,
            &format!("in a file: {what}"),
            &["run", "wrong.toml"],
            culprit,
        ));
    }
    for (what, text, culprit) in TRACES {
        let place = Place::new();
        place.file("wrong.csv", text);
        let line = [
            "run",
            "raymond",
            "--workload",
            "trace",
            "--arrivals",
            "wrong.csv",
        ];
        pages.push(refused(
            &place,
            &format!("in a trace: {what}"),
            &line,
            culprit,
        ));
    }
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn no_command_shows_what_there_is() {
    let place = Place::new();
    let nothing: [&str; 0] = [];
    let finished = place.run(nothing).expect(2);
    finished.warns("Usage: orchestrator <COMMAND>");
}

/// What the user sees; nothing but the message may come of a wrong input.
fn refused(place: &Place, what: &str, line: &[&str], culprit: &str) -> String {
    let before = files(place);
    let finished = place.run(line);
    let message = &finished.stderr;
    assert_eq!(finished.code, 2, "{what}: {line:?}\n{message}");
    assert!(
        message.contains(culprit),
        "{what}: {line:?} does not name {culprit}:\n{message}"
    );
    assert_eq!(finished.stdout, "", "{what}: {line:?}");
    assert!(!message.contains("panicked"), "{what}: {line:?}\n{message}");
    assert_eq!(
        files(place),
        before,
        "{what}: {line:?} left something behind"
    );
    format!("# {what}\n$ orchestrator {}\n{message}", line.join(" "))
}

fn files(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path()).expect("the place is there");
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("a name in UTF-8")).collect();
    names.sort();
    names
}
