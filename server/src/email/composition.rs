//! The composition of an e-mail: headers, which no user input can extend, text and HTML.

use std::time::{Duration, UNIX_EPOCH};

use account_core::Timestamp;
use account_core::outbox::{MessageId, OutboundMessage};
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};

use super::messages::{Email, render};
use super::send_error::SendError;

/// Composes an e-mail; `None` for a decoy, which is never sent, and for a message of the messaging
/// channel.
pub(super) fn compose(
    message: &OutboundMessage,
    from: &Mailbox,
    id: MessageId,
    written_at: Timestamp,
) -> Result<Option<Message>, SendError> {
    let email = render(&message.content).map_err(|error| SendError::Compose(error.into()))?;
    let Some(email) = email else { return Ok(None) };
    build(message, from, id, written_at, email).map(Some).map_err(SendError::Compose)
}

fn build(
    message: &OutboundMessage,
    from: &Mailbox,
    id: MessageId,
    written_at: Timestamp,
    email: Email<'_>,
) -> Result<Message, Box<dyn std::error::Error + Send + Sync>> {
    let since_1970 = Duration::from_secs(u64::try_from(written_at.timestamp())?);
    let mut message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, message.to.as_str().parse()?))
        .subject(email.subject)
        .date(UNIX_EPOCH + since_1970)
        .message_id(Some(format!("<{:032x}@{}>", id.0, from.email.domain())))
        .multipart(MultiPart::alternative_plain_html(email.text, email.html))?;
    // Keeps automatic replies, such as holiday notices, from being sent back (RFC 3834).
    let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
    message.headers_mut().insert_raw(HeaderValue::new(automatic, "auto-generated".to_owned()));
    Ok(message)
}

#[cfg(test)]
mod tests {
    use account_core::outbox::Content;
    use account_core::testing::seeded_rng;
    use account_core::{Code, EmailUndoToken, Username};

    use super::*;

    fn message(content: Content) -> String {
        let to = account_core::Email::parse("ada@example.com").expect("an address");
        let from: Mailbox = "Quant <no-reply@example.org>".parse().expect("a mailbox");
        let message = OutboundMessage { to, content };
        let written_at = Timestamp::from_timestamp(1_795_176_000, 0).expect("a time");
        let message = compose(&message, &from, MessageId(7), written_at).expect("composed");
        String::from_utf8(message.expect("no decoy").formatted()).expect("ASCII")
    }

    #[test]
    fn a_registration_email_holds_name_and_code_and_says_what_to_do_otherwise() {
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
    fn every_email_has_one_recipient_and_lines_that_any_server_takes() {
        let code = Code::parse("042137").expect("six digits");
        let address = account_core::Email::parse("ada@example.org").expect("an address");
        let undo = EmailUndoToken::generate(&mut seeded_rng(1));
        for content in [
            Content::AccountExists,
            Content::Mfa { code: code.clone() },
            Content::Reset { code: code.clone() },
            Content::PasswordChanged,
            Content::MfaEnabled,
            Content::MfaDisabled,
            Content::EmailChange { code: code.clone() },
            Content::EmailChangeRequested { to: address.clone(), code: None },
            Content::EmailChangeRequested { to: address.clone(), code: Some(code) },
            Content::EmailChanged { to: address.clone(), undo },
            Content::EmailRestored { email: address },
            Content::AccountDeleted,
            Content::AccountLocked,
            Content::Announcement {
                title: "Réunion".to_owned(),
                description: "A summary".to_owned(),
                message: format!("{}\n\nÜber", "long ".repeat(400)),
            },
        ] {
            let has_code = matches!(
                content,
                Content::Mfa { .. }
                    | Content::Reset { .. }
                    | Content::EmailChange { .. }
                    | Content::EmailChangeRequested { code: Some(_), .. }
            );
            let message = message(content);
            assert_eq!(message.matches("042137").count(), if has_code { 2 } else { 0 });
            assert!(message.contains("If") && message.contains("not"), "what if it was not you?");
            let (headers, _) = message.split_once("\r\n\r\n").expect("headers and body");
            assert_eq!(headers.matches("\r\nTo: ").count(), 1, "{headers}");
            assert!(!headers.contains("Bcc:") && !headers.contains("\r\nCc:"));
            assert!(message.is_ascii() && message.lines().all(|line| line.len() <= 998));
        }
    }

    #[test]
    fn the_token_that_undoes_a_change_is_on_a_line_of_its_own() {
        let undo = EmailUndoToken::generate(&mut seeded_rng(2));
        let to = account_core::Email::parse("ada@example.org").expect("an address");
        let message = message(Content::EmailChanged { to, undo: undo.clone() });
        let lines = message.lines().filter(|line| line.trim() == undo.expose()).count();
        assert_eq!(lines, 1, "{message}");
        assert!(message.contains("72 hours") && message.contains("ada@example.org"), "{message}");
    }
}
