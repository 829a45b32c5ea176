#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the console's first screen takes on a line with 100 ms there and back.

    tests/bench/first_screen.py QUICKSTART.JSON PLAYWRIGHT

QUICKSTART.JSON is that of a running quick start behind nginx, PLAYWRIGHT the folder that tools/lib/emulators/fetch has
made. The browser comes through a relay that delays every byte by 50 ms each way, and the first ones of a connection by
one time there and back more, which is what opening it takes. An nginx of the program's own serves the site with TLS and
HTTP/2 as an installed site does, in front of the workers of the quick start. The slow start of TCP is not part of it.
Each number is the median of seven browsers with empty caches."""

import asyncio
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ONE_WAY_SECONDS = 0.05
ROUNDS = 7
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
WHOLE = """() => new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true }))"""
TLS = "listen 127.0.0.1:8443 ssl http2; ssl_certificate {folder}/c.pem; ssl_certificate_key {folder}/k.pem;"


async def carry(reader, writer, wait):
    """Hands bytes on, each so long after it came; at first `wait` longer."""
    loop, waiting = asyncio.get_running_loop(), asyncio.Queue()

    async def send():
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()
    sending = loop.create_task(send())
    opened = loop.time() + wait
    data = b"-"
    while data:
        try:
            data = await reader.read(65536)
        except ConnectionError:
            data = b""
        waiting.put_nowait((max(loop.time(), opened) + ONE_WAY_SECONDS, data))
    await asyncio.gather(sending, return_exceptions=True)


def relay(port):
    """Starts a relay to the port in a thread; its own port."""
    async def accept(reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, back, 2 * ONE_WAY_SECONDS), carry(there, writer, 0))

    async def serve():
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        found.append(server.sockets[0].getsockname()[1])
        started.set()
        await server.serve_forever()
    found, started = [], threading.Event()
    threading.Thread(target=asyncio.run, args=(serve(), ), daemon=True).start()
    started.wait()
    return found[0]


def web_server(facts, folder):
    """An nginx with the site of the quick start, but with TLS; its places are in `folder`."""
    etc = pathlib.Path(facts["configuration"]).parent / "nginx"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-keyout", folder / "k.pem", "-out", folder / "c.pem"],
                   check=True, capture_output=True)
    site, found = re.subn(r"(?m)^( *)listen [^;]+;", lambda line: line[1] + TLS.format(folder=folder),
                          (etc / "gatehouse.conf").read_text(encoding="utf-8"), count=1)
    assert found
    (folder / "gatehouse.conf").write_text(site, encoding="utf-8")
    main = re.sub(r"(?m)^( *pid|.*_temp_path) [^;]+;", lambda line: f"{line[1]} {folder}/{line[1].split()[-1]};",
                  (etc / "nginx.conf").read_text(encoding="utf-8"))
    main = re.sub(r"(?m)^ *include \S+/bench/nginx\.conf;\n", "", main)  # what other suites have put behind it
    main = main.replace(str(etc / "gatehouse.conf"), str(folder / "gatehouse.conf"))
    (folder / "nginx.conf").write_text(main, encoding="utf-8")
    return subprocess.Popen(["/usr/sbin/nginx", "-e", folder / "error.log", "-c", folder / "nginx.conf"])


def look(browser, base, account):
    """(painted, whole) in milliseconds: of the sign-in, or of Home where there is an account."""
    context = browser.new_context(ignore_https_errors=True, locale="en-GB")
    try:
        if account:
            reply = context.request.post(f"{base}/customers/login", headers={"Origin": account["origin"]}, data={
                "username": account["username"], "password": account["password"], "session": "cookie"})
            assert reply.ok, reply.text()
            context.add_init_script("localStorage.setItem('gatehouse-session', '1')")
        page = context.new_page()
        page.goto(f"{base}/")
        page.wait_for_load_state("networkidle")
        return page.evaluate(PAINTED), page.evaluate(WHOLE)
    finally:
        context.close()


def measure(playwright, base, account):
    """(painted, whole) of each look, which is a browser's first."""
    found, port = [], urllib.parse.urlsplit(base).port
    way = f"--host-resolver-rules=MAP 127.0.0.1:{port} 127.0.0.1:{relay(port)}"
    for _ in range(ROUNDS):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=[*FLAGS, way])
        found.append(look(browser, base, account))
        browser.close()
    return found


def screens(facts, place):
    """Yields (protocol, screen, what measure() says) of a quick start, with Playwright from that place."""
    sys.path.append(str(place))
    from playwright.sync_api import sync_playwright  # it is where the caller says
    people = {"Sign-in": None, "Home": {**facts["admin"], "origin": facts["webUrl"].rstrip("/")}}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        server = web_server(facts, folder)
        try:
            time.sleep(1)
            for protocol, base in (("HTTP/1.1", people["Home"]["origin"]), ("HTTP/2, TLS", "https://127.0.0.1:8443")):
                for screen, account in people.items():
                    yield protocol, screen, measure(playwright, base, account)
        finally:
            server.terminate()
            server.wait()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    facts = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    for protocol, screen, found in screens(facts, sys.argv[2]):
        painted, whole = (statistics.median(column) for column in zip(*found))
        print(f"{protocol:12} {screen:8} painted after {painted:5.0f} ms, whole after {whole:5.0f} ms", flush=True)


if __name__ == "__main__":
    main()
