//! Who is who: the address book, the key of the run, and the proxy between the members.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use algorithms::NodeId;
use node::control::{Group, Order, Start};
use transport::frame::Key;

use super::Stage;
use crate::Failure;
use crate::cluster::child::line;
use crate::cluster::proxy::Proxy;

impl Stage<'_> {
    /// Tells everybody who is who.
    pub(super) fn introduce(&mut self) -> Result<(), Failure> {
        let mut secret = [0; 40];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| Failure::Testbed(format!("no random numbers for a key: {error}")))?;
        let (key, run) = secret.split_at(32);
        let book = match &self.proxy {
            Some(proxy) => proxy.aliases.clone(),
            None => self.addresses(),
        };
        let group = Order::Group(Box::new(Group {
            plan: self.cluster.plan.clone(),
            book,
            run: u64::from_le_bytes(run.try_into().expect("8 of 40 bytes")),
            key: Key::new(key.try_into().expect("32 of 40 bytes")),
            dir: self.cluster.dir.to_owned(),
        }));
        self.group = Some(line(&group).into());
        for node in 0..self.places.len() {
            self.introduce_to(NodeId(node as u32));
        }
        Ok(())
    }

    pub(super) fn introduce_to(&self, node: NodeId) {
        let place = &self.places[node.index()];
        if let (Some(group), Some(child)) = (&self.group, &place.child) {
            child.tell_line(Arc::clone(group));
            place.tell(Order::Start(Start {
                me: node,
                incarnation: place.incarnation,
            }));
        }
    }

    /// Where the members themselves are.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let ports = self.places.iter().map(|place| place.port);
        ports
            .map(|port| (Ipv4Addr::LOCALHOST, port).into())
            .collect()
    }

    /// Puts the proxy between the members, so that they know each other by their aliases only.
    pub(super) async fn put_proxy_between(&mut self) -> Result<(), Failure> {
        let child = self.launcher.start_between("chaos", None);
        let child =
            child.map_err(|error| Failure::Testbed(format!("cannot start the proxy: {error}")))?;
        let members = self.addresses();
        self.proxy = Some(Proxy::new(child, self.cluster.plan, members));
        let bound = |proxy: &Proxy| !proxy.aliases.is_empty();
        self.until_proxy("open its aliases", bound).await
    }
}
