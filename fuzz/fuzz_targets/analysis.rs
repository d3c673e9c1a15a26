//! Company value and scores.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quant_core::analysis::{
    AltmanZ, BeneishAccounts, BeneishM, DiscountedCashFlow, PiotroskiAccounts, PiotroskiF,
    growing_cash_flows,
};
use quant_fuzz::{Number, check, numbers};

type Drawn = (Vec<Number>, [Number; 7], [[Option<Number>; 13]; 2], u8);

fuzz_target!(|drawn: Drawn| {
    let (flows, figures, years, count) = drawn;
    let figures = figures.map(|number| number.0);
    let [working_capital, total_assets, retained_earnings, ebit, market_cap, liabilities, revenue] =
        figures;
    check(&growing_cash_flows(working_capital, total_assets, u32::from(count)));
    let firm = DiscountedCashFlow {
        fcff: numbers(&flows),
        wacc: working_capital,
        terminal_growth: total_assets,
        shares_outstanding: retained_earnings,
        net_debt: ebit,
    };
    check(&firm.value());
    check(&firm.explain());
    check(&firm.explain_projection());
    let firm = AltmanZ {
        working_capital,
        total_assets,
        retained_earnings,
        ebit,
        market_cap,
        total_liabilities: liabilities,
        revenue,
    };
    check(&firm.score());
    check(&firm.explain());
    let years = years.map(|accounts| accounts.map(|account| account.map(|number| number.0)));
    let [current, prior] = years.map(|year| PiotroskiAccounts {
        net_income: year[0],
        total_assets: year[1],
        operating_cash_flow: year[2],
        long_term_debt: year[3],
        current_assets: year[4],
        current_liabilities: year[5],
        current_ratio: year[6],
        shares_outstanding: year[7],
        gross_profit: year[8],
        revenue: year[9],
    });
    check(&PiotroskiF { current, prior }.score());
    check(&PiotroskiF { current, prior }.explain());
    let [current, prior] = years.map(|year| BeneishAccounts {
        revenue: year[0],
        receivables: year[1],
        gross_profit: year[2],
        current_assets: year[3],
        ppe: year[4],
        total_assets: year[5],
        depreciation: year[6],
        sga: year[7],
        long_term_debt: year[8],
        current_liabilities: year[9],
        net_income: year[10],
        operating_cash_flow: year[11],
        cash: year[12],
    });
    check(&BeneishM { current, prior }.score());
    check(&BeneishM { current, prior }.explain());
});
