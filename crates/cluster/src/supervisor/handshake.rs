//! Who is who: the address book, the key of the run, and the proxy between the members.

use std::net::SocketAddr;
use std::sync::Arc;

use algorithms::NodeId;
use node::control::{Group, Start, ToMember};
use transport::frame::Key;
use wire::Bind;

use super::Supervisor;
use super::seat::Seat;
use crate::child::line;
use crate::proxy::Proxy;
use model::engine::EngineError;

impl Supervisor<'_> {
    /// Tells everybody who is who.
    pub(crate) fn introduce(&mut self) -> Result<(), EngineError> {
        let mut secret = [0; 40];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty()).map_err(
            |error| EngineError::Testbed(format!("no random numbers for a key: {error}")),
        )?;
        let (key, run) = secret.split_at(32);
        for host in 0..self.place.hosts() {
            let book = match self.proxies.get(host) {
                Some(proxy) => proxy.aliases.clone(),
                None => self.addresses(),
            };
            let group = ToMember::Group(Box::new(Group {
                plan: self.plan.clone(),
                book,
                run: u64::from_le_bytes(run.try_into().expect("8 of 40 bytes")),
                key: Key::new(key.try_into().expect("32 of 40 bytes")),
                dir: self.place.dir(host),
            }));
            self.groups.push(line(&group).into());
        }
        for node in 0..self.seats.len() {
            self.introduce_to(NodeId(node as u32));
        }
        Ok(())
    }

    pub(crate) fn introduce_to(&self, node: NodeId) {
        let seat = &self.seats[node.index()];
        let group = self.groups.get(self.place.host_of(node));
        if let (Some(group), Some(child)) = (group, &seat.child) {
            child.tell_line(Arc::clone(group));
            seat.tell(ToMember::Start(Start {
                me: node,
                incarnation: seat.incarnation,
            }));
        }
    }

    /// Where the members themselves are.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let seats = (0..).map(NodeId).zip(&self.seats);
        let address = |(node, seat): (NodeId, &Seat)| {
            let host = self.place.host_of(node);
            SocketAddr::new(self.place.address(host), seat.port)
        };
        seats.map(address).collect()
    }

    /// Puts a proxy between the members of each host and all others, so that they know each other by
    /// their aliases only. What a member sends goes through the proxy of its own host.
    pub(crate) async fn put_proxies_between(&mut self) -> Result<(), EngineError> {
        for host in 0..self.place.hosts() {
            let child = self.place.start_proxy(host).map_err(|error| {
                EngineError::Testbed(format!("cannot start the proxy: {error}"))
            })?;
            let bind = Bind {
                address: self.place.address(host),
                ports: self.place.ports(),
            };
            let members = self.addresses();
            self.proxies
                .push(Proxy::new(child, self.plan, members, bind));
        }
        let late = |supervisor: &Self| {
            let mut proxies = supervisor.proxies.iter();
            let late = proxies.position(|proxy| proxy.aliases.is_empty());
            late.map(|host| supervisor.place.proxy_name(host))
        };
        self.until("open its aliases", late).await
    }
}
