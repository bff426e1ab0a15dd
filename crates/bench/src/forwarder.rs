//! The limit for the proxy: a process that passes datagrams on from one member to another with the same
//! socket calls, and decides nothing.
//!
//! It speaks the proxy's control protocol, so that both are measured by the same code.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use chaos::Totals;
use chaos::proxy::child::{FromProxy, ToProxy};
use wire::ChildArgs;
use wire::{Bundle, Channel, Inbox, Port};

/// As much as the proxy's aliases ask for.
const SOCKET_BUFFER: usize = 4 << 20;

/// Is the forwarder, until it is told to finish or its stdin ends.
pub(crate) fn main(birth: ChildArgs) -> ExitCode {
    cluster::child::be(birth, forward())
}

async fn forward() -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut parent = Channel::open().map_err(text)?;
    let Some(ToProxy::Begin(between)) = parent.next().await? else {
        return Ok(());
    };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (first, second) = (
        Port::bind(any, SOCKET_BUFFER).map_err(text)?,
        Port::bind(any, SOCKET_BUFFER).map_err(text)?,
    );
    parent.say(&FromProxy::Bound {
        aliases: vec![
            first.address().map_err(text)?,
            second.address().map_err(text)?,
        ],
    });
    let to = between.members[1];
    let (mut inbox, mut bundle) = (Inbox::new(), Bundle::default());
    loop {
        tokio::select! {
            biased;
            ready = second.readable() => {
                ready.map_err(text)?;
                let places = second.receive(&mut inbox).map_err(text)?;
                for (_, datagram) in inbox.datagrams(places) {
                    bundle.send(&first, to, datagram).map_err(text)?;
                }
                bundle.flush(&first).map_err(text)?;
            }
            order = parent.next() => match order? {
                None => return Ok(()),
                Some(ToProxy::Finish) => {
                    parent.say(&FromProxy::Finished {
                        did: Vec::new(),
                        totals: Totals::default(),
                    });
                    return Ok(());
                }
                Some(
                    ToProxy::Begin(_)
                    | ToProxy::Zero { .. }
                    | ToProxy::Extend(_)
                    | ToProxy::Enact { .. },
                ) => {}
            },
        }
    }
}
