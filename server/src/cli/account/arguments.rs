//! The arguments of `quant-server account`.

use account_core::{Email, NewAccount, Password, Reason, Tier, Username, store::AccountState};
use clap::{Args, Subcommand, ValueEnum};

use super::super::command_error::CommandError;
use crate::config::{NewDatabaseArgs, StorageArgs};

/// The operator's calls. A running service sees each within a second.
#[derive(Debug, Subcommand)]
pub(in super::super) enum AccountCommand {
    /// Create a verified account and print its API key.
    Create(Box<CreateArgs>),
    /// Show an account, its locks and the operators' actions on it; no secret is shown.
    Show(AccountTarget),
    /// List accounts in the order of their numbers, a page at a time.
    List(ListArgs),
    /// Move an account to a tier.
    SetTier {
        #[command(flatten)]
        target: AccountTarget,
        /// free, basic, standard, pro or enterprise.
        tier: Tier,
        #[command(flatten)]
        why: OptionalReason,
    },
    /// Give an account an hourly limit of its own, or that of its tier again.
    SetLimit {
        #[command(flatten)]
        target: AccountTarget,
        /// Calls an hour, or `tier` for that of the account's tier.
        limit: OwnLimit,
        #[command(flatten)]
        why: OptionalReason,
    },
    /// Give an account credits.
    Grant {
        #[command(flatten)]
        target: AccountTarget,
        /// Number of credits; 1 or more.
        credits: i64,
        #[command(flatten)]
        why: OptionalReason,
    },
    /// Give credits back that an account has spent.
    Refund {
        #[command(flatten)]
        target: AccountTarget,
        /// Number of credits; 1 or more.
        credits: i64,
        #[command(flatten)]
        why: RequiredReason,
    },
    /// Correct a balance upwards or downwards; no balance falls below zero.
    Adjust {
        #[command(flatten)]
        target: AccountTarget,
        /// Number of credits to add; negative, as in -20, to take credits away.
        #[arg(allow_negative_numbers = true)]
        credits: i64,
        #[command(flatten)]
        why: RequiredReason,
    },
    /// Suspend an account: its key stops working until it is activated.
    Suspend {
        #[command(flatten)]
        target: AccountTarget,
        #[command(flatten)]
        why: OptionalReason,
    },
    /// Activate a suspended account.
    Activate {
        #[command(flatten)]
        target: AccountTarget,
        #[command(flatten)]
        why: OptionalReason,
    },
    /// Lift the locks of an account after wrong passwords.
    Unlock {
        #[command(flatten)]
        target: AccountTarget,
        #[command(flatten)]
        why: RequiredReason,
    },
    /// Let an account call the administrators' endpoints, or no longer.
    MakeAdmin {
        #[command(flatten)]
        target: AccountTarget,
        /// Take the right away instead.
        #[arg(long)]
        revoke: bool,
        #[command(flatten)]
        why: RequiredReason,
    },
    /// Replace an account's API key and print the new one.
    Regenerate {
        #[command(flatten)]
        target: AccountTarget,
        #[command(flatten)]
        why: RequiredReason,
    },
    /// Delete an account for good, and tell its owner by e-mail.
    Delete(DeleteArgs),
}

/// The account that a command is about.
#[derive(Args, Debug)]
pub(in super::super) struct AccountTarget {
    /// The account's e-mail address.
    pub(super) email: String,
    #[command(flatten)]
    pub(super) storage: StorageArgs,
}

#[derive(Args, Debug)]
pub(in super::super) struct OptionalReason {
    /// The reason, for the record of operators' actions.
    #[arg(long, value_parser = Reason::parse)]
    pub(super) reason: Option<Reason>,
}

#[derive(Args, Debug)]
pub(in super::super) struct RequiredReason {
    /// The reason, for the record of operators' actions. The owner reads the reason of a change of credits
    /// among the account's transactions.
    #[arg(long, value_parser = Reason::parse)]
    pub(super) reason: Reason,
}

#[derive(Args, Debug)]
pub(in super::super) struct DeleteArgs {
    #[command(flatten)]
    pub(super) target: AccountTarget,
    /// Delete indeed; without this flag nothing is deleted.
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) why: RequiredReason,
}

#[derive(Args, Debug)]
pub(in super::super) struct ListArgs {
    /// A part of the e-mail address or of the user name.
    #[arg(long, default_value = "")]
    pub(super) search: String,
    /// Accounts of this tier alone.
    #[arg(long)]
    pub(super) tier: Option<Tier>,
    /// Accounts in this state alone.
    #[arg(long)]
    pub(super) state: Option<StateFilter>,
    /// Administrators alone.
    #[arg(long)]
    pub(super) admins: bool,
    /// Accounts with a greater number than this one; the end of the page before.
    #[arg(long, default_value_t = 0)]
    pub(super) after: i64,
    /// The largest number of accounts.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) limit: u32,
    #[command(flatten)]
    storage: StorageArgs,
}

/// The state of an account.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in super::super) enum StateFilter {
    /// Verified, with a key in use.
    Active,
    /// Verified, with a suspended key.
    Suspended,
    /// A registration that waits for its code.
    Unverified,
}

impl From<StateFilter> for AccountState {
    fn from(state: StateFilter) -> Self {
        match state {
            StateFilter::Active => Self::Active,
            StateFilter::Suspended => Self::Suspended,
            StateFilter::Unverified => Self::Unverified,
        }
    }
}

#[derive(Args, Debug)]
pub(in super::super) struct CreateArgs {
    /// E-mail address.
    #[arg(long)]
    email: String,
    /// Name; not taken by another account.
    #[arg(long)]
    username: String,
    /// Read the password from standard input; without it the account signs in after a reset.
    #[arg(long)]
    pub(super) password_stdin: bool,
    /// free, basic, standard, pro or enterprise.
    #[arg(long, default_value = "free")]
    tier: Tier,
    /// Credits to start with; 350 if left out.
    #[arg(long)]
    credits: Option<u64>,
    /// Calls an hour; those of the tier if left out.
    #[arg(long)]
    hourly_limit: Option<u32>,
    /// Let the account call the admin's endpoints.
    #[arg(long)]
    admin: bool,
    #[command(flatten)]
    pub(super) storage: StorageArgs,
    #[command(flatten)]
    pub(super) new_database: NewDatabaseArgs,
}

/// A limit of an account's own, or none.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OwnLimit(Option<u32>);

impl OwnLimit {
    /// Returns the calls an hour; `None` for those of the tier.
    pub(super) const fn calls(self) -> Option<u32> {
        self.0
    }
}

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

impl AccountCommand {
    /// Returns the place of the data.
    pub(in super::super) fn storage(&self) -> &StorageArgs {
        match self {
            Self::Create(args) => &args.storage,
            Self::List(args) => &args.storage,
            Self::Show(target)
            | Self::Delete(DeleteArgs { target, .. })
            | Self::SetTier { target, .. }
            | Self::SetLimit { target, .. }
            | Self::Grant { target, .. }
            | Self::Refund { target, .. }
            | Self::Adjust { target, .. }
            | Self::Suspend { target, .. }
            | Self::Activate { target, .. }
            | Self::Unlock { target, .. }
            | Self::MakeAdmin { target, .. }
            | Self::Regenerate { target, .. } => &target.storage,
        }
    }
}

impl CreateArgs {
    pub(super) fn new_account(
        &self,
        password: Option<Password>,
    ) -> Result<NewAccount, CommandError> {
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
