//! The readers of the OAuth server, with what must hold for every request.

use account_core::{
    Timestamp,
    oauth::{
        ClientMetadata, CodeChallenge, CodeVerifier, RedirectUri, RegisteredClient,
        uri::RedirectTarget,
    },
};
use poem::http::HeaderValue;
use rand::{rand_core::UnwrapErr, rngs::SysRng};
use url::Url;

use super::{
    authorize::{answer_query, authorization, destination, leads_to},
    register,
};
use crate::http::form::Form;

const RESOURCE: &str = "https://mcp.example.com/mcp";
/// The longest text that names the target of a redirect.
const LONGEST_DESTINATION: usize = 2_200;

/// Reads the query of an authorization request to a client with a website, a loopback address and a program
/// of its own. An answer goes to an address of the client, and has its parameters alone.
///
/// # Panics
///
/// Panics where an answer goes elsewhere, or where a header could not hold it.
pub fn authorization_request(bytes: &[u8]) {
    let Ok(query) = std::str::from_utf8(bytes) else { return };
    let uris =
        ["https://app.example.com/cb?x=y", "http://127.0.0.1/callback", "com.example.app:/cb"];
    let metadata = ClientMetadata {
        redirect_uris: uris.map(str::to_owned).to_vec(),
        ..ClientMetadata::default()
    };
    let client = register_client(&metadata).expect("a good registration");
    let form = Form::of_query(query);
    let asked = form.get("redirect_uri").ok().flatten();
    let Some(uri) = client.redirect_uri(asked) else { return };
    let scheme = uri.as_str().split(':').next().unwrap_or_default().to_ascii_lowercase();
    assert!(["https", "http", "com.example.app"].contains(&scheme.as_str()), "{uri:?}");
    check_target(&uri);
    let state = form.get("state").ok().flatten();
    let authorized = authorization(RESOURCE, &form, &client, &uri);
    let (name, value) = match &authorized {
        Ok(authorization) => {
            assert_eq!(authorization.redirect_uri, uri);
            assert_eq!(authorization.resource, RESOURCE);
            assert_eq!(form.field("code_challenge"), authorization.challenge.as_str());
            assert!(state.is_none_or(|state| state.len() <= 4_096));
            ("code", "abc".to_owned())
        }
        Err(error) => ("error_description", error.to_string()),
    };
    assert!(value.len() <= 200, "{value}");
    let answer = answer_query("https://api.example.com", &[(name, Some(&value)), ("state", state)]);
    let location = uri.with_query(&answer);
    assert!(location.parse::<HeaderValue>().is_ok(), "{location:?}");
    let read = Url::parse(&location).expect("an address");
    let pairs: Vec<(String, String)> = read.query_pairs().into_owned().collect();
    let own = |wanted: &str| pairs.iter().filter(|(found, _)| found == wanted).count();
    assert_eq!((own(name), own("iss"), own("state")), (1, 1, usize::from(state.is_some())));
    let returned =
        pairs.iter().find(|(found, _)| found == "state").map(|(_, value)| value.as_str());
    assert_eq!(returned, state);
}

/// Checks what a page says of a redirect: a source of a content security policy, and a short text.
fn check_target(uri: &RedirectUri) {
    let source = leads_to(uri);
    assert!(source.is_ascii() && !source.contains([';', ',', ' ', '\'', '"']), "{source}");
    assert!(destination(uri).len() <= LONGEST_DESTINATION);
    if let (RedirectTarget::Website(host) | RedirectTarget::Loopback(host), Ok(url)) =
        (uri.target(), Url::parse(uri.as_str()))
    {
        // The parser leaves out the port of the scheme, however many zeros it begins with.
        let port = |text: &str| text.parse::<u16>().ok();
        let shown = host
            .rsplit_once(':')
            .filter(|(_, text)| {
                port(text).is_some_and(|port| url.port_or_known_default() == Some(port))
            })
            .map_or(host, |(host, _)| host);
        let visited = url.host_str().unwrap_or_default();
        let is_address = visited.starts_with('[') && shown.starts_with('[');
        assert!(is_address || shown.eq_ignore_ascii_case(visited), "{shown} is {visited}");
    }
}

fn register_client(metadata: &ClientMetadata) -> Result<RegisteredClient, String> {
    let mut rng = UnwrapErr(SysRng);
    let registered = RegisteredClient::register(metadata, &mut rng, Timestamp::UNIX_EPOCH);
    registered.map_err(|error| error.to_string())
}

/// Reads the registration of a client. A client that is registered is described as a registration that
/// makes the same client; a refusal is short.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn registration(bytes: &[u8]) {
    let registered = register::read(bytes).map_err(|error| error.to_string());
    match registered.and_then(|metadata| register_client(&metadata)) {
        Ok(client) => {
            let description = register::describe(&client);
            assert_eq!(description["token_endpoint_auth_method"], "none");
            assert!(description.get("client_secret").is_none());
            let read = register::read(description.to_string().as_bytes()).expect("a registration");
            let again = register_client(&read).expect("a registration");
            assert_eq!((&again.name, &again.redirect_uris), (&client.name, &client.redirect_uris));
            let name = client.name.as_str();
            assert!(!name.is_empty() && name.chars().count() <= 80, "{name:?}");
            assert!(!name.chars().any(char::is_control) && name.trim() == name, "{name:?}");
            client.redirect_uris.iter().for_each(check_target);
        }
        Err(error) => assert!(error.len() <= 200, "{error}"),
    }
}

/// Reads the proof of a key for code exchange: the challenge of a verifier, and no other one, is met.
///
/// # Panics
///
/// Panics where this does not hold.
pub fn proof_key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let challenge = CodeChallenge::parse(text);
    match CodeVerifier::parse(text) {
        Ok(verifier) => {
            assert!((43..=128).contains(&text.len()) && text.is_ascii());
            let own = verifier.challenge();
            assert!(verifier.meets(&own));
            assert!(CodeChallenge::parse(own.as_str()).is_ok_and(|read| read == own));
            assert!(
                !challenge.is_ok_and(|challenge| verifier.meets(&challenge)),
                "the plain method"
            );
        }
        Err(error) => assert!(challenge.is_err() && error.to_string().len() <= 100),
    }
}
