//! The unit of each number of the document, as `x-unit`.
//!
//! poem-openapi has no extension for a field, so the units stand here. A number without a unit fails
//! the test `every_number_has_a_unit` of `tests/ops/openapi.rs`, which lists all of them.

use serde_json::{Map, Value};

/// The fields of each unit. `Schema.field` goes before `*Suffix.field`, which holds for all schemas with
/// that end, and before `field`, which holds for all schemas and for parameters. A name that means
/// different things, as `rho` does, has no entry without a schema.
///
/// Money has the unit `currency`: any currency, the same one throughout a call. A derivative has the
/// units of both quantities; `1.00` of a rate or a volatility is 100 percentage points.
const UNITS: &[(&str, &[&str])] = &[
    // Amounts.
    (
        "currency",
        &[
            "F1",
            "F2",
            "S1",
            "S2",
            "accrued_interest",
            "amount",
            "asset_or_nothing",
            "barrier",
            "cet1_capital",
            "discount_amount",
            "early_exercise_premium",
            "european_price",
            "exact_price",
            "expenditure",
            "face_value",
            "far_spot",
            "forward",
            "income",
            "intrinsic_value",
            "margrabe_call",
            "margrabe_put",
            "market_price",
            "notional",
            "price",
            "prices",
            "rebate",
            "risk_weighted_assets",
            "spot",
            "strike",
            "tier1_capital",
            "time_value",
            "total_capital",
            "total_exposure",
            "approximation_error",
        ],
    ),
    (
        "credits",
        &["balance_after", "credit_balance", "credits", "credits_used", "total_credits_used"],
    ),
    ("credits per request", &["avg_credits_per_request"]),
    // Rates and times.
    (
        "decimal per year",
        &[
            "CapletRequest.strike",
            "CurveInstrument.rate",
            "SwaptionRequest.strike",
            "CurveInstrument.convexity",
            "coupon_rate",
            "discount_rate",
            "dividend_yield",
            "domestic_rate",
            "expected_return",
            "expected_returns",
            "foreign_rate",
            "forward_rate",
            "forward_swap_rate",
            "instantaneous_forward_rate",
            "money_market_yield",
            "q1",
            "q2",
            "rf_rate",
            "risk_free_rate",
            "simple_forward_rate",
            "yield",
            "zero_rate",
        ],
    ),
    ("decimal per square root of a year", &["sigma1", "sigma2", "spread_volatility", "volatility"]),
    ("decimal per year, or discount factor, by curve_type", &["BuildCurveRequest.values"]),
    ("decimal squared per year", &["covariance_matrix"]),
    ("currency per square root of a year", &["NormalOptionRequest.normal_volatility"]),
    ("decimal per year, per square root of a year", &["RateOptionPrice.normal_volatility"]),
    (
        "decimal or, for a normal model, currency, per square root of a year",
        &["implied_volatility", "iv"],
    ),
    ("payments per year", &["frequency"]),
    (
        "years",
        &[
            "EarlyExercisePoint.time",
            "SwaptionRequest.annuity",
            "exercise_dates",
            "exercise_times",
            "query_tenors",
            "t_end",
            "t_expiry",
            "t_start",
            "tenor",
            "tenors",
            "time_to_expiry",
            "time_to_maturity",
            "year_fraction",
        ],
    ),
    ("calendar days", &["days_to_maturity"]),
    ("business days", &["settlement_days"]),
    ("UTC days", &["get_usage.days"]),
    ("seconds", &["expires_in", "window_seconds"]),
    ("Unix seconds", &["reset_at"]),
    ("milliseconds", &["avg_response_time_ms", "response_time_ms"]),
    ("time steps", &["lag"]),
    // Numbers without a dimension.
    (
        "fraction",
        &[
            "CobbDouglasRequest.alpha",
            "cet1_ratio",
            "discount_factor",
            "leverage_ratio",
            "max_weights",
            "min_weights",
            "probabilities",
            "tier1_ratio",
            "total_capital_ratio",
            "MinVariancePortfolio.weights",
        ],
    ),
    (
        "ratio",
        &[
            "*Greeks.elasticity",
            "*Entropy.base",
            "*EntropyRequest.base",
            "elasticity_of_substitution",
            "sharpe_ratio",
        ],
    ),
    ("correlation", &["ExchangeOptionRequest.rho", "SpreadOptionRequest.rho"]),
    ("substitution parameter", &["CesRequest.rho"]),
    ("relative weight", &["CesRequest.weights"]),
    ("utility", &["indirect_utility", "utility"]),
    ("quantity of the good", &["demand"]),
    ("unit of the argument", &["DerivativeRequest.h", "DerivativeRequest.x", "DerivativeValue.x"]),
    ("unit of the function per unit of the argument", &["derivative"]),
    ("unit of the series", &["x_history", "y_history"]),
    ("nats", &["transfer_entropy"]),
    ("units of the logarithm's base: bits for 2, nats for e", &["shannon_entropy"]),
    (
        "count",
        &[
            "count",
            "daily_limit",
            "ended",
            "failed_logins",
            "limit",
            "n_bins",
            "n_steps",
            "offset",
            "page_size",
            "rate_limit_per_hour",
            "recipients",
            "remaining",
            "request_count",
            "requests_today",
            "steps",
            "steps_used",
            "successful_logins",
            "total",
            "total_pages",
            "total_requests",
            "unread_count",
            "updated",
        ],
    ),
    ("page number", &["page"]),
    ("identifier", &["id", "notification_id", "session_id", "user_id"]),
    ("HTTP status", &["status_code"]),
    // First derivatives of the price.
    (
        "currency per currency of the spot",
        &["*Greeks.delta", "DigitalOptionPrice.delta", "forward_delta", "premium_adjusted_delta"],
    ),
    ("currency per currency of the forward", &["ForwardOptionGreeks.delta"]),
    ("currency per 1.00 of the forward rate", &["RateOptionGreeks.delta"]),
    ("currency per 1.00 of volatility", &["*Greeks.vega", "DigitalOptionPrice.vega"]),
    (
        "currency per unit of the volatility",
        &["ForwardOptionGreeks.vega", "ImpliedVolatility.vega"],
    ),
    ("currency per 0.01 of volatility", &["vega_per_point"]),
    ("currency per year", &["*Greeks.theta", "DigitalOptionPrice.theta"]),
    ("currency per calendar day", &["theta_per_day"]),
    (
        "currency per 1.00 of the rate",
        &[
            "RateOptionPrice.annuity",
            "*Greeks.rho",
            "DigitalOptionPrice.rho",
            "rho_domestic",
            "rho_foreign",
        ],
    ),
    ("currency per 0.0001 of the rate", &["rho_per_basis_point"]),
    ("currency per 1.00 of the yield", &["*Greeks.epsilon", "DigitalOptionPrice.epsilon"]),
    ("currency per currency of the strike", &["*Greeks.dual_delta"]),
    ("currency per 1.00 of the strike", &["RateOptionGreeks.dual_delta"]),
    // Second derivatives of the price.
    ("delta per currency of the spot", &["*Greeks.gamma", "DigitalOptionPrice.gamma"]),
    ("delta per currency of the forward", &["ForwardOptionGreeks.gamma"]),
    ("delta per 1.00 of the forward rate", &["RateOptionGreeks.gamma"]),
    ("dual_delta per currency of the strike", &["*Greeks.dual_gamma"]),
    ("dual_delta per 1.00 of the strike", &["RateOptionGreeks.dual_gamma"]),
    ("delta per 1.00 of volatility", &["*Greeks.vanna"]),
    ("delta per unit of the volatility", &["ForwardOptionGreeks.vanna"]),
    ("vega per 1.00 of volatility", &["*Greeks.vomma"]),
    ("vega per unit of the volatility", &["ForwardOptionGreeks.vomma"]),
    ("delta per year", &["*Greeks.charm"]),
    ("vega per year", &["*Greeks.veta"]),
    ("rho per 1.00 of volatility", &["*Greeks.vera"]),
    ("rho per unit of the volatility", &["ForwardOptionGreeks.vera"]),
];

/// Adds its unit to each number of the document's schemas and parameters.
pub(super) fn add(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object_mut().expect("there are schemas");
    for (schema, described) in schemas {
        let fields = described.get_mut("properties").and_then(Value::as_object_mut);
        for (field, described) in fields.into_iter().flatten() {
            add_to_field(schema, field, described);
        }
    }
    let paths = document["paths"].as_object_mut().expect("there are paths");
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            add_to_field(&id, &name, &mut parameter["schema"]);
        }
    }
}

fn add_to_field(schema: &str, field: &str, described: &mut Value) {
    if let Some(unit) = unit_of(schema, field) {
        each_number(described, &mut |number| {
            number.entry("x-unit").or_insert_with(|| unit.into());
        });
    }
}

/// Returns the unit of a field; `None` for a field that no list names.
fn unit_of(schema: &str, field: &str) -> Option<&'static str> {
    let of = |name: &str| {
        let named = UNITS.iter().find(|(_, fields)| fields.contains(&name));
        named.map(|&(unit, _)| unit)
    };
    let whole = format!("{schema}.{field}");
    let of_suffix = || {
        let holds = |name: &&str| name.strip_prefix('*').is_some_and(|end| whole.ends_with(end));
        UNITS.iter().find(|(_, fields)| fields.iter().any(holds)).map(|&(unit, _)| unit)
    };
    of(&whole).or_else(of_suffix).or_else(|| of(field))
}

/// Visits the numbers of a field: itself, the elements of its lists, and its alternatives.
fn each_number(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    let Some(fields) = schema.as_object_mut() else { return };
    if fields.get("type").is_some_and(|kind| kind == "number" || kind == "integer") {
        visit(fields);
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(inner) {
            each_number(inner, visit);
        }
    }
    for alternatives in ["anyOf", "oneOf"] {
        let alternatives = fields.get_mut(alternatives).and_then(Value::as_array_mut);
        alternatives.into_iter().flatten().for_each(|schema| each_number(schema, visit));
    }
}

/// Returns every entry of the table.
#[cfg(test)]
pub(super) fn fields() -> impl Iterator<Item = &'static str> {
    UNITS.iter().flat_map(|(_, fields)| fields.iter().copied())
}
