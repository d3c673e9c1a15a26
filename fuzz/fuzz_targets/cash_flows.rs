//! Present values, internal rates, spreads and loans.

#![no_main]

use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use quant_core::{
    cash_flows::{
        Loan, dated_internal_rates, explain_dated_internal_rates, explain_internal_rates,
        explain_net_present_value, explain_z_spread, internal_rates, net_present_value, z_spread,
    },
    curves::Compounding,
    time::NaiveDate,
};
use quant_fuzz::{Date, Number, check, numbers, one};

const COMPOUNDINGS: [Compounding; 6] = [
    Compounding::Simple,
    Compounding::Annual,
    Compounding::Semiannual,
    Compounding::Quarterly,
    Compounding::Monthly,
    Compounding::Continuous,
];

#[derive(Arbitrary, Debug)]
struct Drawn {
    payments: Vec<(Number, Number, Number, Date)>,
    given: Number,
    rate: Number,
    n_periods: u16,
    frequency: u16,
    compounding: u8,
    has_times: bool,
}

fuzz_target!(|drawn: Drawn| {
    let column = |of: fn(&(Number, Number, Number, Date)) -> Number| -> Vec<f64> {
        numbers(&drawn.payments.iter().take(24).map(of).collect::<Vec<_>>())
    };
    let (cashflows, times, rates) = (column(|row| row.0), column(|row| row.1), column(|row| row.2));
    let dates: Vec<NaiveDate> = drawn.payments.iter().take(24).map(|row| row.3.0).collect();
    let sent = drawn.has_times.then_some(&times[..]);
    check(&net_present_value(&cashflows, sent, drawn.rate.0));
    check(&explain_net_present_value(&cashflows, sent, drawn.rate.0));
    check(&explain_internal_rates(&cashflows, sent));
    let found = internal_rates(&cashflows, sent);
    check(&found);
    if let Ok(found) = found {
        check(&found.nearest(drawn.rate.0));
    }
    check(&dated_internal_rates(&cashflows, &dates));
    check(&explain_dated_internal_rates(&cashflows, &dates));
    let compounding = one(&COMPOUNDINGS, drawn.compounding);
    check(&z_spread(drawn.given.0, &cashflows, &times, &rates, compounding));
    check(&explain_z_spread(drawn.given.0, &cashflows, &times, &rates, compounding));
    let loan = Loan {
        // Whole cents now and then.
        principal: if drawn.has_times { drawn.given.0 } else { drawn.given.0.round() },
        annual_rate: drawn.rate.0,
        n_periods: u32::from(drawn.n_periods),
        frequency: u32::from(drawn.frequency % 400),
    };
    check(&loan.amortization());
    check(&loan.explain());
});
