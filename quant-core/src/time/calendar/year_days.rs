//! Sets of days of one year.

/// Days of one year, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct YearDays([u64; 6]);

impl YearDays {
    /// No day.
    pub(super) const NONE: Self = Self([0; 6]);

    /// Returns whether the day with so many days before it in the year is in the set.
    pub(super) fn contains(&self, ordinal0: u32) -> bool {
        self.0[(ordinal0 / 64) as usize] >> (ordinal0 % 64) & 1 == 1
    }

    /// Adds the day with so many days before it in the year.
    pub(super) fn insert(&mut self, ordinal0: u32) {
        self.0[(ordinal0 / 64) as usize] |= 1 << (ordinal0 % 64);
    }

    /// Adds all days of another set.
    pub(super) fn add(&mut self, other: Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// The number of days from one day of the year, itself included, to another, excluded.
    pub(super) fn count(&self, from: u32, to: u32) -> i64 {
        let words = (0_u32..).step_by(64).zip(self.0);
        let in_word = |(first, word): (u32, u64)| {
            (word & below(to.saturating_sub(first)) & !below(from.saturating_sub(first)))
                .count_ones()
        };
        words.map(in_word).map(i64::from).sum()
    }
}

/// The lowest bits of a word, at most all 64.
fn below(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
