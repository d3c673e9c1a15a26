"""A quant-server from outside: the program with its data, a cluster of PostgreSQL, a browser, an application."""

import base64
import contextlib
import email
import email.policy
import hashlib
import http.client
import json
import os
import pathlib
import re
import secrets
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

PASSWORD = "seventeen grey herons"
# Bounds for a body of 16 MiB: seconds of processor, and six times its bytes of memory.
SECONDS, MEGABYTES = 0.25, 100


class Postgres:
    """A PostgreSQL cluster in a temporary folder, which listens on the loopback interface."""

    def __init__(self):
        folders = pathlib.Path("/usr/lib/postgresql").glob("*/bin")
        self.binaries = max(folders, key=lambda folder: int(folder.parent.name))
        # initdb refuses to run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.folder = tempfile.mkdtemp(prefix="outside-postgres-")
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.port, self.count = free_port(), 0
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "quant", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.start()

    def start(self):
        """Starts the cluster, and waits until it answers."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", options, "start")

    def stop(self):
        """Ends all processes of the cluster at once."""
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")

    def run(self, name, *words):
        """Runs a program of PostgreSQL as a user without privileges."""
        command = [*self.user, str(self.binaries / name), *words]
        output = subprocess.DEVNULL if name == "pg_ctl" else subprocess.PIPE
        return subprocess.run(command, check=True, stdout=output, text=True, cwd="/").stdout

    def query(self, database, statement):
        """Returns what a statement prints."""
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "quant", "-d", database]
        return self.run("psql", "-X", *address, "-Atc", statement).strip()

    def new_database(self):
        """Makes an empty database, and returns its name."""
        self.count += 1
        name = f"outside_{self.count}"
        self.query("postgres", f"CREATE DATABASE {name}")
        return name

    def end(self):
        """Ends the cluster and removes its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Answer:
    """Status, headers and body of an answer; a status of None where the connection broke."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        """Returns the body as JSON, or an empty object where it is something else."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def data(self, name):
        """Returns a member of the data of a success."""
        return self.json()["data"][name]


class Cost:
    """Seconds of processor and growth of memory in MB."""

    seconds = megabytes = 0.0

    def is_small(self):
        """True within the bounds for a body of 16 MiB."""
        return self.seconds <= SECONDS and self.megabytes <= MEGABYTES

    def __str__(self):
        return f"{self.seconds:.2f} s, {self.megabytes:.0f} MB"


class Service:
    """A program with its data folder and settings, which runs from `start` to `end`."""

    def __init__(self, program, folder, postgres=None, database=None, settings=None):
        self.program, self.folder, self.postgres, self.database = program, folder, postgres, database
        self.data, self.log = folder / "data", folder / "service.log"
        self.process, self.address, self.read_emails = None, None, set()
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("QS_")}
        for name in ("DATABASE_URL", "REDIS_URL"):
            self.environment.pop(name, None)
        self.environment |= {"QS_DATA_DIR": str(self.data), "QS_BIND": "127.0.0.1:0"} | (settings or {})
        self.use(database)

    def use(self, database):
        """Sets the database of PostgreSQL that the next start uses."""
        self.database = database
        if database:
            self.environment["DATABASE_URL"] = f"postgres://quant@127.0.0.1:{self.postgres.port}/{database}"

    def try_start(self, umask=-1):
        """Starts the program; False where it ends before it listens."""
        with open(self.log, "wb") as log:
            command = [self.program, "serve"]
            self.process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, umask=umask
            )
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"^listening on http://(\S+)", self.words(), re.MULTILINE)
            if found:
                self.address = found.group(1)
                return True
            time.sleep(0.05)
        self.end()
        return False

    def start(self, umask=-1):
        """Starts the program; raises `RuntimeError` with its last words where it does not listen."""
        if not self.try_start(umask):
            raise RuntimeError(self.words()[-200:])
        return self

    def words(self):
        """Returns what the program has printed since its start."""
        return self.log.read_text(errors="replace")

    def end(self):
        """Ends the program by its process id: by SIGTERM, or by SIGKILL after ten seconds."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def command(self, *words, stdin=""):
        """Runs a command of the program on the same data, and returns its result."""
        return subprocess.run(
            [self.program, *words], env=self.environment, input=stdin, capture_output=True, text=True, timeout=120
        )

    def account(self, name="ada", tier="pro", credits=100_000):
        """Makes a verified account with `PASSWORD`, and returns its key."""
        form = ["--email", address_of(name), "--username", name, "--password-stdin"]
        terms = ["--tier", tier, "--credits", str(credits)]
        made = self.command("account", "create", *form, *terms, stdin=PASSWORD + "\n")
        found = re.search(r"fk_user_[\w-]+", made.stdout)
        if found is None:
            raise RuntimeError(f"no account: {made.stderr[-150:]}")
        return found.group(0)

    def connect(self, timeout=60):
        """Opens a connection."""
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=timeout)

    def head(self, method, path, *headers):
        """Returns the bytes of a head with one host."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.address}", *headers, "", ""]
        return "\r\n".join(lines).encode()

    def request(self, method, path, body=None, key=None, headers=()):
        """Returns the bytes of a request with its length; what is not bytes is written as JSON."""
        lines = list(headers) + ([f"X-API-Key: {key}"] if key else [])
        if body is None:
            return self.head(method, path, "Content-Length: 0", *lines)
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if not any(line.lower().startswith("content-type") for line in lines):
            lines.append("Content-Type: application/json")
        return self.head(method, path, f"Content-Length: {len(body)}", *lines) + body

    def call(self, method, path, body=None, key=None, headers=(), timeout=60):
        """Sends a request on a connection of its own, and returns the answer."""
        return self.send(self.request(method, path, body, key, headers), timeout)

    def send(self, request, timeout=60):
        """Sends bytes until an answer begins, and returns the answer."""
        with self.connect(timeout) as connection:
            send_until_answered(connection, request, timeout)
            return read_answer(connection)

    def code(self):
        """Returns the code in the next e-mail, which the service writes after its answer."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for path in sorted(set((self.data / "mail").glob("*.eml")) - self.read_emails):
                message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
                codes = re.findall(r"\b\d{6}\b", message.get_body().get_content())
                self.read_emails.add(path)
                if codes:
                    return codes[0]
            time.sleep(0.1)
        raise RuntimeError("no e-mail with a code")

    def stored_bytes(self):
        """Returns the bytes of the database that are in use."""
        if self.postgres:
            return int(self.postgres.query("postgres", f"SELECT pg_database_size('{self.database}')"))
        with contextlib.closing(sqlite3.connect(self.data / "quant.db", timeout=30)) as database:
            pages, free, size = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        return (pages - free) * size

    def query(self, statement):
        """Runs a statement on the database beside the service, and returns its rows."""
        if self.postgres:
            printed = self.postgres.query(self.database, statement)
            return [line.split("|") for line in printed.splitlines()]
        with contextlib.closing(sqlite3.connect(self.data / "quant.db", timeout=30)) as database, database:
            return database.execute(statement).fetchall()

    def seconds(self):
        """Returns the seconds of processor that the program has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self, name):
        """Returns `VmRSS` or `VmHWM`, the present and the largest memory of the program."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) / 1000

    @contextlib.contextmanager
    def measured(self):
        """Measures what a block costs the program, as `seconds` and `megabytes` of a `Cost`."""
        # 5 sets the largest memory to the present one.
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        cost, seconds, megabytes = Cost(), self.seconds(), self.megabytes("VmRSS")
        yield cost
        time.sleep(0.5)
        if self.process.poll() is not None:
            raise RuntimeError("the service has ended")
        cost.seconds, cost.megabytes = self.seconds() - seconds, self.megabytes("VmHWM") - megabytes


class Browser:
    """A browser that keeps cookies, sends the forms of the sign-in pages and follows no redirect."""

    def __init__(self, service):
        self.service, self.cookies = service, {}

    def send(self, method, path, pairs=None):
        """Sends a request with the cookies, and keeps the cookies of the answer."""
        headers = ["Cookie: " + "; ".join(f"{name}={text}" for name, text in self.cookies.items())]
        body = None
        if pairs is not None:
            headers += ["Content-Type: application/x-www-form-urlencoded", f"Origin: http://{self.service.address}"]
            body = urllib.parse.urlencode(pairs).encode()
        answer = self.service.call(method, path, body, headers=headers)
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, text = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = text
        return answer

    def submit(self, path, page, pairs):
        """Sends a form with the sealed value of its page, and returns the address of the redirect."""
        sealed = re.search(rb'name="form" value="([^"]*)"', page.body)
        if sealed is None:
            raise RuntimeError(f"no form in the page: {page.status} {page.body[:80]!r}")
        answer = self.send("POST", path, {"form": sealed.group(1).decode(), **pairs})
        if answer.status != 303:
            raise RuntimeError(f"{path} answered {answer.status}: {answer.body[:80]!r}")
        return answer.headers["Location"]

    def open(self, path, name="ada"):
        """Opens a page, and signs in where the page asks for it."""
        page = self.send("GET", path)
        if page.status in (302, 303):
            page = self.send("GET", local(page.headers["Location"]))
        if b'type="password"' in page.body:
            form = {"email": address_of(name), "password": PASSWORD}
            page = self.send("GET", local(self.submit("/oauth/sign-in", page, form)))
        return page

    def is_signed_in(self, path):
        """True where a page of the account opens without a sign-in."""
        page = self.send("GET", path)
        return page.status == 200 and b'type="password"' not in page.body


class Application:
    """An OAuth application that an account gives access to (RFC 7591, RFC 7636)."""

    REDIRECT = "http://127.0.0.1:4711/callback"

    def __init__(self, service):
        self.service, self.browser = service, Browser(service)
        form = {"client_name": "An application", "redirect_uris": [self.REDIRECT]}
        self.client = service.call("POST", "/oauth/register", form).json()["client_id"]

    def token_request(self, **pairs):
        """Returns the bytes of a request for tokens."""
        body = urllib.parse.urlencode({"client_id": self.client, **pairs}).encode()
        headers = ["Content-Type: application/x-www-form-urlencoded"]
        return self.service.request("POST", "/oauth/token", body, headers=headers)

    def tokens(self):
        """Asks for consent, and returns the answer with the tokens."""
        verifier = secrets.token_urlsafe(40)
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        question = {
            **{"response_type": "code", "client_id": self.client, "redirect_uri": self.REDIRECT, "scope": "mcp"},
            **{"state": "state", "code_challenge": digest, "code_challenge_method": "S256"},
            "resource": f"http://{self.service.address}/mcp",
        }
        page = self.browser.open("/oauth/authorize?" + urllib.parse.urlencode(question))
        location = self.browser.submit("/oauth/consent", page, {"decision": "allow"})
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["code"][0]
        pairs = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.REDIRECT}
        return self.service.send(self.token_request(**pairs, code_verifier=verifier))


def free_port():
    """Returns a port that no program listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def address_of(name):
    """Returns the e-mail address of a name."""
    return f"{name}@example.com"


def local(location):
    """Returns the path and query of an address."""
    parts = urllib.parse.urlsplit(location)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def send_until_answered(connection, request, seconds):
    """Sends bytes until all are sent, an answer begins, or the peer closes the connection."""
    view, until = memoryview(request), time.monotonic() + seconds
    connection.setblocking(False)
    try:
        while view and time.monotonic() < until:
            readable, writable, _ = select.select([connection], [connection], [], 1)
            if readable:
                break
            if writable:
                view = view[connection.send(view[:65536]) :]
    except OSError:
        pass
    connection.settimeout(seconds)


def read_answer(connection):
    """Reads an answer; its status is None where the connection breaks or nothing comes in time."""
    try:
        response = http.client.HTTPResponse(connection)
        response.begin()
        return Answer(response.status, response.headers, response.read())
    except (OSError, http.client.HTTPException):
        return Answer(None, http.client.HTTPMessage(), b"")
