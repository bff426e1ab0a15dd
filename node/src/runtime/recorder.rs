//! What others could have seen survives `kill -9`.
//!
//! Records gather in memory while an event is handled and go to the file with one `write` before
//! any datagram leaves and before the member waits. The kernel then has them, whatever becomes of
//! the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::record::{Record, RecordWriter};

/// Writes the file of one life of a member.
pub struct Recorder {
    file: File,
    writer: RecordWriter,
}

impl Recorder {
    /// Makes the file; it must not be there yet.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)?;
        Ok(Self {
            file,
            writer: RecordWriter::default(),
        })
    }

    /// Adds a record; it is not in the file yet.
    pub fn add(&mut self, now_ns: u64, record: &Record<'_>) {
        self.writer.add(now_ns, record);
    }

    /// Hands everything added to the kernel.
    pub fn flush(&mut self) -> io::Result<()> {
        if !self.writer.bytes().is_empty() {
            self.file.write_all(self.writer.bytes())?;
            self.writer.clear();
        }
        Ok(())
    }
}
