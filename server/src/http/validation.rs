//! Every fault of a request at once, in the words of FastAPI with pydantic 1.
//!
//! A body is read once, along the schema that its type gives the generated document. So one set of
//! validators serves the reader, the document and this list. The value of a field that the schema does
//! not have is skipped and never built, and so is the rest of a list that is too long. The reader gives
//! up at the hundredth fault.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value, json, value::RawValue};

use super::{
    body_schema::{BodySchema, NumberRange, Property, Shape, SizeRange},
    echo, json_position, json_string,
    nearest_name::extra_field,
    number_text::{Element, NumberText},
    unknown_fields::{Handling, Segment, UnknownFields},
};

/// One fault of a request, an element of the list in a 422.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place: `body`, `query` or `path`, then field names and array indices.
    pub loc: Vec<Step>,
    /// The explanation of the fault, for people.
    pub msg: String,
    /// The kind of the fault, for programs, as in `value_error.missing`.
    pub kind: String,
}

/// One step of the path to a fault: a field's name or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The name of a field, or the part of the request.
    Name(String),
    /// A position in an array, from zero.
    Index(usize),
}

impl Fault {
    /// Makes a fault at `path`, which is copied. A long message is cut, so that ten faults have at
    /// most 4 KB.
    #[must_use]
    pub fn new(path: &[Step], kind: impl Into<String>, msg: impl Into<String>) -> Self {
        let (msg, kind): (String, String) = (msg.into(), kind.into());
        let mut fault = Self { loc: path.to_vec(), msg: String::new(), kind };
        let others = fault.to_json().to_string().len();
        fault.msg = echo::message_of_fault(&msg, others).into_owned();
        fault
    }

    /// Returns the fault as the JSON object of a 422.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let loc: Vec<_> = self.loc.iter().map(Step::to_json).collect();
        json!({ "loc": loc, "msg": self.msg, "type": self.kind })
    }

    /// Makes a fault of one field of the body.
    #[must_use]
    pub fn at_field(field: &str, kind: impl Into<String>, msg: impl Into<String>) -> Self {
        Self::new(&[Step::name("body"), Step::name(field)], kind, msg)
    }
}

impl Step {
    /// Makes a step into the field or part called `name`.
    #[must_use]
    pub fn name(name: &str) -> Self {
        Self::Name(name.to_owned())
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Name(name) => Value::from(name.as_str()),
            Self::Index(index) => Value::from(*index),
        }
    }
}

/// The types of the faults of a collection with too few and too many items.
type SizeFaults = (&'static str, &'static str);

const LIST: SizeFaults = ("value_error.list.min_items", "value_error.list.max_items");
const DICT: SizeFaults = ("value_error.dict.min_items", "value_error.dict.max_items");

/// Faults that one answer lists at most: a body of megabytes can hold millions.
pub const MOST_FAULTS: usize = 100;

/// Reads a body along its schema. The value has known fields alone, whole numbers such as `5.0`
/// written as integers, and lists of numbers as their JSON text. Unknown fields are added to
/// `unknown`, or are faults where `unknown` refuses them.
///
/// # Errors
///
/// Every fault of the body, up to the hundredth.
pub(crate) fn read(
    schema: &BodySchema,
    bytes: &[u8],
    unknown: &mut UnknownFields,
) -> Result<Value, Vec<Fault>> {
    let missing = || Fault::new(&[Step::name("body")], "value_error.missing", "field required");
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let position = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).chars().count();
            return Err(vec![no_json(position, "invalid unicode code point".to_owned())]);
        }
    };
    // White space alone is a body that is not JSON.
    if text.is_empty() || text.trim_ascii() == "null" {
        return Err(vec![missing()]);
    }
    let mut reader = Reader::new(text, vec![Step::name("body")], std::mem::take(unknown));
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Seed { reader: &mut reader, schema }.deserialize(&mut json);
    *unknown = std::mem::take(&mut reader.unknown);
    match value.and_then(|value| json.end().map(|()| value)) {
        _ if reader.number_beyond.is_some() => {
            let before = reader.number_beyond.and_then(|at| text.get(..at)).unwrap_or_default();
            Err(vec![no_json(before.chars().count(), "number out of range".to_owned())])
        }
        Ok(value) if reader.faults.is_empty() => Ok(value),
        Err(error) if !reader.is_full() => {
            Err(vec![no_json(json_position::of(bytes, &error), error.to_string())])
        }
        _ => Err(reader.faults),
    }
}

/// Returns the faults of a value at `path`.
#[must_use]
pub(super) fn check_value(schema: &BodySchema, path: &[Step], value: Value) -> Vec<Fault> {
    let mut reader = Reader::new("", path.to_vec(), UnknownFields::default());
    // The only error is that of a full list of faults.
    let _ = Seed { reader: &mut reader, schema }.deserialize(value);
    reader.faults
}

/// Reads a body as JSON of a type that checks its own fields.
///
/// # Errors
///
/// The fault of a body that is absent or no JSON, or another JSON value than the type's.
pub(super) fn read_typed<'t, T: serde::Deserialize<'t>>(bytes: &'t [u8]) -> Result<T, Vec<Fault>> {
    let body = [Step::name("body")];
    if bytes.trim_ascii().is_empty() || bytes.trim_ascii() == b"null" {
        return Err(vec![Fault::new(&body, "value_error.missing", "field required")]);
    }
    serde_json::from_slice(bytes).map_err(|error| {
        vec![if error.is_data() {
            Fault::new(&body, "type_error.dict", "value is not a valid dict")
        } else {
            no_json(json_position::of(bytes, &error), error.to_string())
        }]
    })
}

/// Reads a value at `path` along its schema, as [`read`] does.
///
/// # Errors
///
/// Every fault of the value.
pub(super) fn read_value(
    schema: &BodySchema,
    path: &[Step],
    value: Value,
) -> Result<Value, Vec<Fault>> {
    let mut reader = Reader::new("", path.to_vec(), UnknownFields::default());
    let value = Seed { reader: &mut reader, schema }.deserialize(value);
    match value {
        Ok(value) if reader.faults.is_empty() => Ok(value),
        _ => Err(reader.faults),
    }
}

fn no_json(position: usize, msg: String) -> Fault {
    Fault::new(&[Step::name("body"), Step::Index(position)], "value_error.jsondecode", msg)
}

/// The state of reading one value.
struct Reader<'t> {
    text: &'t str,
    base: Vec<Step>,
    path: Vec<Segment>,
    faults: Vec<Fault>,
    found: usize,
    /// True if the values of the field that is read are of no use, because the field has a fault.
    is_discarding: bool,
    /// The offset of a number beyond a double in a list of numbers.
    number_beyond: Option<usize>,
    unknown: UnknownFields,
}

impl From<Segment> for Step {
    fn from(segment: Segment) -> Self {
        match segment {
            Segment::Name(name) => Self::Name(echo::value(&name).into_owned()),
            Segment::Index(index) => Self::Index(index),
        }
    }
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, base: Vec<Step>, unknown: UnknownFields) -> Self {
        Self {
            text,
            base,
            path: Vec::new(),
            faults: Vec::new(),
            found: 0,
            is_discarding: false,
            number_beyond: None,
            unknown,
        }
    }

    fn is_full(&self) -> bool {
        self.found >= MOST_FAULTS
    }

    fn takes_names(&self) -> bool {
        self.unknown.takes_names()
    }

    fn fault(&mut self, kind: &str, msg: impl Into<Cow<'static, str>>) {
        let msg: Cow<'static, str> = msg.into();
        self.faults.push(Fault::new(&self.place(), kind, msg));
        self.found += 1;
        self.is_discarding = true;
    }

    /// The path of the value that is read.
    fn place(&self) -> Vec<Step> {
        let steps = self.path.iter().cloned().map(Step::from);
        self.base.iter().cloned().chain(steps).collect()
    }

    /// Records a field that the object at the current path does not have. Returns a fault where
    /// such fields are refused.
    fn unknown_field(&mut self, name: &str, known: &[Property]) -> Option<Fault> {
        if self.unknown.handling == Handling::Lenient {
            self.unknown.add(&self.path, name);
            return None;
        }
        let msg = extra_field(name, known.iter().map(|property| property.name));
        let mut loc = self.place();
        loc.push(Step::name(&echo::value(name)));
        self.found += 1;
        self.is_discarding = true;
        Some(Fault::new(&loc, "value_error.extra", msg))
    }

    fn fault_at(&mut self, segment: Segment, kind: &str, msg: impl Into<Cow<'static, str>>) {
        self.path.push(segment);
        self.fault(kind, msg);
        self.path.pop();
    }

    /// The fault of a null where the schema takes none.
    fn null_fault(&mut self) {
        self.fault("type_error.none.not_allowed", "none is not an allowed value");
    }

    /// The fault of a value of another type than the schema's.
    fn wrong_type(&mut self, shape: &Shape) {
        let (kind, msg) = match shape {
            Shape::Object(_) | Shape::Record { .. } | Shape::JsonText => {
                ("type_error.dict", "value is not a valid dict")
            }
            Shape::List { .. } | Shape::NumberList { .. } => {
                ("type_error.list", "value is not a valid list")
            }
            Shape::Number(_) => ("type_error.float", "value is not a valid float"),
            Shape::Integer(_) => ("type_error.integer", "value is not a valid integer"),
            Shape::Boolean => ("type_error.bool", "value could not be parsed to a boolean"),
            Shape::Member(permitted) => return self.no_member(permitted),
            Shape::Text { .. } | Shape::Any => ("type_error.str", "str type expected"),
        };
        self.fault(kind, msg);
    }

    fn no_member(&mut self, permitted: &[Value]) {
        let names: Vec<_> =
            permitted.iter().filter_map(Value::as_str).map(|name| format!("'{name}'")).collect();
        let permitted = names.join(", ");
        self.fault(
            "type_error.enum",
            format!("value is not a valid enumeration member; permitted: {permitted}"),
        );
    }

    /// Returns true if a collection may have `count` items. Else the fault of the count replaces the
    /// faults of the items, from `faults` on.
    fn size(
        &mut self,
        collection: SizeFaults,
        size: SizeRange,
        count: usize,
        faults: usize,
    ) -> bool {
        let (too_few, too_many) = collection;
        let (kind, msg) = match (size.least, size.most) {
            (Some(least), _) if count < least => {
                (too_few, format!("ensure this value has at least {least} items"))
            }
            (_, Some(most)) if count > most => {
                (too_many, format!("ensure this value has at most {most} items"))
            }
            _ => return true,
        };
        self.faults.truncate(faults);
        self.fault(kind, msg);
        false
    }

    fn number(&mut self, range: NumberRange, number: f64) {
        if let Some((kind, msg)) = range.fault(number) {
            self.fault(kind, msg);
        }
    }

    fn text(&mut self, length: SizeRange, format: Option<&str>, text: &str) {
        let count = || text.chars().count();
        if let Some(least) = length.least.filter(|&least| count() < least) {
            let msg = format!("ensure this value has at least {least} characters");
            self.fault("value_error.any_str.min_length", msg);
        } else if let Some(most) = length.most.filter(|&most| count() > most) {
            let msg = format!("ensure this value has at most {most} characters");
            self.fault("value_error.any_str.max_length", msg);
        } else if let Some(Err((kind, msg))) = format.map(|format| json_string::check(format, text))
        {
            self.fault(&kind, msg);
        }
    }

    /// Ends the reading at a number, a part of the text, that is beyond a double.
    fn refuse_beyond(&mut self, number: &str) {
        let offset = (number.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.number_beyond = Some(offset);
    }

    /// Reads a list of numbers, which may hold other values.
    fn number_list(&mut self, item: NumberRange, size: SizeRange, list: NumberText<'_>) {
        if !self.size(LIST, size, list.len(), self.faults.len()) {
            return;
        }
        if list.is_numeric && !list.may_overflow && item.is_unbounded() {
            return;
        }
        let shape = Shape::Number(item);
        for (index, element) in list.elements().enumerate() {
            match element {
                Element::Number(number, text) if number.is_infinite() => {
                    return self.refuse_beyond(text);
                }
                Element::Number(number, _) => {
                    if let Some((kind, msg)) = item.fault(number) {
                        self.fault_at(Segment::Index(index), kind, msg);
                    }
                }
                Element::Null | Element::Other => {
                    self.path.push(Segment::Index(index));
                    match element {
                        Element::Null => self.null_fault(),
                        _ => self.wrong_type(&shape),
                    }
                    self.path.pop();
                }
            }
            if self.is_full() {
                return;
            }
        }
    }
}

impl NumberRange {
    /// Returns true if every number is within the range.
    fn is_unbounded(&self) -> bool {
        self.minimum.is_none() && self.maximum.is_none()
    }

    /// The fault of a number outside the range.
    fn fault(&self, number: f64) -> Option<(&'static str, String)> {
        let below = self.minimum.map(|limit| (limit, self.is_minimum_exclusive));
        let above = self.maximum.map(|limit| (limit, self.is_maximum_exclusive));
        let (kind, relation, limit) = match (below, above) {
            (Some((limit, true)), _) if number <= limit => {
                ("value_error.number.not_gt", "greater than", limit)
            }
            (Some((limit, false)), _) if number < limit => {
                ("value_error.number.not_ge", "greater than or equal to", limit)
            }
            (_, Some((limit, true))) if number >= limit => {
                ("value_error.number.not_lt", "less than", limit)
            }
            (_, Some((limit, false))) if number > limit => {
                ("value_error.number.not_le", "less than or equal to", limit)
            }
            _ => return None,
        };
        // With a precision a whole limit has all its digits; `{limit}` alone ends in zeros beyond 2^53.
        let digits = if limit.fract() == 0.0 { format!("{limit:.0}") } else { limit.to_string() };
        Some((kind, format!("ensure this value is {relation} {digits}")))
    }
}

/// A value to read along its schema.
struct Seed<'r, 't, 's> {
    reader: &'r mut Reader<'t>,
    schema: &'s BodySchema,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let Self { reader, schema } = self;
        match &schema.shape {
            Shape::NumberList { item, size } => {
                let text = <&RawValue>::deserialize(deserializer)?.get();
                let Some(list) = NumberText::new(text) else {
                    if text.parse().is_ok_and(f64::is_infinite) {
                        reader.refuse_beyond(text);
                    }
                    let seed = Seed { reader, schema };
                    return if text == "null" { seed.null() } else { seed.wrong_type() };
                };
                reader.number_list(*item, *size, list);
                let value = if reader.is_discarding { Value::Null } else { Value::from(text) };
                reader.stop_if_full(value)
            }
            Shape::JsonText => {
                let text = <&RawValue>::deserialize(deserializer)?.get();
                match text.as_bytes() {
                    b"null" => Seed { reader, schema }.null(),
                    [b'{', ..] if reader.is_discarding => Ok(Value::Null),
                    [b'{', ..] => Ok(Value::from(text)),
                    _ => Seed { reader, schema }.wrong_type(),
                }
            }
            Shape::Any => Value::deserialize(deserializer),
            _ => deserializer.deserialize_any(Seed { reader, schema }),
        }
    }
}

impl Reader<'_> {
    /// The value, or the error that ends the reading at the hundredth fault.
    fn stop_if_full<E: serde::de::Error>(&self, value: Value) -> Result<Value, E> {
        if self.is_full() || self.number_beyond.is_some() {
            Err(E::custom("the rest is not read"))
        } else {
            Ok(value)
        }
    }
}

impl Seed<'_, '_, '_> {
    fn null<E: serde::de::Error>(self) -> Result<Value, E> {
        if !self.schema.is_nullable {
            self.reader.null_fault();
        }
        self.reader.stop_if_full(Value::Null)
    }

    fn wrong_type<E: serde::de::Error>(self) -> Result<Value, E> {
        self.reader.wrong_type(&self.schema.shape);
        self.reader.stop_if_full(Value::Null)
    }

    fn number<E: serde::de::Error>(self, value: Number) -> Result<Value, E> {
        let number = value.as_f64().unwrap_or(f64::NAN);
        let value = match &self.schema.shape {
            Shape::Number(range) => {
                self.reader.number(*range, number);
                Value::Number(value)
            }
            Shape::Integer(range) if number.fract() == 0.0 => {
                let is_exact = !value.is_f64() || number.abs() <= LARGEST_EXACT;
                if !is_exact && range.fault(number).is_none() {
                    return self.wrong_type();
                }
                self.reader.number(*range, number);
                Value::Number(whole(value, number))
            }
            Shape::Member(permitted) if permitted.contains(&Value::Number(value.clone())) => {
                Value::Number(value)
            }
            _ => return self.wrong_type(),
        };
        self.reader.stop_if_full(value)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.null()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        match &self.schema.shape {
            Shape::Boolean => Ok(Value::Bool(value)),
            Shape::Member(permitted) if permitted.contains(&Value::Bool(value)) => {
                Ok(Value::Bool(value))
            }
            _ => self.wrong_type(),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        match Number::from_f64(value) {
            Some(number) => self.number(number),
            None => self.wrong_type(),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        match &self.schema.shape {
            Shape::Text { length, format } => self.reader.text(*length, *format, text),
            Shape::Member(permitted) => {
                if !permitted.iter().any(|member| member.as_str() == Some(text)) {
                    self.reader.no_member(permitted);
                }
            }
            _ => return self.wrong_type(),
        }
        let value = if self.reader.is_discarding { Value::Null } else { Value::from(text) };
        self.reader.stop_if_full(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Self { reader, schema } = self;
        let Shape::List { item, size } = &schema.shape else {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Seed { reader, schema }.wrong_type();
        };
        let faults = reader.faults.len();
        let (mut values, mut count) = (Vec::new(), 0);
        while size.most.is_none_or(|most| count < most) {
            reader.path.push(Segment::Index(count));
            let value = items.next_element_seed(Seed { reader: &mut *reader, schema: item });
            reader.path.pop();
            let Some(value) = value? else { break };
            count += 1;
            if !reader.is_discarding {
                values.push(value);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        reader.size(LIST, *size, count, faults);
        reader.stop_if_full(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let Self { reader, schema } = self;
        let properties = match &schema.shape {
            Shape::Object(properties) => properties,
            Shape::Record { value, size } => return reader.record(value, *size, fields),
            _ => {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Seed { reader, schema }.wrong_type();
            }
        };
        // The last of two fields of one name holds, with its faults.
        let mut found: Vec<Option<(Value, Vec<Fault>)>> = Vec::new();
        found.resize_with(properties.len(), || None);
        let mut unknown = Vec::new();
        let mut outcome = Ok(());
        while let Some(place) =
            fields.next_key_seed(FieldName { properties, takes_unknown: reader.takes_names() })?
        {
            let at = match place {
                FieldPlace::Property(at) => at,
                FieldPlace::Unknown(name) => {
                    fields.next_value::<IgnoredAny>()?;
                    unknown.extend(name.and_then(|name| reader.unknown_field(&name, properties)));
                    if reader.is_full() {
                        outcome = Err(A::Error::custom("the rest is not read"));
                        break;
                    }
                    continue;
                }
            };
            let (faults, was_discarding) = (reader.faults.len(), reader.is_discarding);
            reader.path.push(Segment::Name(properties[at].name.into()));
            let schema = &properties[at].schema;
            let value = fields.next_value_seed(Seed { reader: &mut *reader, schema });
            reader.path.pop();
            reader.is_discarding = was_discarding;
            let own = reader.faults.split_off(faults);
            match value {
                Ok(value) => found[at] = Some((value, own)),
                Err(error) => {
                    found[at] = Some((Value::Null, own));
                    outcome = Err(error);
                    break;
                }
            }
        }
        let mut sound = Map::with_capacity(properties.len());
        for (property, field) in properties.iter().zip(found) {
            match field {
                Some((value, faults)) => {
                    if !faults.is_empty() {
                        reader.is_discarding = true;
                        reader.faults.extend(faults);
                    }
                    sound.insert(property.name.to_owned(), value);
                }
                None if property.is_required && outcome.is_ok() => {
                    let name = Segment::Name(property.name.into());
                    reader.fault_at(name, "value_error.missing", "field required");
                }
                None => {}
            }
        }
        reader.faults.extend(unknown);
        outcome?;
        reader.stop_if_full(Value::Object(sound))
    }
}

/// The longest name in an object with names of the caller's choice, in characters.
const LONGEST_NAME: usize = 100;

impl Reader<'_> {
    /// Reads an object with names of the caller's choice. The last of two values of one name holds.
    fn record<'de, A: MapAccess<'de>>(
        &mut self,
        schema: &BodySchema,
        size: SizeRange,
        mut fields: A,
    ) -> Result<Value, A::Error> {
        let faults = self.faults.len();
        let mut found: Vec<(String, Value, Vec<Fault>)> = Vec::new();
        let mut places = HashMap::new();
        let mut count = 0;
        while let Some(name) = fields.next_key::<String>()? {
            let next = found.len();
            let place = *places.entry(name.clone()).or_insert(next);
            count += usize::from(place == next);
            if size.most.is_some_and(|most| count > most) || !self.is_name(&name) {
                places.remove(&name);
                fields.next_value::<IgnoredAny>()?;
                self.stop_if_full(Value::Null)?;
                continue;
            }
            let (before, was_discarding) = (self.faults.len(), self.is_discarding);
            self.path.push(Segment::Name(name.clone().into()));
            let value = fields.next_value_seed(Seed { reader: &mut *self, schema });
            self.path.pop();
            self.is_discarding = was_discarding;
            let own = self.faults.split_off(before);
            let (value, outcome) = match value {
                Ok(value) => (value, Ok(())),
                Err(error) => (Value::Null, Err(error)),
            };
            if place == next {
                found.push((name, value, own));
            } else {
                found[place] = (name, value, own);
            }
            if let Err(error) = outcome {
                self.faults.extend(found.into_iter().flat_map(|(_, _, faults)| faults));
                return Err(error);
            }
        }
        let mut values = Map::with_capacity(found.len());
        for (name, value, own) in found {
            self.faults.extend(own);
            values.insert(name, value);
        }
        self.size(DICT, size, count, faults);
        self.is_discarding |= self.faults.len() > faults;
        self.stop_if_full(Value::Object(values))
    }

    /// Returns true for a name of 1 to 100 characters; lists the fault of any other as pydantic does.
    fn is_name(&mut self, name: &str) -> bool {
        let faults = self.faults.len();
        let length = SizeRange { least: Some(1), most: Some(LONGEST_NAME) };
        self.path.push(Segment::Name("__key__".into()));
        self.text(length, None, name);
        self.path.pop();
        self.faults.len() == faults
    }
}

/// The name of a field among the properties of a schema.
struct FieldName<'s> {
    properties: &'s [Property],
    /// True if the name of an unknown field is of use.
    takes_unknown: bool,
}

/// The place of a field's name.
enum FieldPlace {
    /// The place of the property.
    Property(usize),
    /// A field that the schema does not have, with its name where the name is of use.
    Unknown(Option<String>),
}

impl<'de> DeserializeSeed<'de> for FieldName<'_> {
    type Value = FieldPlace;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName<'_> {
    type Value = FieldPlace;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let place = self.properties.iter().position(|property| property.name == name);
        let unknown = || FieldPlace::Unknown(self.takes_unknown.then(|| echo::name(name).into()));
        Ok(place.map_or_else(unknown, FieldPlace::Property))
    }
}

/// The largest double below which each integer is a double, 2^53.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes an integral number such as `5.0` as the integer that the typed parser takes.
fn whole(value: Number, number: f64) -> Number {
    // Beyond 2^53 a double no longer tells neighbouring integers apart: leave those as sent.
    let exact = number.abs() <= LARGEST_EXACT;
    if value.is_f64() && exact { Number::from(number as i64) } else { value }
}

/// The list of faults as the body of a 422.
#[must_use]
pub fn body(faults: &[Fault]) -> Value {
    json!({ "detail": faults.iter().map(Fault::to_json).collect::<Vec<_>>() })
}
