//! The evaluation of a computation: its arguments, the data of an answer, the faults of both, and its
//! repetition outside a metered call, to check an answer that was given.

use poem_openapi::{registry::Registry, types::ToJSON as _};
use quant_core::explanation::Explanation;
use serde_json::Value;

use super::{
    answer_options::Detail,
    body,
    body_schema::BodySchema,
    computation::Computation,
    echo,
    error::ApiError,
    fault_types,
    unknown_fields::UnknownFields,
    validation::{self, Fault, Step},
};

/// A computation as functions, without its type.
///
/// The path of a metered call takes this value, so that one copy of its code serves all operations.
/// Copies for each operation were a quarter of what the compiler optimised.
#[derive(Clone, Copy)]
pub struct Evaluator {
    /// True if `detail=full` adds fields to the answer.
    pub has_further_fields: bool,
    /// Returns the schema of the body; `None` for a computation without arguments.
    schema: fn() -> Option<BodySchema>,
    arguments: fn(Option<Value>) -> ReadArguments,
}

/// The arguments in a body, or the refusal of the body.
pub(super) type ReadArguments = Result<Box<dyn Arguments>, ApiError>;

/// The arguments of a computation, without their type.
pub(super) trait Arguments: Send {
    /// Returns whether the computation must run off the async threads.
    fn is_long(&self) -> bool;

    /// Computes the data of an answer, as JSON.
    fn data(&self, detail: Detail) -> Result<String, ApiError>;

    /// Explains the result.
    fn explain(&self) -> Result<Explanation, ApiError>;
}

impl Evaluator {
    /// The evaluator of a computation.
    #[must_use]
    pub const fn of<C: Computation>() -> Self {
        Self {
            has_further_fields: C::HAS_FURTHER_FIELDS,
            schema: schema::<C>,
            arguments: arguments::<C>,
        }
    }

    /// Returns the schema of the body; `None` for a computation without arguments.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn schema(self) -> Option<BodySchema> {
        (self.schema)()
    }

    /// Returns the arguments in a body that its schema allows; `None` stands for no body.
    pub(super) fn arguments(self, body: Option<Value>) -> ReadArguments {
        (self.arguments)(body)
    }

    /// Computes the data of an answer again, as JSON, from the bytes of the body, which are ignored
    /// for a computation without arguments.
    ///
    /// # Errors
    ///
    /// [`ApiError::Faults`] of a body that the computation refuses.
    pub fn recompute(self, bytes: &[u8], detail: Detail) -> Result<String, ApiError> {
        let read = |schema: BodySchema| {
            validation::read(&schema, bytes, &mut UnknownFields::default())
                .map_err(ApiError::Faults)
        };
        self.arguments((self.schema)().map(read).transpose()?)?.data(detail)
    }
}

fn schema<C: Computation>() -> Option<BodySchema> {
    C::IS_REQUIRED.then(|| {
        let mut registry = Registry::new();
        C::register(&mut registry);
        BodySchema::compile(&registry, &C::schema_ref())
    })
}

fn arguments<C: Computation>(body: Option<Value>) -> ReadArguments {
    let arguments: C = body::typed(body)?;
    let missing = missing_faults(&arguments);
    if missing.is_empty() { Ok(Box::new(arguments)) } else { Err(ApiError::Faults(missing)) }
}

impl<C: Computation> Arguments for C {
    fn is_long(&self) -> bool {
        Computation::is_long(self)
    }

    fn data(&self, detail: Detail) -> Result<String, ApiError> {
        let answer = match detail {
            Detail::Listed => self.compute(),
            Detail::Full => self.compute_in_full(),
        };
        let answer = answer.map_err(|error| fault(&error, C::wire_name))?;
        Ok(answer.to_json_string())
    }

    fn explain(&self) -> Result<Explanation, ApiError> {
        Computation::explain(self).map_err(|error| fault(&error, C::wire_name).into())
    }
}

/// The faults of the fields that are absent from arguments and that their form requires.
pub(super) fn missing_faults<C: Computation>(arguments: &C) -> Vec<Fault> {
    arguments.missing_fields().iter().map(|path| missing_fault(path)).collect()
}

/// The fault of a field that is absent from the body.
fn missing_fault(path: &[&'static str]) -> Fault {
    let steps = std::iter::once(&"body").chain(path).map(|name| Step::name(name));
    Fault::new(&steps.collect::<Vec<_>>(), "value_error.missing", "field required")
}

/// An error of the computation as a fault of the request, which may name an argument otherwise.
pub(super) fn fault(
    error: &quant_core::Error,
    wire_name: fn(&'static str) -> &'static str,
) -> Fault {
    let kind = fault_types::of_code(error.code());
    let mut path = vec![Step::name("body")];
    path.extend(error.argument().map(|argument| Step::name(wire_name(argument))));
    path.extend(error.index().map(Step::Index));
    Fault::new(&path, kind, echo::error(error))
}
