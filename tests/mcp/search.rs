//! The search of tools by questions in plain words, and the size of the descriptions.

use quant_tests::{
    App,
    mcp::{Era, Host},
};
use serde_json::{Value, json};

/// Plain questions with the tool that answers each, separated by a tab.
const QUESTIONS: &str = include_str!("questions.tsv");
/// The part of the questions whose first answer must be right. `34 of 38` is 0.895.
const LEAST_FIRST: f64 = 0.95;
/// The part of the questions whose answer must be among the first three.
const LEAST_OF_THREE: f64 = 0.98;
/// The page that states the score.
const PAGE: &str = include_str!("../../docs/mcp.md");

#[tokio::test]
async fn a_plain_question_finds_the_right_tool_first() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let host = Host::new(&app, &token, Era::Current);
    let (mut all, mut first, mut of_three) = (0, 0, 0);
    let mut missed = String::new();
    for line in QUESTIONS.lines() {
        let (question, expected) = line.split_once('\t').expect("a question, a tab and a tool");
        let arguments = json!({ "query": question, "limit": 3 });
        let found = host.call("search_tools", arguments).await["structuredContent"].clone();
        // A question without a word that says anything gets the names of all tools, and no tool first.
        let tools = found["tools"].as_array().expect("tools");
        let place = tools.iter().position(|tool| tool["name"] == expected);
        all += 1;
        first += u32::from(place == Some(0));
        of_three += u32::from(place.is_some());
        if place != Some(0) {
            missed.push_str(&format!(
                "{question}: {} instead of {expected}\n",
                found["tools"][0]["name"]
            ));
        }
    }
    assert!(all >= 80);
    let score =
        format!("{first} of {all} find the right tool first, {of_three} among the first three");
    assert!(PAGE.contains(&score), "docs/mcp.md must state the score: {score}");
    let part = |count: u32| f64::from(count) / f64::from(all);
    assert!(part(first) >= LEAST_FIRST, "{first} of {all}:\n{missed}");
    assert!(part(of_three) >= LEAST_OF_THREE, "{of_three} of {all}:\n{missed}");
}

#[tokio::test]
async fn the_whole_catalogue_is_told_in_few_tokens() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let mut host = Host::new(&app, &token, Era::Current);
    host.query = "?toolsets=all";
    let names = host.tools().await;
    let result = host.call("search_tools", json!({})).await;
    let text = result["content"][0]["text"].as_str().expect("a text");
    for name in &names {
        assert!(text.contains(name.as_str()), "{name}");
    }
    assert!(tokens(text) <= 1500, "{} tokens", tokens(text));
}

/// An upper estimate of the tokens of names in English words: a token for each word, and one more for
/// every six of its letters, and one for each sign and each digit.
fn tokens(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let words: usize = words.map(|word| 1 + word.len() / 7).sum();
    // A space and an underscore belong to the token of the word that follows.
    words + text.chars().filter(|c| !c.is_ascii_alphabetic() && !matches!(c, ' ' | '_')).count() / 2
}

#[tokio::test]
async fn descriptions_are_for_models_and_say_what_spends_credits() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let mut host = Host::new(&app, &token, Era::Current);
    host.query = "?toolsets=all";
    let listed = host.ask("tools/list", json!({})).await.expect(200)["result"].clone();
    let tools = listed["tools"].as_array().expect("tools");
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("a tool");
    let text = |tool: &Value| tool["description"].as_str().expect("a text").to_owned();
    for tool in tools {
        assert!(!text(tool).contains("Published with"), "{tool}");
    }
    assert!(text(of("price_european_option")).contains("compute_european_greeks"));
    assert!(text(of("get_profile")).contains("without the key"), "{}", text(of("get_profile")));
    let reads = |name: &str| of(name)["annotations"]["readOnlyHint"].clone();
    for name in ["price_european_option", "read_zero_rate", "call_tool", "call_tools"] {
        assert_eq!(reads(name), false, "{name}");
    }
    for name in ["search_tools", "describe_tool", "read_result", "get_balance", "adjust_date"] {
        assert_eq!(reads(name), true, "{name}");
    }
}
