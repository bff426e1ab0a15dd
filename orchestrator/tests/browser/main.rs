//! The page that steps through a run, in a real browser.

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod perfetto;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use algorithms::registry;
use common::{Place, assert_contains};
use driver::Browser;

const LEFT: char = '\u{e012}';
const RIGHT: char = '\u{e014}';
const HOME: char = '\u{e011}';

/// Runs something with a trace, and makes its page.
fn page(place: &Place, line: &str, out: &str) -> PathBuf {
    let run = place.line(&format!("run {line} --engine sim --trace --out {out}"));
    assert!([0, 1, 3].contains(&run.code), "{line}: {}", run.stderr);
    let view = place.line(&format!("view {out}"));
    assert_eq!(view.code, 0, "{line}: {}", view.stderr);
    place.path().join(out).join("view.html")
}

/// Everything that the page shows of the moment.
fn moment(browser: &Browser) -> [String; 3] {
    let now = "return document.getElementById('now').textContent";
    let graph = "return document.getElementById('graph').getAttribute('aria-label')";
    let state = "return document.getElementById('state').textContent";
    [now, graph, state].map(|script| browser.text(script))
}

#[test]
fn one_steps_to_the_violation_of_a_printed_defect_and_back_and_on_again() {
    let Some(browser) = Browser::start("one_steps_to_the_violation") else {
        return;
    };
    let place = Place::new();
    // It is violated and traced, so its page is there without being asked for.
    let run =
        place.line("run bmav --engine sim --as-printed --seed 1 -n 5 --entries 10 --trace --out r");
    assert_eq!(run.code, 1, "{}", run.stderr);
    let path = place.path().join("r/view.html");
    browser.open_file(&path, "");
    browser.until("the page", "return document.body.dataset.cursor");
    let opened = moment(&browser);
    assert_contains(&opened[0], &["violation: ", "are inside at the same time"]);
    browser.press(&HOME.to_string());
    assert_contains(&moment(&browser)[0], &["event 1 of "]);
    browser.press("v");
    assert_eq!(moment(&browser), opened, "it is the same violation");
    let inside = "return document.querySelectorAll('.member[data-phase=inside]').length";
    assert_eq!(browser.ask(inside), 2, "and both are inside");
    browser.press(&LEFT.to_string().repeat(50));
    let before = moment(&browser);
    assert_ne!(before, opened);
    browser.press(&RIGHT.to_string().repeat(50));
    assert_eq!(moment(&browser), opened);
    // The address of a moment leads there, in a page that is opened with it.
    let told =
        "const shown = document.getElementById('now').textContent.match(/^event ([\\d,]+) /);
        return location.hash.includes(`&e=${shown[1].replaceAll(',', '')}&`);";
    browser.until("the address", told);
    let hash = browser.text("return location.hash");
    assert_contains(&hash, &["#t=", "&node="]);
    browser.open_file(&path, &hash);
    browser.until("the page", "return document.body.dataset.cursor");
    assert_eq!(moment(&browser), opened);
    browser.open_file(&path, "#t=5ms&node=3");
    browser.until("the page", "return document.body.dataset.cursor");
    let there = moment(&browser);
    assert_contains(&there[2], &["3 is "]);
    assert!(!there[0].contains("violation"), "{}", there[0]);
    browser.is_at_peace();
}

#[test]
fn every_algorithm_has_a_page_that_draws_its_structure() {
    let Some(browser) = Browser::start("every_algorithm_has_a_page") else {
        return;
    };
    let place = Place::new();
    for info in registry::ALL {
        let nodes = (4..).find(|&nodes| info.admits_size(nodes));
        let nodes = nodes.expect("it admits some size");
        let name = info.name;
        let path = page(
            &place,
            &format!("{name} -n {nodes} --entries 3 --seed 2"),
            name,
        );
        browser.open_file(&path, "");
        browser.until(name, "return document.body.dataset.cursor");
        // Somewhere in the run a pointer is drawn, or a queue or set with somebody in it.
        let drawn = "
            for (let i = 0; i < 400; i++) {
              const pointers = document.querySelectorAll('#graph .pointer').length;
              const lists = [...document.querySelectorAll('#graph .small')].some((text) => /[\\[{]\\d/.test(text.textContent));
              if (pointers > 0 || lists) return done(true);
              document.getElementById('forward').click();
              await new Promise(requestAnimationFrame);
            }
            done(false);";
        let drawn = format!("(async () => {{ {drawn} }})();");
        assert_eq!(browser.wait_for(&drawn), true, "{name} draws no structure");
        let state = browser.ask("return document.querySelectorAll('#state tr').length");
        assert!(
            state.as_u64().is_some_and(|rows| rows > 1),
            "{name}: {state}"
        );
        browser.is_at_peace();
    }
}

#[test]
fn a_page_of_twenty_thousand_events_opens_and_scrubs() {
    let Some(browser) = Browser::start("a_page_of_twenty_thousand_events") else {
        return;
    };
    let place = Place::new();
    let path = page(&place, "raymond -n 20 --entries 120 --seed 3", "long");
    browser.open_file(&path, "");
    browser.until("the page", "return document.body.dataset.cursor");
    let told = browser.text("return document.getElementById('notice').textContent");
    assert_contains(&told, &["These are events 1 to 20,000 of ", "--around"]);
    let loaded = browser.ask(
        "const [page] = performance.getEntriesByType('navigation'); return Math.round(page.loadEventEnd)",
    );
    // Printed for people to read. Whether it is quick enough depends on the machine.
    let frames = browser.wait_for(
        "const scrub = document.getElementById('scrub');
         const begun = performance.now();
         let frames = 0;
         const step = () => {
           const spent = performance.now() - begun;
           if (spent > 2000) return done(Math.round(frames * 1000 / spent));
           scrub.value = Math.round((frames * 7919) % Number(scrub.max));
           scrub.dispatchEvent(new Event('input'));
           frames += 1;
           requestAnimationFrame(step);
         };
         requestAnimationFrame(step);",
    );
    println!("20,000 events: open after {loaded} ms, scrubbed at {frames} frames per second");
    browser.is_at_peace();
}

#[test]
fn a_run_without_a_trace_shows_entries_and_says_what_is_missing() {
    let Some(browser) = Browser::start("a_run_without_a_trace") else {
        return;
    };
    let place = Place::new();
    let run = place.line("run raymond --engine sim --fault 'when enter 2 kill 1' --out r");
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        !place.path().join("r/view.html").exists(),
        "it was not traced"
    );
    assert_eq!(place.line("view r").code, 0);
    browser.open_file(&place.path().join("r/view.html"), "");
    browser.until("the page", "return document.body.dataset.cursor");
    let told = browser.text("return document.getElementById('notice').textContent");
    assert_contains(&told, &["made with --trace"]);
    // The search finds the kill, and the page says what it did to whom.
    browser.ask("document.getElementById('find-kind').value = 'what:fault'");
    browser.press(&HOME.to_string());
    browser.click("#find-next");
    assert_contains(&moment(&browser)[0], &["fault: kill on 1"]);
    let dead = "return document.querySelector('.member[data-phase=dead]').dataset.node";
    assert_eq!(browser.text(dead), "1");
    // In a narrow window nothing is wider than the window.
    browser.resize(420, 900);
    let wider =
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.ask(wider), 0);
    browser.is_at_peace();
}

/// Of a large group only those around the chosen member are drawn, and its lane is in sight.
#[test]
fn of_a_large_group_one_sees_who_is_around_the_chosen_member() {
    let Some(browser) = Browser::start("of_a_large_group") else {
        return;
    };
    let place = Place::new();
    let path = page(&place, "raymond -n 300 --entries 1 --seed 1", "large");
    browser.open_file(&path, "#node=150");
    browser.until("the page", "return document.body.dataset.cursor");
    let drawn = "return [...document.querySelectorAll('.member')].map((one) => one.dataset.node)";
    let drawn = browser.ask(drawn);
    // In a binary tree these are linked with it.
    for node in ["74", "150"] {
        let found = drawn.as_array().expect("nodes").iter();
        assert!(found.clone().any(|one| one == node), "{drawn}");
        assert!(found.count() <= 30, "{drawn}");
    }
    let legend = browser.text("return document.getElementById('graph-legend').textContent");
    assert_contains(&legend, &["of 300 members are drawn: 150, its neighbours"]);
    let sight = "const box = document.getElementById('lanes-box');
        const lane = document.getElementById('lanes').clientHeight * 150.5 / 300;
        return lane > box.scrollTop && lane < box.scrollTop + box.clientHeight";
    assert_eq!(browser.ask(sight), true);
    browser.is_at_peace();
}

/// A link that a fault cuts is drawn and described as cut; a long value is folded, and what changed in it is seen.
#[test]
fn a_fault_in_force_is_drawn_and_a_long_value_is_folded() {
    let Some(browser) = Browser::start("a_fault_in_force") else {
        return;
    };
    let place = Place::new();
    let fault = "--fault 'at 2ms partition halves for 5ms'";
    let path = page(
        &place,
        &format!("raymond -n 6 --entries 3 --seed 2 {fault}"),
        "cut",
    );
    browser.open_file(&path, "#t=4ms");
    browser.until("the page", "return document.body.dataset.cursor");
    assert_contains(
        &moment(&browser)[1],
        &["in force: partition halves 0..2|3..5"],
    );
    // Of the tree's links these are between the halves: 1-3, 1-4, 2-5.
    let cut = "return document.querySelectorAll('#graph .cut').length";
    assert_eq!(browser.ask(cut), 3);
    browser.open_file(&path, "#t=8ms");
    browser.until("the page", "return document.body.dataset.cursor");
    assert_eq!(browser.ask(cut), 0);
    let path = page(&place, "cdc -n 6 --entries 3 --seed 1", "long");
    browser.open_file(&path, "");
    browser.until("the page", "return document.body.dataset.cursor");
    let folded = browser.wait_for(
        "(async () => {
           for (let i = 0; i < 400; i++) {
             const row = document.querySelector('#state tr.changed details');
             if (row) {
               const cell = row.parentElement;
               return done([row.textContent.length, row.querySelector('summary').textContent.length, cell.querySelector('del').textContent]);
             }
             document.getElementById('forward').click();
             await new Promise(requestAnimationFrame);
           }
           done([]);
         })();",
    );
    let [whole, seen] = [0, 1].map(|part| folded[part].as_u64().unwrap_or(0));
    assert!(whole > 2 * seen && (1..160).contains(&seen), "{folded}");
    assert!(
        folded[2].as_str().is_some_and(|was| was.starts_with('…')),
        "{folded}"
    );
    browser.is_at_peace();
}

/// What a program says is text to the page, whatever it looks like.
#[test]
fn what_a_program_says_is_never_markup() {
    let Some(browser) = Browser::start("what_a_program_says") else {
        return;
    };
    let place = Place::new();
    let program = r#"
import json, sys
evil = "</script><img src=x onerror='document.body.dataset.error=1'><script>document.body.dataset.error=2</script>{{script}}"
me = 0
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"do": [], "state": {evil: evil}}
    if "init" in asked:
        me = asked["init"]["me"]
        answer["declares"] = {"kinds": ["ASK", "GO"], "notes": {"seen": evil}}
    elif "request" in asked:
        answer["do"] = [{"note": {"name": "seen", "value": 1}}]
        answer["do"] += [{"enter": {}}] if me == 0 else [{"send": {"to": 0, "message": {"kind": "ASK", "why": evil}}}]
    elif "receive" in asked and asked["receive"]["message"]["kind"] == "ASK":
        answer["do"] = [{"send": {"to": asked["receive"]["from"], "message": {"kind": "GO", "why": evil}}}]
    elif "receive" in asked:
        answer["do"] = [{"enter": {}}]
    print(json.dumps(answer), flush=True)
"#;
    place.file("evil.py", program);
    let asks = "--workload batch --asks '0 at 1ms, 1 at 20ms'";
    let line = format!("run external -n 2 --engine sim --trace --out r {asks} -- python3 evil.py");
    place.line(&line).expect(0);
    place.line("view r").expect(0);
    browser.open_file(&place.path().join("r/view.html"), "");
    browser.until("the page", "return document.body.dataset.cursor");
    let last = "document.getElementById('last').click()";
    browser.ask(last);
    browser.settle();
    assert_eq!(browser.ask("return document.images.length"), 0);
    // The list is written when the cursor rests.
    browser.until("the list", "return document.querySelector('#events li')");
    let told = browser.text("return document.getElementById('events').textContent");
    assert_contains(&told, &["1 sends ASK", "<img src=x onerror="]);
    assert_contains(&moment(&browser)[2], &["</script><img src=x"]);
    browser.is_at_peace();
    place.line("report r").expect(0);
    browser.open_file(&place.path().join("r/report.html"), "");
    assert_eq!(browser.ask("return document.images.length"), 0);
    browser.is_at_peace();
}

/// Asks, kills and leaves by clicks; what was done is in the files, and the scenario that the page offers
/// repeats the run.
fn one_clicks_faults_and_repeats_them(browser: &Browser, place: &Place, engine: &str) {
    let line =
        format!("run raymond -n 5 --engine {engine} --workload manual --live --seed 4 --out r");
    let mut command = place.command(common::words(&line));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut told = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut first = String::new();
    told.read_line(&mut first).expect("it tells its address");
    browser.open(first.trim().trim_start_matches("live: "));
    browser.until("the page", "return document.getElementById('live-finish')");
    let choose = |node: u32| {
        browser.ask(&format!(
            "document.getElementById('node').value = {node};
             document.getElementById('node').dispatchEvent(new Event('change'));"
        ));
        browser.settle();
    };
    let until_phase = |node: u32, phase: &str| {
        let member = format!(".member[data-node='{node}'][data-phase={phase}]");
        browser.until(
            phase,
            &format!("return document.querySelector(\"{member}\")"),
        );
    };
    choose(3);
    browser.click("#live-ask");
    until_phase(3, "inside");
    choose(1);
    browser.click("#live-ask");
    until_phase(1, "waiting");
    choose(4);
    browser.click("#live-kill");
    until_phase(4, "dead");
    choose(3);
    browser.click("#live-leave");
    until_phase(1, "inside");
    browser.click("#live-finish");
    let link = "return document.getElementById('live-scenario')?.href ?? null";
    browser.until("the scenario", link);
    let scenario = browser.text(
        "return decodeURIComponent(document.getElementById('live-scenario').href.split(',').slice(1).join(','))",
    );
    browser.is_at_peace();
    drop(told);
    // Who died had not asked.
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_contains(&place.read("r/faults.csv"), &[",kill,4,"]);
    place.file("offered.toml", &scenario);
    assert_eq!(place.line("run offered.toml --out again").code, 0);
}

#[test]
fn one_clicks_faults_in_a_live_simulation_and_repeats_it() {
    let Some(browser) = Browser::start("one_clicks_faults_in_a_live_simulation") else {
        return;
    };
    let place = Place::new();
    one_clicks_faults_and_repeats_them(&browser, &place, "sim");
    for file in ["entries.csv", "events.jsonl"] {
        let [one, two] = ["r", "again"].map(|dir| place.read(&format!("{dir}/{file}")));
        assert!(one == two, "{file} differs");
    }
}

#[test]
fn one_clicks_faults_among_live_processes_and_repeats_them() {
    let Some(browser) = Browser::start("one_clicks_faults_among_live_processes") else {
        return;
    };
    let place = Place::new();
    one_clicks_faults_and_repeats_them(&browser, &place, "cluster");
    let [one, two] = ["r", "again"].map(|dir| {
        let entries = common::rows(&place.path().join(dir).join("entries.csv"));
        let faults = common::rows(&place.path().join(dir).join("faults.csv"));
        let entries = entries
            .iter()
            .map(|row| row["node"].clone() + &row["outcome"]);
        let faults = faults
            .iter()
            .map(|row| row["fault"].clone() + &row["target"]);
        entries.chain(faults).collect::<Vec<_>>()
    });
    assert_eq!(one, two);
    assert_eq!(one, ["3served", "1served", "kill4"]);
}

/// On the page of a whole world one takes any step, goes back, takes another; the explorer agrees on where that
/// leads.
#[test]
fn one_walks_through_a_whole_world_and_the_explorer_replays_the_way() {
    let Some(browser) = Browser::start("one_walks_through_a_whole_world") else {
        return;
    };
    let place = Place::new();
    let made = place.line("view --explore 'raymond -n 3' --out world.html");
    assert_eq!(made.code, 0, "{}", made.stderr);
    browser.open_file(&place.path().join("world.html"), "");
    browser.until("the page", "return document.body.dataset.cursor");
    let steps =
        "return [...document.querySelectorAll('#steps button')].map((one) => one.textContent)";
    assert_eq!(
        browser.ask(steps),
        serde_json::json!(["0 asks", "1 asks", "2 asks"])
    );
    let take = |nth: usize| browser.click(&format!("#steps button:nth-of-type({nth})"));
    take(2);
    // Who goes by the keyboard is at the next choice.
    let focus = "return document.activeElement === document.querySelector('#steps button')";
    assert_eq!(browser.ask(focus), true);
    take(1);
    // Back at the beginning another way is taken, and the first is forgotten.
    browser.press(&HOME.to_string());
    take(3);
    for _ in 0..6 {
        let many = browser.ask("return document.querySelectorAll('#steps button').length");
        take(many.as_u64().expect("a number") as usize);
    }
    let schedule = browser.text("return document.getElementById('schedule').textContent");
    let schedule = schedule.strip_prefix("schedule: ").expect("a schedule");
    assert_contains(schedule, &["req 2"]);
    let replayed = place.run([
        "explore", "raymond", "-n", "3", "--replay", schedule, "--states",
    ]);
    assert_eq!(replayed.code, 0, "{schedule}: {}", replayed.stderr);
    // Its states at the end are those that the page shows.
    for node in 0..3 {
        browser.ask(&format!(
            "document.getElementById('node').value = {node};
             document.getElementById('node').dispatchEvent(new Event('change'));"
        ));
        browser.settle();
        let fields = "return [...document.querySelectorAll('#state tr')].map((row) =>
            row.dataset.field + ': ' + row.cells[1].firstChild.textContent).join(', ')";
        let shown = format!("Raymond {{ {} }}", browser.text(fields));
        let told = replayed
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_contains(&told, &[&shown]);
    }
    browser.is_at_peace();
}

#[test]
fn the_page_of_a_counter_example_opens_where_it_ends() {
    let Some(browser) = Browser::start("the_page_of_a_counter_example") else {
        return;
    };
    let place = Place::new();
    let found = place.line("explore suzuki-kasami -n 2 --as-printed=SK1 --view found.html");
    assert_eq!(found.code, 1, "{}", found.stderr);
    browser.open_file(&place.path().join("found.html"), "");
    browser.until("the page", "return document.body.dataset.cursor");
    assert_contains(
        &moment(&browser)[0],
        &[
            "violation: deadlock",
            "0 receives REQUEST { node: 1, number: 1 } from 1",
        ],
    );
    browser.is_at_peace();
}
