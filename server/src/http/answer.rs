//! The JSON envelope of a successful answer.

use std::borrow::Cow;

use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::{ToJSON, Type},
};
use serde_json::Value;

/// The members of a successful answer beside `success`, each as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerParts {
    /// The data.
    pub data: String,
    /// The explanation of the data, where the caller asked for one.
    pub meta: Option<String>,
    /// The receipt of the answer, where the caller asked for one.
    pub receipt: Option<String>,
}

impl AnswerParts {
    /// Makes an answer of its data alone.
    #[must_use]
    pub fn new(data: String) -> Self {
        Self { data, meta: None, receipt: None }
    }

    /// Returns the names and values of the members that an envelope has.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let further = [("meta", &self.meta), ("receipt", &self.receipt)];
        let further = further.into_iter().filter_map(|(name, part)| Some((name, part.as_deref()?)));
        std::iter::once(("data", &*self.data)).chain(further)
    }

    /// Returns the number of bytes of all members.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.members().map(|(_, part)| part.len()).sum()
    }
}

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
        Self::from_body(success(&AnswerParts::new(data.to_owned())))
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
        envelope_schema(T::schema_ref())
    }
}

/// Returns the schema of an envelope around data of a schema.
pub(crate) fn envelope_schema(data: MetaSchemaRef) -> MetaSchema {
    let success = MetaSchema {
        description: Some("Always true: a failure has another status and shape."),
        enum_items: vec![Value::Bool(true)],
        ..MetaSchema::new("boolean")
    };
    MetaSchema {
        required: vec!["success", "data"],
        properties: vec![("success", MetaSchemaRef::Inline(Box::new(success))), ("data", data)],
        ..MetaSchema::new("object")
    }
}

/// Writes an envelope: an object with `head`, the text of its first members, and the parts of an
/// answer.
pub(super) fn envelope(head: &str, parts: &AnswerParts) -> String {
    let mut text = String::with_capacity(head.len() + parts.byte_count() + 64);
    text.push('{');
    text.push_str(head);
    for (name, part) in parts.members() {
        text.extend([",\"", name, "\":", part]);
    }
    text.push('}');
    text
}

/// Writes the body of a success over HTTP.
pub(super) fn success(parts: &AnswerParts) -> String {
    envelope(SUCCESS, parts)
}

/// The first members of a success over HTTP.
const SUCCESS: &str = r#""success":true"#;

/// Returns the first members of a success with a message beside the data.
fn success_with(root_message: Option<String>) -> Cow<'static, str> {
    match root_message.map(Value::String) {
        None => SUCCESS.into(),
        Some(message) => format!(r#"{SUCCESS},"message":{message}"#).into(),
    }
}

impl<T: ToJSON> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = match self.content {
            Content::Data(data) => {
                envelope(&success_with(self.root_message), &AnswerParts::new(data.to_json_string()))
            }
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
