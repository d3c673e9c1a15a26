//! Bodies of requests that several rows share.

/// The request for the tree with the most steps.
pub(super) const BARRIER: &str = concat!(
    r#"{"spot":100,"strike":100,"risk_free_rate":0.05,"volatility":0.2,"time_to_maturity":1,"#,
    r#""barrier":90,"is_knock_in":false,"is_down":true,"n_steps":100000}"#,
);

/// A list of so many equal items.
pub(super) fn list(item: &str, count: usize) -> String {
    let mut text = format!("{item},").repeat(count);
    text.pop();
    format!("[{text}]")
}

/// A body that is filled to a length with zeros in a field that nothing reads.
pub(super) fn filled(body: &str, length: usize) -> String {
    let rest = body.strip_prefix('{').unwrap_or(body);
    let zeros = length.saturating_sub(body.len() + 12) / 2;
    format!("{{\"junk\":{},{rest}", list("0", zeros))
}
