//! The requests that several tests send.

use serde_json::json;

pub use crate::PASSWORD;
use crate::{Answer, App, email};

/// The path of a computation that costs five credits.
pub const PRICE: &str = "/quantlib/pricing/bs/price";
/// A body for [`PRICE`].
pub const OPTION: &str = r#"{"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}"#;

/// The path of a free computation.
pub const TENOR: &str = "/quantlib/core/types/tenor/add-to-date";
/// A body for [`TENOR`].
pub const DATE: &str = r#"{"start_date": "2024-01-31", "tenor": "1M"}"#;

impl App {
    /// Signs in with a password.
    pub async fn log_in(&self, name: &str, password: &str) -> Answer {
        let body = json!({ "email": email(name).as_str(), "password": password });
        self.post("/user/login", None, &body.to_string()).await
    }

    /// The code of the latest email to an account; panics where there is none.
    pub async fn emailed_code(&self, name: &str) -> String {
        self.code(name).await.expect("an email with a code").expose().to_owned()
    }
}
