//! Which frames of one peer were seen.
//!
//! Frame numbers never repeat in an incarnation, but they are shared among all addressees, so those
//! that one peer receives have gaps of any width. Hence a memory of the last numbers received, not
//! a bitmap over the last numbers there were.

use std::collections::VecDeque;

use crate::frame::Rejected;

/// How many are remembered: twice the segments that can be under way, for their acknowledgements.
const REMEMBERED: usize = 128;

/// The numbers received last from one incarnation of one peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replay {
    /// They are in ascending order.
    seen: VecDeque<u64>,
    /// Numbers up to this one are forgotten.
    forgotten: u64,
}

impl Replay {
    /// Notes the number, if it is new.
    pub(crate) fn admit(&mut self, number: u64) -> Result<(), Rejected> {
        if number <= self.forgotten {
            return Err(Rejected::Replayed);
        }
        if self.seen.back().is_none_or(|&newest| newest < number) {
            self.seen.push_back(number);
        } else {
            match self.seen.binary_search(&number) {
                Ok(_) => return Err(Rejected::Duplicate),
                Err(place) => self.seen.insert(place, number),
            }
        }
        if self.seen.len() > REMEMBERED {
            self.forgotten = self.seen.pop_front().expect("more than enough are there");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_is_admitted_once_in_whatever_order() {
        let mut replay = Replay::default();
        for number in [5, 900, 7, 6, 1_000_000] {
            assert_eq!(replay.admit(number), Ok(()));
        }
        for number in [5, 900, 7, 6, 1_000_000] {
            assert_eq!(replay.admit(number), Err(Rejected::Duplicate));
        }
    }

    #[test]
    fn what_is_forgotten_is_refused() {
        let mut replay = Replay::default();
        for number in 1..=REMEMBERED as u64 + 1 {
            assert_eq!(replay.admit(10 * number), Ok(()));
        }
        assert_eq!(replay.admit(10), Err(Rejected::Replayed));
        assert_eq!(replay.admit(9), Err(Rejected::Replayed));
        assert_eq!(replay.admit(11), Ok(()));
        assert_eq!(replay.admit(11), Err(Rejected::Replayed));
        assert_eq!(replay.admit(20), Err(Rejected::Duplicate));
    }

    #[test]
    fn zero_is_no_number() {
        assert_eq!(Replay::default().admit(0), Err(Rejected::Replayed));
    }

    proptest! {
        #[test]
        fn no_number_is_admitted_twice(numbers in prop::collection::vec(0_u64..400, 0..2_000)) {
            let mut replay = Replay::default();
            let mut admitted = BTreeSet::new();
            for number in numbers {
                if replay.admit(number).is_ok() {
                    prop_assert!(admitted.insert(number));
                }
            }
        }
    }
}
