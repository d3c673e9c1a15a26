//! Prices, yields and sensitivities of bonds with dates.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    explanation::Explanation,
    instruments::{bond_yield, zero_coupon_bond},
    time::{NaiveDate, Stub},
};

use super::{
    BusinessDayConvention, Calendar, DayCount, FixedBond,
    bond_valuation::{YieldConvention, street, yield_name},
    in_request, short_front,
};
use crate::{
    api::quantlib::{Computation, RequestFor, SharedComputation, curves::Compounding},
    http::{Answer, Date, JsonString, Metered, Tag, json_string::date, without_negative_zero},
};

/// The tenors of key rates in years: those of the interest-rate risk of Basel's market-risk standard
/// (MAR21.8).
const KEY_TENORS: [f64; 10] = [0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0];

/// The coupons above which a bond may take over a millisecond.
const LONG_FROM_COUPONS: u32 = 200;

/// The REST endpoints of bonds at a yield or a price.
#[derive(Default)]
pub struct Bonds;

#[OpenApi(prefix_path = "/quantlib/instruments/bond", tag = "Tag::Instruments")]
impl Bonds {
    /// Price a fixed-rate bond at a yield.
    ///
    /// Clean and dirty price and accrued interest at the settlement, which is the issue date where none is
    /// sent. The yield is compounded `frequency` times a year.
    #[oai(path = "/fixed/price", method = "post", operation_id = "price_bond")]
    async fn price(&self, call: Metered<RequestFor<PriceOfBond>>) -> Result<Answer<BondPrice>> {
        call.run().await
    }

    /// Find the yield of a fixed-rate bond at a clean price.
    ///
    /// The single rate, compounded `frequency` times a year, that discounts all payments after the
    /// settlement to the price with accrued interest. The settlement is the issue date where none is sent.
    #[oai(path = "/fixed/yield", method = "post", operation_id = "find_bond_yield")]
    async fn bond_yield(&self, call: Metered<QuotedBond>) -> Result<Answer<BondYield>> {
        call.run().await
    }

    /// Compute durations, convexity and DV01s of a fixed-rate bond at a yield.
    ///
    /// Macaulay's and the modified duration, convexity, DV01 and key-rate DV01s, with the prices. The
    /// settlement is the issue date where none is sent; the yield is compounded `frequency` times a year.
    #[oai(path = "/fixed/analytics", method = "post", operation_id = "analyze_bond")]
    async fn analytics(
        &self,
        call: Metered<RequestFor<AnalyticsOfBond>>,
    ) -> Result<Answer<BondAnalytics>> {
        call.run().await
    }

    /// Price a zero-coupon bond.
    ///
    /// Face value discounted at `yield_rate` from maturity to the settlement, which is the issue date where
    /// none is sent. Without `yield_rate` the yield is 0 and the price is the face value, not discounted.
    #[oai(path = "/zero-coupon/price", method = "post", operation_id = "price_zero_coupon_bond")]
    async fn zero_coupon(&self, call: Metered<ZeroCoupon>) -> Result<Answer<ZeroCouponPrice>> {
        call.run().await
    }
}

/// The dates and the coupon rate of a bond.
#[derive(Clone, Copy, Debug, Object)]
pub struct CouponDates {
    /// The day from which interest runs, `YYYY-MM-DD`.
    pub issue_date: Date,
    /// The day of the redemption; after the issue.
    pub maturity_date: Date,
    /// Coupon rate, an annual decimal of the face value; from -2 to 2 (200 %).
    pub coupon_rate: f64,
}

/// The terms of a bond beside its dates and its coupon rate.
#[derive(Clone, Copy, Debug, Object)]
pub struct BondTerms {
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face_value: f64,
    /// Coupons a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "two", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// The day-count convention.
    #[oai(default = "act_365")]
    pub day_count: DayCount,
    /// The day of purchase, on or after the issue and before the maturity; the issue date where absent.
    #[oai(nullable)]
    pub settlement_date: Option<Date>,
    /// The discounting over the remaining part of the coupon period at settlement.
    #[oai(default = "street")]
    pub yield_convention: YieldConvention,
    /// True if coupons are paid at the end of the month where maturity is at the end of its month.
    #[oai(default)]
    pub end_of_month: bool,
    /// The calendar of business days.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
    /// The business-day convention, for a payment on a day that is no business day.
    #[oai(default = "unadjusted")]
    pub convention: BusinessDayConvention,
    /// Place and length of the period that is not regular: short front, long front, short back, long
    /// back, or none where it is to be refused.
    #[oai(default = "short_front")]
    pub stub: JsonString<Stub>,
}

impl Example for CouponDates {
    fn example() -> Self {
        Self { issue_date: date(2024, 1, 15), maturity_date: date(2034, 1, 15), coupon_rate: 0.04 }
    }
}

impl Example for BondTerms {
    fn example() -> Self {
        Self {
            face_value: 100.0,
            frequency: 2,
            day_count: DayCount::Act365,
            settlement_date: Some(date(2024, 10, 15)),
            yield_convention: YieldConvention::Street,
            end_of_month: false,
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
            stub: short_front(),
        }
    }
}

/// A fixed-rate bond and its yield.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondAtYieldRequest", example)]
pub struct BondAtYield {
    /// The dates and the coupon.
    #[oai(flatten)]
    pub coupons: CouponDates,
    /// Yield to maturity, an annual decimal, compounded `frequency` times a year; above minus `frequency`.
    pub yield_rate: f64,
    /// The terms beside them.
    #[oai(flatten)]
    pub terms: BondTerms,
}

impl BondAtYield {
    fn bond(&self) -> FixedBond {
        let (CouponDates { issue_date, maturity_date, coupon_rate }, terms) =
            (self.coupons, self.terms);
        FixedBond {
            issue_date,
            maturity_date,
            coupon_rate,
            face_value: terms.face_value,
            frequency: terms.frequency,
            day_count: terms.day_count,
            end_of_month: terms.end_of_month,
            settlement_date: terms.settlement_date,
            calendar: terms.calendar,
            convention: terms.convention,
            stub: terms.stub,
            yield_rate: None,
            clean_price: None,
            yield_convention: terms.yield_convention,
        }
    }

    fn measures(&self) -> quant_core::Result<bond_yield::BondMeasures> {
        let (settlement, convention) = self.settled();
        let bond = self.bond().bond()?;
        bond.measures(settlement, self.yield_rate, convention).map_err(in_request)
    }

    /// Returns the settlement and the convention of the yield.
    fn settled(&self) -> (NaiveDate, bond_yield::YieldConvention) {
        (self.settlement(), self.terms.yield_convention.into())
    }

    fn settlement(&self) -> NaiveDate {
        self.terms.settlement_date.unwrap_or(self.coupons.issue_date).0
    }
}

impl Example for BondAtYield {
    fn example() -> Self {
        Self { coupons: CouponDates::example(), yield_rate: 0.045, terms: BondTerms::example() }
    }
}

/// The price of a fixed-rate bond.
pub struct PriceOfBond;

impl SharedComputation for PriceOfBond {
    type Request = BondAtYield;
    type Answer = BondPrice;

    fn compute(request: &BondAtYield) -> quant_core::Result<BondPrice> {
        let found = request.measures()?;
        Ok(BondPrice {
            clean_price: found.clean_price,
            dirty_price: found.dirty_price,
            accrued_interest: found.accrued_interest,
            yield_rate: without_negative_zero(request.yield_rate),
            settlement_date: JsonString(request.settlement()),
        })
    }

    fn explain(request: &BondAtYield) -> quant_core::Result<Explanation> {
        let (settlement, convention) = request.settled();
        let bond = request.bond().bond()?;
        bond.explain_price(settlement, request.yield_rate, convention).map_err(in_request)
    }

    fn is_long(request: &BondAtYield) -> bool {
        request.bond().is_long_schedule()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        yield_name(argument)
    }
}

/// The price of a bond at a yield.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondPrice")]
pub struct BondPrice {
    /// Price without accrued interest, as it is quoted.
    pub clean_price: f64,
    /// Price with accrued interest, as it is paid.
    pub dirty_price: f64,
    /// Interest earned before the settlement and paid after it.
    pub accrued_interest: f64,
    /// Yield to maturity, an annual decimal.
    pub yield_rate: f64,
    /// The day of purchase.
    pub settlement_date: Date,
}

/// The sensitivities of a fixed-rate bond.
pub struct AnalyticsOfBond;

impl SharedComputation for AnalyticsOfBond {
    type Request = BondAtYield;
    type Answer = BondAnalytics;

    fn compute(request: &BondAtYield) -> quant_core::Result<BondAnalytics> {
        let found = request.measures()?;
        let (settlement, convention) = request.settled();
        let bond = request.bond().bond()?;
        let parts = bond.key_rate_dv01s(settlement, request.yield_rate, convention, &KEY_TENORS)?;
        let parts = KEY_TENORS.into_iter().zip(parts);
        Ok(BondAnalytics {
            clean_price: found.clean_price,
            dirty_price: found.dirty_price,
            accrued_interest: found.accrued_interest,
            duration: found.macaulay_duration,
            macaulay_duration: found.macaulay_duration,
            modified_duration: found.modified_duration,
            convexity: found.convexity,
            dv01: found.dv01,
            key_rate_dv01: parts.map(|(tenor, dv01)| KeyRateDv01 { tenor, dv01 }).collect(),
            settlement_date: JsonString(settlement),
        })
    }

    fn explain(request: &BondAtYield) -> quant_core::Result<Explanation> {
        let (settlement, convention) = request.settled();
        let bond = request.bond().bond()?;
        bond.explain_measures(settlement, request.yield_rate, convention).map_err(in_request)
    }

    fn is_long(request: &BondAtYield) -> bool {
        request.bond().is_long_schedule()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        yield_name(argument)
    }
}

/// The price of a bond at a yield, and the sensitivities of the dirty price.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondAnalytics")]
pub struct BondAnalytics {
    /// Price without accrued interest, as it is quoted.
    pub clean_price: f64,
    /// Price with accrued interest, as it is paid.
    pub dirty_price: f64,
    /// Interest earned before the settlement and paid after it.
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
    /// The parts of `dv01` around each key tenor; they add up to it.
    pub key_rate_dv01: Vec<KeyRateDv01>,
    /// The day of purchase.
    pub settlement_date: Date,
}

/// The part of a DV01 around a key tenor.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "KeyRateDv01")]
pub struct KeyRateDv01 {
    /// Time in years.
    pub tenor: f64,
    /// Money lost for a rise of the yield by a basis point, weighted 1 at the tenor and linearly less to 0
    /// at the tenors beside it.
    pub dv01: f64,
}

/// A fixed-rate bond and its clean price.
#[derive(Clone, Debug, Object)]
#[oai(rename = "QuotedBondRequest", example)]
pub struct QuotedBond {
    /// The dates and the coupon.
    #[oai(flatten)]
    pub coupons: CouponDates,
    /// Price without accrued interest, in the currency of the face value.
    pub clean_price: f64,
    /// The terms beside them.
    #[oai(flatten)]
    pub terms: BondTerms,
}

impl QuotedBond {
    fn at(&self, yield_rate: f64) -> BondAtYield {
        BondAtYield { coupons: self.coupons, yield_rate, terms: self.terms }
    }
}

/// The yield of a bond at a price.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondYield")]
pub struct BondYield {
    /// Yield to maturity, an annual decimal, compounded `frequency` times a year.
    #[oai(rename = "yield")]
    pub yield_rate: f64,
    /// Price without accrued interest, as it was sent.
    pub clean_price: f64,
    /// Price with accrued interest, as it is paid.
    pub dirty_price: f64,
    /// Interest earned before the settlement and paid after it.
    pub accrued_interest: f64,
    /// Part of the price lost for a rise of the yield, per 1.00 of the yield: in years.
    pub modified_duration: f64,
    /// Money lost for a rise of the yield by a basis point.
    pub dv01: f64,
    /// The day of purchase.
    pub settlement_date: Date,
}

impl Computation for QuotedBond {
    type Answer = BondYield;

    fn compute(&self) -> quant_core::Result<BondYield> {
        let at_zero = self.at(0.0);
        let (settlement, convention) = at_zero.settled();
        let bond = at_zero.bond().bond()?;
        let rate = bond.yield_to_maturity(settlement, self.clean_price, convention);
        let rate = rate.map_err(in_request)?;
        let found = self.at(rate).measures()?;
        Ok(BondYield {
            yield_rate: rate,
            clean_price: without_negative_zero(self.clean_price),
            dirty_price: found.dirty_price,
            accrued_interest: found.accrued_interest,
            modified_duration: found.modified_duration,
            dv01: found.dv01,
            settlement_date: JsonString(settlement),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let at_zero = self.at(0.0);
        let (settlement, convention) = at_zero.settled();
        let bond = at_zero.bond().bond()?;
        bond.explain_yield(settlement, self.clean_price, convention).map_err(in_request)
    }

    fn is_long(&self) -> bool {
        self.at(0.0).bond().is_long_schedule()
    }

    fn wire_name(argument: &'static str) -> &'static str {
        // The price drives a yield out of range.
        if argument == "yield_to_maturity" { "clean_price" } else { argument }
    }
}

impl Example for QuotedBond {
    fn example() -> Self {
        Self { coupons: CouponDates::example(), clean_price: 96.5, terms: BondTerms::example() }
    }
}

impl FixedBond {
    /// Returns whether the bond has so many coupons that its price may take over a millisecond.
    fn is_long_schedule(&self) -> bool {
        let years = self.maturity_date.years_since(*self.issue_date).unwrap_or_default();
        years.saturating_mul(self.frequency) > LONG_FROM_COUPONS
    }
}

/// A zero-coupon bond and its yield.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "ZeroCouponBondRequest", example)]
pub struct ZeroCoupon {
    /// The day of issue, `YYYY-MM-DD`.
    pub issue_date: Date,
    /// The day of the redemption; after the issue.
    pub maturity_date: Date,
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face_value: f64,
    /// The day-count convention of the time to maturity.
    #[oai(default = "act_365")]
    pub day_count: DayCount,
    /// The day of purchase, on or after the issue and before the maturity; the issue date where absent.
    #[oai(nullable)]
    pub settlement_date: Option<Date>,
    /// Yield to maturity, an annual decimal; without one the price is not discounted.
    #[oai(default)]
    pub yield_rate: f64,
    /// The compounding of the yield; annual where absent.
    #[oai(nullable)]
    pub compounding: Option<Compounding>,
    /// The calendar of business days, for the day count BUS/252.
    #[oai(default = "no_calendar")]
    pub calendar: Calendar,
}

/// The price of a zero-coupon bond.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ZeroCouponBondPrice")]
pub struct ZeroCouponPrice {
    /// Price at settlement, in the currency of the face value.
    pub price: f64,
    /// Yield to maturity that was used, an annual decimal; 0 where none was sent.
    pub yield_rate: f64,
    /// The compounding of the yield.
    pub compounding: Compounding,
    /// Price of a face value of 1.
    pub discount_factor: f64,
    /// Years from settlement to maturity by the day count; also Macaulay's duration.
    pub time_to_maturity: f64,
    /// Part of the price lost for a rise of the yield, per 1.00 of the yield: in years.
    pub modified_duration: f64,
    /// Second derivative of the price in the yield, as a part of the price: in years squared.
    pub convexity: f64,
    /// Money lost for a rise of the yield by a basis point.
    pub dv01: f64,
    /// The day of purchase.
    pub settlement_date: Date,
}

impl ZeroCoupon {
    fn bond(&self) -> zero_coupon_bond::ZeroCouponBond {
        zero_coupon_bond::ZeroCouponBond {
            issue_date: self.issue_date.0,
            maturity_date: self.maturity_date.0,
            face_value: self.face_value,
            day_count: self.day_count.into(),
            calendar: self.calendar.into(),
        }
    }

    fn settlement(&self) -> NaiveDate {
        self.settlement_date.unwrap_or(self.issue_date).0
    }

    fn compounding(&self) -> Compounding {
        self.compounding.unwrap_or(Compounding::Annual)
    }
}

impl Computation for ZeroCoupon {
    type Answer = ZeroCouponPrice;

    fn is_long(&self) -> bool {
        // Business days of thousands of years.
        self.day_count == DayCount::Bus252
    }

    fn compute(&self) -> quant_core::Result<ZeroCouponPrice> {
        let (settlement, compounding) = (self.settlement(), self.compounding());
        let found = self.bond().value(settlement, self.yield_rate, compounding.into())?;
        Ok(ZeroCouponPrice {
            price: found.price,
            yield_rate: without_negative_zero(self.yield_rate),
            compounding,
            discount_factor: found.discount_factor,
            time_to_maturity: found.time_to_maturity,
            modified_duration: found.modified_duration,
            convexity: found.convexity,
            dv01: found.dv01,
            settlement_date: JsonString(settlement),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.bond().explain(self.settlement(), self.yield_rate, self.compounding().into())
    }

    fn wire_name(argument: &'static str) -> &'static str {
        yield_name(argument)
    }
}

impl Example for ZeroCoupon {
    fn example() -> Self {
        Self {
            issue_date: date(2024, 1, 15),
            maturity_date: date(2029, 1, 15),
            face_value: 100.0,
            day_count: DayCount::Act365,
            settlement_date: None,
            yield_rate: 0.04,
            compounding: Some(Compounding::Annual),
            calendar: Calendar::None,
        }
    }
}

fn hundred() -> f64 {
    100.0
}

fn two() -> u32 {
    2
}

fn act_365() -> DayCount {
    DayCount::Act365
}

fn no_calendar() -> Calendar {
    Calendar::None
}

fn unadjusted() -> BusinessDayConvention {
    BusinessDayConvention::Unadjusted
}
