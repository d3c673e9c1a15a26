//! The lines of columnar operations.

use std::sync::{Arc, LazyLock, OnceLock};

use poem_openapi::{
    registry::{MetaSchemaRef, Registry},
    types::{Example, ToJSON as _, Type},
};
use serde_json::Value;

use super::description::description;
use crate::{
    api::{
        operations,
        quantlib::{
            RequestFor, instruments,
            instruments::{bonds, deposits, foreign_exchange},
            pricing::{self, bachelier, black76, digital, greeks, kirk, rate_options},
            scheduling::{self, day_counts},
            time,
        },
    },
    body_memory::LARGEST_OF_ACCOUNT,
    http::{
        COMMON_BODY_LIMIT, Computation, Operation,
        columns::{
            ColumnsEndpoint, FromNumbers, Plan, ROWS_OF_A_JOB, RowsFunction, ToNumbers, by_numbers,
            by_value, cost,
        },
    },
};

/// A columnar operation.
pub struct ColumnarOperation {
    /// The id, tier and largest body. The cost is that of one row.
    pub operation: Operation,
    /// The id of the single operation.
    pub single: &'static str,
    /// The credits of a single call.
    pub marker: u32,
    pub(super) plan: Arc<Plan>,
    rows: RowsFunction,
    rows_of_a_job: usize,
    pub(super) request: fn() -> MetaSchemaRef,
    pub(super) answer: fn() -> MetaSchemaRef,
    pub(super) register: fn(&mut Registry),
    pub(super) example: fn() -> Value,
    pub(super) description: String,
    summary: OnceLock<String>,
}

/// A line of the table.
struct TableLine {
    single: &'static str,
    id: &'static str,
    rows: RowsFunction,
    rows_of_a_job: usize,
    plan: fn(&[&str]) -> Plan,
    /// The fields of the answer that have the name of a field of the request and another value.
    computed: &'static [&'static str],
    request: fn() -> MetaSchemaRef,
    answer: fn() -> MetaSchemaRef,
    register: fn(&mut Registry),
    example: fn() -> Value,
}

/// A line whose rows are numbers.
const fn numbers<C>(single: &'static str, id: &'static str) -> TableLine
where
    C: Computation + FromNumbers + Example,
    C::Answer: ToNumbers + Type,
{
    TableLine { rows: by_numbers::<C>, ..values::<C>(single, id) }
}

/// A line whose rows have other values.
const fn values<C>(single: &'static str, id: &'static str) -> TableLine
where
    C: Computation + Example,
    C::Answer: Type,
{
    TableLine {
        single,
        id,
        rows: by_value::<C>,
        rows_of_a_job: ROWS_OF_A_JOB,
        plan: Plan::of::<C>,
        computed: &[],
        request: C::schema_ref,
        answer: <C::Answer as Type>::schema_ref,
        register: register::<C>,
        example: example::<C>,
    }
}

impl TableLine {
    /// Keeps columns that have the name of a field of the request and another value.
    const fn computing(self, names: &'static [&'static str]) -> Self {
        Self { computed: names, ..self }
    }

    /// Computes so few rows in a job, for a computation whose row takes longer than a closed form.
    const fn in_jobs_of(self, rows: usize) -> Self {
        Self { rows_of_a_job: rows, ..self }
    }
}

fn register<C: Computation>(registry: &mut Registry)
where
    C::Answer: Type,
{
    C::register(registry);
    C::Answer::register(registry);
}

/// The answer to the example, in full.
fn example<C: Computation + Example>() -> Value {
    let answer = C::example().compute_in_full().expect("the example of a computation is sound");
    answer.to_json().expect("an answer is an object")
}

/// Every columnar operation.
static LINES: &[TableLine] = &[
    numbers::<pricing::European>("price_european_option", "price_european_option_columns"),
    numbers::<RequestFor<greeks::UsualGreeks>>(
        "compute_european_greeks",
        "compute_european_greeks_columns",
    ),
    numbers::<RequestFor<greeks::AllGreeks>>(
        "compute_all_european_greeks",
        "compute_all_european_greeks_columns",
    ),
    numbers::<greeks::QuotedEuropean>(
        "imply_european_volatility",
        "imply_european_volatility_columns",
    ),
    numbers::<RequestFor<black76::Black76Price>>(
        "price_forward_option",
        "price_forward_option_columns",
    ),
    numbers::<RequestFor<black76::Black76Greeks>>(
        "compute_forward_greeks",
        "compute_forward_greeks_columns",
    ),
    numbers::<RequestFor<black76::Black76Volatility>>(
        "imply_forward_volatility",
        "imply_forward_volatility_columns",
    ),
    numbers::<RequestFor<bachelier::BachelierPrice>>(
        "price_normal_option",
        "price_normal_option_columns",
    ),
    numbers::<RequestFor<bachelier::BachelierGreeks>>(
        "compute_normal_greeks",
        "compute_normal_greeks_columns",
    ),
    numbers::<RequestFor<bachelier::BachelierVolatility>>(
        "imply_normal_volatility",
        "imply_normal_volatility_columns",
    ),
    numbers::<RequestFor<digital::DigitalCall>>("price_digital_call", "price_digital_call_columns"),
    numbers::<RequestFor<digital::DigitalPut>>("price_digital_put", "price_digital_put_columns"),
    numbers::<pricing::Exchange>("price_exchange_option", "price_exchange_option_columns"),
    // A row has a quadrature, which takes a tenth of a millisecond.
    numbers::<kirk::Spread>("price_spread_option", "price_spread_option_columns").in_jobs_of(128),
    values::<RequestFor<rate_options::Caplet>>("price_caplet", "price_caplet_columns"),
    values::<RequestFor<rate_options::Floorlet>>("price_floorlet", "price_floorlet_columns"),
    // The annuity of the answer is that of the notional.
    values::<rate_options::Swaption>("price_swaption", "price_swaption_columns")
        .computing(&["annuity"]),
    values::<foreign_exchange::Currency>("price_currency_option", "price_currency_option_columns"),
    values::<bonds::ZeroCoupon>("price_zero_coupon_bond", "price_zero_coupon_bond_columns"),
    // A bill is quoted by one of its figures, and has all of them.
    values::<instruments::TreasuryBill>("value_treasury_bill", "value_treasury_bill_columns")
        .computing(&["discount_rate", "price", "yield"]),
    // The convention may move both days.
    values::<deposits::Deposit>("value_deposit", "value_deposit_columns")
        .computing(&["start_date", "maturity_date"]),
    values::<foreign_exchange::PairForward>(
        "value_currency_forward",
        "value_currency_forward_columns",
    ),
    values::<time::TenorAddition>("add_tenor_to_date", "add_tenor_to_date_columns"),
    values::<day_counts::YearFraction>("compute_year_fraction", "compute_year_fraction_columns"),
    values::<RequestFor<scheduling::DayStatus>>("check_business_day", "check_business_day_columns"),
    values::<RequestFor<scheduling::NextDay>>(
        "find_next_business_day",
        "find_next_business_day_columns",
    ),
    values::<RequestFor<scheduling::PreviousDay>>(
        "find_previous_business_day",
        "find_previous_business_day_columns",
    ),
    values::<scheduling::DayAddition>("add_business_days", "add_business_days_columns"),
    values::<scheduling::DaySpan>("count_business_days", "count_business_days_columns"),
    values::<scheduling::Adjustment>("adjust_date", "adjust_date_columns"),
];

/// Every columnar operation, completed from its single operation.
pub static COLUMNAR: LazyLock<Vec<ColumnarOperation>> =
    LazyLock::new(|| LINES.iter().map(ColumnarOperation::new).collect());

/// Returns the columnar operation with this id; `None` for an unknown id.
#[must_use]
pub fn find(id: &str) -> Option<&'static ColumnarOperation> {
    COLUMNAR.iter().find(|columnar| columnar.operation.id == id)
}

impl ColumnarOperation {
    fn new(line: &TableLine) -> Self {
        let single = operations::find(line.single).expect("a columnar operation has a single one");
        let body_limit = if single.cost == 0 { COMMON_BODY_LIMIT } else { LARGEST_OF_ACCOUNT };
        let operation =
            Operation { id: line.id, cost: cost(single.cost, 1), body_limit, ..**single };
        Self {
            operation,
            single: line.single,
            marker: single.cost,
            plan: Arc::new((line.plan)(line.computed)),
            rows: line.rows,
            rows_of_a_job: line.rows_of_a_job,
            request: line.request,
            answer: line.answer,
            register: line.register,
            example: line.example,
            description: description(single),
            summary: OnceLock::new(),
        }
    }

    /// Returns the summary, which is that of the single operation with the words that tell the two
    /// apart.
    pub(super) fn summary(&self, single: &str) -> &str {
        self.summary.get_or_init(|| format!("{}, in columns.", single.trim_end_matches('.')))
    }

    /// Returns the schema of the single request.
    #[must_use]
    pub fn request_schema(&self) -> MetaSchemaRef {
        (self.request)()
    }

    /// Returns the endpoint.
    pub(super) fn endpoint(&self) -> ColumnsEndpoint {
        ColumnsEndpoint {
            marker: self.marker,
            plan: self.plan.clone(),
            rows: self.rows,
            rows_of_a_job: self.rows_of_a_job,
        }
    }
}
