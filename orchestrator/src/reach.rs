//! How the hosts of a run are reached: flags that change where and how it runs, and not what it does.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cluster::hosts::spec::HostsSpec;
use cluster::hosts::{Hosts, Network, Reach};

use crate::scenario::Time;

/// How the hosts of --hosts are reached.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReachFlags {
    /// Network whose addresses members bind on their hosts, such as 10.0.0.0/8 or fd00::/8
    /// [default: the address from which each host's agent reached the orchestrator]
    #[arg(long, value_name = "NETWORK", help_heading = "Hosts")]
    bind: Option<Network>,
    /// Ports that may be used on every host, for members, proxies and agents, such as 40000-41000
    /// [default: any]
    #[arg(long, value_name = "LOW-HIGH", help_heading = "Hosts", value_parser = ports)]
    ports: Option<(u16, u16)>,
    /// ssh: command that runs another on a host, as ssh does: CMD HOST COMMAND
    /// [default: ssh -o BatchMode=yes]
    #[arg(long, value_name = "CMD", help_heading = "Hosts")]
    ssh: Option<String>,
    /// ssh: run the orchestrator that is on each host instead of copying this one to it
    #[arg(long, help_heading = "Hosts")]
    no_copy: bool,
    /// File whose first line is the join secret, at least 16 characters [default: a fresh secret]
    #[arg(long, value_name = "FILE", help_heading = "Hosts")]
    secret: Option<PathBuf>,
    /// Address on which this program waits for agents [default: all of this host]
    #[arg(long, value_name = "ADDRESS", help_heading = "Hosts")]
    listen: Option<IpAddr>,
    /// Time in which all agents must have come [default: 60s]
    #[arg(long, value_name = "TIME", help_heading = "Hosts")]
    join_within: Option<Time>,
}

impl ReachFlags {
    /// These hosts, reached so.
    pub(crate) fn hosts(&self, spec: &HostsSpec) -> Hosts {
        let usual = Reach::default();
        Hosts {
            spec: spec.clone(),
            build: env!("TURNSTILE_VERSION").to_owned(),
            reach: Reach {
                bind: self.bind,
                ports: self.ports,
                ssh: self.ssh.clone().unwrap_or(usual.ssh),
                copy: !self.no_copy,
                secret: self.secret.clone(),
                listen: self.listen,
                within: match self.join_within {
                    Some(Time(ns)) => Duration::from_nanos(ns),
                    None => usual.within,
                },
            },
        }
    }
}

fn ports(text: &str) -> Result<(u16, u16), String> {
    let number = |digits: &str| digits.parse::<u16>().ok().filter(|port| *port > 0);
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match number(low).zip(number(high)) {
        Some((low, high)) if low <= high => Ok((low, high)),
        _ => Err(format!(
            "'{text}' is no range of ports; write one such as 40000-41000"
        )),
    }
}
