//! Random numbers that are the same in every run with the same seed.

use rand::rand_core::{Infallible, TryRng};

/// A stream of random numbers that depends only on the words it is made from.
///
/// A new one is made for each decision, from the seed, what is decided, where, and the number of
/// the decision; so adding a fault, a node or a packet elsewhere reshuffles nothing. SplitMix64:
/// making one costs a few multiplications, where a fresh ChaCha8 would cost more than an event.
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The stream for these words.
    pub fn new<const N: usize>(words: [u64; N]) -> Self {
        let no_words = Self { state: GAMMA };
        words.into_iter().fold(no_words, Self::with)
    }

    /// The stream for the words so far and one more: `Draw::new([a]).with(b)` is `Draw::new([a, b])`.
    #[must_use]
    pub fn with(self, word: u64) -> Self {
        Self {
            state: mix(self.state ^ mix(word.wrapping_add(GAMMA))),
        }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number below `bound`, each as likely as the others (Lemire's method).
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A word for a text: the same in every build and on every machine (FNV-1a).
pub(crate) fn word_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// So that every distribution of `rand_distr` can be drawn from.
impl TryRng for Draw {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
