//! The comparison of answers: columns in both forms, single calls, and the peer.

use std::{io::Cursor, net::SocketAddr};

use arrow_array::{Array as _, cast::AsArray as _, types::Float64Type};
use arrow_ipc::reader::StreamReader;
use serde_json::Value;

use super::{
    inputs::{Body, Computation, Form, ROWS},
    measured::Measured,
};
use crate::{
    client::{Connection, Request},
    target::Failure,
};

/// The distance of the rows that are compared with single calls: a prime, so that every column varies.
const SAMPLE_DISTANCE: usize = 4_999;
/// The largest relative difference between the service and a peer that does the same work.
const SAME_WORK: f64 = 1e-6;

/// Fails where the forms differ in a bit, or a sampled row from its single call, or the peer by more
/// than [`SAME_WORK`]. Prints the comparison, which is also the first request of every kind.
pub(super) async fn compare(
    services: &[Measured],
    computation: &Computation,
    bodies: &[Body],
) -> Result<(), Failure> {
    let (service, peers) = services.split_first().ok_or("no service")?;
    let mut columns = Vec::new();
    for body in bodies {
        columns.push(numbers(service, computation, body).await?);
    }
    let expected = columns.first().ok_or("no form")?;
    let has_equal_bits = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
    if !columns.iter().all(|column| column.iter().zip(expected).all(has_equal_bits)) {
        return Err(format!("{}: the forms have different bits", computation.name).into());
    }
    compare_singles(service, computation, expected).await?;
    let mut text = format!(
        "{}: {ROWS} rows of JSON and Arrow and {} single calls have the same bits",
        computation.name,
        ROWS.div_ceil(SAMPLE_DISTANCE)
    );
    for peer in peers {
        let mut largest = 0.0_f64;
        for body in bodies {
            let found = numbers(peer, computation, body).await?;
            largest = largest.max(largest_difference(&found, expected));
        }
        if largest > SAME_WORK {
            return Err(format!("{text}; {} differs by {largest:e}", peer.name).into());
        }
        text += &format!("; {} differs by at most {largest:.1e}", peer.name);
    }
    println!("{text}.");
    Ok(())
}

async fn compare_singles(
    service: &Measured,
    computation: &Computation,
    expected: &[f64],
) -> Result<(), Failure> {
    let mut connection = Connection::open(first(service)?).await?;
    for row in (0..ROWS).step_by(SAMPLE_DISTANCE) {
        let key = service.keys.first().map(String::as_str);
        let request = Request::post(computation.path, key, &computation.single(row));
        let answer: Value = serde_json::from_slice(connection.fetch(&request).await?)?;
        let found = answer["data"][computation.field].as_f64();
        if found.map(f64::to_bits) != expected.get(row).copied().map(f64::to_bits) {
            return Err(format!("row {row}: {found:?}, {:?}", expected.get(row)).into());
        }
    }
    Ok(())
}

/// Fetches the column of an answer.
async fn numbers(
    service: &Measured,
    computation: &Computation,
    body: &Body,
) -> Result<Vec<f64>, Failure> {
    let mut connection = Connection::open(first(service)?).await?;
    let request = service.requests(computation, body, 1).pop().ok_or("no key")?;
    let answer = connection.fetch(&request).await?;
    let numbers = match body.form {
        Form::Json => of_json(answer, computation.field)?,
        Form::Arrow => of_arrow(answer, computation.field)?,
    };
    if numbers.len() == ROWS {
        Ok(numbers)
    } else {
        Err(format!("{} answers {} rows", service.name, numbers.len()).into())
    }
}

fn first(service: &Measured) -> Result<SocketAddr, Failure> {
    Ok(*service.addresses.first().ok_or("no address")?)
}

fn of_json(answer: &[u8], field: &str) -> Result<Vec<f64>, Failure> {
    let mut answer: Value = serde_json::from_slice(answer)?;
    let column: Vec<Option<f64>> = serde_json::from_value(answer["data"][field].take())?;
    column.into_iter().map(|number| number.ok_or_else(|| "a row was refused".into())).collect()
}

fn of_arrow(answer: &[u8], field: &str) -> Result<Vec<f64>, Failure> {
    let mut numbers = Vec::with_capacity(ROWS);
    for batch in StreamReader::try_new(Cursor::new(answer), None)? {
        let batch = batch?;
        let column = batch.column_by_name(field).ok_or("no such column")?;
        let column = column.as_primitive_opt::<Float64Type>().ok_or("no column of numbers")?;
        if column.null_count() > 0 {
            return Err("a row was refused".into());
        }
        numbers.extend_from_slice(column.values());
    }
    Ok(numbers)
}

/// Returns the largest relative difference; NaN counts as infinite.
fn largest_difference(found: &[f64], expected: &[f64]) -> f64 {
    let differences = found.iter().zip(expected).map(|(found, expected)| {
        let difference = (found - expected).abs() / expected.abs();
        if difference.is_nan() { f64::INFINITY } else { difference }
    });
    differences.fold(0.0, f64::max)
}
