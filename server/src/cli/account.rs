//! `quant-server account`: creates, shows, lists, changes and deletes accounts.

mod arguments;
mod text;

use account_core::{
    AccountId, Email, Error, Password, TransactionKind,
    store::{AccountFilter, Change},
};

use super::command_error::CommandError;
use crate::{
    app::{self, Opened},
    clock::Clock,
    config::MigrateChoice,
};

pub(super) use arguments::AccountCommand;
use arguments::{DeleteArgs, ListArgs};

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

/// Executes the command, and prints its result.
async fn apply(
    opened: &Opened,
    command: AccountCommand,
    clock: &Clock,
) -> Result<String, CommandError> {
    let (accounts, now) = (&opened.accounts, clock.now());
    let change = async |email: &str, change, reason| {
        let parsed = Email::parse(email)?;
        let changed = accounts.change_account(&parsed, change, reason, now).await;
        changed.map_err(|error| explained(email, error))
    };
    let book = async |email: &str, kind, credits, reason| {
        let booked = accounts.book_credits(&Email::parse(email)?, kind, credits, reason, now).await;
        let balance = booked.map_err(|error| explained(email, error))?;
        Ok::<_, CommandError>(format!("{email} now has {balance} credits."))
    };
    Ok(match command {
        AccountCommand::Create(args) => {
            let password = if args.password_stdin { Some(read_password()?) } else { None };
            let created = accounts.create_account(args.new_account(password)?, now).await?;
            format!("API key: {}", created.api_key.expose())
        }
        AccountCommand::Show(target) => {
            let email = target.email;
            let overview = accounts.overview(&Email::parse(&email)?, now).await;
            text::overview(&overview.map_err(|error| match error {
                Error::NotFound => format!("no account has the address {email}").into(),
                error => CommandError::from(error),
            })?)
        }
        AccountCommand::List(args) => list(opened, &args).await?,
        AccountCommand::SetTier { target, tier, why } => {
            change(&target.email, Change::Tier(tier), why.reason).await?;
            format!("{} is now on tier {}.", target.email, tier.title())
        }
        AccountCommand::SetLimit { target, limit, why } => {
            change(&target.email, Change::HourlyLimit(limit.calls()), why.reason).await?;
            match limit.calls() {
                Some(limit) => format!("{} may now call {limit} times an hour.", target.email),
                None => format!("{} now has the limit of its tier.", target.email),
            }
        }
        AccountCommand::Suspend { target, why } => {
            change(&target.email, Change::Suspend, why.reason).await?;
            format!("{} is suspended.", target.email)
        }
        AccountCommand::Activate { target, why } => {
            change(&target.email, Change::Activate, why.reason).await?;
            format!("{} is active.", target.email)
        }
        AccountCommand::MakeAdmin { target, revoke, why } => {
            change(&target.email, Change::Admin(!revoke), Some(why.reason)).await?;
            let now = if revoke { "no administrator any more" } else { "now an administrator" };
            format!("{} is {now}.", target.email)
        }
        AccountCommand::Unlock { target, why } => {
            let email = target.email;
            let unlocked = accounts.unlock(&Email::parse(&email)?, why.reason, now).await;
            unlocked.map_err(|error| explained(&email, error))?;
            format!("{email} may sign in by password again.")
        }
        AccountCommand::Regenerate { target, why } => {
            let email = target.email;
            let key = accounts.regenerate_for(&Email::parse(&email)?, why.reason, now).await;
            let key = key.map_err(|error| explained(&email, error))?;
            format!("API key: {}", key.expose())
        }
        AccountCommand::Grant { target, credits, why } => {
            book(&target.email, TransactionKind::AdminGrant, credits, why.reason).await?
        }
        AccountCommand::Refund { target, credits, why } => {
            book(&target.email, TransactionKind::Refund, credits, Some(why.reason)).await?
        }
        AccountCommand::Adjust { target, credits, why } => {
            book(&target.email, TransactionKind::Adjustment, credits, Some(why.reason)).await?
        }
        AccountCommand::Delete(DeleteArgs { target, yes, why }) => {
            let email = target.email;
            if !yes {
                let text = format!("a deletion is final: repeat with --yes to delete {email}");
                return Err(text.into());
            }
            let deleted = accounts.delete_for(&Email::parse(&email)?, why.reason, now).await;
            deleted.map_err(|error| explained(&email, error))?;
            format!("{email} is deleted.")
        }
    })
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
