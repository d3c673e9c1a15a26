//! The evaluation of a computation: the data of an answer, the faults of its arguments, and its
//! repetition outside a metered call, to check an answer that was given.

use poem_openapi::{registry::Registry, types::ToJSON as _};

use super::{
    answer_options::Detail,
    body,
    body_schema::BodySchema,
    computation::Computation,
    echo,
    error::ApiError,
    fault_types,
    unknown_fields::UnknownFields,
    validation::{Fault, Step},
};

/// [`recompute`] for one computation, as the table of operations holds it.
pub type Recomputer = fn(&[u8], Detail) -> Result<String, ApiError>;

/// Computes the data of an answer again, as JSON, from the bytes of the body, which are ignored for
/// a computation without arguments.
///
/// # Errors
///
/// [`ApiError::Faults`] of a body that the computation refuses.
pub fn recompute<C: Computation>(bytes: &[u8], detail: Detail) -> Result<String, ApiError> {
    let arguments: C = if C::IS_REQUIRED {
        let mut registry = Registry::new();
        C::register(&mut registry);
        let schema = BodySchema::compile(&registry, &C::schema_ref());
        body::parse_along(&schema, bytes, &mut UnknownFields::default(), |_| {})?
    } else {
        C::parse_from_json(None).map_err(|_| ApiError::Internal)?
    };
    refuse_missing(&arguments)?;
    answer_data(&arguments, detail)
}

/// Computes the data of an answer, as JSON.
pub(super) fn answer_data<C: Computation>(
    arguments: &C,
    detail: Detail,
) -> Result<String, ApiError> {
    let answer = match detail {
        Detail::Listed => arguments.compute(),
        Detail::Full => arguments.compute_in_full(),
    };
    let answer = answer.map_err(|error| fault::<C>(&error))?;
    Ok(answer.to_json_string())
}

/// Refuses arguments of which fields are absent.
pub(super) fn refuse_missing<C: Computation>(arguments: &C) -> Result<(), ApiError> {
    let missing = missing_faults(arguments);
    if missing.is_empty() { Ok(()) } else { Err(ApiError::Faults(missing)) }
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

/// An error of the computation as a fault of the request.
pub(super) fn fault<C: Computation>(error: &quant_core::Error) -> Fault {
    let kind = fault_types::of_code(error.code());
    let mut path = vec![Step::name("body")];
    path.extend(error.argument().map(|argument| Step::name(C::wire_name(argument))));
    path.extend(error.index().map(Step::Index));
    Fault::new(&path, kind, echo::error(error))
}
