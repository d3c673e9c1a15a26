//! Options on the spread of two forwards.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    pricing::{SpreadOption, SpreadValue},
};

use super::OptionType;
use crate::{
    api::quantlib::Computation,
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of spread options.
#[derive(Default)]
pub struct SpreadOptions;

#[OpenApi(prefix_path = "/quantlib/pricing/kirk", tag = "Tag::Pricing")]
impl SpreadOptions {
    /// Price an option on the spread of two forwards.
    ///
    /// Kirk's approximation, and the exact value by quadrature beside it. The call pays
    /// `max(F1 - F2 - strike, 0)`, the put `max(strike - F1 + F2, 0)`.
    #[oai(path = "/spread-price", method = "post", operation_id = "price_spread_option")]
    async fn spread(&self, call: Metered<Spread>) -> Result<Answer<SpreadPrice>> {
        call.run().await
    }
}

/// An option on a spread and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "SpreadOptionRequest", remote = "SpreadOption", example)]
pub struct Spread {
    /// First forward price; above zero.
    #[oai(rename = "F1", validator(minimum(value = "0", exclusive)))]
    pub forward1: f64,
    /// Second forward price; above zero.
    #[oai(rename = "F2", validator(minimum(value = "0", exclusive)))]
    pub forward2: f64,
    /// Strike of the spread; above minus `F2`.
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Volatility of the first forward, an annual decimal; zero or more.
    #[oai(rename = "sigma1", validator(minimum(value = "0")))]
    pub volatility1: f64,
    /// Volatility of the second forward, an annual decimal; zero or more.
    #[oai(rename = "sigma2", validator(minimum(value = "0")))]
    pub volatility2: f64,
    /// Correlation between the forwards' log returns; from -1 to 1.
    #[oai(rename = "rho", validator(minimum(value = "-1"), maximum(value = "1")))]
    pub correlation: f64,
    /// Time until expiry and payment, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell the spread.
    #[oai(default)]
    pub option_type: OptionType,
}

/// The price of an option on a spread.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SpreadOptionPrice", remote = "SpreadValue")]
pub struct SpreadPrice {
    /// Kirk's approximation of the present value.
    pub price: f64,
    /// Annual volatility of the ratio of `F1` to `F2` and the strike, which the approximation uses.
    pub spread_volatility: f64,
    /// Present value by quadrature.
    pub exact_price: f64,
    /// The approximation less the value by quadrature.
    pub approximation_error: f64,
}

impl Computation for Spread {
    type Answer = SpreadPrice;

    fn compute(&self) -> quant_core::Result<SpreadPrice> {
        let option: SpreadOption = (*self).into();
        Ok(option.value()?.into())
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let option: SpreadOption = (*self).into();
        option.explain()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "forward1" => "F1",
            "forward2" => "F2",
            "volatility1" => "sigma1",
            "volatility2" => "sigma2",
            "correlation" => "rho",
            same => same,
        }
    }
}

impl Example for Spread {
    fn example() -> Self {
        Self {
            forward1: 100.0,
            forward2: 95.0,
            strike: 5.0,
            risk_free_rate: 0.05,
            volatility1: 0.2,
            volatility2: 0.18,
            correlation: 0.7,
            time_to_maturity: 1.0,
            option_type: OptionType::Call,
        }
    }
}
