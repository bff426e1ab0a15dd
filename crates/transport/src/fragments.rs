//! Messages larger than a datagram: cut into parts, and put together again.

use crate::packet::Part;

/// The parts of a message of `length` bytes in segments of at most `most`, with their lengths.
///
/// They are as equal as can be: a last part of a few bytes would cost a datagram like the others.
pub(crate) fn parts(length: usize, most: usize) -> impl Iterator<Item = (Part, usize)> {
    let count = length.div_ceil(most).max(1);
    (0..count).map(move |place| {
        let part = match (place, count - 1 - place) {
            (0, 0) => Part::Whole,
            (0, _) => Part::First,
            (_, 0) => Part::Last,
            (_, _) => Part::Middle,
        };
        let from = length * place / count;
        let until = length * (place + 1) / count;
        (part, until - from)
    })
}

/// The beginning of a message whose parts arrive in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    /// What there is of it; `None` between messages.
    begun: Option<Vec<u8>>,
}

impl Assembly {
    /// How many bytes of the message have arrived.
    pub(crate) fn bytes(&self) -> usize {
        self.begun.as_ref().map_or(0, Vec::len)
    }

    /// Takes the next part and hands over the message it completes, if it does.
    ///
    /// A part that does not fit its predecessor is the sender's mistake; it is dropped, together
    /// with the message it spoils.
    pub(crate) fn add(&mut self, part: Part, bytes: &[u8], deliver: &mut dyn FnMut(&[u8])) {
        match (part, self.begun.take()) {
            (Part::Whole, _) => deliver(bytes),
            (Part::First, _) => self.begun = Some(bytes.to_vec()),
            (Part::Middle, Some(mut begun)) => {
                begun.extend_from_slice(bytes);
                self.begun = Some(begun);
            }
            (Part::Last, Some(mut begun)) => {
                begun.extend_from_slice(bytes);
                deliver(&begun);
            }
            (Part::Middle | Part::Last, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_message_is_one_segment() {
        assert_eq!(parts(0, 100).collect::<Vec<_>>(), [(Part::Whole, 0)]);
    }

    #[test]
    fn a_message_that_just_fits_is_not_cut() {
        assert_eq!(parts(100, 100).collect::<Vec<_>>(), [(Part::Whole, 100)]);
        let two = [(Part::First, 50), (Part::Last, 51)];
        assert_eq!(parts(101, 100).collect::<Vec<_>>(), two);
    }

    proptest! {
        #[test]
        fn what_is_cut_is_put_together_again(length in 0_usize..5_000, most in 1_usize..300) {
            let message: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
            let mut assembly = Assembly::default();
            let mut delivered = Vec::new();
            let mut rest = &message[..];
            for (part, length) in parts(message.len(), most) {
                prop_assert!(length <= most);
                prop_assert!(delivered.is_empty());
                let (bytes, after) = rest.split_at(length);
                assembly.add(part, bytes, &mut |bytes| delivered.push(bytes.to_vec()));
                rest = after;
            }
            prop_assert_eq!(delivered, vec![message]);
            prop_assert_eq!(assembly.bytes(), 0);
        }
    }
}
