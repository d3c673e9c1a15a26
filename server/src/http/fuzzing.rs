//! The readers of request bodies and headers, with what must hold for every input.

mod bodies;
mod documents;
mod drawn;
mod headers;

use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(crate) use self::{bodies::operation, documents::is_equal, drawn::Drawn, headers::lines};
pub use self::{
    bodies::{json_position, number_list, request_body, text_formats},
    documents::{canonical_json, receipt},
    headers::{entity_tags, forwarded, hosts, preferences, query, repeat_key, request_cookies},
};

use super::{
    fault_types::FAULT_TYPES,
    validation::{Fault, MOST_FAULTS},
};

/// The most bytes of a fault, whatever the request holds: a path of names of at most 100 bytes each, and
/// a message.
const LONGEST_FAULT: usize = 1200;

/// The types of faults in the catalogue of errors.
static KINDS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| FAULT_TYPES.iter().map(|fault| fault.name).collect());

/// Checks the faults of a refusal: there is one, there are at most a hundred, each is short, and each has
/// a type of the catalogue.
pub(crate) fn check_refusal(faults: &[Fault]) {
    assert!((1..=MOST_FAULTS).contains(&faults.len()), "{} faults", faults.len());
    for fault in faults {
        let text = fault.to_json().to_string();
        assert!(text.len() <= LONGEST_FAULT, "{} bytes: {text}", text.len());
        assert!(KINDS.contains(fault.kind.as_str()), "{text}");
    }
}
