//! Options on normally distributed forwards by Bachelier's formula.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{explanation::Explanation, pricing::NormalOption};

use super::{
    OptionType,
    black76::{ForwardGreeks, ForwardPrice, QuotedForward},
    greeks::{ImpliedVolatility, quoted_name},
};
use crate::{
    api::quantlib::{RequestFor, SharedComputation},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of options in the normal model.
#[derive(Default)]
pub struct Bachelier;

#[OpenApi(prefix_path = "/quantlib/pricing/bachelier", tag = "Tag::Pricing")]
impl Bachelier {
    /// Price a European option on a normally distributed forward.
    ///
    /// Bachelier's formula, discounted from expiry. Forward and strike may have either sign, and the
    /// volatility is in their unit.
    #[oai(path = "/price", method = "post", operation_id = "price_normal_option")]
    async fn price(
        &self,
        call: Metered<RequestFor<BachelierPrice>>,
    ) -> Result<Answer<ForwardPrice>> {
        call.run().await
    }

    /// Compute all Greeks of an option on a normally distributed forward.
    ///
    /// All derivatives of first and second order of Bachelier's formula. Rho and theta are those at a
    /// constant forward.
    #[oai(path = "/greeks", method = "post", operation_id = "compute_normal_greeks")]
    async fn greeks(
        &self,
        call: Metered<RequestFor<BachelierGreeks>>,
    ) -> Result<Answer<ForwardGreeks>> {
        call.run().await
    }

    /// Find the normal volatility that the price of an option on a forward implies.
    ///
    /// The inverse of Bachelier's formula, to the last bits that the price determines. A price below
    /// the discounted intrinsic value is refused.
    #[oai(path = "/implied-vol", method = "post", operation_id = "imply_normal_volatility")]
    async fn implied(
        &self,
        call: Metered<RequestFor<BachelierVolatility>>,
    ) -> Result<Answer<ImpliedVolatility>> {
        call.run().await
    }
}

/// An option on a normally distributed forward and the market it is priced in.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "NormalOptionRequest", remote = "NormalOption", example)]
pub struct Normal {
    /// Forward or futures price for the day of expiry; of any sign.
    pub forward: f64,
    /// Price at which the right may be used; of any sign.
    pub strike: f64,
    /// Riskless rate, an annual decimal, continuously compounded; of any sign.
    pub risk_free_rate: f64,
    /// Standard deviation of annual changes of the forward, in its own unit; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub normal_volatility: f64,
    /// Time until expiry and payment, in years; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub time_to_maturity: f64,
    /// The right of the holder: to buy or to sell.
    #[oai(default)]
    pub option_type: OptionType,
}

impl Example for Normal {
    fn example() -> Self {
        Self {
            forward: 100.0,
            strike: 105.0,
            risk_free_rate: 0.05,
            normal_volatility: 5.0,
            time_to_maturity: 1.0,
            option_type: OptionType::Call,
        }
    }
}

/// The price of an option on a normally distributed forward.
pub struct BachelierPrice;

impl SharedComputation for BachelierPrice {
    type Request = Normal;
    type Answer = ForwardPrice;

    fn compute(request: &Normal) -> quant_core::Result<ForwardPrice> {
        let option: NormalOption = (*request).into();
        Ok(ForwardPrice { price: option.price()?, option_type: request.option_type })
    }

    fn explain(request: &Normal) -> quant_core::Result<Explanation> {
        let option: NormalOption = (*request).into();
        option.explain_price()
    }
}

/// The Greeks of an option on a normally distributed forward.
pub struct BachelierGreeks;

impl SharedComputation for BachelierGreeks {
    type Request = Normal;
    type Answer = ForwardGreeks;

    fn compute(request: &Normal) -> quant_core::Result<ForwardGreeks> {
        let option: NormalOption = (*request).into();
        Ok(option.greeks()?.into())
    }

    fn explain(request: &Normal) -> quant_core::Result<Explanation> {
        let option: NormalOption = (*request).into();
        option.explain_greeks()
    }
}

/// The normal volatility that the price of an option implies.
pub struct BachelierVolatility;

impl SharedComputation for BachelierVolatility {
    type Request = QuotedForward;
    type Answer = ImpliedVolatility;

    fn compute(request: &QuotedForward) -> quant_core::Result<ImpliedVolatility> {
        let price = request.market_price;
        let at = |volatility| normal(request, volatility);
        let volatility = at(0.0).implied_volatility(price)?;
        let vega = at(volatility).greeks().ok().map(|greeks| greeks.vega);
        Ok(ImpliedVolatility::new(volatility, price, at(0.0).price()?, vega))
    }

    fn explain(request: &QuotedForward) -> quant_core::Result<Explanation> {
        normal(request, 0.0).explain_implied_volatility(request.market_price)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        quoted_name(argument)
    }
}

/// Returns the option with a volatility, in the normal model.
fn normal(quoted: &QuotedForward, normal_volatility: f64) -> NormalOption {
    NormalOption {
        option_type: quoted.option_type.into(),
        forward: quoted.forward,
        strike: quoted.strike,
        risk_free_rate: quoted.risk_free_rate,
        normal_volatility,
        time_to_maturity: quoted.time_to_maturity,
    }
}
