//! `orchestrator run`: one scenario, from start to verdict.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::Judgement;
use clap::Args;
use node::run::{End, Engine};

use crate::progress::Bar;
use crate::scenario::{Resolved, Said, Scenario};
use crate::{Exit, Failure, again, interrupt, outcome, print};

/// Runs an algorithm or a scenario file, checks it, and measures it.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// An algorithm, as `orchestrator list` shows it, or a scenario file: NAME.toml
    target: String,
    #[command(flatten)]
    scenario: Scenario,
    /// Show the resolved scenario as a scenario file, and run nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
}

impl Run {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let said = Said::new(&self.target, self.scenario).map_err(Failure::Usage)?;
        let resolved = said.resolve().map_err(Failure::Usage)?;
        if self.dry_run {
            print(&resolved.to_toml())?;
            return Ok(Exit::Holds);
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        let run = enact(&resolved, &interrupted)?;
        let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
        for warning in &judgement.warnings {
            eprint!("{}", outcome::warning(warning));
        }
        let again = again::line(resolved.plan.seed);
        print(&format!("{}\nagain: {again}\n", outcome::show(&judgement)))?;
        Ok(exit(&run, &judgement))
    }
}

/// Lets the engine run the plan.
fn enact(resolved: &Resolved, interrupted: &AtomicBool) -> Result<node::run::Run, Failure> {
    match resolved.engine {
        Engine::Cluster => Err(Failure::Usage(
            "the cluster engine is not built yet; use --engine sim".to_owned(),
        )),
        Engine::Sim => {
            let bar = Bar::new(resolved);
            let mut watch = |progress: simulator::Progress| {
                bar.show(&progress);
                match interrupted.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let topology = resolved.topology.clone();
            simulator::simulate(&resolved.plan, topology, &mut watch)
                .map_err(|stuck| Failure::Usage(stuck.to_string()))
        }
    }
}

fn exit(run: &node::run::Run, judgement: &Judgement) -> Exit {
    match (run.end, judgement.exit_code()) {
        (End::Interrupted, _) => Exit::Interrupted,
        (_, 0) => Exit::Holds,
        (_, 1) => Exit::Violated,
        (_, _) => Exit::Inconclusive,
    }
}
