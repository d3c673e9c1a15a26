//! The pages for people: front page, reference, playground, `llms.txt`.

use std::collections::BTreeSet;

use poem::Request;
use quant_server::api::openapi::DOCUMENT;
use quant_tests::{Answer, App};
use serde_json::Value;

async fn get(app: &App, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(Request::builder().uri_str(path), |request, (name, value)| {
            request.header(*name, *value)
        });
    app.send(request.finish()).await
}

/// The id of every operation, and true for a metered one.
fn operations() -> Vec<(String, bool)> {
    let methods = DOCUMENT["paths"].as_object().expect("paths").values();
    let operations = methods.flat_map(|methods| methods.as_object().expect("methods").values());
    let id = |operation: &Value| operation["operationId"].as_str().expect("an id").to_owned();
    operations.map(|operation| (id(operation), !operation["x-tier"].is_null())).collect()
}

#[tokio::test]
async fn the_front_page_is_html_for_a_browser_and_json_for_a_program() {
    let app = App::start().await;
    let page = get(&app, "/", &[("accept", "text/html,application/xhtml+xml")]).await;
    page.expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.body_text.contains("<h1>"), "{}", page.body_text);
    for link in ["/docs", "/playground", "/openapi.json", "/llms.txt", "/ready"] {
        assert!(page.body_text.contains(&format!("href=\"{link}")), "{link}");
    }
    let list = get(&app, "/", &[]).await;
    assert_eq!(list.expect(200)["openapi"], "/openapi.json");
    assert_eq!(list.header("vary"), Some("Accept, Accept-Encoding"));
}

#[tokio::test]
async fn every_operation_has_a_page_with_its_path_and_a_line_of_llms_txt() {
    let app = App::start().await;
    let list = get(&app, "/llms.txt", &[]).await.body_text;
    for (id, is_metered) in operations() {
        let page = get(&app, &format!("/docs/{id}"), &[]).await;
        page.expect(200);
        assert!(page.body_text.contains("curl -s"), "{id}");
        assert!(list.contains(&format!("/docs/{id})")), "{id}");
        let form = get(&app, &format!("/playground/{id}"), &[]).await;
        form.expect(if is_metered { 200 } else { 404 });
    }
    get(&app, "/docs/nowhere", &[]).await.expect(404);
}

#[tokio::test]
async fn the_catalogue_of_errors_is_a_page_to_which_the_reference_and_llms_txt_refer() {
    let app = App::start().await;
    let page = get(&app, "/docs/errors", &[]).await;
    page.expect(200);
    for part in
        ["<h1>Errors and limits</h1>", "<td><code>value_error.missing</code></td>", "<h3>402"]
    {
        assert!(page.body_text.contains(part), "{part}");
    }
    for list in ["/docs", "/llms.txt"] {
        assert!(get(&app, list, &[]).await.body_text.contains("/docs/errors"), "{list}");
    }
}

#[tokio::test]
async fn every_link_of_the_pages_to_a_page_is_followed() {
    let app = App::start().await;
    let mut links = BTreeSet::new();
    for path in ["/docs", "/docs/errors", "/docs/price_european_option", "/playground"] {
        let page = get(&app, path, &[]).await.body_text;
        let found = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        links.extend(found.filter(|link| link.starts_with('/')).map(str::to_owned));
    }
    // Another test reads the pages of the operations.
    for (id, _) in operations() {
        links.remove(&format!("/docs/{id}"));
        links.remove(&format!("/playground/{id}"));
    }
    assert!(links.len() > 5, "{links:?}");
    for link in links {
        let page = get(&app, &link, &[]).await;
        assert_eq!(page.status, 200, "{link}");
    }
}

#[tokio::test]
async fn a_page_has_a_small_encoding_and_a_tag() {
    let app = App::start().await;
    for path in ["/docs", "/openapi.json", "/playground", "/site.js", "/site.css"] {
        let plain = get(&app, path, &[]).await;
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        for encoding in ["br", "gzip"] {
            let small = get(&app, path, &[("accept-encoding", encoding)]).await;
            assert_eq!(small.header("content-encoding"), Some(encoding), "{path}");
        }
        let tag = plain.header("etag").expect("a tag").to_owned();
        get(&app, path, &[("if-none-match", &tag)]).await.expect(304);
    }
}

#[tokio::test]
async fn pages_load_nothing_from_another_host() {
    let app = App::start().await;
    for path in ["/docs", "/docs/price_european_option", "/playground/price_european_option"] {
        let page = get(&app, path, &[]).await;
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        for attribute in ["src=\"http", "src=\"//", "<script>", "style=\""] {
            assert!(!page.body_text.contains(attribute), "{path} {attribute}");
        }
    }
}

#[tokio::test]
async fn a_parameter_is_listed_with_its_type_range_unit_and_default() {
    let app = App::start().await;
    let page = get(&app, "/docs/get_usage", &[]).await;
    page.expect(200);
    let (_, row) = page.body_text.split_once("<code>days</code>").expect("the parameter `days`");
    let (row, _) = row.split_once("</tr>").expect("a row ends");
    for part in ["<td>query</td>", "<td>integer<br>", "≥ 1, ≤ 366", "UTC days", "<code>30</code>"]
    {
        assert!(row.contains(part), "{part}: {row}");
    }
}
