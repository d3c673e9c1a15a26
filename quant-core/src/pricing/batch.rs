//! Prices of many European options at once.

use super::black_scholes::EuropeanOption;
use super::exchange_double::{DoubleExchange, Moneyness};
use crate::{Error, Result, check};

/// The number of options in a block, whose data stay in the first-level cache.
const CHUNK: usize = 32;

/// Writes the price of each option to the same position of `prices`, which stays on the stack:
/// nothing is allocated.
///
/// Each price is bit for bit that of [`EuropeanOption::price`], which see for its limits; here
/// several are computed at a time, in less than half the time of one call each.
///
/// # Errors
///
/// [`Error::Shape`] if `prices` has another length than `options`. [`Error::Element`] names the
/// argument and the position of the first option with a number outside its range;
/// [`Error::Overflow`] the argument that drives a price beyond the largest double. Prices of
/// options before the refused one may have been written.
///
/// # Examples
///
/// ```
/// use quant_core::pricing::batch;
/// use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};
///
/// let chain = [90.0, 100.0, 110.0].map(|strike| EuropeanOption {
///     option_type: OptionType::Call,
///     spot: 100.0,
///     strike,
///     risk_free_rate: 0.05,
///     dividend_yield: 0.01,
///     volatility: 0.2,
///     time_to_maturity: 0.5,
/// });
/// let mut prices = [0.0; 3];
/// batch::prices(&chain, &mut prices)?;
/// assert_eq!(prices[1], chain[1].price()?);
/// # Ok::<(), quant_core::Error>(())
/// ```
///
/// # References
///
/// Merton (1973), "Theory of Rational Option Pricing".
pub fn prices(options: &[EuropeanOption], prices: &mut [f64]) -> Result<()> {
    check::length("prices", prices.len(), options.len())?;
    pulp::Arch::new().dispatch(Chunks { options, prices })
}

/// The options of a batch and the places of their prices, for the widest registers of the
/// processor.
struct Chunks<'a> {
    options: &'a [EuropeanOption],
    prices: &'a mut [f64],
}

impl pulp::WithSimd for Chunks<'_> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Result<()> {
        let chunks = self.options.chunks(CHUNK).zip(self.prices.chunks_mut(CHUNK));
        for (number, (options, prices)) in chunks.enumerate() {
            chunk(options, prices)
                .map_err(|(position, error)| at(number * CHUNK + position, error))?;
        }
        Ok(())
    }
}

/// Prices up to [`CHUNK`] options; refuses the one at a position.
///
/// Each loop is one stage for all options: short enough for the processor to overlap its turns.
#[inline(always)]
fn chunk(
    options: &[EuropeanOption],
    prices: &mut [f64],
) -> std::result::Result<(), (usize, Error)> {
    let mut swaps = [[1.0; CHUNK]; 5];
    for (position, option) in options.iter().enumerate() {
        let swap = option.swap();
        swaps[0][position] = swap.receive;
        swaps[1][position] = swap.receive_exponent;
        swaps[2][position] = swap.give;
        swaps[3][position] = swap.give_exponent;
        swaps[4][position] = swap.deviation;
    }
    let swap = |i: usize| DoubleExchange {
        receive: swaps[0][i],
        receive_exponent: swaps[1][i],
        give: swaps[2][i],
        give_exponent: swaps[3][i],
        deviation: swaps[4][i],
    };
    let (mut distance, mut is_in, mut suffices) = ([0.0; CHUNK], [0_u64; CHUNK], [0_u64; CHUNK]);
    for i in 0..CHUNK {
        let money = swap(i).moneyness();
        distance[i] = money.z;
        is_in[i] = u64::from(money.is_in);
        suffices[i] = u64::from(money.suffices);
    }
    let (mut density, mut intrinsic) = ([0.0; CHUNK], [0.0; CHUNK]);
    for i in 0..CHUNK {
        let money = Moneyness { is_in: is_in[i] == 1, z: distance[i], suffices: true };
        density[i] = swap(i).density(money);
    }
    for i in 0..CHUNK {
        let value = swap(i).intrinsic();
        intrinsic[i] = if is_in[i] == 1 { value } else { 0.0 };
    }
    let mut values = [0.0; CHUNK];
    for i in 0..CHUNK {
        values[i] = swap(i).time_value(distance[i], density[i]) + intrinsic[i];
    }
    for (position, (option, price)) in options.iter().zip(prices).enumerate() {
        *price = if suffices[position] == 1 {
            values[position]
        } else {
            option.price_beyond_doubles().map_err(|error| (position, error))?
        };
    }
    Ok(())
}

/// Converts the error of an option to that of an element of the batch.
fn at(index: usize, error: Error) -> Error {
    match error {
        Error::Domain { argument, value, requirement } => {
            Error::Element { argument, index, value, requirement }
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::black_scholes::OptionType;
    use proptest::prelude::*;

    fn option() -> impl Strategy<Value = EuropeanOption> {
        // From deep in to far out of the money, so that both ways of computing are taken.
        let numbers = (
            10.0..1e3_f64,
            10.0..1e3_f64,
            -0.1..0.2_f64,
            -0.1..0.2_f64,
            0.0..1.5_f64,
            0.0..10.0_f64,
        );
        (any::<bool>(), numbers).prop_map(
            |(is_call, (spot, strike, rate, dividends, volatility, time))| EuropeanOption {
                option_type: if is_call { OptionType::Call } else { OptionType::Put },
                spot,
                strike,
                risk_free_rate: rate,
                dividend_yield: dividends,
                volatility,
                time_to_maturity: time,
            },
        )
    }

    proptest! {
        #[test]
        fn each_price_is_bit_for_bit_that_of_a_single_call(
            options in prop::collection::vec(option(), 0..100),
        ) {
            let mut found = vec![f64::NAN; options.len()];
            prices(&options, &mut found).unwrap();
            for (option, found) in options.iter().zip(found) {
                prop_assert_eq!(option.price().unwrap().to_bits(), found.to_bits());
            }
        }

        #[test]
        fn the_first_option_that_cannot_be_priced_is_named(
            mut options in prop::collection::vec(option(), 1..100), index: prop::sample::Index,
        ) {
            let index = index.index(options.len());
            options[index].spot = f64::NAN;
            options.last_mut().unwrap().strike = -1.0;
            let mut found = vec![0.0; options.len()];
            let error = prices(&options, &mut found).unwrap_err();
            prop_assert_eq!((error.argument(), error.index()), (Some("spot"), Some(index)));
        }
    }

    #[test]
    fn as_many_prices_as_options_are_asked_for() {
        assert_eq!(prices(&[], &mut [0.0]).unwrap_err().code(), "shape");
        assert_eq!(prices(&[], &mut []), Ok(()));
    }
}
