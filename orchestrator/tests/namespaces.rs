//! Members on hosts that are network namespaces with monotonic clocks of their own, started by a command and
//! by ssh, under loss and a partition; and what becomes of a run when such a host fails.
//!
//! Where this user or kernel allows no namespaces, each test says so and ends.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::agents::{agents_left, recording, run};
use common::namespaces::{AHEAD_S, Namespaces};
use common::processes::wait_until;
use common::{Place, Row, assert_contains, row, rows, skipped};

/// The row of a run.
fn summary(place: &Place, dir: &str) -> Row {
    row(&place.path().join(dir).join("summary.csv"))
}

/// What the kernel was told of each clock is what was measured, within the bounds.
fn clocks_are_right(place: &Place, dir: &str, hosts: usize) {
    let clocks = rows(&place.path().join(dir).join("clocks.csv"));
    assert_eq!(clocks.len(), hosts);
    for (clock, ahead_s) in clocks.iter().zip(AHEAD_S) {
        let bound_ns: i64 = clock["bound_ns"].parse().expect("a number");
        for column in ["offset_before_ns", "offset_after_ns"] {
            let offset_ns: i64 = clock[column].parse().expect("a number");
            let error_ns = (offset_ns - ahead_s * 1_000_000_000).abs();
            assert!(error_ns <= bound_ns, "{column}: {error_ns} of {bound_ns}");
        }
    }
}

/// Runs Raymond and Ricart-Agrawala under loss and a partition between these hosts, and compares with one
/// host.
fn agree(place: &Place, namespaces: &Namespaces, hosts: &str, cut: &str) {
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
        let joined = namespaces.run(
            place,
            &format!("{usual} {hosts} --fault '{cut}' --out {two}"),
        );
        assert_eq!(joined.code, 0, "{}{}", joined.stdout, joined.stderr);
        if repeats {
            let alone = run(place, &format!("{usual} --out {one}"));
            assert_eq!(alone.code, 0, "{}{}", alone.stdout, alone.stderr);
            for column in ["entries", "messages", "certified", "safety", "liveness"] {
                let (one, two) = (summary(place, &one), summary(place, &two));
                assert_eq!(one[column], two[column], "{algorithm}: {column}");
            }
        }
        assert_eq!(summary(place, &two)["certified"], "yes");
        clocks_are_right(place, &two, 2);
        let faults = rows(&place.path().join(&two).join("faults.csv"));
        let cut = faults
            .iter()
            .find(|row| row["fault"].starts_with("partition"));
        assert_ne!(cut.expect("it is told")["acted"], "0");
        assert_eq!(agents_left(place), Vec::<PathBuf>::new());
    }
}

#[test]
fn two_namespaces_with_clocks_of_their_own_agree_under_loss_and_a_partition() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 2) else {
        return;
    };
    let enter = namespaces.enter().display();
    let hosts = format!("--hosts 'cmd:h1,h2:{enter} {{host}} {{agent}}'");
    agree(
        &place,
        &namespaces,
        &hosts,
        "at 10ms partition hosts h1|h2 for 150ms",
    );
    assert_eq!(namespaces.left(), [0; 0], "processes are left");
}

/// Servers of ssh, one on each host, which end with the test.
struct Servers {
    servers: Vec<Child>,
    /// The words for --ssh.
    ssh: String,
}

/// The port of the servers; each is alone in its namespace.
const SSH_PORT: u16 = 2_222;

impl Servers {
    /// None, and a loud word, where there is no ssh.
    fn start(place: &Place, namespaces: &Namespaces, hosts: usize) -> Option<Self> {
        let sshd = "/usr/sbin/sshd";
        if !Path::new(sshd).exists() || Command::new("ssh").arg("-V").output().is_err() {
            skipped("there is no ssh here; install openssh-server");
            return None;
        }
        let dir = place.path().join("ssh");
        fs::create_dir_all(dir.join("home")).expect("a directory");
        for key in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(dir.join(key))
                .status();
            assert!(made.expect("ssh-keygen is there").success());
        }
        fs::copy(dir.join("user_key.pub"), dir.join("known")).expect("a file");
        let here = dir.display();
        let config = format!(
            "Port {SSH_PORT}\nHostKey {here}/host_key\nAuthorizedKeysFile {here}/known\nStrictModes no\n\
             UsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\n\
             SetEnv HOME={here}/home TMPDIR={}\n",
            place.path().display()
        );
        fs::write(dir.join("config"), config).expect("a file");
        // It wants a directory of its own, which not every host has.
        let start = format!(
            "mount -t tmpfs none /run && mkdir /run/sshd && exec {sshd} -D -e -f {here}/config"
        );
        let servers = (1..=hosts).map(|host| {
            let log = fs::File::create(dir.join(format!("log{host}"))).expect("a file");
            Command::new(namespaces.enter())
                .args([&format!("h{host}"), "unshare", "-m", "sh", "-c", &start])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .expect("it can be started")
        });
        let servers = servers.collect();
        for host in 1..=hosts {
            let log = dir.join(format!("log{host}"));
            wait_until("ssh is served", || {
                fs::read_to_string(&log).is_ok_and(|log| log.contains("Server listening"))
            });
        }
        let ssh = format!(
            "ssh -F none -i {here}/user_key -p {SSH_PORT} -o BatchMode=yes -o IdentitiesOnly=yes \
             -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        );
        Some(Self { servers, ssh })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

#[test]
fn agents_that_ssh_starts_do_the_same_and_the_program_is_copied_once() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 2) else {
        return;
    };
    let Some(servers) = Servers::start(&place, &namespaces, 2) else {
        return;
    };
    let hosts = format!("--hosts ssh:10.77.0.1,10.77.0.2 --ssh '{}'", servers.ssh);
    let cut = "at 10ms partition hosts 10.77.0.1|10.77.0.2 for 150ms";
    agree(&place, &namespaces, &hosts, cut);
    let copies = fs::read_dir(place.path().join("ssh/home/.cache/turnstile"));
    let copies = copies.expect("it was copied").flatten().collect::<Vec<_>>();
    let [copy] = copies.as_slice() else {
        panic!("one copy, not {copies:?}");
    };
    let program = fs::metadata(env!("CARGO_BIN_EXE_orchestrator")).expect("it is there");
    let copied = copy.metadata().expect("it is there");
    assert_eq!(copied.len(), program.len());
    // A copy that is another program now is replaced, and one that is right is left alone.
    fs::write(copy.path(), "not this program").expect("a file");
    let again = namespaces.run(&place, &format!("hosts {hosts}"));
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    let replaced = fs::metadata(copy.path()).expect("it is there");
    assert_eq!(replaced.len(), program.len());
    let again = namespaces.run(&place, &format!("hosts {hosts}"));
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    let kept = fs::metadata(copy.path()).expect("it is there");
    assert_eq!(
        kept.modified().expect("a time"),
        replaced.modified().expect("a time")
    );
    // What is told not to be copied has to be there.
    let missing = namespaces.run(&place, &format!("hosts {hosts} --no-copy"));
    assert_eq!(missing.code, 4, "{}", missing.stderr);
    assert_contains(
        &missing.stderr,
        &["no agent came from 10.77.0.", "orchestrator"],
    );
    drop(servers);
    wait_until("nothing is left", || namespaces.left().is_empty());
}

#[test]
fn a_host_whose_network_is_cut_is_lost_and_clears_up_by_itself() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 2) else {
        return;
    };
    let enter = namespaces.enter().display();
    let hosts = format!("--hosts 'cmd:h1,h2:{enter} {{host}} {{agent}}'");
    let line = format!("run raymond -n 4 --duration 60s {hosts} --out r");
    let mut running = namespaces.start(&place, &line);
    wait_until("every member has recorded something", || {
        recording(&place) == 4
    });
    namespaces.ip_in("o", "link set v2 down");
    let finished = running.finish();
    assert_eq!(finished.code, 4, "{}{}", finished.stdout, finished.stderr);
    assert_contains(
        &finished.stderr,
        &[
            "host h2 is lost: nothing was heard for 5s",
            "what was recorded on h2 by members 2, 3 is not here, so there are no tables",
        ],
    );
    assert!(!place.path().join("r/summary.csv").exists());
    wait_until("nothing is left on either host", || {
        namespaces.left().is_empty() && agents_left(&place).is_empty()
    });
}

#[test]
fn a_full_disk_on_one_host_is_a_failure_that_names_it() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 2) else {
        return;
    };
    // The second host has a disk of its own, on which little fits.
    let small = place.path().join("small");
    fs::create_dir(&small).expect("a directory");
    let small = small.display();
    namespaces.write_enter(&format!(
        "if [ $n = 2 ]; then set -- unshare -m sh -c 'mount -t tmpfs -o size=128k none {small} && \
         TMPDIR={small} exec \"$@\"' sh \"$@\"; fi"
    ));
    let enter = namespaces.enter().display();
    let hosts = format!("--hosts 'cmd:h1,h2:{enter} {{host}} {{agent}}'");
    let line = format!("run raymond -n 4 --duration 20s --think 0 --hold 0 {hosts} --out r");
    let full = namespaces.run(&place, &line);
    assert_eq!(full.code, 4, "{}{}", full.stdout, full.stderr);
    assert_contains(&full.stderr, &["on h2", "No space left on device"]);
    wait_until("nothing is left", || {
        namespaces.left().is_empty() && agents_left(&place).is_empty()
    });
}

#[test]
fn the_preflight_names_the_pair_that_does_not_reach_each_other() {
    let place = Place::new();
    let Some(namespaces) = Namespaces::new(&place, 3) else {
        return;
    };
    let enter = namespaces.enter().display();
    let line = format!("hosts --hosts 'cmd:h1,h2,h3:{enter} {{host}} {{agent}}'");
    namespaces.ip_in("h3", "link set eth0 mtu 1280");
    let seen = namespaces.run(&place, &line);
    assert_eq!(seen.code, 0, "{}{}", seen.stdout, seen.stderr);
    // An Ethernet, and what passes to the third host; the clocks are those that the kernel was told.
    assert_contains(
        &seen.stdout,
        &["1452 B", "1232 B", "+5000.", "+90000.", "10.77.0.3"],
    );
    namespaces.ip_in("h1", "route add blackhole 10.77.0.2/32");
    let broken = namespaces.run(&place, &line);
    assert_eq!(broken.code, 4, "{}", broken.stdout);
    assert_contains(
        &broken.stderr,
        &[
            "from h1 to h2 and back: 0 of",
            "from h2 to h1 and back: 0 of",
            "(10.77.0.1 to 10.77.0.2)",
        ],
    );
    assert!(!broken.stderr.contains("h3"), "{}", broken.stderr);
    assert_eq!(namespaces.left(), [0; 0], "processes are left");
}
