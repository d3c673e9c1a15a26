//! Beneish's indices of earnings manipulation.

use super::{each, of_prior_year};
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::pricing::normal;
use crate::{Error, Result, check};

/// The score above which a firm is a likely manipulator, for errors that cost twenty to one.
const THRESHOLD: f64 = -1.78;

/// The error of a score, in units of its largest index.
const SCORE_ERROR: f64 = 8e-15;

/// The accounts of one year that Beneish's indices read. An index whose accounts are absent in one of the
/// years is neutral.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BeneishAccounts {
    /// Revenue of the year; positive.
    pub revenue: Option<f64>,
    /// Receivables at the end of the year; zero or positive, and positive in the year before.
    pub receivables: Option<f64>,
    /// Revenue less cost of sales of the year; not zero this year.
    pub gross_profit: Option<f64>,
    /// Current assets at the end of the year; zero or positive.
    pub current_assets: Option<f64>,
    /// Net property, plant and equipment at the end of the year; zero or positive.
    pub ppe: Option<f64>,
    /// Total assets at the end of the year; positive.
    pub total_assets: Option<f64>,
    /// Depreciation of the year; zero or positive, and positive this year.
    pub depreciation: Option<f64>,
    /// Selling, general and administrative expenses of the year; zero or positive, and positive in the
    /// year before.
    pub sga: Option<f64>,
    /// Long-term debt at the end of the year; zero or positive.
    pub long_term_debt: Option<f64>,
    /// Current liabilities at the end of the year; zero or positive.
    pub current_liabilities: Option<f64>,
    /// Net income of the year.
    pub net_income: Option<f64>,
    /// Cash flow from operations of the year.
    pub operating_cash_flow: Option<f64>,
    /// Cash at the end of the year; zero or positive.
    pub cash: Option<f64>,
}

/// Two years of accounts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BeneishM {
    /// This year.
    pub current: BeneishAccounts,
    /// The year before.
    pub prior: BeneishAccounts,
}

/// Beneish's score with its indices. An index of 1, or accruals of 0, are neutral.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BeneishScore {
    /// The weighted sum of the indices.
    pub m_score: f64,
    /// The standard normal distribution at the score.
    pub probability: f64,
    /// True if the score is above −1.78.
    pub is_likely_manipulator: bool,
    /// Days' sales in receivables.
    pub dsri: f64,
    /// Gross margin of the year before over that of this year.
    pub gmi: f64,
    /// Share of assets that are neither current nor property, plant and equipment.
    pub aqi: f64,
    /// Sales growth.
    pub sgi: f64,
    /// Rate of depreciation of the year before over that of this year.
    pub depi: f64,
    /// Share of sales spent on selling, general and administrative expenses.
    pub sgai: f64,
    /// Leverage.
    pub lvgi: f64,
    /// Total accruals over total assets.
    pub tata: f64,
    /// The indices that are neutral because their accounts are absent, in the order of the fields.
    pub neutral: Vec<BeneishIndex>,
    /// The source of the accruals.
    pub accruals: AccrualMethod,
}

/// An index of Beneish's score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BeneishIndex {
    /// Days' sales in receivables.
    Receivables,
    /// Gross margin.
    GrossMargin,
    /// Asset quality.
    AssetQuality,
    /// Depreciation.
    Depreciation,
    /// Selling, general and administrative expenses.
    Expenses,
    /// Leverage.
    Leverage,
    /// Total accruals.
    Accruals,
}

named!(
    BeneishIndex,
    "index",
    Receivables = "dsri",
    GrossMargin = "gmi",
    AssetQuality = "aqi",
    Depreciation = "depi",
    Expenses = "sgai",
    Leverage = "lvgi",
    Accruals = "tata"
);

/// The source of the total accruals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccrualMethod {
    /// Net income less cash flow from operations.
    CashFlow,
    /// The change of working capital other than cash, less depreciation.
    BalanceSheet,
    /// The accounts are absent, and the accruals count as 0.
    Absent,
}

named!(
    AccrualMethod,
    "accruals",
    CashFlow = "cash_flow",
    BalanceSheet = "balance_sheet",
    Absent = "absent"
);

impl BeneishM {
    /// Returns the score with its eight indices.
    ///
    /// ```text
    /// M = −4.84 + 0.920 DSRI + 0.528 GMI + 0.404 AQI + 0.892 SGI + 0.115 DEPI
    ///     − 0.172 SGAI + 4.679 TATA − 0.327 LVGI
    /// DSRI = (REC/S) / (REC′/S′)            GMI = (GP′/S′) / (GP/S)       SGI = S/S′
    /// AQI = (1 − (CA + PPE)/TA) / (1 − (CA′ + PPE′)/TA′)
    /// DEPI = (D′/(D′ + PPE′)) / (D/(D + PPE))      SGAI = (SGA/S) / (SGA′/S′)
    /// LVGI = ((LTD + CL)/TA) / ((LTD′ + CL′)/TA′)  TATA = (NI − CFO)/TA
    /// ```
    ///
    /// where a prime is the year before. Without a cash flow the accruals are those of the paper's balance
    /// sheet, `(Δ(CA − cash) − ΔCL − D)/TA`, where absent cash has no change. Without current liabilities
    /// in both years the leverage is that of long-term debt. An index whose accounts are absent is 1, as in
    /// the paper for depreciation and expenses.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] without revenue; [`Error::Domain`] for an account that is not finite or outside
    /// its documented range, or a denominator of zero, with the prefix `prior_` for the year before;
    /// [`Error::Overflow`] where an index exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::analysis::{BeneishAccounts, BeneishM};
    ///
    /// let prior = BeneishAccounts { revenue: Some(1000.0), ..BeneishAccounts::default() };
    /// let current = BeneishAccounts { revenue: Some(1200.0), ..prior };
    /// let score = BeneishM { current, prior }.score()?;
    /// assert_eq!((score.sgi, score.dsri), (1.2, 1.0));
    /// assert_eq!(score.neutral.len(), 7);
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Beneish (1999), "The Detection of Earnings Manipulation", tables 2 and 4, whose accruals are those
    /// of the balance sheet; Beneish, Lee and Nichols (2013), "Earnings Manipulation and Expected Returns",
    /// for those of the cash flow.
    pub fn score(&self) -> Result<BeneishScore> {
        self.current.validate()?;
        self.prior.validate().map_err(of_prior_year)?;
        let mut neutral = Vec::new();
        let mut index = |name, found: Result<Option<f64>>| {
            found.map(|found| {
                found.unwrap_or_else(|| {
                    neutral.push(name);
                    1.0
                })
            })
        };
        let dsri = index(BeneishIndex::Receivables, self.receivables())?;
        let gmi = index(BeneishIndex::GrossMargin, self.gross_margin())?;
        let aqi = index(BeneishIndex::AssetQuality, self.asset_quality())?;
        let sgi = self.sales_growth()?;
        let depi = index(BeneishIndex::Depreciation, self.depreciation())?;
        let sgai = index(BeneishIndex::Expenses, self.expenses())?;
        let lvgi = index(BeneishIndex::Leverage, self.leverage())?;
        let (accruals, tata) = self.accruals()?;
        if accruals == AccrualMethod::Absent {
            neutral.push(BeneishIndex::Accruals);
        }
        let sum = -4.84 + 0.920 * dsri + 0.528 * gmi + 0.404 * aqi + 0.892 * sgi + 0.115 * depi
            - 0.172 * sgai
            + 4.679 * tata
            - 0.327 * lvgi;
        let m_score = check::result("revenue", sum)?;
        Ok(BeneishScore {
            m_score,
            probability: normal::probability(m_score)?,
            is_likely_manipulator: m_score > THRESHOLD,
            dsri,
            gmi,
            aqi,
            sgi,
            depi,
            sgai,
            lvgi,
            tata,
            neutral,
            accruals,
        })
    }

    /// Explains [`score`](Self::score).
    ///
    /// # Errors
    ///
    /// The errors of [`score`](Self::score).
    pub fn explain(&self) -> Result<Explanation> {
        let score = self.score()?;
        let BeneishScore { dsri, gmi, aqi, sgi, depi, sgai, lvgi, tata, .. } = score;
        let indices = [dsri, gmi, aqi, sgi, depi, sgai, lvgi, tata];
        let largest = indices.iter().fold(1.0_f64, |most, index| most.max(index.abs()));
        let method = Method::new(
            "Beneish's M-score of eight indices",
            "Beneish (1999), The Detection of Earnings Manipulation, tables 2 and 4",
        );
        let error = ErrorStatement::rounding_within(
            "m_score",
            SCORE_ERROR * largest,
            "in units of the largest index, or of 1; largest error against exact fractions",
        );
        let accruals = match score.accruals {
            AccrualMethod::CashFlow => "Accruals are net income less cash flow from operations.",
            AccrualMethod::BalanceSheet => {
                "Accruals are those of the balance sheet, as in the paper."
            }
            AccrualMethod::Absent => "The accounts of the accruals are absent: they count as 0.",
        };
        let names: Vec<&str> = score.neutral.iter().map(|index| index.name()).collect();
        let neutral = format!("Neutral, without their accounts: {}.", names.join(", "));
        Ok(Explanation::new(method, error)
            .with_conventions([
                accruals,
                "Balances are those at the ends of both years; total assets are not averaged.",
                "A score above -1.78 is a likely manipulator: errors cost twenty to one.",
            ])
            .with_conventions((!names.is_empty()).then_some(neutral))
            .with_conventions((!self.has_liabilities()).then_some(
                "Leverage is that of long-term debt, without current liabilities in both years.",
            )))
    }

    fn sales_growth(&self) -> Result<f64> {
        let sales = self.current.revenue.zip(self.prior.revenue);
        let (now, then) = sales
            .ok_or(Error::Conflict { argument: "revenue", problem: "is needed in both years" })?;
        check::result("prior_revenue", now / then)
    }

    fn receivables(&self) -> Result<Option<f64>> {
        let share = |year: &BeneishAccounts| share(year.receivables, year.revenue);
        change("prior_receivables", share(&self.current), share(&self.prior))
    }

    fn gross_margin(&self) -> Result<Option<f64>> {
        let margin = |year: &BeneishAccounts| share(year.gross_profit, year.revenue);
        change("gross_profit", margin(&self.prior), margin(&self.current))
    }

    fn asset_quality(&self) -> Result<Option<f64>> {
        let quality = |year: &BeneishAccounts| {
            let (current, ppe) = year.current_assets.zip(year.ppe)?;
            let total = year.total_assets?;
            // Subtracted before the division, so that all assets leave exactly nothing.
            Some((total - current - ppe) / total)
        };
        change("prior_total_assets", quality(&self.current), quality(&self.prior))
    }

    fn depreciation(&self) -> Result<Option<f64>> {
        let rate = |year: &BeneishAccounts| {
            let (depreciation, ppe) = year.depreciation.zip(year.ppe)?;
            Some(if depreciation == 0.0 { 0.0 } else { depreciation / (depreciation + ppe) })
        };
        change("depreciation", rate(&self.prior), rate(&self.current))
    }

    fn expenses(&self) -> Result<Option<f64>> {
        let share = |year: &BeneishAccounts| share(year.sga, year.revenue);
        change("prior_sga", share(&self.current), share(&self.prior))
    }

    fn has_liabilities(&self) -> bool {
        self.current.current_liabilities.is_some() && self.prior.current_liabilities.is_some()
    }

    fn leverage(&self) -> Result<Option<f64>> {
        let has_liabilities = self.has_liabilities();
        let leverage = |year: &BeneishAccounts| {
            let liabilities = year.current_liabilities.filter(|_| has_liabilities).unwrap_or(0.0);
            share(year.long_term_debt.map(|debt| debt + liabilities), year.total_assets)
        };
        change("prior_long_term_debt", leverage(&self.current), leverage(&self.prior))
    }

    fn accruals(&self) -> Result<(AccrualMethod, f64)> {
        let Some(assets) = self.current.total_assets else {
            return Ok((AccrualMethod::Absent, 0.0));
        };
        let by_cash_flow = self.current.net_income.zip(self.current.operating_cash_flow);
        let (method, accruals) = if let Some((income, cash_flow)) = by_cash_flow {
            (AccrualMethod::CashFlow, income - cash_flow)
        } else if let Some(accruals) = self.accruals_of_the_balance_sheet() {
            (AccrualMethod::BalanceSheet, accruals)
        } else {
            return Ok((AccrualMethod::Absent, 0.0));
        };
        Ok((method, check::result("total_assets", accruals / assets)?))
    }

    fn accruals_of_the_balance_sheet(&self) -> Option<f64> {
        let (now, then) = (&self.current, &self.prior);
        let assets = now.current_assets? - then.current_assets?;
        let liabilities = now.current_liabilities? - then.current_liabilities?;
        let cash = now.cash.zip(then.cash).map_or(0.0, |(now, then)| now - then);
        Some(assets - cash - liabilities - now.depreciation?)
    }
}

/// The part that one account has of another.
fn share(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).map(|(part, whole)| part / whole)
}

/// The quotient of two shares; `None` where one is absent. A denominator of zero is refused under the name
/// of its account.
fn change(
    argument: &'static str,
    numerator: Option<f64>,
    denominator: Option<f64>,
) -> Result<Option<f64>> {
    let Some((numerator, denominator)) = numerator.zip(denominator) else { return Ok(None) };
    let requirement = "such that the denominator of its index is not zero";
    check::require(denominator != 0.0, argument, denominator, requirement)?;
    check::result(argument, numerator / denominator).map(Some)
}

impl BeneishAccounts {
    fn validate(&self) -> Result<()> {
        let positive = [("revenue", self.revenue), ("total_assets", self.total_assets)];
        let not_negative = [
            ("receivables", self.receivables),
            ("current_assets", self.current_assets),
            ("ppe", self.ppe),
            ("depreciation", self.depreciation),
            ("sga", self.sga),
            ("long_term_debt", self.long_term_debt),
            ("current_liabilities", self.current_liabilities),
            ("cash", self.cash),
        ];
        let finite = [
            ("gross_profit", self.gross_profit),
            ("net_income", self.net_income),
            ("operating_cash_flow", self.operating_cash_flow),
        ];
        each(&positive, check::positive)?;
        each(&not_negative, check::not_negative)?;
        each(&finite, check::finite)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn year(numbers: [f64; 12]) -> BeneishAccounts {
        let [
            revenue,
            receivables,
            gross_profit,
            current_assets,
            ppe,
            total_assets,
            depreciation,
            sga,
            long_term_debt,
            current_liabilities,
            net_income,
            operating_cash_flow,
        ] = numbers.map(Some);
        BeneishAccounts {
            revenue,
            receivables,
            gross_profit,
            current_assets,
            ppe,
            total_assets,
            depreciation,
            sga,
            long_term_debt,
            current_liabilities,
            net_income,
            operating_cash_flow,
            cash: None,
        }
    }

    const PRIOR: [f64; 12] =
        [1000.0, 100.0, 400.0, 500.0, 300.0, 1000.0, 30.0, 200.0, 100.0, 200.0, 80.0, 80.0];

    #[test]
    fn the_means_of_the_paper_have_their_score() {
        // Beneish (1999), table 2: the means of the indices of manipulators and of other firms, whose
        // weighted sums are exact decimals.
        let score = |[dsri, gmi, aqi, sgi, depi, sgai, lvgi, tata]: [f64; 8]| {
            // Accounts with these indices over a year of round numbers.
            let mut prior = year(PRIOR);
            let mut current = prior;
            let revenue = 1000.0 * sgi;
            current.revenue = Some(revenue);
            current.receivables = Some(0.1 * dsri * revenue);
            current.gross_profit = Some(0.4 / gmi * revenue);
            current.sga = Some(0.2 * sgai * revenue);
            // 1 − (CA + PPE)/TA was 0.2, and the rate of depreciation 1/11.
            current.current_assets = Some(700.0 - 200.0 * aqi);
            (prior.depreciation, current.depreciation) =
                (Some(30.0), Some(300.0 / (11.0 * depi - 1.0)));
            current.current_liabilities = Some(300.0 * lvgi - 100.0);
            current.net_income = Some(80.0 + 1000.0 * tata);
            BeneishM { current, prior }.score().unwrap()
        };
        let manipulators = score([1.465, 1.193, 1.254, 1.607, 1.077, 1.041, 1.111, 0.031]);
        assert!((manipulators.m_score - -1.195681).abs() < 1e-12, "{manipulators:?}");
        let others = score([1.031, 1.014, 1.039, 1.134, 1.001, 1.054, 1.037, 0.018]);
        assert!((others.m_score - -2.245854).abs() < 1e-12, "{others:?}");
        assert!(
            !others.is_likely_manipulator
                && manipulators.is_likely_manipulator
                && manipulators.neutral.is_empty()
        );
    }

    #[test]
    fn two_equal_years_are_neutral() {
        let year = year(PRIOR);
        let score = BeneishM { current: year, prior: year }.score().unwrap();
        let indices =
            [score.dsri, score.gmi, score.aqi, score.sgi, score.depi, score.sgai, score.lvgi];
        assert_eq!((indices, score.tata), ([1.0; 7], 0.0));
        assert!((score.m_score - -2.48).abs() < 1e-14 && score.neutral.is_empty());
        assert_eq!(score.accruals, AccrualMethod::CashFlow);
    }

    #[test]
    fn accruals_are_those_of_the_balance_sheet_without_a_cash_flow() {
        let mut prior = BeneishAccounts { operating_cash_flow: None, ..year(PRIOR) };
        let mut current = BeneishAccounts { current_assets: Some(560.0), ..prior };
        let accruals = |current, prior| {
            let score = BeneishM { current, prior }.score().unwrap();
            (score.accruals, score.tata)
        };
        assert_eq!(accruals(current, prior), (AccrualMethod::BalanceSheet, 0.03));
        (prior.cash, current.cash) = (Some(10.0), Some(20.0));
        assert_eq!(accruals(current, prior), (AccrualMethod::BalanceSheet, 0.02));
        current.depreciation = None;
        assert_eq!(accruals(current, prior), (AccrualMethod::Absent, 0.0));
    }

    #[test]
    fn a_denominator_of_zero_is_refused_by_name() {
        let sound = year(PRIOR);
        let refused =
            |current, prior| BeneishM { current, prior }.score().unwrap_err().argument().unwrap();
        let zero = Some(0.0);
        for (prior, argument) in [
            (BeneishAccounts { revenue: zero, ..sound }, "prior_revenue"),
            (BeneishAccounts { receivables: zero, ..sound }, "prior_receivables"),
            (BeneishAccounts { total_assets: zero, ..sound }, "prior_total_assets"),
            (BeneishAccounts { total_assets: Some(800.0), ..sound }, "prior_total_assets"),
            (BeneishAccounts { sga: zero, ..sound }, "prior_sga"),
            (
                BeneishAccounts { long_term_debt: zero, current_liabilities: zero, ..sound },
                "prior_long_term_debt",
            ),
            (BeneishAccounts { ppe: Some(-1.0), ..sound }, "prior_ppe"),
        ] {
            assert_eq!(refused(sound, prior), argument);
        }
        for (current, argument) in [
            (BeneishAccounts { gross_profit: zero, ..sound }, "gross_profit"),
            (BeneishAccounts { depreciation: zero, ..sound }, "depreciation"),
            (BeneishAccounts { total_assets: Some(f64::NAN), ..sound }, "total_assets"),
            (BeneishAccounts { revenue: None, ..sound }, "revenue"),
        ] {
            assert_eq!(refused(current, sound), argument);
        }
    }

    proptest! {
        #[test]
        fn a_score_has_no_currency(
            now in prop::array::uniform12(1.0..1e6), then in prop::array::uniform12(1.0..1e6), power in -40_i32..40,
        ) {
            let unit = libm::ldexp(1.0, power);
            let scaled = |numbers: [f64; 12]| year(numbers.map(|number| number * unit));
            let plain = BeneishM { current: year(now), prior: year(then) }.score();
            prop_assert_eq!(plain, BeneishM { current: scaled(now), prior: scaled(then) }.score());
        }
    }
}
