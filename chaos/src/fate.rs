//! What happens to a datagram.

use smallvec::SmallVec;

/// A member of the group, by its number.
pub type Member = u32;

/// A datagram on its way into a directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The member that sent it.
    pub from: Member,
    /// The member that it is sent to.
    pub to: Member,
    /// Its length in bytes, without headers.
    pub size: u32,
    /// It is the n-th packet of its link: the n, from 1.
    pub nth: u64,
    /// When it was sent, in nanoseconds from the start of the run.
    pub sent_ns: u64,
}

/// What the link does with a datagram: which copies of it arrive, when, and in what state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// One per arrival; the first is the original. Empty if it was lost.
    pub copies: SmallVec<[Carried; 2]>,
    /// The rule that took the last copy, as [`Network::add`](crate::Network::add) numbered it.
    pub lost_to: Option<usize>,
}

/// One copy of a datagram that arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// How long it is under way.
    pub delay_ns: u64,
    /// The bytes that are left of it, if it was cut short.
    pub keep: Option<u32>,
    /// The bits that are turned over, numbered from the first byte's lowest.
    pub flips: SmallVec<[u32; 4]>,
}

impl Fate {
    /// It arrives at once, as it was sent.
    pub fn untouched() -> Self {
        let mut copies = SmallVec::new();
        copies.push(Carried::default());
        Self {
            copies,
            lost_to: None,
        }
    }

    /// Takes every copy away, and says whether there was one.
    pub fn lose(&mut self) -> bool {
        let lost = !self.copies.is_empty();
        self.copies.clear();
        lost
    }

    /// Whether no copy of the packet arrives.
    pub fn is_lost(&self) -> bool {
        self.copies.is_empty()
    }
}

impl Carried {
    /// How many of the datagram's bytes arrive.
    pub fn length(&self, size: u32) -> u32 {
        self.keep.map_or(size, |keep| keep.min(size))
    }

    /// Whether it arrives as it was sent.
    pub fn is_intact(&self) -> bool {
        self.keep.is_none() && self.flips.is_empty()
    }

    /// Does to the bytes what happened to the copy, and says how many of them arrive.
    pub fn mangle(&self, bytes: &mut [u8]) -> usize {
        let length = self
            .keep
            .map_or(bytes.len(), |keep| bytes.len().min(keep as usize));
        for &bit in &self.flips {
            if let Some(byte) = bytes[..length].get_mut(bit as usize / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangling_turns_bits_over_and_cuts_short() {
        let copy = Carried {
            keep: Some(2),
            flips: SmallVec::from_slice(&[0, 9, 23]),
            ..Carried::default()
        };
        let mut bytes = [0_u8; 3];
        assert_eq!(copy.mangle(&mut bytes), 2);
        assert_eq!(bytes, [1, 2, 0]);
        assert_eq!(copy.length(3), 2);
        assert!(!copy.is_intact());
    }
}
