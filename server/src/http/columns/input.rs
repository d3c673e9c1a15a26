//! The columns of a request, read from JSON without a value for each element.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use super::{
    super::{
        body_schema::Shape,
        echo,
        nearest_name::extra_field,
        number_text::NumberText,
        unknown_fields::{Handling, UnknownFields},
        validation::{self, Fault, Step},
    },
    plan::{InputField, InputKind, Plan},
};

/// The columns of a request, one for each field of the plan, and the number of their rows.
pub(crate) struct InputColumns {
    /// The columns, in the order of the plan.
    pub(super) columns: Vec<Column>,
    /// For each column the number that holds for every row, where there is one; else NaN.
    pub(super) scalars: Vec<f64>,
    /// The number of rows.
    pub(super) rows: usize,
}

/// The values of one field.
pub(super) enum Column {
    /// The field was not sent.
    Absent,
    /// One value for all rows.
    Scalar(Value),
    /// A number for each row; NaN for an absent one.
    Numbers(Vec<f64>),
    /// A JSON value for each row.
    Values(JsonCells),
    /// A member of the enumeration for each row, by its position.
    Members(Vec<u8>),
}

/// JSON values as text, one after the other.
#[derive(Default)]
pub(super) struct JsonCells {
    text: String,
    ends: Vec<u32>,
}

impl JsonCells {
    /// Adds the text of a value.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
    }

    /// Returns the number of bytes of the text.
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn text(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start as usize..self.ends[row] as usize).unwrap_or_default()
    }
}

impl Column {
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Absent | Self::Scalar(_) => None,
            Self::Numbers(numbers) => Some(numbers.len()),
            Self::Values(cells) => Some(cells.len()),
            Self::Members(places) => Some(places.len()),
        }
    }

    /// The value of a row; `None` where the field was not sent.
    fn value(&self, field: &InputField, row: usize) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Scalar(value) => Some(value.clone()),
            Self::Numbers(numbers) => Some(number(numbers[row])),
            Self::Values(cells) => Some(field.value(cells.text(row))),
            Self::Members(places) => match &field.kind {
                InputKind::Members(members) => members.get(usize::from(places[row])).cloned(),
                _ => None,
            },
        }
    }
}

/// A number as the reader of single requests takes it. An infinite one is no number of JSON, and is
/// refused as a text in its place is.
fn number(number: f64) -> Value {
    if number.is_infinite() { Value::from("infinite") } else { Value::from(number) }
}

impl InputColumns {
    /// Returns the request of a row, as the body of a single call has it.
    pub(super) fn request(&self, plan: &Plan, row: usize) -> Value {
        let fields = plan.inputs.iter().zip(&self.columns);
        let sent = fields
            .filter_map(|(field, column)| Some((field.name.to_owned(), column.value(field, row)?)))
            .collect::<Map<_, _>>();
        Value::Object(sent)
    }

    /// Checks what all rows share: the fields that must be sent, the values that hold for every
    /// row, the lengths and the number of rows.
    pub(super) fn new(
        plan: &Plan,
        columns: Vec<Column>,
        most_rows: usize,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut longest: Option<(&str, usize)> = None;
        for (field, column) in plan.inputs.iter().zip(&columns) {
            let path = [Step::name("body"), Step::name(field.name)];
            match column {
                Column::Absent if field.is_required => {
                    faults.push(Fault::new(&path, "value_error.missing", "field required"));
                }
                Column::Scalar(value) => {
                    faults.extend(validation::check_value(&field.schema, &path, value.clone()));
                }
                _ => {}
            }
            let Some(rows) = column.rows() else { continue };
            match longest {
                Some((first, expected)) if expected != rows => {
                    let msg = format!("this column has {rows} rows, and `{first}` has {expected}");
                    faults.push(Fault::new(&path, "value_error.columns.length", msg));
                }
                Some(_) => {}
                None => {
                    longest = Some((field.name, rows));
                    faults.extend(fault_of_rows(&columns, &path, rows, most_rows));
                }
            }
        }
        if !faults.is_empty() {
            faults.truncate(validation::MOST_FAULTS);
            return Err(faults);
        }
        let rows = longest.map_or(1, |(_, rows)| rows);
        let scalars = plan.inputs.iter().zip(&columns).map(|(field, column)| field.scalar(column));
        Ok(Self { scalars: scalars.collect(), columns, rows })
    }
}

impl InputField {
    /// The number that holds for every row, or the position of the member; NaN where there is none.
    fn scalar(&self, column: &Column) -> f64 {
        let value = match column {
            Column::Scalar(value) => Some(value),
            Column::Absent => self.default.as_ref(),
            Column::Numbers(_) | Column::Values(_) | Column::Members(_) => None,
        };
        match &self.kind {
            InputKind::Numbers(_) => value.and_then(Value::as_f64).unwrap_or(f64::NAN),
            InputKind::Members(_) => value.and_then(|value| self.member(value)).unwrap_or(f64::NAN),
            InputKind::Values | InputKind::Whole => f64::NAN,
        }
    }

    /// Reads the JSON text of a value, as far as its schema decides: a list or an object that the field does not
    /// take is left empty, and a list that is too long ends after the first item too many. Two bytes of a body
    /// would otherwise ask for a value of 72.
    pub(super) fn value(&self, text: &str) -> Value {
        match (&self.schema.shape, text.as_bytes().first()) {
            (Shape::Object(_) | Shape::Record { .. } | Shape::JsonText | Shape::Any, _) => {
                serde_json::from_str(text).unwrap_or_default()
            }
            (Shape::List { size, .. } | Shape::NumberList { size, .. }, Some(b'[')) => {
                let items = serde_json::from_str::<JsonCells>(text).unwrap_or_default();
                let most = size.most.map_or(items.len(), |most| items.len().min(most + 1));
                (0..most).map(|place| shallow(items.text(place))).collect()
            }
            _ => shallow(text),
        }
    }

    /// Makes the column of these values.
    pub(super) fn of_cells(&self, cells: JsonCells) -> Column {
        match self.places(&cells) {
            Some(places) => Column::Members(places),
            None => Column::Values(cells),
        }
    }

    /// The position of each member in a column of the enumeration; `None` for any other column.
    fn places(&self, cells: &JsonCells) -> Option<Vec<u8>> {
        let InputKind::Members(members) = &self.kind else { return None };
        let members: Vec<String> = members.iter().map(Value::to_string).collect();
        let place = |row| {
            let place = members.iter().position(|member| member == cells.text(row))?;
            u8::try_from(place).ok()
        };
        (0..cells.len()).map(place).collect()
    }

    /// The position of a member of the enumeration.
    fn member(&self, value: &Value) -> Option<f64> {
        let InputKind::Members(members) = &self.kind else { return None };
        members.iter().position(|member| member == value).map(|place| place as f64)
    }
}

/// The fault of too few or too many rows. A list that holds for every row is read once for each, so
/// that its length lowers the number of rows.
fn fault_of_rows(
    columns: &[Column],
    path: &[Step],
    rows: usize,
    most_rows: usize,
) -> Option<Fault> {
    let length = |column: &Column| match column {
        Column::Scalar(Value::Array(items)) => items.len(),
        _ => 0,
    };
    let most = most_rows / (1 + columns.iter().map(length).sum::<usize>());
    let (kind, msg) = match rows {
        0 => ("value_error.list.min_items", "ensure this value has at least 1 items".to_owned()),
        rows if rows > most => {
            ("value_error.list.max_items", format!("ensure this value has at most {most} items"))
        }
        _ => return None,
    };
    Some(Fault::new(path, kind, msg))
}

/// Reads the columns of a JSON body.
pub(super) fn read_json(
    plan: &Plan,
    bytes: &[u8],
    most_rows: usize,
    unknown: &mut UnknownFields,
) -> Result<InputColumns, Vec<Fault>> {
    let Fields(fields) = validation::read_typed(bytes)?;
    let mut columns: Vec<Column> = plan.inputs.iter().map(|_| Column::Absent).collect();
    let mut faults = Vec::new();
    for (name, value) in fields {
        if faults.len() >= validation::MOST_FAULTS {
            break;
        }
        match plan.inputs.iter().position(|field| field.name == name) {
            Some(place) => columns[place] = column(&plan.inputs[place], value.get()),
            None => faults.extend(unknown_field(plan, &name, unknown)),
        }
    }
    if faults.is_empty() { InputColumns::new(plan, columns, most_rows) } else { Err(faults) }
}

/// Records a field that the request does not have. Returns a fault where such fields are refused.
pub(super) fn unknown_field(plan: &Plan, name: &str, unknown: &mut UnknownFields) -> Option<Fault> {
    if unknown.handling == Handling::Lenient {
        unknown.add(&[], name);
        return None;
    }
    let path = [Step::name("body"), Step::name(&echo::value(name))];
    let msg = extra_field(name, plan.inputs.iter().map(|field| field.name));
    Some(Fault::new(&path, "value_error.extra", msg))
}

/// Reads the column of one field from its JSON text, which is sound.
fn column(field: &InputField, text: &str) -> Column {
    let is_list = text.starts_with('[') && !matches!(field.kind, InputKind::Whole);
    if !is_list {
        return Column::Scalar(field.value(text));
    }
    if matches!(field.kind, InputKind::Numbers(_))
        && let Some(numbers) = NumberText::new(text).filter(|list| list.is_numeric)
    {
        let mut column = Vec::with_capacity(numbers.len());
        column.extend(numbers.numbers());
        return Column::Numbers(column);
    }
    match serde_json::from_str::<JsonCells>(text) {
        Ok(cells) => field.of_cells(cells),
        Err(_) => Column::Scalar(Value::Null),
    }
}

/// Reads the JSON text of a value without the items of a list and the members of an object.
fn shallow(text: &str) -> Value {
    match text.as_bytes().first() {
        Some(b'[') => Value::Array(Vec::new()),
        Some(b'{') => Value::Object(Map::new()),
        _ => serde_json::from_str(text).unwrap_or_default(),
    }
}

/// The fields of a JSON object with the text of their values.
struct Fields<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Deserialize<'de> for JsonCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor;

        impl<'de> Visitor<'de> for ListVisitor {
            type Value = JsonCells;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonCells, A::Error> {
                let mut cells = JsonCells::default();
                while let Some(value) = list.next_element::<&RawValue>()? {
                    cells.push(value.get());
                }
                Ok(cells)
            }
        }

        deserializer.deserialize_seq(ListVisitor)
    }
}
