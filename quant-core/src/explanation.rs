//! Explanations: the method, the conventions and the numerical error of a result, as typed data.
//!
//! Each computation explains itself beside its mathematics: a problem with one method has `explain`,
//! a problem with several has one for each, as `explain_price` and `explain_greeks`. An explanation
//! runs the computation again where it needs the result, and refuses what the computation refuses.

use std::borrow::Cow;

use crate::named::named;

/// The way in which a result was computed, and how far it can be from the exact value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The method with its source.
    pub method: Method,
    /// The assumptions that the arguments do not state, a sentence each.
    pub conventions: Vec<Cow<'static, str>>,
    /// The number of steps, nodes or iterations that were used; `None` for a closed form.
    pub steps: Option<u32>,
    /// The distance to the exact value.
    pub error: ErrorStatement,
}

/// A method and where it was published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Method {
    /// The name of the method in the literature.
    pub name: Cow<'static, str>,
    /// Author, year, title, and the equation where it has a number.
    pub source: Cow<'static, str>,
}

/// The number of standard errors within which a normal estimate lies in 95 of 100 samples: the
/// quantile of the normal distribution at 97.5 %, as 2.5 % lie beyond either side.
pub(crate) const STANDARD_ERRORS: f64 = 1.959_963_984_540_054;

/// A statement about the distance between a result and the exact value.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorStatement {
    /// The cause of the largest part of the error.
    pub kind: ErrorKind,
    /// The field of the result that the statement is about, or "every field".
    pub quantity: Cow<'static, str>,
    /// The size of the error; zero or positive, in the unit of the quantity, or a fraction of it.
    pub estimate: f64,
    /// Whether `estimate` is in the unit of the quantity, or a fraction of it.
    pub scale: ErrorScale,
    /// Whether no result may differ by more. Otherwise at least 95 of 100 results differ by no more.
    pub is_bound: bool,
    /// The derivation of `estimate`.
    pub how: Cow<'static, str>,
}

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Numbers of finite precision.
    Rounding,
    /// A tree, a grid or a difference quotient of finite fineness.
    Discretisation,
    /// A solver or an optimiser that stops.
    Iteration,
    /// A sample of finite size, or random draws.
    Sampling,
}

named!(
    ErrorKind,
    "kind",
    Rounding = "rounding",
    Discretisation = "discretisation",
    Iteration = "iteration",
    Sampling = "sampling",
);

/// The unit of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorScale {
    /// The unit of the quantity.
    Absolute,
    /// A fraction of the quantity.
    Relative,
}

named!(ErrorScale, "scale", Absolute = "absolute", Relative = "relative");

impl Explanation {
    /// Makes an explanation without conventions and steps.
    pub(crate) fn new(method: Method, error: ErrorStatement) -> Self {
        Self { method, conventions: Vec::new(), steps: None, error }
    }

    /// Adds conventions, as those of an adapter that derives the arguments from others.
    #[must_use]
    pub fn with_conventions<T: Into<Cow<'static, str>>>(
        mut self,
        conventions: impl IntoIterator<Item = T>,
    ) -> Self {
        self.conventions.extend(conventions.into_iter().map(Into::into));
        self
    }

    /// Names the quantity of the error, as the field of an adapter's answer is called.
    #[must_use]
    pub fn with_quantity(mut self, name: &'static str) -> Self {
        self.error.quantity = name.into();
        self
    }

    /// States the number of steps, nodes or iterations.
    #[must_use]
    pub(crate) fn with_steps(self, steps: u32) -> Self {
        Self { steps: Some(steps), ..self }
    }
}

impl Method {
    /// Names a method and its source.
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), source: Cow::Borrowed(source) }
    }
}

impl ErrorStatement {
    /// States the estimate of a solver: the residual over the derivative, and the rounding.
    pub(crate) fn solved(
        quantity: &'static str,
        (residual, derivative): (f64, f64),
        rounding: f64,
        how: &'static str,
    ) -> Self {
        let distance = if residual == 0.0 { 0.0 } else { (residual / derivative).abs() };
        Self::estimated(ErrorKind::Iteration, quantity, distance + rounding, how)
    }

    /// States a relative bound of rounding, `how` names the class of arguments that it was tested on.
    pub(crate) fn rounding(quantity: &'static str, bound: f64, how: &'static str) -> Self {
        Self {
            kind: ErrorKind::Rounding,
            quantity: quantity.into(),
            estimate: bound,
            scale: ErrorScale::Relative,
            is_bound: true,
            how: how.into(),
        }
    }

    /// States a bound of rounding in the unit of the quantity, as for sums whose terms may cancel.
    pub(crate) fn rounding_within(quantity: &'static str, bound: f64, how: &'static str) -> Self {
        let kind = ErrorKind::Rounding;
        Self { is_bound: true, ..Self::estimated(kind, quantity, bound, how) }
    }

    /// States that the result has no error: dates, counts, choices.
    pub(crate) fn none(quantity: &'static str, how: &'static str) -> Self {
        Self::rounding(quantity, 0.0, how)
    }

    /// States an estimate in the unit of the quantity.
    pub(crate) fn estimated(
        kind: ErrorKind,
        quantity: &'static str,
        estimate: f64,
        how: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            kind,
            quantity: quantity.into(),
            // A sum of sizes may exceed the largest double, and is then no number.
            estimate: estimate.min(f64::MAX),
            scale: ErrorScale::Absolute,
            is_bound: false,
            how: how.into(),
        }
    }

    /// States the estimate as a fraction of the quantity.
    #[must_use]
    pub(crate) fn relative(self) -> Self {
        Self { scale: ErrorScale::Relative, ..self }
    }
}
