# SPDX-License-Identifier: MIT
"""What stands between the service and another host, and lets one call to it fail: over HTTP (identity providers, the S3
store), and over SMTP."""

import contextlib
import http.client
import http.server
import re
import socket
import threading

from support.programs.ports import free_port
from support.stack import wait_until

HOST = "127.0.0.1"
# What the nth call meets. From a refused one on nobody listens; the others happen once.
FAULTS = ("refused", "hung up", "lost", "half", "silent")


class Script:
    """Which call is to meet what. `refused` calls are met by whoever owns the port."""

    def __init__(self):
        self.lock = threading.Lock()
        self.fault, self.nth, self.count, self.met = None, 0, 0, False
        self.over = threading.Event()

    def arm(self, fault, nth):
        with self.lock:
            self.fault, self.nth, self.count, self.met = fault, nth, 0, False
            self.over = threading.Event()

    def disarm(self):
        with self.lock:
            self.fault, self.nth = None, 0
            self.over.set()
            return self.count, self.met

    def take(self):
        """What the call that comes now meets, and whether nobody is to listen after it."""
        with self.lock:
            self.count += 1
            if self.fault == "refused":
                return None, self.nth == self.count + 1
            due = self.fault if self.nth == self.count else None
            self.met = self.met or due is not None
            return due, False


def bind(make):
    """The server that `make()` binds to a port. The port was free, and may belong to somebody else for a moment."""

    def found():
        with contextlib.suppress(OSError):
            return make()
        return None

    return wait_until(found, 30, "the proxy's port")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Whoever was cut off cannot be answered."""


class Call(http.server.BaseHTTPRequestHandler):
    """One connection of the service."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 20

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.server.proxy.open.add(self.connection)

    def finish(self):
        self.server.proxy.open.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault, last = self.server.proxy.script.take()
        if fault == "silent":
            self.server.proxy.script.over.wait(60)
        if fault in ("hung up", "silent"):
            self.close_connection = True
            return
        answer = self.hand_on(body)
        if last:
            self.server.proxy.stop_listening()
        self.close_connection = self.close_connection or last or fault is not None
        if fault != "lost":
            self.wfile.write(answer[:len(answer) // 2] if fault == "half" else answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve

    def hand_on(self, body):
        """The other host's answer as bytes."""
        connection = http.client.HTTPConnection(HOST, self.server.proxy.backend, timeout=60)
        with contextlib.closing(connection):
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "expect"):
                    connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            content = reply.read()
        head = [f"HTTP/1.1 {reply.status} {reply.reason}"]
        head += [f"{name}: {value}" for name, value in reply.getheaders()
                 if name.lower() not in ("connection", "transfer-encoding", "content-length")]
        if reply.status != 204:
            length = reply.getheader("Content-Length", "0") if self.command == "HEAD" else len(content)
            head.append(f"Content-Length: {length}")
        return "\r\n".join([*head, "", ""]).encode("latin-1") + content


class HttpProxy:
    """Serves until it is closed; `backend` is the port of the other host."""

    def __init__(self, backend):
        self.backend = backend
        self.script, self.open = Script(), set()
        self.port, self.server = free_port(), None
        self.listen()

    @property
    def url(self):
        return f"http://{HOST}:{self.port}"

    def listen(self):
        self.server = bind(lambda: Server((HOST, self.port), Call))
        self.server.proxy = self
        threading.Thread(target=self.server.serve_forever, args=(0.02, ), daemon=True).start()

    def stop_listening(self):
        """Nobody is at the port any more, and kept connections end."""
        server, self.server = self.server, None
        server.shutdown()
        server.server_close()
        self.script.met = True

    def arm(self, fault=None, nth=0):
        """Calls are counted from here on."""
        self.script.arm(fault, nth)
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if fault == "refused" and nth == 1:
            self.stop_listening()

    def disarm(self):
        """Nothing fails any more; (how many calls came, whether the fault was met)."""
        found = self.script.disarm()
        if self.server is None:
            self.listen()
        return found

    def close(self):
        self.disarm()
        self.stop_listening()


# ---- mail


class MailProxy:
    """Counts the replies of a mail server. The nth one is withheld: what was sent before it has been carried out."""

    def __init__(self, backend):
        self.backend = backend
        self.script = Script()
        self.port, self.listener = free_port(), None
        self.listen()

    def listen(self):
        self.listener = bind(lambda: socket.create_server((HOST, self.port)))
        threading.Thread(target=self.accept, args=(self.listener, ), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client, ), daemon=True).start()

    def pass_on(self, client):
        with client, socket.create_connection((HOST, self.backend)) as server:
            threading.Thread(target=copy, args=(client, server), daemon=True).start()
            replies = server.makefile("rb")
            with contextlib.suppress(OSError):
                for line in replies:
                    if re.match(rb"\d{3}-", line) or self.pass_reply(client, line):
                        client.sendall(line)
                    else:
                        break
            for one in (client, server):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def pass_reply(self, client, line):
        """Whether the last line of a reply goes on."""
        fault, _ = self.script.take()
        if fault == "half":
            client.sendall(line[:len(line) // 2])
        if fault == "silent":
            self.script.over.wait(60)
        return fault is None

    def stop_listening(self):
        # Whoever waits in accept() would go on doing so after a close() alone.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.listener = None
        self.script.met = True

    def arm(self, fault=None, nth=0):
        """Replies are counted from here on."""
        self.script.arm(fault, nth)
        if fault == "refused":
            self.stop_listening()

    def disarm(self):
        """Nothing fails any more; (how many replies there were, whether the fault was met)."""
        found = self.script.disarm()
        if self.listener is None:
            self.listen()
        return found

    def close(self):
        self.disarm()
        self.stop_listening()


def copy(source, target):
    """Hands on what comes until either end is gone."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
