//! All members of a run, from launch to finish.
//!
//! [`seat`] is one member as the supervisor sees it, [`handshake`] makes them known to each other,
//! [`reports`] takes in what they say, [`watch`] decides when the run is over, [`stop`] ends it,
//! [`unasked`] takes note of what nobody asked for, and [`turns`] are those of a person who interferes.

mod handshake;
mod reports;
mod seat;
mod stop;
mod turns;
mod unasked;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use algorithms::NodeId;
use chaos::Totals;
use chaos::timeline::{LinkFaultOutcome, Timeline};
use member::referee::Referee;
use model::run::{End, FaultOutcome, HostClock, StateBytes, UsageRow};
use node::control::ToMember;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tracing::info;
use wire::Moment;

use super::child::Heard;
use super::faults::Faults;
use super::hosts::Time;
use super::live::Person;
use super::place::Place;
use super::proxy::{self, Proxy, ToProxy};
use super::settled::Rounds;
use model::engine::{EngineError, Observer};
use model::plan::Plan;
use model::workload::Conduct;

pub(crate) use self::seat::Life;
use self::seat::Seat;
use self::turns::Turns;

/// How long all members together may take to say hello, to be ready, or to finish.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MEMBER: Duration = Duration::from_millis(20);

/// The members and what is known of them.
pub(crate) struct Supervisor<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) observer: &'a mut dyn Observer,
    /// Where the members are.
    pub(crate) place: Place,
    heard: mpsc::UnboundedReceiver<Heard>,
    pub(crate) seats: Vec<Seat>,
    /// Moment zero, once the run has begun.
    zero: Moment,
    conductor: Option<Box<dyn Conduct>>,
    pub(crate) rounds: Rounds,
    ask_at: Instant,
    /// Says whether messages go round in circles.
    referee: Referee,
    entries: u64,
    /// When the group was last not known to be settled.
    moved_ns: u64,
    /// When the group was last not known to be still.
    stirred_ns: u64,
    pub(crate) faults: Faults,
    /// What happened to members that no fault asked for.
    unasked: Vec<FaultOutcome>,
    look_for_stops_at: Instant,
    /// Whether the program of a member cannot go on.
    pub(crate) program_failed: bool,
    /// What stands between the members, where links misbehave: one on each host.
    pub(crate) proxies: Vec<Proxy>,
    /// Who is who, and the key of this run, as the line that everybody on a host is told.
    groups: Vec<Arc<[u8]>>,
    /// The person who watches and interferes, if somebody does.
    turns: Option<Turns<'a>>,
}

/// What the supervisor knows when the run is over.
pub(crate) struct Played {
    pub(crate) end: End,
    pub(crate) ended_ns: u64,
    pub(crate) usage: BTreeMap<NodeId, UsageRow>,
    pub(crate) state_bytes: StateBytes,
    /// What was done to members, or would have been.
    pub(crate) faults: Vec<FaultOutcome>,
    /// What the faults of links did.
    pub(crate) on_links: Vec<LinkFaultOutcome>,
    /// The faults of the plan, and behind them those that a person asked for during the run.
    pub(crate) timeline: Timeline,
    /// What failed, if the testbed did.
    pub(crate) failure: Option<String>,
    /// What became of all datagrams between the members, where the proxy stands there.
    pub(crate) proxy: Option<Totals>,
    /// Datagrams that the kernel dropped at members' sockets, where that is known.
    pub(crate) overflowed: BTreeMap<NodeId, u64>,
    /// The clocks of the hosts, where there are several.
    pub(crate) clocks: Vec<HostClock>,
    /// What the times of each host have to be corrected by.
    pub(crate) times: Vec<Option<Time>>,
}

impl Played {
    /// What the times of a member have to be corrected by, where there are several hosts.
    pub(crate) fn time_of(&self, plan: &Plan, node: NodeId) -> Option<Time> {
        let host = plan.placement.as_ref()?.host_of(node);
        *self.times.get(host)?
    }

    /// That of a run whose orchestrator was killed: nothing but what the members recorded.
    pub(crate) fn abandoned(plan: &Plan) -> Self {
        Self {
            end: End::Abandoned,
            ended_ns: 0,
            usage: BTreeMap::new(),
            state_bytes: StateBytes::default(),
            faults: Vec::new(),
            on_links: Vec::new(),
            timeline: plan.faults.clone(),
            failure: None,
            proxy: None,
            overflowed: BTreeMap::new(),
            clocks: Vec::new(),
            times: Vec::new(),
        }
    }
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        (place, heard): (Place, mpsc::UnboundedReceiver<Heard>),
        observer: &'a mut dyn Observer,
    ) -> Result<Self, EngineError> {
        let nodes = plan.nodes as usize;
        let topology = plan.build_topology();
        let topology = topology.map_err(|error| EngineError::Testbed(error.to_string()))?;
        let mut supervisor = Self {
            plan,
            observer,
            place,
            heard,
            seats: (0..nodes).map(|_| Seat::default()).collect(),
            zero: Moment::START,
            conductor: plan.workload.arrivals.conductor(plan),
            rounds: Rounds::new(nodes, plan.info().link_contract),
            ask_at: Instant::now(),
            referee: Referee::new(plan.info().live_lock_messages(&topology)),
            entries: 0,
            moved_ns: 0,
            stirred_ns: 0,
            faults: Faults::new(&plan.faults),
            unasked: Vec::new(),
            look_for_stops_at: Instant::now(),
            program_failed: false,
            proxies: Vec::new(),
            groups: Vec::new(),
            turns: None,
        };
        for node in (0..nodes as u32).map(NodeId) {
            let child = supervisor.place.start(node, 0, 0);
            let child = child.map_err(|error| {
                EngineError::Testbed(format!("cannot start member {node}: {error}"))
            })?;
            supervisor.seats[node.index()].child = Some(child);
        }
        Ok(supervisor)
    }

    /// Lets a person watch, and interfere.
    pub(crate) fn watched_by(&mut self, person: &'a mut dyn Person) {
        self.turns = Some(Turns::new(person));
    }

    /// Plays the whole run. What fails before it begins is an error; what fails later ends it, and
    /// what was recorded until then counts.
    pub(crate) async fn play(mut self) -> Result<Played, EngineError> {
        let played = self.play_to_the_end().await;
        if let Place::Hosts { fleet, .. } = &mut self.place {
            fleet.end().await;
        }
        let (end, ended_ns, failure, overflowed) = played?;
        Ok(Played {
            overflowed,
            ..self.played(end, ended_ns, failure)
        })
    }

    async fn play_to_the_end(
        &mut self,
    ) -> Result<(End, u64, Option<String>, BTreeMap<NodeId, u64>), EngineError> {
        if let Place::Hosts { fleet, .. } = &mut self.place {
            fleet.read_clocks(false).await?;
        }
        self.until_all("say hello", |seat| seat.port != 0).await?;
        // The person may want any link to fail.
        if proxy::is_needed(self.plan) || self.turns.is_some() {
            self.put_proxies_between().await?;
        }
        self.introduce()?;
        self.until_all("be ready", |seat| seat.ready).await?;
        // Far enough ahead that everybody has heard of it when it comes.
        let nodes = self.seats.len() as u64;
        let travel_ns = match self.place {
            Place::Here { .. } => 0,
            Place::Hosts { .. } => 200_000_000,
        };
        let ahead_ns = match self.turns {
            None => 1_000_000,
            // Members are looked at before anything happens.
            Some(_) => 50_000_000,
        };
        self.zero = Moment::now().plus_ns(ahead_ns + 50_000 * nodes + travel_ns);
        self.place.begin(self.zero);
        for (host, proxy) in self.proxies.iter().enumerate() {
            let zero = self.place.zero(host, self.zero);
            proxy.tell(ToProxy::Zero { zero });
        }
        for node in (0..self.seats.len() as u32).map(NodeId) {
            let zero = self.zero_of(node);
            self.seats[node.index()].tell(ToMember::Go { zero });
        }
        self.turn();
        info!(
            members = nodes,
            proxy = !self.proxies.is_empty(),
            "the run begins"
        );
        let watched = self.watch().await;
        let ended_ns = self.now_ns();
        self.close_unasked_pauses();
        info!(ended_ns, end = ?watched.as_ref().ok(), "the run is over");
        let addresses = (0..).map(NodeId).zip(self.addresses()).collect();
        let overflowed = self.place.overflowed(addresses).await;
        let stopped = self.stop(&watched).await;
        let stopped = stopped.and(self.bring_records(&watched).await);
        let (end, failure) = match watched.and_then(|end| stopped.map(|()| end)) {
            Ok(end) => (end, None),
            Err(failure) => (End::Failed, Some(failure.to_string())),
        };
        self.nothing_is_lost(failure.as_deref())?;
        Ok((end, ended_ns, failure, overflowed))
    }

    /// Has the hosts say what their clocks show and what was recorded there.
    async fn bring_records(
        &mut self,
        watched: &Result<End, EngineError>,
    ) -> Result<(), EngineError> {
        let Place::Hosts { fleet, .. } = &mut self.place else {
            return Ok(());
        };
        let read = match watched {
            // Where the run has failed, what is there matters more.
            Err(_) => Ok(()),
            Ok(_) => fleet.read_clocks(true).await,
        };
        let fetched = fleet.fetch_records().await;
        let (_, set) = fleet.clocks();
        if !set.is_empty() {
            let set = set.join(", ");
            self.observer.warning(&format!(
                "somebody set the clock of {set} during the run.\nTimes of its members are wrong by as \
                 much; clocks.csv says how much. The certificate does not need them."
            ));
        }
        read.and(fetched)
    }

    /// Refuses to make an account of a run if what a host recorded is not here.
    fn nothing_is_lost(&self, failure: Option<&str>) -> Result<(), EngineError> {
        let Place::Hosts { fleet, placement } = &self.place else {
            return Ok(());
        };
        let lost = fleet.lost();
        if lost.is_empty() {
            return Ok(());
        }
        let lost = lost.into_iter().map(|host| {
            let members = placement.members(host).map(|node| node.to_string());
            let members = members.collect::<Vec<_>>().join(", ");
            format!(
                "what was recorded on {} by members {members} is not here",
                fleet.name(host)
            )
        });
        let failure = failure.map_or(String::new(), |failure| format!("{failure}\n"));
        let lost = lost.collect::<Vec<_>>().join("; ");
        Err(EngineError::Testbed(format!(
            "{failure}{lost}, so there are no tables of this run"
        )))
    }

    /// The run's moment zero by the clock of a member's host.
    pub(crate) fn zero_of(&self, node: NodeId) -> Moment {
        self.place.zero(self.place.host_of(node), self.zero)
    }

    /// Nanoseconds since the run began.
    pub(crate) fn now_ns(&self) -> u64 {
        Moment::now().since(self.zero)
    }

    /// The members that run the algorithm, paused or not.
    pub(crate) fn living(&self) -> impl Iterator<Item = NodeId> {
        let seats = self.seats.iter().enumerate();
        let living = seats.filter(|(_, seat)| seat.is_alive());
        living.map(|(node, _)| NodeId(node as u32))
    }

    /// The members that can answer.
    pub(crate) fn running(&self) -> impl Iterator<Item = NodeId> {
        self.living()
            .filter(|node| self.seats[node.index()].life == Life::Running)
    }

    /// Listens until every member has got so far.
    async fn until_all(
        &mut self,
        what: &str,
        so_far: fn(&Seat) -> bool,
    ) -> Result<(), EngineError> {
        let late = |supervisor: &Self| {
            let late = supervisor.seats.iter().position(|seat| !so_far(seat));
            late.map(|node| supervisor.place.who(NodeId(node as u32)))
        };
        self.until(what, late).await
    }

    /// Listens until nobody is late.
    async fn until(
        &mut self,
        what: &str,
        late: impl Fn(&Self) -> Option<String>,
    ) -> Result<(), EngineError> {
        let programs = match self.plan.info().program() {
            Some(_) => external::START_WITHIN,
            None => Duration::ZERO,
        };
        let patience = PATIENCE + programs + PATIENCE_PER_MEMBER * self.seats.len() as u32;
        let deadline = Instant::now() + patience;
        while let Some(late) = late(self) {
            match timeout_at(deadline, self.heard.recv()).await {
                Ok(heard) => {
                    self.hear(heard.expect("the supervisor keeps a sender of its own"))?;
                }
                Err(_) => {
                    return Err(EngineError::Testbed(format!(
                        "{late} did not {what} within {patience:?}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Starts a killed member again, on its old port, in a life in which it only listens.
    pub(crate) fn revive(&mut self, node: NodeId) -> Result<(), EngineError> {
        let seat = &mut self.seats[node.index()];
        if seat.life != Life::Dead {
            return Ok(());
        }
        seat.incarnation += 1;
        seat.life = Life::Revived;
        info!(%node, incarnation = seat.incarnation, "restarts a member");
        let child = self.place.start(node, seat.incarnation, seat.port);
        seat.child = Some(child.map_err(|error| {
            EngineError::Testbed(format!("cannot restart member {node}: {error}"))
        })?);
        Ok(())
    }

    fn tell_all(&self, order: &ToMember) {
        for seat in &self.seats {
            seat.tell(order.clone());
        }
    }

    fn played(self, end: End, ended_ns: u64, failure: Option<String>) -> Played {
        let done = self.seats.iter().enumerate();
        let done = done.filter_map(|(node, seat)| Some((NodeId(node as u32), seat.done?)));
        let mut usage = BTreeMap::new();
        let mut state_bytes = StateBytes::default();
        for (node, (bytes, peak, took)) in done {
            usage.insert(node, took);
            state_bytes.sum += bytes;
            state_bytes.max = state_bytes.max.max(bytes);
            state_bytes.peak = state_bytes.peak.max(peak);
        }
        let timeline = self.faults.process_faults.timeline().clone();
        let (clocks, times) = match &self.place {
            Place::Here { .. } => (Vec::new(), Vec::new()),
            Place::Hosts { fleet, .. } => (fleet.clocks().0, fleet.times()),
        };
        let mut faults = self.faults.process_faults.outcomes();
        faults.extend(self.unasked);
        Played {
            end,
            ended_ns,
            usage,
            state_bytes,
            failure,
            faults,
            timeline,
            proxy: proxy::totals(&self.proxies),
            on_links: proxy::report(self.proxies),
            overflowed: BTreeMap::new(),
            clocks,
            times,
        }
    }
}
