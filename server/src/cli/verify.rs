//! `quant-server verify`: the check of a receipt, without a service, a database or a network.

use std::path::{Path, PathBuf};

use account_core::signing::PublicKey;
use clap::Args;
use poem_openapi::types::{ParseFromJSON as _, ToJSON as _};
use serde_json::Value;

use super::command_error::CommandError;
use crate::api::receipts::verification::ReceiptSubmission;

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// A file with the receipt, the request and the data, as `POST /receipts/verify` takes them.
    file: PathBuf,
    /// A public key of the service, as the member `x` in /.well-known/quant-receipts.json; several
    /// times for several keys.
    // One key in sixty-four begins with a hyphen, as its base64url may.
    #[arg(long = "public-key", value_name = "KEY", required = true, allow_hyphen_values = true)]
    public_keys: Vec<String>,
}

pub(super) fn run(args: &VerifyArgs) -> Result<(), CommandError> {
    let keys: Vec<PublicKey> =
        args.public_keys.iter().map(|text| key(text)).collect::<Result<_, _>>()?;
    let checked = submission(&args.file)?.verify(&keys);
    for (check, holds) in [
        ("signature_valid", checked.signature_valid),
        ("request_matches", checked.request_matches),
        ("result_matches", checked.result_matches),
        ("recomputed", checked.recomputed),
    ] {
        println!("{check}: {holds}");
    }
    println!("numeric_version: {}", checked.numeric_version);
    if checked.findings.is_empty() { Ok(()) } else { Err(checked.findings.join(" ").into()) }
}

fn key(text: &str) -> Result<PublicKey, CommandError> {
    let malformed = || format!("{text:?} is no public key of Ed25519 in base64url");
    PublicKey::parse(text).ok_or_else(|| malformed().into())
}

/// Reads a submission. A member of the receipt that is not signed is refused.
fn submission(file: &Path) -> Result<ReceiptSubmission, CommandError> {
    let place = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{place}: {error}"))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{place}: {error}"))?;
    let receipt = value["receipt"].clone();
    let submission = ReceiptSubmission::parse_from_json(Some(value))
        .map_err(|error| format!("{place}: {}", error.into_message()))?;
    if submission.receipt.to_json().as_ref() != Some(&receipt) {
        return Err(format!("{place}: the receipt has members that are not signed").into());
    }
    Ok(submission)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::VerifyArgs;

    #[test]
    fn a_public_key_may_begin_with_a_hyphen() {
        let arguments = ["verify", "--public-key", "-Rk", "receipt.json"];
        let command = VerifyArgs::augment_args(Command::new("verify"));
        let matches = command.try_get_matches_from(arguments).expect("the arguments are read");
        let parsed = VerifyArgs::from_arg_matches(&matches).expect("the arguments are whole");
        assert_eq!(
            (parsed.public_keys, parsed.file),
            (vec!["-Rk".to_owned()], "receipt.json".into())
        );
    }
}
