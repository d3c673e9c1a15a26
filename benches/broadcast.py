#!/usr/bin/env python3
"""A broadcast to many accounts on SQLite: its time, the rows that it writes, and an inbox page before and after.

Usage: benches/broadcast.py [--program target/release/quant-server] [--accounts 1000000]
"""
import argparse, json, os, re, sqlite3, statistics, subprocess, tempfile, time, urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--program", default="target/release/quant-server")
parser.add_argument("--accounts", type=int, default=1_000_000)
parser.add_argument("--pages", type=int, default=200)
arguments = parser.parse_args()

TABLES = ["notification", "broadcast", "notification_mark", "inbox_mark", "letter", "preference"]


def create(data, email, username, *flags):
    command = [arguments.program, "account", "create", "--data-dir", data, "--email", email, "--username", username, *flags]
    return re.search(r"API key: (\S+)", subprocess.run(command, check=True, capture_output=True, text=True).stdout)[1]


def fill(data):
    database = sqlite3.connect(os.path.join(data, "quant.db"))
    database.execute(
        "WITH RECURSIVE number(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM number WHERE n < 999 + ?) "
        "INSERT INTO account (id, email, username, username_key, tier, credit_balance, is_admin, mfa_enabled, created_at, verified_at) "
        "SELECT n, 'user' || n || '@example.com', 'user' || n, 'user' || n, 'free', 0, FALSE, FALSE, 0, 0 FROM number",
        [arguments.accounts],
    )
    database.commit()
    database.close()


def rows(data):
    database = sqlite3.connect(os.path.join(data, "quant.db"))
    counted = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
    database.close()
    return counted


def call(url, key, body=None):
    request = urllib.request.Request(url, headers={"X-API-Key": key, "Content-Type": "application/json"})
    request.data = None if body is None else json.dumps(body).encode()
    start = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        data = json.load(answer)["data"]
    return data, (time.perf_counter() - start) * 1000


def pages(url, key):
    times = [call(f"{url}/user/notifications", key)[1] for _ in range(arguments.pages)]
    return f"{statistics.median(times):.2f} ms in the median, {sorted(times)[-max(1, len(times) // 100)]:.2f} ms p99"


with tempfile.TemporaryDirectory() as data:
    root = create(data, "root@example.com", "root", "--admin", "--tier", "enterprise")
    ada = create(data, "ada@example.com", "ada", "--tier", "enterprise")
    fill(data)
    command = [arguments.program, "--data-dir", data, "--bind", "127.0.0.1:0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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
