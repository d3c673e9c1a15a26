//! What letters look like: subject, text and HTML, and headers that nobody else can add to.

use std::time::{Duration, UNIX_EPOCH};

use account_core::Timestamp;
use account_core::outbox::{Content, MessageId, OutboundMessage};
use askama::Template;
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};

use super::SendError;

#[derive(Template)]
#[template(path = "registration.txt")]
struct RegistrationText<'a> {
    username: &'a str,
    code: &'a str,
}

#[derive(Template)]
#[template(path = "registration.html")]
struct RegistrationHtml<'a> {
    username: &'a str,
    code: &'a str,
}

#[derive(Template)]
#[template(path = "account_exists.txt")]
struct AccountExistsText;

#[derive(Template)]
#[template(path = "account_exists.html")]
struct AccountExistsHtml;

#[derive(Template)]
#[template(path = "mfa.txt")]
struct MfaText<'a> {
    code: &'a str,
}

#[derive(Template)]
#[template(path = "mfa.html")]
struct MfaHtml<'a> {
    code: &'a str,
}

#[derive(Template)]
#[template(path = "reset.txt")]
struct ResetText<'a> {
    code: &'a str,
}

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetHtml<'a> {
    code: &'a str,
}

#[derive(Template)]
#[template(path = "password_changed.txt")]
struct PasswordChangedText;

#[derive(Template)]
#[template(path = "password_changed.html")]
struct PasswordChangedHtml;

#[derive(Template)]
#[template(path = "mfa_enabled.txt")]
struct MfaEnabledText;

#[derive(Template)]
#[template(path = "mfa_enabled.html")]
struct MfaEnabledHtml;

#[derive(Template)]
#[template(path = "mfa_disabled.txt")]
struct MfaDisabledText;

#[derive(Template)]
#[template(path = "mfa_disabled.html")]
struct MfaDisabledHtml;

#[derive(Template)]
#[template(path = "account_deleted.txt")]
struct AccountDeletedText;

#[derive(Template)]
#[template(path = "account_deleted.html")]
struct AccountDeletedHtml;

#[derive(Template)]
#[template(path = "account_locked.txt")]
struct AccountLockedText;

#[derive(Template)]
#[template(path = "account_locked.html")]
struct AccountLockedHtml;

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
    title: &'a str,
    description: &'a str,
    paragraphs: Vec<&'a str>,
}

/// A subject and the same letter twice.
struct Words<'a> {
    subject: &'a str,
    text: String,
    html: String,
}

/// Writes a letter; `None` for a decoy, which says nothing, and for a message, which is no letter.
pub(super) fn compose(
    message: &OutboundMessage,
    from: &Mailbox,
    id: MessageId,
    written_at: Timestamp,
) -> Result<Option<Message>, SendError> {
    let words = words(&message.content).map_err(|error| SendError::Compose(error.into()))?;
    let Some(words) = words else { return Ok(None) };
    build(message, from, id, written_at, words).map(Some).map_err(SendError::Compose)
}

fn build(
    message: &OutboundMessage,
    from: &Mailbox,
    id: MessageId,
    written_at: Timestamp,
    words: Words<'_>,
) -> Result<Message, Box<dyn std::error::Error + Send + Sync>> {
    let since_1970 = Duration::from_secs(u64::try_from(written_at.timestamp())?);
    let mut message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, message.to.as_str().parse()?))
        .subject(words.subject)
        .date(UNIX_EPOCH + since_1970)
        .message_id(Some(format!("<{:032x}@{}>", id.0, from.email.domain())))
        .multipart(MultiPart::alternative_plain_html(words.text, words.html))?;
    // Keeps holiday notes and other robots from answering.
    let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
    message.headers_mut().insert_raw(HeaderValue::new(automatic, "auto-generated".to_owned()));
    Ok(message)
}

fn words(content: &Content) -> Result<Option<Words<'_>>, askama::Error> {
    let (subject, text, html) = match content {
        Content::Registration { username, code } => {
            let (username, code) = (username.as_str(), code.expose());
            (
                "Your registration code",
                RegistrationText { username, code }.render()?,
                RegistrationHtml { username, code }.render()?,
            )
        }
        Content::AccountExists => (
            "You already have an account",
            AccountExistsText.render()?,
            AccountExistsHtml.render()?,
        ),
        Content::Mfa { code } => {
            let code = code.expose();
            ("Your login code", MfaText { code }.render()?, MfaHtml { code }.render()?)
        }
        Content::Reset { code } => {
            let code = code.expose();
            (
                "Your code for a new password",
                ResetText { code }.render()?,
                ResetHtml { code }.render()?,
            )
        }
        Content::PasswordChanged => (
            "Your password was changed",
            PasswordChangedText.render()?,
            PasswordChangedHtml.render()?,
        ),
        Content::MfaEnabled => {
            ("The second login step is on", MfaEnabledText.render()?, MfaEnabledHtml.render()?)
        }
        Content::MfaDisabled => {
            ("The second login step is off", MfaDisabledText.render()?, MfaDisabledHtml.render()?)
        }
        Content::AccountDeleted => {
            ("Your account was deleted", AccountDeletedText.render()?, AccountDeletedHtml.render()?)
        }
        Content::AccountLocked => (
            "Logins to your account are locked",
            AccountLockedText.render()?,
            AccountLockedHtml.render()?,
        ),
        Content::Announcement { title, description, message } => {
            let paragraphs = message.split("\n\n").map(str::trim);
            let paragraphs = paragraphs.filter(|text| !text.is_empty()).collect();
            (
                title.as_str(),
                AnnouncementText { title, description, message }.render()?,
                AnnouncementHtml { title, description, paragraphs }.render()?,
            )
        }
        Content::Decoy { .. } | Content::Message { .. } => return Ok(None),
    };
    Ok(Some(Words { subject, text, html }))
}

#[cfg(test)]
mod tests {
    use account_core::{Code, Email, Username};

    use super::*;

    fn message(content: Content) -> String {
        let to = Email::parse("ada@example.com").expect("an address");
        let from: Mailbox = "Quant <no-reply@example.org>".parse().expect("a mailbox");
        let message = OutboundMessage { to, content };
        let written_at = Timestamp::from_timestamp(1_795_176_000, 0).expect("a time");
        let message = compose(&message, &from, MessageId(7), written_at).expect("composed");
        String::from_utf8(message.expect("no decoy").formatted()).expect("ASCII")
    }

    #[test]
    fn a_registration_letter_holds_name_and_code_and_says_what_to_do_otherwise() {
        let username = Username::parse("ada").expect("a name");
        let code = Code::parse("042137").expect("six digits");
        let message = message(Content::Registration { username, code });
        for part in [
            "From: Quant <no-reply@example.org>\r\n",
            "To: ada@example.com\r\n",
            "Subject: Your registration code\r\n",
            "Message-ID: <00000000000000000000000000000007@example.org>\r\n",
            "Date: Fri, 20 Nov 2026 12:00:00 +0000\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "042137",
            "\"ada\"",
            "did not",
        ] {
            assert!(message.contains(part), "{part:?} is missing in\n{message}");
        }
        let (plain, html) = message.split_once("text/html").expect("two parts");
        assert!(plain.contains("042137") && html.contains("042137"));
    }

    #[test]
    fn every_letter_has_one_recipient_and_lines_that_any_server_takes() {
        let code = Code::parse("042137").expect("six digits");
        for content in [
            Content::AccountExists,
            Content::Mfa { code: code.clone() },
            Content::Reset { code },
            Content::PasswordChanged,
            Content::MfaEnabled,
            Content::MfaDisabled,
            Content::AccountDeleted,
            Content::AccountLocked,
            Content::Announcement {
                title: "Réunion".to_owned(),
                description: "A summary".to_owned(),
                message: format!("{}\n\nÜber", "long ".repeat(400)),
            },
        ] {
            let has_code = matches!(content, Content::Mfa { .. } | Content::Reset { .. });
            let message = message(content);
            assert_eq!(message.matches("042137").count(), if has_code { 2 } else { 0 });
            assert!(message.contains("If") && message.contains("not"), "what if it was not you?");
            let (headers, _) = message.split_once("\r\n\r\n").expect("headers and body");
            assert_eq!(headers.matches("\r\nTo: ").count(), 1, "{headers}");
            assert!(!headers.contains("Bcc:") && !headers.contains("\r\nCc:"));
            assert!(message.is_ascii() && message.lines().all(|line| line.len() <= 998));
        }
    }
}
