"""The check of valid requests that are refused, and the hook that keeps the account of the run able to pay."""

import schemathesis

# More credits than the run spends, and a cap that the schema allows.
SPENDING_CAP = 1_000_000_000

# The types of faults that a schema of OpenAPI 3.0 can state. A request that is valid by the schema has none of them.
# `value_error.missing` is absent: a field may be required by the value of another one, or by the state of the account.
# `value_error.extra` is absent: unknown fields are valid, until the header `Prefer` asks for their refusal.
STATED_BY_SCHEMAS = ("type_error.", "value_error.any_str.", "value_error.dict.", "value_error.list.", "value_error.number.")

# The step of a fault's place for the key of a map. OpenAPI 3.0 has no keyword for the length of such a key.
MAP_KEY = "__key__"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Raises a small spending cap, because the account of the run sets its own and would buy nothing from then on."""
    body = case.body
    if case.operation.label != "PUT /user/profile" or not isinstance(body, dict):
        return
    cap = body.get("spend_cap_per_day")
    if type(cap) is int and 0 <= cap < SPENDING_CAP:
        case.body = {**body, "spend_cap_per_day": SPENDING_CAP}


@schemathesis.check
def rule_beyond_the_schema(ctx, response, case):
    """Refuses a 422 to a valid request where the schema should have stated the rule."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code != 422:
        return
    faults = [fault for fault in response.json()["detail"] if MAP_KEY not in fault["loc"]]
    stated = [fault for fault in faults if fault["type"].startswith(STATED_BY_SCHEMAS)]
    assert not stated, f"the schema should state these rules: {stated}"
