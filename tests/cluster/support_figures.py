# SPDX-License-Identifier: MIT
"""What the tests measure, as lines for people."""


class Figures:
    """Lines of `what: figures`."""

    def __init__(self):
        self.lines = []

    def note(self, what, text):
        """Adds a line, and prints it."""
        self.lines.append(f"{what}: {text}")
        print(f"\n  {self.lines[-1]}", flush=True)

    def tell(self):
        """Prints all of them."""
        print("\n\nFigures\n  " + "\n  ".join(self.lines), flush=True)
