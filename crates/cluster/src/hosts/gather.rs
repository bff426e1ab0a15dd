//! Gathering the agents of a run: they are started, or invited, and awaited.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::engine::{EngineError, Observer, Progress};
use model::plan::Placement;
use safe_io::{input, to_stderr};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, sleep};
use wire::Moment;

use super::door::{Arrival, Crowd, Door, Joined};
use super::spec::HostEngine;
use super::start::{Directions, start_all};
use super::{Ear, Fleet, Host, Hosts, Stops, speak};
use crate::agent::words::{FromAgent, Welcome};
use crate::child::Heard;
use crate::sealed::Secret;

/// How often starters and Ctrl-C are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many strangers at the door are told of one by one; the others are counted.
const STRANGERS_TOLD: u32 = 5;

impl Fleet {
    /// Starts an agent on every host, and waits until all are there.
    pub(crate) async fn gather(
        hosts: &Hosts,
        placement: &Placement,
        members: &Path,
        reports: &mpsc::UnboundedSender<Heard>,
        observer: &mut dyn Observer,
    ) -> Result<Self, EngineError> {
        let (secret, text) = match &hosts.reach.secret {
            None => Secret::fresh().map_err(EngineError::Testbed)?,
            Some(file) => {
                let wrong =
                    |why: String| EngineError::Plan(format!("--secret {}: {why}", file.display()));
                let text = input::read_text(file).map_err(|error| wrong(error.to_string()))?;
                let line = text.lines().next().unwrap_or_default().to_owned();
                (Secret::from_text(&line).map_err(wrong)?, line)
            }
        };
        let listener = listen(hosts).await.map_err(EngineError::Testbed)?;
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
        let starters = start_all(hosts, &directions)
            .await
            .map_err(EngineError::Testbed)?;
        let mut fleet = Self {
            hosts: Vec::new(),
            starters,
            ports: hosts.reach.ports,
        };
        let door = Door {
            secret,
            build: hosts.build.clone(),
            welcomes: welcomes(hosts, placement),
            taken: Mutex::new(vec![false; placement.hosts.len()]),
        };
        let post = Post {
            names: &placement.hosts,
            members,
            reports,
        };
        let gathered = fleet
            .let_in(hosts.reach.within, door, &listener, &post, observer)
            .await;
        // It is there where somebody else starts the agents, and nobody needs it any more.
        let _ = std::fs::remove_file(secret_file(members));
        match gathered {
            Ok(()) => Ok(fleet),
            Err(why) => {
                // Those that are there already must not stay.
                fleet.end().await;
                Err(why)
            }
        }
    }

    /// Lets agents in until every host has one. Those that came early are kept company meanwhile, so that
    /// they do not take the orchestrator for lost.
    async fn let_in(
        &mut self,
        within: Duration,
        door: Door,
        listener: &TcpListener,
        post: &Post<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), EngineError> {
        let mut joined = BTreeMap::new();
        let (arrives, mut arrivals) = mpsc::unbounded_channel();
        let mut crowd = Crowd::new(door, arrives);
        let mut strangers = 0;
        let mut look = interval(LOOK_EVERY);
        let deadline = Instant::now() + within;
        let mut failed = Ok(());
        while joined.len() < post.names.len() && failed.is_ok() {
            tokio::select! {
                stream = listener.accept() => match stream {
                    Ok((stream, from)) => crowd.knocks(stream, from),
                    // Files may be short while many strangers knock; that passes.
                    Err(error) => {
                        strangers += 1;
                        tell_of_stranger(strangers, &format!("nobody could be let in: {error}"), observer);
                        sleep(LOOK_EVERY).await;
                    }
                },
                Some(arrival) = arrivals.recv() => match arrival {
                    Arrival::Joined(one) => failed = post.take_up(*one, &mut joined),
                    // An agent that somebody else started may try again; those we started will end.
                    Arrival::Refused(why) => {
                        observer.warning(&format!("an agent was refused. {why}."));
                    }
                    Arrival::Stranger(what) => {
                        strangers += 1;
                        tell_of_stranger(strangers, &what, observer);
                    }
                },
                _ = look.tick() => {
                    let interrupted = observer.progress(Progress::default()).is_break();
                    failed = match interrupted {
                        true => testbed("interrupted before all hosts were there".to_owned()),
                        false => self.look_after(post.names, &joined, deadline, within),
                    };
                }
            }
        }
        if strangers > STRANGERS_TOLD {
            let more = strangers - STRANGERS_TOLD;
            observer.warning(&format!(
                "{more} more strangers were turned away at the port for agents."
            ));
        }
        self.hosts = joined.into_values().collect();
        failed
    }

    /// Whether those that have come are still there, and the others may still come.
    fn look_after(
        &mut self,
        names: &[String],
        joined: &BTreeMap<usize, Host>,
        deadline: Instant,
        within: Duration,
    ) -> Result<(), EngineError> {
        if let Some(host) = joined.values().find(|host| host.news.is_closed()) {
            let name = &host.name;
            return testbed(format!(
                "host {name} is lost: its agent ended before the others had come"
            ));
        }
        for starter in &mut self.starters {
            let awaited = starter.hosts.iter();
            let awaited = awaited.copied().find(|host| !joined.contains_key(host));
            if let (Some(host), Some(status)) = (awaited, starter.ended()) {
                return testbed(starter.failure(&names[host], status));
            }
        }
        if Instant::now() < deadline {
            return Ok(());
        }
        let missing = (0..names.len()).filter(|host| !joined.contains_key(host));
        let missing = missing.map(|host| names[host].as_str());
        let missing = missing.collect::<Vec<_>>().join(", ");
        testbed(format!("no agent came from {missing} within {within:?}"))
    }
}

fn testbed(why: String) -> Result<(), EngineError> {
    Err(EngineError::Testbed(why))
}

/// Says what a stranger did, unless there have been many.
fn tell_of_stranger(nth: u32, what: &str, observer: &mut dyn Observer) {
    if nth <= STRANGERS_TOLD {
        observer.warning(&format!("a stranger was turned away. {what}."));
    }
}

/// What is made of an agent that was let in.
struct Post<'a> {
    names: &'a [String],
    /// Where records are stored.
    members: &'a Path,
    reports: &'a mpsc::UnboundedSender<Heard>,
}

impl Post<'_> {
    /// Speaks with it from now on.
    fn take_up(
        &self,
        joined: Joined,
        hosts: &mut BTreeMap<usize, Host>,
    ) -> Result<(), EngineError> {
        let Joined {
            host: place,
            hello,
            ready,
            outgoing,
            incoming,
        } = joined;
        let name = self.names[place].clone();
        let (address, dir, echo) = match ready {
            FromAgent::Ready { address, dir, echo } => (address, dir, echo),
            FromAgent::Failed(why) => {
                return testbed(format!("host {name} cannot take part: {why}"));
            }
            other => return testbed(format!("the agent on {name} said {other:?} at first")),
        };
        let (to, orders) = mpsc::unbounded_channel();
        let (tells, news) = mpsc::unbounded_channel();
        let stops = Stops::default();
        let over = Arc::new(AtomicBool::new(false));
        let ear = Ear {
            host: place,
            reports: self.reports.clone(),
            news: tells,
            stops: Arc::clone(&stops),
            over: Arc::clone(&over),
            members: self.members.to_owned(),
            name: name.clone(),
        };
        tokio::spawn(speak(outgoing, orders));
        tokio::spawn(ear.listen(incoming));
        let host = Host {
            name,
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
        };
        hosts.insert(place, host);
        Ok(())
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
        std::path::absolute(&file).unwrap_or(file).display()
    ));
    Ok(())
}
