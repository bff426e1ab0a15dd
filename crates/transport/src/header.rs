//! What travels in front of a message and is no part of it, so that algorithms know nothing of it.
//!
//! That is the moment it was sent, so that its receiver knows the delay; the largest index of an exit
//! that its sender knew of when it made it, so that entries can be shown to exclude each other; and where
//! processes are traced its number, so that a trace can tell which message arrived.

use serde::{Deserialize, Serialize};

/// What travels in front of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When the message was sent.
    pub sent_ns: u64,
    /// The largest index of an exit that its sender knew of when it made it; 0 where none is carried.
    pub known: u32,
    /// The message's number; 0 where none is carried.
    pub number: u64,
}

/// Which of a stamp's fields the messages of a run carry: the same at every member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Whether messages carry what their sender knew of exits.
    pub known: bool,
    /// Whether messages carry their numbers.
    pub number: bool,
}

impl Carried {
    /// Begins a message: the rest of it is appended.
    pub fn write(self, stamp: Stamp, bytes: &mut Vec<u8>) {
        bytes.clear();
        append(&stamp.sent_ns, bytes);
        if self.known {
            append(&stamp.known, bytes);
        }
        if self.number {
            append(&stamp.number, bytes);
        }
    }

    /// What a message begins with and the rest of it; `None` if it does not begin so.
    pub fn read(self, bytes: &[u8]) -> Option<(Stamp, &[u8])> {
        let (sent_ns, rest) = postcard::take_from_bytes(bytes).ok()?;
        let (known, rest) = taken(self.known, rest)?;
        let (number, rest) = taken(self.number, rest)?;
        let stamp = Stamp {
            sent_ns,
            known,
            number,
        };
        Some((stamp, rest))
    }
}

fn append(number: &impl Serialize, bytes: &mut Vec<u8>) {
    postcard::to_io(number, bytes).expect("a number can be written to memory");
}

/// The number that is next where it is carried, and what follows.
fn taken<'a, T: Default + Deserialize<'a>>(
    carried: bool,
    bytes: &'a [u8],
) -> Option<(T, &'a [u8])> {
    match carried {
        true => postcard::take_from_bytes(bytes).ok(),
        false => Some((T::default(), bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let all = Stamp {
            sent_ns: 5_000,
            known: 70_000,
            number: 300,
        };
        let mut bytes = Vec::new();
        for (known, number) in [(false, false), (true, false), (false, true), (true, true)] {
            let carried = Carried { known, number };
            carried.write(all, &mut bytes);
            bytes.extend(b"rest");
            let expected = Stamp {
                known: if known { all.known } else { 0 },
                number: if number { all.number } else { 0 },
                ..all
            };
            assert_eq!(carried.read(&bytes), Some((expected, &b"rest"[..])));
            assert_eq!(carried.read(&[0x80]), None);
        }
    }

    #[test]
    fn a_stamp_that_is_cut_short_is_none() {
        let carried = Carried {
            known: true,
            number: true,
        };
        let mut bytes = Vec::new();
        carried.write(Stamp::default(), &mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(carried.read(&bytes[..length]), None);
        }
    }
}
