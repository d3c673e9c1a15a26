//! The header `Date`, formatted once a second.
//!
//! hyper formats it by a function that panics before 1970, which would drop the connection of every
//! answer while the system's clock is wrong.

use std::sync::{Mutex, PoisonError};

use account_core::Timestamp;
use poem::http::HeaderValue;

/// The header `Date` of the latest second, formatted once a second.
#[derive(Default)]
pub(super) struct DateHeader(Mutex<Option<(i64, HeaderValue)>>);

impl DateHeader {
    /// Returns the header for a moment; none for a year that the format cannot hold.
    pub(super) fn at(&self, now: Timestamp) -> Option<HeaderValue> {
        let second = now.timestamp();
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((known, header)) if *known == second => Some(header.clone()),
            _ => {
                // RFC 9110, section 5.6.7.
                let text = now.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
                let header = HeaderValue::from_str(&text).ok()?;
                *latest = Some((second, header.clone()));
                Some(header)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_the_header_of_its_second() {
        let date = DateHeader::default();
        // The example of RFC 9110, section 5.6.7.
        for (second, expected) in [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] {
            let now = Timestamp::from_timestamp(second, 999_999_999).expect("a time");
            assert_eq!(date.at(now).expect("a header"), expected);
        }
    }
}
