//! Transfer entropy from one time series to another.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::arithmetic::decimal::{Decimal, sign_of_sum};
use crate::arithmetic::double_double::DoubleDouble;
use crate::arithmetic::logarithm::ln;
use crate::arithmetic::scaled::Scaled;
use crate::{Error, Result, check};

mod sampling;

pub use sampling::explain_transfer_entropy;

/// The largest number of bins of a series.
const MOST_BINS: usize = 1_000;

/// The largest number of points of a series: the largest 32-bit count.
const MOST_POINTS: usize = u32::MAX as usize;

/// Returns the transfer entropy from `x_history` to `y_history`, in nats.
///
/// ```text
/// T = I(y_t ; x_{t−lag} | y_{t−lag}) = Σ p(y_t, y, x) ln [ p(y_t, y, x) p(y) / (p(y_t, y) p(y, x)) ]
/// ```
///
/// where x and y are the values at t − lag, and the probabilities are the frequencies among the
/// N − `lag` triples. Each series is divided into `n_bins` bins of equal width over its own range;
/// the bin of a value v is ⌊n (v − min) / (max − min)⌋, and the maximum belongs to the last one. The
/// edges are decided on the shortest decimals that denote the values: 0.3 lies on the edge of the fourth
/// of ten bins from 0 to 1, although the double 0.3 is a little below 3/10. A constant series has one
/// bin.
///
/// The value is never below zero, and is zero where the counts are exactly independent. There is
/// no correction for bias: unrelated series come out somewhat above zero, the more so the more
/// bins there are and the fewer points.
///
/// # Errors
///
/// - [`Error::TooFew`] where `x_history` has fewer than `lag` + 1 points.
/// - [`Error::Shape`] where `y_history` has another length than `x_history`.
/// - [`Error::Element`] for the first value that is not finite.
/// - [`Error::Domain`] for a `lag` of zero, and for `n_bins` that is not from 1 to 1,000.
///
/// # Examples
///
/// ```
/// use quant_core::entropy::transfer::transfer_entropy;
///
/// // y repeats x one step later, and all four pairs of past values occur: one bit is transferred.
/// let x = [0.0, 1.0, 1.0, 0.0, 0.0];
/// let y = [0.0, 0.0, 1.0, 1.0, 0.0];
/// assert_eq!(transfer_entropy(&x, &y, 1, 2)?, std::f64::consts::LN_2);
/// assert_eq!(transfer_entropy(&x, &[3.0; 5], 1, 2)?, 0.0);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Schreiber (2000), "Measuring Information Transfer", equation 4, with one step of history.
pub fn transfer_entropy(
    x_history: &[f64],
    y_history: &[f64],
    lag: usize,
    n_bins: usize,
) -> Result<f64> {
    let [source, target] = binned(x_history, y_history, lag, n_bins)?;
    Triples { source: &source, target: &target, lag, n_bins }.transfer_entropy()
}

/// The transfer entropies between two series, in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TransferEntropies {
    /// Transfer entropy from the source to the target, in nats.
    pub forward: f64,
    /// Transfer entropy from the target to the source, in nats.
    pub reverse: f64,
    /// Number of triples of values that each of them counts.
    pub triples: usize,
}

/// Returns the transfer entropies from `x_history` to `y_history` and back, in nats.
///
/// Each is the [`transfer_entropy`] of its direction, bit for bit, with the bins of each series formed
/// once.
///
/// # Errors
///
/// Those of [`transfer_entropy`].
///
/// # Examples
///
/// ```
/// use quant_core::entropy::transfer_entropies;
///
/// // y repeats x one step later, and x has each triple of values once.
/// let x = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0];
/// let y = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0];
/// let found = transfer_entropies(&x, &y, 1, 2)?;
/// assert_eq!((found.forward, found.reverse), (std::f64::consts::LN_2, 0.0));
/// assert_eq!(found.triples, 8);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Schreiber (2000), "Measuring Information Transfer", which compares both directions.
pub fn transfer_entropies(
    x_history: &[f64],
    y_history: &[f64],
    lag: usize,
    n_bins: usize,
) -> Result<TransferEntropies> {
    let [x, y] = binned(x_history, y_history, lag, n_bins)?;
    let forward = Triples { source: &x, target: &y, lag, n_bins };
    let reverse = Triples { source: &y, target: &x, lag, n_bins };
    Ok(TransferEntropies {
        forward: forward.transfer_entropy()?,
        reverse: reverse.transfer_entropy()?,
        triples: forward.len(),
    })
}

/// Checks the arguments, and returns the bins of both series.
fn binned(
    x_history: &[f64],
    y_history: &[f64],
    lag: usize,
    n_bins: usize,
) -> Result<[Vec<u16>; 2]> {
    validate(x_history, y_history, lag, n_bins)?;
    Ok([bins("x_history", x_history, n_bins)?, bins("y_history", y_history, n_bins)?])
}

fn validate(x_history: &[f64], y_history: &[f64], lag: usize, n_bins: usize) -> Result<()> {
    let points = x_history.len();
    if points <= lag {
        let needed = lag.saturating_add(1);
        return Err(Error::TooFew { argument: "x_history", needed, found: points });
    }
    check::length("y_history", y_history.len(), points)?;
    let requirement = "at most 2³² − 1 points long";
    check::require(points <= MOST_POINTS, "x_history", points as f64, requirement)?;
    check::require(lag >= 1, "lag", lag as f64, "an integer of at least 1")?;
    let within = (1..=MOST_BINS).contains(&n_bins);
    check::require(within, "n_bins", n_bins as f64, "an integer from 1 to 1,000")
}

/// Returns the number of the bin of every value of a series, after a check of the values.
fn bins(argument: &'static str, series: &[f64], n_bins: usize) -> Result<Vec<u16>> {
    let (lowest, highest) = extremes(argument, series)?;
    Ok(Bins::new(lowest, highest, n_bins).of_all(series))
}

/// The least and the greatest value of a series of finite numbers.
fn extremes(argument: &'static str, series: &[f64]) -> Result<(f64, f64)> {
    // Eight independent lanes, which become vector registers.
    let (mut lowest, mut highest) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let mut infinite = 0_u64;
    let (chunks, rest) = series.as_chunks::<8>();
    let mut last = [series[0]; 8];
    last[..rest.len()].copy_from_slice(rest);
    for chunk in chunks.iter().chain([&last]) {
        for ((lowest, highest), &value) in lowest.iter_mut().zip(&mut highest).zip(chunk) {
            *lowest = if value < *lowest { value } else { *lowest };
            *highest = if value > *highest { value } else { *highest };
            infinite += u64::from(!value.is_finite());
        }
    }
    if infinite > 0 {
        check::each(argument, series, "a finite number", f64::is_finite)?;
    }
    Ok((
        lowest.into_iter().fold(f64::INFINITY, f64::min),
        highest.into_iter().fold(f64::NEG_INFINITY, f64::max),
    ))
}

/// Bins of equal width over the range of a series.
struct Bins {
    count: usize,
    /// The least and the greatest value.
    extremes: (f64, f64),
    /// A power of two that keeps the range finite, also times the count.
    scale: f64,
    /// The number of bins in a unit of the scaled values.
    density: f64,
    /// The distance from the centre of a bin, in bins, up to which a position in doubles decides.
    clear_of_edges: f64,
    /// The least double of each bin but the first, found where a value lies near an edge.
    starts: Vec<OnceCell<f64>>,
}

impl Bins {
    fn new(lowest: f64, highest: f64, count: usize) -> Self {
        const TWO_POWER_MINUS_20: f64 = 1.0 / 1_048_576.0;
        let extremes = (lowest, highest);
        let far = highest.max(-lowest) > 1e300;
        let scale = if far { TWO_POWER_MINUS_20 } else { 1.0 };
        let (lowest, highest) = (lowest * scale, highest * scale);
        let range = highest - lowest;
        // A double and its decimal differ by half a unit of the last place of the largest value.
        let size = highest.max(-lowest) / range;
        let tolerance = 1e-9 + count as f64 * (16.0 * f64::EPSILON) * size;
        let starts = vec![OnceCell::new(); count - 1];
        let density = count as f64 / range;
        Self { count, extremes, scale, density, clear_of_edges: 0.5 - tolerance, starts }
    }

    fn of_all(&self, series: &[f64]) -> Vec<u16> {
        let mut bins = vec![0; series.len()];
        if self.extremes.0 < self.extremes.1 {
            for (values, bins) in series.chunks(BLOCK).zip(bins.chunks_mut(BLOCK)) {
                self.place_block(values, bins);
            }
        }
        bins
    }

    /// Writes the bins by the positions of the values, and by the edges where rounding could matter.
    fn place_block(&self, values: &[f64], bins: &mut [u16]) {
        let mut doubtful = 0_u64;
        for (bin, &value) in bins.iter_mut().zip(values) {
            let (nearest, is_clear) = self.nearest(value);
            *bin = nearest;
            doubtful += u64::from(!is_clear);
        }
        if doubtful > 0 {
            for (bin, &value) in bins.iter_mut().zip(values) {
                if !self.nearest(value).1 {
                    *bin = self.place(value);
                }
            }
        }
    }

    /// Returns the bin of a value by its position in doubles, and whether no edge is so near that the
    /// rounding could matter.
    fn nearest(&self, value: f64) -> (u16, bool) {
        // The sum of this number and an integer has the integer in its last bits.
        const INTEGERS: f64 = 1.5 * 4_503_599_627_370_496.0;
        let lowest = self.extremes.0 * self.scale;
        let position = (value * self.scale - lowest) * self.density - 0.5;
        let nearest = position + INTEGERS;
        let from_centre = (position - (nearest - INTEGERS)).abs();
        // A position that is not finite is not clear.
        (nearest.to_bits() as u16, from_centre <= self.clear_of_edges)
    }

    /// The definition: the number of bins that start at or below the value, without the first.
    fn place(&self, value: f64) -> u16 {
        let (lowest, highest) = self.extremes;
        let (mut first, mut last) = (0, self.count - 1);
        // The ends of the range need no edge.
        if value == lowest {
            last = 0;
        } else if value == highest {
            first = last;
        }
        while first < last {
            let middle = (first + last).div_ceil(2);
            if self.start(middle) <= value { first = middle } else { last = middle - 1 }
        }
        first as u16
    }

    /// Returns the least double whose decimal is in bin `bin` or above, of which the first has none.
    fn start(&self, bin: usize) -> f64 {
        *self.starts[bin - 1].get_or_init(|| self.find_start(bin))
    }

    /// Finds [`start`](Self::start) by a bisection of the doubles around the edge.
    ///
    /// Shortest decimals are in the order of their doubles, so the doubles from there on are too.
    fn find_start(&self, bin: usize) -> f64 {
        let (lowest, highest) = self.extremes;
        let (low, high) = (Decimal::of(lowest), Decimal::of(highest));
        let (count, bin) = (self.count as i64, bin as i64);
        // n (v − min) ≥ k (max − min)
        let is_in = |value: f64| {
            let terms = [(count, Decimal::of(value)), (bin - count, low), (-bin, high)];
            sign_of_sum(terms) != Ordering::Less
        };
        let part = bin as f64 / self.count as f64;
        let edge = lowest * (1.0 - part) + highest * part;
        let margin = 8.0 * f64::EPSILON * highest.max(-lowest);
        let mut below = order((edge - margin).max(lowest));
        let mut above = order((edge + margin).min(highest));
        // The margin covers the rounding of the edge; the ends of the range are certain.
        if is_in(from_order(below)) {
            below = order(lowest);
        }
        if !is_in(from_order(above)) {
            above = order(highest);
        }
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if is_in(from_order(middle)) { above = middle } else { below = middle }
        }
        from_order(above)
    }
}

/// Returns the place of a finite double among all doubles; consecutive doubles have consecutive places.
fn order(value: f64) -> i128 {
    let size = i128::from(value.abs().to_bits());
    if value < 0.0 { -size } else { size }
}

/// Returns the double at a place in the order of all doubles.
fn from_order(place: i128) -> f64 {
    let size = f64::from_bits(place.unsigned_abs() as u64);
    if place < 0 { -size } else { size }
}

/// The number of values in a block, for which one result says whether a value lies near an edge.
const BLOCK: usize = 64;

/// The triples (y_{t−lag}, x_{t−lag}, y_t) of bins.
struct Triples<'a> {
    source: &'a [u16],
    target: &'a [u16],
    lag: usize,
    n_bins: usize,
}

impl Triples<'_> {
    fn len(&self) -> usize {
        self.target.len() - self.lag
    }

    /// Returns the transfer entropy from the source to the target, in nats.
    fn transfer_entropy(&self) -> Result<f64> {
        let mut tally = Tally::default();
        if self.fit_a_table() {
            self.count_in_table(&mut tally);
        } else {
            self.count_sorted(&mut tally);
        }
        check::result("x_history", tally.information(self.len() as f64))
    }

    /// Returns whether a count for every possible triple takes no more memory than the series.
    fn fit_a_table(&self) -> bool {
        self.n_bins.pow(3) <= 4 * self.len().max(1_024)
    }

    /// The number of each triple, with y_{t−lag} as its leading and y_t as its last digit.
    fn cells(&self) -> impl Iterator<Item = u32> {
        let n_bins = self.n_bins as u32;
        let digits = self.target.iter().zip(self.source).zip(&self.target[self.lag..]);
        digits.map(move |((&past, &source), &now)| {
            (u32::from(past) * n_bins + u32::from(source)) * n_bins + u32::from(now)
        })
    }

    /// Counts in a table of all possible triples: quick where these are few.
    fn count_in_table(&self, tally: &mut Tally) {
        let table = self.table();
        let mut futures = vec![0; self.n_bins];
        for past in table.chunks(self.n_bins * self.n_bins) {
            futures.fill(0);
            for pair in past.chunks(self.n_bins) {
                for (future, &count) in futures.iter_mut().zip(pair) {
                    *future += count;
                    tally.add(count);
                }
                tally.subtract(pair.iter().sum());
            }
            futures.iter().for_each(|&count| tally.subtract(count));
            tally.add(futures.iter().sum());
        }
    }

    /// The count of each possible triple.
    fn table(&self) -> Vec<u32> {
        let size = self.n_bins.pow(3);
        if size <= SMALL_TABLE { self.small_table(size) } else { self.large_table(size) }
    }

    fn large_table(&self, size: usize) -> Vec<u32> {
        let mut table = vec![0; size];
        for cell in self.cells() {
            table[cell as usize] += 1;
        }
        table
    }

    /// Returns the counts of a small table. Consecutive triples often have the same cell, and each
    /// addition would wait for the one before: so they are counted in separate copies.
    fn small_table(&self, size: usize) -> Vec<u32> {
        let mut table = vec![[0_u32; COPIES]; size];
        for (index, cell) in self.cells().enumerate() {
            table[cell as usize][index % COPIES] += 1;
        }
        table.iter().map(|copies| copies.iter().sum()).collect()
    }

    /// Counts the runs of the sorted triples: memory for the triples that occur, and no more.
    fn count_sorted(&self, tally: &mut Tally) {
        let n_bins = self.n_bins as u32;
        let mut cells: Vec<u32> = self.cells().collect();
        cells.sort_unstable();
        runs(&cells, |cell| cell).for_each(|count| tally.add(count));
        runs(&cells, |cell| cell / n_bins).for_each(|count| tally.subtract(count));
        runs(&cells, |cell| cell / n_bins / n_bins).for_each(|count| tally.add(count));
        for cell in &mut cells {
            *cell = *cell / n_bins / n_bins * n_bins + *cell % n_bins;
        }
        cells.sort_unstable();
        runs(&cells, |cell| cell).for_each(|count| tally.subtract(count));
    }
}

/// The lengths of the runs of cells that share a key.
fn runs(cells: &[u32], key: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    cells.chunk_by(move |&a, &b| key(a) == key(b)).map(|run| run.len() as u32)
}

/// Tables of up to this many counts are kept in several copies.
const SMALL_TABLE: usize = 4_096;

/// The number of copies: enough to hide the latency of an addition to memory.
const COPIES: usize = 8;

/// Counts below this are gathered, since many cells share them.
const GATHERED: usize = 4_096;

/// The sum Σ ± c ln c over counts c, one logarithm for all cells of the same count.
struct Tally {
    /// For each count below [`GATHERED`], the number of its additions less that of its
    /// subtractions.
    small: Vec<i64>,
    /// Each addition of a larger count, with its sign.
    large: Vec<(u32, i64)>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { small: vec![0; GATHERED], large: Vec::new() }
    }
}

impl Tally {
    fn add(&mut self, count: u32) {
        self.put(count, 1);
    }

    fn subtract(&mut self, count: u32) {
        self.put(count, -1);
    }

    fn put(&mut self, count: u32, sign: i64) {
        match self.small.get_mut(count as usize) {
            Some(times) => *times += sign,
            None => self.large.push((count, sign)),
        }
    }

    /// The tally over the number of triples, which is the transfer entropy.
    ///
    /// Its terms cancel: of 10⁶ points, eleven digits may go, which double-doubles have to spare.
    fn information(&self, triples: f64) -> f64 {
        let small = (0..).zip(&self.small).map(|(count, &times)| (count, times));
        let large = self.large.iter().copied();
        let total = small
            .chain(large)
            .filter(|&(count, times)| count > 1 && times != 0)
            .map(|(count, times)| times_log(count, times))
            .fold(DoubleDouble::ZERO, |sum, term| sum + term);
        let information = (total / triples.into()).high;
        // Frequencies that differ from independence at all do so by 1/N² in two cells, and by
        // Pinsker's inequality their information is at least 2/N⁴: less is rounding. (Beyond 10⁷
        // points the rounding itself, some 1e-29, may be more, and is then left as it is.)
        if information < 1.0 / (triples * triples * triples * triples) { 0.0 } else { information }
    }
}

/// `times · count · ln count`.
fn times_log(count: u32, times: i64) -> DoubleDouble {
    // The product of a count and the number of cells that have it is at most the number of triples.
    let weight = times as f64 * f64::from(count);
    ln(Scaled::from(f64::from(count))) * weight.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::LN_2;

    /// Numbers from 0 to 1 that look random: the fractional parts of the multiples of √2.
    fn scattered(count: usize) -> Vec<f64> {
        (1..=count).map(|index| (index as f64 * 2_f64.sqrt()).fract()).collect()
    }

    /// The definition, cell by cell, with a map of counts.
    fn by_definition(source: &[u16], target: &[u16], lag: usize) -> f64 {
        use std::collections::BTreeMap;
        let triples: Vec<_> =
            (lag..target.len()).map(|t| (target[t], target[t - lag], source[t - lag])).collect();
        let (mut all, mut pairs, mut pasts, mut past) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for &(now, y, x) in &triples {
            *all.entry((now, y, x)).or_insert(0.0) += 1.0;
            *pairs.entry((now, y)).or_insert(0.0) += 1.0;
            *pasts.entry((y, x)).or_insert(0.0) += 1.0;
            *past.entry(y).or_insert(0.0) += 1.0;
        }
        let term = |(&(now, y, x), &count): (&(u16, u16, u16), &f64)| {
            count * libm::log(count * past[&y] / (pairs[&(now, y)] * pasts[&(y, x)]))
        };
        all.iter().map(term).sum::<f64>() / triples.len() as f64
    }

    #[test]
    fn both_directions_have_the_bits_of_single_calls() {
        let (x, y) = (scattered(300), scattered(301).split_off(1));
        for (lag, n_bins) in [(1, 4), (3, 200)] {
            let found = transfer_entropies(&x, &y, lag, n_bins).unwrap();
            assert_eq!(Ok(found.forward), transfer_entropy(&x, &y, lag, n_bins));
            assert_eq!(Ok(found.reverse), transfer_entropy(&y, &x, lag, n_bins));
            assert_eq!(found.triples, 300 - lag);
            assert_ne!(found.forward, found.reverse);
        }
    }

    #[test]
    fn bins_are_closed_at_the_left_and_the_last_at_both_ends() {
        let integers: Vec<f64> = (0..=49).map(f64::from).collect();
        let bins = bins("x_history", &integers, 49).unwrap();
        assert_eq!(bins[..49], (0..49).collect::<Vec<u16>>());
        assert_eq!(bins[49], 48);
    }

    #[test]
    fn edges_are_decided_on_the_decimals_as_written() {
        // 0.3 and 0.6 and 0.7 are below their edges as doubles, by 5e-17 and less.
        let tenths: Vec<f64> = (0..=10).map(|k| format!("{k}e-1").parse().unwrap()).collect();
        assert_eq!(bins("x_history", &tenths, 10).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
        let shifted: Vec<f64> =
            (0..=10).map(|k| format!("{}e-2", 1_000_003 + k).parse().unwrap()).collect();
        assert_eq!(bins("x_history", &shifted, 10).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
        let signed: Vec<f64> = (-5..=5).map(|k| format!("{k}e-1").parse().unwrap()).collect();
        assert_eq!(bins("x_history", &signed, 5).unwrap(), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4]);
    }

    #[test]
    fn the_quick_bins_are_the_defined_ones() {
        for n_bins in [1, 2, 3, 7, 10, 128, 1_000] {
            for offset in [0.0, -0.3, 1e6] {
                let series: Vec<f64> =
                    scattered(5_000).iter().map(|value| value + offset).collect();
                let (lowest, highest) = extremes("x_history", &series).unwrap();
                let bins = Bins::new(lowest, highest, n_bins);
                let expected: Vec<u16> = series.iter().map(|&value| bins.place(value)).collect();
                assert_eq!(bins.of_all(&series), expected);
            }
        }
    }

    #[test]
    fn ranges_of_any_size_are_divided() {
        for unit in [8e307, 1e300, 1.0, 1e-300, 5e-324] {
            let series = [-2.0 * unit, -unit, 0.0, unit, 2.0 * unit];
            assert_eq!(bins("x_history", &series, 4).unwrap(), [0, 1, 2, 3, 3], "{unit}");
        }
    }

    #[test]
    fn both_ways_of_counting_agree_with_the_definition() {
        let x = scattered(3_000);
        let y: Vec<f64> =
            x.iter().zip(scattered(6_000).iter().skip(2_999)).map(|(a, b)| a * b).collect();
        for (n_bins, lag) in [(1, 1), (2, 1), (8, 3), (15, 2), (40, 1), (1_000, 7)] {
            let (source, target) = (bins("x", &x, n_bins).unwrap(), bins("y", &y, n_bins).unwrap());
            let triples = Triples { source: &source, target: &target, lag, n_bins };
            let (mut sorted, mut table) = (Tally::default(), Tally::default());
            triples.count_sorted(&mut sorted);
            let found = sorted.information(triples.len() as f64);
            assert!((found - by_definition(&source, &target, lag)).abs() < 1e-13, "{n_bins} {lag}");
            if n_bins < 100 {
                triples.count_in_table(&mut table);
                assert_eq!(table.information(triples.len() as f64), found);
            }
        }
    }

    #[test]
    fn a_copied_coin_transfers_its_one_bit() {
        // Every pair of past bits once: eight steps of a de Bruijn sequence and its echo.
        let x = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0];
        let y = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0];
        let forth = transfer_entropy(&x[1..], &y[1..], 1, 2).unwrap();
        assert_eq!(forth, LN_2);
    }

    #[test]
    fn independent_counts_transfer_exactly_nothing() {
        // Period 5 against period 7: over 35 · k triples all pairs occur equally often.
        let x: Vec<f64> = (0..351).map(|index| f64::from(index % 5)).collect();
        let y: Vec<f64> = (0..351).map(|index| f64::from(index % 7)).collect();
        for n_bins in [1, 2, 3, 7, 100] {
            assert_eq!(transfer_entropy(&x, &y, 1, n_bins).unwrap().to_bits(), 0, "{n_bins} bins");
        }
    }

    #[test]
    fn a_constant_series_neither_gives_nor_takes() {
        let varied = scattered(100);
        for (x, y) in [(&varied, &vec![2.5; 100]), (&vec![-1e308; 100], &varied)] {
            assert_eq!(transfer_entropy(x, y, 1, 10), Ok(0.0));
        }
    }

    #[test]
    fn what_has_no_triples_or_bins_is_refused() {
        #[rustfmt::skip]
        let refused = [
            (vec![],              vec![],         1, 2,     "too_few", "x_history"),
            (vec![1.0],           vec![1.0],      1, 2,     "too_few", "x_history"),
            (vec![1.0, 2.0],      vec![1.0, 2.0], usize::MAX, 2, "too_few", "x_history"),
            (vec![1.0, 2.0],      vec![1.0],      1, 2,     "shape",   "y_history"),
            (vec![1.0, 2.0],      vec![1.0, 2.0], 0, 2,     "domain",  "lag"),
            (vec![1.0, 2.0],      vec![1.0, 2.0], 1, 0,     "domain",  "n_bins"),
            (vec![1.0, 2.0],      vec![1.0, 2.0], 1, 1_001, "domain",  "n_bins"),
            (vec![1.0, f64::NAN], vec![1.0, 2.0], 1, 2,     "domain",  "x_history"),
        ];
        for (x, y, lag, n_bins, code, argument) in refused {
            let error = transfer_entropy(&x, &y, lag, n_bins).unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)));
        }
        let error = transfer_entropy(&[1.0, 2.0], &[1.0, f64::INFINITY], 1, 2).unwrap_err();
        assert_eq!((error.argument(), error.index()), (Some("y_history"), Some(1)));
    }

    proptest! {
        #[test]
        fn bins_are_those_of_whole_numbers(
            units in prop::collection::vec(-100_000_i64..100_000, 2..80), places in 0_u32..7, n_bins in 1_usize..1_000,
        ) {
            let (least, most) = (*units.iter().min().unwrap(), *units.iter().max().unwrap());
            prop_assume!(least < most);
            let series: Vec<f64> = units.iter().map(|unit| format!("{unit}e-{places}").parse().unwrap()).collect();
            let exact = |unit: &i64| ((unit - least) * n_bins as i64 / (most - least)).min(n_bins as i64 - 1) as u16;
            let expected: Vec<u16> = units.iter().map(exact).collect();
            prop_assert_eq!(bins("x_history", &series, n_bins).unwrap(), expected);
        }

        #[test]
        fn it_is_never_negative_and_at_most_the_entropy_of_the_bins(
            pairs in prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64), 3..200),
            lag in 1_usize..3,
            n_bins in 1_usize..20,
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let transfer = transfer_entropy(&x, &y, lag, n_bins).unwrap();
            prop_assert!((0.0..=libm::log(n_bins as f64) + 1e-15).contains(&transfer), "{transfer}");
        }

        /// Twice the plug-in estimate times the number of triples is χ² distributed, with as many
        /// degrees of freedom as the bias counts.
        #[test]
        fn independent_series_transfer_no_more_than_the_bias_of_the_estimate(
            pairs in prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 2_000..4_000),
            n_bins in 2_usize..5,
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let freedom = (n_bins * (n_bins - 1) * (n_bins - 1)) as f64;
            let most = freedom + 6.0 * (2.0 * freedom).sqrt() + 18.0;
            let transfer = transfer_entropy(&x, &y, 1, n_bins).unwrap();
            prop_assert!(2.0 * (x.len() - 1) as f64 * transfer <= most, "{transfer}");
        }

        #[test]
        fn it_is_the_same_in_another_unit(pairs in prop::collection::vec((-8_i32..8, -8_i32..8), 3..100)) {
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
            let larger: Vec<f64> = x.iter().map(|value| value * 1024.0).collect();
            prop_assert_eq!(transfer_entropy(&x, &y, 1, 4), transfer_entropy(&larger, &y, 1, 4));
        }
    }
}
