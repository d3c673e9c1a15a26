//! Accounts as text for an operator.

use std::fmt::Write as _;

use account_core::{AccountList, AccountOverview, KeyStatus, Profile, Reason, Timestamp};

/// Returns an account in lines of a name and a value, and the operators' actions on the account.
pub(super) fn overview(overview: &AccountOverview) -> String {
    let AccountOverview { profile, locked_until, operations } = overview;
    let contact = &profile.contact;
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let moment = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), time);
    let lines = [
        ("account", profile.id.0.to_string()),
        ("e-mail", profile.email.as_str().to_owned()),
        ("user name", profile.username.as_str().to_owned()),
        ("phone", or_none(&contact.phone)),
        ("country", or_none(&contact.country)),
        ("tier", profile.tier.name().to_owned()),
        ("credits", profile.credit_balance.to_string()),
        ("calls an hour", profile.hourly_limit.to_string()),
        ("state", state(profile).to_owned()),
        ("administrator", yes_or_no(profile.is_admin)),
        ("second factor", yes_or_no(profile.mfa_enabled)),
        ("registered", time(profile.created_at)),
        ("last sign-in", moment(profile.last_login_at)),
        ("key made", moment(profile.api_key_created_at)),
        (
            "passwords",
            locked_until
                .map_or("accepted".to_owned(), |until| format!("locked until {}", time(until))),
        ),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        writeln!(text, "{name:<14} {value}").expect("a string takes everything");
    }
    text.push_str("actions of operators, newest first:");
    if operations.is_empty() {
        text.push_str(" none");
    }
    for operation in operations {
        let detail = operation.detail.as_deref().unwrap_or("-");
        let reason = operation.reason.as_ref().map_or("no reason given", Reason::as_str);
        let (at, action) = (time(operation.at), operation.action.name());
        write!(text, "\n  {at}  {action:<16} {detail:<12} {reason}")
            .expect("a string takes everything");
    }
    text
}

/// Returns a line for each account: number, e-mail address, user name, tier, state, credits.
pub(super) fn list(list: &AccountList) -> String {
    let mut lines = Vec::new();
    for account in &list.accounts {
        let admin = if account.is_admin { "  administrator" } else { "" };
        lines.push(format!(
            "{}  {}  {}  {}  {}  {} credits{admin}",
            account.id.0,
            account.email.as_str(),
            account.username.as_str(),
            account.tier.name(),
            state(account),
            account.credit_balance,
        ));
    }
    if lines.is_empty() {
        lines.push("no such account".to_owned());
    }
    if let Some(after) = list.next_after {
        lines.push(format!("more accounts follow: repeat with --after {}", after.0));
    }
    lines.join("\n")
}

fn state(profile: &Profile) -> &'static str {
    match (profile.is_verified, profile.api_key_status) {
        (false, _) => "unverified",
        (true, KeyStatus::Active) => "active",
        (true, KeyStatus::Suspended) => "suspended",
        (true, KeyStatus::Revoked) => "without a key",
    }
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn time(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
