# SPDX-License-Identifier: MIT
"""The mail that the stack has sent: one .eml file a message in the mail directory, oldest first by name."""

import email
import email.parser
import email.policy
import os
import re
import time

from support.stack import wait_until

# Longer than the lease of a job (120 s), whose runner may have died or been refused the row: a message that is later
# than this is lost.
PATIENCE_SECONDS = 150
TICK_NANOSECONDS = 50_000_000  # more than any kernel has
HEADERS = email.parser.BytesHeaderParser(policy=email.policy.default)


class Mailbox:
    """Finds messages by recipient. Of each file the headers are parsed once, the rest when a test asks for it."""

    def __init__(self, directory):
        self.directory = directory
        self.names = set()
        self.changed = None  # the folder's time when it was read, if no other file can have come at that time
        self.received = {}
        self.parsed = {}

    def messages(self, address):
        """All messages to an address so far, oldest first."""
        for name in self.arrived():
            self.names.add(name)
            for entry in recipients(HEADERS.parsebytes((self.directory / name).read_bytes())):
                self.received.setdefault(entry.lower(), []).append(name)
        local, _, domain = address.lower().rpartition("@")
        names = self.received.get(f"{local}@{domain.encode('idna').decode()}", [])
        return [self.message(name) for name in sorted(names)]

    def arrived(self):
        """The files that have come since. A folder that has not changed for a while is not read again; what comes
        within one tick of the kernel's clock would leave its time as it was."""
        asked, changed = time.time_ns(), os.stat(self.directory).st_mtime_ns
        if changed == self.changed:
            return []
        self.changed = changed if asked - changed > TICK_NANOSECONDS else None
        return sorted(name for name in set(os.listdir(self.directory)) - self.names if name.endswith(".eml"))

    def message(self, name):
        """The whole message of a file."""
        if name not in self.parsed:
            self.parsed[name] = email.message_from_bytes((self.directory / name).read_bytes(),
                                                         policy=email.policy.default)
        return self.parsed[name]

    def wait(self, address, count=1):
        """Waits for the count-th message to an address and returns it."""
        found = wait_until(lambda: self.messages(address)[count - 1:count], PATIENCE_SECONDS,
                           f"mail number {count} to {address}")
        return found[0]


def recipients(message):
    """The addresses in To, whose letters before the @ may be any (RFC 6532)."""
    text = str(message["To"]).encode("utf-8", "surrogateescape").decode()
    return [text] if not text.isascii() else [entry.addr_spec for entry in message["To"].addresses]


def lines(message):
    """The lines of a message's text part."""
    part = message.get_body(preferencelist=("plain", ))
    assert part is not None, "the message has no text part"
    assert part.get_content_type() == "text/plain"
    return part.get_content().replace("\r\n", "\n").split("\n")


def link(message, prefix):
    """The one line that is a link which starts so, and nothing else."""
    found = [line for line in lines(message) if line.startswith(prefix)]
    assert len(found) == 1 and found[0] == found[0].strip(), f"links that start with {prefix}: {found}"
    assert " " not in found[0]
    return found[0]


def temporary_password(message):
    """The one line that is a single word and could be a password."""
    found = [line for line in lines(message) if re.fullmatch(r"\S{12,128}", line) and "://" not in line]
    assert len(found) == 1, f"expected one line that is the temporary password alone, found {len(found)}"
    return found[0]


def code(message):
    """The one line that is a six-digit code, alone."""
    found = [line for line in lines(message) if re.fullmatch(r"[0-9]{6}", line)]
    assert len(found) == 1, f"expected one line that is the code alone, found {len(found)}"
    return found[0]
