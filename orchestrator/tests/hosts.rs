//! Members on several hosts: agents, which here are processes beside each other or in network namespaces
//! with clocks of their own.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use common::processes::{Guarded, children, state, wait_until};
use common::{Finished, Place, assert_contains, row, rows, words};
use rustix::process::{Signal, kill_process};

/// Hosts beside each other, without namespaces.
const BESIDE: &str = "--hosts 'cmd:a,b:exec {agent}' --listen 127.0.0.1";

/// The directories of agents that are still there.
fn agents_left(place: &Place) -> Vec<PathBuf> {
    let files = fs::read_dir(place.path()).expect("the directory is there");
    let paths = files.flatten().map(|file| file.path());
    let of_agent = |path: &PathBuf| path.to_string_lossy().contains("/turnstile-agent-");
    paths.filter(of_agent).collect()
}

/// The program with these words, whose agents have their directories in the test's own.
fn orchestrator(place: &Place, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrator"));
    command.args(words(line)).stdin(Stdio::null());
    command
        .current_dir(place.path())
        .env("TMPDIR", place.path());
    command
}

fn run(place: &Place, line: &str) -> Finished {
    Guarded::start(orchestrator(place, line)).finish()
}

#[test]
fn members_on_two_hosts_do_what_they_do_on_one() {
    let place = Place::new();
    let usual = "run raymond -n 5 --workload one-at-a-time --total 20 --seed 3";
    let one = run(&place, &format!("{usual} --out one"));
    let two = run(
        &place,
        &format!("{usual} {BESIDE} --place cyclic --out two"),
    );
    assert_eq!((one.code, two.code), (0, 0), "{}{}", two.stdout, two.stderr);
    let summary = |dir: &str| row(&place.path().join(dir).join("summary.csv"));
    for column in ["entries", "messages", "certified", "safety", "liveness"] {
        assert_eq!(summary("one")[column], summary("two")[column], "{column}");
    }
    let clocks = rows(&place.path().join("two/clocks.csv"));
    let hosts = clocks.iter().map(|row| row["host"].as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["a", "b"]);
    assert!(!place.path().join("one/clocks.csv").exists());
    assert_eq!(run(&place, "check two").code, 0);
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

#[test]
fn an_agent_that_is_killed_is_a_failure_that_names_its_host() {
    let place = Place::new();
    let line = format!("run raymond -n 4 --duration 30s {BESIDE}");
    let mut running = Guarded::start(orchestrator(&place, &line));
    wait_until("every member has recorded something", || {
        let dirs = agents_left(&place).into_iter();
        let files = dirs.filter_map(|dir| fs::read_dir(dir.join("members")).ok());
        let sizes = files.flatten().flatten().filter_map(|file| {
            let path = file.path();
            let is_record = path.extension().is_some_and(|end| end == "rec");
            is_record.then(|| file.metadata().map_or(0, |found| found.len()))
        });
        sizes.filter(|size| *size > 0).count() == 4
    });
    let agent = children(running.pid())[0];
    let members = children(agent);
    kill_process(agent, Signal::KILL).expect("it is there");
    let finished = running.finish();
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["host", "is lost", "is not here"]);
    wait_until("its members are gone, too", || {
        members.iter().all(|member| state(*member).is_none())
    });
}

#[test]
fn who_does_not_know_the_secret_stays_outside() {
    let place = Place::new();
    fs::write(place.path().join("secret"), "a secret of this test\n").expect("a file");
    fs::write(place.path().join("guess"), "another secret altogether\n").expect("a file");
    let line = "run raymond -n 2 --hosts join:1 --secret secret --listen 127.0.0.1 \
                --join-within 3s --ports 42000-42009";
    let mut running = Guarded::start(orchestrator(&place, line));
    let agent = |port: u16| {
        let line = format!("agent 127.0.0.1:{port} --within 100ms");
        let guess = fs::File::open(place.path().join("guess")).expect("a file");
        let mut command = orchestrator(&place, &line);
        command.stdin(guess);
        Guarded::start(command).finish()
    };
    let mut told = None;
    wait_until("an agent has reached the orchestrator", || {
        let mut agents = (42_000..42_010).map(agent);
        told = agents.find(|finished| finished.stderr.contains("hung up"));
        told.is_some()
    });
    let told = told.expect("it was reached");
    assert_eq!(told.code, 4, "{}", told.stderr);
    assert_contains(&told.stderr, &["the join secret is not that of its run"]);
    let refused = running.finish();
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert_contains(
        &refused.stderr,
        &["an agent was refused", "no agent came from h1 within 3s"],
    );
}

#[test]
fn wrong_hosts_are_said_before_anything_is_started() {
    let place = Place::new();
    place.refuses(&[
        ("run raymond -n 10 --hosts h1,h2", "write join:N"),
        ("run raymond -n 10 --hosts 'cmd:h1:run it'", "{agent}"),
        (
            "run raymond -n 10 --hosts join:2 --place h1=0-8",
            "member 9 is placed nowhere",
        ),
        (
            "run raymond -n 10 --hosts join:2 --engine sim",
            "the simulator has no hosts",
        ),
        (
            "run raymond -n 10 --hosts join:2 --ports 9-1",
            "no range of ports",
        ),
        (
            "run raymond -n 10 --hosts join:2 --bind 10.0.0.0/99",
            "no network",
        ),
        ("agent nowhere", "nowhere"),
    ]);
}

#[test]
fn what_cannot_be_started_says_why() {
    let place = Place::new();
    let listen = "--listen 127.0.0.1";
    let hosts = "--hosts 'cmd:a,b:echo no way to {host}; false # {agent}'";
    let finished = run(&place, &format!("run raymond -n 2 {listen} {hosts}"));
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["no agent came from", "no way to"]);
    // The orchestrator itself takes the only port for TCP, and an agent takes it for UDP.
    let line = format!("run raymond -n 2 {BESIDE} --ports 43117-43117");
    let finished = run(&place, &line);
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["on 127.0.0.1"]);
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

/// Network namespaces joined by a bridge; they go when this is dropped.
struct Namespaces {
    prefix: String,
    hosts: usize,
    /// Enters a host: its namespace, and a monotonic clock of its own.
    enter: PathBuf,
}

/// By how many seconds the clock of each host is ahead.
const AHEAD_S: [i64; 2] = [5_000, 90_000];

impl Namespaces {
    /// None, and a loud word, where this user or kernel does not allow them.
    fn new(place: &Place, hosts: usize) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("ts{}x{nth}", std::process::id());
        let enter = place.path().join("enter");
        let cases = (1..=hosts).map(|host| format!("h{host}) ahead={};;", AHEAD_S[host - 1]));
        let script = format!(
            "#!/bin/sh\nhost=$1; shift; ahead=0\ncase $host in {} esac\nexec ip netns exec {prefix}$host \
             unshare -T --monotonic $ahead \"$@\"\n",
            cases.collect::<String>()
        );
        fs::write(&enter, script).expect("a file");
        fs::set_permissions(&enter, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let made = Self {
            prefix,
            hosts,
            enter,
        };
        match made.make() {
            Ok(()) => Some(made),
            Err(why) => {
                eprintln!("SKIPPED: no namespaces here: {why}");
                None
            }
        }
    }

    fn make(&self) -> Result<(), String> {
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

    /// The program in the hub, from which all hosts are reached.
    fn run(&self, place: &Place, line: &str) -> Finished {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}o", self.prefix)]);
        command
            .arg(env!("CARGO_BIN_EXE_orchestrator"))
            .args(words(line));
        command
            .current_dir(place.path())
            .env("TMPDIR", place.path());
        Guarded::start(command).finish()
    }

    fn left(&self) -> String {
        let mut left = String::new();
        for host in 1..=self.hosts {
            let name = format!("{}h{host}", self.prefix);
            let pids = Command::new("ip").args(["netns", "pids", &name]).output();
            left += &String::from_utf8_lossy(&pids.expect("ip runs").stdout);
        }
        left
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for host in 1..=self.hosts {
            let _ = ip(&format!("netns del {}h{host}", self.prefix));
        }
        let _ = ip(&format!("netns del {}o", self.prefix));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[test]
fn two_namespaces_with_clocks_of_their_own_agree_under_loss_and_a_partition() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 2) else {
        return;
    };
    let enter = namespaces.enter.display();
    let hosts = format!("--hosts 'cmd:h1,h2:{enter} {{host}} {{agent}}'");
    // Where nobody competes Raymond sends as many messages wherever its members are; Ricart and Agrawala
    // always do.
    let loads = [
        ("raymond", "--workload one-at-a-time --total 30", true),
        ("raymond", "--entries 10", false),
        ("ricart-agrawala", "--entries 10", true),
    ];
    for (nth, (algorithm, load, repeats)) in loads.into_iter().enumerate() {
        let usual = format!("run {algorithm} -n 6 {load} --seed 7 --loss 10%");
        let (one, two) = (format!("{nth}-1"), format!("{nth}-2"));
        let cut = "--fault 'at 50ms partition 0,1,2|3,4,5 for 150ms'";
        let joined = namespaces.run(&place, &format!("{usual} {hosts} {cut} --out {two}"));
        assert_eq!(joined.code, 0, "{}{}", joined.stdout, joined.stderr);
        let summary = |dir: &str| row(&place.path().join(dir).join("summary.csv"));
        if repeats {
            let alone = run(&place, &format!("{usual} --out {one}"));
            assert_eq!(alone.code, 0, "{}{}", alone.stdout, alone.stderr);
            for column in ["entries", "messages", "certified", "safety", "liveness"] {
                let (one, two) = (summary(&one), summary(&two));
                assert_eq!(one[column], two[column], "{algorithm}: {column}");
            }
        }
        assert_eq!(summary(&two)["certified"], "yes");
        let clocks = rows(&place.path().join(&two).join("clocks.csv"));
        for (clock, ahead_s) in clocks.iter().zip(AHEAD_S) {
            let bound_ns: i64 = clock["bound_ns"].parse().expect("a number");
            for column in ["offset_before_ns", "offset_after_ns"] {
                let offset_ns: i64 = clock[column].parse().expect("a number");
                // What the kernel was told is what it is.
                let error_ns = (offset_ns - ahead_s * 1_000_000_000).abs();
                assert!(error_ns <= bound_ns, "{column}: {error_ns} of {bound_ns}");
            }
        }
        assert_eq!(clocks.len(), 2);
        assert_eq!(namespaces.left(), "", "processes are left");
        assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
    }
}
