//! The records of a member, as bytes: one file per life of a member.
//!
//! A record is its time since the one before, in nanoseconds, and what happened; both in postcard's
//! variable-length form, so that a token's whole visit takes some twenty bytes. In a member's file they are the
//! contents of a [`MappedLog`](wire::mapped::MappedLog): whatever was added before a `kill -9` can be read.

use std::fs::File;
use std::io::{self, Read, Take};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use model::event::What;
use model::run::TransportRow;
use wire::mapped::HEAD_BYTES;

/// One record of a member's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// An event of the member.
    Event(#[serde(with = "model::event::binary")] What),
    /// What the transport has counted so far.
    Counters(TransportRow),
    /// The transport measured a round trip.
    RoundTrip {
        /// The length of the round trip.
        ns: u64,
    },
}

/// Encodes records as bytes.
#[derive(Debug, Default)]
pub struct RecordWriter {
    last_ns: u64,
    bytes: Vec<u8>,
}

impl RecordWriter {
    /// Adds a record. Times never go back.
    pub fn add(&mut self, now_ns: u64, record: &Record) {
        let since_ns = now_ns.saturating_sub(self.last_ns);
        self.last_ns += since_ns;
        postcard::to_io(&(since_ns, record), &mut self.bytes).expect("a record is plain data");
    }

    /// What has been added since the last [`clear`](Self::clear).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the bytes, once they are in the file.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// The error of a file that holds something else than records.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at}: {why}")]
pub struct RecordError {
    /// The offset of the first byte that cannot be read.
    pub at: usize,
    why: String,
}

/// Reads a member's records, one after another, however many there are.
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

/// How many bytes are read from the file at a time; a record may be longer.
const READ_BYTES: usize = 16 * 1024;

/// Reads the file of a member's records.
pub fn read_file(mut file: File) -> io::Result<RecordReader<Take<File>>> {
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    // A member that died as it made its file has recorded nothing.
    let counts = head.try_into().map_or(0, u64::from_le_bytes);
    Ok(RecordReader::new(file.take(counts)))
}

impl<R: Read> RecordReader<R> {
    /// A reader of records, at the beginning of the first.
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
    pub fn read(&mut self) -> Result<Option<(u64, Record)>, RecordError> {
        loop {
            let rest = &self.bytes[self.taken..];
            match postcard::take_from_bytes::<(u64, Record)>(rest) {
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
    use algorithms::NodeId;
    use model::event::{Body, Letter};

    use super::*;

    fn some() -> Vec<(u64, Record)> {
        let sent = What::Send {
            to: NodeId(4),
            letter: Letter::of_kind("REQUEST"),
            charge: None,
            bytes: 17,
        };
        let received = What::Receive {
            from: NodeId(4),
            letter: Box::new(Letter {
                number: 3,
                kind: "TOKEN".into(),
                origin: Some(NodeId(2)),
                body: Body(vec![0, 0xaf]),
                text: Some("Token".to_owned()),
            }),
            delay_ns: 40_000,
        };
        let entered = What::Enter {
            fence: Some(8),
            invited: true,
            witness: Some(0),
            index: Some(70),
        };
        let note = What::Note {
            name: "hops".into(),
            value: 2,
            charge: None,
        };
        let events = [
            (5, What::Arrive { priority: 3 }),
            (5, What::Request { priority: 3 }),
            (9, sent),
            (2_000_000, received),
            (2_000_001, entered),
            (2_000_002, note),
            (3_000_000, What::Release),
        ];
        let events = events.into_iter();
        let mut records: Vec<_> = events.map(|(at, what)| (at, Record::Event(what))).collect();
        records.push((3_000_001, Record::RoundTrip { ns: 70_000 }));
        records.push((3_000_002, Record::Counters(TransportRow::default())));
        records
    }

    fn written() -> Vec<u8> {
        let mut writer = RecordWriter::default();
        for (now_ns, record) in some() {
            writer.add(now_ns, &record);
        }
        writer.bytes().to_vec()
    }

    fn read(bytes: &[u8]) -> Result<Vec<(u64, Record)>, RecordError> {
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
        let line = |length: usize| {
            let why = "x".repeat(length);
            Record::Event(What::ProtocolError { why })
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
