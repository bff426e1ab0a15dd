//! `orchestrator structure`: an information structure, checked, costed and drawn.

mod search;

use std::fs;
use std::path::{Path, PathBuf};

use algorithms::NodeId;
use algorithms::sanders::conditions::Conditions;
use algorithms::sanders::structure::{Structure as Sets, numbers};
use algorithms::sanders::{costs, file};
use clap::Args;
use serde_json::json;

use crate::numbers::{many, significant};
use crate::scenario::whole;
use crate::table::{Table, indented};
use crate::{Exit, Failure, embedded, pictures, print};
use search::Searched;

/// Checks an information structure for `sanders`: is it safe, what does it cost, how does it look
///
/// Prints whom each node informs (I), asks (R) and keeps the status of (S), the conditions of
/// Sanders' theorem, the fewest and the most messages of an entry, and the synchronisation delay
/// between every two nodes. Exit code 0: the theorem calls it safe; 1: it does not.
#[derive(Debug, Args)]
pub(crate) struct Structure {
    /// centralised, complete, plane, grid, cyclic, tree, two-hot, fig3a, fig3b, fig4, mq, a
    /// file.toml, or sets written out such as "0/0,1;1/0,1"
    structure: String,

    /// Number of nodes, for a structure that has many sizes [default: 7 for plane, else 4]
    #[arg(short = 'n', long, value_parser = whole::<u32>)]
    nodes: Option<u32>,

    /// Coordinator of the centralised structure
    #[arg(long, value_name = "NODE", default_value_t = 0, value_parser = whole::<u32>)]
    holder: u32,

    /// Decide by trying every schedule too, with up to 4 nodes; what is found decides the exit code
    #[arg(long)]
    explore: bool,

    /// States after which each search gives up
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000, value_parser = whole::<u32>)]
    max_states: u32,

    /// Draw it into this file: solid arcs for I, dashed ones for R alone
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// One JSON object on stdout instead of the tables
    #[arg(long)]
    json: bool,
}

/// The most nodes whose schedules are all tried.
const MOST_EXPLORED: u32 = 4;
/// The most nodes whose delays are shown pair by pair in a terminal.
const WIDEST_MATRIX: u32 = 20;

impl Structure {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let sets = self.read().map_err(Failure::Usage)?;
        let conditions = Conditions::of(&sets);
        let searched = match self.explore {
            false => Vec::new(),
            true if sets.nodes() > MOST_EXPLORED => {
                return Err(Failure::Usage(format!(
                    "--explore: {} nodes have too many schedules; at most {MOST_EXPLORED}",
                    sets.nodes()
                )));
            }
            true => search::both_rules(&sets, self.max_states)?,
        };
        if let Some(path) = &self.svg {
            fs::write(path, pictures::information_structure(&sets))
                .map_err(|error| Failure::Usage(format!("--svg: {}: {error}", path.display())))?;
        }
        let found = |exit: Exit| searched.iter().any(|one| one.exit() == exit);
        let exit = match conditions.hold() {
            _ if found(Exit::Violated) => Exit::Violated,
            _ if found(Exit::Inconclusive) => Exit::Inconclusive,
            false if searched.is_empty() => Exit::Violated,
            true | false => Exit::Holds,
        };
        let text = match self.json {
            true => format!("{:#}\n", object(&sets, &conditions, &searched, exit)),
            false => self.page(&sets, &conditions, &searched),
        };
        print(&text)?;
        Ok(exit)
    }

    fn read(&self) -> Result<Sets, String> {
        let word = self.structure.as_str();
        let sets = if word.ends_with(".toml") {
            let text =
                embedded::read_text(Path::new(word)).map_err(|error| format!("{word}: {error}"))?;
            file::parse(&text).map_err(|why| format!("{word}: {why}"))?
        } else if let Some(sets) = Sets::of_one_size(word) {
            sets?
        } else {
            let usual = if word == "plane" { 7 } else { 4 };
            let nodes = self.nodes.unwrap_or(usual);
            if nodes == 0 {
                return Err("--nodes: there must be at least 1 node".to_owned());
            }
            if self.holder >= nodes {
                return Err(format!("--holder: there is no node {}", self.holder));
            }
            Sets::read(word, nodes, NodeId(self.holder))?
        };
        match self.nodes {
            Some(nodes) if nodes != sets.nodes() => Err(format!(
                "--nodes: {word} is a structure of {} nodes, not of {nodes}",
                sets.nodes()
            )),
            _ if sets.nodes() == 0 => Err(format!("{word} has no nodes")),
            _ => Ok(sets),
        }
    }

    fn page(&self, sets: &Sets, conditions: &Conditions, searched: &[Searched]) -> String {
        let nodes = sets.nodes();
        let mut text = format!(
            "{} · {}\n\n",
            self.structure,
            many(nodes.into(), "node", "nodes")
        );
        text.push_str(&sets_table(sets));
        text.push('\n');
        text.push_str(&delays(sets));
        text.push('\n');
        for (name, broken, holds) in [
            ("property a ", &conditions.a, "holds: I is part of R"),
            (
                "property b ",
                &conditions.b,
                "holds: any two meet, or ask each other",
            ),
            (
                "footnote b ",
                &conditions.b_footnote,
                "holds: and who asks each other informs itself",
            ),
            (
                "exact      ",
                &conditions.exact,
                "holds: the same for those asked and told",
            ),
        ] {
            let what = match broken.as_slice() {
                [] => holds.to_owned(),
                broken => format!("broken by {}", pairs(broken)),
            };
            text.push_str(&indented(&format!("{name}  "), &what));
        }
        let redundant = match conditions.redundant.as_slice() {
            [] => "none: nobody asks one whom it meets anyway".to_owned(),
            some => format!(
                "{}: they meet anyway; it matters when one dies",
                pairs(some)
            ),
        };
        text.push_str(&indented("redundant    ", &redundant));
        if !conditions.absent_minded.is_empty() {
            let who = numbers(&conditions.absent_minded.iter().copied().collect());
            let what =
                format!("{who} do not inform themselves; recovery, costs and delays need it");
            text.push_str(&indented("warning      ", &what));
        }
        text.push('\n');
        text.push_str(&match conditions.complaint() {
            None => "theorem: safe\n".to_owned(),
            Some(complaint) => indented("theorem: not safe. ", &complaint),
        });
        if conditions.hold() {
            text.push_str(&match conditions.recovery_complaint() {
                None => "recovery: safe, everybody is its own arbiter\n".to_owned(),
                Some(complaint) => indented("recovery: not safe after a death. ", &complaint),
            });
        }
        for one in searched {
            text.push_str(&one.told());
        }
        if let Some(path) = &self.svg {
            text.push_str(&format!("drawn:   {}\n", path.display()));
        }
        text
    }
}

fn sets_table(sets: &Sets) -> String {
    let mut table = Table::new(["node", "messages", "informs I", "keeps S", "asks R"]);
    for i in sets.ids() {
        let least = costs::least_messages(sets, i);
        let most = least + costs::most_extra_messages(sets, i);
        table.row([
            &i.to_string(),
            &format!("{least} to {most}"),
            &numbers(&sets.inform_set(i)),
            &numbers(&sets.status_set(i)),
            &numbers(&sets.request_set(i)),
        ]);
    }
    table.show()
}

/// The synchronisation delays between every two nodes, and their means.
fn delays(sets: &Sets) -> String {
    let mut text = String::new();
    if sets.nodes() <= WIDEST_MATRIX {
        let line = |lead: String, cells: Vec<String>| {
            let cells: String = cells.iter().map(|cell| format!("{cell:>4}")).collect();
            format!("{lead:<18}{cells}\n")
        };
        let heading = sets.ids().map(|j| j.to_string()).collect();
        text.push_str(&line("messages after".to_owned(), heading));
        for i in sets.ids() {
            let cells = sets.ids().map(|j| costs::delay(sets, i, j).to_string());
            text.push_str(&line(format!("leaves, until {i}"), cells.collect()));
        }
    } else {
        text.push_str("delays between every two: --json has them\n");
    }
    let exact = costs::mean_delay(sets, costs::delay);
    let printed = costs::mean_delay(sets, costs::printed_delay);
    text.push_str(&format!(
        "on average D = {} (the paper's formula gives {})\n",
        significant(exact),
        significant(printed)
    ));
    text
}

fn pairs(pairs: &[(NodeId, NodeId)]) -> String {
    let pairs: Vec<_> = pairs.iter().map(|(i, j)| format!("({i},{j})")).collect();
    pairs.join(" ")
}

fn object(
    sets: &Sets,
    conditions: &Conditions,
    searched: &[Searched],
    exit: Exit,
) -> serde_json::Value {
    let nodes: Vec<_> = sets
        .ids()
        .map(|i| {
            let least = costs::least_messages(sets, i);
            json!({
                "inform": sets.inform_set(i),
                "request": sets.request_set(i),
                "status": sets.status_set(i),
                "least_messages": least,
                "most_messages": least + costs::most_extra_messages(sets, i),
                "delay_after": sets.ids().map(|j| costs::delay(sets, i, j)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "structure": sets.to_string(),
        "nodes": nodes,
        "mean_delay": costs::mean_delay(sets, costs::delay),
        "mean_delay_as_printed": costs::mean_delay(sets, costs::printed_delay),
        "broken": {
            "a": conditions.a,
            "b": conditions.b,
            "b_footnote": conditions.b_footnote,
            "exact": conditions.exact,
        },
        "not_informing_themselves": conditions.absent_minded,
        "redundant": conditions.redundant,
        "safe_by_the_theorem": conditions.hold(),
        "safe_with_recovery": conditions.hold() && conditions.absent_minded.is_empty(),
        "explored": searched.iter().map(Searched::object).collect::<Vec<_>>(),
        "exit_code": exit.code(),
    })
}
