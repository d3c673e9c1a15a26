"""A flood of logins, and what a caller with a key notices of it.

    cargo build --release
    python tests/flood/flood.py [--rate 500] [--seconds 20]

Starts a service of its own, asks /auth/validate one call after the other for a while, and again while
so many logins a second are offered, each for an address of its own. Prints median and 99th percentile
of both, and what the logins were answered. The flood comes from a process that gives way to the one
that measures, as it would from another machine.
"""

import argparse
import asyncio
import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time


async def flood(address, rate, seconds, answers):
    """Sends logins at a constant rate, whatever the answers are."""
    host, port = address.split(":")
    idle = []

    async def login(number):
        body = json.dumps({"email": f"user{number}@example.com", "password": "wrong wrong wrong"})
        head = f"POST /user/login HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
        try:
            reader, writer = idle.pop() if idle else await asyncio.open_connection(host, int(port))
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", answer)
            await reader.readexactly(int(length.group(1)))
            answers[answer[9:12].decode()] += 1
            idle.append((reader, writer))
        except (OSError, asyncio.IncompleteReadError) as error:
            answers[type(error).__name__] += 1

    loop, tasks = asyncio.get_running_loop(), []
    began = loop.time()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - loop.time()))
        tasks.append(asyncio.create_task(login(number)))
    took = loop.time() - began
    await asyncio.wait(tasks, timeout=30)
    answers["offered a second"] = round(len(tasks) / took)


def flooder(address, rate, seconds, pipe):
    os.nice(5)
    answers = collections.Counter()
    asyncio.run(flood(address, rate, seconds, answers))
    pipe.send(dict(answers))


def ask(address, key, seconds):
    """Returns the milliseconds of each call of /auth/validate, made in sequence on one connection."""
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.connect()
    times, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        connection.request("GET", "/auth/validate", headers={"X-API-Key": key})
        answer = connection.getresponse()
        answer.read()
        times.append((time.perf_counter() - began) * 1000)
        if answer.status != 200:
            sys.exit(f"/auth/validate answers {answer.status}")
        time.sleep(0.004)
    return sorted(times)


def told(name, times):
    p99 = times[int(len(times) * 0.99)]
    print(f"{name:<10} p50 {statistics.median(times):6.2f} ms  p99 {p99:6.2f} ms  "
          f"max {times[-1]:7.2f} ms  of {len(times)} calls", flush=True)
    return p99


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default="target/release/quant-server")
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {
            **os.environ, "QS_DATA_DIR": str(folder / "data"), "QS_BIND": "127.0.0.1:0",
            "QS_ADDRESS_LIMIT": "10000000",
        }
        with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
            service = subprocess.Popen([options.server], env=environment, stdout=out, stderr=log)
        try:
            for _ in range(300):
                found = re.search(r"listening on http://(\S+)", (folder / "out").read_text())
                if found:
                    break
                time.sleep(0.1)
            address = found.group(1)
            words = "account create --email ada@example.com --username ada --hourly-limit 10000000"
            made = subprocess.run(
                [options.server, *words.split()], env=environment, capture_output=True, text=True, check=True
            )
            key = re.search(r"API key: (\S+)", made.stdout).group(1)
            told("quiet", ask(address, key, options.seconds / 2))
            here, there = multiprocessing.Pipe()
            process = multiprocessing.Process(
                target=flooder, args=(address, options.rate, options.seconds, there)
            )
            process.start()
            time.sleep(1)
            told("flooded", ask(address, key, options.seconds - 2))
            answers = here.recv()
            process.join()
            print("logins    ", ", ".join(f"{what}: {count}" for what, count in sorted(answers.items())))
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(60)


if __name__ == "__main__":
    main()
