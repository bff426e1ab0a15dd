//! A process that wants a lock again and again, whatever lock it is.
//!
//! It says that it is ready, is told when to begin and when to stop, and takes the lock and gives it back for as
//! long. Around every stay it takes a word in memory that all contenders share: one that finds it taken has been
//! let in beside somebody else. It says how often it was inside, and leaves how long it waited each time in a
//! file.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use wire::mapped::SharedWords;
use wire::{ChildArgs, Moment};

use super::subject::Peer;

/// The first argument of a contender.
pub(crate) const CONTENDER: &str = "--child=contender";

/// A lock as a client of it sees it.
pub(super) trait Lock {
    /// Waits until the lock is this client's.
    fn acquire(&mut self) -> io::Result<()>;
    /// Gives it back. A client that asks again the moment it leaves may say both at once, when it next acquires
    /// it.
    fn release(&mut self) -> io::Result<()>;
    /// Says what was put off.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a contender is told by its arguments, which are words of this order.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) peer: Peer,
    /// Where the lock is: an address, or a path.
    pub(super) at: String,
    /// The number of this contender.
    pub(super) me: usize,
    /// Where its files go, and the shared word is.
    pub(super) dir: PathBuf,
    /// Its parent, which it does not outlive.
    pub(super) parent: u32,
}

impl Place {
    /// The arguments that make a process a contender.
    pub(super) fn arguments(&self) -> [String; 6] {
        [
            CONTENDER.to_owned(),
            self.peer.word().to_owned(),
            self.at.clone(),
            self.me.to_string(),
            self.dir.display().to_string(),
            self.parent.to_string(),
        ]
    }

    fn read(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        Some(Self {
            peer: Peer::named(&arguments.next()?)?,
            at: arguments.next()?,
            me: usize::from_str(&arguments.next()?).ok()?,
            dir: arguments.next()?.into(),
            parent: u32::from_str(&arguments.next()?).ok()?,
        })
    }

    /// Where it leaves how long it waited.
    pub(super) fn waits(&self) -> PathBuf {
        self.dir.join(format!("{}.waits", self.me))
    }
}

/// Is a contender.
pub(crate) fn child(arguments: impl Iterator<Item = String>) -> ExitCode {
    let contended = || -> Result<(), String> {
        let place =
            Place::read(arguments).ok_or("a contender is started by the benchmark alone")?;
        let arguments = ChildArgs {
            parent: Some(place.parent),
            ..ChildArgs::default()
        };
        arguments.settle()?;
        contend(&place).map_err(|error| format!("{}: {error}", place.peer.word()))
    };
    match contended() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}

fn contend(place: &Place) -> io::Result<()> {
    let mut lock = place.peer.connect(&place.at, place.me)?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let inside = SharedWords::open(&options.open(place.dir.join("inside"))?, 1)?;
    let inside = inside.get(0);
    say("ready")?;
    let (begin, end) = heard()?;
    while Moment::now() < begin {
        std::hint::spin_loop();
    }
    let (mut waits, mut overlaps) = (Vec::<u32>::new(), 0_u64);
    loop {
        let asked = Moment::now();
        lock.acquire()?;
        let entered = Moment::now();
        let alone = inside.fetch_add(1, Ordering::AcqRel) == 0;
        if entered < end {
            waits.push(u32::try_from(entered.since(asked)).unwrap_or(u32::MAX));
            overlaps += u64::from(!alone);
        }
        inside.fetch_sub(1, Ordering::AcqRel);
        lock.release()?;
        if entered >= end {
            break;
        }
    }
    lock.finish()?;
    let bytes = waits.iter().flat_map(|wait| wait.to_le_bytes());
    fs::write(place.waits(), bytes.collect::<Vec<_>>())?;
    say(&overlaps.to_string())
}

fn say(what: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{what}")?;
    stdout.flush()
}

/// When to begin, and when to stop.
fn heard() -> io::Result<(Moment, Moment)> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let mut moments = line.split_whitespace().map(u64::from_str);
    let mut moment = || match moments.next() {
        Some(Ok(ns)) => Ok(Moment::START.plus_ns(ns)),
        _ => Err(io::Error::other("it was not told when to begin")),
    };
    Ok((moment()?, moment()?))
}
