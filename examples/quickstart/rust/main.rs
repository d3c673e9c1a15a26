//! A price, the balance and a refusal over HTTP.
//!
//! Usage: `QUANT_KEY=fk_user_… cargo run -p quant-examples --example quickstart`

use std::{env, error::Error};

use reqwest::{Client, Method};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// An answer: the data of a success.
#[derive(Deserialize)]
struct Success<T> {
    data: T,
}

#[derive(Deserialize)]
struct Price {
    price: f64,
}

#[derive(Deserialize)]
struct Profile {
    credit_balance: u64,
}

/// A refusal, which costs nothing.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Refusal {
    /// The faults of a 422, all at once.
    Faults { detail: Vec<Fault> },
    /// The reason of any other refusal.
    Reason { detail: String },
}

#[derive(Debug, Deserialize)]
struct Fault {
    loc: Vec<Value>,
    msg: String,
    r#type: String,
}

/// The service with a key.
struct Service {
    client: Client,
    url: String,
    key: String,
}

impl Service {
    /// Calls the service. The inner error is a refusal, the outer one a failure of the connection.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Result<T, Refusal>, reqwest::Error> {
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = request.header("X-API-Key", &self.key);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = request.send().await?;
        if answer.status().is_success() {
            return Ok(Ok(answer.json::<Success<T>>().await?.data));
        }
        Ok(Err(answer.json().await?))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::var("QUANT_URL").unwrap_or_else(|_| "http://127.0.0.1:8080".to_owned());
    let service = Service { client: Client::new(), url, key: env::var("QUANT_KEY")? };
    let path = "/quantlib/pricing/bs/price";
    let mut option = json!({
        "spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5,
    });
    let refused = |refusal: Refusal| format!("{refusal:?}");
    let price: Price = service.call(Method::POST, path, Some(&option)).await?.map_err(refused)?;
    println!("price: {}", price.price);
    let profile: Profile =
        service.call(Method::GET, "/user/profile", None).await?.map_err(refused)?;
    println!("balance: {}", profile.credit_balance);

    option["volatility"] = json!(-0.2);
    match service.call::<Price>(Method::POST, path, Some(&option)).await? {
        Err(Refusal::Faults { detail }) => {
            for Fault { loc, msg, r#type } in detail {
                println!("refused: {} {} {msg}", r#type, Value::from(loc));
            }
        }
        Err(Refusal::Reason { detail }) => println!("refused: {detail}"),
        Ok(_) => return Err("a negative volatility was accepted".into()),
    }
    Ok(())
}
