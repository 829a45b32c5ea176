# SPDX-License-Identifier: MIT
"""A mail server for the tests, which misbehaves as told. Prints its port, then serves client after client.

Each command is noted in DIRECTORY/log, behind "tls " or "plain ", the last message kept in DIRECTORY/message.
A reply in DIRECTORY/reply ("RCPT:550 no") counts for the clients that come after it was written.
"""

import argparse
import base64
import os
import socket
import ssl
import time

REPLIES = {"GREETING": "220 localhost ready", "STARTTLS": "220 go ahead", "AUTH": "235 welcome",
           "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go on", "MESSAGE": "250 taken", "QUIT": "221 bye"}


def later_reply(options):
    path = os.path.join(options.directory, "reply")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [file.read()]


class Connection:
    """One client. `options.reply` replaces replies, `options.silent` names the step never answered."""

    def __init__(self, sock, options):
        self.options = options
        changes = options.reply + later_reply(options)
        self.replies = dict(REPLIES, **dict(entry.split(":", 1) for entry in changes))
        self.context = None
        if options.certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(options.certificate + "-cert.pem", options.certificate + "-key.pem")
        self.tls = False
        self.use(sock)
        if options.smtps:
            self.encrypt()

    def use(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def encrypt(self):
        self.use(self.context.wrap_socket(self.sock, server_side=True))
        self.tls = True

    def say(self, text):
        self.sock.sendall(text.encode() + b"\r\n")

    def answer(self, step):
        if step == self.options.silent:
            time.sleep(60)
        self.say(self.replies[step])
        return self.replies[step][0] in "23"

    def note(self, text):
        with open(os.path.join(self.options.directory, "log"), "a", encoding="utf-8") as log:
            log.write(("tls " if self.tls else "plain ") + text + "\n")

    def hello(self):
        lines = ["localhost"]
        if self.context and not self.tls and not self.options.hide_starttls:
            lines.append("STARTTLS")
        if self.options.auth and (self.tls or self.options.auth_in_the_clear):
            lines.append("AUTH PLAIN")
        for line in lines[:-1]:
            self.say("250-" + line)
        self.say("250 " + lines[-1])

    def login(self, line):
        words = line.split()
        if len(words) < 3:
            self.say("334 ")
            words.append(self.file.readline().decode().strip())
        _, user, password = base64.b64decode(words[2]).decode().split("\0")
        self.note(f"LOGIN {user}")
        if f"{user}:{password}" == self.options.auth:
            self.answer("AUTH")
        else:
            self.say(f"535 5.7.8 no, {password} is wrong")

    def message(self):
        if not self.answer("DATA"):
            return
        data = b""
        while not data.endswith(b"\r\n.\r\n"):
            line = self.file.readline()
            if not line:
                return
            data += line
        lines = data[:-3].split(b"\r\n")
        data = b"\r\n".join(line[1:] if line.startswith(b".") else line for line in lines)
        with open(os.path.join(self.options.directory, "message"), "wb") as message:
            message.write(data)
        self.answer("MESSAGE")

    def serve(self):
        if not self.answer("GREETING"):
            return
        while line := self.file.readline().decode().strip():
            verb = line.split()[0].upper()
            self.note(line if verb != "AUTH" else "AUTH")
            if verb in ("EHLO", "HELO"):
                self.hello()
            elif verb == "STARTTLS":
                if self.answer("STARTTLS"):
                    self.encrypt()
            elif verb == "AUTH":
                self.login(line)
            elif verb == "DATA":
                self.message()
            elif verb in REPLIES:
                self.answer(verb)
                if verb == "QUIT":
                    return
            else:
                self.say("502 what?")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--certificate")
    parser.add_argument("--smtps", action="store_true")
    parser.add_argument("--hide-starttls", action="store_true")
    parser.add_argument("--auth")
    parser.add_argument("--auth-in-the-clear", action="store_true")
    parser.add_argument("--reply", action="append", default=[])
    parser.add_argument("--silent")
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        sock, _ = listener.accept()
        try:
            Connection(sock, options).serve()
        except (OSError, ssl.SSLError):
            pass
        finally:
            sock.close()


main()
