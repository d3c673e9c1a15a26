//! The tests across crates, in one binary: a module for each group of routes, and the checks of the
//! repository's structure.
//!
//! A test of a route is in the folder of the route's first segment. Figures of `quant-core` are
//! compared with other libraries in `quantlib/`, beside the routes that serve the figures.
//! `support/` holds the shared parts of tests.

/// `/user`, `/auth`, `/guest`: accounts, their keys, sessions and inboxes.
mod account {
    mod changes;
    mod code_requests;
    mod guests;
    mod notifications;
    mod revocation;
    mod security;
    mod sign_in;
    mod timing;
    mod website;
}

/// `/console`: the pages of an account.
mod console {
    mod changes;
    mod databases;
    mod notifications;
    mod overview;
    mod recovery;
    mod sessions;
}

/// `/user/auth/idp`: sign-in at an OpenID Connect provider.
mod idp {
    mod sign_in;
}

/// `/mcp`: the MCP endpoint.
mod mcp {
    mod messages;
    mod models;
    mod reach;
    mod search;
    mod tools;
    mod transcripts;
    mod transport;
}

/// `/oauth` and `/.well-known`: the OAuth 2.1 server.
mod oauth {
    mod client_documents;
    mod consent;
    mod registration;
    mod tokens;
}

/// `/health`, `/ready`, `/metrics`, `/openapi.json`, what holds for every route, and the instances on
/// one store.
mod ops {
    mod attacks;
    mod headers;
    mod hosts;
    mod instances;
    mod no_store;
    mod openapi;
    mod operation;
    mod refusals;
    mod serve_lock;
    mod site;
}

/// `/quantlib`: the computations, their figures, and the stages of a metered request.
mod quantlib {
    mod analysis;
    mod analysis_http;
    mod batch;
    mod binomial;
    mod black_family;
    mod black_family_http;
    mod bodies;
    mod bond_spreads;
    mod bonds;
    mod bonds_http;
    mod columns;
    mod curve_readings;
    mod curve_readings_http;
    mod curves;
    mod detail;
    mod economics;
    mod entropy;
    mod explanations;
    mod frontier;
    mod further;
    mod idempotency;
    mod instruments;
    mod metering;
    mod nelson_siegel_svensson;
    mod numerical;
    mod portfolio;
    mod portfolio_constrained;
    mod portfolio_http;
    mod portfolio_risk;
    mod portfolio_tail;
    mod pricing;
    mod quotes;
    mod receipts;
    mod regulatory;
    mod reserved_credits;
    mod risk;
    mod risk_http;
    mod scheduling;
    mod scheduling_http;
    mod spend_caps;
    mod swaps;
    mod swaps_http;
    mod time;
    mod time_value;
    mod time_value_http;
    mod unknown_fields;
    mod validation;
}

/// The repository itself: imports, names, documents.
mod structure {
    mod deployment;
    mod documents;
    mod fault_types;
    mod imports;
    mod repository;
    mod revocation;
    mod source_crate;
    mod type_names;
    mod words;
}
