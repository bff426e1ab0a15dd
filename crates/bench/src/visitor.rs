//! Somebody who has the live page open: opens it, finishes what they would do, and reads all that is told.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

use orchestrator::Failure;

/// A visitor on a thread of its own.
pub(crate) struct Visitor {
    reading: JoinHandle<io::Result<u64>>,
}

impl Visitor {
    /// Opens the page at this address.
    pub(crate) fn begin(address: &str) -> Self {
        let address = address.to_owned();
        let reading = std::thread::spawn(move || read_all(&address));
        Self { reading }
    }

    /// When the page is no longer served: how many times it was told something.
    pub(crate) fn end(self) -> Result<u64, Failure> {
        let read = self.reading.join();
        let read = read.map_err(|_| Failure::Testbed("the visitor of the page died".to_owned()))?;
        read.map_err(|error| Failure::Testbed(format!("the live page: {error}")))
    }
}

fn read_all(address: &str) -> io::Result<u64> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it has no such address");
    let rest = address.strip_prefix("http://").ok_or_else(wrong)?;
    let (host, place) = rest.split_once('/').ok_or_else(wrong)?;
    let opened = ask(host, &format!("GET /{place}"), "", "")?;
    let cookie = opened.lines().map_while(Result::ok);
    let mut cookie = cookie.filter_map(|line| {
        let value = line.strip_prefix("set-cookie: ")?.split(';').next()?;
        Some(format!("Cookie: {value}\r\n"))
    });
    let cookie = cookie.next().ok_or_else(wrong)?;
    ask(host, "POST /act", &cookie, r#"{"act":"finish"}"#)?;
    let told = ask(host, "GET /events", &cookie, "")?;
    let lines = told.lines().map_while(Result::ok);
    Ok(lines.filter(|line| line.starts_with("data: ")).count() as u64)
}

fn ask(host: &str, request: &str, more: &str, body: &str) -> io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(host)?;
    let length = body.len();
    let text = format!(
        "{request} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes())?;
    Ok(BufReader::new(stream))
}
