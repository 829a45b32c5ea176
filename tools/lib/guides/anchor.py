# SPDX-License-Identifier: MIT
"""Anchors of headings, as forges make them, so that a link holds there and in the rendered pages."""

import re


def anchor(heading):
    """The anchor of the first heading with this text, which is Markdown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
