//! The value of a firm from its free cash flows, with a terminal value by constant growth.

use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::{Error, Result, check};

/// The error of a value, in units of the sizes of its terms, for a year and rates far apart.
const VALUE_ERROR: f64 = 4e-16;

/// The free cash flows to a firm, and what turns their value into that of a share.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DiscountedCashFlow {
    /// Free cash flow to the firm at the end of each year, from the first year on; of any sign.
    pub fcff: Vec<f64>,
    /// Weighted average cost of capital, an annual decimal; above `terminal_growth` and above −1.
    pub wacc: f64,
    /// Growth of the cash flow after the last year, an annual decimal; above −1.
    pub terminal_growth: f64,
    /// Number of shares; positive.
    pub shares_outstanding: f64,
    /// Debt less cash; of any sign.
    pub net_debt: f64,
}

/// The value of a firm and of its shares.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FirmValue {
    /// Value of the equity over the number of shares.
    pub value_per_share: f64,
    /// Value of the firm less its net debt.
    pub equity_value: f64,
    /// Present value of all cash flows.
    pub enterprise_value: f64,
    /// Present value of the flow of each year.
    pub present_values: Vec<f64>,
    /// Discount factor of the end of each year.
    pub discount_factors: Vec<f64>,
    /// Value at the end of the last year of all flows after it.
    pub terminal_value: f64,
    /// Present value of the terminal value.
    pub terminal_present_value: f64,
    /// Terminal value over the last flow.
    pub terminal_multiple: f64,
}

impl DiscountedCashFlow {
    /// Returns the value of the firm, of its equity and of one share.
    ///
    /// ```text
    /// EV = Σ_{t=1}^{n} F_t (1 + w)^{−t} + TV (1 + w)^{−n},   TV = F_n (1 + g) / (w − g)
    /// value per share = (EV − net debt) / shares
    /// ```
    ///
    /// with flows F at the ends of years, cost of capital w and growth g.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`] without a cash flow; [`Error::Element`] for one that is not finite;
    /// [`Error::Domain`] for another argument outside its documented range;
    /// [`Error::Overflow`] where a value exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::analysis::DiscountedCashFlow;
    ///
    /// let firm = DiscountedCashFlow {
    ///     fcff: vec![110.0, 121.0],
    ///     wacc: 0.10,
    ///     terminal_growth: 0.0,
    ///     shares_outstanding: 10.0,
    ///     net_debt: 200.0,
    /// };
    /// // 100 a year of flows, and 1210 at the end of the second year.
    /// let value = firm.value()?;
    /// assert!((value.enterprise_value - 1200.0).abs() < 1e-9);
    /// assert!((value.value_per_share - 100.0).abs() < 1e-10);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Gordon and Shapiro (1956), "Capital Equipment Analysis: The Required Rate of Profit";
    /// Damodaran, "Investment Valuation", chapter 15.
    pub fn value(&self) -> Result<FirmValue> {
        self.validate()?;
        let &Self { wacc, terminal_growth: growth, .. } = self;
        let years = 1..=self.fcff.len();
        let discount_factors = years
            .map(|year| check::result("wacc", power_of_growth(wacc, -(year as f64))))
            .collect::<Result<Vec<f64>>>()?;
        let flows = self.fcff.iter().zip(&discount_factors);
        let present_values = flows
            .map(|(flow, factor)| check::result("wacc", flow * factor))
            .collect::<Result<Vec<f64>>>()?;
        let last = self.fcff[self.fcff.len() - 1];
        let terminal_multiple = check::result("wacc", (1.0 + growth) / (wacc - growth))?;
        let terminal_value = check::result("wacc", last * terminal_multiple)?;
        let factor = discount_factors[discount_factors.len() - 1];
        let terminal_present_value = check::result("wacc", terminal_value * factor)?;
        let flows = present_values.iter().sum::<f64>();
        let enterprise_value = check::result("fcff", flows + terminal_present_value)?;
        let equity_value = check::result("net_debt", enterprise_value - self.net_debt)?;
        let value_per_share =
            check::result("shares_outstanding", equity_value / self.shares_outstanding)?;
        Ok(FirmValue {
            value_per_share,
            equity_value,
            enterprise_value,
            present_values,
            discount_factors,
            terminal_value,
            terminal_present_value,
            terminal_multiple,
        })
    }

    /// Explains [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain(&self) -> Result<Explanation> {
        let value = self.value()?;
        let sizes = value.present_values.iter().chain([&value.terminal_present_value]);
        let size = sizes.map(|part| part.abs()).sum::<f64>() + self.net_debt.abs();
        let (wacc, growth) = (self.wacc, self.terminal_growth);
        let steepness = 1.0 + (wacc.abs() + growth.abs()) / (wacc - growth);
        let years = (4 + self.fcff.len()) as f64;
        let method = Method::new(
            "Discounted free cash flows to the firm, with a terminal value by constant growth",
            "Gordon and Shapiro (1956), Capital Equipment Analysis; Damodaran, Investment \
             Valuation, chapter 15",
        );
        let error = ErrorStatement::rounding_within(
            "value_per_share",
            VALUE_ERROR * steepness * years * (size / self.shares_outstanding),
            "in units of the sizes of the present values, times the years and the condition of the \
             difference of the rates; largest error against exact fractions",
        );
        Ok(Explanation::new(method, error).with_conventions([
            "Flows are at the ends of years, the first a year from now; none is in mid-year.",
            "Rates compound annually.",
            "The terminal value is that of the last flow grown by a year, at the end of the last year.",
            "Net debt is subtracted as it is today; shares are not diluted.",
        ]))
    }

    /// Explains [`value`](Self::value) where the flows are those of [`growing_cash_flows`].
    ///
    /// # Errors
    ///
    /// The errors of [`value`](Self::value).
    pub fn explain_projection(&self) -> Result<Explanation> {
        let projected =
            "The flows are projected: each is the one before, grown at a constant rate.";
        self.explain().map(|explanation| explanation.with_conventions([projected]))
    }

    fn validate(&self) -> Result<()> {
        if self.fcff.is_empty() {
            return Err(Error::TooFew { argument: "fcff", needed: 1, found: 0 });
        }
        check::each("fcff", &self.fcff, "a finite number", f64::is_finite)?;
        check::annual_rate("wacc", self.wacc)?;
        check::annual_rate("terminal_growth", self.terminal_growth)?;
        let growth = self.terminal_growth;
        check::require(growth > -1.0, "terminal_growth", growth, "above -1")?;
        let requirement = "above the terminal growth, or the value is infinite";
        check::require(self.wacc > growth, "wacc", self.wacc, requirement)?;
        check::positive("shares_outstanding", self.shares_outstanding)?;
        check::finite("net_debt", self.net_debt)
    }
}

/// Returns cash flows that grow at a constant rate from `cash_flow`, that of the year before the first.
///
/// # Errors
///
/// [`Error::Domain`] for a cash flow that is not finite or a growth beyond ±200 % or not above −1;
/// [`Error::Overflow`] where a flow exceeds the largest double.
///
/// # Examples
///
/// ```
/// use quant_core::analysis::growing_cash_flows;
///
/// assert_eq!(growing_cash_flows(100.0, 0.5, 3)?, [150.0, 225.0, 337.5]);
/// # Ok::<(), quant_core::Error>(())
/// ```
pub fn growing_cash_flows(cash_flow: f64, growth_rate: f64, years: u32) -> Result<Vec<f64>> {
    check::finite("free_cash_flow", cash_flow)?;
    check::annual_rate("growth_rate", growth_rate)?;
    check::require(growth_rate > -1.0, "growth_rate", growth_rate, "above -1")?;
    let flow = |year| cash_flow * power_of_growth(growth_rate, f64::from(year));
    (1..=years).map(|year| check::result("growth_rate", flow(year))).collect()
}

/// Returns (1 + rate)^years, without the loss of 1 + rate.
fn power_of_growth(rate: f64, years: f64) -> f64 {
    let growth = 1.0 + rate;
    let lost = rate - (growth - 1.0);
    let power = libm::pow(growth, years);
    power + power * (years * lost / growth)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn firm(fcff: &[f64], wacc: f64, terminal_growth: f64) -> DiscountedCashFlow {
        DiscountedCashFlow {
            fcff: fcff.to_vec(),
            wacc,
            terminal_growth,
            shares_outstanding: 1.0,
            net_debt: 0.0,
        }
    }

    #[test]
    fn what_has_no_value_is_refused_by_name() {
        let refused = |firm: DiscountedCashFlow| firm.value().unwrap_err();
        assert_eq!(refused(firm(&[], 0.1, 0.02)).code(), "too_few");
        assert_eq!(refused(firm(&[1.0, f64::NAN], 0.1, 0.02)).index(), Some(1));
        for (wacc, growth, argument) in [
            (0.02, 0.02, "wacc"),
            (0.01, 0.02, "wacc"),
            (8.0, 0.02, "wacc"),
            (0.1, -1.0, "terminal_growth"),
            (0.1, f64::NAN, "terminal_growth"),
        ] {
            assert_eq!(
                refused(firm(&[1.0], wacc, growth)).argument(),
                Some(argument),
                "{wacc} {growth}"
            );
        }
        let shares = DiscountedCashFlow { shares_outstanding: 0.0, ..firm(&[1.0], 0.1, 0.02) };
        assert_eq!(refused(shares).argument(), Some("shares_outstanding"));
        let debt = DiscountedCashFlow { net_debt: f64::INFINITY, ..firm(&[1.0], 0.1, 0.02) };
        assert_eq!(refused(debt).argument(), Some("net_debt"));
        assert_eq!(refused(firm(&[1e308], 0.020001, 0.02)).code(), "overflow");
        assert!(growing_cash_flows(1.0, -1.0, 2).is_err());
        assert!(growing_cash_flows(1e308, 1.0, 20).is_err());
        assert_eq!(growing_cash_flows(1.0, 0.1, 0), Ok(vec![]));
    }

    #[test]
    fn a_negative_cost_of_capital_above_the_growth_has_a_value() {
        let value = firm(&[95.0], -0.05, -0.10).value().unwrap();
        assert!((value.enterprise_value - (100.0 + 95.0 * 0.9 / 0.05 / 0.95)).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_flow_that_grows_forever_is_worth_the_same_for_any_horizon(
            flow in 1.0..1e6, wacc in 0.05..0.4, growth in -0.3..0.04, years in 1_u32..60,
        ) {
            let flows = growing_cash_flows(flow, growth, years).unwrap();
            let value = firm(&flows, wacc, growth).value().unwrap();
            let perpetuity = flow * (1.0 + growth) / (wacc - growth);
            prop_assert!((value.enterprise_value / perpetuity - 1.0).abs() < 1e-13);
        }
    }
}
