"""Attacks from outside, against one program or two side by side.

    cargo build --release
    python tests/attacks/replay.py target/release/quant-server [--before PROGRAM] [--postgres] [--only WORD]

Prints a line for each attack: what was observed, and whether the service held. Exits with 1 where the
first program does not hold. Needs Python 3 alone; `--postgres` needs PostgreSQL. Limits of time and
memory are several times those of the service, since machines are shared.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata

from service import PASSWORD, Postgres, Service

SHANNON, TENOR, PRICE = "/quantlib/physics/entropy/shannon", "/quantlib/core/types/tenor/add-to-date", "/quantlib/pricing/bs/price"
OPTION = {"spot": 42.0, "strike": 40.0, "risk_free_rate": 0.1, "volatility": 0.2, "time_to_maturity": 0.5}
MIN_VARIANCE = "/quantlib/portfolio/optimize/min-variance"
# A little less than 16 MiB with the fields that are read.
ZEROS = ('{"probabilities": [1.0], "ignored": [' + "0," * (8 * 1024 * 1024 - 200) + "0]}").encode()


def post_head(path, *headers):
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: HOST", "Content-Type: application/json", *headers, "", ""])


def silent_bodies(service):
    """Announces large bodies without a key, and sends none; a payer's large body is to be answered."""
    key = service.account("ada", tier="enterprise")
    body = json.dumps({"probabilities": [1.0] + [0.0] * 28_000})
    paths = ["/user/login", "/user/forgot-password", "/guest/create"]
    silent = [service.connect() for _ in range(16)]
    for number, connection in enumerate(silent):
        connection.sendall(post_head(paths[number % 3], "Content-Length: 100000").replace("HOST", service.address).encode())
    began = time.monotonic()
    try:
        status = service.call("POST", SHANNON, body, key, timeout=15)[0]
    except OSError:
        status = "no answer"
    took = time.monotonic() - began
    for connection in silent:
        connection.close()
    return f"{status} after {took:.2f} s", status == 200 and took < 5


def cost_of(service, send):
    """Returns the answer of a request, with its seconds of processor and its peak of memory in MB."""
    service.forget_peak()
    memory, seconds = service.memory(), service.seconds()
    answer = send()
    time.sleep(0.3)
    return answer, service.seconds() - seconds, service.memory("VmHWM") - memory


def judged_cost(status, seconds, memory):
    return f"{status}: {seconds:.2f} s, {memory:.0f} MB", seconds <= 0.25 and memory <= 100


def ignored_zeros(service):
    """Sends 16 MiB of zeros in a field that nothing reads."""
    key = service.account("ada", tier="enterprise")
    (status, _, _), seconds, memory = cost_of(service, lambda: service.call("POST", SHANNON, ZEROS, key))
    return judged_cost(status, seconds, memory)


def eight_million_outcomes(service):
    """Sends a list that is eight times too long."""
    key = service.account("ada", tier="enterprise")
    body = b'{"probabilities": [' + b"0," * 8_000_000 + b"1]}"
    (status, _, _), seconds, memory = cost_of(service, lambda: service.call("POST", SHANNON, body, key))
    return judged_cost(status, seconds, memory)


def body_without_length(service):
    """Sends 16 MiB of zeros in chunks, without a length."""
    key = service.account("ada", tier="enterprise")
    parts = (ZEROS[at : at + 65536] for at in range(0, len(ZEROS), 65536))
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)

    def send():
        try:
            answer = service.raw(post_head(SHANNON, "Transfer-Encoding: chunked", f"X-API-Key: {key}"), chunks + b"0\r\n\r\n")
            return int(answer[9:12])
        except OSError:
            return "refused while sent"

    status, seconds, memory = cost_of(service, send)
    return judged_cost(status, seconds, memory)


def unfinished_bodies(service):
    """Sends 40 bodies of 15 MiB of one FREE account and ends none."""
    key = service.account("ada", tier="free")
    before, connections = service.memory(), []
    for _ in range(40):
        connection = service.connect(timeout=3)
        connections.append(connection)
        try:
            head = post_head(TENOR, "Transfer-Encoding: chunked", f"X-API-Key: {key}").replace("HOST", service.address)
            connection.sendall(head.encode() + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 230)
        except OSError:
            pass
    time.sleep(0.5)
    held = service.memory() - before
    for connection in connections:
        connection.close()
    return f"{held:.0f} MB held", held <= 96


def work_without_credits(service):
    """Sends 48 dear calls at the same time with the credits for one."""
    size = 600
    rows = [[2 + row % 5 if row == column else 1 for column in range(size)] for row in range(size)]
    returns, bounds = [0.01 * (asset % 7) for asset in range(size)], [0] * size
    body = {"expected_returns": returns, "covariance_matrix": rows, "min_weights": bounds}
    answers = []
    alone = service.account("grace", credits=5)
    (status, _, answer), once, _ = cost_of(service, lambda: service.call("POST", MIN_VARIANCE, body, alone))
    if status != 200:
        raise RuntimeError(answer[:100])
    key = service.account("ada", credits=5)

    request = json.dumps(body).encode()
    head = post_head(MIN_VARIANCE, f"Content-Length: {len(request)}", f"X-API-Key: {key}", "Connection: close")

    def flood():
        connections = [service.connect() for _ in range(48)]
        for connection in connections:
            connection.sendall(head.replace("HOST", service.address).encode() + request)
        for connection in connections:
            answers.append(int(connection.recv(64)[9:12]))
            connection.close()

    _, seconds, _ = cost_of(service, flood)
    paid, each = answers.count(200), (seconds - once) / 47
    return f"{paid} paid with {once:.2f} s, {each:.3f} s for each other", paid == 1 and each < 0.02


def forgotten_passwords(service):
    """Asks 2,000 times for a new password of addresses without an account, and counts what is stored."""
    statuses, before = set(), service.stored_bytes()
    for number in range(2000):
        statuses.add(service.call("POST", "/user/forgot-password", {"email": f"nobody{number}@example.com"})[0])
    stored = (service.stored_bytes() - before) / 2000
    return f"{sorted(statuses)}, {stored:.0f} bytes a call", statuses == {200} and stored < 200


def handoff_after_regeneration(service):
    """Mints a hand-off code with a stolen key, and redeems it after the owner's regeneration."""
    key = service.account("ada")
    minted = json.loads(service.call("POST", "/user/auth/desktop-handoff", {}, key)[2])
    code = re.search(r'"(?:code|handoff_code)":\s*"([^"]+)"', json.dumps(minted)).group(1)
    regenerated = service.call("POST", "/user/regenerate-api-key", {}, key)
    new = re.search(rb"fk_user_[^\"]+", regenerated[2]).group(0)
    status, _, answer = service.call("POST", "/user/auth/desktop-handoff/redeem", {"code": code, "handoff_code": code})
    has_key = new in answer
    return f"{status}{', with the new key' if has_key else ''}", status != 200 and not has_key


def session_after_regeneration(service):
    """Uses a session of before the owner's regeneration of the key."""
    key = service.account("ada")
    login = service.call("POST", "/user/login", {"email": "ada@example.com", "password": PASSWORD})
    token = re.search(rb'"session_token":\s*"([^"]+)"', login[2]).group(1).decode()
    pulse = lambda key: service.call("GET", "/user/session-pulse", None, key, {"X-Session-Token": token})[0]
    before = pulse(key)
    regenerated = service.call("POST", "/user/regenerate-api-key", {}, key)
    after = pulse(re.search(rb"fk_user_[^\"]+", regenerated[2]).group(0).decode())
    return f"{before}, then {after}", before == 200 and after == 401


def many_registrants(service):
    """Registers twelve addresses under one user name at the same time, in eight rounds."""
    told = []
    for number in range(8):
        statuses = []

        def register(other, name=f"name{number}"):
            form = {"username": name, "email": f"{name}.{other}@example.com", "password": PASSWORD}
            statuses.append(service.call("POST", "/user/register", form)[0])

        threads = [threading.Thread(target=register, args=(other,)) for other in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told.append(sum(status in (200, 201) for status in statuses))
    return f"{told} told that they have the name", max(told) <= 1


def cached_secrets(service):
    """Looks for answers with a key or a profile that caches may keep."""
    key = service.account("ada")
    answers = {
        "login": service.call("POST", "/user/login", {"email": "ada@example.com", "password": PASSWORD}),
        "profile": service.call("GET", "/user/profile", None, key),
        "guest": service.call("POST", "/guest/create", {}),
        "hand-off": service.call("POST", "/user/auth/desktop-handoff", {}, key),
        "regeneration": service.call("POST", "/user/regenerate-api-key", {}, key),
    }
    kept = [name for name, (_, headers, _) in answers.items() if "no-store" not in headers.get("Cache-Control", "")]
    return f"without no-store: {', '.join(kept) or 'none'}", not kept


def second_service(service):
    """Starts a second service on the same SQLite file."""
    second = Service(service.program, folder=service.folder)
    second.folder = pathlib.Path(tempfile.mkdtemp(prefix="attacks-"))
    try:
        second.start()
        return "it starts", False
    except RuntimeError:
        return "refused", True
    finally:
        second.remove()


def ambiguous_heads(service):
    """Sends two keys, two hosts, no host, and a compressed body."""
    key = service.account("ada")
    other = service.account("grace")
    head = "GET /auth/validate HTTP/1.1\r\n{}\r\n\r\n"
    status = lambda text: int(service.raw(text)[9:12] or 0)
    found = {
        "two keys": status(head.format(f"Host: HOST\r\nX-API-Key: {key}\r\nX-API-Key: {other}")),
        "two hosts": status(head.format(f"Host: HOST\r\nHost: example.com\r\nX-API-Key: {key}")),
        "no host": status(head.format(f"X-API-Key: {key}")),
        "gzip": service.call("POST", PRICE, gzip.compress(json.dumps(OPTION).encode()), key, {"Content-Encoding": "gzip"})[0],
    }
    held = {"two keys": [400], "two hosts": [400], "no host": [400], "gzip": [415, 200]}
    return ", ".join(f"{name} {status}" for name, status in found.items()), all(found[name] in held[name] for name in held)


def website(service):
    """Asks whether the pages of the website may register an account."""
    headers = {"Origin": "https://www.example.com", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    status, answered, _ = service.call("OPTIONS", "/user/register", None, None, headers)
    allowed = answered.get("Access-Control-Allow-Origin")
    return f"{status}, origin {'allowed' if allowed else 'not allowed'}", allowed == "https://www.example.com"


def echoed_text(service):
    """Sends a tenor of 200 kB and looks for it in the refusal."""
    key = service.account("ada")
    _, _, answer = service.call("POST", TENOR, {"tenor": "9" * 200_000, "start_date": "2024-01-31"}, key)
    return f"{len(answer)} bytes", len(answer) < 2000


def full_disk(service):
    """Fills the disk of the data folder under a running service."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attacks-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], capture_output=True).returncode:
        return "no file system can be mounted", None
    small = Service(service.program, folder=folder)
    try:
        small.start()
        with open(folder / "filling", "wb", buffering=0) as filling:
            try:
                while True:
                    filling.write(b"0" * 4096)
            except OSError:
                pass
        form = {"username": "ada", "email": "ada@example.com", "password": PASSWORD}
        registered = {small.call("POST", "/user/register", {**form, "username": f"ada{n}", "email": f"a{n}@example.com"})[0] for n in range(40)}
        ready = small.call("GET", "/ready")[0]
        return f"register {sorted(registered)}, /ready {ready}", 500 not in registered and 503 in registered and ready == 503
    finally:
        small.stop()
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def readable_files(service):
    """Looks at the rights of the files in a folder that was there before."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attacks-"))
    (folder / "data").mkdir(mode=0o755)
    (folder / "data").chmod(0o755)
    former, other = os.umask(0o022), Service(service.program, folder=folder)
    try:
        other.start()
        other.account("ada")
        files = [path for path in (folder / "data").iterdir() if path.is_file()]
        wide = sorted(path.name for path in files if path.stat().st_mode & 0o077)
        other.stop()
        key = next(path for path in files if "key" in path.name)
        key.chmod(0o644)
        try:
            other.start()
            wide.append("a key that others may read is accepted")
        except RuntimeError:
            pass
        return ", ".join(wide) or "none for others", not wide
    finally:
        os.umask(former)
        other.remove()


def mistyped_folder(service):
    """Migrates a folder that is not there, and starts beside a key whose database is gone."""
    found = []
    typo = Service(service.program)
    migrated = typo.command("migrate")
    if migrated.returncode == 0:
        found.append("migrate makes a new database")
    typo.remove()
    lost = Service(service.program)
    try:
        lost.start()
        lost.stop()
        for path in lost.data.glob("quant.db*"):
            path.unlink()
        try:
            lost.start()
            found.append("a vanished database starts empty")
        except RuntimeError:
            pass
    finally:
        lost.remove()
    return "; ".join(found) or "both refused", not found


def altered_usage(service):
    """Changes a daily sum in the database, and asks `audit`."""
    key = service.account("ada")
    service.call("POST", PRICE, OPTION, key)
    statement = "UPDATE usage_day SET {0} = {0} + 7"
    if service.postgres:
        columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'usage_day'"
        names = service.postgres.query(service.database, columns).split()
        change = lambda name: service.postgres.query(service.database, statement.format(name))
    else:
        with sqlite3.connect(service.data / "quant.db", timeout=10) as database:
            names = [row[1] for row in database.execute("PRAGMA table_info(usage_day)")]

        def change(name):
            with sqlite3.connect(service.data / "quant.db", timeout=10) as database:
                database.execute(statement.format(name))

    # The service writes the sums of a call after its answer.
    time.sleep(1)
    change(next(name for name in names if "credit" in name))
    audited = service.command("audit")
    words = audited.stdout + audited.stderr
    has_date = re.search(r"\b20\d\d-\d\d-\d\d\b", words) is not None
    return f"exit {audited.returncode}{', with its date' if has_date else ''}", audited.returncode == 1 and has_date


def password_forms(service):
    """Signs in with another encoding of the password, and registers with passwords that nobody can mean."""
    word = "seventeen Ångström cafés"
    forms = [unicodedata.normalize(form, word) for form in ("NFC", "NFD")]
    register = lambda name, password: service.call("POST", "/user/register", {"username": name, "email": f"{name}@example.com", "password": password})[0]
    register("ada", forms[0])
    service.call("POST", "/user/verify-otp", {"email": "ada@example.com", "otp": service.code()})
    other = service.call("POST", "/user/login", {"email": "ada@example.com", "password": forms[1]})[0]
    spaces, address = register("grace", " " * 8), register("mary", "mary@example.com")
    held = other == 200 and spaces == 422 and address == 422
    return f"NFD login {other}, spaces {spaces}, own address {address}", held


def operator_commands(service):
    """Asks for the commands that an operator needs."""
    wanted = ["show", "list", "delete", "unlock", "make-admin", "regenerate", "adjust", "refund"]
    missing = [name for name in wanted if service.command("account", name, "--help").returncode != 0]
    return f"missing: {', '.join(missing) or 'none'}", not missing


def owner_calls(service):
    """Asks for the calls that a signed-in owner needs."""
    key = service.account("ada")
    wanted = [
        ("POST", "/user/change-password"),
        ("POST", "/user/change-email"),
        ("GET", "/user/sessions"),
        ("DELETE", "/user/sessions"),
        ("POST", "/user/unsubscribe"),
        ("GET", "/user/databases"),
    ]
    missing = [path for method, path in wanted if service.call(method, path, {}, key)[0] in (404, 405)]
    return f"missing: {', '.join(missing) or 'none'}", not missing


# The attack, the tests of the workspace that carry it out, and whether it needs an embedded database.
ATTACKS = [
    (silent_bodies, ["silent_bodies_hold_nothing_and_delay_no_large_body"], False),
    (ignored_zeros, ["a_field_that_no_operation_reads_is_skipped_whatever_it_holds"], False),
    (eight_million_outcomes, ["a_list_that_is_too_long_is_one_fault"], False),
    (body_without_length, ["a_body_without_a_length_has_the_same_limits"], False),
    (unfinished_bodies, ["the_bytes_of_an_unfinished_body_are_counted_until_it_ends"], False),
    (work_without_credits, ["of_48_parallel_calls_with_credits_for_one_47_are_refused_before_their_computation"], False),
    (forgotten_passwords, ["requests_for_codes_leave_nothing_after_a_day"], False),
    (handoff_after_regeneration, ["a_stolen_key_leads_to_no_session_and_no_new_key_after_its_replacement"], False),
    (session_after_regeneration, ["each_event_ends_what_the_table_says_and_nothing_else"], False),
    (many_registrants, ["of_twelve_registrants_of_a_name_one_has_it_in_every_round"], False),
    (cached_secrets, ["no_cache_keeps_a_key_a_token_or_a_code", "no_cache_keeps_the_answer_of_any_documented_operation"], False),
    (second_service, ["a_second_service_on_one_sqlite_file_is_refused"], True),
    (ambiguous_heads, ["a_compressed_body_is_refused_with_the_encoding_that_is_accepted"], False),
    (website, ["a_page_of_the_website_may_prepare_every_documented_call"], False),
    (echoed_text, ["a_refusal_repeats_at_most_a_hundred_characters_of_a_value"], False),
    (full_disk, ["a_full_database_says_so_on_every_connection", "a_check_notices_a_full_file"], True),
    (readable_files, ["a_master_key_that_others_may_read_is_refused_at_the_start", "in_an_existing_folder_every_file_is_its_owners_alone"], True),
    (mistyped_folder, ["a_mistyped_folder_is_left_alone_and_a_lost_database_is_told"], True),
    (altered_usage, ["the_audit_names_each_figure_of_a_daily_sum_that_was_altered"], False),
    (password_forms, ["one_password_signs_in_however_it_is_encoded", "what_nobody_can_mean_as_a_password_is_refused_by_name"], False),
    (operator_commands, [], False),
    (owner_calls, [], False),
]


def attacked(attack, program, postgres):
    """Returns what an attack on a service of its own observed, and whether the service held."""
    settings = {"QS_WEBSITE_URL": "https://www.example.com"}
    if attack is many_registrants:
        settings["QS_ADDRESS_LIMIT"] = "100000"
    service = Service(program, postgres, settings)
    try:
        return attack(service.start())
    except (OSError, RuntimeError, AttributeError, ValueError, StopIteration, sqlite3.Error, subprocess.SubprocessError) as error:
        return f"{type(error).__name__}: {str(error)[:100]}", False
    finally:
        service.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--before", help="an older program, for comparison")
    parser.add_argument("--postgres", action="store_true", help="attack services on a PostgreSQL of their own")
    parser.add_argument("--only", default="", help="a word in the names of the attacks to replay")
    options = parser.parse_args()
    postgres = Postgres() if options.postgres else None
    programs = [program for program in (options.before, options.program) if program]
    verdict = {True: "held", False: "NOT held", None: "not tried"}
    columns = ["before", "now"] if options.before else ["now"]
    print("| attack | " + " | ".join(columns) + " | tests |")
    print("|---" * (len(columns) + 2) + "|")
    has_failed = False
    try:
        for attack, tests, is_embedded in ATTACKS:
            if options.only not in attack.__name__ or is_embedded and postgres:
                continue
            results = [attacked(attack, str(pathlib.Path(program).resolve()), postgres) for program in programs]
            has_failed |= results[-1][1] is False
            cells = [f"{verdict[held]}: {observed}" for observed, held in results]
            names = ", ".join(f"`{test}`" for test in tests)
            print(f"| {attack.__name__.replace('_', ' ')} | " + " | ".join(cells) + f" | {names} |", flush=True)
    finally:
        if postgres:
            postgres.stop()
    sys.exit(has_failed)


if __name__ == "__main__":
    main()
