//! E-mails and messages: taken from the outbox, written from templates, and handed to a mail server,
//! a folder or a messaging channel.
//!
//! An e-mail is in the outbox before the request that asked for the e-mail is answered, and leaves
//! the outbox only once the mail server has taken it. A slow or dead server therefore slows no
//! request and loses no e-mail. At worst, after a crash, an e-mail is sent twice under the same
//! `Message-ID`.

mod composition;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod messages;
mod messaging;
mod send_error;
mod transport;
mod worker;

pub use messaging::{Messenger, MessengerError};
pub use transport::{Sender, SetUpError, Transport};
pub use worker::Worker;
