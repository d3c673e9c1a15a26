//! Company value and scores.

mod accounts;
pub mod scores;

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{
    Error,
    analysis::{DiscountedCashFlow, growing_cash_flows},
    explanation::Explanation,
};

use super::Computation;
use crate::http::{Answer, Metered, Numbers, Tag};

/// The largest number of years of a projection.
const MOST_YEARS: u32 = 1000;

/// The REST endpoint of discounted cash flows.
#[derive(Default)]
pub struct Valuation;

#[OpenApi(prefix_path = "/quantlib/analysis/valuation", tag = "Tag::Analysis")]
impl Valuation {
    /// Value a firm by its free cash flows.
    ///
    /// The flows of `fcff` are discounted at `wacc`, with a terminal value by constant growth.
    /// Instead of `fcff` and `wacc`, `free_cash_flow`, `growth_rate` and `discount_rate` project the
    /// flows from that of the last year.
    #[oai(path = "/dcf/fcff", method = "post", operation_id = "value_firm")]
    async fn value(&self, call: Metered<Firm>) -> Result<Answer<ValuedFirm>> {
        call.run().await
    }
}

/// The free cash flows to a firm, as a list or as a projection.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DiscountedCashFlowRequest", example, skip_serializing_if_is_none)]
pub struct Firm {
    /// Free cash flow to the firm at the end of each year, from the first on; at most 1,000.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub fcff: Option<Numbers<1000>>,
    /// Weighted average cost of capital, an annual decimal; above the terminal growth. Needed with
    /// `fcff`.
    pub wacc: Option<f64>,
    /// Growth of the cash flow after the last year, an annual decimal.
    #[oai(default = "two_per_cent")]
    pub terminal_growth: f64,
    /// Number of shares; positive.
    #[oai(default = "one", validator(minimum(value = "0", exclusive)))]
    pub shares_outstanding: f64,
    /// Debt less cash, in the currency of the flows; negative for more cash than debt.
    #[oai(default)]
    pub net_debt: f64,
    /// Free cash flow of the last year, from which a projection grows; instead of `fcff`.
    pub free_cash_flow: Option<f64>,
    /// Growth of the flow in each year of the projection, an annual decimal.
    pub growth_rate: Option<f64>,
    /// Years of the projection, 1 to 1,000; 5 where absent.
    #[oai(validator(minimum(value = "1"), maximum(value = "1000")))]
    pub projection_years: Option<u32>,
    /// Cost of capital of a projection, an annual decimal; another name of `wacc`.
    pub discount_rate: Option<f64>,
    /// Another name of `terminal_growth`.
    pub terminal_growth_rate: Option<f64>,
}

fn two_per_cent() -> f64 {
    0.02
}

fn one() -> f64 {
    1.0
}

/// The value of a firm and of its shares.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DiscountedCashFlowValue")]
pub struct ValuedFirm {
    /// Value of the equity over the number of shares.
    pub intrinsic_value_per_share: f64,
    /// The same as `intrinsic_value_per_share`.
    pub intrinsic_value: f64,
    /// The same as `intrinsic_value_per_share`.
    pub value_per_share: f64,
    /// Value of the firm less its net debt.
    pub equity_value: f64,
    /// Present value of all cash flows.
    pub enterprise_value: f64,
    /// Present value of the flows of the listed years.
    pub explicit_value: f64,
    /// Present value of the terminal value.
    pub terminal_present_value: f64,
    /// Value at the end of the last year of all flows after it.
    pub terminal_value: f64,
    /// Terminal value over the last flow.
    pub terminal_multiple: f64,
    /// The flow of each year.
    pub cash_flows: Vec<f64>,
    /// Discount factor of the end of each year.
    pub discount_factors: Vec<f64>,
    /// Present value of the flow of each year.
    pub present_values: Vec<f64>,
    /// Cost of capital that was used.
    pub wacc: f64,
    /// Terminal growth that was used.
    pub terminal_growth: f64,
    /// Number of shares that was used.
    pub shares_outstanding: f64,
    /// Net debt that was used.
    pub net_debt: f64,
}

impl Computation for Firm {
    type Answer = ValuedFirm;

    fn compute(&self) -> quant_core::Result<ValuedFirm> {
        let firm = self.firm()?;
        let value = firm.value().map_err(|error| self.in_request(error))?;
        Ok(ValuedFirm {
            intrinsic_value_per_share: value.value_per_share,
            intrinsic_value: value.value_per_share,
            value_per_share: value.value_per_share,
            equity_value: value.equity_value,
            enterprise_value: value.enterprise_value,
            explicit_value: value.present_values.iter().sum(),
            terminal_present_value: value.terminal_present_value,
            terminal_value: value.terminal_value,
            terminal_multiple: value.terminal_multiple,
            cash_flows: firm.fcff,
            discount_factors: value.discount_factors,
            present_values: value.present_values,
            wacc: firm.wacc,
            terminal_growth: firm.terminal_growth,
            shares_outstanding: firm.shares_outstanding,
            net_debt: firm.net_debt,
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let firm = self.firm()?;
        let explanation =
            if self.fcff.is_some() { firm.explain() } else { firm.explain_projection() };
        explanation.map_err(|error| self.in_request(error))
    }

    fn missing_fields(&self) -> Vec<Vec<&'static str>> {
        let rate = self.wacc.or(self.discount_rate).is_some();
        let fields = if self.is_projection() {
            [
                ("free_cash_flow", self.free_cash_flow.is_some()),
                ("growth_rate", self.growth_rate.is_some()),
                ("discount_rate", rate),
            ]
        } else {
            [("fcff", self.fcff.is_some()), ("wacc", rate), ("", true)]
        };
        fields.iter().filter(|(_, is_sent)| !is_sent).map(|(name, _)| vec![*name]).collect()
    }
}

impl Firm {
    /// True if the flows are to be projected.
    fn is_projection(&self) -> bool {
        let numbers = [self.free_cash_flow, self.growth_rate];
        let has_fields = numbers.iter().any(Option::is_some) || self.projection_years.is_some();
        self.fcff.is_none() && (has_fields || self.discount_rate.is_some())
    }

    fn firm(&self) -> quant_core::Result<DiscountedCashFlow> {
        let conflict = |argument| Error::Conflict {
            argument,
            problem: "has another value under its other name",
        };
        let agree =
            |one: Option<f64>, other: Option<f64>| one.zip(other).is_none_or(|(a, b)| a == b);
        if !agree(self.wacc, self.discount_rate) {
            return Err(conflict("discount_rate"));
        }
        Ok(DiscountedCashFlow {
            fcff: self.flows()?,
            wacc: self.wacc.or(self.discount_rate).unwrap_or(f64::NAN),
            terminal_growth: self.terminal_growth_rate.unwrap_or(self.terminal_growth),
            shares_outstanding: self.shares_outstanding,
            net_debt: self.net_debt,
        })
    }

    fn flows(&self) -> quant_core::Result<Vec<f64>> {
        if let Some(flows) = &self.fcff {
            if self.free_cash_flow.is_some() {
                let problem = "cannot be sent beside `fcff`";
                return Err(Error::Conflict { argument: "free_cash_flow", problem });
            }
            return Ok(flows.to_vec());
        }
        // Both were found present when the request was parsed.
        let flow = self.free_cash_flow.unwrap_or_default();
        let growth = self.growth_rate.unwrap_or_default();
        growing_cash_flows(flow, growth, self.projection_years.unwrap_or(5).min(MOST_YEARS))
    }

    /// Attributes an error to the name that the request has for its argument.
    fn in_request(&self, error: Error) -> Error {
        error.renamed(|argument| match argument {
            "wacc" if self.wacc.is_none() => "discount_rate",
            "terminal_growth" if self.terminal_growth_rate.is_some() => "terminal_growth_rate",
            "fcff" if self.fcff.is_none() => "free_cash_flow",
            other => other,
        })
    }
}

impl Example for Firm {
    fn example() -> Self {
        Self {
            fcff: Some(vec![220_000.0, 235_000.0, 250_000.0, 262_000.0, 270_000.0].into()),
            wacc: Some(0.09),
            terminal_growth: 0.02,
            shares_outstanding: 50_000.0,
            net_debt: 700_000.0,
            free_cash_flow: None,
            growth_rate: None,
            projection_years: None,
            discount_rate: None,
            terminal_growth_rate: None,
        }
    }
}
