//! Datagrams that go out together.

use std::io;
use std::net::SocketAddr;

use super::port::{LONGEST_DATAGRAM, Port, is_passing};

/// Collects datagrams of equal length to one address, and sends them with one call.
#[derive(Debug, Default)]
pub struct Bundle {
    to: Option<SocketAddr>,
    /// The datagrams, one after the other.
    contents: Vec<u8>,
    /// How long each is; the last may be shorter.
    length: usize,
    count: usize,
    /// A datagram was shorter than the others, so it is the last.
    closed: bool,
    /// Datagrams that the kernel did not take.
    unsent: u64,
}

impl Bundle {
    /// Sends a datagram, together with others like it: at the latest when the bundle is
    /// [`flush`](Self::flush)ed. A bundle goes out from one port only.
    pub fn send(&mut self, port: &Port, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        let sent = match self.fits(to, bytes.len(), port.at_once()) {
            true => Ok(()),
            false => self.flush(port),
        };
        if self.count == 0 {
            self.to = Some(to);
            self.length = bytes.len();
        }
        self.contents.extend_from_slice(bytes);
        self.count += 1;
        self.closed = bytes.len() < self.length;
        sent
    }

    /// Sends what was left to be sent together. What the kernel does not take is lost, as on any
    /// network, and [counted](Self::unsent); an error that is more than a full buffer or a closed
    /// port comes back, for those to whom it matters.
    pub fn flush(&mut self, port: &Port) -> io::Result<()> {
        let (Some(to), 1..) = (self.to, self.count) else {
            return Ok(());
        };
        let together = (self.count > 1).then_some(self.length);
        let mut sent = port.send(to, &self.contents, together);
        if sent.is_err() && self.count > 1 {
            // Perhaps the way does not take bundles: one by one then.
            sent = Ok(());
            for piece in self.contents.chunks(self.length.max(1)) {
                let alone = port.send(to, piece, None);
                self.unsent += u64::from(alone.is_err());
                sent = sent.and(alone);
            }
        } else {
            self.unsent += u64::from(sent.is_err());
        }
        self.contents.clear();
        self.count = 0;
        self.closed = false;
        match sent {
            Err(error) if is_passing(&error) => Ok(()),
            sent => sent,
        }
    }

    /// How many datagrams the kernel did not take.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    fn fits(&self, to: SocketAddr, length: usize, most: usize) -> bool {
        self.count == 0
            || self.to == Some(to)
                && !self.closed
                && (1..=self.length).contains(&length)
                && self.count < most
                && self.contents.len() + length <= LONGEST_DATAGRAM
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::port::Inbox;
    use super::*;

    const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

    /// What arrives at the port, once something does.
    async fn arrived(port: &Port) -> Vec<Vec<u8>> {
        let mut inbox = Inbox::new();
        loop {
            port.readable().await.expect("a socket");
            let places = port.receive(&mut inbox).expect("a socket");
            if places > 0 {
                let datagrams = inbox.datagrams(places).map(|(_, bytes)| bytes.to_vec());
                return datagrams.collect();
            }
        }
    }

    #[tokio::test]
    async fn what_the_kernel_does_not_take_is_counted_and_the_next_one_leaves() {
        let [from, to] = [ANY; 2].map(|any| Port::bind(any.into(), 1 << 16).expect("a port"));
        let mut bundle = Bundle::default();
        // The kernel refuses this one with EACCES: nobody asked to speak to everybody.
        let everybody = (Ipv4Addr::BROADCAST, 9).into();
        for _ in 0..3 {
            let refused = bundle.send(&from, everybody, b"hello");
            assert!(refused.is_ok(), "they wait for each other");
        }
        assert!(bundle.flush(&from).is_err());
        assert_eq!(bundle.unsent(), 3);
        // And this one, which no path takes, with EMSGSIZE.
        let there = to.address().expect("an address");
        let _ = bundle.send(&from, there, &[7; 65_530]);
        assert!(bundle.flush(&from).is_err());
        assert_eq!(bundle.unsent(), 4);
        assert!(!from.is_narrow(), "that was no fault of the path");
        bundle.send(&from, there, b"goodbye").expect("it waits");
        bundle.flush(&from).expect("it leaves");
        assert_eq!(arrived(&to).await, [b"goodbye"]);
        assert_eq!(bundle.unsent(), 4);
    }
}
