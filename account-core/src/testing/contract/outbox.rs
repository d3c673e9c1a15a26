//! Checks of the outbox.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService};
use crate::outbox::Channel;
use crate::store::Store;

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! outbox_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, outbox;
            an_email_that_fails_is_sent_again_and_then_wiped,
        );
    };
}

/// Checks that a failed e-mail is kept, and that the text of a sent e-mail is wiped.
pub async fn an_email_that_fails_is_sent_again_and_then_wiped<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    service.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    service.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let store = service.accounts.store();
    let due = store.due_messages(Channel::Mail, service.now(), 10).await.expect("ok");
    assert_eq!((due.len(), due[0].failures), (2, 0));
    assert_eq!(store.due_messages(Channel::Mail, service.now(), 1).await.expect("ok").len(), 1);

    let later = service.now() + TimeDelta::seconds(8);
    store.message_failed(due[0].id, later).await.expect("ok");
    store.message_sent(due[1].id).await.expect("ok");
    assert!(store.due_messages(Channel::Mail, service.now(), 10).await.expect("ok").is_empty());
    assert_eq!(store.next_message_at(Channel::Mail).await.expect("ok"), Some(later));
    let again = store.due_messages(Channel::Mail, later, 10).await.expect("ok");
    assert!(matches!(&again[..], [message] if message.id == due[0].id && message.failures == 1));

    service.clock.advance(TimeDelta::hours(25));
    let forgotten = async || {
        let cleaned = service.accounts.clean_up(service.now(), 100, None).await;
        cleaned.expect("the store answers").messages
    };
    assert_eq!(forgotten().await, 1, "the sent one alone");
    store.message_sent(due[0].id).await.expect("ok");
    assert_eq!(forgotten().await, 1);
    assert_eq!(store.next_message_at(Channel::Mail).await.expect("ok"), None);
}
