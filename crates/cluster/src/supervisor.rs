//! All members of a run, from launch to finish.
//!
//! [`seat`] is one member as the supervisor sees it, [`handshake`] makes them known to each other,
//! [`reports`] takes in what they say, [`watch`] decides when the run is over, [`stop`] ends it, and
//! [`unasked`] takes note of what nobody asked for.

mod handshake;
mod reports;
mod seat;
mod stop;
mod unasked;
mod watch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use algorithms::NodeId;
use chaos::Totals;
use chaos::timeline::LinkFaultOutcome;
use member::referee::Referee;
use model::run::{End, FaultOutcome, StateBytes, UsageRow};
use node::control::ToMember;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tracing::info;
use wire::{Overflows, monotonic_ns};

use super::Cluster;
use super::child::{Heard, Launcher, allow_files};
use super::faults::Faults;
use super::proxy::{self, Proxy, ToProxy};
use super::settled::Rounds;
use model::engine::{EngineError, Observer};
use model::plan::Plan;
use model::workload::Conduct;

pub(crate) use self::seat::Life;
use self::seat::Seat;

/// How long all members together may take to say hello, to be ready, or to finish.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MEMBER: Duration = Duration::from_millis(20);

/// The members and what is known of them.
pub(crate) struct Supervisor<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) cluster: &'a Cluster,
    pub(crate) observer: &'a mut dyn Observer,
    launcher: Launcher,
    heard: mpsc::UnboundedReceiver<Heard>,
    pub(crate) seats: Vec<Seat>,
    /// Moment zero on the monotonic clock, once the run has begun.
    zero_ns: u64,
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
    /// What stands between the members, where links misbehave.
    pub(crate) proxy: Option<Proxy>,
    /// Who is who, and the key of this run, as the line that everybody is told.
    group: Option<Arc<[u8]>>,
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
    /// What failed, if the testbed did.
    pub(crate) failure: Option<String>,
    /// What became of all datagrams between the members, where the proxy stands there.
    pub(crate) proxy: Option<Totals>,
    /// Datagrams that the kernel dropped at members' sockets, where that is known.
    pub(crate) overflowed: BTreeMap<NodeId, u64>,
}

impl Played {
    /// That of a run whose orchestrator was killed: nothing but what the members recorded.
    pub(crate) fn abandoned() -> Self {
        Self {
            end: End::Abandoned,
            ended_ns: 0,
            usage: BTreeMap::new(),
            state_bytes: StateBytes::default(),
            faults: Vec::new(),
            on_links: Vec::new(),
            failure: None,
            proxy: None,
            overflowed: BTreeMap::new(),
        }
    }
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        cluster: &'a Cluster,
        members: PathBuf,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, EngineError> {
        let (reports, heard) = mpsc::unbounded_channel();
        let nodes = plan.nodes as usize;
        allow_files(nodes)?;
        let topology = plan.build_topology();
        let topology = topology.map_err(|error| EngineError::Testbed(error.to_string()))?;
        let mut supervisor = Self {
            plan,
            cluster,
            observer,
            launcher: Launcher {
                executable: cluster.executable.to_owned(),
                members,
                reports,
                cores: cluster.cores.clone(),
            },
            heard,
            seats: (0..nodes).map(|_| Seat::default()).collect(),
            zero_ns: 0,
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
            proxy: None,
            group: None,
        };
        for node in 0..nodes {
            let child = supervisor.launcher.start(NodeId(node as u32), 0, 0);
            let child = child.map_err(|error| {
                EngineError::Testbed(format!("cannot start member {node}: {error}"))
            })?;
            supervisor.seats[node].child = Some(child);
        }
        Ok(supervisor)
    }

    /// Plays the whole run. What fails before it begins is an error; what fails later ends it, and
    /// what was recorded until then counts.
    pub(crate) async fn play(mut self) -> Result<Played, EngineError> {
        self.until_all("say hello", |seat| seat.port != 0).await?;
        if proxy::is_needed(self.plan) {
            self.put_proxy_between().await?;
        }
        self.introduce()?;
        self.until_all("be ready", |seat| seat.ready).await?;
        // Far enough ahead that everybody has heard of it when it comes.
        let nodes = self.seats.len() as u64;
        self.zero_ns = monotonic_ns() + 1_000_000 + 50_000 * nodes;
        let zero_ns = self.zero_ns;
        if let Some(proxy) = &self.proxy {
            proxy.tell(ToProxy::Zero { zero_ns });
        }
        self.tell_all(&ToMember::Go { zero_ns });
        info!(
            members = nodes,
            proxy = self.proxy.is_some(),
            "the run begins"
        );
        let watched = self.watch().await;
        let ended_ns = self.now_ns();
        self.close_unasked_pauses();
        info!(ended_ns, end = ?watched.as_ref().ok(), "the run is over");
        let overflowed = self.overflowed();
        let stopped = self.stop(&watched).await;
        let (end, failure) = match watched.and_then(|end| stopped.map(|()| end)) {
            Ok(end) => (end, None),
            Err(failure) => (End::Failed, Some(failure.to_string())),
        };
        Ok(Played {
            overflowed,
            ..self.played(end, ended_ns, failure)
        })
    }

    /// What the kernel dropped at the members' sockets, while these are open.
    fn overflowed(&self) -> BTreeMap<NodeId, u64> {
        let overflows = Overflows::read().unwrap_or_default();
        let nodes = (0..).map(NodeId).zip(self.addresses());
        nodes
            .filter_map(|(node, address)| Some((node, overflows.at(address)?)))
            .collect()
    }

    /// Nanoseconds since the run began.
    pub(crate) fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.zero_ns)
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
            late.map(|node| format!("member {node}"))
        };
        self.until(what, late).await
    }

    /// Listens until nobody is late.
    async fn until(
        &mut self,
        what: &str,
        late: impl Fn(&Self) -> Option<String>,
    ) -> Result<(), EngineError> {
        let patience = PATIENCE + PATIENCE_PER_MEMBER * self.seats.len() as u32;
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
        let child = self.launcher.start(node, seat.incarnation, seat.port);
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
        for (node, (bytes, took)) in done {
            usage.insert(node, took);
            state_bytes.sum += bytes;
            state_bytes.max = state_bytes.max.max(bytes);
        }
        let mut faults = self.faults.process_faults.outcomes();
        faults.extend(self.unasked);
        Played {
            end,
            ended_ns,
            usage,
            state_bytes,
            failure,
            faults,
            proxy: self.proxy.as_ref().and_then(|proxy| proxy.totals),
            on_links: self.proxy.map(Proxy::report).unwrap_or_default(),
            overflowed: BTreeMap::new(),
        }
    }
}
