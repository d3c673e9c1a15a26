//! Every kind of e-mail: its subject, its text and its HTML, one function a kind.
//!
//! The templates are in `server/templates`; each HTML template extends `email.html`. Times in the
//! texts come from the constants of `account-core`.

use account_core::accounts::email_change::UNDO_VALIDITY;
use account_core::outbox::Content;
use account_core::{Code, code, lockout};
use askama::Template;

/// The subject of an e-mail, and its content in both forms.
pub(super) struct Email<'a> {
    pub(super) subject: &'a str,
    pub(super) text: String,
    pub(super) html: String,
}

/// Renders the e-mail of an outbox entry; `None` for a decoy, which is never sent, and for a
/// message of the messaging channel.
pub(super) fn render(content: &Content) -> askama::Result<Option<Email<'_>>> {
    Ok(Some(match content {
        Content::Registration { username, code } => registration(username.as_str(), code.expose())?,
        Content::AccountExists => account_exists()?,
        Content::Mfa { code } => mfa(code.expose())?,
        Content::Reset { code } => reset(code.expose())?,
        Content::PasswordChanged => password_changed()?,
        Content::MfaEnabled => mfa_enabled()?,
        Content::MfaDisabled => mfa_disabled()?,
        Content::EmailChange { code } => email_change(code.expose())?,
        Content::EmailChangeRequested { to, code } => {
            email_change_requested(to.as_str(), code.as_ref().map(Code::expose))?
        }
        Content::EmailChanged { to, undo } => email_changed(to.as_str(), undo.expose())?,
        Content::EmailRestored { email } => email_restored(email.as_str())?,
        Content::AccountDeleted => account_deleted()?,
        Content::AccountLocked => account_locked()?,
        Content::Announcement { title, description, message } => {
            announcement(title, description, message)?
        }
        Content::Decoy { .. } | Content::Message { .. } => return Ok(None),
    }))
}

fn email<'a>(
    subject: &'a str,
    text: &impl Template,
    html: &impl Template,
) -> askama::Result<Email<'a>> {
    Ok(Email { subject, text: text.render()?, html: html.render()? })
}

/// The code that confirms the address of a new account.
fn registration(username: &str, code: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your registration code";
    #[derive(Template)]
    #[template(path = "registration.txt")]
    struct RegistrationText<'a> {
        username: &'a str,
        code: &'a str,
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "registration.html")]
    struct RegistrationHtml<'a> {
        subject: &'a str,
        username: &'a str,
        code: &'a str,
        minutes: i64,
    }
    let minutes = code::VALIDITY.num_minutes();
    email(
        SUBJECT,
        &RegistrationText { username, code, minutes },
        &RegistrationHtml { subject: SUBJECT, username, code, minutes },
    )
}

/// The notice to the owner of an account that its address was registered again.
fn account_exists() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "You already have an account";
    #[derive(Template)]
    #[template(path = "account_exists.txt")]
    struct AccountExistsText;
    #[derive(Template)]
    #[template(path = "account_exists.html")]
    struct AccountExistsHtml<'a> {
        subject: &'a str,
    }
    email(SUBJECT, &AccountExistsText, &AccountExistsHtml { subject: SUBJECT })
}

/// The code that completes a login.
fn mfa(code: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your login code";
    #[derive(Template)]
    #[template(path = "mfa.txt")]
    struct MfaText<'a> {
        code: &'a str,
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "mfa.html")]
    struct MfaHtml<'a> {
        subject: &'a str,
        code: &'a str,
        minutes: i64,
    }
    let minutes = code::VALIDITY.num_minutes();
    email(SUBJECT, &MfaText { code, minutes }, &MfaHtml { subject: SUBJECT, code, minutes })
}

/// The code that allows a new password.
fn reset(code: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your code for a new password";
    #[derive(Template)]
    #[template(path = "reset.txt")]
    struct ResetText<'a> {
        code: &'a str,
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "reset.html")]
    struct ResetHtml<'a> {
        subject: &'a str,
        code: &'a str,
        minutes: i64,
    }
    let minutes = code::VALIDITY.num_minutes();
    email(SUBJECT, &ResetText { code, minutes }, &ResetHtml { subject: SUBJECT, code, minutes })
}

/// The notice that the password was changed.
fn password_changed() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your password was changed";
    #[derive(Template)]
    #[template(path = "password_changed.txt")]
    struct PasswordChangedText;
    #[derive(Template)]
    #[template(path = "password_changed.html")]
    struct PasswordChangedHtml<'a> {
        subject: &'a str,
    }
    email(SUBJECT, &PasswordChangedText, &PasswordChangedHtml { subject: SUBJECT })
}

/// The code that confirms the new address of an account.
fn email_change(code: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your code to confirm this address";
    #[derive(Template)]
    #[template(path = "email_change.txt")]
    struct EmailChangeText<'a> {
        code: &'a str,
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "email_change.html")]
    struct EmailChangeHtml<'a> {
        subject: &'a str,
        code: &'a str,
        minutes: i64,
    }
    let minutes = code::VALIDITY.num_minutes();
    let text = EmailChangeText { code, minutes };
    email(SUBJECT, &text, &EmailChangeHtml { subject: SUBJECT, code, minutes })
}

/// The notice that another address was asked for, with the code of the second factor.
fn email_change_requested(to: &str, code: Option<&str>) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "A change of your e-mail address was requested";
    #[derive(Template)]
    #[template(path = "email_change_requested.txt")]
    struct EmailChangeRequestedText<'a> {
        to: &'a str,
        code: Option<&'a str>,
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "email_change_requested.html")]
    struct EmailChangeRequestedHtml<'a> {
        subject: &'a str,
        to: &'a str,
        code: Option<&'a str>,
        minutes: i64,
    }
    let minutes = code::VALIDITY.num_minutes();
    let text = EmailChangeRequestedText { to, code, minutes };
    email(SUBJECT, &text, &EmailChangeRequestedHtml { subject: SUBJECT, to, code, minutes })
}

/// The notice to the former address that the account has another, with the token that undoes it.
fn email_changed(to: &str, undo: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your e-mail address was changed";
    #[derive(Template)]
    #[template(path = "email_changed.txt")]
    struct EmailChangedText<'a> {
        to: &'a str,
        undo: &'a str,
        hours: i64,
    }
    #[derive(Template)]
    #[template(path = "email_changed.html")]
    struct EmailChangedHtml<'a> {
        subject: &'a str,
        to: &'a str,
        undo: &'a str,
        hours: i64,
    }
    let hours = UNDO_VALIDITY.num_hours();
    let text = EmailChangedText { to, undo, hours };
    email(SUBJECT, &text, &EmailChangedHtml { subject: SUBJECT, to, undo, hours })
}

/// The notice to both addresses that a change was undone.
fn email_restored(address: &str) -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your e-mail address was restored";
    #[derive(Template)]
    #[template(path = "email_restored.txt")]
    struct EmailRestoredText<'a> {
        email: &'a str,
    }
    #[derive(Template)]
    #[template(path = "email_restored.html")]
    struct EmailRestoredHtml<'a> {
        subject: &'a str,
        email: &'a str,
    }
    let text = EmailRestoredText { email: address };
    email(SUBJECT, &text, &EmailRestoredHtml { subject: SUBJECT, email: address })
}

/// The notice that logins require a code from now on.
fn mfa_enabled() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "The second login step is on";
    #[derive(Template)]
    #[template(path = "mfa_enabled.txt")]
    struct MfaEnabledText;
    #[derive(Template)]
    #[template(path = "mfa_enabled.html")]
    struct MfaEnabledHtml<'a> {
        subject: &'a str,
    }
    email(SUBJECT, &MfaEnabledText, &MfaEnabledHtml { subject: SUBJECT })
}

/// The notice that logins require no code from now on.
fn mfa_disabled() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "The second login step is off";
    #[derive(Template)]
    #[template(path = "mfa_disabled.txt")]
    struct MfaDisabledText;
    #[derive(Template)]
    #[template(path = "mfa_disabled.html")]
    struct MfaDisabledHtml<'a> {
        subject: &'a str,
    }
    email(SUBJECT, &MfaDisabledText, &MfaDisabledHtml { subject: SUBJECT })
}

/// The notice that the account was deleted.
fn account_deleted() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Your account was deleted";
    #[derive(Template)]
    #[template(path = "account_deleted.txt")]
    struct AccountDeletedText;
    #[derive(Template)]
    #[template(path = "account_deleted.html")]
    struct AccountDeletedHtml<'a> {
        subject: &'a str,
    }
    email(SUBJECT, &AccountDeletedText, &AccountDeletedHtml { subject: SUBJECT })
}

/// The notice that wrong passwords have locked logins.
fn account_locked() -> askama::Result<Email<'static>> {
    const SUBJECT: &str = "Logins to your account are locked";
    #[derive(Template)]
    #[template(path = "account_locked.txt")]
    struct AccountLockedText {
        minutes: i64,
    }
    #[derive(Template)]
    #[template(path = "account_locked.html")]
    struct AccountLockedHtml<'a> {
        subject: &'a str,
        minutes: i64,
    }
    let minutes = lockout::LOCK.num_minutes();
    email(SUBJECT, &AccountLockedText { minutes }, &AccountLockedHtml { subject: SUBJECT, minutes })
}

/// A broadcast of the operator.
fn announcement<'a>(
    title: &'a str,
    description: &'a str,
    message: &'a str,
) -> askama::Result<Email<'a>> {
    #[derive(Template)]
    #[template(path = "announcement.txt")]
    struct AnnouncementText<'a> {
        title: &'a str,
        description: &'a str,
        message: &'a str,
    }
    #[derive(Template)]
    #[template(path = "announcement.html")]
    struct AnnouncementHtml<'a> {
        subject: &'a str,
        description: &'a str,
        paragraphs: Vec<&'a str>,
    }
    let paragraphs = message.split("\n\n").map(str::trim);
    let paragraphs = paragraphs.filter(|text| !text.is_empty()).collect();
    let text = AnnouncementText { title, description, message };
    email(title, &text, &AnnouncementHtml { subject: title, description, paragraphs })
}
