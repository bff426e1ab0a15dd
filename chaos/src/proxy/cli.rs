//! The proxy on its own: `chaos --link a=127.0.0.1:7001 --link b=127.0.0.1:7002`.

use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use thiserror::Error;
use tokio::net::TcpListener;

use super::api::{self, Access, HELP};
use super::config::Settings;
use super::{
    Address, Command, Config, Control, FaultFiles, FlowLimits, Journal, MemberConfig, Proxy,
    QUEUE_BYTES, Refusal, Token,
};
use crate::timeline::Timeline;

/// Breaks the network between programs that speak UDP, and need not know of it: loss, delay,
/// duplication, reordering, cuts, on directed links, without root.
///
/// UDP only: what the programs say over TCP does not pass here. Each member gets an alias. Tell every
/// program the others' aliases instead of their addresses: what member a sends to the alias of b arrives
/// at b from the alias of a, unless a fault is in the way. Faults are changed over HTTP while it runs.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = format!("What can be asked over HTTP:\n\n{HELP}"))]
pub struct Options {
    /// A file with what the other flags say, in TOML: links = ["a=127.0.0.1:7001"], faults = ["loss
    /// 5%"], seed = 1 and so on. A flag beside it comes first; links and faults add up.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

/// Why the proxy did not run, or ended.
#[derive(Debug, Error)]
pub enum Failure {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The system refused something.
    #[error("{0}")]
    System(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::System(error.to_string())
    }
}

/// The variable in which the token may stand.
const TOKEN: &str = "CHAOS_TOKEN";

/// Runs the proxy in this process until Ctrl-C, SIGTERM or SIGHUP.
pub fn main(options: Options) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(options, &mut io::stdout()))
}

async fn run(options: Options, out: &mut impl Write) -> Result<(), Failure> {
    let mut settings = options.settings;
    let mut folder = PathBuf::new();
    if let Some(path) = &options.config {
        let file = Settings::read(path).map_err(|why| usage("--config", why))?;
        folder = path.parent().map_or(folder, Into::into);
        settings = settings.or(file);
    }
    let token = token(&settings)?;
    let idle_ns = settings.flow_timeout.map(|span| span.ns);
    let idle_ns = idle_ns.unwrap_or(FlowLimits::default().idle_ns);
    let proxy = bind(&settings, idle_ns)?;
    let files = FaultFiles::From(folder);
    for fault in &settings.faults {
        let added = proxy.add(&fault.0, &files);
        added.map_err(|why| usage("--fault", why))?;
    }
    let api = settings.api.unwrap_or((Ipv4Addr::LOCALHOST, 0).into());
    let listener = api::bind(api).await;
    let listener = listener.map_err(|error| usage(&format!("--api {api}"), error))?;
    introduce(out, &proxy, &listener, &token)?;
    let access = Access {
        token: token.word,
        open_metrics: settings.open_metrics,
    };
    let (control, tidied) = (proxy.control(), proxy.control());
    tokio::select! {
        ended = proxy.run() => Ok(ended?),
        ended = api::serve(listener, control, access) => Ok(ended?),
        ended = tidy(tidied, Duration::from_nanos(idle_ns)) => ended,
        ended = interrupted() => Ok(ended?),
    }
}

/// Binds the aliases of those who were asked for.
fn bind(settings: &Settings, idle_ns: u64) -> Result<Proxy, Failure> {
    let bind = settings.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut members: Vec<MemberConfig> = Vec::new();
    for link in &settings.links {
        let of_link = |why: &str| usage(&format!("--link {}", link.name), why);
        let member = link.resolve(bind).map_err(|why| of_link(&why))?;
        if members.iter().any(|other| other.name == member.name) {
            return Err(of_link("two members have this name"));
        }
        let fixed = member.address != Address::Any;
        if fixed && members.iter().any(|other| other.address == member.address) {
            return Err(of_link("two members have this address"));
        }
        members.push(member);
    }
    if members.is_empty() {
        let why = "name a member, such as --link a=127.0.0.1:7001";
        return Err(usage("--link", why));
    }
    let mut config = Config::between(members);
    config.bind = bind;
    config.timeline = Timeline {
        seed: settings.seed.unwrap_or(1),
        ..config.timeline
    };
    config.flows.idle_ns = idle_ns;
    config.flows.most = settings.most_flows.unwrap_or(config.flows.most);
    let queue_mib = settings.queue_mib.map(|mib| (mib as usize) << 20);
    config.queue_bytes = queue_mib.unwrap_or(QUEUE_BYTES);
    if let Some(path) = &settings.journal {
        let flag = format!("--journal {}", path.display());
        config.journal = Journal::new(File::create(path).map_err(|error| usage(&flag, error))?);
    }
    if let Some(path) = &settings.fault_files {
        let flag = format!("--fault-files {}", path.display());
        config.files = FaultFiles::below(path).map_err(|error| usage(&flag, error))?;
    }
    Proxy::bind(config).map_err(|error| usage(&format!("--bind {bind}"), error))
}

/// The token, and where it comes from if it is not a new one.
struct Source {
    word: Token,
    said_in: Option<&'static str>,
}

fn token(settings: &Settings) -> Result<Source, Failure> {
    let (word, said_in) = if let Some(path) = &settings.token_file {
        let flag = format!("--token-file {}", path.display());
        let word = Token::from_file(path).map_err(|why| usage(&flag, why))?;
        (word, Some("the file"))
    } else if let Some(text) = std::env::var_os(TOKEN) {
        let word = Token::chosen(&text.to_string_lossy()).map_err(|why| usage(TOKEN, why))?;
        (word, Some(TOKEN))
    } else {
        (Token::fresh()?, None)
    };
    Ok(Source { word, said_in })
}

fn usage(what: &str, why: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("{what}: {why}"))
}

/// Says who is reached where.
fn introduce(
    out: &mut impl Write,
    proxy: &Proxy,
    listener: &TcpListener,
    token: &Source,
) -> io::Result<()> {
    let links = proxy.links()?;
    let width = links.iter().map(|link| link.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for link in links {
        let member = link.member.as_ref().map(SocketAddr::to_string);
        let member = member.unwrap_or_else(|| "any client".to_owned());
        writeln!(
            out,
            "{:width$}  {member}  reach it at {}",
            link.name, link.alias
        )?;
    }
    let control = listener.local_addr()?;
    match token.said_in {
        None => writeln!(
            out,
            "control  http://{control}  token {}",
            token.word.text()
        )?,
        Some(place) => writeln!(out, "control  http://{control}  token as in {place}")?,
    }
    writeln!(out, "help  curl http://{control}/")?;
    out.flush()
}

/// Has given up what is no longer used, every so often.
async fn tidy(control: Control, idle: Duration) -> Result<(), Failure> {
    let often = (idle / 2).clamp(Duration::from_millis(10), Duration::from_secs(1));
    let mut ticks = tokio::time::interval(often);
    loop {
        ticks.tick().await;
        match control.ask(Command::Tidy).await {
            Ok(_) | Err(Refusal::Stopped) => {}
            Err(why) => return Err(Failure::System(why.to_string())),
        }
    }
}

async fn interrupted() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended,
        _ = terminate.recv() => Ok(()),
        _ = hang_up.recv() => Ok(()),
    }
}
