//! The network between the members, where it shall misbehave: the proxy, as a process of its own.

use std::net::SocketAddr;
use std::process::ExitCode;

use chaos::proxy::child::{self, Between};
use chaos::timeline::{FaultAction, LinkFaultOutcome};
use chaos::{Delay, Totals};
use model::plan::Plan;
use rustix::process::Signal;
use wire::ChildArgs;

pub(super) use chaos::proxy::child::{Order, Report};

use super::child::Child;

/// Whether something goes wrong between the members, so that the proxy has to stand there.
pub(super) fn is_needed(plan: &Plan) -> bool {
    let about_links = |action: &FaultAction| match action {
        FaultAction::Links(_) | FaultAction::Isolate(..) | FaultAction::Heal(_) => true,
        FaultAction::Kill(_)
        | FaultAction::Pause(_)
        | FaultAction::Resume(_)
        | FaultAction::Restart(..)
        | FaultAction::Message(_) => false,
    };
    plan.delay != Delay::NONE
        || plan
            .faults
            .steps
            .iter()
            .any(|step| about_links(&step.action))
}

/// The proxy as the orchestrator sees it.
#[derive(Debug)]
pub(super) struct Proxy {
    child: Child<Order>,
    /// Where the members reach each other, once that is known.
    pub(super) aliases: Vec<SocketAddr>,
    /// What the faults of links did, once it is over.
    pub(super) did: Option<Vec<LinkFaultOutcome>>,
    /// What became of all datagrams, once it is over.
    pub(super) totals: Option<Totals>,
    /// It has been reaped.
    pub(super) ended: bool,
    /// It did not finish in time, and was killed.
    pub(super) given_up: bool,
}

impl Proxy {
    /// One that has been started, and stands between these members.
    pub(super) fn new(child: Child<Order>, plan: &Plan, members: Vec<SocketAddr>) -> Self {
        child.tell(Order::Begin(Box::new(Between {
            members,
            delay: plan.delay,
            timeline: plan.faults.clone(),
        })));
        Self {
            child,
            aliases: Vec::new(),
            did: None,
            totals: None,
            ended: false,
            given_up: false,
        }
    }

    pub(super) fn tell(&self, order: Order) {
        self.child.tell(order);
    }

    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.child.signal(Signal::KILL);
    }

    /// Takes in what it said; the step that is in force now comes back.
    pub(super) fn hear(&mut self, report: Report) -> Option<usize> {
        match report {
            Report::Bound { aliases } => self.aliases = aliases,
            Report::Enacted { step } => return Some(step),
            Report::Finished { did, totals } => {
                self.did = Some(did);
                self.totals = Some(totals);
            }
        }
        None
    }

    /// What the faults of links did.
    pub(super) fn report(self) -> Vec<LinkFaultOutcome> {
        self.did.unwrap_or_default()
    }
}

/// Is the proxy, until it is told to finish or its stdin ends.
pub(crate) fn main(birth: ChildArgs) -> ExitCode {
    be(birth, child::serve())
}

/// Is a process that does this.
pub(crate) fn be(birth: ChildArgs, serve: impl Future<Output = Result<(), String>>) -> ExitCode {
    let served = birth.settle().and_then(|()| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(|error| format!("cannot start a runtime: {error}"))?;
        runtime.block_on(serve)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}
