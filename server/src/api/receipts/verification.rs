//! The check of a receipt: signature, digests, and the computation again.

use account_core::signing::PublicKey;
use poem_openapi::{
    Object,
    types::{Any, Example},
};
use quant_core::NUMERIC_VERSION;
use serde_json::{Value, json};

use crate::{
    api::operations,
    http::{
        Detail,
        receipt::{self, Receipt},
    },
};

/// A receipt with the request and the data that it is to be checked against.
#[derive(Clone, Debug, Object)]
#[oai(rename = "ReceiptSubmission", example)]
pub struct ReceiptSubmission {
    /// The receipt, as it came with the answer.
    pub receipt: Receipt,
    /// The body of the request; `{}` for an operation without a body.
    pub request: Any<Value>,
    /// The field `data` of the answer.
    pub data: Any<Value>,
}

/// The outcome of each check of a receipt.
#[derive(Clone, Debug, PartialEq, Object)]
#[oai(rename = "ReceiptVerification", example)]
pub struct ReceiptVerification {
    /// True: a known key of the service has signed the receipt as it is.
    pub signature_valid: bool,
    /// True: `request` is the request of the receipt.
    pub request_matches: bool,
    /// True: `data` are the data of the receipt.
    pub result_matches: bool,
    /// True: the request was computed again and gave the data of the receipt. False where the two
    /// differ, and where `findings` says why the request was not computed.
    pub recomputed: bool,
    /// The version of the bits of the program that has checked the receipt.
    pub numeric_version: u32,
    /// A sentence for each check that failed; empty for a receipt that holds.
    pub findings: Vec<String>,
}

impl ReceiptSubmission {
    /// Checks the receipt against keys, request and data. Only a request that a valid signature
    /// states is computed again, so that nobody gets a computation free that nobody has paid for.
    pub(crate) fn verify(&self, keys: &[PublicKey]) -> ReceiptVerification {
        let receipt = &self.receipt;
        let request = self.request.0.to_string();
        let mut verification = ReceiptVerification {
            signature_valid: receipt.is_signed_by(keys),
            request_matches: is_digest(receipt::request_digest(&request), &receipt.request_sha256),
            result_matches: is_digest(
                receipt::data_digest(&self.data.0.to_string()),
                &receipt.data_sha256,
            ),
            recomputed: false,
            numeric_version: NUMERIC_VERSION,
            findings: Vec::new(),
        };
        verification.find_mismatches(receipt.is_key_known(keys));
        match self.recompute(&verification, &request) {
            Ok(()) => verification.recomputed = true,
            Err(finding) => verification.findings.push(finding),
        }
        verification
    }

    /// Computes the request again and compares the data with those of the receipt.
    fn recompute(&self, checked: &ReceiptVerification, request: &str) -> Result<(), String> {
        let receipt = &self.receipt;
        if !checked.signature_valid || !checked.request_matches {
            return Err("The request was not computed again, because it is not signed.".to_owned());
        }
        if receipt.numeric_version != NUMERIC_VERSION {
            return Err(format!(
                "The receipt is of numeric version {}, and this program computes version \
                 {NUMERIC_VERSION}: the request was not computed again.",
                receipt.numeric_version
            ));
        }
        let Some(operation) = operations::find(&receipt.operation) else {
            return Err("This program has no such operation.".to_owned());
        };
        let data = operation
            .evaluator
            .recompute(request.as_bytes(), Detail::from(receipt.detail))
            .map_err(|refusal| format!("The request is refused: {}", refusal.detail()))?;
        if is_digest(receipt::data_digest(&data), &receipt.data_sha256) {
            Ok(())
        } else {
            Err("The request gives other data than those of the receipt.".to_owned())
        }
    }
}

impl ReceiptVerification {
    fn find_mismatches(&mut self, is_key_known: bool) {
        let signature = if is_key_known {
            "The signature is not that of this receipt."
        } else {
            "The key of the receipt is not known."
        };
        let checks = [
            (self.signature_valid, signature),
            (self.request_matches, "The request is not that of the receipt."),
            (self.result_matches, "The data are not those of the receipt."),
        ];
        let failed = checks.into_iter().filter(|(holds, _)| !holds);
        self.findings.extend(failed.map(|(_, finding)| finding.to_owned()));
    }
}

fn is_digest(found: serde_json::Result<String>, stated: &str) -> bool {
    found.is_ok_and(|found| found == stated)
}

impl Example for ReceiptSubmission {
    fn example() -> Self {
        let request = json!({
            "spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "volatility": 0.2,
            "time_to_maturity": 0.5,
        });
        let data = json!({ "price": 4.759422392871532, "option_type": "call" });
        Self { receipt: Receipt::example(), request: Any(request), data: Any(data) }
    }
}

impl Example for ReceiptVerification {
    fn example() -> Self {
        Self {
            signature_valid: true,
            request_matches: true,
            result_matches: true,
            recomputed: true,
            numeric_version: NUMERIC_VERSION,
            findings: Vec::new(),
        }
    }
}
