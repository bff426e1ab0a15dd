//! All members of a run, from launch to finish.
//!
//! [`place`] is one member as the stage sees it, [`introduction`] makes them known to each other,
//! [`hearing`] takes in what they say, [`watch`] decides when the run is over, [`stop`] ends it, and
//! [`unasked`] takes note of what nobody asked for.

mod hearing;
mod introduction;
mod place;
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
use member::conductor::Conductor;
use member::referee::Referee;
use model::run::{End, FaultOutcome, StateBytes, UsageRow};
use node::control::Order;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tracing::info;
use wire::{Overflows, monotonic_ns};

use super::Cluster;
use super::child::{Heard, Launcher, allow_files};
use super::faults::Faults;
use super::proxy::{self, Proxy};
use super::settled::Rounds;
use crate::Failure;

pub(super) use self::place::Life;
use self::place::Place;

/// How long all members together may take to say hello, to be ready, or to finish.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_PER_MEMBER: Duration = Duration::from_millis(20);

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
    /// Says whether messages go round in circles.
    referee: Referee,
    entries: u64,
    /// When the group was last not known to be settled.
    moved_ns: u64,
    pub(super) faults: Faults,
    /// What happened to members that no fault asked for.
    unasked: Vec<FaultOutcome>,
    look_for_stops_at: Instant,
    /// What stands between the members, where links misbehave.
    pub(super) proxy: Option<Proxy>,
    /// Who is who, and the key of this run, as the line that everybody is told.
    group: Option<Arc<[u8]>>,
}

/// What the stage knows when the run is over.
pub(super) struct Played {
    pub(super) end: End,
    pub(super) ended_ns: u64,
    pub(super) usage: BTreeMap<NodeId, UsageRow>,
    pub(super) state_bytes: StateBytes,
    /// What was done to members, or would have been.
    pub(super) faults: Vec<FaultOutcome>,
    /// What the faults of links did.
    pub(super) on_links: Vec<LinkFaultOutcome>,
    /// What failed, if the testbed did.
    pub(super) failure: Option<String>,
    /// What became of all datagrams between the members, where the proxy stands there.
    pub(super) proxy: Option<Totals>,
    /// Datagrams that the kernel dropped at members' sockets, where that is known.
    pub(super) overflowed: BTreeMap<NodeId, u64>,
}

impl Played {
    /// That of a run whose orchestrator was killed: nothing but what the members recorded.
    pub(super) fn abandoned() -> Self {
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

impl<'a> Stage<'a> {
    pub(super) fn new(cluster: &'a Cluster<'a>, members: PathBuf) -> Result<Self, Failure> {
        let (ear, heard) = mpsc::unbounded_channel();
        let nodes = cluster.plan.nodes as usize;
        allow_files(nodes)?;
        let topology = cluster.plan.build_topology();
        let topology = topology.map_err(|error| Failure::Testbed(error.to_string()))?;
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
            rounds: Rounds::new(nodes, cluster.plan.info().link_contract),
            ask_at: Instant::now(),
            referee: Referee::new(cluster.plan.info().live_lock_messages(&topology)),
            entries: 0,
            moved_ns: 0,
            faults: Faults::new(&cluster.plan.faults),
            unasked: Vec::new(),
            look_for_stops_at: Instant::now(),
            proxy: None,
            group: None,
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

    /// Plays the whole run. What fails before it begins is an error; what fails later ends it, and
    /// what was recorded until then counts.
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

    /// Starts a killed member anew, on its old port, in a life in which it only listens.
    pub(super) fn revive(&mut self, node: NodeId) -> Result<(), Failure> {
        let place = &mut self.places[node.index()];
        if place.life != Life::Dead {
            return Ok(());
        }
        place.incarnation += 1;
        place.life = Life::Revived;
        info!(%node, incarnation = place.incarnation, "restarts a member");
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

    fn played(self, end: End, ended_ns: u64, failure: Option<String>) -> Played {
        let done = self.places.iter().enumerate();
        let done = done.filter_map(|(node, place)| Some((NodeId(node as u32), place.done?)));
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
