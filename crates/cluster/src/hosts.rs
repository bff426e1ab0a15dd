//! Members on several hosts: an agent on each is their parent, and is told here what to do.
//!
//! ```text
//!   spec ──► start an agent on each host ──► they join ──► clocks ──► (the run) ──► clocks ──► records
//! ```
//!
//! [`spec`] is what `--hosts` and `--place` say, `start` starts the agents, `gather` awaits them,
//! `door` lets them in, `clocks` compares clocks, and `Fleet` is all of them while the run goes on.

mod clocks;
mod door;
mod gather;
mod preflight;
pub mod spec;
mod start;

use std::collections::{BTreeMap, VecDeque};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use algorithms::NodeId;
use model::engine::EngineError;
use model::run::HostClock;
use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use wire::Moment;

use crate::agent::words::{FromAgent, Probed, ToAgent, Who};
use crate::child::{Ended, Heard, Output, Raw};
use crate::connection::{Incoming, Outgoing};
use clocks::{EXCHANGES, Exchange, HostTime, Offset};
use spec::HostsSpec;
use start::Starter;

pub use crate::agent::words::Network;
pub use preflight::{Crossing, HostReport, OffsetAndBound, Preflight};

/// The hosts that a run shall have, and how they are reached.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// Which there are, and what starts an agent on each.
    pub spec: HostsSpec,
    /// Version and commit of this program: an agent of another build is refused.
    pub build: String,
    /// How agents are reached.
    pub reach: Reach,
}

/// How agents are started, and where they and the members may be reached.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The network whose addresses members bind, if not the ones by which their agents came.
    pub bind: Option<Network>,
    /// The ports that may be used, if not any.
    pub ports: Option<(u16, u16)>,
    /// What starts a command on a host, as `ssh` does.
    pub ssh: String,
    /// Whether this program is copied to hosts that have another.
    pub copy: bool,
    /// The file that holds the join secret, if it is not a fresh one.
    pub secret: Option<PathBuf>,
    /// The address on which agents are awaited, if not on all.
    pub listen: Option<IpAddr>,
    /// How long agents are awaited.
    pub within: Duration,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            bind: None,
            ports: None,
            ssh: "ssh -o BatchMode=yes".to_owned(),
            copy: true,
            secret: None,
            listen: None,
            within: Duration::from_secs(60),
        }
    }
}

/// Which processes on a host were stopped or let go on, and nobody has asked yet.
type Stops = Arc<Mutex<BTreeMap<Who, VecDeque<bool>>>>;

/// A process on the host of an agent.
#[derive(Debug)]
pub(crate) struct Remote {
    who: Who,
    to: mpsc::UnboundedSender<ToAgent>,
    stops: Stops,
}

impl Remote {
    pub(crate) fn tell_line(&self, line: &[u8]) {
        self.order(ToAgent::Tell {
            who: self.who,
            line: line.to_vec(),
        });
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.order(ToAgent::Signal {
            who: self.who,
            signal: signal.as_raw(),
        });
    }

    pub(crate) fn stopped(&self) -> Option<bool> {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.get_mut(&self.who)?.pop_front()
    }

    /// A host that is lost is noticed where it is listened to.
    fn order(&self, order: ToAgent) {
        drop(self.to.send(order));
    }
}

/// What an agent answers to questions about its host.
#[derive(Debug)]
enum News {
    Clock { read: Moment, answered: Moment },
    Overflows(Vec<Option<u64>>),
    AllFiles { files: u32, bytes: u64 },
    Probed(Vec<Probed>),
    Failed(String),
}

/// A host whose agent has joined.
#[derive(Debug)]
struct Host {
    name: String,
    /// What the host calls itself, and the build of its agent.
    hostname: String,
    /// The address that its members bind.
    address: IpAddr,
    /// The directory on it, in which members leave their records.
    dir: PathBuf,
    /// The socket on it that answers probes.
    echo: SocketAddr,
    to: mpsc::UnboundedSender<ToAgent>,
    news: mpsc::UnboundedReceiver<News>,
    stops: Stops,
    before: Option<Offset>,
    after: Option<Offset>,
    /// The run's moment zero, by this host's clock and by the orchestrator's.
    zero: Moment,
    zero_here: Moment,
    /// Why nothing more will come from it.
    lost: bool,
    /// It was told that the run is over, so that its silence is no news.
    over: Arc<AtomicBool>,
}

/// All hosts of a run.
#[derive(Debug)]
pub(crate) struct Fleet {
    hosts: Vec<Host>,
    starters: Vec<Starter>,
    ports: Option<(u16, u16)>,
}

impl Fleet {
    /// What a host is called.
    pub(crate) fn name(&self, host: usize) -> &str {
        &self.hosts[host].name
    }

    pub(crate) fn count(&self) -> usize {
        self.hosts.len()
    }

    /// The address that members of a host bind.
    pub(crate) fn address(&self, host: usize) -> IpAddr {
        self.hosts[host].address
    }

    /// The directory of the run on that host.
    pub(crate) fn dir(&self, host: usize) -> &Path {
        &self.hosts[host].dir
    }

    /// The ports that may be used.
    pub(crate) fn ports(&self) -> Option<(u16, u16)> {
        self.ports
    }

    /// Starts a process on a host.
    pub(crate) fn start(&self, host: usize, who: Who, port: u16) -> Remote {
        let host = &self.hosts[host];
        let remote = Remote {
            who,
            to: host.to.clone(),
            stops: Arc::clone(&host.stops),
        };
        remote.order(ToAgent::Start { who, port });
        remote
    }

    /// Says when the run begins; by each host's clock it comes back.
    pub(crate) fn begin(&mut self, zero: Moment) {
        for host in &mut self.hosts {
            host.zero_here = zero;
            host.zero = match host.before {
                Some(before) => zero.by_clock_ahead(before.ns),
                None => zero,
            };
        }
    }

    /// The run's moment zero by the clock of a host.
    pub(crate) fn zero(&self, host: usize) -> Moment {
        self.hosts[host].zero
    }

    /// Takes note that a host is lost.
    pub(crate) fn lose(&mut self, host: usize) {
        self.hosts[host].lost = true;
    }

    /// The hosts that are lost.
    pub(crate) fn lost(&self) -> Vec<usize> {
        let lost = self.hosts.iter().enumerate();
        let lost = lost.filter_map(|(place, host)| host.lost.then_some(place));
        lost.collect()
    }

    /// Reads all clocks, before the run or after it.
    pub(crate) async fn read_clocks(&mut self, after: bool) -> Result<(), EngineError> {
        for host in self.hosts.iter_mut().filter(|host| !host.lost) {
            let mut exchanges = Vec::new();
            for _ in 0..EXCHANGES {
                let asked = Moment::now();
                if let News::Clock { read, answered } = host.ask(ToAgent::Clock).await? {
                    exchanges.push(Exchange {
                        asked,
                        read,
                        answered,
                    });
                }
            }
            let offset = Offset::of(&exchanges);
            match after {
                false => host.before = offset,
                true => host.after = offset,
            }
        }
        Ok(())
    }

    /// What the kernel dropped at members' sockets, while these are open.
    pub(crate) async fn overflowed(
        &mut self,
        sockets: &[(NodeId, usize, SocketAddr)],
    ) -> BTreeMap<NodeId, u64> {
        let mut all = BTreeMap::new();
        for (place, host) in self.hosts.iter_mut().enumerate() {
            let here = sockets.iter().filter(|(_, of, _)| *of == place);
            let here = here.collect::<Vec<_>>();
            let addresses = here.iter().map(|(_, _, address)| *address).collect();
            if host.lost || here.is_empty() {
                continue;
            }
            // Not to know it is no reason to fail.
            if let Ok(News::Overflows(counts)) = host.ask(ToAgent::Overflows(addresses)).await {
                let counts = here.iter().zip(counts);
                all.extend(counts.filter_map(|((node, _, _), count)| Some((*node, count?))));
            }
        }
        all
    }

    /// Has every host send what was recorded there; it is stored as it comes.
    pub(crate) async fn fetch_records(&mut self) -> Result<(), EngineError> {
        for host in self.hosts.iter().filter(|host| !host.lost) {
            drop(host.to.send(ToAgent::Records));
        }
        let mut failed = Ok(());
        for host in self.hosts.iter_mut().filter(|host| !host.lost) {
            let name = host.name.clone();
            let missing = |why: &str| {
                EngineError::Testbed(format!("the records of {name} are not here: {why}"))
            };
            let fetched = match host.hear().await {
                Ok(News::AllFiles { files, bytes }) => {
                    tracing::info!(host = host.name, files, bytes, "records are here");
                    Ok(())
                }
                Ok(News::Failed(why)) => Err(missing(&why)),
                Ok(other) => Err(missing(&format!("its agent answered {other:?} instead"))),
                Err(why) => Err(missing(&why.to_string())),
            };
            host.lost |= fetched.is_err();
            failed = failed.and(fetched);
        }
        failed
    }

    /// The clocks of all hosts; which were set during the run.
    pub(crate) fn clocks(&self) -> (Vec<HostClock>, Vec<String>) {
        let times = self
            .hosts
            .iter()
            .filter_map(|host| Some((host, host.time()?)));
        let times = times.collect::<Vec<_>>();
        let told = times.iter().map(|(host, time)| time.told(&host.name));
        let set = times.iter().filter(|(_, time)| time.was_set());
        let set = set.map(|(host, _)| host.name.clone());
        (told.collect(), set.collect())
    }

    /// What the times of each host have to be corrected by.
    pub(crate) fn times(&self) -> Vec<Option<HostTime>> {
        self.hosts.iter().map(Host::time).collect()
    }

    /// Ends all agents, and with them whatever is left on their hosts.
    pub(crate) async fn end(&mut self) {
        for host in &self.hosts {
            host.over.store(true, Ordering::Relaxed);
            drop(host.to.send(ToAgent::End));
        }
        let deadline = Instant::now() + Duration::from_secs(3);
        for host in self.hosts.iter_mut().filter(|host| !host.lost) {
            // It closes its end when everything is gone there.
            while let Ok(Some(_)) = timeout_at(deadline, host.news.recv()).await {}
        }
        for starter in &mut self.starters {
            starter.end(deadline).await;
        }
    }
}

impl Host {
    /// Asks its agent something, and waits for the answer.
    async fn ask(&mut self, question: ToAgent) -> Result<News, EngineError> {
        drop(self.to.send(question));
        self.hear().await
    }

    async fn hear(&mut self) -> Result<News, EngineError> {
        match self.news.recv().await {
            Some(news) => Ok(news),
            None => {
                self.lost = true;
                let name = &self.name;
                let why = format!("host {name} is lost: its connection ended");
                Err(EngineError::Testbed(why))
            }
        }
    }

    fn time(&self) -> Option<HostTime> {
        Some(HostTime {
            before: self.before?,
            after: self.after,
            zero: self.zero_here,
        })
    }
}

/// Times of a host as this host's clock would have shown them, in nanoseconds from the run's zero.
pub(crate) fn corrected_ns(time: Option<&HostTime>, theirs_ns: u64) -> u64 {
    time.map_or(theirs_ns, |time| time.corrected_ns(theirs_ns))
}

pub(crate) use clocks::HostTime as Time;

/// Sends what an agent is told, and now and then a sign of life.
async fn speak(mut outgoing: Outgoing, mut orders: mpsc::UnboundedReceiver<ToAgent>) {
    let mut beat = tokio::time::interval(crate::connection::BEAT);
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            _ = beat.tick() => Some(ToAgent::Beat),
        };
        let Some(order) = order else { break };
        if outgoing.send(&order).await.is_err() {
            break;
        }
    }
}

/// What listens to an agent needs.
struct Ear {
    host: usize,
    reports: mpsc::UnboundedSender<Heard>,
    news: mpsc::UnboundedSender<News>,
    stops: Stops,
    over: Arc<AtomicBool>,
    /// Where records are stored.
    members: PathBuf,
    /// The name of the host, for files that every host has.
    name: String,
}

impl Ear {
    /// Listens to an agent until its connection ends.
    async fn listen(self, mut incoming: Incoming) {
        let why = loop {
            match incoming.next::<FromAgent>().await {
                Ok(Some(message)) => self.take(message),
                Ok(None) => break "its agent ended, or was killed".to_owned(),
                Err(why) => break why,
            }
        };
        if !self.over.load(Ordering::Relaxed) {
            let host = self.host;
            drop(self.reports.send(Heard::Lost { host, why }));
        }
    }

    fn take(&self, message: FromAgent) {
        let news = match message {
            FromAgent::Beat | FromAgent::Ready { .. } => return,
            FromAgent::Clock(read) => News::Clock {
                read,
                answered: Moment::now(),
            },
            FromAgent::Line { who, line } => return self.report(who, Raw::Line(line)),
            FromAgent::Ended {
                who,
                status,
                stderr_end,
            } => {
                let status = status.map(ExitStatus::from_raw).map_err(io::Error::other);
                return self.report(who, Raw::Ended(Ended { status, stderr_end }));
            }
            FromAgent::Stopped { who, stopped } => {
                let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
                stops.entry(who).or_default().push_back(stopped);
                return;
            }
            FromAgent::Overflows(counts) => News::Overflows(counts),
            FromAgent::File { name, bytes } => match self.store(&name, &bytes) {
                Ok(()) => return,
                Err(why) => News::Failed(why),
            },
            FromAgent::AllFiles { files, bytes } => News::AllFiles { files, bytes },
            FromAgent::Probed(probed) => News::Probed(probed),
            FromAgent::Failed(why) => News::Failed(why),
        };
        drop(self.news.send(news));
    }

    fn report(&self, who: Who, raw: Raw) {
        let heard = match who {
            Who::Member { node, incarnation } => Heard::Member {
                from: node,
                incarnation,
                what: Output::from(raw),
            },
            Who::Proxy => Heard::Proxy {
                host: self.host,
                what: Output::from(raw),
            },
        };
        drop(self.reports.send(heard));
    }

    /// Adds some bytes to a file of records.
    fn store(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        if name.starts_with('.') || !name.chars().all(plain) {
            return Err(format!("its agent sent a file with the name '{name}'"));
        }
        let path = match name {
            "chaos.log" => self.members.join(format!("chaos.{}.log", self.name)),
            name => self.members.join(name),
        };
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let stored = file.and_then(|mut file| file.write_all(bytes));
        stored.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}
