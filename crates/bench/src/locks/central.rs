//! The least that a lock server over UDP can be: it has a line of who waits, and lets in the first.
//!
//! Nothing is repeated that is lost; on loopback nothing is, as long as everybody has at most one question open.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::time::Duration;

use wire::ChildArgs;

use super::contender::Lock;

/// The first argument of a server.
pub(crate) const SERVER: &str = "--child=lock-server";

/// What a client says; one that leaves and asks again says both at once.
const ASK: u8 = 1;
const RELEASE: u8 = 2;
/// What a message is long that our members pass on: the token.
const BYTES: usize = 64;

/// Is the server.
pub(crate) fn child(arguments: ChildArgs) -> ExitCode {
    let served = || -> Result<(), String> {
        arguments.settle()?;
        serve().map_err(|error| error.to_string())
    };
    match served() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}

fn serve() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", socket.local_addr()?)?;
    stdout.flush()?;
    let mut line = VecDeque::<SocketAddr>::new();
    let mut inside = false;
    let mut message = [0; BYTES];
    loop {
        let (_, from) = socket.recv_from(&mut message)?;
        let what = message[0];
        if what & RELEASE != 0 {
            inside = false;
        }
        if what & ASK != 0 {
            line.push_back(from);
        }
        if !inside && let Some(next) = line.pop_front() {
            inside = true;
            socket.send_to(&message, next)?;
        }
    }
}

/// A client of it.
pub(super) struct Central {
    socket: UdpSocket,
    /// What tells the server of leaving, until the next request takes it along; 0 if nothing waits.
    put_off: u8,
}

impl Central {
    pub(super) fn connect(at: &str) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(at)?;
        socket.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self { socket, put_off: 0 })
    }

    fn say(&self, what: u8) -> io::Result<()> {
        let mut message = [0; BYTES];
        message[0] = what;
        self.socket.send(&message).map(drop)
    }
}

impl Lock for Central {
    fn acquire(&mut self) -> io::Result<()> {
        let what = ASK | std::mem::take(&mut self.put_off);
        self.say(what)?;
        self.socket.recv(&mut [0; BYTES]).map(drop)
    }

    fn release(&mut self) -> io::Result<()> {
        self.put_off = RELEASE;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let what = std::mem::take(&mut self.put_off);
        self.say(what)
    }
}
