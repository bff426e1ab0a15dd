//! Chance for those who draw scenarios: the same in every hunt with the same seed.

use chaos::Draw;
use chaos::span::show_ns;

/// Sets the draws of a hunt apart from all other chance.
const HUNT: u64 = 0x6875_6e74;

/// Draws the values of a scenario from its seed.
pub(super) struct Dice(Draw);

impl Dice {
    /// The dice for one run of a hunt.
    pub(super) fn new(seed: u64, nth: u64) -> Self {
        Self(Draw::new([seed, HUNT, nth]))
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    /// A whole number from one to another, both included.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    /// A whole number from one to another, small ones as likely as large ones.
    pub(super) fn rather_small(&mut self, least: u64, most: u64) -> u64 {
        let [low, high] = [least, most].map(|end| (end as f64 + 1.0).ln());
        let drawn = (low + (high - low) * self.0.unit()).exp() - 1.0;
        (drawn.round() as u64).clamp(least, most)
    }

    /// One of these values, each as likely as the others.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn one_of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.0.below(several.len() as u64) as usize]
    }

    /// A time within these microseconds, short ones as likely as long ones, with one digit that is not
    /// 0 so that a person can read it.
    pub(super) fn time(&mut self, least_us: u64, most_us: u64) -> String {
        let drawn = self.rather_small(least_us, most_us);
        let digits = 10_u64.pow(drawn.max(1).ilog10());
        show_ns((drawn / digits * digits).max(least_us) * 1_000)
    }

    /// How likely something is, and now and then how much that depends on the time before.
    pub(super) fn likely(&mut self) -> String {
        match self.chance(0.2) {
            true => format!("{} {}", self.percent(), self.percent()),
            false => self.percent(),
        }
    }

    /// A share, small ones as likely as large ones.
    pub(super) fn percent(&mut self) -> String {
        format!("{}%", self.one_of(&[1, 2, 5, 10, 20, 30, 50]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_drawn_and_none_beyond() {
        let mut dice = Dice::new(1, 0);
        let mut seen = [0; 6];
        for _ in 0..1_000 {
            seen[dice.between(2, 5) as usize] += 1;
            assert!((3..=70).contains(&dice.rather_small(3, 70)));
        }
        assert_eq!(seen[..2], [0, 0]);
        assert!(seen[2..].iter().all(|count| *count > 200), "{seen:?}");
    }

    #[test]
    fn a_time_has_one_digit() {
        let mut dice = Dice::new(1, 0);
        for _ in 0..1_000 {
            let time = dice.time(100, 90_000);
            let digits = time.chars().filter(|c| ('1'..='9').contains(c)).count();
            assert_eq!(digits, 1, "{time}");
        }
    }
}
