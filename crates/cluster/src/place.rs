//! Where the members are: all on this host, or on the hosts of agents. The supervisor does not know which.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use algorithms::NodeId;
use model::plan::Placement;
use node::control::ToMember;
use wire::{Moment, Overflows};

use crate::agent::words::Who;
use crate::child::{Child, Launcher};
use crate::hosts::Fleet;
use crate::proxy::ToProxy;

/// The host or hosts of a run.
pub(crate) enum Place {
    /// All members run on this host.
    Here {
        /// The launcher that starts processes.
        launcher: Launcher,
        /// The run's directory.
        dir: PathBuf,
    },
    /// Hosts with an agent each.
    Hosts {
        /// The agents, one for each host.
        fleet: Fleet,
        /// Which member is on which.
        placement: Placement,
    },
}

impl Place {
    /// How many hosts there are.
    pub(crate) fn hosts(&self) -> usize {
        match self {
            Place::Here { .. } => 1,
            Place::Hosts { fleet, .. } => fleet.count(),
        }
    }

    /// The host that a member is on.
    pub(crate) fn host_of(&self, node: NodeId) -> usize {
        match self {
            Place::Here { .. } => 0,
            Place::Hosts { placement, .. } => placement.host_of(node),
        }
    }

    /// The members of a host that is one of several.
    pub(crate) fn members(&self, host: usize) -> Vec<NodeId> {
        match self {
            Place::Here { .. } => Vec::new(),
            Place::Hosts { placement, .. } => placement.members(host).collect(),
        }
    }

    /// A member for an error message, and where it is.
    pub(crate) fn who(&self, node: NodeId) -> String {
        match self {
            Place::Here { .. } => format!("member {node}"),
            Place::Hosts { fleet, .. } => {
                format!("member {node} on {}", fleet.name(self.host_of(node)))
            }
        }
    }

    /// The proxy of a host for an error message.
    pub(crate) fn proxy_name(&self, host: usize) -> String {
        match self {
            Place::Here { .. } => "the proxy".to_owned(),
            Place::Hosts { fleet, .. } => format!("the proxy on {}", fleet.name(host)),
        }
    }

    /// Starts a member.
    pub(crate) fn start(
        &self,
        node: NodeId,
        incarnation: u32,
        port: u16,
    ) -> io::Result<Child<ToMember>> {
        match self {
            Place::Here { launcher, .. } => launcher.start(node, incarnation, port),
            Place::Hosts { fleet, .. } => {
                let who = Who::Member { node, incarnation };
                Ok(Child::there(fleet.start(self.host_of(node), who, port)))
            }
        }
    }

    /// Starts the proxy of a host.
    pub(crate) fn start_proxy(&self, host: usize) -> io::Result<Child<ToProxy>> {
        match self {
            Place::Here { launcher, .. } => launcher.start_between("chaos", None),
            Place::Hosts { fleet, .. } => Ok(Child::there(fleet.start(host, Who::Proxy, 0))),
        }
    }

    /// The address that processes of a host bind.
    pub(crate) fn address(&self, host: usize) -> IpAddr {
        match self {
            Place::Here { .. } => Ipv4Addr::LOCALHOST.into(),
            Place::Hosts { fleet, .. } => fleet.address(host),
        }
    }

    /// The ports that may be used, if not any.
    pub(crate) fn ports(&self) -> Option<(u16, u16)> {
        match self {
            Place::Here { .. } => None,
            Place::Hosts { fleet, .. } => fleet.ports(),
        }
    }

    /// The run's directory on a host.
    pub(crate) fn dir(&self, host: usize) -> PathBuf {
        match self {
            Place::Here { dir, .. } => dir.clone(),
            Place::Hosts { fleet, .. } => fleet.dir(host).to_owned(),
        }
    }

    /// Says when the run begins.
    pub(crate) fn begin(&mut self, zero: Moment) {
        if let Place::Hosts { fleet, .. } = self {
            fleet.begin(zero);
        }
    }

    /// The run's moment zero by the clock of a host.
    pub(crate) fn zero(&self, host: usize, zero: Moment) -> Moment {
        match self {
            Place::Here { .. } => zero,
            Place::Hosts { fleet, .. } => fleet.zero(host),
        }
    }

    /// What the kernels dropped at these members' sockets, while they are open.
    pub(crate) async fn overflowed(
        &mut self,
        addresses: Vec<(NodeId, SocketAddr)>,
    ) -> BTreeMap<NodeId, u64> {
        match self {
            Place::Here { .. } => {
                let overflows = Overflows::read().unwrap_or_default();
                let counts = addresses.into_iter();
                counts
                    .filter_map(|(node, address)| Some((node, overflows.at(address)?)))
                    .collect()
            }
            Place::Hosts { fleet, placement } => {
                let sockets = addresses.into_iter();
                let sockets = sockets
                    .map(|(node, address)| (node, placement.host_of(node), address))
                    .collect::<Vec<_>>();
                fleet.overflowed(&sockets).await
            }
        }
    }
}
