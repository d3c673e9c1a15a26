//! Hosts and programs of other kinds: prompts, completions, API keys, and the forms of the address.

use account_core::Tier;
use poem::http::StatusCode;
use quant_tests::{
    App,
    mcp::{Era, Host, LEGACY, post},
};
use serde_json::{Value, json};

const BOTH: [Era; 2] = [Era::Legacy, Era::Current];
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const BALANCE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_balance"}}"#;

#[tokio::test]
async fn every_result_without_a_handshake_names_the_server() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let calendar = json!({ "name": "list_calendars", "arguments": {} });
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        let called = host.ask("tools/call", calendar.clone()).await;
        let uri = called.expect(200)["result"]["_meta"]["result"].clone();
        let reference = json!({ "type": "ref/prompt", "name": "price_option" });
        let argument = json!({ "name": "option_type", "value": "" });
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/call", calendar.clone()),
            ("tools/call", json!({ "name": "get_usage", "arguments": { "days": 0 } })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": uri })),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "check_bank", "arguments": { "accounts": "x" } })),
            ("completion/complete", json!({ "ref": reference, "argument": argument })),
        ] {
            let answer = host.ask(method, params).await;
            let result = &answer.expect(200)["result"];
            let server = &result["_meta"][SERVER_INFO];
            match era {
                Era::Current => assert_eq!(server["name"], "svc", "{method}: {result}"),
                Era::Legacy => assert!(server.is_null(), "{method}: {result}"),
            }
        }
    }
    let discovered = Host::new(&app, &token, Era::Current).ask("server/discover", json!({})).await;
    let result = &discovered.expect(200)["result"];
    assert_eq!(result["_meta"][SERVER_INFO]["name"], "svc", "{result}");
    let capabilities = &result["capabilities"];
    assert!(capabilities["prompts"].is_object() && capabilities["completions"].is_object());
}

#[tokio::test]
async fn prompts_are_listed_written_and_completed() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for era in BOTH {
        let host = Host::new(&app, &token, era);
        let result = async |method: &str, params: Value| {
            host.ask(method, params).await.expect(200)["result"].clone()
        };
        let listed = result("prompts/list", json!({})).await;
        let names = listed["prompts"].as_array().expect("prompts").iter();
        let names: Vec<&Value> = names.map(|prompt| &prompt["name"]).collect();
        let expected = ["price_option", "build_and_read_curve", "check_bank", "optimise_portfolio"];
        assert_eq!(names, expected);
        let arguments = json!({ "objective": "max_sharpe", "assets": "A 5 %, B 7 %" });
        let written = json!({ "name": "optimise_portfolio", "arguments": arguments });
        let written = result("prompts/get", written).await;
        let text = written["messages"][0]["content"]["text"].as_str().expect("a text");
        assert!(text.contains("A 5 %, B 7 %") && text.contains("find_max_sharpe_portfolio"));
        let complete = async |reference: Value, name: &str, value: &str| {
            let argument = json!({ "name": name, "value": value });
            let params = json!({ "ref": reference, "argument": argument });
            result("completion/complete", params).await["completion"]["values"].clone()
        };
        let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
        let option_types = complete(prompt("price_option"), "option_type", "").await;
        assert_eq!(option_types, json!(["call", "put"]));
        let objective = complete(prompt("optimise_portfolio"), "objective", "m").await;
        assert_eq!(objective, json!(["max_sharpe", "min_variance"]));
        let called = host.call("list_calendars", json!({})).await;
        let id = called["_meta"]["result"].as_str().expect("an address");
        let id = id.strip_prefix("svc://results/").expect("an address").to_owned();
        let template = json!({ "type": "ref/resource", "uri": "svc://results/{id}" });
        let ids = complete(template, "id", &id[..30]).await;
        assert_eq!(ids, json!([id]));
    }
}

#[tokio::test]
async fn an_api_key_opens_the_gateway_only_where_the_operator_allows_it() {
    let closed = App::start().await;
    let open = App::start_with(|config| config.service.mcp_api_keys = true).await;
    for (app, is_open) in [(&closed, false), (&open, true)] {
        let key = app.account("ada", Tier::Pro, 100).await;
        let guest = app.guest().await;
        let token = app.access_token("ada").await;
        let bearer = |secret: &str| ("Authorization", format!("Bearer {secret}"));
        let (start, last) = key.split_at(key.len() - 1);
        let unknown = format!("{start}{}", if last == "x" { "y" } else { "x" });
        for (header, expected) in [
            (("X-API-Key", key.clone()), is_open),
            (bearer(&key), is_open),
            (bearer(&token), true),
            (("X-API-Key", guest.clone()), false),
            (bearer(&guest), false),
            (("X-API-Key", unknown), false),
            (("X-API-Key", token.clone()), false),
        ] {
            let request = post("/mcp").header(header.0, header.1.as_str());
            let answer =
                app.send(request.header("MCP-Protocol-Version", LEGACY).body(BALANCE)).await;
            let status = if expected { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
            assert_eq!(answer.status, status, "{} {is_open}: {answer:?}", header.0);
            if expected {
                let balance = &answer.body["result"]["structuredContent"]["credit_balance"];
                assert_eq!(*balance, 100);
            }
        }
    }
}

#[tokio::test]
async fn the_address_may_end_with_a_slash() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for path in ["/mcp", "/mcp/", "/mcp/?toolsets=pricing"] {
        let request = post(path).header("Authorization", format!("Bearer {token}"));
        let answer = app.send(request.body(BALANCE)).await;
        assert_eq!(answer.expect(200)["result"]["isError"], false, "{path}");
    }
    assert_eq!(app.send(post("/mcp/").body(BALANCE)).await.status, StatusCode::UNAUTHORIZED);
}
