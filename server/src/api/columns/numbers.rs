//! The requests and answers of closed forms as rows of numbers.

use crate::{
    api::quantlib::pricing::{
        European, EuropeanPrice, Exchange, ExchangePrice, OptionType,
        bachelier::Normal,
        black76::{Forward, ForwardGreeks, ForwardPrice, QuotedForward},
        digital::{Digital, DigitalPrice},
        greeks::{FullGreeks, ImpliedVolatility, QuotedEuropean, QuotedGreeks},
        kirk::{Spread, SpreadPrice},
    },
    http::columns::{FromNumbers, ToNumbers},
};

/// A field that a number can stand for.
trait NumberCell: Sized {
    /// Returns the value of a number; `None` where no value has the number.
    fn from_number(number: f64) -> Option<Self>;

    /// Returns the number of the value; NaN for an absent one.
    fn number(&self) -> f64;
}

impl NumberCell for f64 {
    fn from_number(number: f64) -> Option<Self> {
        Some(number)
    }

    fn number(&self) -> f64 {
        *self
    }
}

impl NumberCell for Option<f64> {
    fn from_number(number: f64) -> Option<Self> {
        Some(Some(number))
    }

    fn number(&self) -> f64 {
        self.unwrap_or(f64::NAN)
    }
}

/// The position among the members of the schema.
impl NumberCell for OptionType {
    fn from_number(number: f64) -> Option<Self> {
        [Self::Call, Self::Put].into_iter().find(|one| one.number() == number)
    }

    fn number(&self) -> f64 {
        match self {
            Self::Call => 0.0,
            Self::Put => 1.0,
        }
    }
}

/// Implements the rows of a request or an answer. A macro, since only the names of the fields differ,
/// and the compiler refuses a request with a field that the list lacks.
macro_rules! rows_of_numbers {
    ($(request $request:ty { $($input:ident),+ $(,)? })+ $(answer $answer:ty { $($output:ident),+ $(,)? })+) => {
        $(impl FromNumbers for $request {
            fn from_numbers(fields: &[f64]) -> Option<Self> {
                let mut fields = fields.iter();
                Some(Self { $($input: NumberCell::from_number(*fields.next()?)?),+ })
            }
        })+
        $(impl ToNumbers for $answer {
            fn write_numbers(&self, columns: &mut [f64]) {
                let numbers = [$(NumberCell::number(&self.$output)),+];
                columns.copy_from_slice(&numbers);
            }
        })+
    };
}

rows_of_numbers! {
    request European {
        spot, strike, risk_free_rate, dividend_yield, volatility, time_to_maturity, option_type,
    }
    request QuotedEuropean {
        price, spot, strike, risk_free_rate, dividend_yield, time_to_maturity, option_type,
    }
    request Forward {
        forward, strike, risk_free_rate, volatility, time_to_maturity, option_type,
    }
    request QuotedForward {
        market_price, forward, strike, risk_free_rate, time_to_maturity, option_type,
    }
    request Normal {
        forward, strike, risk_free_rate, normal_volatility, time_to_maturity, option_type,
    }
    request Digital {
        spot, strike, risk_free_rate, dividend_yield, volatility, time_to_maturity,
    }
    request Exchange {
        spot1, spot2, dividend_yield1, dividend_yield2, volatility1, volatility2, correlation,
        time_to_maturity,
    }
    request Spread {
        forward1, forward2, strike, risk_free_rate, volatility1, volatility2, correlation,
        time_to_maturity, option_type,
    }
    answer EuropeanPrice { price }
    answer QuotedGreeks { price, delta, gamma, vega, theta, rho }
    answer FullGreeks {
        price, delta, gamma, vega, theta, rho, epsilon, dual_delta, dual_gamma, vanna, vomma, charm,
        veta, vera, elasticity, vega_per_point, theta_per_day, rho_per_basis_point,
    }
    answer ImpliedVolatility { implied_volatility, iv, intrinsic_value, time_value, vega }
    answer ForwardPrice { price }
    answer ForwardGreeks {
        price, delta, gamma, vega, theta, rho, dual_delta, dual_gamma, vanna, vomma, charm, veta, vera,
    }
    answer DigitalPrice {
        price, asset_or_nothing, delta, gamma, vega, theta, rho, epsilon,
    }
    answer ExchangePrice {
        margrabe_call, margrabe_put, call_delta1, call_delta2, put_delta1, put_delta2,
        spread_volatility,
    }
    answer SpreadPrice { price, spread_volatility, exact_price, approximation_error }
}
