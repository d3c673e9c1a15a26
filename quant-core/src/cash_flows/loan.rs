//! Loans in equal payments, as a table in whole cents.

use crate::arithmetic::decimal::Decimal;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The largest number of payments.
pub const MAX_PERIODS: u32 = 12_000;

/// The largest number of payments a year.
pub const MAX_FREQUENCY: u32 = 366;

/// The cents in a unit of money.
const CENTS: f64 = 100.0;

/// The largest amount in cents: every smaller one is told apart by a double.
const MOST_CENTS: i128 = 1 << 53;

/// A loan that is repaid in equal payments, each at the end of its period.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loan {
    /// Amount lent, positive and in whole cents; at most 2⁵³ cents.
    pub principal: f64,
    /// Nominal interest a year, 0.05 being 5 %; of any sign, at most 2 (200 %) in size, and above −1 a
    /// period. Each period bears the part `annual_rate / frequency`.
    pub annual_rate: f64,
    /// Number of payments, from 1 to 12,000.
    pub n_periods: u32,
    /// Number of payments a year, from 1 to 366.
    pub frequency: u32,
}

/// One row of an amortisation table. Amounts are whole cents.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Installment {
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

/// The payments of a loan. Amounts are whole cents unless stated.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AmortizationTable {
    /// The level payment.
    pub payment: f64,
    /// The level payment by the formula, before it is rounded to cents.
    pub exact_payment: f64,
    /// The last payment, which settles what the roundings left.
    pub last_payment: f64,
    /// Sum of all payments.
    pub total_paid: f64,
    /// Sum of all interest: `total_paid` less the principal.
    pub total_interest: f64,
    /// Interest a year with interest upon interest.
    pub effective_annual_rate: f64,
    /// The payments in order of time.
    pub schedule: Vec<Installment>,
}

impl Loan {
    /// Returns the payments of the loan.
    ///
    /// ```text
    /// A = P i / (1 − (1 + i)^{−n}),   A = P / n for i = 0,   i = annual rate / frequency
    /// ```
    ///
    /// The payment is A rounded to cents. The interest of a period is i times the balance, rounded to
    /// cents; the rate counts as the decimal that is written, so that a half is one. Halves are rounded
    /// away from zero. A payment never exceeds what is owed, and the last one is what is owed: so the
    /// principal parts add up to the principal, and the last balance is 0, to the cent.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] for an argument outside its documented range; [`Error::Overflow`] for a table
    /// with an amount beyond 2⁵³ cents.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::cash_flows::Loan;
    ///
    /// // 10,000 at 8 % over ten months: Microsoft's example of PMT.
    /// let loan = Loan { principal: 10_000.0, annual_rate: 0.08, n_periods: 10, frequency: 12 };
    /// let table = loan.amortization()?;
    /// assert_eq!(table.payment, 1_037.03);
    /// assert_eq!(table.schedule[0].interest, 66.67);
    /// assert_eq!(table.schedule[9].balance, 0.0);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Kellison (2009), "The Theory of Interest", section 5.4.
    pub fn amortization(&self) -> Result<AmortizationTable> {
        let principal = self.validated_principal()?;
        let exact_payment = self.exact_payment();
        let level = cents(exact_payment).ok_or(Error::Overflow { argument: "principal" })?;
        let rate = Decimal::of(self.annual_rate);
        let (mut balance, mut paid) = (principal, 0);
        let mut schedule = Vec::with_capacity(self.n_periods as usize);
        for period in 1..=self.n_periods {
            let interest = rate.share(balance, self.frequency).ok_or(too_large())?;
            let owed = balance + interest;
            let payment = if period == self.n_periods { owed } else { level.min(owed) };
            balance = owed - payment;
            paid += payment;
            schedule.push(Installment {
                period,
                payment: money(payment)?,
                interest: money(interest)?,
                principal: money(payment - interest)?,
                balance: money(balance)?,
            });
        }
        Ok(AmortizationTable {
            payment: money(level)?,
            exact_payment,
            last_payment: schedule.last().map_or(0.0, |last| last.payment),
            total_paid: money(paid)?,
            total_interest: money(paid - principal)?,
            effective_annual_rate: self.effective_annual_rate()?,
            schedule,
        })
    }

    /// Explains [`amortization`](Self::amortization).
    ///
    /// # Errors
    ///
    /// The errors of [`amortization`](Self::amortization).
    pub fn explain(&self) -> Result<Explanation> {
        self.amortization()?;
        let method = Method::new(
            "level payments of an annuity-immediate",
            "Kellison (2009), The Theory of Interest, section 5.4",
        );
        let error = ErrorStatement::rounding(
            "exact_payment",
            1e-13,
            "largest relative error against 50 digits; the amounts of the table are whole cents and \
             have none",
        );
        Ok(Explanation::new(method, error).with_steps(self.n_periods).with_conventions([
            "Payments are due at the ends of equal periods, without day counts.",
            "The rate of a period is the annual rate over the payments a year.",
            "The payment and the interest of a period are rounded to cents, halves away from zero.",
            "The last payment settles what the roundings left.",
        ]))
    }

    /// Returns the principal in cents.
    fn validated_principal(&self) -> Result<i128> {
        check::positive("principal", self.principal)?;
        check::annual_rate("annual_rate", self.annual_rate)?;
        let (n_periods, frequency) = (f64::from(self.n_periods), f64::from(self.frequency));
        let is_count = (1..=MAX_PERIODS).contains(&self.n_periods);
        check::require(is_count, "n_periods", n_periods, "from 1 to 12,000")?;
        let is_frequency = (1..=MAX_FREQUENCY).contains(&self.frequency);
        check::require(is_frequency, "frequency", frequency, "from 1 to 366")?;
        let requirement = "above -1 in each period: divided by `frequency`";
        check::require(
            self.annual_rate > -frequency,
            "annual_rate",
            self.annual_rate,
            requirement,
        )?;
        let whole = cents(self.principal).filter(|&cents| cents as f64 / CENTS == self.principal);
        let requirement = "an amount in whole cents, at most 90,071,992,547,409.92";
        whole.ok_or(Error::Domain { argument: "principal", value: self.principal, requirement })
    }

    fn exact_payment(&self) -> f64 {
        let rate = self.annual_rate / f64::from(self.frequency);
        let count = f64::from(self.n_periods);
        let lost = -libm::expm1(-count * libm::log1p(rate));
        // Below 1e-300 a rate changes no payment, and its product with the principal may be no double.
        if rate.abs() < 1e-300 { self.principal / count } else { self.principal * (rate / lost) }
    }

    fn effective_annual_rate(&self) -> Result<f64> {
        let frequency = f64::from(self.frequency);
        let growth = frequency * libm::log1p(self.annual_rate / frequency);
        check::result("annual_rate", libm::expm1(growth))
    }
}

/// Returns an amount in cents, halves away from zero; `None` where it exceeds 2⁵³.
fn cents(amount: f64) -> Option<i128> {
    let cents = libm::round(amount * CENTS);
    (cents.abs() <= MOST_CENTS as f64).then_some(cents as i128)
}

/// Returns cents as an amount of money.
fn money(cents: i128) -> Result<f64> {
    if cents.abs() <= MOST_CENTS { Ok(cents as f64 / CENTS) } else { Err(too_large()) }
}

fn too_large() -> Error {
    Error::Overflow { argument: "principal" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MORTGAGE: Loan =
        Loan { principal: 200_000.0, annual_rate: 0.06, n_periods: 360, frequency: 12 };

    #[test]
    fn the_last_payment_settles() {
        let table = MORTGAGE.amortization().unwrap();
        assert_eq!((table.payment, table.schedule.len()), (1_199.10, 360));
        assert!((table.exact_payment - 1_199.101_050_305_504_8).abs() < 1e-11);
        assert_eq!(table.schedule[0].interest, 1_000.0);
        assert_eq!(table.schedule[0].principal, 199.1);
        assert_eq!(table.schedule[359].balance, 0.0);
        assert!((table.last_payment - 1_200.17).abs() < 0.5, "{}", table.last_payment);
        assert!((table.effective_annual_rate - 0.061_677_811_864_5).abs() < 1e-12);
    }

    #[test]
    fn halves_of_cents_are_decided_on_the_decimals() {
        // 5 % of 0.10 is half a cent, which as a product of doubles is a little more or less.
        let table = Loan { principal: 0.1, annual_rate: 0.05, n_periods: 1, frequency: 1 };
        assert_eq!(table.amortization().unwrap().schedule[0].interest, 0.01);
        let table = Loan { annual_rate: 0.049, ..table };
        assert_eq!(table.amortization().unwrap().schedule[0].interest, 0.0);
        let table = Loan { annual_rate: -0.05, ..table };
        assert_eq!(table.amortization().unwrap().schedule[0].interest, -0.01);
    }

    #[test]
    fn a_loan_without_interest_is_paid_in_equal_parts() {
        for rate in [0.0, -0.0, 1e-310] {
            let loan = Loan { principal: 100.0, annual_rate: rate, n_periods: 3, frequency: 4 };
            let table = loan.amortization().unwrap();
            let payments: Vec<f64> = table.schedule.iter().map(|row| row.payment).collect();
            assert_eq!(payments, [33.33, 33.33, 33.34]);
            assert_eq!(table.total_interest.to_bits(), 0);
            assert_eq!(table.exact_payment, 100.0 / 3.0);
        }
    }

    #[test]
    fn a_loan_of_a_few_cents_is_paid_before_its_end() {
        let loan = Loan { principal: 0.05, annual_rate: 0.0, n_periods: 7, frequency: 12 };
        let payments: Vec<f64> =
            loan.amortization().unwrap().schedule.iter().map(|row| row.payment).collect();
        assert_eq!(payments, [0.01, 0.01, 0.01, 0.01, 0.01, 0.0, 0.0]);
    }

    #[test]
    fn what_is_out_of_range_is_refused_by_name() {
        #[rustfmt::skip]
        let rows = [
            (Loan { principal: 0.0, ..MORTGAGE }, "domain", "principal"),
            (Loan { principal: 100.005, ..MORTGAGE }, "domain", "principal"),
            (Loan { principal: 1e300, ..MORTGAGE }, "domain", "principal"),
            (Loan { principal: f64::NAN, ..MORTGAGE }, "domain", "principal"),
            (Loan { annual_rate: 6.0, ..MORTGAGE }, "domain", "annual_rate"),
            (Loan { annual_rate: -1.0, frequency: 1, ..MORTGAGE }, "domain", "annual_rate"),
            (Loan { n_periods: 0, ..MORTGAGE }, "domain", "n_periods"),
            (Loan { n_periods: 12_001, ..MORTGAGE }, "domain", "n_periods"),
            (Loan { frequency: 0, ..MORTGAGE }, "domain", "frequency"),
            (Loan { frequency: 367, ..MORTGAGE }, "domain", "frequency"),
            (Loan { principal: 9e13, annual_rate: 2.0, n_periods: 2, frequency: 1 }, "overflow", "principal"),
        ];
        for (loan, code, argument) in rows {
            let error = loan.amortization().unwrap_err();
            assert_eq!((error.code(), error.argument()), (code, Some(argument)), "{loan:?}");
        }
    }

    proptest! {
        #[test]
        fn the_table_adds_up_to_the_cent(
            principal in 1_i64..1_000_000_000, rate in -0.5..1.9_f64, n_periods in 1_u32..500, frequency in 1_u32..=366,
        ) {
            let loan = Loan { principal: principal as f64 / 100.0, annual_rate: rate, n_periods, frequency };
            let Ok(table) = loan.amortization() else { return Ok(()) };
            let cents = |value: f64| (value * 100.0).round() as i64;
            let sum = |part: fn(&Installment) -> f64| table.schedule.iter().map(|row| cents(part(row))).sum::<i64>();
            prop_assert_eq!(sum(|row| row.principal), principal);
            prop_assert_eq!(sum(|row| row.payment), cents(table.total_paid));
            prop_assert_eq!(sum(|row| row.interest), cents(table.total_interest));
            let mut balance = principal;
            for row in &table.schedule {
                balance -= cents(row.principal);
                prop_assert_eq!(balance, cents(row.balance));
                prop_assert_eq!(cents(row.payment), cents(row.interest) + cents(row.principal));
            }
            prop_assert_eq!(balance, 0);
        }
    }
}
