# SPDX-License-Identifier: MIT
"""A service whose answers are written beforehand, and clients that have a session there."""

import http.server
import json
import threading
import time

from conftest import TOP
from gatehouse_client import Gatehouse, Tokens

UPLOAD = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"


def file_record():
    """A record as the document shows it."""
    operation = json.loads((TOP / "docs" / "openapi.json").read_text(encoding="utf-8"))[
        "paths"]["/system/uploads/{id}"]["patch"]
    return json.dumps(operation["responses"]["200"]["content"]["application/json"]["example"]).encode()


class Script:
    """Gives its answers one after the other, each to the method that it names: (method, status, headers, body).
    `asked` are the requests that came: (method, path). What nobody has foreseen is answered by 418."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                script.asked.append((self.command, self.path))
                foreseen = script.answers and script.answers[0][0] == self.command
                _, status, headers, body = script.answers.pop(0) if foreseen else ("", 418, {}, b"")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_):  # pylint: disable=arguments-differ
                """Nothing: the tests look at `asked`."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def client(self):
        """A client with a session that holds for an hour."""
        return Gatehouse(f"http://127.0.0.1:{self.server.server_address[1]}",
                         tokens=Tokens("an access token", "a refresh token", time.time() + 3600))
