//! What stands in the body of a frame: a head, then segments until the body ends.
//!
//! Both are postcard. They are written and read one by one, straight from and into the datagram, so
//! that neither direction allocates.

use serde::{Deserialize, Serialize};

use crate::frame::Rejected;

/// The most that a head can take.
pub(crate) const MAX_HEAD: usize = 5 + 1 + 3 * 10 + 5;

/// The most that a segment's own fields can take; its length is below the size of a datagram.
pub(crate) const MAX_SEGMENT_OVERHEAD: usize = 10 + 1 + 3;

/// How many segments beyond the first missing one an acknowledgement can speak of.
pub(crate) const SELECTIVE: u64 = 64;

/// What every frame says before its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Which session of the link this belongs to; always 0 on patient links.
    pub session: u32,
    pub say: Say,
    pub ack: Ack,
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Say {
    /// Segments, acknowledgements, or both.
    Carry,
    /// The same, and the other end is to answer at once.
    Ping,
    /// The handshake's first step: let this be our new session.
    Open,
    /// Its second step: agreed. The third is any frame of the new session.
    Accept,
}

/// What has arrived at the end that writes this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ack {
    /// All segments below this number.
    pub below: u64,
    /// Bit `i` stands for segment `below + 1 + i`.
    pub beyond: u64,
    /// The number of the frame that arrived last of those that want an answer; 0 if an earlier
    /// acknowledgement had it.
    pub echo: u64,
    /// How long ago that frame arrived.
    pub held_us: u32,
}

/// A message or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment<'a> {
    /// Counted from 0 in each session, without gaps.
    pub number: u64,
    pub part: Part,
    pub bytes: &'a [u8],
}

/// Which part of its message a segment is. The parts of one message have consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Whole,
    First,
    Middle,
    Last,
}

impl Part {
    /// Whether its message ends with it.
    pub(crate) fn ends(self) -> bool {
        match self {
            Self::Whole | Self::Last => true,
            Self::First | Self::Middle => false,
        }
    }
}

impl Head {
    pub(crate) fn write(&self, datagram: &mut Vec<u8>) {
        let mut room = [0; MAX_HEAD];
        let written = postcard::to_slice(self, &mut room).expect("the largest head has room");
        datagram.extend_from_slice(written);
    }

    /// The head of this body, and the segments behind it.
    pub(crate) fn read(body: &[u8]) -> Result<(Self, Segments<'_>), Rejected> {
        let (head, rest) = postcard::take_from_bytes(body).map_err(|_| Rejected::Malformed)?;
        Ok((head, Segments { rest }))
    }
}

/// Appends a segment whose bytes lie in two pieces, as those of a ring do.
pub(crate) fn write_segment(number: u64, part: Part, pieces: [&[u8]; 2], datagram: &mut Vec<u8>) {
    let length = pieces[0].len() + pieces[1].len();
    let mut room = [0; MAX_SEGMENT_OVERHEAD];
    let fields = postcard::to_slice(&(number, part, length), &mut room)
        .expect("a segment is shorter than a datagram");
    datagram.extend_from_slice(fields);
    datagram.extend_from_slice(pieces[0]);
    datagram.extend_from_slice(pieces[1]);
}

/// The segments of a frame, in the order they were written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments<'a> {
    rest: &'a [u8],
}

impl Segments<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<Segment<'a>, Rejected>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match postcard::take_from_bytes(self.rest) {
            Ok((segment, rest)) => {
                self.rest = rest;
                Some(Ok(segment))
            }
            Err(_) => {
                self.rest = &[];
                Some(Err(Rejected::Malformed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LARGEST: Head = Head {
        session: u32::MAX,
        say: Say::Accept,
        ack: Ack {
            below: u64::MAX,
            beyond: u64::MAX,
            echo: u64::MAX,
            held_us: u32::MAX,
        },
    };

    #[test]
    fn the_stated_overheads_are_the_largest() {
        let mut body = Vec::new();
        LARGEST.write(&mut body);
        assert_eq!(body.len(), MAX_HEAD);
        body.clear();
        let bytes = [0; 65_535];
        write_segment(u64::MAX, Part::Last, [&bytes, &[]], &mut body);
        assert_eq!(body.len(), MAX_SEGMENT_OVERHEAD + bytes.len());
    }

    #[test]
    fn what_was_written_in_two_pieces_is_read_as_one() {
        let mut body = Vec::new();
        LARGEST.write(&mut body);
        write_segment(7, Part::First, [b"abc", b"de"], &mut body);
        write_segment(8, Part::Last, [b"", b""], &mut body);
        let (head, segments) = Head::read(&body).unwrap();
        assert_eq!(head, LARGEST);
        let segments: Vec<_> = segments.map(Result::unwrap).collect();
        let segment = |number, part, bytes| Segment {
            number,
            part,
            bytes,
        };
        let expected = [
            segment(7, Part::First, &b"abcde"[..]),
            segment(8, Part::Last, b""),
        ];
        assert_eq!(segments, expected);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_to_an_end(body in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Ok((_, segments)) = Head::read(&body) {
                prop_assert!(segments.count() <= body.len());
            }
        }
    }
}
