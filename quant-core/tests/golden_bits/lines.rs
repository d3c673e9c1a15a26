//! The lines of the table of golden bits, and the dates in them.

use std::fmt::Debug;

use quant_core::time::NaiveDate;

/// The lines of the table as they are computed now.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Vec<String>);

impl Lines {
    pub(crate) fn add(&mut self, name: &str, input: impl Debug, values: &[f64]) {
        let words: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        self.add_words(name, input, &words);
    }

    /// Adds a line of bits that are no numbers, as the open days of a year.
    pub(crate) fn add_words(&mut self, name: &str, input: impl Debug, words: &[u64]) {
        let bits: Vec<String> = words.iter().map(|word| format!("{word:016x}")).collect();
        self.0.push(format!("{name} {input:?}: {}", bits.join(" ")));
    }
}

/// Returns a date.
pub(crate) fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).expect("a date")
}
