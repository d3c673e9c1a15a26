#!/usr/bin/env python3
"""Messages through an outage of the messaging channel: a bot API on the loopback that is not there, then fails, then asks for time,
then works. Every chat must get the broadcast once.

Usage: tests/messaging/outage.py [--program target/release/quant-server] [--accounts 300] [--outage 5]
"""
import argparse, collections, http.server, json, os, re, socket, sqlite3, subprocess, tempfile, threading, time, urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--program", default="target/release/quant-server")
parser.add_argument("--accounts", type=int, default=300)
parser.add_argument("--outage", type=float, default=5, help="seconds without a channel; for as long again it answers errors")
arguments = parser.parse_args()

answered = collections.Counter()
delivered = collections.Counter()
recovers_at = float("inf")


class Bot(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/bot1:secret/sendMessage" and message["text"] == "News", (self.path, message)
        status, body = 200, b'{"ok":true}'
        if time.monotonic() < recovers_at:
            wait = answered.total() % 2
            status, body = (429, b'{"ok":false,"parameters":{"retry_after":2}}') if wait else (503, b"")
        else:
            delivered[message["chat_id"]] += 1
        answered[status] += 1
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def create(data, name, *flags):
    command = [arguments.program, "account", "create", "--data-dir", data, "--email", f"{name}@example.com", "--username", name, *flags]
    return re.search(r"API key: (\S+)", subprocess.run(command, check=True, capture_output=True, text=True).stdout)[1]


def ask(data, statement, *values):
    database = sqlite3.connect(os.path.join(data, "quant.db"))
    row = database.execute(statement, values).fetchone()
    database.commit()
    database.close()
    return row and row[0]


def fill(data):
    numbers = "WITH RECURSIVE number(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM number WHERE n < 999 + ?) "
    ask(data, "INSERT INTO account (id, email, username, username_key, tier, credit_balance, is_admin, mfa_enabled, created_at, verified_at) "
        + numbers + "SELECT n, 'user' || n || '@example.com', 'user' || n, 'user' || n, 'free', 0, FALSE, FALSE, 0, 0 FROM number",
        arguments.accounts)
    ask(data, "INSERT INTO preference (account_id, notify_email, notify_messaging, notify_in_app, messaging_chat_id) "
        + numbers + "SELECT n, FALSE, TRUE, FALSE, CAST(n AS TEXT) FROM number", arguments.accounts)


def broadcast(url, key):
    body = json.dumps({"title": "News", "channels": ["messaging"]}).encode()
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/user/admin/notifications/broadcast", body, headers)) as answer:
        return json.load(answer)["data"]["recipients"]


with tempfile.TemporaryDirectory() as data, socket.socket() as place:
    place.bind(("127.0.0.1", 0))
    port = place.getsockname()[1]
    place.close()
    root = create(data, "root", "--admin")
    fill(data)
    channel = {"QS_MESSAGING_URL": f"http://127.0.0.1:{port}", "QS_MESSAGING_TOKEN": "1:secret"}
    command = [arguments.program, "--data-dir", data, "--bind", "127.0.0.1:0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **channel})
    try:
        url = next(line.split()[-1] for line in service.stdout if line.startswith("listening on "))
        threading.Thread(target=service.stdout.read, daemon=True).start()
        told, begun = broadcast(url, root), time.monotonic()
        print(f"broadcast to {told} accounts, {arguments.accounts} of them with a chat")
        time.sleep(arguments.outage)
        recovers_at = time.monotonic() + arguments.outage
        bot = http.server.ThreadingHTTPServer(("127.0.0.1", port), Bot)
        threading.Thread(target=bot.serve_forever, daemon=True).start()
        patience = time.monotonic() + 120
        while len(delivered) < arguments.accounts or ask(data, "SELECT count(*) FROM outbound_message WHERE due_at IS NOT NULL"):
            assert time.monotonic() < patience, (len(delivered), ask(data, "SELECT count(*) FROM outbound_message WHERE due_at IS NOT NULL"))
            time.sleep(0.2)
        print(f"all delivered {time.monotonic() - begun:.1f} s after the broadcast, {time.monotonic() - recovers_at:.1f} s after the recovery")
        print(f"answers of the channel: {dict(answered)}; chats: {len(delivered)}, messages: {delivered.total()}")
        assert delivered.total() == len(delivered) == arguments.accounts, "each chat once"
    finally:
        service.terminate()
        service.wait()
