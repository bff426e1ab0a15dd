//! Our members against what people use to let in one at a time, each with the same number of processes that
//! always want in, and measured alike.
//!
//! All take turns, round by round, so that whatever else the machine does hits all. A round is a second in which
//! everybody asks again the moment it has left, and does nothing inside. That asks for the most of a lock: with
//! work inside, what the hand-off takes matters less.

mod central;
mod contender;
mod etcd;
mod file;
mod postgres;
mod redis;
mod server;
mod subject;

pub(crate) use central::{SERVER, child as serve};
pub(crate) use contender::{CONTENDER, child as contend};
pub(crate) use subject::Peer;

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::run::Run;
use orchestrator::Failure;
use orchestrator::numbers::{count, decimal};
use orchestrator::table::Table;
use tempfile::TempDir;
use wire::Moment;

use self::contender::Place;
use self::server::Server;
use crate::comparison::{self, Comparison, Wanted, directory, median, sorted};
use crate::processes;

/// How long everybody contends in a round.
const TIME: Duration = Duration::from_secs(1);
/// How long contenders may take until all are ready, before the round begins.
const LEAD: Duration = Duration::from_millis(20);

/// What is measured, and how often.
pub(crate) struct Contest {
    pub(crate) members: usize,
    pub(crate) rounds: usize,
    /// Our algorithms.
    pub(crate) ours: Vec<&'static str>,
}

/// What one of those compared did in one round.
#[derive(Debug)]
struct Round {
    /// How often each process was inside.
    entries: Vec<u64>,
    /// How long each wait took, sorted.
    waits_ns: Vec<u64>,
    /// How often somebody was let in beside somebody else.
    overlaps: u64,
    /// Packets that the loopback device carried.
    packets: u64,
    seconds: f64,
}

/// One of those compared.
pub(crate) struct Standing {
    /// Which of the peers it is, if it is not ours.
    pub(crate) peer: Option<Peer>,
    what: String,
    version: String,
    rounds: Vec<Round>,
}

impl Round {
    fn entered(&self) -> u64 {
        self.entries.iter().sum()
    }

    fn per_second(&self) -> f64 {
        self.entered() as f64 / self.seconds
    }

    /// The wait that so many of a hundred did not exceed, in microseconds.
    fn wait_us(&self, percent: usize) -> f64 {
        let last = self.waits_ns.len().saturating_sub(1);
        let at = self.waits_ns.get(last * percent / 100);
        at.map_or(f64::NAN, |ns| *ns as f64 / 1e3)
    }

    /// Jain's index: 1 where all were inside equally often.
    fn jain(&self) -> f64 {
        let sum = self.entered() as f64;
        let squares: f64 = self.entries.iter().map(|n| (*n as f64).powi(2)).sum();
        sum * sum / (self.entries.len() as f64 * squares)
    }

    fn packets_per_entry(&self) -> f64 {
        self.packets as f64 / self.entered() as f64
    }
}

impl Standing {
    /// The median over the rounds of something of each.
    fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(&sorted(self.rounds.iter().map(of)))
    }

    fn overlaps(&self) -> u64 {
        self.rounds.iter().map(|round| round.overlaps).sum()
    }

    /// Hand-offs per second in each round.
    pub(crate) fn per_second(&self) -> Vec<f64> {
        self.rounds.iter().map(Round::per_second).collect()
    }
}

/// Somebody who can be asked to contend for a round.
enum Subject {
    Ours(&'static str),
    Peer(Peer, Server),
}

/// What became of a contest.
pub(crate) struct Contested {
    /// Ours first, in the order of the contest.
    pub(crate) standings: Vec<Standing>,
    /// What is not installed here.
    pub(crate) missing: Vec<&'static str>,
    /// Hops per second of a datagram round as many processes that do nothing else, in each round.
    pub(crate) hops: Vec<f64>,
}

/// Measures everybody who is there, in turns. What is not installed is told, and left out.
pub(crate) fn measure(
    contest: &Contest,
    this: &Path,
    interrupted: &AtomicBool,
    note: &dyn Fn(&str),
) -> Result<Contested, Failure> {
    let place = directory()?;
    let mut subjects = Vec::new();
    let mut missing = Vec::new();
    for &algorithm in &contest.ours {
        subjects.push((Subject::Ours(algorithm), algorithm.to_owned(), this_build()));
    }
    for peer in Peer::ALL {
        note(&format!("starting: {}", peer.what()));
        let dir = place.path().join(peer.word());
        fs::create_dir(&dir).map_err(|error| failed(peer, &error))?;
        match Server::start(peer, this, &dir).map_err(|error| failed(peer, &error))? {
            Some(server) => {
                let version = server.version.clone();
                let what = peer.what().to_owned();
                subjects.push((Subject::Peer(peer, server), what, version));
            }
            None => missing.push(peer.what()),
        }
    }
    let mut rounds = subjects.iter().map(|_| Vec::new()).collect::<Vec<_>>();
    let mut hops = Vec::new();
    for nth in 1..=contest.rounds {
        note(&format!("a bare ring, {nth} of {}", contest.rounds));
        hops.push(processes::ring(this, contest.members, &[])?);
        for ((subject, what, _), rounds) in subjects.iter().zip(&mut rounds) {
            note(&format!("{what}, {nth} of {}", contest.rounds));
            let packets = packets();
            let round = match subject {
                Subject::Ours(algorithm) => ours(algorithm, contest.members, this, interrupted)?,
                Subject::Peer(peer, server) => theirs(*peer, server, contest.members, this)
                    .map_err(|error| failed(*peer, &error))?,
            };
            rounds.push(Round {
                packets: self::packets().saturating_sub(packets),
                ..round
            });
        }
    }
    let standings = subjects.into_iter().zip(rounds);
    let standings = standings.map(|((subject, what, version), rounds)| Standing {
        peer: match subject {
            Subject::Ours(_) => None,
            Subject::Peer(peer, _) => Some(peer),
        },
        what,
        version,
        rounds,
    });
    Ok(Contested {
        standings: standings.collect(),
        missing,
        hops,
    })
}

fn failed(peer: Peer, error: &io::Error) -> Failure {
    Failure::Testbed(format!("{}: {error}", peer.what()))
}

/// What is ours, as the table names its version.
fn this_build() -> String {
    format!("Turnstile {}", env!("CARGO_PKG_VERSION"))
}

/// A round of our members.
fn ours(
    algorithm: &str,
    members: usize,
    this: &Path,
    interrupted: &AtomicBool,
) -> Result<Round, Failure> {
    let time = format!("{}ms", TIME.as_millis());
    let nodes = members.to_string();
    let flags = [
        "-n",
        &nodes,
        "--think",
        "0",
        "--hold",
        "0",
        "--duration",
        &time,
    ];
    let run = processes::run(this, interrupted, algorithm, &flags)?;
    Ok(round_of(&run, members))
}

/// What the records of a run say, of those who were inside while everybody contended.
fn round_of(run: &Run, members: usize) -> Round {
    let mut entries = vec![0; members];
    let (mut waits_ns, mut overlaps) = (Vec::new(), 0);
    for request in &run.requests {
        let end_ns = TIME.as_nanos() as u64;
        let entered = request.entered_ns.filter(|at_ns| *at_ns < end_ns);
        if let Some(entered_ns) = entered {
            entries[request.node.index()] += 1;
            waits_ns.push(entered_ns - request.arrived_ns);
            overlaps += u64::from(request.witness_refused);
        }
    }
    waits_ns.sort_unstable();
    Round {
        entries,
        waits_ns,
        overlaps,
        packets: 0,
        seconds: TIME.as_secs_f64(),
    }
}

/// A round of processes that contend for somebody else's lock.
fn theirs(peer: Peer, server: &Server, members: usize, this: &Path) -> io::Result<Round> {
    let dir = TempDir::new()?;
    let places = (0..members).map(|me| Place {
        peer,
        at: server.at.clone(),
        me,
        dir: dir.path().to_owned(),
        parent: std::process::id(),
    });
    let places = places.collect::<Vec<_>>();
    let contenders = places.iter().map(|place| Contender::start(this, place));
    let mut contenders = contenders.collect::<io::Result<Vec<_>>>()?;
    for contender in &mut contenders {
        contender.line()?;
    }
    let begin = Moment::now().plus_ns(LEAD.as_nanos() as u64);
    let end = begin.plus_ns(TIME.as_nanos() as u64);
    let [begin, end] = [begin, end].map(|moment| moment.since(Moment::START));
    for contender in &mut contenders {
        contender.tell(&format!("{begin} {end}\n"))?;
    }
    let (mut entries, mut waits_ns, mut overlaps) = (Vec::new(), Vec::new(), 0);
    for (contender, place) in contenders.iter_mut().zip(&places) {
        let line = contender.line()?;
        overlaps += line.trim().parse::<u64>().map_err(io::Error::other)?;
        let bytes = fs::read(place.waits())?;
        let waits = bytes.chunks_exact(4).flat_map(<[u8; 4]>::try_from);
        let waits = waits.map(|wait| u64::from(u32::from_le_bytes(wait)));
        let before = waits_ns.len();
        waits_ns.extend(waits);
        entries.push((waits_ns.len() - before) as u64);
    }
    waits_ns.sort_unstable();
    Ok(Round {
        entries,
        waits_ns,
        overlaps,
        packets: 0,
        seconds: TIME.as_secs_f64(),
    })
}

/// A process that contends; it is ended when this is dropped.
struct Contender {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Contender {
    fn start(this: &Path, place: &Place) -> io::Result<Self> {
        let mut child = Command::new(this)
            .args(place.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        Ok(Self {
            child,
            stdout: BufReader::new(stdout),
        })
    }

    fn tell(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.child.stdin.as_mut().expect("stdin is a pipe");
        stdin.write_all(line.as_bytes())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line)? {
            0 => Err(io::Error::other(
                "a contender ended; what it printed is above",
            )),
            _ => Ok(line),
        }
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many packets the loopback device has carried so far; 0 where the kernel does not say.
fn packets() -> u64 {
    let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let line = devices
        .lines()
        .find_map(|line| line.trim().strip_prefix("lo:"));
    let packets = line.and_then(|line| line.split_whitespace().nth(1));
    packets.and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Contested {
    /// What is wanted of the first of ours.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        let Some(ours) = self.standings.first() else {
            return Vec::new();
        };
        let against = |what: &str, limits: Vec<f64>, least| Comparison {
            what: format!("{} against {what}", ours.what),
            unit: "entries/s",
            pairs: ours.per_second().into_iter().zip(limits).collect(),
            wanted: Wanted::AtLeast(least),
        };
        let of = |peer| self.standings.iter().find(|one| one.peer == Some(peer));
        let redis = of(Peer::RedisToken);
        let redis = redis.map(|redis| against(redis.what.as_str(), redis.per_second(), 2.0));
        let bare = of(Peer::Central);
        let bare = bare.map(|bare| against(bare.what.as_str(), bare.per_second(), 0.85));
        let ring = against("the hops of a bare ring", self.hops.clone(), 0.65);
        let fair = Comparison {
            what: format!("{}: Jain's index", ours.what),
            unit: "per thousand",
            pairs: ours
                .rounds
                .iter()
                .map(|round| (round.jain() * 1e3, 1e3))
                .collect(),
            wanted: Wanted::AtLeast(0.99),
        };
        redis.into_iter().chain(bare).chain([ring, fair]).collect()
    }

    /// Whether nobody was ever let in beside somebody else, ours or not.
    pub(crate) fn is_safe(&self) -> bool {
        self.standings.iter().all(|one| one.overlaps() == 0)
    }

    /// The standings as a table, and what is not in it.
    pub(crate) fn show(&self, markdown: bool) -> String {
        let mut table = Table::new([
            "what",
            "entries/s",
            "range",
            "wait p50",
            "wait p99",
            "packets per entry",
            "Jain",
            "overlaps",
            "version",
        ]);
        for standing in &self.standings {
            let rates = sorted(standing.per_second().into_iter());
            let (least, most) = (rates[0], rates[rates.len() - 1]);
            let us = |percent| {
                let us = standing.median(|round| round.wait_us(percent));
                format!("{} µs", decimal(us, 0))
            };
            table.row([
                &standing.what,
                &count(median(&rates) as u64),
                &format!("{}..{}", count(least as u64), count(most as u64)),
                &us(50),
                &us(99),
                &decimal(standing.median(Round::packets_per_entry), 1),
                &decimal(standing.median(Round::jain), 3),
                &count(standing.overlaps()),
                &standing.version,
            ]);
        }
        let mut text = table.shown(markdown);
        if !self.missing.is_empty() {
            text += &format!("\nNot installed here: {}.\n", self.missing.join("; "));
        }
        text
    }

    /// The page of the reference results.
    pub(crate) fn page(&self, contest: &Contest, comparisons: &[Comparison]) -> String {
        let processors = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        format!(
            "# Our members and other locks

For people who compare. Made by `bench locks --write results/reference/locks.md` on {processors} processors, commit {commit}.

Each row is {members} processes that always want in and do nothing inside, for {rounds} rounds of {seconds} s in which all rows
take turns. Numbers are medians over the rounds. A wait is from asking to being inside; packets are those of the
loopback device, TCP's acknowledgements among them; Jain's index is 1 where all were inside equally often. An overlap
is an entry beside somebody else, seen by a word in memory that all processes of a row share.

Clients of the bare server and of Redis' token say in one packet that they leave and want in again, as our members do.
Redis saves nothing and PostgreSQL does not wait for the disk; etcd does, twice for every entry. With flock whoever
leaves is often in again before anybody else has noticed.

{table}
Wanted of the first row, as medians of the ratios of each round:

{wanted}",
            commit = orchestrator::commit().as_deref().unwrap_or("unknown"),
            members = contest.members,
            rounds = contest.rounds,
            seconds = TIME.as_secs(),
            table = self.show(true),
            wanted = comparison::shown(comparisons, true),
        )
    }
}
