# SPDX-License-Identifier: MIT
"""Runs clients of resumable uploads from their registries (tools/lib/emulators/tus-clients): programs and a browser."""

import contextlib
import http.server
import json
import os
import pathlib
import queue
import shutil
import subprocess
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 120
BROWSERS = ("page of tus-js-client", "page of Uppy")
CLIENTS = ("node", "python", *BROWSERS)


class Told:
    """What a client tells, in its order."""

    def __init__(self):
        self.queue = queue.Queue()

    def next(self, *wanted):
        """The next thing, which must have these members."""
        try:
            what = self.queue.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"the client has told nothing for {PATIENCE} s; {wanted} was expected") from None
        assert all(name in what for name in wanted), f"the client tells {what}; {wanted} was expected"
        return what


class Program(Told):
    """A client that is a program of its own."""

    commands = {
        "node": ["node", HERE / "support_tus_node.mjs"],
        "python": ["/usr/bin/python3", "-B", HERE / "support_tus_python.py"],
    }

    def __init__(self, clients, kind, order):
        super().__init__()
        environment = {**os.environ, "GATEHOUSE_TUS_CLIENTS": str(clients), "PYTHONPATH": str(clients / "python")}
        self.process = subprocess.Popen([*self.commands[kind], json.dumps(order)], stdout=subprocess.PIPE,
                                        env=environment, text=True, stdin=subprocess.DEVNULL)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.queue.put(json.loads(line))
        self.queue.put({"ended": True})

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait(20)
        self.reader.join(20)
        self.process.stdout.close()


class Page(Told):
    """A client that is a page of a configured origin, in Chromium."""

    def __init__(self, clients, folder, origin, order, paths):
        super().__init__()
        self.clients, self.folder, self.order, self.paths = clients, folder, order, paths
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                page.give(self)

            def do_POST(self):
                what = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if "aborted" in what and page.order.get("then") == "hang":
                    page.order = {**page.order, "resume": True}
                page.queue.put(what)
                answer(self, b"", "text/plain")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        host = urllib.parse.urlsplit(origin)
        self.process = subprocess.Popen(
            [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", f"--user-data-dir={folder}/profile", "--disable-background-networking",
             f"--host-resolver-rules=MAP {host.netloc} 127.0.0.1:{self.server.server_port}", f"{origin}/"],
            stdout=subprocess.DEVNULL, stderr=open(f"{folder}/chromium.log", "wb"), start_new_session=True)

    def give(self, request):
        """What the page asks for."""
        files = {"/": (HERE / "support_tus_page.html", "text/html"),
                 "/clients.js": (self.clients / "clients.js", "text/javascript")}
        files |= {f"/data/{number}": (pathlib.Path(path), "application/octet-stream")
                  for number, path in enumerate(self.paths)}
        if request.path == "/order":
            answer(request, json.dumps(self.order).encode(), "application/json")
        elif request.path in files:
            path, kind = files[request.path]
            answer(request, path.read_bytes(), kind)
        else:
            request.send_error(404)

    def kept(self, text):
        """Whether the browser has put this text of a page's storage on the disk, which it does after a while."""
        return any(text.encode() in path.read_bytes()
                   for path in self.folder.glob("profile/Default/Local Storage/leveldb/*.log"))

    def kill(self):
        """kill -9."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait(20)
        self.server.shutdown()
        self.thread.join(20)
        self.server.server_close()


def answer(request, body, kind):
    request.send_response(200)
    request.send_header("Content-Type", f"{kind}; charset=utf-8")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


class Clients:
    """with Clients(...) as clients: begins clients of one person on the files of one folder, and ends them."""

    def __init__(self, stack, token, folder):
        self.stack, self.token, self.folder = stack, token, folder
        self.programs = pathlib.Path(os.environ["GATEHOUSE_TUS_CLIENTS"])
        self.begun = []

    def begin(self, client, data, **order):
        """A client on that many files; begun again in the same folder it knows what it has begun before."""
        paths = [self.folder / f"data-{number}.bin" for number in range(len(data))]
        for path, one in zip(paths, data):
            if not path.exists():
                path.write_bytes(one)
        order |= {"endpoint": self.stack.url("/system/uploads"), "token": self.token,
                  "names": [f"file-{number}.bin" for number in range(len(data))]}
        if client in BROWSERS:
            assert shutil.which("chromium"), "there is no Chromium"
            order |= {"client": "uppy" if "Uppy" in client else "tus", "mediaType": "application/octet-stream"}
            self.begun.append(Page(self.programs, self.folder, self.stack.cors_origins[0], order, paths))
        else:
            order |= {"paths": [str(path) for path in paths], "storage": str(self.folder / "uploads.json")}
            self.begun.append(Program(self.programs, client, order))
        return self.begun[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.begun:
            one.kill()
