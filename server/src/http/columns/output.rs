//! The columns of an answer, and their text as JSON.

use serde_json::Value;

use super::{
    super::validation::Fault,
    plan::{OutputField, OutputKind, Plan},
};

/// The most faults that a JSON answer lists; `failed` counts all refused rows.
const MOST_FAULTS: usize = 1000;

/// Rows of an answer, by columns.
pub(crate) struct OutputColumns {
    pub(super) columns: Vec<OutputCells>,
    /// The faults of each refused row.
    pub(super) faults: Vec<(usize, Vec<Fault>)>,
}

/// The values of one column. A refused row has none.
pub(super) enum OutputCells {
    /// Doubles; NaN for none.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// True or false.
    Booleans(Vec<Option<bool>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Lists of texts.
    Lists(Vec<Option<Vec<String>>>),
    /// A column that the request does not ask for.
    Omitted,
}

impl OutputCells {
    fn new(kind: OutputKind, rows: usize) -> Self {
        match kind {
            OutputKind::Number => Self::Numbers(Vec::with_capacity(rows)),
            OutputKind::Integer => Self::Integers(Vec::with_capacity(rows)),
            OutputKind::Boolean => Self::Booleans(Vec::with_capacity(rows)),
            OutputKind::Text => Self::Texts(Vec::with_capacity(rows)),
            OutputKind::Texts => Self::Lists(Vec::with_capacity(rows)),
        }
    }

    fn push(&mut self, value: Option<&Value>) {
        match self {
            Self::Omitted => {}
            Self::Numbers(cells) => cells.push(value.and_then(Value::as_f64).unwrap_or(f64::NAN)),
            Self::Integers(cells) => cells.push(value.and_then(Value::as_i64)),
            Self::Booleans(cells) => cells.push(value.and_then(Value::as_bool)),
            Self::Texts(cells) => cells.push(value.and_then(Value::as_str).map(str::to_owned)),
            Self::Lists(cells) => {
                let texts = |items: &Vec<Value>| {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                };
                cells.push(value.and_then(Value::as_array).map(texts));
            }
        }
    }

    /// Writes the values as elements of a JSON list, without its brackets.
    fn write(&self) -> String {
        match self {
            Self::Omitted => String::new(),
            Self::Numbers(cells) => numbers(cells),
            Self::Integers(cells) => elements(cells, ToString::to_string),
            Self::Booleans(cells) => elements(cells, ToString::to_string),
            Self::Texts(cells) => elements(cells, |cell| Value::from(cell.as_str()).to_string()),
            Self::Lists(cells) => elements(cells, |cell| Value::from(cell.clone()).to_string()),
        }
    }
}

fn elements<T>(cells: &[Option<T>], write: impl Fn(&T) -> String) -> String {
    let texts = cells.iter().map(|cell| cell.as_ref().map_or_else(|| "null".to_owned(), &write));
    texts.collect::<Vec<_>>().join(",")
}

/// Writes numbers by the function that the writer of single answers calls.
fn numbers(cells: &[f64]) -> String {
    let mut text = String::with_capacity(20 * cells.len());
    let mut buffer = zmij::Buffer::new();
    for (place, number) in cells.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(if number.is_finite() { buffer.format_finite(*number) } else { "null" });
    }
    text
}

impl OutputColumns {
    /// Makes the columns that are asked for, without a row and with room for `rows`.
    pub(super) fn new(plan: &Plan, asked: &[bool], rows: usize) -> Self {
        let column = |(field, is_asked): (&OutputField, &bool)| {
            if *is_asked { OutputCells::new(field.kind, rows) } else { OutputCells::Omitted }
        };
        let columns = plan.outputs.iter().zip(asked).map(column).collect();
        Self { columns, faults: Vec::new() }
    }

    /// Adds the answer of a row, as a single call has it.
    pub(super) fn add_value(&mut self, plan: &Plan, answer: &Value) {
        for (field, cells) in plan.outputs.iter().zip(&mut self.columns) {
            let value = field.path.iter().try_fold(answer, |value, name| value.get(name));
            cells.push(value.filter(|value| !value.is_null()));
        }
    }

    /// Adds the answer of a row whose columns are numbers.
    pub(super) fn add_numbers(&mut self, answer: &[f64]) {
        for (cells, number) in self.columns.iter_mut().zip(answer) {
            if let OutputCells::Numbers(cells) = cells {
                cells.push(*number);
            }
        }
    }

    /// Adds a refused row.
    pub(super) fn refuse(&mut self, row: usize, faults: Vec<Fault>) {
        self.columns.iter_mut().for_each(|cells| cells.push(None));
        self.faults.push((row, faults));
    }

    /// Writes each column as elements of a JSON list.
    pub(super) fn write(self) -> JsonRows {
        let columns = self.columns.iter().map(OutputCells::write).collect();
        JsonRows { columns, faults: self.faults }
    }
}

/// Rows of an answer as JSON.
pub(super) struct JsonRows {
    /// The elements of each column.
    columns: Vec<String>,
    /// The faults of each refused row.
    faults: Vec<(usize, Vec<Fault>)>,
}

impl JsonRows {
    /// Returns the number of bytes.
    pub(super) fn len(&self) -> usize {
        self.columns.iter().map(String::len).sum()
    }
}

/// Writes the body of the answer.
pub(super) fn body(plan: &Plan, asked: &[bool], blocks: &[JsonRows]) -> String {
    let length: usize = blocks.iter().map(JsonRows::len).sum();
    let mut text = String::with_capacity(length + 64 * plan.outputs.len() + 256);
    text.push_str(r#"{"success":true,"data":{"#);
    let mut group = None;
    for place in (0..plan.outputs.len()).filter(|place| asked[*place]) {
        let field = &plan.outputs[place];
        if field.group() != group {
            enter(&mut text, group, field.group());
            group = field.group();
        }
        text.push_str(&format!("\"{}\":[", field.path.last().copied().unwrap_or_default()));
        for (number, block) in blocks.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            text.push_str(&block.columns[place]);
        }
        text.push_str("],");
    }
    enter(&mut text, group, None);
    let faults = blocks.iter().flat_map(|block| &block.faults);
    let failed = faults.clone().count();
    let listed: Vec<String> = faults
        .flat_map(|(row, faults)| faults.iter().map(move |fault| written(*row, fault)))
        .take(MOST_FAULTS)
        .collect();
    text.push_str(&format!(r#""faults":[{}],"failed":{failed}}}}}"#, listed.join(",")));
    text
}

/// Ends the object that holds the fields so far, and begins that of the fields to come.
fn enter(text: &mut String, before: Option<&str>, after: Option<&str>) {
    if before.is_some() {
        text.truncate(text.len() - 1);
        text.push_str("},");
    }
    if let Some(name) = after {
        text.push_str(&format!("\"{name}\":{{"));
    }
}

/// Writes the fault of a row.
fn written(row: usize, fault: &Fault) -> String {
    let mut fault = fault.to_json();
    fault["index"] = row.into();
    fault.to_string()
}

impl OutputField {
    /// The object that holds the field, where there is one.
    fn group(&self) -> Option<&'static str> {
        self.path.get(..self.path.len() - 1).and_then(|groups| groups.first()).copied()
    }
}
