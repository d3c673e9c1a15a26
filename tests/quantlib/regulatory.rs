//! Capital ratios against exact fractions: `tests/golden/generate/capital_ratios.py`.

use quant_core::regulatory::capital_ratios::Capital;
use quant_tests::golden::{self, Row, Statements};

#[test]
fn ratios_are_rounded_once_and_adequacy_is_that_of_the_decimals() {
    let mut misjudged_by_the_quotient = 0;
    for row in golden::rows("capital_ratios", 380) {
        let [_, _, _, ratio, leverage, cet1, tier1, total] = row.numbers();
        let found = bank(&row).ratios().expect("ratios");
        assert_eq!(
            [found.cet1_ratio, found.tier1_ratio, found.total_capital_ratio],
            [ratio; 3],
            "{row}"
        );
        assert_eq!(found.leverage_ratio, Some(leverage), "{row}");
        let adequate = [found.cet1_adequate, found.tier1_adequate, found.total_adequate];
        assert_eq!(adequate, [cet1 == 1.0, tier1 == 1.0, total == 1.0], "{row}");
        misjudged_by_the_quotient += usize::from((ratio >= 0.045) != adequate[0]);
    }
    println!("rows whose quotient misjudges common equity: {misjudged_by_the_quotient}");
}

fn bank(row: &Row) -> Capital {
    let [capital, assets, exposure, ..]: [f64; 8] = row.numbers();
    Capital {
        cet1_capital: capital,
        tier1_capital: capital,
        total_capital: capital,
        risk_weighted_assets: assets,
        total_exposure: Some(exposure),
    }
}

#[test]
fn the_stated_error_of_a_ratio_bounds_its_error() {
    let mut statements = Statements::default();
    for row in golden::rows("capital_ratios", 380) {
        let bank = bank(&row);
        let (found, statement) =
            (bank.ratios().expect("ratios"), bank.explain_ratios().expect("an explanation").error);
        for ratio in [found.cet1_ratio, found.tier1_ratio, found.total_capital_ratio] {
            statements.see(&row, &statement, ratio, row.get("ratio"));
        }
        let leverage = found.leverage_ratio.expect("a ratio");
        statements.see(&row, &statement, leverage, row.get("leverage"));
    }
    statements.hold(1_500);
}
