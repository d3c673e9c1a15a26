"""Models of the request bodies that the OpenAPI document describes, for the baseline.

The fourteen bodies of fastapi_baseline.py are written by hand from the interface. The others are made
here from `openapi/openapi.json`, so that each new computation is compared without a further line. The
names that a text may have are not in the document where they have several spellings; such texts are
accepted, and compare.py allows the service to refuse them.
"""

import json
import pathlib
from enum import Enum
from typing import Any, Optional

from pydantic import ConstrainedStr, conlist, create_model, errors
from pydantic.validators import str_validator

from fastapi_baseline import ENDPOINTS, Body, IsoDate, Number, Tenor, Truth, Whole

DOCUMENT = json.loads((pathlib.Path(__file__).parents[2] / "openapi/openapi.json").read_text())
ABSENT = "absent"
"""The default of a field that may be absent but not null: pydantic 1 takes null where the default is None."""

RANGES = {
    "int64": (-(2**63), 2**63 - 1024), "uint64": (0, 2**64 - 2048), "uint32": (0, 2**32 - 1), "uint16": (0, 2**16 - 1),
}
"""The least and the largest value of a format, which integers of Python do not have; of 64 bits the last double."""


class Text(ConstrainedStr):
    """A JSON text."""

    @classmethod
    def __get_validators__(cls):
        yield cls.from_json
        yield from super().__get_validators__()

    @classmethod
    def from_json(cls, value: Any) -> str:
        if not isinstance(value, str):
            raise errors.StrError()
        return str_validator(value)


def resolved(schema):
    """Returns the schema that a reference names, or the schema itself, and its name."""
    if "allOf" in schema and len(schema["allOf"]) == 1:
        inner, name = resolved(schema["allOf"][0])
        return {**inner, **{key: value for key, value in schema.items() if key != "allOf"}}, name
    if "$ref" not in schema:
        return schema, None
    name = schema["$ref"].rsplit("/", 1)[1]
    return DOCUMENT["components"]["schemas"][name], name


def limits(schema):
    """Returns the bounds of a number in the words of pydantic."""
    found = {}
    for bound, inclusive, exclusive in (("minimum", "ge", "gt"), ("maximum", "le", "lt")):
        if bound in schema:
            is_exclusive = schema.get(f"exclusive{bound.capitalize()}", False)
            found[exclusive if is_exclusive else inclusive] = schema[bound]
    return found


def integer(schema):
    bounds = limits(schema)
    if schema.get("format") in RANGES:
        least, largest = RANGES[schema["format"]]
        if "gt" not in bounds:
            bounds.setdefault("ge", least)
        if "lt" not in bounds:
            bounds.setdefault("le", largest)
    return type("BoundedWhole", (Whole,), bounds)


def text(schema, name):
    if "enum" in schema:
        return Enum(name or "Choice", {f"value_{index}": value for index, value in enumerate(schema["enum"])})
    if schema.get("format") == "date":
        return IsoDate
    if schema.get("format") == "tenor":
        return Tenor
    return type("BoundedText", (Text,), {"min_length": schema.get("minLength"), "max_length": schema.get("maxLength")})


def typed(schema):
    """Returns the type of a value."""
    schema, name = resolved(schema)
    kind = schema.get("type")
    if kind == "number":
        return type("BoundedNumber", (Number,), limits(schema))
    if kind == "integer":
        return integer(schema)
    if kind == "boolean":
        return Truth
    if kind == "string":
        return text(schema, name)
    if kind == "array":
        items, _ = resolved(schema["items"])
        item = Optional[typed(items)] if items.get("nullable") else typed(schema["items"])
        return conlist(item, min_items=schema.get("minItems"), max_items=schema.get("maxItems"))
    if kind == "object" and "properties" in schema:
        return model(schema, name)
    raise LookupError(f"no type for {schema}")


def model(schema, name):
    """Returns the model of an object; its fields are in the order of the document."""
    required = schema.get("required", [])
    fields = {}
    for field, described in schema["properties"].items():
        inner, _ = resolved(described)
        kind = typed(described)
        if field in required:
            fields[field] = (kind, ...)
        elif inner.get("nullable"):
            fields[field] = (Optional[kind], None)
        else:
            fields[field] = (kind, inner.get("default", ABSENT))
    return create_model(name or "Body", __base__=Body, **fields)


def has_names(schema):
    """Returns whether an object has members that the caller names, which pydantic checks otherwise."""
    schema, _ = resolved(schema)
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return "additionalProperties" in schema or any(map(has_names, inner))


def bodies():
    """Returns the schema and the example of the body of each computation."""
    for path, operations in DOCUMENT["paths"].items():
        body = operations.get("post", {}).get("requestBody")
        # Columns and batches have cells and calls, whose faults are those of the single calls.
        is_single = "x-credits" in operations.get("post", {})
        if not is_single or body is None or path in ENDPOINTS:
            continue
        schema, name = resolved(body["content"]["application/json"]["schema"])
        if "example" in schema and not has_names(schema):
            yield path, schema, name


MODELS = {path: model(schema, name) for path, schema, name in bodies()}
"""The model of each body that is not written by hand."""

EXAMPLES = {path: schema["example"] for path, schema, _ in bodies()}
"""A valid body for each of them."""
