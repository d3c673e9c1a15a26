//! Parameters of HTML forms, in a query string or a body.

use poem::{Request, http::header};

use super::{body, error::ApiError};

/// The largest body of a form, in bytes.
const LARGEST: usize = 64 * 1024;

/// The parameters of a form. A parameter with an empty value counts as left out.
pub(crate) struct Form(Vec<(String, String)>);

/// A parameter that was sent more than once, where one value is allowed.
#[derive(Debug)]
pub(crate) struct Repeated;

impl Form {
    /// Reads the parameters of a query string.
    pub(crate) fn of_query(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Reads the body of a request that is announced as a form.
    pub(crate) async fn of_body(request: &mut Request) -> Result<Self, ApiError> {
        let kind = request.header(header::CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(ApiError::MediaType);
        }
        let bytes = body::read_any(request, LARGEST).await?;
        let pairs = form_urlencoded::parse(&bytes).into_owned();
        Ok(Self(pairs.filter(|(_, value)| !value.is_empty()).collect()))
    }

    /// Returns the value of a parameter; `None` where the parameter is left out.
    pub(crate) fn get(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() { Err(Repeated) } else { Ok(first) }
    }

    /// Returns the value of a parameter; empty where the parameter is left out or repeated.
    pub(crate) fn field(&self, name: &'static str) -> &str {
        self.get(name).ok().flatten().unwrap_or_default()
    }

    /// Returns all values of a parameter, in their order.
    pub(crate) fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let found = self.0.iter().filter(move |(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }
}
