//! A curve from deposits and swaps, its zero rates and forwards, between its pillars too, and the
//! smooth Nelson–Siegel–Svensson curve through the same rates.
//!
//! `cargo run --release -p quant-examples --example yield_curve`

use quant_core::{
    curves::{Curve, Instrument, InstrumentKind, Interpolation, NelsonSiegelSvensson},
    time::{NaiveDate, schedule::Frequency},
};
use quant_examples::{Chart, Line, SeriesLabelPosition};

const DEPOSITS: [(&str, f64); 4] = [("1M", 0.0388), ("3M", 0.0385), ("6M", 0.0375), ("1Y", 0.0352)];
const SWAPS: [(&str, f64); 8] = [
    ("2Y", 0.0322),
    ("3Y", 0.0310),
    ("5Y", 0.0303),
    ("7Y", 0.0306),
    ("10Y", 0.0315),
    ("15Y", 0.0327),
    ("20Y", 0.0328),
    ("30Y", 0.0312),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let today = NaiveDate::from_ymd_opt(2026, 1, 30).ok_or("a date")?;
    let quotes = quotes()?;
    let curve = Curve::bootstrap(today, &quotes, Interpolation::MonotoneConvex)?;
    let (tenors, zero_rates): (Vec<f64>, Vec<f64>) =
        curve.pillars().iter().map(|pillar| (pillar.tenor, pillar.zero_rate)).unzip();
    let fitted = NelsonSiegelSvensson::fit(&tenors, &zero_rates)?;

    println!("{:>12} {:>7} {:>9} {:>14} {:>9}", "date", "years", "zero", "discount", "fitted");
    for pillar in curve.pillars() {
        println!(
            "{:>12} {:>7.3} {:>8.4}% {:>14.10} {:>8.4}%",
            pillar.date.to_string(),
            pillar.tenor,
            100.0 * pillar.zero_rate,
            pillar.discount_factor,
            100.0 * fitted.at(pillar.tenor)?.zero_rate,
        );
    }
    let ahead = curve.between(5.0, 10.0)?;
    println!("\nfive years in five years: {:.4}% (simple)", 100.0 * ahead.simple_forward_rate);

    let years = || (1..=600).map(|step| f64::from(step) / 20.0);
    let line = |name, value: &dyn Fn(f64) -> quant_core::Result<f64>| -> quant_core::Result<Line> {
        let point = |tenor| Ok((tenor, 100.0 * value(tenor)?));
        Ok(Line { name, points: years().map(point).collect::<quant_core::Result<_>>()? })
    };
    let log_linear = Curve::bootstrap(today, &quotes, Interpolation::LogLinear)?;
    Chart {
        title: "Zero and forward rates, bootstrapped",
        x: "years",
        y: "rate (% a year, continuously compounded)",
        legend: SeriesLabelPosition::UpperMiddle,
        lines: &[
            line("zero rate", &|tenor| Ok(curve.at(tenor)?.zero_rate))?,
            line("forward, monotone convex", &|tenor| {
                Ok(curve.at(tenor)?.instantaneous_forward_rate)
            })?,
            line("forward, log-linear", &|tenor| {
                Ok(log_linear.at(tenor)?.instantaneous_forward_rate)
            })?,
            line("forward, Nelson–Siegel–Svensson", &|tenor| {
                Ok(fitted.at(tenor)?.instantaneous_forward_rate)
            })?,
        ],
        marks: &[],
    }
    .save("yield_curve")
}

fn quotes() -> quant_core::Result<Vec<Instrument>> {
    let deposits = DEPOSITS.map(|quote| (InstrumentKind::Deposit, quote));
    let swaps = SWAPS.map(|quote| (InstrumentKind::Swap, quote));
    let quotes = deposits.into_iter().chain(swaps).map(|(kind, (tenor, rate))| {
        let (frequency, conventions) = (Frequency::Annual, None);
        Ok(Instrument { kind, tenor: tenor.parse()?, rate, frequency, conventions })
    });
    quotes.collect()
}
