//! Columns as streams of Apache Arrow's interprocess format.
//!
//! A request has a column of Arrow for each list, and the values that hold for every row as entries
//! of the schema's metadata, in JSON. An answer has a record batch for each job, with the column
//! `fault`, which is null for a row that succeeded.

use std::{panic::catch_unwind, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    builder::{ListBuilder, StringBuilder},
    cast::AsArray as _,
    types::{
        ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
        Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_ipc::{reader::StreamDecoder, writer::StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use chrono::{Days, NaiveDate};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{
    super::{
        error::ApiError,
        unknown_fields::UnknownFields,
        validation::{Fault, MOST_FAULTS, Step},
    },
    input::{Column, InputColumns, JsonCells, unknown_field},
    output::{OutputCells, OutputColumns},
    plan::{InputField, InputKind, OutputField, OutputKind, Plan},
};
use crate::body_memory::LARGEST_OF_ACCOUNT;

/// The media type of a stream.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.apache.arrow.stream";
/// The name of the column of faults in an answer.
const FAULT: &str = "fault";

/// Reads the columns of a stream.
pub(super) fn read(
    plan: &Plan,
    bytes: &[u8],
    most_rows: usize,
    unknown: &mut UnknownFields,
) -> Result<InputColumns, Vec<Fault>> {
    // The library refuses most faults of a stream, and panics at lengths that contradict each other.
    let decoded = catch_unwind(|| decoded(bytes, most_rows));
    let (schema, batches) = decoded.unwrap_or_else(|_| {
        Err(vec![not_arrow("the lengths in the stream contradict each other")])
    })?;
    let mut columns: Vec<Column> = plan.inputs.iter().map(|_| Column::Absent).collect();
    let mut faults = Vec::new();
    let find = |name: &str| plan.inputs.iter().position(|input| input.name == name);
    for (name, text) in schema.metadata() {
        if let Some(place) = find(name) {
            let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            columns[place] = Column::Scalar(if is_json {
                plan.inputs[place].value(text.trim_ascii())
            } else {
                Value::from(text.as_str())
            });
        }
    }
    for (number, field) in schema.fields().iter().enumerate() {
        if faults.len() >= MOST_FAULTS {
            break;
        }
        let Some(place) = find(field.name()) else {
            faults.extend(unknown_field(plan, field.name(), unknown));
            continue;
        };
        let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(number)).collect();
        match column(&plan.inputs[place], field, &arrays, most_text(bytes)) {
            Ok(column) => columns[place] = column,
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { InputColumns::new(plan, columns, most_rows) } else { Err(faults) }
}

/// Decodes a whole stream. The batches refer to an aligned copy of the bytes.
fn decoded(bytes: &[u8], most_rows: usize) -> Result<(SchemaRef, Vec<RecordBatch>), Vec<Fault>> {
    let refuse = |error: ArrowError| vec![not_arrow(&error.to_string())];
    let (mut decoder, mut buffer) = (StreamDecoder::new(), Buffer::from_slice_ref(bytes));
    let (mut batches, mut rows) = (Vec::new(), 0);
    while !buffer.is_empty() {
        let Some(batch) = decoder.decode(&mut buffer).map_err(refuse)? else { break };
        rows += batch.num_rows();
        if rows > most_rows {
            let msg = format!("ensure this value has at most {most_rows} rows");
            return Err(vec![Fault::new(&[Step::name("body")], "value_error.list.max_items", msg)]);
        }
        batches.push(batch);
    }
    decoder.finish().map_err(refuse)?;
    let schema = decoder.schema().ok_or_else(|| vec![not_arrow("the stream has no schema")])?;
    Ok((schema, batches))
}

fn not_arrow(msg: &str) -> Fault {
    Fault::new(&[Step::name("body")], "value_error.arrow", msg)
}

/// Converts the arrays of one column.
fn column(
    input: &InputField,
    field: &Field,
    arrays: &[&ArrayRef],
    most_text: usize,
) -> Result<Column, Fault> {
    use DataType as Type;
    let takes_numbers = matches!(input.kind, InputKind::Numbers(_));
    let numbers = match field.data_type() {
        Type::Float64 => numbers::<Float64Type>(arrays, |number| number),
        Type::Float32 => numbers::<Float32Type>(arrays, f64::from),
        Type::Int8 => numbers::<Int8Type>(arrays, f64::from),
        Type::Int16 => numbers::<Int16Type>(arrays, f64::from),
        Type::Int32 => numbers::<Int32Type>(arrays, f64::from),
        Type::Int64 => numbers::<Int64Type>(arrays, |number| number as f64),
        Type::UInt8 => numbers::<UInt8Type>(arrays, f64::from),
        Type::UInt16 => numbers::<UInt16Type>(arrays, f64::from),
        Type::UInt32 => numbers::<UInt32Type>(arrays, f64::from),
        Type::UInt64 => numbers::<UInt64Type>(arrays, |number| number as f64),
        _ if takes_numbers => return Err(wrong_type(input, field, "a number")),
        _ => return values(input, field, arrays, most_text),
    };
    if takes_numbers {
        Ok(Column::Numbers(numbers))
    } else {
        Err(wrong_type(input, field, "a text"))
    }
}

fn wrong_type(input: &InputField, field: &Field, expected: &str) -> Fault {
    let path = [Step::name("body"), Step::name(input.name)];
    let msg = format!("the column has the type {}, but must be {expected}", field.data_type());
    Fault::new(&path, "type_error.arrow", msg)
}

/// The numbers of a column; NaN for none.
fn numbers<T: ArrowPrimitiveType>(
    arrays: &[&ArrayRef],
    convert: impl Fn(T::Native) -> f64,
) -> Vec<f64> {
    let mut found = Vec::with_capacity(arrays.iter().map(Array::len).sum());
    for array in arrays {
        let array = array.as_primitive::<T>();
        if array.null_count() == 0 {
            found.extend(array.values().iter().map(|number| convert(*number)));
        } else {
            found.extend(array.iter().map(|number| number.map_or(f64::NAN, &convert)));
        }
    }
    found
}

/// The most bytes of a column's values as JSON. All rows may share one text, so that a body of a megabyte can
/// ask for terabytes. A row of a dictionary takes a byte and more, and its text seldom 60.
fn most_text(bytes: &[u8]) -> usize {
    bytes.len().saturating_mul(64).min(LARGEST_OF_ACCOUNT)
}

/// The texts, dates or booleans of a column.
fn values(
    input: &InputField,
    field: &Field,
    arrays: &[&ArrayRef],
    most_text: usize,
) -> Result<Column, Fault> {
    let mut cells = JsonCells::default();
    for array in arrays {
        add_values(&mut cells, array, most_text)
            .ok_or_else(|| wrong_type(input, field, "a text"))?;
    }
    if cells.size() > most_text {
        let path = [Step::name("body"), Step::name(input.name)];
        let msg = format!("the values of the column take more than {most_text} bytes as JSON");
        return Err(Fault::new(&path, "value_error.arrow", msg));
    }
    Ok(input.of_cells(cells))
}

/// Adds the values of an array, until they take more than `most_text` bytes; `None` where no field has values
/// of its type.
fn add_values(cells: &mut JsonCells, array: &ArrayRef, most_text: usize) -> Option<()> {
    let mut text = |text: Option<&str>| match text {
        _ if cells.size() > most_text => {}
        Some(text) => cells.push(&Value::from(text).to_string()),
        None => cells.push("null"),
    };
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(text),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(text),
        DataType::Utf8View => array.as_string_view().iter().for_each(text),
        DataType::Dictionary(_, values) if **values == DataType::Utf8 => {
            let dictionary = array.as_any_dictionary_opt()?;
            let values = dictionary.values().as_string::<i32>();
            // The library has no keys where the dictionary is empty, because each row is null.
            let is_empty = values.is_empty();
            let keys = if is_empty { vec![0; array.len()] } else { dictionary.normalized_keys() };
            for (row, key) in keys.into_iter().enumerate() {
                let is_null = is_empty || dictionary.is_null(row) || values.is_null(key);
                text((!is_null).then(|| values.value(key)));
            }
        }
        DataType::Date32 => {
            for days in array.as_primitive::<Date32Type>() {
                text(days.and_then(date).as_deref());
            }
        }
        DataType::Boolean => {
            for value in array.as_boolean() {
                cells.push(value.map_or("null", |value| if value { "true" } else { "false" }));
            }
        }
        _ => return None,
    }
    Some(())
}

/// The date of a number of days since 1970, as a single request has the date.
pub(super) fn date(days: i32) -> Option<String> {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    let count = Days::new(days.unsigned_abs().into());
    let date = if days < 0 { epoch.checked_sub_days(count) } else { epoch.checked_add_days(count) };
    date.map(|date| date.to_string())
}

/// The schema of an answer.
fn schema(plan: &Plan, asked: &[bool]) -> Schema {
    let column = |(field, _): (&OutputField, &bool)| {
        let kind = match field.kind {
            OutputKind::Number => DataType::Float64,
            OutputKind::Integer => DataType::Int64,
            OutputKind::Boolean => DataType::Boolean,
            OutputKind::Text => DataType::Utf8,
            OutputKind::Texts => DataType::new_list(DataType::Utf8, true),
        };
        Field::new(field.path.join("."), kind, true)
    };
    let columns = plan.outputs.iter().zip(asked).filter(|(_, is_asked)| **is_asked).map(column);
    let fault = Field::new(FAULT, DataType::Utf8, true);
    Schema::new(columns.chain([fault]).collect::<Vec<_>>())
}

/// Makes a record batch of rows that begin at `first`.
pub(super) fn batch(
    plan: &Plan,
    asked: &[bool],
    output: OutputColumns,
    first: usize,
    rows: usize,
) -> Result<RecordBatch, ApiError> {
    let OutputColumns { columns, faults } = output;
    let mut arrays: Vec<ArrayRef> = columns.into_iter().filter_map(array).collect();
    let mut texts: Vec<Option<String>> = vec![None; rows];
    for (row, faults) in faults {
        let faults: Vec<Value> = faults.iter().map(Fault::to_json).collect();
        texts[row - first] = Some(Value::from(faults).to_string());
    }
    arrays.push(Arc::new(StringArray::from(texts)));
    RecordBatch::try_new(Arc::new(schema(plan, asked)), arrays).map_err(|error| internal(&error))
}

fn array(cells: OutputCells) -> Option<ArrayRef> {
    Some(match cells {
        OutputCells::Numbers(numbers) => {
            let is_whole = numbers.iter().all(|number| number.is_finite());
            let nulls = (!is_whole)
                .then(|| numbers.iter().map(|number| number.is_finite()).collect::<NullBuffer>());
            Arc::new(Float64Array::new(numbers.into(), nulls))
        }
        OutputCells::Integers(cells) => Arc::new(Int64Array::from(cells)),
        OutputCells::Booleans(cells) => Arc::new(BooleanArray::from(cells)),
        OutputCells::Texts(cells) => Arc::new(StringArray::from(cells)),
        OutputCells::Lists(cells) => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for cell in cells {
                lists.append_option(cell.map(|texts| texts.into_iter().map(Some)));
            }
            Arc::new(lists.finish())
        }
        OutputCells::Omitted => return None,
    })
}

/// Writes record batches as a stream.
pub(super) fn stream(
    plan: &Plan,
    asked: &[bool],
    batches: &[RecordBatch],
) -> Result<Vec<u8>, ApiError> {
    let written = || {
        let length = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        let mut writer = StreamWriter::try_new(Vec::with_capacity(length), &schema(plan, asked))?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.into_inner()
    };
    written().map_err(|error| internal(&error))
}

fn internal(error: &ArrowError) -> ApiError {
    tracing::error!(%error, "an answer was not written as Arrow");
    ApiError::Internal
}
