# SPDX-License-Identifier: MIT
"""A browser's session: the refresh token comes and goes in a cookie, for pages of this service alone; and a client that
does not ask for it sees what it always saw."""

import concurrent.futures
import hashlib
import http.cookies
import json

import pytest

from sessions import browser_attacks
from support.client import anonymous
from support.programs import system
from support.wire import raw

NAME = "gatehouse-refresh"
SAME = {"Sec-Fetch-Site": "same-origin"}
ASKS = {"session": "cookie"}
TOKENS = ["accessToken", "idToken", "refreshToken", "tokenType", "expiresIn"]


def cookie_of(reply):
    """The one cookie that a reply sets: (value, its attributes as sent, in their order)."""
    sent = reply.headers.get("Set-Cookie")
    assert sent is not None, "no cookie was set"
    first, *attributes = sent.split("; ")
    name, _, value = first.partition("=")
    assert name in (NAME, "__Secure-" + NAME)
    http.cookies.SimpleCookie().load(sent)
    return value, attributes


def login(account, **arguments):
    arguments.setdefault("headers", SAME)
    body = {"username": account.email, "password": account.password, **ASKS}
    return account.api.post("/customers/login", json=body, **arguments)


def refresh(api, value, **arguments):
    headers = {**arguments.pop("headers", SAME), "Cookie": f"{NAME}={value}"}
    return api.post("/customers/refresh", json=ASKS, headers=headers, **arguments)


def lapse(database, value, seconds=11):
    """Lets the grace of everything that the cookie's session has spent pass."""
    digest = hashlib.sha256(value.encode()).digest()
    row = database.run("SELECT session_id FROM identity_refresh WHERE token_hash = %s", digest)[0][0]
    database.run("UPDATE identity_refresh SET spent_at = spent_at - INTERVAL %s SECOND WHERE session_id = %s", seconds,
                 bytes(row))


@pytest.fixture(scope="module")
def person(accounts):
    return accounts.customer()


@pytest.fixture()
def browser(person):
    """The value of the cookie and the tokens of a new session."""
    reply = login(person, status=200)
    return cookie_of(reply)[0], reply.json()["tokens"]


# ---- as it should be -------------------------------------------------------------------------------------------------


@pytest.mark.web_server
def test_a_login_gives_the_refresh_token_in_a_cookie_alone(person, stack):
    reply = login(person, status=200)
    tokens = reply.json()["tokens"]
    assert list(tokens) == [name for name in TOKENS if name != "refreshToken"]
    value, attributes = cookie_of(reply)
    assert value not in reply.text and len(value) == 43
    seconds = int(attributes[1].removeprefix("Max-Age="))
    assert 30 * 86400 - 60 < seconds <= 30 * 86400
    assert attributes == [f"Path={stack.prefix}/customers/refresh", f"Max-Age={seconds}", "HttpOnly", "SameSite=Strict"]
    person.api.get("/customers/me", token=tokens["accessToken"], status=200)


@pytest.mark.web_server
def test_a_refresh_takes_the_cookie_and_gives_the_next(api, browser):
    value, _ = browser
    for _ in range(3):
        reply = refresh(api, value, status=200)
        assert list(reply.json()) == ["tokens"] and "refreshToken" not in reply.json()["tokens"]
        after, attributes = cookie_of(reply)
        assert after != value and "HttpOnly" in attributes
        api.get("/customers/me", token=reply.json()["tokens"]["accessToken"], status=200)
        value = after


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8",
                                  "Application/JSON;charset=UTF-8"])
def test_json_is_json_with_parameters(api, browser, kind):
    refresh(api, browser[0], headers={**SAME, "Content-Type": kind}, status=200)


def test_an_origin_of_ours_will_do_where_a_browser_says_nothing_else(api, person, stack):
    for address in (stack.base_url, stack.web_url):
        own = "/".join(address.split("/")[:3])
        value, _ = cookie_of(login(person, headers={"Origin": own}, status=200))
        refresh(api, value, headers={"Origin": own}, status=200)


def test_other_cookies_do_not_matter(api, browser):
    headers = {**SAME, "Cookie": f"a=b; {NAME}={browser[0]}; theme=dark"}
    api.post("/customers/refresh", json=ASKS, headers=headers, status=200)


@pytest.mark.parametrize("base, path", [("https://gatehouse.example.org", "/customers/refresh"),
                                        ("https://gatehouse.example.org/api", "/api/customers/refresh"),
                                        ("http://gatehouse.example.org", "/customers/refresh")])
def test_beyond_this_machine_the_cookie_is_for_https_alone(stack, person, base, path):
    prefix = base.split(".org")[1]
    body = json.dumps({"username": person.email, "password": person.password, **ASKS}).encode()
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": "/".join(base.split("/")[:3])}
    with system.worker(stack, service_base_url=base, service_web_url=base) as worker:
        answer = worker.call("POST", f"{prefix}/customers/login", body=body, content_type="application/json",
                             headers=headers)
        assert answer.status == 200
        first, *attributes = answer.headers["Set-Cookie"].split("; ")
        assert first.startswith(f"__Secure-{NAME}=") and attributes[0] == f"Path={path}"
        assert attributes[2:] == ["HttpOnly", "Secure", "SameSite=Strict"]
        for name, status in ((first, 200), (first.removeprefix("__Secure-"), 401)):
            asked = worker.call("POST", f"{prefix}/customers/refresh", body=b'{"session": "cookie"}',
                                content_type="application/json", headers={**headers, "Cookie": name})
            assert asked.status == status


# ---- the end of it ---------------------------------------------------------------------------------------------------


@pytest.mark.web_server
@pytest.mark.parametrize("body", [{}, {"everywhere": True}])
def test_a_logout_has_the_browser_forget_the_cookie(api, browser, stack, body):
    value, tokens = browser
    reply = api.post("/customers/logout", token=tokens["accessToken"], json=body, status=200)
    assert cookie_of(reply) == ("", [f"Path={stack.prefix}/customers/refresh", "Max-Age=0", "HttpOnly",
                                     "SameSite=Strict"])
    refresh(api, value, status=401)


def test_the_end_of_the_others_keeps_the_cookie(api, browser):
    value, tokens = browser
    reply = api.post("/customers/logout", token=tokens["accessToken"], json={"others": True}, status=200)
    assert "Set-Cookie" not in reply.headers
    refresh(api, value, status=200)


def test_ending_the_current_session_by_its_id_forgets_the_cookie_too(api, browser):
    value, tokens = browser
    items = api.get("/customers/sessions", token=tokens["accessToken"], status=200).json()["items"]
    session = next(item["id"] for item in items if item["current"])
    reply = api.delete(f"/customers/sessions/{session}", token=tokens["accessToken"], status=200)
    assert cookie_of(reply)[0] == ""
    refresh(api, value, status=401)


# ---- replay ----------------------------------------------------------------------------------------------------------


def test_windows_that_refresh_at_once_get_the_same_cookie(api, browser, database):
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        values = {cookie_of(reply)[0] for reply in pool.map(lambda _: refresh(api, browser[0], status=200), range(5))}
    assert len(values) == 1
    refresh(api, values.pop(), status=200)


def test_a_spent_cookie_that_comes_late_ends_the_session(api, browser, database):
    value, tokens = browser
    after, _ = cookie_of(refresh(api, value, status=200))
    lapse(database, value)
    reply = refresh(api, value, status=401, code="auth.tokenRevoked")
    assert "Set-Cookie" not in reply.headers
    refresh(api, after, status=401)
    api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")


def test_a_cookie_is_no_way_round_the_throttle(api, person, database):
    statuses = [refresh(api, "A" * 43, status={401, 429}).status_code for _ in range(35)]
    assert statuses.count(401) == 30 and statuses[-1] == 429
    database.lift_throttles()
    # No cookie is no try at all: every first look at a page comes without one.
    for _ in range(35):
        api.post("/customers/refresh", json=ASKS, headers=SAME, status=401, code="auth.tokenMissing")


# ---- attacks ---------------------------------------------------------------------------------------------------------


def answer_to(stack, request):
    """Status, code, and whether the reply gives anything away."""
    reply = raw.replies(raw.exchange(stack, request.bytes(stack), end=False), (request.method, ))[0]
    body = json.loads(reply.body)
    headers = "\n".join(f"{name}: {value}" for name, value in reply.headers.items()).lower()
    assert "tokens" not in body and "set-cookie" not in headers, reply
    return reply.status, body["code"]


@pytest.mark.web_server
def test_no_attack_gets_uses_or_spends_the_cookie(api, person, other, browser, stack, database):
    value, _ = browser
    attacker = cookie_of(login(other, status=200))[0]
    given = person.session()
    secrets = {"the refresh token of a body": given["refreshToken"], "an access token": given["accessToken"],
               "the refresh token of an attacker's body": other.session()["refreshToken"]}
    rows = [*browser_attacks.attacks(stack, NAME, value, attacker, secrets),
            *browser_attacks.login_attacks(stack, {"username": other.email, "password": other.password})]
    wrong = {}
    for word, request, answers in rows:
        database.lift_throttles()
        got = answer_to(stack, request)
        if got not in answers:
            wrong[word] = got
    assert len(rows) >= 100 and wrong == {}, wrong
    database.lift_throttles()
    for untouched in (value, attacker):
        refresh(api, untouched, status=200)
    for untouched in (given, ):
        api.post("/customers/refresh", json={"refreshToken": untouched["refreshToken"]}, status=200)


def test_a_preflight_of_another_page_is_not_answered(api):
    reply = api.call("OPTIONS", "/customers/refresh", edge=True,
                     headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST",
                              "Access-Control-Request-Headers": "content-type"})
    assert reply.status_code == 405 and "Access-Control-Allow-Origin" not in reply.headers


@pytest.mark.web_server
def test_no_page_of_another_origin_may_send_credentials(api, stack):
    for origin in stack.cors_origins:
        reply = api.post("/customers/refresh", json=ASKS, headers={"Origin": origin}, status=403, code="auth.origin")
        assert "Access-Control-Allow-Credentials" not in reply.headers


def test_the_cookie_is_in_no_log(browser, api, logs, log_start):
    value, _ = browser
    after = cookie_of(refresh(api, value, status=200))[0]
    text = logs.since(log_start)
    assert value not in text and after not in text


# ---- without the member ----------------------------------------------------------------------------------------------


def plain(reply):
    """The names of the headers that belong to a reply as such, and its body."""
    return {name.lower() for name in reply.headers} - {"server", "date", "connection", "transfer-encoding",
                                                       "content-length", "keep-alive"}


def lifetime(stack, tokens):
    """expiresIn. A remote provider counts whole seconds of its own, so one may be over when its answer is here."""
    return tokens["expiresIn"] if stack.provider != "embedded" and 880 < tokens["expiresIn"] < 900 else 900


BEFORE = {"content-type", "x-request-id", "x-api-version", "x-content-type-options", "cache-control"}


@pytest.mark.web_server
@pytest.mark.parametrize("more", [{}, SAME, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                                  {"Cookie": f"{NAME}={'A' * 43}"}])
def test_without_the_member_nothing_has_changed(api, person, stack, more):
    known = BEFORE | ({"vary"} if stack.cors_origins else set())
    credentials = {"username": person.email, "password": person.password}
    reply = api.post("/customers/login", json=credentials, headers=more, status=200)
    body = reply.json()
    assert plain(reply) == known and list(body) == ["tokens", "user"] and list(body["tokens"]) == TOKENS
    assert reply.text.startswith('{"tokens":{"accessToken":"' + body["tokens"]["accessToken"] + '","idToken":"' +
                                 body["tokens"]["idToken"] + '","refreshToken":"' + body["tokens"]["refreshToken"] +
                                 f'","tokenType":"Bearer","expiresIn":{lifetime(stack, body["tokens"])}}},"user":' +
                                 '{"id":')
    reply = api.post("/customers/refresh", json={"refreshToken": body["tokens"]["refreshToken"]}, headers=more,
                     status=200)
    tokens = reply.json()["tokens"]
    assert plain(reply) == known
    assert reply.text == ('{"tokens":{"accessToken":"' + tokens["accessToken"] + '","idToken":"' + tokens["idToken"] +
                          '","refreshToken":"' + tokens["refreshToken"] + '","tokenType":"Bearer","expiresIn":' +
                          f'{lifetime(stack, tokens)}}}}}')
    reply = api.post("/customers/logout", token=tokens["accessToken"], json={}, headers=more, status=200)
    assert plain(reply) == known and reply.text == '{"status":"success","message":"You are signed out."}'


@pytest.mark.parametrize("body, entries", [
    (b"{}", '[{"path":"refreshToken","message":"is missing","code":"required"}]'),
    (b'{"x":1}', '[{"path":"x","message":"is not a member of this object","code":"unknown"},'
     '{"path":"refreshToken","message":"is missing","code":"required"}]'),
    (b'{"refreshToken":1}', '[{"path":"refreshToken","message":"must be a text","code":"type"}]'),
    (b"[]", '[{"path":"","message":"the body must be a JSON object","code":"type"}]'),
])
def test_without_the_member_what_is_wrong_is_said_as_before(api, body, entries):
    reply = api.post("/customers/refresh", data=body, headers={"Content-Type": "application/json"}, status=400)
    assert anonymous(reply).endswith(f'"validation":{entries}}}'.encode())


def test_without_a_body_a_refresh_is_refused_as_before(api):
    api.post("/customers/refresh", status=415, code="request.mediaType")
    api.post("/customers/refresh", data="x", headers={"Content-Type": "text/plain"}, status=415)
