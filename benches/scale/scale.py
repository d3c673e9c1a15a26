"""The cost of a large database: a million accounts and ten million usage rows, on either engine.

    cargo build --release
    python benches/scale/scale.py [--accounts 1000000] [--usage 10000000] [--postgres URL]

Makes a hundred accounts by the service's own command and fills the rest in by SQL: usage rows spread
over all accounts, with a hundred times as many for the hundred, tallies and ledger that add up. Then
starts the service and prints the time of the start, the size of the database, and median and 99th
percentile of each listing, a login and a metered call. Without --postgres the database is SQLite's;
with it, an empty database, filled by `psql`.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PASSWORD = "a long and private sentence"
PRICE = "/quantlib/pricing/bs/price"
OPTION = {"spot": 42, "strike": 40, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}
REAL = 100
DAY = 86_400_000_000
DAYS = 30

# SQL that differs between the engines.
SQLITE = {
    "series": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})",
    "random": lambda size: f"randomblob({size})",
    "zeros": lambda size: f"zeroblob({size})",
}
POSTGRES = {
    "series": "WITH n(i) AS (SELECT generate_series(1::bigint, {count}))",
    "random": lambda size: "decode(md5(random()::text) || md5(i::text), 'hex')"
    if size == 32 else "decode(md5(random()::text || i::text), 'hex')",
    "zeros": lambda size: f"decode(repeat('00', {size}), 'hex')",
}

# On SQLite the service indexes calls by account a few seconds later.
SORTED = [
    ("order", "INSERT INTO call_by_account SELECT account_id, created_at, id FROM usage "
     "WHERE account_id IS NOT NULL ORDER BY account_id, created_at, id"),
    ("its mark", "UPDATE sequence SET value = (SELECT max(id) FROM usage) WHERE name = 'calls_sorted'"),
]


def filling(engine, accounts, usage, first, real, now):
    """Returns the statements that insert the rows: the accounts from `first` on, and the calls of all."""
    series = lambda count: engine["series"].format(count=count)
    today = now // DAY
    # Four of ten calls are of the real accounts where there are few calls for each other account.
    whose = f"CASE WHEN i % 10 < 1 THEN {min(real)} + (i / 10) % {len(real)} ELSE {first} + i % {accounts} END"
    at = f"{now} - (i * 2654435761) % {DAYS * DAY}"
    ids = ", ".join(map(str, real))
    return [
        ("accounts", "INSERT INTO account (id, email, username, username_key, tier, credit_balance, is_admin, "
         "mfa_enabled, created_at, verified_at) "
         f"{series(accounts)} SELECT {first} + i - 1, 'user' || i || '@example.org', 'user' || i, 'user' || i, "
         f"'free', 1000000, false, false, {now}, {now} FROM n"),
        ("keys", "INSERT INTO api_key (id, account_id, digest, sealed, data_key, status, created_at) "
         f"{series(accounts)} SELECT {engine['random'](16)}, {first} + i - 1, {engine['random'](32)}, "
         f"{engine['zeros'](91)}, 1, 'active', {now} FROM n"),
        ("logins", "INSERT INTO login_try (account_id, ip, user_agent, status, method, created_at) "
         f"{series(accounts)} SELECT CASE WHEN i % 10 = 0 THEN {min(real)} + i % {len(real)} ELSE {first} + i - 1 END, "
         f"'192.0.2.1', 'filled in', 'success', 'password', {now} - i * 1000000 FROM n"),
        ("usage", "INSERT INTO usage (request_id, account_id, endpoint, method, status, credits, response_time_ms, "
         "ip, created_at) "
         f"{series(usage)} SELECT {engine['random'](16)}, {whose}, '/quantlib/made/up/' || (i % 14), 'POST', 200, "
         f"1, 3, '192.0.2.1', {at} FROM n"),
        ("tallies", "INSERT INTO usage_day (account_id, day, endpoint, method, requests, credits, response_time_ms) "
         f"SELECT account_id, created_at / {DAY}, endpoint, method, count(*), CAST(sum(credits) AS BIGINT), "
         f"CAST(sum(response_time_ms) AS BIGINT) FROM usage WHERE account_id IS NOT NULL GROUP BY 1, 2, 3, 4"),
        ("grants", "INSERT INTO ledger (account_id, kind, credits, balance_after, created_at, updated_at) "
         f"SELECT id, 'signup_grant', 1000000, 1000000, {now}, {now} FROM account WHERE id NOT IN ({ids})"),
        ("debits", "INSERT INTO ledger (account_id, kind, day, endpoint, credits, balance_after, created_at, updated_at) "
         f"SELECT account_id, 'usage', day, endpoint, -credits, 0, {now}, {now} FROM usage_day"),
        ("balances", "UPDATE account SET credit_balance = (SELECT CAST(sum(credits) AS BIGINT) FROM ledger "
         "WHERE account_id = account.id)"),
        ("statistics", "ANALYZE"),
    ]


def fill(options, path, statements):
    if options.postgres:
        run = lambda sql: subprocess.run(
            ["psql", "-q", "-v", "ON_ERROR_STOP=1", options.postgres, "-c", sql], check=True
        )
    else:
        database = sqlite3.connect(path, isolation_level=None)
        for pragma in ("synchronous = OFF", "cache_size = -1000000", "temp_store = MEMORY"):
            database.execute("PRAGMA " + pragma)
        run = lambda sql: database.execute(sql)
        statements = statements[:-1] + SORTED + statements[-1:]
    for name, sql in statements:
        began = time.perf_counter()
        run(sql)
        print(f"  filled in {name:<11} {time.perf_counter() - began:7.1f} s", flush=True)
    if not options.postgres:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()


def query(options, sql):
    done = subprocess.run(["psql", "-qtA", options.postgres, "-c", sql], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Service:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = {
            **os.environ, "QS_DATA_DIR": str(folder / "data"), "QS_BIND": "127.0.0.1:0",
            "QS_ADDRESS_LIMIT": "100000000",
        }
        if options.postgres:
            self.environment["DATABASE_URL"] = options.postgres

    def command(self, *words, text=None):
        done = subprocess.run(
            [self.options.server, *words], env=self.environment, capture_output=True, text=True, input=text
        )
        if done.returncode:
            sys.exit(f"{words}: {done.stderr}")
        return done.stdout

    def start(self):
        began = time.perf_counter()
        with open(self.folder / "out", "w") as out:
            self.process = subprocess.Popen([self.options.server], env=self.environment, stdout=out)
        while True:
            found = re.search(r"listening on http://(\S+)", (self.folder / "out").read_text())
            if found:
                break
            if self.process.poll() is not None:
                sys.exit("the service did not start")
            time.sleep(0.002)
        self.connection = http.client.HTTPConnection(found.group(1), timeout=120)
        return time.perf_counter() - began

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)

    def time(self, name, calls, method, path, body=None, key=None):
        """Measures calls; `calls` yields body and key of each."""
        times = []
        for body, key in calls:
            headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
            began = time.perf_counter()
            self.connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            times.append((time.perf_counter() - began) * 1000)
            if answer.status != 200:
                sys.exit(f"{name} answers {answer.status}: {text[:300]}")
        times.sort()
        p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
        print(f"{name:<26} median {statistics.median(times):8.2f} ms   p99 {p99:8.2f} ms   of {len(times)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default="target/release/quant-server")
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--usage", type=int, default=10_000_000)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--postgres", help="the address of an empty database")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "data" / "quant.db"
        service, keys = Service(options, folder), []
        service.command("migrate", "--create-database")
        # The first start creates the partitions of the usage rows.
        service.start()
        service.stop()
        for number in range(REAL):
            made = service.command(
                "account", "create", "--email", f"real{number}@example.com", "--username", f"real{number}",
                "--tier", "pro", "--credits", "1000000", "--hourly-limit", "100000000", "--password-stdin",
                text=PASSWORD + "\n",
            )
            keys.append(re.search(r"API key: (\S+)", made).group(1))
        if options.postgres:
            real = [int(one) for one in query(options, "SELECT id FROM account ORDER BY id").split()]
        else:
            database = sqlite3.connect(path)
            real = [row[0] for row in database.execute("SELECT id FROM account ORDER BY id")]
            database.close()
        now = int(time.time() * 1_000_000)
        fill(options, path, filling(
            POSTGRES if options.postgres else SQLITE, options.accounts, options.usage, max(real) + 1, real, now
        ))
        if options.postgres:
            size = int(query(options, "SELECT pg_database_size(current_database())"))
        else:
            size = path.stat().st_size
        engine = "PostgreSQL" if options.postgres else "SQLite"
        print(f"{engine}, {options.accounts:,} accounts, {options.usage:,} usage rows: {size / 1e6:,.0f} MB")
        print(f"start                      {service.start():8.2f} s")
        try:
            alternating = lambda number: [(None, keys[one % REAL]) for one in range(number)]
            number = options.calls
            service.time("usage, 30 days", alternating(number), "GET", "/user/usage?days=30")
            service.time("usage, one endpoint", alternating(number), "GET", "/user/usage?days=30&endpoint_filter=/quantlib/made/up/3")
            service.time("usage, page 20", alternating(number), "GET", "/user/usage?days=30&page=20&page_size=50")
            service.time("login history", alternating(number), "GET", "/user/login-history?limit=20")
            service.time("transactions", alternating(number), "GET", "/user/transactions")
            service.time("transactions, page 10", alternating(number), "GET", "/user/transactions?page=10")
            logins = [({"email": f"real{one % REAL}@example.com", "password": PASSWORD}, None) for one in range(number)]
            service.time("login", logins, "POST", "/user/login")
            service.time("metered call", [(OPTION, keys[one % REAL]) for one in range(10 * number)], "POST", PRICE)
        finally:
            service.stop()
        print(service.command("audit").strip().splitlines()[-1])


if __name__ == "__main__":
    main()
