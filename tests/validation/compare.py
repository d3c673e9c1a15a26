"""Compares the service's refusals with those of the baseline, body by body.

    python3.11 -m venv /tmp/validation && /tmp/validation/bin/pip install -r requirements.txt
    /tmp/validation/bin/python compare.py --base-url http://127.0.0.1:8080 --key fk_user_…
    /tmp/validation/bin/python compare.py --self-test

Hundreds of malformed bodies for each endpoint, the same in every run, are sent to the baseline in-process
and to the service over HTTP. The models of the first fourteen endpoints are written by hand, with every case;
those of the others are made from the OpenAPI document, with SAMPLE cases of each. Compared are the status, the
faults in their order, of each `loc` and `type`, and of missing fields `msg`; `--messages` compares every `msg`.
Each class of difference is printed once with an example. The exit code is 1 where a difference is not among
ALLOWED.
"""

import argparse
import itertools
import json
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from functools import partial

import httpx
from fastapi.testclient import TestClient

from document_models import EXAMPLES, MODELS
from fastapi_baseline import ENDPOINTS, accept_bodies, app

SEED = 20261120
SAMPLE = 150
"""The number of cases of an endpoint whose model is made from the document."""
JSON = {"content-type": "application/json"}

SOUND = {
    "/quantlib/economics/equilibrium/cobb-douglas": {"alpha": 0.3, "income": 100.0, "prices": [2.0, 5.0]},
    "/quantlib/economics/equilibrium/ces": {
        "rho": 0.5, "weights": [0.4, 0.6], "income": 100.0, "prices": [2.0, 5.0]},
    "/quantlib/portfolio/optimize/min-variance": {
        "expected_returns": [0.05, 0.08], "covariance_matrix": [[0.04, 0.01], [0.01, 0.09]],
        "rf_rate": 0.02, "min_weights": [0.0, 0.0], "max_weights": [1.0, 1.0]},
    "/quantlib/pricing/bs/price": {
        "spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "dividend_yield": 0.0, "volatility": 0.2,
        "time_to_maturity": 0.5, "option_type": "call"},
    "/quantlib/pricing/binomial/barrier": {
        "spot": 100.0, "strike": 100.0, "risk_free_rate": 0.05, "dividend_yield": 0.02, "volatility": 0.25,
        "time_to_maturity": 1.0, "n_steps": 50, "option_type": "put", "barrier": 85.0, "is_knock_in": False,
        "is_down": True, "rebate": 0.0, "method": "CRR", "barrier_monitoring": "tree"},
    "/quantlib/pricing/margrabe": {
        "S1": 100.0, "S2": 95.0, "q1": 0.02, "q2": 0.01, "sigma1": 0.3, "sigma2": 0.2, "rho": 0.5,
        "time_to_maturity": 1.0},
    "/quantlib/numerical/differentiation/derivative": {
        "func_name": "exp", "x": 1.0, "h": 1e-5, "method": "central"},
    "/quantlib/regulatory/basel/capital-ratios": {
        "cet1_capital": 45.0, "tier1_capital": 62.5, "total_capital": 95.0, "risk_weighted_assets": 1000.0,
        "total_exposure": 1500.0},
    "/quantlib/physics/entropy/transfer": {
        "x_history": [1.0, 2.0, 1.5, 3.0], "y_history": [0.5, 1.0, 2.0, 1.5], "lag": 1, "n_bins": 2},
    "/quantlib/physics/entropy/shannon": {"probabilities": [0.5, 0.25, 0.25], "base": 2.0},
    "/quantlib/instruments/bond/fixed/cashflows": {
        "issue_date": "2024-01-15", "maturity_date": "2026-01-15", "coupon_rate": 0.05, "face_value": 100.0,
        "frequency": 2, "day_count": "ACT/365", "end_of_month": False, "settlement_date": "2024-03-01",
        "calendar": "none", "convention": "unadjusted"},
    "/quantlib/instruments/money-market/tbill": {
        "settlement_date": "2024-01-15", "maturity_date": "2024-07-15", "discount_rate": 0.05, "face_value": 100.0},
    "/quantlib/curves/build": {
        "reference_date": "2024-01-15", "tenors": [1.0, 2.0], "values": [0.03, 0.032], "curve_type": "zero",
        "interpolation": "linear", "query_tenors": [0.5, 1.5]},
    "/quantlib/core/types/tenor/add-to-date": {"start_date": "2024-01-31", "tenor": "1M"},
}
"""A valid body for each endpoint whose model is written by hand."""

INSTRUMENTS = {
    "reference_date": "2024-01-15",
    "instruments": [
        {"type": "deposit", "tenor": "6M", "rate": 0.03},
        {"type": "swap", "tenor": "2Y", "rate": 0.032, "frequency": 1},
    ],
}
"""The other form of a curve."""


class Token(str):
    """A text that is written into the body without quotes: a number in a particular spelling."""


WRONG = [
    None, True, False, "", "1", "x", "call", 0, 1, -1, 2, 1.5, 5.0, -0.5, 1e308, -1e308, 10**20, [], [1.0],
    [[1.0]], {}, {"a": 1}, "2024-02-30", "2024-2-3", "20240203", "2024-02-03T00:00:00", "0000-01-01",
    "2024-02-29", "CRR", " call", "CALL", "3m", "-1W", "x" * 65, 1001, 100001, 4294967296,
    Token("1e2"), Token("0.1e1"), Token("-0"), Token("5e-324"), Token("1e-400"), Token("1e400"),
    Token("123456789012345678901234567890"), Token("NaN"), Token("Infinity"), Token("-Infinity"),
    Token("01"), Token("+1"), Token(".5"), Token("1."), Token("'a'"), Token("undefined"),
]
"""Values that replace every field and element; some are valid in some places."""

NOT_OBJECTS = [
    b"", b" ", b"null", b"[]", b"[1]", b'""', b'"text"', b"0", b"1.5", b"true", b"false", b"{", b"}", b"{}",
    b"{} ", b"{}{}", b"{'alpha': 1}", b'{"alpha"}', b'{"alpha": }', b'{"alpha": 1,}', b'{"alpha" 1}', b"{1: 2}",
    b'{"a": 1 "b": 2}', b'{"a": [1, 2}', b'{"a": "\x01"}', b'{"a": "\\x"}', b'{"a": "open}', b"nul", b"\xff\xfe",
    b'{"a": "\xff"}', b"// comment\n{}", b'{"a": 1} trailing', b"[[]]", b'[{"a": 1}]', b'[["alpha", 0.5]]',
    b"\xef\xbb\xbf{}",
]
"""Bodies that are not a JSON object, or not one of this endpoint."""

MATHEMATICS = {
    f"value_error.{code}"
    for code in [
        "domain", "shape", "too_few", "sum", "text", "date", "conflict", "asymmetric",
        "not_positive_semi_definite", "infeasible", "overflow", "no_convergence",
    ]
}
"""The refusal of a valid body by the computation of the service."""


def encode(value):
    """Writes JSON, with the tokens in their own spelling."""
    if isinstance(value, Token):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {encode(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(encode, value)) + "]"
    return json.dumps(value)


def places(value, path=()):
    """Returns the path to every field and element."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in items:
        yield (*path, step)
        yield from places(child, (*path, step))


def replaced(body, path, value):
    """Returns a copy of `body` with `value` at `path`."""
    body = deepcopy(body)
    parent = body
    for step in path[:-1]:
        # An earlier replacement may have removed the end of the path.
        if not isinstance(parent, dict | list) or isinstance(parent, list) != isinstance(step, int):
            return body
        if isinstance(step, int) and step >= len(parent):
            return body
        parent = parent[step] if isinstance(parent, list) else parent.get(step)
    last = path[-1]
    if isinstance(parent, dict) and isinstance(last, str):
        parent[last] = value
    if isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        parent[last] = value
    return body


def at(body, path):
    for step in path:
        body = body[step]
    return body


def without_fields(body, source):
    """Returns every combination of missing fields or, where these are too many, all small ones and some others."""
    names = list(body)
    sizes = range(1, len(names) + 1) if len(names) <= 8 else (1, 2, len(names) - 1, len(names))
    chosen = [set(absent) for size in sizes for absent in itertools.combinations(names, size)]
    if len(names) > 8:
        chosen += [set(source.sample(names, source.randint(3, len(names) - 2))) for _ in range(60)]
    for absent in chosen:
        yield encode({name: value for name, value in body.items() if name not in absent})


def of_other_lengths(body):
    """Returns arrays that are empty, one shorter, one longer, and longer than any limit of a thousand."""
    for path in places(body):
        items = at(body, path)
        if isinstance(items, list):
            for other in ([], items[:-1], items[:1], items + items[-1:], items * 501, items + ["x"]):
                yield encode(replaced(body, path, other))


def with_duplicates(body):
    """Returns bodies with repeated fields, of which the last one counts."""
    for name, value in body.items():
        wrong = f"{json.dumps(name)}: {{}}"
        right = f"{json.dumps(name)}: {encode(value)}"
        others = [f"{json.dumps(k)}: {encode(v)}" for k, v in body.items() if k != name]
        yield "{" + ", ".join([wrong, *others, right]) + "}"
        yield "{" + ", ".join([right, *others, wrong]) + "}"


def with_unknown_fields(body):
    for name in ("unknown", "", "body", "ALPHA", "__root__", "é"):
        yield encode({name: {"nested": [None]}, **body})
        yield encode({**body, name: None})
        yield encode({name: 1})


def with_several_faults(body, source, count):
    paths = list(places(body))
    for _ in range(count):
        faulty = body
        for path in source.sample(paths, min(len(paths), source.randint(2, 5))):
            faulty = replaced(faulty, path, source.choice(WRONG[:37]))
        for name in source.sample(list(body), source.choice([0, 0, 1, 2])):
            if isinstance(faulty, dict):
                faulty.pop(name, None)
        yield encode(faulty)


def in_other_order(body, source):
    """Returns bodies in other orders, because faults are in the order of the model."""
    names = list(body)
    for _ in range(10):
        source.shuffle(names)
        yield encode({name: None for name in names})


def cases_of(path):
    """Returns all bodies for an endpoint, each once, in a fixed order."""
    source = random.Random(f"{SEED} {path}")
    sound = [SOUND.get(path) or EXAMPLES[path]] + ([INSTRUMENTS] if path.endswith("/curves/build") else [])
    bodies = list(NOT_OBJECTS)
    for body in sound:
        texts = [encode(body)]
        texts += without_fields(body, source)
        texts += (encode(replaced(body, place, value)) for place in places(body) for value in WRONG)
        texts += of_other_lengths(body)
        texts += with_duplicates(body)
        texts += with_unknown_fields(body)
        texts += with_several_faults(body, source, 150)
        texts += in_other_order(body, source)
        bodies += (text.encode() for text in texts)
    bodies = list(dict.fromkeys(bodies))
    if path in SOUND or len(bodies) <= SAMPLE:
        return bodies
    return [bodies[index] for index in sorted(source.sample(range(len(bodies)), SAMPLE))]


class Answer:
    """The status of an answer with its faults: loc, type, msg."""

    def __init__(self, response):
        self.status = response.status_code
        self.text = response.text
        try:
            detail = response.json().get("detail")
        except (ValueError, AttributeError):
            detail = None
        self.faults = []
        for fault in detail if isinstance(detail, list) else []:
            self.faults.append((tuple(fault.get("loc", ())), fault.get("type"), fault.get("msg")))

    def with_faults(self, change):
        """Returns the same answer with other faults."""
        self.faults = change(self.faults)
        return self

    def types(self):
        return {kind for _, kind, _ in self.faults}


def general(loc):
    """Returns a place without its index, for classes of difference."""
    return ".".join("*" if isinstance(step, int) else str(step) for step in loc)


def difference(baseline, ours, messages):
    """Returns the class of the difference between two answers; None where they agree."""
    if baseline.status != ours.status:
        kinds = ", ".join(sorted(map(str, ours.types()))) or ", ".join(sorted(map(str, baseline.types())))
        return ("status", f"{baseline.status} of the baseline, {ours.status} of the service", kinds)
    for index, (expected, found) in enumerate(itertools.zip_longest(baseline.faults, ours.faults)):
        if expected is None or found is None:
            loc, kind, _ = expected or found
            side = "missing" if found is None else "added"
            return (f"fault {side}", general(loc), str(kind))
        if expected[0] != found[0]:
            same = sorted(map(repr, baseline.faults)) == sorted(map(repr, ours.faults))
            what = "order" if same else "loc"
            return (what, f"{general(expected[0])} of the baseline, {general(found[0])}", str(expected[1]))
        if expected[1] != found[1]:
            return ("type", general(expected[0]), f"{expected[1]} of the baseline, {found[1]}")
        if expected[2] != found[2] and (messages or expected[1] == "value_error.missing"):
            return ("msg", str(expected[1]), f"{expected[2]!r} of the baseline, {found[2]!r}")
    return None


def only_mathematics(baseline, ours):
    """The baseline has no mathematics, so the mathematics may refuse a valid body."""
    return baseline.status == 200 and ours.status == 422 and bool(ours.faults) and ours.types() <= MATHEMATICS


def syntax_elsewhere(baseline, ours):
    """Two parsers report the same JSON syntax error at different characters and in different words."""
    syntax = {"value_error.jsondecode"}
    alike = baseline.status == ours.status == 422 and baseline.types() == ours.types() == syntax
    return alike and len(ours.faults) == 1 and ours.faults[0][0][:1] == ("body",)


def names_and_forms(baseline, ours):
    """The document has not every spelling of a name, and not the fields that one form of a request needs."""
    expected, found = ([(loc, kind) for loc, kind, _ in answer.faults] for answer in (baseline, ours))
    beyond = [fault for fault in found if fault not in expected]
    rest = [fault for fault in found if fault not in beyond]
    allowed = {"value_error.text"}
    # A field that the document requires is reported by both; only beyond those may a form need another.
    if not any(kind == "value_error.missing" for _, kind in expected):
        allowed.add("value_error.missing")
    is_known = rest == expected and {kind for _, kind in beyond} <= allowed
    return bool(beyond) and ours.status == 422 and is_known


ALLOWED = [only_mathematics, syntax_elsewhere]
"""The accepted differences. The first line of each states the reason."""


class Tally:
    """The results of the cases of one endpoint."""

    def __init__(self):
        self.cases = self.agreed = 0
        self.statuses = Counter()
        self.allowed = Counter()
        self.classes = {}

    def note(self, body, baseline, ours, messages, allowed_here):
        self.cases += 1
        self.statuses[baseline.status] += 1
        found = difference(baseline, ours, messages)
        if found is None:
            self.agreed += 1
            return
        for allowed in allowed_here:
            if allowed(baseline, ours):
                self.allowed[allowed.__name__] += 1
                self.agreed += 1
                return
        count, *example = self.classes.get(found, (0, body, baseline, ours))
        self.classes[found] = (count + 1, *example)

    def report(self, path):
        notes = [f"{count} {name}" for name, count in sorted(self.allowed.items())]
        notes += [f"{count} answered {status} by the baseline" for status, count in sorted(self.statuses.items())]
        print(f"{path}: {self.cases} cases, {self.agreed} agreed ({', '.join(notes)})")
        for (what, where, kind), (count, body, baseline, ours) in self.classes.items():
            print(f"  {count} x {what}: {where}: {kind}")
            print(f"      body     {shortened(body.decode(errors='replace'))}")
            print(f"      baseline {baseline.status} {shortened(baseline.text)}")
            print(f"      service  {ours.status} {shortened(ours.text)}")


def shortened(text, length=300):
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def tally_of(path, baseline, service, messages):
    """Sends every case to baseline and service."""
    tally = Tally()
    allowed = ALLOWED if path in SOUND else [*ALLOWED, names_and_forms]
    for body in cases_of(path):
        tally.note(body, baseline(path, body), service(path, body), messages, allowed)
    return tally


def compare(base_url, key, paths, messages):
    """Reports on every endpoint; returns the number of classes that differ.

    Two processes take the endpoints in turn, because Python computes on one core each.
    """
    tallies = []
    with ProcessPoolExecutor(2, initializer=start_worker, initargs=(base_url, key)) as workers:
        for path, tally in zip(paths, workers.map(partial(tally_in_worker, messages), paths)):
            tally.report(path)
            tallies.append(tally)
    cases, agreed = sum(tally.cases for tally in tallies), sum(tally.agreed for tally in tallies)
    differing = sum(len(tally.classes) for tally in tallies)
    print(f"in all: {cases} cases, {agreed} agreed, {differing} classes of difference")
    return differing


SIDES = []
"""Baseline and service of a process that compares."""


def start_worker(base_url, key):
    SIDES[:] = baseline_in_process(), service_at(base_url, key)


def tally_in_worker(messages, path):
    return tally_of(path, *SIDES, messages)


def baseline_in_process():
    accept_bodies(MODELS)
    client = TestClient(app)
    return lambda path, body: Answer(client.post(path, content=body, headers=JSON))


def service_at(base_url, key):
    client = httpx.Client(base_url=base_url, headers={**JSON, "x-api-key": key}, timeout=30)

    def post(path, body):
        answer = Answer(client.post(path, content=body))
        if answer.status in (401, 402, 403, 404, 429):
            sys.exit(f"{path} answers {answer.status}, before it looks at the body: {shortened(answer.text)}")
        return answer

    return post


EXPECTED = [
    # The end of the path, the body, and (loc, type) of every fault, by docs/decisions.md.
    ("/cobb-douglas", "{}", [("alpha", "missing"), ("income", "missing"), ("prices", "missing")]),
    ("/cobb-douglas", '{"alpha": true, "income": "1", "prices": [1, null]}',
     [("alpha", "float"), ("income", "float"), ("prices.1", "none")]),
    ("/cobb-douglas", '{"alpha": 1.5, "income": -1, "prices": [1]}',
     [("alpha", "le"), ("income", "ge"), ("prices", "min")]),
    ("/cobb-douglas", "[]", [("", "dict")]),
    ("/cobb-douglas", "", [("", "missing")]),
    ("/cobb-douglas", '{"alpha": 2, "alpha": 1, "income": 0, "prices": [0, 0], "more": null}', []),
    ("/ces", '{"rho": 1, "weights": {}, "income": 0, "prices": [1, 2, 3]}',
     [("rho", "lt"), ("weights", "list"), ("prices", "max")]),
    ("/barrier", '{"n_steps": 5.5, "option_type": "CALL", "is_down": 1, "n": 0}',
     [("spot", "missing"), ("strike", "missing"), ("risk_free_rate", "missing"), ("volatility", "missing"),
      ("time_to_maturity", "missing"), ("n_steps", "integer"), ("option_type", "enum"), ("barrier", "missing"),
      ("is_knock_in", "missing"), ("is_down", "bool")]),
    ("/transfer", '{"x_history": [], "y_history": [], "lag": 5.0, "n_bins": 1000.0}', []),
    ("/add-to-date", '{"start_date": "2023-02-29", "tenor": ""}', [("start_date", "date"), ("tenor", "tenor")]),
    ("/add-to-date", '{"start_date": 20240101, "tenor": 3}', [("start_date", "str"), ("tenor", "str")]),
    ("/curves/build", '{"reference_date": "2024-01-01", "instruments": [{"type": "x", "tenor": "1Y"}, 3]}',
     [("instruments.0.type", "enum"), ("instruments.0.rate", "missing"), ("instruments.1", "dict")]),
]
TYPES = {
    "missing": "value_error.missing", "float": "type_error.float", "none": "type_error.none.not_allowed",
    "le": "value_error.number.not_le", "ge": "value_error.number.not_ge", "lt": "value_error.number.not_lt",
    "min": "value_error.list.min_items", "max": "value_error.list.max_items", "list": "type_error.list",
    "dict": "type_error.dict", "integer": "type_error.integer", "enum": "type_error.enum", "bool": "type_error.bool",
    "date": "value_error.date", "tenor": "value_error.text", "str": "type_error.str",
}


def self_test():
    """Checks that the baseline answers as decided, and that a difference is detected."""
    baseline = baseline_in_process()
    for end, body, faults in EXPECTED:
        path = next(path for path in ENDPOINTS if path.endswith(end))
        answer = baseline(path, body.encode())
        found = [(".".join(map(str, loc[1:])), kind) for loc, kind, _ in answer.faults]
        assert found == [(loc, TYPES[kind]) for loc, kind in faults], (end, body, found)
        assert answer.status == (422 if faults else 200), (end, body, answer.text)
    known = {*TYPES.values(), "value_error.jsondecode", "value_error.number.not_gt"}
    for path in ENDPOINTS:
        answers = [baseline(path, body) for body in cases_of(path)]
        malformed = [answer for answer in answers if answer.status == 422]
        assert len(malformed) + sum(answer.status == 200 for answer in answers) == len(answers), path
        assert len(malformed) >= 150, (path, len(malformed))
        assert baseline(path, encode(SOUND[path]).encode()).status == 200, path
        said = set().union(*(answer.types() for answer in malformed))
        assert said <= known, (path, said - known)
        print(f"{path}: {len(answers)} cases, {len(malformed)} malformed, {len(said)} types of fault")

    path = next(iter(ENDPOINTS))
    assert not tally_of(path, baseline, baseline, messages=True).classes
    for spoil in (lambda faults: faults[1:], lambda faults: faults[::-1], lambda faults: faults * 2):
        spoiled = tally_of(path, baseline, lambda path, body: baseline(path, body).with_faults(spoil), messages=False)
        assert spoiled.classes and spoiled.agreed < spoiled.cases
    print("the baseline speaks as decided, and a fault too few, too many or out of place is seen")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--base-url", help="where the service listens, as in http://127.0.0.1:8080")
    arguments.add_argument("--key", help="a key of the tier ENTERPRISE with some 100,000 credits")
    arguments.add_argument("--only", default="", help="endpoints whose path holds this text")
    arguments.add_argument("--messages", action="store_true", help="compare every msg")
    arguments.add_argument("--self-test", action="store_true", help="test the baseline, without a service")
    chosen = arguments.parse_args()
    if chosen.self_test:
        return self_test()
    if not chosen.base_url or not chosen.key:
        arguments.error("--base-url and --key are needed, or --self-test")
    paths = [path for path in [*ENDPOINTS, *MODELS] if chosen.only in path]
    sys.exit(1 if compare(chosen.base_url, chosen.key, paths, chosen.messages) else 0)


if __name__ == "__main__":
    main()
