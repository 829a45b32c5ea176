# SPDX-License-Identifier: MIT
"""A mail server for gatehousectl check."""

import socket
import threading


class MailServer:
    """Speaks just enough SMTP; `refuse` is what it answers to a recipient."""

    def __init__(self, refuse=None):
        self.refuse = refuse
        self.commands = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"smtp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        """Wakes the thread first: after the close it would go on to accept on the number of the descriptor, which may
        be that of another test's listener by then."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(10)
        assert not self.thread.is_alive()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                self._talk(stream)

    def _talk(self, stream):
        body = False

        def say(text):
            stream.write(text.encode() + b"\r\n")
            stream.flush()

        say("220 test ESMTP")
        for line in stream:
            word = line.strip().decode()
            self.commands.append(word)
            if body:
                body = word != "."
                if not body:
                    say("250 taken")
            elif word.startswith("RCPT") and self.refuse:
                say(self.refuse)
            elif word == "DATA":
                body = True
                say("354 go on")
            elif word == "QUIT":
                say("221 bye")
                return
            else:
                say("250 fine")
