//! The proxy on its own: `chaos --link a=127.0.0.1:7001 --link b=127.0.0.1:7002`.

use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;

use super::api::{self, Token};
use super::faults::beyond_us;
use super::{Config, Journal, Proxy};
use crate::delay::Delay;
use crate::language::{Entry, Scope};
use crate::partition::Edges;
use crate::timeline::{Group, Timeline};

/// A UDP network that misbehaves on demand, between programs that need not know.
///
/// Each member gets an alias. Tell every program the others' aliases instead of their addresses: what
/// member a sends to the alias of b arrives at b from the alias of a, unless a fault is in the way.
#[derive(Debug, Parser)]
#[command(name = "chaos", version, max_term_width = 100)]
pub struct Args {
    /// A member: NAME=ADDRESS:PORT, or NAME=any for whoever sends first.
    #[arg(long = "link", value_name = "NAME=ADDRESS", required = true, value_parser = member)]
    links: Vec<(String, Option<SocketAddr>)>,
    /// A fault from the start, such as "loss 5% on a->b" or "every 2s for 100ms cut a-b".
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<String>,
    /// Where all chance comes from; the same seed does the same to the n-th datagram of a link.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the aliases listen.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Where requests over HTTP are answered; a loopback address, port 0 for any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = (Ipv4Addr::LOCALHOST, 0).into())]
    api: SocketAddr,
    /// Where what happens is written down, a JSON object per line.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
}

/// Runs the proxy until Ctrl-C or SIGTERM; says why it could not otherwise.
pub async fn run(args: Args, out: &mut impl Write) -> Result<(), String> {
    let mut names = Vec::new();
    for (name, _) in &args.links {
        if names.contains(name) {
            return Err(format!("--link {name}: two members have this name"));
        }
        names.push(name.clone());
    }
    let timeline = timeline(&args, &names)?;
    let journal = match &args.journal {
        None => Journal::default(),
        Some(path) => Journal::new(
            File::create(path).map_err(|error| format!("--journal {}: {error}", path.display()))?,
        ),
    };
    let proxy = Proxy::bind(Config {
        members: args.links,
        bind: args.bind,
        delay: Delay::NONE,
        timeline,
        journal,
    });
    let proxy = proxy.map_err(|error| format!("--bind {}: {error}", args.bind))?;
    let listener = api::bind(args.api).await;
    let listener = listener.map_err(|error| format!("--api {}: {error}", args.api))?;
    let token = Token::fresh().map_err(|error| error.to_string())?;
    introduce(out, &proxy, &listener, &token).map_err(|error| error.to_string())?;
    let control = proxy.control();
    tokio::select! {
        ended = proxy.run() => ended.map_err(|error| error.to_string()),
        ended = api::serve(listener, control, token) => ended.map_err(|error| error.to_string()),
        ended = interrupted() => ended.map_err(|error| error.to_string()),
    }
}

/// Says who is reached where.
fn introduce(
    out: &mut impl Write,
    proxy: &Proxy,
    listener: &tokio::net::TcpListener,
    token: &Token,
) -> io::Result<()> {
    let links = proxy.links()?;
    let width = links.iter().map(|link| link.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for link in links {
        let member = match link.member {
            Some(address) => address.to_string(),
            None => "whoever sends first".to_owned(),
        };
        writeln!(
            out,
            "{:width$}  {member}  reach it at {}",
            link.name, link.alias
        )?;
    }
    writeln!(
        out,
        "control  http://{}  token {}",
        listener.local_addr()?,
        token.text()
    )?;
    out.flush()
}

async fn interrupted() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended,
        _ = terminate.recv() => Ok(()),
    }
}

fn timeline(args: &Args, names: &[String]) -> Result<Timeline, String> {
    let nodes = names.len() as u32;
    let read = |file: &str| std::fs::read_to_string(file).map_err(|error| error.to_string());
    let group = Group {
        nodes,
        edges: Edges::Complete { nodes },
        kinds: None,
        token: Some(false),
        seed: args.seed,
        read: &read,
    };
    let scope = Scope {
        names,
        ..group.scope()
    };
    let entries = args.faults.iter().map(|text| Entry::parse(text, &scope));
    let entries = entries.collect::<Result<Vec<_>, _>>();
    let timeline = entries.and_then(|entries| Timeline::resolve(&entries, &group));
    let timeline = timeline.map_err(|error| format!("--fault: {error}"))?;
    for step in &timeline.steps {
        if let Some(why) = beyond_us(step) {
            return Err(format!("--fault '{}': {why}", step.text));
        }
    }
    Ok(timeline)
}

fn member(text: &str) -> Result<(String, Option<SocketAddr>), String> {
    let Some((name, address)) = text.split_once('=') else {
        return Err("write NAME=ADDRESS:PORT, such as a=127.0.0.1:7001".to_owned());
    };
    let letters = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.chars().next().is_some_and(char::is_alphabetic);
    if !begins || !name.chars().all(letters) || RESERVED.contains(&name) {
        let why = "a name begins with a letter, has letters, digits and _ only, and is no word of \
                   the fault language such as all or random";
        return Err(why.to_owned());
    }
    match address {
        "any" => Ok((name.to_owned(), None)),
        _ => match address.parse() {
            Ok(address) => Ok((name.to_owned(), Some(address))),
            Err(_) => Err(format!("'{address}' is not ADDRESS:PORT, nor any")),
        },
    }
}

/// Words that may stand where a member's name may.
const RESERVED: [&str; 11] = [
    "all", "edges", "holder", "token", "random", "halves", "one", "majority", "ring", "bridge",
    "and",
];
