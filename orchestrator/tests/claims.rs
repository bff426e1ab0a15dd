//! Claims: what a file must say, what becomes of them, and that a changed claim gets another verdict.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, rows};

/// A claim of every kind of expectation, with what makes it fail: another constant, or another side.
#[rustfmt::skip]
const KINDS: [(&str, &str, &str); 9] = [
    ("equals", "sweep = 'costs'\nwhere = { algorithm = 'lamport' }\nvalue = 'messages_per_entry'\nequals = '3.0*(nodes-1)'\nwithin = '1%'", "3.3*"),
    ("at-most", "sweep = 'costs'\nvalue = 'messages_per_entry'\nat-most = '3.0*(nodes-1)'", "2.7*"),
    ("at-least", "sweep = 'costs'\nwhere = { algorithm = 'lamport' }\nvalue = 'messages_per_entry'\nat-least = '3.0*(nodes-1)'", "3.3*"),
    ("below", "sweep = 'costs'\nvalue = 'messages_per_entry'\nof = { algorithm = 'raymond' }\nbelow = { algorithm = 'lamport' }", "above ="),
    ("rises-with", "sweep = 'costs'\nwhere = { algorithm = 'lamport' }\nvalue = 'messages_per_entry'\nrises-with = 'nodes'", "falls-with ="),
    ("always", "sweep = 'costs'\nalways = 'messages_per_entry <= 3.0*(nodes-1)'", "2.7*"),
    ("sometimes", "sweep = 'costs'\nsometimes = 'messages_per_entry >= 3.0*(nodes-1)'", "3.3*"),
    ("explore", "explore = [{ algorithm = 'lamport', nodes = 2 }]\nfinds = 'nothing'", "finds = 'deadlock'"),
    ("recompute", "recompute = 'numbers'\nvalue = 'cost.mean'\nequals = '3.0*1'\nwithin = '1%'", "3.3*"),
];

const SWEEP: &str = "source = \"test\"\ntitle = \"a test\"\n[sweep.costs]\nrepetitions = 3\n\
                     scenario = { engine = \"sim\", entries = 5 }\n\
                     grid = { algorithm = [\"raymond\", \"lamport\"], nodes = [3, 5] }\n";

fn claim(test: &str) -> String {
    format!(
        "{SWEEP}[[claim]]\nid = \"T-1\"\nplace = \"here\"\nsays = \"something\"\nkind = \"value\"\n\
         lab = \"so\"\nverdict = \"reproduced\"\n[[claim.test]]\n{test}\n"
    )
}

fn reproduce(place: &Place, text: &str, code: i32) -> common::Finished {
    let _ = fs::remove_dir_all(place.path().join("out"));
    reproduce_again(place, text, code)
}

/// The same, with what is there already.
fn reproduce_again(place: &Place, text: &str, code: i32) -> common::Finished {
    place.file("claims/test.toml", text);
    place.file("papers/numbers.csv", "size,cost\n4,2\n6,4\n");
    place
        .line("reproduce --claims claims --papers papers --out out")
        .expect(code)
}

fn changed(kind: &str, test: &str, to: &str) -> String {
    match kind {
        "below" => test.replace("below =", to),
        "rises-with" => test.replace("rises-with =", to),
        "explore" => test.replace("finds = 'nothing'", to),
        _ => test.replace("3.0*", to),
    }
}

#[test]
fn a_tenth_more_or_less_turns_the_verdict_of_every_kind() {
    for (kind, test, to) in KINDS {
        let place = Place::new();
        reproduce(&place, &claim(test), 0);
        let other = changed(kind, test, to);
        assert_ne!(other, test, "{kind}");
        let finished = reproduce(&place, &claim(&other), 1);
        let message = "where reproduced was published";
        assert!(
            finished.stdout.contains(message),
            "{kind}: {}",
            finished.stdout
        );
    }
}

#[test]
fn a_claim_file_that_is_wrong_is_refused_before_anything_runs() {
    let (_, equals, _) = KINDS[0];
    let good = claim(equals);
    let but = |from: &str, to: &str| good.replace(from, to);
    let cases = [
        (but("place =", "plaice ="), "there is no key 'plaice'"),
        (
            but("sweep = 'costs'", "sweep = \"cost\""),
            "no sweep 'cost'",
        ),
        (but("messages_per_entry", "beauty"), "called 'beauty'"),
        (
            but("messages_per_entry", "messages.BEAUTY"),
            "has 'messages.BEAUTY'",
        ),
        (but("3.0*(nodes-1)", "3.0*(nodes-1"), "a ) is missing"),
        (
            but("within = '1%'", "within = \"100%\"\nbecause = 'why not'"),
            "it cannot fail",
        ),
        (but("within = '1%'", ""), "within says how far"),
        (
            but("within = '1%'", "within = '2%'"),
            "because = \"…\" says why",
        ),
        (
            but("within = '1%'", "within = '1%'\nbecause = 'it fits'"),
            "needs no reason",
        ),
        (but("kind = \"value\"\n", ""), "kind"),
        (
            but("title =", "text = \"a-book\"\ntitle ="),
            "quote = \"…\" is missing",
        ),
        (
            but("verdict = \"reproduced\"", "verdict = \"conditional\""),
            "depends-on says on what",
        ),
        (
            but("lab =", "depends-on = \"load\"\nlab ="),
            "its verdict is not conditional",
        ),
        (
            but("repetitions = 3", "repetitions = 3\nup-to = 2"),
            "less than the 3 repetitions",
        ),
        (
            but("repetitions = 3", "repetitions = 3\ncluster = 0"),
            "cluster: how many repetitions",
        ),
        (
            but(
                "repetitions = 3",
                "repetitions = 3\ncluster = { repetitions = 2, nodes = 5 }",
            ),
            "most-nodes = 10",
        ),
        (but("within = '1%'", "at-most = 3"), "one expectation"),
        (
            but(
                "where = { algorithm = 'lamport' }",
                "where = { algorithm = \"lampert\" }",
            ),
            "no cell has algorithm = lampert",
        ),
        (
            but("repetitions = 3", "repetitions = 1"),
            "at least 2 repetitions",
        ),
        (
            but("verdict = \"reproduced\"", "verdict = \"true\""),
            "no choice 'true'",
        ),
        (
            claim("explore = [{ algorithm = \"lampert\" }]\nfinds = \"nothing\""),
            "no algorithm 'lampert'",
        ),
        (
            claim("explore = [{ algorithm = \"lamport\", wnats = [1] }]\nfinds = \"nothing\""),
            "no key 'wnats'; did you mean 'wants'?",
        ),
        (
            claim("explore = [{ algorithm = \"lamport\" }]\nfinds = \"beauty\""),
            "there is no 'beauty'",
        ),
        (claim("explore = [{ algorithm = \"lamport\" }]"), "finds ="),
        (
            claim("recompute = \"beauty\"\nvalue = \"a.mean\"\nequals = 3\nwithin = 1"),
            "beauty.csv",
        ),
        (claim(""), "a test looks at one thing"),
        (
            but("[[claim.test]]", "not-testable = \"no\"\n[[claim.test]]"),
            "it can be tested",
        ),
        (
            good.split("[[claim.test]]").next().unwrap().to_owned(),
            "it has no test",
        ),
        (
            format!("{good}{}", &good[good.find("[[claim]]").unwrap()..]),
            "claimed twice",
        ),
    ];
    for (text, expected) in cases {
        assert_ne!(text, good, "{expected}");
        let finished = reproduce(&Place::new(), &text, 2);
        // Whatever the width of the lines.
        let stderr = finished
            .stderr
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(stderr.contains(expected), "{expected}: {stderr}");
        assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    }
}

#[test]
fn what_is_asked_for_must_be_there() {
    let place = Place::new();
    place.file("claims/test.toml", &claim(KINDS[0].1));
    place.refuses(&[
        ("reproduce --claims claims T-2", "there is no claim 'T-2'"),
        (
            "reproduce --claims claims --paper testt",
            "did you mean 'test'?",
        ),
        (
            "reproduce --claims claims --paper te",
            "there is no source 'te'",
        ),
        ("list --paper test", "list claims --paper"),
        (
            "reproduce --claims claims --quick",
            "no claim is all of that",
        ),
        (
            "reproduce --claims nowhere",
            "cannot read the claims in nowhere",
        ),
    ]);
}

/// Repetitions are doubled until the interval decides, and what an earlier reproduction ran is used again.
#[test]
fn repetitions_grow_while_a_test_is_undecided() {
    let place = Place::new();
    // Of a dozen runs in which it is so, 99 % confidence follows for no more than some two thirds.
    let test = "sweep = 'costs'\nwhere = { algorithm = 'raymond', nodes = 5 }\n\
                share = 'messages_per_entry > 0'\nat-least = '90%'";
    let text = claim(test).replace("repetitions = 3", "repetitions = 3\nup-to = 12");
    for _ in 0..2 {
        let finished = reproduce_again(&place, &text, 1);
        assert!(finished.stdout.contains("T-1"), "{}", finished.stdout);
        let manifest = place.path().join("out/test/costs.sim/sweep.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        assert!(manifest.contains("repetitions = 12"), "{manifest}");
    }
}

#[test]
fn both_engines_count_the_same() {
    let place = Place::new();
    let text = claim(KINDS[0].1).replace("repetitions = 3", "repetitions = 3\ncluster = 2");
    place.file("claims/test.toml", &text.replace("\"raymond\", ", ""));
    place
        .line("reproduce --claims claims --out out --engine both")
        .expect(0);
    let row = rows(&place.path().join("out/claims.csv")).pop().unwrap();
    assert_eq!(row["cluster_verdict"], "reproduced");
    assert_eq!(row["engines"], "agree");
    let page = place.read("out/report.html");
    assert!(page.contains("T-1") && page.contains("reproduced"));
}

/// A book whose claims are in two files is one source.
#[test]
fn a_source_may_have_several_files() {
    let listed = |paper: &str| {
        let line = ["list", "claims", "--json", "--paper", paper];
        let mut command = Place::new().command(line);
        let finished = common::Finished::new(command.current_dir(root()).output().unwrap());
        let listed = serde_json::from_str::<serde_json::Value>(&finished.expect(0).stdout);
        listed.unwrap().as_array().unwrap().len()
    };
    let [token, voting, both] = ["kanrar-token", "kanrar-voting", "kanrar"].map(listed);
    assert!(token > 0 && voting > 0 && token != voting);
    assert_eq!(both, token + voting);
    let place = Place::new();
    for (file, source) in [("one", "test-one"), ("two", "test-two"), ("three", "other")] {
        let text = claim(KINDS[0].1).replace("T-1", &format!("T-{file}"));
        let text = text.replacen("source = \"test\"", &format!("source = \"{source}\""), 1);
        place.file(&format!("claims/{file}.toml"), &text);
    }
    place.file("papers/numbers.csv", "size,cost\n4,2\n6,4\n");
    let line = "reproduce --claims claims --papers papers --out out --paper test";
    place.line(line).expect(0).says("2 claims: 2 reproduced");
}

/// The repository, of which the published table is a part.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Every claim of the sources is there, once.
#[test]
fn no_claim_is_missing() {
    let mut command = Place::new().command(["list", "claims", "--json"]);
    let finished = common::Finished::new(command.current_dir(root()).output().unwrap());
    let listed =
        serde_json::from_str::<Vec<serde_json::Value>>(&finished.expect(0).stdout).unwrap();
    let mut ids = listed
        .iter()
        .map(|claim| claim["id"].as_str().unwrap().to_owned())
        .collect::<Vec<_>>();
    // The numbers that are missing were given to statements that no source makes.
    let sources: [(&str, u32, &[u32]); 7] = [
        ("SAN", 38, &[]),
        ("SUR", 5, &[]),
        ("RAN", 44, &[25, 26, 27, 28]),
        ("BAN", 50, &[14, 15, 16, 17, 23, 24, 25]),
        ("KAN", 57, &[]),
        ("KAV", 43, &[]),
        ("OUR", 14, &[]),
    ];
    let numbers = sources.iter().flat_map(|(source, last, moved)| {
        let numbers = (1..=*last).filter(|number| !moved.contains(number));
        numbers.map(move |number| format!("{source}-{number}"))
    });
    let mut wanted = numbers.collect::<Vec<_>>();
    ids.sort();
    wanted.sort();
    assert_eq!(ids, wanted);
}

/// A test of a claim that compares with a formula: whose it is, both sides, and how far they may be apart.
struct Compared {
    id: String,
    sides: [String; 2],
    within: String,
    /// What the source says; nothing where the statement is ours.
    quoted: String,
}

/// The claim files of the repository.
fn claim_files() -> Vec<toml::Table> {
    let paths = fs::read_dir(root().join("experiments/claims")).unwrap();
    let paths = paths.map(|path| path.unwrap().path());
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let files = paths.map(|path| toml::from_str(&fs::read_to_string(path).unwrap()).unwrap());
    files.collect()
}

/// All of them, as the claim files have them.
fn compared() -> Vec<Compared> {
    let mut compared = Vec::new();
    for file in claim_files() {
        for claim in file["claim"].as_array().unwrap() {
            let quoted = match claim.get("quote") {
                None => String::new(),
                Some(toml::Value::Array(sentences)) => {
                    let sentences = sentences.iter().map(|one| one.as_str().unwrap());
                    sentences.collect::<Vec<_>>().join(" ")
                }
                Some(sentence) => sentence.as_str().unwrap().to_owned(),
            };
            let tests = claim.get("test").and_then(toml::Value::as_array);
            for test in tests.into_iter().flatten() {
                let Some(equals) = test.get("equals") else {
                    continue;
                };
                let plain = |value: &toml::Value| match value.as_str() {
                    Some(formula) => formula.replace(' ', ""),
                    None => value.to_string(),
                };
                compared.push(Compared {
                    id: claim["id"].as_str().unwrap().to_owned(),
                    sides: [plain(&test["value"]), plain(equals)],
                    within: plain(&test["within"]),
                    quoted: quoted.clone(),
                });
            }
        }
    }
    compared
}

/// Words by which a source says that its number is not exact.
const ROUNDED: [&str; 6] = [
    "about",
    "approach",
    "approximately",
    "example",
    "on the order of",
    "tend toward",
];

/// Tolerances follow from the source's words: where it says *exactly* there is none, and a twentieth is for what it has
/// rounded, in words or in a table.
#[test]
fn a_tolerance_follows_from_the_words_of_the_source() {
    let compared = compared();
    assert!(compared.len() > 100, "only {}", compared.len());
    for Compared {
        id,
        sides: [value, equals],
        within,
        quoted,
    } in compared
    {
        let quoted = quoted.to_lowercase();
        if quoted.contains("exactly") {
            assert_eq!(within, "0", "{id}: {value} = {equals}");
        }
        if within == "5%" && !quoted.is_empty() {
            let rounded = ROUNDED.iter().any(|word| quoted.contains(word));
            assert!(
                rounded || equals.starts_with("paper."),
                "{id}: {value} = {equals}"
            );
        }
    }
}

/// The same quantity is held against the same formula with the same tolerance, whatever the claim; only words of the
/// source that make its number exact, or round it, can make it another.
#[test]
fn the_same_formula_has_the_same_tolerance() {
    let mut known = std::collections::BTreeMap::new();
    for Compared {
        id,
        sides,
        within,
        quoted,
    } in compared()
    {
        let quoted = quoted.to_lowercase();
        let mut words = ROUNDED.iter().copied().chain(["exactly"]);
        if words.any(|word| quoted.contains(word)) {
            continue;
        }
        let (first, tolerance) = known
            .entry(sides.clone())
            .or_insert((id.clone(), within.clone()));
        assert_eq!(*tolerance, within, "{first} and {id}: {sides:?}");
    }
}

/// Whether something in this table leaves defects unrepaired.
fn leaves_defects(table: &toml::Table) -> bool {
    match table.get("as-printed") {
        None => false,
        Some(toml::Value::Boolean(all)) => *all,
        Some(toml::Value::Array(some)) => !some.is_empty(),
        Some(shown) => !["", "[]"].contains(&shown.as_str().unwrap()),
    }
}

/// A test of printed rules says so in its case, or says what of them is repaired.
#[test]
fn what_runs_as_printed_is_labelled() {
    const LABELS: [&str; 4] = ["as printed", "repaired", "reading", "reconstructed"];
    let mut labelled = 0;
    for file in claim_files() {
        for claim in file["claim"].as_array().unwrap() {
            let tests = claim.get("test").and_then(toml::Value::as_array);
            for test in tests.into_iter().flatten() {
                let test = test.as_table().unwrap();
                let sweep = test
                    .get("sweep")
                    .map(|name| &file["sweep"][name.as_str().unwrap()]);
                let worlds = test.get("explore").and_then(toml::Value::as_array);
                let tables = sweep.and_then(|sweep| sweep.get("scenario"));
                let tables = tables.into_iter().chain(test.get("where"));
                let mut tables = tables.chain(worlds.into_iter().flatten());
                if tables.any(|table| leaves_defects(table.as_table().unwrap())) {
                    let case = test.get("case").map_or("", |case| case.as_str().unwrap());
                    let told = LABELS.iter().any(|label| case.contains(label));
                    assert!(told, "{}: {case}", claim["id"]);
                    labelled += 1;
                }
            }
        }
    }
    assert!(labelled > 50, "only {labelled}");
}

/// The quick claims get the published verdicts, for the published reasons.
#[test]
fn quick_claims_are_as_the_published_table_says() {
    let place = Place::new();
    let out = place.path().join("out");
    let root = root();
    let mut command = place.command(["reproduce", "--quick", "--out"]);
    command.arg(&out).current_dir(root);
    common::Finished::new(command.output().unwrap()).expect(0);
    let published = rows(&root.join("results/reference/claims.csv"));
    let quick = rows(&out.join("claims.csv"));
    assert!(quick.len() > 30, "only {}", quick.len());
    for row in quick {
        let same = published.iter().find(|known| known["id"] == row["id"]);
        let same = same.unwrap_or_else(|| panic!("{} is not in the table", row["id"]));
        for column in ["claim", "verdict", "means", "evidence"] {
            assert_eq!(row[column], same[column], "{column} of {}", row["id"]);
        }
    }
}

/// The table for people and the one for scripts are of the same reproduction, and complete.
#[test]
fn the_published_tables_agree() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let results = read("RESULTS.md");
    let published = rows(&root().join("results/reference/claims.csv"));
    assert_eq!(published.len(), 240);
    for row in published {
        assert_eq!(row["verdict"], row["published"], "{}", row["id"]);
        let verdict = match row["depends_on"].as_str() {
            "" => row["verdict"].clone(),
            condition => format!("{} on {condition}", row["verdict"]),
        };
        let line = format!(".md#{}) | {verdict} |", row["id"].to_lowercase());
        assert!(results.contains(&line), "{line}");
    }
}

/// The prose of the findings has no number but those that the program puts in, every finding is told, and every
/// claim that does not hold is in one.
#[test]
fn the_findings_are_told_with_the_numbers_that_were_seen() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let file = toml::from_str::<toml::Table>(&read("experiments/findings.toml")).unwrap();
    let groups = file["group"].as_array().unwrap();
    let list = |group: &toml::Value| {
        let findings = group["finding"].as_array().unwrap().iter();
        let words = findings.map(|finding| finding.as_str().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    let findings = groups.iter().flat_map(list).collect::<Vec<_>>();
    let about = groups
        .iter()
        .filter_map(|group| group.get("about")?.as_str());
    for words in findings.iter().map(String::as_str).chain(about) {
        // Marks and formulas stand between these; outside of them no digit does.
        let mut depth = 0;
        let mut formula = false;
        for letter in words.chars() {
            match letter {
                '`' => formula = !formula,
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => assert!(depth > 0 || formula || !letter.is_ascii_digit(), "{words}"),
            }
        }
    }
    let results = read("RESULTS.md");
    let (_, found) = results.split_once("## What was found\n").unwrap();
    let (found, _) = found.split_once("\n## ").unwrap();
    let told = found.lines().filter(|line| line.starts_with("- "));
    assert_eq!(told.count(), findings.len(), "{found}");
    assert!(!results.contains("## What else does not hold"), "{found}");
}

/// A number of a finding is the one that was seen, and a finding of other claims is not told.
#[test]
fn a_finding_is_told_with_its_number() {
    let place = Place::new();
    let file =
        "[[group]]\ntitle = 'Costs'\nfinding = ['It takes {T-1.1}, see [T-1].', 'And [T-9].']\n";
    place.file("experiments/findings.toml", file);
    let equal = "recompute = 'numbers'\nvalue = 'cost.mean'\nequals = '3.0*1'\nwithin = '1%'";
    reproduce(&place, &claim(equal), 0);
    let overview = place.read("out/RESULTS.md");
    assert!(
        overview.contains("\n- It takes 3, see [T-1]("),
        "{overview}"
    );
    assert!(!overview.contains("And "), "{overview}");
}

/// On processes only small cells run, where the sweep says so, and only tests of what processes measure: the
/// messages of one entry are not counted there.
#[test]
fn on_processes_small_cells_run_and_what_they_measure() {
    let place = Place::new();
    let small = SWEEP.replace(
        "repetitions = 3",
        "repetitions = 3\ncluster = { repetitions = 2, most-nodes = 3 }",
    );
    let both = "sweep = 'costs'\nwhere = { algorithm = 'lamport' }\nvalue = 'messages_per_entry'\n\
                equals = '3*(nodes-1)'\nwithin = '1%'\n[[claim.test]]\ncase = 'each entry'\n\
                sweep = 'costs'\nalways = 'entry.messages.max <= 3*(nodes-1)'";
    let text = claim(both).replace(SWEEP, &small);
    place.file("claims/test.toml", &text);
    let line = "reproduce --claims claims --engine both --out out";
    place.line(line).expect_one_of(&[0, 1]);
    let runs = rows(&place.path().join("out/test/costs.cluster/runs.csv"));
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().all(|run| run["nodes"] == "3"));
    let page = place.read("out/test.md");
    let told = "On processes, 1 of 2 tests, at most 3 nodes: reproduced; the engines agree.";
    assert!(page.contains(told), "{page}");
    let varying = text.replace("lab = ", "varies-on-processes = true\nlab = ");
    place.file("claims/test.toml", &varying);
    place.line(line).expect_one_of(&[0, 1]);
    let page = place.read("out/test.md");
    let told = "On processes, 1 of 2 tests, at most 3 nodes: another thing from run to run.";
    assert!(page.contains(told), "{page}");
    assert_eq!(
        rows(&place.path().join("out/claims.csv"))[0]["engines"],
        "vary"
    );
    let overview = place.read("out/RESULTS.md");
    assert!(overview.contains("## On processes"), "{overview}");
    assert!(
        overview.contains("1 claims ran on processes too"),
        "{overview}"
    );
}
