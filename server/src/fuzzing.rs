//! The readers of foreign bytes as plain functions of bytes, which panic where a promise of the reader does
//! not hold: for the targets of `fuzz/server`, and for the tests of this module.
//!
//! Compiled for tests, and with the feature `fuzzing`. Each function is beside the reader that it checks,
//! in a module `fuzzing`, because readers are private.

mod account_texts;
#[cfg(test)]
mod generated_tests;

use std::sync::LazyLock;

pub use self::account_texts::{account_texts, addresses, credential};
#[cfg(feature = "mcp")]
pub use crate::api::mcp::fuzzing::{credentials, mcp_message, result_address};
use crate::{
    api::operations::METERED,
    auth::client_documents::fuzzing as client_documents,
    http::{body_schema::BodySchema, fuzzing as http},
};
pub use crate::{
    api::{
        columns::fuzzing::{arrow_columns, arrow_stream, json_columns},
        oauth::fuzzing::{authorization_request, proof_key, registration},
    },
    auth::client_documents::fuzzing::{client_document, document_url, public_address},
    email::fuzzing::email_fields,
    http::fuzzing::{
        canonical_json, entity_tags, forwarded, hosts, json_position, number_list, preferences,
        query, receipt, repeat_key, request_body, request_cookies, text_formats,
    },
};

/// A function of this module with its name, which a target of `fuzz/server` and a file of seeds have too.
pub type FuzzEntry = (&'static str, fn(&[u8]));

/// The functions of this module that each build has.
pub const ENTRIES: &[FuzzEntry] = &[
    ("account_texts", account_texts),
    ("addresses", addresses),
    ("arrow_columns", arrow_columns),
    ("arrow_stream", arrow_stream),
    ("authorization_request", authorization_request),
    ("canonical_json", canonical_json),
    ("client_document", client_document),
    ("credential", credential),
    ("document_head", document_head),
    ("document_url", document_url),
    ("email_fields", email_fields),
    ("entity_tags", entity_tags),
    ("forwarded", forwarded),
    ("hosts", hosts),
    ("json_columns", json_columns),
    ("json_position", json_position),
    ("number_list", number_list),
    ("operation", operation),
    ("preferences", preferences),
    ("proof_key", proof_key),
    ("public_address", public_address),
    ("query", query),
    ("receipt", receipt),
    ("registration", registration),
    ("repeat_key", repeat_key),
    ("request_body", request_body),
    ("request_cookies", request_cookies),
    ("text_formats", text_formats),
];

/// The functions for the MCP endpoint.
#[cfg(feature = "mcp")]
pub const MCP_ENTRIES: &[FuzzEntry] = &[
    ("credentials", credentials),
    ("mcp_message", mcp_message),
    ("result_address", result_address),
];

/// Reads a body of the operation that the first byte chooses, and computes what is short.
///
/// # Panics
///
/// Panics where a refusal is long, where the schema allows what the type refuses, or where the answer has no
/// canonical form.
pub fn operation(bytes: &[u8]) {
    static SCHEMAS: LazyLock<Vec<Option<BodySchema>>> =
        LazyLock::new(|| METERED.iter().map(|metered| metered.evaluator.schema()).collect());
    let Some((first, rest)) = bytes.split_first() else { return };
    let place = usize::from(*first) % METERED.len();
    http::operation(METERED[place].evaluator, SCHEMAS[place].as_ref(), rest);
}

/// Judges the lines of an input as the head of an answer from the website of a client.
///
/// # Panics
///
/// Panics where anything but JSON is taken, or is valid for more than a day.
pub fn document_head(bytes: &[u8]) {
    client_documents::document_head(&http::lines(bytes));
}
