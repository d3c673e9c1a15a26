//! Columns as JSON and as Arrow beside single calls: rows per second, and the memory of the service.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;

use crate::{
    client::{Connection, Request},
    figures::resident,
    service::{Data, Service},
    table::closed,
    target::{Failure, Target},
};

/// The rows of a request.
const ROWS: usize = 1_000_000;
/// The connections of the single calls.
const CONNECTIONS: usize = 32;
/// The media type of a stream.
const ARROW: &str = "application/vnd.apache.arrow.stream";
/// The fields that hold for every row.
const SHARED: [(&str, &str); 3] = [("spot", "100"), ("risk_free_rate", "0.05"), ("strike", "100")];

/// A computation, its path, and the field of the answer that is asked for.
const COMPUTATIONS: [(&str, &str, &str); 2] = [
    ("prices", "/quantlib/pricing/bs/price/columns", "price"),
    ("implied volatilities", "/quantlib/pricing/bs/implied-vol/columns", "implied_volatility"),
];

/// Two columns that vary by row: the time, and the volatility or the price of the option.
fn columns(computation: &str) -> [(&'static str, Vec<f64>); 2] {
    let times = (0..ROWS).map(|row| 0.25 + (row % 1000) as f64 / 500.0).collect();
    let spread = |row: usize| (row % 997) as f64 / 997.0;
    match computation {
        "prices" => {
            let volatilities = (0..ROWS).map(|row| 0.1 + 0.4 * spread(row)).collect();
            [("time_to_maturity", times), ("volatility", volatilities)]
        }
        _ => {
            let prices = (0..ROWS).map(|row| 15.0 + 20.0 * spread(row)).collect();
            [("time_to_maturity", times), ("market_price", prices)]
        }
    }
}

/// Writes the columns as JSON, with six digits after the point: a body below the default limit.
fn json(columns: &[(&str, Vec<f64>)]) -> Vec<u8> {
    let shared = SHARED.map(|(name, text)| format!("\"{name}\":{text}")).join(",");
    let lists = columns.iter().map(|(name, numbers)| {
        let texts: Vec<String> = numbers.iter().map(|number| format!("{number:.4}")).collect();
        format!("\"{name}\":[{}]", texts.join(","))
    });
    format!("{{{shared},{}}}", lists.collect::<Vec<_>>().join(",")).into()
}

/// Writes the columns as a stream of Arrow.
fn arrow(columns: &[(&str, Vec<f64>)]) -> Result<Vec<u8>, Failure> {
    let arrays = columns.iter().map(|(name, numbers)| {
        let array: ArrayRef = Arc::new(Float64Array::from(numbers.clone()));
        (*name, array)
    });
    let batch = RecordBatch::try_from_iter(arrays)?;
    let schema = Arc::new(batch.schema().as_ref().clone().with_metadata(SHARED));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch.with_schema(schema.clone())?)?;
    Ok(writer.into_inner()?)
}

/// Sends a request until the time is over, and returns the rows per second.
async fn measure(service: &Service, request: &Request, duration: Duration) -> Result<f64, Failure> {
    let mut connection = Connection::open(service.address).await?;
    let (start, mut requests) = (Instant::now(), 0);
    while requests == 0 || start.elapsed() < duration {
        let answer = connection.send(request).await?;
        if answer.status != 200 {
            return Err(io::Error::other(format!("status {}", answer.status)).into());
        }
        requests += 1;
    }
    Ok((requests * ROWS) as f64 / start.elapsed().as_secs_f64())
}

fn row(name: &str, rate: f64, service: &Service) {
    let memory = resident(service.id()).unwrap_or(f64::NAN);
    println!("| {name} | {rate:.0} | {memory:.0} |");
}

/// Measures each computation in each form.
pub(crate) async fn run(target: &Target) -> Result<(), Failure> {
    let data = Data::new(target).await?;
    let keys = data.accounts(1).await?;
    let key = keys.first().ok_or("an account")?;
    let service = Service::start(target, &data, &[]).await?;
    let cores = std::thread::available_parallelism()?;
    println!("{ROWS} rows a request, {cores} cores for service and client\n");
    println!("| call | rows/s | memory of the service, MB |\n|---|---|---|");
    row("before", 0.0, &service);
    for (name, path, field) in COMPUTATIONS {
        let (path, columns) = (format!("{path}?fields={field}"), columns(name));
        for (form, media_type, body) in
            [("JSON", "application/json", json(&columns)), ("Arrow", ARROW, arrow(&columns)?)]
        {
            let request = Request::of_type(&path, key, media_type, &body);
            let rate = measure(&service, &request, target.duration()).await?;
            row(&format!("{name}, columns as {form}"), rate, &service);
        }
    }
    let single = [Request::price(key, None)];
    let singles = closed(service.address, &single, CONNECTIONS, target.duration()).await?;
    row("prices, single calls", singles.rate(), &service);
    service.stop().await?;
    println!("\naudit: {} accounts, every balance is the sum of its ledger", data.audit().await?);
    data.remove().await
}
