//! How fast Turnstile is here, as ratios to limits measured in the same run.
//!
//! The limits are processes, too (a ring that only passes a datagram on, a forwarder that decides
//! nothing): this program is all of them, and the members and the proxy, when its first argument says so.

mod comparison;
mod forwarder;
mod goodput;
mod hosts;
mod locks;
mod processes;
mod programs;
mod proxy;
mod ring;
mod sim;
mod visitor;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::comparison::{Comparison, Wanted};
use crate::goodput::Goodput;
use crate::locks::Contest;
use crate::proxy::{Crowd, LimitCheck, Punctuality};
use orchestrator::numbers::{count, decimal};
use orchestrator::table::Table;
use orchestrator::{Exit, Failure, interrupt, print};
use wire::ChildArgs;

/// Measures how fast it is here, against a limit measured in the same run
///
/// Product and limit take turns, five times; the median of their ratios counts. Exit code 1 if a
/// ratio is missed: machines are noisy, so look at the range before believing it.
#[derive(Debug, Parser)]
#[command(version)]
struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// The simulator against a loop that only takes events out of a heap and puts them in
    Sim,
    /// The cluster against processes that only pass a datagram on, and what it gets through when
    /// datagrams are lost
    ///
    /// The second table has suzuki-kasami with 50, 200 and 400 members, one entry each, through the
    /// proxy, which loses 0, 5 and 20 % of all datagrams. Goodput is messages of the algorithm that
    /// arrived, per second from the first request to the end of the run; the limit is the datagrams per
    /// second that the proxy carries between two members without a fault, measured right before. No
    /// ratio is wanted of these rows; one is missed if not every member entered within 30 s.
    Cluster,
    /// The proxy against a process that only passes datagrams on, and against the delays asked for
    Chaos,
    /// Agents on the three hosts of scripts/lab against members that are started there by hand
    Hosts,
    /// Asking programs against bare pipes with the same lines, with five of examples/ricart_agrawala.py
    External,
    /// Ten of our members against locks that people use: Redis, PostgreSQL, etcd, flock, and a bare lock server
    ///
    /// Everybody is ten processes that always want in and do nothing inside. What is not installed is left
    /// out, and named. Redis, PostgreSQL and etcd are started for the occasion on ports of loopback, with
    /// their usual configuration but for files: Redis saves nothing, and PostgreSQL waits for no disk.
    Locks {
        /// Where to write the table as Markdown
        #[arg(long, value_name = "FILE")]
        write: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    if let Some(exit) = cluster::child_main(std::env::args_os()).or_else(child) {
        return exit;
    }
    let measured = match Bench::parse().what {
        What::Sim => sim(),
        What::Cluster => processes(),
        What::Chaos => chaos(),
        What::Hosts => hosts(),
        What::External => external(),
        What::Locks { write } => contest(write.as_deref()),
    };
    let exit = measured.unwrap_or_else(|failure| {
        safe_io::to_stderr(&format!("error: {failure}\n"));
        failure.exit()
    });
    exit.into()
}

/// Is a process that the product is compared with, if the first argument says so.
fn child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next()?.to_str()? {
        "agent" => Some(hosts::agent(arguments)),
        programs::RECORDER => Some(programs::record(arguments)),
        "--child=ring" => Some(ring::child(arguments)),
        locks::CONTENDER => Some(locks::contend(
            arguments.map(|word| word.to_string_lossy().into_owned()),
        )),
        locks::SERVER => Some(match ChildArgs::from_arguments(arguments) {
            Ok(arguments) => locks::serve(arguments),
            Err(why) => {
                safe_io::to_stderr(&format!("error: {why}\n"));
                Exit::Usage.into()
            }
        }),
        "--child=forwarder" => Some(match ChildArgs::from_arguments(arguments) {
            Ok(arguments) => forwarder::main(arguments),
            Err(why) => {
                safe_io::to_stderr(&format!("error: {why}\n"));
                Exit::Usage.into()
            }
        }),
        _ => None,
    }
}

fn sim() -> Result<Exit, Failure> {
    let compare = |nodes| {
        note(&format!("{} nodes", count(u64::from(nodes))));
        let pairs = sim::race(nodes, 3_000_000, 5);
        let pairs = pairs.iter().map(|pair| (pair.simulated, pair.bare));
        Comparison {
            what: format!("naimi-trehel, {} nodes", count(u64::from(nodes))),
            unit: "events/s",
            pairs: pairs.collect(),
            wanted: Wanted::AtLeast(0.4),
        }
    };
    let certificate = |nodes: u32| {
        let what = format!(
            "{} nodes, with the certificate and without",
            count(nodes.into())
        );
        note(&what);
        Comparison {
            what,
            unit: "events/s",
            pairs: sim::certificate(nodes, 3_000_000, 9),
            wanted: Wanted::AtLeast(0.98),
        }
    };
    let raced = [1_000, 100_000].map(compare);
    let comparisons = raced.into_iter().chain([1_000, 100_000].map(certificate));
    let comparisons = comparisons.collect::<Vec<_>>();
    let mut text = comparison::show(&comparisons);
    note("100,000 nodes, one entry each");
    let crowd = sim::crowd(100_000);
    let peak_mib = peak_mib();
    text += &format!(
        "100,000 nodes, one entry each: {} entries in {} s (wanted: 30), at most {} MiB (wanted: \
         2,048)\n",
        count(crowd.entries),
        decimal(crowd.took.as_secs_f64(), 1),
        count(peak_mib),
    );
    note("a million nodes, one entry each");
    let million = sim::crowd(1_000_000);
    text += &format!(
        "1,000,000 nodes, one entry each: {} entries in {} s\n",
        count(million.entries),
        decimal(million.took.as_secs_f64(), 1),
    );
    note("every schedule of three nodes");
    let search = sim::search();
    text += &format!(
        "explore ricart-agrawala, 3 nodes, three entries each: {} states, {} per second (wanted: \
         150,000)\n",
        count(search.states),
        count(search.per_second() as u64),
    );
    print(&text)?;
    let enough = crowd.entries == 100_000
        && crowd.took.as_secs() < 30
        && peak_mib < 2_048
        && million.entries == 1_000_000
        && search.complete
        && search.per_second() >= 150_000.0;
    Ok(if enough {
        exit(&comparisons)
    } else {
        Exit::Violated
    })
}

/// The most memory this process has had, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

fn processes() -> Result<Exit, Failure> {
    let executable = this_program()?;
    let interrupted = interrupt::flag_on_interrupt()?;
    let report = processes::measure(&executable, &interrupted, &note)?;
    let mut text = comparison::show(&report.comparisons);
    text += &goodput::show(&report.goodput);
    text += &format!(
        "memory of a member among 1,000, its alone: at most {} KiB (wanted: 1,536)\n\
         an idle group of 100 takes {} % of one processor (wanted: 5)\n",
        count(report.private_kib),
        decimal(report.idle_share * 100.0, 1),
    );
    print(&text)?;
    let served = report.goodput.iter().all(Goodput::is_met);
    let fits = report.private_kib <= 1_536 && report.idle_share < 0.05 && served;
    Ok(if fits {
        exit(&report.comparisons)
    } else {
        Exit::Violated
    })
}

fn chaos() -> Result<Exit, Failure> {
    let measured = proxy::measure(&this_program()?, &note)?;
    let mut text = comparison::show(&measured.comparisons);
    let headings = [
        "delay given",
        "percentile",
        "off by",
        "wanted",
        "bare timer",
        "",
    ];
    let mut table = Table::new(headings);
    for punctuality in &measured.punctuality {
        for (percentile, most_us) in punctuality.wanted_us {
            let late_us = punctuality.at_us(*percentile);
            table.row([
                &punctuality.what,
                &format!("{percentile}"),
                &format!("{} µs", decimal(late_us, 0)),
                &format!("< {most_us} µs"),
                &format!("{} µs", decimal(punctuality.machine_at_us(*percentile), 0)),
                match punctuality.check(*percentile, *most_us) {
                    LimitCheck::Met => "met",
                    LimitCheck::Missed => "missed",
                    LimitCheck::Busy => "unknown: the machine is not idle",
                },
            ]);
        }
    }
    text += &table.show();
    let crowd = &measured.crowd;
    text += &format!(
        "{} members, every pair active, {} packets/s: {} of {} arrived, 99 % of them late by at most {} \
         ms (wanted: all, 100)\n",
        Crowd::MEMBERS,
        count(Crowd::PER_SECOND),
        count(crowd.arrived),
        count(crowd.sent),
        decimal(crowd.late_p99_ms, 1),
    );
    print(&text)?;
    let kept = measured.punctuality.iter().map(Punctuality::check_all);
    let kept = kept.collect::<Vec<_>>();
    Ok(if kept.contains(&LimitCheck::Missed) || !crowd.is_met() {
        Exit::Violated
    } else if kept.contains(&LimitCheck::Busy) {
        Exit::Inconclusive
    } else {
        exit(&measured.comparisons)
    })
}

fn hosts() -> Result<Exit, Failure> {
    let measured = hosts::measure(&note)?;
    print(&(comparison::show(&measured.comparisons) + &measured.show()))?;
    Ok(match measured.is_met() {
        true => exit(&measured.comparisons),
        false => Exit::Violated,
    })
}

fn external() -> Result<Exit, Failure> {
    const PROGRAM: &str = "examples/ricart_agrawala.py";
    if !Path::new(PROGRAM).exists() {
        let why = format!("{PROGRAM} is not here; measure in a clone of the repository");
        return Err(Failure::Usage(why));
    }
    let program = ["python3", PROGRAM].map(str::to_owned);
    note("five programs in Python");
    let measured = programs::measure(&this_program()?, &program, 5)?;
    let comparison = Comparison {
        what: "exchange with a program in Python".to_owned(),
        unit: "per second",
        pairs: measured.pairs,
        // A third more time is so much less in a second.
        wanted: Wanted::AtLeast(1.0 / 1.3),
    };
    let mut text = comparison::show(std::slice::from_ref(&comparison));
    text += &format!(
        "{} events with five programs: {} s (wanted: 30)\n",
        count(measured.questions),
        decimal(measured.took.as_secs_f64(), 1),
    );
    print(&text)?;
    Ok(match measured.took.as_secs() < 30 {
        true => exit(&[comparison]),
        false => Exit::Violated,
    })
}

fn contest(write: Option<&Path>) -> Result<Exit, Failure> {
    let contest = Contest {
        members: 10,
        rounds: 5,
        ours: vec!["naimi-trehel-queue", "naimi-trehel"],
    };
    let interrupted = interrupt::flag_on_interrupt()?;
    let contested = locks::measure(&contest, &this_program()?, &interrupted, &note)?;
    let comparisons = contested.comparisons();
    print(&(contested.show(false) + &comparison::show(&comparisons)))?;
    if let Some(file) = write {
        let text = contested.page(&contest, &comparisons);
        std::fs::write(file, text).map_err(|error| {
            Failure::Testbed(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    Ok(match contested.is_safe() {
        true => exit(&comparisons),
        false => Exit::Violated,
    })
}

fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Testbed(format!("cannot find this program: {error}")))
}

fn exit(comparisons: &[Comparison]) -> Exit {
    match comparisons.iter().all(Comparison::is_met) {
        true => Exit::Holds,
        false => Exit::Violated,
    }
}

/// Says what is being measured, to those who watch.
fn note(what: &str) {
    if std::io::stderr().is_terminal() {
        safe_io::to_stderr(&format!("measuring: {what}\n"));
    }
}
