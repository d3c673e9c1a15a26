//! Checks of grants to OAuth clients.

use chrono::TimeDelta;

use super::test_service::{PASSWORD, TestService, client, email};
use crate::accounts::SignedIn;
use crate::key::AuthError;
use crate::oauth::grant::GRANT_VALIDITY;
use crate::oauth::token::{ACCESS_VALIDITY, REFRESH_VALIDITY};
use crate::oauth::{
    AccessToken, Authorization, AuthorizationCode, ClientDocument, ClientMetadata, CodeVerifier,
    DocumentUrl, Exchange, OauthResult, Refresh, RefreshToken, RegisteredClient, Tokens,
};
use crate::password::Password;
use crate::store::Store;
use crate::testing::{all, seeded_rng};

/// Names the checks of this file, in the order of their tests.
#[doc(hidden)]
#[macro_export]
macro_rules! oauth_checks {
    ($open:expr) => {
        $crate::store_contract!(@tests $open, oauth;
            a_consent_leads_to_tokens_that_open_its_resource_alone,
            a_client_with_a_document_takes_the_metadata_of_its_present_document,
            a_code_serves_once_within_a_minute_for_its_own_client_and_proof,
            a_replayed_code_ends_the_grant_that_came_of_it,
            of_sixty_four_exchanges_of_one_code_one_wins_and_the_replay_ends_it,
            a_refresh_token_serves_once_and_presented_again_ends_the_grant,
            a_refused_refresh_spends_nothing,
            of_sixty_four_refreshes_of_one_token_one_wins_and_the_reuse_ends_it,
            within_the_leeway_sixty_four_refreshes_get_the_same_successor,
            access_lasts_an_hour_and_refreshing_thirty_days_from_each_use,
            a_grant_that_is_always_refreshed_ends_after_a_year,
            a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along,
            another_client_revokes_nothing,
            a_reset_a_suspension_and_a_deletion_end_all_grants_and_codes,
            a_consent_of_an_ended_session_is_no_consent,
            a_consent_is_a_use_of_its_session,
            the_twenty_first_grant_ends_the_oldest,
            an_owner_sees_and_ends_grants_and_nobody_elses,
            dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay,
            parallel_consents_never_leave_more_than_twenty_grants,
            a_change_of_password_or_address_and_its_undoing_end_all_grants_and_codes,
        );
    };
}

const RESOURCE: &str = "https://mcp.example.com/mcp";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";

fn verifier() -> CodeVerifier {
    CodeVerifier::parse(&"v".repeat(43)).expect("a verifier")
}

impl<S: Store + Clone> TestService<S> {
    pub(super) async fn oauth_client(&self) -> RegisteredClient {
        let metadata = ClientMetadata {
            redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
            client_name: Some("A desktop host".to_owned()),
            ..ClientMetadata::default()
        };
        self.accounts.register_client(&metadata, self.now()).await.expect("a good client")
    }

    pub(super) async fn consent(
        &self,
        who: &SignedIn,
        client: &RegisteredClient,
    ) -> Option<AuthorizationCode> {
        let authorization = Authorization {
            client: client.id.clone(),
            redirect_uri: client.redirect_uri(Some(REDIRECT)).expect("its own, whatever the port"),
            challenge: verifier().challenge(),
            resource: RESOURCE.to_owned(),
        };
        let (session, account) = (&who.session_token, who.account);
        let issued = self.accounts.issue_code(session, account, authorization, self.now()).await;
        issued.expect("the store answers")
    }

    fn exchange_of(client: &RegisteredClient, code: &AuthorizationCode) -> Exchange {
        Exchange {
            code: code.clone(),
            client: client.id.clone(),
            redirect_uri: Some(REDIRECT.to_owned()),
            verifier: verifier(),
            resource: RESOURCE.to_owned(),
        }
    }

    pub(super) async fn exchange(
        &self,
        client: &RegisteredClient,
        code: &AuthorizationCode,
    ) -> OauthResult<Tokens> {
        self.accounts.exchange(Self::exchange_of(client, code)).await
    }

    pub(super) async fn connected(&self, who: &SignedIn, client: &RegisteredClient) -> Tokens {
        let code = self.consent(who, client).await.expect("a live session");
        self.exchange(client, &code).await.expect("a fresh code")
    }

    pub(super) async fn refresh(
        &self,
        client: &RegisteredClient,
        token: &RefreshToken,
    ) -> OauthResult<Tokens> {
        self.refresh_within(client, token, 0).await
    }

    pub(super) async fn refresh_within(
        &self,
        client: &RegisteredClient,
        token: &RefreshToken,
        leeway: i64,
    ) -> OauthResult<Tokens> {
        let refresh = Refresh {
            token: token.clone(),
            client: client.id.clone(),
            resource: RESOURCE.to_owned(),
            leeway: TimeDelta::seconds(leeway),
        };
        self.accounts.refresh(refresh).await
    }

    pub(super) async fn opens(&self, token: &AccessToken) -> bool {
        match self.accounts.bearer(token, RESOURCE, self.now()).await {
            Ok(_) => true,
            Err(AuthError::Unknown) => false,
            Err(error) => panic!("{error}"),
        }
    }

    async fn reset_password_of(&self, address: &str) {
        let (email, password) = (email(address), Password::attempt("another one of hers"));
        self.accounts.forgot_password(&email, self.now()).await.expect("the same answer");
        let (right, from) = (self.code(address).await, client());
        let reset = self.accounts.reset_password(&email, &right, &password, &from, self.now());
        reset.await.expect("the right code");
    }

    async fn grant_count(&self, who: &SignedIn) -> usize {
        self.accounts.grants(who.account, self.now()).await.expect("ok").len()
    }
}

pub(super) fn refused<T>(answer: OauthResult<T>) -> &'static str {
    answer.err().map_or("success", |error| error.code())
}

/// Checks that an access token identifies the account as its API key does, for its resource alone.
pub async fn a_consent_leads_to_tokens_that_open_its_resource_alone<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    assert_eq!(tokens.expires_in, ACCESS_VALIDITY);
    let bearer =
        service.accounts.bearer(&tokens.access, RESOURCE, service.now()).await.expect("good");
    assert_eq!(Some(bearer.caller), service.caller(&ada.api_key).await);
    assert_eq!(bearer.expires_at, service.now() + ACCESS_VALIDITY);
    let elsewhere = "https://other.example.com/mcp";
    let refusal = service.accounts.bearer(&tokens.access, elsewhere, service.now()).await;
    assert!(matches!(refusal, Err(AuthError::Unknown)));
    let as_access = AccessToken::parse(tokens.refresh.expose()).expect("well-formed");
    assert!(!service.opens(&as_access).await, "a refresh token is no access token");
    assert_eq!(service.accounts.client(&client.id).await.expect("it is there"), client);
}

/// Checks that a client with a document keeps its grants, with its present name and redirect URIs.
pub async fn a_client_with_a_document_takes_the_metadata_of_its_present_document<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let url = DocumentUrl::parse("https://app.example.com/client.json").expect("a good URL");
    let describe = |name: &str, redirect_uri: &str| {
        let metadata = ClientMetadata {
            redirect_uris: vec![redirect_uri.to_owned()],
            client_name: Some(name.to_owned()),
            ..ClientMetadata::default()
        };
        let client_id = Some(url.as_str().to_owned());
        let document = ClientDocument { client_id, metadata, ..ClientDocument::default() };
        RegisteredClient::described(&url, &document, service.now()).expect("a good document")
    };
    let client = describe("A host", "http://127.0.0.1/callback");
    assert_eq!(refused(service.accounts.client(&client.id).await), "invalid_client");
    service.accounts.keep_described_client(client.clone()).await.expect("the store answers");
    let tokens = service.connected(&ada, &client).await;
    service.wait(60);
    let changed = describe("A newer host", "https://app.example.com/callback");
    service.accounts.keep_described_client(changed.clone()).await.expect("the store answers");
    let stored = service.accounts.client(&client.id).await.expect("it is there");
    assert_eq!(stored, RegisteredClient { created_at: client.created_at, ..changed });
    let grants = service.accounts.grants(ada.account, service.now()).await.expect("ok");
    let shown: Vec<_> = grants.iter().map(|grant| grant.client_name.as_str()).collect();
    assert_eq!(shown, ["A newer host"]);
    assert_eq!(grants[0].client.document(), Some(url.clone()));
    service.refresh(&client, &tokens.refresh).await.expect("the grant is there still");
}

/// Checks that a refused exchange does not consume the code.
pub async fn a_code_serves_once_within_a_minute_for_its_own_client_and_proof<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let (client, other) = (service.oauth_client().await, service.oauth_client().await);
    let code = service.consent(&ada, &client).await.expect("a live session");
    let alter = |change: fn(&mut Exchange)| {
        let mut exchange = TestService::<S>::exchange_of(&client, &code);
        change(&mut exchange);
        service.accounts.exchange(exchange)
    };
    assert_eq!(refused(service.exchange(&other, &code).await), "invalid_grant");
    for change in [
        (|e: &mut Exchange| e.redirect_uri = Some("http://127.0.0.1/callback".into()))
            as fn(&mut Exchange),
        |e| e.verifier = CodeVerifier::parse(&"w".repeat(43)).expect("a verifier"),
        |e| e.resource = "https://other.example.com/mcp".to_owned(),
        |e| e.code = AuthorizationCode::generate(&mut seeded_rng(4)),
    ] {
        assert_eq!(refused(alter(change).await), "invalid_grant");
    }
    service.clock.advance(TimeDelta::milliseconds(59_999));
    service.exchange(&client, &code).await.expect("the last moment");
    let late = service.consent(&ada, &client).await.expect("a live session");
    service.wait(60);
    assert_eq!(refused(service.exchange(&client, &late).await), "invalid_grant");
    assert_eq!(service.grant_count(&ada).await, 1);
}

/// Checks that the replay of a code ends its grant, for every client and every parameter of the
/// replay.
pub async fn a_replayed_code_ends_the_grant_that_came_of_it<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let other = service.connected(&ada, &client).await;
    let code = service.consent(&ada, &client).await.expect("a live session");
    let tokens = service.exchange(&client, &code).await.expect("a fresh code");
    service.wait(30 * 60);
    let mut stolen = TestService::<S>::exchange_of(&client, &code);
    stolen.verifier = CodeVerifier::parse(&"w".repeat(43)).expect("a verifier");
    let answer = service.accounts.exchange(stolen).await;
    assert_eq!(refused(answer), "invalid_grant");
    assert!(!service.opens(&tokens.access).await);
    assert_eq!(refused(service.refresh(&client, &tokens.refresh).await), "invalid_grant");
    assert!(service.opens(&other.access).await, "another grant goes on");
}

/// Checks sixty-four simultaneous exchanges of one code.
pub async fn of_sixty_four_exchanges_of_one_code_one_wins_and_the_replay_ends_it<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let code = service.consent(&ada, &client).await.expect("a live session");
    let answers = all((0..64).map(|_| service.exchange(&client, &code))).await;
    let won: Vec<Tokens> = answers.into_iter().filter_map(OauthResult::ok).collect();
    assert_eq!(won.len(), 1);
    assert!(!service.opens(&won[0].access).await, "the others were replays");
    assert_eq!(service.grant_count(&ada).await, 0);
}

/// Checks that the second use of a refresh token ends its grant, with the successor of the token.
pub async fn a_refresh_token_serves_once_and_presented_again_ends_the_grant<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let first = service.connected(&ada, &client).await;
    let second = service.refresh(&client, &first.refresh).await.expect("the first use");
    assert_ne!(second.refresh.expose(), first.refresh.expose());
    assert!(service.opens(&first.access).await && service.opens(&second.access).await);
    let third = service.refresh(&client, &second.refresh).await.expect("the first use");
    assert_eq!(refused(service.refresh(&client, &first.refresh).await), "invalid_grant");
    assert_eq!(refused(service.refresh(&client, &third.refresh).await), "invalid_grant");
    for tokens in [first, second, third] {
        assert!(!service.opens(&tokens.access).await);
    }
    assert_eq!(service.grant_count(&ada).await, 0);
}

/// Checks a refresh by another client, a refresh for another resource, and an unknown token.
pub async fn a_refused_refresh_spends_nothing<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let (client, other) = (service.oauth_client().await, service.oauth_client().await);
    let tokens = service.connected(&ada, &client).await;
    assert_eq!(refused(service.refresh(&other, &tokens.refresh).await), "invalid_grant");
    let elsewhere = Refresh {
        token: tokens.refresh.clone(),
        client: client.id.clone(),
        resource: "https://other.example.com/mcp".to_owned(),
        leeway: TimeDelta::zero(),
    };
    let answer = service.accounts.refresh(elsewhere).await;
    assert_eq!(refused(answer), "invalid_grant");
    let unknown = RefreshToken::generate(&mut seeded_rng(5));
    assert_eq!(refused(service.refresh(&client, &unknown).await), "invalid_grant");
    service.refresh(&client, &tokens.refresh).await.expect("still unused");
}

/// Checks sixty-four simultaneous refreshes of one token.
pub async fn of_sixty_four_refreshes_of_one_token_one_wins_and_the_reuse_ends_it<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    let answers = all((0..64).map(|_| service.refresh(&client, &tokens.refresh))).await;
    let won: Vec<Tokens> = answers.into_iter().filter_map(OauthResult::ok).collect();
    assert_eq!(won.len(), 1);
    assert!(!service.opens(&won[0].access).await, "the others were reuse");
    assert_eq!(service.grant_count(&ada).await, 0);
}

/// Checks that the leeway repeats the answer, and that the rule applies after the leeway.
pub async fn within_the_leeway_sixty_four_refreshes_get_the_same_successor<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    let asks = (0..64).map(|_| service.refresh_within(&client, &tokens.refresh, 10));
    let answers = all(asks).await;
    let first = answers[0].as_ref().expect("within the leeway");
    for answer in &answers {
        let answer = answer.as_ref().expect("within the leeway");
        assert_eq!(answer.refresh.expose(), first.refresh.expose());
        assert_eq!(answer.access.expose(), first.access.expose());
    }
    service.wait(9);
    let later = service.refresh_within(&client, &tokens.refresh, 10).await.expect("ok");
    assert_eq!(later.expires_in, ACCESS_VALIDITY - TimeDelta::seconds(9));
    assert!(service.opens(&later.access).await);
    service.wait(1);
    let late = service.refresh_within(&client, &tokens.refresh, 10).await;
    assert_eq!(refused(late), "invalid_grant");
    assert_eq!(refused(service.refresh(&client, &first.refresh).await), "invalid_grant");
}

/// Checks that a grant ends a year after its consent, although its tokens are refreshed in time.
pub async fn a_grant_that_is_always_refreshed_ends_after_a_year<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let mut tokens = service.connected(&ada, &client).await;
    let (begun, instant) = (service.now(), TimeDelta::milliseconds(1));
    while service.now() < begun + GRANT_VALIDITY - TimeDelta::days(29) {
        service.clock.advance(TimeDelta::days(29));
        tokens = service.refresh(&client, &tokens.refresh).await.expect("within the year");
    }
    service.clock.advance(begun + GRANT_VALIDITY - instant - service.now());
    tokens = service.refresh(&client, &tokens.refresh).await.expect("the last moment");
    service.clock.advance(instant);
    assert_eq!(refused(service.refresh(&client, &tokens.refresh).await), "invalid_grant");
}

/// Checks the validity of access and refresh tokens to the millisecond.
pub async fn access_lasts_an_hour_and_refreshing_thirty_days_from_each_use<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    let instant = TimeDelta::milliseconds(1);
    service.clock.advance(ACCESS_VALIDITY - instant);
    assert!(service.opens(&tokens.access).await);
    service.clock.advance(instant);
    assert!(!service.opens(&tokens.access).await);
    service.clock.advance(REFRESH_VALIDITY - ACCESS_VALIDITY - instant);
    let next = service.refresh(&client, &tokens.refresh).await.expect("the last moment");
    service.clock.advance(REFRESH_VALIDITY - instant);
    assert_eq!(service.grant_count(&ada).await, 1);
    let last = service.refresh(&client, &next.refresh).await.expect("the last moment");
    service.clock.advance(REFRESH_VALIDITY);
    assert_eq!(refused(service.refresh(&client, &last.refresh).await), "invalid_grant");
    assert_eq!(service.grant_count(&ada).await, 0);
}

/// Checks that the revocation of an unknown token succeeds.
pub async fn a_revoked_access_token_ends_alone_and_a_refresh_token_takes_its_grant_along<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let tokens = service.connected(&ada, &client).await;
    let revoke = |text: &str| {
        let (accounts, text, id) = (service.accounts.clone(), text.to_owned(), client.id.clone());
        async move { accounts.revoke_token(&text, Some(&id)).await.expect("ok") }
    };
    for unknown in ["", "nonsense", RefreshToken::generate(&mut seeded_rng(6)).expose()] {
        revoke(unknown).await;
    }
    revoke(tokens.access.expose()).await;
    assert!(!service.opens(&tokens.access).await);
    let next = service.refresh(&client, &tokens.refresh).await.expect("the grant goes on");
    revoke(next.refresh.expose()).await;
    assert!(!service.opens(&next.access).await);
    assert_eq!(refused(service.refresh(&client, &next.refresh).await), "invalid_grant");
    revoke(next.refresh.expose()).await;
    assert_eq!(service.grant_count(&ada).await, 0);
}

/// Checks that a client which is named must be the token's own, and that a caller without a named
/// client may end the token.
pub async fn another_client_revokes_nothing<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let (client, other) = (service.oauth_client().await, service.oauth_client().await);
    let tokens = service.connected(&ada, &client).await;
    for text in [tokens.access.expose(), tokens.refresh.expose()] {
        let answer = service.accounts.revoke_token(text, Some(&other.id)).await;
        assert_eq!(refused(answer), "invalid_grant");
    }
    assert!(service.opens(&tokens.access).await);
    service.accounts.revoke_token(tokens.refresh.expose(), None).await.expect("ok");
    assert!(!service.opens(&tokens.access).await);
}

/// Checks that grants, codes and unfinished authorizations from before the event are ended.
pub async fn a_reset_a_suspension_and_a_deletion_end_all_grants_and_codes<S: Store + Clone>(
    store: S,
) {
    let service = TestService::new(store);
    let client = service.oauth_client().await;
    let bob = service.account("bob", "bob@example.com").await;
    let of_bob = service.connected(&bob, &client).await;
    for (name, how) in [("ada", "reset"), ("eve", "suspension"), ("kim", "deletion")] {
        let address = format!("{name}@example.com");
        let who = service.account(name, &address).await;
        let tokens = service.connected(&who, &client).await;
        let code = service.consent(&who, &client).await.expect("a live session");
        match how {
            "reset" => {
                service.reset_password_of(&address).await;
            }
            "suspension" => service.accounts.suspend(&email(&address)).await.expect("ok"),
            _ => {
                let confirmation = crate::Confirmation::Password(Password::attempt(PASSWORD));
                let deleted = service
                    .accounts
                    .delete_account(who.account, &confirmation, service.now())
                    .await;
                deleted.expect("the right password");
            }
        }
        assert!(!service.opens(&tokens.access).await, "{how}");
        assert_eq!(refused(service.exchange(&client, &code).await), "invalid_grant", "{how}");
        let refreshed = service.refresh(&client, &tokens.refresh).await;
        assert_eq!(refused(refreshed), "invalid_grant", "{how}");
        assert!(service.consent(&who, &client).await.is_none(), "{how}: the session is over");
        assert_eq!(service.grant_count(&who).await, 0, "{how}");
        if how == "suspension" {
            service.accounts.activate(&email(&address)).await.expect("ok");
            assert!(!service.opens(&tokens.access).await, "nothing comes back");
        }
    }
    assert!(service.opens(&of_bob.access).await, "another account's go on");
}

/// Checks that grants and codes of applications end with each of these changes.
pub async fn a_change_of_password_or_address_and_its_undoing_end_all_grants_and_codes<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let application = service.oauth_client().await;
    for (name, how) in [("ada", "password"), ("bob", "address"), ("eve", "undoing")] {
        let [address, other] = ["com", "org"].map(|end| format!("{name}@example.{end}"));
        let mut who = service.account(name, &address).await;
        let mut undo = None;
        if how == "undoing" {
            undo = Some(service.moved(who.account, &other).await);
            who = service.signed_in(&client(), &other, PASSWORD).await;
        }
        let tokens = service.connected(&who, &application).await;
        let code = service.consent(&who, &application).await.expect("a live session");
        match (how, undo) {
            ("password", _) => {
                let changed = service.change(who.account, PASSWORD, "another one of hers").await;
                changed.expect("the right password");
            }
            (_, Some(undo)) => service.undo(&undo).await.expect("the token of the e-mail"),
            (_, None) => drop(service.moved(who.account, &other).await),
        }
        assert!(!service.opens(&tokens.access).await, "{how}");
        assert_eq!(refused(service.exchange(&application, &code).await), "invalid_grant", "{how}");
        let refreshed = service.refresh(&application, &tokens.refresh).await;
        assert_eq!(refused(refreshed), "invalid_grant", "{how}");
        assert_eq!(service.grant_count(&who).await, 0, "{how}");
    }
}

/// Checks that a consent in another account's session is refused too.
pub async fn a_consent_of_an_ended_session_is_no_consent<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let client = service.oauth_client().await;
    assert_eq!(
        service.accounts.browser(&ada.session_token, service.now()).await.ok().flatten(),
        Some(ada.account)
    );
    let mixed = SignedIn { account: bob.account, ..ada };
    assert!(service.consent(&mixed, &client).await.is_none());
    service.accounts.logout(&bob.session_token, bob.account).await.expect("ok");
    assert!(service.consent(&bob, &client).await.is_none());
    assert_eq!(
        service.accounts.browser(&bob.session_token, service.now()).await.expect("ok"),
        None
    );
}

/// Checks that a consent is recorded as a use so soon after another that calls are not.
pub async fn a_consent_is_a_use_of_its_session<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    service.wait(30);
    assert!(service.consent(&ada, &client).await.is_some());
    service.wait(86_399);
    let opened = service.accounts.browser(&ada.session_token, service.now()).await;
    assert_eq!(opened.expect("ok"), Some(ada.account));
}

/// Checks that the oldest of twenty-one grants is ended.
pub async fn the_twenty_first_grant_ends_the_oldest<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let mut connected = Vec::new();
    for _ in 0..21 {
        connected.push(service.connected(&ada, &client).await);
        service.wait(1);
    }
    assert_eq!(service.grant_count(&ada).await, 20);
    assert!(!service.opens(&connected[0].access).await);
    assert!(
        service.opens(&connected[1].access).await && service.opens(&connected[20].access).await
    );
}

/// Checks that an owner ends a grant by its number, and no grant of another account.
pub async fn an_owner_sees_and_ends_grants_and_nobody_elses<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let bob = service.account("bob", "bob@example.com").await;
    let client = service.oauth_client().await;
    let first = service.connected(&ada, &client).await;
    service.wait(5);
    let second = service.connected(&ada, &client).await;
    service.wait(5);
    service.refresh(&client, &first.refresh).await.expect("the first use");

    let grants = service.accounts.grants(ada.account, service.now()).await.expect("ok");
    let [latest, earliest] = &grants[..] else { panic!("{grants:?}") };
    assert_eq!((latest.client_name.as_str(), &latest.client), ("A desktop host", &client.id));
    assert!(latest.created_at > earliest.created_at);
    assert_eq!(earliest.last_used_at, service.now());
    assert!(!service.accounts.end_grant(bob.account, latest.id).await.expect("ok"));
    assert!(service.accounts.end_grant(ada.account, latest.id).await.expect("ok"));
    assert!(!service.accounts.end_grant(ada.account, latest.id).await.expect("ok"));
    assert!(!service.opens(&second.access).await && service.opens(&first.access).await);
}

/// Checks that clients without use are removed after a day, and idle clients after ninety days.
pub async fn dead_codes_tokens_grants_and_clients_are_reaped_and_live_ones_stay<
    S: Store + Clone,
>(
    store: S,
) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let (client, unused) = (service.oauth_client().await, service.oauth_client().await);
    let tokens = service.connected(&ada, &client).await;
    let clean_up = |limit| {
        let (accounts, now) = (service.accounts.clone(), service.now());
        async move { accounts.clean_up(now, limit, None).await.expect("the store answers") }
    };
    let is_there = |client: &RegisteredClient| {
        let (accounts, id) = (service.accounts.clone(), client.id.clone());
        async move { accounts.client(&id).await.is_ok() }
    };
    service.clock.advance(TimeDelta::days(1) - TimeDelta::milliseconds(1));
    assert_eq!(clean_up(10).await.oauth, 1, "the access token");
    assert!(is_there(&unused).await);
    service.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(clean_up(10).await.oauth, 2, "the code, and the client that was never used");
    assert!(is_there(&client).await && !is_there(&unused).await);
    let last = service.refresh(&client, &tokens.refresh).await.expect("still good");
    service.clock.advance(REFRESH_VALIDITY);
    let round = clean_up(1).await;
    assert!(round.oauth > 0 && round.more);
    while clean_up(1).await.more {}
    assert_eq!(refused(service.refresh(&client, &last.refresh).await), "invalid_grant");
    assert_eq!(service.grant_count(&ada).await, 0);
    service.clock.advance(TimeDelta::days(60) - TimeDelta::milliseconds(1));
    assert_eq!(clean_up(10).await.oauth, 0);
    assert!(is_there(&client).await, "an idle client stays for ninety days");
    service.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(clean_up(10).await.oauth, 1);
    assert!(!is_there(&client).await);
}

/// Checks that no code is lost among simultaneous consents.
pub async fn parallel_consents_never_leave_more_than_twenty_grants<S: Store + Clone>(store: S) {
    let service = TestService::new(store);
    let ada = service.account("ada", "ada@example.com").await;
    let client = service.oauth_client().await;
    let connected = all((0..32).map(|_| service.connected(&ada, &client))).await;
    let mut live = 0;
    for tokens in &connected {
        live += usize::from(service.opens(&tokens.access).await);
    }
    assert_eq!((live, service.grant_count(&ada).await), (20, 20));
}
