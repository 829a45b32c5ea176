# SPDX-License-Identifier: MIT
"""The records that requests and answers are made of, such as FileRecord and User."""

from .generated.models import *  # noqa: F401, F403, it is the list of them
