//! Shards: a sweep or a reproduction in parts, which together are what one would have written.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Place, assert_contains};

const SMALL: &str = "repetitions = 3\n[scenario]\nengine = \"sim\"\nentries = 5\n\
                     [grid]\nalgorithm = [\"raymond\", \"lamport\"]\nnodes = [3, 5, 7]\n\
                     [plot]\nx = \"nodes\"\ny = \"messages_per_entry\"\n";

/// A place with the shards of a small sweep in `parts`, all but those.
fn shards(of: usize, without: &[usize]) -> Place {
    let place = Place::with("small.toml", SMALL);
    for number in (1..=of).filter(|number| !without.contains(number)) {
        let line = format!("sweep small.toml --shard {number}/{of} --out parts");
        place.line(&line).expect(0);
    }
    place
}

#[test]
fn shards_together_are_one_sweep_to_the_byte() {
    for of in [1, 4, 6] {
        let place = shards(of, &[]);
        place
            .line("sweep small.toml --out whole --jobs 1")
            .expect(0);
        let merged = place.line("sweep small.toml --merge parts").expect(0);
        merged.says("small · 6 cells · 18 runs");
        for file in ["runs.csv", "aggregate.csv", "plot.svg", "sweep.toml"] {
            assert_eq!(
                place.read(&format!("parts/{file}")),
                place.read(&format!("whole/{file}")),
                "{file} of {of} shards"
            );
        }
        let made = place.read("parts/sweep.json");
        assert_eq!(made.matches("\"runs\"").count(), of, "{made}");
        // What is merged is a sweep like any other, and can be merged again.
        place.line("sweep small.toml --out parts").expect(0);
        place.line("sweep small.toml --merge parts").expect(0);
    }
}

/// Ten thousand shards of one cell each, with the rows that one sweep of all has made. To make each by a
/// process of its own would take an hour, and shards_together_are_one_sweep shows that it would be the same.
#[test]
#[ignore = "takes minutes; scripts/soak runs it"]
fn ten_thousand_shards_are_merged_in_ten_seconds() {
    let place = Place::new();
    let numbers = |from: u32| {
        (from..from + 100)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
    };
    let (nodes, entries) = (numbers(2).join(", "), numbers(1).join(", "));
    let sweep = format!(
        "repetitions = 1\n[scenario]\nengine = \"sim\"\nalgorithm = \"raymond\"\n[grid]\n\
         nodes = [{nodes}]\nentries = [{entries}]\n"
    );
    place.file("large.toml", &sweep);
    place.line("sweep large.toml --out whole").expect(0);
    let rows = place.read("whole/runs.csv");
    let (head, rows) = rows.split_once('\n').unwrap();
    let rows = rows.lines().collect::<Vec<_>>();
    assert_eq!(rows.len(), 10_000);
    for (cell, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("{cell},0,")), "{row}");
        let shard = format!("parts/shards/{}-of-10000", cell + 1);
        place.file(&format!("{shard}/runs.csv"), &format!("{head}\n{row}\n"));
        for file in ["sweep.toml", "sweep.json"] {
            place.file(
                &format!("{shard}/{file}"),
                &place.read(&format!("whole/{file}")),
            );
        }
    }
    let began = Instant::now();
    place.line("sweep large.toml --merge parts").expect(0);
    let took = began.elapsed();
    for file in ["runs.csv", "aggregate.csv"] {
        let (parts, whole) = (format!("parts/{file}"), format!("whole/{file}"));
        assert!(
            place.read(&parts) == place.read(&whole),
            "{file} is another one"
        );
    }
    assert!(took < Duration::from_secs(10), "{took:?}");
    println!("10,000 shards were merged in {:.1} s", took.as_secs_f64());
}

#[test]
fn missing_shards_are_named() {
    let place = shards(4, &[2, 3]);
    let refused = place.line("sweep small.toml --merge parts").expect(2);
    let words = ["shard 2/4 is not there", "shard 3/4 is not there"];
    assert_contains(&refused.stderr, &words);
    assert!(!place.path().join("parts/runs.csv").exists());
    // One that was interrupted has some of its runs.
    place
        .line("sweep small.toml --shard 2/4 --out parts")
        .expect(0);
    place
        .line("sweep small.toml --shard 3/4 --out parts")
        .expect(0);
    let rows = place.read("parts/shards/2-of-4/runs.csv");
    let some = rows.lines().take(3).map(|line| format!("{line}\n"));
    place.file("parts/shards/2-of-4/runs.csv", &some.collect::<String>());
    let refused = place.line("sweep small.toml --merge parts").expect(2);
    assert_contains(&refused.stderr, &["shard 2/4 has 2 of 6 runs"]);
    // It goes on where it was.
    let resumed = place.line("sweep small.toml --shard 2/4 --out parts");
    resumed.expect(0).says("shard 2/4 · 6 runs");
    place.line("sweep small.toml --merge parts").expect(0);
    let nothing = place.line("sweep small.toml --merge elsewhere").expect(2);
    assert_contains(&nothing.stderr, &["there are no shards"]);
}

#[test]
fn shards_of_another_sweep_or_build_are_not_mixed_in() {
    let place = shards(2, &[]);
    place.file("other.toml", &SMALL.replace("entries = 5", "entries = 6"));
    let refused = place.line("sweep other.toml --merge parts").expect(2);
    assert_contains(&refused.stderr, &["1-of-2 is of another sweep"]);
    let more = place.line("sweep small.toml --repetitions 4 --merge parts");
    assert_contains(&more.expect(2).stderr, &["is of another sweep"]);
    place
        .line("sweep small.toml --shard 1/3 --out parts")
        .expect(0);
    let refused = place.line("sweep small.toml --merge parts").expect(2);
    assert_contains(&refused.stderr, &["a division in 2 and in 3"]);
    fs::remove_dir_all(place.path().join("parts/shards/1-of-3")).unwrap();
    let json = place.read("parts/shards/1-of-2/sweep.json");
    let commit = json
        .lines()
        .find(|line| line.contains("\"commit\""))
        .unwrap();
    let other = json.replace(commit, "      \"commit\": \"0123456\",");
    place.file("parts/shards/1-of-2/sweep.json", &other);
    let refused = place.line("sweep small.toml --merge parts").expect(2);
    assert_contains(&refused.stderr, &["not built from one commit", "0123456"]);
}

#[test]
fn commands_make_the_shards_wherever_they_are_typed() {
    let place = Place::new();
    let elsewhere = Place::new();
    place.file("small.toml", SMALL);
    let typed =
        "sweep --grid nodes=3,5,7 --grid algorithm=raymond,lamport --entries 5 --repetitions 2";
    for (sweep, of) in [("sweep small.toml", 6), (typed, 6)] {
        let out = format!("parts-{}", sweep.len());
        let lines = place.line(&format!("{sweep} --commands --out {out}"));
        let lines = lines.expect(0).stdout;
        assert_eq!(lines.lines().count(), of, "{lines}");
        for line in lines.lines() {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", line]).current_dir(elsewhere.path());
            let made = shell.output().unwrap();
            assert!(made.status.success(), "{line}: {made:?}");
        }
        place.line(&format!("{sweep} --merge {out}")).expect(0);
    }
    let two = place
        .line("sweep small.toml --commands=2 --out a")
        .expect(0);
    assert_eq!(two.stdout.lines().count(), 2, "{}", two.stdout);
    assert!(
        two.stdout.contains(" --shard 2/2 --out /"),
        "{}",
        two.stdout
    );
}

#[test]
fn what_cannot_be_divided_so_is_refused() {
    let place = Place::with("small.toml", SMALL);
    place.refuses(&[
        ("sweep small.toml --shard 1/7", "6 cells"),
        ("sweep small.toml --shard 0/3", "write 3/8"),
        ("sweep small.toml --commands=7", "6 cells"),
        ("sweep raymond --grid nodes=3,5 --shard 1/2", "--out"),
        ("sweep small.toml --jobs 0", "0"),
        (
            "sweep small.toml --shard 1/2 --merge parts",
            "cannot be used with",
        ),
    ]);
}

/// Claims that look at the same runs are tested by the same shard; all together are one reproduction.
#[test]
fn a_reproduction_in_shards_is_the_same_reproduction() {
    let place = Place::new();
    let claims = ["SUR-1", "SUR-2", "SUR-3", "SAN-1", "RAN-1", "BAN-1"].join(" ");
    let line = format!("reproduce {claims} --quick");
    let whole = place.line(&format!("{line} --out whole"));
    for number in 1..=3 {
        let shard = place.line(&format!("{line} --shard {number}/3 --out parts"));
        assert!([0, 1].contains(&shard.code), "{}", shard.stderr);
        shard.says(&format!("this was shard {number}/3"));
    }
    assert!(!place.path().join("parts/claims.csv").exists());
    let together = place.line(&format!("{line} --out parts"));
    assert_eq!(together.code, whole.code);
    for file in ["claims.csv", "RESULTS.md"] {
        let read = |out: &str| place.read(&format!("{out}/{file}"));
        assert_eq!(read("parts"), read("whole"), "{file}");
    }
}

#[test]
fn claims_that_share_runs_are_in_one_shard() {
    let place = Place::new();
    let claim = |id: &str, nodes: u32| {
        format!(
            "[[claim]]\nid = \"{id}\"\nplace = \"here\"\nsays = \"something\"\nkind = \"value\"\n\
             lab = \"so\"\nverdict = \"reproduced\"\n[[claim.test]]\nsweep = 'costs'\n\
             where = {{ nodes = {nodes} }}\nvalue = 'messages_per_entry'\nequals = '3*(nodes-1)'\n\
             within = '1%'\n"
        )
    };
    let text = format!(
        "source = \"test\"\ntitle = \"a test\"\n[sweep.costs]\nrepetitions = 3\n\
         scenario = {{ engine = \"sim\", entries = 5, algorithm = \"lamport\" }}\n\
         grid = {{ nodes = [3, 5] }}\n{}{}",
        claim("T-1", 3),
        claim("T-2", 5)
    );
    place.file("claims/test.toml", &text);
    place.file("papers/numbers.csv", "size,cost\n4,2\n6,4\n");
    let shard = |number: u32| {
        let line = "reproduce --claims claims --papers papers --out out";
        place
            .line(&format!("{line} --shard {number}/2"))
            .expect(0)
            .stdout
    };
    assert_contains(&shard(1), &["T-1", "T-2"]);
    let none = shard(2);
    assert!(!none.contains("T-1") && !none.contains("T-2"), "{none}");
}
