//! The history of the account: sign-ins and transactions.

use account_core as core;
use poem::Result;
use poem_openapi::{Object, OpenApi, types::Example};

use super::{
    enumerations::{SignInMethod, SignInStatus, TransactionType},
    errors::refuse,
    fields::EXAMPLE_SECOND,
    usage::Pagination,
};
use crate::api::own_refusals::{GUEST, OwnRefusals};
use crate::http::{AccountHolder, Answer, JsonString, Moment, Query, Tag, json_string::moment};

/// The refusals that belong to single operations of this file.
pub(in crate::api) const REFUSALS: &[OwnRefusals] =
    &[("list_login_history", &[GUEST]), ("list_transactions", &[GUEST])];

/// The endpoints of the history.
#[derive(Default)]
pub struct Histories;

#[OpenApi(prefix_path = "/user", tag = "Tag::Usage")]
impl Histories {
    /// List the sign-in attempts.
    ///
    /// Newest first, including refused attempts. Not for guests.
    #[oai(path = "/login-history", method = "get", operation_id = "list_login_history")]
    async fn login_history(
        &self,
        caller: AccountHolder,
        /// The number of attempts to list; 1 to 100.
        #[oai(default = "twenty", validator(minimum(value = "1"), maximum(value = "100")))]
        limit: Query<u32>,
        /// The number of attempts to skip.
        #[oai(default, validator(minimum(value = "0"), maximum(value = "1000000")))]
        offset: Query<u32>,
    ) -> Result<Answer<LoginHistory>> {
        let call = caller.context();
        let account = caller.caller();
        let history = call.state.accounts.login_history(account.id, *limit, *offset).await;
        Ok(Answer::new(LoginHistory::from(history.map_err(|error| refuse(call, &error))?)))
    }

    /// List the transactions of credits.
    ///
    /// Newest first; the usage of a day and endpoint is one transaction. The balance is their sum.
    /// Not for guests.
    #[oai(path = "/transactions", method = "get", operation_id = "list_transactions")]
    async fn transactions(
        &self,
        caller: AccountHolder,
        /// The page, from 1.
        #[oai(default = "one", validator(minimum(value = "1"), maximum(value = "1000000")))]
        page: Query<u32>,
        /// Transactions on a page; 1 to 100.
        #[oai(default = "twenty", validator(minimum(value = "1"), maximum(value = "100")))]
        limit: Query<u32>,
    ) -> Result<Answer<Transactions>> {
        let call = caller.context();
        let account = caller.caller();
        let transactions = call.state.accounts.transactions(account.id, *page, *limit).await;
        Ok(Answer::new(Transactions::from(transactions.map_err(|error| refuse(call, &error))?)))
    }
}

fn one() -> u32 {
    1
}

fn twenty() -> u32 {
    20
}

/// The sign-in attempts of an account.
#[derive(Clone, Object)]
#[oai(rename = "LoginHistory", example)]
pub struct LoginHistory {
    /// The attempts, newest first.
    pub login_history: Vec<LoginTry>,
    /// The number of all attempts.
    pub total: u64,
    /// The number of successful attempts.
    pub successful_logins: u64,
    /// The number of other attempts.
    pub failed_logins: u64,
}

/// A sign-in attempt.
#[derive(Clone, Object)]
pub struct LoginTry {
    /// The attempt's number.
    pub id: i64,
    /// The client's address.
    pub ip_address: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// True for a successful attempt.
    pub login_successful: bool,
    /// The outcome of the attempt.
    pub status: SignInStatus,
    /// The way of the attempt.
    pub method: SignInMethod,
    /// The time of the attempt.
    pub created_at: Moment,
    /// The time of the attempt, the same as `created_at`.
    pub timestamp: Moment,
}

/// The transactions of an account.
#[derive(Clone, Object)]
#[oai(rename = "Transactions", example)]
pub struct Transactions {
    /// The transactions, newest first.
    pub transactions: Vec<Transaction>,
    /// The position of the page.
    pub pagination: Pagination,
}

/// A change of the balance.
#[derive(Clone, Object)]
pub struct Transaction {
    /// The transaction's number.
    pub id: i64,
    /// The cause of the change.
    pub kind: TransactionType,
    /// The credits that were added; negative for a debit.
    pub credits: i64,
    /// The balance after the change.
    pub balance_after: u64,
    /// The reason for the change.
    pub description: String,
    /// The time of the change.
    pub created_at: Moment,
}

impl From<core::LoginHistory> for LoginHistory {
    fn from(history: core::LoginHistory) -> Self {
        Self {
            login_history: history.entries.into_iter().map(LoginTry::from).collect(),
            total: history.total,
            successful_logins: history.successful,
            failed_logins: history.failed,
        }
    }
}

impl From<core::LoginTry> for LoginTry {
    fn from(attempt: core::LoginTry) -> Self {
        Self {
            id: attempt.id,
            ip_address: attempt.address.to_string(),
            user_agent: attempt.user_agent,
            login_successful: attempt.status == core::TryStatus::Success,
            status: attempt.status.into(),
            method: attempt.method.into(),
            created_at: JsonString(attempt.at),
            timestamp: JsonString(attempt.at),
        }
    }
}

impl From<core::Transactions> for Transactions {
    fn from(list: core::Transactions) -> Self {
        Self {
            transactions: list.transactions.into_iter().map(Transaction::from).collect(),
            pagination: Pagination::from(&list.page),
        }
    }
}

impl From<core::Transaction> for Transaction {
    fn from(transaction: core::Transaction) -> Self {
        Self {
            id: transaction.id,
            kind: transaction.kind.into(),
            credits: transaction.credits,
            balance_after: transaction.balance_after,
            description: transaction.description,
            created_at: JsonString(transaction.created_at),
        }
    }
}

impl Example for LoginHistory {
    fn example() -> Self {
        let then = moment(EXAMPLE_SECOND);
        let attempt = LoginTry {
            id: 1,
            ip_address: "192.0.2.7".to_owned(),
            user_agent: "curl/8.5.0".to_owned(),
            login_successful: true,
            status: SignInStatus::Success,
            method: SignInMethod::Password,
            created_at: then,
            timestamp: then,
        };
        Self { login_history: vec![attempt], total: 1, successful_logins: 1, failed_logins: 0 }
    }
}

impl Example for Transactions {
    fn example() -> Self {
        let grant = Transaction {
            id: 1,
            kind: TransactionType::SignupGrant,
            credits: 350,
            balance_after: 350,
            description: "Credits of a new account".to_owned(),
            created_at: moment(EXAMPLE_SECOND),
        };
        Self {
            transactions: vec![grant],
            pagination: Pagination { page: 1, page_size: 20, total: 1, total_pages: 1 },
        }
    }
}
