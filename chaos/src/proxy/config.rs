//! What a proxy that stands alone is told at the start: in flags, in a file, or in both.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use super::{Address, MemberConfig};
use crate::language::FaultText;
use crate::span::parse_ns;
use safe_io::input;

/// What can stand in flags and in a file alike; the keys of the file are the words of the flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    /// A member: NAME=HOST:PORT, or NAME=any for every client that is nobody else, each with a flow of
    /// its own. NAME@PORT=… fixes the port at which the others reach it [otherwise: any free one]. In
    /// a file: links = ["NAME=HOST:PORT"].
    #[arg(long = "link", value_name = "NAME[@PORT]=HOST:PORT")]
    pub links: Vec<Link>,
    /// A fault from the start, such as "loss 5% on a->b" or "at 10s cut a-b for 1s"; its times count
    /// from the start. 'orchestrator list faults' has all words. In a file: faults = ["…"].
    #[arg(long = "fault", value_name = "FAULT", value_parser = fault_text)]
    pub faults: Vec<FaultText>,
    /// Where all chance comes from; the same seed does the same to the n-th datagram of a link
    /// [default: 1].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Where the aliases listen [default: 127.0.0.1].
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Where requests over HTTP are answered; a loopback address, port 0 for any free one [default:
    /// 127.0.0.1:0].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub api: Option<SocketAddr>,
    /// The file in which the token of the requests stands [default: what the environment variable
    /// CHAOS_TOKEN says, otherwise a new one, which is printed].
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Answer GET /metrics without the token.
    #[arg(long)]
    pub open_metrics: bool,
    /// The directory below which requests may name files, as in "delay matrix wan.csv" [otherwise:
    /// they may name none].
    #[arg(long, value_name = "DIRECTORY")]
    pub fault_files: Option<PathBuf>,
    /// Where what happens is written down, a JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// A client through whose flow nothing passed for so long is forgotten [default: 60s].
    #[arg(long, value_name = "TIME")]
    pub flow_timeout: Option<Span>,
    /// So many clients may have a flow at once; each takes an open file [default: 512].
    #[arg(long, value_name = "COUNT")]
    pub most_flows: Option<usize>,
    /// The most that may be under way, in MiB; more is dropped and counted [default: 256].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub queue_mib: Option<u32>,
}

impl Settings {
    /// Those of a file. Names of files in it are seen from where it lies.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let error = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let bytes = input::read(path, LONGEST).map_err(|why| error(&why))?;
        let text = String::from_utf8(bytes).map_err(|_| error(&"it is not a text in UTF-8"))?;
        let mut settings: Self = toml::from_str(&text).map_err(|why| error(&why))?;
        if settings
            .queue_mib
            .is_some_and(|mib| !(1..=1_048_576).contains(&mib))
        {
            return Err(error(&"queue-mib is 1 to 1048576"));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let files = [
            &mut settings.token_file,
            &mut settings.fault_files,
            &mut settings.journal,
        ];
        for file in files.into_iter().flatten() {
            *file = folder.join(&*file);
        }
        Ok(settings)
    }

    /// These, and what they do not say as others say it; links and faults of both.
    pub(super) fn or(self, others: Self) -> Self {
        Self {
            links: [others.links, self.links].concat(),
            faults: [others.faults, self.faults].concat(),
            seed: self.seed.or(others.seed),
            bind: self.bind.or(others.bind),
            api: self.api.or(others.api),
            token_file: self.token_file.or(others.token_file),
            open_metrics: self.open_metrics || others.open_metrics,
            fault_files: self.fault_files.or(others.fault_files),
            journal: self.journal.or(others.journal),
            flow_timeout: self.flow_timeout.or(others.flow_timeout),
            most_flows: self.most_flows.or(others.most_flows),
            queue_mib: self.queue_mib.or(others.queue_mib),
        }
    }
}

/// No file of settings is longer.
const LONGEST: u64 = 1 << 20;

/// A member as it is asked for: `a=127.0.0.1:7001`, `a@7101=localhost:7001`, `client=any`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Link {
    pub(super) name: String,
    /// The port of its alias; any free one if 0.
    port: u16,
    target: Target,
}

/// The address of a member as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Any,
    At { host: String, port: u16 },
}

impl FromStr for Link {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, target)) = text.split_once('=') else {
            return Err("write NAME=ADDRESS:PORT, such as a=127.0.0.1:7001".to_owned());
        };
        let (name, port) = match name.split_once('@') {
            Some((name, port)) => match port.parse() {
                Ok(port @ 1..) => (name, port),
                _ => return Err(format!("'{port}' is not a port; write 1 to 65535")),
            },
            None => (name, 0),
        };
        let letters = |c: char| c.is_alphanumeric() || c == '_';
        let begins = name.chars().next().is_some_and(char::is_alphabetic);
        if !begins || !name.chars().all(letters) || RESERVED.contains(&name) {
            let why = "a name begins with a letter, has letters, digits and _ only, and is no word \
                       of the fault language such as all or random";
            return Err(why.to_owned());
        }
        let at = |(host, port): (&str, &str)| {
            let host = host.strip_prefix('[').unwrap_or(host);
            let host = host.strip_suffix(']').unwrap_or(host).to_owned();
            let port = port.parse().ok().filter(|port| *port > 0)?;
            (!host.is_empty()).then_some(Target::At { host, port })
        };
        let target = match target {
            "any" => Some(Target::Any),
            target => target.rsplit_once(':').and_then(at),
        };
        let wrong = || {
            let place = text.split_once('=').map_or("", |(_, place)| place);
            format!("'{place}' is not ADDRESS:PORT, nor any")
        };
        Ok(Self {
            name: name.to_owned(),
            port,
            target: target.ok_or_else(wrong)?,
        })
    }
}

impl TryFrom<String> for Link {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|why| format!("'{text}': {why}"))
    }
}

impl Link {
    /// The member, with the name of its host looked up: where an alias at this address reaches it.
    pub(super) fn resolve(&self, bind: IpAddr) -> Result<MemberConfig, String> {
        let address = match &self.target {
            Target::Any => Address::Any,
            Target::At { host, port } => Address::Fixed(look_up(host, *port, bind)?),
        };
        Ok(MemberConfig {
            name: self.name.clone(),
            address,
            port: self.port,
        })
    }
}

fn look_up(host: &str, port: u16, bind: IpAddr) -> Result<SocketAddr, String> {
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|error| format!("the host '{host}' is not found: {error}"))?;
    let mut found = found.peekable();
    let first = found.peek().copied();
    let same = found.find(|address| address.is_ipv4() == bind.is_ipv4());
    same.ok_or_else(|| {
        let first = first.map_or(host.to_owned(), |address| address.ip().to_string());
        let (kind, other) = match bind {
            IpAddr::V4(_) => ("IPv4", "::1"),
            IpAddr::V6(_) => ("IPv6", "127.0.0.1"),
        };
        format!("{first} cannot be reached from {bind}, which is {kind}; try --bind {other}")
    })
}

/// Words that may stand where a member's name may.
const RESERVED: [&str; 11] = [
    "all", "edges", "holder", "token", "random", "halves", "one", "majority", "ring", "bridge",
    "and",
];

/// A length of time, as in the fault language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Span {
    /// The time in nanoseconds.
    pub ns: u64,
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse_ns(text) {
            Ok(0) => Err("write a time longer than 0, such as 60s".to_owned()),
            Ok(ns) => Ok(Self { ns }),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

fn fault_text(text: &str) -> Result<FaultText, String> {
    Ok(FaultText(text.to_owned()))
}
