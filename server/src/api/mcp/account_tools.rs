//! The tools that read the account: balance, usage and profile.

use std::sync::Arc;

use account_core::{AccountCaller, Caller};
use bytes::Bytes;
use futures_util::{FutureExt as _, future::BoxFuture};
use poem_openapi::types::ToJSON;
use rmcp::model::JsonObject;
use serde_json::Value;

use super::message::{self, MOST_WITHOUT_ARGUMENTS, SplitError};
use crate::{
    api::account::{profile, usage},
    http::{
        AdmittedCall, AnswerParts, ApiError, Executed, ExecutedCall, RequestContext,
        query::check_pairs,
        validation::{Fault, Step},
    },
};

/// Reads the data of a tool for an admitted account, from the parameters of its operation.
type AccountReader = fn(Arc<RequestContext>, AccountCaller, Vec<Pair>) -> BoxFuture<'static, Read>;
/// The data that was read, or the refusal.
type Read = Result<Value, ApiError>;
/// The name and the value of a parameter.
type Pair = (String, String);

/// A tool that reads the account of the access token and costs nothing.
pub(super) struct AccountTool {
    /// The name of the tool in `tools/list`.
    pub(super) name: &'static str,
    /// The id of the operation that describes the tool.
    pub(super) operation: &'static str,
    /// The fields of the operation's answer that the tool returns; all where none is named.
    pub(super) fields: &'static [&'static str],
    read: AccountReader,
}

/// Every tool that reads the account.
pub(super) static ACCOUNT_TOOLS: [AccountTool; 3] = [
    AccountTool {
        name: "get_balance",
        operation: "get_profile",
        fields: &["account_type", "credit_balance", "rate_limit"],
        read: read_profile,
    },
    AccountTool { name: "get_usage", operation: "get_usage", fields: &[], read: read_usage },
    AccountTool { name: "get_profile", operation: "get_profile", fields: &[], read: read_profile },
];

impl AccountTool {
    /// Counts the call against the account's limit, checks the arguments and reads the data, as the
    /// operation over REST does.
    pub(super) async fn execute(
        &self,
        context: Arc<RequestContext>,
        caller: AccountCaller,
        arguments: &Bytes,
    ) -> Executed {
        let call = AdmittedCall::new(context, Caller::Account(caller.clone())).await?;
        let (context, _) = call.into_parts();
        let arguments = message::members(arguments).map_err(|error| match error {
            SplitError::TooLarge => ApiError::BodyTooLarge { limit: MOST_WITHOUT_ARGUMENTS },
            SplitError::Syntax(error) => {
                let path = [Step::name("query")];
                ApiError::Faults(vec![Fault::new(&path, "value_error.jsondecode", error)])
            }
        })?;
        let pairs = pairs(&arguments);
        let unknown = context.route().unknown_parameter_faults(&pairs);
        if !unknown.is_empty() {
            return Err(ApiError::Faults(unknown));
        }
        check_pairs(context.route(), &pairs)?;
        let mut data = (self.read)(context, caller, pairs).await?;
        if let Some(fields) = data.as_object_mut().filter(|_| !self.fields.is_empty()) {
            fields.retain(|name, _| self.fields.contains(&name.as_str()));
        }
        Ok(ExecutedCall::new(AnswerParts::new(data.to_string())))
    }
}

fn read_profile(
    context: Arc<RequestContext>,
    caller: AccountCaller,
    _: Vec<Pair>,
) -> BoxFuture<'static, Read> {
    async move { json(profile::read(&context, &caller).await) }.boxed()
}

fn read_usage(
    context: Arc<RequestContext>,
    caller: AccountCaller,
    pairs: Vec<Pair>,
) -> BoxFuture<'static, Read> {
    async move {
        let query = usage::query_of(&pairs)?;
        json(usage::read(&context, &caller, &query).await)
    }
    .boxed()
}

fn json<T: ToJSON>(data: Result<T, ApiError>) -> Read {
    data.map(|data| data.to_json().unwrap_or_default())
}

/// Returns the arguments as the pairs of a query string. An absent argument and a null one are the
/// same.
fn pairs(arguments: &JsonObject) -> Vec<Pair> {
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    given.map(|(name, value)| (name.clone(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_of_a_page_become_the_pairs_of_its_query() {
        let arguments = json!({ "days": 7, "endpoint_filter": "/a b&c", "page": null });
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs(&arguments), [pair("days", "7"), pair("endpoint_filter", "/a b&c")]);
        assert_eq!(pairs(&JsonObject::new()), []);
    }
}
