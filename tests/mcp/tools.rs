//! The tools of the MCP gateway: their list, their results, and the results that are stored.

use account_core::{Tier, store::AccountStore as _};
use quant_server::api::operations::METERED;
use quant_tests::{
    App,
    documented::{Documented, metered},
    mcp::{CURRENT, Era, Host, LEGACY},
};
use serde_json::{Value, json};

const BOTH: [Era; 2] = [Era::Legacy, Era::Current];

/// Tools, and whether the results of their documented requests have a chart.
const CHARTS: [(&str, bool); 6] = [
    ("trace_efficient_frontier", true),
    ("build_curve", true),
    ("read_curve_points", true),
    ("list_bond_cashflows", true),
    ("compute_capital_ratios", true),
    ("price_european_option", false),
];

/// A curve whose answer is far larger than the inline limit.
fn large_curve() -> Value {
    let tenors: Vec<f64> = (1..=1000).map(|n| f64::from(n) / 10.0).collect();
    let values: Vec<f64> = (1..=1000).map(|n| 0.01 + f64::from(n) * 1e-5).collect();
    json!({ "reference_date": "2026-01-31", "tenors": tenors, "values": values })
}

fn documented(id: &str) -> (&'static str, Value, Value) {
    let found = metered().into_iter().find(|operation| operation.id == id);
    let Documented { path, request, answer, .. } = found.expect("an endpoint");
    (path, request.clone(), answer.clone())
}

#[tokio::test]
async fn every_documented_example_gets_the_same_answer_over_rest_and_mcp_to_the_last_bit() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let key = app.account("grace", Tier::Enterprise, 1000).await;
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        for operation in METERED {
            let (path, request, _) = documented(operation.id);
            // A computation without a body is a `GET`, and its tool has no arguments.
            let (rest, request) = match request {
                Value::Null => (app.get(path, Some(&key)).await, json!({})),
                body => (app.post(path, Some(&key), &body.to_string()).await, body),
            };
            let data = &rest.expect(200)["data"];
            let result = host.call(operation.id, request).await;
            assert_eq!(result["isError"], false, "{result}");
            assert_eq!(&result["structuredContent"], data);
            assert_eq!(result["content"][0]["text"], data.to_string(), "the same JSON as text");
            assert_eq!(result["_meta"]["credits"]["cost"], operation.cost);
        }
    }
}

#[tokio::test]
async fn a_call_is_charged_limited_and_logged_as_a_rest_call_is() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let before = host.call("get_balance", json!({})).await["structuredContent"].clone();
    let (_, request, _) = documented("price_european_option");
    let result = host.call("price_european_option", request).await;
    let balance = before["credit_balance"].as_u64().expect("a number") - 5;
    assert_eq!(result["_meta"]["credits"], json!({ "cost": 5, "balance": balance }));
    app.forget_callers();
    let after = host.call("get_balance", json!({})).await["structuredContent"].clone();
    assert_eq!(after["credit_balance"], balance);
    let left = |of: &Value| of["rate_limit"]["remaining"].as_u64().expect("a number");
    assert_eq!(left(&before) - left(&after), 2, "both calls counted");
    let usage = host.call("get_usage", json!({ "days": 1 })).await["structuredContent"].clone();
    // Usage rows of free calls are written after the answer, and may still be missing.
    let mut requests = usage["requests"].as_array().expect("rows").iter();
    let request = requests.find(|request| request["endpoint"] == "/quantlib/pricing/bs/price");
    let request = request.expect("a paid call is there before its answer");
    assert_eq!((&request["credits_used"], &request["status_code"]), (&json!(5), &json!(200)));
    assert_eq!(after.as_object().expect("an object").len(), 3, "{after}");
}

#[tokio::test]
async fn an_error_that_a_model_can_correct_is_a_tool_result_that_says_how() {
    let app = App::start_with(|config| config.service.body_limit = 1 << 20).await;
    let host = |token: &str| Host::new(&app, token, Era::Current);
    let rich = app.bearer("ada").await;
    let rows = [
        ("price_european_option", json!({ "spot": 42.0 }), "strike: field required"),
        ("price_european_option", json!({}), "spot: field required"),
        ("get_usage", json!({ "days": "many" }), "days: value is not a valid integer"),
        ("get_usage", json!({ "days": 1000 }), "days: "),
        (
            "find_min_variance_portfolio",
            json!({ "expected_returns": [0.1, 0.2], "covariance_matrix": [[1.0, 0.0], [0.0, 1.0]], "min_weights": [0.9, 0.9] }),
            "min_weights",
        ),
        ("describe_tool", json!({ "name": "none" }), "search_tools"),
        ("describe_tool", json!({}), "name: field required"),
        ("search_tools", json!({ "query": 1 }), "query: str type expected"),
        ("search_tools", json!({ "query": "", "limit": 0 }), "limit: "),
        ("call_tool", json!({ "name": "none" }), "search_tools"),
        ("call_tool", json!({ "name": "call_tool" }), "directly"),
        ("call_tool", json!({ "name": "get_usage", "arguments": [] }), "arguments: "),
        ("call_tool", json!({ "name": "get_usage", "arguments": { "days": 0 } }), "days: "),
        ("read_result", json!({ "id": "svc://results/1" }), "24 hours"),
        ("read_result", json!({ "id": "x", "offset": -1 }), "offset: "),
    ];
    for (tool, arguments, expected) in rows {
        let result = host(&rich).call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(result["structuredContent"].is_null());
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
}

#[tokio::test]
async fn too_few_credits_and_too_low_a_tier_are_reported_in_a_tool_result() {
    let app = App::start().await;
    let (_, request, _) = documented("price_european_option");
    let low = app.bearer_of("ada", Tier::Free, 100).await;
    let poor = app.bearer_of("bob", Tier::Pro, 4).await;
    for (token, expected) in [
        (low, "Endpoint requires Pro tier or higher"),
        (poor, "Insufficient credits. This endpoint requires 5 credits."),
    ] {
        let host = Host::new(&app, &token, Era::Legacy);
        let result = host.call("price_european_option", request.clone()).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains(expected) && text.contains("Nothing was charged"), "{text}");
        assert_eq!(result["_meta"]["credits"]["cost"], 0);
    }
}

#[tokio::test]
async fn a_reached_hourly_limit_is_reported_in_a_tool_result_that_is_not_stored() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Free, 0).await;
    let host = Host::new(&app, &token, Era::Legacy);
    let (_, request, _) = documented("add_tenor_to_date");
    for _ in 0..500 {
        assert_eq!(host.call("add_tenor_to_date", request.clone()).await["isError"], false);
    }
    let result = host.call("add_tenor_to_date", request).await;
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(result["isError"], true);
    assert!(text.contains("500 requests per hour") && text.contains("Wait "), "{text}");
    assert!(result["_meta"]["result"].is_null(), "{result}");
}

#[tokio::test]
async fn the_named_toolsets_are_listed_beside_the_core_tools() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let is_pricing = |operation: &Documented| operation.path.starts_with("/quantlib/pricing/");
    let priced = metered().iter().filter(|operation| is_pricing(operation)).count();
    let free = METERED.iter().filter(|operation| operation.cost == 0).count();
    for era in BOTH {
        let mut host = Host::new(&app, &token, era);
        let core = host.tools().await;
        assert_eq!(core.len(), 5 + free, "{core:?}");
        host.query = "?toolsets=pricing%2Cnothing&x=1";
        let pricing = host.tools().await;
        assert_eq!(pricing.len(), 5 + free + priced, "{pricing:?}");
        host.query = "?toolsets=account,pricing";
        assert_eq!(host.tools().await.len(), 5 + free + priced + 3);
        host.query = "?toolsets=all";
        let all = host.tools().await;
        assert_eq!(all.len(), METERED.len() + 8);
        assert_eq!(all, host.tools().await, "the order is steady");
        host.query = "?toolsets=%ff";
        assert_eq!(host.tools().await, core);
    }
}

/// The places of the numbers of a schema that have no unit.
fn numbers_without_a_unit(schema: &Value, place: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            let kinds = match fields.get("type") {
                Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(kind)) => vec![kind.as_str()],
                _ => Vec::new(),
            };
            let is_number = kinds.contains(&"number") || kinds.contains(&"integer");
            if is_number && !fields.contains_key("x-unit") {
                found.push(place.to_owned());
            }
            for (name, inner) in fields {
                numbers_without_a_unit(inner, &format!("{place}/{name}"), found);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|inner| numbers_without_a_unit(inner, place, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_number_of_every_tool_has_a_unit() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let mut host = Host::new(&app, &token, Era::Current);
    host.query = "?toolsets=all";
    let answer = host.ask("tools/list", json!({})).await;
    let tools = answer.expect(200)["result"]["tools"].as_array().expect("a list").clone();
    assert!(tools.len() > METERED.len(), "all tools are listed: {}", tools.len());
    let mut missing = Vec::new();
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name");
        for schema in ["inputSchema", "outputSchema"] {
            numbers_without_a_unit(&tool[schema], &format!("{name}/{schema}"), &mut missing);
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[tokio::test]
async fn any_tool_can_be_found_described_and_called_by_name() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let found = host.call("search_tools", json!({ "query": "margrabe exchange" })).await;
    let name = found["structuredContent"]["tools"][0]["name"].clone();
    assert_eq!(name, "price_exchange_option");
    let described = host.call("describe_tool", json!({ "name": name })).await;
    let example = described["structuredContent"]["input_schema"]["examples"][0].clone();
    let called = host.call("call_tool", json!({ "name": name, "arguments": example })).await;
    let (_, _, answer) = documented("price_exchange_option");
    assert_eq!(called["structuredContent"], json!({ "tool": name, "data": answer["data"] }));
    assert_eq!(called["_meta"]["credits"]["cost"], 5);
}

#[tokio::test]
async fn a_result_is_read_by_its_owner_for_a_day_and_by_nobody_else() {
    let app = App::start().await;
    let (ada, bob) = (app.bearer("ada").await, app.bearer("bob").await);
    let (_, request, answer) = documented("price_european_option");
    let result = Host::new(&app, &ada, Era::Current).call("price_european_option", request).await;
    let uri = result["_meta"]["result"].as_str().expect("an address").to_owned();
    let read = async |token: &str, era, uri: &str| {
        Host::new(&app, token, era).ask("resources/read", json!({ "uri": uri })).await
    };
    for era in BOTH {
        let answer_read = read(&ada, era, &uri).await;
        let contents = &answer_read.expect(200)["result"]["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        let envelope: Value =
            serde_json::from_str(contents["text"].as_str().expect("text")).expect("JSON");
        assert_eq!(envelope["svc"], "result/v1");
        assert_eq!(
            (&envelope["tool"], &envelope["status"]),
            (&json!("price_european_option"), &json!("ok"))
        );
        assert_eq!((&envelope["data"], &envelope["error"]), (&answer["data"], &Value::Null));
        assert_eq!(envelope["credits"], json!({ "cost": 5, "balance": 995 }));
        assert_eq!(envelope["meta"]["uri"], uri);
        let summary = envelope["summary"].as_str().expect("a sentence");
        assert!(summary.contains("5 credits"), "{summary}");
    }
    let unknown = "svc://results/00000000-0000-0000-0000-000000000000";
    for (token, uri) in [
        (&bob, uri.as_str()),
        (&ada, unknown),
        (&ada, "svc://results/x"),
        (&ada, "file:///etc/passwd"),
    ] {
        let missing = read(token, Era::Legacy, uri).await;
        assert_eq!(missing.expect(200)["error"]["code"], -32002, "{uri}");
        let missing = read(token, Era::Current, uri).await;
        let error = &missing.expect(200)["error"];
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)));
    }
    app.clock.advance(chrono::TimeDelta::hours(24) - chrono::TimeDelta::seconds(1));
    let token = app.access_token("ada").await;
    let last = read(&token, Era::Legacy, &uri).await;
    assert!(last.expect(200)["result"]["contents"][0]["text"].is_string(), "{last:?}");
    app.clock.advance(chrono::TimeDelta::seconds(1));
    assert_eq!(read(&token, Era::Legacy, &uri).await.expect(200)["error"]["code"], -32002);
}

#[tokio::test]
async fn a_large_result_is_truncated_with_a_link_to_the_whole() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let result = host.call("build_curve", large_curve()).await;
    let structured = &result["structuredContent"];
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.len() <= 40 * 1024, "{} bytes", text.len());
    assert_eq!(text, structured.to_string());
    let shown = structured["pillars"].as_array().expect("pillars").len();
    assert!((50..1000).contains(&shown), "{shown}");
    let uri = result["_meta"]["result"].as_str().expect("an address");
    let link = &result["content"][2];
    assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &json!(uri)));
    assert!(result["content"][1]["text"].as_str().expect("a note").contains(uri));

    let mut pillars: Vec<Value> = Vec::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let part = json!({ "id": uri, "path": "/data/pillars", "offset": offset });
        let part = host.call("read_result", part).await["structuredContent"].clone();
        assert_eq!(part["total"], 1000);
        pillars.extend(part["value"].as_array().expect("a list").clone());
        offset = part["next_offset"].clone();
    }
    assert_eq!(pillars.len(), 1000);
    assert_eq!(pillars[..shown], structured["pillars"].as_array().expect("pillars")[..]);

    // Revision 2025-03-26 has no resource links, so the text alone names the address.
    let old = [("MCP-Protocol-Version", "2025-03-26")];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "build_curve", "arguments": large_curve() } });
    let answer = host.send(&old, &call.to_string()).await;
    assert_eq!(answer.expect(200)["result"]["content"].as_array().map(Vec::len), Some(2));
}

/// The addresses in `resources/list`.
async fn listed(host: &Host<'_>) -> Vec<String> {
    let answer = host.ask("resources/list", json!({})).await;
    let resources = answer.expect(200)["result"]["resources"].as_array().expect("a list").clone();
    let uri = |resource: &Value| resource["uri"].as_str().expect("an address").to_owned();
    resources.iter().map(uri).collect()
}

#[tokio::test]
async fn refusals_and_reads_of_the_account_store_nothing() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        for (tool, arguments, is_error) in [
            ("price_european_option", json!({ "spot": 1 }), true),
            ("add_tenor_to_date", json!({ "start_date": "2024-01-31", "tenor": "x" }), true),
            ("get_usage", json!({ "days": 0 }), true),
            ("get_profile", json!({}), false),
            ("get_balance", json!({}), false),
            ("get_usage", json!({ "days": 1 }), false),
        ] {
            let result = host.call(tool, arguments).await;
            assert_eq!(result["isError"], is_error, "{tool}: {result}");
            assert!(result["_meta"]["result"].is_null(), "{tool}: {result}");
        }
        assert_eq!(listed(&host).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_misspelt_argument_is_refused_with_the_nearest_name_and_nothing_is_charged() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let (_, request, _) = documented("price_european_option");
    let mut misspelt = request.clone();
    misspelt["dividend_yeild"] = json!(0.01);
    let by_name = json!({ "name": "price_european_option", "arguments": misspelt });
    let schedule = json!({ "name": "x", "argument": {} });
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        for (tool, arguments, expected) in [
            (
                "price_european_option",
                misspelt.clone(),
                "dividend_yeild: extra fields not permitted; the nearest name is dividend_yield",
            ),
            (
                "call_tool",
                by_name.clone(),
                "dividend_yeild: extra fields not permitted; the nearest name is dividend_yield",
            ),
            (
                "call_tool",
                schedule.clone(),
                "argument: extra fields not permitted; the nearest name is arguments",
            ),
            (
                "get_usage",
                json!({ "day": 7 }),
                "day: extra fields not permitted; the nearest name is days",
            ),
            ("get_balance", json!({ "currency": "EUR" }), "currency: extra fields not permitted"),
            ("search_tools", json!({ "query": "bond", "limits": 3 }), "the nearest name is limit"),
            ("read_result", json!({ "id": "x", "pth": "/data" }), "the nearest name is path"),
        ] {
            let result = host.call(tool, arguments).await;
            assert_eq!(result["isError"], true, "{tool}: {result}");
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert!(text.contains(expected), "{tool}: {text}");
        }
        let balance = host.call("get_balance", json!({})).await;
        assert_eq!(balance["structuredContent"]["credit_balance"], 1000);
    }
    // The interface of REST asks for unknown fields to be ignored.
    let key = app.account("grace", Tier::Pro, 5).await;
    app.post("/quantlib/pricing/bs/price", Some(&key), &misspelt.to_string()).await.expect(200);
}

#[tokio::test]
async fn the_newest_results_of_the_account_are_listed() {
    let app = App::start().await;
    let (ada, bob) = (app.bearer("ada").await, app.bearer("bob").await);
    let (_, request, _) = documented("price_european_option");
    let host = Host::new(&app, &ada, Era::Current);
    let mut made = Vec::new();
    for arguments in [("price_european_option", request), ("build_curve", large_curve())] {
        let result = host.call(arguments.0, arguments.1).await;
        made.push(result["_meta"]["result"].as_str().expect("an address").to_owned());
        app.clock.advance(chrono::TimeDelta::seconds(1));
    }
    made.reverse();
    for era in BOTH {
        assert_eq!(listed(&Host::new(&app, &ada, era)).await, made);
        assert_eq!(listed(&Host::new(&app, &bob, era)).await, Vec::<String>::new());
    }
    let answer = host.ask("resources/list", json!({})).await;
    let newest = &answer.expect(200)["result"]["resources"][0];
    assert_eq!(newest["title"], "Result of build_curve");
    assert_eq!(newest["mimeType"], "application/json");
    let read = host.ask("resources/read", json!({ "uri": made[0] })).await;
    let text = read.text("/result/contents/0/text").to_owned();
    assert_eq!(newest["size"], text.len());
    app.clock.advance(chrono::TimeDelta::hours(24));
    let token = app.access_token("ada").await;
    assert_eq!(listed(&Host::new(&app, &token, Era::Current)).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_repeat_under_one_idempotency_key_costs_nothing() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let (path, request, answer) = documented("price_european_option");
    for (round, era) in BOTH.into_iter().enumerate() {
        let host = Host::new(&app, &token, era);
        let call = async |key: Value, arguments: &Value| {
            let params = json!({
                "name": "price_european_option",
                "arguments": arguments,
                "_meta": { "idempotency_key": key },
            });
            host.ask("tools/call", params).await.expect(200)["result"].clone()
        };
        let key = json!(format!("order {round}"));
        let first = call(key.clone(), &request).await;
        let balance = 995 - 10 * round as u64;
        assert_eq!(first["_meta"]["credits"], json!({ "cost": 5, "balance": balance }), "{first}");
        assert_eq!(first["structuredContent"], answer["data"]);
        let again = call(key.clone(), &request).await;
        assert_eq!(again["structuredContent"], answer["data"]);
        assert_eq!(again["_meta"]["credits"], json!({ "cost": 0, "balance": balance }));
        assert_eq!(again["_meta"]["idempotent_replayed"], true);
        assert_eq!(again["_meta"]["result"], first["_meta"]["result"], "the same result");
        let mut other = request.clone();
        other["spot"] = json!(43.0);
        for (key, arguments, expected) in [
            (key, &other, "sent with another request"),
            (json!(""), &request, "at least 1 characters"),
            (json!(7), &request, "visible ASCII"),
        ] {
            let refused = call(key, arguments).await;
            assert_eq!(refused["isError"], true, "{refused}");
            let text = refused["content"][0]["text"].as_str().expect("a text");
            assert!(text.contains(expected) && text.contains("Nothing was charged"), "{text}");
        }
        // A model has no `_meta`, but arguments.
        let by_name = json!({
            "name": "price_european_option", "arguments": request,
            "idempotency_key": format!("by name {round}"),
        });
        for cost in [5, 0] {
            let result = host.call("call_tool", by_name.clone()).await;
            assert_eq!(result["_meta"]["credits"]["cost"], cost, "{result}");
            assert_eq!(result["structuredContent"]["data"], answer["data"]);
        }
        assert_eq!(listed(&host).await.len(), 2 * (round + 1), "each run has one result");
    }
    // Keys over REST are others, because their stored answers have another form.
    let key = app.account("grace", Tier::Pro, 5).await;
    let rest = poem::Request::builder().method(poem::http::Method::POST).uri_str(path);
    let rest = rest.header("X-API-Key", key).header("Idempotency-Key", "order 0");
    let rest = app.send(rest.content_type("application/json").body(request.to_string())).await;
    assert_eq!(&rest.expect(200)["data"], &answer["data"]);
}

#[tokio::test]
async fn a_large_result_is_the_same_when_it_is_asked_for_again() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let params = json!({
        "name": "build_curve", "arguments": large_curve(),
        "_meta": { "idempotency_key": "a curve" },
    });
    let ask = async || host.ask("tools/call", params.clone()).await.expect(200)["result"].clone();
    let (first, again) = (ask().await, ask().await);
    assert_eq!(first["structuredContent"], again["structuredContent"]);
    assert_eq!(first["content"][0], again["content"][0]);
    assert_eq!(first["content"][2], again["content"][2], "the link to the whole");
    let short = again["content"][1]["text"].as_str().expect("a text");
    assert!(short.contains("Cost 0 credits, because the call was made before"), "{short}");
    assert_eq!(listed(&host).await.len(), 1);
}

#[tokio::test]
async fn a_call_whose_client_went_away_is_charged_and_its_result_is_found() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let pool = &app.service().compute_pool;
    let (gate, opened) = std::sync::mpsc::channel::<()>();
    let opened = std::sync::Arc::new(std::sync::Mutex::new(opened));
    let account = app.accounts().store().account_of(&quant_tests::email("ada")).await;
    let account = account.expect("the store answers").expect("an account");
    let source = quant_server::body_memory::RequestSource::Account(account);
    let cores = std::thread::available_parallelism().expect("a number of cores").get();
    let blockers = account_core::testing::all((0..cores).map(|_| {
        let opened = opened.clone();
        pool.run(source, move || drop(opened.lock().map(|opened| opened.recv())))
    }));
    let gone = async {
        let call = host.call("build_curve", large_curve());
        let wait = async {
            while pool.load() != (cores, 1) {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            result = call => panic!("the pool is full: {result}"),
            () = wait => {}
        }
        // The client is gone, and its call still waits for a thread.
        drop(gate);
    };
    tokio::join!(blockers, gone);
    let uri = loop {
        match listed(&host).await.pop() {
            Some(uri) => break uri,
            None => tokio::task::yield_now().await,
        }
    };
    let part = json!({ "id": uri, "path": "/data/pillars", "limit": 1 });
    let part = host.call("read_result", part).await["structuredContent"].clone();
    assert_eq!(part["total"], 1000);
    app.forget_callers();
    let balance = host.call("get_balance", json!({})).await;
    assert_eq!(balance["structuredContent"]["credit_balance"], 998);
}

#[tokio::test]
async fn list_results_carry_a_time_to_live_in_the_current_revision() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let current = Host::new(&app, &token, Era::Current).ask(method, json!({})).await;
        let result = &current.expect(200)["result"];
        assert_eq!(
            (&result["resultType"], &result["cacheScope"]),
            (&json!("complete"), &json!("private")),
            "{method}"
        );
        let kept = result["ttlMs"].as_u64().expect("a time to live");
        assert_eq!(kept == 0, method == "resources/list", "each call changes the list of results");
        let legacy = Host::new(&app, &token, Era::Legacy).ask(method, json!({})).await;
        let result = legacy.expect(200)["result"].as_object().expect("a result");
        for word in ["resultType", "ttlMs", "cacheScope"] {
            assert!(!result.contains_key(word), "{method}: {word}");
        }
    }
    let templates =
        Host::new(&app, &token, Era::Legacy).ask("resources/templates/list", json!({})).await;
    assert_eq!(templates.text("/result/resourceTemplates/0/uriTemplate"), "svc://results/{id}");
    let chart = "/result/resourceTemplates/1";
    assert_eq!(templates.text(&format!("{chart}/uriTemplate")), "svc://results/{id}/chart");
    assert_eq!(templates.text(&format!("{chart}/mimeType")), "image/svg+xml");
}

/// What the endpoint can do.
fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} })
}

#[tokio::test]
async fn a_handshake_answers_the_requested_version_where_it_is_supported() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        (LEGACY, LEGACY),
        (CURRENT, LEGACY),
        ("2099-01-01", LEGACY),
        ("nonsense", LEGACY),
    ] {
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let message =
            json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params });
        let answer = host.send(&[], &message.to_string()).await;
        let result = &answer.expect(200)["result"];
        assert_eq!(result["protocolVersion"], answered, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "svc");
        assert_eq!(result["capabilities"], capabilities());
        assert!(answer.header("mcp-session-id").is_none());
    }
}

#[tokio::test]
async fn discovery_lists_versions_capabilities_and_instructions() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let answer = Host::new(&app, &token, Era::Current).ask("server/discover", json!({})).await;
    let result = &answer.expect(200)["result"];
    assert!(result["supportedVersions"].as_array().expect("versions").contains(&json!(CURRENT)));
    assert_eq!(result["capabilities"], capabilities());
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_u64().is_some_and(|kept| kept > 0));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "svc");
    let instructions = result["instructions"].as_str().expect("a text");
    assert!(instructions.contains("toolsets=") && instructions.contains("reuse on retry"));
}

/// Cancels a call that waits for a thread of the compute pool, and returns its answer.
async fn cancelled(app: &App, host: &Host<'_>, other: &Host<'_>) -> Value {
    let pool = &app.service().compute_pool;
    let (gate, opened) = std::sync::mpsc::channel::<()>();
    let opened = std::sync::Arc::new(std::sync::Mutex::new(opened));
    let account = app.accounts().store().account_of(&quant_tests::email("ada")).await;
    let account = account.expect("the store answers").expect("an account");
    let source = quant_server::body_memory::RequestSource::Account(account);
    let cores = std::thread::available_parallelism().expect("a number of cores").get();
    let blockers = account_core::testing::all((0..cores).map(|_| {
        let opened = opened.clone();
        pool.run(source, move || drop(opened.lock().map(|opened| opened.recv())))
    }));
    let cancels = async {
        while pool.load() != (cores, 1) {
            tokio::task::yield_now().await;
        }
        let notification = |id: u32| {
            json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": "the user left" },
            })
        };
        let version = [("MCP-Protocol-Version", LEGACY)];
        // Another id, and the same id of another client, cancel nothing.
        for (host, id) in [(host, 2), (other, 1), (host, 1)] {
            let sent = host.send(&version, &notification(id).to_string()).await;
            assert_eq!(sent.status.as_u16(), 202);
        }
    };
    let call = async {
        let call = host.call("build_curve", large_curve());
        let (result, ()) = tokio::join!(call, cancels);
        drop(gate);
        result
    };
    tokio::join!(blockers, call).1
}

#[tokio::test]
async fn a_cancelled_call_is_not_charged() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let other = app.access_token("ada").await;
    let host = Host::new(&app, &token, Era::Legacy);
    let result = cancelled(&app, &host, &Host::new(&app, &other, Era::Legacy)).await;
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("cancelled") && text.contains("Nothing was charged"), "{text}");
    // The computation ends, and its charge is refused.
    while app.service().compute_pool.load() != (0, 0) {
        tokio::task::yield_now().await;
    }
    app.forget_callers();
    let balance = host.call("get_balance", json!({})).await;
    assert_eq!(balance["structuredContent"]["credit_balance"], 1000);
    assert!(listed(&host).await.is_empty());
}

/// Results with lists or groups of numbers have a chart, for their own account.
#[tokio::test]
async fn the_chart_of_a_result_is_an_svg_for_its_own_account() {
    let app = App::start().await;
    let (ada, bob) = (app.bearer("ada").await, app.bearer("bob").await);
    for (index, (tool, has_chart)) in CHARTS.into_iter().enumerate() {
        let era = BOTH[index % 2];
        let host = Host::new(&app, &ada, era);
        let (_, request, _) = documented(tool);
        let result = host.call(tool, request).await;
        let uri = format!("{}/chart", result["_meta"]["result"].as_str().expect("an address"));
        let read = host.ask("resources/read", json!({ "uri": uri })).await;
        let contents = &read.body["result"]["contents"][0];
        if has_chart {
            assert_eq!(contents["mimeType"], "image/svg+xml", "{tool}: {read:?}");
            assert_eq!(contents["uri"], uri);
            let svg = contents["text"].as_str().expect("text");
            assert!(svg.starts_with("<svg") && svg.contains(tool), "{tool}: {svg}");
        } else {
            assert!(read.body["error"]["code"].is_number(), "{tool}: {read:?}");
        }
        let stranger = Host::new(&app, &bob, era);
        let refused = stranger.ask("resources/read", json!({ "uri": uri })).await;
        assert!(refused.body["error"]["code"].is_number(), "{tool}: {refused:?}");
    }
}
