//! Explanations of curves: values, bootstraps, readings and shifts.

use std::borrow::Cow;

use super::compounding::Compounding;
use super::conventions::Conventions;
use super::curve::Curve;
use super::instrument::{Instrument, InstrumentKind};
use super::interpolation::Interpolation;
use super::reading::RateConventions;
use super::shift::ShiftSpace;
use crate::Result;
use crate::explanation::{ErrorKind, ErrorStatement, Explanation, Method};
use crate::time::{DayCount, NaiveDate};

/// The source of the interpolations and of the bootstrap.
const HAGAN_WEST: &str = "Hagan and West (2006), Interpolation Methods for Curve Construction, \
                          Applied Mathematical Finance 13(2)";

/// The tested error of a discount factor, in units of the factor and of 1 plus its logarithm.
const FACTOR_BOUND: f64 = 4e-15;

/// The tested error of a rate, relative, and in roundings of the numbers that give the rate.
const RATE_BOUND: f64 = 2e-15;

/// The residual of a par rate at which a shift of par rates ends, as `newton.rs` has it.
const PAR_RESIDUAL: f64 = 1e-12;

/// The rounding of the present value of an instrument, in units of its largest factor.
const PRESENT_VALUE_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The conventions of every curve.
const OF_EVERY_CURVE: [&str; 2] = [
    "Times are in years: a whole month counts a twelfth and a day of the rest a 365th.",
    "Zero rates of pillars and points are continuously compounded.",
];

const OF_PAR_RATES: &str = "Payments of a par rate are counted back from the tenor by parts of a year; \
                            the first period is short where they do not divide the tenor.";

const EXTRAPOLATED: &str = "The time is beyond the pillars, where the curve is extrapolated.";

impl Interpolation {
    /// Returns a sentence on the values between and beyond the pillars.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Linear => {
                "Zero rates are linear between pillars, and constant before the first and after the last."
            }
            Self::LogLinear => {
                "Forward rates are constant between pillars, from the reference date on; the last one \
                 continues."
            }
            Self::Cubic => {
                "Zero rates follow the natural cubic spline, and are constant before the first pillar \
                 and after the last."
            }
            Self::MonotoneConvex => {
                "Forward rates are those of the monotone convex method, and constant after the last \
                 pillar."
            }
        }
    }
}

impl Compounding {
    /// Returns the compounding of a rate in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Simple => "simple, without compounding",
            Self::Annual => "compounded once a year",
            Self::Semiannual => "compounded twice a year",
            Self::Quarterly => "compounded four times a year",
            Self::Monthly => "compounded twelve times a year",
            Self::Continuous => "continuously compounded",
        }
    }
}

impl Conventions {
    /// Returns a sentence on the dates and the interest of what is called so.
    pub(crate) fn sentence(&self, kind: &str) -> String {
        format!(
            "{kind}: interest by {}, {}; calendar {}, {}; settled after {} business days; month ends \
             are {}.",
            self.day_count,
            self.compounding.words(),
            self.calendar,
            self.convention,
            self.settlement_days,
            if self.end_of_month { "kept" } else { "not kept" },
        )
    }
}

impl RateConventions {
    /// Returns sentences on the rate.
    fn sentences(&self) -> Vec<Cow<'static, str>> {
        let mut sentences = vec![format!("The rate is {}.", self.compounding.words()).into()];
        sentences.push(match self.day_count {
            None => "The years of the rate are those of the tenors.".into(),
            Some(DayCount::ActActIcma) => {
                "ACT/ACT ICMA counts as ACT/ACT ISDA, since there are no coupon periods.".into()
            }
            Some(day_count) => {
                format!("The years of the rate are counted by {day_count} between dates.").into()
            }
        });
        sentences
    }
}

impl Curve {
    /// Explains the curve through given values, and the curve [at](Self::at) some tenors.
    ///
    /// # Errors
    ///
    /// The errors of [`at`](Self::at).
    pub fn explain_points(&self, tenors: &[f64]) -> Result<Explanation> {
        let mut largest = 0.0_f64;
        for tenor in self.pillars().iter().map(|pillar| pillar.tenor).chain(tenors.iter().copied())
        {
            largest = largest.max((self.at(tenor)?.zero_rate * tenor).abs());
        }
        let bound = (FACTOR_BOUND * (1.0 + largest)).min(f64::MAX);
        let how = "largest relative error against 50 digits, times 1 plus the logarithm of the \
                   factor; curves through up to nine values of each kind and interpolation";
        let error = ErrorStatement::rounding("discount_factor", bound, how);
        let explanation = Explanation::new(Method::new(self.method_name(), HAGAN_WEST), error);
        Ok(explanation.with_conventions(self.conventions()))
    }

    /// Explains [`zero_reading`](Self::zero_reading), with the conventions of
    /// [`par_rate`](Self::par_rate).
    ///
    /// # Errors
    ///
    /// The errors of [`zero_reading`](Self::zero_reading).
    pub fn explain_zero_reading(
        &self,
        tenor: f64,
        conventions: &RateConventions,
    ) -> Result<Explanation> {
        let reading = self.zero_reading(tenor, conventions)?;
        Ok(self
            .explain_points(&[tenor])?
            .with_conventions(conventions.sentences())
            .with_conventions([OF_PAR_RATES])
            .with_conventions(reading.is_extrapolated.then_some(EXTRAPOLATED)))
    }

    /// Explains [`forward_reading`](Self::forward_reading).
    ///
    /// # Errors
    ///
    /// The errors of [`forward_reading`](Self::forward_reading).
    pub fn explain_forward_reading(
        &self,
        start: f64,
        end: f64,
        conventions: &RateConventions,
    ) -> Result<Explanation> {
        let reading = self.forward_reading(start, end, conventions)?;
        let rounding = f64::EPSILON * (1.0 + self.largest_rate() * end.max(1.0)) / reading.years;
        let error = ErrorStatement::rounding_within(
            "forward_rate",
            RATE_BOUND * reading.forward_rate.abs() + 2.0 * rounding,
            "largest error against 50 digits in units of the rate, and of a rounding of the curve's \
             values over the years of the period",
        );
        let explanation = Explanation::new(Method::new(self.method_name(), HAGAN_WEST), error);
        Ok(explanation
            .with_conventions(self.conventions())
            .with_conventions(conventions.sentences())
            .with_conventions(reading.is_extrapolated.then_some(EXTRAPOLATED)))
    }

    /// Explains [`bootstrap`](Self::bootstrap) and
    /// [`bootstrap_with_report`](Self::bootstrap_with_report).
    ///
    /// The residual of an instrument is an amount at its maturity, so that it is the error of the
    /// discount factor there, as far as the factors before are exact.
    ///
    /// # Errors
    ///
    /// The errors of [`bootstrap`](Self::bootstrap) and of [`at`](Self::at).
    pub fn explain_bootstrap(
        reference_date: NaiveDate,
        instruments: &[Instrument],
        interpolation: Interpolation,
    ) -> Result<Explanation> {
        let (curve, iterations) =
            Self::bootstrap_counted(reference_date, instruments, interpolation)?;
        let factors = curve.pillars().iter().map(|pillar| pillar.discount_factor);
        let error = ErrorStatement::solved(
            "discount_factor",
            (curve.residual(instruments)?, 1.0),
            PRESENT_VALUE_ROUNDING * factors.fold(1.0, f64::max),
            "largest present value of a quoted instrument per unit of principal, which is that of an \
             error of the discount factor at its maturity, and eight roundings",
        );
        let explanation = Explanation::new(Method::new("bootstrap", HAGAN_WEST), error);
        Ok(explanation
            .with_steps(iterations)
            .with_conventions(curve.conventions())
            .with_conventions(quote_sentences(instruments)))
    }

    /// Explains [`parallel_shift`](Self::parallel_shift).
    ///
    /// # Errors
    ///
    /// The errors of [`parallel_shift`](Self::parallel_shift).
    pub fn explain_parallel_shift(&self, shift: f64, space: ShiftSpace) -> Result<Explanation> {
        let shifted = self.parallel_shift(shift, space)?.curve;
        let method = Method::new(
            "parallel shift",
            "Fisher and Weil (1971), Coping with the Risk of Interest-Rate Fluctuations, Journal of \
             Business 44(4)",
        );
        let sentence = match space {
            ShiftSpace::ZeroRate => "The shift is added to the zero rate of every pillar.",
            ShiftSpace::SimpleForwardRate => {
                "The shift is added to the simple forward rate from each pillar to the next."
            }
            ShiftSpace::DiscountFactor => {
                "The shift is added to the discount factor of every pillar; a basis point is 0.0001."
            }
            ShiftSpace::ParRate => {
                "The shift is added to the rate of a par swap with annual payments up to every pillar."
            }
        };
        let explanation = shifted.explain_shift(method, sentence);
        if space != ShiftSpace::ParRate {
            return Ok(explanation);
        }
        let error = ErrorStatement::estimated(
            ErrorKind::Iteration,
            "zero_rate",
            PAR_RESIDUAL / shifted.pillars()[0].tenor.min(1.0),
            "residual of a par rate at which Newton's method ends, over the years to the first \
             pillar where these are below 1",
        );
        Ok(Explanation { error, ..explanation })
    }

    /// Explains [`key_rate_shift`](Self::key_rate_shift).
    ///
    /// # Errors
    ///
    /// The errors of [`key_rate_shift`](Self::key_rate_shift).
    pub fn explain_key_rate_shift(
        &self,
        tenor: f64,
        shift: f64,
        width: f64,
    ) -> Result<Explanation> {
        let shifted = self.key_rate_shift(tenor, shift, width)?.curve;
        let method = Method::new(
            "key rate shift",
            "Ho (1992), Key Rate Durations: Measures of Interest Rate Risks, Journal of Fixed Income \
             2(2)",
        );
        let sentence = "The shift of a zero rate falls in a straight line from the key tenor to zero \
                        at the width, on both sides.";
        Ok(shifted.explain_shift(method, sentence))
    }

    /// Explains a shift of which this curve is the result.
    fn explain_shift(&self, method: Method, sentence: &'static str) -> Explanation {
        let shortest = self.pillars()[0].tenor.min(1.0);
        let error = ErrorStatement::rounding_within(
            "zero_rate",
            1e-15 * self.largest_rate().max(1.0) / shortest,
            "largest error of a zero rate against 50 digits in units of the larger of 1 and the \
             largest rate, over the years to the first pillar where these are below 1",
        );
        Explanation::new(method, error)
            .with_conventions(self.conventions())
            .with_conventions([sentence, "Only pillars are shifted; none is added."])
    }

    /// Returns the sentences on the time and the interpolation.
    pub(crate) fn conventions(&self) -> [&'static str; 3] {
        let [times, rates] = OF_EVERY_CURVE;
        [times, rates, self.interpolant.interpolation().sentence()]
    }

    fn method_name(&self) -> &'static str {
        match self.interpolant.interpolation() {
            Interpolation::Linear => "linear interpolation of zero rates",
            Interpolation::LogLinear => {
                "linear interpolation of the logarithms of discount factors"
            }
            Interpolation::Cubic => "natural cubic spline of zero rates",
            Interpolation::MonotoneConvex => "monotone convex interpolation of forward rates",
        }
    }

    fn largest_rate(&self) -> f64 {
        self.pillars().iter().fold(0.0, |largest, pillar| largest.max(pillar.zero_rate.abs()))
    }
}

/// Returns sentences on the conventions of quoted instruments, each once.
fn quote_sentences(instruments: &[Instrument]) -> Vec<Cow<'static, str>> {
    let mut sentences: Vec<Cow<'static, str>> =
        vec!["One curve gives forward rates and discount factors.".into()];
    for instrument in instruments {
        let kind = match instrument.kind {
            InstrumentKind::Deposit => "deposit",
            InstrumentKind::ForwardRateAgreement { .. } => "forward rate agreement",
            InstrumentKind::Future { .. } => "future, less its convexity",
            InstrumentKind::OvernightIndexedSwap => "overnight indexed swap",
            InstrumentKind::Swap => "par swap",
        };
        let sentence = match instrument.conventions {
            Some(conventions) => conventions.sentence(kind).into(),
            None => {
                "Instruments without conventions start on the reference date, move no date, and \
                     count interest by the months and days of the tenor."
                    .into()
            }
        };
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}
