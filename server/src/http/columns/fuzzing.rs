//! The readers of columns, with what must hold for every body.

use std::{
    cell::Cell,
    collections::HashMap,
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::{Arc, Once},
};

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, NullArray,
    RecordBatch, RecordBatchOptions, StringArray, StringViewArray, UInt8Array, types::UInt8Type,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{Field, Schema};
use serde_json::{Map, Value};

use super::{
    super::{
        fuzzing::{Drawn, check_refusal, is_equal},
        unknown_fields::{Handling, UnknownFields},
        validation::Fault,
    },
    arrow,
    endpoint::ColumnsEndpoint,
    input::{InputColumns, read_json},
    output::{self, OutputColumns},
    plan::{InputKind, Plan},
};

/// The most rows of a request.
const MOST_ROWS: usize = 1000;
/// The most rows of a request that are computed.
const COMPUTED: usize = 12;

/// Reads columns in JSON and computes the first rows. A refusal is short, and the answer has as many
/// elements in each column as there are rows.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub(crate) fn json_columns(endpoint: &ColumnsEndpoint, bytes: &[u8]) {
    let read =
        |handling| read_json(&endpoint.plan, bytes, MOST_ROWS, &mut UnknownFields::new(handling));
    let (lenient, strict) = (checked(endpoint, read(Handling::Lenient)), read(Handling::Strict));
    assert!(lenient.is_some() || strict.is_err(), "unknown fields alone may differ");
    checked(endpoint, strict);
}

/// Reads a stream of Arrow, as [`json_columns`] reads JSON.
///
/// # Panics
///
/// Panics where [`json_columns`] does, and where the reader panics.
pub(crate) fn arrow_stream(endpoint: &ColumnsEndpoint, bytes: &[u8]) {
    let read = |handling| read_stream(endpoint, bytes, handling);
    let (lenient, strict) = (checked(endpoint, read(Handling::Lenient)), read(Handling::Strict));
    assert!(lenient.is_some() || strict.is_err(), "unknown fields alone may differ");
    checked(endpoint, strict);
}

/// Writes columns that the input draws, as Arrow and as JSON, and reads both: they are the same requests.
/// The rest of the input then changes bytes of the stream, which is read again.
///
/// # Panics
///
/// Panics where the requests differ, and where [`arrow_stream`] does.
pub(crate) fn arrow_columns(endpoint: &ColumnsEndpoint, bytes: &[u8]) {
    let mut drawn = Drawn(bytes);
    let Some((mut stream, json)) = columns(&endpoint.plan, &mut drawn) else { return };
    let from_arrow = checked(endpoint, read_stream(endpoint, &stream, Handling::Lenient));
    let unknown = &mut UnknownFields::default();
    let from_json = read_json(&endpoint.plan, json.as_bytes(), MOST_ROWS, unknown);
    if let (Some(from_arrow), Some(from_json)) = (from_arrow, checked(endpoint, from_json)) {
        assert_eq!(from_arrow.rows, from_json.rows, "{json}");
        for row in 0..from_json.rows {
            let requests =
                (from_arrow.request(&endpoint.plan, row), from_json.request(&endpoint.plan, row));
            assert!(is_equal(&requests.0, &requests.1), "row {row} of {json}: {requests:?}");
        }
    }
    let changes: Vec<&[u8]> = drawn.0.chunks_exact(3).take(16).collect();
    for change in &changes {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % stream.len();
        stream[at] = change[2];
    }
    if !changes.is_empty() {
        arrow_stream(endpoint, &stream);
    }
}

fn checked(
    endpoint: &ColumnsEndpoint,
    read: Result<InputColumns, Vec<Fault>>,
) -> Option<InputColumns> {
    match read {
        Ok(input) => {
            check(endpoint, &input);
            Some(input)
        }
        Err(faults) => {
            check_refusal(&faults);
            None
        }
    }
}

fn check(endpoint: &ColumnsEndpoint, input: &InputColumns) {
    let plan = &*endpoint.plan;
    assert!((1..=MOST_ROWS).contains(&input.rows), "{} rows", input.rows);
    assert_eq!(input.scalars.len(), plan.inputs.len());
    let rows = input.rows.min(COMPUTED);
    let asked = vec![true; plan.outputs.len()];
    let computed = || {
        let mut output = OutputColumns::new(plan, &asked, rows);
        (endpoint.rows)(plan, input, 0..rows, &mut output);
        for (row, faults) in &output.faults {
            assert!(*row < rows);
            check_refusal(faults);
        }
        output
    };
    let body = output::body(plan, &asked, &[computed().write()]);
    let body: Value = serde_json::from_str(&body).expect("an answer is JSON");
    for field in &plan.outputs {
        let column = field.path.iter().fold(&body["data"], |value, name| &value[*name]);
        assert_eq!(column.as_array().map(Vec::len), Some(rows), "{:?}: {body}", field.path);
    }
    let batch = arrow::batch(plan, &asked, computed(), 0, rows).expect("a record batch");
    assert!(!arrow::stream(plan, &asked, &[batch]).expect("a stream").is_empty());
}

thread_local! {
    /// True while the reader decodes a stream, where the library may panic.
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Reads a stream without the message of a panic that the reader catches. A fuzzer ends its process at the
/// message.
fn read_stream(
    endpoint: &ColumnsEndpoint,
    bytes: &[u8],
    handling: Handling,
) -> Result<InputColumns, Vec<Fault>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !IS_DECODING.get() {
                before(panicked);
            }
        }));
    });
    let mut unknown = UnknownFields::new(handling);
    IS_DECODING.set(true);
    let read = AssertUnwindSafe(|| arrow::read(&endpoint.plan, bytes, MOST_ROWS, &mut unknown));
    let read = catch_unwind(read);
    IS_DECODING.set(false);
    read.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        panic!("the reader panicked: {:?}", text.or(cause.downcast_ref::<&str>().copied()))
    })
}

/// The texts of drawn columns.
const TEXTS: [&str; 8] =
    ["call", "put", "1M", "2024-02-29", "following", "TARGET", "", "\u{e9}\"\\"];
/// The numbers of drawn columns.
const NUMBERS: [f64; 8] = [100.0, 0.05, 0.2, 1.0, 0.0, -1.0, 1e300, 42.5];

/// Draws columns for a plan: a stream of Arrow, and the same in JSON. `None` where the library does not
/// write them.
fn columns(plan: &Plan, drawn: &mut Drawn<'_>) -> Option<(Vec<u8>, String)> {
    let rows = usize::from(drawn.byte() % 6);
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    let (mut metadata, mut json) = (HashMap::new(), Map::new());
    for input in &plan.inputs {
        let form = drawn.byte();
        let value = match form % 4 {
            0 if !input.is_required => continue,
            1 => None,
            _ if matches!(input.kind, InputKind::Whole) => None,
            _ => Some(if matches!(input.kind, InputKind::Numbers(_)) {
                numbers(form, rows, drawn)
            } else {
                values(form, rows, drawn)
            }),
        };
        let value = if let Some((array, value)) = value {
            fields.push(Field::new(input.name, array.data_type().clone(), true));
            arrays.push(array);
            value
        } else {
            let value = match &input.kind {
                InputKind::Numbers(_) => Value::from(*drawn.one(&NUMBERS)),
                InputKind::Whole => Value::from(vec![*drawn.one(&TEXTS)]),
                _ => Value::from(*drawn.one(&TEXTS)),
            };
            metadata.insert(input.name.to_owned(), value.to_string());
            value
        };
        json.insert(input.name.to_owned(), value);
    }
    if drawn.byte() % 8 == 1 {
        let array: ArrayRef = Arc::new(NullArray::new(rows));
        fields.push(Field::new("unheard_of", array.data_type().clone(), true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options).ok()?;
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).ok()?;
    writer.write(&batch).ok()?;
    Some((writer.into_inner().ok()?, Value::Object(json).to_string()))
}

/// Draws an array of numbers with its JSON.
fn numbers(form: u8, rows: usize, drawn: &mut Drawn<'_>) -> (ArrayRef, Value) {
    match form % 3 {
        0 => {
            let draw = |_| drawn.optional(|drawn| i64::from(drawn.byte()) - 8);
            let numbers: Vec<Option<i64>> = (0..rows).map(draw).collect();
            (Arc::new(Int64Array::from(numbers.clone())), Value::from(numbers))
        }
        1 => {
            let numbers: Vec<u8> = (0..rows).map(|_| drawn.byte()).collect();
            (Arc::new(UInt8Array::from(numbers.clone())), Value::from(numbers))
        }
        _ => {
            let draw = |_| drawn.optional(|drawn| *drawn.one(&NUMBERS));
            let numbers: Vec<Option<f64>> = (0..rows).map(draw).collect();
            (Arc::new(Float64Array::from(numbers.clone())), Value::from(numbers))
        }
    }
}

/// Draws an array of texts, dates or booleans with its JSON.
fn values(form: u8, rows: usize, drawn: &mut Drawn<'_>) -> (ArrayRef, Value) {
    let texts = |drawn: &mut Drawn<'_>| -> Vec<Option<&str>> {
        (0..rows).map(|_| drawn.optional(|drawn| *drawn.one(&TEXTS))).collect()
    };
    match form % 6 {
        0 => {
            let texts = texts(drawn);
            (Arc::new(StringViewArray::from(texts.clone())), Value::from(texts))
        }
        1 => {
            let dictionary = texts(drawn);
            let most = u8::try_from(dictionary.len()).expect("a few rows");
            // An array without a value has an empty dictionary and null in each row.
            let keys: Vec<Option<u8>> = (0..rows)
                .map(|_| drawn.optional(Drawn::byte).and_then(|key| key.checked_rem(most)))
                .collect();
            let is_empty = drawn.byte().is_multiple_of(4);
            let keys = if is_empty { vec![None; rows] } else { keys };
            let dictionary = if is_empty { Vec::new() } else { dictionary };
            let found: Vec<Option<&str>> =
                keys.iter().map(|key| key.and_then(|key| dictionary[usize::from(key)])).collect();
            let array = DictionaryArray::<UInt8Type>::new(
                UInt8Array::from(keys),
                Arc::new(StringArray::from(dictionary)),
            );
            (Arc::new(array), Value::from(found))
        }
        2 => {
            let draw = |_| drawn.optional(|drawn| drawn.byte() % 2 == 1);
            let values: Vec<Option<bool>> = (0..rows).map(draw).collect();
            (Arc::new(BooleanArray::from(values.clone())), Value::from(values))
        }
        3 => {
            let draw = |_| drawn.optional(|drawn| i32::from(drawn.byte()) * 97);
            let days: Vec<Option<i32>> = (0..rows).map(draw).collect();
            let dates: Vec<Option<String>> =
                days.iter().map(|days| days.and_then(arrow::date)).collect();
            (Arc::new(Date32Array::from(days)), Value::from(dates))
        }
        _ => {
            let texts = texts(drawn);
            (Arc::new(StringArray::from(texts.clone())), Value::from(texts))
        }
    }
}
