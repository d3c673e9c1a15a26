//! The curves, the legs and the risk that the requests and answers of swaps share.

use poem_openapi::{Enum, Object, types::Example};
use quant_core::{
    Error,
    curves::Curve,
    instruments::{self, SwapCurves, leg, rate_risk, swap},
};

use crate::{
    api::quantlib::curves::{CurveType, Interpolation, linear, zero},
    http::{Date, JsonString, Numbers, json_string::date},
};

/// The number of readings of a curve above which a valuation may take over a millisecond.
const LONG_FROM_READINGS: usize = 2_000;

/// One or two curves: the first gives forward rates, and discounts where no second one is sent.
#[derive(Clone, Debug, Object)]
pub struct ValuationCurves {
    /// The day of the valuation, on which the curves start, `YYYY-MM-DD`. Payments on or before it
    /// are left out.
    pub reference_date: Date,
    /// Times of the pillars in years from the reference date; positive and increasing; at most
    /// 1,000. A month counts a twelfth of a year, and a day of the rest a 365th.
    #[oai(validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive)))]
    pub curve_tenors: Numbers,
    /// The rate at each tenor, an annual decimal, continuously compounded; another value by
    /// `curve_type`.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub curve_rates: Numbers,
    /// Times of the pillars of a curve that discounts, where it is not the first; with
    /// `discount_rates`.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive))
    )]
    pub discount_tenors: Option<Numbers>,
    /// The rate at each tenor of the discount curve, as in `curve_rates`.
    #[oai(nullable, skip_serializing_if_is_none, validator(min_items = 1, max_items = 1000))]
    pub discount_rates: Option<Numbers>,
    /// The kind of the values of both curves.
    #[oai(default = "zero")]
    pub curve_type: CurveType,
    /// The interpolation between the pillars of both curves.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
}

/// The curves of a request, built.
pub(super) struct BuiltCurves {
    projection: Curve,
    discount: Option<Curve>,
}

impl BuiltCurves {
    pub(super) fn pair(&self) -> quant_core::Result<SwapCurves<'_>> {
        match &self.discount {
            None => Ok(SwapCurves::single(&self.projection)),
            Some(discount) => SwapCurves::dual(&self.projection, discount),
        }
    }
}

impl ValuationCurves {
    /// Builds the curves of the request.
    pub(super) fn build(&self) -> quant_core::Result<BuiltCurves> {
        let projection = self.curve(&self.curve_tenors, &self.curve_rates, |name| match name {
            "tenors" => "curve_tenors",
            "values" => "curve_rates",
            other => other,
        })?;
        let beside = |argument, problem| Err(Error::Conflict { argument, problem });
        let discount = match (&self.discount_tenors, &self.discount_rates) {
            (None, None) => None,
            (Some(_), None) => {
                return beside("discount_rates", "is needed beside `discount_tenors`");
            }
            (None, Some(_)) => {
                return beside("discount_tenors", "is needed beside `discount_rates`");
            }
            (Some(tenors), Some(rates)) => Some(self.curve(tenors, rates, |name| match name {
                "tenors" => "discount_tenors",
                "values" => "discount_rates",
                other => other,
            })?),
        };
        Ok(BuiltCurves { projection, discount })
    }

    fn curve(
        &self,
        tenors: &[f64],
        values: &[f64],
        rename: fn(&'static str) -> &'static str,
    ) -> quant_core::Result<Curve> {
        let (kind, shape) = (self.curve_type.into(), self.interpolation.into());
        let curve = Curve::from_values(*self.reference_date, tenors, values, kind, shape);
        curve.map_err(|error| error.renamed(rename))
    }

    fn pillars(&self) -> usize {
        let discount = self.discount_tenors.as_ref().map_or(0, |tenors| tenors.len());
        self.curve_tenors.len() + discount
    }

    /// Returns whether a valuation of so many coupons may take over a millisecond.
    pub(super) fn is_long(&self, coupons: usize) -> bool {
        self.pillars() + coupons > LONG_FROM_READINGS
    }

    /// Returns whether the risk to each pillar may take over a millisecond.
    pub(super) fn is_long_by_pillar(&self, coupons: usize) -> bool {
        self.pillars() * (self.pillars() + coupons) > LONG_FROM_READINGS
    }
}

impl Example for ValuationCurves {
    fn example() -> Self {
        Self {
            reference_date: date(2024, 1, 15),
            curve_tenors: vec![0.25, 1.0, 2.0, 5.0, 10.0].into(),
            curve_rates: vec![0.031, 0.032, 0.033, 0.035, 0.036].into(),
            discount_tenors: None,
            discount_rates: None,
            curve_type: zero(),
            interpolation: linear(),
        }
    }
}

/// Returns the names that the arguments of valuations have in requests.
pub(super) fn request_name(argument: &'static str) -> &'static str {
    match argument {
        "curves" => "curve_rates",
        other => other,
    }
}

/// Returns the number of coupons between two dates, at most.
pub(super) fn most_coupons(start: Date, end: Date, frequency: u32) -> usize {
    let years = end.years_since(*start).unwrap_or_default().saturating_add(1);
    usize::try_from(years.saturating_mul(frequency)).unwrap_or(usize::MAX)
}

/// The side of a swap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "swap::SwapSide")]
pub enum SwapType {
    /// Pays the fixed rate and receives the floating one.
    #[default]
    Payer,
    /// Receives the fixed rate and pays the floating one.
    Receiver,
}

/// The origin of the rate of a coupon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "snake_case", remote = "leg::RateSource")]
pub enum RateSource {
    /// The contract fixes the rate.
    Contract,
    /// `current_fixing` of the request.
    Fixing,
    /// No fixing was sent: the curve's rate for the rest of the period.
    AssumedFixing,
    /// The forward rate of the curve.
    Forward,
}

/// The purpose of a curve in a valuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "rate_risk::CurveRole")]
pub enum CurveRole {
    /// Forward rates and discount factors.
    Single,
    /// Forward rates alone.
    Projection,
    /// Discount factors alone.
    Discount,
}

/// One payment of interest by a leg.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SwapCoupon")]
pub struct SwapCoupon {
    /// First day of the interest.
    pub accrual_start: Date,
    /// Day on which the interest ends.
    pub accrual_end: Date,
    /// Day of the payment.
    pub payment_date: Date,
    /// Length of the period by the day count of the leg.
    pub year_fraction: f64,
    /// Rate of the period, an annual decimal, the spread included.
    pub rate: f64,
    /// Origin of the rate.
    pub rate_source: RateSource,
    /// Amount of the payment, in the currency of the notional.
    pub amount: f64,
    /// Value today of 1 paid on the payment date.
    pub discount_factor: f64,
    /// Value today of the payment.
    pub present_value: f64,
}

impl From<leg::Coupon> for SwapCoupon {
    fn from(coupon: leg::Coupon) -> Self {
        Self {
            accrual_start: JsonString(coupon.accrual_start),
            accrual_end: JsonString(coupon.accrual_end),
            payment_date: JsonString(coupon.payment_date),
            year_fraction: coupon.year_fraction,
            rate: coupon.rate,
            rate_source: coupon.rate_source.into(),
            amount: coupon.amount,
            discount_factor: coupon.discount_factor,
            present_value: coupon.present_value,
        }
    }
}

/// The value of a swap and of its legs.
#[derive(Clone, Debug, Object)]
#[oai(rename = "SwapValue")]
pub struct SwapValue {
    /// Present value of the swap to its holder, in the currency of the notional.
    pub npv: f64,
    /// Fixed rate at which the swap is worth 0, an annual decimal; absent where no fixed payment is
    /// left.
    #[oai(skip_serializing_if_is_none)]
    pub par_rate: Option<f64>,
    /// Value of a fixed rate of 1.00 on a notional of 1.
    pub annuity: f64,
    /// Value of a basis point of the fixed rate on the notional.
    pub pv01: f64,
    /// Value of the fixed payments, positive for a positive rate.
    pub fixed_leg_value: f64,
    /// Value of the floating payments.
    pub floating_leg_value: f64,
    /// The fixed payments that are still due.
    pub fixed_leg: Vec<SwapCoupon>,
    /// The floating payments that are still due.
    pub floating_leg: Vec<SwapCoupon>,
}

impl From<instruments::SwapValue> for SwapValue {
    fn from(value: instruments::SwapValue) -> Self {
        let coupons = |leg: leg::SwapLeg| leg.coupons.into_iter().map(SwapCoupon::from).collect();
        Self {
            npv: value.npv,
            par_rate: value.par_rate,
            annuity: value.annuity,
            pv01: value.pv01,
            fixed_leg_value: value.fixed_leg.present_value,
            floating_leg_value: value.floating_leg.present_value,
            fixed_leg: coupons(value.fixed_leg),
            floating_leg: coupons(value.floating_leg),
        }
    }
}

/// The change of a value where zero rates rise by a basis point.
///
/// Each figure `dv01` is half the difference of the values a basis point higher and lower.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RateRisk")]
pub struct RateRisk {
    /// Change for a parallel rise of all zero rates by a basis point; positive for a payer.
    pub dv01: f64,
    /// Change where all zero rates are a basis point higher.
    pub change_up: f64,
    /// Change where all zero rates are a basis point lower.
    pub change_down: f64,
    /// Change for a rise of the projection curve alone; present with two curves.
    #[oai(skip_serializing_if_is_none)]
    pub projection_dv01: Option<f64>,
    /// Change for a rise of the discount curve alone; present with two curves.
    #[oai(skip_serializing_if_is_none)]
    pub discount_dv01: Option<f64>,
    /// Change for a rise of each pillar alone.
    pub buckets: Vec<RateBucket>,
}

/// The change of a value where the zero rate of one pillar rises by a basis point.
#[derive(Clone, Debug, Object)]
#[oai(rename = "RateBucket")]
pub struct RateBucket {
    /// Role of the curve to which the pillar belongs.
    pub curve: CurveRole,
    /// Time of the pillar in years.
    pub tenor: f64,
    /// Date of the pillar.
    pub date: Date,
    /// Change of the value.
    pub dv01: f64,
}

impl From<instruments::RateRisk> for RateRisk {
    fn from(risk: instruments::RateRisk) -> Self {
        let bucket = |found: instruments::BucketRisk| RateBucket {
            curve: found.curve.into(),
            tenor: found.tenor,
            date: JsonString(found.date),
            dv01: found.dv01,
        };
        Self {
            dv01: risk.dv01,
            change_up: risk.change_up,
            change_down: risk.change_down,
            projection_dv01: risk.projection_dv01,
            discount_dv01: risk.discount_dv01,
            buckets: risk.buckets.into_iter().map(bucket).collect(),
        }
    }
}
