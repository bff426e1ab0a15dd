//! etcd's own lock service, through the JSON gateway that every etcd has: a lease for each client, and a key in
//! line for each request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::contender::Lock;

/// The lock's name, `lock`, as the gateway wants bytes written: in base64.
const NAME: &str = "bG9jaw==";
/// How long a client's key stays when it dies.
const LEASE_S: u32 = 60;

/// A client with its lease.
pub(super) struct Session {
    stream: BufReader<TcpStream>,
    lease: Value,
    /// The key that this client owns, as the server wrote it.
    key: Value,
}

impl Session {
    pub(super) fn connect(at: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(at)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut session = Self {
            stream: BufReader::new(stream),
            lease: Value::Null,
            key: Value::Null,
        };
        let granted = session.post("lease/grant", &json!({ "TTL": LEASE_S }))?;
        session.lease = granted["ID"].clone();
        Ok(session)
    }

    fn post(&mut self, what: &str, body: &Value) -> io::Result<Value> {
        let body = body.to_string();
        let request = format!(
            "POST /v3/{what} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let answer = self.answer()?;
        let answer = serde_json::from_slice::<Value>(&answer)?;
        match answer.get("error") {
            Some(error) => Err(io::Error::other(error.to_string())),
            None => Ok(answer),
        }
    }

    /// The body of the answer, whole or in chunks.
    fn answer(&mut self) -> io::Result<Vec<u8>> {
        let mut length = None;
        self.line()?;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse::<usize>().ok();
            }
        }
        let mut body = Vec::new();
        match length {
            Some(length) => self.read_into(&mut body, length)?,
            None => loop {
                let size = self.line()?;
                let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
                self.read_into(&mut body, size)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            },
        }
        Ok(body)
    }

    fn read_into(&mut self, body: &mut Vec<u8>, length: usize) -> io::Result<()> {
        let begin = body.len();
        body.resize(begin + length, 0);
        self.stream.read_exact(&mut body[begin..])
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Lock for Session {
    fn acquire(&mut self) -> io::Result<()> {
        let ask = json!({ "name": NAME, "lease": self.lease });
        self.key = self.post("lock/lock", &ask)?["key"].take();
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        let key = json!({ "key": self.key.take() });
        self.post("lock/unlock", &key).map(drop)
    }
}
