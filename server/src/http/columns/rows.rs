//! The computation of rows, with the bits and the words of single calls.

use std::ops::Range;

use poem_openapi::types::ToJSON as _;
use serde_json::Value;

use super::{
    super::{
        body_schema::NumberRange,
        computation::{Computation, RequestFor, SharedComputation},
        evaluation::{fault, missing_faults},
        validation::{self, Fault, Step},
    },
    input::{Column, InputColumns},
    output::OutputColumns,
    plan::{InputField, InputKind, Plan},
};

/// Computes rows of a request, and appends them to the answer.
pub(crate) type RowsFunction = fn(&Plan, &InputColumns, Range<usize>, &mut OutputColumns);

/// The most fields of a request whose rows are read as numbers.
const MOST_FIELDS: usize = 16;

/// A request whose fields are numbers and members of enumerations, so that a row is read without a
/// JSON value.
pub(crate) trait FromNumbers: Sized {
    /// Makes the request of a row from its fields, in the order of the schema. A member of an
    /// enumeration is its position in the schema. `None` for a row that is not sound.
    fn from_numbers(fields: &[f64]) -> Option<Self>;
}

/// An answer whose columns are numbers, so that a row is written without a JSON value.
pub(crate) trait ToNumbers {
    /// Writes the columns, in the order of the schema; NaN for an absent field.
    fn write_numbers(&self, columns: &mut [f64]);
}

impl<C: SharedComputation> FromNumbers for RequestFor<C>
where
    C::Request: FromNumbers,
{
    fn from_numbers(fields: &[f64]) -> Option<Self> {
        C::Request::from_numbers(fields).map(Self)
    }
}

/// Computes rows as single calls are computed, from a JSON value of each row.
pub(crate) fn by_value<C: Computation>(
    plan: &Plan,
    input: &InputColumns,
    rows: Range<usize>,
    output: &mut OutputColumns,
) {
    for row in rows {
        add_by_value::<C>(plan, input, row, output);
    }
}

fn add_by_value<C: Computation>(
    plan: &Plan,
    input: &InputColumns,
    row: usize,
    output: &mut OutputColumns,
) {
    match answer_to::<C>(plan, input.request(plan, row)) {
        Ok(answer) => output.add_value(plan, &answer),
        Err(faults) => output.refuse(row, faults),
    }
}

fn answer_to<C: Computation>(plan: &Plan, request: Value) -> Result<Value, Vec<Fault>> {
    let body = [Step::name("body")];
    let request = validation::read_value(&plan.schema, &body, request)?;
    let arguments = C::parse_from_json(Some(request))
        .map_err(|error| vec![Fault::new(&body, "value_error", error.into_message())])?;
    let absent = missing_faults(&arguments);
    if !absent.is_empty() {
        return Err(absent);
    }
    if arguments.is_long() {
        let msg = "this row takes too long for a column; send a single call";
        return Err(vec![Fault::new(&body, "value_error.columns.long", msg)]);
    }
    let answer = arguments.compute_in_full().map_err(|error| vec![fault(&error, C::wire_name)])?;
    Ok(answer.to_json().unwrap_or_default())
}

/// Computes rows from numbers. A row that has a fault is computed [`by_value`], which words the
/// fault.
pub(crate) fn by_numbers<C: Computation + FromNumbers>(
    plan: &Plan,
    input: &InputColumns,
    rows: Range<usize>,
    output: &mut OutputColumns,
) where
    C::Answer: ToNumbers,
{
    let Some(readers) = readers(plan, input) else {
        return by_value::<C>(plan, input, rows, output);
    };
    let (mut fields, mut answer) = ([0.0; MOST_FIELDS], vec![f64::NAN; plan.outputs.len()]);
    let fields = &mut fields[..readers.len()];
    for row in rows {
        let are_sound =
            readers.iter().zip(fields.iter_mut()).fold(true, |sound, (reader, field)| {
                *field = reader.number(row);
                sound & reader.takes(*field)
            });
        let computed = are_sound.then(|| C::from_numbers(fields)).flatten();
        match computed.and_then(|request| request.compute_in_full().ok()) {
            Some(computed) => {
                computed.write_numbers(&mut answer);
                output.add_numbers(&answer);
            }
            None => add_by_value::<C>(plan, input, row, output),
        }
    }
}

/// The cells of one field.
enum NumberCells<'c> {
    One(f64),
    Numbers(&'c [f64]),
    Places(&'c [u8]),
}

/// The reader of the numbers of one field.
struct NumberReader<'c> {
    cells: NumberCells<'c>,
    least: f64,
    most: f64,
    is_least_excluded: bool,
    is_most_excluded: bool,
}

impl NumberReader<'_> {
    fn number(&self, row: usize) -> f64 {
        match self.cells {
            NumberCells::One(number) => number,
            NumberCells::Numbers(numbers) => numbers[row],
            NumberCells::Places(places) => f64::from(places[row]),
        }
    }

    /// Returns whether the schema takes the number. NaN and the infinities are refused.
    fn takes(&self, number: f64) -> bool {
        let is_above =
            if self.is_least_excluded { number > self.least } else { number >= self.least };
        let is_below = if self.is_most_excluded { number < self.most } else { number <= self.most };
        is_above & is_below
    }
}

/// The fields as numbers; `None` where a column has other values than numbers.
fn readers<'c>(plan: &Plan, input: &'c InputColumns) -> Option<Vec<NumberReader<'c>>> {
    let fields = plan.inputs.iter().zip(&input.columns).zip(&input.scalars);
    let reader = |((field, column), scalar): ((&InputField, &'c Column), &f64)| {
        let cells = match column {
            Column::Numbers(numbers) => NumberCells::Numbers(numbers),
            Column::Members(places) => NumberCells::Places(places),
            Column::Absent | Column::Scalar(_) => NumberCells::One(*scalar),
            Column::Values(_) => return None,
        };
        let range = match &field.kind {
            InputKind::Numbers(range) => *range,
            _ => NumberRange::default(),
        };
        Some(NumberReader {
            cells,
            least: range.minimum.unwrap_or(f64::MIN),
            most: range.maximum.unwrap_or(f64::MAX),
            is_least_excluded: range.is_minimum_exclusive,
            is_most_excluded: range.is_maximum_exclusive,
        })
    };
    fields.map(reader).collect()
}
