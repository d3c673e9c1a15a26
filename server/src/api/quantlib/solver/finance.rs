//! The time value of money: net present value, internal rates of return, loans.

pub mod bonds;

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{cash_flows, explanation::Explanation, time::NaiveDate};

use crate::{
    api::quantlib::Computation,
    http::{Answer, Date, Metered, Numbers, Tag, json_string::date, without_negative_zero},
};

/// The number of payments above which a search of rates may take over a millisecond.
const LONG_FROM_PAYMENTS: usize = 100;

/// The REST endpoints of the time value of money.
#[derive(Default)]
pub struct Finance;

#[OpenApi(prefix_path = "/quantlib/solver/finance", tag = "Tag::Solver")]
impl Finance {
    /// Find every internal rate of return of payments.
    ///
    /// All rates above -100 % a period at which the payments are worth nothing: none is missed, and a
    /// guess only says which of several is `irr`. Payments without such a rate are refused.
    #[oai(path = "/irr", method = "post", operation_id = "find_internal_rates")]
    async fn irr(&self, call: Metered<InternalRate>) -> Result<Answer<InternalRates>> {
        call.run().await
    }

    /// Find every internal rate of return of dated payments.
    ///
    /// Annual rates, compounded once a year of 365 days from the first date of the list. All rates above
    /// -100 % are found; a guess only says which of several is `xirr`.
    #[oai(path = "/xirr", method = "post", operation_id = "find_dated_internal_rates")]
    async fn xirr(&self, call: Metered<DatedRate>) -> Result<Answer<DatedInternalRates>> {
        call.run().await
    }

    /// Discount payments to their net present value.
    ///
    /// Each payment over one plus the rate to the power of its time in periods. Without times the first
    /// payment is at time 0 and is not discounted.
    #[oai(path = "/npv", method = "post", operation_id = "compute_net_present_value")]
    async fn npv(&self, call: Metered<PresentValue>) -> Result<Answer<NetPresentValue>> {
        call.run().await
    }

    /// Set up the amortisation table of a loan.
    ///
    /// Equal payments in whole cents. The interest of each period is rounded to the cent, halves away
    /// from zero, and the last payment settles: the principal parts add up to the loan to the cent.
    #[oai(path = "/loan-amortization", method = "post", operation_id = "amortize_loan")]
    async fn loan(&self, call: Metered<Loan>) -> Result<Answer<Amortization>> {
        call.run().await
    }
}

/// Payments whose internal rates of return are sought.
#[derive(Clone, Debug, Object)]
#[oai(rename = "InternalRateRequest", example)]
pub struct InternalRate {
    /// The payments, negative where they are paid out; of both signs; 1 to 10,000.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub cashflows: Numbers,
    /// Time of each payment in periods, from -1,000,000 to 1,000,000, in any order; 0, 1, 2 and so on
    /// where absent.
    #[oai(nullable, validator(max_items = 10000))]
    pub times: Option<Numbers>,
    /// Rate near the one that is wanted of several; above -1.
    #[oai(default = "tenth", validator(minimum(value = "-1", exclusive)))]
    pub guess: f64,
}

/// The internal rates of return of payments.
#[derive(Clone, Debug, Object)]
#[oai(rename = "InternalRates")]
pub struct InternalRates {
    /// Internal rate of return of one period, a decimal; of several the one nearest to the guess.
    pub irr: f64,
    /// All internal rates of return, in increasing order.
    pub all_rates: Vec<f64>,
    /// True if there is exactly one.
    pub is_unique: bool,
    /// Changes of sign of the payments in order of time: there are at most so many rates.
    pub sign_changes: u32,
}

impl Computation for InternalRate {
    type Answer = InternalRates;

    fn compute(&self) -> quant_core::Result<InternalRates> {
        let found = cash_flows::internal_rates(&self.cashflows, self.times.as_deref())?;
        Ok(InternalRates {
            irr: found.nearest(self.guess)?,
            is_unique: found.rates.len() == 1,
            all_rates: found.rates,
            sign_changes: found.sign_changes as u32,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.compute()?;
        cash_flows::explain_internal_rates(&self.cashflows, self.times.as_deref())
    }

    fn is_long(&self) -> bool {
        is_long_search(&self.cashflows)
    }
}

/// Returns whether the search of all rates may take over a millisecond: for many payments, or where
/// several changes of sign may leave several rates.
fn is_long_search(cashflows: &[f64]) -> bool {
    let changes = cashflows.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0));
    cashflows.len() > LONG_FROM_PAYMENTS || changes.count() > 1
}

impl Example for InternalRate {
    fn example() -> Self {
        let cashflows = vec![-70_000.0, 12_000.0, 15_000.0, 18_000.0, 21_000.0, 26_000.0].into();
        Self { cashflows, times: None, guess: 0.1 }
    }
}

/// Dated payments whose internal rates of return are sought.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DatedInternalRateRequest", example)]
pub struct DatedRate {
    /// The payments, negative where they are paid out; of both signs; 1 to 10,000.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub cashflows: Numbers,
    /// Date of each payment, `YYYY-MM-DD`, in any order; years count from the first of the list.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub dates: Vec<Date>,
    /// Rate near the one that is wanted of several; above -1.
    #[oai(default = "tenth", validator(minimum(value = "-1", exclusive)))]
    pub guess: f64,
}

/// The internal rates of return of dated payments.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DatedInternalRates")]
pub struct DatedInternalRates {
    /// Internal rate of return, an annual decimal; of several the one nearest to the guess.
    pub xirr: f64,
    /// The same as `xirr`.
    pub irr: f64,
    /// All internal rates of return, in increasing order.
    pub all_rates: Vec<f64>,
    /// True if there is exactly one.
    pub is_unique: bool,
    /// Changes of sign of the payments in order of time: there are at most so many rates.
    pub sign_changes: u32,
}

impl DatedRate {
    fn dates(&self) -> Vec<NaiveDate> {
        self.dates.iter().map(|date| date.0).collect()
    }
}

impl Computation for DatedRate {
    type Answer = DatedInternalRates;

    fn compute(&self) -> quant_core::Result<DatedInternalRates> {
        let found = cash_flows::dated_internal_rates(&self.cashflows, &self.dates())?;
        let xirr = found.nearest(self.guess)?;
        Ok(DatedInternalRates {
            xirr,
            irr: xirr,
            is_unique: found.rates.len() == 1,
            all_rates: found.rates,
            sign_changes: found.sign_changes as u32,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        self.compute()?;
        cash_flows::explain_dated_internal_rates(&self.cashflows, &self.dates())
    }

    fn is_long(&self) -> bool {
        is_long_search(&self.cashflows)
    }
}

impl Example for DatedRate {
    fn example() -> Self {
        Self {
            cashflows: vec![-10_000.0, 2_750.0, 4_250.0, 3_250.0, 2_750.0].into(),
            dates: vec![
                date(2008, 1, 1),
                date(2008, 3, 1),
                date(2008, 10, 30),
                date(2009, 2, 15),
                date(2009, 4, 1),
            ],
            guess: 0.1,
        }
    }
}

/// Payments to discount.
#[derive(Clone, Debug, Object)]
#[oai(rename = "NetPresentValueRequest", example)]
pub struct PresentValue {
    /// The payments, negative where they are paid out; 1 to 10,000.
    #[oai(validator(min_items = 1, max_items = 10000))]
    pub cashflows: Numbers,
    /// Rate of one period, a decimal; above -1.
    #[oai(validator(minimum(value = "-1", exclusive)))]
    pub rate: f64,
    /// Time of each payment in periods, from -1,000,000 to 1,000,000, in any order; 0, 1, 2 and so on
    /// where absent.
    #[oai(nullable, validator(max_items = 10000))]
    pub times: Option<Numbers>,
}

/// The net present value of payments.
#[derive(Clone, Debug, Object)]
#[oai(rename = "NetPresentValue")]
pub struct NetPresentValue {
    /// Sum of the present values.
    pub npv: f64,
    /// Present value of each payment.
    pub present_values: Vec<f64>,
    /// Fall of the net present value per 1.00 of the rate.
    pub rate_sensitivity: f64,
    /// The rate of one period.
    pub rate: f64,
}

impl Computation for PresentValue {
    type Answer = NetPresentValue;

    fn compute(&self) -> quant_core::Result<NetPresentValue> {
        let (times, rate) = (self.times.as_deref(), self.rate);
        let found = cash_flows::net_present_value(&self.cashflows, times, rate)?;
        Ok(NetPresentValue {
            npv: found.net_present_value,
            present_values: found.present_values,
            rate_sensitivity: found.rate_sensitivity,
            rate: without_negative_zero(rate),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let times = self.times.as_deref();
        cash_flows::explain_net_present_value(&self.cashflows, times, self.rate)
    }

    fn is_long(&self) -> bool {
        self.cashflows.len() > LONG_FROM_PAYMENTS
    }
}

impl Example for PresentValue {
    fn example() -> Self {
        let cashflows = vec![-10_000.0, 3_000.0, 4_200.0, 6_800.0].into();
        Self { cashflows, rate: 0.1, times: None }
    }
}

/// A loan that is repaid in equal payments.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "LoanRequest", remote = "cash_flows::Loan", example)]
pub struct Loan {
    /// Amount lent, in whole cents; above zero.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub principal: f64,
    /// Nominal interest a year, a decimal from -2 to 2 (200 %); each period bears this over `frequency`.
    pub annual_rate: f64,
    /// Number of payments; 1 to 12,000.
    #[oai(validator(minimum(value = "1"), maximum(value = "12000")))]
    pub n_periods: u32,
    /// Payments a year; 1 to 366.
    #[oai(default = "monthly", validator(minimum(value = "1"), maximum(value = "366")))]
    pub frequency: u32,
}

/// The payments of a loan, in whole cents unless stated.
#[derive(Clone, Debug, Object)]
#[oai(rename = "LoanAmortization")]
pub struct Amortization {
    /// The level payment, rounded to cents.
    pub payment: f64,
    /// The level payment by the formula, not rounded.
    pub exact_payment: f64,
    /// The last payment, which settles what the roundings left.
    pub last_payment: f64,
    /// Sum of all payments.
    pub total_paid: f64,
    /// Sum of all interest.
    pub total_interest: f64,
    /// Interest a year with interest upon interest, a decimal.
    pub effective_annual_rate: f64,
    /// The payments in order of time.
    pub schedule: Vec<LoanPayment>,
}

/// One payment of a loan, in whole cents.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "LoanPayment")]
pub struct LoanPayment {
    /// Number of the payment, from 1.
    pub period: u32,
    /// Amount paid: interest and principal.
    pub payment: f64,
    /// Interest of the period on the balance before.
    pub interest: f64,
    /// Part of the payment that repays the loan.
    pub principal: f64,
    /// Amount still owed after the payment.
    pub balance: f64,
}

impl From<cash_flows::Installment> for LoanPayment {
    fn from(row: cash_flows::Installment) -> Self {
        Self {
            period: row.period,
            payment: row.payment,
            interest: row.interest,
            principal: row.principal,
            balance: row.balance,
        }
    }
}

impl Computation for Loan {
    type Answer = Amortization;

    fn compute(&self) -> quant_core::Result<Amortization> {
        let loan: cash_flows::Loan = (*self).into();
        let table = loan.amortization()?;
        Ok(Amortization {
            payment: table.payment,
            exact_payment: table.exact_payment,
            last_payment: table.last_payment,
            total_paid: table.total_paid,
            total_interest: table.total_interest,
            effective_annual_rate: table.effective_annual_rate,
            schedule: table.schedule.into_iter().map(LoanPayment::from).collect(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let loan: cash_flows::Loan = (*self).into();
        loan.explain()
    }

    fn is_long(&self) -> bool {
        // A thousand rows of JSON take about a millisecond.
        self.n_periods > 1_000
    }
}

impl Example for Loan {
    fn example() -> Self {
        Self { principal: 10_000.0, annual_rate: 0.08, n_periods: 10, frequency: 12 }
    }
}

fn tenth() -> f64 {
    0.1
}

fn monthly() -> u32 {
    12
}
