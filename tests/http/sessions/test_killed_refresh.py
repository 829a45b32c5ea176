# SPDX-License-Identifier: MIT
"""Workers are killed while they answer a refresh: the token that the client still has goes on, with one successor."""

import json

import pytest

from sessions.support_grace import renew_grace

pytestmark = [pytest.mark.fault, pytest.mark.usefixtures("killable")]
# More messages to the database than a refresh needs, and fewer than it takes.
FLOOR, MOST = 4, 40


def ask(stack, worker, session):
    """A refresh, straight to the doomed worker; the new refresh token, or None when it died over it."""
    body = json.dumps({"refreshToken": session["refreshToken"]}).encode()
    answer = worker.call("POST", stack.prefix + "/customers/refresh", body=body, content_type="application/json")
    if not answer.ended:
        return None
    assert answer.status == 200, answer
    return json.loads(answer.body)["tokens"]["refreshToken"]


def test_a_refresh_killed_at_any_message_to_the_database_can_be_repeated(stack, api, accounts, database, doom):
    person = accounts.customer()
    for number in range(1, MOST):
        session = person.session()
        with doom.worker() as worker:
            assert ask(stack, worker, person.session())
            doom.arm(number)
            given = ask(stack, worker, session)
        renew_grace(database, session)
        repeated = [api.post("/customers/refresh", json={"refreshToken": session["refreshToken"]},
                             status=200).json()["tokens"] for _ in range(3)]
        tokens = {tokens["refreshToken"] for tokens in repeated}
        assert len(tokens) == 1
        api.post("/customers/refresh", json={"refreshToken": tokens.pop()}, status=200)
        if given is not None:
            assert given == repeated[0]["refreshToken"] and number > FLOOR
            return
    pytest.fail(f"a refresh takes more than {MOST} messages")
