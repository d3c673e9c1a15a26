//! What every request meets: its call, its caller, its body, its answer.

pub mod access;
pub mod address;
mod answer;
pub(crate) mod body;
mod call;
mod caller;
pub mod faults;
pub(crate) mod form;
mod json_position;
mod path;
pub(crate) mod query;
mod refusal;
mod road;
mod tag;
mod visitor;
pub(crate) mod written;

pub use access::ACCESS;
pub use answer::Answer;
pub use body::Body;
pub(crate) use body::SMALL as SMALL_BODY;
pub use call::{Call, Charge};
pub use caller::{Administrator, Identified, Keep, Keyed, Metered, Owner};
pub use path::Path;
pub use query::Query;
pub use refusal::{Refusal, Surface};
pub use road::Road;
pub use tag::Tag;
pub(crate) use visitor::cookie;
pub use visitor::{UnlimitedVisitor, Visitor};
pub use written::{Date, Moment, Text, Written};
