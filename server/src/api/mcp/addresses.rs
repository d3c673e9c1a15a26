//! The addresses of stored results and of their charts.

use account_core::ResultId;

/// The start of a result's address, before the id.
const ADDRESS: &str = "svc://results/";
/// The URI template of the results' addresses.
pub(super) const TEMPLATE: &str = "svc://results/{id}";
/// The end of the address of a result's chart.
const CHART: &str = "/chart";
/// The URI template of the addresses of charts.
pub(super) const CHART_TEMPLATE: &str = "svc://results/{id}/chart";
/// Returns the address of a result.
pub(super) fn address(id: u128) -> String {
    format!("{ADDRESS}{}", uuid::Uuid::from_u128(id))
}

/// Returns the id in an address; `None` for any other address.
pub(super) fn parse_address(uri: &str) -> Option<ResultId> {
    let id = uri.strip_prefix(ADDRESS)?;
    // Only the spelling that the service itself writes is accepted.
    let read: uuid::Uuid = id.parse().ok()?;
    (read.to_string() == id).then(|| ResultId(read.as_u128()))
}

/// Returns the id in the address of a chart; `None` for any other address.
pub(super) fn parse_chart_address(uri: &str) -> Option<ResultId> {
    parse_address(uri.strip_suffix(CHART)?)
}

/// Returns the id in an address, or a bare id; `None` for any other text.
pub(super) fn parse(text: &str) -> Option<ResultId> {
    parse_address(text).or_else(|| parse_address(&format!("{ADDRESS}{text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_in_the_one_spelling_that_is_handed_out() {
        let id = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
        assert_eq!(parse(&address(id)), Some(ResultId(id)));
        assert_eq!(parse("01234567-89ab-cdef-0123-456789abcdef"), Some(ResultId(id)));
        for other in [
            "",
            "svc://results/",
            "svc://results/1",
            "svc://results/0123456789abcdef0123456789abcdef",
            "svc://results/01234567-89AB-cdef-0123-456789abcdef",
            "svc://results/01234567-89ab-cdef-0123-456789abcdef/",
            "SVC://results/01234567-89ab-cdef-0123-456789abcdef",
            "svc://results/../01234567-89ab-cdef-0123-456789abcdef",
            "http://results/01234567-89ab-cdef-0123-456789abcdef",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
        assert_eq!(parse_address("01234567-89ab-cdef-0123-456789abcdef"), None);
        assert_eq!(parse_chart_address(&format!("{}/chart", address(id))), Some(ResultId(id)));
        for other in ["/chart", "svc://results//chart", &address(id)] {
            assert_eq!(parse_chart_address(other), None, "{other}");
        }
    }
}
