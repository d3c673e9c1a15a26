#!/usr/bin/env python3
"""Broadcasts to many accounts: their time, the rows that they write, and an inbox page before and after.

Usage: benches/broadcast.py [--program target/release/quant-server] [--accounts 1000000] [--postgres URL]

Without --postgres the database is SQLite's; with it, an empty database, filled and counted by `psql`.
"""
import argparse, json, os, re, sqlite3, statistics, subprocess, tempfile, time, urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--program", default="target/release/quant-server")
parser.add_argument("--accounts", type=int, default=1_000_000)
parser.add_argument("--pages", type=int, default=1000)
parser.add_argument("--postgres")
arguments = parser.parse_args()

TABLES = ["notification", "broadcast", "notification_mark", "inbox_mark", "outbound_message", "preference"]
FILL = (
    "INSERT INTO account (id, email, username, username_key, tier, credit_balance, is_admin, mfa_enabled, created_at, verified_at) "
    "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {}) "
    "SELECT 999 + n, 'user' || n || '@example.com', 'user' || n, 'user' || n, 'free', 0, FALSE, FALSE, 0, 0 FROM number"
)


def environment(data):
    return {**os.environ, "QS_DATA_DIR": data, **({"DATABASE_URL": arguments.postgres} if arguments.postgres else {})}


def create(data, name, *flags):
    command = [arguments.program, "account", "create", "--email", f"{name}@example.com", "--username", name, *flags]
    made = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(data))
    return re.search(r"API key: (\S+)", made.stdout)[1]


def ask(data, statement):
    """Returns the first field of the first row."""
    if arguments.postgres:
        command = ["psql", arguments.postgres, "-qAtc", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    database = sqlite3.connect(os.path.join(data, "quant.db"))
    row = database.execute(statement).fetchone()
    database.commit()
    database.close()
    return row and row[0]


def fill(data):
    ask(data, FILL.format(arguments.accounts))
    ask(data, "ANALYZE")


def rows(data):
    return {table: int(ask(data, f"SELECT count(*) FROM {table}")) for table in TABLES}


def call(url, key, body=None):
    request = urllib.request.Request(url, headers={"X-API-Key": key, "Content-Type": "application/json"})
    request.data = None if body is None else json.dumps(body).encode()
    start = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        data = json.load(answer)["data"]
    return data, (time.perf_counter() - start) * 1000


def pages(url, key):
    times = sorted(call(f"{url}/user/notifications", key)[1] for _ in range(arguments.pages))
    return f"{statistics.median(times):.2f} ms in the median, {times[-max(1, len(times) // 100)]:.2f} ms p99"


with tempfile.TemporaryDirectory() as data:
    subprocess.run([arguments.program, "migrate", "--create-database"], check=True, capture_output=True, env=environment(data))
    root = create(data, "root", "--admin", "--tier", "enterprise")
    ada = create(data, "ada", "--tier", "enterprise")
    fill(data)
    command = [arguments.program, "--bind", "127.0.0.1:0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(data))
    try:
        url = next(line.split()[-1] for line in service.stdout if line.startswith("listening on "))
        print(f"inbox page before: {pages(url, ada)}")
        before = rows(data)
        for title in ["News", "More news", "Last news"]:
            told, spent = call(f"{url}/user/admin/notifications/broadcast", root, {"title": title})
            print(f"broadcast to {told['recipients']} accounts: {spent:.1f} ms")
        after = rows(data)
        print("rows written by the three:", {table: after[table] - before[table] for table in TABLES})
        print(f"inbox page after: {pages(url, ada)}")
        print("unread:", call(f"{url}/user/notifications", ada)[0]["unread_count"])
    finally:
        service.terminate()
        service.wait()
