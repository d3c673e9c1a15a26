//! The error type of every computation of this crate.

use thiserror::Error;

/// The result of a computation, with this crate's [`Error`](enum@Error).
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a computation refused its arguments, or could not finish.
///
/// Errors are data: every variant names the argument at fault, and [`code`](Error::code) is
/// stable across releases. The text is for people.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A number lies outside the range in which the computation means something.
    #[error("`{argument}` is {value:?}, but must be {requirement}")]
    Domain {
        /// The name of the argument that is out of range.
        argument: &'static str,
        /// The value that was given for the argument.
        value: f64,
        /// The accepted values, as in "zero or a positive finite number".
        requirement: &'static str,
    },
    /// An element of a series lies outside its range.
    #[error("`{argument}[{index}]` is {value:?}, but must be {requirement}")]
    Element {
        /// The name of the series that the element is in.
        argument: &'static str,
        /// The position of the element in the series, from zero.
        index: usize,
        /// The value of the element.
        value: f64,
        /// The accepted values, as in "zero or a positive finite number".
        requirement: &'static str,
    },
    /// A series has the wrong number of elements.
    #[error("`{argument}` has {found} elements, but must have {expected}")]
    Shape {
        /// The name of the series that has the wrong length.
        argument: &'static str,
        /// The number of elements that the computation requires.
        expected: usize,
        /// The number of elements that were given.
        found: usize,
    },
    /// A series or a count is too short or too small for the computation.
    #[error("`{argument}`: {found} is too few, at least {needed} needed")]
    TooFew {
        /// The name of the series or count that is too short or too small.
        argument: &'static str,
        /// The smallest length or count that the computation accepts.
        needed: usize,
        /// The length or count that was given.
        found: usize,
    },
    /// A series that must add up to a certain number does not.
    #[error("`{argument}` adds up to {sum}, but must add up to {requirement}")]
    Sum {
        /// The name of the series that adds up to another number.
        argument: &'static str,
        /// The sum of the elements that were given.
        sum: f64,
        /// The accepted sums, as in "1 within 1e-6".
        requirement: &'static str,
    },
    /// A text that cannot be read: a tenor, a name.
    #[error("`{argument}` is {value:?}, but must be {requirement}")]
    Text {
        /// The name of the argument that cannot be read.
        argument: &'static str,
        /// The text that was given.
        value: String,
        /// The accepted texts.
        requirement: &'static str,
    },
    /// A date outside the range that the computation allows.
    #[error("`{argument}` is {value}, but must be {requirement}")]
    Date {
        /// The name of the argument that is out of range.
        argument: &'static str,
        /// The date that was given.
        value: chrono::NaiveDate,
        /// The accepted dates.
        requirement: &'static str,
    },
    /// Arguments that contradict each other, or one that is missing beside another.
    #[error("`{argument}` {problem}")]
    Conflict {
        /// The name of the argument that contradicts another or is missing.
        argument: &'static str,
        /// The contradiction, as in "is needed where `price` is absent".
        problem: &'static str,
    },
    /// A matrix that must be symmetric is not.
    #[error("`{argument}` is not symmetric: rows {row} and {column} disagree")]
    Asymmetric {
        /// The name of the matrix that is not symmetric.
        argument: &'static str,
        /// The row, from zero, of the first element that differs from its mirror image.
        row: usize,
        /// The column, from zero, of the first element that differs from its mirror image.
        column: usize,
    },
    /// A matrix that must be positive semi-definite is not.
    #[error("`{argument}` is not positive semi-definite: the factor fails at asset {pivot}")]
    NotPositiveSemiDefinite {
        /// The name of the matrix that is not positive semi-definite.
        argument: &'static str,
        /// The row at which the factorisation failed.
        pivot: usize,
    },
    /// No point satisfies all constraints of the problem.
    #[error("`{argument}` cannot be met: {problem}")]
    Infeasible {
        /// The name of the constraint that cannot be met.
        argument: &'static str,
        /// The position, from zero, of the element at fault; `None` where no single element is at
        /// fault.
        index: Option<usize>,
        /// The bound or sum that fails, with its figures.
        problem: String,
    },
    /// The result is not a finite number.
    #[error("the result is beyond the range of a double, driven there by `{argument}`")]
    Overflow {
        /// The argument that drives the result out of range.
        argument: &'static str,
    },
    /// An iteration stopped before it met its tolerance.
    #[error("{method} did not converge in {iterations} iterations (residual {residual:e})")]
    NoConvergence {
        /// The name of the numerical method.
        method: &'static str,
        /// The number of iterations that were made.
        iterations: u32,
        /// The residual after the last iteration.
        residual: f64,
    },
}

impl Error {
    /// A stable name of the kind of error, for programs.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::entropy::shannon::shannon_entropy;
    ///
    /// let refused = shannon_entropy(&[0.5, 0.7, -0.2], 2.0).unwrap_err();
    /// assert_eq!(refused.code(), "domain");
    /// assert_eq!((refused.argument(), refused.index()), (Some("probabilities"), Some(2)));
    /// ```
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Domain { .. } | Self::Element { .. } => "domain",
            Self::Shape { .. } => "shape",
            Self::TooFew { .. } => "too_few",
            Self::Sum { .. } => "sum",
            Self::Text { .. } => "text",
            Self::Date { .. } => "date",
            Self::Conflict { .. } => "conflict",
            Self::Asymmetric { .. } => "asymmetric",
            Self::NotPositiveSemiDefinite { .. } => "not_positive_semi_definite",
            Self::Infeasible { .. } => "infeasible",
            Self::Overflow { .. } => "overflow",
            Self::NoConvergence { .. } => "no_convergence",
        }
    }

    /// The argument at fault; `None` where no single one is.
    #[must_use]
    pub fn argument(&self) -> Option<&'static str> {
        match self {
            Self::Domain { argument, .. }
            | Self::Element { argument, .. }
            | Self::Shape { argument, .. }
            | Self::TooFew { argument, .. }
            | Self::Sum { argument, .. }
            | Self::Text { argument, .. }
            | Self::Date { argument, .. }
            | Self::Conflict { argument, .. }
            | Self::Asymmetric { argument, .. }
            | Self::NotPositiveSemiDefinite { argument, .. }
            | Self::Infeasible { argument, .. }
            | Self::Overflow { argument } => Some(argument),
            Self::NoConvergence { .. } => None,
        }
    }

    /// Returns the same error about the argument that `rename` names instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use quant_core::entropy::shannon::shannon_entropy;
    ///
    /// let refused = shannon_entropy(&[1.5], 2.0).unwrap_err().renamed(|_| "weights");
    /// assert_eq!(refused.argument(), Some("weights"));
    /// ```
    #[must_use]
    pub fn renamed(mut self, rename: impl Fn(&'static str) -> &'static str) -> Self {
        match &mut self {
            Self::Domain { argument, .. }
            | Self::Element { argument, .. }
            | Self::Shape { argument, .. }
            | Self::TooFew { argument, .. }
            | Self::Sum { argument, .. }
            | Self::Text { argument, .. }
            | Self::Date { argument, .. }
            | Self::Conflict { argument, .. }
            | Self::Asymmetric { argument, .. }
            | Self::NotPositiveSemiDefinite { argument, .. }
            | Self::Infeasible { argument, .. }
            | Self::Overflow { argument } => *argument = rename(argument),
            Self::NoConvergence { .. } => {}
        }
        self
    }

    /// The position in that argument, from zero, where a single element is at fault.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Element { index, .. } => Some(*index),
            Self::Asymmetric { row, .. } => Some(*row),
            Self::NotPositiveSemiDefinite { pivot, .. } => Some(*pivot),
            Self::Infeasible { index, .. } => *index,
            _ => None,
        }
    }
}

/// Serialises the code, the argument, the index and the text. There is no deserialisation: the names
/// of arguments are `&'static str`.
#[cfg(feature = "serde")]
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut fields = serializer.serialize_struct("Error", 4)?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("argument", &self.argument())?;
        fields.serialize_field("index", &self.index())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_argument_and_the_requirement() {
        let error = Error::Domain {
            argument: "volatility",
            value: -0.2,
            requirement: "zero or a positive finite number",
        };
        assert_eq!(
            error.to_string(),
            "`volatility` is -0.2, but must be zero or a positive finite number"
        );
        assert_eq!(
            (error.code(), error.argument(), error.index()),
            ("domain", Some("volatility"), None)
        );
    }
}
