//! Bodies in JSON: the walk along a schema, the place of an error, lists of numbers, and texts of a format.

use std::sync::LazyLock;

use account_core::{Code, Email, Password, Timestamp, Username};
use quant_core::time::{
    BusinessDayConvention, DayCount, JointCalendar, NaiveDate, PeriodLength, RollConvention, Stub,
    tenor::Tenor,
};
use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value, value::RawValue};

use super::{
    super::{
        answer_options::Detail,
        body_schema::{BodySchema, NumberRange, Property, Shape, SizeRange},
        error::ApiError,
        evaluation::Evaluator,
        json_position,
        json_string::{StringFormat, check},
        number_text::{Element, NumberText},
        receipt,
        unknown_fields::{Handling, UnknownFields},
        validation::{self, Step},
    },
    Drawn, check_refusal,
};

const SYNTAX: &str = "value_error.jsondecode";

/// A schema with every shape of a value.
static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    let any = |shape| BodySchema { shape, is_nullable: false };
    let range = NumberRange { minimum: Some(0.0), maximum: Some(1e6), ..NumberRange::default() };
    let size = SizeRange { least: Some(1), most: Some(8) };
    let field = |name, schema| Property { name, is_required: false, default: None, schema };
    let text =
        |format| any(Shape::Text { length: SizeRange { least: None, most: Some(40) }, format });
    let inner = vec![
        Property { is_required: true, ..field("rate", any(Shape::Number(NumberRange::default()))) },
        field("name", text(None)),
    ];
    let lists = any(Shape::NumberList { item: NumberRange::default(), size });
    any(Shape::Object(vec![
        field("spot", any(Shape::Number(range))),
        field("count", any(Shape::Integer(range))),
        field("flag", any(Shape::Boolean)),
        field("kind", any(Shape::Member(vec!["call".into(), "put".into()]))),
        field("tenor", text(Some("tenor"))),
        field("date", text(Some("date"))),
        field("rates", any(Shape::NumberList { item: range, size: SizeRange::default() })),
        field("few", lists.clone()),
        field("matrix", any(Shape::List { item: Box::new(lists), size })),
        field(
            "record",
            any(Shape::Record { value: Box::new(any(Shape::Object(inner.clone()))), size }),
        ),
        field("quotes", any(Shape::List { item: Box::new(any(Shape::Object(inner))), size })),
        field("call", BodySchema { shape: Shape::JsonText, is_nullable: true }),
        field("any", BodySchema { shape: Shape::Any, is_nullable: true }),
    ]))
});

/// Reads a body along a schema. The reader agrees with serde_json on what is JSON and on the values, and
/// a refusal is short.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn request_body(bytes: &[u8]) {
    let (lenient, strict) = (read(bytes, Handling::Lenient), read(bytes, Handling::Strict));
    if let Some(strict) = strict {
        assert_eq!(lenient.as_ref(), Some(&strict), "unknown fields alone may differ");
    }
}

fn read(bytes: &[u8], handling: Handling) -> Option<Value> {
    let mut unknown = UnknownFields::new(handling);
    let read = validation::read(&SCHEMA, bytes, &mut unknown);
    let mut headers = poem::http::HeaderMap::new();
    unknown.tell(&mut headers);
    assert!(headers.values().all(|value| value.len() <= 1024 && value.to_str().is_ok()));
    let whole = serde_json::from_slice::<Value>(bytes);
    match read {
        Ok(value) => {
            serde_json::from_slice::<IgnoredAny>(bytes).expect("a body that is read is JSON");
            if let Ok(whole) = whole {
                assert!(agrees(&SCHEMA, &value, &whole), "{value} is read of {whole}");
            }
            Some(value)
        }
        Err(faults) => {
            check_refusal(&faults);
            if let Some(fault) = faults.iter().find(|fault| fault.kind == SYNTAX) {
                assert_eq!(faults.len(), 1, "{faults:?}");
                assert!(whole.is_err(), "{fault:?}");
                let length = String::from_utf8_lossy(bytes).chars().count();
                let place = fault.loc.get(1).expect("a position");
                assert!(matches!(place, Step::Index(at) if *at <= length), "{place:?} of {length}");
            }
            None
        }
    }
}

/// Returns whether the value that was read along a schema is that of serde_json.
fn agrees(schema: &BodySchema, value: &Value, whole: &Value) -> bool {
    if value.is_null() || whole.is_null() {
        return value.is_null() && whole.is_null() && schema.is_nullable;
    }
    match (&schema.shape, value, whole) {
        (Shape::Object(properties), Value::Object(fields), Value::Object(sent)) => {
            let known = |name: &str| properties.iter().find(|property| property.name == name);
            fields.iter().all(|(name, value)| {
                known(name)
                    .zip(sent.get(name))
                    .is_some_and(|(property, whole)| agrees(&property.schema, value, whole))
            }) && sent.keys().all(|name| known(name).is_none() || fields.contains_key(name))
        }
        (Shape::Record { value: schema, .. }, Value::Object(fields), Value::Object(sent)) => {
            let one = |(name, value): (&String, &Value)| {
                sent.get(name).is_some_and(|whole| agrees(schema, value, whole))
            };
            fields.len() == sent.len() && fields.iter().all(one)
        }
        (Shape::List { item, .. }, Value::Array(items), Value::Array(sent)) => {
            let mut both = items.iter().zip(sent);
            items.len() == sent.len() && both.all(|(value, whole)| agrees(item, value, whole))
        }
        (Shape::NumberList { .. }, Value::String(text), Value::Array(sent)) => {
            let list = NumberText::new(text).filter(|list| list.is_numeric);
            let numbers: Vec<u64> =
                list.into_iter().flat_map(|list| list.numbers()).map(f64::to_bits).collect();
            let whole: Vec<u64> = sent.iter().filter_map(Value::as_f64).map(bits).collect();
            sent.len() == whole.len()
                && whole == numbers.into_iter().map(positive).collect::<Vec<_>>()
        }
        (Shape::JsonText, Value::String(text), _) => {
            serde_json::from_str::<Value>(text).is_ok_and(|read| read == *whole)
        }
        (Shape::Number(_) | Shape::Integer(_), Value::Number(number), Value::Number(sent)) => {
            number.as_f64() == sent.as_f64()
        }
        (Shape::Any | Shape::Boolean | Shape::Member(_) | Shape::Text { .. }, value, whole) => {
            value == whole
        }
        _ => false,
    }
}

/// The bits of a number, without the sign of a zero: serde_json reads the text `-0` as the integer 0.
fn bits(number: f64) -> u64 {
    positive(number.to_bits())
}

fn positive(bits: u64) -> u64 {
    if bits == (-0.0_f64).to_bits() { 0 } else { bits }
}

/// Finds the position of a syntax error: the text before the position is the beginning of JSON.
///
/// # Panics
///
/// Panics where the position is beyond the text, or where an error comes before it.
pub fn json_position(bytes: &[u8]) {
    let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) else { return };
    let position = json_position::of(bytes, &error);
    let text = String::from_utf8_lossy(bytes);
    assert!(position <= text.chars().count(), "{position}: {error}");
    if std::str::from_utf8(bytes).is_ok() && !error.is_eof() {
        let before: String = text.chars().take(position).collect();
        if let Err(earlier) = serde_json::from_str::<IgnoredAny>(&before) {
            // A number that ends with the text, such as `1e`, is an error at its end.
            let is_at_end = json_position::of(before.as_bytes(), &earlier) + 1 >= position;
            assert!(
                earlier.is_eof() || is_at_end,
                "{position} of {text:?}: {error}, but {earlier}"
            );
        }
    }
}

/// Scans the text of a list, with the elements and the bits of serde_json.
///
/// # Panics
///
/// Panics where the two differ.
pub fn number_list(bytes: &[u8]) {
    let Ok(json) = serde_json::from_slice::<&RawValue>(bytes) else { return };
    let text = json.get();
    let Some(list) = NumberText::new(text) else {
        assert!(!text.starts_with('['), "{text}");
        return;
    };
    let expected: Vec<&RawValue> = serde_json::from_str(text).expect("a list");
    let elements: Vec<Element<'_>> = list.elements().collect();
    assert_eq!((list.len(), elements.len()), (expected.len(), expected.len()), "{text}");
    for (element, expected) in elements.iter().zip(&expected) {
        let expected = expected.get();
        match (element, serde_json::from_str::<Number>(expected)) {
            (Element::Number(number, own), Ok(read)) => {
                let read = read.as_f64().expect("a double");
                assert_eq!((bits(*number), *own), (bits(read), expected));
            }
            (Element::Number(number, own), Err(_)) => {
                assert!(number.is_infinite() && *own == expected, "{number} of {expected}");
            }
            (Element::Null, _) => assert_eq!(expected, "null"),
            (Element::Other, read) => assert!(read.is_err() && expected != "null", "{expected}"),
        }
    }
    let is_number = |element: &Element<'_>| matches!(element, Element::Number(..));
    assert_eq!(list.is_numeric, elements.iter().all(is_number), "{text}");
    if list.is_numeric {
        let numbers: Vec<f64> = list.numbers().collect();
        let same = |(element, number): (&Element<'_>, &f64)| matches!(element, Element::Number(read, _) if read.to_bits() == number.to_bits());
        assert!(elements.iter().zip(&numbers).all(same), "{text}");
        assert!(list.may_overflow || numbers.iter().all(|number| number.is_finite()), "{text}");
    }
}

/// Reads a text as a value of each format. A value that is read prints as a text that is read as the same
/// value, and a fault is short.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub fn text_formats(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(date) = round_trip::<NaiveDate>(text) {
        assert_eq!(date.write(), text, "a date has one spelling");
    }
    if round_trip::<Tenor>(text).is_some() {
        let units = text.trim_start_matches(['+', '-']);
        let is_written = |c: char| c.is_ascii_digit() || "DWMYdwmy".contains(c);
        assert!(units.chars().all(is_written) && text.len() <= units.len() + 1, "{text}");
    }
    if let Some(code) = round_trip::<Code>(text) {
        assert_eq!(code.expose(), text);
    }
    if let Some(email) = round_trip::<Email>(text) {
        assert_eq!(email.as_str(), text.to_ascii_lowercase());
    }
    if let Some(name) = round_trip::<Username>(text) {
        assert!(name.as_str() == text && text.is_ascii() && text.len() <= 32);
    }
    round_trip::<Timestamp>(text);
    round_trip::<JointCalendar>(text);
    round_trip::<DayCount>(text);
    round_trip::<BusinessDayConvention>(text);
    round_trip::<PeriodLength>(text);
    round_trip::<Stub>(text);
    round_trip::<RollConvention>(text);
    round_trip::<Password>(text);
}

fn round_trip<F: StringFormat>(text: &str) -> Option<F> {
    let format = F::FORMAT.expect("a format of its own");
    match F::read(text) {
        Ok(value) => {
            assert!(check(format, text).is_ok(), "{format}: {text:?}");
            let written = value.write();
            let again = F::read(&written);
            let again = again.unwrap_or_else(|(_, msg)| panic!("{format}: {written:?}: {msg}"));
            assert_eq!(again.write(), written, "{format}: {text:?}");
            Some(value)
        }
        Err((kind, msg)) => {
            assert_eq!(check(format, text), Err((kind.clone(), msg.clone())));
            check_refusal(&[validation::Fault::at_field(format, kind, msg)]);
            None
        }
    }
}

/// Reads the body of an operation and computes what is short. The body is the input, or is drawn from the
/// input along the schema. A body that the schema allows is one that the type takes, and the answer is JSON
/// with a canonical form.
///
/// # Panics
///
/// Panics where one of these does not hold.
pub(crate) fn operation(evaluator: Evaluator, schema: Option<&BodySchema>, bytes: &[u8]) {
    let mut drawn = Drawn(bytes);
    let is_raw = drawn.byte().is_multiple_of(8);
    let body = match schema {
        None => None,
        Some(schema) => match validation::read(
            schema,
            &if is_raw { drawn.0.to_vec() } else { drawn.value(schema).to_string().into_bytes() },
            &mut UnknownFields::default(),
        ) {
            Ok(body) => Some(body),
            Err(faults) => return check_refusal(&faults),
        },
    };
    let computed = evaluator.arguments(body).and_then(|arguments| {
        if arguments.is_long() { Ok(None) } else { arguments.data(Detail::Full).map(Some) }
    });
    match computed {
        Ok(None) => {}
        Ok(Some(data)) => {
            serde_json::from_str::<Map<String, Value>>(&data).expect("an object");
            receipt::data_digest(&data).expect("a canonical form");
        }
        Err(ApiError::Faults(faults)) => {
            check_refusal(&faults);
            let untyped = faults.iter().find(|fault| fault.kind == "value_error");
            assert!(untyped.is_none(), "the schema allows what the type refuses: {untyped:?}");
        }
        Err(other) => panic!("{other:?}"),
    }
}
