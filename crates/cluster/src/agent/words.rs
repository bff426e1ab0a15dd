//! What an agent and the orchestrator say to each other, once they know that they may.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use algorithms::NodeId;
use serde::{Deserialize, Serialize};
use wire::Moment;

/// What an agent says of itself in its first, sealed words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Version and commit of its program.
    pub(crate) build: String,
    /// The name of its host, where it was given one.
    pub(crate) name: Option<String>,
    /// What its host calls itself.
    pub(crate) hostname: String,
}

/// What the orchestrator answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The agent is one of ours.
    Welcome(Welcome),
    /// It is not, and why.
    Refused(String),
}

/// What an agent must know before it starts anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// What its host is called in this run.
    pub(crate) host: String,
    /// The network whose address members bind, if it is not the one by which the agent came.
    pub(crate) bind: Option<Network>,
    /// The ports that may be used, if not any.
    pub(crate) ports: Option<(u16, u16)>,
    /// How many members it will have.
    pub(crate) members: u32,
}

/// A network, as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl std::str::FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is no network; write one such as 10.0.0.0/8 or fd00::/8, or an address"
            )
        };
        let (address, bits) = text.split_once('/').unwrap_or((text, ""));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            "" if !text.contains('/') => most,
            bits => bits.parse().map_err(|_| wrong())?,
        };
        match bits <= most {
            true => Ok(Self { address, bits }),
            false => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Network {
    /// Whether an address lies in it.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, false),
            IpAddr::V6(address) => (u128::from(address), true),
        };
        let ((here, six), (there, other_six)) = (bits(self.address), bits(address));
        let mask = u128::MAX.checked_shl(128 - u32::from(self.bits));
        six == other_six && (here ^ there) & mask.unwrap_or(0) == 0
    }
}

/// A process on an agent's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Who {
    /// A member in one of its lives.
    Member {
        /// The number of the member.
        node: NodeId,
        /// Which life it is.
        incarnation: u32,
    },
    /// The proxy of that host.
    Proxy,
}

/// What the orchestrator tells an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToAgent {
    /// Nothing, but that it is there.
    Beat,
    /// Start a process; a member takes this port, or any if it is 0.
    Start {
        /// The process that this is about.
        who: Who,
        /// The port of an earlier life.
        port: u16,
    },
    /// Write this line to a process.
    Tell {
        /// The process that this is about.
        who: Who,
        /// The line, with its end.
        line: Vec<u8>,
    },
    /// Send a process a signal, by its number.
    Signal {
        /// The process that this is about.
        who: Who,
        /// The number of the signal that it gets.
        signal: i32,
    },
    /// Say what your clock shows.
    Clock,
    /// Say how many datagrams the kernel dropped at these sockets.
    Overflows(Vec<SocketAddr>),
    /// Send what the processes have recorded.
    Records,
    /// Send a datagram to each of these addresses, many times, and count what comes back; for the
    /// pre-flight.
    Probe(Vec<SocketAddr>),
    /// The run is over.
    End,
}

/// What an agent tells the orchestrator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    /// Nothing, but that it is there.
    Beat,
    /// It knows the secret, and is ready to start processes.
    Ready {
        /// The address that members bind.
        address: IpAddr,
        /// Where members leave their records.
        dir: PathBuf,
        /// The socket that answers probes.
        echo: SocketAddr,
    },
    /// It cannot do what it is for.
    Failed(String),
    /// A process wrote a line.
    Line {
        /// The process that this is about.
        who: Who,
        /// The line, without its end.
        line: String,
    },
    /// A process ended, or could not be started.
    Ended {
        /// The process that this is about.
        who: Who,
        /// Its wait status, or why there is none.
        status: Result<i32, String>,
        /// The last lines that it wrote to stderr.
        stderr_end: String,
    },
    /// A process was stopped (`true`) or let go on.
    Stopped {
        /// The process that this is about.
        who: Who,
        /// Whether it stands still.
        stopped: bool,
    },
    /// What its clock showed.
    Clock(Moment),
    /// How many datagrams were dropped at each socket, where that is known.
    Overflows(Vec<Option<u64>>),
    /// Some bytes of a file, which follow those before.
    File {
        /// Its name, below the directory of records.
        name: String,
        /// The bytes of this piece of the file.
        bytes: Vec<u8>,
    },
    /// All files are there.
    AllFiles {
        /// How many files were sent.
        files: u32,
        /// How many bytes in all of them.
        bytes: u64,
    },
    /// What came of a probe, by address.
    Probed(Vec<Probed>),
}

/// What came of datagrams to one address and back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Probed {
    /// How many datagrams were sent.
    pub(crate) sent: u32,
    /// Datagrams that came back.
    pub(crate) back: u32,
    /// The shortest round trip.
    pub(crate) shortest_ns: Option<u64>,
    /// The longest datagram that came back in one piece, in bytes of UDP.
    pub(crate) longest: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let network = |text: &str| text.parse::<Network>();
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let ten = network("10.1.0.0/16").expect("a network");
        assert!(ten.contains(address("10.1.255.3")));
        assert!(!ten.contains(address("10.2.0.1")) && !ten.contains(address("::ffff:10.1.0.1")));
        let all = network("::/0").expect("a network");
        assert!(all.contains(address("fd00::1")) && !all.contains(address("10.1.0.1")));
        let one = network("fd00::7").expect("an address");
        assert!(one.contains(address("fd00::7")) && !one.contains(address("fd00::8")));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "x", "10.0.0.1/"] {
            let why = network(wrong).expect_err("it is none");
            assert!(why.contains("10.0.0.0/8"), "{why}");
        }
    }
}
