//! The JSON envelope of a successful answer.

use std::borrow::Cow;

use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::{ToJSON, Type},
};
use serde_json::Value;

/// A success: `{"success": true, "data": …}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    content: Content<T>,
    root_message: Option<String>,
    cookie: Option<String>,
}

/// The content of a successful answer.
#[derive(Clone, Debug, PartialEq)]
enum Content<T> {
    /// Data that is serialised into the envelope when the response is made.
    Data(T),
    /// The whole body, serialised already.
    JsonString(String),
}

impl<T> Answer<T> {
    /// Makes a success whose envelope carries `data`.
    pub fn new(data: T) -> Self {
        Self::with(Content::Data(data))
    }

    /// Makes a success whose data are JSON already.
    pub fn from_data(data: &str) -> Self {
        Self::from_body(envelope(data, None))
    }

    /// Makes a success whose whole body is JSON already.
    pub(super) fn from_body(body: String) -> Self {
        Self::with(Content::JsonString(body))
    }

    fn with(content: Content<T>) -> Self {
        Self { content, root_message: None, cookie: None }
    }

    /// Sets a cookie, written as its header.
    #[must_use]
    pub fn with_cookie(self, cookie: String) -> Self {
        Self { cookie: Some(cookie), ..self }
    }

    /// Adds `message` beside `data` too, for clients that read the message there.
    #[must_use]
    pub fn with_root_message(self, message: impl Into<String>) -> Self {
        Self { root_message: Some(message.into()), ..self }
    }
}

impl<T: Type> Answer<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Answer", T::name()).into()
    }

    fn schema() -> MetaSchema {
        let success = MetaSchema {
            description: Some("Always true: a failure has another status and shape."),
            enum_items: vec![Value::Bool(true)],
            ..MetaSchema::new("boolean")
        };
        MetaSchema {
            required: vec!["success", "data"],
            properties: vec![
                ("success", MetaSchemaRef::Inline(Box::new(success))),
                ("data", T::schema_ref()),
            ],
            ..MetaSchema::new("object")
        }
    }
}

/// The body of a success, around data that are JSON already.
pub(super) fn envelope(data: &str, root_message: Option<String>) -> String {
    match root_message.map(Value::String) {
        None => format!(r#"{{"success":true,"data":{data}}}"#),
        Some(message) => format!(r#"{{"success":true,"message":{message},"data":{data}}}"#),
    }
}

impl<T: ToJSON> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = match self.content {
            Content::Data(data) => envelope(&data.to_json_string(), self.root_message),
            Content::JsonString(body) => body,
        };
        let response = Response::builder().content_type("application/json");
        let response = match self.cookie {
            Some(cookie) => response.header(header::SET_COOKIE, cookie),
            None => response,
        };
        response.body(body)
    }
}

impl<T: ToJSON> ApiResponse for Answer<T> {
    fn meta() -> MetaResponses {
        let schema = MetaSchemaRef::Reference(Self::name().into_owned());
        MetaResponses {
            responses: vec![MetaResponse {
                description: "Success.",
                status: Some(200),
                status_range: None,
                content: vec![MetaMediaType { content_type: "application/json", schema }],
                headers: vec![],
            }],
        }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
        registry.create_schema::<Self, _>(Self::name().into_owned(), |_| Self::schema());
    }
}
