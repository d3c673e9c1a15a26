//! From a registration to a price, a typed 422 and the usage, by the client of progenitor.

use std::{env, error::Error, fs, path::PathBuf, time::Duration};

use progenitor_client::Error as CallError;
use reqwest::header::{HeaderMap, HeaderValue};

use generated::{
    Client,
    types::{
        CodeRequest, EuropeanOptionRequest, FaultLocItem, Refusal, RefusalDetail,
        RegistrationRequest,
    },
};

mod generated {
    progenitor::generate_api!(spec = "one_error.json", interface = Builder);
}

const EMAIL: &str = "rust@example.com";

/// Returns the code of six digits in an e-mail to [`EMAIL`].
fn code_in(text: &str) -> Option<&str> {
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    text.contains(&format!("To: {EMAIL}")).then(|| text.lines().map(str::trim).find(is_code))?
}

/// Waits for the newest e-mail and returns its code.
async fn code(folder: PathBuf) -> Result<String, Box<dyn Error>> {
    for _ in 0..200 {
        let files = fs::read_dir(&folder)?.map(|file| file.map(|file| file.path()));
        let mut files = files.collect::<Result<Vec<_>, _>>()?;
        files.sort();
        for file in files.iter().rev() {
            if let Some(code) = code_in(&fs::read_to_string(file)?) {
                return Ok(code.to_owned());
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("no e-mail has a code".into())
}

/// Returns a client that sends a key with each request.
fn with_key(url: &str, key: &str) -> Result<Client, Box<dyn Error>> {
    let headers = HeaderMap::from_iter([("x-api-key".parse()?, HeaderValue::from_str(key)?)]);
    let client = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(Client::new_with_client(url, client))
}

/// Returns the documented refusal of a call.
fn refusal<T: std::fmt::Debug>(call: Result<T, CallError<Refusal>>) -> (u16, RefusalDetail) {
    match call {
        Err(CallError::ErrorResponse(refused)) => {
            (refused.status().as_u16(), refused.into_inner().detail)
        }
        other => panic!("no documented refusal: {other:?}"),
    }
}

/// Registers an account, and returns a client that sends its key.
async fn register(url: &str, mail: PathBuf) -> Result<Client, Box<dyn Error>> {
    let anonymous = Client::new(url);
    let account = RegistrationRequest::builder()
        .username("rust")
        .email(EMAIL)
        .password("a long and private sentence");
    anonymous.register_account().body(account).send().await?;
    let code = CodeRequest::builder().email(EMAIL).otp(code(mail).await?);
    let signed_in = anonymous.verify_registration().body(code).send().await?.into_inner();
    with_key(url, &signed_in.data.api_key)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, mail) = (env::var("URL")?, env::var("MAIL")?);
    let client = register(&url, mail.into()).await?;
    let option = EuropeanOptionRequest::builder()
        .spot(42.0)
        .strike(40.0)
        .risk_free_rate(0.1)
        .volatility(0.2)
        .time_to_maturity(0.5);
    let call = || client.price_european_option().idempotency_key("first");
    let answer = call().body(option.clone()).send().await?.into_inner();
    assert!((answer.data.price - 4.76).abs() < 0.005, "{answer:?}");

    let (status, detail) = refusal(call().body(option.clone().strike(41.0)).send().await);
    let RefusalDetail::Array(faults) = &detail else { panic!("no list of faults: {detail:?}") };
    assert_eq!((status, &*faults[0].type_), (422, "value_error.idempotency_key"));
    let FaultLocItem::String(place) = &faults[0].loc[0] else { panic!("{faults:?}") };
    assert_eq!(place, "header");

    let unknown = with_key(&url, "fk_user_unknown")?;
    let (status, detail) = refusal(unknown.price_european_option().body(option).send().await);
    let RefusalDetail::String(text) = &detail else { panic!("no text: {detail:?}") };
    assert_eq!((status, &**text), (401, "Invalid API key"));

    let usage = client.get_usage().send().await?.into_inner();
    assert_eq!(usage.data.summary.total_credits_used, 5);
    println!(
        "a price of {}, {} credits left",
        answer.data.price, usage.data.account.credit_balance
    );
    Ok(())
}
