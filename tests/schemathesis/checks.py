"""The check of valid requests that are refused: a refusal names a rule that no schema states."""

import schemathesis

# The types of faults that a schema of OpenAPI 3.0 can state. A request that is valid by the schema has none of them.
# `value_error.missing` is absent: a field may be required by the value of another one, or by the state of the account.
# `value_error.extra` is absent: unknown fields are valid, until the header `Prefer` asks for their refusal.
STATED_BY_SCHEMAS = ("type_error.", "value_error.any_str.", "value_error.dict.", "value_error.list.", "value_error.number.")


@schemathesis.check
def rule_beyond_the_schema(ctx, response, case):
    """Refuses a 422 to a valid request where the schema should have stated the rule."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code != 422:
        return
    stated = [fault for fault in response.json()["detail"] if fault["type"].startswith(STATED_BY_SCHEMAS)]
    assert not stated, f"the schema should state these rules: {stated}"
