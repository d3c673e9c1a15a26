//! Accounts over HTTP: one file per resource.

pub mod deletion;
pub mod email_address;
pub mod enumerations;
pub(super) mod errors;
pub mod external_sign_in;
mod fields;
pub mod guest;
pub mod history;
pub mod key;
pub mod notification;
pub mod password;
pub mod profile;
pub mod registration;
pub mod second_factor;
pub mod session;
pub mod sign_in;
pub mod subscription;
pub mod usage;

#[cfg(test)]
mod tests {
    use account_core::accounts::email_change::UNDO_VALIDITY;
    use account_core::{code, hand_off, id_token, lockout};
    use poem_openapi::OpenApi;

    use super::*;

    /// The description of an operation in the generated document, in one line.
    fn description(id: &str) -> String {
        let apis = [
            registration::Registration::meta(),
            password::Passwords::meta(),
            second_factor::SecondFactor::meta(),
            sign_in::SignIn::meta(),
            external_sign_in::IdentityProvider::meta(),
            email_address::EmailAddresses::meta(),
        ];
        let paths = apis.into_iter().flatten().flat_map(|api| api.paths);
        let mut operations = paths.flat_map(|path| path.operations);
        let operation = operations.find(|operation| operation.operation_id == Some(id));
        let text = operation.expect("an operation").description.expect("a description");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_times_in_descriptions_are_those_of_the_rules() {
        let minutes = |time: chrono::TimeDelta| format!("{} minutes", time.num_minutes());
        let hours = |time: chrono::TimeDelta| format!("{} hours", time.num_hours());
        let seconds = |time: chrono::TimeDelta| format!("{} seconds", time.num_seconds());
        for (id, time) in [
            ("register_account", minutes(code::VALIDITY)),
            ("request_password_reset", minutes(code::VALIDITY)),
            ("verify_second_factor", minutes(code::VALIDITY)),
            ("log_in", minutes(lockout::LOCK)),
            ("complete_profile", minutes(id_token::COMPLETION_VALIDITY)),
            ("mint_handoff_code", seconds(hand_off::VALIDITY)),
            ("request_email_change", minutes(code::VALIDITY)),
            ("confirm_email_change", hours(UNDO_VALIDITY)),
            ("undo_email_change", hours(UNDO_VALIDITY)),
        ] {
            let text = description(id);
            assert!(text.contains(&time), "{id} must name {time}: {text}");
        }
    }
}
