//! Removal of expired rows.

use std::net::{IpAddr, Ipv4Addr};

use super::tables::{GrantRow, Oauth, spend, take};
use super::{MemoryStore, State, Stored, day};
use crate::Timestamp;
use crate::identity::{AccountId, CallerId, GuestId};
use crate::oauth::grant::StaleOauth;
use crate::store::{CleanUpStore, Stale};

impl State {
    /// Removes caller and address from at most `limit` calls, and returns their number.
    pub(super) fn forget_callers(&mut self, which: impl Fn(CallerId) -> bool, limit: u32) -> u64 {
        let calls = self.usage.iter_mut().filter(|call| call.caller.is_some_and(&which));
        let mut forgotten = 0;
        for call in calls.take(limit as usize) {
            call.caller = None;
            call.entry.usage.ip = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            forgotten += 1;
        }
        forgotten
    }
}

impl CleanUpStore for MemoryStore {
    async fn reap(&self, stale: StaleOauth, limit: u32) -> Stored<u64> {
        let mut state = self.lock();
        let oauth = &mut state.oauth;
        Ok(match stale {
            StaleOauth::Codes(made) => {
                take(&mut oauth.codes, limit, |code| code.created_at <= made)
            }
            StaleOauth::Expired(at) => {
                let accesses = take(&mut oauth.accesses, limit, |token| token.expires_at <= at);
                let refreshes = take(&mut oauth.refreshes, limit, |token| token.expires_at <= at);
                let Oauth { grants, refreshes: left, .. } = oauth;
                let is_dead = |grant: &GrantRow| !left.iter().any(|token| token.grant == grant.id);
                accesses.max(refreshes).max(take(grants, limit, is_dead))
            }
            StaleOauth::Clients(unused, idle) => {
                take(&mut oauth.clients, limit, |(client, used)| {
                    used.map_or(client.created_at <= unused, |used| used <= idle)
                })
            }
        })
    }

    async fn remove(&self, stale: Stale, now: Timestamp, limit: u32) -> Stored<u64> {
        let mut state = self.lock();
        let State { sessions, challenges, known, lockouts, history, .. } = &mut *state;
        Ok(match stale {
            Stale::Challenges(made) => {
                take(challenges, limit, |tried| tried.challenge.created_at <= made)
            }
            Stale::Sessions(used, begun) => take(sessions, limit, |listed| {
                listed.session.last_used_at <= used || listed.session.created_at <= begun
            }),
            Stale::Clients(seen) => {
                let mut left = limit;
                known.retain(|_, seen_at| !spend(&mut left, *seen_at <= seen));
                u64::from(limit - left)
            }
            Stale::Lockouts(last_try) => {
                let mut left = limit;
                lockouts.retain(|_, lockout| {
                    let quiet = lockout.last_try_at <= last_try;
                    let open = lockout.locked_until.is_none_or(|until| until <= now);
                    !spend(&mut left, quiet && open)
                });
                u64::from(limit - left)
            }
            Stale::Tries(made, by_nobody) => take(history, limit, |(whose, entry)| {
                entry.at <= made || (whose.is_none() && entry.at <= by_nobody)
            }),
            Stale::Forms(filled_in) => {
                let forms = state.accounts.iter().filter(|(id, account)| {
                    account.verified_at.is_none()
                        && account.created_at <= filled_in
                        && !state.holds_name(**id, now)
                });
                let gone: Vec<AccountId> = forms.map(|(id, _)| *id).take(limit as usize).collect();
                state.discard(&gone);
                gone.len() as u64
            }
            Stale::GuestCounts(day) => {
                let mut left = limit;
                state.guest_counts.retain(|(_, of), _| !spend(&mut left, *of < day));
                u64::from(limit - left)
            }
            Stale::Guests(expired) => {
                let guests = state.guests.iter().filter(|(_, guest)| guest.expires_at <= expired);
                let gone: Vec<GuestId> = guests.map(|(id, _)| *id).take(limit as usize).collect();
                state.guests.retain(|id, _| !gone.contains(id));
                let of_them = |caller| matches!(caller, CallerId::Guest(id) if gone.contains(&id));
                state.forget_callers(of_them, u32::MAX);
                gone.len() as u64
            }
            Stale::Messages(written) => take(&mut state.messages, limit, |waiting| {
                waiting.due_at.is_none() && waiting.message.created_at <= written
            }),
            Stale::Answers => state.remove_slots(now, limit),
            Stale::Results(made) => state.remove_results(made, limit),
            Stale::ExcessResults => state.remove_excess_results(limit.into()),
            Stale::SignIns(made) => state.identities.remove_until(made, limit),
            Stale::EmailUndos(made) => take(&mut state.email_undos, limit, |row| row.at <= made),
            Stale::Notifications(written) => state.notifications.remove_until(written, limit),
            // A deletion in memory removes the callers at once.
            Stale::Departed => 0,
            Stale::Usage(before) => {
                state.usage_since = state.usage_since.max(before);
                take(&mut state.usage, limit, |call| day(call.entry.usage.at) < before)
            }
        })
    }
}
