//! What a member writes down, as bytes: one file per life of a member.
//!
//! A record is its time since the one before, in nanoseconds, and what happened; both in postcard's
//! variable-length form, so that a token's whole visit takes some twenty bytes. There is no footer
//! and no index: whatever was written before a `kill -9` can be read.

use std::borrow::Cow;
use std::io::Read;

use algorithms::NodeId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use member::members;
use model::run::TransportRow;

/// Something that happened to a member, as its file holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record<'a> {
    /// A client wants in.
    Arrived {
        /// How urgently.
        priority: u32,
    },
    /// The algorithm was asked.
    Asked,
    /// The algorithm let the client in.
    Entered {
        /// The entry's fence, where the algorithm has one.
        fence: Option<u64>,
        /// Whether it had been asked.
        invited: bool,
        /// The lock file the kernel granted; `None` if it refused.
        witness: Option<u32>,
    },
    /// The client left.
    Left,
    /// A client will not ask again.
    Retired,
    /// A number that a claim is about.
    Note {
        /// What was counted or measured.
        name: Cow<'a, str>,
        /// How much.
        value: u64,
        /// The node whose latest request it belongs to, if any.
        charge: Option<NodeId>,
    },
    /// Something that the paper says cannot happen.
    ProtocolError {
        /// What was wrong.
        why: Cow<'a, str>,
    },
    /// A fault did something to a message, or kept a piece of news from the algorithm.
    Tampered {
        /// Which step of the plan's faults.
        step: u32,
    },
    /// An algorithm message was sent, and a fault took it.
    Lost {
        /// The addressee.
        to: NodeId,
        /// Its kind, as the machine numbers them.
        kind: u8,
    },
    /// An algorithm message was sent.
    Sent {
        /// The addressee.
        to: NodeId,
        /// Its kind, as the machine numbers them.
        kind: u8,
        /// Its size.
        bytes: u32,
    },
    /// An algorithm message arrived.
    Received {
        /// The sender.
        from: NodeId,
        /// Its kind, as the machine numbers them.
        kind: u8,
        /// How long it was under way.
        delay_ns: u64,
    },
    /// What the transport has done so far.
    Transport(TransportRow),
    /// The member waited for a fault to come into force.
    Stalled {
        /// How long.
        ns: u64,
    },
    /// The member took another for dead.
    Suspected {
        /// Whom.
        peer: NodeId,
    },
    /// The transport measured a round trip.
    RoundTrip {
        /// How long it took.
        ns: u64,
    },
    /// Something that only a trace tells.
    Traced {
        /// A line of the run's `events.jsonl`.
        line: Cow<'a, str>,
    },
}

impl<'a> Record<'a> {
    /// What the core says happened. An entry gets its witness where the lock is taken. What only a
    /// trace tells is told there.
    pub fn of(record: &'a members::Record, witness: Option<u32>) -> Option<Self> {
        Some(match record {
            members::Record::Arrived { priority } => Record::Arrived {
                priority: *priority,
            },
            members::Record::Asked => Record::Asked,
            members::Record::Entered { fence, invited } => Record::Entered {
                fence: *fence,
                invited: *invited,
                witness,
            },
            members::Record::Left => Record::Left,
            members::Record::Retired => Record::Retired,
            members::Record::Tampered { step } => Record::Tampered { step: *step as u32 },
            members::Record::Note {
                name,
                value,
                charge,
            } => Record::Note {
                name: Cow::Borrowed(name),
                value: *value,
                charge: *charge,
            },
            members::Record::ProtocolError { why } => Record::ProtocolError {
                why: Cow::Borrowed(why),
            },
            members::Record::Traced(_) => return None,
        })
    }
}

/// Turns records into bytes.
#[derive(Debug, Default)]
pub struct RecordWriter {
    last_ns: u64,
    bytes: Vec<u8>,
}

impl RecordWriter {
    /// Adds a record. Times never go back.
    pub fn add(&mut self, now_ns: u64, record: &Record<'_>) {
        let since_ns = now_ns.saturating_sub(self.last_ns);
        self.last_ns += since_ns;
        postcard::to_io(&(since_ns, record), &mut self.bytes).expect("a record is plain data");
    }

    /// What has been added since the last [`clear`](Self::clear).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes are where they belong.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// A file that holds something else than records.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at}: {why}")]
pub struct RecordError {
    /// Where it stops making sense.
    pub at: usize,
    why: String,
}

/// Reads a member's file, one record after another, however long it is.
///
/// The last one may be cut off, as a kill in the middle of a write would leave it; anything else
/// that does not decode is an error.
#[derive(Debug)]
pub struct RecordReader<R> {
    source: R,
    bytes: Vec<u8>,
    /// What of the bytes has been read.
    taken: usize,
    /// Bytes of the file before these.
    before: usize,
    now_ns: u64,
}

/// So much is read at a time; a record may be longer.
const READ_BYTES: usize = 16 * 1024;

impl<R: Read> RecordReader<R> {
    /// Nothing read yet.
    pub fn new(source: R) -> Self {
        Self {
            source,
            bytes: Vec::new(),
            taken: 0,
            before: 0,
            now_ns: 0,
        }
    }

    /// The next record with its time; none at the end.
    pub fn read(&mut self) -> Result<Option<(u64, Record<'static>)>, RecordError> {
        loop {
            let rest = &self.bytes[self.taken..];
            match postcard::take_from_bytes::<(u64, Record<'static>)>(rest) {
                Ok(((since_ns, record), after)) => {
                    self.taken = self.bytes.len() - after.len();
                    self.now_ns = self.now_ns.saturating_add(since_ns);
                    return Ok(Some((self.now_ns, record)));
                }
                Err(postcard::Error::DeserializeUnexpectedEnd) => {
                    if !self.read_on()? {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(self.error(error.to_string())),
            }
        }
    }

    /// Reads some more of the file; says whether there was more.
    fn read_on(&mut self) -> Result<bool, RecordError> {
        self.bytes.drain(..self.taken);
        self.before += std::mem::take(&mut self.taken);
        let mut more = (&mut self.source).take(READ_BYTES as u64);
        match more.read_to_end(&mut self.bytes) {
            Ok(read) => Ok(read > 0),
            Err(error) => Err(self.error(error.to_string())),
        }
    }

    fn error(&self, why: String) -> RecordError {
        RecordError {
            at: self.before + self.taken,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<(u64, Record<'static>)> {
        vec![
            (5, Record::Arrived { priority: 3 }),
            (5, Record::Asked),
            (
                9,
                Record::Sent {
                    to: NodeId(4),
                    kind: 1,
                    bytes: 17,
                },
            ),
            (
                2_000_000,
                Record::Received {
                    from: NodeId(4),
                    kind: 0,
                    delay_ns: 40_000,
                },
            ),
            (
                2_000_001,
                Record::Entered {
                    fence: Some(8),
                    invited: true,
                    witness: Some(0),
                },
            ),
            (
                2_000_002,
                Record::Note {
                    name: "hops".into(),
                    value: 2,
                    charge: None,
                },
            ),
            (3_000_000, Record::Left),
        ]
    }

    fn written() -> Vec<u8> {
        let mut writer = RecordWriter::default();
        for (now_ns, record) in some() {
            writer.add(now_ns, &record);
        }
        writer.bytes().to_vec()
    }

    fn read(bytes: &[u8]) -> Result<Vec<(u64, Record<'static>)>, RecordError> {
        let mut reader = RecordReader::new(bytes);
        let mut records = Vec::new();
        while let Some(record) = reader.read()? {
            records.push(record);
        }
        Ok(records)
    }

    #[test]
    fn a_file_longer_than_is_read_at_a_time_is_read() {
        let mut writer = RecordWriter::default();
        let line = |length: usize| Record::Traced {
            line: "x".repeat(length).into(),
        };
        let records = [5, READ_BYTES - 20, 3 * READ_BYTES, 0, 700].map(line);
        for (now_ns, record) in (1..).zip(&records) {
            writer.add(now_ns, record);
        }
        let expected: Vec<_> = (1..).zip(records).collect();
        assert_eq!(read(writer.bytes()).unwrap(), expected);
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&written()).unwrap(), some());
    }

    #[test]
    fn whatever_a_kill_leaves_can_be_read() {
        let bytes = written();
        for end in 0..bytes.len() {
            let records = read(&bytes[..end]).unwrap();
            assert_eq!(records, some()[..records.len()]);
        }
    }

    #[test]
    fn something_else_is_an_error_that_says_where() {
        let error = read(&[5, 250, 1, 2, 3]).unwrap_err();
        assert_eq!(error.at, 0);
    }
}
