//! Spreads and sensitivities of bonds that are described by years, without dates.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error, cash_flows, curves, explanation::Explanation, instruments as bonds, time::Frequency,
};

use super::is_long_search;
use crate::{
    api::quantlib::{
        Computation,
        curves::{Compounding, Interpolation},
        instruments::frequency,
    },
    http::{Answer, Metered, Numbers, Tag, json_string::date},
};

/// Basis points in 1.00 of a rate.
const BASIS_POINTS: f64 = 1e4;

/// The years above which a bond may take over a millisecond.
const LONG_FROM_YEARS: f64 = 100.0;

/// The REST endpoints of spreads and sensitivities of bonds.
#[derive(Default)]
pub struct BondSpreads;

#[OpenApi(prefix_path = "/quantlib/solver/finance", tag = "Tag::Solver")]
impl BondSpreads {
    /// Find the spread over zero rates at which payments have a price.
    ///
    /// The zero-volatility spread: added to each zero rate, it discounts the payments to the price. Rates
    /// and spread are continuously compounded unless `compounding` says otherwise.
    #[oai(path = "/z-spread", method = "post", operation_id = "find_z_spread")]
    async fn z_spread(&self, call: Metered<PricedPayments>) -> Result<Answer<ZSpread>> {
        call.run().await
    }

    /// Compute the spread of a bond's yield over that of a government bond.
    ///
    /// The difference of the two yields, which must have the same compounding, with the yield of the
    /// government curve read at the bond's maturity.
    #[oai(path = "/g-spread", method = "post", operation_id = "compute_g_spread")]
    async fn g_spread(&self, call: Metered<Yields>) -> Result<Answer<GSpread>> {
        call.run().await
    }

    /// Compute the spread of a par asset swap of a bond.
    ///
    /// Value of the bond's payments on the curve less its price with accrued interest, over the face value
    /// times the present value of 1 a year on the floating dates. Of a bond between coupons the first
    /// coupon is due after the rest of the years.
    #[oai(path = "/asw-spread", method = "post", operation_id = "compute_asset_swap_spread")]
    async fn asset_swap(&self, call: Metered<AssetSwap>) -> Result<Answer<AssetSwapSpread>> {
        call.run().await
    }

    /// Compute the duration of a bond.
    ///
    /// Macaulay's and the modified duration in years, with prices, convexity and DV01, at a yield that is
    /// compounded `frequency` times a year. Of a bond between coupons the first coupon is due after the
    /// rest of the years.
    #[oai(path = "/duration", method = "post", operation_id = "compute_bond_duration")]
    async fn duration(&self, call: Metered<LevelBond>) -> Result<Answer<LevelBondMeasures>> {
        call.run().await
    }

    /// Compute the convexity of a bond.
    ///
    /// The second derivative of the price in the yield as a part of the price, in years squared, with
    /// prices, durations and DV01, at a yield that is compounded `frequency` times a year.
    #[oai(path = "/convexity", method = "post", operation_id = "compute_bond_convexity")]
    async fn convexity(&self, call: Metered<LevelBond>) -> Result<Answer<LevelBondMeasures>> {
        call.run().await
    }

    /// Compute the value of a basis point of a bond.
    ///
    /// Money lost for a rise of the yield by 0.01 %, with prices, durations and convexity, at a yield that
    /// is compounded `frequency` times a year.
    #[oai(path = "/dv01", method = "post", operation_id = "compute_bond_dv01")]
    async fn dv01(&self, call: Metered<LevelBond>) -> Result<Answer<LevelBondMeasures>> {
        call.run().await
    }
}

/// Payments with a price, and the zero rates of their times.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ZSpreadRequest", example)]
pub struct PricedPayments {
    /// Price with accrued interest, in the currency of the payments; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub price: f64,
    /// The payments; 1 to 10,000.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub cashflows: Numbers,
    /// Time of each payment in years; zero or more.
    #[oai(validator(min_items = 1, max_items = 10000, minimum(value = "0")))]
    pub times: Numbers,
    /// Zero rate of each time, an annual decimal from -2 to 2 (200 %), compounded as `compounding` says.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub base_rates: Numbers,
    /// The compounding of the zero rates and of the spread.
    #[oai(default = "continuous")]
    pub compounding: Compounding,
}

/// The spread over zero rates.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ZSpread")]
pub struct ZSpread {
    /// Spread over every zero rate, an annual decimal; of several the one nearest to zero.
    pub z_spread: f64,
    /// The spread in basis points.
    pub z_spread_bps: f64,
    /// All spreads at which the payments have the price, in increasing order. Only payments of both signs
    /// have more than one.
    pub all_spreads: Vec<f64>,
    /// Part of the price lost for a rise of the spread, per 1.00 of the spread: in years.
    pub spread_duration: f64,
    /// Money lost for a rise of the spread by a basis point.
    pub dv01: f64,
    /// The compounding of the zero rates and of the spread.
    pub compounding: Compounding,
}

impl Computation for PricedPayments {
    type Answer = ZSpread;

    fn compute(&self) -> quant_core::Result<ZSpread> {
        let compounding = self.compounding.into();
        let (cashflows, times, rates) = (&self.cashflows, &self.times, &self.base_rates);
        let found = cash_flows::z_spread(self.price, cashflows, times, rates, compounding)?;
        Ok(ZSpread {
            z_spread: found.z_spread,
            z_spread_bps: in_basis_points(found.z_spread, "price")?,
            all_spreads: found.all_spreads,
            spread_duration: found.spread_duration,
            dv01: found.dv01,
            compounding: self.compounding,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let compounding = self.compounding.into();
        let (cashflows, times, rates) = (&self.cashflows, &self.times, &self.base_rates);
        cash_flows::explain_z_spread(self.price, cashflows, times, rates, compounding)
    }

    fn is_long(&self) -> bool {
        is_long_search(&self.cashflows)
    }
}

impl Example for PricedPayments {
    fn example() -> Self {
        Self {
            price: 98.0,
            cashflows: vec![4.0, 4.0, 104.0].into(),
            times: vec![1.0, 2.0, 3.0].into(),
            base_rates: vec![0.03, 0.032, 0.034].into(),
            compounding: Compounding::Continuous,
        }
    }
}

/// The yields of a bond and of a government bond.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "GSpreadRequest", example)]
pub struct Yields {
    /// Yield of the bond, an annual decimal.
    pub bond_yield: f64,
    /// Yield of a government bond of the same maturity, an annual decimal of the same compounding.
    pub govt_yield: f64,
}

/// The spread over a government yield.
#[derive(Clone, Debug, Object)]
#[oai(rename = "GSpread")]
pub struct GSpread {
    /// Yield of the bond less that of the government bond, an annual decimal.
    pub g_spread: f64,
    /// The spread in basis points.
    pub g_spread_bps: f64,
}

impl Computation for Yields {
    type Answer = GSpread;

    fn compute(&self) -> quant_core::Result<GSpread> {
        let found = bonds::g_spread(self.bond_yield, self.govt_yield)?;
        Ok(GSpread { g_spread: found.spread, g_spread_bps: found.basis_points })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        bonds::explain_g_spread(self.bond_yield, self.govt_yield)
    }
}

impl Example for Yields {
    fn example() -> Self {
        Self { bond_yield: 0.0525, govt_yield: 0.04 }
    }
}

/// The kind of a price: with accrued interest or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum PriceType {
    /// With accrued interest, as it is paid.
    Dirty,
    /// Without accrued interest, as it is quoted.
    Clean,
}

/// A bond to swap, and the zero curve of the swap.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AssetSwapRequest", example)]
pub struct AssetSwap {
    /// Price of the bond, in the currency of `face`; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub bond_price: f64,
    /// Coupon rate, an annual decimal of the face value; from -2 to 2 (200 %).
    pub coupon: f64,
    /// Years to maturity; above zero, at most 1,000.
    #[oai(validator(minimum(value = "0", exclusive), maximum(value = "1000")))]
    pub maturity: f64,
    /// Zero rates of the swap curve, annual decimals from -2 to 2 (200 %), continuously compounded.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub base_rates: Numbers,
    /// Time of each zero rate in years; positive and increasing; at most 1,000.
    #[oai(validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive)))]
    pub base_times: Numbers,
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face: f64,
    /// Coupons a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "two", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// Payments of the floating leg a year: 1, 2, 3, 4, 6 or 12; as many as coupons where absent.
    #[oai(nullable, validator(minimum(value = "1"), maximum(value = "12")))]
    pub floating_frequency: Option<u32>,
    /// The kind of the price: with accrued interest or without.
    #[oai(default = "dirty")]
    pub price_type: PriceType,
    /// The interpolation between the zero rates.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
}

/// The spread of an asset swap.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AssetSwapSpread")]
pub struct AssetSwapSpread {
    /// Spread of the par asset swap, an annual decimal: the floating notional is the face value.
    pub asw_spread: f64,
    /// That spread in basis points.
    pub asw_spread_bps: f64,
    /// Spread of the market-value asset swap: the floating notional is the price with accrued interest.
    pub market_value_spread: f64,
    /// Value of the bond's payments on the curve.
    pub curve_value: f64,
    /// Present value of 1 a year on the dates of the floating leg.
    pub annuity: f64,
    /// Price with accrued interest.
    pub dirty_price: f64,
    /// Interest earned before today and paid after it.
    pub accrued_interest: f64,
    /// Payments of the floating leg a year.
    pub floating_frequency: u32,
}

/// A bond of `quant-core` with the price, the curve and the floating leg of its asset swap.
struct Swapped {
    bond: bonds::LevelCouponBond,
    dirty_price: f64,
    curve: curves::Curve,
    floating_frequency: Frequency,
}

impl AssetSwap {
    fn swapped(&self) -> quant_core::Result<Swapped> {
        let bond = bonds::LevelCouponBond {
            coupon_rate: self.coupon,
            maturity: self.maturity,
            face_value: self.face,
            frequency: frequency(self.frequency)?,
        };
        let accrued = match self.price_type {
            PriceType::Dirty => 0.0,
            PriceType::Clean => bond.accrued_interest()?,
        };
        // Times alone matter here: a curve needs some day to start on.
        let (start, kind) = (date(2000, 1, 1).0, curves::CurveType::Zero);
        let (times, rates, shape) = (&self.base_times, &self.base_rates, self.interpolation.into());
        Ok(Swapped {
            bond,
            dirty_price: self.bond_price + accrued,
            curve: curves::Curve::from_values(start, times, rates, kind, shape)?,
            floating_frequency: frequency(self.floating_frequency.unwrap_or(self.frequency))?,
        })
    }
}

impl Computation for AssetSwap {
    type Answer = AssetSwapSpread;

    fn compute(&self) -> quant_core::Result<AssetSwapSpread> {
        let Swapped { bond, dirty_price, curve, floating_frequency } = self.swapped()?;
        let found = bond.asset_swap_spread(dirty_price, &curve, floating_frequency)?;
        Ok(AssetSwapSpread {
            asw_spread: found.par_spread,
            asw_spread_bps: in_basis_points(found.par_spread, "bond_price")?,
            market_value_spread: found.market_value_spread,
            curve_value: found.curve_value,
            annuity: found.annuity,
            dirty_price,
            accrued_interest: found.accrued_interest,
            floating_frequency: floating_frequency.count(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let Swapped { bond, dirty_price, curve, floating_frequency } = self.swapped()?;
        bond.explain_asset_swap_spread(dirty_price, &curve, floating_frequency)
    }

    fn is_long(&self) -> bool {
        self.maturity > LONG_FROM_YEARS || self.base_times.len() > 100
    }

    fn wire_name(argument: &'static str) -> &'static str {
        match argument {
            "dirty_price" => "bond_price",
            "tenors" => "base_times",
            "values" => "base_rates",
            "tenor" => "maturity",
            other => level_name(other),
        }
    }
}

impl Example for AssetSwap {
    fn example() -> Self {
        Self {
            bond_price: 98.0,
            coupon: 0.045,
            maturity: 5.0,
            base_rates: vec![0.03, 0.032, 0.035].into(),
            base_times: vec![1.0, 3.0, 5.0].into(),
            face: 100.0,
            frequency: 2,
            floating_frequency: None,
            price_type: PriceType::Dirty,
            interpolation: Interpolation::Linear,
        }
    }
}

/// A bond with equal coupons, described by its years to maturity.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "LevelCouponBondRequest", example)]
pub struct LevelBond {
    /// Coupon rate, an annual decimal of the face value; from -2 to 2 (200 %).
    pub coupon: f64,
    /// Years to maturity; above zero, at most 1,000.
    #[oai(validator(minimum(value = "0", exclusive), maximum(value = "1000")))]
    pub maturity: f64,
    /// Yield to maturity, an annual decimal, compounded `frequency` times a year; above minus `frequency`.
    pub ytm: f64,
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face: f64,
    /// Coupons a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "two", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
}

/// The price of a bond at a yield, and the sensitivities of the price with accrued interest.
#[derive(Clone, Debug, Object)]
#[oai(rename = "LevelCouponBondMeasures")]
pub struct LevelBondMeasures {
    /// Price with accrued interest.
    pub price: f64,
    /// Price without accrued interest.
    pub clean_price: f64,
    /// Interest earned before today and paid after it.
    pub accrued_interest: f64,
    /// The same as `macaulay_duration`.
    pub duration: f64,
    /// Mean time of the payments in years, weighted by their present values.
    pub macaulay_duration: f64,
    /// Part of the price lost for a rise of the yield, per 1.00 of the yield: in years.
    pub modified_duration: f64,
    /// Second derivative of the price in the yield, as a part of the price: in years squared.
    pub convexity: f64,
    /// Money lost for a rise of the yield by a basis point.
    pub dv01: f64,
}

impl LevelBond {
    /// Returns the bond of `quant-core`.
    fn bond(&self) -> quant_core::Result<bonds::LevelCouponBond> {
        Ok(bonds::LevelCouponBond {
            coupon_rate: self.coupon,
            maturity: self.maturity,
            face_value: self.face,
            frequency: frequency(self.frequency)?,
        })
    }
}

impl Computation for LevelBond {
    type Answer = LevelBondMeasures;

    fn compute(&self) -> quant_core::Result<LevelBondMeasures> {
        let found = self.bond()?.measures(self.ytm)?;
        Ok(LevelBondMeasures {
            price: found.dirty_price,
            clean_price: found.clean_price,
            accrued_interest: found.accrued_interest,
            duration: found.macaulay_duration,
            macaulay_duration: found.macaulay_duration,
            modified_duration: found.modified_duration,
            convexity: found.convexity,
            dv01: found.dv01,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.bond()?.explain_measures(self.ytm)
    }

    fn is_long(&self) -> bool {
        self.maturity > LONG_FROM_YEARS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        level_name(argument)
    }
}

/// Returns a spread in basis points, unless that is beyond the range of a double.
fn in_basis_points(spread: f64, argument: &'static str) -> quant_core::Result<f64> {
    Some(BASIS_POINTS * spread)
        .filter(|found| found.is_finite())
        .ok_or(Error::Overflow { argument })
}

/// The names of a level-coupon bond's arguments in requests.
fn level_name(argument: &'static str) -> &'static str {
    match argument {
        "coupon_rate" => "coupon",
        "face_value" => "face",
        "yield_to_maturity" => "ytm",
        other => other,
    }
}

impl Example for LevelBond {
    fn example() -> Self {
        Self { coupon: 0.08, maturity: 8.0, ytm: 0.09, face: 100.0, frequency: 2 }
    }
}

fn continuous() -> Compounding {
    Compounding::Continuous
}

fn hundred() -> f64 {
    100.0
}

fn two() -> u32 {
    2
}

fn dirty() -> PriceType {
    PriceType::Dirty
}

fn linear() -> Interpolation {
    Interpolation::Linear
}
