//! `orchestrator explore`: every schedule of a small world.

mod show;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use algorithms::Setting;
use algorithms::registry::{AlgorithmInfo, LinkContract, LinkOrder};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use simulator::explore::{
    Kind, Options, ParseError, Progress, Schedule, Timers, Unfit, explore, replay,
};

use crate::numbers::{count, time};
use crate::scenario::{
    AsPrinted, Assignment, Layers, Resolved, Scenario, ShapeSpec, find_algorithm, params,
    usual_size, whole,
};
use crate::{Exit, Failure, interrupt, print};
use show::{headline, replay_line, replayed, shown, verdict};

/// Tries every schedule of a small world, and shows the shortest one that ends badly
///
/// Looks for more inside than may be, entries that nobody asked for, messages that cannot arrive,
/// broken invariants, deadlocks, and states from which not everybody can be served. Exit code 0:
/// nothing of that kind in any state; 1: found; 3: cut off before all states were seen.
#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// An algorithm, as `orchestrator list` shows it
    algorithm: String,

    /// Number of nodes [default: the topology's own where it has one, else as many as --wants names,
    /// else 3 or the nearest number that the algorithm admits]
    #[arg(short = 'n', long, help_heading = "Group", value_parser = whole::<u32>)]
    nodes: Option<u32>,

    /// Links between the nodes, such as complete, tree:2 or edges:0-1,1-2 [default: what the
    /// algorithm needs]
    #[arg(long, value_name = "SHAPE", help_heading = "Group")]
    topology: Option<ShapeSpec>,

    /// Number that a random topology comes from
    #[arg(long, default_value_t = 0, help_heading = "Group", value_parser = whole::<u64>)]
    seed: u64,

    /// Node where the token or the controller starts [default: the one that the topology leads to,
    /// such as 4 of kanrar:4.2, else 0]
    #[arg(long, value_name = "NODE", help_heading = "Group", value_parser = whole::<u32>)]
    holder: Option<u32>,

    /// Parameter of the algorithm; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", help_heading = "Group")]
    params: Vec<Assignment>,

    /// Leave the defects of the printed text unrepaired: all, or those named [default: none]
    #[arg(long, value_name = "IDS", help_heading = "Group", num_args = 0..=1,
          require_equals = true, default_missing_value = "all")]
    as_printed: Option<AsPrinted>,

    /// How often each node wants in, such as 1,1,2; one number: each node that often [default: 1]
    #[arg(
        long,
        value_name = "NUMBERS",
        help_heading = "World",
        value_delimiter = ',',
        value_parser = whole::<u32>
    )]
    wants: Vec<u32>,

    /// Urgency of each node's requests, larger is more urgent; one number: of all [default: 0]
    #[arg(
        long,
        value_name = "NUMBERS",
        help_heading = "World",
        value_delimiter = ',',
        value_parser = whole::<u32>
    )]
    priority: Vec<u32>,

    /// Whether links keep the order of messages: fifo or any [default: what the algorithm needs]
    #[arg(long, value_name = "ORDER", help_heading = "World",
          value_parser = PossibleValuesParser::new(["fifo", "any"]).map(|name| order(&name)))]
    links: Option<LinkOrder>,

    /// When timers go off: free, at any moment, patient, when no message is under way, or bounded:T
    /// [default: patient with --cut, otherwise free]
    ///
    /// With bounded:T time passes in ticks. A message takes at most T of them, which is the bound
    /// that the algorithm knows, and a timer goes off when its time has come. A message that has to
    /// arrive at that very tick comes first, or with bounded:T,ties=either before or after it.
    /// With patient, who tries again what has failed does so only after some link has changed.
    #[arg(long, help_heading = "World")]
    timers: Option<Timers>,

    /// What has happened when the search or the replay begins, as steps of a schedule (see
    /// --replay); its requests count among what is wanted
    #[arg(long, value_name = "SCHEDULE", help_heading = "World")]
    after: Option<String>,

    /// Messages that may be lost
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        help_heading = "World",
        value_parser = whole::<u32>
    )]
    lose: u32,

    /// Messages that may arrive twice
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        help_heading = "World",
        value_parser = whole::<u32>
    )]
    duplicate: u32,

    /// Nodes that may crash
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        help_heading = "World",
        value_parser = whole::<u32>
    )]
    crash: u32,

    /// How often a link's session may end, losing what is under way on it (lfrt and lfrt-p)
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        help_heading = "World",
        value_parser = whole::<u32>
    )]
    cut: u32,

    /// A link that was cut may come back; whoever still has a way must not have to wait for that
    #[arg(long, requires = "cut", help_heading = "World")]
    heal: bool,

    /// Show what each step of a schedule changed in the state of its node, and all states at its end
    #[arg(long, help_heading = "Search")]
    states: bool,

    /// Only count deadlocks and trapped states, and look past them
    #[arg(long, help_heading = "Search")]
    safety_only: bool,

    /// States after which to give up; a state takes about 70 bytes
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10_000_000,
        help_heading = "Search",
        value_parser = whole::<u32>
    )]
    max_states: u32,

    /// Replay this schedule instead, such as "req 1; 1>0:REQUEST; 0>1:REPLY"
    ///
    /// Steps: req 1 · exit 1 · 1>0:KIND, or 1>0:KIND#2 for the second oldest · timer 0:NAME ·
    /// tick · lose 1>0:KIND · dup 1>0:KIND · crash 2 [losing 2>0:KIND, …] · down 2@1 (1 learns that 2 has
    /// crashed) · cut 1-2 · link-down 2@1 (1 learns that its link to 2 was cut) · heal 1-2 · link-up 2@1.
    /// Nobody asks again unless --wants says so.
    #[arg(long, value_name = "SCHEDULE", help_heading = "Search")]
    replay: Option<String>,

    /// One JSON object on stdout instead of the table
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What is explored, ready to go.
struct World {
    info: &'static AlgorithmInfo,
    setting: Setting,
    options: Options,
    /// In words.
    headline: String,
}

/// What a search came to, for those who do not read its page.
pub(crate) struct Found {
    /// Different states met.
    pub(crate) states: u64,
    /// Whether those are all there are.
    pub(crate) complete: bool,
    /// The first bad thing.
    pub(crate) bad: Option<Bad>,
}

/// Something bad, in short.
pub(crate) struct Bad {
    /// What it is.
    pub(crate) kind: Kind,
    /// In words.
    pub(crate) why: String,
    /// The fewest steps that lead there.
    pub(crate) steps: usize,
}

impl Explore {
    /// What the line after `orchestrator explore` says; words with spaces stand between `'`.
    pub(crate) fn from_line(line: &str) -> Result<Self, String> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            explore: Explore,
        }
        let quoted = line.split('\'').enumerate();
        let words = quoted.flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        let words = ["explore".to_owned()].into_iter().chain(words);
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        line.explore.world()?;
        Ok(line.explore)
    }

    /// Searches, or replays, and says nothing.
    pub(crate) fn found(&self, interrupted: &AtomicBool) -> Result<Found, Failure> {
        let world = self.world().map_err(Failure::Usage)?;
        if let Some(schedule) = &self.replay {
            let schedule = schedule.parse::<Schedule>();
            let schedule = schedule.map_err(|error| Failure::Usage(error.to_string()))?;
            let steps = schedule.steps.len();
            let outcome = replay(world.info, &world.setting, &world.options, &schedule)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            let bad = outcome.finding().map(|mishap| Bad {
                kind: mishap.kind,
                why: mishap.why.clone(),
                steps: mishap.step,
            });
            return Ok(Found {
                states: steps as u64,
                complete: true,
                bad,
            });
        }
        let mut watch = |_: Progress| match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let report = explore(world.info, &world.setting, &world.options, &mut watch)
            .map_err(|unfit| Failure::Usage(unfit.to_string()))?;
        let bad = report.finding.map(|finding| Bad {
            kind: finding.kind,
            steps: finding.told.len(),
            why: finding.why,
        });
        Ok(Found {
            states: report.states,
            complete: report.complete,
            bad,
        })
    }

    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let world = self.world().map_err(Failure::Usage)?;
        match &self.replay {
            Some(schedule) => self.replay(&world, schedule),
            None => self.search(&world),
        }
    }

    fn world(&self) -> Result<World, String> {
        let info = find_algorithm(&self.algorithm)?;
        if self.cut > 0 && info.link_contract == LinkContract::Patient {
            return Err(format!(
                "--cut: on the links of {} a cut only delays, and every delay is explored anyhow; \
                 leave it out",
                info.name
            ));
        }
        if self.cut > 0 && matches!(self.timers, Some(Timers::Bounded { .. })) {
            return Err("--cut: the news of a cut has no bound; use --timers patient".to_owned());
        }
        if self.cut == 0 && self.heal {
            return Err("--heal: with --cut 0 there is nothing to heal; write --cut 1".to_owned());
        }
        let nobody = !self.wants.is_empty() && self.wants.iter().all(|&wants| wants == 0);
        if nobody && self.replay.is_none() {
            return Err(
                "--wants: nobody wants in, so there is nothing to explore; write 1, or a number for \
                 each node"
                    .to_owned(),
            );
        }
        let resolved = self.resolved(info)?;
        let nodes = resolved.plan.nodes;
        let each = |numbers: &[u32], unless_said| match *numbers {
            [] => vec![unless_said; nodes as usize],
            [one] => vec![one; nodes as usize],
            _ => numbers.to_vec(),
        };
        // A timer that goes off before the news of a cut is there would be set again for ever.
        let usual_timers = match self.cut {
            0 => Timers::Free,
            _ => Timers::Patient,
        };
        let options = Options {
            wants: each(&self.wants, u32::from(self.replay.is_none())),
            priorities: each(&self.priority, 0),
            order: self.links.unwrap_or(info.link_order),
            after: self.after()?,
            timers: self.timers.unwrap_or(usual_timers),
            lose: self.lose,
            duplicate: self.duplicate,
            crash: self.crash,
            cut: self.cut,
            heal: self.heal,
            safety_only: self.safety_only,
            max_states: self.max_states,
        };
        options.fit(nodes).map_err(|unfit| match unfit {
            Unfit::Count { what, given, nodes } => {
                let flag = if what == "wants" { what } else { "priority" };
                format!(
                    "--{flag}: {given} numbers for {nodes} nodes; write one number, or one for each node"
                )
            }
            Unfit::Size { .. } => format!("--nodes: {unfit}"),
            Unfit::NoStates => format!("--max-states: {unfit}"),
        })?;
        Ok(World {
            info,
            headline: headline(&resolved, &options, self.replay.is_some()),
            setting: resolved.plan.setting(resolved.topology),
            options,
        })
    }

    /// The group, with everything that a run would decide decided.
    fn resolved(&self, info: &'static AlgorithmInfo) -> Result<Resolved, String> {
        let flags = Scenario {
            nodes: Some(self.nodes.unwrap_or_else(|| self.size(info))),
            topology: self.topology.clone(),
            holder: self.holder,
            params: self.params.clone(),
            as_printed: self.as_printed.clone(),
            seed: Some(self.seed),
            ..Scenario::default()
        };
        Layers::new(info.name, flags)?.resolve()
    }

    /// What has happened before.
    fn after(&self) -> Result<Schedule, String> {
        let Some(text) = &self.after else {
            return Ok(Schedule::default());
        };
        let parsed = text.parse();
        parsed.map_err(|error: ParseError| format!("--after: {error}"))
    }

    /// How many nodes, where that is not said.
    fn size(&self, info: &'static AlgorithmInfo) -> u32 {
        // A topology that cannot be read is complained of when all is resolved, and so are
        // parameters that cannot.
        let topology = self.topology.as_ref();
        let shape = topology.and_then(|spec| spec.shape(Path::new("")).ok());
        if let Some(nodes) = shape.and_then(|shape| shape.size()) {
            return nodes;
        }
        match self.wants.len() {
            0 | 1 => params(&self.params, info, Path::new(""))
                .map_or(3, |params| usual_size(info, &params, 3)),
            named => named as u32,
        }
    }

    fn search(&self, world: &World) -> Result<Exit, Failure> {
        let interrupted = interrupt::flag_on_interrupt()?;
        let bar = progress_bar();
        let start = Instant::now();
        let mut watch = |progress: Progress| {
            bar.set_message(format!(
                "{} states, {} of them to be looked at, {} steps deep, {}",
                count(progress.states),
                count(progress.open),
                progress.depth,
                time(start.elapsed().as_secs_f64() * 1e6),
            ));
            bar.tick();
            match interrupted.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let report = explore(world.info, &world.setting, &world.options, &mut watch)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let elapsed = start.elapsed();
        bar.finish_and_clear();
        let exit = match (&report.finding, report.complete) {
            (Some(_), _) => Exit::Violated,
            (None, true) => Exit::Holds,
            (None, false) if interrupted.load(Ordering::Relaxed) => Exit::Interrupted,
            (None, false) => Exit::Inconclusive,
        };
        if self.json {
            let object = json!({
                "explored": world.headline,
                "verdict": verdict(exit),
                "seconds": elapsed.as_secs_f64(),
                "report": report,
                "replay": report.finding.as_ref().map(replay_line),
                "exit_code": exit.code(),
            });
            print(&format!("{object:#}\n"))?;
        } else {
            print(&shown(world, &report, elapsed, exit, self.states))?;
        }
        Ok(exit)
    }

    fn replay(&self, world: &World, schedule: &str) -> Result<Exit, Failure> {
        let misfit = |why: String| Failure::Usage(format!("--replay: {why}"));
        let schedule: Schedule = schedule
            .parse()
            .map_err(|error: ParseError| misfit(error.to_string()))?;
        let outcome = replay(world.info, &world.setting, &world.options, &schedule)
            .map_err(|error| misfit(error.to_string()))?;
        let exit = match outcome.finding() {
            Some(_) => Exit::Violated,
            None => Exit::Holds,
        };
        if self.json {
            let object = json!({
                "replayed": world.headline,
                "verdict": verdict(exit),
                "outcome": outcome,
                "exit_code": exit.code(),
            });
            print(&format!("{object:#}\n"))?;
        } else {
            print(&replayed(world, &outcome, exit, self.states))?;
        }
        Ok(exit)
    }
}

fn order(name: &str) -> LinkOrder {
    match name {
        "fifo" => LinkOrder::Fifo,
        _ => LinkOrder::Any,
    }
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.expect("the template is well formed"));
    bar
}
