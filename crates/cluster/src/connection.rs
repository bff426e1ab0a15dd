//! A sealed connection over TCP, as messages: what both ends of it have in common.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use crate::sealed::{Handshake, Opener, Sealer};

/// How often either side says something, if only that it is there.
pub(crate) const BEAT: Duration = Duration::from_secs(1);
/// After how many beats without a word the other side is taken for lost. A process that did not run
/// for a while itself has missed one of them only.
const MISSED: u32 = 5;
/// How long the other side is silent until it is taken for lost.
pub(crate) const SILENCE: Duration = Duration::from_secs(MISSED as u64);

/// How long the other side may take for each part of getting to know each other.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);
/// More than a part of the handshake has: a key, and the seal of nothing.
const HANDSHAKE_BYTES: usize = 256;

/// The half of a connection that receives messages.
pub(crate) struct Incoming {
    half: OwnedReadHalf,
    opener: Opener,
    missed: u32,
    bytes: Vec<u8>,
}

/// The half of a connection that sends messages.
pub(crate) struct Outgoing {
    half: OwnedWriteHalf,
    sealer: Sealer,
}

/// Writes this side's part of the handshake.
pub(crate) async fn say_handshake(
    stream: &mut TcpStream,
    handshake: &mut Handshake,
) -> Result<(), String> {
    let sealed = handshake.say(&[]).map_err(|error| error.to_string())?;
    let written = stream.write_all(&sealed).await;
    written.map_err(|error| error.to_string())
}

/// Reads the other side's part of the handshake.
pub(crate) async fn hear_handshake(
    stream: &mut TcpStream,
    handshake: &mut Handshake,
) -> Result<(), String> {
    let hung_up = |error: io::Error| match is_end(&error) {
        true => "it hung up before it had proved that it knows the join secret".to_owned(),
        false => error.to_string(),
    };
    let mut length = [0; 2];
    stream.read_exact(&mut length).await.map_err(hung_up)?;
    let length = usize::from(u16::from_be_bytes(length));
    if length > HANDSHAKE_BYTES {
        return Err("what it said is no handshake".to_owned());
    }
    let mut sealed = vec![0; length];
    stream.read_exact(&mut sealed).await.map_err(hung_up)?;
    let heard = handshake.hear(&sealed);
    heard.map(drop).map_err(|error| error.to_string())
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// The two directions of a connection whose handshake is over.
pub(crate) fn split(
    stream: TcpStream,
    handshake: Handshake,
) -> Result<(Outgoing, Incoming), String> {
    let (sealer, opener) = handshake.finish().map_err(|error| error.to_string())?;
    // Small messages shall not wait for others.
    stream
        .set_nodelay(true)
        .map_err(|error| error.to_string())?;
    let (read, write) = stream.into_split();
    let outgoing = Outgoing {
        half: write,
        sealer,
    };
    let incoming = Incoming {
        half: read,
        opener,
        missed: 0,
        bytes: vec![0; 1 << 16],
    };
    Ok((outgoing, incoming))
}

impl Outgoing {
    /// Sends a message. Where the other side takes nothing for as long as it may be silent, it is lost:
    /// the kernel itself would try for a quarter of an hour.
    pub(crate) async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let message = postcard::to_stdvec(message).map_err(io::Error::other)?;
        let mut sealed = Vec::with_capacity(message.len() + 64);
        self.sealer.seal(&message, &mut sealed);
        let mut rest = sealed.as_slice();
        while !rest.is_empty() {
            let written = timeout(SILENCE, self.half.write(rest)).await;
            match written.map_err(|_| io::ErrorKind::TimedOut)?? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = &rest[written..],
            }
        }
        Ok(())
    }
}

impl Incoming {
    /// The next message; none if the other side closed the connection. An error says why nothing more
    /// will come.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        loop {
            let message = self.opener.open().map_err(|error| error.to_string())?;
            if let Some(message) = message {
                return postcard::from_bytes(&message)
                    .map(Some)
                    .map_err(|error| format!("a message is not understood: {error}"));
            }
            match timeout(BEAT, self.half.read(&mut self.bytes)).await {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(read)) => {
                    self.missed = 0;
                    self.opener.take_in(&self.bytes[..read]);
                }
                Ok(Err(error)) if is_end(&error) => return Ok(None),
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => {
                    self.missed += 1;
                    if self.missed >= MISSED {
                        return Err(format!("nothing was heard for {SILENCE:?}"));
                    }
                }
            }
        }
    }
}
