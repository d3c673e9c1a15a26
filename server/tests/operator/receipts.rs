//! `quant-server verify`: receipts of every origin, checked with another data directory and the
//! public key alone.

use std::{fs, path::Path, process::Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{OPTION, PRICE, Running, account, quant_server};

/// The interfaces that make receipts.
const ORIGINS: [&str; 3] = ["REST", "MCP", "batch"];

/// The parts of a submission, each by a JSON pointer, with the outcome of the four checks after a digit
/// of the part is changed, and the finding that names the part.
#[rustfmt::skip]
const CHANGES: [(&str, [bool; 4], &str); 9] = [
    ("/request/spot",           [true, false, true, false],  OTHER_REQUEST),
    ("/request/volatility",     [true, false, true, false],  OTHER_REQUEST),
    ("/data/price",             [true, true, false, true],   OTHER_DATA),
    ("/receipt/request_sha256", [false, false, true, false], OTHER_RECEIPT),
    ("/receipt/data_sha256",    [false, true, false, false], OTHER_RECEIPT),
    ("/receipt/credits",        [false, true, true, false],  OTHER_RECEIPT),
    ("/receipt/numeric_version",[false, true, true, false],  OTHER_RECEIPT),
    ("/receipt/signature",      [false, true, true, false],  OTHER_RECEIPT),
    ("/receipt/key_id",         [false, true, true, false],  "The key of the receipt is not known."),
];
const OTHER_REQUEST: &str = "The request is not that of the receipt.";
const OTHER_DATA: &str = "The data are not those of the receipt.";
const OTHER_RECEIPT: &str = "The signature is not that of this receipt.";

/// Prices the option over an interface, and returns the receipt with its request and its data.
fn submission(service: &Running, origin: &str, key: &str) -> Value {
    let option: Value = super::json(OPTION);
    let post = |path: &str, body: &str| {
        let (status, _, answer) = service.post(path, Some(key), body);
        assert_eq!(status, 200, "{origin}: {answer}");
        super::json(&answer)
    };
    let (receipt, data) = match origin {
        "REST" => {
            let answer = post(&format!("{PRICE}?receipt=true"), OPTION);
            (answer["receipt"].clone(), answer["data"].clone())
        }
        "MCP" => {
            let params = json!({
                "name": "price_european_option", "arguments": option, "_meta": { "receipt": true },
            });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let result = post("/mcp", &call.to_string())["result"].clone();
            (result["_meta"]["receipt"].clone(), result["structuredContent"].clone())
        }
        _ => {
            let calls = json!([{ "path": PRICE, "body": option }]);
            let answer =
                post("/quantlib/batch", &json!({ "calls": calls, "receipt": true }).to_string());
            let result = &answer["data"]["results"][0];
            (result["receipt"].clone(), result["data"].clone())
        }
    };
    json!({ "receipt": receipt, "request": option, "data": data })
}

/// Runs the program on a submission, with another data directory.
fn verify(folder: &Path, submission: &Value, public_key: &str) -> Output {
    let file = folder.join("receipt.json");
    fs::write(&file, submission.to_string()).unwrap();
    let mut command = quant_server(folder);
    command.arg("verify").arg(&file).args(["--public-key", public_key]).output().unwrap()
}

/// Asserts what the program prints about the four checks, and its exit code.
fn assert_checks(output: &Output, expected: [bool; 4], place: &str) {
    let (_, stdout, stderr) = super::told(output);
    let checks = ["signature_valid", "request_matches", "result_matches", "recomputed"];
    for (check, holds) in checks.into_iter().zip(expected) {
        assert!(stdout.contains(&format!("{check}: {holds}\n")), "{place}: {stdout}{stderr}");
    }
    let code = i32::from(expected != [true; 4]);
    assert_eq!(output.status.code(), Some(code), "{place}: {stdout}{stderr}");
}

/// The same submission with a digit of one place changed.
fn changed(submission: &Value, pointer: &str) -> Value {
    let mut changed = submission.clone();
    let place = changed.pointer_mut(pointer).expect(pointer);
    let other = |text: &str| if text == "1" { "2" } else { "1" };
    *place = match place {
        Value::Number(number) => {
            let text = number.to_string();
            let (before, last) = text.split_at(text.len() - 1);
            super::json(&format!("{before}{}", other(last)))
        }
        Value::String(text) => format!("{}{}", other(&text[..1]), &text[1..]).into(),
        unexpected => panic!("{pointer}: {unexpected}"),
    };
    changed
}

#[test]
fn receipts_of_every_origin_are_verified_offline_and_a_changed_digit_is_named() {
    let (data, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let key = account(data.path());
    let service = Running::start(quant_server(data.path()).env("QS_MCP_API_KEYS", "true"));
    let submissions = ORIGINS.map(|origin| (origin, submission(&service, origin, &key)));
    let keys = super::json(&service.get("/.well-known/quant-receipts.json").2);
    let public_key = keys["keys"][0]["x"].as_str().unwrap();
    service.stop();
    let digests = ["request_sha256", "data_sha256", "key_id", "credits"];
    for (origin, submission) in &submissions {
        for digest in digests {
            let (found, expected) = (&submission["receipt"], &submissions[0].1["receipt"]);
            assert_eq!(found[digest], expected[digest], "{origin}: one statement by every way");
        }
        let output = verify(elsewhere.path(), submission, public_key);
        assert_checks(&output, [true; 4], origin);
        for (pointer, expected, finding) in CHANGES {
            let place = format!("{origin}, {pointer}");
            let output = verify(elsewhere.path(), &changed(submission, pointer), public_key);
            assert_checks(&output, expected, &place);
            let (_, _, stderr) = super::told(&output);
            assert!(stderr.contains(finding), "{place}: {stderr}");
        }
    }
    let files: Vec<_> = fs::read_dir(elsewhere.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "no data directory is made: {files:?}");
}
