//! The network between the members, where it shall misbehave: the proxy, as a process of its own.

use std::net::SocketAddr;
use std::process::ExitCode;

use chaos::proxy::child::{self, Between};
use chaos::timeline::LinkFaultOutcome;
use chaos::{Delay, Totals};
use model::plan::Plan;
use rustix::process::Signal;
use wire::{Bind, ChildArgs};

pub(crate) use chaos::proxy::child::{FromProxy, ToProxy};

use crate::child::{Child, be};

/// Whether something goes wrong between the members, so that the proxy has to stand there.
pub(crate) fn is_needed(plan: &Plan) -> bool {
    let mut steps = plan.faults.steps.iter();
    plan.delay != Delay::NONE || steps.any(|step| step.action.is_about_links())
}

/// The proxy as the orchestrator sees it.
#[derive(Debug)]
pub(crate) struct Proxy {
    child: Child<ToProxy>,
    /// Where the members reach each other, once that is known.
    pub(crate) aliases: Vec<SocketAddr>,
    /// What the faults of links did, once it is over.
    pub(crate) did: Option<Vec<LinkFaultOutcome>>,
    /// What became of all datagrams, once it is over.
    pub(crate) totals: Option<Totals>,
    /// It has been reaped.
    pub(crate) ended: bool,
    /// It did not finish in time, and was killed.
    pub(crate) given_up: bool,
}

impl Proxy {
    /// One that has been started, and stands between these members.
    pub(crate) fn new(
        child: Child<ToProxy>,
        plan: &Plan,
        members: Vec<SocketAddr>,
        bind: Bind,
    ) -> Self {
        child.tell(ToProxy::Begin(Box::new(Between {
            members,
            delay: plan.delay,
            timeline: plan.faults.clone(),
            bind: bind.address,
            ports: bind.ports,
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

    pub(crate) fn tell(&self, order: ToProxy) {
        self.child.tell(order);
    }

    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
        self.child.signal(Signal::KILL);
    }

    /// Takes in a report of the proxy and returns the step that is in force now.
    pub(crate) fn hear(&mut self, report: FromProxy) -> Option<usize> {
        match report {
            FromProxy::Bound { aliases } => self.aliases = aliases,
            FromProxy::Enacted { step } => return Some(step),
            FromProxy::Finished { did, totals } => {
                self.did = Some(did);
                self.totals = Some(totals);
            }
        }
        None
    }
}

/// What the faults of links did at all proxies: each link goes through one of them only.
pub(crate) fn report(proxies: Vec<Proxy>) -> Vec<LinkFaultOutcome> {
    let did = proxies.into_iter().filter_map(|proxy| proxy.did);
    LinkFaultOutcome::together(did)
}

/// What became of all datagrams at all proxies, once all have reported it.
pub(crate) fn totals(proxies: &[Proxy]) -> Option<Totals> {
    let totals = proxies.iter().map(|proxy| proxy.totals);
    let totals = totals.collect::<Option<Vec<_>>>()?;
    totals.into_iter().reduce(|sum, one| sum + one)
}

/// Is the proxy, until it is told to finish or its stdin ends.
pub(crate) fn main(arguments: ChildArgs) -> ExitCode {
    be(arguments, child::serve())
}
