//! Datagrams that go out together.

use std::io;
use std::net::SocketAddr;

use super::port::{Port, is_passing};

/// Collects datagrams of equal length to one address, and sends them with one call.
#[derive(Debug, Default)]
pub struct Bundle {
    to: Option<SocketAddr>,
    /// One after the other.
    contents: Vec<u8>,
    /// How long each is; the last may be shorter.
    length: usize,
    count: usize,
    /// One was shorter, so it is the last.
    closed: bool,
    /// Datagrams that the kernel did not take.
    unsent: u64,
}

/// What UDP carries at most, even when the kernel cuts it into several datagrams.
const LONGEST_BUNDLE: usize = 65_507;

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

    /// Sends what was left to be sent together. A full buffer or a closed port loses datagrams, as
    /// any network may; other errors come back.
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
                && self.contents.len() + length <= LONGEST_BUNDLE
    }
}
