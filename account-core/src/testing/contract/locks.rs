//! Letters that tell of a lock.

use super::house::{House, PASSWORD, email, stranger};
use crate::accounts::Store;
use crate::letter::Content;
use crate::testing::all;

/// How many notices of a lock wait for an address.
async fn notices<S: Store + Clone>(house: &House<S>, address: &str) -> usize {
    let letters = house.letters().await;
    let locked = letters.iter().filter(|letter| matches!(letter.content, Content::AccountLocked));
    locked.filter(|letter| letter.to == email(address)).count()
}

async fn lock<S: Store + Clone>(house: &House<S>, address: &str) {
    for _ in 0..7 {
        house.login_code_from(&stranger(), address, "wrong").await;
    }
    assert_eq!(house.login_code_from(&stranger(), address, PASSWORD).await, "locked");
}

/// The fifth wrong password writes to the owner; the sixth does not, a second lock does, and an
/// address without an account, or with one that is not verified, gets nothing.
pub async fn the_owner_is_told_of_each_lock_once_and_nobody_else_is<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    house.register("bob", "bob@example.com", PASSWORD).await.expect("a free name");
    house.letters().await;
    for _ in 0..4 {
        house.login_code_from(&stranger(), "ada@example.com", "wrong").await;
    }
    assert_eq!(notices(&house, "ada@example.com").await, 0, "four are no lock");
    lock(&house, "ada@example.com").await;
    assert_eq!(notices(&house, "ada@example.com").await, 1);
    house.wait(30 * 60);
    lock(&house, "ada@example.com").await;
    assert_eq!(notices(&house, "ada@example.com").await, 1, "another lock");
    for address in ["bob@example.com", "nobody@example.com"] {
        lock(&house, address).await;
        assert_eq!(house.letters().await.len(), 0, "{address}");
    }
    // Two hundred at once set one lock.
    house.wait(30 * 60);
    let visitor = stranger();
    let tries = (0..200).map(|_| house.login_code_from(&visitor, "ada@example.com", "wrong"));
    all(tries).await;
    assert_eq!(notices(&house, "ada@example.com").await, 1);
}

/// Who attacks all day long fills nobody's mailbox.
pub async fn an_attack_all_day_long_is_told_ten_times_at_most<S: Store + Clone>(store: S) {
    let house = House::new(store);
    house.account("ada", "ada@example.com").await;
    let mut told = 0;
    for _ in 0..46 {
        lock(&house, "ada@example.com").await;
        told += notices(&house, "ada@example.com").await;
        house.wait(30 * 60);
    }
    assert_eq!(told, 10);
}
