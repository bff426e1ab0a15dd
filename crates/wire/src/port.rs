//! A UDP socket that takes in many datagrams with one call.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover};

use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::child::Bind;

/// A bound UDP socket.
pub struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
    /// A datagram was too long for the path in one piece.
    narrow: AtomicBool,
}

/// Room for a batch of datagrams from a port.
pub struct Inbox {
    /// The kernel's zero pages until a datagram is written there: most of it is never touched.
    room: Vec<u8>,
    about: [RecvMeta; BATCH_SIZE],
}

/// No datagram is longer, and no bundle of datagrams either.
const LONGEST: usize = 65_536;

/// What UDP carries at most, even when the kernel cuts it into several datagrams.
pub(super) const LONGEST_DATAGRAM: usize = 65_507;

impl Port {
    /// Binds the address, with that many bytes of kernel buffer asked for on each side; the kernel
    /// may give less, which costs room for bursts and nothing else. Needs a running tokio runtime.
    pub fn bind(address: SocketAddr, buffer: usize) -> io::Result<Self> {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let _ = socket.set_recv_buffer_size(buffer);
        let _ = socket.set_send_buffer_size(buffer);
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        let socket = UdpSocket::from_std(socket.into())?;
        Ok(Self {
            state: UdpSocketState::new(UdpSockRef::from(&socket))?,
            socket,
            narrow: AtomicBool::new(false),
        })
    }

    /// Binds the first free port that may be taken, otherwise like [`bind`](Self::bind).
    pub fn bind_within(place: Bind, buffer: usize) -> io::Result<Self> {
        let Some((first, last)) = place.ports else {
            return Self::bind((place.address, 0).into(), buffer);
        };
        for port in first..=last {
            match Self::bind((place.address, port).into(), buffer) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && first < last => {}
                bound => return bound,
            }
        }
        let none = format!("all ports from {first} to {last} are taken");
        Err(io::Error::new(io::ErrorKind::AddrInUse, none))
    }

    /// Whether the path has turned out not to take every datagram in one piece.
    pub fn is_narrow(&self) -> bool {
        self.narrow.load(Ordering::Relaxed)
    }

    /// Where it is bound.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Waits until there may be something to receive.
    pub async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Fills the inbox with what has arrived, and says how many of its places that took: 0 if
    /// nothing is there.
    pub fn receive(&self, inbox: &mut Inbox) -> io::Result<usize> {
        let received = self
            .socket
            .try_io(Interest::READABLE, || self.receive_now(inbox));
        match received {
            Err(error) if is_passing(&error) => Ok(0),
            received => received,
        }
    }

    /// Like [`receive`](Self::receive), for a caller that has not waited until the port is
    /// readable: it asks the kernel.
    pub fn receive_more(&self, inbox: &mut Inbox) -> io::Result<usize> {
        match self.receive_now(inbox) {
            Err(error) if is_passing(&error) => Ok(0),
            received => received,
        }
    }

    fn receive_now(&self, inbox: &mut Inbox) -> io::Result<usize> {
        let mut rooms = inbox.room.chunks_mut(LONGEST);
        let mut rooms: [IoSliceMut<'_>; BATCH_SIZE] = std::array::from_fn(|_| {
            IoSliceMut::new(rooms.next().expect("as many rooms as a batch has"))
        });
        self.state
            .recv(UdpSockRef::from(&self.socket), &mut rooms, &mut inbox.about)
    }

    /// How many datagrams of equal length one call can send.
    pub(super) fn at_once(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Sends one datagram, or several of equal length that stand one after the other.
    pub(super) fn send(
        &self,
        destination: SocketAddr,
        contents: &[u8],
        each: Option<usize>,
    ) -> io::Result<()> {
        let (ecn, src_ip) = (None, None);
        let transmit = Transmit {
            destination,
            ecn,
            contents,
            segment_size: each,
            src_ip,
        };
        let send = || {
            self.state
                .try_send(UdpSockRef::from(&self.socket), &transmit)
        };
        match send() {
            // Shorter datagrams can be made in future, but this one must still get through: it may be
            // somebody else's, or carry what cannot be cut again.
            Err(error) if is_too_long(&error) && contents.len() <= LONGEST_DATAGRAM => {
                self.narrow.store(true, Ordering::Relaxed);
                self.allow_fragments()?;
                send()
            }
            sent => sent,
        }
    }

    /// Lets the kernel send a datagram in pieces that is too long for the path.
    fn allow_fragments(&self) -> io::Result<()> {
        let dont = Ipv4PathMtuDiscovery::DONT;
        set_ip_mtu_discover(&self.socket, dont).map_err(io::Error::from)
    }
}

impl Inbox {
    /// An inbox with nothing in it.
    pub fn new() -> Self {
        Self {
            room: vec![0; BATCH_SIZE * LONGEST],
            about: [RecvMeta::default(); BATCH_SIZE],
        }
    }

    /// The datagrams in the first `places` places, and the address that each comes from.
    pub fn datagrams(&self, places: usize) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let filled = self.about[..places].iter().zip(self.room.chunks(LONGEST));
        filled.flat_map(|(about, room)| {
            // The kernel may have put several of one sender into one place; an empty one is still one.
            let each = about.stride.clamp(1, LONGEST);
            let pieces = about.len.div_ceil(each).max(1);
            let piece = move |n: usize| &room[n * each..about.len.min((n + 1) * each)];
            (0..pieces).map(move |n| (about.addr, piece(n)))
        })
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a datagram is longer than the path takes in one piece.
fn is_too_long(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::MSGSIZE)
}

/// Whether the socket is still good: there was nothing, no room, or somebody else's port is closed.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
