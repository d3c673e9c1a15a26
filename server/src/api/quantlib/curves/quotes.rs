//! Curves from quoted instruments, with the repricing error of every quote.

use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};
use quant_core::{curves, explanation::Explanation, time::tenor::Tenor};

use super::{
    Build, CurvePillar, Instrument, InstrumentType, Interpolation, LONG_FROM_PILLARS, Market,
    linear, pillars, quoted,
};
use crate::{
    api::quantlib::{Computation, example_answer},
    http::{Answer, Date, JsonString, Metered, Numbers, Tag, json_string::date},
};

/// The REST endpoints of bootstraps.
#[derive(Default)]
pub struct Bootstraps;

#[OpenApi(prefix_path = "/quantlib", tag = "Tag::Curves")]
impl Bootstraps {
    /// Bootstrap a curve and prove that it prices its instruments.
    ///
    /// The curve of `/quantlib/curves/build` from `instruments`, with the value of every instrument on
    /// the curve, the rate that the curve implies, and the number of iterations.
    #[oai(path = "/solver/bootstrap/curve", method = "post", operation_id = "bootstrap_curve")]
    async fn bootstrap(&self, call: Metered<Bootstrap>) -> Result<Answer<BootstrappedCurve>> {
        call.run().await
    }

    /// Build a curve from the rates of overnight indexed swaps.
    ///
    /// With `tenors` in years, or else from the rates of 1, 3 and 6 months and of 1, 2, 3, 5, 7, 10, 15,
    /// 20 and 30 years, as far as there are rates. Fixed payments are annual.
    #[oai(path = "/instruments/ois/build-curve", method = "post", operation_id = "build_ois_curve")]
    async fn overnight(&self, call: Metered<OvernightCurve>) -> Result<Answer<BootstrappedCurve>> {
        call.run().await
    }
}

/// Quoted instruments of a curve.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BootstrapCurveRequest", example)]
pub struct Bootstrap {
    /// The day on which the curve starts, `YYYY-MM-DD`.
    pub reference_date: Date,
    /// Quoted instruments, by increasing maturity; at most 1,000.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub instruments: Vec<Instrument>,
    /// Currency whose usual conventions hold for the instruments.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub market: Option<Market>,
    /// The interpolation between the pillars.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
}

/// Rates of overnight indexed swaps.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BuildOisCurveRequest", example)]
pub struct OvernightCurve {
    /// The day on which the curve starts, `YYYY-MM-DD`.
    pub reference_date: Date,
    /// Par rates, annual decimals from -2 to 2 (200 %), by increasing maturity; at most 1,000.
    #[oai(validator(min_items = 1, max_items = 1000))]
    pub ois_rates: Numbers,
    /// Times to maturity in years, one for each rate, read as whole months and days. Where absent, the
    /// rates are those of 1M, 3M, 6M, 1Y, 2Y, 3Y, 5Y, 7Y, 10Y, 15Y, 20Y and 30Y, from the first on.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_items = 1, max_items = 1000, minimum(value = "0", exclusive))
    )]
    pub tenors: Option<Numbers>,
    /// Currency whose usual conventions hold. Where absent, swaps start on the reference date, no date
    /// is moved, and a month is a twelfth of a year and a day a 365th.
    #[oai(nullable, skip_serializing_if_is_none)]
    pub market: Option<Market>,
    /// The interpolation between the pillars.
    #[oai(default = "linear")]
    pub interpolation: Interpolation,
}

/// A quoted instrument on the curve.
#[derive(Clone, Debug, Object)]
pub struct RepricedInstrument {
    /// The kind of the instrument.
    #[oai(rename = "type")]
    pub kind: InstrumentType,
    /// Time from settlement to maturity.
    pub tenor: JsonString<Tenor>,
    /// Date of the last payment.
    pub maturity_date: Date,
    /// The quoted rate.
    pub rate: f64,
    /// The rate at which the instrument is worth nothing on the curve.
    pub implied_rate: f64,
    /// The implied rate less the quoted one.
    pub error: f64,
    /// Value of the instrument on the curve for the receiver of the quoted rate, per unit of principal.
    pub present_value: f64,
    /// Value of the interest by the rate: of one unit a year where the interest is simple.
    pub annuity: f64,
}

/// A bootstrapped curve with the repricing of its instruments.
#[derive(Clone, Debug, Object)]
#[oai(rename = "BootstrappedCurve", example)]
pub struct BootstrappedCurve {
    /// The day on which the curve starts.
    pub reference_date: Date,
    /// The interpolation between the pillars.
    pub interpolation: Interpolation,
    /// The pillars, by increasing tenor.
    pub pillars: Vec<CurvePillar>,
    /// The instruments on the curve, in the order of the request.
    pub instruments: Vec<RepricedInstrument>,
    /// Passes over all pillars, with the steps of Newton's method for all at once; 1 where every pillar
    /// follows from those before.
    pub iterations: u32,
    /// The largest absolute present value of an instrument, per unit of principal.
    pub residual: f64,
    /// The largest absolute error of an implied rate.
    pub max_error: f64,
}

impl BootstrappedCurve {
    fn new(
        reference_date: Date,
        instruments: &[curves::Instrument],
        interpolation: Interpolation,
    ) -> quant_core::Result<Self> {
        let report = curves::Curve::bootstrap_with_report(
            reference_date.0,
            instruments,
            interpolation.into(),
        )?;
        let repriced = instruments.iter().zip(&report.repricings);
        Ok(Self {
            reference_date,
            interpolation,
            pillars: pillars(&report.curve),
            instruments: repriced.map(RepricedInstrument::from).collect(),
            iterations: report.iterations,
            residual: report.residual,
            max_error: report.largest_error,
        })
    }
}

impl From<(&curves::Instrument, &curves::Repricing)> for RepricedInstrument {
    fn from((instrument, repricing): (&curves::Instrument, &curves::Repricing)) -> Self {
        Self {
            kind: instrument.kind.into(),
            tenor: JsonString(instrument.tenor),
            maturity_date: JsonString(repricing.maturity_date),
            rate: instrument.rate,
            implied_rate: repricing.implied_rate,
            error: repricing.error,
            present_value: repricing.present_value,
            annuity: repricing.annuity,
        }
    }
}

impl From<curves::InstrumentKind> for InstrumentType {
    fn from(kind: curves::InstrumentKind) -> Self {
        match kind {
            curves::InstrumentKind::Deposit => Self::Deposit,
            curves::InstrumentKind::ForwardRateAgreement { .. } => Self::Fra,
            curves::InstrumentKind::Future { .. } => Self::Future,
            curves::InstrumentKind::OvernightIndexedSwap => Self::Ois,
            curves::InstrumentKind::Swap => Self::Swap,
        }
    }
}

impl Computation for Bootstrap {
    type Answer = BootstrappedCurve;

    fn compute(&self) -> quant_core::Result<BootstrappedCurve> {
        let instruments = quoted(&self.instruments, self.market)?;
        BootstrappedCurve::new(self.reference_date, &instruments, self.interpolation)
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        explain(self.reference_date, &quoted(&self.instruments, self.market)?, self.interpolation)
    }

    fn is_long(&self) -> bool {
        self.instruments.len() > LONG_FROM_PILLARS
    }
}

impl OvernightCurve {
    fn quotes(&self) -> quant_core::Result<Vec<curves::Instrument>> {
        let market = self.market.map(Into::into);
        curves::overnight_quotes(self.tenors.as_deref(), &self.ois_rates, market)
    }
}

fn explain(
    reference_date: Date,
    instruments: &[curves::Instrument],
    interpolation: Interpolation,
) -> quant_core::Result<Explanation> {
    curves::Curve::explain_bootstrap(reference_date.0, instruments, interpolation.into())
}

impl Computation for OvernightCurve {
    type Answer = BootstrappedCurve;

    fn compute(&self) -> quant_core::Result<BootstrappedCurve> {
        BootstrappedCurve::new(self.reference_date, &self.quotes()?, self.interpolation)
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        explain(self.reference_date, &self.quotes()?, self.interpolation)
    }

    fn is_long(&self) -> bool {
        self.ois_rates.len() > LONG_FROM_PILLARS
    }

    fn wire_name(argument: &'static str) -> &'static str {
        if argument == "instruments" { "ois_rates" } else { argument }
    }
}

impl Example for Bootstrap {
    fn example() -> Self {
        let Build { reference_date, instruments, market, interpolation, .. } = Build::example();
        let instruments = instruments.unwrap_or_default();
        Self { reference_date, instruments, market, interpolation }
    }
}

impl Example for OvernightCurve {
    fn example() -> Self {
        Self {
            reference_date: date(2024, 1, 15),
            ois_rates: vec![0.0531, 0.0528, 0.0518, 0.0486, 0.0418].into(),
            tenors: None,
            market: None,
            interpolation: Interpolation::Linear,
        }
    }
}

impl Example for BootstrappedCurve {
    fn example() -> Self {
        example_answer::<Bootstrap>()
    }
}
