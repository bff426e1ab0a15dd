//! Datagrams that the kernel dropped at a socket that was full.
//!
//! Nobody is told of them: the sender has sent, and the receiver sees nothing. The kernel counts
//! them, and shows the count as the last column of `/proc/net/udp`.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How many datagrams each socket of this network namespace, by where it is bound, has dropped.
#[derive(Clone, Debug, Default)]
pub struct Overflows {
    drops: HashMap<SocketAddr, u64>,
}

impl Overflows {
    /// Reads what the kernel has counted until now.
    pub fn read() -> io::Result<Self> {
        let four = std::fs::read_to_string("/proc/net/udp")?;
        // Where there is no IPv6 there is no such file.
        let six = std::fs::read_to_string("/proc/net/udp6").unwrap_or_default();
        Ok(Self::parse(&four, &six))
    }

    fn parse(four: &str, six: &str) -> Self {
        let lines = four.lines().chain(six.lines());
        Self {
            drops: lines.filter_map(line).collect(),
        }
    }

    /// How many were dropped at the socket that is bound there; none if there is no such socket.
    pub fn at(&self, address: SocketAddr) -> Option<u64> {
        self.drops.get(&address).copied()
    }

    /// How many were dropped at these sockets together.
    pub fn sum(&self, addresses: impl IntoIterator<Item = SocketAddr>) -> u64 {
        let counts = addresses.into_iter().filter_map(|address| self.at(address));
        counts.sum()
    }
}

/// Where a socket is bound, which is the second field, and its drops, which are the last.
fn line(line: &str) -> Option<(SocketAddr, u64)> {
    let mut fields = line.split_whitespace();
    let (host, port) = fields.nth(1)?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let drops = fields.last()?.parse().ok()?;
    Some((SocketAddr::new(self::host(host)?, port), drops))
}

/// An address as the kernel prints it: words of 32 bits, each as this machine holds it.
fn host(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = digits.get(at..at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match digits.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let octets: [u8; 16] = words.concat().try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_and_drops_are_read_as_the_kernel_prints_them() {
        let four = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n \
             2112: 0100007F:B01E 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 21071 2 000000003d3ee4d3 34594\n";
        let six = "  530: 00000000000000000000000001000000:0035 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 9 2 0 7\n";
        let overflows = Overflows::parse(four, six);
        let at = |address: &str| overflows.at(address.parse().expect("an address"));
        assert_eq!(at("127.0.0.1:45086"), Some(34_594));
        assert_eq!(at("[::1]:53"), Some(7));
        assert_eq!(at("127.0.0.1:45087"), None);
    }

    #[test]
    fn what_does_not_fit_into_a_socket_is_counted() {
        let full = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let there = full.local_addr().expect("an address");
        let before = Overflows::read().expect("the kernel counts").at(there);
        assert_eq!(before, Some(0));
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        // No buffer holds 8 MiB; 208 KiB are usual.
        for _ in 0..8_192 {
            from.send_to(&[0; 1_024], there).expect("loopback takes it");
        }
        let dropped = Overflows::read().expect("the kernel counts").sum([there]);
        assert!(dropped > 0, "{dropped}");
    }
}
