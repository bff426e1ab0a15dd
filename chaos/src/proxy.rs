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
//! task that does what it is told over a channel (from [`api`], or from whoever embeds the proxy).

pub mod api;
pub mod child;
pub mod cli;
mod control;
mod core;
mod faults;
mod flights;
mod journal;
mod metrics;
mod wire;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};

pub use control::{Command, Control, FaultRow, LinkRow, Refusal, Reply};
pub use journal::Journal;

use crate::delay::Delay;
use crate::fate::Member;
use crate::timeline::Timeline;
use crate::wire::{Alarm, Inbox};
use control::Asked;
use core::Core;

/// What a proxy is made from.
pub struct Config {
    /// The members: what they are called, and where they are. One without an address is whoever first
    /// sends something from an address that is nobody's.
    pub members: Vec<(String, Option<SocketAddr>)>,
    /// Where the aliases listen; each gets a free port.
    pub bind: IpAddr,
    /// How long links take by themselves.
    pub delay: Delay,
    /// The faults from the start.
    pub timeline: Timeline,
    /// Where what happens is written down.
    pub journal: Journal,
}

/// A proxy whose sockets are bound, and which is not running yet.
pub struct Proxy {
    core: Rc<RefCell<Core>>,
    alarm: Rc<Alarm>,
    control: Control,
    asked: mpsc::Receiver<Asked>,
}

impl Proxy {
    /// Binds an alias for each member. Needs a running tokio runtime of one thread.
    pub fn bind(config: Config) -> io::Result<Self> {
        let alarm = Rc::new(Alarm::new()?);
        let core = Core::new(config, Rc::clone(&alarm))?;
        let (sender, asked) = mpsc::channel(64);
        Ok(Self {
            core: Rc::new(RefCell::new(core)),
            alarm,
            control: Control::new(sender),
            asked,
        })
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
        } = self;
        drop(control);
        let tasks = LocalSet::new();
        let work = async {
            let mut set = JoinSet::new();
            let members = core.borrow().names.len();
            let inbox = Rc::new(RefCell::new(Inbox::new()));
            for member in 0..members as Member {
                set.spawn_local(take_in(Rc::clone(&core), Rc::clone(&inbox), member));
            }
            set.spawn_local(send_due(Rc::clone(&core), alarm));
            let obeyed = obey(Rc::clone(&core), asked);
            tokio::select! {
                () = obeyed => Ok(()),
                Some(ended) = set.join_next() => match ended {
                    Ok(Ok(never)) => match never {},
                    Ok(Err(error)) => Err(error),
                    Err(panicked) => Err(io::Error::other(panicked)),
                },
            }
        };
        tasks.run_until(work).await
    }
}

/// Takes in what is sent to one alias, batch after batch.
async fn take_in(
    core: Rc<RefCell<Core>>,
    inbox: Rc<RefCell<Inbox>>,
    to: Member,
) -> io::Result<Infallible> {
    let alias = core.borrow().wire.alias(to);
    loop {
        alias.readable().await?;
        // One batch at a time, so that no alias keeps the others waiting.
        core.borrow_mut().take_in(to, &mut inbox.borrow_mut())?;
    }
}

/// Sends what is due, whenever something is.
async fn send_due(core: Rc<RefCell<Core>>, alarm: Rc<Alarm>) -> io::Result<Infallible> {
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
        // Whoever asked may have left; that changes nothing.
        let _ = answer.send(reply);
        if stop {
            return;
        }
    }
}
