//! The Rust examples of `docs/explanations-and-receipts.md` and `docs/batches-and-columns.md`, which
//! `tests/site/examples` compares with the pages.
//!
//! Usage: `URL=http://127.0.0.1:8080 KEY=fk_user_… cargo run -p quant-examples --example documented`

use std::{env, error::Error};

use reqwest::Client;
use serde_json::{Value, json};

/// The service with a key.
struct Service {
    client: Client,
    url: String,
    key: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let service = Service { client: Client::new(), url: env::var("URL")?, key: env::var("KEY")? };
    let option = json!({
        "spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5,
    });
    explain(&service, &option).await?;
    compute()?;
    verify(&service, &option).await?;
    quote(&service, &option).await?;
    cap(&service, &option).await?;
    batch(&service, &option).await?;
    columns(&service).await
}

async fn explain(service: &Service, option: &Value) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let explained: Value = client
        .post(format!("{url}/quantlib/pricing/bs/price?explain=true"))
        .header("X-API-Key", key)
        .json(option)
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    println!("{}: {}", explained["data"]["price"], explained["meta"]["method"]["name"]);
    Ok(())
}

fn compute() -> quant_core::Result<()> {
    use quant_core::NUMERIC_VERSION;
    use quant_core::pricing::black_scholes::{EuropeanOption, OptionType};

    let option = EuropeanOption {
        option_type: OptionType::Call,
        spot: 42.0,
        strike: 40.0,
        risk_free_rate: 0.1,
        dividend_yield: 0.0,
        volatility: 0.2,
        time_to_maturity: 0.5,
    };
    // With the same version these are the digits of the service, and `meta` without `defaults`.
    println!("{NUMERIC_VERSION} {} {:?}", option.price()?, option.explain_price()?);
    Ok(())
}

async fn verify(service: &Service, option: &Value) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let answer: Value = client
        .post(format!("{url}/quantlib/pricing/bs/price?receipt=true"))
        .header("X-API-Key", key)
        .json(option)
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    let submission =
        json!({ "receipt": answer["receipt"], "request": option, "data": answer["data"] });
    let verified: Value = client
        .post(format!("{url}/receipts/verify"))
        .json(&submission)
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    println!("recomputed: {}", verified["data"]["recomputed"]);
    Ok(())
}

async fn quote(service: &Service, option: &Value) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let quote: Value = client
        .post(format!("{url}/quantlib/pricing/bs/price"))
        .header("X-API-Key", key)
        .header("Prefer", "quote")
        .json(option)
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    let terms = &quote["data"];
    println!("credits_cost: {}, would_pass: {}", terms["credits_cost"], terms["would_pass"]);
    Ok(())
}

async fn cap(service: &Service, option: &Value) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let capped: Value = client
        .put(format!("{url}/user/profile"))
        .header("X-API-Key", key)
        .json(&json!({ "spend_cap_per_day": 1 }))
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    println!("{} credits a day", capped["data"]["spend_cap_per_day"]);
    let refused = client
        .post(format!("{url}/quantlib/pricing/bs/price"))
        .header("X-API-Key", key)
        .json(option)
        .send()
        .await?;
    println!("{}: {}", refused.status(), refused.json::<Value>().await?["detail"]);
    let uncapped = json!({ "spend_cap_per_day": null });
    client
        .put(format!("{url}/user/profile"))
        .header("X-API-Key", key)
        .json(&uncapped)
        .send()
        .await?
        .error_for_status()?;
    Ok(())
}

async fn batch(service: &Service, option: &Value) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let calls = json!([
        { "path": "/quantlib/pricing/bs/price", "body": option },
        { "path": "/quantlib/core/types/tenor/add-to-date",
          "body": { "start_date": "2024-01-31", "tenor": "1M" } },
    ]);
    let batch: Value = client
        .post(format!("{url}/quantlib/batch"))
        .header("X-API-Key", key)
        .json(&json!({ "calls": calls, "mode": "atomic" }))
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    for result in batch["data"]["results"].as_array().into_iter().flatten() {
        println!("{} {}", result["status"], result["data"]);
    }
    Ok(())
}

async fn columns(service: &Service) -> Result<(), Box<dyn Error>> {
    let Service { client, url, key } = service;
    let body = json!({
        "spot": 100, "strike": [90, 100, 110], "risk_free_rate": 0.05, "volatility": 0.2,
        "time_to_maturity": 1,
    });
    let columns: Value = client
        .post(format!("{url}/quantlib/pricing/bs/price/columns"))
        .header("X-API-Key", key)
        .json(&body)
        .send()
        .await?
        .error_for_status()?
        .json()
        .await?;
    println!("{}", columns["data"]["price"]);
    Ok(())
}
