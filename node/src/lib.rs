//! A member as a process: the algorithm and the transport around one UDP socket.
//!
//! ```text
//!   datagram ─► transport ─► member ─► effects ─► records to disk ─► datagrams leave ─► wait
//! ```
//!
//! The order is the point: what others could see of an event is in the file before they can see it.
//! Nothing is decided here: that is done in [`members`](member::members) and
//! [`transport`]. This crate owns the socket, the clock, the files and the control channel.
//!
//! ```
//! use model::event::What;
//! use node::record::{Record, RecordReader, RecordWriter};
//!
//! let mut writer = RecordWriter::default();
//! writer.add(7_000, &Record::Event(What::Release));
//! writer.add(9_000, &Record::RoundTrip { ns: 70_000 });
//!
//! let mut reader = RecordReader::new(writer.bytes());
//! assert_eq!(reader.read()?, Some((7_000, Record::Event(What::Release))));
//! assert_eq!(reader.read()?, Some((9_000, Record::RoundTrip { ns: 70_000 })));
//! assert_eq!(reader.read()?, None);
//! # Ok::<(), node::record::RecordError>(())
//! ```

pub mod control;
pub mod record;
pub use witness::FILES as WITNESS_FILES;

mod barrier;
mod event_loop;
mod recorder;
mod usage;
mod witness;

use std::process::ExitCode;

use safe_io::to_stderr;
use wire::{Channel, ChildArgs};

use crate::control::{FromMember, ToMember};

/// This very program, even if its file is replaced meanwhile.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// The member's end of the control channel.
type ControlChannel = Channel<ToMember, FromMember>;

/// Runs a member until it is told to finish, its stdin ends, or it cannot go on.
pub fn main(arguments: ChildArgs) -> ExitCode {
    if let Err(why) = arguments.settle() {
        to_stderr(&format!("error: {why}\n"));
        return ExitCode::from(4);
    }
    external::drive_in_our_group(THIS_PROGRAM.into());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(event_loop::serve(arguments.place())),
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
