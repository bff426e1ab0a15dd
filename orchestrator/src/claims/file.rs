//! Claim files, checked as a whole before anything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use analysis::claims::{Condition, Evidence, Expectation, Selection, Statement, Verdict};
use analysis::quantity::Quantity;
use serde::Deserialize;
use toml::{Table, Value};

use super::expected::{TestKeys, selection};
use super::published::{Published, PublishedKeys};
use super::search::{Finds, WorldToSearch};
use crate::embedded;
use crate::names::directory_name;
use crate::scenario::read_toml;
use crate::suggest::did_you_mean;
use crate::sweep::{Grid, SweepKeys};

/// The claims of one source, and the sweeps that test them.
#[derive(Debug)]
pub(crate) struct ClaimFile {
    /// The name of the source, as `--paper` wants it.
    pub(crate) source: String,
    /// Author, title and year of the source.
    pub(crate) title: String,
    /// The name of the source's text, of which every claim then has a quotation; `None` where the
    /// statements are our own.
    pub(crate) text: Option<String>,
    /// How messages are counted in all claims of the file, where an algorithm leaves it open.
    pub(crate) counting: Option<String>,
    /// The sweeps that claims look at, by name.
    pub(crate) sweeps: BTreeMap<String, Runs>,
    /// The claims, in the order of the file.
    pub(crate) claims: Vec<Claim>,
}

/// How often the cells of a sweep run on the cluster, and which do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnCluster {
    pub(crate) repetitions: u64,
    /// Cells of more nodes than this do not run there.
    pub(crate) most_nodes: Option<u64>,
}

/// A sweep whose runs claims look at.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The cells of the sweep.
    pub(crate) grid: Grid,
    /// The table of the sweep as the claims file has it.
    table: Table,
    /// The path of the claims file.
    path: PathBuf,
    /// How the sweep runs on the cluster, if it can run there.
    pub(crate) cluster: Option<OnCluster>,
    /// The most repetitions, to which they are doubled while a test is undecided.
    pub(crate) up_to: u64,
}

/// A statement of a source that can be true or false.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The name of the claim, such as `BAN-29`.
    pub(crate) id: String,
    /// The section, figure or table of the source in which the claim stands.
    pub(crate) place: String,
    /// The source's own sentences, to the letter.
    pub(crate) quotes: Vec<String>,
    /// The statement, in one sentence.
    pub(crate) says: String,
    /// What kind of statement the source makes.
    pub(crate) statement: Statement,
    /// What a first check by hand found.
    pub(crate) lab: String,
    /// Why our verdict is another, if it is.
    pub(crate) differs: Option<String>,
    /// What was published last; `None` for one that was never run.
    pub(crate) verdict: Option<Verdict>,
    /// What decides whether it holds, if it holds in some cases only.
    pub(crate) condition: Option<Condition>,
    /// Whether timing decides on processes, so that what they say is another thing from run to run.
    pub(crate) varies: bool,
    /// Whether it is among the quick ones.
    pub(crate) quick: bool,
    /// How the claim is tested.
    pub(crate) method: Method,
}

/// How a claim is tested, or why it is not.
#[derive(Debug)]
pub(crate) enum Method {
    /// The claim cannot be tested, for this reason.
    None(String),
    /// These tests together decide the verdict.
    Tests(Vec<Test>),
}

/// One test of a claim: what it looks at, and what it expects.
#[derive(Debug)]
pub(crate) struct Test {
    /// The case that is tested, where the claim has several.
    pub(crate) case: Option<String>,
    /// What is looked at, and what is expected of it.
    pub(crate) kind: Kind,
}

/// What a test looks at.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The runs of a sweep.
    Runs {
        sweep: String,
        among: Selection,
        expectation: Expectation,
        published: Option<(PublishedKeys, Published)>,
    },
    /// Every schedule of small worlds.
    Explore {
        searches: Vec<WorldToSearch>,
        finds: Finds,
    },
    /// Published numbers alone.
    Recompute {
        table: Published,
        expectation: Expectation,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FileKeys {
    source: String,
    title: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    counting: Option<String>,
    #[serde(default)]
    sweep: BTreeMap<String, Table>,
    #[serde(default)]
    claim: Vec<ClaimKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ClaimKeys {
    id: String,
    place: String,
    #[serde(default)]
    quote: Quote,
    says: String,
    kind: Statement,
    lab: String,
    #[serde(default)]
    differs: Option<String>,
    #[serde(default)]
    verdict: Option<Verdict>,
    #[serde(default)]
    depends_on: Option<Condition>,
    #[serde(default)]
    varies_on_processes: bool,
    #[serde(default)]
    quick: bool,
    #[serde(default)]
    not_testable: Option<String>,
    #[serde(default)]
    test: Vec<TestKeys>,
}

/// One sentence of a source, or several that stand apart in it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Quote {
    One(String),
    Several(Vec<String>),
}

impl Default for Quote {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Quote {
    fn sentences(self) -> Vec<String> {
        match self {
            Self::One(sentence) => vec![sentence],
            Self::Several(sentences) => sentences,
        }
    }
}

/// Every claim file of a directory, by the name of the source.
pub(crate) fn claim_files(directory: &Path, papers: &Path) -> Result<Vec<ClaimFile>, String> {
    let paths = embedded::list(directory, "toml")
        .map_err(|error| format!("cannot read the claims in {}: {error}", directory.display()))?;
    let claim_files = paths.iter().map(|path| ClaimFile::read(path, papers));
    let claim_files = claim_files.collect::<Result<Vec<_>, _>>()?;
    let mut ids = BTreeSet::new();
    let claims = claim_files.iter().flat_map(|file| &file.claims);
    for claim in claims {
        if !ids.insert(claim.id.as_str()) {
            return Err(format!("{} is claimed twice", claim.id));
        }
    }
    Ok(claim_files)
}

/// Says which of these sources there is not.
pub(crate) fn check_papers(claim_files: &[ClaimFile], papers: &[String]) -> Result<(), String> {
    let sources = claim_files.iter().map(|file| file.source.as_str());
    for paper in papers {
        if !claim_files.iter().any(|file| file.is_of(paper)) {
            let hint = did_you_mean(paper, sources.clone());
            let known = sources.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "--paper: there is no source '{paper}'{hint}\nThere are {known}; what stands before \
                 a hyphen means all that begin with it."
            ));
        }
    }
    Ok(())
}

impl ClaimFile {
    fn read(path: &Path, papers: &Path) -> Result<Self, String> {
        let keys = read_toml::<FileKeys>(path, "claims")?;
        Self::new(keys, path, papers).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn new(keys: FileKeys, path: &Path, papers: &Path) -> Result<Self, String> {
        directory_name(&keys.source).map_err(|why| format!("source: {why}"))?;
        let mut claims = Vec::new();
        for claim in keys.claim {
            let id = claim.id.clone();
            let claim = Claim::new(claim, papers).map_err(|why| format!("{id}: {why}"))?;
            claims.push(claim);
        }
        let mut sweeps = BTreeMap::new();
        for (name, table) in keys.sweep {
            let wrong = |why: String| format!("sweep.{name}: {why}");
            directory_name(&name).map_err(wrong)?;
            let measured = measured(&claims, &name, &table).map_err(wrong)?;
            let runs = Runs::new(&name, table, path, measured).map_err(wrong)?;
            sweeps.insert(name, runs);
        }
        let file = Self {
            source: keys.source,
            title: keys.title,
            text: keys.text,
            counting: keys.counting,
            sweeps,
            claims,
        };
        file.check()?;
        Ok(file)
    }

    /// Whether it is of one of these sources, or none is named.
    pub(crate) fn is_of_any(&self, papers: &[String]) -> bool {
        papers.is_empty() || papers.iter().any(|paper| self.is_of(paper))
    }

    /// A source may have several files: `kanrar` is `kanrar-token` and `kanrar-voting`.
    fn is_of(&self, paper: &str) -> bool {
        let rest = self.source.strip_prefix(paper);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Everything a test names is there.
    fn check(&self) -> Result<(), String> {
        for claim in &self.claims {
            if self.text.is_some() && claim.quotes.is_empty() {
                return Err(format!(
                    "{}: quote = \"…\" is missing: what the source says, to the letter",
                    claim.id
                ));
            }
            let Method::Tests(tests) = &claim.method else {
                continue;
            };
            for test in tests {
                let wrong = |why: String| format!("{}: {why}", claim.id);
                let Kind::Runs {
                    sweep,
                    among,
                    expectation,
                    ..
                } = &test.kind
                else {
                    continue;
                };
                let Some(runs) = self.sweeps.get(sweep) else {
                    let known = self.sweeps.keys().cloned().collect::<Vec<_>>().join(", ");
                    return Err(wrong(format!(
                        "there is no sweep '{sweep}'; there are {known}"
                    )));
                };
                let cells = runs.grid.evidence(&[]);
                let mut selections = vec![among];
                if let Expectation::Ordered { of, to, .. } = expectation {
                    selections.extend([of, to]);
                }
                if let Some(why) = selections.iter().find_map(|wanted| cells.misses(wanted)) {
                    return Err(wrong(why));
                }
                if let Expectation::Trend { along, .. } = expectation
                    && !cells.keys.contains(along)
                    && Quantity::parse(along).is_err()
                {
                    let keys = cells.keys.join(", ");
                    return Err(wrong(format!(
                        "'{along}' is not in the grid; there are {keys}"
                    )));
                }
                let repeated = matches!(
                    expectation,
                    Expectation::Equals { .. }
                        | Expectation::Bounded { .. }
                        | Expectation::Ordered { .. }
                        | Expectation::Trend { .. }
                );
                if repeated && runs.grid.repetitions < 2 {
                    return Err(wrong(format!(
                        "sweep.{sweep}: an interval needs at least 2 repetitions"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The quantities that the tests of a sweep name and a summary does not have.
fn measured(claims: &[Claim], sweep: &str, table: &Table) -> Result<Vec<String>, String> {
    let mut names = BTreeSet::new();
    for claim in claims {
        let Method::Tests(tests) = &claim.method else {
            continue;
        };
        for test in tests {
            match &test.kind {
                Kind::Runs {
                    sweep: of,
                    expectation,
                    ..
                } if of == sweep => {
                    names.extend(expectation.names().into_iter().map(str::to_owned));
                }
                Kind::Runs { .. } | Kind::Explore { .. } | Kind::Recompute { .. } => {}
            }
        }
    }
    let keys = varied_keys(table);
    let foreign =
        |name: &String| *name != "nodes" && !name.starts_with("paper.") && !keys.contains(name);
    let mut wanted = Vec::new();
    for name in names.into_iter().filter(foreign) {
        match Quantity::parse(&name)? {
            Quantity::Column(_) => {}
            _ => wanted.push(name),
        }
    }
    Ok(wanted)
}

/// The keys in which a sweep's cells differ.
fn varied_keys(sweep: &Table) -> BTreeSet<String> {
    let of = |table: &Table| {
        let keys = crate::sweep::flat("", table).into_iter();
        keys.map(|(key, _)| key).collect::<Vec<_>>()
    };
    let mut keys = BTreeSet::new();
    if let Some(Value::Table(grid)) = sweep.get("grid") {
        keys.extend(of(grid));
    }
    if let Some(Value::Array(variants)) = sweep.get("variant") {
        let tables = variants.iter().filter_map(Value::as_table);
        keys.extend(tables.flat_map(of));
    }
    keys
}

impl OnCluster {
    /// What `cluster = 3` or `cluster = { repetitions = 3, most-nodes = 10 }` says.
    fn new(value: &Value) -> Result<Self, String> {
        let wrong = || {
            format!(
                "cluster: how many repetitions, or {{ repetitions = 3, most-nodes = 10 }}, not {value}"
            )
        };
        let whole = |value: &Value| match value {
            Value::Integer(number) => u64::try_from(*number).ok().filter(|number| *number > 0),
            _ => None,
        };
        let Value::Table(table) = value else {
            return Ok(Self {
                repetitions: whole(value).ok_or_else(wrong)?,
                most_nodes: None,
            });
        };
        let known = ["repetitions", "most-nodes"];
        if table.keys().any(|key| !known.contains(&key.as_str())) {
            return Err(wrong());
        }
        let most_nodes = table.get("most-nodes");
        Ok(Self {
            repetitions: table.get("repetitions").and_then(whole).ok_or_else(wrong)?,
            most_nodes: most_nodes
                .map(|most| whole(most).ok_or_else(wrong))
                .transpose()?,
        })
    }
}

/// Leaves out the cells of a sweep that have more nodes than these.
fn keep_small(sweep: &mut Table, most: u64) {
    let is_small = |nodes: &Value| nodes.as_integer().is_none_or(|nodes| nodes <= most as i64);
    if let Some(Value::Table(grid)) = sweep.get_mut("grid")
        && let Some(Value::Array(sizes)) = grid.get_mut("nodes")
    {
        sizes.retain(is_small);
    }
    if let Some(Value::Array(variants)) = sweep.get_mut("variant") {
        variants.retain(|variant| variant.get("nodes").is_none_or(is_small));
    }
}

impl Runs {
    fn new(
        name: &str,
        mut table: Table,
        path: &Path,
        measured: Vec<String>,
    ) -> Result<Self, String> {
        let cluster = table.remove("cluster");
        let cluster = cluster.map(|value| OnCluster::new(&value)).transpose()?;
        let up_to = match table.remove("up-to") {
            None => None,
            Some(Value::Integer(repetitions)) if repetitions > 0 => Some(repetitions as u64),
            Some(other) => return Err(format!("up-to: how many repetitions, not {other}")),
        };
        let mut known = match table.remove("measure") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        for name in measured.into_iter().map(Value::String) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
        table.insert("measure".to_owned(), Value::Array(known));
        let grid = grid(name, &table, path)?;
        let repetitions = grid.repetitions;
        if let Some(up_to) = up_to.filter(|up_to| *up_to < repetitions) {
            return Err(format!(
                "up-to: {up_to} is less than the {repetitions} repetitions that it begins with"
            ));
        }
        Ok(Self {
            grid,
            table,
            path: path.to_owned(),
            cluster,
            up_to: up_to.unwrap_or(repetitions),
        })
    }

    /// The cells of the sweep in the simulator, each with this many repetitions.
    pub(crate) fn simulated(&self, name: &str, repetitions: u64) -> Result<Grid, String> {
        let mut grid = grid(name, &self.table, &self.path)?;
        grid.repeat(repetitions)?;
        Ok(grid)
    }

    /// The cells of the sweep on processes, each with this many repetitions.
    pub(crate) fn on_the_cluster(&self, name: &str, repetitions: u64) -> Result<Grid, String> {
        let mut table = self.table.clone();
        if let Some(most) = self.cluster.as_ref().and_then(|cluster| cluster.most_nodes) {
            keep_small(&mut table, most);
        }
        let scenario = table
            .entry("scenario")
            .or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(scenario) = scenario {
            scenario.insert("engine".to_owned(), "cluster".into());
        }
        let repetitions = i64::try_from(repetitions).unwrap_or(i64::MAX);
        table.insert("repetitions".to_owned(), repetitions.into());
        grid(name, &table, &self.path)
    }
}

fn grid(name: &str, table: &Table, path: &Path) -> Result<Grid, String> {
    let text = toml::to_string(table).map_err(|error| error.to_string())?;
    let keys = table.clone().try_into::<SweepKeys>();
    let keys = keys.map_err(|error| error.message().to_owned())?;
    Grid::new(keys, name, path, text)
}

impl Grid {
    /// The cells, and these runs of them, as evidence.
    pub(crate) fn evidence(&self, done: &[crate::sweep::Done]) -> Evidence {
        let rows = done.iter().map(|run| {
            let numbers = numbers_of(&run.summary);
            let measured = self.measured.iter().zip(&run.measured);
            let measured =
                measured.filter_map(|((name, _), value)| Some((name.clone(), (*value)?)));
            analysis::claims::Row {
                cell: run.cell,
                repetition: run.repetition,
                values: numbers.chain(measured).collect(),
            }
        });
        Evidence {
            keys: self.keys.clone(),
            cells: self.cells.iter().map(|cell| cell.values.clone()).collect(),
            rows: rows.collect(),
        }
    }
}

/// The columns of a summary that are numbers, by name.
pub(crate) fn numbers_of(summary: &analysis::Summary) -> impl Iterator<Item = (String, f64)> {
    let columns = analysis::Summary::columns().iter();
    columns.filter_map(|column| Some((column.name.to_owned(), (column.of)(summary).number()?)))
}

impl ClaimFile {
    /// The most nodes of a cell that runs on the cluster for a claim, where larger ones do not.
    pub(crate) fn most_nodes_on_the_cluster(&self, claim: &Claim) -> Option<u64> {
        let Method::Tests(tests) = &claim.method else {
            return None;
        };
        let sweeps = tests.iter().filter_map(|test| match &test.kind {
            Kind::Runs { sweep, .. } => self.sweeps.get(sweep),
            Kind::Explore { .. } | Kind::Recompute { .. } => None,
        });
        let limits = sweeps.filter_map(|runs| runs.cluster?.most_nodes);
        limits.min()
    }
}

impl Claim {
    fn new(keys: ClaimKeys, papers: &Path) -> Result<Self, String> {
        let method = match (keys.not_testable, keys.test.as_slice()) {
            (Some(why), []) => Method::None(why),
            (Some(_), [_, ..]) => return Err("it has tests, so it can be tested".to_owned()),
            (None, []) => {
                return Err(
                    "it has no test; write [[claim.test]], or not-testable = \"why\"".to_owned(),
                );
            }
            (None, tests) => {
                let tests = tests.iter().map(|test| Test::new(test, papers));
                Method::Tests(tests.collect::<Result<_, _>>()?)
            }
        };
        let conditional = keys.verdict == Some(Verdict::Conditional);
        match (conditional, keys.depends_on) {
            (true, None) => {
                return Err(
                    "it is conditional; depends-on says on what: repair, load, counting or scope"
                        .to_owned(),
                );
            }
            (false, Some(condition)) => {
                return Err(format!(
                    "depends-on = \"{condition}\", but its verdict is not conditional"
                ));
            }
            (true, Some(_)) | (false, None) => {}
        }
        let quotes = keys.quote.sentences();
        if quotes.iter().any(|quote| quote.trim().is_empty()) {
            return Err("quote: it is empty".to_owned());
        }
        Ok(Self {
            id: keys.id,
            place: keys.place,
            quotes,
            says: keys.says,
            statement: keys.kind,
            lab: keys.lab,
            differs: keys.differs,
            verdict: keys.verdict,
            condition: keys.depends_on,
            varies: keys.varies_on_processes,
            quick: keys.quick,
            method,
        })
    }
}

impl Test {
    fn new(keys: &TestKeys, papers: &Path) -> Result<Self, String> {
        let among = keys.among.clone().unwrap_or_default();
        let kind = match (&keys.sweep, &keys.explore, &keys.recompute) {
            (Some(sweep), None, None) => {
                let published = keys.published.clone().map(|keys| {
                    let table = Published::read(papers, &keys.table)?;
                    Ok::<_, String>((keys, table))
                });
                Kind::Runs {
                    sweep: sweep.clone(),
                    among: selection(&among)?,
                    expectation: keys.expectation()?,
                    published: published.transpose()?,
                }
            }
            (None, Some(worlds), None) if !worlds.is_empty() => {
                let finds = keys.finds.as_deref();
                let finds =
                    finds.ok_or("explore: finds = \"nothing\" or \"deadlock\" is missing")?;
                let searches = worlds.iter().map(WorldToSearch::new);
                Kind::Explore {
                    searches: searches.collect::<Result<_, _>>()?,
                    finds: Finds::parse(finds)?,
                }
            }
            (None, None, Some(table)) => Kind::Recompute {
                table: Published::read(papers, table)?,
                expectation: keys.expectation()?,
            },
            _ => {
                return Err(
                    "a test looks at one thing: sweep = \"…\", explore = [{ algorithm = \"…\" }] or recompute = \"…\""
                        .to_owned(),
                );
            }
        };
        Ok(Self {
            case: keys.case.clone(),
            kind,
        })
    }
}
