//! The reference at `/docs`: Swagger UI over the OpenAPI document, served without another host.

use std::sync::{Arc, LazyLock};

use poem::{
    Endpoint, Request, Response,
    endpoint::make_sync,
    http::{StatusCode, header},
};
use utoipa_swagger_ui::{Config, serve};

use crate::http::{ApiError, Surface};

/// The content security policy: the page neither loads from nor sends to another host.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; font-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> =
    LazyLock::new(|| Arc::new(Config::from("/openapi.json").try_it_out_enabled(true)));

/// Serves the reference and its files.
pub fn endpoint() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| page(request.uri().path()))
}

fn page(path: &str) -> Response {
    // The page's links are relative, so its path must end with a slash.
    if path == "/docs" {
        return Response::builder()
            .status(StatusCode::PERMANENT_REDIRECT)
            .header(header::LOCATION, "/docs/")
            .finish();
    }
    let file = path.trim_start_matches("/docs/");
    let file = if file.is_empty() { "index.html" } else { file };
    match serve(file, CONFIG.clone()) {
        Ok(Some(file)) => Response::builder()
            .content_type(&file.content_type)
            .header(header::CACHE_CONTROL, "public, max-age=3600")
            .header(header::CONTENT_SECURITY_POLICY, POLICY)
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(file.bytes.into_owned()),
        _ => ApiError::NotFound.into_response(Surface::Account),
    }
}
