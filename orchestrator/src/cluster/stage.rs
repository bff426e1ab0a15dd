//! All members of a run, from launch to finish.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;

use algorithms::NodeId;
use algorithms::registry::Links;
use chaos::wire::monotonic_ns;
use node::conductor::{Conductor, Settled};
use node::control::{Order, Report, Start};
use node::frame::Key;
use node::mischief::Sighting;
use node::run::{End, FaultRow, StateBytes, UsageRow};
use rustix::process::Signal;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Cluster;
use super::child::{Child, Heard, Launcher, Voice, last_lines};
use super::faults::Faults;
use super::proxy::{self, Proxy};
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
/// So long after the last loss every session that ended has begun anew.
const SESSIONS_SETTLE_NS: u64 = 5 * node::transport::Config::SESSION_SILENCE_NS;

/// The members and what is known of them.
pub(super) struct Stage<'a> {
    pub(super) cluster: &'a Cluster<'a>,
    launcher: Launcher,
    heard: mpsc::UnboundedReceiver<Heard>,
    pub(super) places: Vec<Place>,
    /// Moment zero on the monotonic clock, once the run has begun.
    zero_ns: u64,
    conductor: Option<Conductor>,
    pub(super) rounds: Rounds,
    ask_at: Instant,
    /// Messages sent up to the last entry that was seen.
    sent_at_entry: u64,
    entries: u64,
    /// When the group was last not known to be settled.
    moved_ns: u64,
    pub(super) faults: Faults,
    /// What stands between the members, where links misbehave.
    pub(super) proxy: Option<Proxy>,
    /// Who is who, and the key of this run, for those who come later.
    start: Option<Start>,
}

/// One member as the orchestrator sees it.
#[derive(Debug, Default)]
pub(super) struct Place {
    child: Option<Child<Order>>,
    pub(super) life: Life,
    incarnation: u32,
    port: u16,
    ready: bool,
    idle: bool,
    done: Option<(u64, UsageRow)>,
}

/// What a member's process is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    #[default]
    Running,
    Paused,
    /// Killed on purpose, and not reaped yet; it may come back after so many nanoseconds.
    Killed(Option<u64>),
    /// Reaped.
    Dead,
    /// In a later life, in which it runs no algorithm.
    Revived,
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
                cores: cluster.cores.clone(),
            },
            heard,
            places: (0..nodes).map(|_| Place::default()).collect(),
            zero_ns: 0,
            conductor: Conductor::new(cluster.plan),
            rounds: Rounds::new(nodes),
            ask_at: Instant::now(),
            sent_at_entry: 0,
            entries: 0,
            moved_ns: 0,
            faults: Faults::new(&cluster.plan.faults),
            proxy: None,
            start: None,
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
        self.until_all("say hello", |place| place.port != 0).await?;
        if proxy::is_needed(self.cluster.plan) {
            self.put_proxy_between().await?;
        }
        self.introduce()?;
        self.until_all("be ready", |place| place.ready).await?;
        // Far enough ahead that everybody has heard of it when it comes.
        let nodes = self.places.len() as u64;
        self.zero_ns = monotonic_ns() + 1_000_000 + 50_000 * nodes;
        let zero_ns = self.zero_ns;
        if let Some(proxy) = &self.proxy {
            proxy.tell(proxy::Order::Zero { zero_ns });
        }
        self.tell_all(&Order::Go { zero_ns });
        let end = self.watch().await?;
        let ended_ns = self.now_ns();
        for place in &mut self.places {
            if place.life == Life::Paused {
                place.life = Life::Running;
                place.signal(Signal::CONT);
            }
        }
        self.tell_all(&Order::Finish);
        self.until_all("finish", |place| place.child.is_none())
            .await?;
        if let Some(proxy) = &self.proxy {
            proxy.tell(proxy::Order::Finish);
            self.until_proxy("finish", |proxy| proxy.ended).await?;
        }
        Ok(self.played(end, ended_ns))
    }

    /// Nanoseconds since the run began.
    pub(super) fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.zero_ns)
    }

    /// The members that run the algorithm, paused or not.
    pub(super) fn living(&self) -> impl Iterator<Item = NodeId> {
        let places = self.places.iter().enumerate();
        let living = places.filter(|(_, place)| place.is_alive());
        living.map(|(node, _)| NodeId(node as u32))
    }

    /// The members that can answer.
    pub(super) fn running(&self) -> impl Iterator<Item = NodeId> {
        self.living()
            .filter(|node| self.places[node.index()].life == Life::Running)
    }

    /// Tells everybody who is who.
    fn introduce(&mut self) -> Result<(), Failure> {
        let mut secret = [0; 40];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| Failure::Testbed(format!("no random numbers for a key: {error}")))?;
        let (key, run) = secret.split_at(32);
        let book = match &self.proxy {
            Some(proxy) => proxy.aliases.clone(),
            None => self.addresses(),
        };
        self.start = Some(Start {
            plan: self.cluster.plan.clone(),
            me: NodeId(0),
            incarnation: 0,
            book,
            run: u64::from_le_bytes(run.try_into().expect("8 of 40 bytes")),
            key: Key::new(key.try_into().expect("32 of 40 bytes")),
            dir: self.cluster.dir.to_owned(),
        });
        for node in 0..self.places.len() {
            self.introduce_to(NodeId(node as u32));
        }
        Ok(())
    }

    fn introduce_to(&self, node: NodeId) {
        let place = &self.places[node.index()];
        if let Some(start) = &self.start {
            let incarnation = place.incarnation;
            let start = Start {
                me: node,
                incarnation,
                ..start.clone()
            };
            place.tell(Order::Start(Box::new(start)));
        }
    }

    /// Where the members themselves are.
    fn addresses(&self) -> Vec<SocketAddr> {
        let ports = self.places.iter().map(|place| place.port);
        ports
            .map(|port| (Ipv4Addr::LOCALHOST, port).into())
            .collect()
    }

    /// Puts the proxy between the members, so that they know each other by their aliases only.
    async fn put_proxy_between(&mut self) -> Result<(), Failure> {
        let child = self.launcher.start_between("chaos", None);
        let child =
            child.map_err(|error| Failure::Testbed(format!("cannot start the proxy: {error}")))?;
        let members = self.addresses();
        self.proxy = Some(Proxy::new(child, self.cluster.plan, members));
        let bound = |proxy: &Proxy| !proxy.aliases.is_empty();
        self.until_proxy("open its aliases", bound).await
    }

    /// Listens until every member has got so far.
    async fn until_all(&mut self, what: &str, so_far: fn(&Place) -> bool) -> Result<(), Failure> {
        let late = |stage: &Self| {
            let late = stage.places.iter().position(|place| !so_far(place));
            late.map(|node| format!("member {node}"))
        };
        self.until(what, late).await
    }

    /// Listens until the proxy has got so far.
    async fn until_proxy(&mut self, what: &str, so_far: fn(&Proxy) -> bool) -> Result<(), Failure> {
        let late = |stage: &Self| {
            let late = stage.proxy.as_ref().is_some_and(|proxy| !so_far(proxy));
            late.then(|| "the proxy".to_owned())
        };
        self.until(what, late).await
    }

    /// Listens until nobody is late.
    async fn until(
        &mut self,
        what: &str,
        late: impl Fn(&Self) -> Option<String>,
    ) -> Result<(), Failure> {
        let patience = PATIENCE + PATIENCE_PER_MEMBER * self.places.len() as u32;
        let deadline = Instant::now() + patience;
        while let Some(late) = late(self) {
            match timeout_at(deadline, self.heard.recv()).await {
                Ok(heard) => drop(self.hear(heard.expect("the stage keeps an ear of its own"))?),
                Err(_) => {
                    return Err(Failure::Testbed(format!(
                        "{late} did not {what} within {patience:?}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Watches the run until it is over.
    async fn watch(&mut self) -> Result<End, Failure> {
        let limit_ns = self.cluster.plan.time_limit_ns.unwrap_or(u64::MAX);
        loop {
            let (next_task, may_ask) = (self.next_task(), self.may_ask());
            tokio::select! {
                heard = self.heard.recv() => {
                    let heard = heard.expect("the stage keeps an ear of its own");
                    if let Some(finding) = self.hear(heard)?
                        && let Some(end) = self.judge(finding)
                    {
                        return Ok(end);
                    }
                }
                () = sleep_until(self.ask_at), if may_ask => self.ask(),
                () = sleep_until(next_task) => {
                    let now_ns = self.now_ns();
                    while let Some(task) = self.faults.agenda.due(now_ns) {
                        self.perform(task)?;
                    }
                }
            }
            if self.cluster.interrupted.load(Ordering::Relaxed) {
                return Ok(End::Interrupted);
            }
            if self.now_ns() >= limit_ns {
                return Ok(End::TimeLimit);
            }
        }
    }

    /// When the next task is due, or else when to look up again.
    fn next_task(&self) -> Instant {
        let now = Instant::now();
        let next_ns = self.faults.agenda.next_ns();
        let next_ns = next_ns.map(|at_ns| at_ns.saturating_sub(self.now_ns()));
        now + next_ns.map_or(LOOK_UP_EVERY, |ns| {
            Duration::from_nanos(ns).min(LOOK_UP_EVERY)
        })
    }

    /// Whether a round of questions would be answered: nobody is paused, or about to be reaped.
    fn may_ask(&self) -> bool {
        let answers = |place: &Place| match place.life {
            Life::Running | Life::Dead | Life::Revived => true,
            Life::Paused | Life::Killed(_) => false,
        };
        !self.rounds.is_open() && self.places.iter().all(answers)
    }

    /// Begins a round of questions.
    fn ask(&mut self) {
        let asked = self.running().collect::<Vec<_>>();
        let nodes = (0..self.places.len() as u32).map(NodeId);
        let dead = nodes
            .filter(|node| !asked.contains(node))
            .collect::<Vec<_>>();
        let round = self.rounds.begin(asked.len());
        for node in asked {
            let dead = dead.clone();
            self.places[node.index()].tell(Order::Count { round, dead });
        }
    }

    /// What a completed round of answers means for the run.
    fn judge(&mut self, Finding { settled, sum }: Finding) -> Option<End> {
        if sum.entries > self.entries {
            self.entries = sum.entries;
            self.sent_at_entry = sum.sent;
            (self.cluster.progress)(sum.entries);
        }
        // Where somebody died, what it had sent and been sent no longer counts.
        self.sent_at_entry = self.sent_at_entry.min(sum.sent);
        let nodes = self.places.len() as u64;
        if sum.waiting > 0 && sum.sent - self.sent_at_entry > LIVELY * nodes {
            return Some(End::LiveLock);
        }
        let soon = self.conductor.is_some() || self.all_idle();
        self.ask_at = Instant::now() + if soon { CONDUCT_EVERY } else { ASK_EVERY };
        if !settled {
            self.moved_ns = self.now_ns();
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
            // A fault that is yet to come may set it in motion again.
            _ if !self.faults.agenda.is_empty() => None,
            // So may a link that comes back, where both ends count anew after a session's end.
            _ if self.sessions_may_end() => None,
            // So may a silence that is not yet taken for a death; the next question shows it.
            _ if self.expects_suspicion() => None,
            _ => Some(End::Deadlock),
        }
    }

    /// Whether a session may just have ended, or may be about to begin anew: where links have them,
    /// and something could get lost until a moment ago.
    fn sessions_may_end(&self) -> bool {
        let plan = self.cluster.plan;
        let until_ns = plan.faults.harms_until_ns();
        let over_ns = until_ns.map(|until_ns| until_ns.saturating_add(SESSIONS_SETTLE_NS));
        let just_now = over_ns.is_some_and(|over_ns| self.now_ns() < over_ns);
        plan.entry().links == Links::Sessions && just_now
    }

    fn expects_suspicion(&self) -> bool {
        let suspects_after_ns = self.cluster.plan.suspects_after_ns();
        suspects_after_ns
            .is_some_and(|silence_ns| self.now_ns() < self.moved_ns.saturating_add(2 * silence_ns))
    }

    fn all_idle(&self) -> bool {
        self.places
            .iter()
            .all(|place| place.idle || !place.is_alive())
    }

    /// Takes in what a child said, or that it ended. A completed round of answers comes back.
    fn hear(&mut self, heard: Heard) -> Result<Option<Finding>, Failure> {
        let (from, incarnation, what) = match heard {
            Heard::Member {
                from,
                incarnation,
                what,
            } => (from, incarnation, what),
            Heard::Proxy(what) => return self.hear_proxy(what).map(|()| None),
        };
        let place = &mut self.places[from.index()];
        if incarnation != place.incarnation {
            return Ok(None);
        }
        let report = match what {
            Voice::Said(report) => report,
            Voice::Muttered(line) => {
                return Err(Failure::Testbed(format!(
                    "member {from} said something that is no report: {line}"
                )));
            }
            Voice::Ended(status) => {
                let died = Death {
                    node: from,
                    incarnation,
                    status,
                };
                return self.ended(died).map(|()| None);
            }
        };
        match report {
            Report::Hello { port } => {
                place.port = port;
                if place.life == Life::Revived {
                    self.introduce_to(from);
                }
            }
            Report::Ready => {
                place.ready = true;
                if place.life == Life::Revived {
                    place.tell(Order::Go {
                        zero_ns: self.zero_ns,
                    });
                }
            }
            Report::Idle => {
                place.idle = true;
                if self.all_idle() {
                    self.ask_at = Instant::now();
                }
            }
            Report::Counts { round, counts } => {
                return Ok(self.rounds.answer(from.index(), round, counts));
            }
            Report::Hit { step } => self.hit(step, from),
            Report::Halted {
                inside_since_ns,
                token_since_ns,
            } => {
                self.halted(Sighting {
                    node: from,
                    inside_since_ns,
                    token_since_ns,
                });
            }
            Report::Done { state_bytes, usage } => place.done = Some((state_bytes, usage)),
            Report::Failed { why } => {
                return Err(Failure::Testbed(format!("member {from} failed: {why}")));
            }
        }
        Ok(None)
    }

    /// Takes in what the proxy said, or that it ended.
    fn hear_proxy(&mut self, what: Voice<proxy::Report>) -> Result<(), Failure> {
        let Some(proxy) = &mut self.proxy else {
            return Ok(());
        };
        match what {
            Voice::Said(report) => {
                if let Some(step) = proxy.hear(report) {
                    self.in_force(step);
                }
                Ok(())
            }
            Voice::Muttered(line) => Err(Failure::Testbed(format!(
                "the proxy said something that is no report: {line}"
            ))),
            Voice::Ended(_) if proxy.did.is_some() => {
                proxy.ended = true;
                Ok(())
            }
            Voice::Ended(status) => {
                let last_words = self.launcher.proxys_last_words();
                Err(died_unasked("the proxy", status, &last_words))
            }
        }
    }

    /// A child has been reaped: as it should, or unasked.
    fn ended(&mut self, death: Death) -> Result<(), Failure> {
        let Death {
            node,
            incarnation,
            status,
        } = death;
        let place = &mut self.places[node.index()];
        place.child = None;
        match place.life {
            Life::Killed(revive_after_ns) => {
                place.life = Life::Dead;
                self.buried(node, revive_after_ns);
                Ok(())
            }
            _ if place.done.is_some() => Ok(()),
            _ => {
                let last_words = self.launcher.last_words(node, incarnation);
                Err(died_unasked(&format!("member {node}"), status, &last_words))
            }
        }
    }

    /// Starts a killed member anew, on its old port, in a life in which it only listens.
    pub(super) fn revive(&mut self, node: NodeId) -> Result<(), Failure> {
        let place = &mut self.places[node.index()];
        if place.life != Life::Dead {
            return Ok(());
        }
        place.incarnation += 1;
        place.life = Life::Revived;
        let child = self.launcher.start(node, place.incarnation, place.port);
        place.child =
            Some(child.map_err(|error| {
                Failure::Testbed(format!("cannot restart member {node}: {error}"))
            })?);
        Ok(())
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
        let links = self.proxy.into_iter().flat_map(Proxy::rows);
        Played {
            end,
            ended_ns,
            usage,
            state_bytes,
            faults: self
                .faults
                .mischief
                .rows()
                .into_iter()
                .chain(links)
                .collect(),
        }
    }
}

/// What there is to say of a child that should have lived.
fn died_unasked(who: &str, status: io::Result<ExitStatus>, last_words: &Path) -> Failure {
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let said = match last_lines(last_words).as_str() {
        "" => "it said nothing on stderr".to_owned(),
        words => format!("its last words:\n{words}"),
    };
    Failure::Testbed(format!("{who} died unasked ({status}); {said}"))
}

/// A child that has been reaped.
struct Death {
    node: NodeId,
    incarnation: u32,
    status: io::Result<ExitStatus>,
}

impl Place {
    pub(super) fn tell(&self, order: Order) {
        if let Some(child) = &self.child {
            child.tell(order);
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(child) = &self.child {
            child.signal(signal);
        }
    }

    /// Whether it runs the algorithm.
    pub(super) fn is_alive(&self) -> bool {
        match self.life {
            Life::Running | Life::Paused => true,
            Life::Killed(_) | Life::Dead | Life::Revived => false,
        }
    }

    pub(super) fn kill(&mut self, revive_after_ns: Option<u64>) {
        self.life = Life::Killed(revive_after_ns);
        self.signal(Signal::KILL);
    }

    pub(super) fn pause(&mut self) {
        self.life = Life::Paused;
        self.signal(Signal::STOP);
    }
}

/// Each child takes two files here; the usual limit is 1 024.
pub(super) fn allow_files(members: usize) -> Result<(), Failure> {
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
