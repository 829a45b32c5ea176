# SPDX-License-Identifier: MIT
"""What ends a run early."""


class Problem(Exception):
    """Something that a person must see to; its text is the whole message."""


class Ended(Exception):
    """A signal asked for the end."""

    def __init__(self, number):
        super().__init__(f"signal {number}")
        self.number = number
