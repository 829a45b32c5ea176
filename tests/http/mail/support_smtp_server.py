# SPDX-License-Identifier: MIT
"""A real mail server (aiosmtpd) that takes mail only from whoever signs in, and whose password can be changed; and a
job runner that sends through it."""

import contextlib
import email
import email.policy
import os
import subprocess
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from support import mail
from support.stack import wait_until


class AnyPort(Controller):
    """A controller that learns which port it was given."""

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


class Server:
    """On a port of its own on the loopback address. `tried` are the passwords that were sent, in order; `taken` is
    called when a message was taken, before its sender hears of it, and may have another answer for him."""

    def __init__(self, user, password, taken=lambda: None):
        self.user, self.password, self.taken = user, password, taken
        self.tried, self.received = [], []
        self.lock = threading.Lock()
        self.controller = AnyPort(self, hostname="127.0.0.1", port=0, authenticator=self._authenticate,
                                  auth_required=True, auth_require_tls=False)

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *_):
        self.controller.stop()

    @property
    def port(self):
        return self.controller.port

    def wait(self, address):
        """The first message to an address."""
        return wait_until(lambda: self.messages(address)[:1], mail.PATIENCE_SECONDS, f"a mail to {address}")[0]

    def messages(self, address):
        """All messages to an address so far."""
        with self.lock:
            return [one for recipients, one in self.received if address in recipients]

    def _authenticate(self, _server, _session, _envelope, _mechanism, data):
        with self.lock:
            self.tried.append(data.password.decode())
            return AuthResult(success=data.login.decode() == self.user and self.tried[-1] == self.password)

    async def handle_DATA(self, _server, _session, envelope):
        """aiosmtpd's name for what takes a message."""
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        with self.lock:
            self.received.append((list(envelope.rcpt_tos), message))
        return self.taken() or "250 taken"


@contextlib.contextmanager
def runner_of(stack, server, folder):
    """A job runner that sends through the server; the file that its password is read from."""
    file = folder / "password"
    file.write_text(server.password + "\n")
    more = {
        "mail_transport": "smtp", "mail_smtp_url": f"smtp://127.0.0.1:{server.port}", "mail_smtp_user": server.user,
        "mail_smtp_tls": "none", "mail_smtp_password_file": file, "log_file": folder / "log",
        "metrics_file": folder / "metrics", "cache_file": folder / "cache"
    }
    environment = {**os.environ, **{f"GATEHOUSE_{name.upper()}": str(value) for name, value in more.items()}}
    with open(folder / "jobs.err", "wb") as errors:
        runner = subprocess.Popen([stack.ctl, "--config", stack.configuration, "jobs"], env=environment, stderr=errors)
    try:
        yield runner, file
    finally:
        runner.terminate()
        runner.wait(60)
