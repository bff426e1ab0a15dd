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

use crate::clock::Moment;

/// Goes off at a moment of the monotonic clock.
pub struct Alarm {
    /// The timerfd, which is waited for and read from as a pipe is.
    file: pipe::Receiver,
    /// When it will go off, if it will.
    set_for: Cell<Option<Moment>>,
}

impl Alarm {
    /// An alarm that is not set. Needs a running tokio runtime.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let file = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            file: pipe::Receiver::from_owned_fd_unchecked(file)?,
            set_for: Cell::new(None),
        })
    }

    /// Makes sure that it goes off at that moment, or earlier. One that is set for an earlier moment
    /// stays as it is: going off once too often costs less than setting it for every event.
    pub fn set(&self, at: Moment) -> io::Result<()> {
        if self.set_for.get().is_some_and(|set_for| set_for <= at) {
            return Ok(());
        }
        // All zeros would unset it, so a moment long past becomes the first nanosecond.
        let (seconds, ns) = at.max(Moment::START.plus_ns(1)).parts();
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: seconds as i64,
                tv_nsec: ns as i64,
            },
        };
        timerfd_settime(&self.file, TimerfdTimerFlags::ABSTIME, &once)?;
        self.set_for.set(Some(at));
        Ok(())
    }

    /// Waits until it goes off; for ever while it is not set.
    pub async fn wait(&self) -> io::Result<()> {
        let mut expirations = [0; 8];
        loop {
            self.file.readable().await?;
            match self.file.try_read(&mut expirations) {
                Ok(_) => {
                    self.set_for.set(None);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
