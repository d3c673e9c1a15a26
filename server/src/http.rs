//! The common path of every request: context, stages, callers, body, answer and errors.
//!
//! [`pipeline`] states the order of the checks with the status code of each; `context` states the
//! stages that a metered call goes through.

pub mod access_log;
pub mod address;
mod anonymous;
mod answer;
pub(crate) mod body;
pub(crate) mod body_schema;
mod caller;
mod computation;
mod context;
pub(crate) mod cookies;
mod cors;
mod date;
pub(crate) mod detail;
pub(crate) mod echo;
mod error;
mod execute;
pub(crate) mod form;
pub(crate) mod host;
mod idempotency;
mod json_position;
pub(crate) mod json_string;
mod methods;
mod numbers;
mod operation;
mod path;
pub mod pipeline;
pub(crate) mod query;
mod route;
mod tag;
pub mod validation;

pub use access_log::ACCESS;
pub use anonymous::{Anonymous, UnlimitedAnonymous};
pub use answer::Answer;
pub use body::Body;
pub(crate) use body::{COMMON_BODY_LIMIT, SMALL as SMALL_BODY};
pub use caller::{AccountHolder, Administrator, Authenticated, Metered};
pub use computation::{Computation, RequestFor, SharedComputation};
pub use context::{
    Admission, Charge, RequestContext, RequestHead, RequestRecord, seconds_up,
    stages::{AdmittedCall, AuthorisedCall, ChargedCall, ChargedContent, ParsedCall, Template},
};
pub(crate) use cookies::cookie;
pub use detail::Detail;
pub use error::{ApiError, Surface};
pub use execute::{Executed, Executor, conclude, execute};
pub use json_string::{Date, JsonString, Moment, Text};
pub(crate) use methods::{AnyMethod, Methods};
pub use numbers::Numbers;
pub use operation::Operation;
pub use path::Path;
pub use pipeline::RequestPipeline;
pub use query::Query;
pub use route::MatchedRoute;
pub(crate) use route::Parameter;
pub use tag::Tag;
