# SPDX-License-Identifier: MIT
"""Requests to a peer while it is being set up, and the raw requests that it is sent afterwards."""

import json
import urllib.error
import urllib.parse
import urllib.request

from stack import Trouble

TIMEOUT = 60


class Answer:
    """Status, headers and bytes of an answer."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        """The body read as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def ask(method, url, body=None, headers=None):
    """One request; a body that is no bytes goes as JSON. Any status is an answer."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode("utf-8")
        headers.setdefault("Content-Type", "application/json")
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIMEOUT) as response:
            return Answer(response)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error)
    except OSError as error:
        raise Trouble(f"{method} {url} has no answer: {error}") from None


def need(method, url, body=None, headers=None):
    """ask(), where only a 2xx will do."""
    answer = ask(method, url, body, headers)
    if not 200 <= answer.status < 300:
        raise Trouble(f"{method} {url} is answered {answer.status}: {answer.body[:300]!r}")
    return answer


def multipart(name, fields=()):
    """(content type, text before the bytes, text after them) of a form with one file, the fields before it."""
    boundary = "gatehouse-bench-6c1f2a90"
    before = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
                     for key, value in fields)
    before += (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
               "Content-Type: application/octet-stream\r\n\r\n")
    return f"multipart/form-data; boundary={boundary}", before, f"\r\n--{boundary}--\r\n"


def raw(address, method, path, headers, before="", after="", size=0):
    """A request as requests.lua and send.c send it, so many bytes of a payload between the texts."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {urllib.parse.urlsplit(address).netloc}",
             *(f"{key}: {value}" for key, value in headers.items())]
    if size:
        lines.append(f"Content-Length: {len(before) + size + len(after)}")
    return ("\r\n".join(lines) + "\r\n\r\n" + (before + r"\P" + after if size else "")).replace("\r\n", r"\r\n")
