//! Numerical differentiation.

use poem::Result;
use poem_openapi::{
    Enum, Object, OpenApi,
    types::{Example, MaybeUndefined},
};
use quant_core::{explanation::Explanation, numerical::derivative};

use super::{Computation, example_answer};
use crate::http::{Answer, Metered, Tag, without_negative_zero};

/// The REST endpoints of numerical differentiation.
#[derive(Default)]
pub struct Numerical;

#[OpenApi(prefix_path = "/quantlib/numerical/differentiation", tag = "Tag::Numerical")]
impl Numerical {
    /// Differentiate a function by finite differences.
    ///
    /// The value is the difference quotient itself at the given step, to the last bits, not its
    /// limit: what a smaller step changes is the quotient, not the rounding.
    #[oai(path = "/derivative", method = "post", operation_id = "differentiate_function")]
    async fn derivative(&self, call: Metered<Derivative>) -> Result<Answer<DerivativeValue>> {
        call.run().await
    }
}

/// A function that can be differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase", remote = "derivative::Function")]
pub enum Function {
    /// The exponential function.
    Exp,
    /// The natural logarithm; its points must be positive.
    Log,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The square root; its points must not be negative.
    Sqrt,
    /// The tangent of an angle in radians.
    Tan,
    /// The square.
    #[oai(rename = "x2")]
    Square,
    /// The cube.
    #[oai(rename = "x3")]
    Cube,
}

/// The position of the second point of the difference quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "DifferenceScheme", rename_all = "lowercase", remote = "derivative::Scheme")]
pub enum Scheme {
    /// `(f(x+h) - f(x-h)) / 2h`.
    Central,
    /// `(f(x+h) - f(x)) / h`.
    Forward,
    /// `(f(x) - f(x-h)) / h`.
    Backward,
}

/// A difference quotient.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DerivativeRequest", example)]
pub struct Derivative {
    /// The function to differentiate.
    pub func_name: Function,
    /// The point at which to differentiate.
    pub x: f64,
    /// The step; positive.
    #[oai(default = "default_step", validator(minimum(value = "0", exclusive)))]
    pub h: f64,
    /// The position of the second point of the difference quotient.
    #[oai(default = "central")]
    pub method: Scheme,
}

/// The value of a difference quotient.
#[derive(Clone, Debug, Object)]
#[oai(rename = "DerivativeValue", example)]
pub struct DerivativeValue {
    /// The function.
    pub function: Function,
    /// The point.
    pub x: f64,
    /// The value of the quotient.
    pub derivative: f64,
    /// The position of the second point of the difference quotient.
    pub method: Scheme,
    /// The step. With `detail=full`.
    #[oai(skip_serializing_if_is_none)]
    pub h: Option<f64>,
    /// The derivative itself, to which the quotient tends as the step does to zero; null where there is
    /// none, or none that is a double. With `detail=full`.
    #[oai(nullable)]
    pub analytic_derivative: MaybeUndefined<f64>,
}

impl Computation for Derivative {
    type Answer = DerivativeValue;

    const HAS_FURTHER_FIELDS: bool = true;

    fn compute(&self) -> quant_core::Result<DerivativeValue> {
        let (function, scheme) = (self.func_name.into(), self.method.into());
        Ok(DerivativeValue {
            function: self.func_name,
            x: without_negative_zero(self.x),
            derivative: derivative(function, self.x, self.h, scheme)?,
            method: self.method,
            h: None,
            analytic_derivative: MaybeUndefined::Undefined,
        })
    }

    fn compute_in_full(&self) -> quant_core::Result<DerivativeValue> {
        let listed = self.compute()?;
        // A quotient may be a double where the derivative is not, as that of a logarithm near zero.
        let limit = derivative::analytic_derivative(self.func_name.into(), self.x);
        Ok(DerivativeValue {
            h: Some(self.h),
            analytic_derivative: MaybeUndefined::from_opt_null(limit.ok().flatten()),
            ..listed
        })
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        let (function, scheme) = (self.func_name.into(), self.method.into());
        derivative::explain_derivative(function, self.x, self.h, scheme)
    }
}

fn default_step() -> f64 {
    1e-5
}

fn central() -> Scheme {
    Scheme::Central
}

impl Example for Derivative {
    fn example() -> Self {
        Self { func_name: Function::Exp, x: 1.0, h: 1e-5, method: Scheme::Central }
    }
}

impl Example for DerivativeValue {
    fn example() -> Self {
        example_answer::<Derivative>()
    }
}
