//! The list of all problems of the settings.

use std::{fmt, num::NonZeroU32, str::FromStr};

use url::Url;

/// All problems that were found in the settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the settings do not fit:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// Returns true where no problem was found.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a problem to the list.
    pub(super) fn add(&mut self, problem: String) {
        self.0.push(problem);
    }

    /// Adds a problem where a setting misses another one beside it.
    pub(super) fn add_missing(&mut self, name: &str, missing: &str) {
        self.add(format!("{name} needs {missing} beside it"));
    }

    /// Parses a setting; adds a problem and returns `None` where its text does not fit.
    pub(super) fn parse<T: FromStr>(&mut self, name: &str, text: &str, wanted: &str) -> Option<T> {
        let parsed = text.trim().parse().ok();
        if parsed.is_none() {
            self.add(format!("{name} is {text:?}, but must be {wanted}"));
        }
        parsed
    }

    /// Parses a setting that is a whole number of 1 or more.
    pub(super) fn count(&mut self, name: &str, text: &str) -> Option<NonZeroU32> {
        self.parse(name, text, "a whole number of 1 or more")
    }

    /// Adds a problem with a secret setting, whose value is not repeated, unless `holds`.
    pub(super) fn require(&mut self, name: &str, holds: bool, wanted: &str) {
        if !holds {
            self.add(format!("{name} must be {wanted}"));
        }
    }

    /// Checks an address of HTTP or HTTPS, and returns the address without a slash at its end.
    pub(super) fn base_url(&mut self, name: &str, url: &str) -> String {
        let is_http = url.starts_with("https://") || url.starts_with("http://");
        if !is_http {
            self.add(format!("{name} is {url:?}, but must start with https:// or http://"));
        }
        // Addresses become parts of headers and of pages, where they are not encoded again.
        let is_encoded =
            url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>\\".contains(&byte));
        if !is_encoded || (is_http && Url::parse(url).is_err()) {
            self.add(format!("{name} is {url:?}, but must be written as a browser sends it"));
        }
        url.trim_end_matches('/').to_owned()
    }

    /// Checks an address that has a scheme, a host and a port alone, since clients look for the
    /// metadata at the root of the host.
    pub(super) fn origin(&mut self, name: &str, url: &str) -> String {
        let url = self.base_url(name, url);
        let is_origin = Url::parse(&url).is_ok_and(|parsed| {
            let has_user = !parsed.username().is_empty() || parsed.password().is_some();
            let has_more = parsed.query().is_some() || parsed.fragment().is_some();
            parsed.has_host() && parsed.path() == "/" && !has_user && !has_more
        });
        if !is_origin {
            self.add(format!("{name} is {url:?}, but must be scheme, host and port alone"));
        }
        url
    }
}

/// Returns a setting that has a value; an empty environment variable counts as absent.
pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the names in a list separated by commas.
pub(super) fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
