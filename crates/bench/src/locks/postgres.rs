//! PostgreSQL's advisory lock, asked for by the simple query protocol over a connection that stays open.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::contender::Lock;

/// Who asks; the server that is started for the benchmark trusts everybody on loopback.
pub(super) const USER: &str = "postgres";
/// Protocol version 3.0.
const PROTOCOL: i32 = 3 << 16;

/// A session of the server.
pub(super) struct Advisory {
    stream: BufReader<TcpStream>,
}

impl Advisory {
    pub(super) fn connect(at: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(at)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut session = Self {
            stream: BufReader::new(stream),
        };
        let mut start = PROTOCOL.to_be_bytes().to_vec();
        start.extend(format!("user\0{USER}\0database\0postgres\0\0").bytes());
        session.write(&[], &start)?;
        session.wait_until_ready()?;
        Ok(session)
    }

    fn ask(&mut self, query: &str) -> io::Result<()> {
        self.write(b"Q", format!("{query}\0").as_bytes())?;
        self.wait_until_ready()
    }

    /// Writes a message: its kind, its length with that of the length, what it says.
    fn write(&mut self, kind: &[u8], body: &[u8]) -> io::Result<()> {
        let length = i32::try_from(body.len() + 4).map_err(io::Error::other)?;
        let message = [kind, &length.to_be_bytes(), body].concat();
        self.stream.get_mut().write_all(&message)
    }

    /// Reads until the server waits for a question.
    fn wait_until_ready(&mut self) -> io::Result<()> {
        loop {
            let mut head = [0; 5];
            self.stream.read_exact(&mut head)?;
            let [kind, length @ ..] = head;
            let length = i32::from_be_bytes(length).saturating_sub(4);
            let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            self.stream.read_exact(&mut body)?;
            match kind {
                b'Z' => return Ok(()),
                b'E' => {
                    return Err(io::Error::other(
                        String::from_utf8_lossy(&body).into_owned(),
                    ));
                }
                b'R' if body != [0; 4] => {
                    return Err(io::Error::other("the server asks for a password"));
                }
                _ => {}
            }
        }
    }
}

impl Lock for Advisory {
    fn acquire(&mut self) -> io::Result<()> {
        self.ask("SELECT pg_advisory_lock(1)")
    }

    fn release(&mut self) -> io::Result<()> {
        self.ask("SELECT pg_advisory_unlock(1)")
    }
}
