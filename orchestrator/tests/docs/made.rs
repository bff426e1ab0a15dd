//! The parts of documents that are made from what the program says of itself.

use serde_json::Value;

use super::{place, read, rewrite, updating};

const BEGIN: &str = "<!-- made by UPDATE=1 cargo test -p orchestrator --test docs -->\n";
const END: &str = "<!-- end -->\n";

/// The part of the document is this, or is made so.
fn is_made(document: &str, part: &str) {
    let page = read(document);
    let [_, there, _] = parts(&page);
    let differs = part.lines().zip(there.lines()).find(|(a, b)| a != b);
    if there != part && updating() {
        return rewrite(document, |page| {
            let [before, _, after] = parts(page);
            format!("{before}{BEGIN}{part}{END}{after}")
        });
    }
    assert!(
        there == part,
        "UPDATE=1 cargo test -p orchestrator --test docs rewrites {document}\n{differs:#?}"
    );
}

/// What stands before the part that is made, the part, and what comes after it.
fn parts(page: &str) -> [&str; 3] {
    let (before, rest) = page.split_once(BEGIN).expect("the part begins");
    let (there, after) = rest.split_once(END).expect("the part ends");
    [before, there, after]
}

#[test]
fn the_readme_has_every_algorithm() {
    let mut part = table(["algorithm", "in words", "family", "messages per entry"]);
    for algorithm in json("list") {
        part += &row([
            &format!("`{}`", text(&algorithm, "name")),
            text(&algorithm, "title"),
            text(&algorithm, "family"),
            &cost(&algorithm),
        ]);
    }
    is_made("README.md", &part);
}

#[test]
fn the_page_of_algorithms_has_what_each_needs() {
    let mut families: Vec<(String, String)> = Vec::new();
    for algorithm in json("list") {
        let name = text(&algorithm, "name");
        let algorithm = json_of(&["explain", name, "--json"]);
        let family = text(&algorithm, "family").to_owned();
        let nth = families.iter().position(|(known, _)| *known == family);
        let nth = nth.unwrap_or_else(|| {
            families.push((family, table(COLUMNS)));
            families.len() - 1
        });
        let order = match text(&algorithm, "links") {
            "fifo" => ", in order",
            _ => "",
        };
        let defects = algorithm["defects"].as_array().expect("its defects");
        families[nth].1 += &row([
            &format!("`{name}`"),
            text(&algorithm, "title"),
            &cost(&algorithm),
            &format!("{}{order}", text(&algorithm, "graph")),
            &algorithm["survives"].to_string(),
            &defects.len().to_string(),
            text(&algorithm, "paper"),
        ]);
    }
    let parts = families.iter().map(|(family, rows)| {
        let (first, rest) = family.split_at(1);
        format!("## {}{rest}\n\n{rows}", first.to_uppercase())
    });
    let part = parts.collect::<Vec<_>>().join("\n");
    is_made("docs/algorithms.md", &part);
}

const COLUMNS: [&str; 7] = [
    "algorithm",
    "in words",
    "messages per entry",
    "links",
    "survives",
    "mistakes in print",
    "source",
];

#[test]
fn the_page_of_faults_has_every_word() {
    let rows = json("list faults").into_iter().map(|fault| {
        let (form, example) = (text(&fault, "form"), text(&fault, "example"));
        row([
            &format!("`{form}`"),
            text(&fault, "meaning"),
            &format!("`{example}`"),
        ])
    });
    let part = table(["write", "it does", "for example"]) + &rows.collect::<String>();
    is_made("docs/faults.md", &part);
}

#[test]
fn the_page_of_grading_has_the_course() {
    let mut part = table(["challenge", "points", "what is to be achieved"]);
    for challenge in json("list challenges") {
        part += &row([
            &format!("`{}`", text(&challenge, "name")),
            &challenge["points"].to_string(),
            text(&challenge, "title"),
        ]);
    }
    is_made("docs/grading.md", &part);
}

#[test]
fn the_page_of_commands_has_all_of_them() {
    let mut part = table(["command", "does"]);
    for (name, does) in commands() {
        part += &row([&format!("`{name}`"), &does]);
    }
    is_made("docs/command-line.md", &part);
}

/// The commands that the program lists, and what each does.
pub(crate) fn commands() -> Vec<(String, String)> {
    let help = place().line("--help").expect(0).stdout;
    let listed = help.split("Commands:\n").nth(1).expect("commands");
    let listed = listed.split("\n\n").next().unwrap_or_default();
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in listed.lines() {
        // A description may go on in the next line.
        let begins = line.strip_prefix("  ");
        match begins.filter(|rest| !rest.starts_with(' ')) {
            Some(begun) => {
                let (name, does) = begun.split_once(' ').expect("a description");
                commands.push((name.to_owned(), does.trim().to_owned()));
            }
            None => {
                let (_, does) = commands.last_mut().expect("a command goes on");
                *does += &format!(" {}", line.trim());
            }
        }
    }
    assert!(commands.len() > 10, "{help}");
    commands
}

/// What the algorithm costs, below a heading that says that these are messages per entry.
fn cost(algorithm: &Value) -> String {
    let cost = text(algorithm, "cost").replace(" messages per entry", "");
    cost.replace(" messages", "")
}

fn table<const N: usize>(heads: [&str; N]) -> String {
    format!("{}|{}\n", row(heads), "---|".repeat(N))
}

fn row<const N: usize>(cells: [&str; N]) -> String {
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().expect("a text")
}

fn json(line: &str) -> Vec<Value> {
    let words = line.split_whitespace().chain(["--json"]);
    match json_of(&words.collect::<Vec<_>>()) {
        Value::Array(objects) => objects,
        other => panic!("{line}: {other}"),
    }
}

fn json_of(words: &[&str]) -> Value {
    let printed = place().run(words).expect(0).stdout;
    serde_json::from_str(&printed).expect("JSON")
}
