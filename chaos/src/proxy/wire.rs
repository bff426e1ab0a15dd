//! The sockets of the proxy: an alias for each member.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::fate::Member;
use crate::wire::{Bundle, Overflows, Port};

/// The aliases of all members, and where the members are.
pub(super) struct Wire {
    aliases: Vec<Rc<Port>>,
    members: Vec<Option<SocketAddr>>,
    by_address: FxHashMap<SocketAddr, Member>,
    /// What leaves next, and from whose alias.
    bundle: Bundle,
    bundled_from: Member,
    /// Datagrams to a member that nobody has heard of yet.
    unaddressed: u64,
}

/// So that bursts find room.
const SOCKET_BUFFER: usize = 4 << 20;

impl Wire {
    pub fn bind(bind: IpAddr, members: Vec<Option<SocketAddr>>) -> io::Result<Self> {
        let alias = |_| Port::bind(SocketAddr::new(bind, 0), SOCKET_BUFFER).map(Rc::new);
        let aliases = members.iter().map(alias);
        let known = members.iter().enumerate();
        let known = known.filter_map(|(member, address)| Some(((*address)?, member as Member)));
        Ok(Self {
            aliases: aliases.collect::<io::Result<_>>()?,
            by_address: known.collect(),
            members,
            bundle: Bundle::default(),
            bundled_from: 0,
            unaddressed: 0,
        })
    }

    pub fn aliases(&self) -> io::Result<Vec<SocketAddr>> {
        self.aliases.iter().map(|alias| alias.address()).collect()
    }

    pub fn alias(&self, member: Member) -> Rc<Port> {
        Rc::clone(&self.aliases[member as usize])
    }

    /// Where a member is, if that is known.
    pub fn address(&self, member: Member) -> Option<SocketAddr> {
        self.members[member as usize]
    }

    /// Whose address this is.
    pub fn member_at(&self, address: SocketAddr) -> Option<Member> {
        self.by_address.get(&address).copied()
    }

    /// Gives the address to the first member that has none and is not the addressee.
    pub fn adopt(&mut self, address: SocketAddr, not: Member) -> Option<Member> {
        let mut strangers = (0..).zip(&mut self.members);
        let (member, place) = strangers.find(|(member, at)| at.is_none() && *member != not)?;
        *place = Some(address);
        self.by_address.insert(address, member);
        Some(member)
    }

    /// Sends a datagram from the alias of one member to another, together with others like it. What
    /// comes last must be [`flush`](Self::flush)ed.
    pub fn send(&mut self, from: Member, to: Member, bytes: &[u8]) {
        let Some(address) = self.members[to as usize] else {
            self.unaddressed += 1;
            return;
        };
        if from != self.bundled_from {
            self.flush();
            self.bundled_from = from;
        }
        // What the kernel does not take is lost, as on any network, and counted.
        let _ = self
            .bundle
            .send(&self.aliases[from as usize], address, bytes);
    }

    /// Sends what was left to be sent together.
    pub fn flush(&mut self) {
        let _ = self.bundle.flush(&self.aliases[self.bundled_from as usize]);
    }

    /// Datagrams that the kernel dropped because an alias was full, where that can be read.
    pub fn overflowed(&self) -> Option<u64> {
        Some(Overflows::read().ok()?.sum(self.aliases().ok()?))
    }

    /// Datagrams that did not leave.
    pub fn unsent(&self) -> u64 {
        self.unaddressed + self.bundle.unsent()
    }
}
