//! The proxy as a child process of a run: it is told over stdin, and answers over stdout.
//!
//! ```text
//!   begin ──► bound ──► zero ──► (enact ──► enacted)* ──► finish ──► finished
//! ```

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use tracing::info;

use super::{Address, Command, Config, Control, MemberConfig, Proxy, Reply};
use crate::delay::Delay;
use crate::fate::Member;
use crate::timeline::{LinkFaultOutcome, Step, Timeline};
use crate::totals::Totals;
use wire::{Channel, Moment};

/// What the parent tells the proxy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum ToProxy {
    /// Stand between these members.
    Begin(Box<Between>),
    /// Time 0 of the timeline is this moment of the monotonic clock.
    Zero {
        /// Moment zero of the run.
        zero: Moment,
    },
    /// Another step of the timeline, behind those that there are; one that needs nobody begins at its
    /// time.
    Extend(Box<Step>),
    /// Put a step that waited for something in force, now.
    Enact {
        /// Its place in the timeline.
        step: usize,
        /// The member that it isolates, if it isolates one.
        who: Option<Member>,
    },
    /// Say what each step did, and stop.
    Finish,
}

/// Where the proxy stands, and what shall go wrong there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Between {
    /// Where the members are, in their order.
    pub members: Vec<SocketAddr>,
    /// How long links take without any fault.
    pub delay: Delay,
    /// The faults of the links.
    pub timeline: Timeline,
    /// The address on which the aliases listen, and send.
    pub bind: IpAddr,
    /// The first and the last port that aliases may take, if not any.
    pub ports: Option<(u16, u16)>,
}

/// What the proxy tells its parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromProxy {
    /// The aliases are open.
    Bound {
        /// Where each member is reached by the others, in their order.
        aliases: Vec<SocketAddr>,
    },
    /// The step is in force.
    Enacted {
        /// Its place in the timeline.
        step: usize,
    },
    /// The proxy has stopped.
    Finished {
        /// What each step about links did.
        did: Vec<LinkFaultOutcome>,
        /// What became of all datagrams.
        totals: Totals,
    },
}

/// Runs the proxy until the parent tells it to finish or stdin ends.
pub async fn serve() -> Result<(), String> {
    let mut parent = Channel::open().map_err(|error| format!("stdin: {error}"))?;
    let between = match parent.next().await? {
        Some(ToProxy::Begin(between)) => *between,
        Some(other) => return Err(format!("expected 'begin', got {other:?}")),
        None => return Ok(()),
    };
    let members = between.members.into_iter().enumerate();
    let members = members.map(|(member, address)| MemberConfig {
        name: member.to_string(),
        address: Address::Fixed(address),
        port: 0,
    });
    let proxy = Proxy::bind(Config {
        delay: between.delay,
        timeline: between.timeline,
        bind: between.bind,
        ports: between.ports,
        ..Config::between(members.collect())
    });
    let proxy = proxy.map_err(|error| format!("cannot open the aliases: member {error}"))?;
    let links = proxy.links().map_err(|error| error.to_string())?;
    info!(members = links.len(), "the proxy starts");
    parent.say(&FromProxy::Bound {
        aliases: links.into_iter().map(|link| link.alias).collect(),
    });
    let control = proxy.control();
    tokio::select! {
        ended = proxy.run() => ended.map_err(|error| error.to_string()),
        ended = obey(parent, control) => ended,
    }
}

async fn obey(mut parent: Channel<ToProxy, FromProxy>, control: Control) -> Result<(), String> {
    while let Some(order) = parent.next().await? {
        let last = matches!(order, ToProxy::Finish);
        let report = match order {
            ToProxy::Begin(_) => return Err("the proxy has begun already".to_owned()),
            ToProxy::Zero { zero } => {
                ask(&control, Command::Zero(zero)).await?;
                continue;
            }
            ToProxy::Extend(step) => {
                ask(&control, Command::Extend(step)).await?;
                continue;
            }
            ToProxy::Enact { step, who } => {
                ask(&control, Command::Enact(step, who)).await?;
                FromProxy::Enacted { step }
            }
            ToProxy::Finish => {
                let report = ask(&control, Command::Report).await?;
                match (report, ask(&control, Command::Totals).await?) {
                    (Reply::Report(did), Reply::Totals(totals)) => {
                        info!(?totals, "the proxy is done");
                        FromProxy::Finished { did, totals }
                    }
                    other => return Err(format!("the proxy gave no report, but {other:?}")),
                }
            }
        };
        parent.say(&report);
        if last {
            break;
        }
    }
    Ok(())
}

async fn ask(control: &Control, command: Command) -> Result<Reply, String> {
    let reply = control.ask(command).await;
    reply.map_err(|refusal| refusal.to_string())
}
