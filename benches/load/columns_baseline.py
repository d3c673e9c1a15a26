"""A peer of columns: FastAPI, numpy, scipy, QuantLib and pyarrow, on the account of `fastapi_baseline.py`.

Many rows of one computation in one request, as JSON or as a stream of Arrow: a key, the numbers, and one durable
debit for all rows. Prices are computed by numpy and scipy. Neither has implied volatilities, so that QuantLib
computes them row by row. JSON is read and written by orjson, which writes an array of numpy as it is.

    uvicorn --app-dir benches/load columns_baseline:app --port 8001 --log-level warning --no-access-log
"""

import numpy as np
import orjson
import pyarrow as pa
import QuantLib as ql
from fastapi import Header, HTTPException, Request, Response
from fastapi_baseline import COST, account_of, app, charge
from pydantic import BaseModel
from scipy.special import ndtr

ARROW = "application/vnd.apache.arrow.stream"
ROWS_OF_A_MARKER = 10
MOST_FAULTS = 1000
FAULT = "the row is out of the domain"
# The guess, the accuracy and the most iterations, as in benches/peers.
SEARCH = (ql.nullDouble(), 1e-12, 200)
MARKET = {"spot": None, "strike": None, "risk_free_rate": None, "time_to_maturity": None, "dividend_yield": 0.0}


class Quote(BaseModel):
    spot: float
    strike: float
    risk_free_rate: float
    market_price: float
    time_to_maturity: float
    dividend_yield: float = 0.0
    option_type: str = "call"


def sent_columns(body, media_type):
    """The fields of a body: arrays, and values for all rows."""
    if media_type != ARROW:
        return orjson.loads(body)
    table = pa.ipc.open_stream(body).read_all()
    shared = {name.decode(): orjson.loads(text) for name, text in (table.schema.metadata or {}).items()}
    return shared | {name: table[name].to_numpy() for name in table.column_names}


def columns(sent, variable):
    """The numbers of each field, for all rows, and which rows are in the domain; or a 422."""
    try:
        fields = {
            name: np.asarray(sent[name] if default is None else sent.get(name, default), dtype=float)
            for name, default in (MARKET | {variable: None}).items()
        }
        values = dict(zip(fields, np.broadcast_arrays(*map(np.atleast_1d, fields.values()))))
    except (KeyError, TypeError, ValueError) as error:
        raise HTTPException(422, f"columns of numbers of one length are needed: {error}") from None
    sound = np.logical_and.reduce([np.isfinite(array) for array in values.values()])
    for name in ("spot", "strike", "time_to_maturity", variable):
        sound &= values[name] > 0
    return values, sound


def market(values):
    """Forwards and discount factors."""
    years = values["time_to_maturity"]
    growth = np.exp((values["risk_free_rate"] - values["dividend_yield"]) * years)
    return values["spot"] * growth, np.exp(-values["risk_free_rate"] * years)


def prices(sign, values):
    forward, discount = market(values)
    deviation = values["volatility"] * np.sqrt(values["time_to_maturity"])
    d1 = np.log(forward / values["strike"]) / deviation + deviation / 2
    return sign * discount * (forward * ndtr(sign * d1) - values["strike"] * ndtr(sign * (d1 - deviation)))


def implied_deviation(kind, strike, forward, price, discount):
    """The standard deviation that gives a price; NaN where there is none."""
    try:
        return ql.blackFormulaImpliedStdDev(kind, strike, forward, price, discount, 0.0, *SEARCH)
    except RuntimeError:
        return np.nan


def implied_volatilities(sign, values):
    kind = ql.Option.Call if sign > 0 else ql.Option.Put
    forward, discount = market(values)
    rows = (array.tolist() for array in (values["strike"], forward, values["market_price"], discount))
    deviations = [implied_deviation(kind, *row) for row in zip(*rows)]
    return np.array(deviations) / np.sqrt(values["time_to_maturity"])


def written(field, numbers, refused, media_type):
    """The body of the answer: refused rows are null."""
    if media_type == ARROW:
        faults = pa.nulls(len(numbers), pa.string())
        if refused.any():
            faults = pa.array(np.where(refused, FAULT, None), pa.string())
        batch = pa.record_batch({field: pa.array(numbers, mask=refused), "fault": faults})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue().to_pybytes()
    places = np.flatnonzero(refused)
    faults = [{"index": int(place), "msg": FAULT} for place in places[:MOST_FAULTS]]
    data = {field: np.where(refused, np.nan, numbers), "faults": faults, "failed": len(places)}
    return orjson.dumps({"success": True, "data": data}, option=orjson.OPT_SERIALIZE_NUMPY)


async def answer(request, key, variable, field, compute):
    account = account_of(key)
    media_type = request.headers.get("content-type", "")
    sent = sent_columns(await request.body(), media_type)
    values, sound = columns(sent, variable)
    sign = -1.0 if sent.get("option_type") == "put" else 1.0
    with np.errstate(all="ignore"):
        numbers = compute(sign, values)
    refused = ~(sound & np.isfinite(numbers))
    rows = len(numbers) - int(refused.sum())
    body = written(field, numbers, refused, media_type)
    balance = charge(account, request.url.path, -(-COST * rows // ROWS_OF_A_MARKER))
    return Response(body, media_type=media_type, headers={"X-Credits-Balance": str(balance)})


@app.post("/quantlib/pricing/bs/price/columns")
async def price_columns(request: Request, x_api_key: str = Header()):
    return await answer(request, x_api_key, "volatility", "price", prices)


@app.post("/quantlib/pricing/bs/implied-vol/columns")
async def implied_volatility_columns(request: Request, x_api_key: str = Header()):
    return await answer(request, x_api_key, "market_price", "implied_volatility", implied_volatilities)


@app.post("/quantlib/pricing/bs/implied-vol")
async def implied_volatility(quote: Quote, response: Response, x_api_key: str = Header()):
    account = account_of(x_api_key)
    sign = -1.0 if quote.option_type == "put" else 1.0
    fields = MARKET | {"market_price": None}
    values = {name: np.array([getattr(quote, name)]) for name in fields}
    volatility = float(implied_volatilities(sign, values)[0])
    if not np.isfinite(volatility):
        raise HTTPException(422, "no volatility has this price")
    balance = charge(account, "/quantlib/pricing/bs/implied-vol", COST)
    response.headers["X-Credits-Balance"] = str(balance)
    return {"success": True, "data": {"implied_volatility": volatility}}
