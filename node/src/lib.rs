//! A member as a process: the core and the transport around one UDP socket.
//!
//! ```text
//!   datagram ─► transport ─► core ─► effects ─► records to disk ─► datagrams leave ─► wait
//! ```
//!
//! The order is the point: what others could see of an event is in the file before they can see it.
//! Everything that decides lives in [`members`](member::members) and [`transport`](transport);
//! this module owns the socket, the clock, the files and the control channel.

pub mod control;
pub mod record;

mod barrier;
mod event_loop;
mod recorder;
mod usage;
mod witness;

use std::net::Ipv4Addr;
use std::process::ExitCode;

use safe_io::to_stderr;
use wire::{Channel, ChildArgs};

use crate::control::{FromMember, ToMember};

/// The member's end of the control channel.
type ControlChannel = Channel<ToMember, FromMember>;

/// Runs a member until it is told to finish, its stdin ends, or it cannot go on.
pub fn main(arguments: ChildArgs) -> ExitCode {
    if let Err(why) = arguments.settle() {
        to_stderr(&format!("error: {why}\n"));
        return ExitCode::from(4);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(event_loop::serve(
            (Ipv4Addr::LOCALHOST, arguments.port).into(),
        )),
        Err(error) => Err(format!("cannot start a runtime: {error}")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}
