//! The schemas and the description of columnar operations, from those of the single operations.

use std::collections::HashMap;

use poem_openapi::registry::{
    MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaRequest, MetaResponse,
    MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};
use serde_json::{Map, Value, json};

use super::table::ColumnarOperation;
use crate::http::{columns::MAX_ROWS, envelope_schema};

const JSON: &str = "application/json";

fn inline(schema: MetaSchema) -> MetaSchemaRef {
    MetaSchemaRef::Inline(Box::new(schema))
}

fn name_of(schema: &MetaSchemaRef) -> &str {
    match schema {
        MetaSchemaRef::Reference(name) => name,
        MetaSchemaRef::Inline(_) => unreachable!("requests and answers have a schema of their own"),
    }
}

impl ColumnarOperation {
    fn request_name(&self) -> String {
        format!("{}Columns", name_of(&(self.request)()))
    }

    fn data_name(&self) -> String {
        format!("{}Columns", name_of(&(self.answer)()))
    }

    fn answer_name(&self) -> String {
        format!("{}Answer", self.data_name())
    }

    /// Adds the schemas of the columns.
    pub(super) fn register(&self, registry: &mut Registry) {
        (self.register)(registry);
        let request = columns_of_request(&registry.schemas[name_of(&(self.request)())]);
        let answer = registry.schemas[name_of(&(self.answer)())].clone();
        let answer = self.columns_of_answer(registry, &answer);
        registry.schemas.entry(self.request_name()).or_insert(request);
        registry.schemas.entry(self.data_name()).or_insert(answer);
        let envelope = envelope_schema(MetaSchemaRef::Reference(self.data_name()));
        registry.schemas.entry(self.answer_name()).or_insert(envelope);
        registry.schemas.entry("RowFault".to_owned()).or_insert_with(row_fault);
    }

    fn columns_of_answer(&self, registry: &mut Registry, answer: &MetaSchema) -> MetaSchema {
        let is_column = |name: &str| self.plan.output_paths().any(|path| path[0] == name);
        let fields = answer.properties.iter().filter(|(name, _)| is_column(name));
        let mut properties: Vec<_> =
            fields.map(|(name, field)| (*name, column(registry, field))).collect();
        let faults = MetaSchema {
            description: Some(
                "The faults of refused rows, in the order of the rows; at most 1,000.",
            ),
            items: Some(Box::new(MetaSchemaRef::Reference("RowFault".to_owned()))),
            ..MetaSchema::new("array")
        };
        let failed = MetaSchema {
            description: Some("The number of refused rows."),
            ..MetaSchema::new_with_format("integer", "int64")
        };
        properties.extend([("faults", inline(faults)), ("failed", inline(failed))]);
        MetaSchema {
            description: Some("The columns of the answer, and the faults of refused rows."),
            required: vec!["faults", "failed"],
            properties,
            example: Some(self.example()),
            ..MetaSchema::new("object")
        }
    }

    /// The answer to the example of the single request, as one row.
    fn example(&self) -> Value {
        let answer = (self.example)();
        let mut columns = Map::new();
        for path in self.plan.output_paths() {
            let value = path.iter().try_fold(&answer, |value, name| value.get(name));
            let Some(value) = value else { continue };
            let cells = json!([value]);
            match path {
                [name] => columns.insert((*name).to_owned(), cells),
                [group, name, ..] => {
                    let group = columns.entry(*group).or_insert_with(|| json!({}));
                    group[*name] = cells;
                    None
                }
                [] => None,
            };
        }
        columns.extend([("faults".to_owned(), json!([])), ("failed".to_owned(), json!(0))]);
        Value::Object(columns)
    }

    /// Describes the operation.
    pub(super) fn described(&'static self, single: MetaOperation) -> MetaOperation {
        let request = MetaSchemaRef::Reference(self.request_name());
        let answer = MetaSchemaRef::Reference(self.answer_name());
        let fields = MetaOperationParam {
            name: "fields".to_owned(),
            schema: inline(MetaSchema::new("string")),
            in_type: MetaParamIn::Query,
            description: Some(
                "The columns of the answer, separated by commas; all by default.".into(),
            ),
            required: false,
            deprecated: false,
            explode: false,
            style: None,
        };
        MetaOperation {
            summary: single.summary.map(|summary| self.summary(summary)),
            description: Some(&self.description),
            params: vec![fields],
            request: Some(MetaRequest {
                description: None,
                content: vec![MetaMediaType { content_type: JSON, schema: request }],
                required: true,
            }),
            responses: MetaResponses {
                responses: vec![MetaResponse {
                    description: "Success.",
                    status: Some(200),
                    status_range: None,
                    content: vec![MetaMediaType { content_type: JSON, schema: answer }],
                    headers: vec![],
                }],
            },
            operation_id: Some(self.operation.id),
            security: vec![HashMap::from([("ApiKey", vec![])])],
            ..single
        }
    }
}

/// The schema of a request with a list or one value for each field.
fn columns_of_request(single: &MetaSchema) -> MetaSchema {
    let property = |(name, field): &(&'static str, MetaSchemaRef)| {
        let is_list = matches!(field, MetaSchemaRef::Inline(schema) if schema.ty == "array");
        if is_list {
            return (*name, field.clone());
        }
        let (description, value) = match field {
            MetaSchemaRef::Inline(schema) => {
                let value = MetaSchema { description: None, default: None, ..(**schema).clone() };
                (schema.description, inline(value))
            }
            MetaSchemaRef::Reference(_) => (None, field.clone()),
        };
        let list = MetaSchema {
            items: Some(Box::new(value.clone())),
            min_items: Some(1),
            max_items: Some(MAX_ROWS),
            ..MetaSchema::new("array")
        };
        let either =
            MetaSchema { description, one_of: vec![value, inline(list)], ..MetaSchema::ANY };
        (*name, inline(either))
    };
    MetaSchema {
        description: Some(
            "A list with a value for each row, or one value for all rows, of each field.",
        ),
        // A title is the name of a schema for generators of clients.
        title: None,
        properties: single.properties.iter().map(property).collect(),
        rust_typename: None,
        ..single.clone()
    }
}

/// The schema of the column of a field of the answer; of an object, a schema of its columns.
fn column(registry: &mut Registry, field: &MetaSchemaRef) -> MetaSchemaRef {
    let (description, base) = match field {
        MetaSchemaRef::Reference(_) => (None, Some(field)),
        MetaSchemaRef::Inline(schema) => (schema.description, schema.all_of.first()),
    };
    if let Some(base @ MetaSchemaRef::Reference(name)) = base
        && registry.schemas[name.as_str()].ty == "object"
    {
        let object = registry.schemas[name_of(base)].clone();
        let fields = object.properties.iter();
        let properties = fields.map(|(name, field)| (*name, column(registry, field))).collect();
        let columns = MetaSchema { description, properties, ..MetaSchema::new("object") };
        let name = format!("{name}Columns");
        registry.schemas.entry(name.clone()).or_insert(columns);
        return MetaSchemaRef::Reference(name);
    }
    let value = match field {
        MetaSchemaRef::Inline(schema) => {
            MetaSchema { description: None, nullable: true, ..(**schema).clone() }
        }
        MetaSchemaRef::Reference(_) => {
            MetaSchema { all_of: vec![field.clone()], nullable: true, ..MetaSchema::ANY }
        }
    };
    let items = Some(Box::new(inline(value)));
    inline(MetaSchema { description, items, ..MetaSchema::new("array") })
}

fn row_fault() -> MetaSchema {
    let described = |ty, description| {
        inline(MetaSchema { description: Some(description), ..MetaSchema::new(ty) })
    };
    let step = MetaSchema::new("string");
    let loc = MetaSchema {
        description: Some("The place of the fault: `body`, then the name of the field."),
        items: Some(Box::new(inline(step))),
        ..MetaSchema::new("array")
    };
    MetaSchema {
        description: Some("A fault of a refused row."),
        required: vec!["index", "loc", "msg", "type"],
        properties: vec![
            ("index", described("integer", "The position of the row, from zero.")),
            ("loc", inline(loc)),
            ("msg", described("string", "The explanation, for people.")),
            ("type", described("string", "The kind of the fault, for programs.")),
        ],
        ..MetaSchema::new("object")
    }
}
