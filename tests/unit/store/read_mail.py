# SPDX-License-Identifier: MIT
"""Reads a message with Python's own parser and prints what it finds, for the tests to compare with."""

import email
import email.header
import email.policy
import email.utils
import re
import sys


END = b"\r\n"
STRAY = re.compile(rb"(?<!\r)\n|\r(?!\n)")


def longest_line(raw):
    return max(len(line) for line in raw.split(END))


def main(path):
    raw = open(path, "rb").read()
    message = email.message_from_bytes(raw, policy=email.policy.default.clone(linesep="\r\n"))
    sender = message["From"].addresses[0]
    print(f"from={sender.display_name}|{sender.addr_spec}")
    # The policy's parser puts a blank between the encoded words of a long name, against RFC 2047 (6.2).
    raw_sender = email.message_from_bytes(raw)["From"]
    print(f"from-words={email.header.make_header(email.header.decode_header(raw_sender))}")
    print(f"to={[entry.addr_spec for entry in message['To'].addresses]}")
    print(f"subject={message['Subject']}")
    print(f"date={int(email.utils.parsedate_to_datetime(message['Date']).timestamp())}")
    print(f"id={message['Message-ID']}")
    print(f"headers={' '.join(message.keys())}")
    print(f"type={message.get_content_type()}")
    print(f"longest={longest_line(raw)}")
    print(f"longest-header={longest_line(raw[:raw.index(END + END)])}")
    print(f"stray={len(STRAY.findall(raw))}")
    defects = list(message.defects)
    for part in message.walk():
        defects += part.defects
    print(f"defects={defects}")
    for part in message.walk():
        if part.is_multipart():
            continue
        text = part.get_content()
        encoding = part["Content-Transfer-Encoding"]
        print(f"part={part.get_content_type()} {part.get_content_charset()} {encoding}")
        sys.stdout.write(text.replace("\r\n", "\n"))
        print("<end>")


sys.stdout.reconfigure(encoding="utf-8", newline="\n")
main(sys.argv[1])
