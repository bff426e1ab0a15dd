//! `orchestrator agent`: the part of a run that is on this host.

use std::io::{self, BufRead, Read};
use std::time::Duration;

use clap::Args;

use crate::scenario::Time;
use crate::{Exit, Failure};

/// The most bytes that are read for a secret.
const LONGEST_SECRET: u64 = 4_096;

/// Takes part in a run on this host, for an orchestrator elsewhere
///
/// Whatever starts it (ssh, srun, a Kubernetes Job, a person) writes the join secret to its stdin, as
/// the first line. It ends when the run is over or its connection is.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// Where the orchestrator is, HOST:PORT; the first of several that answers
    #[arg(required = true, value_name = "HOST:PORT")]
    orchestrator: Vec<String>,
    /// What this host is called in the run [default: its own name, or the next that is free]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Time in which the orchestrator must answer [default: 30s]
    #[arg(long, value_name = "TIME")]
    within: Option<Time>,
}

impl Agent {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        if let Some(place) = self.orchestrator.iter().find(|place| !has_port(place)) {
            return Err(Failure::Usage(format!(
                "'{place}' has no port; write HOST:PORT, as the orchestrator printed it"
            )));
        }
        let mut secret = String::new();
        io::stdin()
            .lock()
            .take(LONGEST_SECRET)
            .read_line(&mut secret)
            .map_err(|error| Failure::Usage(format!("cannot read the join secret: {error}")))?;
        let agent = cluster::agent::Agent {
            orchestrator: self.orchestrator,
            name: self.name,
            build: env!("TURNSTILE_VERSION").to_owned(),
            within: match self.within {
                Some(Time(ns)) => Duration::from_nanos(ns),
                None => Duration::from_secs(30),
            },
        };
        match agent.run(&secret) {
            Ok(()) => Ok(Exit::Holds),
            Err(why) => Err(Failure::Testbed(why)),
        }
    }
}

fn has_port(place: &str) -> bool {
    let port = place.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    matches!(port, Some(Ok(1..)))
}
