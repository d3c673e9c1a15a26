//! The prompts, which lead a model through a task with several tools, and the completion of their
//! arguments.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::tools::CATALOGUE;
use crate::http::echo;

/// The longest value of an argument, in bytes.
const LONGEST_VALUE: usize = 2000;

/// A prompt of the list.
struct PromptTemplate {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [TemplateArgument],
    /// The text, with the names of arguments in braces.
    text: &'static str,
}

/// An argument of a prompt.
struct TemplateArgument {
    name: &'static str,
    description: &'static str,
    /// The value where none is sent; `None` for a required argument.
    default: Option<&'static str>,
    values: PermittedValues,
}

/// The permitted values of an argument.
enum PermittedValues {
    /// Every text.
    Any,
    /// The permitted values of the second, an argument of the first, a tool.
    OfTool(&'static str, &'static str),
    /// The listed values.
    These(&'static [&'static str]),
}

const fn required(name: &'static str, description: &'static str) -> TemplateArgument {
    TemplateArgument { name, description, default: None, values: PermittedValues::Any }
}

const fn optional(
    name: &'static str,
    description: &'static str,
    default: &'static str,
) -> TemplateArgument {
    TemplateArgument { name, description, default: Some(default), values: PermittedValues::Any }
}

static PROMPTS: [PromptTemplate; 4] = [
    PromptTemplate {
        name: "price_option",
        title: "Price and explain an option",
        description: "The value of a European option, its Greeks, and what they mean.",
        arguments: &[
            TemplateArgument {
                values: PermittedValues::OfTool("price_european_option", "option_type"),
                ..required("option_type", "call or put")
            },
            required("spot", "The price of the underlying today."),
            required("strike", "The price at which the option may be exercised."),
            required("time_to_maturity", "The years until expiry, as 0.5."),
            required("volatility", "The annual volatility, as 0.2."),
            optional("risk_free_rate", "The annual riskless rate, as 0.03.", "0"),
        ],
        text: "Price a European {option_type} with spot {spot}, strike {strike}, \
               {time_to_maturity} years to expiry, an annual volatility of {volatility} and a \
               riskless rate of {risk_free_rate}. Call price_european_option, then \
               compute_european_greeks with the same arguments. State the value and what each \
               Greek says about it in one sentence each: the gain if the underlying rises by 1, \
               if the volatility rises by a point, and the loss of a day. State what the calls \
               cost.",
    },
    PromptTemplate {
        name: "build_and_read_curve",
        title: "Build a curve and read it",
        description: "A yield curve from market quotes, with zero and forward rates.",
        arguments: &[
            required("quotes", "The market quotes, as `deposit 6M 3.1 %, swap 5Y 2.8 %`."),
            optional("reference_date", "The date of the quotes, as 2026-01-30.", "today"),
            optional("tenors", "The years at which to read the curve.", "1, 2, 5, 10"),
        ],
        text: "Build a yield curve as of {reference_date} from these quotes: {quotes}. Call \
               describe_tool for build_curve, then build_curve with the quotes as `instruments` \
               and {tenors} as `query_tenors`. Show zero rate, discount factor and forward rate \
               at each tenor in a table, and say what the shape of the curve means. State what \
               the calls cost.",
    },
    PromptTemplate {
        name: "check_bank",
        title: "Check the capital of a bank",
        description: "The Basel III capital ratios of a bank against the minimum.",
        arguments: &[required(
            "accounts",
            "Capital by tier and risk-weighted assets, in any currency.",
        )],
        text: "Check whether a bank holds enough capital, from these figures: {accounts}. Call \
               describe_tool for compute_capital_ratios, then that tool. Compare each ratio with \
               its minimum, state how much capital is missing or left at each, and what the call \
               cost. Do not guess a figure that is missing: ask for it.",
    },
    PromptTemplate {
        name: "optimise_portfolio",
        title: "Optimise a portfolio",
        description: "Optimal weights for an objective, with the risk of the result.",
        arguments: &[
            TemplateArgument {
                values: PermittedValues::These(&OBJECTIVES),
                ..required("objective", "min_variance, max_sharpe, target_return or risk_parity")
            },
            required("assets", "Names, expected returns, and covariances or volatilities."),
            optional("constraints", "Bounds of the weights.", "long only"),
        ],
        text: "Optimise a portfolio of these assets: {assets}. The objective is {objective}; the \
               constraints are: {constraints}. The tool is named find_{objective}_portfolio: call \
               describe_tool for it, then call it. Then call divide_portfolio_risk with the \
               weights. Show weight and part of the risk of each asset in a table, say what drives \
               the result, and what the calls cost.",
    },
];

/// The objectives of the last prompt, which are parts of the names of tools.
const OBJECTIVES: [&str; 4] = ["max_sharpe", "min_variance", "risk_parity", "target_return"];

/// Returns all prompts.
pub(super) fn list() -> Vec<Prompt> {
    PROMPTS.iter().map(PromptTemplate::listed).collect()
}

/// Writes a prompt with its arguments.
pub(super) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, String> {
    let template = find(name)?;
    let known = |name: &str| template.arguments.iter().any(|argument| argument.name == name);
    if let Some(unknown) = arguments.keys().find(|name| !known(name)) {
        return Err(format!("{}: the prompt has no such argument", echo::value(unknown)));
    }
    let mut text = template.text.to_owned();
    for argument in template.arguments {
        let value = match arguments.get(argument.name) {
            Some(Value::String(value)) if value.len() <= LONGEST_VALUE => Some(value.as_str()),
            Some(Value::String(_)) => {
                return Err(format!("{}: at most {LONGEST_VALUE} bytes", argument.name));
            }
            Some(Value::Null) | None => argument.default,
            Some(_) => return Err(format!("{}: str type expected", argument.name)),
        };
        let value = value.ok_or_else(|| format!("{}: field required", argument.name))?;
        text = text.replace(&format!("{{{}}}", argument.name), value);
    }
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(template.description))
}

/// Returns the permitted values of an argument that begin with `start`; none where every value is
/// permitted.
pub(super) fn complete(name: &str, argument: &str, start: &str) -> Result<Vec<String>, String> {
    let template = find(name)?;
    let argument = template.arguments.iter().find(|known| known.name == argument);
    let argument = argument.ok_or_else(|| "Unknown argument of the prompt".to_owned())?;
    let values = argument.permitted();
    Ok(values.into_iter().filter(|value| value.starts_with(start)).collect())
}

fn find(name: &str) -> Result<&'static PromptTemplate, String> {
    let found = PROMPTS.iter().find(|template| template.name == name);
    found.ok_or_else(|| format!("Unknown prompt: {}", echo::value(name)))
}

impl PromptTemplate {
    fn listed(&self) -> Prompt {
        let arguments = self.arguments.iter().map(TemplateArgument::listed).collect();
        let mut prompt = Prompt::new(self.name, Some(self.description), Some(arguments));
        prompt.title = Some(self.title.to_owned());
        prompt
    }
}

impl TemplateArgument {
    fn listed(&self) -> PromptArgument {
        PromptArgument::new(self.name)
            .with_description(self.description)
            .with_required(self.default.is_none())
    }

    fn permitted(&self) -> Vec<String> {
        let (tool, argument) = match self.values {
            PermittedValues::Any => return Vec::new(),
            PermittedValues::These(values) => {
                return values.iter().map(|value| (*value).into()).collect();
            }
            PermittedValues::OfTool(tool, argument) => (tool, argument),
        };
        let entry = CATALOGUE.find(tool);
        let schema = entry.map(|entry| &entry.tool.input_schema["properties"][argument]);
        let values = schema.and_then(|schema| schema["enum"].as_array()).into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tool_and_argument_that_a_prompt_names_exists() {
        for template in &PROMPTS {
            for word in template.text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                let is_tool = ["price_", "compute_", "divide_", "describe_", "build_"]
                    .iter()
                    .any(|start| word.starts_with(start));
                assert!(!is_tool || CATALOGUE.find(word).is_some(), "{}: {word}", template.name);
            }
            for argument in template.arguments {
                let name = format!("{{{}}}", argument.name);
                assert!(template.text.contains(&name), "{}: {name}", template.name);
                let has_values = !argument.permitted().is_empty();
                assert_eq!(has_values, !matches!(argument.values, PermittedValues::Any), "{name}");
            }
        }
        for objective in OBJECTIVES {
            let tool = format!("find_{objective}_portfolio");
            assert!(CATALOGUE.find(&tool).is_some(), "{tool}");
        }
    }

    #[test]
    fn a_prompt_takes_its_arguments_and_no_others() {
        let arguments = |value: Value| value.as_object().cloned().unwrap_or_default();
        let accounts = arguments(json!({ "accounts": "CET1 5, RWA 100" }));
        let prompt = serde_json::to_value(get("check_bank", &accounts).expect("a prompt"));
        let text = prompt.expect("JSON")["messages"][0]["content"]["text"].to_string();
        assert!(text.contains("CET1 5, RWA 100"), "{text}");
        let long = "x".repeat(LONGEST_VALUE + 1);
        for (name, given, expected) in [
            ("check_bank", json!({}), "accounts: field required"),
            ("check_bank", json!({ "accounts": 1 }), "accounts: str type expected"),
            ("check_bank", json!({ "accounts": long }), "accounts: at most 2000 bytes"),
            ("check_bank", json!({ "accounts": "x", "y": "z" }), "y: the prompt has no"),
            ("unheard_of", json!({}), "Unknown prompt: unheard_of"),
        ] {
            let refused = get(name, &arguments(given)).expect_err(expected);
            assert!(refused.starts_with(expected), "{refused}");
        }
        assert_eq!(complete("price_option", "option_type", "p"), Ok(vec!["put".to_owned()]));
        assert_eq!(complete("price_option", "spot", ""), Ok(vec![]));
        assert!(complete("price_option", "none", "").is_err());
    }
}
