//! The sockets: batches in, batches out.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustc_hash::FxHashMap;
use socket2::{Domain, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::fate::Member;

/// The aliases of all members, and where the members are.
pub(super) struct Wire {
    aliases: Vec<Alias>,
    members: Vec<Option<SocketAddr>>,
    by_address: FxHashMap<SocketAddr, Member>,
    batch: Batch,
    /// Datagrams that the kernel did not take.
    pub unsent: u64,
}

struct Alias {
    socket: Rc<UdpSocket>,
    state: UdpSocketState,
}

/// Datagrams of equal length from one alias to one member, which go out in one call.
#[derive(Default)]
struct Batch {
    from: Member,
    to: Member,
    /// One after the other.
    contents: Vec<u8>,
    /// How long each is; the last may be shorter.
    length: usize,
    count: usize,
    /// One was shorter, so it is the last.
    closed: bool,
}

/// Room for a batch of datagrams from a socket.
pub(super) struct Inbox {
    room: Vec<u8>,
    about: [RecvMeta; BATCH_SIZE],
}

impl Inbox {
    pub fn new() -> Self {
        Self {
            room: vec![0; BATCH_SIZE * LONGEST],
            about: [RecvMeta::default(); BATCH_SIZE],
        }
    }

    /// The first so many datagrams, and where each comes from.
    pub fn datagrams(&self, count: usize) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let filled = self.about[..count].iter().zip(self.room.chunks(LONGEST));
        filled.flat_map(|(about, room)| {
            // The kernel may have put several of one sender into one buffer; an empty one is still one.
            let each = about.stride.clamp(1, LONGEST);
            let pieces = about.len.div_ceil(each).max(1);
            let piece = move |n: usize| &room[n * each..about.len.min((n + 1) * each)];
            (0..pieces).map(move |n| (about.addr, piece(n)))
        })
    }
}

/// No datagram is longer, and no bundle of datagrams either.
const LONGEST: usize = 65_536;
/// What UDP carries at most, even when the kernel cuts it into several datagrams.
const LONGEST_BATCH: usize = 65_507;
/// So that bursts find room; the kernel gives what it allows.
const SOCKET_BUFFER: usize = 4 << 20;

impl Wire {
    pub fn bind(bind: IpAddr, members: Vec<Option<SocketAddr>>) -> io::Result<Self> {
        let aliases = members.iter().map(|_| Alias::bind(bind));
        let known = members.iter().enumerate();
        let known = known.filter_map(|(member, address)| Some(((*address)?, member as Member)));
        Ok(Self {
            aliases: aliases.collect::<io::Result<_>>()?,
            by_address: known.collect(),
            members,
            batch: Batch::default(),
            unsent: 0,
        })
    }

    pub fn aliases(&self) -> io::Result<Vec<SocketAddr>> {
        let aliases = self.aliases.iter();
        aliases.map(|alias| alias.socket.local_addr()).collect()
    }

    pub fn socket(&self, member: Member) -> Rc<UdpSocket> {
        Rc::clone(&self.aliases[member as usize].socket)
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

    /// Fills the inbox with what was sent to an alias, and says how many buffers it took; 0 if nothing
    /// is there.
    pub fn receive(&self, to: Member, inbox: &mut Inbox) -> io::Result<usize> {
        let Alias { socket, state } = &self.aliases[to as usize];
        let received = socket.try_io(Interest::READABLE, || {
            let mut rooms = inbox.room.chunks_mut(LONGEST);
            let mut rooms: [IoSliceMut<'_>; BATCH_SIZE] = std::array::from_fn(|_| {
                IoSliceMut::new(rooms.next().expect("as many rooms as a batch has"))
            });
            state.recv(UdpSockRef::from(&**socket), &mut rooms, &mut inbox.about)
        });
        match received {
            Ok(count) => Ok(count),
            Err(error) if is_passing(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Sends a datagram from the alias of one member to another, together with others like it. What
    /// comes last must be [`flush`](Self::flush)ed.
    pub fn send(&mut self, from: Member, to: Member, bytes: &[u8]) {
        let most = self.aliases[from as usize].state.max_gso_segments();
        if !self.batch.fits(from, to, bytes.len(), most) {
            self.flush();
            self.batch.from = from;
            self.batch.to = to;
            self.batch.length = bytes.len();
        }
        self.batch.contents.extend_from_slice(bytes);
        self.batch.count += 1;
        self.batch.closed = bytes.len() < self.batch.length;
    }

    /// Sends what was left to be sent together.
    pub fn flush(&mut self) {
        let batch = &mut self.batch;
        if batch.count == 0 {
            return;
        }
        let Alias { socket, state } = &self.aliases[batch.from as usize];
        let Some(destination) = self.members[batch.to as usize] else {
            self.unsent += batch.count as u64;
            batch.clear();
            return;
        };
        let send = |contents: &[u8], segment_size: Option<usize>| {
            let transmit = Transmit {
                destination,
                ecn: None,
                contents,
                segment_size,
                src_ip: None,
            };
            state.try_send(UdpSockRef::from(&**socket), &transmit)
        };
        let together = (batch.count > 1).then_some(batch.length);
        if send(&batch.contents, together).is_err() {
            // Perhaps the way does not take bundles: one by one then.
            let pieces = batch.contents.chunks(batch.length.max(1));
            let failed = match batch.count {
                1 => 1,
                _ => pieces.filter(|piece| send(piece, None).is_err()).count(),
            };
            self.unsent += failed as u64;
        }
        batch.clear();
    }
}

impl Alias {
    fn bind(bind: IpAddr) -> io::Result<Self> {
        let domain = match bind {
            IpAddr::V4(_) => Domain::IPV4,
            IpAddr::V6(_) => Domain::IPV6,
        };
        let socket = Socket::new(domain, Type::DGRAM, None)?;
        // The kernel may give less, which costs room for bursts and nothing else.
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::new(bind, 0).into())?;
        let socket = UdpSocket::from_std(socket.into())?;
        Ok(Self {
            state: UdpSocketState::new(UdpSockRef::from(&socket))?,
            socket: Rc::new(socket),
        })
    }
}

impl Batch {
    fn fits(&self, from: Member, to: Member, length: usize, most: usize) -> bool {
        self.count > 0
            && self.from == from
            && self.to == to
            && !self.closed
            && length > 0
            && length <= self.length
            && self.count < most
            && self.contents.len() + length <= LONGEST_BATCH
    }

    fn clear(&mut self) {
        self.contents.clear();
        self.count = 0;
        self.closed = false;
    }
}

/// Whether the socket is still good: there was nothing, or somebody else's port is closed.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
