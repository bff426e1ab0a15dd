//! A timer finer than the runtime's own.
//!
//! tokio's sleep rounds up to whole milliseconds. A timerfd goes off within about 60 µs of the
//! moment asked for, and waiting for it is waiting for a file like any other.

use std::cell::Cell;
use std::io;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::net::unix::pipe;

/// Goes off at a moment of the monotonic clock.
pub struct Alarm {
    /// The timerfd, which is waited for and read from as a pipe is.
    file: pipe::Receiver,
    /// When it will go off, if it will.
    set_for_ns: Cell<Option<u64>>,
}

impl Alarm {
    /// An alarm that is not set. Needs a running tokio runtime.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let file = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            file: pipe::Receiver::from_owned_fd_unchecked(file)?,
            set_for_ns: Cell::new(None),
        })
    }

    /// Makes sure that it goes off at that moment, or earlier. One that is set for an earlier moment
    /// stays as it is: going off once too often costs less than setting it for every event.
    pub fn set(&self, at_ns: u64) -> io::Result<()> {
        if self
            .set_for_ns
            .get()
            .is_some_and(|set_for_ns| set_for_ns <= at_ns)
        {
            return Ok(());
        }
        // All zeros would unset it, so a moment long past becomes the first nanosecond.
        let ns = at_ns.max(1);
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: (ns / 1_000_000_000) as i64,
                tv_nsec: (ns % 1_000_000_000) as i64,
            },
        };
        timerfd_settime(&self.file, TimerfdTimerFlags::ABSTIME, &once)?;
        self.set_for_ns.set(Some(at_ns));
        Ok(())
    }

    /// Waits until it goes off; for ever while it is not set.
    pub async fn wait(&self) -> io::Result<()> {
        let mut expirations = [0; 8];
        loop {
            self.file.readable().await?;
            match self.file.try_read(&mut expirations) {
                Ok(_) => {
                    self.set_for_ns.set(None);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
