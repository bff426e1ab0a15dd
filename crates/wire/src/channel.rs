//! A child's line to the process that started it: a JSON object per line, on stdin and stdout.

use std::io::{self, Write};
use std::marker::PhantomData;
use std::os::fd::AsFd;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::net::unix::pipe;

/// The child's end of the control channel: it receives messages on stdin and sends messages on stdout.
pub struct Channel<Received, Sent> {
    lines: Lines<BufReader<Box<dyn AsyncRead + Unpin>>>,
    speaks: PhantomData<fn(Sent) -> Received>,
}

impl<Received: DeserializeOwned, Sent: Serialize> Channel<Received, Sent> {
    /// Takes over stdin. A pipe is waited for like a socket; anything else needs a thread.
    pub fn open() -> io::Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        let reader: Box<dyn AsyncRead + Unpin> = match pipe::Receiver::from_owned_fd(stdin) {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()),
        };
        Ok(Self {
            lines: BufReader::new(reader).lines(),
            speaks: PhantomData,
        })
    }

    /// The next message of the parent; `None` when stdin has ended. May be cancelled and asked again.
    pub async fn next(&mut self) -> Result<Option<Received>, String> {
        let line = self.lines.next_line().await;
        match line.map_err(|error| format!("cannot read stdin: {error}"))? {
            None => Ok(None),
            Some(line) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| format!("an order on stdin is not understood: {error}")),
        }
    }

    /// Sends a message to the parent. A parent that is gone will not miss it; its end of stdin ends
    /// this process.
    pub fn say(&self, message: &Sent) {
        let mut line = serde_json::to_vec(message).expect("a message is plain data");
        line.push(b'\n');
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}
