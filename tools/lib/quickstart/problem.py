# SPDX-License-Identifier: MIT
"""The ways in which a start ends early."""

import errno


class Problem(Exception):
    """Something a person has to repair; the text is one plain sentence or two for them."""


class Interrupted(Exception):
    """Ctrl-C, SIGTERM or SIGHUP."""


def sentence(error, state):
    """What an error of the operating system (OSError) means to a person."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk that holds {state} is full. Make room or choose another folder with --state."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{error.filename or state} may not be written. Choose another folder with --state."
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}."
