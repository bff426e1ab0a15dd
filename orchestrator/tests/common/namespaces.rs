//! Hosts as network namespaces, each with a monotonic clock of its own; they go when the test ends, however
//! it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::processes::Guarded;
use super::{Finished, Place, skipped, words};

/// By how many seconds the clock of each host is ahead.
pub(crate) const AHEAD_S: [i64; 3] = [5_000, 90_000, 10_000];

/// Network namespaces joined by a bridge in another one, the hub, from which all are reached.
pub(crate) struct Namespaces {
    prefix: String,
    hosts: usize,
    /// Enters a host, given by its name or its address: its network, and its clock.
    enter: PathBuf,
}

impl Namespaces {
    /// None, and a loud word, where this user or kernel does not allow them.
    pub(crate) fn new(place: &Place, hosts: usize) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("ts{}x{nth}", std::process::id());
        let enter = place.path().join("enter");
        let made = Self {
            prefix,
            hosts,
            enter,
        };
        match made.make() {
            Ok(()) => Some(made),
            Err(why) => {
                skipped(&format!("no namespaces here: {why}"));
                None
            }
        }
    }

    fn make(&self) -> Result<(), String> {
        self.write_enter("");
        let Self { prefix, hosts, .. } = self;
        let hub = format!("{prefix}o");
        ip(&format!("netns add {hub}"))?;
        ip(&format!("-n {hub} link add br0 type bridge"))?;
        ip(&format!("-n {hub} addr add 10.77.0.254/24 dev br0"))?;
        ip(&format!("-n {hub} link set br0 up"))?;
        for host in 1..=*hosts {
            let name = format!("{prefix}h{host}");
            ip(&format!("netns add {name}"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!(
                "-n {hub} link add v{host} type veth peer name eth0 netns {name}"
            ))?;
            ip(&format!("-n {hub} link set v{host} master br0 up"))?;
            ip(&format!("-n {name} addr add 10.77.0.{host}/24 dev eth0"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
        }
        let entered = Command::new(&self.enter).args(["h1", "true"]).output();
        match entered {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Writes the script that enters a host; these lines of it come before the command, which is `"$@"`.
    pub(crate) fn write_enter(&self, before: &str) {
        let prefix = &self.prefix;
        let cases = (1..=self.hosts).zip(AHEAD_S);
        let cases = cases
            .map(|(host, ahead)| format!("h{host}|10.77.0.{host}) ahead={ahead}; n={host};;\n"));
        let script = format!(
            "#!/bin/sh\nhost=$1; shift\ncase $host in\n{}*) exit 3;; esac\n{before}\nexec ip netns exec \
             {prefix}h$n unshare -T --monotonic $ahead \"$@\"\n",
            cases.collect::<String>()
        );
        fs::write(&self.enter, script).expect("a file");
        fs::set_permissions(&self.enter, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// The words that run a command on a host.
    pub(crate) fn enter(&self) -> &Path {
        &self.enter
    }

    /// Runs `ip` in the namespace of a host, or in the hub.
    pub(crate) fn ip_in(&self, host: &str, arguments: &str) {
        let prefix = &self.prefix;
        ip(&format!("-n {prefix}{host} {arguments}")).expect("ip does it");
    }

    /// The program in the hub, from which all hosts are reached.
    pub(crate) fn start(&self, place: &Place, line: &str) -> Guarded {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}o", self.prefix)]);
        command
            .arg(env!("CARGO_BIN_EXE_orchestrator"))
            .args(words(line));
        command
            .current_dir(place.path())
            .env("TMPDIR", place.path())
            .stdin(std::process::Stdio::null());
        Guarded::start(command)
    }

    /// The same, to its end.
    pub(crate) fn run(&self, place: &Place, line: &str) -> Finished {
        self.start(place, line).finish()
    }

    /// The processes in the namespaces of the hosts.
    pub(crate) fn left(&self) -> Vec<i32> {
        let hosts = (1..=self.hosts).map(|host| format!("{}h{host}", self.prefix));
        hosts.flat_map(|name| pids_in(&name)).collect()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        let hosts = (1..=self.hosts).map(|host| format!("{}h{host}", self.prefix));
        for name in hosts.chain([format!("{}o", self.prefix)]) {
            for pid in pids_in(&name) {
                if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

/// The processes in a namespace; none if it is not there.
fn pids_in(name: &str) -> Vec<i32> {
    let pids = Command::new("ip").args(["netns", "pids", name]).output();
    let pids = pids.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    pids.lines().filter_map(|line| line.parse().ok()).collect()
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
