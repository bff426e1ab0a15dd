//! Letting agents in: who knows the secret and is of our build.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::engine::{EngineError, Observer, Progress};
use model::plan::Placement;
use safe_io::{input, to_stderr};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, timeout};
use wire::Moment;

use super::spec::HostEngine;
use super::start::{Directions, start_all};
use super::{Ear, Fleet, Host, Hosts, Stops, speak};
use crate::agent::words::{Answer, FromAgent, Hello, Welcome};
use crate::child::Heard;
use crate::connection::{self, Incoming, Outgoing};
use crate::sealed::{Handshake, Secret};

/// How long an agent may take for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often starters and Ctrl-C are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What must be known to let an agent in.
struct Door {
    secret: Secret,
    build: String,
    welcomes: Vec<Welcome>,
    /// Which hosts have been given away.
    taken: Mutex<Vec<bool>>,
}

/// An agent at the door.
enum Arrival {
    /// It was let in.
    Joined(Box<Joined>),
    /// It was not, and why.
    Refused(String),
}

/// An agent that was let in.
struct Joined {
    /// The place of its host.
    host: usize,
    hello: Hello,
    ready: FromAgent,
    outgoing: Outgoing,
    incoming: Incoming,
}

impl Fleet {
    /// Starts an agent on every host, and waits until all are there.
    pub(crate) async fn gather(
        hosts: &Hosts,
        placement: &Placement,
        members: &Path,
        reports: &mpsc::UnboundedSender<Heard>,
        observer: &mut dyn Observer,
    ) -> Result<Self, EngineError> {
        let testbed = EngineError::Testbed;
        let (secret, text) = match &hosts.reach.secret {
            None => Secret::fresh().map_err(testbed)?,
            Some(file) => {
                let wrong =
                    |why: String| EngineError::Plan(format!("--secret {}: {why}", file.display()));
                let text = input::read_text(file).map_err(|error| wrong(error.to_string()))?;
                let line = text.lines().next().unwrap_or_default().to_owned();
                (Secret::from_text(&line).map_err(wrong)?, line)
            }
        };
        let listener = listen(hosts).await.map_err(testbed)?;
        let port = listener.local_addr().map_err(|error| {
            EngineError::Testbed(format!("the port for agents has no address: {error}"))
        })?;
        let places = places(port).map_err(EngineError::Testbed)?;
        let directions = Directions {
            places: &places,
            secret: &text,
            logs: members,
        };
        if hosts.spec.engine == HostEngine::Join {
            invite(hosts, &directions)?;
        }
        let starters = start_all(hosts, &directions).await.map_err(testbed)?;
        let mut fleet = Self {
            hosts: Vec::new(),
            starters,
            ports: hosts.reach.ports,
        };
        let door = Arc::new(Door {
            secret,
            build: hosts.build.clone(),
            welcomes: welcomes(hosts, placement),
            taken: Mutex::new(vec![false; placement.hosts.len()]),
        });
        let joined = fleet.let_in(hosts, &door, &listener, observer).await;
        // It is there where somebody else starts the agents, and nobody needs it any more.
        let _ = std::fs::remove_file(secret_file(members));
        match joined {
            Ok(joined) => {
                for (host, joined) in joined {
                    fleet.add(host, joined, placement, members, reports);
                }
                Ok(fleet)
            }
            Err(why) => {
                // Those that are there already must not stay.
                fleet.end().await;
                Err(why)
            }
        }
    }

    /// Lets agents in until every host has one.
    async fn let_in(
        &mut self,
        hosts: &Hosts,
        door: &Arc<Door>,
        listener: &TcpListener,
        observer: &mut dyn Observer,
    ) -> Result<BTreeMap<usize, Joined>, EngineError> {
        let testbed = |why: String| Err(EngineError::Testbed(why));
        let names = hosts.spec.hosts.iter().map(|(name, _)| name.as_str());
        let names = names.collect::<Vec<_>>();
        let mut joined = BTreeMap::new();
        let (arrives, mut arrivals) = mpsc::unbounded_channel();
        let mut look = interval(LOOK_EVERY);
        let deadline = Instant::now() + hosts.reach.within;
        while joined.len() < names.len() {
            tokio::select! {
                stream = listener.accept() => match stream {
                    Ok((stream, from)) => {
                        let (door, arrives) = (Arc::clone(door), arrives.clone());
                        tokio::spawn(async move {
                            let met = timeout(HANDSHAKE, door.meet(stream)).await;
                            let arrival = match met {
                                Ok(Ok(arrival)) => arrival,
                                Ok(Err(why)) => Arrival::Refused(format!("{}: {why}", from.ip())),
                                Err(_) => Arrival::Refused(format!(
                                    "{}: it did not say who it is within {HANDSHAKE:?}", from.ip()
                                )),
                            };
                            drop(arrives.send(arrival));
                        });
                    }
                    Err(error) => return testbed(format!("cannot let agents in: {error}")),
                },
                Some(arrival) = arrivals.recv() => match arrival {
                    Arrival::Joined(one) => {
                        if let FromAgent::Failed(why) = &one.ready {
                            let host = names[one.host];
                            return testbed(format!("host {host} cannot take part: {why}"));
                        }
                        joined.insert(one.host, *one);
                    }
                    // An agent that somebody else started may try again; those we started will end.
                    Arrival::Refused(why) => {
                        observer.warning(&format!("an agent was refused. {why}."));
                    }
                },
                _ = look.tick() => {
                    if observer.progress(Progress::default()).is_break() {
                        return testbed("interrupted before all hosts were there".to_owned());
                    }
                    for starter in &mut self.starters {
                        let awaited = starter.hosts.iter();
                        let awaited = awaited.copied().find(|host| !joined.contains_key(host));
                        if let (Some(host), Some(status)) = (awaited, starter.ended()) {
                            return testbed(starter.failure(names[host], status));
                        }
                    }
                    if Instant::now() >= deadline {
                        let missing = (0..names.len()).filter(|host| !joined.contains_key(host));
                        let missing = missing.map(|host| names[host]).collect::<Vec<_>>();
                        return testbed(format!(
                            "no agent came from {} within {:?}", missing.join(", "),
                            hosts.reach.within
                        ));
                    }
                }
            }
        }
        Ok(joined)
    }

    fn add(
        &mut self,
        place: usize,
        joined: Joined,
        placement: &Placement,
        members: &Path,
        reports: &mpsc::UnboundedSender<Heard>,
    ) {
        let Joined {
            hello,
            ready: FromAgent::Ready { address, dir, echo },
            outgoing,
            incoming,
            ..
        } = joined
        else {
            unreachable!("others were not let in");
        };
        let (to, orders) = mpsc::unbounded_channel();
        let (tells, news) = mpsc::unbounded_channel();
        let stops = Stops::default();
        let over = Arc::new(AtomicBool::new(false));
        let ear = Ear {
            host: place,
            reports: reports.clone(),
            news: tells,
            stops: Arc::clone(&stops),
            over: Arc::clone(&over),
            members: members.to_owned(),
            name: placement.hosts[place].clone(),
        };
        tokio::spawn(speak(outgoing, orders));
        tokio::spawn(ear.listen(incoming));
        self.hosts.push(Host {
            name: placement.hosts[place].clone(),
            hostname: hello.hostname,
            address,
            dir,
            echo,
            to,
            news,
            stops,
            before: None,
            after: None,
            zero: Moment::START,
            zero_here: Moment::START,
            lost: false,
            over,
        });
    }
}

impl Door {
    /// Has somebody say who he is, and lets him in if he is one of ours.
    async fn meet(&self, mut stream: TcpStream) -> Result<Arrival, String> {
        let mut handshake = Handshake::of_orchestrator(&self.secret);
        let hello = connection::hear::<Hello>(&mut stream, &mut handshake).await?;
        let hello = hello.ok_or("it hung up before it had told its name")?;
        let host = match self.place_of(&hello) {
            Ok(host) => host,
            Err(why) => {
                let refused = Answer::Refused(why.clone());
                connection::say(&mut stream, &mut handshake, &refused).await?;
                return Err(why);
            }
        };
        let joined = self.welcome(stream, handshake, host, hello).await;
        if joined.is_err() {
            self.taken()[host] = false;
        }
        joined
    }

    async fn welcome(
        &self,
        mut stream: TcpStream,
        mut handshake: Handshake,
        host: usize,
        hello: Hello,
    ) -> Result<Arrival, String> {
        let welcome = Answer::Welcome(self.welcomes[host].clone());
        connection::say(&mut stream, &mut handshake, &welcome).await?;
        let (outgoing, mut incoming) = connection::split(stream, handshake)?;
        // Only who has the keys of this handshake can say anything; a hello that was recorded cannot.
        let ready = incoming.next::<FromAgent>().await?;
        let ready = ready.ok_or("it hung up before it was ready")?;
        match ready {
            FromAgent::Ready { .. } | FromAgent::Failed(_) => {
                Ok(Arrival::Joined(Box::new(Joined {
                    host,
                    hello,
                    ready,
                    outgoing,
                    incoming,
                })))
            }
            other => Err(format!("it sent {other:?} before it was ready")),
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

fn welcomes(hosts: &Hosts, placement: &Placement) -> Vec<Welcome> {
    let names = placement.hosts.iter().enumerate();
    let welcomes = names.map(|(place, name)| Welcome {
        host: name.clone(),
        bind: hosts.reach.bind,
        ports: hosts.reach.ports,
        members: placement.members(place).count() as u32,
    });
    welcomes.collect()
}

/// Waits for agents on one of the ports that may be used.
async fn listen(hosts: &Hosts) -> Result<TcpListener, String> {
    let (first, last) = hosts.reach.ports.unwrap_or((0, 0));
    let addresses = match hosts.reach.listen {
        Some(address) => vec![address],
        // Both families, or the one that there is.
        None => vec![Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()],
    };
    let mut why = None;
    for port in first..=last {
        for address in &addresses {
            match TcpListener::bind((*address, port)).await {
                Ok(listener) => return Ok(listener),
                Err(error) => why = Some(error),
            }
        }
    }
    let why = why.unwrap_or_else(|| io::Error::other("there are no ports"));
    Err(format!("cannot wait for agents: {why}"))
}

/// Where agents may find this host: its addresses, loopback only where there is no other.
fn places(port: SocketAddr) -> Result<Vec<String>, String> {
    let place = |address: IpAddr| SocketAddr::new(address, port.port()).to_string();
    if !port.ip().is_unspecified() {
        return Ok(vec![port.to_string()]);
    }
    let all = if_addrs::get_if_addrs()
        .map_err(|error| format!("cannot list the addresses here: {error}"))?;
    let all = all.into_iter().map(|interface| interface.ip());
    let all = all.filter(|address| match address {
        IpAddr::V4(address) => !address.is_link_local(),
        // Those need the name of an interface, which is another one there.
        IpAddr::V6(address) => !address.is_unicast_link_local() && port.is_ipv6(),
    });
    let (loopback, others): (Vec<_>, Vec<_>) = all.partition(IpAddr::is_loopback);
    let usable = match others.is_empty() {
        true => loopback,
        false => others,
    };
    match usable.is_empty() {
        true => Err("this host has no address".to_owned()),
        false => Ok(usable.into_iter().map(place).collect()),
    }
}

/// Where a fresh secret is until all agents are there.
fn secret_file(members: &Path) -> PathBuf {
    members.join("agent.secret")
}

/// Says how agents join that somebody else starts.
fn invite(hosts: &Hosts, directions: &Directions<'_>) -> Result<(), EngineError> {
    let file = match &hosts.reach.secret {
        Some(file) => file.clone(),
        None => {
            let file = secret_file(directions.logs);
            let mut options = std::fs::OpenOptions::new();
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let written = options
                .write(true)
                .create_new(true)
                .open(&file)
                .and_then(|mut out| {
                    io::Write::write_all(&mut out, format!("{}\n", directions.secret).as_bytes())
                });
            written.map_err(|error| {
                EngineError::Testbed(format!("cannot write {}: {error}", file.display()))
            })?;
            file
        }
    };
    to_stderr(&format!(
        "Waiting for {} agents. Start one on each host:\n  orchestrator agent {} < {}\n",
        hosts.spec.hosts.len(),
        directions.places.join(" "),
        file.display()
    ));
    Ok(())
}
