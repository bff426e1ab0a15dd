//! The proxy: a UDP network without root on which the model's faults happen to real datagrams.
//!
//! Every member gets an *alias*, a socket of the proxy's. What member i sends to the alias of j leaves
//! from the alias of i towards j; so each believes to talk to the others, and answers go the same way
//! back. The proxy never looks into a datagram. It decides nothing: what happens to a datagram is
//! [`Network::fate`](crate::Network::fate), as in the simulator.
//!
//! ```text
//!   a ──► alias(b) ─┐                       ┌─► b       a sends to alias(b),
//!                   └─ fate(a→b) ─ alias(a) ┘           b sees it come from alias(a)
//! ```
//!
//! One thread: a task per alias that takes batches of datagrams in, a task that sends what is due, a
//! task that does what it is told over a channel (over HTTP, or by the program that embeds the proxy). A
//! client that nobody named gets an alias of its own for a while, as behind a router that translates
//! addresses. Everything that others can make grow has a bound: bytes under way, flows, faults.

#[cfg(feature = "http")]
pub mod api;
pub mod child;
#[cfg(feature = "http")]
pub mod cli;
#[cfg(feature = "http")]
mod config;
mod control;
mod core;
mod fault_log;
mod faults;
mod files;
mod flights;
mod flows;
#[cfg(feature = "http")]
mod http;
mod journal;
mod metrics;
mod sockets;
#[cfg(feature = "http")]
mod token;

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;

use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};

pub use control::{Command, Control, FaultRow, FaultState, LinkRow, Refusal, Reply};
pub use files::FaultFiles;
pub use flows::FlowLimits;
pub use journal::Journal;
#[cfg(feature = "http")]
pub use token::Token;

use crate::delay::Delay;
use crate::fate::Member;
use crate::timeline::Timeline;
use control::Asked;
use core::Core;
use flows::Opened;
use sockets::Alias;
use wire::{Alarm, Inbox, Port};

/// What a proxy is made from.
pub struct Config {
    /// The members that the proxy stands between.
    pub members: Vec<MemberConfig>,
    /// Where the aliases listen.
    pub bind: IpAddr,
    /// The first and the last port that aliases may take where they are not told theirs, if not any.
    pub ports: Option<(u16, u16)>,
    /// How long links take without any fault.
    pub delay: Delay,
    /// The faults that are known at the start.
    pub timeline: Timeline,
    /// Where events are recorded.
    pub journal: Journal,
    /// Which files a fault may name that is asked for while the proxy runs.
    pub files: FaultFiles,
    /// How many clients there may be at once, and for how long each is remembered.
    pub flows: FlowLimits,
    /// The most bytes that may be under way, with what keeping a datagram costs; what finds no room
    /// is dropped and counted.
    pub queue_bytes: usize,
}

/// A member, as the proxy has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberConfig {
    /// The name of the member.
    pub name: String,
    /// The address of the member.
    pub address: Address,
    /// The port of its alias; any free one if 0.
    pub port: u16,
}

/// The address of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// The member has this address.
    Fixed(SocketAddr),
    /// The member is every client that sends from an address which is no member's; each such address
    /// is a client of its own.
    Any,
}

/// How many bytes may be under way by default: about 200,000 datagrams of 1,200 bytes.
pub const QUEUE_BYTES: usize = 256 << 20;

impl Config {
    /// A proxy between these members, on this machine only, without faults, journal or files.
    pub fn between(members: Vec<MemberConfig>) -> Self {
        let timeline = Timeline {
            nodes: members.len() as u32,
            ..Timeline::default()
        };
        Self {
            members,
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            ports: None,
            delay: Delay::NONE,
            timeline,
            journal: Journal::default(),
            files: FaultFiles::Refused,
            flows: FlowLimits::default(),
            queue_bytes: QUEUE_BYTES,
        }
    }
}

/// A proxy whose sockets are bound, and which is not running yet.
pub struct Proxy {
    core: Rc<RefCell<Core>>,
    alarm: Rc<Alarm>,
    control: Control,
    asked: mpsc::Receiver<Asked>,
    opened: mpsc::UnboundedReceiver<Opened>,
}

impl Proxy {
    /// Binds an alias for each member. Needs a running tokio runtime of one thread.
    pub fn bind(config: Config) -> io::Result<Self> {
        let alarm = Rc::new(Alarm::new()?);
        let (opens, opened) = mpsc::unbounded_channel();
        let core = Core::new(config, Rc::clone(&alarm), opens)?;
        let (sender, asked) = mpsc::channel(64);
        Ok(Self {
            core: Rc::new(RefCell::new(core)),
            alarm,
            control: Control::new(sender),
            asked,
            opened,
        })
    }

    /// Adds a fault from the start, which may name files that others may not.
    pub fn add(&self, fault: &str, files: &FaultFiles) -> Result<FaultRow, Refusal> {
        self.core.borrow_mut().add_with(fault, files)
    }

    /// The members, and where each is reached by the others.
    pub fn links(&self) -> io::Result<Vec<LinkRow>> {
        self.core.borrow().links()
    }

    /// What the proxy is told what to do by, while it runs.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Carries datagrams until the last [`Control`] is gone or told it to stop. Then every socket is
    /// closed.
    pub async fn run(self) -> io::Result<()> {
        let Self {
            core,
            alarm,
            control,
            asked,
            mut opened,
        } = self;
        drop(control);
        let tasks = LocalSet::new();
        let work = async {
            let mut set = JoinSet::new();
            let members = core.borrow().names.len();
            let inbox = Rc::new(RefCell::new(Inbox::new()));
            for member in 0..members as Member {
                let port = core.borrow().sockets.alias(member);
                let alias = Alias::Member(member);
                set.spawn_local(take_in(Rc::clone(&core), Rc::clone(&inbox), alias, port));
            }
            set.spawn_local(send_due(Rc::clone(&core), alarm));
            let obeyed = obey(Rc::clone(&core), asked);
            let flows = async {
                loop {
                    tokio::select! {
                        Some(flow) = opened.recv() => {
                            let (core, inbox) = (Rc::clone(&core), Rc::clone(&inbox));
                            set.spawn_local(take_in_flow(core, inbox, flow));
                        }
                        Some(ended) = set.join_next() => match ended {
                            // A flow was closed; the other tasks do not end.
                            Ok(Ok(())) => {}
                            Ok(Err(error)) => return error,
                            Err(panicked) => return io::Error::other(panicked),
                        },
                    }
                }
            };
            tokio::select! {
                () = obeyed => Ok(()),
                error = flows => Err(error),
            }
        };
        tasks.run_until(work).await
    }
}

/// Takes in what is sent to one alias, batch after batch.
async fn take_in(
    core: Rc<RefCell<Core>>,
    inbox: Rc<RefCell<Inbox>>,
    alias: Alias,
    port: Rc<Port>,
) -> io::Result<()> {
    loop {
        port.readable().await?;
        // One batch at a time, so that no alias keeps the others waiting.
        let mut core = core.borrow_mut();
        core.take_in(alias, &port, &mut inbox.borrow_mut())?;
    }
}

/// Takes in what is sent to a client, until its flow is closed.
async fn take_in_flow(
    core: Rc<RefCell<Core>>,
    inbox: Rc<RefCell<Inbox>>,
    flow: Opened,
) -> io::Result<()> {
    tokio::select! {
        biased;
        _ = flow.closed => Ok(()),
        ended = take_in(core, inbox, Alias::Flow(flow.id), flow.port) => ended,
    }
}

/// Sends what is due, whenever something is.
async fn send_due(core: Rc<RefCell<Core>>, alarm: Rc<Alarm>) -> io::Result<()> {
    loop {
        alarm.wait().await?;
        core.borrow_mut().send_due()?;
    }
}

/// Does what it is told, until it is told to stop or nobody is left to tell it anything.
async fn obey(core: Rc<RefCell<Core>>, mut asked: mpsc::Receiver<Asked>) {
    while let Some(Asked { command, answer }) = asked.recv().await {
        let stop = matches!(command, Command::Stop);
        let reply = core.borrow_mut().obey(command);
        // The one that asked may have left; that changes nothing.
        let _ = answer.send(reply);
        if stop {
            return;
        }
    }
}
