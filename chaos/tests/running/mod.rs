//! A running `chaos`, and requests to it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Longer than anything here takes on the busiest machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A running proxy between two sockets; it is gone when this is.
pub(crate) struct Running {
    pub members: Vec<UdpSocket>,
    pub aliases: Vec<String>,
    pub child: Child,
    pub out: BufReader<ChildStdout>,
    pub api: String,
    pub token: String,
}

impl Running {
    /// One between a and b.
    pub(crate) fn start(more: &[&str]) -> Self {
        let members = [socket(), socket()];
        let link = |name: &str, n: usize| {
            let address = members[n].local_addr().expect("an address");
            format!("--link={name}={address}")
        };
        let links = [link("a", 0), link("b", 1)];
        let mut command = chaos();
        command.args(links).args(more);
        Self::spawn(command, members)
    }

    /// The one that this command starts, between two members; its token comes from the environment or
    /// is printed.
    pub(crate) fn spawn(mut command: Command, members: [UdpSocket; 2]) -> Self {
        let chosen = command.get_envs().find(|(name, _)| *name == "CHAOS_TOKEN");
        let chosen = chosen.and_then(|(_, value)| Some(value?.to_str()?.to_owned()));
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("its output is ours"));
        let mut line = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("a line");
            line
        };
        let last = |line: String| line.split_whitespace().last().expect("a word").to_owned();
        let aliases = vec![last(line()), last(line())];
        let control = line();
        let mut words = control.split_whitespace();
        let api = words
            .nth(1)
            .expect("an address")
            .trim_start_matches("http://")
            .to_owned();
        let printed = words.next_back().expect("a token").to_owned();
        let token = chosen.unwrap_or(printed);
        Self {
            child,
            out,
            members: members.into(),
            aliases,
            api,
            token,
        }
    }

    /// A connection to the API.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.api).expect("the port is open");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        stream
    }

    /// Sends a request with this token, and returns the status and the body.
    pub(crate) fn ask_as(
        &self,
        token: Option<&str>,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, String) {
        let token = token.map_or(String::new(), |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let head = format!("{token}Content-Type: application/json\r\n");
        let (status, _, body) = self.ask_with(&head, method, path, body);
        (status, body)
    }

    /// Sends a request with these headers, and returns the status, the head and the body.
    pub(crate) fn ask_with(
        &self,
        head: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = self.connect();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: chaos\r\n{head}Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("a request");
        let reply = std::io::read_to_string(stream).expect("a reply");
        let status = reply.split(' ').nth(1).and_then(|word| word.parse().ok());
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let head = head.to_ascii_lowercase();
        (status.expect("a status"), head, body.to_owned())
    }

    /// Sends a request with the right token.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask_as(Some(&self.token), method, path, body)
    }

    /// Whether what a sends to b arrives.
    pub(crate) fn passes(&self) -> bool {
        self.members[0]
            .send_to(b"ping", &self.aliases[1])
            .expect("sent");
        let patience = Duration::from_millis(100);
        self.members[1]
            .set_read_timeout(Some(patience))
            .expect("a deadline");
        self.members[1].recv(&mut [0; 10]).is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, which nobody has told anything yet.
pub(crate) fn chaos() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
    command.env_remove("CHAOS_TOKEN");
    command
}

/// A UDP socket that waits no longer than the deadline.
pub(crate) fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    socket
}
