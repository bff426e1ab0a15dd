//! Reports: one page that needs nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;

use common::{Place, assert_contains};

/// A page is one small file without script or anything from elsewhere.
fn self_contained(html: &str) {
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    let elsewhere = html.replace("http://www.w3.org/2000/svg", "");
    for word in [
        "http:", "https:", "<script", "<link", "<img", "url(", "@import",
    ] {
        assert!(!elsewhere.contains(word), "{word}");
    }
    for (opening, closing) in [
        ("<table", "</table>"),
        ("<svg", "</svg>"),
        ("<section", "</section>"),
    ] {
        assert_eq!(
            html.matches(opening).count(),
            html.matches(closing).count(),
            "{opening}"
        );
    }
}

/// The page that a run writes into its directory.
fn page_of(place: &Place, line: &str, code: i32, out: &str) -> String {
    place.line(line).expect(code);
    place.read(&format!("{out}/report.html"))
}

#[test]
fn a_run_writes_its_page_and_report_makes_the_same() {
    let place = Place::new();
    let line =
        "run raymond --engine sim --seed 1 --entries 20 --out a --fault 'at 50ms cut 0-1 for 30ms'";
    let html = page_of(&place, line, 0, "a");
    self_contained(&html);
    let (page, provenance) = html.split_once("<aside>").unwrap();
    let words = [
        "verdict: holds",
        "Wait percentiles",
        "Wait over time",
        "Order of execution",
        "Who waited and who was inside",
        "Messages by kind",
        "a fault is in force",
        "PRIVILEGE",
        "200 of 200 requests served",
    ];
    assert_contains(page, &words);
    assert!(provenance.contains("--seed 1"), "{provenance}");
    let repeats = provenance.split("<pre>").nth(1).unwrap();
    assert!(!repeats.contains("--out"), "{repeats}");
    fs::remove_file(place.path().join("a/report.html")).unwrap();
    let printed = place.line("report a").expect(0).stdout;
    assert_eq!(printed, "report: a/report.html\n");
    assert_eq!(place.read("a/report.html"), html);
    place.line("report a --out elsewhere.html").expect(0);
    assert_eq!(place.read("elsewhere.html"), html);
}

#[test]
fn a_violation_comes_first() {
    let place = Place::new();
    let line = "run suzuki-kasami --engine sim -n 3 --as-printed=SK1 --seed 1 --out a";
    let html = page_of(&place, line, 1, "a");
    self_contained(&html);
    let banner = html.split("<div class=\"banner bad\">").nth(1).unwrap();
    let banner = banner.split("</div>").next().unwrap();
    assert!(
        banner.contains("verdict: violated") && banner.contains("<li>liveness"),
        "{banner}"
    );
    let place_of = |word: &str| html.find(word).unwrap();
    assert!(place_of("verdict: violated") < place_of("<section"));
}

#[test]
fn a_sweep_has_a_page_when_it_is_complete() {
    let place = Place::new();
    let sweep = "repetitions = 2\n[scenario]\nengine = \"sim\"\nentries = 3\n\
                 [grid]\nalgorithm = [\"raymond\", \"lamport\"]\nnodes = [3, 5]\n\
                 [plot]\nx = \"nodes\"\ny = \"messages_per_entry\"\n";
    place.file("small.toml", sweep);
    place.line("sweep small.toml --out a").expect(0);
    let path = place.path().join("a/report.html");
    let html = fs::read_to_string(&path).unwrap();
    self_contained(&html);
    assert_contains(&html, &["4 cells · 8 runs", "8 holds", "<svg", "lamport"]);
    assert_contains(&html, &["95 % interval", "aggregate.csv"]);
    // 3(N-1) messages with nothing to vary.
    assert!(html.contains("<td class=\"number\">12.0</td>"), "{html}");
    fs::remove_file(&path).unwrap();
    place.line("report a").expect(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), html);
    // Sweeps that were made before there was a sweep.json have no link to one.
    let link = "href=\"sweep.json\"";
    assert!(html.contains(link), "{html}");
    fs::remove_file(place.path().join("a/sweep.json")).unwrap();
    place.line("report a").expect(0);
    let html = fs::read_to_string(&path).unwrap();
    assert!(!html.contains(link), "{html}");
    assert!(html.contains("There is no sweep.json"), "{html}");
    fs::remove_file(place.path().join("a/aggregate.csv")).unwrap();
    let refused = place.line("report a").expect(2).stderr;
    assert!(refused.contains("not complete"), "{refused}");
}

#[test]
fn a_page_that_cannot_be_written_is_bad_usage() {
    let place = Place::new();
    place.line("run raymond --engine sim --out a").expect(0);
    place.file("a-file", "");
    let refused = place.line("report a --out a-file/page.html").expect(2);
    refused.warns("a-file/page.html");
    refused.warns("--out");
}

#[test]
fn what_is_no_result_has_no_page() {
    let place = Place::new();
    place.file("a/notes.txt", "");
    let refused = place.line("report a").expect(2).stderr;
    assert!(
        refused.contains("neither run.json nor sweep.toml"),
        "{refused}"
    );
    place.file("b/sweep.toml", "");
    place.file("b/runs.csv", "cell,verdict\n");
    place.file("b/aggregate.csv", "cell,mean\n0,1\n");
    let refused = place.line("report b").expect(2).stderr;
    assert!(refused.contains("no column 'metric'"), "{refused}");
}

/// The page names what lies beside it, and nothing else.
#[test]
fn a_page_lists_the_files_of_its_run() {
    let place = Place::new();
    for (out, flags) in [("a", "--trace"), ("b", "--engine sim")] {
        let line = format!("run raymond -n 3 --entries 2 {flags} --out {out}");
        let html = page_of(&place, &line, 0, out);
        let files = html.split("<h2>Files</h2>").nth(1).unwrap();
        let files = files.split("</section>").next().unwrap();
        let listed = files.split("href=\"").skip(1);
        let mut listed = listed
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect::<Vec<_>>();
        listed.push("report.html".to_owned());
        listed.sort();
        let entries = fs::read_dir(place.path().join(out)).unwrap();
        let there = entries.map(|entry| entry.unwrap().file_name());
        let there = there.map(|name| name.to_string_lossy().into_owned());
        let mut there = there.collect::<Vec<_>>();
        there.sort();
        assert_eq!(listed, there, "{line}");
    }
}

/// Words of a page are those of the tables, its command is one for a shell, and it says nothing of
/// what is not there.
#[test]
fn a_page_says_what_the_files_say() {
    let place = Place::new();
    let line = "run raymond -n 3 --entries 5 --engine sim --loss 5% --seed 1 --out 'a b'";
    let html = page_of(&place, line, 0, "a b");
    let table = place.read("a b/transport.csv");
    for column in [
        "datagrams_sent",
        "retransmissions",
        "rejected",
        "duplicates",
    ] {
        assert!(table.lines().next().unwrap().contains(column), "{column}");
        assert!(html.contains(&format!(">{column}</td>")), "{column}");
    }
    assert!(
        html.contains("--out &#39;a b&#39;"),
        "the command is quoted"
    );
    assert!(html.contains("has no band in the pictures"), "{html}");
    let line = "run raymond -n 3 --entries 5 --engine sim --fault 'at 1ms pause 1 for 5ms' --seed 1 --out c";
    let html = page_of(&place, line, 0, "c");
    assert!(!html.contains("has no band in the pictures"));
    assert!(html.contains("a fault is in force"));
}
