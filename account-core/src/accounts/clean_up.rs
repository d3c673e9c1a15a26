//! The clean-up: removal of expired rows, in small batches.

use chrono::TimeDelta;

use crate::accounts::email_change::UNDO_VALIDITY;
use crate::accounts::{Accounts, results};
use crate::id_token::COMPLETION_VALIDITY;
use crate::outbox::SendQuota;
use crate::password::PasswordHasher;
use crate::store::{Stale, Store};
use crate::{Result, Timestamp, client, code, lockout, session};

/// The time for which an expired guest is kept.
pub const GUEST_KEPT: TimeDelta = TimeDelta::days(7);
/// The time for which an unconfirmed registration form is kept.
pub const FORM_KEPT: TimeDelta = TimeDelta::days(7);
/// The time for which a login attempt stays in the history.
pub const TRY_KEPT: TimeDelta = TimeDelta::days(366);
/// The time for which a notification is kept.
pub const NOTIFICATION_KEPT: TimeDelta = TimeDelta::days(366);

const SECONDS_A_DAY: i64 = 86_400;

/// The number of removed rows, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Guests whose key expired more than [`GUEST_KEPT`] ago.
    pub guests: u64,
    /// Daily counts of created guest keys, of past days.
    pub guest_counts: u64,
    /// Challenges whose code has expired.
    pub challenges: u64,
    /// Sessions that were not used for too long, or began too long ago.
    pub sessions: u64,
    /// Registration forms that were not confirmed within [`FORM_KEPT`].
    pub forms: u64,
    /// Counters of wrong passwords that are no longer needed.
    pub lockouts: u64,
    /// Clients that an account knew, after [`KNOWN_FOR`](crate::client::KNOWN_FOR).
    pub clients: u64,
    /// Login attempts older than [`TRY_KEPT`].
    pub tries: u64,
    /// E-mails and messages that were sent and that no quota counts any more.
    pub messages: u64,
    /// Stored answers to idempotent requests, after [`KEPT`](crate::idempotency::KEPT).
    pub answers: u64,
    /// Stored results of MCP calls that have expired.
    pub results: u64,
    /// Stored results beyond the quota of their account.
    pub excess_results: u64,
    /// Unfinished sign-ins at the identity provider, incomplete profiles and hand-off codes.
    pub sign_ins: u64,
    /// Changes of address that can no longer be undone.
    pub email_undos: u64,
    /// Notifications older than [`NOTIFICATION_KEPT`].
    pub notifications: u64,
    /// Usage rows of deleted accounts, from which the account was removed.
    pub departed: u64,
    /// Usage rows older than the retention.
    pub usage: u64,
    /// Codes, tokens, grants and clients of the OAuth server.
    pub oauth: u64,
    /// True if rows of any kind are left, so that another call should follow at once.
    pub more: bool,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Removes expired rows: at most `limit` of each kind, each kind in a transaction of its own.
    /// Simultaneous calls, and a call after a crash, are harmless.
    ///
    /// Usage rows are kept for this many whole UTC days before today, at least one. Without
    /// `usage_retention_days` they are kept without a limit.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); rows that were removed before the error stay removed.
    pub async fn clean_up(
        &self,
        now: Timestamp,
        limit: u32,
        usage_retention_days: Option<u32>,
    ) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        let today = now.timestamp().div_euclid(SECONDS_A_DAY);
        let sessions = Stale::Sessions(now - session::IDLE, now - session::LONGEST);
        let usage = usage_retention_days.map(|days| Stale::Usage(today - i64::from(days.max(1))));
        for (stale, count) in [
            (Some(Stale::Guests(now - GUEST_KEPT)), &mut cleaned.guests),
            (Some(Stale::GuestCounts(today)), &mut cleaned.guest_counts),
            (Some(Stale::Challenges(now - code::VALIDITY)), &mut cleaned.challenges),
            (Some(sessions), &mut cleaned.sessions),
            (Some(Stale::Forms(now - FORM_KEPT)), &mut cleaned.forms),
            (Some(Stale::Lockouts(now - lockout::LOCK)), &mut cleaned.lockouts),
            (Some(Stale::Clients(now - client::KNOWN_FOR)), &mut cleaned.clients),
            (Some(Stale::Tries(now - TRY_KEPT, now - lockout::LOCK)), &mut cleaned.tries),
            (Some(Stale::Messages(SendQuota::since(now))), &mut cleaned.messages),
            (Some(Stale::Answers), &mut cleaned.answers),
            (Some(Stale::Results(now - results::KEPT)), &mut cleaned.results),
            (Some(Stale::ExcessResults), &mut cleaned.excess_results),
            (Some(Stale::SignIns(now - COMPLETION_VALIDITY)), &mut cleaned.sign_ins),
            (Some(Stale::EmailUndos(now - UNDO_VALIDITY)), &mut cleaned.email_undos),
            (Some(Stale::Notifications(now - NOTIFICATION_KEPT)), &mut cleaned.notifications),
            (Some(Stale::Departed), &mut cleaned.departed),
            (usage, &mut cleaned.usage),
        ] {
            if let Some(stale) = stale {
                *count = self.store().remove(stale, now, limit).await?;
                cleaned.more |= *count >= u64::from(limit);
            }
        }
        let (oauth, most) = self.reap_oauth(now, limit).await?;
        cleaned.oauth = oauth;
        cleaned.more |= most >= u64::from(limit);
        Ok(cleaned)
    }
}
