//! The rows of aggregates with more than one table.

use std::collections::{BTreeMap, BTreeSet};

use crate::Timestamp;
use crate::digest::Digest;
use crate::id_token::ProvenIdentity;
use crate::idempotency::{RequestDigest, StoredAnswer};
use crate::identity::{AccountId, Email};
use crate::notification::{Announcement, NotificationId, Preferences};
use crate::oauth::grant::{GrantId, IssuedCode, MOST_GRANTS, Redemption, TokenDigests};
use crate::oauth::token::{ACCESS_VALIDITY, AccessToken, REFRESH_VALIDITY, RefreshToken};
use crate::oauth::{ClientId, RegisteredClient};
use crate::store::{CompletionRow, LoginMethod, Notification, StartRow};
use crate::token::{CompletionToken, EmailUndoToken, HandOffCode};

/// A claimed slot of an idempotency key.
pub(super) struct Taken {
    pub(super) request: RequestDigest,
    pub(super) run: u128,
    pub(super) held_until: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) answer: Option<StoredAnswer>,
}

impl Taken {
    pub(super) fn is_free(&self, now: Timestamp) -> bool {
        self.expires_at <= now || (self.answer.is_none() && self.held_until <= now)
    }
}

/// The tables of the OAuth server.
#[derive(Default)]
pub(super) struct Oauth {
    pub(super) clients: Vec<(RegisteredClient, Option<Timestamp>)>,
    pub(super) codes: Vec<IssuedCode>,
    pub(super) grants: Vec<GrantRow>,
    pub(super) accesses: Vec<AccessTokenRow>,
    pub(super) refreshes: Vec<RefreshTokenRow>,
}

pub(super) struct GrantRow {
    pub(super) id: GrantId,
    pub(super) account: AccountId,
    pub(super) client: ClientId,
    pub(super) resource: String,
    pub(super) created_at: Timestamp,
    pub(super) last_used_at: Timestamp,
}

pub(super) struct AccessTokenRow {
    pub(super) digest: Digest<AccessToken>,
    pub(super) grant: GrantId,
    pub(super) expires_at: Timestamp,
}

pub(super) struct RefreshTokenRow {
    pub(super) digest: Digest<RefreshToken>,
    pub(super) grant: GrantId,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) used_at: Option<Timestamp>,
}

impl Oauth {
    /// Ends the codes and grants of these accounts.
    pub(super) fn end_of(&mut self, accounts: &[AccountId]) {
        self.codes.retain(|code| !accounts.contains(&code.account));
        self.end_grants(|grant| accounts.contains(&grant.account));
    }

    pub(super) fn end_grants(&mut self, ends: impl Fn(&GrantRow) -> bool) {
        self.grants.retain(|grant| !ends(grant));
        let Self { grants, accesses, refreshes, .. } = self;
        let lives = |id: GrantId| grants.iter().any(|grant| grant.id == id);
        accesses.retain(|token| lives(token.grant));
        refreshes.retain(|token| lives(token.grant));
    }

    pub(super) fn save_tokens(
        &mut self,
        grant: GrantId,
        tokens: &TokenDigests,
        created_at: Timestamp,
    ) {
        let TokenDigests { access, refresh } = *tokens;
        let expires_at = created_at + ACCESS_VALIDITY;
        self.accesses.push(AccessTokenRow { digest: access, grant, expires_at });
        self.refreshes.push(RefreshTokenRow {
            digest: refresh,
            grant,
            created_at,
            expires_at: created_at + REFRESH_VALIDITY,
            used_at: None,
        });
    }

    pub(super) fn touch(&mut self, client: &ClientId, at: Timestamp) {
        let (_, used_at) =
            self.clients.iter_mut().find(|(known, _)| known.id == *client).expect("it is there");
        *used_at = Some(at);
    }

    pub(super) fn grant(&self, id: GrantId) -> &GrantRow {
        self.grants.iter().find(|grant| grant.id == id).expect("tokens go with their grant")
    }

    pub(super) fn begin(&mut self, account: AccountId, redemption: Redemption, at: Timestamp) {
        let Redemption { exchange, grant: id, tokens, .. } = redemption;
        self.touch(&exchange.client, at);
        let (client, resource) = (exchange.client, exchange.resource);
        let granted = GrantRow { id, account, client, resource, created_at: at, last_used_at: at };
        self.grants.push(granted);
        self.save_tokens(id, &tokens, at);
        let own = self.grants.iter().filter(|grant| grant.account == account && grant.id != id);
        let mut own: Vec<_> = own.map(|grant| (grant.created_at, grant.id.0)).collect();
        own.sort_unstable();
        let surplus = (own.len() + 1).saturating_sub(MOST_GRANTS as usize);
        own.truncate(surplus);
        self.end_grants(|grant| own.contains(&(grant.created_at, grant.id.0)));
    }
}

/// The tables of notifications.
#[derive(Default)]
pub(super) struct Notifications {
    pub(super) last: i64,
    pub(super) notices: Vec<(AccountId, Notification)>,
    pub(super) broadcasts: Vec<Broadcast>,
    pub(super) read: BTreeMap<(AccountId, NotificationId), Timestamp>,
    pub(super) deleted: BTreeSet<(AccountId, NotificationId)>,
    pub(super) preferences: BTreeMap<AccountId, Preferences>,
    pub(super) tested: BTreeMap<AccountId, Timestamp>,
}

pub(super) struct Broadcast {
    pub(super) notification: Notification,
    pub(super) announcement: Announcement,
    pub(super) reached: AccountId,
    pub(super) is_done: bool,
}

impl Notifications {
    pub(super) fn next_id(&mut self) -> NotificationId {
        self.last += 1;
        NotificationId(self.last)
    }

    /// Removes the rows of deleted accounts.
    pub(super) fn discard(&mut self, gone: &[AccountId]) {
        let stays = |account: &AccountId| !gone.contains(account);
        self.notices.retain(|(account, _)| stays(account));
        self.read.retain(|(account, _), _| stays(account));
        self.deleted.retain(|(account, _)| stays(account));
        self.preferences.retain(|account, _| stays(account));
        self.tested.retain(|account, _| stays(account));
    }

    /// Removes at most `limit` notifications that were written until this time.
    pub(super) fn remove_until(&mut self, written: Timestamp, limit: u32) -> u64 {
        let notices = take(&mut self.notices, limit, |(_, notice)| notice.created_at <= written);
        let left = limit - notices as u32;
        let old = |one: &Broadcast| one.notification.created_at <= written;
        notices + take(&mut self.broadcasts, left, old)
    }
}

/// The tables of external identities.
#[derive(Default)]
pub(super) struct Identities {
    pub(super) started: Vec<StartRow>,
    pub(super) linked: Vec<(String, String, AccountId)>,
    pub(super) waiting: Vec<(Digest<CompletionToken>, CompletionRow)>,
    pub(super) codes: Vec<(Digest<HandOffCode>, AccountId, LoginMethod, Timestamp)>,
}

impl Identities {
    /// Removes the rows of deleted accounts.
    pub(super) fn discard(&mut self, gone: &[AccountId]) {
        self.linked.retain(|(_, _, account)| !gone.contains(account));
        self.codes.retain(|(_, account, ..)| !gone.contains(account));
    }

    /// Removes an account's unredeemed hand-off codes.
    pub(super) fn end_hand_offs(&mut self, account: AccountId) {
        self.codes.retain(|(_, whose, ..)| *whose != account);
    }

    /// Removes at most `limit` started sign-ins, incomplete profiles and hand-off codes made until
    /// this time.
    pub(super) fn remove_until(&mut self, made: Timestamp, limit: u32) -> u64 {
        let ways = take(&mut self.started, limit, |row| row.at <= made);
        let left = limit - ways as u32;
        let profiles = take(&mut self.waiting, left, |(_, row)| row.at <= made);
        let left = left - profiles as u32;
        ways + profiles + take(&mut self.codes, left, |(.., at)| *at <= made)
    }

    pub(super) fn account(&self, identity: &ProvenIdentity) -> Option<AccountId> {
        let is_it = |(issuer, subject, _): &&(String, String, AccountId)| {
            (issuer, subject) == (&identity.issuer, &identity.subject)
        };
        self.linked.iter().find(is_it).map(|(_, _, account)| *account)
    }

    pub(super) fn link(&mut self, identity: &ProvenIdentity, account: AccountId) {
        self.linked.push((identity.issuer.clone(), identity.subject.clone(), account));
    }
}

/// Removes at most `limit` rows, and returns the number of removed rows.
pub(super) fn take<T>(rows: &mut Vec<T>, limit: u32, goes: impl Fn(&T) -> bool) -> u64 {
    let mut left = limit;
    rows.retain(|row| !spend(&mut left, goes(row)));
    u64::from(limit - left)
}

/// Returns whether a row is removed, which lowers the remaining limit.
pub(super) fn spend(left: &mut u32, goes: bool) -> bool {
    let goes = goes && *left > 0;
    *left -= u32::from(goes);
    goes
}

/// A change of address that can be undone; rows are in the order of the changes.
pub(super) struct UndoRow {
    pub(super) digest: Digest<EmailUndoToken>,
    pub(super) account: AccountId,
    pub(super) email: Email,
    pub(super) at: Timestamp,
}
