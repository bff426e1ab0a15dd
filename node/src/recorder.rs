//! The file of a member's records: what others could have seen survives `kill -9`.
//!
//! Records gather in memory while an event is handled and go to the file at once before any datagram leaves
//! and before the member waits. The kernel then has them, whatever becomes of the process.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use wire::mapped::MappedLog;

use crate::record::{Record, RecordWriter};

/// Writes the file of one life of a member.
pub(crate) struct Recorder {
    log: MappedLog,
    writer: RecordWriter,
    /// Whether there is something that must be in the file before anybody can see more.
    urgent: bool,
}

impl Recorder {
    /// Makes the file, which must not be there yet, and locks it for as long as this process lives.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)?;
        file.lock()?;
        Ok(Self {
            log: MappedLog::begin(file)?,
            writer: RecordWriter::default(),
            urgent: false,
        })
    }

    /// Adds a record; it is not in the file yet.
    pub(crate) fn add(&mut self, now_ns: u64, record: &Record) {
        self.urgent = true;
        self.writer.add(now_ns, record);
    }

    /// Adds a record that nobody else could have seen: it goes to the file with the next one that
    /// somebody could.
    pub(crate) fn add_quietly(&mut self, now_ns: u64, record: &Record) {
        self.writer.add(now_ns, record);
    }

    /// Hands everything added to the kernel, if anything of it is urgent.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.urgent) {
            self.log.append(self.writer.bytes())?;
            self.writer.clear();
        }
        Ok(())
    }

    /// Hands everything added to the kernel, and ends the file where its records end.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.urgent = true;
        self.flush()?;
        self.log.trim()
    }
}
