//! Scores of a company's accounts.

use poem::Result;
use poem_openapi::{Enum, Object, OpenApi, types::Example};
use quant_core::{
    analysis::{self, BeneishAccounts, BeneishM, PiotroskiAccounts, PiotroskiF, Signal},
    explanation::Explanation,
};

use super::accounts::{Account, Statement, TwoYears};
use crate::{
    api::quantlib::{Computation, RequestFor, SharedComputation},
    http::{Answer, Metered, Tag},
};

/// The REST endpoints of scores.
#[derive(Default)]
pub struct Scores;

#[OpenApi(prefix_path = "/quantlib/analysis/valuation/predictive", tag = "Tag::Analysis")]
impl Scores {
    /// Compute Altman's score of financial distress.
    ///
    /// The formula of 1968 for listed manufacturers, with every ratio and term, and the zone of the
    /// score.
    #[oai(path = "/altman-z", method = "post", operation_id = "score_financial_distress")]
    async fn distress(&self, call: Metered<Altman>) -> Result<Answer<AltmanScore>> {
        call.run().await
    }

    /// Compute Piotroski's score of financial strength.
    ///
    /// The number of the nine signals of 2000 that hold. The accounts come as statements (`income`,
    /// `balance`, `cash_flow`, `prior_income`, `prior_balance`), or as fields with the prefix `prev_`
    /// for the year before. A signal whose accounts are absent is not judged.
    #[oai(path = "/piotroski-f", method = "post", operation_id = "score_financial_strength")]
    async fn strength(
        &self,
        call: Metered<RequestFor<Piotroski>>,
    ) -> Result<Answer<PiotroskiScore>> {
        call.run().await
    }

    /// Compute Beneish's score of earnings manipulation.
    ///
    /// The eight indices of 1999 and their weighted sum. The accounts come as statements (`income`,
    /// `balance`, `prior_income`, `prior_balance`, and `cash_flow`), or as fields with the prefix
    /// `prev_` for the year before. An index whose accounts are absent is neutral.
    #[oai(path = "/beneish-m", method = "post", operation_id = "score_earnings_manipulation")]
    async fn manipulation(
        &self,
        call: Metered<RequestFor<Beneish>>,
    ) -> Result<Answer<BeneishScore>> {
        call.run().await
    }
}

/// The accounts that Altman's score reads.
#[derive(Clone, Copy, Debug, Object)]
#[oai(rename = "AltmanRequest", remote = "analysis::AltmanZ", example)]
pub struct Altman {
    /// Current assets less current liabilities; of any sign.
    pub working_capital: f64,
    /// Total assets; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub total_assets: f64,
    /// Retained earnings; of any sign.
    pub retained_earnings: f64,
    /// Earnings before interest and taxes; of any sign.
    pub ebit: f64,
    /// Market value of the equity; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub market_cap: f64,
    /// Book value of all liabilities; positive.
    #[oai(validator(minimum(value = "0", exclusive)))]
    pub total_liabilities: f64,
    /// Sales of the year; zero or more.
    #[oai(validator(minimum(value = "0")))]
    pub revenue: f64,
}

/// Altman's score with its ratios and terms.
#[derive(Clone, Debug, Object)]
#[oai(rename = "AltmanScore")]
pub struct AltmanScore {
    /// The score: 1.2 x1 + 1.4 x2 + 3.3 x3 + 0.6 x4 + 0.999 x5.
    pub z_score: f64,
    /// The same as `z_score`.
    pub altman_z_score: f64,
    /// Above 2.99 safe, below 1.81 distress, else grey.
    pub zone: DistressZone,
    /// Working capital over total assets.
    pub x1: f64,
    /// Retained earnings over total assets.
    pub x2: f64,
    /// EBIT over total assets.
    pub x3: f64,
    /// Market value of the equity over total liabilities.
    pub x4: f64,
    /// Sales over total assets.
    pub x5: f64,
    /// Each ratio times its coefficient, in order; their sum is the score.
    pub terms: Vec<f64>,
}

/// The zone of Altman's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "analysis::DistressZone")]
pub enum DistressZone {
    /// A score above 2.99.
    Safe,
    /// A score from 1.81 to 2.99.
    Grey,
    /// A score below 1.81.
    Distress,
}

impl Computation for Altman {
    type Answer = AltmanScore;

    fn compute(&self) -> quant_core::Result<AltmanScore> {
        let accounts: analysis::AltmanZ = (*self).into();
        let score = accounts.score()?;
        let [x1, x2, x3, x4, x5] = score.ratios;
        Ok(AltmanScore {
            z_score: score.z_score,
            altman_z_score: score.z_score,
            zone: score.zone.into(),
            x1,
            x2,
            x3,
            x4,
            x5,
            terms: score.terms.to_vec(),
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let accounts: analysis::AltmanZ = (*self).into();
        accounts.explain()
    }
}

/// Piotroski's score.
pub struct Piotroski;

/// Piotroski's score with its signals.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PiotroskiScore")]
pub struct PiotroskiScore {
    /// The number of signals that hold, 0 to 9.
    pub f_score: u32,
    /// The same as `f_score`.
    pub piotroski_f_score: u32,
    /// The number of signals that could be judged; 9 where all accounts were sent.
    pub signals_judged: u32,
    /// Every signal, in the order of the paper.
    pub signals: Vec<PiotroskiSignal>,
    /// False if the accounts of one year alone were sent, which then stand for both years.
    pub has_prior_year: bool,
}

/// A signal of Piotroski's score.
#[derive(Clone, Debug, Object)]
#[oai(rename = "PiotroskiSignal", skip_serializing_if_is_none)]
pub struct PiotroskiSignal {
    /// The name of the signal, such as `rising_roa`.
    pub name: String,
    /// True if the signal holds; absent where its accounts are.
    pub holds: Option<bool>,
    /// The figure of this year: a return, a ratio, a margin, a turnover or a number of shares.
    pub value: Option<f64>,
    /// The figure of the year before, where two years are compared.
    pub prior_value: Option<f64>,
}

const PIOTROSKI: &[Account] = &[
    Account::this_year("net_income", "income", "net_income", |year| year.net_income),
    Account::this_year("total_assets", "balance", "total_assets", |year| year.total_assets),
    Account::this_year("operating_cash_flow", "cash_flow", "operating_cashflow", |year| {
        year.operating_cash_flow
    }),
    Account::this_year("long_term_debt", "balance", "long_term_debt", |year| year.long_term_debt)
        .in_fields(),
    Account::this_year("current_ratio", "balance", "current_ratio", |year| {
        year.current_ratio.or(year.current_assets.and(year.current_liabilities))
    })
    .in_fields(),
    Account::this_year("current_assets", "balance", "current_assets", |year| year.current_assets)
        .optional(),
    Account::this_year("current_liabilities", "balance", "current_liabilities", |year| {
        year.current_liabilities
    })
    .optional(),
    Account::this_year("shares_outstanding", "balance", "shares_outstanding", |year| {
        year.shares_outstanding
    })
    .in_fields(),
    Account::this_year("gross_profit", "income", "gross_profit", |year| year.gross_profit)
        .in_fields(),
    Account::this_year("revenue", "income", "revenue", |year| year.revenue).in_fields(),
    Account::year_before("net_income", "prior_income", "prev_net_income", |year| year.net_income)
        .optional(),
    Account::year_before("total_assets", "prior_balance", "prev_total_assets", |year| {
        year.total_assets
    }),
    Account::year_before("long_term_debt", "prior_balance", "prev_long_term_debt", |year| {
        year.long_term_debt
    })
    .in_fields(),
    Account::year_before("current_assets", "prior_balance", "prev_current_assets", |year| {
        year.current_assets.or(year.current_ratio)
    })
    .in_fields(),
    Account::year_before(
        "current_liabilities",
        "prior_balance",
        "prev_current_liabilities",
        |year| year.current_liabilities.or(year.current_ratio),
    )
    .in_fields(),
    Account::year_before(
        "shares_outstanding",
        "prior_balance",
        "prev_shares_outstanding",
        |year| year.shares_outstanding,
    )
    .in_fields(),
    Account::year_before("gross_profit", "prior_income", "prev_gross_profit", |year| {
        year.gross_profit
    })
    .in_fields(),
    Account::year_before("revenue", "prior_income", "prev_revenue", |year| year.revenue)
        .in_fields(),
];

impl SharedComputation for Piotroski {
    type Request = TwoYears;
    type Answer = PiotroskiScore;

    fn compute(request: &TwoYears) -> quant_core::Result<PiotroskiScore> {
        let [current, prior] = request.years().map(piotroski);
        let score = PiotroskiF { current, prior }.score();
        let score = score.map_err(|error| request.in_request(PIOTROSKI, error))?;
        let signal = |&signal: &Signal| {
            let at = signal as usize;
            PiotroskiSignal {
                name: signal.to_string(),
                holds: score.signals[at],
                value: score.current[at],
                prior_value: score.prior[at],
            }
        };
        Ok(PiotroskiScore {
            f_score: score.f_score,
            piotroski_f_score: score.f_score,
            signals_judged: score.judged,
            signals: Signal::ALL.iter().map(signal).collect(),
            has_prior_year: request.has_prior_year(),
        })
    }

    fn explain(request: &TwoYears) -> quant_core::Result<Explanation> {
        let [current, prior] = request.years().map(piotroski);
        let explanation = PiotroskiF { current, prior }.explain();
        let explanation = explanation.map_err(|error| request.in_request(PIOTROSKI, error))?;
        Ok(explanation.with_conventions(one_year(request)))
    }

    fn missing_fields(request: &TwoYears) -> Vec<Vec<&'static str>> {
        let statements = ["income", "balance", "cash_flow", "prior_income", "prior_balance"];
        request.missing(&statements, PIOTROSKI)
    }
}

/// The assumption of accounts of one year alone.
fn one_year(request: &TwoYears) -> Option<&'static str> {
    let both = "The accounts of one year were sent, which stand for both years.";
    (!request.has_prior_year()).then_some(both)
}

fn piotroski(year: Statement) -> PiotroskiAccounts {
    PiotroskiAccounts {
        net_income: year.net_income,
        total_assets: year.total_assets,
        operating_cash_flow: year.operating_cash_flow,
        long_term_debt: year.long_term_debt,
        current_assets: year.current_assets,
        current_liabilities: year.current_liabilities,
        current_ratio: year.current_ratio,
        shares_outstanding: year.shares_outstanding,
        gross_profit: year.gross_profit,
        revenue: year.revenue,
    }
}

/// Beneish's score.
pub struct Beneish;

/// Beneish's score with its indices.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BeneishScore")]
pub struct BeneishScore {
    /// The weighted sum of the indices, less 4.84.
    pub m_score: f64,
    /// The same as `m_score`.
    pub beneish_m_score: f64,
    /// True if the score is above -1.78.
    pub is_likely_manipulator: bool,
    /// The standard normal distribution at the score.
    pub probability: f64,
    /// Days' sales in receivables; weight 0.920.
    pub dsri: f64,
    /// Gross margin; weight 0.528.
    pub gmi: f64,
    /// Asset quality; weight 0.404.
    pub aqi: f64,
    /// Sales growth; weight 0.892.
    pub sgi: f64,
    /// Depreciation; weight 0.115.
    pub depi: f64,
    /// Selling, general and administrative expenses; weight -0.172.
    pub sgai: f64,
    /// Leverage; weight -0.327.
    pub lvgi: f64,
    /// Total accruals over total assets; weight 4.679.
    pub tata: f64,
    /// The indices that are neutral because their accounts are absent.
    pub neutral: Vec<String>,
    /// The source of the accruals.
    pub accruals: AccrualSource,
    /// False if the accounts of one year alone were sent, which then stand for both years.
    pub has_prior_year: bool,
}

/// The source of the total accruals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "snake_case", remote = "analysis::AccrualMethod")]
pub enum AccrualSource {
    /// Net income less cash flow from operations.
    CashFlow,
    /// The change of working capital other than cash, less depreciation.
    BalanceSheet,
    /// The accounts are absent, and the accruals count as 0.
    Absent,
}

const BENEISH: &[Account] = &[
    Account::this_year("revenue", "income", "revenue", |year| year.revenue),
    Account::this_year("receivables", "balance", "receivables", |year| year.receivables)
        .in_fields(),
    Account::this_year("gross_profit", "income", "gross_profit", |year| year.gross_profit)
        .in_fields(),
    Account::this_year("total_assets", "balance", "total_assets", |year| year.total_assets),
    Account::this_year("long_term_debt", "balance", "long_term_debt", |year| year.long_term_debt)
        .in_fields(),
    Account::this_year("current_assets", "balance", "current_assets", |year| year.current_assets)
        .in_fields(),
    Account::this_year("ppe", "balance", "ppe", |year| year.ppe).in_fields(),
    Account::this_year("net_income", "income", "net_income", |year| year.net_income).in_fields(),
    Account::this_year("operating_cash_flow", "cash_flow", "operating_cashflow", |year| {
        year.operating_cash_flow
    })
    .in_fields(),
    Account::this_year("depreciation", "income", "depreciation", |year| year.depreciation)
        .optional(),
    Account::this_year("sga", "income", "sga", |year| year.sga).optional(),
    Account::this_year("current_liabilities", "balance", "current_liabilities", |year| {
        year.current_liabilities
    })
    .optional(),
    Account::this_year("cash", "balance", "cash", |year| year.cash).optional(),
    Account::year_before("revenue", "prior_income", "prev_revenue", |year| year.revenue),
    Account::year_before("receivables", "prior_balance", "prev_receivables", |year| {
        year.receivables
    })
    .in_fields(),
    Account::year_before("gross_profit", "prior_income", "prev_gross_profit", |year| {
        year.gross_profit
    })
    .in_fields(),
    Account::year_before("total_assets", "prior_balance", "prev_total_assets", |year| {
        year.total_assets
    }),
    Account::year_before("long_term_debt", "prior_balance", "prev_long_term_debt", |year| {
        year.long_term_debt
    })
    .in_fields(),
    Account::year_before("current_assets", "prior_balance", "prev_current_assets", |year| {
        year.current_assets
    })
    .in_fields(),
    Account::year_before("ppe", "prior_balance", "prev_ppe", |year| year.ppe).in_fields(),
    Account::year_before("depreciation", "prior_income", "prev_depreciation", |year| {
        year.depreciation
    })
    .optional(),
    Account::year_before("sga", "prior_income", "prev_sga", |year| year.sga).optional(),
    Account::year_before(
        "current_liabilities",
        "prior_balance",
        "prev_current_liabilities",
        |year| year.current_liabilities,
    )
    .optional(),
    Account::year_before("cash", "prior_balance", "prev_cash", |year| year.cash).optional(),
];

impl SharedComputation for Beneish {
    type Request = TwoYears;
    type Answer = BeneishScore;

    fn compute(request: &TwoYears) -> quant_core::Result<BeneishScore> {
        let [current, prior] = request.years().map(beneish);
        let score = BeneishM { current, prior }.score();
        let score = score.map_err(|error| request.in_request(BENEISH, error))?;
        Ok(BeneishScore {
            m_score: score.m_score,
            beneish_m_score: score.m_score,
            is_likely_manipulator: score.is_likely_manipulator,
            probability: score.probability,
            dsri: score.dsri,
            gmi: score.gmi,
            aqi: score.aqi,
            sgi: score.sgi,
            depi: score.depi,
            sgai: score.sgai,
            lvgi: score.lvgi,
            tata: score.tata,
            neutral: score.neutral.iter().map(ToString::to_string).collect(),
            accruals: score.accruals.into(),
            has_prior_year: request.has_prior_year(),
        })
    }

    fn explain(request: &TwoYears) -> quant_core::Result<Explanation> {
        let [current, prior] = request.years().map(beneish);
        let explanation = BeneishM { current, prior }.explain();
        let explanation = explanation.map_err(|error| request.in_request(BENEISH, error))?;
        Ok(explanation.with_conventions(one_year(request)))
    }

    fn missing_fields(request: &TwoYears) -> Vec<Vec<&'static str>> {
        request.missing(&["income", "balance", "prior_income", "prior_balance"], BENEISH)
    }
}

fn beneish(year: Statement) -> BeneishAccounts {
    BeneishAccounts {
        revenue: year.revenue,
        receivables: year.receivables,
        gross_profit: year.gross_profit,
        current_assets: year.current_assets,
        ppe: year.ppe,
        total_assets: year.total_assets,
        depreciation: year.depreciation,
        sga: year.sga,
        long_term_debt: year.long_term_debt,
        current_liabilities: year.current_liabilities,
        net_income: year.net_income,
        operating_cash_flow: year.operating_cash_flow,
        cash: year.cash,
    }
}

impl Example for Altman {
    fn example() -> Self {
        Self {
            working_capital: 200_000.0,
            total_assets: 2_000_000.0,
            retained_earnings: 400_000.0,
            ebit: 200_000.0,
            market_cap: 2_000_000.0,
            total_liabilities: 1_200_000.0,
            revenue: 1_000_000.0,
        }
    }
}
