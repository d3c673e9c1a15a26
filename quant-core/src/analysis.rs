//! Company analysis: the value of a firm from its cash flows, and scores from its accounts.
//!
//! | module | content |
//! |---|---|
//! | [`discounted_cash_flow`] | free cash flows to the firm, a terminal value, the value of a share |
//! | [`altman_z`] | Altman's score of financial distress |
//! | [`piotroski_f`] | Piotroski's nine signals of financial strength |
//! | [`beneish_m`] | Beneish's eight indices of earnings manipulation |
//!
//! Amounts are in one currency, the number of shares in one unit. Accounts are of two fiscal years that
//! follow each other, with balances at the end of each year.

pub mod altman_z;
pub mod beneish_m;
pub mod discounted_cash_flow;
pub mod piotroski_f;

pub use altman_z::{AltmanScore, AltmanZ, DistressZone};
pub use beneish_m::{AccrualMethod, BeneishAccounts, BeneishIndex, BeneishM, BeneishScore};
pub use discounted_cash_flow::{DiscountedCashFlow, FirmValue, growing_cash_flows};
pub use piotroski_f::{PiotroskiAccounts, PiotroskiF, PiotroskiScore, Signal};

use crate::{Error, Result};

/// Checks the accounts that are present, in order.
fn each(
    accounts: &[(&'static str, Option<f64>)],
    check: fn(&'static str, f64) -> Result<()>,
) -> Result<()> {
    accounts.iter().try_for_each(|&(name, account)| match account {
        Some(value) => check(name, value),
        None => Ok(()),
    })
}

/// Attributes an error about an account to the year before.
fn of_prior_year(error: Error) -> Error {
    error.renamed(|account| match account {
        "revenue" => "prior_revenue",
        "receivables" => "prior_receivables",
        "gross_profit" => "prior_gross_profit",
        "current_assets" => "prior_current_assets",
        "ppe" => "prior_ppe",
        "total_assets" => "prior_total_assets",
        "depreciation" => "prior_depreciation",
        "sga" => "prior_sga",
        "long_term_debt" => "prior_long_term_debt",
        "current_liabilities" => "prior_current_liabilities",
        "current_ratio" => "prior_current_ratio",
        "shares_outstanding" => "prior_shares_outstanding",
        "net_income" => "prior_net_income",
        "operating_cash_flow" => "prior_operating_cash_flow",
        "cash" => "prior_cash",
        other => other,
    })
}
