//! The proxy between two programs that know nothing of it, or of each other's whereabouts.
//!
//! ```text
//! $ cargo run -p chaos --features proxy --example between_two_programs
//! ```
//!
//! One program answers whatever it is sent; the other asks fifty times and counts the answers. The
//! asker is given the alias of the answerer, and that is all it takes. Every link loses a tenth of
//! what passes, and what passes is 5 ms late; then the asker is cut off, and then it is not.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use chaos::FaultError;
use chaos::language::FaultSpec;
use chaos::proxy::{Address, Command, Config, Journal, MemberConfig, Proxy};
use chaos::timeline::{Group, Timeline};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answerer = UdpSocket::bind((LOCALHOST, 0))?;
    let asker = UdpSocket::bind((LOCALHOST, 0))?;
    let members = [("asker", &asker), ("answerer", &answerer)];
    let members = members.map(|(name, socket)| {
        Ok(MemberConfig {
            name: name.to_owned(),
            address: Address::Fixed(socket.local_addr()?),
            port: 0,
        })
    });
    let config = Config {
        timeline: bad_links()?,
        journal: Journal::new(io::stdout()),
        ..Config::between(members.into_iter().collect::<io::Result<_>>()?)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::spawn(move || answer(&answerer));
    runtime.block_on(async {
        let proxy = Proxy::bind(config)?;
        let (control, links) = (proxy.control(), proxy.links()?);
        let to = links[1].alias;
        let steps = async {
            for (what, change) in [
                ("bad links", None),
                ("cut off", Some(Command::Add("cut 0-1".to_owned()))),
                ("healed", Some(Command::Heal(None))),
            ] {
                if let Some(change) = change {
                    control.ask(change).await.map_err(io::Error::other)?;
                }
                let asker = asker.try_clone()?;
                let answers = tokio::task::spawn_blocking(move || ask(&asker, to, 50)).await??;
                println!("{what}: 50 questions, {answers} answers");
            }
            io::Result::Ok(())
        };
        tokio::select! {
            ended = proxy.run() => ended,
            ended = steps => ended,
        }
    })?;
    Ok(())
}

fn bad_links() -> Result<Timeline, FaultError> {
    let group = Group::complete(2, 1);
    let faults = ["at 0s loss 10% on all", "at 0s delay 5ms on all"];
    let specs = faults.map(|text| FaultSpec::parse(text, &group.scope()));
    let specs = specs.into_iter().collect::<Result<Vec<_>, _>>()?;
    Timeline::resolve(&specs, &group)
}

/// Sends everything that arrives back to its sender.
fn answer(socket: &UdpSocket) -> io::Result<()> {
    let mut question = [0; 64];
    loop {
        let (length, from) = socket.recv_from(&mut question)?;
        socket.send_to(&question[..length], from)?;
    }
}

/// Asks so many times, and counts the answers that come within a moment of the last.
fn ask(socket: &UdpSocket, to: SocketAddr, questions: u32) -> io::Result<u32> {
    for question in 0..questions {
        socket.send_to(&question.to_be_bytes(), to)?;
    }
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let (mut answers, deadline) = (0, Instant::now() + Duration::from_millis(200));
    while Instant::now() < deadline {
        answers += u32::from(socket.recv(&mut [0; 64]).is_ok());
    }
    Ok(answers)
}
