//! The requests of a host and of a browser to the OAuth server, in-process.

use account_core::{AccessToken, AccountId, Client, Login, Password, Tier, oauth};
use poem::{Request, http::Method};
use serde_json::{Value, json};

use crate::{
    Answer, App, MCP_URL,
    browser::{Browser, FORM, encode},
    email,
    requests::PASSWORD,
};

/// The redirect URI that a desktop host registers.
pub const LOOPBACK: &str = "http://127.0.0.1/callback";
/// The redirect URI with the port on which the host listens.
pub const REDIRECT: &str = "http://127.0.0.1:4711/callback";
/// The PKCE code verifier (RFC 7636).
#[must_use]
pub fn verifier() -> String {
    "v".repeat(43)
}

/// The S256 code challenge of [`verifier`].
#[must_use]
pub fn challenge() -> String {
    oauth::CodeVerifier::parse(&verifier()).expect("a verifier").challenge().as_str().to_owned()
}

/// The query parameters of a redirect to the client.
#[must_use]
pub fn redirect_parameters(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = answer.header("location").expect("it is sent on");
    let (uri, query) = location.split_once('?').expect("with an answer");
    assert_eq!(uri, REDIRECT);
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// The first value of a parameter.
#[must_use]
pub fn value(pairs: &[(String, String)], name: &str) -> Option<String> {
    pairs.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
}

/// Registers a client.
pub async fn register(app: &App, metadata: &Value) -> Answer {
    app.post("/oauth/register", None, &metadata.to_string()).await
}

/// Registers a client and returns its id.
pub async fn client(app: &App) -> String {
    let metadata = json!({ "client_name": "A host", "redirect_uris": [LOOPBACK] });
    register(app, &metadata).await.text("/client_id")
}

/// Sends a form.
pub async fn form(app: &App, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let request = Request::builder().method(Method::POST).uri_str(path).content_type(FORM);
    app.send(request.body(encode(pairs))).await
}

/// Exchanges a code for tokens.
pub async fn exchange(app: &App, client: &str, code: &str) -> Answer {
    let verifier = verifier();
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", &verifier),
    ];
    form(app, "/oauth/token", &pairs).await
}

/// Exchanges a refresh token for new tokens.
pub async fn refresh(app: &App, client: &str, token: &str) -> Answer {
    let pairs = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    form(app, "/oauth/token", &pairs).await
}

/// The account of an access token; `None` where the token is not valid.
pub async fn bearer(app: &App, token: &str) -> Option<AccountId> {
    let token = AccessToken::parse(token).expect("a token");
    let resource = format!("{MCP_URL}/mcp");
    let found = app.accounts().bearer(&token, &resource, app.clock.now()).await;
    found.ok().map(|bearer| bearer.caller.id)
}

/// True for a valid access token.
pub async fn is_valid_token(app: &App, token: &str) -> bool {
    bearer(app, token).await.is_some()
}

/// The parameters of an authorization request.
#[must_use]
pub fn authorization_parameters(client: &str) -> Vec<(&str, String)> {
    vec![
        ("response_type", "code".to_owned()),
        ("client_id", client.to_owned()),
        ("redirect_uri", REDIRECT.to_owned()),
        ("state", "a state & more".to_owned()),
        ("code_challenge", challenge()),
        ("code_challenge_method", "S256".to_owned()),
        ("scope", "mcp".to_owned()),
        ("resource", format!("{MCP_URL}/mcp")),
    ]
}

/// The address of an authorization request.
#[must_use]
pub fn url(pairs: &[(&str, String)]) -> String {
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, text)| (*name, &text[..])).collect();
    format!("/oauth/authorize?{}", encode(&pairs))
}

/// The address of an authorization request with one parameter changed or left out.
#[must_use]
pub fn changed_authorization_url(client: &str, name: &'static str, text: Option<&str>) -> String {
    let mut pairs = authorization_parameters(client);
    pairs.retain(|(found, _)| *found != name);
    pairs.extend(text.map(|text| (name, text.to_owned())));
    url(&pairs)
}

impl App {
    /// An access token of an existing account for the MCP endpoint. Client, sign-in, consent and
    /// exchange go through `account-core` without HTTP.
    pub async fn access_token(&self, name: &str) -> String {
        let (accounts, now) = (self.accounts(), self.clock.now());
        let redirect_uri = REDIRECT.to_owned();
        let metadata = oauth::ClientMetadata {
            redirect_uris: vec![redirect_uri.clone()],
            ..Default::default()
        };
        let client = accounts.register_client(&metadata, now).await.expect("a good client");
        let password = Password::attempt(PASSWORD);
        let visitor = Client::new([127, 0, 0, 1].into(), None);
        let login = accounts.login(&email(name), &password, &visitor, now).await;
        let Login::SignedIn(signed_in) = login.expect("the right password") else {
            panic!("{name} has a second factor");
        };
        let verifier = oauth::CodeVerifier::parse(&verifier()).expect("a verifier");
        let resource = self.service().settings.mcp_resource();
        let authorization = oauth::Authorization {
            client: client.id.clone(),
            redirect_uri: client.redirect_uri(None).expect("it has one"),
            challenge: verifier.challenge(),
            resource: resource.clone(),
        };
        let session = &signed_in.session_token;
        let code = accounts.issue_code(session, signed_in.account, authorization, now).await;
        let code = code.expect("the store answers").expect("a live session");
        let redirect_uri = Some(redirect_uri);
        let exchange =
            oauth::Exchange { code, client: client.id, redirect_uri, verifier, resource };
        let tokens = accounts.exchange(exchange).await.expect("a fresh code");
        tokens.access.expose().to_owned()
    }
}

impl Browser<'_> {
    /// Signs in, consents, and returns the code of the redirect.
    pub async fn code(&mut self, name: &str, client: &str) -> String {
        let page = self.consent_page(name, &url(&authorization_parameters(client))).await;
        value(&redirect_parameters(&self.decide(&page, "allow").await), "code").expect("a code")
    }
}

/// A service with the account "ada".
pub async fn app_with_ada() -> App {
    let app = App::start().await;
    app.account("ada", Tier::Pro, 100).await;
    app
}

/// Connects a new client to the account "ada"; returns the client id and the tokens.
pub async fn connected(app: &App) -> (String, Answer) {
    let client = client(app).await;
    let code = Browser::new(app).code("ada", &client).await;
    let tokens = exchange(app, &client, &code).await;
    tokens.expect(200);
    (client, tokens)
}
