//! Two locks that people build of Redis: a token in a list, and a key that is set if it is not there.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::contender::Lock;

/// The list in which the token is.
const TOKEN: &str = "token";
/// The key that is there while somebody is inside.
const KEY: &str = "lock";
/// How long the key stays when its owner dies.
const EXPIRES_MS: &str = "30000";
/// How long a client waits that did not get the key. Clients in use wait longer, and get in less often.
pub(super) const RETRY: Duration = Duration::from_millis(1);
/// Deletes the key if it is still its owner's.
const DELETE_IF_MINE: &str =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

/// A connection that speaks the server's protocol.
struct Client {
    stream: BufReader<TcpStream>,
    /// Commands that have not been sent, and how many answers will come for which nobody waits.
    pending: Vec<u8>,
    unread: usize,
}

impl Client {
    fn connect(at: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(at)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self {
            stream: BufReader::new(stream),
            pending: Vec::new(),
            unread: 0,
        })
    }

    /// Adds a command to those that are sent together.
    fn put_off(&mut self, words: &[&str]) {
        self.pending.extend(format!("*{}\r\n", words.len()).bytes());
        for word in words {
            let word = format!("${}\r\n{word}\r\n", word.len());
            self.pending.extend(word.bytes());
        }
        self.unread += 1;
    }

    /// Sends the commands, and says whether the last one was answered with something.
    fn send(&mut self) -> io::Result<bool> {
        self.stream.get_mut().write_all(&self.pending)?;
        self.pending.clear();
        let mut found = false;
        for _ in 0..std::mem::take(&mut self.unread) {
            found = self.answer()?;
        }
        Ok(found)
    }

    /// Reads one answer to its end; says whether it is more than nothing.
    fn answer(&mut self) -> io::Result<bool> {
        let line = self.line()?;
        let (kind, rest) = line.split_at_checked(1).unwrap_or_default();
        let length = || rest.parse::<i64>().map_err(|_| unknown(&line));
        match kind {
            "+" | ":" => Ok(true),
            "$" => {
                let length = length()?;
                if length >= 0 {
                    self.line()?;
                }
                Ok(length >= 0)
            }
            "*" => {
                let length = length()?;
                for _ in 0..length {
                    self.answer()?;
                }
                Ok(length >= 0)
            }
            _ => Err(unknown(&line)),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

fn unknown(line: &str) -> io::Error {
    io::Error::other(format!("Redis answered '{line}'"))
}

/// Empties the server, and puts the token there.
pub(super) fn prepare(at: &str) -> io::Result<()> {
    let mut client = Client::connect(at)?;
    client.put_off(&["FLUSHALL"]);
    client.put_off(&["RPUSH", TOKEN, "1"]);
    client.send().map(drop)
}

/// The contender that pops the token is inside, and pushes it back. The server lets in the one that waited
/// longest.
pub(super) struct Token(Client);

impl Token {
    pub(super) fn connect(at: &str) -> io::Result<Self> {
        Client::connect(at).map(Self)
    }
}

impl Lock for Token {
    fn acquire(&mut self) -> io::Result<()> {
        self.0.put_off(&["BLPOP", TOKEN, "0"]);
        self.0.send().map(drop)
    }

    /// It goes out together with the next question.
    fn release(&mut self) -> io::Result<()> {
        self.0.put_off(&["RPUSH", TOKEN, "1"]);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.send().map(drop)
    }
}

/// The contender that sets the key is inside, and deletes it if it is still its own; the others try again.
pub(super) struct Key {
    client: Client,
    me: String,
}

impl Key {
    pub(super) fn connect(at: &str, me: usize) -> io::Result<Self> {
        Ok(Self {
            client: Client::connect(at)?,
            me: format!("contender-{me}"),
        })
    }
}

impl Lock for Key {
    fn acquire(&mut self) -> io::Result<()> {
        loop {
            let set = ["SET", KEY, &self.me, "NX", "PX", EXPIRES_MS];
            self.client.put_off(&set);
            if self.client.send()? {
                return Ok(());
            }
            std::thread::sleep(RETRY);
        }
    }

    fn release(&mut self) -> io::Result<()> {
        let delete = ["EVAL", DELETE_IF_MINE, "1", KEY, &self.me];
        self.client.put_off(&delete);
        self.client.send().map(drop)
    }
}
