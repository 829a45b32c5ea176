# SPDX-License-Identifier: MIT
"""The grace in which a spent refresh token still gives its successor: 10 s. Tests set when it began."""

import hashlib


def session_row(database, session):
    """The id of the session that a refresh token belongs to, as the database has it, whatever the provider."""
    digest = hashlib.sha256(session["refreshToken"].encode()).digest()
    return bytes(database.run("SELECT session_id FROM identity_refresh WHERE token_hash = %s", digest)[0][0])


def lapse(database, session, seconds=11):
    """Lets the grace of everything that the session has spent pass."""
    database.run("UPDATE identity_refresh SET spent_at = spent_at - INTERVAL %s SECOND WHERE session_id = %s", seconds,
                 session_row(database, session))


def renew_grace(database, session):
    """Lets the grace of everything that the session has spent begin now, however long the machine took so far."""
    database.run("UPDATE identity_refresh SET spent_at = UTC_TIMESTAMP(3) WHERE session_id = %s"
                 " AND spent_at IS NOT NULL", session_row(database, session))
