//! Columns of rows: the bits of single calls, faults by row, prices and limits.

use std::{io::Cursor, sync::Arc};

use account_core::Tier;
use arrow_array::{
    Array as _, ArrayRef, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    StringArray, UInt8Array,
    cast::AsArray as _,
    types::{Float64Type, UInt8Type},
};
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use poem::{Request, Response, http::Method};
use quant_server::{
    api::{columns::COLUMNAR, openapi::DOCUMENT},
    http::columns::cost,
};
use quant_tests::{
    Answer, App,
    documented::{Documented, metered},
    requests::PRICE,
};
use serde_json::{Map, Value, json};

const COLUMNS: &str = "/quantlib/pricing/bs/price/columns";
const TENORS: &str = "/quantlib/core/types/tenor/add-to-date/columns";

/// The single operation of each columnar operation.
fn singles() -> Vec<Documented> {
    let all = metered();
    let single = |id| all.iter().find(|one| one.id == id).expect("a single operation").clone();
    COLUMNAR.iter().map(|columnar| single(columnar.single)).collect()
}

fn option() -> Value {
    json!({
        "spot": 100, "strike": [90, 100, 110.5], "risk_free_rate": 0.05, "volatility": [0.1, 0.2, 0.3],
        "time_to_maturity": 1,
    })
}

async fn post(app: &App, key: &str, path: &str, body: &Value) -> Answer {
    app.post(path, Some(key), &body.to_string()).await
}

async fn balance(app: &App, key: &str) -> f64 {
    app.get("/user/profile", Some(key)).await.number("/data/credit_balance")
}

/// The value of a row in an answer of columns, as a single call has it.
fn row_of(columns: &Value, row: usize) -> Value {
    match columns {
        Value::Array(cells) => cells[row].clone(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, cells)| (name.clone(), row_of(cells, row)));
            Value::Object(fields.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Other values of the first field that has numbers or dates.
fn varied(request: &Value) -> (String, Vec<Value>) {
    let fields = request.as_object().expect("an object");
    // A whole number may be a count, which has no other values near it.
    let number = fields.iter().filter(|(_, value)| value.is_f64());
    let number = number.filter_map(|(name, value)| Some((name, value.as_f64()?))).next();
    if let Some((name, number)) = number {
        let values = [1.0, 1.01, 0.99, 1.000_000_000_1].map(|factor| json!(number * factor));
        return (name.clone(), values.to_vec());
    }
    let is_date = |value: &&Value| value.as_str().is_some_and(|text| text.len() == 10);
    let date = fields.iter().find(|(_, value)| is_date(value)).expect("a date");
    let values = [date.1.clone(), json!("2024-02-29"), json!("2025-03-01"), json!("2023-12-31")];
    (date.0.clone(), values.to_vec())
}

#[tokio::test]
async fn each_row_has_the_bits_of_the_single_call() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Enterprise, 100_000).await;
    for single in singles() {
        let (field, values) = varied(single.request);
        let mut body = single.request.clone();
        body[&field] = values.clone().into();
        let columns = post(&app, &key, &format!("{}/columns", single.path), &body).await;
        let mut data = columns.expect(200)["data"].clone();
        assert_eq!(data["failed"], 0, "{}: {data}", single.id);
        let data = data.as_object_mut().expect("an object");
        data.retain(|name, _| name != "faults" && name != "failed");
        assert!(!data.is_empty(), "{} has columns", single.id);
        for (row, value) in values.iter().enumerate() {
            body[&field] = value.clone();
            let answer = post(&app, &key, &format!("{}?detail=full", single.path), &body).await;
            let mut expected = answer.expect(200)["data"].clone();
            let expected = expected.as_object_mut().expect("an object");
            let sent = &DOCUMENT["components"]["schemas"];
            let name = &DOCUMENT["paths"][single.path]["post"]["requestBody"]["content"]["application/json"]
                ["schema"]["$ref"];
            let name = name.as_str().and_then(|text| text.rsplit('/').next()).expect("a schema");
            let is_sent = |field: &str| sent[name]["properties"].get(field).is_some();
            expected.retain(|field, _| data.contains_key(field) || !is_sent(field));
            let found = row_of(&Value::Object(data.clone()), row);
            let found: Map<_, _> = found.as_object().expect("an object").clone();
            let found: Map<_, _> =
                found.into_iter().filter(|(_, value)| *value != json!({})).collect();
            // Texts, so that numbers are compared by their digits.
            assert_eq!(
                Value::Object(found).to_string(),
                Value::Object(expected.clone()).to_string(),
                "{} with {field} = {value}",
                single.id
            );
        }
    }
}

#[tokio::test]
async fn rows_are_charged_together_at_a_tenth_rounded_up() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let answer = post(&app, &key, COLUMNS, &option()).await;
    assert_eq!(answer.expect(200)["data"]["price"].as_array().map(Vec::len), Some(3));
    assert_eq!(answer.header("x-credits-cost"), Some("2"));
    assert_eq!(balance(&app, &key).await, 98.0);
    let usage = app.get("/user/usage?page_size=500", Some(&key)).await;
    let calls = usage.expect(200)["data"]["requests"].clone();
    let paid: Vec<&Value> = calls
        .as_array()
        .expect("a list")
        .iter()
        .filter(|call| call["endpoint"] == COLUMNS)
        .collect();
    assert_eq!(paid.len(), 1);
    assert_eq!(paid[0]["credits_used"], 2);
    // 197 rows cost 99 credits.
    let mut body = option();
    body["strike"] = vec![100; 197].into();
    body["volatility"] = json!(0.2);
    let refused = post(&app, &key, COLUMNS, &body).await;
    let detail = refused.expect(402)["detail"].as_str().expect("a text");
    assert!(detail.contains("197 rows") && detail.contains("99 credits"), "{detail}");
    body["strike"] = vec![100; 196].into();
    post(&app, &key, COLUMNS, &body).await.expect(200);
    assert_eq!(balance(&app, &key).await, 0.0);
    assert_eq!(cost(5, 196), 98);
}

#[tokio::test]
async fn a_refused_row_is_null_and_has_its_faults_in_the_words_of_a_single_call() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let mut body = option();
    body["spot"] = json!([100, -1, 100]);
    body["strike"] = json!([100, 100, "x"]);
    let answer = post(&app, &key, COLUMNS, &body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["failed"], 2);
    assert!(data["price"][0].is_number());
    assert_eq!(data["price"][1], Value::Null);
    assert_eq!(data["price"][2], Value::Null);
    let faults = data["faults"].as_array().expect("a list");
    assert_eq!(faults.len(), 2);
    body["spot"] = json!(-1);
    body["strike"] = json!(100);
    body["volatility"] = json!(0.2);
    let single = post(&app, &key, PRICE, &body).await;
    let mut expected = single.expect(422)["detail"][0].clone();
    expected["index"] = json!(1);
    assert_eq!(faults[0], expected);
    assert_eq!(faults[1]["index"], 2);
    assert_eq!(faults[1]["loc"], json!(["body", "strike"]));
    assert_eq!(answer.header("x-credits-cost"), Some("1"), "only the row that succeeded");
    // The mathematics refuses a row that the schema takes.
    let late = json!({
        "spot": 1e308, "strike": 1, "risk_free_rate": -1000, "volatility": 0.2,
        "dividend_yield": [0, -1000], "time_to_maturity": 1,
    });
    let data = post(&app, &key, COLUMNS, &late).await.expect(200)["data"].clone();
    assert_eq!(data["faults"][0]["index"].as_u64().map(|index| index > 1), Some(false));
}

#[tokio::test]
async fn what_all_rows_share_is_refused_with_the_request() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let refused = async |change: Value| {
        let mut body = option();
        for (name, value) in change.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let answer = post(&app, &key, COLUMNS, &body).await;
        answer.expect(422)["detail"][0].clone()
    };
    let fault = refused(json!({ "spot": -1 })).await;
    assert_eq!(
        (&fault["loc"], &fault["type"]),
        (&json!(["body", "spot"]), &json!("value_error.number.not_ge"))
    );
    let fault = refused(json!({ "volatility": [0.1, 0.2] })).await;
    assert_eq!(fault["type"], "value_error.columns.length");
    assert_eq!(fault["loc"], json!(["body", "volatility"]));
    let fault = refused(json!({ "strike": [], "volatility": [] })).await;
    assert_eq!(fault["type"], "value_error.list.min_items");
    let fault = post(&app, &key, COLUMNS, &json!({ "strike": [1] })).await;
    let fault = &fault.expect(422)["detail"][0];
    assert_eq!(
        (&fault["loc"], &fault["type"]),
        (&json!(["body", "spot"]), &json!("value_error.missing"))
    );
    for body in ["", "[]", "{", "7"] {
        app.post(COLUMNS, Some(&key), body).await.expect(422);
    }
    let many = format!(r#"{{"strike": [{}1]}}"#, "1,".repeat(1_000_000));
    let fault = app.post(COLUMNS, Some(&key), &many).await;
    let faults = fault.expect(422)["detail"].to_string();
    assert!(faults.contains("at most 1000000 items"), "{faults}");
    assert_eq!(balance(&app, &key).await, 100.0);
}

#[tokio::test]
async fn named_fields_alone_are_answered_and_unknown_ones_are_refused() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let path = "/quantlib/pricing/bs/greeks/columns";
    let answer = post(&app, &key, &format!("{path}?fields=delta,rho"), &option()).await;
    let data = answer.expect(200)["data"].as_object().expect("an object");
    let names: Vec<&str> = data.keys().map(String::as_str).collect();
    assert_eq!(names, ["delta", "rho", "faults", "failed"]);
    let refused = post(&app, &key, &format!("{path}?fields=delte"), &option()).await;
    assert_eq!(refused.expect(422)["detail"][0]["loc"], json!(["query", "fields"]));
    let mut body = option();
    body["dividend_yeild"] = json!([1, 2, 3]);
    let lenient = post(&app, &key, path, &body).await;
    lenient.expect(200);
    assert_eq!(lenient.header("x-ignored-fields"), Some("dividend_yeild"));
    let request = Request::builder().method(Method::POST).content_type("application/json");
    let request = request.header("X-API-Key", &key).header("Prefer", "handling=strict");
    app.send(request.uri_str(path).body(body.to_string())).await.expect(422);
}

#[tokio::test]
async fn a_repeat_under_a_key_computes_the_same_and_charges_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 3).await;
    let send = async |body: &Value| {
        let request = Request::builder().method(Method::POST).content_type("application/json");
        let request = request.header("X-API-Key", &key).header("Idempotency-Key", "k");
        app.send(request.uri_str(COLUMNS).body(body.to_string())).await
    };
    let first = send(&option()).await;
    first.expect(200);
    let again = send(&option()).await;
    assert_eq!(again.body_text, first.body_text);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(balance(&app, &key).await, 1.0);
    let mut other = option();
    other["spot"] = json!(101);
    send(&other).await.expect(422);
}

#[tokio::test]
async fn guests_compute_dates_and_no_prices_in_small_bodies() {
    let app = App::start().await;
    let guest = app.guest().await;
    let body =
        json!({ "start_date": ["2024-01-31", "x", "2024-02-29"], "tenor": ["1M", "1D", "1Y"] });
    let answer = post(&app, &guest, TENORS, &body).await;
    let data = &answer.expect(200)["data"];
    assert_eq!(data["result_date"], json!(["2024-02-29", null, "2025-02-28"]));
    assert_eq!(data["faults"][0]["loc"], json!(["body", "start_date"]));
    post(&app, &guest, COLUMNS, &option()).await.expect(403);
    let large = json!({ "start_date": vec!["2024-01-31"; 30_000], "tenor": "1M" });
    post(&app, &guest, TENORS, &large).await.expect(413);
    let poor = app.account("bob", Tier::Free, 0).await;
    post(&app, &poor, TENORS, &large).await.expect(413);
    app.post(TENORS, None, "{}").await.expect(401);
}

#[tokio::test]
async fn lists_that_hold_for_all_rows_lower_their_number() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 0).await;
    let path = "/quantlib/scheduling/adjustment/adjust-date/columns";
    let holidays: Vec<String> = (1..=28).map(|day| format!("2026-02-{day:02}")).collect();
    let body = json!({ "date": ["2026-01-31", "2026-02-10"], "calendar": "weekends", "holidays": holidays });
    let data = post(&app, &key, path, &body).await.expect(200)["data"].clone();
    // No day of February is open, and the next one is in another month.
    assert_eq!(data["adjusted_date"], json!(["2026-01-30", "2026-01-30"]));
    assert_eq!(data["is_adjusted"], json!([true, true]));
    let holidays = vec!["2026-02-02"; 1000];
    let body = json!({ "date": vec!["2026-01-31"; 1000], "holidays": holidays });
    let refused = post(&app, &key, path, &body).await;
    let fault = refused.expect(422)["detail"][0].clone();
    assert_eq!(fault["type"], "value_error.list.max_items", "{fault}");
}

#[tokio::test]
async fn figures_with_the_name_of_a_field_are_columns_where_they_say_more() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 100).await;
    let body = json!({ "settlement_date": "2024-03-07", "maturity_date": "2024-06-06",
                       "price": [98.5, 98.75] });
    let path = "/quantlib/instruments/money-market/tbill/columns";
    let data = post(&app, &key, path, &body).await.expect(200)["data"].clone();
    assert_eq!(data["price"], json!([98.5, 98.75]));
    assert!(data["yield"][0].as_f64() > data["yield"][1].as_f64(), "{data}");
    assert!(data["discount_rate"][0].is_number() && data["basis"][1] == "ACT/360", "{data}");
    // 31 March 2024 is Easter Sunday, and Monday a holiday.
    let body = json!({ "start_date": "2024-02-29", "maturity_date": ["2024-03-31", "2024-04-03"],
                       "notional": 1000, "rate": 0.04, "calendar": "TARGET", "convention": "following" });
    let path = "/quantlib/instruments/money-market/deposit/columns";
    let data = post(&app, &key, path, &body).await.expect(200)["data"].clone();
    assert_eq!(data["maturity_date"], json!(["2024-04-02", "2024-04-03"]));
    let body = json!({ "forward_swap_rate": [0.05, 0.06], "strike": 0.055, "annuity": 4.5,
                       "volatility": 0.2, "t_expiry": 1, "notional": 1000 });
    let path = "/quantlib/pricing/black76/swaption/columns";
    let data = post(&app, &key, path, &body).await.expect(200)["data"].clone();
    assert_eq!(data["annuity"], json!([4500.0, 4500.0]));
}

#[tokio::test]
async fn an_answer_is_compressed_where_the_client_asks() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1000).await;
    let mut body = option();
    body["strike"] = vec![100; 1000].into();
    body["volatility"] = json!(0.2);
    let send = async |encoding: &str| {
        let request = Request::builder().method(Method::POST).content_type("application/json");
        let request = request.header("X-API-Key", &key).header("Accept-Encoding", encoding);
        app.send(request.uri_str(COLUMNS).body(body.to_string())).await
    };
    let plain = send("identity").await;
    assert_eq!(plain.header("content-encoding"), None);
    let compressed = send("gzip").await;
    assert_eq!(compressed.header("content-encoding"), Some("gzip"));
    assert!(compressed.body_text.len() < plain.body_text.len() / 4);
}

/// The media type of a stream of Arrow.
const ARROW: &str = "application/vnd.apache.arrow.stream";

/// Writes a batch as a stream; the metadata of the schema hold for every row.
fn stream(columns: Vec<(&str, ArrayRef)>, shared: &[(&str, &str)]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let shared = shared.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let shared: std::collections::HashMap<String, String> = shared.collect();
    let schema = batch.schema().as_ref().clone().with_metadata(shared);
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).expect("a schema");
    let batch = batch.with_schema(schema.into()).expect("the same columns");
    writer.write(&batch).expect("a batch");
    writer.into_inner().expect("a stream")
}

fn numbers(numbers: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(numbers.to_vec()))
}

/// The option of the other tests, as a stream.
fn option_stream() -> Vec<u8> {
    let columns =
        vec![("strike", numbers(&[90.0, 100.0, 110.5])), ("volatility", numbers(&[0.1, 0.2, 0.3]))];
    stream(columns, &[("spot", "100"), ("risk_free_rate", "0.05"), ("time_to_maturity", "1")])
}

async fn send(app: &App, key: &str, path: &str, accept: &str, body: Vec<u8>) -> Response {
    let request = Request::builder().method(Method::POST).content_type(ARROW);
    let request = request.header("X-API-Key", key).header("Accept", accept).uri_str(path);
    app.respond(request.body(body)).await
}

/// Reads the batches of a stream.
async fn batches(response: Response) -> Vec<RecordBatch> {
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(response.content_type(), Some(ARROW));
    let bytes = response.into_body().into_vec().await.expect("a body in memory");
    let reader = StreamReader::try_new(Cursor::new(bytes), None).expect("a stream");
    reader.map(|batch| batch.expect("a batch")).collect()
}

#[tokio::test]
async fn a_stream_of_arrow_has_the_bits_of_json() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1000).await;
    let json = post(&app, &key, COLUMNS, &option()).await;
    let prices = &json.expect(200)["data"]["price"];
    let found = batches(send(&app, &key, COLUMNS, ARROW, option_stream()).await).await;
    let column = found[0].column_by_name("price").expect("a column").as_primitive::<Float64Type>();
    for row in 0..3 {
        assert_eq!(prices[row].as_f64().map(f64::to_bits), Some(column.value(row).to_bits()));
    }
    assert_eq!(found[0].column_by_name("fault").map(arrow_array::Array::null_count), Some(3));
    // The body as Arrow and the answer as JSON.
    let response = send(&app, &key, COLUMNS, "application/json", option_stream()).await;
    let text = response.into_body().into_string().await.expect("a text");
    assert_eq!(text, json.body_text);
}

#[tokio::test]
async fn rows_of_a_stream_are_refused_by_null_and_fault() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 20_000).await;
    let rows = 40_000;
    let mut strikes = vec![100.0; rows];
    (strikes[7], strikes[30_000]) = (-1.0, f64::NAN);
    let types: ArrayRef = Arc::new(StringArray::from(vec!["put"; rows]));
    let columns = vec![("strike", numbers(&strikes)), ("option_type", types)];
    let shared = [
        ("spot", "100"),
        ("risk_free_rate", "0.05"),
        ("volatility", "0.2"),
        ("time_to_maturity", "1"),
    ];
    let found = batches(send(&app, &key, COLUMNS, ARROW, stream(columns, &shared)).await).await;
    let (mut row, mut refused) = (0, Vec::new());
    for batch in &found {
        let prices = batch.column_by_name("price").expect("a column");
        let faults = batch.column_by_name("fault").expect("a column").as_string::<i32>();
        for at in 0..batch.num_rows() {
            assert_eq!(prices.is_null(at), !faults.is_null(at));
            if prices.is_null(at) {
                refused.push((row + at, faults.value(at).contains("strike")));
            }
        }
        row += batch.num_rows();
    }
    assert_eq!((row, refused), (rows, vec![(7, true), (30_000, true)]));
}

#[tokio::test]
async fn dates_are_read_from_texts_and_from_days() {
    let app = App::start().await;
    let guest = app.guest().await;
    let days: ArrayRef = Arc::new(Date32Array::from(vec![19_753, 19_782]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["2024-01-31", "2024-02-29"]));
    for dates in [days, texts] {
        let body = stream(vec![("start_date", dates)], &[("tenor", "\"1M\"")]);
        let found = batches(send(&app, &guest, TENORS, ARROW, body).await).await;
        let reached = found[0].column_by_name("result_date").expect("a column").as_string::<i32>();
        assert_eq!((reached.value(0), reached.value(1)), ("2024-02-29", "2024-03-29"));
    }
}

#[tokio::test]
async fn a_bad_stream_is_refused_and_costs_nothing() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 10_000).await;
    let sound = option_stream();
    let mut bodies: Vec<Vec<u8>> =
        (1..sound.len()).step_by(7).map(|end| sound[..end].to_vec()).collect();
    bodies.push(b"not a stream of Arrow".to_vec());
    // A message that claims four gigabytes, and a changed byte at each place.
    bodies.push([&[0xff; 4][..], &0xffff_fff0_u32.to_le_bytes(), &[0; 64]].concat());
    for place in (0..sound.len()).step_by(3) {
        let mut changed = sound.clone();
        changed[place] ^= 0x55;
        bodies.push(changed);
    }
    for body in bodies {
        let length = body.len();
        let status = send(&app, &key, COLUMNS, ARROW, body).await.status().as_u16();
        // A changed byte of a number or of padding leaves a sound stream.
        assert!([200, 402, 422].contains(&status), "{length} bytes: {status}");
    }
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["90"]));
    let lists: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    for (name, array) in [("strike", texts), ("option_type", lists)] {
        let response = send(&app, &key, COLUMNS, ARROW, stream(vec![(name, array)], &[])).await;
        assert_eq!(response.status().as_u16(), 422);
        let text = response.into_body().into_string().await.expect("a text");
        assert!(text.contains("type_error.arrow"), "{text}");
    }
}

/// A column whose rows are positions in a dictionary.
fn dictionary(keys: Vec<Option<u8>>, values: &[Option<&str>]) -> ArrayRef {
    let values = Arc::new(StringArray::from(values.to_vec()));
    Arc::new(DictionaryArray::<UInt8Type>::new(UInt8Array::from(keys), values))
}

#[tokio::test]
async fn a_null_of_a_dictionary_is_a_null_and_a_dictionary_may_be_empty() {
    let app = App::start().await;
    let guest = app.guest().await;
    for (dates, expected) in [
        (
            dictionary(vec![Some(0), Some(1), None], &[Some("2024-01-31"), None]),
            [true, false, false],
        ),
        (dictionary(vec![None; 3], &[]), [false; 3]),
    ] {
        let body = stream(vec![("start_date", dates)], &[("tenor", "\"1M\"")]);
        let found = batches(send(&app, &guest, TENORS, ARROW, body).await).await;
        let reached = found[0].column_by_name("result_date").expect("a column");
        assert_eq!([0, 1, 2].map(|row| !reached.is_null(row)), expected);
        let faults = found[0].column_by_name("fault").expect("a column").as_string::<i32>();
        assert!(faults.value(2).contains("none is not an allowed value"), "{faults:?}");
    }
}

#[tokio::test]
async fn rows_that_share_one_long_text_are_refused_before_they_are_written_out() {
    let app = App::start().await;
    let guest = app.guest().await;
    // A body of 200 KiB would ask for ten gigabytes.
    let long = "9".repeat(100 * 1024);
    let shared = [("start_date", "\"2024-01-31\"")];
    let columns = vec![("tenor", dictionary(vec![Some(0); 100_000], &[Some(&long)]))];
    let response = send(&app, &guest, TENORS, "application/json", stream(columns, &shared)).await;
    assert_eq!(response.status().as_u16(), 422);
    let text = response.into_body().into_string().await.expect("a text");
    assert!(text.contains("as JSON") && text.contains("value_error.arrow"), "{text}");
    let columns = vec![("tenor", dictionary(vec![Some(0); 100_000], &[Some("1M")]))];
    let response = send(&app, &guest, TENORS, "application/json", stream(columns, &shared)).await;
    assert_eq!(response.status().as_u16(), 200);
}

#[tokio::test]
async fn a_refusal_of_unknown_columns_is_short() {
    let app = App::start().await;
    let key = app.account("ada", Tier::Pro, 1000).await;
    let names: Vec<String> = (0..300).map(|place| format!("{place}{}", "x".repeat(1000))).collect();
    let json: Map<String, Value> =
        names.iter().map(|name| (name.clone(), Value::from(1))).collect();
    let columns = names.iter().map(|name| (name.as_str(), numbers(&[1.0]))).collect();
    let bodies: [(&str, Vec<u8>); 2] =
        [("application/json", Value::from(json).to_string().into()), (ARROW, stream(columns, &[]))];
    for (media_type, body) in bodies {
        let request = Request::builder().method(Method::POST).content_type(media_type);
        let request = request.header("X-API-Key", &key).header("Prefer", "handling=strict");
        let response = app.respond(request.uri_str(COLUMNS).body(body)).await;
        assert_eq!(response.status().as_u16(), 422);
        let text = response.into_body().into_string().await.expect("a text");
        let body: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(body["detail"].as_array().map(Vec::len), Some(100), "{media_type}");
        assert!(text.len() < 40_000, "{} bytes", text.len());
    }
}

#[tokio::test]
async fn a_list_or_an_object_in_the_place_of_a_value_is_refused_as_by_a_single_call() {
    let app = App::start().await;
    let guest = app.guest().await;
    let single = TENORS.trim_end_matches("/columns");
    for value in [json!([0, [1]]), json!({ "a": [0] }), json!(["2024-01-31"])] {
        let body = json!({ "start_date": value, "tenor": "1M" });
        let refused = post(&app, &guest, single, &body).await;
        let expected = &refused.expect(422)["detail"][0];
        let rows = json!({ "start_date": [value, "2024-01-31"], "tenor": "1M" });
        let answer = post(&app, &guest, TENORS, &rows).await;
        let fault = &answer.expect(200)["data"]["faults"][0];
        assert_eq!(
            (&fault["type"], &fault["msg"]),
            (&expected["type"], &expected["msg"]),
            "{value}"
        );
        if value.is_object() {
            let answer = post(&app, &guest, TENORS, &body).await;
            assert_eq!(answer.expect(422)["detail"][0], *expected, "{value}");
        }
    }
}

#[tokio::test]
async fn a_list_for_all_rows_that_is_too_long_is_one_fault() {
    const DAYS: &str = "/quantlib/scheduling/calendar/is-business-day/columns";
    let app = App::start().await;
    let guest = app.guest().await;
    let holidays = json!({ "date": ["2024-01-31"], "holidays": vec!["2024-01-01"; 20_000] });
    let answer = post(&app, &guest, DAYS, &holidays).await;
    let faults = answer.expect(422)["detail"].as_array().expect("a list");
    assert_eq!((faults.len(), &faults[0]["type"]), (1, &json!("value_error.list.max_items")));
    let nested = json!({ "date": ["2024-01-31"], "holidays": [["2024-01-01"], {}] });
    let answer = post(&app, &guest, DAYS, &nested).await;
    assert_eq!(answer.expect(422)["detail"].as_array().map(Vec::len), Some(2));
}
