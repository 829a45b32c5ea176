# SPDX-License-Identifier: MIT
"""What stands between the service and an identity provider of the tests' own: a TLS server that hands each call on and
can do with it what networks and broken, hostile or slow servers do. It runs in the test's process, so a test sees what
came."""

import contextlib
import datetime
import functools
import gzip
import http.client
import ipaddress
import json
import socket
import ssl
import struct
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "127.0.0.1"
GATEWAY = ("HTTP/1.1 %d Said\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n")


# ---- certificates
# ------------------------------------------------------------------------------------------------------


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(subject, key, issuer, issuer_key, days, hosts=()):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(_name(subject)).issuer_name(_name(issuer)).public_key(
        key.public_key()).serial_number(x509.random_serial_number()).not_valid_before(
            now - datetime.timedelta(days=10)).not_valid_after(now + datetime.timedelta(days=days))
    builder = builder.add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _pem(folder, name, certificate, key=None):
    text = certificate.public_bytes(serialization.Encoding.PEM)
    if key is not None:
        text += key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                  serialization.NoEncryption())
    path = folder / name
    path.write_bytes(text)
    return path


def contexts(folder):
    """The path of the authority that is trusted, and a server's context for each kind of certificate."""
    here = [x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")]
    elsewhere = [x509.DNSName("elsewhere.example")]
    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("authority", "stranger", "server")}
    authority = _pem(folder, "authority.pem", _certificate("authority", keys["authority"], "authority",
                                                           keys["authority"], 30))
    found = {}
    for kind, issuer, days, hosts in (("good", "authority", 30, here), ("unknown authority", "stranger", 30, here),
                                      ("another name", "authority", 30, elsewhere), ("expired", "authority", -1, here)):
        certificate = _certificate("server", keys["server"], issuer, keys[issuer], days, hosts)
        found[kind] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found[kind].load_cert_chain(_pem(folder, kind.replace(" ", "-") + ".pem", certificate, keys["server"]))
    return authority, found


# ---- calls
# -------------------------------------------------------------------------------------------------------------


class Call:
    """A request that came, whole."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def __contains__(self, text):
        """Whether the request says so anywhere."""
        return text in f"{self.method} {self.path} {self.headers.get('x-amz-target', '')} {self.body.decode()}"


def _read_call(stream):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = stream.recv(65536)
        if not piece:
            return None
        head += piece
    head, _, body = head.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        piece = stream.recv(65536)
        if not piece:
            return None
        body += piece
    method, path, _ = first.split(" ")
    return Call(method, path, headers, body)


class Front:
    """Serves until it is closed. `fault` is what calls meet now: {"kind": ..., ...}, by the methods below; None:
    nothing. `only` names the calls that meet it (a text that they contain); others are handed on. `rewrite` changes
    what good calls are answered: a function of the call and the parsed answer."""

    def __init__(self, folder, backend):
        self.backend = backend
        self.authority, self.contexts = contexts(folder)
        self.listener = socket.create_server((HOST, 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"https://{HOST}:{self.port}"
        self.lock = threading.Lock()
        self.fault, self.only, self.rewrite = None, "", None
        self.calls, self.trapped, self.connections = [], 0, 0
        self.waiting, self.waiting_most = 0, 0
        self.released = threading.Event()
        self.accepting = threading.Event()
        self.accepting.set()
        self.trap = socket.create_server((HOST, 0))
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._watch_trap, daemon=True).start()

    def close(self):
        self.released.set()
        for one in (self.listener, self.trap):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def count(self, text):
        """How many calls said that."""
        with self.lock:
            return sum(text in call for call in self.calls)

    @contextlib.contextmanager
    def meets(self, fault, only=""):
        """Calls meet the fault meanwhile."""
        if fault["kind"] == "bomb":
            _bomb_bytes()  # which takes seconds on a busy machine, as long as the calls have
        self.released = threading.Event()
        self.fault, self.only = fault, only
        try:
            with self._full() if fault["kind"] == "backlog" else contextlib.nullcontext():
                yield
        finally:
            self.fault, self.only = None, ""
            self.released.set()

    @contextlib.contextmanager
    def _full(self):
        """Nobody accepts, and the queue of those who wait for it is full: the kernel drops what comes."""
        self.accepting.clear()
        # The one that the accepting thread has in hand already.
        fillers = [socket.create_connection((HOST, self.port), 5)]
        self.listener.listen(0)
        try:
            for _ in range(20):
                filler = socket.socket()
                filler.settimeout(0.5)
                fillers.append(filler)
                try:
                    filler.connect((HOST, self.port))
                except TimeoutError:
                    break
            else:
                raise AssertionError("the queue does not fill")
            yield
        finally:
            self.listener.listen(128)
            for filler in fillers:
                filler.close()
            self.accepting.set()

    def _accept(self):
        while True:
            try:
                self.accepting.wait()
                client, _ = self.listener.accept()
                self.accepting.wait()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _watch_trap(self):
        while True:
            try:
                self.trap.accept()[0].close()
            except OSError:
                return
            self.trapped += 1

    def _serve(self, client):
        fault = self.fault
        with self.lock:
            self.connections += 1
        with contextlib.suppress(OSError), client:
            client.settimeout(60)
            if fault is not None and not self.only and fault["kind"] == "mute":
                self._wait()
                return
            kind = fault["certificate"] if fault is not None and fault["kind"] == "certificate" else "good"
            with self.contexts[kind].wrap_socket(client, server_side=True) as stream:
                if fault is not None and not self.only and fault["kind"] == "reset before":
                    _reset(stream)
                    return
                call = _read_call(stream)
                if call is not None:
                    self._answer(stream, call)

    def _answer(self, stream, call):
        with self.lock:
            self.calls.append(call)
        fault = self.fault
        if fault is None or self.only not in call or fault["kind"] == "certificate":
            stream.sendall(self._hand_on(call))
            return
        getattr(self, "_" + fault["kind"].replace(" ", "_"))(stream, call, fault)

    def _hand_on(self, call):
        """The provider's own answer as bytes."""
        connection = http.client.HTTPConnection(HOST, self.backend, timeout=30)
        try:
            headers = {name: value for name, value in call.headers.items() if name not in ("connection", "expect")}
            connection.putrequest(call.method, call.path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(call.body)
            reply = connection.getresponse()
            body = reply.read()
        finally:
            connection.close()
        if self.rewrite is not None and body:
            body = json.dumps(self.rewrite(call, json.loads(body))).encode()
        more = f"Location: {reply.getheader('Location')}\r\n" if reply.getheader("Location") else ""
        if reply.status == 204:
            return f"HTTP/1.1 204 No Content\r\nConnection: close\r\n{more}\r\n".encode()
        return _said(reply.status, body, reply.getheader("Content-Type"), more)

    # ---- faults

    def _wait(self):
        with self.lock:
            self.waiting += 1
            self.waiting_most = max(self.waiting_most, self.waiting)
        self.released.wait(60)
        with self.lock:
            self.waiting -= 1

    def _silent(self, _stream, _call, _fault):
        self._wait()

    def _late(self, stream, call, _fault):
        """Carried out at once, and answered when the fault is over."""
        answer = self._hand_on(call)
        self._wait()
        stream.sendall(answer)

    def _drip(self, stream, call, _fault):
        for byte in self._hand_on(call):
            if self.released.is_set():
                return
            stream.sendall(bytes([byte]))
            time.sleep(0.1)

    def _reset_after(self, stream, _call, _fault):
        _reset(stream)

    def _lost(self, stream, call, _fault):
        """Carried out, but nobody hears of it."""
        self._hand_on(call)
        _reset(stream)

    def _redirect(self, stream, _call, fault):
        address = f"{fault['scheme']}://{HOST}:{self.trap.getsockname()[1]}/"
        stream.sendall(_said(fault["status"], b"", "text/plain", f"Location: {address}\r\n"))

    def _says(self, stream, _call, fault):
        stream.sendall(_said(fault["status"], fault["body"].encode(), fault["type"]))

    def _cut(self, stream, call, _fault):
        whole = self._hand_on(call)
        stream.sendall(whole[:len(whole) - 20])

    def _short(self, stream, _call, _fault):
        stream.sendall(_said(200, b'{"AuthenticationResult":{"AccessTo', "application/json"))

    def _huge(self, stream, _call, _fault):
        stream.sendall(_said(200, b'{"x":"' + b"x" * (8 << 20) + b'"}', "application/json"))

    def _endless(self, stream, _call, _fault):
        stream.sendall(b"HTTP/1.1 200 OK\r\n")
        while not self.released.is_set():
            stream.sendall(b"X-More: " + b"x" * 4000 + b"\r\n")

    def _bomb(self, stream, _call, _fault):
        stream.sendall(_said(200, _bomb_bytes(), "application/json", "Content-Encoding: gzip\r\n"))


@functools.cache
def _bomb_bytes():
    return gzip.compress(b'{"x":"' + b"x" * (64 << 20) + b'"}', 1)


def _said(status, body, kind, more=""):
    return (GATEWAY % (status, kind, len(body), more)).encode() + body


def _reset(stream):
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.close()
