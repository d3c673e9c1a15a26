//! Letters on their way.

use chrono::TimeDelta;

use super::house::{House, PASSWORD};
use crate::accounts::Store;
use crate::letter::{Lane, Postage};

/// No letter is lost to a failure, and no sent one keeps its text.
pub async fn a_letter_that_fails_is_tried_again_and_then_forgotten<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.register("ada", "ada@example.com", PASSWORD).await.expect("a free name");
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    let store = house.accounts.store();
    let due = store.due_letters(Lane::Mail, house.now(), 10).await.expect("ok");
    assert_eq!((due.len(), due[0].failures), (2, 0));
    assert_eq!(store.due_letters(Lane::Mail, house.now(), 1).await.expect("ok").len(), 1);

    let later = house.now() + TimeDelta::seconds(8);
    store.letter_failed(due[0].id, later).await.expect("ok");
    store.letter_sent(due[1].id, house.now()).await.expect("ok");
    assert!(store.due_letters(Lane::Mail, house.now(), 10).await.expect("ok").is_empty());
    assert_eq!(store.next_letter_at(Lane::Mail).await.expect("ok"), Some(later));
    let again = store.due_letters(Lane::Mail, later, 10).await.expect("ok");
    assert!(matches!(&again[..], [letter] if letter.id == due[0].id && letter.failures == 1));

    house.clock.advance(TimeDelta::hours(25));
    let before = Postage::since(house.now());
    assert_eq!(store.forget_letters(before).await.expect("ok"), 1, "the sent one alone");
    store.letter_sent(due[0].id, house.now()).await.expect("ok");
    assert_eq!(store.forget_letters(before).await.expect("ok"), 1);
    assert_eq!(store.next_letter_at(Lane::Mail).await.expect("ok"), None);
}
