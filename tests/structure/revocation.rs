//! The check of the table in `docs/revocation.md`, whose cells are those of
//! `SecurityEvent::ends`.

use std::path::Path;

use account_core::SecurityEvent;
use account_core::code::Purpose;
use account_core::revocation::Credential;

use super::repository;

const DOCUMENT: &str = "docs/revocation.md";

const HEAD: &str = "| event | API key | sessions | hand-off codes | authorization codes | grants and their tokens | \
                    sign-in codes and tokens | reset codes | codes for a new address | cached callers |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n";

const COLUMNS: [Credential; 8] = [
    Credential::ApiKey,
    Credential::Session,
    Credential::HandOffCode,
    Credential::AuthorizationCode,
    Credential::Grant,
    Credential::Code(Purpose::Mfa),
    Credential::Code(Purpose::Reset),
    Credential::Code(Purpose::EmailChange),
];

const fn name(event: SecurityEvent) -> &'static str {
    match event {
        SecurityEvent::KeyRegenerated => "API key regenerated",
        SecurityEvent::PasswordReset => "password reset by a code",
        SecurityEvent::PasswordChanged => "password changed by the signed-in owner",
        SecurityEvent::EmailChanged => "e-mail address changed",
        SecurityEvent::EmailRestored => "change of the e-mail address undone",
        SecurityEvent::MfaChanged => "second factor switched on or off",
        SecurityEvent::SignedOutEverywhere => "signed out everywhere",
        SecurityEvent::Suspended => "suspended by an operator",
        SecurityEvent::Deleted => "account deleted",
    }
}

fn cell(event: SecurityEvent, credential: Credential) -> &'static str {
    match (event.ends(credential), credential) {
        (true, Credential::Session) if event.may_spare_a_session() => "end, but the current one",
        (true, _) => "end",
        (false, _) => "stay",
    }
}

#[test]
fn the_table_of_what_ends_what_is_that_of_the_code() {
    let row = |event: SecurityEvent| {
        let cells: Vec<&str> = COLUMNS.iter().map(|column| cell(event, *column)).collect();
        let cached = if event.ends_cached_callers() { "end" } else { "stay" };
        format!("| {} | {} | {cached} |\n", name(event), cells.join(" | "))
    };
    let rows: String = SecurityEvent::ALL.into_iter().map(row).collect();
    let table = format!("{HEAD}{rows}");
    let document = repository::read(Path::new(DOCUMENT));
    assert!(document.contains(&table), "{DOCUMENT} has this table:\n\n{table}");
}
