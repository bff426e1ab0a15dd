//! The member's end of the control channel.

use std::io::{self, Write};
use std::os::fd::AsFd;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::net::unix::pipe;

use crate::control::{Order, Report};

/// Hears orders on stdin and reports on stdout.
pub(super) struct ControlChannel {
    orders: Lines<BufReader<Box<dyn AsyncRead + Unpin>>>,
}

impl ControlChannel {
    /// Takes over stdin. A pipe is waited for like a socket; anything else needs a thread.
    pub(super) fn open() -> io::Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        let reader: Box<dyn AsyncRead + Unpin> = match pipe::Receiver::from_owned_fd(stdin) {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()),
        };
        Ok(Self {
            orders: BufReader::new(reader).lines(),
        })
    }

    /// The next order; `None` when stdin has ended. May be cancelled and asked again.
    pub(super) async fn next(&mut self) -> Result<Option<Order>, String> {
        let line = self.orders.next_line().await;
        match line.map_err(|error| format!("cannot read stdin: {error}"))? {
            None => Ok(None),
            Some(line) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| format!("an order on stdin is not understood: {error}")),
        }
    }

    /// Says something. A parent that is gone will not miss it; its end of stdin ends this process.
    pub(super) fn say(&self, report: &Report) {
        let mut line = serde_json::to_vec(report).expect("a report is plain data");
        line.push(b'\n');
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}
