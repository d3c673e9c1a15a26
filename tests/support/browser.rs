//! A browser for the tests: it keeps cookies, follows redirects, and fills in forms.

use poem::http::{Method, header};
use poem::{Request, RequestBuilder};

use crate::{Answer, App, email, requests::PASSWORD};

/// The media type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// A browser, which keeps cookies and fills in forms.
pub struct Browser<'a> {
    app: &'a App,
    cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    /// A browser without cookies.
    #[must_use]
    pub fn new(app: &'a App) -> Self {
        Self { app, cookies: Vec::new() }
    }

    /// Sends a request with the cookies, and keeps the cookies of the answer.
    pub async fn send(&mut self, request: RequestBuilder, body: String) -> Answer {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header(header::COOKIE, cookies.join("; "));
        let answer = self.app.send(request.body(body)).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let cookie = cookie.to_str().expect("a cookie in ASCII");
            let (pair, rest) = cookie.split_once(';').expect("a cookie has attributes");
            assert!(rest.contains("HttpOnly") && rest.contains("SameSite=Lax"), "{cookie}");
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }

    /// Sends a GET request.
    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::builder().uri_str(path), String::new()).await
    }

    /// Sends a form.
    pub async fn post(&mut self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let request = Request::builder().method(Method::POST).uri_str(path).content_type(FORM);
        self.send(request, encode(pairs)).await
    }

    /// Sends a form of a page, with the sealed value of the page.
    pub async fn submit(&mut self, path: &str, page: &Answer, pairs: &[(&str, &str)]) -> Answer {
        let form = sealed(page);
        self.post(path, &[&[("form", &form[..])], pairs].concat()).await
    }

    /// A browser that is signed in, with the page that it asked for.
    pub async fn signed_in(app: &'a App, name: &str, path: &str) -> (Self, Answer) {
        let mut browser = Self::new(app);
        let form = browser.get(path).await;
        let answer = browser.sign_in(&form, name, PASSWORD).await;
        let page = browser.follow(&answer).await;
        (browser, page)
    }

    /// Follows the redirect that answers a form.
    pub async fn follow(&mut self, answer: &Answer) -> Answer {
        assert_eq!(answer.status, 303, "{answer:?}");
        let location = answer.header("location").expect("it is sent on").to_owned();
        self.get(&location).await
    }

    /// Sends the form of the sign-in page.
    pub async fn sign_in(&mut self, page: &Answer, name: &str, password: &str) -> Answer {
        let (form, address) = (sealed(page), email(name));
        let pairs = [("form", &form[..]), ("email", address.as_str()), ("password", password)];
        self.post("/oauth/sign-in", &pairs).await
    }

    /// Opens an authorization request, signs in where a page requires it, and returns the consent
    /// page.
    pub async fn consent_page(&mut self, name: &str, question: &str) -> Answer {
        let page = self.get(question).await;
        if page.body_text.contains("Allow access?") {
            return page;
        }
        let signed_in = self.sign_in(&page, name, PASSWORD).await;
        let page = self.follow(&signed_in).await;
        assert!(page.body_text.contains("Allow access?"), "{page:?}");
        page
    }

    /// Sends the form of the consent page.
    pub async fn decide(&mut self, page: &Answer, decision: &str) -> Answer {
        let form = sealed(page);
        self.post("/oauth/consent", &[("form", &form), ("decision", decision)]).await
    }
}

/// The sealed value of a page that its form must send back.
#[must_use]
pub fn sealed(page: &Answer) -> String {
    let found = page.body_text.split_once("name=\"form\" value=\"");
    let (_, rest) = found.unwrap_or_else(|| panic!("no form: {page:?}"));
    rest.split_once('"').expect("an attribute ends").0.to_owned()
}

/// Encodes pairs as `application/x-www-form-urlencoded`.
#[must_use]
pub fn encode(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
