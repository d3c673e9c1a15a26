//! Cleaning up: what is over goes, in small batches, and nothing that is alive.

use chrono::TimeDelta;

use crate::accounts::email_change::UNDO_VALIDITY;
use crate::accounts::{Accounts, results};
use crate::id_token::COMPLETION_VALIDITY;
use crate::password::PasswordHasher;
use crate::store::{Stale, Store};
use crate::{Result, Timestamp, client, code, lockout, session};

/// How long an expired guest stays.
pub const GUEST_KEPT: TimeDelta = TimeDelta::days(7);
/// How long a form stays that nobody confirmed.
pub const FORM_KEPT: TimeDelta = TimeDelta::days(7);
/// How long a login try stays in the history.
pub const TRY_KEPT: TimeDelta = TimeDelta::days(366);
/// How long a notification stays.
pub const NOTIFICATION_KEPT: TimeDelta = TimeDelta::days(366);

const SECONDS_A_DAY: i64 = 86_400;

/// How much went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Guests.
    pub guests: u64,
    /// Counts of guests made in a day.
    pub guest_counts: u64,
    /// Challenges.
    pub challenges: u64,
    /// Sessions.
    pub sessions: u64,
    /// Unverified forms.
    pub forms: u64,
    /// Counts of wrong passwords.
    pub lockouts: u64,
    /// Known clients.
    pub clients: u64,
    /// Login tries.
    pub tries: u64,
    /// Answers kept for requests that are sent again.
    pub answers: u64,
    /// Results.
    pub results: u64,
    /// Browsers on their way, profiles that waited, hand-off codes.
    pub sign_ins: u64,
    /// Changes of address that can no longer be undone.
    pub email_undos: u64,
    /// Notifications.
    pub notifications: u64,
    /// Usage rows of deleted accounts that were made nobody's.
    pub departed: u64,
    /// Usage rows.
    pub usage: u64,
    /// Codes, tokens, grants and clients of the OAuth server.
    pub oauth: u64,
    /// Whether some is left, so that another call makes sense at once.
    pub more: bool,
}

impl<S: Store, H: PasswordHasher> Accounts<S, H> {
    /// Removes what is over: of each kind at most `limit` rows, each kind in a short step of its
    /// own. Calls at the same time, or again after a crash, do no harm.
    ///
    /// Usage rows are kept for so many whole UTC days before today, at least one; for ever where
    /// `usage_retention_days` is absent.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); what was removed until then is gone.
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
            (Some(Stale::Answers), &mut cleaned.answers),
            (Some(Stale::Results(now - results::KEPT)), &mut cleaned.results),
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
