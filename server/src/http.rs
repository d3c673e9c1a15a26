//! What every request meets: its call, its caller, its body, its answer.

pub mod access_log;
pub mod address;
mod anonymous;
mod answer;
pub(crate) mod body;
mod caller;
mod context;
pub(crate) mod cookies;
mod error;
pub(crate) mod form;
mod json_position;
pub(crate) mod json_string;
mod path;
mod pipeline;
pub(crate) mod query;
mod tag;
pub mod validation;

pub use access_log::ACCESS;
pub(crate) use anonymous::cookie;
pub use anonymous::{Anonymous, UnlimitedAnonymous};
pub use answer::Answer;
pub use body::Body;
pub(crate) use body::SMALL as SMALL_BODY;
pub use caller::{AccountHolder, Administrator, Authenticated, Identified, Keep, Metered};
pub use context::{Charge, RequestContext};
pub use error::{ApiError, Surface};
pub use json_string::{Date, JsonString, Moment, Text};
pub use path::Path;
pub use pipeline::RequestPipeline;
pub use query::Query;
pub use tag::Tag;
