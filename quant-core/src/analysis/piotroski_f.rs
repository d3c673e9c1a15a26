//! Piotroski's nine signals of financial strength.

use std::cmp::Ordering;

use super::{each, of_prior_year};
use crate::arithmetic::decimal::compare_quotients;
use crate::explanation::{ErrorStatement, Explanation, Method};
use crate::named::named;
use crate::{Result, check};

/// The accounts of one year that Piotroski's signals read. A signal whose accounts are absent in one of
/// the years is not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PiotroskiAccounts {
    /// Net income of the year.
    pub net_income: Option<f64>,
    /// Total assets at the end of the year; positive.
    pub total_assets: Option<f64>,
    /// Cash flow from operations of the year.
    pub operating_cash_flow: Option<f64>,
    /// Long-term debt at the end of the year; zero or positive.
    pub long_term_debt: Option<f64>,
    /// Current assets at the end of the year; zero or positive.
    pub current_assets: Option<f64>,
    /// Current liabilities at the end of the year; positive.
    pub current_liabilities: Option<f64>,
    /// Current assets over current liabilities, instead of both; zero or positive.
    pub current_ratio: Option<f64>,
    /// Number of shares at the end of the year; zero or positive.
    pub shares_outstanding: Option<f64>,
    /// Revenue less cost of sales of the year.
    pub gross_profit: Option<f64>,
    /// Revenue of the year; positive.
    pub revenue: Option<f64>,
}

/// Two years of accounts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PiotroskiF {
    /// This year.
    pub current: PiotroskiAccounts,
    /// The year before.
    pub prior: PiotroskiAccounts,
}

/// A signal of Piotroski's score, in the order of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// The return on assets is positive.
    ReturnOnAssets,
    /// The cash flow from operations is positive.
    OperatingCashFlow,
    /// The return on assets has risen.
    ReturnOnAssetsChange,
    /// The cash flow from operations exceeds the net income.
    Accruals,
    /// Long-term debt over total assets has fallen.
    Leverage,
    /// The current ratio has risen.
    Liquidity,
    /// The number of shares has not risen.
    Shares,
    /// The gross margin has risen.
    GrossMargin,
    /// Revenue over total assets has risen.
    AssetTurnover,
}

named!(
    Signal,
    "signal",
    ReturnOnAssets = "positive_roa",
    OperatingCashFlow = "positive_operating_cash_flow",
    ReturnOnAssetsChange = "rising_roa",
    Accruals = "cash_flow_above_income",
    Leverage = "falling_leverage",
    Liquidity = "rising_current_ratio",
    Shares = "no_new_shares",
    GrossMargin = "rising_gross_margin",
    AssetTurnover = "rising_asset_turnover",
);

/// Piotroski's score with its signals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PiotroskiScore {
    /// The number of signals that hold, 0 to 9.
    pub f_score: u32,
    /// The number of signals that could be judged.
    pub judged: u32,
    /// Each signal in the order of [`Signal::ALL`]: whether it holds, or `None` where its accounts are
    /// absent.
    pub signals: [Option<bool>; 9],
    /// The figure of each signal this year: return on assets, cash flow over assets, return on assets,
    /// cash flow less income over assets, leverage, current ratio, shares, margin, turnover.
    pub current: [Option<f64>; 9],
    /// The same of the year before, for the signals that compare two years.
    pub prior: [Option<f64>; 9],
}

/// A quotient of two accounts, with the name of the denominator.
#[derive(Clone, Copy)]
struct Quotient(f64, f64, &'static str);

impl Quotient {
    fn value(self) -> Result<f64> {
        check::result(self.2, self.0 / self.1)
    }
}

impl PiotroskiF {
    /// Returns the number of signals that hold, and each of them.
    ///
    /// ```text
    /// ROA = NI/TA > 0      CFO > 0            ΔROA > 0       CFO > NI
    /// Δ(LTD/TA) < 0        Δ(CA/CL) > 0       Δshares ≤ 0
    /// Δ(GP/S) > 0          Δ(S/TA) > 0
    /// ```
    ///
    /// Each year is divided by its own total assets at the end of the year, since two balances are
    /// given; the paper divides flows by the assets at the start of the year. Quotients are compared as
    /// the decimals that denote the doubles, so that 0.1/0.3 does not exceed 0.2/0.6.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`](crate::Error::Domain) for an account that is not finite or outside its documented
    /// range, with the prefix `prior_` for the year before; [`Error::Overflow`](crate::Error::Overflow)
    /// where a quotient exceeds the largest double.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::analysis::{PiotroskiAccounts, PiotroskiF};
    ///
    /// let year = PiotroskiAccounts {
    ///     net_income: Some(150.0), total_assets: Some(2000.0), operating_cash_flow: Some(220.0),
    ///     ..PiotroskiAccounts::default()
    /// };
    /// let prior = PiotroskiAccounts { net_income: Some(100.0), ..year };
    /// let score = PiotroskiF { current: year, prior }.score()?;
    /// // Income and cash flow are positive, the return has risen, and the cash flow exceeds the income.
    /// assert_eq!((score.f_score, score.judged), (4, 4));
    /// # Ok::<(), quant_core::Error>(())
    /// ```
    ///
    /// # References
    ///
    /// Piotroski (2000), "Value Investing: The Use of Historical Financial Statement Information to
    /// Separate Winners from Losers", section 2.2.
    pub fn score(&self) -> Result<PiotroskiScore> {
        self.current.validate()?;
        self.prior.validate().map_err(of_prior_year)?;
        let (now, then) = (self.current.quotients(), self.prior.quotients());
        let (mut current, mut prior, mut signals) = ([None; 9], [None; 9], [None; 9]);
        for &signal in Signal::ALL {
            let at = signal as usize;
            let sign = match signal {
                Signal::ReturnOnAssets | Signal::OperatingCashFlow | Signal::Accruals => {
                    now[at].map(|quotient| compare(quotient, Quotient(0.0, 1.0, "")))
                }
                _ => {
                    prior[at] = then[at].map(Quotient::value).transpose().map_err(of_prior_year)?;
                    now[at].zip(then[at]).map(|(now, then)| compare(now, then))
                }
            };
            current[at] = now[at].map(Quotient::value).transpose()?;
            signals[at] = sign.map(|sign| match signal {
                Signal::Leverage => sign == Ordering::Less,
                Signal::Shares => sign != Ordering::Greater,
                _ => sign == Ordering::Greater,
            });
        }
        // The difference of two decimals is decided before it is rounded.
        if let (Some(cash), Some(income)) =
            (self.current.operating_cash_flow, self.current.net_income)
        {
            let accruals = Signal::Accruals as usize;
            signals[accruals] = signals[accruals].map(|_| cash > income);
        }
        let count = |wanted: fn(&Option<bool>) -> bool| {
            signals.iter().filter(|signal| wanted(signal)).map(|_| 1).sum()
        };
        Ok(PiotroskiScore {
            f_score: count(|signal| *signal == Some(true)),
            judged: count(Option::is_some),
            signals,
            current,
            prior,
        })
    }

    /// Explains [`score`](Self::score).
    ///
    /// # Errors
    ///
    /// The errors of [`score`](Self::score).
    pub fn explain(&self) -> Result<Explanation> {
        let score = self.score()?;
        let method = Method::new(
            "Piotroski's F-score of nine signals",
            "Piotroski (2000), Value Investing, section 2.2",
        );
        let how = "quotients are compared as the decimals that were sent, without rounding";
        let judged = score.judged;
        let some =
            format!("{judged} of nine signals were judged; the accounts of others are absent.");
        Ok(Explanation::new(method, ErrorStatement::none("f_score", how))
            .with_conventions([
                "Flows are divided by total assets at the end of their year; the paper takes the start.",
                "Leverage is long-term debt over total assets at the end of the year.",
                "The signal of new shares holds where their number has not risen.",
                "Two equal figures have not risen, and 0.1/0.3 does not exceed 0.2/0.6.",
            ])
            .with_conventions((judged < 9).then_some(some)))
    }
}

fn compare(one: Quotient, other: Quotient) -> Ordering {
    compare_quotients((one.0, one.1), (other.0, other.1))
}

impl PiotroskiAccounts {
    fn validate(&self) -> Result<()> {
        let finite = [
            ("net_income", self.net_income),
            ("operating_cash_flow", self.operating_cash_flow),
            ("gross_profit", self.gross_profit),
        ];
        let positive = [
            ("total_assets", self.total_assets),
            ("current_liabilities", self.current_liabilities),
            ("revenue", self.revenue),
        ];
        let not_negative = [
            ("long_term_debt", self.long_term_debt),
            ("current_assets", self.current_assets),
            ("current_ratio", self.current_ratio),
            ("shares_outstanding", self.shares_outstanding),
        ];
        each(&finite, check::finite)?;
        each(&positive, check::positive)?;
        each(&not_negative, check::not_negative)
    }

    /// The figure of each signal.
    fn quotients(&self) -> [Option<Quotient>; 9] {
        let by = |numerator: Option<f64>, denominator: Option<f64>, name| {
            numerator
                .zip(denominator)
                .map(|(numerator, denominator)| Quotient(numerator, denominator, name))
        };
        let by_assets = |numerator| by(numerator, self.total_assets, "total_assets");
        let cash_above_income =
            self.operating_cash_flow.zip(self.net_income).map(|(cash, income)| cash - income);
        let liquidity = by(self.current_assets, self.current_liabilities, "current_liabilities");
        [
            by_assets(self.net_income),
            by_assets(self.operating_cash_flow),
            by_assets(self.net_income),
            by_assets(cash_above_income),
            by_assets(self.long_term_debt),
            by(self.current_ratio, Some(1.0), "current_ratio").or(liquidity),
            by(self.shares_outstanding, Some(1.0), "shares_outstanding"),
            by(self.gross_profit, self.revenue, "revenue"),
            by_assets(self.revenue),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn year(numbers: [f64; 9]) -> PiotroskiAccounts {
        let [income, assets, cash, debt, current, liabilities, shares, gross, revenue] =
            numbers.map(Some);
        PiotroskiAccounts {
            net_income: income,
            total_assets: assets,
            operating_cash_flow: cash,
            long_term_debt: debt,
            current_assets: current,
            current_liabilities: liabilities,
            current_ratio: None,
            shares_outstanding: shares,
            gross_profit: gross,
            revenue,
        }
    }

    const PRIOR: [f64; 9] = [100.0, 2000.0, 120.0, 700.0, 450.0, 300.0, 50.0, 300.0, 900.0];

    #[test]
    fn each_signal_counts_one() {
        let prior = year(PRIOR);
        let best = year([150.0, 2000.0, 220.0, 600.0, 500.0, 300.0, 50.0, 400.0, 1000.0]);
        let score = PiotroskiF { current: best, prior }.score().unwrap();
        assert_eq!((score.f_score, score.judged), (9, 9));
        // Each account made worse takes the signals that read it, and no others.
        for (worse, lost) in [
            (PiotroskiAccounts { net_income: Some(-1.0), ..best }, vec![0, 2]),
            (PiotroskiAccounts { operating_cash_flow: Some(0.0), ..best }, vec![1, 3]),
            (PiotroskiAccounts { net_income: Some(100.0), ..best }, vec![2]),
            (PiotroskiAccounts { operating_cash_flow: Some(150.0), ..best }, vec![3]),
            (PiotroskiAccounts { long_term_debt: Some(700.0), ..best }, vec![4]),
            (PiotroskiAccounts { current_assets: Some(450.0), ..best }, vec![5]),
            (PiotroskiAccounts { current_ratio: Some(1.5), ..best }, vec![5]),
            (PiotroskiAccounts { shares_outstanding: Some(50.1), ..best }, vec![6]),
            (PiotroskiAccounts { gross_profit: Some(300.0), ..best }, vec![7]),
            (PiotroskiAccounts { revenue: Some(900.0), ..best }, vec![8]),
        ] {
            let score = PiotroskiF { current: worse, prior }.score().unwrap();
            let found: Vec<usize> = (0..9).filter(|&at| score.signals[at] == Some(false)).collect();
            assert_eq!(found, lost);
            assert_eq!(score.f_score as usize, 9 - lost.len());
        }
    }

    #[test]
    fn equal_decimals_do_not_rise() {
        let mut current = year(PRIOR);
        let mut prior = current;
        for (now, then) in
            [((0.1, 0.3), (0.2, 0.6)), ((0.3, 0.1), (0.6, 0.2)), ((0.7, 0.1), (2.1, 0.3))]
        {
            (current.net_income, current.total_assets) = (Some(now.0), Some(now.1));
            (prior.net_income, prior.total_assets) = (Some(then.0), Some(then.1));
            for (current, prior) in [(current, prior), (prior, current)] {
                let score = PiotroskiF { current, prior }.score().unwrap();
                assert_eq!(score.signals[2], Some(false), "{now:?} {then:?}");
            }
        }
    }

    #[test]
    fn absent_accounts_are_not_judged() {
        let current = PiotroskiAccounts { shares_outstanding: None, ..year(PRIOR) };
        let prior = PiotroskiAccounts { gross_profit: None, ..year(PRIOR) };
        let score = PiotroskiF { current, prior }.score().unwrap();
        assert_eq!((score.judged, score.signals[6], score.signals[7]), (7, None, None));
        let none = PiotroskiF { current: PiotroskiAccounts::default(), prior };
        assert_eq!(none.score().unwrap().judged, 0);
    }

    #[test]
    fn a_denominator_of_zero_is_refused_by_name() {
        let sound = year(PRIOR);
        let refused =
            |current, prior| PiotroskiF { current, prior }.score().unwrap_err().argument().unwrap();
        let without = PiotroskiAccounts { total_assets: Some(0.0), ..sound };
        assert_eq!(refused(without, sound), "total_assets");
        assert_eq!(refused(sound, without), "prior_total_assets");
        let without = PiotroskiAccounts { current_liabilities: Some(0.0), ..sound };
        assert_eq!(refused(sound, without), "prior_current_liabilities");
        let without = PiotroskiAccounts { revenue: Some(0.0), ..sound };
        assert_eq!(refused(without, sound), "revenue");
        let endless = PiotroskiAccounts { net_income: Some(f64::INFINITY), ..sound };
        assert_eq!(refused(sound, endless), "prior_net_income");
        let tiny = PiotroskiAccounts { total_assets: Some(5e-324), ..sound };
        assert_eq!(refused(sound, tiny), "prior_total_assets");
    }

    proptest! {
        #[test]
        fn two_equal_years_show_no_change(numbers in prop::array::uniform9(1.0..1e6)) {
            let same = PiotroskiF { current: year(numbers), prior: year(numbers) };
            let score = same.score().unwrap();
            let changes = [2, 4, 5, 7, 8].map(|at| score.signals[at]);
            prop_assert_eq!(changes, [Some(false); 5]);
            prop_assert_eq!(score.signals[6], Some(true));
        }
    }
}
