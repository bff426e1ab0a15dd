//! The door of a run: who knows the secret, and is of our build, is let in.
//!
//! Anybody who reaches the port may knock. Until somebody has proved that they know the secret they get
//! nothing: no place, no word, and little time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::agent::words::{Answer, FromAgent, Hello, Welcome};
use crate::connection::{self, HANDSHAKE, Incoming, Outgoing};
use crate::sealed::{Handshake, Secret};

/// How many may stand at the door beyond the agents that are awaited; the one that has stood there for
/// the longest makes room. An agent needs a few round trips only.
const STRANGERS: usize = 64;

/// What must be known to let an agent in.
pub(super) struct Door {
    pub(super) secret: Secret,
    pub(super) build: String,
    pub(super) welcomes: Vec<Welcome>,
    /// Which hosts have been given away.
    pub(super) taken: Mutex<Vec<bool>>,
}

/// What became of somebody at the door.
pub(super) enum Arrival {
    /// It was let in.
    Joined(Box<Joined>),
    /// It knows the secret, and was not let in all the same: why.
    Refused(String),
    /// It did not show that it knows the secret: what it did instead.
    Stranger(String),
}

/// An agent that was let in.
pub(super) struct Joined {
    /// The place of its host.
    pub(super) host: usize,
    pub(super) hello: Hello,
    pub(super) ready: FromAgent,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
}

/// All who stand at the door.
pub(super) struct Crowd {
    door: Arc<Door>,
    /// Those who came first are in front.
    waiting: VecDeque<AbortHandle>,
    arrives: mpsc::UnboundedSender<Arrival>,
}

impl Crowd {
    /// Nobody yet; what becomes of those who will come is told to this channel.
    pub(super) fn new(door: Door, arrives: mpsc::UnboundedSender<Arrival>) -> Self {
        Self {
            door: Arc::new(door),
            waiting: VecDeque::new(),
            arrives,
        }
    }

    /// Somebody knocks.
    pub(super) fn knocks(&mut self, stream: TcpStream, from: SocketAddr) {
        self.waiting.retain(|other| !other.is_finished());
        if self.waiting.len() >= STRANGERS + self.door.welcomes.len()
            && let Some(first) = self.waiting.pop_front()
        {
            first.abort();
            let why = "somebody was sent away because too many stood at the door".to_owned();
            drop(self.arrives.send(Arrival::Stranger(why)));
        }
        let (door, arrives) = (Arc::clone(&self.door), self.arrives.clone());
        let met = tokio::spawn(async move {
            drop(arrives.send(door.meet(stream, from).await));
        });
        self.waiting.push_back(met.abort_handle());
    }
}

impl Door {
    /// Has somebody prove that they know the secret, and lets them in if they are one of ours.
    async fn meet(&self, mut stream: TcpStream, from: SocketAddr) -> Arrival {
        let from = from.ip();
        let mut handshake = Handshake::of_orchestrator(&self.secret);
        let proved = async {
            connection::hear_handshake(&mut stream, &mut handshake).await?;
            connection::say_handshake(&mut stream, &mut handshake).await?;
            let (outgoing, mut incoming) = connection::split(stream, handshake)?;
            // Only who has the keys of this handshake can say anything that is understood; who plays again
            // what was recorded once cannot.
            let hello = incoming.next::<Hello>().await?;
            let hello = hello.ok_or("it hung up before it had said who it is")?;
            Ok::<_, String>((outgoing, incoming, hello))
        };
        let (mut outgoing, incoming, hello) = match timeout(HANDSHAKE, proved).await {
            Ok(Ok(proved)) => proved,
            Ok(Err(why)) => return Arrival::Stranger(format!("{from}: {why}")),
            Err(_) => return Arrival::Stranger(format!("{from}: {}", too_slow())),
        };
        let host = match self.place_of(&hello) {
            Ok(host) => host,
            Err(why) => {
                // Whether it hears of it or not, it is not let in.
                let _ = outgoing.send(&Answer::Refused(why.clone())).await;
                return Arrival::Refused(format!("{from}: {why}"));
            }
        };
        let joined = timeout(HANDSHAKE, self.welcome(outgoing, incoming, host, hello));
        let why = match joined.await {
            Ok(Ok(joined)) => return Arrival::Joined(Box::new(joined)),
            Ok(Err(why)) => why,
            Err(_) => format!("it was not ready within {HANDSHAKE:?}"),
        };
        self.taken()[host] = false;
        Arrival::Refused(format!("{from}: {why}"))
    }

    async fn welcome(
        &self,
        mut outgoing: Outgoing,
        mut incoming: Incoming,
        host: usize,
        hello: Hello,
    ) -> Result<Joined, String> {
        let welcome = Answer::Welcome(self.welcomes[host].clone());
        let told = outgoing.send(&welcome).await;
        told.map_err(|error| error.to_string())?;
        let ready = incoming.next::<FromAgent>().await?;
        let ready = ready.ok_or("it hung up before it was ready")?;
        match ready {
            FromAgent::Ready { .. } | FromAgent::Failed(_) => Ok(Joined {
                host,
                hello,
                ready,
                outgoing,
                incoming,
            }),
            other => Err(format!("it said {other:?} before it was ready")),
        }
    }

    /// The place of an agent among the hosts, or why it has none.
    fn place_of(&self, hello: &Hello) -> Result<usize, String> {
        let who = hello.name.as_deref().unwrap_or(&hello.hostname);
        if hello.build != self.build {
            return Err(format!(
                "the agent on {who} is of build {}, and this orchestrator is of {}; install the same \
                 on both",
                hello.build, self.build
            ));
        }
        let mut taken = self.taken();
        let named = |name: &str| {
            let mut welcomes = self.welcomes.iter();
            welcomes.position(|welcome| welcome.host == name)
        };
        let first = |taken: &[bool]| taken.iter().position(|taken| !taken);
        let host = match &hello.name {
            Some(name) => Some(named(name).ok_or_else(|| {
                let names = self.welcomes.iter().map(|welcome| welcome.host.as_str());
                let names = names.collect::<Vec<_>>().join(", ");
                format!("there is no host {name} in this run; there are {names}")
            })?),
            None => named(&hello.hostname).or_else(|| first(&taken)),
        };
        match host {
            Some(host) if !taken[host] => {
                taken[host] = true;
                Ok(host)
            }
            Some(host) => Err(format!("{} has an agent already", self.welcomes[host].host)),
            None => Err("all hosts have an agent already".to_owned()),
        }
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Vec<bool>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_slow() -> String {
    let within: Duration = HANDSHAKE;
    format!("it did not say who it is within {within:?}")
}
