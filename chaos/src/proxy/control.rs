//! What the proxy can be told and asked while it runs.

use std::net::SocketAddr;

use serde::Serialize;
use serde_json::json;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use super::core::Core;
use super::metrics;
use crate::fate::Member;
use crate::rule::Count;
use crate::timeline::{LinkFaultOutcome, Step};
use crate::totals::Totals;
use wire::Moment;

/// Something that a running proxy is asked or told.
#[derive(Clone, Debug)]
pub enum Command {
    /// Which members are there?
    Links,
    /// Which faults are there?
    Faults,
    /// Add this fault; its times count from now.
    Add(String),
    /// Put this fault in the place of the fault of that number.
    Change(u64, String),
    /// End the fault of that number.
    Remove(u64),
    /// End all cuts, or those of these links.
    Heal(Option<String>),
    /// End all faults, and drop what is under way.
    Reset,
    /// Give up what is no longer used: faults that are over, and flows of clients that are gone.
    Tidy,
    /// All counters in Prometheus' text format.
    Metrics,
    /// Time 0 of the timeline is this moment of the monotonic clock.
    Zero(Moment),
    /// Another step of the timeline, behind those that there are.
    Extend(Box<Step>),
    /// Put a step of the timeline that waited for something in force, now.
    Enact(usize, Option<Member>),
    /// What has each step of the timeline done?
    Report,
    /// What became of all datagrams?
    Totals,
    /// Stop the proxy.
    Stop,
}

/// What a running proxy answers.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The command was carried out.
    Done,
    /// The members and their aliases.
    Links(Vec<LinkRow>),
    /// The faults that were asked for and not ended.
    Faults(Vec<FaultRow>),
    /// A fault that is now in force.
    Fault(FaultRow),
    /// A text, such as all counters.
    Text(String),
    /// What each step did.
    Report(Vec<LinkFaultOutcome>),
    /// What became of all datagrams.
    Totals(Totals),
}

/// A member and its alias.
#[derive(Clone, Debug, Serialize)]
pub struct LinkRow {
    /// The name of the member.
    pub name: String,
    /// Its address; none if it stands for all unknown clients.
    pub member: Option<SocketAddr>,
    /// Where the others reach it.
    pub alias: SocketAddr,
    /// How many clients it stands for at the moment.
    pub flows: usize,
}

/// A fault that was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct FaultRow {
    /// The number by which it is changed and ended.
    pub id: u64,
    /// The fault in the words in which it was asked for.
    pub fault: String,
    /// Whether it is in force now.
    pub state: FaultState,
    /// How many datagrams it saw and changed.
    #[serde(flatten)]
    pub count: Count,
}

/// Whether a fault is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultState {
    /// The fault is in force.
    InForce,
    /// The fault is not in force yet, or not at the moment.
    Waiting,
    /// The fault will not come again: its time is over, or it was healed.
    Over,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// There is no such fault.
    #[error("there is no fault {0}")]
    NoSuchFault(u64),
    /// The request makes no sense.
    #[error("{0}")]
    Misread(String),
    /// The system refused it.
    #[error("{0}")]
    Failed(String),
    /// The proxy no longer runs.
    #[error("the proxy has stopped")]
    Stopped,
}

/// Tells a running proxy what to do. It can be cloned and sent anywhere.
#[derive(Clone, Debug)]
pub struct Control {
    sender: mpsc::Sender<Asked>,
}

/// A command, and where the answer goes.
#[derive(Debug)]
pub(super) struct Asked {
    pub command: Command,
    pub answer: oneshot::Sender<Result<Reply, Refusal>>,
}

impl Control {
    pub(super) fn new(sender: mpsc::Sender<Asked>) -> Self {
        Self { sender }
    }

    /// Sends a command, and waits for the answer.
    pub async fn ask(&self, command: Command) -> Result<Reply, Refusal> {
        let (answer, reply) = oneshot::channel();
        let asked = Asked { command, answer };
        self.sender
            .send(asked)
            .await
            .map_err(|_| Refusal::Stopped)?;
        reply.await.map_err(|_| Refusal::Stopped)?
    }
}

impl Core {
    /// Carries out a command.
    pub(super) fn obey(&mut self, command: Command) -> Result<Reply, Refusal> {
        let now_ns = self.now_ns();
        let failed = |error: std::io::Error| Refusal::Failed(error.to_string());
        match command {
            Command::Links => Ok(Reply::Links(self.links().map_err(failed)?)),
            Command::Faults => Ok(Reply::Faults(self.faults.rows(now_ns))),
            Command::Metrics => Ok(Reply::Text(metrics::text(self))),
            Command::Report => {
                self.log_faults(now_ns);
                Ok(Reply::Report(self.report(now_ns)))
            }
            Command::Totals => Ok(Reply::Totals(self.totals())),
            Command::Stop => Ok(Reply::Done),
            Command::Tidy => {
                self.tidy(now_ns);
                Ok(Reply::Done)
            }
            Command::Zero(zero) => {
                self.start_at(zero).map_err(failed)?;
                Ok(Reply::Done)
            }
            Command::Add(text) => {
                let row = self.faults.add(&text, now_ns)?;
                self.journal.note(now_ns, "added", &row);
                Ok(Reply::Fault(row))
            }
            Command::Change(id, text) => {
                let row = self.faults.change(id, &text, now_ns)?;
                self.journal.note(now_ns, "changed", &row);
                self.let_go().map_err(failed)?;
                Ok(Reply::Fault(row))
            }
            Command::Remove(id) => {
                self.faults.remove(id, now_ns)?;
                self.journal.note(now_ns, "removed", json!({ "id": id }));
                self.let_go().map_err(failed)?;
                Ok(Reply::Done)
            }
            Command::Heal(links) => {
                self.faults.heal(links.as_deref(), now_ns)?;
                self.journal
                    .note(now_ns, "healed", json!({ "links": links }));
                self.let_go().map_err(failed)?;
                Ok(Reply::Done)
            }
            Command::Reset => {
                self.faults.reset();
                self.drop_all();
                self.journal.note(now_ns, "reset", json!({}));
                self.let_go().map_err(failed)?;
                Ok(Reply::Done)
            }
            Command::Extend(step) => {
                self.journal
                    .note(now_ns, "extended", json!({ "fault": step.text }));
                self.faults.extend(*step);
                self.let_go().map_err(failed)?;
                Ok(Reply::Done)
            }
            Command::Enact(step, who) => {
                self.faults.enact(step, who, now_ns)?;
                self.journal
                    .note(now_ns, "enacted", json!({ "step": step, "who": who }));
                self.let_go().map_err(failed)?;
                Ok(Reply::Done)
            }
        }
    }
}
