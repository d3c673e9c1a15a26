//! An option chain: market prices, the volatilities they imply, their smile, and the Greeks.
//!
//! `cargo run --release -p quant-examples --example option_chain`

use quant_core::{
    Result,
    pricing::{
        black_scholes::{EuropeanOption, OptionType},
        implied_volatility::QuotedOption,
    },
};
use quant_examples::{Chart, Line, SeriesLabelPosition};

const SPOT: f64 = 100.0;
const RATE: f64 = 0.03;
const DIVIDEND_YIELD: f64 = 0.01;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let years = 0.25;
    println!("spot {SPOT}, {years} years to go, out of the money");
    println!("volatility a year; vega and vanna for 1 % of volatility, theta for a calendar day\n");
    println!(
        "{:>6} {:>5} {:>7} {:>10} {:>8} {:>7} {:>7} {:>8} {:>7}",
        "strike", "", "price", "volatility", "delta", "gamma", "vega", "theta", "vanna"
    );
    for strike in (75..=120).step_by(5).map(f64::from) {
        let quote = market_quote(strike, years)?;
        let option = EuropeanOption {
            option_type: quote.option_type,
            spot: quote.spot,
            strike,
            risk_free_rate: quote.risk_free_rate,
            dividend_yield: quote.dividend_yield,
            volatility: quote.implied_volatility()?,
            time_to_maturity: years,
        };
        let greeks = option.greeks()?;
        // As they are quoted: vega and vanna for a point of volatility, theta for a day.
        println!(
            "{strike:>6} {:>5} {:>7.2} {:>9.3}% {:>8.4} {:>7.4} {:>7.4} {:>8.4} {:>7.4}",
            if option.option_type == OptionType::Call { "call" } else { "put" },
            quote.price,
            100.0 * option.volatility,
            greeks.delta,
            greeks.gamma,
            greeks.vega / 100.0,
            greeks.theta / 365.0,
            greeks.vanna / 100.0,
        );
    }

    let strikes = || (150..=240).map(|step| f64::from(step) / 2.0);
    let line = |name, volatility: &dyn Fn(f64) -> Result<f64>| -> Result<Line> {
        let point = |strike| Ok((strike, 100.0 * volatility(strike)?));
        Ok(Line { name, points: strikes().map(point).collect::<Result<_>>()? })
    };
    let implied = |years| move |strike| market_quote(strike, years)?.implied_volatility();
    Chart {
        title: "The smile of prices quoted in whole cents",
        x: "strike",
        y: "implied volatility (% a year)",
        legend: SeriesLabelPosition::UpperRight,
        lines: &[
            line("three months, implied", &implied(0.25))?,
            line("three months, the market's own", &|strike| Ok(skew(strike, 0.25)))?,
            line("one year, implied", &implied(1.0))?,
            line("one year, the market's own", &|strike| Ok(skew(strike, 1.0)))?,
        ],
        marks: &[],
    }
    .save("option_chain")
}

/// The market of this example: the volatility at which it trades a strike, a parabola in the
/// distance of the strike from the spot that is flatter for longer times.
fn skew(strike: f64, years: f64) -> f64 {
    let distance = (strike / SPOT - 1.0) / years.sqrt();
    0.18 - 0.05 * distance + 0.12 * distance * distance
}

/// The quotes of the market: prices of out-of-the-money options, in whole cents.
fn market_quote(strike: f64, years: f64) -> Result<QuotedOption> {
    let option = EuropeanOption {
        option_type: if strike < SPOT { OptionType::Put } else { OptionType::Call },
        spot: SPOT,
        strike,
        risk_free_rate: RATE,
        dividend_yield: DIVIDEND_YIELD,
        volatility: skew(strike, years),
        time_to_maturity: years,
    };
    Ok(QuotedOption {
        option_type: option.option_type,
        spot: SPOT,
        strike,
        risk_free_rate: RATE,
        dividend_yield: DIVIDEND_YIELD,
        price: (100.0 * option.price()?).round() / 100.0,
        time_to_maturity: years,
    })
}
