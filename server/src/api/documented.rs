//! The operations that the generated document describes.

use std::sync::{Arc, LazyLock};

use poem::http::Method;
use poem_openapi::{
    OpenApi as _,
    registry::{MetaOperation, MetaSchemaRef, Registry},
    types::Type as _,
};

use super::{
    account,
    batch::Batches,
    columns::{self, ColumnarOperation, Columns},
    operations,
    ops::health::Health,
    quantlib,
    receipts::Receipts,
};
use crate::http::{MatchedRoute, NoArguments, Parameter, body_schema::BodySchema};

/// The APIs that the generated document describes.
pub type Api = (
    (
        (quantlib::analysis::Valuation, quantlib::analysis::scores::Scores),
        quantlib::economics::Economics,
        (
            quantlib::portfolio::Portfolio,
            quantlib::portfolio::optimal::OptimalPortfolios,
            quantlib::portfolio::risk_parity::RiskParityPortfolios,
            quantlib::portfolio::performance::Performance,
            quantlib::portfolio::contribution::RiskDecomposition,
            quantlib::portfolio::black_litterman::ImpliedReturns,
        ),
        (
            quantlib::pricing::Pricing,
            quantlib::pricing::greeks::EuropeanGreeks,
            quantlib::pricing::black76::Black76,
            quantlib::pricing::rate_options::RateOptions,
            quantlib::pricing::bachelier::Bachelier,
            quantlib::pricing::american::AmericanOptions,
            quantlib::pricing::digital::DigitalOptions,
            quantlib::pricing::kirk::SpreadOptions,
        ),
        quantlib::numerical::Numerical,
        quantlib::regulatory::Regulatory,
        quantlib::entropy::Entropy,
        (
            quantlib::instruments::Instruments,
            quantlib::instruments::foreign_exchange::ForeignExchange,
            quantlib::instruments::bonds::Bonds,
            quantlib::solver::finance::Finance,
            quantlib::solver::finance::bonds::BondSpreads,
            quantlib::instruments::interest_rate_swaps::InterestRateSwaps,
            quantlib::instruments::overnight_swaps::OvernightSwaps,
            quantlib::instruments::forward_rate_agreements::ForwardRateAgreements,
            quantlib::instruments::deposits::Deposits,
        ),
        (
            quantlib::curves::Curves,
            quantlib::curves::reading::CurveReadings,
            quantlib::curves::shift::CurveShifts,
            quantlib::curves::fit::CurveFits,
            quantlib::curves::quotes::Bootstraps,
        ),
        (
            quantlib::risk::value_at_risk::ValueAtRisk,
            quantlib::risk::component::ComponentVar,
            quantlib::risk::backtest::Backtests,
            quantlib::risk::stress::StressScenarios,
            quantlib::risk::portfolio::PortfolioTailRisk,
            quantlib::risk::comprehensive::PortfolioOverview,
        ),
        (
            quantlib::time::Time,
            quantlib::scheduling::Calendars,
            quantlib::scheduling::day_counts::DayCounts,
            quantlib::scheduling::schedules::Schedules,
        ),
        (Batches, Columns),
    ),
    (
        account::key::Keys,
        account::registration::Registration,
        account::sign_in::SignIn,
        account::guest::Guests,
        account::profile::Profiles,
        account::password::Passwords,
        account::second_factor::SecondFactor,
        account::session::Sessions,
        account::usage::Usages,
        account::history::Histories,
        account::deletion::Deletion,
    ),
    (
        account::email_address::EmailAddresses,
        account::subscription::Subscriptions,
        account::notification::Notifications,
        account::external_sign_in::IdentityProvider,
    ),
    Receipts,
    Health,
);

/// An operation of the OpenAPI document, with the route that serves the operation.
pub struct DocumentedOperation {
    /// The operation's id in the document.
    pub id: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path as poem-openapi writes it for the router, with numbered parameters.
    pub router_path: String,
    /// The path and the metered operation that requests of this operation get.
    pub route: Arc<MatchedRoute>,
}

/// Returns every operation of the document.
///
/// # Panics
///
/// Panics where an endpoint takes another body than the table of operations names.
#[must_use]
pub fn operations() -> &'static [DocumentedOperation] {
    &OPERATIONS
}

/// Made once, since each body's schema is compiled here.
static OPERATIONS: LazyLock<Vec<DocumentedOperation>> = LazyLock::new(|| {
    let mut registry = Registry::new();
    Api::register(&mut registry);
    let paths = Api::meta().into_iter().flat_map(|api| api.paths);
    let operations = paths.flat_map(|path| {
        let router_path = router_path(&path.path);
        let described =
            |operation| describe(&registry, path.path.as_str(), router_path.clone(), operation);
        path.operations.into_iter().map(described).collect::<Vec<_>>()
    });
    operations.collect()
});

fn describe(
    registry: &Registry,
    path: &str,
    router_path: String,
    operation: MetaOperation,
) -> DocumentedOperation {
    let id = operation.operation_id.expect("every operation has an id");
    let metered = operations::find(id);
    let content = operation.request.as_ref().and_then(|request| request.content.first());
    let body = content.map(|content| &content.schema);
    if let Some(metered) = metered {
        let expected = metered.body_name();
        let is_expected = match body {
            Some(MetaSchemaRef::Reference(name)) => *name == expected,
            Some(MetaSchemaRef::Inline(_)) => false,
            None => expected == NoArguments::name(),
        };
        assert!(is_expected, "the endpoint of {id} takes the body {expected} of the table");
    }
    // A row of columns is checked as the body of a single call.
    let columnar = columns::find(id);
    let single = columnar.map(ColumnarOperation::request_schema);
    let body = single.as_ref().or(body);
    let parameters = operation.params.into_iter().filter_map(Parameter::from_description);
    let route = MatchedRoute {
        path: path.into(),
        operation: metered
            .map(|metered| &**metered)
            .or(columnar.map(|columnar| &columnar.operation)),
        body: body.map(|schema| BodySchema::compile(registry, schema)),
        parameters: parameters.collect(),
    };
    DocumentedOperation { id, method: operation.method, router_path, route: Arc::new(route) }
}

/// Returns the path that poem-openapi gives the router.
fn router_path(path: &str) -> String {
    let mut parameters = 0..;
    let segments = path.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(_) => format!(":param{}", parameters.next().unwrap_or_default()),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}
