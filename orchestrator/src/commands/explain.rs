//! `orchestrator explain`: one algorithm, for somebody who has not read the paper.

mod json;

use algorithms::printed::{Defect, Printed};
use algorithms::registry::{
    AlgorithmInfo, ClosedForm, FormKind, Graph, LinkContract, LinkOrder, Metric,
};
use algorithms::taxonomy::{self, Cell};
use clap::Args;

use crate::numbers::count;
use crate::table::wrap;
use crate::{Exit, Failure, print, repeat_line, scenario};

/// Teaches an algorithm: how it works, what it costs, what can be set, what is wrong in print.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Its name, as `orchestrator list` shows it.
    algorithm: String,
    /// One JSON object on stdout: message kinds, parameters, notes, closed forms, defects.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let info = scenario::find_algorithm(&self.algorithm).map_err(Failure::Usage)?;
        print(&match self.json {
            true => json::text(info),
            false => explain(info),
        })?;
        Ok(Exit::Holds)
    }
}

const WIDTH: usize = 96;

fn explain(info: &AlgorithmInfo) -> String {
    let mut page = Page::default();
    page.line(info.title);
    page.paragraph(0, info.paper);
    for paragraph in info.explanation.split("\n\n") {
        page.line("");
        // What is drawn keeps its lines; what is written is wrapped.
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            page.line(paragraph);
        } else {
            page.paragraph(0, paragraph);
        }
    }
    page.line("");
    facts(&mut page, info);
    cells(&mut page, taxonomy::of(info.name));
    if !info.more.forms.is_empty() {
        page.heading("Closed forms, checked after every run that meets their condition");
        for form in info.more.forms {
            page.line(&format!("  {}", closed_form(form)));
            page.paragraph(6, &format!("when {}", form.condition));
        }
    }
    if !info.more.params.is_empty() {
        page.heading("Parameters, --param NAME=VALUE");
        for param in info.more.params {
            page.line(&format!("  {}: {}", param.name, param.domain));
            page.paragraph(6, param.help);
        }
    }
    if !info.more.notes.is_empty() {
        page.heading("Numbers it notes, in counters.csv");
        for (name, meaning) in info.more.notes {
            page.paragraph(2, &format!("{name}: {meaning}"));
        }
    }
    if !info.more.defects.is_empty() {
        page.heading("Defects of the printed text, repaired unless --as-printed=ID");
        for defect in info.more.defects {
            explain_defect(&mut page, info.name, defect);
        }
    }
    page.heading("Try");
    let program = repeat_line::program();
    for line in examples(info) {
        page.line(&format!("  {} {line}", repeat_line::quoted(&program)));
    }
    let name = info.name;
    page.heading(
        "Watch it: a recorded run, as a page that steps through it and as a space-time diagram",
    );
    for line in [
        format!("run {name} --engine sim --entries 3 --trace"),
        "view results/latest".to_owned(),
        "trace results/latest --format svg".to_owned(),
    ] {
        page.line(&format!("  {} {line}", repeat_line::quoted(&program)));
    }
    page.text
}

/// The cells of the taxonomy, where the entry is one: its rows, and in each its columns.
fn cells(page: &mut Page, cells: &[Cell]) {
    if cells.is_empty() {
        return;
    }
    page.heading("The table of cells, with messages per entry; m is max_req");
    let mut row = "";
    for cell in cells {
        if cell.row != row {
            row = cell.row;
            page.line("");
            page.line(&format!("  {row}"));
        }
        page.line(&format!("    {:<26} {}", cell.column, cell.name));
        page.paragraph(8, &format!("costs {}", cell.cost));
        let params = cell.params.iter();
        let params = params.map(|(name, value)| format!("--param {name}={value}"));
        page.paragraph(8, &params.collect::<Vec<_>>().join(" "));
        if !cell.remark.is_empty() {
            page.paragraph(8, &format!("({})", cell.remark));
        }
    }
}

/// Lines worth typing: as it comes, at light load, saturated, every schedule, and broken.
fn examples(info: &AlgorithmInfo) -> Vec<String> {
    let name = info.name;
    let mut lines = vec![
        format!("run {name}"),
        format!("run {name} --engine sim --workload one-at-a-time"),
        format!("run {name} --engine sim --think 0 --hold 2ms --delay 1ms --warm-up 100"),
        format!("explore {name} {}", info.more.small_world)
            .trim_end()
            .to_owned(),
    ];
    let mut defects = info.more.defects.iter();
    lines.extend(defects.find_map(|defect| defect.line_as_printed(name)));
    lines
}

fn facts(page: &mut Page, info: &AlgorithmInfo) {
    let defaults = info.defaults();
    let kinds = info.machine(&defaults, &Printed::repaired()).kinds();
    page.fact("Name", info.name);
    page.fact("Family", super::list::family(info.family));
    page.fact("Runs on", &runs_on(info));
    page.fact("Links", links(info));
    page.fact(
        "Admits",
        &match (info.more.admits)(&defaults) {
            1 => "one at a time".to_owned(),
            k => format!("{k} at a time, unless its parameters say otherwise"),
        },
    );
    page.fact("Messages", &kinds.join(", "));
    if let Some(token) = info.token {
        page.fact("Token", token);
    }
    let survives = match info.more.crashes {
        0 => "no crash".to_owned(),
        1 => "one crash".to_owned(),
        crashes => format!("{crashes} crashes"),
    };
    let provided = match info.survives(&defaults) < info.more.crashes {
        true => ", with recovery=on",
        false => "",
    };
    page.fact("Survives", &format!("{survives}{provided}"));
    page.fact(
        "Memory",
        &format!(
            "about {} bytes a node among 10, {} among 1,000",
            count((info.state_bytes)(10)),
            count((info.state_bytes)(1_000)),
        ),
    );
    page.fact("Cost", info.cost);
}

fn runs_on(info: &AlgorithmInfo) -> String {
    let (graph, with) = match info.graph {
        Graph::Complete => ("a complete graph", ""),
        Graph::Tree => ("a tree", ""),
        Graph::Digraph => (
            "a directed graph",
            " in which every node reaches the holder",
        ),
    };
    let sizes = info.more.sizes;
    let sizes = match sizes.fits {
        None => format!("{} or more", sizes.least),
        Some(fits) => {
            let some = (sizes.least..).filter(|&size| fits(size)).take(5);
            let some = some.map(|size| size.to_string()).collect::<Vec<_>>();
            format!("{}, ...", some.join(", "))
        }
    };
    format!("{graph} of {sizes} nodes{with}")
}

fn links(info: &AlgorithmInfo) -> &'static str {
    match (info.link_order, info.link_contract) {
        (LinkOrder::Fifo, LinkContract::Patient) => "must keep the order of messages",
        (LinkOrder::Any, LinkContract::Patient) => "may deliver messages in any order",
        (LinkOrder::Fifo, LinkContract::Sessions) => {
            "must keep the order of messages; a cut ends the session and loses what is under way"
        }
        (LinkOrder::Any, LinkContract::Sessions) => {
            "may deliver messages in any order; a cut ends the session and loses what is under way"
        }
    }
}

fn closed_form(form: &ClosedForm) -> String {
    let metric = match form.metric {
        Metric::MessagesPerEntry => "messages per entry",
        Metric::SyncDelay => "synchronisation delay in link delays",
    };
    let how = match form.kind {
        FormKind::Exact => "exactly",
        FormKind::Mean => "on average",
        FormKind::AtMost => "at most",
        FormKind::AtLeast => "at least",
        FormKind::Printed => "in print",
    };
    format!("{metric}: {how} {}", form.formula)
}

fn explain_defect(page: &mut Page, algorithm: &str, defect: &Defect) {
    page.paragraph(2, &format!("{}: {}", defect.id, defect.what));
    if defect.rules.is_empty() {
        page.paragraph(6, &format!("Told, not run: {}", defect.result));
        return;
    }
    page.paragraph(6, &format!("Then {}", defect.result));
    if !defect.with.is_empty() {
        let with = defect.with.iter();
        let with = with.map(|(name, value)| format!("{name}={value}"));
        page.paragraph(6, &format!("With {}.", with.collect::<Vec<_>>().join(", ")));
    }
    for (what, others) in [
        ("Shows only with", defect.needs_printed),
        ("Hidden by", defect.needs_repaired),
    ] {
        if !others.is_empty() {
            page.paragraph(6, &format!("{what} {}.", others.join(", ")));
        }
    }
    if let Some(line) = defect.line_as_printed(algorithm) {
        let program = repeat_line::program();
        page.line(&format!("      {} {line}", repeat_line::quoted(&program)));
    }
}

/// Text that grows line by line.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str) {
        self.line("");
        self.line(heading);
    }

    /// Adds a paragraph, wrapped and indented.
    fn paragraph(&mut self, indent: usize, paragraph: &str) {
        for line in wrap(paragraph, WIDTH - indent) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        let mut name = name;
        for line in wrap(value, WIDTH - 11) {
            self.line(&format!("{name:<9}  {line}"));
            name = "";
        }
    }
}
