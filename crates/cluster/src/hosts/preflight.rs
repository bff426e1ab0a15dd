//! The pre-flight: whether all hosts reach each other, before anything is run on them.

use std::time::Duration;

use model::engine::{EngineError, Observer};
use model::plan::Placement;
use tokio::sync::mpsc;

use super::{Fleet, Hosts, News};
use crate::agent::words::ToAgent;

/// What is known of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReport {
    /// What it is called in the run.
    pub name: String,
    /// What it calls itself.
    pub hostname: String,
    /// The address that members bind.
    pub address: std::net::IpAddr,
    /// By how much its clock is ahead of this host's, and the most by which that is wrong.
    pub offset_ns: Option<(i64, u64)>,
}

/// What came of datagrams from one host to another and back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// How many datagrams were sent.
    pub sent: u32,
    /// Datagrams that came back.
    pub back: u32,
    /// The shortest round trip.
    pub shortest: Option<Duration>,
    /// The longest datagram that came back in one piece, in bytes of UDP.
    pub longest: u32,
}

/// What the pre-flight has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preflight {
    /// What was found of each host.
    pub hosts: Vec<HostReport>,
    /// From each host to each, in their order; from a host to itself it goes through its own stack.
    pub crossings: Vec<Vec<Crossing>>,
}

/// What a clock was found to be ahead by, and the most by which that is wrong.
pub type OffsetAndBound = (i64, u64);

impl Hosts {
    /// Starts an agent on each host, has each reach all others, and ends them.
    pub fn preflight(&self, observer: &mut dyn Observer) -> Result<Preflight, EngineError> {
        self.among_agents(observer, async |fleet| fleet.look_around().await)
    }

    /// Starts an agent on each host, compares its clock with this one so many times, and ends them.
    pub fn offsets(
        &self,
        times: usize,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<OffsetAndBound>>, EngineError> {
        self.among_agents(observer, async |fleet| {
            let mut all = vec![Vec::new(); fleet.hosts.len()];
            for _ in 0..times {
                fleet.read_clocks(false).await?;
                for (host, all) in fleet.hosts.iter().zip(&mut all) {
                    all.extend(host.before.map(|before| (before.ns, before.bound_ns)));
                }
            }
            Ok(all)
        })
    }

    /// Does something among agents that are there for nothing else.
    fn among_agents<T>(
        &self,
        observer: &mut dyn Observer,
        what: impl AsyncFnOnce(&mut Fleet) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| EngineError::Testbed(format!("cannot start a runtime: {error}")))?;
        let logs = tempfile::tempdir()
            .map_err(|error| EngineError::Testbed(format!("cannot make a directory: {error}")))?;
        let names = self.spec.hosts.iter().map(|(name, _)| name.clone());
        let placement = Placement {
            hosts: names.collect(),
            of: Vec::new(),
        };
        runtime.block_on(async {
            let (reports, _heard) = mpsc::unbounded_channel();
            let fleet = Fleet::gather(self, &placement, logs.path(), &reports, observer).await;
            let mut fleet = fleet?;
            let found = what(&mut fleet).await;
            fleet.end().await;
            found
        })
    }
}

impl Fleet {
    async fn look_around(&mut self) -> Result<Preflight, EngineError> {
        self.read_clocks(false).await?;
        let echoes = self.hosts.iter().map(|host| host.echo).collect::<Vec<_>>();
        let mut crossings = Vec::new();
        // One after the other, so that none disturbs another.
        for host in &mut self.hosts {
            let News::Probed(probed) = host.ask(ToAgent::Probe(echoes.clone())).await? else {
                let why = format!("the agent on {} did not look around", host.name);
                return Err(EngineError::Testbed(why));
            };
            let probed = probed.into_iter().map(|probed| Crossing {
                sent: probed.sent,
                back: probed.back,
                shortest: probed.shortest_ns.map(Duration::from_nanos),
                longest: probed.longest,
            });
            crossings.push(probed.collect());
        }
        let hosts = self.hosts.iter().map(|host| HostReport {
            name: host.name.clone(),
            hostname: host.hostname.clone(),
            address: host.address,
            offset_ns: host.before.map(|before| (before.ns, before.bound_ns)),
        });
        Ok(Preflight {
            hosts: hosts.collect(),
            crossings,
        })
    }
}
