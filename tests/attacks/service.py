"""A service on its own data for the replayed attacks, with an optional PostgreSQL of its own."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

PASSWORD = "seventeen grey herons"
TICKS = os.sysconf("SC_CLK_TCK")


class Postgres:
    """A PostgreSQL on a free port of the loopback interface, in a temporary folder."""

    def __init__(self):
        binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.folder = tempfile.mkdtemp(prefix="attacks-postgres-")
        # initdb refuses to run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.port, self.data, self.control = free_port(), f"{self.folder}/data", str(binaries / "pg_ctl")
        self.run(str(binaries / "initdb"), "-D", self.data, "-U", "quant", "-A", "trust")
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        self.run(self.control, "-D", self.data, "-w", "-l", f"{self.folder}/log", "-o", options, "start")
        self.databases, self.psql = 0, str(binaries / "psql")

    def run(self, *command):
        subprocess.run([*self.user, *command], check=True, capture_output=True, cwd="/")

    def query(self, database, statement):
        """Returns what a statement prints."""
        command = [self.psql, "-h", "127.0.0.1", "-p", str(self.port), "-U", "quant", "-d", database, "-Atc", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def new_database(self):
        self.databases += 1
        name = f"attacked_{self.databases}"
        self.query("postgres", f"CREATE DATABASE {name}")
        return name

    def stop(self):
        self.run(self.control, "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


class Service:
    """A running program on a new folder."""

    def __init__(self, program, postgres=None, settings=None, folder=None):
        self.program, self.postgres = program, postgres
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="attacks-"))
        self.data = self.folder / "data"
        self.environment = {
            **os.environ,
            "QS_DATA_DIR": str(self.data),
            "QS_BIND": "127.0.0.1:0",
            **(settings or {}),
        }
        if postgres:
            self.database = postgres.new_database()
            self.environment["DATABASE_URL"] = f"postgres://quant@127.0.0.1:{postgres.port}/{self.database}"
        self.process, self.emails = None, 0

    def start(self):
        """Starts the program; raises `RuntimeError` with its words where it ends."""
        log = self.folder / "log"
        self.process = subprocess.Popen([self.program], env=self.environment, stdout=open(log, "wb"), stderr=subprocess.STDOUT)
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"listening on http://(\S+)", log.read_text(errors="replace"))
            if found:
                self.address = found.group(1)
                return self
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(log.read_text(errors="replace")[-300:])

    def stop(self):
        """Ends the program by its process id, and waits for it."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *words, stdin=""):
        """Runs a command of the program, and returns its result."""
        return subprocess.run(
            [self.program, *words], env=self.environment, input=stdin, capture_output=True, text=True, timeout=60
        )

    def account(self, name, tier="pro", credits=1_000_000):
        """Makes an account, and returns its key."""
        words = ["account", "create", "--email", f"{name}@example.com", "--username", name, "--password-stdin"]
        made = self.command(*words, "--tier", tier, "--credits", str(credits), stdin=PASSWORD + "\n")
        found = re.search(r"fk_user_\S+", made.stdout)
        if not found:
            raise RuntimeError(made.stderr[-300:])
        return found.group(0)

    def call(self, method, path, body=None, key=None, headers=None, timeout=30):
        """Returns status, headers and bytes of an answer; a text or bytes are sent as they are."""
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
        sent = {"Content-Type": "application/json", **(headers or {})}
        if key:
            sent["X-API-Key"] = key
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        with contextlib.closing(connection):
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def raw(self, head, body=b"", timeout=30):
        """Sends bytes on a connection of their own, and returns the first bytes of the answer."""
        with self.connect(timeout) as connection:
            connection.sendall(head.replace("HOST", self.address).encode() + body)
            return connection.recv(65536)

    def connect(self, timeout=30):
        host, port = self.address.split(":")
        return socket.create_connection((host, int(port)), timeout=timeout)

    def code(self):
        """Returns the code of the newest e-mail, which a worker writes."""
        until = time.monotonic() + 15
        while time.monotonic() < until:
            emails = sorted((self.data / "mail").glob("*.eml"), key=lambda path: path.stat().st_mtime_ns)
            if len(emails) > self.emails:
                self.emails = len(emails)
                return re.findall(r"\b\d{6}\b", emails[-1].read_text())[-1]
            time.sleep(0.05)
        raise RuntimeError("no e-mail came")

    def stored_bytes(self):
        """Returns the size of the database, after its log was written into it."""
        if self.postgres:
            return int(self.postgres.query("postgres", f"SELECT pg_database_size('{self.database}')"))
        with contextlib.closing(sqlite3.connect(self.data / "quant.db", timeout=10)) as database:
            database.execute("PRAGMA wal_checkpoint(PASSIVE)")
            pages, free = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
            return (pages - free) * database.execute("PRAGMA page_size").fetchone()[0]

    def seconds(self):
        """Returns the seconds of processor of the program so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, name="VmRSS"):
        """Returns a size of the program's memory in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status).group(1)) / 1024

    def forget_peak(self):
        """Sets the peak of memory to the present size."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Hundreds of connections are open at the same time.
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
