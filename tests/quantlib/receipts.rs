//! `receipt=true`: signed statements of answers, and their check by the service and by the program.

use std::process::ExitCode;

use account_core::Tier;
use clap::Parser as _;
use quant_core::NUMERIC_VERSION;
use quant_server::cli::Cli;
use quant_tests::{
    Answer, App,
    mcp::{Era, Host},
    requests::{OPTION, PRICE},
};
use serde_json::{Value, json};

const KEYS: &str = "/.well-known/quant-receipts.json";
const VERIFY: &str = "/receipts/verify";
const CAPITAL: &str = r#"{"cet1_capital": 4.5, "tier1_capital": 5, "total_capital": 9,
    "risk_weighted_assets": 100, "total_exposure": 200}"#;

const MEMBERS: [&str; 9] = [
    "format",
    "operation",
    "request_sha256",
    "data_sha256",
    "numeric_version",
    "credits",
    "issued_at",
    "key_id",
    "signature",
];

/// A receipt with the request and the data that it states.
async fn submission(app: &App, key: &str, path: &str, body: &str) -> Value {
    let answer = app.post(path, Some(key), body).await;
    let answer = answer.expect(200);
    let request: Value = serde_json::from_str(body).expect("a body");
    json!({ "receipt": answer["receipt"], "request": request, "data": answer["data"] })
}

async fn priced(app: &App) -> Value {
    let key = app.account("ada", Tier::Pro, 100).await;
    submission(app, &key, &format!("{PRICE}?receipt=true"), OPTION).await
}

async fn verify(app: &App, submission: &Value) -> Answer {
    app.post(VERIFY, None, &submission.to_string()).await
}

/// The outcome of the checks: signature, request, result, computation.
async fn checks(app: &App, submission: &Value) -> [bool; 4] {
    let answer = verify(app, submission).await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["numeric_version"], NUMERIC_VERSION);
    let holds = ["signature_valid", "request_matches", "result_matches", "recomputed"]
        .map(|check| data[check].as_bool().expect("a boolean"));
    let has_findings = data["findings"] != json!([]);
    assert_eq!(has_findings, holds != [true; 4], "{data}");
    holds
}

async fn public_key(app: &App) -> String {
    let keys = app.get(KEYS, None).await;
    keys.text("/keys/0/x")
}

/// Runs `quant-server verify`, which opens no data directory.
fn program_accepts(submission: &Value, public_key: &str) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), submission.to_string()).expect("written");
    let path = file.path().to_str().expect("a path");
    let arguments = ["quant-server", "verify", path, "--public-key", public_key];
    Cli::parse_from(arguments).run() == ExitCode::SUCCESS
}

/// The same submission with a digit of one place changed.
fn changed(submission: &Value, pointer: &str) -> Value {
    let mut changed = submission.clone();
    let place = changed.pointer_mut(pointer).expect("a place");
    *place = match place {
        Value::Number(number) => {
            let text = number.to_string();
            let last = if text.ends_with('1') { "2" } else { "1" };
            serde_json::from_str(&format!("{}{last}", &text[..text.len() - 1])).expect("a number")
        }
        Value::String(text) => {
            let first = if text.starts_with('1') { "2" } else { "1" };
            format!("{first}{}", &text[1..]).into()
        }
        other => panic!("{pointer}: {other}"),
    };
    changed
}

#[tokio::test]
async fn receipts_of_rest_and_mcp_hold_and_a_changed_digit_is_found_with_the_public_key_alone() {
    let app = App::start().await;
    let public_key = public_key(&app).await;
    let by_rest = priced(&app).await;
    let host_token = app.bearer("grace").await;
    let host = Host::new(&app, &host_token, Era::Current);
    let arguments: Value = serde_json::from_str(OPTION).expect("an object");
    let params = json!({
        "name": "price_european_option", "arguments": arguments, "_meta": { "receipt": true },
    });
    let result = host.ask("tools/call", params).await.expect(200)["result"].clone();
    let by_mcp = json!({
        "receipt": result["_meta"]["receipt"], "request": arguments,
        "data": result["structuredContent"],
    });
    let digests = |of: &Value| {
        ["request_sha256", "data_sha256", "key_id"].map(|name| of["receipt"][name].clone())
    };
    assert_eq!(digests(&by_rest), digests(&by_mcp), "one statement over both interfaces");
    for submission in [by_rest, by_mcp] {
        assert_eq!(submission["receipt"]["credits"], 5, "{submission}");
        let members: Vec<_> =
            submission["receipt"].as_object().expect("an object").keys().collect();
        assert_eq!(members, MEMBERS, "no input of the request");
        assert_eq!(checks(&app, &submission).await, [true; 4], "{submission}");
        assert!(program_accepts(&submission, &public_key));
        #[rustfmt::skip]
        let rows = [
            ("/request/spot",           [true, false, true, false]),
            ("/request/volatility",     [true, false, true, false]),
            ("/data/price",             [true, true, false, true]),
            ("/receipt/data_sha256",    [false, true, false, false]),
            ("/receipt/request_sha256", [false, false, true, false]),
            ("/receipt/credits",        [false, true, true, false]),
            ("/receipt/numeric_version",[false, true, true, false]),
            ("/receipt/key_id",         [false, true, true, false]),
            ("/receipt/signature",      [false, true, true, false]),
        ];
        for (place, expected) in rows {
            let changed = changed(&submission, place);
            assert_eq!(checks(&app, &changed).await, expected, "{place}: {changed}");
            assert!(!program_accepts(&changed, &public_key), "{place}");
        }
        // Any JSON value is looked at, `null` too.
        for (name, expected) in
            [("request", [true, false, true, false]), ("data", [true, true, false, true])]
        {
            let mut absent = submission.clone();
            absent[name] = Value::Null;
            assert_eq!(checks(&app, &absent).await, expected, "{name}");
        }
        let mut added = submission.clone();
        added["receipt"]["remark"] = json!("audited");
        assert!(!program_accepts(&added, &public_key), "a member that is not signed");
    }
    // Another service has other keys.
    let other = App::start().await;
    let of_other = priced(&other).await;
    assert_eq!(checks(&app, &of_other).await, [false, true, true, false]);
    assert!(!program_accepts(&of_other, &public_key));
}

#[tokio::test]
async fn the_spelling_of_a_request_does_not_matter_and_the_detail_does() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 1000).await;
    let path = "/quantlib/regulatory/basel/capital-ratios?detail=full&receipt=true";
    let full = submission(&app, &key, path, CAPITAL).await;
    assert_eq!(full["receipt"]["detail"], "full");
    assert_eq!(checks(&app, &full).await, [true; 4], "computed again with its further fields");
    let respelt = r#"{"total_exposure": 2e2, "risk_weighted_assets": 100.0, "total_capital": 9.0,
        "tier1_capital": 5.00, "cet1_capital": 45e-1}"#;
    let other = submission(&app, &key, path, respelt).await;
    for digest in ["request_sha256", "data_sha256"] {
        assert_eq!(full["receipt"][digest], other["receipt"][digest], "{digest}");
    }
    let listed = submission(&app, &key, &path.replace("detail=full&", ""), CAPITAL).await;
    assert!(listed["receipt"].get("detail").is_none(), "{listed}");
    assert_eq!(listed["receipt"]["request_sha256"], full["receipt"]["request_sha256"]);
    assert_ne!(listed["receipt"]["data_sha256"], full["receipt"]["data_sha256"]);
    let mut renamed = full.clone();
    renamed["receipt"].as_object_mut().expect("an object").remove("detail");
    assert_eq!(checks(&app, &renamed).await, [false, true, true, false]);
}

#[tokio::test]
async fn a_free_operation_without_a_body_has_a_receipt_too() {
    let app = App::start().await;
    let guest = app.guest().await;
    let path = "/quantlib/scheduling/calendars";
    let document = app.get("/openapi.json", None).await;
    let paths = document.expect(200)["paths"].as_object().expect("paths").clone();
    let (path, _) = paths
        .iter()
        .find(|(_, methods)| methods["get"]["operationId"] == "list_calendars")
        .unwrap_or_else(|| panic!("no {path}"));
    let answer = app.get(&format!("{path}?receipt=true"), Some(&guest)).await;
    let answer = answer.expect(200);
    assert_eq!(answer["receipt"]["credits"], 0);
    let mut submission =
        json!({ "receipt": answer["receipt"], "request": {}, "data": answer["data"] });
    assert_eq!(checks(&app, &submission).await, [true; 4]);
    submission["request"] = json!({ "a": 1 });
    assert_eq!(checks(&app, &submission).await, [true, false, true, false]);
}

#[tokio::test]
async fn a_receipt_outlives_the_key_that_signed_it() {
    let app = App::start().await;
    let before = priced(&app).await;
    let old = public_key(&app).await;
    let vault = &app.service().vault;
    let mut rng = account_core::testing::seeded_rng(1);
    vault.stage(&mut rng);
    let keys = app.get(KEYS, None).await;
    let staged = keys.text("/keys/1/x");
    assert_eq!(keys.text("/keys/1/kty"), "OKP", "a key is listed before it signs");
    vault.activate();
    vault.retire();
    let key = app.account("bob", Tier::Pro, 5).await;
    let after = submission(&app, &key, &format!("{PRICE}?receipt=true"), OPTION).await;
    assert_eq!(app.get(KEYS, None).await.text("/keys/0/kid"), before["receipt"]["key_id"]);
    assert_ne!(before["receipt"]["key_id"], after["receipt"]["key_id"]);
    assert_eq!(checks(&app, &before).await, [true; 4]);
    assert_eq!(checks(&app, &after).await, [true; 4]);
    assert!(program_accepts(&before, &old) && program_accepts(&after, &staged));
    assert!(!program_accepts(&before, &staged) && !program_accepts(&after, &old));
}

#[tokio::test]
async fn a_submission_is_limited_in_size_and_by_address_and_its_faults_are_listed() {
    let app = App::start_with(|config| {
        config.address_limit = 3.try_into().expect("a limit");
    })
    .await;
    let faulty = verify(&app, &json!({ "receipt": { "operation": 1 }, "data": {} })).await;
    assert!(faulty.expect(422)["detail"].as_array().is_some_and(|faults| faults.len() > 2));
    let large = json!({ "receipt": {}, "request": { "x": "1".repeat(300_000) }, "data": {} });
    verify(&app, &large).await.expect(413);
    verify(&app, &json!({})).await.expect(422);
    verify(&app, &json!({})).await.expect(429);
}
