//! Who is who: the address book, the key of the run, and the proxy between the members.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use algorithms::NodeId;
use node::control::{Group, Start, ToMember};
use transport::frame::Key;

use super::Supervisor;
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
        let book = match &self.proxy {
            Some(proxy) => proxy.aliases.clone(),
            None => self.addresses(),
        };
        let group = ToMember::Group(Box::new(Group {
            plan: self.plan.clone(),
            book,
            run: u64::from_le_bytes(run.try_into().expect("8 of 40 bytes")),
            key: Key::new(key.try_into().expect("32 of 40 bytes")),
            dir: self.cluster.dir.to_owned(),
        }));
        self.group = Some(line(&group).into());
        for node in 0..self.seats.len() {
            self.introduce_to(NodeId(node as u32));
        }
        Ok(())
    }

    pub(crate) fn introduce_to(&self, node: NodeId) {
        let seat = &self.seats[node.index()];
        if let (Some(group), Some(child)) = (&self.group, &seat.child) {
            child.tell_line(Arc::clone(group));
            seat.tell(ToMember::Start(Start {
                me: node,
                incarnation: seat.incarnation,
            }));
        }
    }

    /// Where the members themselves are.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let ports = self.seats.iter().map(|seat| seat.port);
        ports
            .map(|port| (Ipv4Addr::LOCALHOST, port).into())
            .collect()
    }

    /// Puts the proxy between the members, so that they know each other by their aliases only.
    pub(crate) async fn put_proxy_between(&mut self) -> Result<(), EngineError> {
        let child = self.launcher.start_between("chaos", None);
        let child = child
            .map_err(|error| EngineError::Testbed(format!("cannot start the proxy: {error}")))?;
        let members = self.addresses();
        self.proxy = Some(Proxy::new(child, self.plan, members));
        let late = |supervisor: &Self| {
            let mut proxy = supervisor.proxy.iter();
            let late = proxy.any(|proxy| proxy.aliases.is_empty());
            late.then(|| "the proxy".to_owned())
        };
        self.until("open its aliases", late).await
    }
}
