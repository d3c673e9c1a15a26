//! `quant-server account`: creates, shows, lists, changes and deletes accounts.

mod arguments;
mod text;

use account_core::{
    AccountId, Email, Error, Password, Reason, Timestamp, TransactionKind,
    store::{AccountFilter, Change},
};

use super::command_error::CommandError;
use crate::{
    app::{self, Opened},
    clock::Clock,
    config::MigrateChoice,
};

pub(super) use arguments::AccountCommand;
use arguments::{CreateArgs, DeleteArgs, ListArgs};

pub(super) async fn run(command: AccountCommand) -> Result<(), CommandError> {
    let clock = Clock::system();
    let (storage, migrate) = match &command {
        // Only `create` may make a database; for the others a missing one is a mistyped folder.
        AccountCommand::Create(args) => {
            let storage = args.storage.locate_or_create(args.new_database);
            let is_new = !storage.has_database();
            (storage, if is_new { MigrateChoice::Run } else { MigrateChoice::Refuse })
        }
        command => {
            let storage = command.storage().locate();
            storage.require_database()?;
            (storage, MigrateChoice::Refuse)
        }
    };
    let opened = app::open(&storage, migrate).await?;
    let outcome = apply(&opened, command, &clock).await;
    opened.store.close().await;
    println!("{}", outcome?);
    Ok(())
}

/// Executes the command, and returns the text to print.
async fn apply(
    opened: &Opened,
    command: AccountCommand,
    clock: &Clock,
) -> Result<String, CommandError> {
    let operator = Operator { opened, now: clock.now() };
    match command {
        AccountCommand::Create(args) => operator.create(*args).await,
        AccountCommand::Show(target) => operator.show(&target.email).await,
        AccountCommand::List(args) => list(opened, &args).await,
        AccountCommand::SetTier { target, tier, why } => {
            let outcome = format!("is now on tier {}.", tier.title());
            operator.change(&target.email, Change::Tier(tier), why.reason, &outcome).await
        }
        AccountCommand::SetLimit { target, limit, why } => {
            let outcome = match limit.calls() {
                Some(limit) => format!("may now call {limit} times an hour."),
                None => "now has the limit of its tier.".to_owned(),
            };
            let change = Change::HourlyLimit(limit.calls());
            operator.change(&target.email, change, why.reason, &outcome).await
        }
        AccountCommand::Suspend { target, why } => {
            operator.change(&target.email, Change::Suspend, why.reason, "is suspended.").await
        }
        AccountCommand::Activate { target, why } => {
            operator.change(&target.email, Change::Activate, why.reason, "is active.").await
        }
        AccountCommand::MakeAdmin { target, revoke, why } => {
            let outcome = match revoke {
                true => "is no administrator any more.",
                false => "is now an administrator.",
            };
            operator.change(&target.email, Change::Admin(!revoke), Some(why.reason), outcome).await
        }
        AccountCommand::Unlock { target, why } => operator.unlock(target.email, why.reason).await,
        AccountCommand::Regenerate { target, why } => {
            operator.regenerate(target.email, why.reason).await
        }
        AccountCommand::Grant { target, credits, why } => {
            operator.book(&target.email, TransactionKind::AdminGrant, credits, why.reason).await
        }
        AccountCommand::Refund { target, credits, why } => {
            operator.book(&target.email, TransactionKind::Refund, credits, Some(why.reason)).await
        }
        AccountCommand::Adjust { target, credits, why } => {
            let kind = TransactionKind::Adjustment;
            operator.book(&target.email, kind, credits, Some(why.reason)).await
        }
        AccountCommand::Delete(args) => operator.delete(args).await,
    }
}

/// An operator's access to the accounts at one moment. Each method returns the text to print.
struct Operator<'a> {
    opened: &'a Opened,
    now: Timestamp,
}

impl Operator<'_> {
    async fn create(&self, args: CreateArgs) -> Result<String, CommandError> {
        let password = if args.password_stdin { Some(read_password()?) } else { None };
        let account = args.new_account(password)?;
        let created = self.opened.accounts.create_account(account, self.now).await?;
        Ok(format!("API key: {}", created.api_key.expose()))
    }

    async fn show(&self, email: &str) -> Result<String, CommandError> {
        let overview = self.opened.accounts.overview(&Email::parse(email)?, self.now).await;
        let overview = overview.map_err(|error| match error {
            Error::NotFound => format!("no account has the address {email}").into(),
            error => CommandError::from(error),
        })?;
        Ok(text::overview(&overview))
    }

    async fn change(
        &self,
        email: &str,
        change: Change,
        reason: Option<Reason>,
        outcome: &str,
    ) -> Result<String, CommandError> {
        let parsed = Email::parse(email)?;
        let changed = self.opened.accounts.change_account(&parsed, change, reason, self.now).await;
        changed.map_err(|error| explained(email, error))?;
        Ok(format!("{email} {outcome}"))
    }

    async fn book(
        &self,
        email: &str,
        kind: TransactionKind,
        credits: i64,
        reason: Option<Reason>,
    ) -> Result<String, CommandError> {
        let (accounts, parsed) = (&self.opened.accounts, Email::parse(email)?);
        let booked = accounts.book_credits(&parsed, kind, credits, reason, self.now).await;
        let balance = booked.map_err(|error| explained(email, error))?;
        Ok(format!("{email} now has {balance} credits."))
    }

    async fn unlock(&self, email: String, reason: Reason) -> Result<String, CommandError> {
        let unlocked = self.opened.accounts.unlock(&Email::parse(&email)?, reason, self.now).await;
        unlocked.map_err(|error| explained(&email, error))?;
        Ok(format!("{email} may sign in by password again."))
    }

    async fn regenerate(&self, email: String, reason: Reason) -> Result<String, CommandError> {
        let (accounts, parsed) = (&self.opened.accounts, Email::parse(&email)?);
        let key = accounts.regenerate_for(&parsed, reason, self.now).await;
        let key = key.map_err(|error| explained(&email, error))?;
        Ok(format!("API key: {}", key.expose()))
    }

    async fn delete(&self, args: DeleteArgs) -> Result<String, CommandError> {
        let DeleteArgs { target, yes, why } = args;
        let email = target.email;
        if !yes {
            let text = format!("a deletion is final: repeat with --yes to delete {email}");
            return Err(text.into());
        }
        let (accounts, parsed) = (&self.opened.accounts, Email::parse(&email)?);
        let deleted = accounts.delete_for(&parsed, why.reason, self.now).await;
        deleted.map_err(|error| explained(&email, error))?;
        Ok(format!("{email} is deleted."))
    }
}

async fn list(opened: &Opened, args: &ListArgs) -> Result<String, CommandError> {
    let filter = AccountFilter {
        text: args.search.to_lowercase(),
        tier: args.tier,
        state: args.state.map(Into::into),
        admins_only: args.admins,
    };
    let listed = opened.accounts.list_accounts(&filter, AccountId(args.after), args.limit).await?;
    Ok(text::list(&listed))
}

/// Returns an error of a rule with the address that the error is about.
fn explained(email: &str, error: Error) -> CommandError {
    match error {
        Error::NotFound => format!("no verified account has the address {email}").into(),
        Error::Suspended => format!(
            "the key of {email} is suspended: run `quant-server account activate {email}` first"
        )
        .into(),
        error @ (Error::Overdrawn { .. } | Error::Unauthorised) => {
            format!("{email}: {error}").into()
        }
        error => error.into(),
    }
}

/// Returns the first line of standard input.
fn read_password() -> Result<Password, CommandError> {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut text)?;
    Ok(Password::choose(text.lines().next().unwrap_or_default())?)
}
