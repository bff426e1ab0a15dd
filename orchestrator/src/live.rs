//! A run that a person watches while it happens, and interferes with.
//!
//! The simulator repeats a run to the byte, and a fault changes nothing that was before it. So an act of the
//! person is written into the scenario, with its moment, and the simulation is run again from the start: it
//! comes to the same present, and goes on from there with the act in it. What is offered at the end is that
//! scenario.
//!
//! ```text
//!   page ──► act ──► scenario + act ──► simulate ──► what is new ──► page
//!              ▲                                                      │
//!              └──────────────────── the person ◄─────────────────────┘
//! ```
//!
//! Processes run once. There an act is done at once, and written down with the moment at which it was.

mod act;
mod clock;
mod processes;
mod script;
mod server;
mod session;
mod told;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use analysis::Judgement;
use analysis::view::Recorder;
use chaos::span::LONGEST_NS;
use model::run::{Engine, Run};
use serde_json::json;

use crate::scenario::Resolved;
use crate::view::{Heading, ViewPage};
use crate::{Failure, print};
pub(crate) use clock::PACES;
pub use processes::Onlooker;
use script::Script;
use server::{Desk, Server};
use session::Session;

/// How much slower than the wall a simulated clock goes at first: a millisecond takes a tenth of a second.
pub(crate) const USUAL_PACE: f64 = 0.01;

/// The scenario file that repeats the run, beside its other files.
pub(crate) const SCRIPT: &str = "live.toml";

/// Who repeats a run of processes gives it at least a minute.
const LEAST_LIMIT_NS: u64 = 60_000_000_000;

/// How often it is looked whether somebody has opened the page.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A live page that is being served.
pub struct Live {
    server: Server,
}

impl Live {
    /// Serves the page of a simulation and lets the person act until they have finished: the scenario with
    /// all they did.
    pub(crate) fn conduct(
        resolved: Resolved,
        manual: bool,
        port: u16,
        pace: f64,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<(Self, Resolved), Failure> {
        let session = Session::new(Script::new(resolved, manual), pace, interrupted);
        let live = Self::serve(port, session.page(), session.desk())?;
        live.announce()?;
        let resolved = session.conduct()?;
        Ok((live, resolved))
    }

    /// Serves the page of a run of processes; and the one who will watch it.
    pub fn of_processes(
        resolved: Resolved,
        manual: bool,
        port: u16,
    ) -> Result<(Self, Onlooker), Failure> {
        let onlooker = Onlooker::new(Script::new(resolved, manual));
        let live = Self::serve(port, onlooker.page(), onlooker.desk())?;
        Ok((live, onlooker))
    }

    fn serve(port: u16, page: String, desk: Arc<Desk>) -> Result<Self, Failure> {
        let server = Server::start(port, page, desk).map_err(|error| {
            Failure::Usage(format!("--live: cannot serve on port {port}: {error}"))
        })?;
        Ok(Self { server })
    }

    /// The address that opens the page, once.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Tells the person the address that opens the page.
    pub(crate) fn announce(&self) -> Result<(), Failure> {
        print(&format!("live: {}\n", self.address()))
    }

    /// Waits until somebody has opened the page; says whether somebody did before they interrupted it.
    pub fn is_opened_before(&self, interrupted: &AtomicBool) -> bool {
        while !self.server.is_opened() {
            if interrupted.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Tells the page what came of the run, and which scenario repeats it.
    pub(crate) fn finish(self, scenario: &str, judgement: &Judgement, directory: &Path) {
        self.server.finish(&json!({
            "verdict": judgement.verdict.to_string(),
            "because": judgement.reasons,
            "directory": directory.display().to_string(),
            "scenario": scenario,
        }));
    }
}

/// The scenario file that repeats a run which a person has watched.
pub(crate) fn script_of(resolved: &Resolved, run: &Run) -> String {
    let mut resolved = resolved.clone();
    if resolved.engine == Engine::Cluster && resolved.plan.time_limit_ns.is_none() {
        // A person takes the time they take; who repeats it wants an end.
        let twice_ns = run.ended_ns.saturating_mul(2);
        resolved.plan.time_limit_ns = Some(twice_ns.clamp(LEAST_LIMIT_NS, LONGEST_NS));
    }
    resolved.to_toml()
}

/// The page before anything has happened.
fn opening_page(script: &Script) -> String {
    let resolved = script.resolved();
    let plan = &resolved.plan;
    let page = Heading {
        title: format!(
            "{} · {} nodes · {} · live",
            plan.algorithm, plan.nodes, plan.topology
        ),
        verdict: "open".to_owned(),
        because: Vec::new(),
        notes: Vec::new(),
        open_at: None,
    };
    let processes = resolved.engine == Engine::Cluster;
    let live = json!({"manual": script.manual, "processes": processes});
    ViewPage {
        page,
        recording: recorder(resolved).finish(),
        live: Some(live),
        graph: None,
    }
    .html()
}

fn recorder(resolved: &Resolved) -> Recorder {
    let setting = resolved.plan.setting(resolved.topology.clone());
    Recorder::new(resolved.plan.info(), &setting, (1, u64::MAX), true)
}
