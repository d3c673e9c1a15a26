//! Receipts over HTTP: the public keys, and the check of a receipt without an API key.

pub mod verification;

use account_core::signing::PublicKey;
use poem::{Endpoint, Error, Request, Response, Result, endpoint::make_sync, http::header};
use poem_openapi::OpenApi;
use serde_json::{Value, json};

use self::verification::{ReceiptSubmission, ReceiptVerification};
use crate::http::{Anonymous, Answer, ApiError, Body, RequestContext, Tag};

/// The endpoint that checks receipts.
#[derive(Default)]
pub struct Receipts;

#[OpenApi(prefix_path = "/receipts", tag = "Tag::Receipts")]
impl Receipts {
    /// Check a receipt.
    ///
    /// Checks the signature against the keys of `/.well-known/quant-receipts.json`, and the digests
    /// against `request` and `data`. Where the signature is valid, the request is the signed one and
    /// the numeric version is that of this service, the request is computed again. `findings` says
    /// which check failed. Free of charge, without a key, limited by address; at most 256 KiB.
    #[oai(path = "/verify", method = "post", operation_id = "verify_receipt")]
    async fn verify(
        &self,
        anonymous: Anonymous,
        body: Body<ReceiptSubmission>,
    ) -> Result<Answer<ReceiptVerification>> {
        let context = anonymous.context();
        let (keys, Body(submission)) = (context.state.vault.public_keys(), body);
        let work = move || submission.verify(&keys);
        // The computation may be long, and each of its runs counts for the address.
        let verified = context.state.compute_pool.run(context.source(), work).await;
        verified.map(Answer::new).map_err(|error| {
            Error::from_response(ApiError::from(error).into_response(context.surface))
        })
    }
}

/// Serves the public keys of receipts as a JSON Web Key Set (RFC 7517), the oldest first.
pub(super) fn keys() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| {
        let keys = RequestContext::of(&request).state.vault.public_keys();
        let keys: Vec<Value> = keys.iter().map(key).collect();
        Response::builder()
            .content_type("application/json")
            // A key is listed before it signs, so that a short time to live misses no key.
            .header(header::CACHE_CONTROL, "public, max-age=60")
            .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
            .body(json!({ "keys": keys }).to_string())
    })
}

/// Returns a public key as a JSON Web Key (RFC 8037).
fn key(key: &PublicKey) -> Value {
    json!({
        "kty": "OKP",
        "crv": "Ed25519",
        "x": key.to_string(),
        "kid": key.id(),
        "alg": "EdDSA",
        "use": "sig",
    })
}
