//! The traits of a metered computation.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{Example, ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use quant_core::explanation::Explanation;
use serde_json::Value;

/// A request that one function of `quant-core` answers.
pub trait Computation: ParseFromJSON + Send + 'static {
    /// The type of the field `data` in the answer.
    type Answer: ToJSON + Send + 'static;

    /// True if `detail=full` adds fields to the answer.
    const HAS_FURTHER_FIELDS: bool = false;

    /// Computes the answer.
    ///
    /// # Errors
    ///
    /// Every error of the function of `quant-core`.
    fn compute(&self) -> quant_core::Result<Self::Answer>;

    /// Returns the paths of the fields that this request lacks, where the schema cannot say so: a
    /// request of several forms requires those of its form alone.
    fn missing_fields(&self) -> Vec<Vec<&'static str>> {
        Vec::new()
    }

    /// Computes the answer with its further fields, which are absent from that of
    /// [`compute`](Self::compute).
    ///
    /// # Errors
    ///
    /// Every error of the functions of `quant-core`.
    fn compute_in_full(&self) -> quant_core::Result<Self::Answer> {
        self.compute()
    }

    /// Explains the result of [`compute`](Self::compute).
    ///
    /// # Errors
    ///
    /// Every error of the functions of `quant-core`.
    fn explain(&self) -> quant_core::Result<Explanation>;

    /// Returns whether this request may take over a millisecond, so that it must run off the async threads.
    fn is_long(&self) -> bool {
        false
    }

    /// The name of an argument of `quant-core` in this request, where the two differ.
    #[must_use]
    fn wire_name(argument: &'static str) -> &'static str {
        argument
    }
}

/// A computation whose request other computations take as well, as those of prices and of Greeks.
///
/// Each is a type without data. The endpoint and the table of operations name
/// [`RequestFor`] that type, so that one schema of a request serves all of them.
pub trait SharedComputation: Send + Sync + 'static {
    /// The type of the body, which all computations of the group take.
    type Request: ParseFromJSON + Example + Send + 'static;
    /// The type of the field `data` in the answer.
    type Answer: ToJSON + Send + 'static;

    /// Computes the answer to a request.
    ///
    /// # Errors
    ///
    /// Every error of the function of `quant-core`.
    fn compute(request: &Self::Request) -> quant_core::Result<Self::Answer>;

    /// Returns the paths of the fields that a request lacks, where the schema cannot say so.
    fn missing_fields(_request: &Self::Request) -> Vec<Vec<&'static str>> {
        Vec::new()
    }

    /// Explains the result of [`compute`](Self::compute).
    ///
    /// # Errors
    ///
    /// Every error of the functions of `quant-core`.
    fn explain(request: &Self::Request) -> quant_core::Result<Explanation>;

    /// Returns whether a request may take over a millisecond, as in [`Computation::is_long`].
    fn is_long(_request: &Self::Request) -> bool {
        false
    }

    /// The name of an argument of `quant-core` in the request, where the two differ.
    #[must_use]
    fn wire_name(argument: &'static str) -> &'static str {
        argument
    }
}

/// The request of a computation without arguments, which is a `GET` without a body.
#[derive(Clone, Copy, Debug)]
pub struct NoArguments;

impl Example for NoArguments {
    fn example() -> Self {
        Self
    }
}

impl ParseFromJSON for NoArguments {
    fn parse_from_json(_: Option<Value>) -> ParseResult<Self> {
        Ok(Self)
    }
}

impl Type for NoArguments {
    const IS_REQUIRED: bool = false;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new("object")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(std::iter::once(self))
    }
}

/// A request for one of the computations that share its type.
pub struct RequestFor<C: SharedComputation>(pub C::Request);

impl<C: SharedComputation> Computation for RequestFor<C> {
    type Answer = C::Answer;

    fn compute(&self) -> quant_core::Result<C::Answer> {
        C::compute(&self.0)
    }

    fn missing_fields(&self) -> Vec<Vec<&'static str>> {
        C::missing_fields(&self.0)
    }

    fn explain(&self) -> quant_core::Result<Explanation> {
        C::explain(&self.0)
    }

    fn is_long(&self) -> bool {
        C::is_long(&self.0)
    }

    fn wire_name(argument: &'static str) -> &'static str {
        C::wire_name(argument)
    }
}

impl<C: SharedComputation> Example for RequestFor<C> {
    fn example() -> Self {
        Self(C::Request::example())
    }
}

impl<C: SharedComputation> ParseFromJSON for RequestFor<C> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        // The text of the error names the request's type and is kept as it is.
        C::Request::parse_from_json(value).map(Self).map_err(ParseError::propagate)
    }
}

/// The request's type in every respect.
impl<C: SharedComputation> Type for RequestFor<C> {
    const IS_REQUIRED: bool = C::Request::IS_REQUIRED;

    type RawValueType = <C::Request as Type>::RawValueType;
    type RawElementValueType = <C::Request as Type>::RawElementValueType;

    fn name() -> Cow<'static, str> {
        C::Request::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        C::Request::schema_ref()
    }

    fn register(registry: &mut Registry) {
        C::Request::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        self.0.as_raw_value()
    }

    fn raw_element_iter<'a>(
        &'a self,
    ) -> Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        self.0.raw_element_iter()
    }
}
