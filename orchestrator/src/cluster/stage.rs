//! All members of a run, from launch to finish.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use algorithms::NodeId;
use node::conductor::{Conductor, Settled};
use node::control::{Order, Report, Start};
use node::frame::Key;
use node::run::{End, FaultRow, StateBytes, UsageRow};
use node::runtime::monotonic_ns;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Cluster;
use super::child::{Child, Heard, Launcher, Voice, last_lines};
use super::settled::{Finding, Rounds};
use crate::Failure;

/// How long all members together may take to say hello, to be ready, or to finish.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MEMBER: Duration = Duration::from_millis(20);
/// How often the group is asked whether it still moves, while it may.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// The same where a conductor waits for the answer.
const CONDUCT_EVERY: Duration = Duration::from_micros(500);
/// How often an interruption is noticed.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);
/// More messages per member than this since the last entry is a live-lock.
const LIVELY: u64 = 1_000;

/// The members and what is known of them.
pub(super) struct Stage<'a> {
    cluster: &'a Cluster<'a>,
    launcher: Launcher,
    heard: mpsc::UnboundedReceiver<Heard>,
    places: Vec<Place>,
    /// Moment zero on the monotonic clock, once the run has begun.
    zero_ns: u64,
    conductor: Option<Conductor>,
    rounds: Rounds,
    ask_at: Instant,
    /// Messages sent up to the last entry that was seen.
    sent_at_entry: u64,
    entries: u64,
    faults: Vec<FaultRow>,
}

/// One member as the orchestrator sees it.
#[derive(Debug, Default)]
struct Place {
    child: Option<Child>,
    incarnation: u32,
    port: u16,
    ready: bool,
    idle: bool,
    done: Option<(u64, UsageRow)>,
}

/// What the stage knows when the run is over.
pub(super) struct Played {
    pub(super) end: End,
    pub(super) ended_ns: u64,
    pub(super) usage: BTreeMap<NodeId, UsageRow>,
    pub(super) state_bytes: StateBytes,
    pub(super) faults: Vec<FaultRow>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(cluster: &'a Cluster<'a>, members: PathBuf) -> Result<Self, Failure> {
        let (ear, heard) = mpsc::unbounded_channel();
        let nodes = cluster.plan.nodes as usize;
        allow_files(nodes)?;
        let mut stage = Self {
            cluster,
            launcher: Launcher {
                executable: cluster.executable.to_owned(),
                members,
                ear,
            },
            heard,
            places: (0..nodes).map(|_| Place::default()).collect(),
            zero_ns: 0,
            conductor: Conductor::new(cluster.plan),
            rounds: Rounds::new(nodes),
            ask_at: Instant::now(),
            sent_at_entry: 0,
            entries: 0,
            faults: Vec::new(),
        };
        for node in 0..nodes {
            let child = stage.launcher.start(NodeId(node as u32), 0, 0);
            let child = child.map_err(|error| {
                Failure::Testbed(format!("cannot start member {node}: {error}"))
            })?;
            stage.places[node].child = Some(child);
        }
        Ok(stage)
    }

    /// Plays the whole run.
    pub(super) async fn play(mut self) -> Result<Played, Failure> {
        self.until("say hello", |place| place.port != 0).await?;
        self.introduce()?;
        self.until("be ready", |place| place.ready).await?;
        // Far enough ahead that everybody has heard of it when it comes.
        let nodes = self.places.len() as u64;
        self.zero_ns = monotonic_ns() + 1_000_000 + 50_000 * nodes;
        self.tell_all(&Order::Go {
            zero_ns: self.zero_ns,
        });
        let end = self.watch().await?;
        let ended_ns = self.now_ns();
        self.tell_all(&Order::Finish);
        self.until("finish", |place| place.child.is_none()).await?;
        Ok(self.played(end, ended_ns))
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.zero_ns)
    }

    /// Tells everybody who is who.
    fn introduce(&self) -> Result<(), Failure> {
        let mut secret = [0; 40];
        let random = |error| Failure::Testbed(format!("no random numbers for a key: {error}"));
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(random)?;
        let (key, run) = secret.split_at(32);
        let key = Key::new(key.try_into().expect("32 of 40 bytes"));
        let run = u64::from_le_bytes(run.try_into().expect("8 of 40 bytes"));
        let book = self.places.iter();
        let book = book.map(|place| SocketAddr::from((Ipv4Addr::LOCALHOST, place.port)));
        let book = book.collect::<Vec<_>>();
        for (node, place) in self.places.iter().enumerate() {
            let start = Start {
                plan: self.cluster.plan.clone(),
                me: NodeId(node as u32),
                incarnation: place.incarnation,
                book: book.clone(),
                run,
                key: key.clone(),
                dir: self.cluster.dir.to_owned(),
            };
            place.tell(Order::Start(Box::new(start)));
        }
        Ok(())
    }

    /// Listens until every member has got so far.
    async fn until(&mut self, what: &str, so_far: fn(&Place) -> bool) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE + PATIENCE_PER_MEMBER * self.places.len() as u32;
        while !self.places.iter().all(so_far) {
            match timeout_at(deadline, self.heard.recv()).await {
                Ok(Some(heard)) => drop(self.hear(heard)?),
                Ok(None) => unreachable!("the stage keeps an ear of its own"),
                Err(_) => {
                    let late = self.places.iter().position(|place| !so_far(place));
                    let late = late.expect("somebody is late");
                    return Err(Failure::Testbed(format!(
                        "member {late} did not {what} within {:?}",
                        PATIENCE + PATIENCE_PER_MEMBER * self.places.len() as u32
                    )));
                }
            }
        }
        Ok(())
    }

    /// Watches the run until it is over.
    async fn watch(&mut self) -> Result<End, Failure> {
        let limit = self.cluster.plan.time_limit_ns;
        loop {
            let look_up = Instant::now() + LOOK_UP_EVERY;
            tokio::select! {
                heard = self.heard.recv() => {
                    let heard = heard.expect("the stage keeps an ear of its own");
                    if let Some(finding) = self.hear(heard)?
                        && let Some(end) = self.judge(finding)
                    {
                        return Ok(end);
                    }
                }
                () = sleep_until(self.ask_at), if !self.rounds.is_open() => self.ask(),
                () = sleep_until(look_up) => {}
            }
            if self.cluster.interrupted.load(Ordering::Relaxed) {
                return Ok(End::Interrupted);
            }
            if limit.is_some_and(|limit_ns| self.now_ns() >= limit_ns) {
                return Ok(End::TimeLimit);
            }
        }
    }

    /// Begins a round of questions.
    fn ask(&mut self) {
        let round = self.rounds.begin(self.places.len());
        self.tell_all(&Order::Count {
            round,
            dead: Vec::new(),
        });
    }

    /// What a completed round of answers means for the run.
    fn judge(&mut self, Finding { settled, sum }: Finding) -> Option<End> {
        if sum.entries > self.entries {
            self.entries = sum.entries;
            self.sent_at_entry = sum.sent;
            (self.cluster.progress)(sum.entries);
        }
        let nodes = self.places.len() as u64;
        if sum.waiting > 0 && sum.sent - self.sent_at_entry > LIVELY * nodes {
            return Some(End::LiveLock);
        }
        let all_idle = self.places.iter().all(|place| place.idle);
        self.ask_at = Instant::now()
            + match (&self.conductor, all_idle) {
                (Some(_), _) | (None, true) => CONDUCT_EVERY,
                (None, false) => ASK_EVERY,
            };
        if !settled {
            return None;
        }
        let world = Settled {
            now_ns: self.now_ns(),
            inside: sum.inside > 0,
            waiting: sum.waiting > 0,
        };
        let conductor = self.conductor.as_mut();
        if let Some((node, cue)) = conductor.and_then(|conductor| conductor.next(world)) {
            self.places[node.index()].idle = false;
            self.places[node.index()].tell(Order::Cue { cue });
            return None;
        }
        match sum.waiting {
            0 => Some(End::Finished),
            _ => Some(End::Deadlock),
        }
    }

    /// Takes in what a child said, or that it ended. A completed round of answers comes back.
    fn hear(&mut self, heard: Heard) -> Result<Option<Finding>, Failure> {
        let Heard {
            from,
            incarnation,
            what,
        } = heard;
        let place = &mut self.places[from.index()];
        if incarnation != place.incarnation {
            return Ok(None);
        }
        match what {
            Voice::Said(Report::Hello { port }) => place.port = port,
            Voice::Said(Report::Ready) => place.ready = true,
            Voice::Said(Report::Idle) => {
                place.idle = true;
                if self.places.iter().all(|place| place.idle) {
                    self.ask_at = Instant::now();
                }
            }
            Voice::Said(Report::Counts { round, counts }) => {
                return Ok(self.rounds.answer(from.index(), round, counts));
            }
            Voice::Said(Report::Done { state_bytes, usage }) => {
                place.done = Some((state_bytes, usage));
            }
            Voice::Said(Report::Failed { why }) => {
                return Err(Failure::Testbed(format!("member {from} failed: {why}")));
            }
            Voice::Muttered(line) => {
                return Err(Failure::Testbed(format!(
                    "member {from} said something that is no report: {line}"
                )));
            }
            Voice::Ended(status) => {
                place.child = None;
                if place.done.is_none() {
                    let last_words = last_lines(&self.launcher.last_words(from, incarnation));
                    let status = status.map_or_else(|error| error.to_string(), |s| s.to_string());
                    let said = match last_words.as_str() {
                        "" => "it said nothing on stderr".to_owned(),
                        words => format!("its last words:\n{words}"),
                    };
                    return Err(Failure::Testbed(format!(
                        "member {from} died unasked ({status}); {said}"
                    )));
                }
            }
        }
        Ok(None)
    }

    fn tell_all(&self, order: &Order) {
        for place in &self.places {
            place.tell(order.clone());
        }
    }

    fn played(self, end: End, ended_ns: u64) -> Played {
        let done = self.places.iter().enumerate();
        let done = done.filter_map(|(node, place)| Some((NodeId(node as u32), place.done?)));
        let mut usage = BTreeMap::new();
        let mut state_bytes = StateBytes::default();
        for (node, (bytes, took)) in done {
            usage.insert(node, took);
            state_bytes.sum += bytes;
            state_bytes.max = state_bytes.max.max(bytes);
        }
        Played {
            end,
            ended_ns,
            usage,
            state_bytes,
            faults: self.faults,
        }
    }
}

impl Place {
    fn tell(&self, order: Order) {
        if let Some(child) = &self.child {
            child.tell(order);
        }
    }
}

/// Each child takes two files here; the usual limit is 1 024.
fn allow_files(members: usize) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = 2 * members as u64 + 64;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|most| most < needed) {
        return Err(Failure::Usage(format!(
            "{members} members need {needed} open files, and this user may have {}; raise the hard \
             limit (ulimit -Hn) or run fewer members",
            limit.maximum.unwrap_or_default()
        )));
    }
    let raised = Rlimit {
        current: Some(needed),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised)
        .map_err(|error| Failure::Testbed(format!("cannot raise the limit of open files: {error}")))
}
