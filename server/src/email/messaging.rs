//! The messaging channel: a bot API, `POST {url}/bot{token}/sendMessage` with `chat_id` and `text`.

use std::time::Duration;

use account_core::ChatId;
use serde_json::{Value, json};

use super::send_error::SendError;

/// Longest time for the delivery of one message.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of a message that every bot API takes.
const CHARACTERS: usize = 4_096;
/// The longest wait that the channel may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
const TOO_MANY_REQUESTS: u16 = 429;

/// A client of the bot API. The address of the API holds the bot's token and is never printed.
pub struct Messenger {
    client: reqwest::Client,
    endpoint: String,
}

/// The reason why the channel cannot be used as configured.
#[derive(Debug, thiserror::Error)]
#[error("no client for the messaging channel: {0}")]
pub struct MessengerError(reqwest::Error);

impl Messenger {
    /// Makes a client of the bot API at this address, without a slash at its end, for this bot.
    ///
    /// # Errors
    ///
    /// [`MessengerError`] where the system has no part that the client needs.
    pub fn new(url: &str, token: &str) -> Result<Self, MessengerError> {
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(MessengerError)?;
        Ok(Self { client, endpoint: format!("{url}/bot{token}/sendMessage") })
    }

    /// Sends one message, cut where it is too long.
    pub(super) async fn send(&self, chat: &ChatId, text: &str) -> Result<(), SendError> {
        let text: String = text.chars().take(CHARACTERS).collect();
        let message = json!({ "chat_id": chat.as_str(), "text": text });
        let sent = self.client.post(&self.endpoint).json(&message).send().await;
        // The address holds the bot's token: it must not reach the log.
        let response = sent.map_err(|error| SendError::Unreachable(error.without_url()))?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        if status.is_client_error() && status.as_u16() != TOO_MANY_REQUESTS {
            return Err(SendError::Refused(format!("status {}", status.as_u16())));
        }
        let answer: Value = response.json().await.unwrap_or_default();
        let wait = answer["parameters"]["retry_after"].as_u64().unwrap_or_default();
        let retry_after = Duration::from_secs(wait).min(LONGEST_WAIT);
        Err(SendError::Unwilling { status: status.as_u16(), retry_after })
    }
}
