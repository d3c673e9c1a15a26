"""Replays attacks from outside against a quant-server, and prints a table of what was observed.

    cargo build --release
    python tests/outside/replay.py target/release/quant-server [--postgres] [--against OLD] [--only WORD]

Every attack has services and data of its own, in temporary folders. With `--postgres` the services use
databases of a PostgreSQL cluster that the script starts on the loopback interface and ends. With
`--against` an older program is attacked as well and stands in the column before. Exits with 1 where the
program does not hold against an attack. Needs Python 3.10 and Linux; the bodies over HTTP/2 need
`requirements.txt`, the full disk needs the right to mount.
"""

import argparse
import contextlib
import datetime
import gzip
import http.client
import json
import pathlib
import re
import resource
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unicodedata

from program import PASSWORD, Application, Browser, Postgres, Service, address_of, read_answer

try:
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
except ImportError:
    h2 = None

MIB = 1024 * 1024
WEBSITE = "https://www.example.com"
SHANNON = "/quantlib/physics/entropy/shannon"
PRICE = "/quantlib/pricing/bs/price"
BARRIER = "/quantlib/pricing/binomial/barrier"
TENOR = "/quantlib/core/types/tenor/add-to-date"
OPTION = {"spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}
# The tree of this request takes some hundred times the processor time of its transport.
DEAR_OPTION = {
    **{"spot": 100, "strike": 100, "risk_free_rate": 0.05, "volatility": 0.9, "time_to_maturity": 5},
    **{"n_steps": 100_000, "option_type": "put", "barrier": 60, "is_knock_in": True, "is_down": True},
    **{"barrier_monitoring": "tree", "method": "LR"},
}
HELD, NOT_HELD, SKIPPED = "held", "NOT held", "skipped"


class Attempt:
    """One attack on one program, with the services and folders that it uses."""

    def __init__(self, program, postgres):
        self.program, self.postgres = program, postgres
        self.stack = contextlib.ExitStack()

    def folder(self):
        """Makes a temporary folder, which is removed at the end."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="outside-"))
        self.stack.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def service(self, settings=None, folder=None):
        """Prepares a service on new data, without starting it."""
        database = self.postgres.new_database() if self.postgres else None
        settings = {"QS_WEBSITE_URL": WEBSITE} | (settings or {})
        service = Service(self.program, folder or self.folder(), self.postgres, database, settings)
        self.stack.callback(service.end)
        return service

    def start(self, settings=None):
        """Starts a service on new data."""
        return self.service(settings).start()


def at_once(service, requests):
    """Sends requests on a connection each, the last byte of all at the same time; returns the answers."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(service.connect()) for _ in requests]
        for connection, request in zip(connections, requests, strict=True):
            connection.sendall(request[:-1])
        time.sleep(0.1)
        for connection, request in zip(connections, requests, strict=True):
            connection.sendall(request[-1:])
        return [read_answer(connection) for connection in connections]


def chunked(body):
    """Returns a body in chunks of 64 KiB, with its end."""
    parts = (body[at : at + 65536] for at in range(0, len(body), 65536))
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def zeros_beside(fields):
    """Returns a JSON object of just under 16 MiB: given fields, and zeros in a field that nothing reads."""
    end = json.dumps(fields)[1:].encode()
    count = (16 * MIB - len(end) - 100) // 2
    return b'{"x":[' + b"0," * count + b"0]," + end


def over_http2(service, path, body, key):
    """Sends a body over HTTP/2 without a length; returns the status, or None where none came."""
    link = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    link.initiate_connection()
    head = {":method": "POST", ":scheme": "http", ":authority": service.address, ":path": path}
    link.send_headers(1, list((head | {"content-type": "application/json", "x-api-key": key}).items()))
    sent, status, until = 0, None, time.monotonic() + 60
    with service.connect() as connection, contextlib.suppress(OSError, h2.exceptions.ProtocolError):
        while status is None and time.monotonic() < until:
            while sent < len(body) and (window := link.local_flow_control_window(1)) > 0:
                part = body[sent : sent + min(window, link.max_outbound_frame_size)]
                sent += len(part)
                link.send_data(1, part, end_stream=sent == len(body))
            connection.sendall(link.data_to_send())
            received = connection.recv(65536)
            if not received or received.startswith(b"HTTP/1"):
                break
            for event in link.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
    return status


def verdict(is_held):
    """Returns the word for an outcome; None stands for an attack that could not be carried out."""
    return SKIPPED if is_held is None else HELD if is_held else NOT_HELD


def listed(words):
    """Returns words with commas, or none."""
    return ", ".join(str(word) for word in words) or "none"


def delay_behind(service, connections, heads):
    """Sends heads whose bodies never come; returns status and seconds of a payer's body of 140 kB."""
    key = service.account("payer")
    for head in heads:
        connections.append(service.connect())
        connections[-1].sendall(head)
    time.sleep(0.5)
    body = json.dumps(OPTION).encode() + b" " * 140_000
    began = time.monotonic()
    status = service.call("POST", PRICE, body, key, timeout=15).status
    return status, time.monotonic() - began


def delayed_behind(service, heads):
    """Reports what a payer waits behind bodies that never come."""
    connections = []
    try:
        status, seconds = delay_behind(service, connections, heads)
    finally:
        for connection in connections:
            connection.close()
    return f"{status or 'no answer'} after {seconds:.1f} s", status == 200 and seconds < 5


def silent_strangers(attempt):
    """Announces eight bodies of 100 kB without a key and sends none of them."""
    service = attempt.start()
    paths = ["/user/login", "/user/forgot-password", "/guest/create"]
    headers = ["Content-Type: application/json", "Content-Length: 100000"]
    return delayed_behind(service, [service.head("POST", paths[number % 3], *headers) for number in range(8)])


def silent_callers(attempt):
    """Announces eight bodies of 100 kB with a key of tier FREE, and eight with a guest's key."""
    service = attempt.start()
    guest = service.call("POST", "/guest/create", {"device_id": "a device"}).data("api_key")
    keys = [service.account("ada", tier="free"), guest] * 8
    headers = ["Content-Type: application/json", "Content-Length: 100000"]
    return delayed_behind(service, [service.head("POST", TENOR, *headers, f"X-API-Key: {key}") for key in keys])


def costs_of(attempt, send):
    """Reports what a body of 16 MiB costs at a cheap operation, and at one that takes large bodies."""
    found, is_held = [], True
    for tier, path, fields in (("pro", PRICE, OPTION), ("enterprise", SHANNON, {"probabilities": [1.0]})):
        service = attempt.start()
        key = service.account(tier, tier=tier)
        with service.measured() as cost:
            status = send(service, path, zeros_beside(fields), key)
        found.append(f"{tier.upper()} {status or 'closed'}: {cost}")
        is_held = is_held and cost.is_small()
        service.end()
    return "; ".join(found), is_held


def ignored_zeros(attempt):
    """Sends 16 MiB of zeros in a field that nothing reads."""
    return costs_of(attempt, lambda service, path, body, key: service.call("POST", path, body, key).status)


def zeros_in_chunks(attempt):
    """Sends 16 MiB of zeros in chunks, without a length."""

    def send(service, path, body, key):
        headers = ["Content-Type: application/json", "Transfer-Encoding: chunked", f"X-API-Key: {key}"]
        return service.send(service.head("POST", path, *headers) + chunked(body)).status

    return costs_of(attempt, send)


def zeros_over_http2(attempt):
    """Sends 16 MiB of zeros over HTTP/2, without a length."""
    if h2 is None:
        return "the package h2 is not installed", None
    service = attempt.start()
    if over_http2(service, PRICE, json.dumps(OPTION).encode(), service.account()) != 200:
        return "no HTTP/2", None
    service.end()
    return costs_of(attempt, over_http2)


def outcomes_without_end(attempt):
    """Sends eight million outcomes, eight times as many as a distribution may have."""
    service = attempt.start()
    key = service.account(tier="enterprise")
    body = b'{"probabilities":[' + b"0," * 8_000_000 + b"1]}"
    with service.measured() as cost:
        status = service.call("POST", SHANNON, body, key).status
    return f"{status or 'closed'}: {cost}", status != 200 and cost.is_small()


def unfinished_bodies(attempt):
    """Sends 15 MiB of 40 bodies of one FREE account and ends none, with a length and in chunks."""
    found = {}
    parts = {"Content-Length: 16000000": b" " * 65536, "Transfer-Encoding: chunked": chunked(b" " * 65536)[:-5]}
    for header, part in parts.items():
        service = attempt.start()
        key = service.account(tier="free")
        head = service.head("POST", TENOR, "Content-Type: application/json", header, f"X-API-Key: {key}")
        with service.measured() as cost:
            send_unfinished(service, head + part * (15 * MIB // 65536))
        found[header.split()[-1]] = cost.megabytes
        service.end()
    largest = max(found.values())
    return f"{found['16000000']:.0f} MB; {found['chunked']:.0f} MB in chunks", largest <= 96


def send_unfinished(service, request):
    """Sends a request on 40 connections, as far as the service reads it within ten seconds."""
    with contextlib.ExitStack() as stack:
        views = {}
        for _ in range(40):
            connection = stack.enter_context(service.connect())
            connection.setblocking(False)
            views[connection] = memoryview(request)
        until = time.monotonic() + 10
        while views and time.monotonic() < until:
            for connection in select.select([], list(views), [], 1)[1]:
                try:
                    views[connection] = views[connection][connection.send(views[connection][:262144]) :]
                except OSError:
                    views[connection] = memoryview(b"")
                if not views[connection]:
                    del views[connection]
        time.sleep(1)


def unpaid_calls(attempt):
    """Sends 48 dear calls at once with credits for one."""
    service = attempt.start()
    rich, poor = service.account("rich"), service.account("poor", credits=5)
    request = service.request("POST", BARRIER, DEAR_OPTION, rich)
    if (status := service.send(request).status) != 200:
        raise RuntimeError(f"the dear call is {status}")
    with service.measured() as alone:
        for _ in range(20):
            service.send(request)
    with service.measured() as together:
        answers = at_once(service, [service.request("POST", BARRIER, DEAR_OPTION, poor)] * 48)
    statuses = [answer.status for answer in answers]
    once, refused = alone.seconds / 20, statuses.count(402)
    paid = statuses.count(200)
    each = (together.seconds - paid * once) / 47
    told = f"{paid} paid, {refused} refused; a paid call takes {once * 1000:.0f} ms, a refused one {each * 1000:.1f} ms"
    return told, paid == 1 and each <= 0.2 * once


def forgotten_passwords(attempt):
    """Asks 2,000 times for a new password of addresses without an account."""
    service = attempt.start()
    service.account()

    def ask(connection, address):
        body = json.dumps({"email": address})
        connection.request("POST", "/user/forgot-password", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    with contextlib.closing(http.client.HTTPConnection(service.address, timeout=60)) as connection:
        known = ask(connection, address_of("ada"))
        time.sleep(1)
        stored = service.stored_bytes()
        with service.measured() as cost:
            answers = {ask(connection, address_of(f"nobody{number}")) for number in range(2000)}
    growth = (service.stored_bytes() - stored) / 2000
    is_neutral = answers == {known} and known[0] == 200
    told = f"{'the answer of an account' if is_neutral else 'another answer'}, {cost.seconds:.1f} s"
    return f"{told}, {growth:.0f} bytes stored a call", is_neutral and cost.seconds <= 2


def hand_off_after_regeneration(attempt):
    """Redeems a hand-off code that was made with the replaced key."""
    service = attempt.start()
    key = service.account()
    code = service.call("POST", "/user/auth/desktop-handoff", None, key).data("code")
    new = service.call("POST", "/user/regenerate-api-key", None, key).data("api_key")
    redeemed = service.call("POST", "/user/auth/desktop-handoff/redeem", {"code": code})
    told = f"{redeemed.status}{', with the new key' if new.encode() in redeemed.body else ''}"
    return told, redeemed.status in (400, 401, 403, 410)


def sessions_after_regeneration(attempt):
    """Uses a session token and the cookie of a browser after the key was replaced."""
    service = attempt.start()
    key, page = service.account(), "/account/applications"
    login = {"email": address_of("ada"), "password": PASSWORD}
    token = service.call("POST", "/user/login", login).data("session_token")
    browser = Browser(service)
    browser.open(page)

    def is_open(key):
        answer = service.call("POST", "/user/validate-session", None, key, [f"X-Session-Token: {token}"])
        return answer.status == 200 and answer.data("valid"), browser.is_signed_in(page)

    if is_open(key) != (True, True):
        raise RuntimeError("the sessions did not begin")
    new = service.call("POST", "/user/regenerate-api-key", None, key).data("api_key")
    states = ["goes on" if state else "ended" for state in is_open(new)]
    return f"token {states[0]}, cookie {states[1]}", states == ["ended", "ended"]


def parallel_refreshes(attempt):
    """Sends one refresh token eight times at once, in ten rounds."""
    service = attempt.start({"QS_ADDRESS_LIMIT": "100000"})
    service.account()
    application, wins = Application(service), []
    for _ in range(10):
        token = application.tokens().json()["refresh_token"]
        request = application.token_request(grant_type="refresh_token", refresh_token=token)
        wins.append([answer.status for answer in at_once(service, [request] * 8)].count(200))
    return f"successes in each round: {listed(wins)}", set(wins) == {1}


def registrants_of_a_name(attempt):
    """Registers twelve addresses under one user name at once, in five rounds."""
    service = attempt.start({"QS_ADDRESS_LIMIT": "100000"})
    told = []
    for number in range(5):
        forms = [
            {"username": f"name{number}", "email": address_of(f"name{number}.{other}"), "password": PASSWORD}
            for other in range(12)
        ]
        answers = at_once(service, [service.request("POST", "/user/register", form) for form in forms])
        told.append([answer.status for answer in answers].count(200))
    return f"successes in each round: {listed(told)}", set(told) == {1}


def cached_secrets(attempt):
    """Looks for answers with a key, a token, a code or a profile that a cache may keep."""
    service = attempt.start()
    form = {"username": "ada", "email": address_of("ada"), "password": PASSWORD}
    service.call("POST", "/user/register", form)
    verified = service.call("POST", "/user/verify-otp", {"email": address_of("ada"), "otp": service.code()})
    key = verified.data("api_key")
    handed = service.call("POST", "/user/auth/desktop-handoff", None, key)
    answers = {
        "confirmation": verified,
        "login": service.call("POST", "/user/login", form),
        "profile": service.call("GET", "/user/profile", None, key),
        "guest key": service.call("POST", "/guest/create", {"device_id": "a device"}),
        "hand-off": handed,
        "redeemed": service.call("POST", "/user/auth/desktop-handoff/redeem", {"code": handed.data("code")}),
        "tokens": Application(service).tokens(),
        "regeneration": service.call("POST", "/user/regenerate-api-key", None, key),
    }
    failed = [name for name, answer in answers.items() if answer.status != 200]
    if failed:
        raise RuntimeError(f"not answered: {listed(failed)}")
    kept = [name for name, answer in answers.items() if "no-store" not in answer.headers.get("Cache-Control", "")]
    return f"without no-store: {listed(kept)}", not kept


def second_service(attempt):
    """Starts a second service on the same SQLite file."""
    if attempt.postgres:
        return "SQLite only", None
    first = attempt.start()
    second = attempt.service({"QS_DATA_DIR": str(first.data)})
    is_started = second.try_start()
    ready = first.call("GET", "/ready").status
    if is_started:
        return "it serves as well", False
    code = second.process.returncode
    return f"exit {code}, /ready of the first {ready}", code != 0 and ready == 200


def ambiguous_heads(attempt):
    """Sends two keys, two hosts and no host."""
    service = attempt.start()
    keys = [f"X-API-Key: {service.account(name)}" for name in ("ada", "grace")]
    host = f"Host: {service.address}"
    heads = {
        "two keys": [host, *keys],
        "two hosts": [host, "Host: www.example.org", keys[0]],
        "no host": [keys[0]],
    }
    found = {}
    for name, lines in heads.items():
        head = "\r\n".join(["GET /auth/validate HTTP/1.1", *lines, "", ""]).encode()
        found[name] = service.send(head).status
    return listed(f"{name} {status}" for name, status in found.items()), set(found.values()) == {400}


def compressed_body(attempt):
    """Sends a body that is compressed by gzip."""
    service = attempt.start()
    body = gzip.compress(json.dumps(OPTION).encode())
    status = service.call("POST", PRICE, body, service.account(), ["Content-Encoding: gzip"]).status
    return str(status), status in (200, 415)


def website_pages(attempt):
    """Asks whether pages of the website, and of no other, may make the calls that they need."""
    service = attempt.start()
    paths = ["/user/register", "/user/login", "/user/auth/complete-profile", "/user/auth/desktop-handoff/redeem"]
    found = []
    for path in paths:
        asked = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"]
        own, other = (
            service.call("OPTIONS", path, None, None, [f"Origin: {origin}", *asked]).headers
            for origin in (WEBSITE, "https://www.example.org")
        )
        is_allowed = own.get("Access-Control-Allow-Origin") == WEBSITE
        is_allowed = is_allowed and "POST" in own.get("Access-Control-Allow-Methods", "")
        is_allowed = is_allowed and "content-type" in own.get("Access-Control-Allow-Headers", "").lower()
        answer = service.call("POST", path, {}, None, [f"Origin: {WEBSITE}"])
        is_allowed = is_allowed and answer.headers.get("Access-Control-Allow-Origin") == WEBSITE
        if not is_allowed:
            found.append(f"{path} is closed to the website")
        if "Access-Control-Allow-Origin" in other:
            found.append(f"{path} is open to another website")
    return listed(found) if found else f"{len(paths)} calls open to the website alone", not found


def echoed_texts(attempt):
    """Sends long texts as values and as a name, and measures head and body of the answers."""
    service = attempt.start()
    free, enterprise = service.account("free", tier="free"), service.account("enterprise", tier="enterprise")
    date = {"start_date": "2024-01-31"}
    calls = [
        (TENOR, {"tenor": "9" * 200_000, **date}, free),
        (TENOR, {"tenor": "9" * MIB, **date}, free),
        (SHANNON, {"probabilities": [1.0], "base": "x" * MIB}, enterprise),
        (SHANNON, {"probabilities": ["x" * MIB]}, enterprise),
        (SHANNON, {"probabilities": [1.0], "x" * MIB: 1}, enterprise),
    ]
    sizes, statuses = [], []
    for path, body, key in calls:
        answer = service.call("POST", path, body, key)
        sizes.append(len(answer.body) + len(bytes(answer.headers)))
        statuses.append(answer.status)
    return f"{listed(statuses)}; at most {max(sizes):,} bytes", None not in statuses and max(sizes) < 2000


def full_disk(attempt):
    """Fills the disk of the data folder under a running service."""
    if attempt.postgres:
        return "SQLite only", None
    folder = attempt.folder()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        return "no right to mount", None
    attempt.stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=True)
    service = attempt.service({"QS_ADDRESS_LIMIT": "100000"}, folder).start()
    service.account()
    with open(folder / "filling", "wb", buffering=0) as filling, contextlib.suppress(OSError):
        while True:
            filling.write(bytes(4096))
    registered = set()
    for number in range(60):
        form = {"username": f"name{number}", "email": address_of(f"name{number}"), "password": PASSWORD}
        registered.add(service.call("POST", "/user/register", form).status)
        # A log that has room left takes some registrations.
        if number >= 5 and registered != {200}:
            break
    login = {"email": address_of("ada"), "password": PASSWORD}
    signed_in = {service.call("POST", "/user/login", login).status for _ in range(3)}
    until = time.monotonic() + 20
    while (ready := service.call("GET", "/ready").status) != 503 and time.monotonic() < until:
        time.sleep(1)
    told = f"register {listed(sorted(registered))}, login {listed(sorted(signed_in))}, /ready {ready}"
    return told, ready == 503 and not {500, None} & (registered | signed_in) and 503 in registered


def readable_files(attempt):
    """Starts in an existing folder that others may read, and with a master key that others may read."""
    service = attempt.service()
    service.data.mkdir()
    service.data.chmod(0o755)
    service.start(umask=0o022)
    service.account()
    files = {path.name: path.stat().st_mode & 0o777 for path in service.data.iterdir() if path.is_file()}
    expected = {"master.key"} if attempt.postgres else {"quant.db", "quant.db-wal", "master.key"}
    if not expected <= files.keys():
        raise RuntimeError(f"files are missing: {listed(expected - files.keys())}")
    wide = [f"{name} {mode:o}" for name, mode in sorted(files.items()) if mode != 0o600]
    service.end()
    (service.data / "master.key").chmod(0o644)
    is_started = service.try_start(umask=0o022)
    lines = [line for line in service.words().splitlines() if "master.key" in line]
    is_told = any(re.search(r"\b(read|reads|readable|permission|permissions|mode|chmod|644)\b", line) for line in lines)
    key = "told" if is_told and is_started else "accepted" if is_started else "refused"
    return f"open to others: {listed(wide)}; a key of mode 644 is {key}", not wide and (not is_started or is_told)


def mistyped_folder(attempt):
    """Migrates a new folder without being asked to make a database, and starts beside a lost database."""
    found = []
    typo = attempt.service()
    if typo.command("migrate").returncode == 0:
        found.append("migrate makes a database")
    elif typo.command("migrate", "--create-database").returncode != 0:
        found.append("migrate makes none when asked to")
    lost = attempt.start()
    lost.end()
    if attempt.postgres:
        lost.use(attempt.postgres.new_database())
    for path in lost.data.glob("quant.db*"):
        path.unlink()
    if lost.try_start():
        found.append("a lost database starts empty")
    return listed(found) if found else "both refused", not found


def altered_usage(attempt):
    """Changes figures of a daily sum in the database, and audits."""
    service = attempt.start()
    service.call("POST", PRICE, OPTION, service.account())
    until = time.monotonic() + 20
    while not service.query("SELECT requests FROM usage_day") and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(1)
    if service.command("audit").returncode != 0:
        raise RuntimeError("the audit of unaltered data fails")
    found, is_held = [], True
    today = datetime.datetime.now(datetime.timezone.utc).date()
    day = (today - datetime.date(1970, 1, 1)).days
    for column in ("requests", "credits"):
        service.query(f"UPDATE usage_day SET {column} = {column} + 7")
        audit = service.command("audit")
        words = audit.stdout + audit.stderr
        has_number = re.search(rf"\b{day}\b", words)
        form = "a date" if today.isoformat() in words else "a day number" if has_number else "no day"
        found.append(f"{column}: exit {audit.returncode}, {form}")
        is_held = is_held and audit.returncode != 0 and form == "a date"
        service.query(f"UPDATE usage_day SET {column} = {column} - 7")
    return "; ".join(found), is_held


def password_forms(attempt):
    """Signs in with another Unicode form of the password, and registers with what nobody can mean."""
    service = attempt.start()
    composed, decomposed = (unicodedata.normalize(form, "neun Bäume am Fluß: café") for form in ("NFC", "NFD"))

    def register(name, password):
        form = {"username": name, "email": address_of(name), "password": password}
        return service.call("POST", "/user/register", form).status

    logins = []
    for name, first, second in (("ada", composed, decomposed), ("grace", decomposed, composed)):
        register(name, first)
        service.call("POST", "/user/verify-otp", {"email": address_of(name), "otp": service.code()})
        login = {"email": address_of(name), "password": second}
        logins.append(service.call("POST", "/user/login", login).status)
    refused = [register("mary", " " * 8), register("jane", address_of("jane"))]
    told = f"login with the other form {listed(logins)}; spaces {refused[0]}; own address {refused[1]}"
    return told, logins == [200, 200] and refused == [422, 422]


def operator_commands(attempt):
    """Runs the commands that an operator needs beside a running service."""
    service = attempt.start()
    service.account()
    ada, reason = address_of("ada"), ["--reason", "a replayed attack"]
    commands = {
        "show": [ada],
        "list": [],
        "unlock": [ada, *reason],
        "make-admin": [ada, *reason],
        "adjust": [ada, "-7", *reason],
        "refund": [ada, "3", *reason],
        "regenerate": [ada, *reason],
        "delete": [ada, "--yes", *reason],
    }
    failed = [name for name, words in commands.items() if service.command("account", name, *words).returncode != 0]
    return f"missing or failed: {listed(failed)}", not failed


def owner_calls(attempt):
    """Makes the calls that a signed-in owner needs, each with a new session."""
    service = attempt.start()
    key, ada, other = service.account(), address_of("ada"), "eleven brown otters"
    calls = [
        ("GET", "/user/databases", None),
        ("GET", "/user/sessions", None),
        ("DELETE", "/user/sessions", None),
        ("POST", "/user/change-email", {"password": PASSWORD, "new_email": "ada@example.org"}),
        ("POST", "/user/change-password", {"password": PASSWORD, "new_password": other}),
    ]
    found = {}
    for method, path, body in calls:
        token = service.call("POST", "/user/login", {"email": ada, "password": PASSWORD}).data("session_token")
        answer = service.call(method, path, body, key, [f"X-Session-Token: {token}"])
        found[f"{method} {path}"] = answer.status
    failed = [f"{name} {status}" for name, status in found.items() if status != 200]
    return f"missing or failed: {listed(failed)}", not failed


# The words of an attack, the attack, and the tests of the workspace that carry it out.
ATTACKS = [
    (
        "8 bodies announced and never sent, without a key, before a payer's 140 kB",
        silent_strangers,
        "silent_bodies_hold_nothing_and_delay_no_large_body",
    ),
    (
        "the same with keys of tier FREE and of guests",
        silent_callers,
        "silent_bodies_hold_nothing_and_delay_no_large_body",
    ),
    (
        "16 MiB of zeros in an ignored field",
        ignored_zeros,
        "a_field_that_no_operation_reads_is_skipped_whatever_it_holds",
        "each_operation_has_its_own_limit_and_tier_free_the_common_one",
    ),
    ("8 million outcomes, refused", outcomes_without_end, "a_list_that_is_too_long_is_one_fault"),
    ("16 MiB of zeros in chunks", zeros_in_chunks, "a_body_without_a_length_has_the_same_limits"),
    ("16 MiB of zeros over HTTP/2, no length", zeros_over_http2, "a_body_without_a_length_has_the_same_limits"),
    (
        "40 unfinished bodies of 15 MiB, one FREE account",
        unfinished_bodies,
        "the_bytes_of_an_unfinished_body_are_counted_until_it_ends",
        "an_account_of_tier_free_sends_at_most_256_kibibytes",
    ),
    (
        "48 dear calls at once with credits for one",
        unpaid_calls,
        "of_48_parallel_calls_with_credits_for_one_47_are_refused_before_their_computation",
    ),
    (
        "2,000 forgotten passwords of unknown addresses",
        forgotten_passwords,
        "beyond_the_bound_of_its_address_a_request_is_answered_alike_and_sends_nothing",
        "requests_for_codes_leave_nothing_after_a_day",
    ),
    (
        "hand-off code of the replaced key",
        hand_off_after_regeneration,
        "a_stolen_key_leads_to_no_session_and_no_new_key_after_its_replacement",
    ),
    (
        "sessions after a new key",
        sessions_after_regeneration,
        "each_event_ends_what_the_table_says_and_nothing_else",
    ),
    (
        "one refresh token 8 times at once",
        parallel_refreshes,
        "of_eight_refreshes_at_once_one_wins_in_every_round",
        "of_sixty_four_refreshes_of_one_token_one_wins",
    ),
    (
        "12 registrants of one name at once",
        registrants_of_a_name,
        "of_twelve_registrants_of_a_name_one_has_it_in_every_round",
    ),
    (
        "secrets in a cache",
        cached_secrets,
        "no_cache_keeps_a_key_a_token_or_a_code",
        "no_cache_keeps_the_answer_of_any_documented_operation",
    ),
    ("a second service on one SQLite file", second_service, "a_second_service_on_one_sqlite_file_is_refused"),
    (
        "two keys, two hosts, no host",
        ambiguous_heads,
        "a_credential_is_sent_once",
        "a_request_of_http_1_names_one_host_which_the_target_agrees_with",
    ),
    (
        "a compressed body",
        compressed_body,
        "a_compressed_body_is_refused_with_the_encoding_that_is_accepted",
    ),
    (
        "calls from pages of the website",
        website_pages,
        "a_page_of_the_website_may_prepare_every_documented_call",
        "no_other_origin_and_no_other_page_is_let_in",
    ),
    (
        "texts of 1 MB in refusals",
        echoed_texts,
        "a_refusal_repeats_at_most_a_hundred_characters_of_a_value",
        "a_refusal_repeats_little_of_a_long_message",
    ),
    (
        "a full disk",
        full_disk,
        "while_no_file_can_grow_every_writing_call_and_readiness_are_503_with_the_reason",
        "a_full_database_says_so_on_every_connection",
    ),
    (
        "files that others may read",
        readable_files,
        "in_an_existing_folder_every_file_is_its_owners_alone",
        "a_master_key_that_others_may_read_is_refused_at_the_start",
    ),
    (
        "a mistyped folder, a lost database",
        mistyped_folder,
        "a_mistyped_folder_is_left_alone_and_a_lost_database_is_told",
        "a_new_database_on_postgresql_is_made_on_request",
    ),
    (
        "altered sums of a day",
        altered_usage,
        "the_audit_names_each_figure_of_a_daily_sum_that_was_altered",
    ),
    (
        "forms of a password, senseless passwords",
        password_forms,
        "one_password_signs_in_however_it_is_encoded",
        "what_nobody_can_mean_as_a_password_is_refused_by_name",
    ),
    (
        "missing commands of an operator",
        operator_commands,
        "an_operator_shows_lists_changes_and_deletes_accounts",
    ),
    (
        "missing calls of an owner",
        owner_calls,
        "a_signed_in_owner_changes_the_password_and_all_sessions_end",
        "an_address_changes_by_the_password_and_the_code_of_the_new_mailbox",
        "sessions_are_listed_and_ended_one_by_one_or_all_at_once",
        "a_database_is_subscribed_and_unsubscribed",
    ),
]


# What an attack raises where a service does not do what the attack needs.
FAILURES = (
    *(OSError, RuntimeError, LookupError, ValueError, TypeError, http.client.HTTPException),
    *(sqlite3.Error, subprocess.SubprocessError),
)


def carry_out(attack, program, postgres):
    """Carries out an attack; returns what was observed and the verdict."""
    attempt = Attempt(program, postgres)
    with attempt.stack:
        try:
            observed, is_held = attack(attempt)
        except FAILURES as error:
            observed, is_held = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}", False
    return observed.replace("|", "/"), verdict(is_held)


def main():
    """Prints the table; exits with 1 where the program does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--against", metavar="OLD", help="an older program, for the column before")
    parser.add_argument("--postgres", action="store_true", help="use a PostgreSQL cluster of its own")
    parser.add_argument("--only", metavar="WORD", default="", help="a word in the functions of the attacks to replay")
    options = parser.parse_args()
    attacks = [row for row in ATTACKS if options.only in row[1].__name__]
    if not attacks:
        parser.error("no attack has this word")
    # A signal ends the services as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Hundreds of connections are open at the same time.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 4096 else 4096, hard))
    programs = [str(pathlib.Path(name).resolve()) for name in (options.against, options.program) if name]
    heads = ["attack", *(["before", "now"] if options.against else ["now"]), "tests"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    verdicts = []
    with contextlib.ExitStack() as stack:
        postgres = Postgres() if options.postgres else None
        if postgres:
            stack.callback(postgres.end)
        for title, attack, *tests in attacks:
            outcomes = [carry_out(attack, program, postgres) for program in programs]
            verdicts.append(outcomes[-1][1])
            cells = [f"{word}: {observed}" for observed, word in outcomes]
            print(f"| {' | '.join([title, *cells, ', '.join(f'`{test}`' for test in tests)])} |", flush=True)
    sys.exit(NOT_HELD in verdicts)


if __name__ == "__main__":
    main()
