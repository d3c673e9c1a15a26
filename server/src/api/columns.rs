//! The REST endpoints of columns: computations of closed forms and dates over many rows.
//!
//! Routes, schemas and document are made from the table of columnar operations and from the schemas
//! of the single operations. `http/columns.rs` computes.

mod described;
mod description;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod numbers;
mod table;

use std::collections::HashMap;

use poem::{EndpointExt as _, endpoint::BoxEndpoint, http::Method};
use poem_openapi::{
    OpenApi,
    registry::{MetaApi, MetaOperation, MetaPath, Registry},
};

pub use self::table::{COLUMNAR, ColumnarOperation, find};
use super::quantlib::{
    instruments::{
        Instruments, bonds::Bonds, deposits::Deposits, foreign_exchange::ForeignExchange,
    },
    pricing::{
        Pricing, bachelier::Bachelier, black76::Black76, digital::DigitalOptions,
        greeks::EuropeanGreeks, kirk::SpreadOptions, rate_options::RateOptions,
    },
    scheduling::{Calendars, day_counts::DayCounts},
    time::Time,
};

/// The end of the path of every columnar operation, after that of its single operation.
const PATH_END: &str = "/columns";

/// The interfaces of the single operations, whose paths and tags the columns share.
type Singles = (
    (Pricing, EuropeanGreeks, Black76, Bachelier, DigitalOptions, SpreadOptions, RateOptions),
    (Instruments, Bonds, Deposits, ForeignExchange),
    (Time, Calendars, DayCounts),
);

/// Returns the path and the description of a single operation.
fn single(id: &str) -> (String, MetaOperation) {
    let paths = Singles::meta().into_iter().flat_map(|api| api.paths);
    let operations = paths.flat_map(|MetaPath { path, operations }| {
        operations.into_iter().map(move |operation| (path.clone(), operation))
    });
    let mut found = operations.filter(|(_, operation)| operation.operation_id == Some(id));
    found.next().expect("the interface of each single operation is in the list")
}

/// The REST endpoints of columns.
#[derive(Default)]
pub struct Columns;

impl OpenApi for Columns {
    fn meta() -> Vec<MetaApi> {
        let paths = COLUMNAR.iter().map(|columnar| {
            let (path, operation) = single(columnar.single);
            let operations = vec![columnar.described(operation)];
            MetaPath { path: path + PATH_END, operations }
        });
        vec![MetaApi { paths: paths.collect() }]
    }

    fn register(registry: &mut Registry) {
        COLUMNAR.iter().for_each(|columnar| columnar.register(registry));
    }

    fn add_routes(self, table: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {
        for columnar in COLUMNAR.iter() {
            let (path, _) = single(columnar.single);
            let endpoint = columnar.endpoint().boxed();
            table.entry(path + PATH_END).or_default().insert(Method::POST, endpoint);
        }
    }
}
