//! Checks that equal answers have equal costs, by fakes that count answers, hashes, storage calls
//! and e-mails. These checks need too many calls for a database on disk.

use std::net::Ipv6Addr;
use std::num::NonZeroU32;

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, code, email, fault, stranger};
use crate::guest::{CreationLimits, Device};
use crate::outbox::Channel;
use crate::password::Password;
use crate::store::NotificationStore;
use crate::testing::{MemoryStore, all};
use crate::tier::GUEST_CREDITS;

/// A state of an e-mail address.
#[derive(Clone, Copy, Debug)]
enum Address {
    Known,
    Unknown,
    Unverified,
    Suspended,
    WithoutPassword,
    WithSecondFactor,
}

const ADDRESSES: [Address; 6] = [
    Address::Known,
    Address::Unknown,
    Address::Unverified,
    Address::Suspended,
    Address::WithoutPassword,
    Address::WithSecondFactor,
];

/// An action of a visitor at an e-mail address.
#[derive(Clone, Copy, Debug)]
enum Visit {
    WrongLogin,
    WrongLoginUntilLocked,
    Forgot,
    ForgotTwice,
    Resend,
    ResendTwice,
    Register,
    WrongReset,
    WrongResetAfterForgot,
    WrongRegistrationCode,
    WrongRegistrationCodeAfterResend,
    WrongRegistrationCodeAfterRegister,
    WrongMfaCode,
}

const VISITS: [Visit; 13] = [
    Visit::WrongLogin,
    Visit::WrongLoginUntilLocked,
    Visit::Forgot,
    Visit::ForgotTwice,
    Visit::Resend,
    Visit::ResendTwice,
    Visit::Register,
    Visit::WrongReset,
    Visit::WrongResetAfterForgot,
    Visit::WrongRegistrationCode,
    Visit::WrongRegistrationCodeAfterResend,
    Visit::WrongRegistrationCodeAfterRegister,
    Visit::WrongMfaCode,
];

const ADDRESS: &str = "ada@example.com";

impl TestService<MemoryStore> {
    /// Makes a service with an old address in this state.
    async fn with(address: Address) -> Self {
        let service = Self::new(MemoryStore::new());
        match address {
            Address::Unknown => {}
            Address::Known => drop(service.account("ada", ADDRESS).await),
            Address::WithSecondFactor => drop(service.account_with_mfa("ada", ADDRESS).await),
            Address::WithoutPassword => drop(service.funded("ada", 0).await),
            Address::Unverified => {
                service.register("ada", ADDRESS, PASSWORD).await.expect("a free name");
            }
            Address::Suspended => {
                service.account("ada", ADDRESS).await;
                service.accounts.suspend(&email(ADDRESS)).await.expect("the account is there");
            }
        }
        service.messages().await;
        service.clock.advance(TimeDelta::days(2));
        service.accounts.clean_up(service.now(), 100, None).await.expect("ok");
        service
    }

    async fn visit(&self, visit: Visit) -> Vec<&'static str> {
        let address = email(ADDRESS);
        let (accounts, now, zeros) = (&self.accounts, self.now(), code("000000"));
        let forgot = || async { fault(accounts.forgot_password(&address, now).await) };
        let resend = || async { fault(accounts.resend_registration_code(&address, now).await) };
        let register = || async { fault(self.register("newcomer", ADDRESS, PASSWORD).await) };
        let verify = || async { fault(self.verify(ADDRESS, &zeros).await) };
        let reset = || async {
            let password = Password::attempt("another one of hers");
            fault(accounts.reset_password(&address, &zeros, &password, &stranger(), now).await)
        };
        let login = || async { self.login_code_from(&stranger(), ADDRESS, "wrong").await };
        match visit {
            Visit::WrongLogin => vec![login().await],
            Visit::WrongLoginUntilLocked => all((0..7).map(|_| login())).await,
            Visit::Forgot => vec![forgot().await],
            Visit::ForgotTwice => vec![forgot().await, forgot().await],
            Visit::Resend => vec![resend().await],
            Visit::ResendTwice => vec![resend().await, resend().await],
            Visit::Register => vec![register().await],
            Visit::WrongReset => vec![reset().await],
            Visit::WrongResetAfterForgot => vec![forgot().await, reset().await],
            Visit::WrongRegistrationCode => vec![verify().await],
            Visit::WrongRegistrationCodeAfterResend => vec![resend().await, verify().await],
            Visit::WrongRegistrationCodeAfterRegister => vec![register().await, verify().await],
            Visit::WrongMfaCode => vec![fault(self.complete(ADDRESS, &zeros, None).await)],
        }
    }

    /// Returns the number of rows in the outbox, including decoys.
    async fn outbox_rows(&self) -> usize {
        self.accounts
            .store()
            .due_messages(Channel::Mail, self.now(), u32::MAX)
            .await
            .expect("ok")
            .len()
    }
}

#[tokio::test]
async fn every_address_costs_a_visitor_the_same_answers_hashes_storage_calls_and_emails() {
    for visit in VISITS {
        let mut seen = Vec::new();
        for address in ADDRESSES {
            let service = TestService::with(address).await;
            let (hashes, calls) = (service.hasher.hashes(), service.accounts.store().calls());
            let answers = service.visit(visit).await;
            let hashes = service.hasher.hashes() - hashes;
            let calls = service.accounts.store().calls() - calls;
            seen.push((answers, hashes, calls, service.outbox_rows().await));
        }
        for (address, found) in ADDRESSES.iter().zip(&seen) {
            assert_eq!(*found, seen[1], "{visit:?}: {address:?} is not like an unknown one");
        }
    }
}

#[tokio::test]
async fn every_address_costs_an_account_that_asks_for_it_the_same() {
    let mut seen = Vec::new();
    for address in ADDRESSES {
        let service = TestService::with(address).await;
        let eve = service.account("eve", "eve@example.com").await.account;
        let (hashes, calls) = (service.hasher.hashes(), service.accounts.store().calls());
        let answers = [
            fault(service.ask_for(eve, ADDRESS, PASSWORD).await),
            fault(service.ask_for(eve, ADDRESS, PASSWORD).await),
            fault(service.confirm(eve, ADDRESS, &code("000000")).await),
        ];
        let hashes = service.hasher.hashes() - hashes;
        let calls = service.accounts.store().calls() - calls;
        seen.push((answers, hashes, calls, service.outbox_rows().await));
    }
    assert_eq!(seen[1].0, ["success", "success", "wrong_code"]);
    for (address, found) in ADDRESSES.iter().zip(&seen) {
        assert_eq!(*found, seen[1], "{address:?} is not like an unknown one");
    }
}

#[tokio::test]
async fn an_attacker_at_one_try_a_second_for_a_day_keeps_no_known_client_out() {
    let service = TestService::new(MemoryStore::new());
    service.account("ada", ADDRESS).await;
    service.signed_in(&client(), ADDRESS, PASSWORD).await;
    let before = service.hasher.compared();
    let mut logins = 0;
    for second in 0..86_400 {
        service.login_code_from(&stranger(), ADDRESS, "wrong").await;
        if second % 600 == 0 {
            service.signed_in(&client(), ADDRESS, PASSWORD).await;
            logins += 1;
        }
        service.wait(1);
    }
    let compared = service.hasher.compared() - before - logins;
    assert!(compared <= 5 * 48, "{compared} wrong passwords were looked at");
}

#[tokio::test]
async fn ten_thousand_guest_keys_of_one_network_bring_bounded_free_credits() {
    let service = TestService::new(MemoryStore::new());
    let number = |limit| NonZeroU32::new(limit).expect("not zero");
    let limits = CreationLimits {
        per_network: number(200),
        per_device: number(100),
        in_all: number(100_000),
    };
    let mut credits = 0;
    for key in 0..10_000_u16 {
        let address = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, key).into();
        let device = Device::parse(&format!("device-{key}"), None, None).expect("a device");
        match service.accounts.create_guest(device, address, limits, service.now()).await {
            Ok(guest) => credits += guest.credit_balance,
            Err(error) => assert_eq!(error.code(), "too_many_guests"),
        }
    }
    assert_eq!(credits, 200 * GUEST_CREDITS);
}
