"""The same metered call on FastAPI, QuantLib and SQLite, written in the usual style of such services.

A key in a header, a look-up, a conditional debit with its usage row in one durable transaction, the
price from QuantLib. One database connection a worker, WAL, synchronous=FULL, as the service has it.

    uvicorn fastapi_baseline:app --workers 2 --port 8001 --log-level warning --no-access-log
"""

import os
import sqlite3
import time

import QuantLib as ql
from fastapi import FastAPI, Header, HTTPException, Response
from pydantic import BaseModel

PATH = os.environ.get("BASELINE_DATABASE", "baseline.db")
KEY = os.environ.get("BASELINE_KEY", "fk_user_baseline")
COST = 5


def connect():
    database = sqlite3.connect(PATH, timeout=30, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, key TEXT UNIQUE, balance INTEGER)")
    database.execute("CREATE TABLE IF NOT EXISTS usage (id INTEGER PRIMARY KEY, account INTEGER, endpoint TEXT, credits INTEGER, at REAL)")
    database.execute("INSERT OR IGNORE INTO account (key, balance) VALUES (?, ?)", (KEY, 1 << 40))
    return database


database = connect()
app = FastAPI()


class Option(BaseModel):
    spot: float
    strike: float
    risk_free_rate: float
    volatility: float
    time_to_maturity: float
    dividend_yield: float = 0.0
    option_type: str = "call"


def account_of(key):
    """The account of a key, or a 401."""
    row = database.execute("SELECT id, balance FROM account WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise HTTPException(401, "Invalid API key")
    return row[0]


def charge(account, endpoint, cost):
    """Takes credits with the usage row, durably, and returns the balance; or a 402."""
    database.execute("BEGIN IMMEDIATE")
    paid = database.execute(
        "UPDATE account SET balance = balance - ? WHERE id = ? AND balance >= ? RETURNING balance",
        (cost, account, cost),
    ).fetchone()
    if paid is None:
        database.execute("ROLLBACK")
        raise HTTPException(402, "Insufficient credits")
    database.execute(
        "INSERT INTO usage (account, endpoint, credits, at) VALUES (?, ?, ?, ?)",
        (account, endpoint, cost, time.time()),
    )
    database.execute("COMMIT")
    return paid[0]


@app.get("/health")
async def health():
    return {"success": True, "data": {"status": "ok"}}


@app.post("/quantlib/pricing/bs/price")
async def price(option: Option, response: Response, x_api_key: str = Header()):
    account = account_of(x_api_key)
    kind = ql.Option.Call if option.option_type == "call" else ql.Option.Put
    growth = pow(2.718281828459045, (option.risk_free_rate - option.dividend_yield) * option.time_to_maturity)
    discount = pow(2.718281828459045, -option.risk_free_rate * option.time_to_maturity)
    deviation = option.volatility * option.time_to_maturity**0.5
    value = ql.blackFormula(kind, option.strike, option.spot * growth, deviation, discount)
    balance = charge(account, "/quantlib/pricing/bs/price", COST)
    response.headers["X-Credits-Balance"] = str(balance)
    return {"success": True, "data": {"price": value}}
