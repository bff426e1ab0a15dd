//! An agent: for its host what the orchestrator is for its own.
//!
//! It is this program, started on a host by whatever engine people have (ssh, Slurm, …). It connects to
//! the orchestrator, starts the members of its host and the proxy that stands on their side, passes on
//! what they say and are told, delivers signals, and sends what they recorded when the run is over. The
//! processes depend on it, and it depends on its connection: when that ends, it ends them all, and removes
//! what they left.
//!
//! ```text
//!   orchestrator ◄═ one sealed connection ═► agent ◄─ stdin, stdout ─► members, proxy
//! ```

pub(crate) mod cleaner;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream, UdpSocket, lookup_host};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, sleep, timeout};
use wire::{Bind, Moment, Overflows};

use crate::THIS_PROGRAM;
use crate::child::{Ended, Launcher, Process, Raw};
use crate::connection::{self, BEAT, HANDSHAKE, Incoming, Outgoing};
use crate::limits;
use crate::sealed::{Handshake, Secret};
use cleaner::Cleaner;
use words::{Answer, FromAgent, Hello, Probed, ToAgent, Welcome, Who};

/// How an agent is started.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Where the orchestrator may be, HOST:PORT each; the first that answers is it.
    pub orchestrator: Vec<String>,
    /// What this host is called in the run, if it was given a name.
    pub name: Option<String>,
    /// Version and commit of this program.
    pub build: String,
    /// How long the orchestrator is looked for.
    pub within: Duration,
}

/// How long one address is tried.
const TRY: Duration = Duration::from_secs(3);
/// How often the processes are looked at, whether somebody has stopped them.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many bytes of a file are sent at a time.
const FILE_PIECE: usize = 1 << 18;

impl Agent {
    /// Is the agent of this host until the run is over. Must be called on the main thread, which is the
    /// one the members depend on. The error says why the run cannot go on here.
    pub fn run(&self, secret: &str) -> Result<(), String> {
        let secret = Secret::from_text(secret)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start a runtime: {error}"))?;
        runtime.block_on(async {
            let stream = self.connect().await?;
            let reached_from = stream.local_addr().map_err(|error| error.to_string())?;
            let joined = timeout(HANDSHAKE, self.join(stream, &secret)).await;
            let (mut outgoing, incoming, welcome) = joined.map_err(|_| {
                format!("what was reached did not answer as an orchestrator within {HANDSHAKE:?}")
            })??;
            match Post::prepare(&welcome, reached_from.ip()).await {
                Ok(post) => post.serve(outgoing, incoming).await,
                Err(why) => {
                    // The orchestrator says it to its user; if it is gone, nobody wants to know.
                    let _ = outgoing.send(&FromAgent::Failed(why.clone())).await;
                    Err(why)
                }
            }
        })
    }

    /// Reaches the orchestrator.
    async fn connect(&self) -> Result<TcpStream, String> {
        let deadline = Instant::now() + self.within;
        loop {
            let mut whys = Vec::new();
            for place in &self.orchestrator {
                match reach(place).await {
                    Ok(stream) => return Ok(stream),
                    Err(why) => whys.push(format!("{place}: {why}")),
                }
            }
            if Instant::now() >= deadline {
                let whys = whys.join("; ");
                return Err(format!("cannot reach the orchestrator: {whys}"));
            }
            // It, or the name that leads to it, may not be there yet.
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Proves to know the secret, says who it is, and hears whether it is one of the run's.
    async fn join(
        &self,
        mut stream: TcpStream,
        secret: &Secret,
    ) -> Result<(Outgoing, Incoming, Welcome), String> {
        let mut handshake = Handshake::of_agent(secret);
        connection::say_handshake(&mut stream, &mut handshake).await?;
        let heard = connection::hear_handshake(&mut stream, &mut handshake).await;
        heard.map_err(|why| {
            format!("the orchestrator hung up: the join secret is not that of its run ({why})")
        })?;
        let (mut outgoing, mut incoming) = connection::split(stream, handshake)?;
        let hello = Hello {
            build: self.build.clone(),
            name: self.name.clone(),
            hostname: hostname(),
        };
        let said = outgoing.send(&hello).await;
        said.map_err(|error| error.to_string())?;
        match incoming.next::<Answer>().await? {
            Some(Answer::Welcome(welcome)) => Ok((outgoing, incoming, welcome)),
            Some(Answer::Refused(why)) => Err(format!("the orchestrator says: {why}")),
            None => Err("the orchestrator hung up".to_owned()),
        }
    }
}

async fn reach(place: &str) -> Result<TcpStream, String> {
    let addresses = lookup_host(place)
        .await
        .map_err(|error| error.to_string())?;
    let mut why = "it has no address".to_owned();
    for address in addresses {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        };
        let socket = socket.map_err(|error| error.to_string())?;
        match timeout(TRY, socket.connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => why = format!("no answer within {TRY:?}"),
        }
    }
    Err(why)
}

/// What this host calls itself.
pub(crate) fn hostname() -> String {
    // Slurm knows its nodes by names of its own.
    let by_slurm = std::env::var("SLURMD_NODENAME").ok();
    let by_kernel = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = by_slurm.unwrap_or_else(by_kernel);
    name.trim().to_owned()
}

/// An agent that has been let in, and its processes.
struct Post {
    dir: TempDir,
    /// Removes the directory if this process cannot; dropped after it.
    _cleaner: Cleaner,
    launcher: Launcher,
    address: IpAddr,
    ports: Option<(u16, u16)>,
    processes: BTreeMap<Who, Process>,
    /// What the processes say.
    heard: mpsc::UnboundedReceiver<(Who, Raw)>,
    hear: mpsc::UnboundedSender<(Who, Raw)>,
    /// Sends back what comes to it, for those who want to know whether they reach this host.
    echo: SocketAddr,
    echoes: tokio::task::JoinHandle<()>,
}

impl Post {
    /// Everything that members need here.
    async fn prepare(welcome: &Welcome, reached_from: IpAddr) -> Result<Self, String> {
        let address = match welcome.bind {
            None => reached_from,
            Some(network) if network.contains(reached_from) => reached_from,
            Some(network) => {
                let all = if_addrs::get_if_addrs()
                    .map_err(|error| format!("cannot list the addresses here: {error}"))?;
                let mut all = all.into_iter().map(|interface| interface.ip());
                all.find(|address| network.contains(*address))
                    .ok_or_else(|| format!("--bind: no address here lies in {network}"))?
            }
        };
        limits::allow(welcome.members as usize, true).map_err(|error| error.to_string())?;
        let dir = tempfile::Builder::new()
            .prefix(cleaner::PREFIX)
            .tempdir()
            .map_err(|error| {
                let place = std::env::temp_dir();
                format!("cannot make a directory in {}: {error}", place.display())
            })?;
        let cleaner = Cleaner::start(dir.path())
            .map_err(|error| format!("cannot start what clears up after this agent: {error}"))?;
        let members = dir.path().join("members");
        fs::create_dir(&members)
            .map_err(|error| format!("cannot make {}: {error}", members.display()))?;
        let (hear, heard) = mpsc::unbounded_channel();
        // What the launcher itself would report nobody listens to here: lines are passed on unread.
        let (reports, _) = mpsc::unbounded_channel();
        let cannot = |error: io::Error| format!("cannot open a socket on {address}: {error}");
        let socket = bind_udp(address, welcome.ports).await.map_err(cannot)?;
        let echo = socket.local_addr().map_err(cannot)?;
        Ok(Self {
            launcher: Launcher {
                executable: THIS_PROGRAM.into(),
                members,
                reports,
                cores: Vec::new(),
            },
            dir,
            _cleaner: cleaner,
            address,
            ports: welcome.ports,
            processes: BTreeMap::new(),
            heard,
            hear,
            echo,
            echoes: tokio::spawn(echo_all(socket)),
        })
    }

    /// Does what it is told until the run is over, or nobody is left to tell it.
    async fn serve(mut self, outgoing: Outgoing, incoming: Incoming) -> Result<(), String> {
        let (says, queued) = mpsc::channel(64);
        let (tells, mut told) = mpsc::channel(64);
        let writer = tokio::spawn(write(outgoing, queued));
        let reader = tokio::spawn(read(incoming, tells));
        let ready = FromAgent::Ready {
            address: self.address,
            dir: self.dir.path().to_owned(),
            echo: self.echo,
        };
        let mut alive = says.send(ready).await.is_ok();
        let (mut beat, mut look) = (interval(BEAT), interval(LOOK_EVERY));
        let mut signals = Signals::catch()?;
        let mut over = Err("the orchestrator is gone".to_owned());
        while alive {
            tokio::select! {
                order = told.recv() => match order {
                    Some(Ok(ToAgent::End)) => {
                        over = Ok(());
                        break;
                    }
                    Some(Ok(order)) => alive = self.obey(order, &says).await,
                    Some(Err(why)) => {
                        over = Err(format!("the orchestrator is gone: {why}"));
                        break;
                    }
                    None => break,
                },
                Some((who, raw)) = self.heard.recv() => {
                    alive = says.send(self.pass_on(who, raw)).await.is_ok();
                }
                _ = look.tick() => alive = self.look(&says).await,
                () = signals.any() => {
                    over = Err("a signal ended this agent".to_owned());
                    break;
                }
                _ = beat.tick() => alive = says.send(FromAgent::Beat).await.is_ok(),
            }
        }
        self.end_all().await;
        reader.abort();
        // Its end of the connection closes when everything is gone here.
        drop(says);
        let _ = timeout(BEAT, writer).await;
        over
    }

    /// Does what it is told; says whether the orchestrator is still there.
    async fn obey(&mut self, order: ToAgent, says: &mpsc::Sender<FromAgent>) -> bool {
        let answer = match order {
            ToAgent::Beat | ToAgent::End => return true,
            ToAgent::Clock => FromAgent::Clock(Moment::now()),
            ToAgent::Start { who, port } => match self.start(who, port) {
                Ok(()) => return true,
                Err(error) => FromAgent::Ended {
                    who,
                    status: Err(format!("it could not be started: {error}")),
                    stderr_end: String::new(),
                },
            },
            ToAgent::Tell { who, line } => {
                if let Some(process) = self.processes.get(&who) {
                    process.tell_line(line.into());
                }
                return true;
            }
            ToAgent::Signal { who, signal } => {
                let process = self.processes.get(&who);
                if let Some((process, signal)) = process.zip(Signal::from_named_raw(signal)) {
                    process.signal(signal);
                }
                return true;
            }
            ToAgent::Overflows(sockets) => {
                let overflows = Overflows::read().unwrap_or_default();
                let counts = sockets.iter().map(|socket| overflows.at(*socket));
                FromAgent::Overflows(counts.collect())
            }
            ToAgent::Probe(others) => {
                let (from, ports, says) = (self.address, self.ports, says.clone());
                // It takes long where nothing comes back, and the rest must go on.
                tokio::spawn(async move {
                    let probed = probe(from, ports, &others).await;
                    drop(says.send(FromAgent::Probed(probed)).await);
                });
                return true;
            }
            ToAgent::Records => return self.send_records(says).await,
        };
        says.send(answer).await.is_ok()
    }

    fn start(&mut self, who: Who, port: u16) -> io::Result<()> {
        let hear = self.hear.clone();
        let hear = move |raw| drop(hear.send((who, raw)));
        let place = Bind {
            address: self.address,
            ports: self.ports,
        };
        let process = match who {
            Who::Member { node, incarnation } => {
                let launcher = &self.launcher;
                launcher.start_member(node, incarnation, port, Some(place), hear)
            }
            Who::Proxy => self.launcher.start_proxy("chaos", None, hear),
        };
        self.processes.insert(who, process?);
        Ok(())
    }

    fn pass_on(&mut self, who: Who, raw: Raw) -> FromAgent {
        match raw {
            Raw::Line(line) => FromAgent::Line { who, line },
            Raw::Ended(Ended { status, stderr_end }) => {
                if let Some(process) = self.processes.remove(&who) {
                    // What its program started, and took out of its process group.
                    external::sandbox::end_programs_of(process.id());
                }
                FromAgent::Ended {
                    who,
                    status: status
                        .map(ExitStatusExt::into_raw)
                        .map_err(|error| error.to_string()),
                    stderr_end,
                }
            }
        }
    }

    /// Says which processes somebody has stopped, or has let go on.
    async fn look(&self, says: &mpsc::Sender<FromAgent>) -> bool {
        for (who, process) in &self.processes {
            if let Some(stopped) = process.stopped() {
                let stopped = FromAgent::Stopped { who: *who, stopped };
                if says.send(stopped).await.is_err() {
                    return false;
                }
            }
        }
        true
    }

    /// Sends every file that the processes left.
    async fn send_records(&self, says: &mpsc::Sender<FromAgent>) -> bool {
        let (mut files, mut all) = (0, 0);
        let sent = async {
            for file in fs::read_dir(&self.launcher.members)? {
                let file = file?;
                let name = file.file_name().to_string_lossy().into_owned();
                if name.starts_with(node::WITNESS_FILES) {
                    continue;
                }
                files += 1;
                all += send_file(&file.path(), &name, says).await?;
            }
            Ok::<_, io::Error>(())
        };
        let done = match sent.await {
            Ok(()) => FromAgent::AllFiles { files, bytes: all },
            Err(error) => FromAgent::Failed(format!("cannot read the records: {error}")),
        };
        says.send(done).await.is_ok()
    }

    /// Ends every process, and waits until all are reaped.
    async fn end_all(&mut self) {
        self.echoes.abort();
        for process in self.processes.values() {
            process.signal(Signal::KILL);
        }
        let deadline = Instant::now() + Duration::from_secs(2);
        while !self.processes.is_empty() {
            // Those that not even this ends cannot be helped.
            let heard = tokio::time::timeout_at(deadline, self.heard.recv()).await;
            let Ok(Some((who, raw))) = heard else { break };
            drop(self.pass_on(who, raw));
        }
    }
}

/// Signals that ask this process to end, so that it can do so in good order.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn catch() -> Result<Self, String> {
        let catch =
            |kind| signal(kind).map_err(|error| format!("cannot watch for signals: {error}"));
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            hang_up: catch(SignalKind::hangup())?,
            terminate: catch(SignalKind::terminate())?,
        })
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

async fn send_file(path: &Path, name: &str, says: &mpsc::Sender<FromAgent>) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut all = 0;
    loop {
        let mut bytes = Vec::new();
        file.by_ref()
            .take(FILE_PIECE as u64)
            .read_to_end(&mut bytes)?;
        if bytes.is_empty() && all > 0 {
            return Ok(all);
        }
        let last = bytes.is_empty();
        all += bytes.len() as u64;
        let piece = FromAgent::File {
            name: name.to_owned(),
            bytes,
        };
        // The orchestrator being gone is noticed elsewhere.
        if says.send(piece).await.is_err() || last {
            return Ok(all);
        }
    }
}

async fn write(mut outgoing: Outgoing, mut queued: mpsc::Receiver<FromAgent>) {
    while let Some(message) = queued.recv().await {
        if outgoing.send(&message).await.is_err() {
            break;
        }
    }
}

async fn read(mut incoming: Incoming, tells: mpsc::Sender<Result<ToAgent, String>>) {
    loop {
        let order = match incoming.next().await {
            Ok(Some(order)) => Ok(order),
            Ok(None) => return,
            Err(why) => Err(why),
        };
        let last = order.is_err();
        if tells.send(order).await.is_err() || last {
            return;
        }
    }
}

/// A UDP socket on this address, on one of these ports.
async fn bind_udp(address: IpAddr, ports: Option<(u16, u16)>) -> io::Result<UdpSocket> {
    let (first, last) = ports.unwrap_or((0, 0));
    let mut taken = None;
    for port in first..=last {
        match UdpSocket::bind((address, port)).await {
            Ok(socket) => return Ok(socket),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::Error::other("there are no ports")))
}

/// What a probe begins with; anything else is not sent back.
const PROBE: &[u8] = b"turnstile probe ";

async fn echo_all(socket: UdpSocket) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut bytes).await else {
            // Somebody's port was closed; that says nothing of this one.
            continue;
        };
        // No more goes back than came, so nobody is flooded in another's name.
        if bytes[..length].starts_with(PROBE) {
            let _ = socket.send_to(&bytes[..length], from).await;
        }
    }
}

/// How often an address is probed with short datagrams.
const PROBES: u32 = 20;
/// The lengths of datagrams by which the longest is found that passes in one piece: those of 576 and 1,280
/// bytes, of an Ethernet, and of large frames, all less the headers of IPv6 and UDP.
const LENGTHS: [usize; 5] = [528, 1_232, 1_372, 1_452, 8_952];

/// Sends datagrams to each address, and counts what comes back.
async fn probe(from: IpAddr, ports: Option<(u16, u16)>, others: &[SocketAddr]) -> Vec<Probed> {
    let mut all = Vec::new();
    for other in others {
        let mut found = Probed::default();
        if let Ok(socket) = bind_udp(from, ports).await {
            set_whole(&socket);
            for n in 0..PROBES {
                found.sent += 1;
                if let Some(ns) = round_trip(&socket, *other, n, 64).await {
                    found.back += 1;
                    let shortest = found.shortest_ns.unwrap_or(u64::MAX);
                    found.shortest_ns = Some(shortest.min(ns));
                } else if n >= 4 && found.back == 0 {
                    break;
                }
            }
            for (n, length) in LENGTHS.into_iter().enumerate() {
                let number = PROBES + n as u32;
                if found.back > 0 && round_trip(&socket, *other, number, length).await.is_some() {
                    found.longest = length as u32;
                }
            }
        }
        all.push(found);
    }
    all
}

/// Has datagrams travel in one piece or not at all.
fn set_whole(socket: &UdpSocket) {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    };
    // Where that cannot be asked for, the length found is that of a datagram in pieces.
    let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE);
    let _ = set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE);
}

async fn round_trip(socket: &UdpSocket, to: SocketAddr, n: u32, length: usize) -> Option<u64> {
    const WAIT: Duration = Duration::from_millis(200);
    let mut probe = [PROBE, &n.to_be_bytes()].concat();
    probe.resize(length, 0);
    let sent = Moment::now();
    socket.send_to(&probe, to).await.ok()?;
    let mut bytes = vec![0; length + 1];
    let back = timeout(WAIT, async {
        loop {
            // A port that is closed is an answer, too, and no echo.
            let (read, from) = socket.recv_from(&mut bytes).await.ok()?;
            if from == to && bytes[..read] == probe {
                return Some(Moment::now().since(sent));
            }
        }
    });
    back.await.ok().flatten()
}
