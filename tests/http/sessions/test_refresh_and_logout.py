# SPDX-License-Identifier: MIT
"""Sessions: refresh, logout, the key set, and what the tokens say."""

import base64
import concurrent.futures
import json
import time

import jwt
import pytest

from sessions.support_grace import lapse, renew_grace, session_row
from support.client import anonymous
from support.programs import system

REFUSED_REFRESH = {"auth.tokenInvalid", "auth.tokenRevoked"}


def refresh(api, token, **arguments):
    return api.post("/customers/refresh", json={"refreshToken": token}, **arguments)


def me(api, tokens, **arguments):
    return api.get("/customers/me", token=tokens["accessToken"], **arguments)


def claims(token):
    """The payload of a token, unverified."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.fixture(scope="module")
def person(accounts):
    return accounts.customer()


@pytest.fixture()
def session(person):
    return person.session()


def test_refresh_rotates(api, session):
    body = refresh(api, session["refreshToken"], status=200).json()
    assert set(body) == {"tokens"} and set(body["tokens"]) == set(session)
    for name in ("accessToken", "idToken", "refreshToken"):
        assert body["tokens"][name] != session[name]
    me(api, body["tokens"], status=200)
    refresh(api, body["tokens"]["refreshToken"], status=200)


def test_refresh_keeps_the_user(api, session):
    after = refresh(api, session["refreshToken"], status=200).json()["tokens"]
    assert claims(after["accessToken"])["sub"] == claims(session["accessToken"])["sub"]


def tokens_kept(database, session):
    """How many refresh tokens the session of a token has in the database."""
    return database.run("SELECT COUNT(*) FROM identity_refresh WHERE session_id = %s",
                        session_row(database, session))[0][0]


def test_a_spent_refresh_token_gives_the_very_same_successor_within_the_grace(api, session, database):
    first = refresh(api, session["refreshToken"], status=200).json()["tokens"]
    renew_grace(database, session)
    again = refresh(api, session["refreshToken"], status=200).json()["tokens"]
    assert again["refreshToken"] == first["refreshToken"]
    me(api, again, status=200)
    refresh(api, again["refreshToken"], status=200)


def test_honest_parallel_refreshes_all_succeed_with_one_successor(api, session):
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        bodies = list(
            pool.map(lambda _: refresh(api, session["refreshToken"], status=200).json()["tokens"], range(5)))
    for tokens in bodies:
        me(api, tokens, status=200)
    assert len({tokens["refreshToken"] for tokens in bodies}) == 1


def test_a_thousand_parallel_replays_make_one_successor_and_one_row(api, session, database):
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda _: refresh(api, session["refreshToken"], timeout=60), range(1000)))
    # On a machine that takes longer than the grace, the late ones end the session, and count as failed tries of the
    # address; nobody gets another line.
    assert {reply.status_code for reply in replies} <= {200, 401, 429}
    good = [reply.json()["tokens"] for reply in replies if reply.status_code == 200]
    assert len(good) > 20 and len({tokens["refreshToken"] for tokens in good}) == 1
    assert tokens_kept(database, session) == 2
    if len(good) == 1000:
        me(api, good[-1], status=200)
        refresh(api, good[-1]["refreshToken"], status=200)


def test_thief_and_owner_share_one_line_and_the_late_one_ends_it(api, person, database):
    """Both use one token within its grace. What each gets is the same, and is used twice: once in time, once too
    late."""
    stolen, bystander = person.session(), person.session()
    owner = refresh(api, stolen["refreshToken"], status=200).json()["tokens"]
    renew_grace(database, stolen)
    thief = refresh(api, stolen["refreshToken"], status=200).json()["tokens"]
    lapse(database, stolen)
    newest = refresh(api, thief["refreshToken"], status=200).json()["tokens"]
    lapse(database, stolen)
    refresh(api, owner["refreshToken"], status=401, code=REFUSED_REFRESH)
    refresh(api, newest["refreshToken"], status=401, code=REFUSED_REFRESH)
    for tokens in (stolen, owner, thief, newest):
        me(api, tokens, status=401, code="auth.tokenRevoked")
    me(api, bystander, status=200)


def test_a_token_in_its_grace_gives_its_successor_though_that_is_spent(api, session, database):
    second = refresh(api, session["refreshToken"], status=200).json()["tokens"]["refreshToken"]
    third = refresh(api, second, status=200).json()["tokens"]["refreshToken"]
    for _ in range(8):
        renew_grace(database, session)
        assert refresh(api, session["refreshToken"], status=200).json()["tokens"]["refreshToken"] == second
        assert refresh(api, second, status=200).json()["tokens"]["refreshToken"] == third
    assert tokens_kept(database, session) == 3
    refresh(api, third, status=200)


def test_no_refresh_token_lies_in_the_database(api, session, database):
    after = refresh(api, session["refreshToken"], status=200).json()["tokens"]
    rows = database.run("SELECT * FROM identity_refresh WHERE session_id = %s", session_row(database, session))
    assert len(rows) == 2
    for tokens in (session, after):
        text = tokens["refreshToken"]
        for secret in (text.encode(), base64.urlsafe_b64decode(text + "=")):
            assert not any(secret in bytes(value) for row in rows for value in row
                           if isinstance(value, (bytes, bytearray)))


@pytest.mark.slow
def test_a_spent_refresh_token_after_the_grace_ends_the_whole_session(stack, api, person):
    """A worker whose grace is a second checks the token when that second is over by the clock."""
    stolen, bystander = person.session(), person.session()
    after = refresh(api, stolen["refreshToken"], status=200).json()["tokens"]
    newest = refresh(api, after["refreshToken"], status=200).json()["tokens"]
    body = json.dumps({"refreshToken": stolen["refreshToken"]}).encode()
    with system.worker(stack, testing_refresh_grace_seconds=1) as worker:
        time.sleep(1.2)
        answer = worker.call("POST", stack.prefix + "/customers/refresh", body=body, content_type="application/json")
    assert answer.status == 401 and json.loads(answer.body)["code"] in REFUSED_REFRESH, answer
    refresh(api, newest["refreshToken"], status=401, code=REFUSED_REFRESH)
    for tokens in (stolen, after, newest):
        me(api, tokens, status=401, code="auth.tokenRevoked")
    me(api, bystander, status=200)


@pytest.mark.parametrize("spoil", [
    lambda token: token[:-2], lambda token: token + "A", lambda token: token.upper(),
    lambda token: token[::-1], lambda token: "x", lambda token: "A" * len(token), lambda token: token + " "
])
def test_a_spoilt_refresh_token_is_refused_and_spends_nothing(api, session, spoil):
    refresh(api, spoil(session["refreshToken"]), status=401, code="auth.tokenInvalid")
    refresh(api, session["refreshToken"], status=200)


def test_only_refresh_tokens_refresh(api, session):
    for name in ("accessToken", "idToken"):
        refresh(api, session[name], status=401, code="auth.tokenInvalid")


@pytest.mark.parametrize("body, paths", [({}, {"refreshToken"}), ({"refreshToken": 1}, {"refreshToken"}),
                                         ({"refreshToken": None, "x": 1}, {"refreshToken", "x"}),
                                         ({"refreshToken": ""}, {"refreshToken"})])
def test_a_refresh_without_a_token_names_the_path(api, body, paths):
    api.post("/customers/refresh", json=body, status=400, code="request.invalid", paths=paths)


def test_logout_ends_the_session_at_once(api, person):
    ended, other = person.session(), person.session()
    body = api.post("/customers/logout", token=ended["accessToken"], json={}, status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success" and body["message"]
    for _ in range(12):  # Whichever worker answers.
        me(api, ended, status=401, code="auth.tokenRevoked")
    refresh(api, ended["refreshToken"], status=401, code=REFUSED_REFRESH)
    me(api, other, status=200)
    refresh(api, other["refreshToken"], status=200)


def test_logout_revokes_the_access_tokens_of_earlier_refreshes_too(api, session):
    after = refresh(api, session["refreshToken"], status=200).json()["tokens"]
    api.post("/customers/logout", token=after["accessToken"], json={"everywhere": False}, status=200)
    me(api, session, status=401, code="auth.tokenRevoked")
    me(api, after, status=401, code="auth.tokenRevoked")


def test_logout_everywhere_ends_all_sessions_of_the_user_and_no_others(api, person, other):
    sessions = [person.session() for _ in range(4)]
    api.post("/customers/logout", token=sessions[0]["accessToken"], json={"everywhere": True}, status=200)
    for tokens in sessions:
        me(api, tokens, status=401, code="auth.tokenRevoked")
        refresh(api, tokens["refreshToken"], status=401, code=REFUSED_REFRESH)
    other.get("/customers/me", status=200)
    me(api, person.session(), status=200)


def test_logout_with_a_token_that_is_out_already_is_revoked(api, session):
    api.post("/customers/logout", token=session["accessToken"], json={}, status=200)
    api.post("/customers/logout", token=session["accessToken"], json={}, status=401, code="auth.tokenRevoked")


def test_logout_without_a_token_is_refused(api):
    api.post("/customers/logout", json={}, status=401, code="auth.tokenMissing")


@pytest.mark.parametrize("body, paths", [({"everywhere": "yes"}, {"everywhere"}),
                                         ({"everywhere": 1}, {"everywhere"}), ({"all": True}, {"all"})])
def test_a_bad_logout_ends_nothing(api, session, body, paths):
    api.post("/customers/logout",
             token=session["accessToken"],
             json=body,
             status=400,
             code="request.invalid",
             paths=paths)
    me(api, session, status=200)


def test_id_and_refresh_tokens_do_not_open_the_api(api, session):
    for name in ("idToken", "refreshToken"):
        api.get("/customers/me", token=session[name], status=401, code="auth.tokenInvalid")


def test_bodies_of_refused_tokens_are_alike(api, session):
    replies = [
        api.get("/customers/me", token=token, status=401, code="auth.tokenInvalid")
        for token in (session["idToken"], "x", session["accessToken"] + "x")
    ]
    assert len({anonymous(reply) for reply in replies}) == 1


def key_set(api):
    return api.get("/.well-known/jwks.json", status=200).json()


def test_the_key_set_holds_public_rsa_keys_and_nothing_secret(api):
    keys = key_set(api)["keys"]
    assert keys
    for key in keys:
        assert key["kty"] == "RSA" and key["alg"] == "RS256" and key["use"] == "sig" and key["kid"]
        assert not {"d", "p", "q", "dp", "dq", "qi", "oth", "k"} & set(key)
        modulus = int.from_bytes(base64.urlsafe_b64decode(key["n"] + "=="), "big")
        assert modulus.bit_length() >= 2048
    assert len({key["kid"] for key in keys}) == len(keys)


@pytest.mark.parametrize("name, use", [("accessToken", "access"), ("idToken", "id")])
def test_a_token_verifies_against_the_published_key_and_says_what_the_guide_says(
        api, stack, session, name, use):
    token = session[name]
    header = jwt.get_unverified_header(token)
    assert set(header) <= {"alg", "typ", "kid"} and header["alg"] == "RS256" and header.get("typ",
                                                                                            "JWT") == "JWT"
    key = next(jwt.PyJWK(entry) for entry in key_set(api)["keys"] if entry["kid"] == header["kid"])
    found = jwt.decode(token,
                       key.key,
                       algorithms=["RS256"],
                       options={"verify_aud": False, "require": ["iss", "sub", "exp", "iat"]},
                       issuer=stack.base_url)
    assert found["token_use"] == use and found["exp"] - found["iat"] == 900
    assert abs(found["iat"] - time.time()) < 60 and isinstance(found["sub"], str) and found["sub"]
    assert "gatehouse" in (found.get("aud"), found.get("client_id"))


def test_tokens_hold_no_secret(accounts, session, person):
    for name in ("accessToken", "idToken"):
        text = json.dumps(claims(session[name]))
        assert person.password not in text and "password" not in text.lower()


def test_the_id_token_tells_who_the_user_is(session, person):
    found = claims(session["idToken"])
    assert found["email"] == person.email
