//! The limit for the cluster: processes that pass a datagram round, and nothing else.
//!
//! A process of the ring is as small as a process with tokio and a UDP socket can be. It says its
//! port, is told the port of the next one, and passes on whatever it receives until its stdin ends;
//! then it says how often it did.

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UdpSocket;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use wire::ChildArgs;

/// Is one process of the ring.
pub(crate) fn child(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let pass_on = || -> Result<(), String> {
        ChildArgs::from_arguments(arguments)?.settle()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(|error| error.to_string())?;
        runtime
            .block_on(pass_on())
            .map_err(|error| error.to_string())
    };
    match pass_on() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}

async fn pass_on() -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let mut stdout = tokio::io::stdout();
    stdout
        .write_all(format!("{}\n", socket.local_addr()?.port()).as_bytes())
        .await?;
    stdout.flush().await?;
    let mut stdin = BufReader::new(tokio::io::stdin());
    let mut next = String::new();
    stdin.read_line(&mut next).await?;
    let Ok(next) = next.trim().parse::<u16>() else {
        return Ok(());
    };
    let next = (Ipv4Addr::LOCALHOST, next);
    let mut hops = 0_u64;
    let mut rest = Vec::new();
    let mut token = [0; 64];
    tokio::select! {
        _ = stdin.read_to_end(&mut rest) => {}
        passed = async {
            loop {
                let (length, _) = socket.recv_from(&mut token).await?;
                socket.send_to(&token[..length], next).await?;
                hops += 1;
            }
            #[allow(unreachable_code, reason = "says what the loop's errors are")]
            io::Result::Ok(())
        } => passed?,
    }
    stdout.write_all(format!("{hops}\n").as_bytes()).await?;
    stdout.flush().await
}

/// Processes of a ring, not yet connected.
pub(crate) struct Ring {
    links: Vec<Link>,
}

struct Link {
    // The processes are killed when they are dropped.
    _process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    port: u16,
}

impl Ring {
    /// Starts `processes` processes of this program, each on the next of these processors.
    pub(crate) async fn start(
        executable: &Path,
        processes: usize,
        cores: &[usize],
    ) -> io::Result<Self> {
        let mut links = Vec::new();
        for place in 0..processes {
            let core = place.checked_rem(cores.len()).map(|turn| cores[turn]);
            let mut process = Command::new(executable)
                .arg("--child=ring")
                .arg(format!("--parent={}", std::process::id()))
                .args(core.map(|core| format!("--core={core}")))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            let stdin = process.stdin.take().expect("stdin is a pipe");
            let stdout = process.stdout.take().expect("stdout is a pipe");
            let stdout = BufReader::new(stdout);
            links.push(Link {
                _process: process,
                stdin,
                stdout,
                port: 0,
            });
        }
        for link in &mut links {
            link.port = number(&mut link.stdout).await? as u16;
        }
        Ok(Self { links })
    }

    /// How many hops per second one datagram makes round the ring.
    pub(crate) async fn hops_per_second(mut self, time: Duration) -> io::Result<f64> {
        let ports = self.links.iter().map(|link| link.port).collect::<Vec<_>>();
        let nexts = ports.iter().cycle().skip(1);
        for (link, next) in self.links.iter_mut().zip(nexts) {
            link.stdin.write_all(format!("{next}\n").as_bytes()).await?;
        }
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let start = Instant::now();
        socket
            .send_to(&[0; 40], (Ipv4Addr::LOCALHOST, ports[0]))
            .await?;
        tokio::time::sleep(time).await;
        let took = start.elapsed();
        let mut hops = 0;
        for Link {
            stdin, mut stdout, ..
        } in self.links
        {
            drop(stdin);
            hops += number(&mut stdout).await?;
        }
        Ok(hops as f64 / took.as_secs_f64())
    }
}

async fn number(stdout: &mut BufReader<ChildStdout>) -> io::Result<u64> {
    let mut line = String::new();
    stdout.read_line(&mut line).await?;
    line.trim()
        .parse()
        .map_err(|_| io::Error::other("a process of the ring did not print a number"))
}
