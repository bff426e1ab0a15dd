//! A child's line to the process that started it: a JSON object per line, on stdin and stdout.

use std::io::{self, Write};
use std::marker::PhantomData;
use std::os::fd::AsFd;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::net::unix::pipe;

/// Hears orders on stdin and reports on stdout.
pub struct Channel<Order, Report> {
    orders: Lines<BufReader<Box<dyn AsyncRead + Unpin>>>,
    speaks: PhantomData<fn(Report) -> Order>,
}

impl<Order: DeserializeOwned, Report: Serialize> Channel<Order, Report> {
    /// Takes over stdin. A pipe is waited for like a socket; anything else needs a thread.
    pub fn open() -> io::Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        let reader: Box<dyn AsyncRead + Unpin> = match pipe::Receiver::from_owned_fd(stdin) {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()),
        };
        Ok(Self {
            orders: BufReader::new(reader).lines(),
            speaks: PhantomData,
        })
    }

    /// The next order; `None` when stdin has ended. May be cancelled and asked again.
    pub async fn next(&mut self) -> Result<Option<Order>, String> {
        let line = self.orders.next_line().await;
        match line.map_err(|error| format!("cannot read stdin: {error}"))? {
            None => Ok(None),
            Some(line) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| format!("an order on stdin is not understood: {error}")),
        }
    }

    /// Says something. A parent that is gone will not miss it; its end of stdin ends this process.
    pub fn say(&self, report: &Report) {
        let mut line = serde_json::to_vec(report).expect("a report is plain data");
        line.push(b'\n');
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}
