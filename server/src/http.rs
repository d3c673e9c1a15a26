//! The common path of every request: context, stages, callers, body, answer and errors.
//!
//! [`pipeline`] states the order of the checks with the status code of each; `context` states the
//! stages that a metered call goes through.

pub mod access_log;
pub mod address;
mod anonymous;
mod answer;
mod answer_meta;
pub(crate) mod answer_options;
pub(crate) mod body;
pub(crate) mod body_schema;
mod caller;
mod cancellation;
mod canonical_json;
pub mod columns;
mod computation;
mod context;
pub(crate) mod cookies;
mod cors;
mod date;
pub(crate) mod echo;
mod error;
mod evaluation;
mod execute;
mod executed_call;
pub mod fault_types;
pub(crate) mod form;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod headers;
pub(crate) mod host;
pub(crate) mod idempotency;
mod json_position;
pub(crate) mod json_string;
mod methods;
pub mod nearest_name;
mod number_text;
mod numbers;
mod operation;
pub(crate) mod path;
pub mod pipeline;
mod prefer;
pub(crate) mod query;
mod quote;
mod quoted;
mod raw_json;
pub(crate) mod receipt;
mod record;
mod route;
mod static_page;
mod tag;
pub(crate) mod unknown_fields;
pub mod validation;

pub use access_log::ACCESS;
pub use anonymous::{Anonymous, UnlimitedAnonymous};
pub(crate) use answer::envelope_schema;
pub use answer::{Answer, AnswerParts};
pub(crate) use answer_meta::AnswerMeta;
pub use answer_options::{AnswerOptions, Detail};
pub use body::Body;
pub(crate) use body::{COMMON_BODY_LIMIT, SMALL as SMALL_BODY, read_any};
pub(crate) use caller::not_an_administrator;
pub use caller::{AccountHolder, Administrator, Admitted, Authenticated, LimitedBody, Metered};
pub use cancellation::Cancellation;
pub use computation::{Computation, NoArguments, RequestFor, SharedComputation};
pub use context::{
    Admission, Charge, RequestContext, RequestHead, RequestRecord, seconds_up,
    stages::{
        AdmittedCall, AuthorisedCall, ChargedCall, ChargedContent, ComputedCall, ParsedCall,
        Template,
    },
};
pub(crate) use cookies::cookie;
pub use error::{ApiError, Surface};
pub use evaluation::Evaluator;
pub use execute::{Executed, OperationCall, RepeatKey, conclude};
pub use executed_call::ExecutedCall;
pub use json_string::{Date, JsonString, Moment, Text};
pub(crate) use methods::{AnyMethod, Methods};
pub use numbers::{Numbers, OptionalNumbers, without_negative_zero};
pub use operation::Operation;
pub use path::Path;
pub(crate) use pipeline::CLOSED_POLICY;
pub use pipeline::RequestPipeline;
pub use query::Query;
pub(crate) use quote::{PriceRule, QuotedCalls};
pub use raw_json::RawJson;
pub use record::Record;
pub use route::MatchedRoute;
pub(crate) use route::Parameter;
pub(crate) use static_page::StaticPage;
pub use tag::Tag;
