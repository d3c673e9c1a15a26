//! Forms that are sealed for one browser, so that no other website can send them.

use account_core::{SessionToken, Timestamp};
use chrono::TimeDelta;
use poem::{Request, Response};
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use serde_json::{Map, Value};

use crate::{
    http::{RequestContext, cookie, cookies, form::Form},
    state::Settings,
};

/// Time for which a form may be filled in: as long as the profile of a new account waits.
const FORM_VALIDITY: TimeDelta = account_core::id_token::COMPLETION_VALIDITY;

/// The requesting browser; only the same browser can return a form that was sealed for it.
pub(crate) struct Browser {
    /// The secret of the browser, which its cookie holds.
    secret: SessionToken,
    is_new: bool,
}

impl Browser {
    /// Reads the browser of a request; a new browser gets a secret.
    pub(crate) fn of(request: &Request, settings: &Settings) -> Self {
        let name = cookies::name(cookies::FORM, settings.browsers_use_https());
        let known = cookie(request, &name).and_then(SessionToken::parse);
        let is_new = known.is_none();
        Self {
            secret: known.unwrap_or_else(|| SessionToken::generate(&mut UnwrapErr(SysRng))),
            is_new,
        }
    }

    /// Seals the fields that a form must return.
    pub(crate) fn seal(&self, call: &RequestContext, mut fields: Map<String, Value>) -> String {
        fields.insert("at".to_owned(), call.at.timestamp_micros().into());
        let plain = Value::Object(fields).to_string();
        call.state.accounts.seal_form(self.secret.expose(), plain.as_bytes())
    }

    /// Opens the fields that a form returned, unless they are expired.
    pub(crate) fn open(&self, call: &RequestContext, text: &str) -> Option<Map<String, Value>> {
        let plain = call.state.accounts.open_form(self.secret.expose(), text)?;
        let Ok(Value::Object(fields)) = serde_json::from_slice(&plain) else { return None };
        let at = Timestamp::from_timestamp_micros(fields.get("at")?.as_i64()?)?;
        (at <= call.at && call.at < at + FORM_VALIDITY).then_some(fields)
    }

    /// Sets the cookie with the secret of a new browser.
    pub(crate) fn remember(&self, response: &mut Response, settings: &Settings) {
        if self.is_new {
            let is_https = settings.browsers_use_https();
            let name = cookies::name(cookies::FORM, is_https);
            let cookie = cookies::write(&name, self.secret.expose(), None, is_https);
            cookies::append(response, &cookie);
        }
    }
}

/// Reads the form of this step, with the fields that were sealed for this browser.
pub(crate) async fn returned(
    request: &mut Request,
    call: &RequestContext,
    step: &str,
) -> Option<(Form, Map<String, Value>)> {
    let form = Form::of_body(request).await.ok()?;
    let browser = Browser::of(request, &call.state.settings);
    let sealed = browser.open(call, form.field("form"))?;
    (sealed.get("step")? == step).then_some((form, sealed))
}

/// Returns the fields of a JSON object; no fields for any other value, which `json!({…})` never
/// makes.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
