"""A price, the balance and a refusal, with Python alone.

Usage: QUANT_KEY=fk_user_… python3 quickstart.py
"""

import json
import os
import urllib.error
import urllib.request
from typing import Any

URL = os.environ.get("QUANT_URL", "http://127.0.0.1:8080")


class Refused(Exception):
    """A refusal: `detail` is a text, or for a 422 the list of all faults. A refusal costs nothing."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail = status, detail


def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Calls the service and returns the data of its answer."""
    headers = {"X-API-Key": os.environ["QUANT_KEY"], "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data=content, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        raise Refused(error.code, json.load(error)["detail"]) from None


option = {"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}
print("price:", call("POST", "/quantlib/pricing/bs/price", option)["price"])
print("balance:", call("GET", "/user/profile")["credit_balance"])
try:
    call("POST", "/quantlib/pricing/bs/price", {**option, "volatility": -0.2})
except Refused as refused:
    for fault in refused.detail:
        print("refused:", refused.status, fault["type"], fault["loc"], fault["msg"])
