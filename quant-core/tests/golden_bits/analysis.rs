//! The bits of company value and scores.

use quant_core::analysis::{
    AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    growing_cash_flows,
};

use crate::lines::Lines;

pub(super) fn lines(lines: &mut Lines) {
    for (wacc, terminal_growth) in [(0.09, 0.02), (0.3, -0.1), (0.021, 0.02)] {
        let firm = DiscountedCashFlow {
            fcff: growing_cash_flows(220.5, 0.037, 12).expect("flows"),
            wacc,
            terminal_growth,
            shares_outstanding: 37.5,
            net_debt: 731.1,
        };
        let value = firm.value().expect("a value");
        let mut values = vec![value.value_per_share, value.enterprise_value, value.terminal_value];
        values.extend(value.present_values);
        lines.add("discounted cash flow", (wacc, terminal_growth), &values);
    }
    let firm = AltmanZ {
        working_capital: 201.7,
        total_assets: 1999.3,
        retained_earnings: -40.9,
        ebit: 203.1,
        market_cap: 2007.7,
        total_liabilities: 1213.3,
        revenue: 1021.9,
    };
    let score = firm.score().expect("a score");
    lines.add("altman", score.zone, &[&[score.z_score], &score.terms[..]].concat());
    let strength = |net_income, total_assets| PiotroskiAccounts {
        net_income: Some(net_income),
        total_assets: Some(total_assets),
        operating_cash_flow: Some(121.3),
        long_term_debt: Some(611.9),
        current_assets: Some(503.3),
        current_liabilities: Some(311.7),
        current_ratio: None,
        shares_outstanding: Some(51.1),
        gross_profit: Some(403.9),
        revenue: Some(1001.3),
    };
    let years = PiotroskiF { current: strength(150.7, 2003.9), prior: strength(101.3, 1907.7) };
    let score = years.score().expect("a score");
    let figures: Vec<f64> = score.current.into_iter().chain(score.prior).flatten().collect();
    lines.add("piotroski", score.f_score, &figures);
    let accounts = |revenue, receivables, gross_profit| BeneishAccounts {
        revenue: Some(revenue),
        receivables: Some(receivables),
        gross_profit: Some(gross_profit),
        current_assets: Some(503.3),
        ppe: Some(1103.9),
        total_assets: Some(2003.9),
        depreciation: Some(51.7),
        sga: Some(183.1),
        long_term_debt: Some(611.9),
        current_liabilities: Some(311.7),
        net_income: Some(150.7),
        operating_cash_flow: Some(121.3),
        cash: None,
    };
    let years =
        BeneishM { current: accounts(1001.3, 111.1, 403.9), prior: accounts(903.7, 97.3, 331.9) };
    let score = years.score().expect("a score");
    let values = [
        score.m_score,
        score.probability,
        score.dsri,
        score.gmi,
        score.aqi,
        score.sgi,
        score.depi,
        score.sgai,
        score.lvgi,
        score.tata,
    ];
    lines.add("beneish", "two years", &values);
}
