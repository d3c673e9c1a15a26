"""The e-mails of an account through a real SMTP server, which stops and slows down meanwhile.

    cargo build --release
    python -m venv venv && venv/bin/pip install -r tests/mail/requirements.txt
    venv/bin/python tests/mail/life.py [--short]

Starts a service of its own and an aiosmtpd beside it. Shows: each e-mail has one recipient and
fixed headers, whatever a form holds; a mail server that is slow, gone or cut off in an e-mail slows no
request and loses no e-mail; the data key and the master key change while logins go on; and after
all that no key, code, token or password stands in the database, its log, the service's log, the
metrics, the document or the help. Exits with 1 at the first thing that is not so.
"""

import argparse
import email
import email.policy
import http.client
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from aiosmtpd.controller import Controller

PASSWORD, OTHER = "seventeen grey herons", "eleven brown otters"
FIXED_HEADERS = {
    "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
}


class Mailbox:
    """Accepts e-mails: at once, slowly, or with a disconnect before the confirmation."""

    def __init__(self):
        self.emails, self.delay, self.hang_up = [], 0, False
        self.lock = threading.Lock()

    async def handle_DATA(self, server, session, envelope):
        import asyncio

        content = bytes(envelope.content)
        if self.delay:
            await asyncio.sleep(self.delay)
        with self.lock:
            self.emails.append((envelope.mail_from, list(envelope.rcpt_tos), content))
        if self.hang_up:
            server.transport.close()
            return "421 gone"
        return "250 taken"

    def count(self):
        with self.lock:
            return len(self.emails)


class MailServer:
    """The mail server, which can be stopped and started again on its port."""

    def __init__(self, mailbox):
        self.mailbox = mailbox
        self.controller = None
        self.port = None
        self.start()

    def start(self):
        self.controller = Controller(self.mailbox, hostname="127.0.0.1", port=self.port or free_port())
        self.controller.start()
        self.port = self.controller.port

    def stop(self):
        self.controller.stop()


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """The service under test, with every secret that the service has returned."""

    def __init__(self, server, folder, smtp_port):
        self.server, self.folder = server, folder
        self.secrets = {PASSWORD, OTHER}
        self.environment = {
            **os.environ,
            "QS_SMTP_URL": f"smtp://127.0.0.1:{smtp_port}",
            "QS_DATA_DIR": str(folder / "data"),
            "QS_ADDRESS_LIMIT": "1000000",
            "QS_BIND": "127.0.0.1:0",
            "QS_LOG": "json",
        }
        self.log = folder / "log"
        self.start()

    def start(self):
        out = open(self.folder / "out", "w")
        self.process = subprocess.Popen(
            [self.server], env=self.environment, stdout=out, stderr=open(self.log, "a")
        )
        for _ in range(300):
            found = re.search(r"listening on http://(\S+)", (self.folder / "out").read_text())
            if found:
                self.address = found.group(1)
                return
            time.sleep(0.1)
        sys.exit("the service did not start:\n" + self.log.read_text())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(60) == 0, "the service ends in order")

    def command(self, *words):
        done = subprocess.run(
            [self.server, *words], env=self.environment, capture_output=True, text=True
        )
        check(done.returncode == 0, f"{words}: {done.stderr}")
        return done.stdout

    def call(self, method, path, body=None, key=None, expect=200):
        """Returns the answer, and its duration in milliseconds."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        headers = {"Content-Type": "application/json"}
        if key:
            headers["X-API-Key"] = key
        began = time.perf_counter()
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        took = (time.perf_counter() - began) * 1000
        if path.startswith("/user/"):
            cookie = answer.getheader("Set-Cookie") or ""
            self.secrets.update(re.findall(r"qs_client=([\w-]{43})", cookie))
            shown = r'"(?:api_key|session_token|mfa_token)": ?"([^"]+)"'
            self.secrets.update(re.findall(shown, text.decode()))
        connection.close()
        if expect is not None:
            check(answer.status == expect, f"{method} {path} answers {answer.status}: {text[:300]}")
        return (json.loads(text) if text.startswith(b"{") else text), took, answer.status


def check(holds, what):
    if not holds:
        sys.exit(f"NOT SO: {what}")


def say(step, *figures):
    print(f"{step:<46}", *figures, flush=True)


def read(received):
    """Returns the e-mail as a mail program reads it."""
    return email.message_from_bytes(received[2], policy=email.policy.default)


def inspect(received, to=None):
    """Checks the single recipient, the fixed headers, the text and the HTML."""
    mail_from, recipients, content = received
    message = read(received)
    check(mail_from == "no-reply@localhost", f"from {mail_from}")
    check(len(recipients) == 1 and (to is None or recipients == [to]), f"to {recipients}, not {to}")
    head = content.split(b"\r\n\r\n", 1)[0].decode("ascii")
    names = [line.split(":", 1)[0] for line in head.split("\r\n") if not line.startswith((" ", "\t"))]
    names = [name for name in names if not name.startswith("X-")]  # aiosmtpd adds X-Peer and similar headers
    check(set(names) == FIXED_HEADERS and len(names) == len(FIXED_HEADERS), f"headers {names}")
    check(message["To"] == recipients[0], f"To: {message['To']}")
    check(message["Auto-Submitted"] == "auto-generated", "Auto-Submitted")
    kinds = [part.get_content_type() for part in message.walk()]
    check(kinds == ["multipart/alternative", "text/plain", "text/html"], f"parts {kinds}")
    return message


def code_of(message):
    text = message.get_body(("plain",)).get_content()
    found = re.search(r"^ *(\d{6})\s*$", text, re.M)
    return found and found.group(1)


class ServiceUnderTest:
    def __init__(self, service, mailbox):
        self.service, self.mailbox, self.seen = service, mailbox, 0

    def next_email(self, to):
        """Returns the next e-mail, which must be for this address.

        One that came before is skipped: an e-mail that was not confirmed is sent again, at a time of its own.
        """
        for _ in range(600):
            if self.mailbox.count() > self.seen:
                received = self.mailbox.emails[self.seen]
                self.seen += 1
                if self.has_come_before(received):
                    continue
                message = inspect(received, to)
                code = code_of(message)
                if code:
                    self.service.secrets.add(code)
                return message["Subject"], code
            time.sleep(0.05)
        sys.exit(f"no e-mail for {to}")

    def has_come_before(self, received):
        identity = read(received)["Message-ID"]
        return any(read(earlier)["Message-ID"] == identity for earlier in self.mailbox.emails[: self.seen - 1])

    def life(self):
        call, ada = self.service.call, "ada@example.com"
        form = {"username": "ada", "email": ada, "password": PASSWORD}
        call("POST", "/user/register", form)
        _, code = self.next_email(ada)
        key = call("POST", "/user/verify-otp", {"email": ada, "otp": code})[0]["data"]["api_key"]
        say("registered", self.service.address)
        call("POST", "/user/mfa/enable", {}, key)
        check("step is on" in self.next_email(ada)[0], "a notice of the second step")
        login = {"email": ada, "password": PASSWORD}
        token = call("POST", "/user/login", login)[0]["data"]["mfa_token"]
        _, code = self.next_email(ada)
        body = {"email": ada, "otp": code, "mfa_token": token}
        check(call("POST", "/user/verify-mfa", body)[0]["data"]["api_key"] == key, "the same key")
        say("logged in in two steps")
        for _ in range(5):
            call("POST", "/user/login", {"email": ada, "password": "wrong wrong"}, expect=401)
        call("POST", "/user/login", {"email": ada, "password": "wrong wrong"}, expect=423)
        check("locked" in self.next_email(ada)[0], "an e-mail for the lock")
        say("locked, and told so once")
        call("POST", "/user/forgot-password", {"email": ada})
        _, code = self.next_email(ada)
        call("POST", "/user/reset-password", {"email": ada, "otp": code, "new_password": OTHER})
        check("changed" in self.next_email(ada)[0], "a notice of the new password")
        body = {"email": ada, "password": OTHER}
        call("POST", "/user/mfa/disable", {"password": OTHER}, key)
        check("step is off" in self.next_email(ada)[0], "a notice of the second step")
        check(call("POST", "/user/login", body)[0]["data"]["api_key"] == key, "the same key")
        say("reset, and logged in")
        new = call("POST", "/user/regenerate-api-key", {}, key)[0]["data"]["api_key"]
        call("GET", "/auth/validate", key=key, expect=401)
        self.service.command("account", "set-limit", ada, "1000000")
        return new

    def corpus(self):
        """Checks that no content of a form adds a recipient or a header to an e-mail."""
        breaks = ["\r\n", "\n", "\r", "%0d%0a", "\u0085", "\u2028", "\u2029", "\0", "\v", "\\r\\n"]
        tails = ["Bcc: eve@evil.example", "To: eve@evil.example", "\r\n.\r\nMAIL FROM:<eve@evil.example>"]
        addresses = [f"a{n}@example.com{b}{t}" for n, b in enumerate(breaks) for t in tails]
        addresses += [
            "a@example.com, eve@evil.example", "a@example.com;eve@evil.example",
            "a@example.com eve@evil.example", "<a@example.com>,<eve@evil.example>",
            '"a\r\nBcc: eve@evil.example"@example.com', "Eve <eve@evil.example>", "a@[127.0.0.1]",
            "a@example.com>\r\nRCPT TO:<eve@evil.example", "=?utf-8?q?a?=@example.com",
            "a@exa\u0000mple.com", "a@example.com\u200b", "a(eve@evil.example)@example.com",
            "@evil.example:a@example.com", "a%eve@evil.example", "a!eve@example.com",
        ]
        names = [f"ada{b}{t}" for b in breaks for t in tails]
        names += ["=?utf-8?q?=0d=0aBcc:_eve?=", "{{1234*5678}}", "<b>ada</b>", "a&b", "\u202eada", '"><img src=x>']
        taken, before = 0, self.mailbox.count()
        for number, address in enumerate(addresses):
            form = {"username": f"mail{number}", "email": address, "password": PASSWORD}
            taken += self.service.call("POST", "/user/register", form, expect=None)[2] == 200
        for number, name in enumerate(names):
            form = {"username": name, "email": f"name{number}@example.com", "password": PASSWORD}
            taken += self.service.call("POST", "/user/register", form, expect=None)[2] == 200
        self.wait(before + taken)
        for received in self.mailbox.emails[before:]:
            message = inspect(received)
            # An address that was accepted as a whole may get an e-mail; one inside another never.
            check(b"Bcc:" not in received[2].split(b"\r\n\r\n", 1)[0], "no Bcc")
            html = message.get_body(("html",)).get_content()
            check("<img" not in html and "<b>ada</b>" not in html and "7006652" not in html, "escaped")
            self.service.secrets.add(code_of(message))
        self.seen = self.mailbox.count()
        say("hostile forms", f"{len(addresses) + len(names)} sent, {taken} taken, {self.seen - before} e-mails")

    def wait(self, emails, seconds=120):
        for _ in range(seconds * 20):
            if self.mailbox.count() >= emails:
                return
            time.sleep(0.05)
        sys.exit(f"{emails - self.mailbox.count()} e-mails are lost")

    def burst(self, name, number):
        """Sends forms that each cause an e-mail; returns the durations of the requests."""
        times = []
        for one in range(number):
            who = f"{name}-{one}"
            form = {"username": who, "email": f"{who}@example.com", "password": PASSWORD}
            times.append(self.service.call("POST", "/user/register", form)[1])
        return times

    def account(self, name):
        distinct = {}
        for received in self.mailbox.emails:
            if received[1][0].startswith(name + "-"):
                identity = (received[1][0], read(received)["Message-ID"])
                distinct[identity] = distinct.get(identity, 0) + 1
                self.service.secrets.add(code_of(inspect(received)))
        return len(distinct), sum(distinct.values()) - len(distinct)


def told(name, times, emails=None):
    ordered = sorted(times)
    figures = f"p50 {statistics.median(ordered):6.1f} ms  p99 {ordered[int(len(ordered) * 0.99)]:6.1f} ms"
    say(name, figures, "" if emails is None else f"e-mails {emails[0]}, twice {emails[1]}")


def troubles(tested, mail_server, mailbox, number, slow):
    quiet = tested.burst("quiet", number)
    tested.wait(tested.seen + number)
    told("mail server well", quiet, tested.account("quiet"))

    mail_server.stop()
    dead = tested.burst("dead", number)
    check(tested.account("dead") == (0, 0), "no mail server, no e-mail")
    mail_server.start()
    tested.wait(tested.seen + 2 * number)
    emails = tested.account("dead")
    check(emails[0] == number, f"{number} e-mails after the dead server, not {emails}")
    told("mail server dead, then back", dead, emails)

    mailbox.delay = slow
    crawl = tested.burst("slow", number)
    check(tested.account("slow")[0] < number, "the e-mails are slower than the requests")
    mailbox.delay = 0
    tested.wait(tested.seen + 3 * number, slow + 120)
    emails = tested.account("slow")
    check(emails[0] == number, f"{number} e-mails after the slow server, not {emails}")
    told(f"mail server slow by {slow} s", crawl, emails)

    # Each e-mail is accepted with a disconnect before the confirmation, as in at-least-once delivery.
    mailbox.hang_up = True
    cut = tested.burst("cut", number)
    deadline = time.monotonic() + 60
    while tested.account("cut")[0] < number and time.monotonic() < deadline:
        time.sleep(0.05)
    mailbox.hang_up = False
    settle(mailbox)
    emails = tested.account("cut")
    check(emails[0] == number, f"{number} e-mails after the cut ones, not {emails}")
    check(emails[1] >= number, "each e-mail that was not confirmed comes again")
    told("mail server hangs up unsaid", cut, emails)
    tested.seen = mailbox.count()
    # An unreachable or slow server may delay a request by no more than the noise of a password hash.
    base = statistics.median(quiet)
    for name, times in (("dead", dead), ("slow", crawl), ("cut", cut)):
        check(statistics.median(times) < 3 * base + 20, f"{name}: requests were slowed")


def settle(mailbox):
    """Waits until no e-mail has arrived for longer than the current delay of an e-mail."""
    last, since = mailbox.count(), time.monotonic()
    while time.monotonic() - since < 12:
        if mailbox.count() != last:
            last, since = mailbox.count(), time.monotonic()
        time.sleep(0.1)


def rotation(service, key):
    """Rotates the keys while logins and calls continue; the next start needs only the new keys."""
    over, served, faults = threading.Event(), [0, 0], []
    body = {"email": "ada@example.com", "password": OTHER}

    def knock():
        while not over.is_set():
            answer, _, status = service.call("POST", "/user/login", body, expect=None)
            if status != 200 or answer["data"]["api_key"] != key:
                faults.append((status, answer))
            served[0] += 1

    def ask():
        while not over.is_set():
            _, _, status = service.call("GET", "/auth/validate", key=key, expect=None)
            if status != 200:
                faults.append(status)
            served[1] += 1
            time.sleep(0.01)

    threads = [threading.Thread(target=work) for work in (knock, knock, ask)]
    for thread in threads:
        thread.start()
    told_by_command = service.command("rotate-data-key")
    service.command("rotate-master-key")
    service.command("rotate-data-key")
    over.set()
    for thread in threads:
        thread.join()
    check(not faults, f"answers other than 200 during the rotation: {faults[:3]}")
    check("is the only one" in told_by_command, told_by_command)
    service.stop()
    service.start()
    answer = service.call("POST", "/user/login", body)[0]
    check(answer["data"]["api_key"] == key, "the same key after a start with the new keys")
    say("keys rotated under load", f"{served[0]} logins and {served[1]} calls, every one 200")


def search(service):
    """Checks that no secret is in any stored file or in the output."""
    places = {"document": json.dumps(service.call("GET", "/openapi.json")[0]).encode()}
    places["metrics"] = service.call("GET", "/metrics", expect=None)[0]
    places["reference"] = service.call("GET", "/docs", expect=None)[0]
    helps = [["--help"], ["serve", "--help"], ["account", "--help"]]
    places["help"] = "".join(service.command(*words) for words in helps).encode()
    for path in sorted(service.folder.rglob("*")):
        if path.is_file():
            places[str(path.relative_to(service.folder))] = path.read_bytes()
    check(any(name.endswith("-wal") for name in places), "the database's log is among them")
    looked = 0
    for name, content in places.items():
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        looked += len(content)
        for secret in filter(None, service.secrets):
            # Six digits count as a code where no digit, point or letter is beside them.
            pattern = re.escape(secret.encode())
            if len(secret) == 6:
                pattern = rb"(?<![0-9A-Za-z.])" + pattern + rb"(?![0-9A-Za-z.])"
            found = re.search(pattern, content)
            check(not found, f"{name} holds {secret[:12]}… : {found and content[max(0, found.start() - 60):found.end() + 20]}")
    say("no secret to be found", f"{len(service.secrets)} secrets, {len(places)} places, {looked:,} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true", help="fewer e-mails, less slowness")
    parser.add_argument("--server", default="target/release/quant-server")
    options = parser.parse_args()
    number, slow = (8, 3) if options.short else (40, 30)
    mailbox = Mailbox()
    mail_server = MailServer(mailbox)
    with tempfile.TemporaryDirectory() as folder:
        service = Service(options.server, pathlib.Path(folder), mail_server.port)
        try:
            tested = ServiceUnderTest(service, mailbox)
            key = tested.life()
            tested.corpus()
            troubles(tested, mail_server, mailbox, number, slow)
            search(service)
            rotation(service, key)
            search(service)
            service.call("DELETE", "/user/account", {"password": OTHER}, key)
            check("deleted" in tested.next_email("ada@example.com")[0], "a notice of the end")
            service.call("GET", "/auth/validate", key=key, expect=401)
            service.stop()
            service_log = service.log.read_text()
            check("panick" not in service_log, "nothing panicked")
        finally:
            if service.process.poll() is None:
                service.process.kill()
            mail_server.stop()
    say("done")


if __name__ == "__main__":
    main()
