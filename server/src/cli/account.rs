//! `quant-server account`: creates and changes accounts.

use std::io::Read;

use account_core::{Email, NewAccount, Password, Tier, Username};
use clap::{Args, Subcommand};

use super::command_error::CommandError;
use crate::{
    app::{self, Opened},
    clock::Clock,
    config::{MigrateChoice, StorageArgs},
};

/// The calls of the operator. A running service applies each within a second.
#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Create a verified account and print its API key.
    Create(CreateArgs),
    /// Move an account to a tier.
    SetTier {
        /// The account's e-mail address.
        email: String,
        /// free, basic, standard, pro or enterprise.
        tier: Tier,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Give an account credits.
    Grant {
        /// The account's e-mail address.
        email: String,
        /// Number of credits; 1 or more.
        credits: i64,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Set an hourly limit for an account, or restore that of the tier with `tier`.
    SetLimit {
        /// The account's e-mail address.
        email: String,
        /// Calls an hour, or `tier` for that of the account's tier.
        limit: OwnLimit,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Suspend an account: its key stops working until it is activated.
    Suspend(OneAccount),
    /// Activate a suspended account.
    Activate(OneAccount),
}

#[derive(Args, Debug)]
pub(super) struct OneAccount {
    /// The account's e-mail address.
    email: String,
    #[command(flatten)]
    storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(super) struct CreateArgs {
    /// E-mail address.
    #[arg(long)]
    email: String,
    /// Name; not taken by another account.
    #[arg(long)]
    username: String,
    /// Read the password from standard input; without it the account signs in after a reset.
    #[arg(long)]
    password_stdin: bool,
    /// free, basic, standard, pro or enterprise.
    #[arg(long, default_value = "free")]
    tier: Tier,
    /// Credits to start with; 350 if left out.
    #[arg(long)]
    credits: Option<u64>,
    /// Calls an hour; those of the tier if left out.
    #[arg(long)]
    hourly_limit: Option<u32>,
    /// Make the account an administrator.
    #[arg(long)]
    admin: bool,
    #[command(flatten)]
    storage: StorageArgs,
}

/// An hourly limit of an account, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnLimit(Option<u32>);

impl std::str::FromStr for OwnLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "tier" {
            return Ok(Self(None));
        }
        text.parse()
            .map(|limit| Self(Some(limit)))
            .map_err(|_| "must be a whole number, or `tier`".to_owned())
    }
}

pub(super) async fn run(command: AccountCommand) -> Result<(), CommandError> {
    let clock = Clock::system();
    let storage = command.storage().locate();
    // Only `create` may create a database; for the other commands a missing one means a mistyped
    // folder.
    let migrate = match command {
        AccountCommand::Create(_) if !storage.has_database() => MigrateChoice::Run,
        _ => {
            storage.require_database()?;
            MigrateChoice::Refuse
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
    let accounts = &opened.accounts;
    let parse = |email: &str| Email::parse(email);
    Ok(match command {
        AccountCommand::Create(args) => {
            let created = accounts.create_account(args.new_account()?, clock.now()).await?;
            format!("API key: {}", created.api_key.expose())
        }
        AccountCommand::SetTier { email, tier, .. } => {
            accounts.set_tier(&parse(&email)?, tier).await?;
            format!("{email} is now on tier {}.", tier.title())
        }
        AccountCommand::Grant { email, credits, .. } => {
            let balance = accounts.grant(&parse(&email)?, credits, clock.now()).await?;
            format!("{email} now has {balance} credits.")
        }
        AccountCommand::SetLimit { email, limit: OwnLimit(limit), .. } => {
            accounts.set_hourly_limit(&parse(&email)?, limit).await?;
            match limit {
                Some(limit) => format!("{email} may now call {limit} times an hour."),
                None => format!("{email} now has the limit of its tier."),
            }
        }
        AccountCommand::Suspend(OneAccount { email, .. }) => {
            accounts.suspend(&parse(&email)?).await?;
            format!("{email} is suspended.")
        }
        AccountCommand::Activate(OneAccount { email, .. }) => {
            accounts.activate(&parse(&email)?).await?;
            format!("{email} is active.")
        }
    })
}

impl AccountCommand {
    fn storage(&self) -> &StorageArgs {
        match self {
            Self::Create(args) => &args.storage,
            Self::SetTier { storage, .. }
            | Self::Grant { storage, .. }
            | Self::SetLimit { storage, .. } => storage,
            Self::Suspend(args) | Self::Activate(args) => &args.storage,
        }
    }
}

impl CreateArgs {
    fn new_account(&self) -> Result<NewAccount, CommandError> {
        let password = if self.password_stdin { Some(read_password()?) } else { None };
        Ok(NewAccount {
            email: Email::parse(&self.email)?,
            username: Username::parse(&self.username)?,
            password,
            tier: self.tier,
            credits: self.credits,
            hourly_limit: self.hourly_limit,
            is_admin: self.admin,
        })
    }
}

/// Returns the first line of standard input.
fn read_password() -> Result<Password, CommandError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(Password::choose(text.lines().next().unwrap_or_default())?)
}
