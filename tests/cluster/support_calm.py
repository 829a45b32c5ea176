# SPDX-License-Identifier: MIT
"""Failures that a test has caused, told from those of a machine that stood still.

A database node that gets no processor for more than a second is suspected by the others. Until all have agreed who
belongs to the group, requests there are answered 500 database.unavailable. The group counts its changes, which tells
whether that has happened."""

TIMES = 3
AWAY = "database.unavailable"


def calmly(cluster, work, own=0):
    """Does the work, which returns the codes of all that failed, and returns them. `own` is how often the work itself
    lets nodes leave and join; each that dies, is cut off or is renewed counts twice. The work is done again, three
    times at most, only where every failure says that the database was away and the group has changed more often than
    that. What must not happen in any case (wrong or lost data) the work asserts itself."""
    for _ in range(TIMES):
        cluster.await_whole()
        before = cluster.changes()
        failed = work()
        cluster.await_whole()
        if set(failed) != {AWAY} or cluster.changes() - before <= own:
            break
    return failed


def faults(replies):
    """The codes of those that are faults of the service, or of what it needs."""
    return [reply.json()["code"] for reply in replies if reply.status_code >= 500]
