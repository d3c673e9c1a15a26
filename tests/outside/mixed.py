"""Keeps a quant-server under mixed load with a fault in every minute, and compares its answers with its ledger.

    cargo build --release
    python tests/outside/mixed.py target/release/quant-server [--postgres] [--minutes 30]

The load is prices with and without an `Idempotency-Key`, columns, tool calls over MCP with refreshed tokens,
sign-ins with right and wrong passwords, pages of the console, and public pages. Prints a row a minute. Exits
with 1 where a caller was charged for what it did not get twice or never, where an answer is a 500, or where
`audit` finds a fault. Needs Python 3.10 and Linux.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time

from program import PASSWORD, Application, Browser, Postgres, Service, address_of, free_port

MIB = 1024 * 1024
PRICE = "/quantlib/pricing/bs/price"
OPTION = {"spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}
CALLS = [
    (PRICE, OPTION),
    ("/quantlib/pricing/bs/greeks", OPTION | {"option_type": "put"}),
    ("/quantlib/physics/entropy/shannon", {"probabilities": [0.5, 0.25, 0.25]}),
    ("/quantlib/core/types/tenor/add-to-date", {"start_date": "2024-01-31", "tenor": "1M"}),
]
ROWS = 2_000
CREDITS = 100_000_000
SETTINGS = {"QS_ADDRESS_LIMIT": "100000000", "QS_MCP_MESSAGES": "100000000", "QS_MCP_BURST": "100000000"}
# Seconds between two calls of one caller.
PAUSE = 0.03


class Journal:
    """What the callers saw, by minute, and what each account paid for."""

    def __init__(self):
        self.lock, self.begin = threading.Lock(), time.monotonic()
        self.minutes = collections.defaultdict(collections.Counter)
        self.delays = collections.defaultdict(list)
        # Credits of answers, and the most that calls without an answer may have cost, by account.
        self.paid, self.unknown = collections.Counter(), collections.Counter()
        self.refusals, self.faults = collections.Counter(), []

    def minute(self):
        """Returns the number of the present minute."""
        return int((time.monotonic() - self.begin) / 60)

    def note(self, caller, status, seconds=None):
        """Counts an answer to a kind of caller; a status of None is a connection that broke."""
        kind = "failed" if status is None else "503" if status == 503 else f"{status // 100}xx"
        with self.lock:
            self.minutes[self.minute()][kind] += 1
            if seconds is not None and status == 200:
                self.delays[self.minute()].append(seconds)
            if status is not None and 400 <= status < 500:
                self.refusals[f"{status} to {caller}"] += 1
            if status is not None and status >= 500 and status != 503:
                self.faults.append(f"an answer {status}")

    def charge(self, name, status, cost, is_final=True):
        """Counts what a call cost, or may have cost: 503 says that a charge may have been committed."""
        with self.lock:
            if status == 200:
                self.paid[name] += cost
            elif is_final and status in (None, 503):
                self.unknown[name] += cost

    def fail(self, fault):
        """Notes what must not be."""
        with self.lock:
            self.faults.append(fault)

    def row(self, minute):
        """Returns the counts and the delays of a minute, as cells of the table."""
        with self.lock:
            counts, delays = self.minutes[minute], sorted(self.delays[minute])
        quantile = lambda part: f"{1000 * delays[int(part * (len(delays) - 1))]:.0f}" if delays else "–"
        names = ("2xx", "3xx", "4xx", "503", "failed")
        return [*(f"{counts[name]:,}" for name in names), quantile(0.5), quantile(0.99)]


class Caller(threading.Thread):
    """A caller with a connection of its own, which calls until the end of the run."""

    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.experiment, self.number, self.connection = run, number, None

    @property
    def journal(self):
        """The journal of the run."""
        return self.experiment.journal

    def run(self):
        while not self.experiment.is_over.is_set():
            try:
                self.once()
            except Exception as error:  # A caller that ends without a word would make the run look calm.
                self.journal.fail(f"{type(self).__name__}: {error!r}")
                time.sleep(1)
            time.sleep(PAUSE)

    def send(self, method, path, body=None, headers=(), is_timed=False):
        """Sends a request, and returns status, headers and body; a status of None where the connection breaks."""
        begin = time.monotonic()
        text = None if body is None else body if isinstance(body, str) else json.dumps(body)
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.experiment.service.address, timeout=90)
            self.connection.request(method, path, text, {"Content-Type": "application/json"} | dict(headers))
            response = self.connection.getresponse()
            status, found, content = response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException):
            self.connection = None
            status, found, content = None, {}, b""
            time.sleep(0.1)
        self.journal.note(type(self).__name__.lower(), status, time.monotonic() - begin if is_timed else None)
        return status, found, content


class Prices(Caller):
    """Single computations by a key."""

    def once(self):
        path, body = CALLS[self.number % len(CALLS)]
        name = f"prices{self.number}"
        key = self.experiment.keys[name]
        status, headers, _ = self.send("POST", path, body, [("X-API-Key", key)], is_timed=True)
        self.journal.charge(name, status, int(headers.get("X-Credits-Cost", self.experiment.costs[path])))
        if status not in (None, 200, 503):
            self.journal.fail(f"{path} was answered {status}")


class Repeats(Caller):
    """Prices under an `Idempotency-Key`, each repeated until it is answered."""

    count = 0

    def once(self):
        self.count += 1
        name = f"repeats{self.number}"
        headers = [("X-API-Key", self.experiment.keys[name]), ("Idempotency-Key", f"{name}-{self.count}")]
        status = None
        # A key that a lost run holds is free after 90 seconds.
        until = time.monotonic() + 150
        while status != 200 and time.monotonic() < until:
            status, found, _ = self.send("POST", PRICE, OPTION, headers, is_timed=status is None)
            if status not in (None, 200, 409, 429, 503):
                self.journal.fail(f"a repeat was answered {status}")
            if status != 200:
                time.sleep(0.5)
        if status == 200:
            self.journal.charge(name, 200, int(found["X-Credits-Cost"]))
        else:
            self.journal.charge(name, None, self.experiment.costs[PRICE])
            self.journal.fail("a repeat had no answer within 150 seconds")


class Columns(Caller):
    """Prices of many rows in one request."""

    def once(self):
        name, path = f"columns{self.number}", PRICE + "/columns"
        columns = OPTION | {"strike": [30.0 + row / 100 for row in range(ROWS)]}
        status, headers, body = self.send("POST", path, columns, [("X-API-Key", self.experiment.keys[name])])
        cost = int(headers.get("X-Credits-Cost", self.experiment.costs[path]))
        self.journal.charge(name, status, cost)
        if status == 200 and len(json.loads(body)["data"]["price"]) != ROWS:
            self.journal.fail("columns of another length")
        time.sleep(0.05)


class Tools(Caller):
    """Tool calls over MCP, whose tokens are refreshed."""

    HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    token = None

    def once(self):
        name = f"tools{self.number}"
        if self.token is None:
            self.token = self.experiment.tokens.pop(name)
            self.refreshed = time.monotonic()
        if time.monotonic() > self.refreshed + 300:
            self.refresh()
        call = {"name": "price_european_option", "arguments": OPTION}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = [*self.HEADERS.items(), ("Authorization", "Bearer " + self.token["access_token"])]
        status, _, body = self.send("POST", "/mcp", message, headers)
        found = re.search(rb"\{.*\}", body, re.DOTALL)
        answer = json.loads(found.group(0)) if status == 200 and found else {}
        is_error = answer.get("result", {}).get("isError", "error" in answer)
        outcome = status if status != 200 or not is_error else 503
        self.journal.charge(name, outcome, self.experiment.costs[PRICE])

    def refresh(self):
        """Gets the next tokens; the same are answered again within the leeway, where an answer is lost."""
        pairs = f"grant_type=refresh_token&client_id={self.token['client']}&refresh_token={self.token['refresh_token']}"
        headers = [("Content-Type", "application/x-www-form-urlencoded")]
        status, _, body = self.send("POST", "/oauth/token", pairs, headers)
        if status == 200:
            self.token |= json.loads(body)
            self.refreshed = time.monotonic()
        elif status == 400:
            self.journal.fail(f"a refresh was refused: {body[:80]!r}")


class SignIns(Caller):
    """Sign-ins by password, the use and the end of each session."""

    def once(self):
        form = {"email": address_of("signer"), "password": PASSWORD}
        status, _, body = self.send("POST", "/user/login", form)
        if status == 200:
            answer = json.loads(body)["data"]
            headers = [("X-API-Key", answer["api_key"]), ("X-Session-Token", answer["session_token"])]
            for method, path in (("POST", "/user/validate-session"), ("GET", "/user/profile"), ("POST", "/user/logout")):
                status, _, body = self.send(method, path, None, headers)
                if status == 401:
                    self.journal.fail(f"{path} of a fresh session was refused: {body[:80]!r}")
        elif status == 401:
            self.journal.fail("the right password was refused")
        self.send("POST", "/user/login", form | {"email": address_of("stranger"), "password": "wrong words here"})
        time.sleep(0.2)


class Pages(Caller):
    """Pages of the console in a signed-in browser, and public pages."""

    browser = None

    def once(self):
        if self.browser is None:
            browser = Browser(self.experiment.service)
            try:
                browser.open("/account/applications", "signer")
            except (OSError, RuntimeError, AttributeError):
                time.sleep(1)
                return
            self.browser = browser
        cookies = "; ".join(f"{name}={text}" for name, text in self.browser.cookies.items())
        for path in ("/console", "/account/applications"):
            status, _, _ = self.send("GET", path, None, [("Cookie", cookies)])
            if status in (302, 303):
                self.journal.fail(f"{path}: the session of a browser ended")
                self.browser = None
        for path in ("/", "/health", "/openapi.json", "/playground"):
            self.send("GET", path)
        self.send("GET", "/user/usage", None, [("X-API-Key", self.experiment.keys["prices0"])])
        time.sleep(0.2)


class Experiment:
    """A program under load, its database, and the faults."""

    def __init__(self, program, postgres):
        self.postgres = postgres
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mixed-"))
        database = postgres.new_database() if postgres else None
        settings = SETTINGS | {"QS_BIND": f"127.0.0.1:{free_port()}"}
        self.service = Service(program, self.folder, postgres, database, settings).start()
        self.journal, self.is_over, self.threads = Journal(), threading.Event(), []
        self.keys, self.tokens, self.costs = {}, {}, {}

    def prepare(self):
        """Makes the accounts, and reads the cost of each call."""
        kinds = [(Prices, 6), (Repeats, 3), (Columns, 1), (Tools, 2), (SignIns, 1), (Pages, 1)]
        for kind, count in kinds:
            for number in range(count):
                name = f"{kind.__name__.lower()}{number}"
                if kind in (SignIns, Pages):
                    continue
                self.keys[name] = self.account(name)
        self.account("signer")
        probe = self.service.account("probe", "enterprise", 100_000)
        columns = OPTION | {"strike": [40.0] * ROWS}
        for path, body in [*CALLS, (PRICE + "/columns", columns)]:
            answer = self.service.call("POST", path, body, probe)
            if answer.status != 200:
                raise RuntimeError(f"{path} was answered {answer.status}")
            self.costs[path] = int(answer.headers.get("X-Credits-Cost", 0))
        for name in [name for name in self.keys if name.startswith("tools")]:
            application = Application(self.service)
            application.browser.open("/account/applications", name)
            self.tokens[name] = application.tokens().json() | {"client": application.client}
        self.threads = [kind(self, number) for kind, count in kinds for number in range(count)]

    def account(self, name):
        """Makes an account without a limit of calls that matters, and returns its key."""
        key = self.service.account(name, "enterprise", CREDITS)
        self.service.command("account", "set-limit", address_of(name), "4000000000")
        return key

    def faults(self):
        """Returns the faults, in their order."""
        shared = [self.kill, self.drain, self.stand_still, self.silence, self.large_bodies]
        return [self.stop_database, *shared, self.cut_connections] if self.postgres else [self.lock_database, *shared]

    def restart(self):
        """Starts the program again on the same address, which the system may hold for a moment."""
        for _ in range(30):
            if self.service.try_start():
                return
            time.sleep(0.5)
        raise RuntimeError(self.service.words()[-200:])

    def kill(self):
        """killed, and started again"""
        self.service.process.kill()
        self.service.process.wait()
        self.restart()

    def drain(self):
        """ended by SIGTERM, and started again"""
        self.service.process.send_signal(signal.SIGTERM)
        self.service.process.wait(60)
        self.restart()

    def stand_still(self):
        """standing still for 3 s"""
        self.service.process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        self.service.process.send_signal(signal.SIGCONT)

    def silence(self):
        """1,000 connections that send nothing, for 20 s"""
        with contextlib.ExitStack() as stack:
            for _ in range(1000):
                with contextlib.suppress(OSError):
                    stack.enter_context(self.service.connect(5))
            time.sleep(20)

    def large_bodies(self):
        """16 bodies of 15 MiB"""
        zeros = b'{"x":[' + b"0," * (15 * MIB // 2) + b"0]}"
        key = self.keys["prices0"]

        def send():
            with contextlib.suppress(OSError):
                self.service.call("POST", PRICE, zeros, key)

        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def lock_database(self):
        """database locked by another program for 10 s"""
        with contextlib.closing(sqlite3.connect(self.service.data / "quant.db", timeout=30)) as database:
            database.execute("BEGIN IMMEDIATE")
            time.sleep(10)
            database.rollback()

    def stop_database(self):
        """database stopped at once, and started after 10 s"""
        self.postgres.stop()
        time.sleep(10)
        self.postgres.start()

    def cut_connections(self):
        """all connections to the database cut"""
        others = "pid <> pg_backend_pid() AND usename = 'quant'"
        self.postgres.query("postgres", f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {others}")

    def memory(self):
        """Returns the present memory of the program and its file handles."""
        with contextlib.suppress(OSError, AttributeError):
            handles = len(os.listdir(f"/proc/{self.service.process.pid}/fd"))
            return f"{self.service.megabytes('VmRSS'):.0f}", str(handles)
        return "–", "–"

    def run(self, minutes):
        """Runs load and faults, and prints a row a minute."""
        self.journal.begin = time.monotonic()
        for thread in self.threads:
            thread.start()
        faults = self.faults()
        names = ["minute", "fault", "2xx", "3xx", "4xx", "503", "no answer", "p50 ms", "p99 ms", "memory MB", "handles"]
        print("| " + " | ".join(names) + " |\n|--:|---|" + "--:|" * (len(names) - 2), flush=True)
        for minute in range(minutes):
            time.sleep(max(0, self.journal.begin + 60 * minute + 20 - time.monotonic()))
            fault = faults[minute % len(faults)] if minute else None
            if fault:
                fault()
            time.sleep(max(0, self.journal.begin + 60 * minute + 60 - time.monotonic()))
            cells = [str(minute + 1), fault.__doc__ if fault else "none", *self.journal.row(minute), *self.memory()]
            print("| " + " | ".join(cells) + " |", flush=True)
        self.is_over.set()
        for thread in self.threads:
            thread.join(200)

    def balance(self, name):
        """Returns the balance of an account."""
        answer = self.service.call("GET", "/user/profile", None, self.keys[name])
        return answer.data("credit_balance")

    def compare(self):
        """Compares what each account was charged with what it was answered, and returns the sums."""
        sums = collections.Counter()
        for name in self.keys:
            spent = CREDITS - self.balance(name)
            paid, unknown = self.journal.paid[name], self.journal.unknown[name]
            sums += collections.Counter(spent=spent, paid=paid, unknown=unknown)
            if not paid <= spent <= paid + unknown:
                self.journal.fail(f"{name} was charged {spent} for answers of {paid} and at most {unknown} without one")
        return sums

    def audit(self):
        """Ends the program and returns what its audit prints."""
        self.service.end()
        audit = self.service.command("audit")
        if audit.returncode:
            self.journal.fail("the audit found a fault")
        return (audit.stdout + audit.stderr).strip()

    def end(self):
        """Ends the program and removes its data."""
        self.service.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--minutes", type=int, default=30)
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        postgres = None
        if arguments.postgres:
            postgres = Postgres()
            stack.callback(postgres.end)
        experiment = Experiment(str(pathlib.Path(arguments.program).resolve()), postgres)
        stack.callback(experiment.end)
        experiment.prepare()
        experiment.run(arguments.minutes)
        sums = experiment.compare()
        print(f"\ncharged {sums['spent']:,} credits; answered {sums['paid']:,}; without an answer at most {sums['unknown']:,}")
        print("refused:", ", ".join(f"{count:,} {kind}" for kind, count in experiment.journal.refusals.most_common()))
        print("audit:", experiment.audit())
        for fault, count in collections.Counter(experiment.journal.faults).items():
            print(f"FAULT: {fault} ({count} times)")
        sys.exit(1 if experiment.journal.faults else 0)


if __name__ == "__main__":
    main()
