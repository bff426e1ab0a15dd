//! The servers that locks need, where they are installed: each starts in a directory of its own, on a port of
//! loopback, and ends with the benchmark.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::central;
use super::postgres;
use super::redis;
use super::subject::Peer;

/// How long a server may take until it lets somebody in.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// A lock that is ready to be contended for.
pub(super) struct Server {
    /// Where it is: an address, or a path.
    pub(super) at: String,
    /// What it says of its version.
    pub(super) version: String,
    child: Option<Child>,
}

impl Server {
    /// Starts what the peer needs, in an empty directory. None if that is not installed.
    pub(super) fn start(peer: Peer, this: &Path, dir: &Path) -> io::Result<Option<Self>> {
        match peer {
            Peer::Central => Self::central(this).map(Some),
            Peer::File => Ok(Some(Self {
                at: dir.join("lock").display().to_string(),
                version: kernel(),
                child: None,
            })),
            Peer::RedisToken | Peer::RedisKey => Self::redis(dir),
            Peer::Postgres => Self::postgres(dir),
            Peer::Etcd => Self::etcd(dir),
        }
    }

    fn central(this: &Path) -> io::Result<Self> {
        let mut child = Command::new(this)
            .arg(central::SERVER)
            .arg(format!("--parent={}", std::process::id()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut at = String::new();
        BufReader::new(stdout).read_line(&mut at)?;
        Ok(Self {
            at: at.trim_end().to_owned(),
            version: "this build".to_owned(),
            child: Some(child),
        })
    }

    fn redis(dir: &Path) -> io::Result<Option<Self>> {
        let Some(program) = installed("redis-server") else {
            return Ok(None);
        };
        let port = free_port()?;
        let mut command = Command::new(&program);
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.args(["--port", &port.to_string()]).current_dir(dir);
        let version = version(&program, "--version");
        let server = Self::spawn(command, port, version)?;
        redis::prepare(&server.at)?;
        Ok(Some(server))
    }

    fn etcd(dir: &Path) -> io::Result<Option<Self>> {
        let Some(program) = installed("etcd") else {
            return Ok(None);
        };
        let (port, peers) = (free_port()?, free_port()?);
        let [clients, peers] = [port, peers].map(|port| format!("http://127.0.0.1:{port}"));
        let mut command = Command::new(&program);
        command.arg("--data-dir").arg(dir.join("data"));
        for flag in ["--listen-client-urls", "--advertise-client-urls"] {
            command.args([flag, &clients]);
        }
        for flag in ["--listen-peer-urls", "--initial-advertise-peer-urls"] {
            command.args([flag, &peers]);
        }
        command.args(["--initial-cluster", &format!("default={peers}")]);
        Self::spawn(command, port, version(&program, "--version")).map(Some)
    }

    fn postgres(dir: &Path) -> io::Result<Option<Self>> {
        let (Some(initdb), Some(program)) =
            (postgres_program("initdb"), postgres_program("postgres"))
        else {
            return Ok(None);
        };
        // It refuses to be root; who is root lends it the directory as its usual user.
        let user = match rustix::process::geteuid().is_root() {
            true => match user_of_postgres() {
                Some(user) => Some(user),
                None => return Ok(None),
            },
            false => None,
        };
        if let Some((uid, gid)) = user {
            chown(dir, Some(uid), Some(gid))?;
            if let Some(above) = dir.parent() {
                fs::set_permissions(above, fs::Permissions::from_mode(0o711))?;
            }
        }
        let as_user = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir(dir);
            if let Some((uid, gid)) = user {
                command.uid(uid).gid(gid);
            }
            command
        };
        let data = dir.join("data");
        let made = as_user(&initdb)
            .args(["--no-sync", "--auth=trust", "--username", postgres::USER])
            .arg("--pgdata")
            .arg(&data)
            .stdin(Stdio::null())
            .output()?;
        if !made.status.success() {
            let why = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(io::Error::other(format!("initdb failed: {why}")));
        }
        let port = free_port()?;
        let mut command = as_user(&program);
        command.arg("-D").arg(&data).args(["-h", "127.0.0.1"]);
        command.arg("-k").arg(dir);
        command.args(["-p", &port.to_string(), "-c", "fsync=off"]);
        Self::spawn(command, port, version(&program, "--version")).map(Some)
    }

    /// Starts a server, and waits until it lets somebody in.
    fn spawn(mut command: Command, port: u16, version: String) -> io::Result<Self> {
        let at = format!("127.0.0.1:{port}");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn()?;
        let mut server = Self {
            at,
            version,
            child: Some(child),
        };
        let since = Instant::now();
        while TcpStream::connect(&server.at).is_err() {
            let ended = match &mut server.child {
                Some(child) => child.try_wait()?,
                None => None,
            };
            if let Some(status) = ended {
                return Err(io::Error::other(format!("the server ended ({status})")));
            }
            if since.elapsed() > STARTS_WITHIN {
                return Err(io::Error::other("the server lets nobody in"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(child) = &mut self.child else {
            return;
        };
        // A server with processes of its own ends them when it is asked to end, and not when it is killed.
        let asked = i32::try_from(child.id()).ok();
        let pid = asked.and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(5) {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Where a program is that the shell would find.
fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|place| place.join(program));
    places.find(|place| place.is_file())
}

/// Debian keeps the programs of each version apart.
fn postgres_program(program: &str) -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut places = versions
        .flatten()
        .map(|version| version.path().join("bin").join(program))
        .filter(|place| place.is_file())
        .collect::<Vec<_>>();
    places.sort();
    installed(program).or_else(|| places.pop())
}

/// The user and the group that packages of PostgreSQL make.
fn user_of_postgres() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users
        .lines()
        .find(|line| line.starts_with(&format!("{}:", postgres::USER)))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// What a program says of its version: the first words of the first line.
fn version(program: &Path, flag: &str) -> String {
    let output = Command::new(program)
        .arg(flag)
        .stdin(Stdio::null())
        .output();
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let output = output.unwrap_or_default();
    let words = output
        .lines()
        .next()
        .unwrap_or("unknown")
        .split_whitespace();
    words.take(3).collect::<Vec<_>>().join(" ")
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}
