//! Company value and scores against exact fractions: `tests/golden/generate/analysis.py`.

use quant_core::analysis::{
    AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    growing_cash_flows,
};
use quant_tests::golden::{self, Largest, Row, Statements};

/// The accepted error of a sum of a few products and quotients, in units of its largest term.
const SUM_TOLERANCE: f64 = 2e-15;
/// The accepted error of a value, in units of the sizes of its terms, times the horizon over the spread of
/// the two rates.
const VALUE_TOLERANCE: f64 = 4e-16;

fn firm(row: &Row) -> DiscountedCashFlow {
    firm_of(row, row.list(row.text("fcff")))
}

/// The firm whose flows grow at a constant rate.
fn projected_firm(row: &Row) -> DiscountedCashFlow {
    let (flow, rate) = (row.get("free_cash_flow"), row.get("growth_rate"));
    firm_of(row, growing_cash_flows(flow, rate, row.get("years")).expect("flows"))
}

fn firm_of(row: &Row, fcff: Vec<f64>) -> DiscountedCashFlow {
    DiscountedCashFlow {
        fcff,
        wacc: row.get("wacc"),
        terminal_growth: row.get("terminal_growth"),
        shares_outstanding: row.get("shares_outstanding"),
        net_debt: row.get("net_debt"),
    }
}

#[test]
fn firms_have_the_value_of_their_cash_flows() {
    let mut largest = Largest::default();
    for row in golden::rows("analysis_dcf", 100) {
        let firm = firm(&row);
        let value = firm.value().expect("a value");
        let size: f64 = row.get::<f64>("size") + firm.net_debt.abs();
        // The difference of the rates has their rounding, in units of itself.
        let spread = firm.wacc - firm.terminal_growth;
        let tolerance = VALUE_TOLERANCE
            * (1.0 + (firm.wacc.abs() + firm.terminal_growth.abs()) / spread)
            * (4 + firm.fcff.len()) as f64;
        for (found, column, unit) in [
            (value.enterprise_value, "enterprise_value", size),
            (value.terminal_value, "terminal_value", value.terminal_value.abs()),
            (value.value_per_share, "per_share", size / firm.shares_outstanding),
        ] {
            let error = (found - row.get::<f64>(column)).abs() / unit;
            largest.see(&row, error, tolerance, &value);
        }
    }
    println!("largest error of a firm's value: {largest}");
}

fn altman(row: &Row) -> AltmanZ {
    AltmanZ {
        working_capital: row.get("working_capital"),
        total_assets: row.get("total_assets"),
        retained_earnings: row.get("retained_earnings"),
        ebit: row.get("ebit"),
        market_cap: row.get("market_cap"),
        total_liabilities: row.get("total_liabilities"),
        revenue: row.get("revenue"),
    }
}

#[test]
fn altman_scores_are_those_of_the_formula() {
    let mut largest = Largest::default();
    for row in golden::rows("analysis_altman", 150) {
        let score = altman(&row).score().expect("a score");
        let terms = ["t1", "t2", "t3", "t4", "t5"].map(|name| row.get::<f64>(name));
        let size = terms.iter().fold(1.0_f64, |most, term| most.max(term.abs()));
        for (found, expected) in score.terms.into_iter().zip(terms) {
            largest.see(&row, (found - expected).abs() / size, SUM_TOLERANCE, &score);
        }
        let error = (score.z_score - row.get::<f64>("z_score")).abs() / size;
        largest.see(&row, error, SUM_TOLERANCE, &score);
        assert_eq!(score.zone.name(), row.text("zone"), "{row}");
    }
    println!("largest error of Altman's score: {largest}");
}

fn piotroski(row: &Row, column: &str) -> PiotroskiAccounts {
    let accounts: Vec<f64> = row.list(row.text(column));
    PiotroskiAccounts {
        net_income: Some(accounts[0]),
        total_assets: Some(accounts[1]),
        operating_cash_flow: Some(accounts[2]),
        long_term_debt: Some(accounts[3]),
        current_assets: Some(accounts[4]),
        current_liabilities: Some(accounts[5]),
        current_ratio: None,
        shares_outstanding: Some(accounts[6]),
        gross_profit: Some(accounts[7]),
        revenue: Some(accounts[8]),
    }
}

#[test]
fn piotroski_signals_are_decided_on_the_decimals() {
    for row in golden::rows("analysis_piotroski", 150) {
        let years =
            PiotroskiF { current: piotroski(&row, "current"), prior: piotroski(&row, "prior") };
        let score = years.score().expect("a score");
        let signals = score.signals.map(|signal| if signal == Some(true) { '1' } else { '0' });
        assert_eq!(String::from_iter(signals), row.text("signals"), "{row}");
        assert_eq!((score.f_score, score.judged), (row.get("f_score"), 9), "{row}");
    }
}

fn beneish(row: &Row, column: &str) -> BeneishAccounts {
    let accounts: Vec<f64> = row.list(row.text(column));
    BeneishAccounts {
        revenue: Some(accounts[0]),
        receivables: Some(accounts[1]),
        gross_profit: Some(accounts[2]),
        current_assets: Some(accounts[3]),
        ppe: Some(accounts[4]),
        total_assets: Some(accounts[5]),
        depreciation: Some(accounts[6]),
        sga: Some(accounts[7]),
        long_term_debt: Some(accounts[8]),
        current_liabilities: Some(accounts[9]),
        net_income: Some(accounts[10]),
        operating_cash_flow: Some(accounts[11]),
        cash: None,
    }
}

#[test]
fn beneish_scores_are_those_of_the_formula() {
    let mut largest = Largest::default();
    for row in golden::rows("analysis_beneish", 150) {
        let years = BeneishM { current: beneish(&row, "current"), prior: beneish(&row, "prior") };
        let score = years.score().expect("a score");
        let found = [
            score.dsri, score.gmi, score.aqi, score.sgi, score.depi, score.sgai, score.lvgi,
            score.tata,
        ];
        let names = ["dsri", "gmi", "aqi", "sgi", "depi", "sgai", "lvgi", "tata"];
        let mut size = 1.0_f64;
        for (found, name) in found.into_iter().zip(names) {
            let expected: f64 = row.get(name);
            let error = (found - expected).abs() / expected.abs().max(1.0);
            largest.see(&row, error, SUM_TOLERANCE, &score);
            size = size.max(expected.abs());
        }
        let error = (score.m_score - row.get::<f64>("m_score")).abs() / size;
        largest.see(&row, error, 4.0 * SUM_TOLERANCE, &score);
        let error = (score.probability - row.get::<f64>("probability")).abs();
        largest.see(&row, error, 4.0 * SUM_TOLERANCE * size, &score);
    }
    println!("largest error of Beneish's score: {largest}");
}

#[test]
fn the_stated_errors_of_values_and_scores_bound_their_errors() {
    let mut statements = Statements::default();
    for row in golden::rows("analysis_dcf", 100) {
        let firm = firm(&row);
        let (stated, value) = (firm.explain(), firm.value().expect("a value"));
        let stated = stated.expect("an explanation").error;
        statements.see(&row, &stated, value.value_per_share, row.get("per_share"));
    }
    for row in golden::rows("analysis_dcf_projected", 100) {
        let firm = projected_firm(&row);
        let (stated, value) = (firm.explain_projection(), firm.value().expect("a value"));
        let stated = stated.expect("an explanation").error;
        statements.see(&row, &stated, value.value_per_share, row.get("per_share"));
    }
    for row in golden::rows("analysis_altman", 150) {
        let firm = altman(&row);
        let (stated, score) = (firm.explain(), firm.score().expect("a score"));
        let stated = stated.expect("an explanation").error;
        statements.see(&row, &stated, score.z_score, row.get("z_score"));
    }
    for row in golden::rows("analysis_beneish", 150) {
        let years = BeneishM { current: beneish(&row, "current"), prior: beneish(&row, "prior") };
        let (stated, score) = (years.explain(), years.score().expect("a score"));
        let stated = stated.expect("an explanation").error;
        statements.see(&row, &stated, score.m_score, row.get("m_score"));
    }
    for row in golden::rows("analysis_piotroski", 150) {
        let years =
            PiotroskiF { current: piotroski(&row, "current"), prior: piotroski(&row, "prior") };
        let (stated, score) = (years.explain(), years.score().expect("a score"));
        let stated = stated.expect("an explanation").error;
        statements.see(&row, &stated, f64::from(score.f_score), row.get("f_score"));
    }
    statements.hold(700);
}
