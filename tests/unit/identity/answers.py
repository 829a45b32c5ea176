# SPDX-License-Identifier: MIT
"""What a scripted server answers instead of what it is asked for, as a test wants it. The test says so in files of the
server's directory:

DIRECTORY/fault holds "NAME KIND": the next call of that name meets it. DIRECTORY/nth holds "NUMBER KIND": of the calls
that come from now on, the one of that number does. Each file goes when it is met. Kinds: status-500, html, half, cut,
redirect, silent; lost: the call is carried out, and the answer never comes.

DIRECTORY/answer holds an object: calls of the name "call" get the HTTP status "status", the headers "headers" and the
body "body" (a text as it is, anything else as JSON), and nothing is carried out; "times" of them, where it is there,
then the file goes."""

import json
import os
import threading
import time

LOCK = threading.RLock()
STATUS_500 = (500, '{"error":"unknown_error","__type":"InternalErrorException","message":"try later"}')
PLAIN = {"status-500": (*STATUS_500, {}),
         "html": (404, "<html><body>Not here</body></html>", {"Content-Type": "text/html"}),
         "cut": (200, '{"access_tok', {}),
         "redirect": (302, "", {"Location": "http://127.0.0.1:1/elsewhere"}),
         "lost": (504, "<html><body>Gateway Time-out</body></html>", {"Content-Type": "text/html"})}


def take(path):
    """The two parts of what a file holds; None where there is none."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read().rpartition(" ")[::2]


class Answers:
    """Of one server. `kinds` are faults of its own beside those above: {name: (status, body, headers)}."""

    def __init__(self, directory, kinds=()):
        self.directory, self.kinds = directory, {**PLAIN, **dict(kinds)}

    def path(self, name):
        return os.path.join(self.directory, name)

    def kind(self, name):
        """The fault that this call meets; None: it meets none."""
        with LOCK:
            wanted, nth = take(self.path("fault")), take(self.path("nth"))
            if wanted is not None and wanted[0] == name:
                os.unlink(self.path("fault"))
                return wanted[1]
            if nth is None:
                return None
            if nth[0] == "1":
                os.unlink(self.path("nth"))
                return nth[1]
            with open(self.path("nth"), "w", encoding="utf-8") as file:
                file.write(f"{int(nth[0]) - 1} {nth[1]}")
            return None

    def canned(self, name):
        """The answer that the test has written for this call; None: none."""
        with LOCK:
            if not os.path.exists(self.path("answer")):
                return None
            with open(self.path("answer"), encoding="utf-8") as file:
                found = json.load(file)
            if found["call"] != name:
                return None
            if "times" in found:
                self.spend(found)
        body = found.get("body", "")
        return found["status"], body if isinstance(body, str) else json.dumps(body), found.get("headers", {})

    def spend(self, found):
        found["times"] -= 1
        if found["times"] == 0:
            os.unlink(self.path("answer"))
            return
        with open(self.path("answer"), "w", encoding="utf-8") as file:
            json.dump(found, file)

    def meet(self, handler, name):
        """Answers the call in the server's place and gives True; None: the server answers it. "lost": it carries the
        call out and sends what lost() gives."""
        kind = self.kind(name)
        answer = self.canned(name) if kind is None else self.kinds.get(kind)
        if kind == "silent":
            time.sleep(30)
            return True
        if kind == "half":
            send(handler, 200, '{"access_tok', {}, length=5000)
            handler.close_connection = True
            return True
        if kind == "lost" or answer is None:
            assert kind in (None, "lost"), kind
            return kind
        send(handler, *answer)
        return True


def lost(handler):
    send(handler, *PLAIN["lost"])


def send(handler, status, body, headers, length=None):
    content = body.encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    if status != 204:
        handler.send_header("Content-Length", str(len(content) if length is None else length))
    handler.end_headers()
    handler.wfile.write(content)
