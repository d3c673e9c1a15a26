//! Twenty tasks that a client without `_meta` takes to their end, with the texts of results alone:
//! `cargo test -p quant-tests transcripts -- --nocapture` prints them.

use account_core::Tier;
use quant_tests::{
    App,
    mcp::{Era, Host},
};
use serde_json::{Value, json};

/// Questions of a person, with a word of the answer.
const TASKS: [(&str, &str); 15] = [
    ("what is a call worth", "price: "),
    ("delta and gamma of a call", "delta: "),
    ("what volatility is the market pricing in", "volatility: "),
    ("how much is my bond worth", "clean_price: "),
    ("yield to maturity from a bond price", "yield"),
    ("monthly payment of a mortgage", "payment"),
    ("construct a yield curve from market quotes", "pillars"),
    ("spot rate at seven years", "rate: "),
    ("fair fixed rate of a swap", "rate: "),
    ("portfolio with the lowest risk", "weights"),
    ("how risky is my portfolio", "volatility"),
    ("does the bank hold enough capital", "ratio"),
    ("is 4 July a trading day", "is_business_day: "),
    ("what date is 18 months from today", "date: "),
    ("is the company going bankrupt", "score: "),
];

/// A model: a host whose answers are kept as the lines of a transcript.
struct Model<'a> {
    host: Host<'a>,
    lines: Vec<String>,
}

impl<'a> Model<'a> {
    fn new(app: &'a App, token: &str) -> Self {
        Self { host: Host::new(app, token, Era::Legacy), lines: Vec::new() }
    }

    /// Calls a tool and returns the texts of its result, which is all that the model sees.
    async fn call(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let result = self.host.call(tool, arguments.clone()).await;
        let blocks = result["content"].as_array().expect("content").iter();
        let texts = blocks.filter_map(|block| block["text"].as_str());
        let texts: Vec<String> = texts.map(str::to_owned).collect();
        self.lines.push(format!("> {tool} {}", short(&arguments.to_string())));
        self.lines.extend(texts.iter().map(|text| format!("< {}", short(text))));
        texts
    }

    /// Finds the tool for a question and reads the example of its arguments.
    async fn found(&mut self, question: &str) -> (String, Value) {
        let found = self.call("search_tools", json!({ "query": question })).await;
        let found: Value = serde_json::from_str(&found[0]).expect("JSON");
        let name = found["tools"][0]["name"].as_str().expect("a tool").to_owned();
        let described = self.call("describe_tool", json!({ "name": name })).await;
        let described: Value = serde_json::from_str(&described[0]).expect("JSON");
        let example = described["input_schema"]["examples"][0].clone();
        (name, if example.is_null() { json!({}) } else { example })
    }

    fn print(&self, task: &str) {
        println!("## {task}\n{}\n", self.lines.join("\n"));
    }
}

fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().count() <= 300 {
        line
    } else {
        line.chars().take(297).chain("...".chars()).collect()
    }
}

#[tokio::test]
async fn questions_are_answered_from_the_texts_alone() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    for (question, expected) in TASKS {
        let mut model = Model::new(&app, &token);
        let (name, arguments) = model.found(question).await;
        let call = json!({ "name": name, "arguments": arguments });
        let texts = model.call("call_tool", call).await;
        model.print(question);
        let (data, said) = (&texts[0], &texts[1]);
        assert!(said.contains("Cost ") && said.contains("; balance "), "{question}: {said}");
        assert!(said.contains("svc://results/"), "{question}: {said}");
        let expected_in_data = expected.trim_end_matches(": ");
        assert!(data.contains(expected_in_data), "{question}: {expected} is not in {data}");
    }
}

#[tokio::test]
async fn a_refused_model_finds_a_tool_within_reach() {
    let app = App::start().await;
    for (name, tier, credits) in [("ada", Tier::Free, 100), ("bob", Tier::Standard, 3)] {
        let token = app.bearer_of(name, tier, credits).await;
        let mut model = Model::new(&app, &token);
        let (tool, arguments) = model.found("what is a call worth").await;
        let refused = model.call(&tool, arguments).await;
        let names = refused[0].split("Within reach: ").nth(1).expect("names").to_owned();
        let reached = names.split([',', ' ']).next().expect("a name").to_owned();
        let described = model.call("describe_tool", json!({ "name": reached })).await;
        let described: Value = serde_json::from_str(&described[0]).expect("JSON");
        let example = described["input_schema"]["examples"][0].clone();
        let done = model.call(&reached, if example.is_null() { json!({}) } else { example }).await;
        model.print(&format!("{} with {credits} credits", tier.name()));
        assert!(done[1].contains("Cost "), "{done:?}");
    }
}

#[tokio::test]
async fn a_model_without_credits_and_one_with_a_misspelt_argument_go_on() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Pro, 5).await;
    let mut model = Model::new(&app, &token);
    let (tool, arguments) = model.found("what is a call worth").await;
    let mut misspelt = arguments.clone();
    let fields = misspelt.as_object_mut().expect("an object");
    let spot = fields.remove("spot").expect("a spot");
    fields.insert("spott".to_owned(), spot);
    let told = model.call(&tool, misspelt).await;
    assert!(told[0].contains("the nearest name is spot"), "{told:?}");
    let priced = model.call(&tool, arguments.clone()).await;
    assert!(priced[1].contains("balance 0."), "{priced:?}");
    app.forget_callers();
    let refused = model.call(&tool, arguments).await;
    assert!(refused[0].contains("The balance is 0 credits"), "{refused:?}");
    let (name, example) = model.found("is 4 July a trading day").await;
    let free = model.call(&name, example).await;
    model.print("out of credits");
    assert!(free[1].contains("Cost 0 credits"), "{free:?}");
}

#[tokio::test]
async fn a_model_reads_the_rest_of_a_large_result() {
    let app = App::start().await;
    let token = app.bearer("ada").await;
    let mut model = Model::new(&app, &token);
    let tenors: Vec<f64> = (1..=1000).map(|n| f64::from(n) / 10.0).collect();
    let curve =
        json!({ "reference_date": "2026-01-31", "tenors": tenors, "values": vec![0.02; 1000] });
    let cut = model.call("build_curve", curve).await;
    let uri =
        cut[1].split_whitespace().find(|word| word.starts_with("svc://")).expect("an address");
    let uri = uri.trim_end_matches([';', '.']).to_owned();
    let part = json!({ "id": uri, "path": "/data/pillars", "offset": 990 });
    let read = model.call("read_result", part).await;
    model.print("a large result");
    let read: Value = serde_json::from_str(&read[0]).expect("JSON");
    assert_eq!(read["value"].as_array().map(Vec::len), Some(10));
}

#[tokio::test]
async fn a_model_prices_a_row_of_strikes_in_one_message() {
    let app = App::start().await;
    let token = app.bearer_of("ada", Tier::Pro, 100).await;
    let mut model = Model::new(&app, &token);
    let (tool, example) = model.found("what is a call worth").await;
    let call = |strike: u32| {
        let mut arguments = example.clone();
        arguments["strike"] = strike.into();
        json!({ "name": tool, "arguments": arguments })
    };
    let calls: Vec<Value> = (36..=45).map(call).collect();
    let done = model.call("call_tools", json!({ "calls": calls })).await;
    model.print("a row of strikes");
    assert_eq!(done[1], "10 calls, 0 failed. Cost 50 credits; balance 50.");
    let results: Value = serde_json::from_str(&done[0]).expect("JSON");
    let prices = results["results"].as_array().expect("results").iter();
    let prices: Vec<f64> =
        prices.map(|one| one["data"]["price"].as_f64().expect("a price")).collect();
    assert!(prices.is_sorted_by(|left, right| left != right), "{prices:?}");
}
