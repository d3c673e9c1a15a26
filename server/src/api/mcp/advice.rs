//! The text of a failed call, which leads on: what was refused, what is within reach, and how to get
//! more.

use account_core::Tier;

use super::{
    calls::{Outcome, ToolError},
    context::McpContext,
    tools::{CATALOGUE, Entry, Target},
};
use crate::state::Settings;

/// The most tools that a refusal names.
const MOST_NAMED: usize = 8;

/// Returns the text of a failure with its remedy.
pub(super) fn text(
    failure: &ToolError,
    outcome: &Outcome,
    context: &McpContext,
    settings: &Settings,
) -> String {
    if failure.code == "undecided" {
        return format!("{}\nRead get_balance before another call.", failure.message);
    }
    let own = context.caller.tier;
    let reach = || within_reach(outcome.called.entry, own, outcome.balance, settings);
    let operator = settings.public_url.as_ref().unwrap_or(&settings.mcp_url);
    let advice = match failure.code {
        "invalid_arguments" => {
            "Mend the arguments and call again; describe_tool tells the schema.".to_owned()
        }
        "insufficient_tier" => format!(
            "Your tier is {}. {} The operator of {operator} raises a tier.",
            own.title(),
            reach(),
        ),
        "insufficient_credits" => format!(
            "The balance is {} credits, the tier {}. {} The operator of {operator} grants credits.",
            outcome.balance,
            own.title(),
            reach(),
        ),
        "daily_cap_reached" => {
            "A cheaper call may still fit; the owner of the account raises the cap.".to_owned()
        }
        "too_large" => "Send less at once.".to_owned(),
        "rate_limited" => format!(
            "Call again later. Tier {} has {} calls an hour; the operator of {operator} raises \
             the limit.",
            own.title(),
            context.caller.hourly_limit,
        ),
        "busy" => "Call again later.".to_owned(),
        _ => String::new(),
    };
    let wait = outcome.retry_after.map(|wait| format!(" Wait {wait} seconds.")).unwrap_or_default();
    let text = format!("{}\nNothing was charged. {advice}{wait}", failure.message);
    text.trim_end().to_owned()
}

/// Returns the tools that an account may call and pay, those of the same set first.
fn within_reach(refused: &Entry, own: Tier, balance: u64, settings: &Settings) -> String {
    let is_allowed = |entry: &&Entry| match &entry.target {
        Target::Computation(_, metered) => {
            (metered.tier <= own || settings.opens_every_tier())
                && u64::from(metered.cost) <= balance
        }
        Target::Account(..) | Target::Gateway(_) => false,
    };
    let mut allowed: Vec<&Entry> = CATALOGUE.all().filter(is_allowed).collect();
    allowed.sort_by_key(|entry| entry.toolset != refused.toolset);
    let names: Vec<&str> =
        allowed.iter().take(MOST_NAMED).map(|entry| entry.tool.name.as_ref()).collect();
    let others = match allowed.len() - names.len() {
        0 => String::new(),
        others => format!(" and {others} more, which search_tools finds"),
    };
    format!("Within reach: {}{others}.", names.join(", "))
}
