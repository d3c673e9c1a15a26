//! What a model reads: the short text of a result, refusals that lead on, and forms that models send.

use account_core::Tier;
use quant_tests::{
    App,
    documented::metered,
    mcp::{Era, Host},
};
use serde_json::{Value, json};

const BOTH: [Era; 2] = [Era::Legacy, Era::Current];

/// The documented request of an operation.
fn request(id: &str) -> Value {
    metered().into_iter().find(|operation| operation.id == id).expect("an endpoint").request.clone()
}

fn text(result: &Value, at: usize) -> &str {
    result["content"][at]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn a_result_states_value_cost_balance_and_address_in_a_short_text() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Enterprise, 100).await;
    for (era, balance) in BOTH.into_iter().zip([95, 90]) {
        let host = Host::new(&app, &token, era);
        let result = host.call("price_european_option", request("price_european_option")).await;
        let price = result["structuredContent"]["price"].to_string();
        let short = text(&result, 1);
        for part in [
            &format!("price: {price}"),
            "Cost 5 credits",
            &format!("balance {balance}."),
            result["_meta"]["result"].as_str().expect("an address"),
        ] {
            assert!(short.contains(part), "{part}: {short}");
        }
        assert!(short.len() < 400, "{short}");
    }
    let host = Host::new(&app, &token, Era::Current);
    let free = host.call("adjust_date", request("adjust_date")).await;
    assert!(text(&free, 1).contains("Cost 0 credits; balance "), "{free}");
    let read = host.call("get_balance", json!({})).await;
    assert!(!text(&read, 1).contains("svc://"), "a reading of the account is not stored: {read}");
}

#[tokio::test]
async fn a_refusal_names_the_tier_what_is_within_reach_and_how_to_get_more() {
    let app = App::start().await;
    let low = app.bearer_of("ada", Tier::Free, 100).await;
    let poor = app.bearer_of("bob", Tier::Pro, 1).await;
    let rows = [
        (&low, vec!["Your tier is Free", "Within reach: ", "add_tenor_to_date", "raises a tier"]),
        (&poor, vec!["The balance is 1 credits, the tier Pro", "Within reach: ", "grants credits"]),
    ];
    for (token, parts) in rows {
        let host = Host::new(&app, token, Era::Current);
        let refused = host.call("price_european_option", request("price_european_option")).await;
        assert_eq!(refused["isError"], true);
        let told = text(&refused, 0);
        for part in parts {
            assert!(told.contains(part), "{part}: {told}");
        }
        // A tool within reach can be called.
        let names = told.split("Within reach: ").nth(1).expect("names");
        let name = names.split([',', ' ', '.']).next().expect("a name").to_owned();
        let reached = host.call(&name, request(&name)).await;
        assert_eq!(reached["isError"], false, "{name}: {reached}");
    }
}

#[tokio::test]
async fn arguments_that_are_an_object_in_a_string_are_read() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let given = request("price_european_option");
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        let expected = host.call("price_european_option", given.clone()).await;
        let written = json!(given.to_string());
        let result = host.call("price_european_option", written.clone()).await;
        assert_eq!(result["structuredContent"], expected["structuredContent"], "{result}");
        let arguments = json!({ "name": "price_european_option", "arguments": written });
        let named = host.call("call_tool", arguments).await;
        assert_eq!(named["structuredContent"]["data"], expected["structuredContent"], "{named}");
        let broken = host.call("price_european_option", json!("{\"spot\":")).await;
        assert_eq!(broken["isError"], true, "{broken}");
        assert!(text(&broken, 0).contains("Nothing was charged"), "{broken}");
    }
}

#[tokio::test]
async fn the_limit_of_messages_is_told_to_the_model_for_a_while() {
    let few = |config: &mut quant_server::config::Config| {
        config.service.mcp_messages = 1.try_into().expect("not zero");
        config.service.mcp_burst = 2.try_into().expect("not zero");
    };
    let app = App::start_with(few).await;
    for era in BOTH {
        let token = app.bearer(if era == Era::Legacy { "ada" } else { "bob" }).await;
        let host = Host::new(&app, &token, era);
        for _ in 0..2 {
            assert_eq!(host.call("get_balance", json!({})).await["isError"], false);
        }
        // As many calls again are told the limit in a form that reaches the model.
        for _ in 0..2 {
            let call = json!({ "name": "get_balance", "arguments": {} });
            let answer = host.ask("tools/call", call).await;
            let result = &answer.expect(200)["result"];
            assert_eq!(result["isError"], true);
            assert!(text(result, 0).contains("Wait "), "{result}");
            assert!(answer.header("retry-after").is_some());
        }
        let call = json!({ "name": "get_balance", "arguments": {} });
        assert_eq!(host.ask("tools/call", call).await.status.as_u16(), 429);
    }
}

#[tokio::test]
async fn a_batch_charges_each_call_for_itself_and_a_failure_stops_no_other() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Enterprise, 12).await;
    let option = request("price_european_option");
    let call = json!({ "name": "price_european_option", "arguments": option });
    let calls = json!([
        call,
        { "name": "price_european_option", "arguments": { "spot": 1 } },
        { "name": "unheard_of" },
        { "name": "search_tools", "arguments": {} },
        { "name": "price_european_option", "arguments": option.to_string() },
        { "name": "adjust_date", "arguments": request("adjust_date") },
    ]);
    let host = Host::new(&app, &token, Era::Current);
    let result = host.call("call_tools", json!({ "calls": calls })).await;
    let data = &result["structuredContent"];
    let results = data["results"].as_array().expect("results");
    let status: Vec<&Value> = results.iter().map(|result| &result["status"]).collect();
    assert_eq!(status, ["ok", "error", "error", "error", "ok", "ok"], "{result}");
    assert_eq!(data["credits"], json!({ "cost": 10, "balance": 2 }));
    assert_eq!(results[0]["data"], results[4]["data"]);
    assert_eq!((&results[0]["cost"], &results[5]["cost"]), (&json!(5), &json!(0)));
    assert_eq!(results[1]["error"]["code"], "invalid_arguments");
    let uri = results[0]["uri"].as_str().expect("an address");
    let read = host.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read.expect(200)["result"]["contents"][0]["uri"], uri);
    // Two credits are left.
    let poor = host.call("call_tools", json!({ "calls": [call] })).await;
    let refused = &poor["structuredContent"]["results"][0]["error"];
    assert_eq!(refused["code"], "insufficient_credits");
    let many = vec![json!({ "name": "list_calendars" }); 101];
    for calls in [json!([]), json!(many), json!("x"), Value::Null] {
        let refused = host.call("call_tools", json!({ "calls": calls })).await;
        assert!(text(&refused, 0).starts_with("calls: "), "{refused}");
    }
    let most = vec![json!({ "name": "list_calendars" }); 100];
    let result = host.call("call_tools", json!({ "calls": most })).await;
    let data = &result["structuredContent"];
    assert_eq!(data["results"].as_array().map(Vec::len), Some(100));
    assert!(data.to_string().len() < 60 * 1024, "{} bytes", data.to_string().len());
}

#[tokio::test]
async fn a_batch_tells_its_progress_on_the_stream_of_its_answer() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let request = request("price_european_option");
    let call = json!({ "name": "price_european_option", "arguments": request });
    let params = json!({
        "name": "call_tools", "arguments": { "calls": [call, call, call] },
        "_meta": { "progressToken": "a token" },
    });
    for era in BOTH {
        let answer = Host::new(&app, &token, era).ask("tools/call", params.clone()).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
        let events = answer.body_text.split_terminator("\n\n").map(|event| -> Value {
            let data = event.strip_prefix("event: message\ndata: ").expect(event);
            serde_json::from_str(data).expect("JSON")
        });
        let events: Vec<Value> = events.collect();
        let (last, told) = events.split_last().expect("an answer");
        assert_eq!(last["id"], 1);
        let results = &last["result"]["structuredContent"]["results"];
        assert_eq!(results.as_array().map(Vec::len), Some(3), "{last}");
        let ended: Vec<u64> = told
            .iter()
            .map(|notification| {
                let progress = &notification["params"];
                assert_eq!(progress["progressToken"], "a token");
                assert_eq!(progress["total"], 3);
                progress["progress"].as_u64().expect("a number")
            })
            .collect();
        assert_eq!(ended[0], 0);
        assert!(ended.is_sorted_by(|before, after| before < after), "{ended:?}");
    }
}

#[tokio::test]
async fn a_repeated_call_of_a_batch_costs_nothing() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Enterprise, 100).await;
    let host = Host::new(&app, &token, Era::Current);
    let call = json!({
        "name": "price_european_option", "arguments": request("price_european_option"),
        "idempotency_key": "one",
    });
    for (cost, balance) in [(5, 95), (0, 95)] {
        let result = host.call("call_tools", json!({ "calls": [call] })).await;
        let credits = &result["structuredContent"]["credits"];
        assert_eq!(*credits, json!({ "cost": cost, "balance": balance }), "{result}");
    }
}
