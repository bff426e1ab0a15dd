//! The cluster against processes that only pass a datagram on.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::engine::Progress;
use model::plan::Plan;
use model::run::Run;

use crate::comparison::{Comparison, Wanted, directory};
use crate::goodput::{self, Goodput};
use crate::proxy;
use crate::ring::Ring;
use crate::visitor::Visitor;
use cluster::{Cluster, launch_time};
use orchestrator::Failure;
use orchestrator::live::Live;
use orchestrator::scenario::{Layers, Resolved, Scenario};
use tempfile::TempDir;

/// How long each measurement lasts, and how often it is repeated.
const TIME: Duration = Duration::from_secs(1);
const PAIRS: usize = 5;
/// What the certificate costs is little, so it takes more pairs to tell it from chance.
const CERTIFICATE_PAIRS: usize = 11;
/// What the page costs is little, too.
const LIVE_PAIRS: usize = 9;
/// Ten members in which everybody always wants in.
const LIVE_GROUP: [&str; 8] = [
    "-n",
    "10",
    "--think",
    "0",
    "--hold",
    "0",
    "--duration",
    "1s",
];
/// A fault that never comes puts the proxy there, as a live page does.
const PROXY: [&str; 2] = ["--fault", "at 1h loss 1% on all"];
/// When a group that loses datagrams is given up.
const GOODPUT_LIMIT: &str = "30s";

/// All comparisons of the cluster, and what else was measured.
pub(crate) struct ClusterFigures {
    pub(crate) comparisons: Vec<Comparison>,
    /// Memory that is a member's alone, in KiB: the largest of a thousand.
    pub(crate) private_kib: u64,
    /// Processor time of an idle group of a hundred, as a share of one processor.
    pub(crate) idle_share: f64,
    /// What gets through a network that loses datagrams.
    pub(crate) goodput: Vec<Goodput>,
}

/// Measures the cluster.
pub(crate) fn measure(
    executable: &Path,
    interrupted: &AtomicBool,
    note: &dyn Fn(&str),
) -> Result<ClusterFigures, Failure> {
    let bench = Bench {
        executable,
        interrupted,
    };
    let mut comparisons = Vec::new();
    let mut compare = |what: &str, unit, pairs, wanted| {
        comparisons.push(Comparison {
            what: what.to_owned(),
            unit,
            pairs,
            wanted,
        });
    };
    let repeated = |times, what: &str, pair: &dyn Fn() -> Result<(f64, f64), Failure>| {
        let pairs = (1..=times).map(|nth| {
            note(&format!("{what}, {nth} of {times}"));
            pair()
        });
        pairs.collect::<Result<Vec<_>, _>>()
    };
    let rings = [
        ("two members, each on its own core", 2, vec![0, 1], 0.7),
        ("two members, both on one core", 2, vec![0], 0.5),
        ("ten members of naimi-trehel", 10, vec![], 0.6),
    ];
    for (what, members, cores, least) in rings {
        let unit = match members {
            2 => "hand-offs/s",
            _ => "messages/s",
        };
        let pairs = repeated(PAIRS, what, &|| {
            let product = bench.saturated(members, &cores, Certificate::Carried)?;
            Ok((product, ring(executable, members, &cores)?))
        });
        compare(what, unit, pairs?, Wanted::AtLeast(least));
    }
    let what = "two members, with the certificate and without";
    let pairs = repeated(CERTIFICATE_PAIRS, what, &|| {
        let product = bench.saturated(2, &[0, 1], Certificate::Carried)?;
        Ok((product, bench.saturated(2, &[0, 1], Certificate::LeftOut)?))
    });
    compare(what, "hand-offs/s", pairs?, Wanted::AtLeast(0.98));
    let what = "ten members behind the proxy, with a live page and without";
    let pairs = repeated(LIVE_PAIRS, what, &|| {
        Ok((bench.watched()?, bench.unwatched()?))
    });
    compare(what, "entries/s", pairs?, Wanted::AtLeast(0.95));
    let what = "launching 1,000 members";
    let pairs = repeated(PAIRS, what, &|| bench.launches(1_000));
    compare(what, "ms", pairs?, Wanted::AtMost(2.0));
    note("1,000 members, 5 entries each");
    let crowd = bench.run("naimi-trehel", &["-n", "1000", "--entries", "5"], &[])?;
    let largest = crowd.usage.values().map(|usage| usage.private_kib).max();
    note("an idle group of 100");
    let idle = ["-n", "100", "--workload", "batch", "--asks", "0 at 5s"];
    let idle = bench.run("naimi-trehel", &idle, &[])?;
    let mut goodput = Vec::new();
    for members in goodput::MEMBERS {
        for loss_percent in goodput::LOSSES {
            note(&format!("{members} members, {loss_percent} % lost"));
            goodput.push(bench.goodput(members, loss_percent)?);
        }
    }
    let cpu_ms: f64 = idle.usage.values().map(|usage| usage.cpu_ms).sum();
    Ok(ClusterFigures {
        comparisons,
        private_kib: largest.unwrap_or(0),
        idle_share: cpu_ms / (idle.ended_ns as f64 / 1e6),
        goodput,
    })
}

/// Whether messages carry what their sender knew of exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certificate {
    Carried,
    LeftOut,
}

struct Bench<'a> {
    executable: &'a Path,
    interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    /// A group in which everybody always wants in: entries per second of two, messages of more.
    fn saturated(
        &self,
        members: usize,
        cores: &[usize],
        certificate: Certificate,
    ) -> Result<f64, Failure> {
        let (nodes, time) = (members.to_string(), format!("{}ms", TIME.as_millis()));
        let flags = [
            "-n",
            &nodes,
            "--think",
            "0",
            "--hold",
            "0",
            "--duration",
            &time,
        ];
        let plan = Plan {
            certificate: certificate == Certificate::Carried,
            ..plan("naimi-trehel", &flags)?
        };
        let run = self.run_plan(&plan, cores)?;
        let messages: u64 = run.messages.values().map(|row| row.sent).sum();
        let entries = run
            .requests
            .iter()
            .filter(|row| row.left_ns.is_some())
            .count() as u64;
        let counted = if members == 2 { entries } else { messages };
        Ok(counted as f64 / (run.ended_ns as f64 / 1e9))
    }

    /// Entries per second of a group that somebody watches at the live page.
    fn watched(&self) -> Result<f64, Failure> {
        let resolved = resolved("naimi-trehel", &LIVE_GROUP)?;
        let (page, mut onlooker) = Live::of_processes(resolved, false, 0)?;
        let visitor = Visitor::begin(page.address());
        if !page.is_opened_before(self.interrupted) {
            return Err(Failure::Testbed("interrupted".to_owned()));
        }
        let plan = onlooker.resolved().plan.clone();
        let dir = directory()?;
        let run = self
            .cluster(&dir, &[])
            .run_live(&plan, &mut self.watch(), &mut onlooker)?;
        drop((onlooker, page));
        let told = visitor.end()?;
        if told == 0 {
            return Err(Failure::Testbed(
                "the live page was told nothing".to_owned(),
            ));
        }
        entries_per_second(run)
    }

    /// The same group, and nobody watches.
    fn unwatched(&self) -> Result<f64, Failure> {
        let flags = [&LIVE_GROUP[..], &PROXY[..]].concat();
        entries_per_second(self.run("naimi-trehel", &flags, &[])?)
    }

    /// A group whose every message passes the proxy, which loses some, right after what the proxy alone
    /// can do was measured.
    fn goodput(&self, members: usize, loss_percent: u32) -> Result<Goodput, Failure> {
        let capacity = proxy::capacity(self.executable)?;
        let (nodes, fault) = (members.to_string(), Goodput::fault(loss_percent));
        let flags = [
            "-n",
            &nodes,
            "--entries",
            "1",
            "--fault",
            &fault,
            "--time-limit",
            GOODPUT_LIMIT,
        ];
        let run = self.run("suzuki-kasami", &flags, &[])?;
        match run.proxy {
            Some(_) => Ok(Goodput::of(&run, members, loss_percent, capacity)),
            None => Err(Failure::Testbed(format!("'{fault}' needed no proxy"))),
        }
    }

    /// How many milliseconds it takes to launch this number of members, and of minimal processes.
    fn launches(&self, processes: usize) -> Result<(f64, f64), Failure> {
        let dir = directory()?;
        let members = launch_time(self.executable, dir.path(), processes)?;
        let start = Instant::now();
        let ring = block_on(Ring::start(self.executable, processes, &[]))?;
        let minimal = start.elapsed();
        drop(ring);
        Ok((members.as_secs_f64() * 1e3, minimal.as_secs_f64() * 1e3))
    }

    fn run(&self, algorithm: &str, flags: &[&str], cores: &[usize]) -> Result<Run, Failure> {
        self.run_plan(&plan(algorithm, flags)?, cores)
    }

    fn run_plan(&self, plan: &Plan, cores: &[usize]) -> Result<Run, Failure> {
        let dir = directory()?;
        done(self.cluster(&dir, cores).run(plan, &mut self.watch())?)
    }

    fn cluster(&self, dir: &TempDir, cores: &[usize]) -> Cluster {
        Cluster {
            hosts: None,
            executable: self.executable.to_owned(),
            dir: dir.path().to_owned(),
            cores: cores.to_vec(),
        }
    }

    fn watch(&self) -> impl FnMut(Progress) -> ControlFlow<()> {
        |_| match self.interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Hops per second of a datagram round this number of processes.
pub(crate) fn ring(executable: &Path, members: usize, cores: &[usize]) -> Result<f64, Failure> {
    block_on(async {
        let ring = Ring::start(executable, members, cores).await?;
        ring.hops_per_second(TIME).await
    })
}

fn block_on<T>(future: impl Future<Output = std::io::Result<T>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime.and_then(|runtime| runtime.block_on(future));
    done.map_err(|error| Failure::Testbed(format!("the ring failed: {error}")))
}

/// A run of what these words are on the command line, on processes of this program.
pub(crate) fn run(
    executable: &Path,
    interrupted: &AtomicBool,
    algorithm: &str,
    flags: &[&str],
) -> Result<Run, Failure> {
    let bench = Bench {
        executable,
        interrupted,
    };
    bench.run(algorithm, flags, &[])
}

/// A run that did not fail.
fn done(run: Run) -> Result<Run, Failure> {
    match run.failure {
        Some(why) => Err(Failure::Testbed(why)),
        None => Ok(run),
    }
}

fn entries_per_second(run: Run) -> Result<f64, Failure> {
    let run = done(run)?;
    let left = run.requests.iter().filter(|row| row.left_ns.is_some());
    Ok(left.count() as f64 / (run.ended_ns as f64 / 1e9))
}

/// The plan that these words make on the command line.
pub(crate) fn plan(algorithm: &str, flags: &[&str]) -> Result<Plan, Failure> {
    Ok(resolved(algorithm, flags)?.plan)
}

fn resolved(algorithm: &str, flags: &[&str]) -> Result<Resolved, Failure> {
    let flags = Scenario::from_flags(flags).map_err(Failure::Usage)?;
    let layers = Layers::new(algorithm, flags).map_err(Failure::Usage)?;
    layers.resolve().map_err(Failure::Usage)
}
