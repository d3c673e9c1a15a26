//! Bonds, bills, deposits, swaps, and options and forwards on exchange rates.

pub mod bond_valuation;
pub mod bonds;
pub mod deposits;
pub mod foreign_exchange;
pub mod forward_rate_agreements;
pub mod interest_rate_swaps;
pub mod overnight_swaps;
pub mod swap_curves;

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    Error,
    explanation::Explanation,
    instruments::{fixed_bond, treasury_bill},
    time::{NaiveDate, Stub, calendar, day_count, schedule},
};

use self::bond_valuation::{BondQuote, BondValuation, YieldConvention, street, yield_name};
use super::{Computation, example_answer};
use crate::http::{Answer, Date, JsonString, Metered, Tag, json_string::date};

/// The largest number of cash flows of one answer: a thousand years of monthly coupons.
const MOST_FLOWS: u32 = 12_000;

/// The endpoints of bonds and bills.
#[derive(Default)]
pub struct Instruments;

#[OpenApi(prefix_path = "/quantlib/instruments", tag = "Tag::Instruments")]
impl Instruments {
    /// List the cash flows of a fixed-rate bond.
    ///
    /// The schedule runs backward from maturity, with a short first period where it does not
    /// divide, unless `stub` asks otherwise. Where a settlement date is given, only the flows after it
    /// are listed, with the interest accrued by then. Where a yield or a clean price is given, the
    /// bond is valued at the settlement, which is the issue date where none is given.
    #[oai(path = "/bond/fixed/cashflows", method = "post", operation_id = "list_bond_cashflows")]
    async fn bond_cashflows(&self, call: Metered<FixedBond>) -> Result<Answer<BondCashflows>> {
        call.run().await
    }

    /// Value a Treasury bill.
    ///
    /// Price, discount rate and yields of a bill on a discount basis of ACT/360, from exactly one
    /// of its discount rate, its price and its yield. It matures at most 366 days after the
    /// settlement. The yield is the bond-equivalent yield of 31 CFR 356,
    /// appendix B.
    #[oai(path = "/money-market/tbill", method = "post", operation_id = "value_treasury_bill")]
    async fn treasury_bill(
        &self,
        call: Metered<TreasuryBill>,
    ) -> Result<Answer<TreasuryBillValue>> {
        call.run().await
    }
}

/// The day-count convention, by which the days between two dates become a fraction of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "day_count::DayCount")]
pub enum DayCount {
    /// 30/360, bond basis.
    #[oai(rename = "30/360")]
    Thirty360BondBasis,
    /// 30E/360, Eurobond basis.
    #[oai(rename = "30E/360")]
    ThirtyE360,
    /// 30E/360 ISDA.
    #[oai(rename = "30E/360 ISDA")]
    ThirtyE360Isda,
    /// 30/360 US, where a last of February at the start counts as the 30th.
    #[oai(rename = "30/360 US")]
    Thirty360Us,
    /// Actual days over 360.
    #[oai(rename = "ACT/360")]
    Act360,
    /// Actual days over 364.
    #[oai(rename = "ACT/364")]
    Act364,
    /// Actual days over 365.
    #[oai(rename = "ACT/365")]
    Act365,
    /// Actual days over 365.25.
    #[oai(rename = "ACT/365.25")]
    Act36525,
    /// Actual days over 365, or 366 in a leap year.
    #[oai(rename = "ACT/365L")]
    Act365L,
    /// Actual days without 29 February over 365.
    #[oai(rename = "NL/365")]
    Nl365,
    /// Actual over actual, ICMA.
    #[oai(rename = "ACT/ACT ICMA")]
    ActActIcma,
    /// Actual over actual, ISDA.
    #[oai(rename = "ACT/ACT ISDA")]
    ActActIsda,
    /// Actual over actual, AFB.
    #[oai(rename = "ACT/ACT AFB")]
    ActActAfb,
    /// Business days over 252.
    #[oai(rename = "BUS/252")]
    Bus252,
}

/// The calendar of business days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "calendar::Calendar")]
pub enum Calendar {
    /// Every day.
    #[oai(rename = "none")]
    None,
    /// Monday to Friday.
    #[oai(rename = "weekends")]
    Weekends,
    /// The euro payment system.
    #[oai(rename = "TARGET")]
    Target,
    /// Offices of the United States government; closed on the Friday before a Saturday holiday.
    #[oai(rename = "US")]
    UnitedStates,
    /// Federal Reserve Banks, on whose business days payments in dollars settle.
    #[oai(rename = "FEDWIRE")]
    Fedwire,
    /// United States government securities, as SIFMA recommends.
    #[oai(rename = "SIFMA")]
    Sifma,
    /// The New York Stock Exchange.
    #[oai(rename = "NYSE")]
    Nyse,
    /// United Kingdom, settlement.
    #[oai(rename = "UK")]
    UnitedKingdom,
    /// Swiss franc payments and the Swiss exchange.
    #[oai(rename = "CHF")]
    Switzerland,
    /// Banks of Japan.
    #[oai(rename = "JPY")]
    Japan,
    /// Canadian dollar payments.
    #[oai(rename = "CAD")]
    Canada,
    /// Australian dollar payments.
    #[oai(rename = "AUD")]
    Australia,
}

/// The business-day convention, for a payment on a day that is no business day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(remote = "calendar::BusinessDayConvention")]
pub enum BusinessDayConvention {
    /// The payment date is not moved.
    #[oai(rename = "unadjusted")]
    Unadjusted,
    /// The next business day.
    #[oai(rename = "following")]
    Following,
    /// The next business day, or the previous one where the next is in another month.
    #[oai(rename = "modified following")]
    ModifiedFollowing,
    /// The previous business day.
    #[oai(rename = "preceding")]
    Preceding,
    /// The previous business day, or the next one where the previous is in another month.
    #[oai(rename = "modified preceding")]
    ModifiedPreceding,
}

/// A fixed-rate bond.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondCashflowsRequest", example)]
pub struct FixedBond {
    /// The day from which interest runs, `YYYY-MM-DD`.
    pub issue_date: Date,
    /// The day of the redemption; after the issue.
    pub maturity_date: Date,
    /// Coupon rate, an annual decimal of the face value; from -2 to 2 (200 %).
    pub coupon_rate: f64,
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face_value: f64,
    /// Coupons a year: 1, 2, 3, 4, 6 or 12.
    #[oai(default = "two", validator(minimum(value = "1"), maximum(value = "12")))]
    pub frequency: u32,
    /// The day-count convention.
    #[oai(default = "act_365")]
    pub day_count: DayCount,
    /// True if coupons are paid at the end of the month where maturity is at the end of its month.
    #[oai(default)]
    pub end_of_month: bool,
    /// The day of purchase; where given, only later flows are listed, with accrued interest.
    #[oai(nullable)]
    pub settlement_date: Option<Date>,
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
    /// Yield to maturity at which to value the bond, an annual decimal, compounded `frequency` times a
    /// year. Not beside `clean_price`.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub yield_rate: Option<f64>,
    /// Price without accrued interest at which to value the bond. Not beside `yield_rate`.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub clean_price: Option<f64>,
    /// The discounting over the remaining part of the coupon period at settlement, for the valuation.
    #[oai(default = "street")]
    pub yield_convention: YieldConvention,
}

/// The cash flows of a bond.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondCashflows", example)]
pub struct BondCashflows {
    /// The flows in the order of their dates; two at maturity.
    pub cashflows: Vec<BondCashflow>,
    /// The number of cash flows.
    pub count: u32,
    /// Interest accrued to the settlement date; present where one was sent.
    #[oai(skip_serializing_if_is_none)]
    pub accrued_interest: Option<f64>,
    /// The value of the bond at settlement; present where a yield or a clean price was sent.
    #[oai(skip_serializing_if_is_none)]
    pub valuation: Option<BondValuation>,
}

/// One payment of a bond.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BondCashflow")]
pub struct BondCashflow {
    /// The day of the payment.
    pub date: Date,
    /// The amount, in the currency of the face value.
    pub amount: f64,
    /// The kind of payment.
    pub kind: CashflowKind,
    /// First day of the interest period.
    pub period_start: Date,
    /// Last day of the interest period.
    pub period_end: Date,
    /// Length of the interest period by the day count.
    pub year_fraction: f64,
}

/// The kind of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "fixed_bond::CashFlowKind")]
pub enum CashflowKind {
    /// Interest.
    Coupon,
    /// The face value.
    Redemption,
}

impl Computation for FixedBond {
    type Answer = BondCashflows;

    fn compute(&self) -> quant_core::Result<BondCashflows> {
        let bond = self.bond()?;
        let flows = bond.cash_flows(self.settlement_date.map(|day| day.0)).map_err(in_request)?;
        let cashflows: Vec<_> = flows.cashflows.into_iter().map(BondCashflow::from).collect();
        Ok(BondCashflows {
            count: u32::try_from(cashflows.len()).expect("at most 12 flows in each of 9,999 years"),
            cashflows,
            accrued_interest: flows.accrued_interest,
            valuation: self.valuation()?,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let bond = self.bond()?;
        let (settlement, convention) = (self.settlement(), self.yield_convention.into());
        let found = match self.quote()? {
            None => bond.explain(self.settlement_date.map(|day| day.0)),
            Some(BondQuote::Yield(rate)) => bond.explain_measures(settlement, rate, convention),
            Some(BondQuote::CleanPrice(price)) => bond.explain_yield(settlement, price, convention),
        };
        found.map_err(in_request)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        yield_name(argument)
    }

    fn is_long(&self) -> bool {
        // A thousand years of monthly coupons is a valid request.
        true
    }
}

impl FixedBond {
    /// Returns the bond of `quant-core`.
    fn bond(&self) -> quant_core::Result<fixed_bond::FixedBond> {
        self.check_length()?;
        Ok(fixed_bond::FixedBond {
            issue_date: self.issue_date.0,
            maturity_date: self.maturity_date.0,
            coupon_rate: self.coupon_rate,
            face_value: self.face_value,
            frequency: frequency(self.frequency)?,
            day_count: self.day_count.into(),
            end_of_month: self.end_of_month,
            calendar: self.calendar.into(),
            convention: self.convention.into(),
            stub: self.stub.0,
        })
    }

    /// Returns the day of purchase: the issue date where none was sent.
    fn settlement(&self) -> NaiveDate {
        self.settlement_date.unwrap_or(self.issue_date).0
    }

    /// Returns what the bond is to be valued at.
    fn quote(&self) -> quant_core::Result<Option<BondQuote>> {
        BondQuote::read(self.yield_rate, self.clean_price)
    }

    /// Returns the value of the bond at the yield or the price of the request, where there is one.
    fn valuation(&self) -> quant_core::Result<Option<BondValuation>> {
        let Some(quote) = self.quote()? else { return Ok(None) };
        let valued = quote.value(&self.bond()?, self.settlement(), self.yield_convention);
        valued.map(Some).map_err(in_request)
    }

    /// Refuses a bond with too many cash flows, because a request of a hundred bytes can describe a
    /// hundred thousand.
    fn check_length(&self) -> quant_core::Result<()> {
        let years = self.maturity_date.years_since(*self.issue_date).unwrap_or_default();
        if years.saturating_mul(self.frequency) < MOST_FLOWS {
            return Ok(());
        }
        Err(Error::Date {
            argument: "maturity_date",
            value: *self.maturity_date,
            requirement: "near enough to the issue for at most 12,000 cash flows",
        })
    }
}

/// Attributes a payment date outside the calendar to the maturity.
fn in_request(error: Error) -> Error {
    match error {
        Error::Date { argument: "date", value, requirement } => {
            Error::Date { argument: "maturity_date", value, requirement }
        }
        error => error,
    }
}

impl From<fixed_bond::CashFlow> for BondCashflow {
    fn from(flow: fixed_bond::CashFlow) -> Self {
        Self {
            date: JsonString(flow.date),
            amount: flow.amount,
            kind: flow.kind.into(),
            period_start: JsonString(flow.period_start),
            period_end: JsonString(flow.period_end),
            year_fraction: flow.year_fraction,
        }
    }
}

/// Returns the frequency of `count` coupons a year.
pub(in crate::api::quantlib) fn frequency(count: u32) -> quant_core::Result<schedule::Frequency> {
    schedule::Frequency::from_count(count).ok_or(Error::Domain {
        argument: "frequency",
        value: f64::from(count),
        requirement: "one of 1, 2, 3, 4, 6 and 12",
    })
}

/// A Treasury bill, quoted by its discount rate, its price or its yield.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TreasuryBillRequest", example)]
pub struct TreasuryBill {
    /// The day of purchase, `YYYY-MM-DD`.
    pub settlement_date: Date,
    /// The day of the redemption; after the settlement, by at most 366 days.
    pub maturity_date: Date,
    /// Bank discount rate, an annual decimal on ACT/360; from -2 to 2 (200 %). Exactly one of this,
    /// `price` and `yield`.
    #[oai(nullable)]
    pub discount_rate: Option<f64>,
    /// Price for the face value; positive.
    #[oai(nullable, validator(minimum(value = "0", exclusive)))]
    pub price: Option<f64>,
    /// Bond-equivalent yield, an annual decimal; from -2 to 2 (200 %).
    #[oai(rename = "yield", nullable)]
    pub bond_equivalent_yield: Option<f64>,
    /// Amount redeemed at maturity; positive.
    #[oai(default = "hundred", validator(minimum(value = "0", exclusive)))]
    pub face_value: f64,
}

/// The price and the yields of a bill.
#[derive(Clone, Debug, Object)]
#[oai(rename = "TreasuryBillValue", example)]
pub struct TreasuryBillValue {
    /// Price for the face value.
    pub price: f64,
    /// Bond-equivalent yield, an annual decimal.
    #[oai(rename = "yield")]
    pub bond_equivalent_yield: f64,
    /// Bank discount rate, an annual decimal on ACT/360.
    pub discount_rate: f64,
    /// Money-market yield, an annual decimal on ACT/360.
    pub money_market_yield: f64,
    /// Days from settlement to maturity.
    pub days_to_maturity: i64,
    /// Face value less price.
    pub discount_amount: f64,
    /// The day count of discount rate and money-market yield, ACT/360.
    pub basis: DayCount,
    /// Days of the year in the bond-equivalent yield, 365 or 366.
    pub days_in_year: u16,
    /// True if the bond-equivalent yield has a half-year coupon, which it has beyond half a year.
    pub is_beyond_half_year: bool,
}

impl TreasuryBill {
    /// Returns the bill of `quant-core`.
    fn bill(&self) -> quant_core::Result<treasury_bill::TreasuryBill> {
        Ok(treasury_bill::TreasuryBill {
            settlement_date: self.settlement_date.0,
            maturity_date: self.maturity_date.0,
            face_value: self.face_value,
            quote: self.quote()?,
        })
    }

    fn quote(&self) -> quant_core::Result<treasury_bill::Quote> {
        let beside = |argument, problem| Err(Error::Conflict { argument, problem });
        match (self.discount_rate, self.price, self.bond_equivalent_yield) {
            (Some(rate), None, None) => Ok(treasury_bill::Quote::DiscountRate(rate)),
            (None, Some(price), None) => Ok(treasury_bill::Quote::Price(price)),
            (None, None, Some(rate)) => Ok(treasury_bill::Quote::BondEquivalentYield(rate)),
            (None, None, None) => {
                beside("discount_rate", "or `price` or `yield` is needed: send exactly one of them")
            }
            (Some(_), Some(_), _) => {
                beside("price", "cannot stand beside `discount_rate`: send exactly one of them")
            }
            (Some(_), None, Some(_)) => {
                beside("yield", "cannot stand beside `discount_rate`: send exactly one of them")
            }
            (None, Some(_), Some(_)) => {
                beside("yield", "cannot stand beside `price`: send exactly one of them")
            }
        }
    }
}

impl Computation for TreasuryBill {
    type Answer = TreasuryBillValue;

    fn compute(&self) -> quant_core::Result<TreasuryBillValue> {
        let value = self.bill()?.value()?;
        Ok(TreasuryBillValue {
            price: value.price,
            bond_equivalent_yield: value.bond_equivalent_yield,
            discount_rate: value.discount_rate,
            money_market_yield: value.money_market_yield,
            days_to_maturity: value.days_to_maturity,
            discount_amount: value.discount_amount,
            basis: DayCount::Act360,
            days_in_year: value.days_in_year,
            is_beyond_half_year: value.is_beyond_half_year,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.bill()?.explain()
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

fn short_front() -> JsonString<Stub> {
    JsonString(Stub::ShortFront)
}

impl Example for FixedBond {
    fn example() -> Self {
        Self {
            issue_date: date(2024, 1, 15),
            maturity_date: date(2025, 7, 15),
            coupon_rate: 0.04,
            face_value: 100.0,
            frequency: 2,
            day_count: DayCount::ActActIcma,
            end_of_month: false,
            settlement_date: Some(date(2024, 10, 15)),
            calendar: Calendar::None,
            convention: BusinessDayConvention::Unadjusted,
            stub: short_front(),
            yield_rate: None,
            clean_price: None,
            yield_convention: street(),
        }
    }
}

impl Example for BondCashflows {
    fn example() -> Self {
        example_answer::<FixedBond>()
    }
}

impl Example for TreasuryBill {
    fn example() -> Self {
        Self {
            settlement_date: date(2024, 3, 7),
            maturity_date: date(2024, 6, 6),
            discount_rate: Some(0.0525),
            price: None,
            bond_equivalent_yield: None,
            face_value: 100.0,
        }
    }
}

impl Example for TreasuryBillValue {
    fn example() -> Self {
        example_answer::<TreasuryBill>()
    }
}
