"""Gives every refusal of the document one schema, because progenitor takes one error type for each operation.

The document has three schemas of refusals, by status, on which the typed errors of the other generators depend. A
client of progenitor has one error type for an operation, and progenitor refuses an operation with more.

Usage: one_error.py DOCUMENT OUTPUT
"""

import json
import sys

REFUSAL = {
    "type": "object",
    "required": ["detail"],
    "properties": {
        "success": {"type": "boolean"},
        "message": {"type": "string"},
        "detail": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"$ref": "#/components/schemas/Fault"}},
            ]
        },
    },
}


def main() -> None:
    source, output = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        document = json.load(file)
    document["components"]["schemas"]["Refusal"] = REFUSAL
    reference = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if not status.startswith("2") and "content" in response:
                    response["content"] = reference
    with open(output, "w", encoding="utf-8") as file:
        json.dump(document, file)


main()
