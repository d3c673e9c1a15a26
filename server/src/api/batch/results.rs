//! The results of a batch, written as JSON one after the other.

use serde_json::Value;

use super::request::NO_OPERATION;
use crate::{
    body_memory::HeldBytes,
    http::{AnswerParts, ApiError, Surface},
};

/// The data of the answer while its results are added.
pub(super) struct Results {
    text: String,
    succeeded: u32,
    failed: u32,
    held: HeldBytes,
}

impl Results {
    /// Begins the results. `held` counts the memory that they take.
    pub(super) fn new(held: HeldBytes) -> Self {
        Self { text: r#"{"results":["#.to_owned(), succeeded: 0, failed: 0, held }
    }

    /// Adds the parts of a success. Returns whether there is memory for more results.
    pub(super) fn add_success(&mut self, parts: &AnswerParts) -> bool {
        self.succeeded += 1;
        let members = parts.members().flat_map(|(name, part)| [",\"", name, "\":", part]);
        let texts: Vec<&str> =
            ["{\"status\":200"].into_iter().chain(members).chain(["}"]).collect();
        self.add(&texts)
    }

    /// Adds the refusal of a call. Returns whether there is memory for more results.
    pub(super) fn add_refusal(&mut self, refusal: &ApiError) -> bool {
        let detail = refusal.body(Surface::Computation)["detail"].take();
        self.add_failure(refusal.status().as_u16(), &detail)
    }

    /// Adds the failure of a call whose path no operation has.
    pub(super) fn add_unknown_path(&mut self) -> bool {
        self.add_failure(404, &NO_OPERATION.into())
    }

    fn add_failure(&mut self, status: u16, detail: &Value) -> bool {
        self.failed += 1;
        let (status, detail) = (status.to_string(), detail.to_string());
        self.add(&["{\"status\":", &status, ",\"detail\":", &detail, "}"])
    }

    fn add(&mut self, parts: &[&str]) -> bool {
        let before = self.text.len();
        if self.succeeded + self.failed > 1 {
            self.text.push(',');
        }
        self.text.extend(parts.iter().copied());
        self.held.grow(self.text.len() - before).is_ok()
    }

    /// Returns the data of the answer.
    pub(super) fn finish(self, credits_cost: u64) -> String {
        let Self { mut text, succeeded, failed, .. } = self;
        text.push_str(&format!(
            r#"],"succeeded":{succeeded},"failed":{failed},"credits_cost":{credits_cost}}}"#
        ));
        text
    }
}
