//! The kernel's lock on a file, which everybody on one host can have without any server.

use std::fs::{File, OpenOptions};
use std::io;

use super::contender::Lock;

/// A handle on the file.
pub(super) struct FileLock(File);

impl FileLock {
    pub(super) fn open(path: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        options.open(path).map(Self)
    }
}

impl Lock for FileLock {
    fn acquire(&mut self) -> io::Result<()> {
        self.0.lock()
    }

    fn release(&mut self) -> io::Result<()> {
        self.0.unlock()
    }
}
