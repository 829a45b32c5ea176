# SPDX-License-Identifier: MIT
"""No token but a genuine access token opens the API: the table of token_attacks.py, and two cases that need
raw HTTP."""

import pytest

from sessions import token_attacks
from support.client import anonymous, check_error
from support.wire import fastcgi_client, raw

pytestmark = pytest.mark.web_server

FLOOR = 78


@pytest.fixture(scope="module")
def world(api, accounts):
    account = accounts.customer()
    tokens = account.session()
    keys = api.get("/.well-known/jwks.json", status=200).json()["keys"]
    kid = token_attacks.World(tokens, keys[0]).header["kid"]
    return token_attacks.World(tokens, next(key for key in keys if key["kid"] == kid))


def ask(api, **arguments):
    return api.get("/customers/me", **arguments)


def test_the_table_is_as_long_as_promised_and_names_are_unique():
    names = [name for name, _, _ in token_attacks.ROWS]
    assert len(names) == len(set(names)) >= FLOOR


@pytest.mark.parametrize("build, codes", [(build, codes) for _, build, codes in token_attacks.ROWS],
                         ids=[name for name, _, _ in token_attacks.ROWS])
def test_a_false_token_is_refused(api, world, build, codes):
    # The genuine one first, so that a memory of verified tokens is warm.
    ask(api, token=world.token, status=200)
    attack = build(world)
    sent = [value for name, value in attack["headers"].items() if name == "Authorization"]
    assert sent != [f"Bearer {world.token}"], "this attack is no attack"
    reply = api.session.get(api.stack.url("/customers/me"), timeout=10, **attack)
    if reply.status_code == 400 and codes is token_attacks.JOINED:
        check_error(400, reply.headers, reply.content, "attack", edge=True)
        return
    assert reply.status_code == 401, f"{reply.status_code} {reply.text[:300]}"
    body = check_error(401,
                       reply.headers,
                       reply.content,
                       "attack",
                       sent_token="invalid_token" in reply.headers["WWW-Authenticate"])
    assert body["code"] in codes
    assert body["validation"] == []
    if codes is token_attacks.INVALID:
        assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"]
    ask(api, token=world.token, status=200)


def test_all_refusals_are_one_answer(api, world):
    answers = set()
    for _, build, codes in token_attacks.ROWS:
        if codes is token_attacks.INVALID:
            answers.add(anonymous(api.session.get(api.stack.url("/customers/me"), timeout=10,
                                                  **build(world))))
    assert len(answers) == 1, answers


@pytest.mark.parametrize("first_is_right", [True, False])
def test_two_authorization_headers_are_refused(stack, world, first_is_right):
    good, bad = f"Bearer {world.token}", "Bearer x.y.z"
    lines = [("Authorization", good if first_is_right else bad),
             ("Authorization", bad if first_is_right else good)]
    reply = raw.one(stack, raw.request("GET", stack.prefix + "/customers/me", lines))
    assert reply.status in (400, 401), reply
    check_error(reply.status,
                reply.headers,
                reply.body,
                "two headers",
                sent_token=reply.status == 401,
                edge=reply.status == 400)


def test_the_same_authorization_header_twice_is_refused(stack, world):
    line = ("Authorization", f"Bearer {world.token}")
    reply = raw.one(stack, raw.request("GET", stack.prefix + "/customers/me", [line, line]))
    assert reply.status in (400, 401), reply


@pytest.mark.parametrize("size", [8200, 16384, 65000])
def test_a_token_over_8_kib_is_refused_by_the_worker_itself(stack, world, size):
    if stack.socket is None:
        pytest.skip("this web server starts the workers itself; there is no socket to talk to")
    token = world.signed(claims=dict(world.claims, x="y" * size))
    values = fastcgi_client.environment("GET",
                                        stack.prefix + "/customers/me",
                                        headers={"Authorization": f"Bearer {token}"})
    with fastcgi_client.Connection(stack.socket) as connection:
        answer = connection.request(values)
    body = check_error(answer.status, answer.headers, answer.body, "a long token", sent_token=True)
    assert (answer.status, body["code"]) == (401, "auth.tokenInvalid")


def test_a_token_in_a_body_does_not_count(api, world):
    for data in (f"access_token={world.token}", '{"access_token": "%s"}' % world.token):
        api.post("/customers/logout",
                 data=data,
                 headers={"Content-Type": "application/x-www-form-urlencoded"},
                 status=401,
                 code="auth.tokenMissing")
    ask(api, token=world.token, status=200)


def test_a_token_of_a_user_who_is_gone_opens_nothing(api, accounts):
    account = accounts.customer()
    token = account.session()["accessToken"]
    accounts.database.run("UPDATE `user` SET status = 'provisioning' WHERE email = %s", account.email)
    ask(api, token=token, status=401)


IDENTITY_HEADERS = [
    "X-User-Id", "X_User_Id", "X-Organisation-Id", "X-Organization-Id", "Remote-User", "REMOTE_USER",
    "X-Remote-User", "X-Forwarded-User", "X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override",
    "X-Forwarded-Proto", "Proxy", "X-Permissions", "X-Authenticated-Userid", "X-Accel-Redirect", "X-Sendfile"
]


@pytest.mark.parametrize("name", IDENTITY_HEADERS)
def test_no_header_claims_an_identity(api, administrator, owner, name):
    for value in (administrator.id, administrator.organisation["id"], "/system/version", "DELETE", "*:*:a"):
        headers = {name: value}
        ask(api, headers=headers, status=401, code="auth.tokenMissing")
        seen = ask(api, token=owner.token, headers=headers, status=200).json()
        assert seen["user"]["id"] == owner.id and seen["organisation"]["id"] == owner.organisation["id"]
        assert "*:*:a" not in seen["permissions"]


@pytest.mark.parametrize(
    "name", ["REMOTE_USER", "AUTH_TYPE", "USER", "HTTP_X_USER_ID", "REDIRECT_REMOTE_USER", "SSL_CLIENT_S_DN"])
def test_no_fastcgi_parameter_claims_an_identity(stack, administrator, name):
    if stack.socket is None:
        pytest.skip("this web server starts the workers itself; there is no socket to talk to")
    values = fastcgi_client.environment("GET", stack.prefix + "/customers/me")
    values[name] = administrator.id
    with fastcgi_client.Connection(stack.socket) as connection:
        assert connection.request(values).status == 401
