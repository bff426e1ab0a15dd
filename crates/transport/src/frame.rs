//! The envelope of every datagram: who speaks to whom, in which incarnation, and proof of it.
//!
//! ```text
//! ┌─────────┬───────────┬─────┬────────┬─────────────┬──────────────┬────────┬──────┬─────┐
//! │ version │ algorithm │ run │ source │ destination │ incarnations │ number │ body │ mac │
//! │    1    │     4     │  8  │ varint │   varint    │  2 varints   │ varint │      │ 16  │
//! └─────────┴───────────┴─────┴────────┴─────────────┴──────────────┴────────┴──────┴─────┘
//! ◄──────────────────────────── the mac covers all of this ────────────────────────►
//! ```
//!
//! The header is [postcard](https://postcard.jamesmunns.com/wire-format) of [`Header`]; with small
//! numbers it is 20 bytes, so that header, acknowledgements and a short message fit into the 64
//! bytes of one BLAKE3 block. The mac is BLAKE3 keyed with the run's own key, cut to 16 bytes.
//!
//! Nothing is believed before the mac is verified. What is looked at earlier (version, run,
//! destination, source) only chooses the reason for which a datagram is dropped: a stray from
//! another run is worth telling apart from an attack, and dropping it needs no hashing.

mod key;
mod rejected;

use algorithms::NodeId;
use serde::{Deserialize, Serialize};

pub use key::{Key, KeyError};
pub use rejected::Rejected;

/// The version of frames, of what the transport writes into them, and of what stands in front of a
/// message: since 2 that is also what its sender knew of exits.
pub const VERSION: u8 = 2;

/// How many bytes of the hash are sent.
pub const MAC_BYTES: usize = 16;

/// The most that header and mac can take together.
pub const MAX_OVERHEAD: usize = MAX_HEADER + MAC_BYTES;

/// Fixed fields, four 32-bit varints and one of 64 bits.
const MAX_HEADER: usize = 1 + 4 + 8 + 4 * 5 + 10;

/// Fixed fields and five varints of one byte.
const MIN_HEADER: usize = 1 + 4 + 8 + 5;

/// What all frames of one run share.
#[derive(Clone, Debug)]
pub struct Seal {
    /// The beginning of the hash of the algorithm's name.
    algorithm: [u8; 4],
    run: [u8; 8],
    key: Key,
}

/// Who speaks to whom in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The member that sent the frame.
    pub source: NodeId,
    /// The member that it is for.
    pub destination: NodeId,
    /// Which incarnation of the sender.
    pub source_incarnation: u32,
    /// Which incarnation of the addressee it speaks to.
    pub destination_incarnation: u32,
    /// Never the same twice in one incarnation of the sender, whatever the frame is for.
    pub number: u64,
}

/// The header as it is written.
#[derive(Serialize, Deserialize)]
struct Wire {
    version: u8,
    algorithm: [u8; 4],
    run: [u8; 8],
    source: u32,
    destination: u32,
    source_incarnation: u32,
    destination_incarnation: u32,
    number: u64,
}

impl Seal {
    /// The seal of a run of this algorithm.
    pub fn new(algorithm: &str, run: u64, key: Key) -> Self {
        let [a, b, c, d, ..] = *blake3::hash(algorithm.as_bytes()).as_bytes();
        Self {
            algorithm: [a, b, c, d],
            run: run.to_le_bytes(),
            key,
        }
    }

    /// Begins a frame in an empty buffer; the body is appended to it, then [`close`](Self::close)
    /// makes it a datagram.
    pub fn begin(&self, header: &Header, datagram: &mut Vec<u8>) {
        let wire = Wire {
            version: VERSION,
            algorithm: self.algorithm,
            run: self.run,
            source: header.source.0,
            destination: header.destination.0,
            source_incarnation: header.source_incarnation,
            destination_incarnation: header.destination_incarnation,
            number: header.number,
        };
        let mut room = [0; MAX_HEADER];
        let written = postcard::to_slice(&wire, &mut room).expect("the largest header has room");
        datagram.clear();
        datagram.extend_from_slice(written);
    }

    /// Appends the authentication code (MAC).
    pub fn close(&self, datagram: &mut Vec<u8>) {
        let mac = self.key.mac(datagram);
        datagram.extend_from_slice(&mac.as_bytes()[..MAC_BYTES]);
    }

    /// The header and the body of a datagram that this run's sender made for `me`, one of so many
    /// members.
    pub fn open<'a>(
        &self,
        me: NodeId,
        members: u32,
        datagram: &'a [u8],
    ) -> Result<(Header, &'a [u8]), Rejected> {
        if datagram.len() < MIN_HEADER + MAC_BYTES {
            return Err(Rejected::TooShort);
        }
        if datagram[0] != VERSION {
            return Err(Rejected::WrongVersion);
        }
        let (covered, mac) = datagram.split_at(datagram.len() - MAC_BYTES);
        let (wire, body): (Wire, _) =
            postcard::take_from_bytes(covered).map_err(|_| Rejected::Malformed)?;
        if wire.run != self.run {
            return Err(Rejected::OtherRun);
        }
        if wire.algorithm != self.algorithm {
            return Err(Rejected::OtherAlgorithm);
        }
        if wire.destination != me.0 {
            return Err(Rejected::NotForUs);
        }
        if wire.source >= members || wire.source == me.0 {
            return Err(Rejected::UnknownSource);
        }
        if !self.key.verifies(covered, mac) {
            return Err(Rejected::BadMac);
        }
        let header = Header {
            source: NodeId(wire.source),
            destination: me,
            source_incarnation: wire.source_incarnation,
            destination_incarnation: wire.destination_incarnation,
            number: wire.number,
        };
        Ok((header, body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ME: NodeId = NodeId(4);
    const MEMBERS: u32 = 10;

    fn seal() -> Seal {
        Seal::new("raymond", 77, Key::new([9; 32]))
    }

    fn header() -> Header {
        Header {
            source: NodeId(3),
            destination: ME,
            source_incarnation: 0,
            destination_incarnation: 1,
            number: 300,
        }
    }

    fn frame(seal: &Seal, header: &Header, body: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::new();
        seal.begin(header, &mut datagram);
        datagram.extend_from_slice(body);
        seal.close(&mut datagram);
        datagram
    }

    #[test]
    fn what_was_sealed_opens() {
        let datagram = frame(&seal(), &header(), b"a body");
        let (opened, body) = seal().open(ME, MEMBERS, &datagram).unwrap();
        assert_eq!((opened, body), (header(), &b"a body"[..]));
    }

    #[test]
    fn a_short_frame_takes_one_block_of_hashing() {
        let datagram = frame(&seal(), &header(), &[0; 40]);
        assert!(datagram.len() - MAC_BYTES <= 64, "{}", datagram.len());
    }

    #[test]
    fn the_stated_overhead_is_enough_for_the_largest_header() {
        let largest = Header {
            source: NodeId(u32::MAX),
            destination: NodeId(u32::MAX),
            source_incarnation: u32::MAX,
            destination_incarnation: u32::MAX,
            number: u64::MAX,
        };
        assert_eq!(frame(&seal(), &largest, b"").len(), MAX_OVERHEAD);
        let smallest = Header {
            source: NodeId(1),
            destination: NodeId(0),
            source_incarnation: 0,
            destination_incarnation: 0,
            number: 1,
        };
        assert_eq!(frame(&seal(), &smallest, b"").len(), MIN_HEADER + MAC_BYTES);
    }

    #[test]
    fn every_wrong_address_has_its_reason() {
        let to = |destination| Header {
            destination: NodeId(destination),
            ..header()
        };
        let from = |source| Header {
            source: NodeId(source),
            ..header()
        };
        let other_key = Seal::new("raymond", 77, Key::new([8; 32]));
        let other_run = Seal::new("raymond", 78, Key::new([9; 32]));
        let other_algorithm = Seal::new("lamport", 77, Key::new([9; 32]));
        let cases = [
            (frame(&seal(), &to(5), b""), Rejected::NotForUs),
            (frame(&seal(), &from(MEMBERS), b""), Rejected::UnknownSource),
            (frame(&seal(), &from(ME.0), b""), Rejected::UnknownSource),
            (frame(&other_key, &header(), b""), Rejected::BadMac),
            (frame(&other_run, &header(), b""), Rejected::OtherRun),
            (
                frame(&other_algorithm, &header(), b""),
                Rejected::OtherAlgorithm,
            ),
            (Vec::new(), Rejected::TooShort),
        ];
        for (datagram, reason) in cases {
            assert_eq!(seal().open(ME, MEMBERS, &datagram), Err(reason));
        }
    }

    #[test]
    fn a_version_of_tomorrow_is_called_that() {
        let mut datagram = frame(&seal(), &header(), b"");
        datagram[0] = VERSION + 1;
        let opened = seal().open(ME, MEMBERS, &datagram);
        assert_eq!(opened, Err(Rejected::WrongVersion));
    }

    #[test]
    fn every_single_flipped_bit_is_noticed() {
        let datagram = frame(&seal(), &header(), b"a body of some length");
        for bit in 0..datagram.len() * 8 {
            let mut flipped = datagram.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(seal().open(ME, MEMBERS, &flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_truncation_and_every_extension_is_noticed() {
        let datagram = frame(&seal(), &header(), b"a body of some length");
        for length in 0..datagram.len() {
            let opened = seal().open(ME, MEMBERS, &datagram[..length]);
            assert!(opened.is_err(), "{length} bytes");
        }
        for more in 0..=255 {
            let mut longer = datagram.clone();
            longer.push(more);
            let opened = seal().open(ME, MEMBERS, &longer);
            assert_eq!(opened, Err(Rejected::BadMac));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn arbitrary_bytes_are_rejected_and_never_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            plausible in any::<bool>(),
        ) {
            // Half of them get past the version, so that the rest of the header is read.
            if let (true, Some(first)) = (plausible, bytes.first_mut()) {
                *first = VERSION;
            }
            prop_assert!(seal().open(ME, MEMBERS, &bytes).is_err());
        }

        #[test]
        fn any_header_and_body_survive_the_journey(
            source in (0..MEMBERS).prop_filter("others", |&source| source != ME.0),
            source_incarnation: u32,
            destination_incarnation: u32,
            number: u64,
            body in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let sent = Header {
                source: NodeId(source),
                destination: ME,
                source_incarnation,
                destination_incarnation,
                number,
            };
            let datagram = frame(&seal(), &sent, &body);
            prop_assert!(datagram.len() <= MAX_OVERHEAD + body.len());
            prop_assert_eq!(seal().open(ME, MEMBERS, &datagram), Ok((sent, &body[..])));
        }
    }
}
