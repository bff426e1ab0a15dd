//! `orchestrator hosts`: whether the hosts of a run reach each other, before anything is run on them.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use clap::Args;
use cluster::hosts::spec::HostsSpec;
use cluster::hosts::{Crossing, Preflight};

use crate::engine::Watch;
use crate::reach::ReachFlags;
use crate::{Exit, Failure, interrupt, print};

/// Starts an agent on each host and has each send datagrams to all others
///
/// Shows the addresses, by how much the clocks differ, the round trips, and the longest datagram that
/// passes in one piece; names the pairs between which nothing or not everything arrives. Exit code 0 if
/// every pair of hosts works, 4 if one does not.
#[derive(Debug, Args)]
pub(crate) struct Hosts {
    /// The hosts, as for run
    #[arg(long, value_name = "HOSTS", help_heading = "Hosts")]
    hosts: HostsSpec,
    #[command(flatten)]
    reach: ReachFlags,
}

impl Hosts {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let interrupted = interrupt::flag_on_interrupt()?;
        let stopped = || interrupted.load(Ordering::Relaxed);
        let hosts = self.reach.hosts(&self.hosts);
        let found = hosts.preflight(&mut Watch::until(&stopped))?;
        print(&told(&found))?;
        let broken = broken(&found);
        match broken.is_empty() {
            true => Ok(Exit::Holds),
            false => Err(Failure::Testbed(broken.join("\n"))),
        }
    }
}

fn told(found: &Preflight) -> String {
    let mut text = String::new();
    let width = found.hosts.iter().map(|host| host.name.len()).max();
    let width = width.unwrap_or(0).max(4);
    let _ = writeln!(
        text,
        "{:width$}  {:24}  {:>20}  {:>9}  itself",
        "host", "address", "clock", "error"
    );
    for host in &found.hosts {
        let (clock, error) = match host.offset_ns {
            Some((ns, bound_ns)) => (
                format!("{:+.6} s", ns as f64 / 1e9),
                format!("{:.1} µs", bound_ns as f64 / 1e3),
            ),
            None => ("unknown".to_owned(), String::new()),
        };
        let address = host.address.to_string();
        let _ = writeln!(
            text,
            "{:width$}  {address:24}  {clock:>20}  {error:>9}  {}",
            host.name, host.hostname
        );
    }
    let _ = write!(
        text,
        "\nround trip, and the longest datagram in one piece\n{:width$}",
        ""
    );
    for host in &found.hosts {
        let _ = write!(text, "  {:>19}", host.name);
    }
    text.push('\n');
    for (host, crossings) in found.hosts.iter().zip(&found.crossings) {
        let _ = write!(text, "{:width$}", host.name);
        for crossing in crossings {
            let _ = write!(text, "  {:>19}", cell(crossing));
        }
        text.push('\n');
    }
    text
}

fn cell(crossing: &Crossing) -> String {
    match crossing.shortest {
        None => "nothing".to_owned(),
        Some(shortest) => format!(
            "{:.1} µs, {} B",
            shortest.as_nanos() as f64 / 1e3,
            crossing.longest
        ),
    }
}

/// What is wrong, pair by pair.
fn broken(found: &Preflight) -> Vec<String> {
    let mut all = Vec::new();
    for (from, crossings) in found.hosts.iter().zip(&found.crossings) {
        for (to, crossing) in found.hosts.iter().zip(crossings) {
            let Crossing { sent, back, .. } = crossing;
            if back < sent {
                all.push(format!(
                    "from {} to {} and back: {back} of {sent} datagrams came; look at the firewall, the \
                     route, and --bind ({} to {})",
                    from.name, to.name, from.address, to.address
                ));
            }
        }
    }
    all
}
