# SPDX-License-Identifier: MIT
"""Addresses and passwords that no run has used."""

import itertools
import uuid

RUN = uuid.uuid4().hex[:8]
NUMBER = itertools.count(1)


def fresh_email(word="owner"):
    return f"{word}.{RUN}.{next(NUMBER)}@example.com"


def fresh_password():
    return f"Correct horse {uuid.uuid4().hex}"
