//! The composition of e-mails from texts of users, with what must hold for each.

use std::sync::LazyLock;

use account_core::{
    Announcement, Channels, Code, Email, Timestamp, Username,
    outbox::{Content, MessageId, OutboundMessage},
};
use lettre::message::Mailbox;

use super::composition::compose;

/// The headers of an e-mail, each once.
const HEADERS: [&str; 8] = [
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "MIME-Version",
    "Content-Type",
    "Auto-Submitted",
];

/// Composes e-mails of the lines of an input: an address, a user name, a title, a summary and a text. An
/// e-mail has one recipient and the headers of the service alone, and is ASCII in lines that every server
/// takes.
///
/// # Panics
///
/// Panics where one of these does not hold, or where an address that is taken gets no e-mail.
pub fn email_fields(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut parts = text.splitn(5, '\n');
    let mut part = || parts.next().unwrap_or_default().to_owned();
    let [address, name, title, description, message] = std::array::from_fn(|_| part());
    let to = Email::parse(&address).ok();
    let to = to.unwrap_or_else(|| Email::parse("ada@example.com").expect("an address"));
    let code = Code::parse("042137").expect("six digits");
    if let Ok(username) = Username::parse(&name) {
        check(&to, Content::Registration { username, code });
    }
    check(&to, Content::EmailChangeRequested { to: to.clone(), code: None });
    check(&to, Content::EmailRestored { email: to.clone() });
    let channels = Channels { in_app: true, email: true, messaging: true };
    let summary = Some(description.as_str());
    if let Ok(read) = Announcement::parse(&title, summary, Some(&message), None, channels) {
        assert!(!read.title.contains(['\r', '\n']) && read.title.chars().count() <= 200);
        let Announcement { title, description, message, .. } = read;
        let (description, message) = (description.unwrap_or_default(), message.unwrap_or_default());
        check(&to, Content::Announcement { title, description, message });
    }
    // No text extends the head of an e-mail, not even one that the reader of broadcasts refuses.
    let (title, description) =
        (format!("{title}\r\n{name}"), format!("{description}\r\n{address}"));
    check_head(&composed(&to, Content::Announcement { title, description, message }), &to);
}

/// Checks the head and the lines of an e-mail.
fn check(to: &Email, content: Content) {
    let text = composed(to, content);
    check_head(&text, to);
    let is_line = |line: &str| line.len() <= 998 && !line.contains(['\r', '\n']);
    assert!(text.split("\r\n").all(is_line), "{text}");
}

fn composed(to: &Email, content: Content) -> String {
    static FROM: LazyLock<Mailbox> =
        LazyLock::new(|| "Quant <no-reply@example.org>".parse().expect("a mailbox"));
    let message = OutboundMessage { to: to.clone(), content };
    let composed = compose(&message, &FROM, MessageId(7), Timestamp::UNIX_EPOCH);
    let composed = composed.unwrap_or_else(|error| panic!("{}: {error:?}", to.as_str()));
    let composed = composed.expect("no decoy");
    let envelope = composed.envelope();
    assert_eq!(envelope.to().iter().map(AsRef::as_ref).collect::<Vec<&str>>(), [to.as_str()]);
    let text = composed.formatted();
    assert!(text.is_ascii(), "{}", String::from_utf8_lossy(&text));
    String::from_utf8(text).expect("ASCII")
}

fn check_head(text: &str, to: &Email) {
    let (head, _) = text.split_once("\r\n\r\n").expect("headers and a body");
    let lines = head.split("\r\n").filter(|line| !line.starts_with([' ', '\t']));
    let mut names: Vec<&str> =
        lines.map(|line| line.split(':').next().unwrap_or_default()).collect();
    names.sort_unstable();
    let mut expected = HEADERS;
    expected.sort_unstable();
    assert_eq!(names, expected, "{head}");
    assert!(head.contains(&format!("To: {}", to.as_str())) || to.as_str().len() > 60, "{head}");
}
