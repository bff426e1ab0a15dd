//! Members on three hosts of `scripts/lab`: agents against members that somebody starts there by hand, how
//! long starting takes, and how well clocks are compared.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use algorithms::NodeId;
use cluster::Cluster;
use cluster::agent::Agent;
use cluster::hosts::spec::{HostsSpec, PlaceSpec};
use cluster::hosts::{Hosts, Reach};
use model::engine::{Progress, Silent};
use model::plan::Plan;
use model::run::Run;
use node::control::{FromMember, Group, Start, ToMember};
use orchestrator::Failure;
use orchestrator::numbers::{count, decimal};
use transport::frame::Key;
use wire::Moment;

use crate::comparison::{Comparison, Wanted, directory};
use crate::processes::plan;

/// The hosts of the lab, and by how much their clocks are ahead.
const HOSTS: [(&str, Ipv4Addr, i64); 3] = [
    ("h1", Ipv4Addr::new(10, 78, 0, 1), 5_000_000_000_000),
    ("h2", Ipv4Addr::new(10, 78, 0, 2), 10_000_000_000_000),
    ("h3", Ipv4Addr::new(10, 78, 0, 3), 15_000_000_000_000),
];
/// How often each pair is measured.
const PAIRS: usize = 5;
/// How long hand-offs are counted.
const TIME: Duration = Duration::from_secs(2);
/// How many members hand over, and how many are started.
const GROUP: u32 = 9;
const CROWD: u32 = 300;
/// How many clocks are read.
const READINGS: usize = 1_000;
/// What the agents of this program say that they are.
const BUILD: &str = "bench";

/// What was found.
pub(crate) struct Report {
    pub(crate) comparisons: Vec<Comparison>,
    clocks: Clocks,
}

/// How well clocks were compared.
#[derive(Default)]
struct Clocks {
    readings: usize,
    /// The error was below the bound that was stated.
    within: usize,
    /// The bound was below a tenth of a millisecond.
    tight: usize,
    largest_error_ns: u64,
    bounds_ns: Vec<u64>,
}

impl Report {
    pub(crate) fn is_met(&self) -> bool {
        let Clocks {
            readings,
            within,
            tight,
            ..
        } = self.clocks;
        within == readings && tight == readings
    }

    pub(crate) fn show(&self) -> String {
        let mut bounds_ns = self.clocks.bounds_ns.clone();
        bounds_ns.sort_unstable();
        let us = |ns: u64| decimal(ns as f64 / 1e3, 1);
        let bound = |share: f64| us(bounds_ns[((bounds_ns.len() - 1) as f64 * share) as usize]);
        format!(
            "clocks 5,000 s apart: error below the bound in {} of {}, at most {} µs; bound {} µs (median), {} \
             µs (largest), below 100 µs in {}\n",
            count(self.clocks.within as u64),
            count(self.clocks.readings as u64),
            us(self.clocks.largest_error_ns),
            bound(0.5),
            bound(1.0),
            count(self.clocks.tight as u64),
        )
    }
}

/// Measures everything; `scripts/lab` says in the environment how its hosts are entered.
pub(crate) fn measure(note: &dyn Fn(&str)) -> Result<Report, Failure> {
    let lab = Lab {
        plain: in_environment("LAB_IN")?,
        with_clock: in_environment("LAB_ENTER")?,
    };
    let mut handed = Vec::new();
    for nth in 1..=PAIRS {
        note(&format!("hand-offs on three hosts, {nth} of {PAIRS}"));
        handed.push((lab.by_agents()?, lab.by_hand()?));
    }
    let mut started = Vec::new();
    for nth in 1..=PAIRS {
        note(&format!("starting {CROWD} members, {nth} of {PAIRS}"));
        started.push((lab.start(true)?, lab.start(false)?));
    }
    let comparisons = vec![
        Comparison {
            what: format!("{GROUP} members on three hosts, by agents and by hand"),
            unit: "hand-offs/s",
            pairs: handed,
            wanted: Wanted::AtLeast(0.9),
        },
        Comparison {
            what: format!("starting {CROWD} members, on three hosts and on one"),
            unit: "ms",
            pairs: started,
            wanted: Wanted::AtMost(1.5),
        },
    ];
    Ok(Report {
        comparisons,
        clocks: lab.clocks(note)?,
    })
}

fn in_environment(name: &str) -> Result<PathBuf, Failure> {
    let path = std::env::var_os(name).ok_or_else(|| {
        Failure::Usage(format!(
            "{name} is not set; type scripts/lab target/fastest/bench hosts"
        ))
    })?;
    Ok(path.into())
}

/// How the hosts are entered: with the clock that all have, or each with its own.
struct Lab {
    plain: PathBuf,
    with_clock: PathBuf,
}

impl Lab {
    fn hosts(enter: &Path) -> Result<Hosts, Failure> {
        let spec = format!("cmd:h1,h2,h3:{} {{host}} {{agent}}", enter.display());
        Ok(Hosts {
            spec: spec.parse::<HostsSpec>().map_err(Failure::Usage)?,
            build: BUILD.to_owned(),
            reach: Reach::default(),
        })
    }

    /// The plan of a group that hands over as fast as it can.
    fn busy(placed: bool) -> Result<Plan, Failure> {
        let (nodes, time) = (GROUP.to_string(), format!("{}ms", TIME.as_millis()));
        let flags = ["-n", &nodes, "--think", "0", "--hold", "0", "--duration"];
        let plan = plan("naimi-trehel", &[&flags[..], &[&time]].concat())?;
        Self::placed(plan, placed)
    }

    fn placed(mut plan: Plan, placed: bool) -> Result<Plan, Failure> {
        if placed {
            let spec = "join:3".parse::<HostsSpec>().map_err(Failure::Usage)?;
            let placement = PlaceSpec::Block.place(&spec, plan.nodes);
            plan.placement = Some(placement.map_err(Failure::Usage)?);
        }
        Ok(plan)
    }

    fn by_agents(&self) -> Result<f64, Failure> {
        let dir = directory()?;
        let cluster = Cluster {
            hosts: Some(Self::hosts(&self.plain)?),
            ..Cluster::of_this_program(dir.path())
        };
        Ok(per_second(&cluster.run(&Self::busy(true)?, &mut Silent)?))
    }

    /// The same members in the same namespaces, without agents: this process is the parent of all.
    fn by_hand(&self) -> Result<f64, Failure> {
        let dir = directory()?;
        let plan = Self::busy(false)?;
        let failed = |error: std::io::Error| Failure::Testbed(format!("a member: {error}"));
        fs::create_dir(dir.path().join("members")).map_err(failed)?;
        let mut members = (0..GROUP)
            .map(|node| Member::start(&self.plain, node))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let mut book = Vec::new();
        for member in &mut members {
            let port = member.until(|report| match report {
                FromMember::Hello { port } => Some(port),
                _ => None,
            });
            book.push(SocketAddr::new(
                member.address.into(),
                port.map_err(failed)?,
            ));
        }
        let group = ToMember::Group(Box::new(Group {
            plan: plan.clone(),
            book,
            run: 1,
            key: Key::new([7; 32]),
            dir: dir.path().to_owned(),
        }));
        for (node, member) in (0..).map(NodeId).zip(&mut members) {
            member.tell(&group).map_err(failed)?;
            let start = Start {
                me: node,
                incarnation: 0,
            };
            member.tell(&ToMember::Start(start)).map_err(failed)?;
        }
        let said = |wanted: fn(&FromMember) -> bool| {
            move |report: FromMember| wanted(&report).then_some(())
        };
        for member in &mut members {
            let ready = member.until(said(|report| matches!(report, FromMember::Ready)));
            ready.map_err(failed)?;
        }
        let zero = Moment::now().plus_ns(50_000_000);
        for member in &mut members {
            member.tell(&ToMember::Go { zero }).map_err(failed)?;
        }
        for member in &mut members {
            let idle = member.until(said(|report| matches!(report, FromMember::Idle)));
            idle.map_err(failed)?;
        }
        for member in &mut members {
            member.tell(&ToMember::Finish).map_err(failed)?;
        }
        for member in &mut members {
            let done = member.until(said(|report| matches!(report, FromMember::Done { .. })));
            done.map_err(failed)?;
        }
        drop(members);
        Ok(per_second(&cluster::salvage(
            &plan,
            dir.path(),
            &mut Silent,
        )?))
    }

    /// How many milliseconds pass until a run of many members begins.
    fn start(&self, on_three: bool) -> Result<f64, Failure> {
        let dir = directory()?;
        let nodes = CROWD.to_string();
        let flags = ["-n", &nodes, "--workload", "one-at-a-time", "--total", "1"];
        let plan = Self::placed(plan("naimi-trehel", &flags)?, on_three)?;
        let cluster = Cluster {
            hosts: on_three.then(|| Self::hosts(&self.plain)).transpose()?,
            ..Cluster::of_this_program(dir.path())
        };
        let began = Instant::now();
        let mut started = None;
        cluster.run(&plan, &mut |progress: Progress| {
            if progress.now_ns > 0 && started.is_none() {
                started = Some(began.elapsed());
            }
            ControlFlow::Continue(())
        })?;
        let started = started.ok_or_else(|| Failure::Testbed("no run began".to_owned()))?;
        Ok(started.as_secs_f64() * 1e3)
    }

    /// Compares the clocks again and again with what the kernel was told.
    fn clocks(&self, note: &dyn Fn(&str)) -> Result<Clocks, Failure> {
        let hosts = Self::hosts(&self.with_clock)?;
        let mut clocks = Clocks::default();
        while clocks.readings < READINGS {
            note(&format!("clocks, {} of {READINGS}", clocks.readings));
            let offsets = hosts.offsets(READINGS.min(100), &mut Silent)?;
            for ((_, _, ahead_ns), offsets) in HOSTS.iter().zip(offsets) {
                for (ns, bound_ns) in offsets {
                    let error_ns = ns.abs_diff(*ahead_ns);
                    clocks.readings += 1;
                    clocks.within += usize::from(error_ns <= bound_ns);
                    clocks.tight += usize::from(bound_ns < 100_000);
                    clocks.largest_error_ns = clocks.largest_error_ns.max(error_ns);
                    clocks.bounds_ns.push(bound_ns);
                }
            }
        }
        Ok(clocks)
    }
}

/// Hand-offs per second while all want in.
fn per_second(run: &Run) -> f64 {
    let time_ns = TIME.as_nanos() as u64;
    let left = run.requests.iter().filter_map(|request| request.left_ns);
    left.filter(|left_ns| *left_ns < time_ns).count() as f64 / TIME.as_secs_f64()
}

/// A member that was started by hand, on one of the hosts.
struct Member {
    process: Child,
    reports: BufReader<ChildStdout>,
    address: Ipv4Addr,
}

impl Member {
    fn start(enter: &Path, node: u32) -> std::io::Result<Self> {
        // As --place block does.
        let (host, address, _) = HOSTS[(node as usize * HOSTS.len()) / GROUP as usize];
        let mut process = Command::new(enter)
            .arg(host)
            .arg(std::env::current_exe()?)
            .args(["--child=node", &format!("--member={node}"), "--port=0"])
            .arg(format!("--bind={address}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let reports = process
            .stdout
            .take()
            .ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            process,
            reports: BufReader::new(reports),
            address,
        })
    }

    fn tell(&mut self, order: &ToMember) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let stdin = self.process.stdin.as_mut();
        stdin
            .ok_or(std::io::ErrorKind::BrokenPipe)?
            .write_all(&line)
    }

    /// Listens until it says what is waited for.
    fn until<T>(&mut self, mut wanted: impl FnMut(FromMember) -> Option<T>) -> std::io::Result<T> {
        loop {
            let mut line = String::new();
            if self.reports.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(found) = wanted(serde_json::from_str(&line)?) {
                return Ok(found);
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // The end of its stdin ends it.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Is an agent: the hosts start this program, too.
pub(crate) fn agent(arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let mut words = arguments.map(|word| word.to_string_lossy().into_owned());
    let (mut name, mut places) = (None, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--name" => name = words.next(),
            _ => places.push(word),
        }
    }
    let mut secret = String::new();
    let read = std::io::stdin().lock().read_line(&mut secret);
    let agent = Agent {
        orchestrator: places,
        name,
        build: BUILD.to_owned(),
        within: Duration::from_secs(30),
    };
    let served = read
        .map_err(|error| error.to_string())
        .and_then(|_| agent.run(&secret));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}
