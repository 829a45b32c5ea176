# SPDX-License-Identifier: MIT
"""A provider that is slow, down, broken or lying (faults.json), for each kind of provider, behind nginx with
several workers: no request outlasts its deadline, nobody gets in, no account is lost or half-made, nothing is sent
twice or to another place, and whoever holds a good token notices nothing. Deadlines are those of
docs/identity-providers.md, shortened by [testing], so that the cases wait less."""

import concurrent.futures
import contextlib
import itertools
import json
import pathlib
import threading
import time
import types

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from providers import support_remote as remote
from providers.support_front import Front
from support import mail
from support.client import Api, expect
from support.programs import system
from support.programs.streaming import nginx
from support.stack import wait_until

DATA = json.loads((pathlib.Path(__file__).parent / "faults.json").read_text(encoding="utf-8"))
PASSWORDS = {"admin": "administrator password 1", "owner": "owner's own password 2", "other": "another password 3"}
UNAVAILABLE = {"status": 500, "code": "identityProvider.unavailable"}
# [testing] of the host; nobody can change how long a connection may take.
CONNECT, LOGIN, ADMINISTRATION, REST = 2, 3, 4, 3
TESTING = (f"provider_login_seconds = {LOGIN}\nprovider_admin_seconds = {ADMINISTRATION}\n"
           f"provider_rest_seconds = {REST}\n")
# As many workers of a pool as may be waiting for the provider: all but one.
PLACES = 3
# A loaded machine takes longer for all that is not the provider.
PATIENCE = 120
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
# How each provider's calls can be told.
SIGNS = {
    "cognito": types.SimpleNamespace(login="USER_PASSWORD_AUTH", create="AdminCreateUser", refresh="REFRESH_TOKEN_AUTH",
                                     keys="/keys", answer="RespondToAuthChallenge", change="ChangePassword"),
    "keycloak": types.SimpleNamespace(login="grant_type=password", create="POST /admin/realms/gatehouse/users",
                                      refresh="grant_type=refresh_token", keys="/certs", answer="/reset-password",
                                      change="/reset-password")
}


def bound(seconds):
    """Beyond this a request did not keep to its deadline, however slow the machine is."""
    return 3 * seconds + 15


class Site:
    """The service with its provider behind a front, and short ways to speak to it."""

    def __init__(self, host, provider, front, api):
        self.host, self.provider, self.front, self.api = host, provider, front, api
        self.signs = SIGNS[provider.kind.name]
        self.mailbox = mail.Mailbox(host.folder / "mail")
        self.numbers = itertools.count()

    def post(self, path, status, code=None, **more):
        """The reply, which must be such. Where no fault is to be met, a deadline may still pass on a busy machine: then
        the request is sent again."""
        fault = 500 in (status if isinstance(status, tuple) else (status, ))
        end = time.monotonic() + PATIENCE
        while True:
            reply = self.api.post(path, timeout=PATIENCE, **more)
            late = reply.status_code == 500 and reply.json()["code"] == UNAVAILABLE["code"]
            if fault or not late or time.monotonic() > end:
                expect(reply, status, code)
                return reply
            self.host.forget_failures()

    def login(self, person, **more):
        more = {"status": 200, **more}
        reply = self.post("/customers/login", json={"username": person.email, "password": person.password}, **more)
        return reply.json().get("tokens")

    def me(self, token, **more):
        return self.api.get("/customers/me", token=token, timeout=PATIENCE, **more)

    def refresh(self, token, **more):
        return self.post("/customers/refresh", json={"refreshToken": token}, **more)

    def sign_up(self, email, **more):
        body = {"organisation": {"name": email.partition("@")[0]}, "email": email, "firstName": "Ada",
                "lastName": "Faulty"}
        return self.post("/customers/signup", token=self.admin, json=body, **more)

    def status(self, email):
        """Of the one row with that address."""
        ((found, ), ) = self.host.rows("SELECT status FROM user WHERE email = %s", email)
        return found

    def person(self, name):
        """A customer's owner who has signed in."""
        person = types.SimpleNamespace(email=f"{name}@customer.example", password=PASSWORDS[name])
        person.id = self.sign_up(person.email, status=(200, 201)).json()["user"]["id"]
        self.host.run("jobs", "--once")
        temporary = mail.temporary_password(self.mailbox.wait(person.email))
        body = {"username": person.email, "password": temporary, "newPassword": person.password}
        person.tokens = self.post("/customers/login", json=body, status=200).json()["tokens"]
        return person

    def prepare(self):
        self.admin = self.login(types.SimpleNamespace(email=remote.ADMIN, password=PASSWORDS["admin"]))["accessToken"]
        self.owner, self.other = self.person("owner"), self.person("other")

    @contextlib.contextmanager
    def going_on(self):
        """Meanwhile somebody with a good token works, and is never refused."""
        over, answers = threading.Event(), []

        def work():
            while not over.is_set() or len(answers) < 5:
                answers.append(self.me(self.owner.tokens["accessToken"]).status_code)
                over.wait(0.05)

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            working = pool.submit(work)
            try:
                yield
            finally:
                over.set()
            working.result(PATIENCE)
        assert set(answers) == {200}, answers


@pytest.fixture(scope="module", params=["cognito", "keycloak"])
def site(request, stack, document, tmp_path_factory):
    if stack.web_server != "nginx":
        pytest.skip("what a provider does not depend on the web server; it is looked at behind nginx")
    folder = tmp_path_factory.mktemp("provider")
    with contextlib.ExitStack() as started:
        provider = started.enter_context(remote.pool(remote.KINDS[request.param], folder))
        front = Front(folder, provider.port)
        started.callback(front.close)
        host = started.enter_context(remote.host(stack, provider, PASSWORDS["admin"], front.url, front.authority,
                                                 testing=TESTING))
        facts = types.SimpleNamespace(worker_program=stack.worker_program, configuration=str(host.configuration),
                                      base_url=stack.base_url, as_workers=list)
        workers = started.enter_context(system.worker(facts, count=PLACES + 1))
        logins = started.enter_context(system.worker(facts, count=2, pool="login"))
        moved = started.enter_context(nginx(stack, workers.path, logins.path))
        found = Site(host, provider, front, Api(moved, document))
        found.prepare()
        yield found


@pytest.fixture(autouse=True)
def fresh(site):
    site.host.forget_failures()


def timed(call, *arguments, **more):
    """The reply, and the seconds that it took."""
    began = time.monotonic()
    reply = call(*arguments, **more)
    return reply, time.monotonic() - began


def meet(site, case):
    """A login, a refresh and a creation that meet the fault: the session, the new address, the seconds that each took,
    and how often the provider's side heard of each."""
    email = f"new-{next(site.numbers)}@customer.example"
    session = site.login(site.owner)
    signs, front = site.signs, site.front
    before = {name: front.count(sign) for name, sign in vars(signs).items()}
    with site.going_on(), front.meets(case["fault"]), concurrent.futures.ThreadPoolExecutor(3) as pool:
        login = pool.submit(timed, site.login, site.owner, **UNAVAILABLE)
        refresh = pool.submit(timed, site.refresh, session["refreshToken"], **UNAVAILABLE)
        # The calls of a creation fail as well, and so many failures would keep the other two from being sent.
        wait_until(lambda: all(front.count(getattr(signs, name)) > before[name] or call.done()
                               for name, call in (("login", login), ("refresh", refresh))), 60, "both calls")
        creation = pool.submit(timed, site.sign_up, email, **UNAVAILABLE)
        taken = {"login": login.result()[1], "refresh": refresh.result()[1], "creation": creation.result()[1]}
        came = {name: front.count(sign) - before[name] for name, sign in vars(signs).items()}
    return session, email, taken, came


@pytest.mark.parametrize("case", DATA["faults"], ids=lambda case: case["name"])
def test_a_fault_lets_nobody_in_and_loses_nothing(site, case):
    if case.get("provider", site.provider.kind.name) != site.provider.kind.name:
        pytest.skip("lasts as long as its deadlines; looked at with the other provider")
    trapped = site.front.trapped
    for _ in range(3):
        session, email, taken, came = meet(site, case)
        assert max(came["login"], came["refresh"], came["create"]) <= 1, came
        # On a busy machine our side may not take a connection in time, and nothing was sent: the case is met again.
        if not case["heard"] or not any(came[name] == 0 and taken[name] >= CONNECT for name in ("login", "refresh")):
            break
        site.host.forget_failures()
    connecting = case.get("deadline") == "connect"
    assert taken["login"] < bound(CONNECT if connecting else LOGIN), taken
    assert taken["refresh"] < bound(CONNECT if connecting else LOGIN), taken
    assert taken["creation"] < bound(CONNECT if connecting else ADMINISTRATION), taken
    # What may have been carried out is not sent again; where the other side is not who it says, nothing is sent at all.
    assert came["login"] == came["refresh"] == (1 if case["heard"] else 0), came
    assert came["create"] <= (1 if case["heard"] else 0), came
    assert site.front.trapped == trapped
    assert site.status(email) == "provisioning"

    site.login(site.owner)
    again = site.refresh(session["refreshToken"], status=(200, 401))
    # A provider that rotates its own tokens has spent one whose answer was lost; then a login is due.
    assert again.status_code == 200 or (case.get("done") and site.provider.kind.name == "keycloak"), again.text
    site.sign_up(email, status=(200, 201))
    assert site.status(email) == "awaiting-first-login"


def test_passwords_whose_change_was_not_answered_are_known_all_the_same(site):
    """What sets a password is sent once; whether it was carried out is found out by signing in."""
    email = "lost@customer.example"
    site.sign_up(email, status=(200, 201))
    site.host.run("jobs", "--once")
    temporary = mail.temporary_password(site.mailbox.wait(email))
    person = types.SimpleNamespace(email=email, password=PASSWORDS["owner"])
    for kind, status in (("reset after", 500), ("lost", 200)):
        before = site.front.count(site.signs.answer)
        with site.front.meets({"kind": kind}, only=site.signs.answer):
            body = {"username": email, "password": temporary, "newPassword": person.password}
            reply = site.api.post("/customers/login", json=body, timeout=PATIENCE, status=status)
        assert site.front.count(site.signs.answer) == before + 1
        site.host.forget_failures()
    assert site.status(email) == "active"
    token = reply.json()["tokens"]["accessToken"]
    for kind, status in (("reset after", (500, )), ("lost", (200, 204))):
        before = site.front.count(site.signs.change)
        with site.front.meets({"kind": kind}, only=site.signs.change):
            site.api.post("/customers/change-password", token=token, timeout=PATIENCE, status=status,
                          json={"password": person.password, "newPassword": PASSWORDS["other"]})
        assert site.front.count(site.signs.change) == before + 1
        site.host.forget_failures()
    site.login(person, status=401, code="auth.credentials")
    person.password = PASSWORDS["other"]
    site.login(person)


# ---- lies
# ----------------------------------------------------------------------------------------------------------------


def token_of(answer):
    """The part of a provider's answer that holds the access token, and its name there."""
    if "AuthenticationResult" in answer:
        return answer["AuthenticationResult"], "AccessToken"
    return answer, "access_token"


def forged(site, token, case):
    """A token that says what the case says, and all else as the good one."""
    claims = jwt.decode(token, options={"verify_signature": False})
    claims.update({name: value for name, value in case.get("claims", {}).items() if name in claims})
    claims.update({name: int(time.time()) + seconds for name, seconds in case.get("times", {}).items()})
    if claims["sub"] == "other":
        other = site.host.rows("SELECT provider_subject FROM user WHERE email = %s", site.other.email)[0][0]
        claims["sub"] = other
    header = {"kid": remote.KID, **case.get("header", {})}
    if case.get("key") == "none":
        return jwt.encode(claims, None, "none", headers=header)
    if case.get("key") == "public":
        public = site.provider.key.public_key().public_bytes(serialization.Encoding.PEM,
                                                             serialization.PublicFormat.SubjectPublicKeyInfo)
        # The library refuses a key that is obviously not for this; the attack is that a server takes it.
        signer = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
        signer.prepare_key = lambda key: key
        return _signed({"alg": "HS256", "typ": "JWT", **header}, claims, lambda text: signer.sign(text, public))
    return jwt.encode(claims, STRANGER if case.get("key") == "strange" else site.provider.key, "RS256", headers=header)


def _signed(header, claims, sign):
    parts = [jwt.utils.base64url_encode(json.dumps(part).encode()) for part in (header, claims)]
    text = b".".join(parts)
    return b".".join([text, jwt.utils.base64url_encode(sign(text))]).decode()


@pytest.mark.parametrize("case", DATA["lies"], ids=lambda case: case["name"])
def test_tokens_that_the_provider_hands_out_are_checked(site, case):

    def lie(call, answer):
        if site.signs.login in call:
            part, name = token_of(answer)
            part[name] = forged(site, part[name], case)
        return answer

    sessions = "SELECT COUNT(*) FROM session"
    before = site.host.rows(sessions)
    site.front.rewrite = lie
    try:
        tokens = site.login(site.owner, **({} if case.get("good") else UNAVAILABLE))
    finally:
        site.front.rewrite = None
    if case.get("good"):
        assert site.me(tokens["accessToken"], status=200).json()["user"]["id"] == site.owner.id
    else:
        assert site.host.rows(sessions) == before
    site.login(site.owner)


def test_an_account_is_not_mixed_up_with_another(site):
    """The provider says of a new account that it is one of which somebody else is the user."""
    if site.provider.kind.name != "cognito":
        pytest.skip("Keycloak names a new account by its address, and is asked what is there")
    email = "mixed@customer.example"
    mine = site.host.rows("SELECT provider_subject FROM user WHERE email = %s", site.other.email)[0][0]

    def lie(call, answer):
        if site.signs.create in call:
            answer["User"]["Username"] = mine
        return answer

    site.front.rewrite = lie
    try:
        site.sign_up(email, status=(409, 500))
    finally:
        site.front.rewrite = None
    assert site.host.rows("SELECT email FROM user WHERE provider_subject = %s", mine) == ((site.other.email, ), )
    site.me(site.other.tokens["accessToken"], status=200)
    site.login(site.other)


# ---- the circuit breaker
# -------------------------------------------------------------------------------------------------


def test_a_slow_provider_leaves_workers_free(site):
    sessions = [site.login(site.owner)["refreshToken"] for _ in range(8)]
    site.front.waiting_most = 0
    with site.going_on(), site.front.meets({"kind": "silent"}), concurrent.futures.ThreadPoolExecutor(8) as pool:
        refreshes = [pool.submit(site.refresh, token, **UNAVAILABLE) for token in sessions]
        # Those beyond the places are told at once; one of the others may have come to its deadline by now.
        wait_until(lambda: sum(one.done() for one in refreshes) >= len(refreshes) - PLACES, PATIENCE, "refusals")
        site.front.released.set()
        for one in refreshes:
            one.result(PATIENCE)
    assert 1 <= site.front.waiting_most <= PLACES
    site.host.forget_failures()
    for token in sessions:
        site.refresh(token, status=200)


def test_a_provider_that_fails_is_left_alone_and_tried_again(site):
    if site.provider.kind.name != "cognito":
        pytest.skip("the circuit breaker is the same for all; it stays open as long")
    signs, front = site.signs, site.front
    before = front.count(signs.login)
    with site.going_on():
        with front.meets({"kind": "says", "status": 503, "type": "text/html", "body": "<html></html>"}):
            taken = [timed(site.login, site.owner, **UNAVAILABLE)[1] for _ in range(5)]
            # On a busy machine our side may not take a connection in time, which is a failure, too.
            unheard = sum(seconds >= CONNECT for seconds in taken)
            assert before + 5 - unheard <= front.count(signs.login) <= before + 5, taken
            began = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for one in [pool.submit(site.login, site.owner, **UNAVAILABLE) for _ in range(16)]:
                    one.result(PATIENCE)
            # Nobody but a probe, where the machine is so slow that the rest was over meanwhile.
            assert front.count(signs.login) <= before + 5 + (time.monotonic() - began) // REST
        wait_until(lambda: site.login(site.owner, status=(200, 500)) is not None, PATIENCE,
                   "the circuit breaker to close", pause=0.5)
    for _ in range(3):
        site.login(site.owner)


# ---- keys
# ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", [True, False], ids=["answering", "failing"])
def test_tokens_of_unknown_keys_cost_one_fetch(site, answers):
    site.host.run("cache", "evict", "--prefix", "jwks:")
    wait_until(lambda: site.me(site.owner.tokens["accessToken"], status=(200, 500)).status_code == 200, PATIENCE,
               "the keys")
    claims = jwt.decode(site.owner.tokens["accessToken"], options={"verify_signature": False})
    strange = [jwt.encode(claims, STRANGER, "RS256", headers={"kid": f"unseen-{number}"}) for number in range(200)]
    # Where a set without keys is all there is to get, that does not make the fetches more, and the last good one goes
    # on.
    fault = {"kind": "says", "status": 200, "type": "application/json", "body": '{"keys":[]}'}
    with site.going_on(), contextlib.nullcontext() if answers else site.front.meets(fault, only=site.signs.keys):
        before, began = site.front.count(site.signs.keys), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            for one in [pool.submit(site.me, token, status=401, code="auth.tokenInvalid") for token in strange]:
                one.result(PATIENCE)
        fetched, seconds = site.front.count(site.signs.keys) - before, time.monotonic() - began
    assert fetched <= 1 + seconds // 30, f"{fetched} fetches in {seconds:.0f} s"


def test_a_new_worker_has_keys_though_the_provider_is_down(site):
    site.me(site.owner.tokens["accessToken"], status=200)
    before = site.front.count(site.signs.keys)
    with site.front.meets({"kind": "reset before"}), site.host.worker() as worker:
        for _ in range(3):
            answer = worker.call("GET", site.api.stack.prefix + "/customers/me", token=site.owner.tokens["accessToken"])
            assert answer.status == 200, answer.body
    assert site.front.count(site.signs.keys) == before


def test_without_any_keys_nobody_gets_in(site):
    token = site.owner.tokens["accessToken"]
    with site.front.meets({"kind": "reset before"}):
        site.host.run("cache", "evict", "--prefix", "jwks:")
        wait_until(lambda: site.me(token, status=(200, 500)).status_code == 500, PATIENCE, "the keys to be gone")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for one in [pool.submit(site.me, token, status=(200, 500)) for _ in range(40)]:
                one.result(PATIENCE)
        site.me(token[:-4] + "AAAA", status=(401, 500))
    wait_until(lambda: site.me(token, status=(200, 500)).status_code == 200, PATIENCE, "the keys to be back")


def test_a_logout_holds_at_once_in_every_worker(site):
    first, second = site.login(site.owner), site.login(site.owner)
    for _ in range(20):
        site.me(first["accessToken"], status=200)
    site.api.post("/customers/logout", token=first["accessToken"], json={}, timeout=PATIENCE, status=(200, 204))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(site.me, first["accessToken"], status=401, code="auth.tokenRevoked")
                    for _ in range(40)]:
            one.result(PATIENCE)
    site.me(second["accessToken"], status=200)


def test_retired_keys_stop_and_new_ones_open(site):
    """The provider changes its key; whoever looks after the service need not wait for the next reading."""
    claims = jwt.decode(site.owner.tokens["accessToken"], options={"verify_signature": False})
    old = site.login(site.other)["accessToken"]
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "newer", "use": "sig",
              "alg": "RS256"}
    fault = {"kind": "says", "status": 200, "type": "application/json", "body": json.dumps({"keys": [public]})}
    newer = jwt.encode({**claims, "iat": int(time.time())}, key, "RS256", headers={"kid": "newer"})
    try:
        with site.front.meets(fault, only=site.signs.keys):
            site.host.run("cache", "evict", "--prefix", "jwks:")
            wait_until(lambda: site.me(newer, status=(200, 401)).status_code == 200, PATIENCE, "the new key to open")
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for one in [pool.submit(site.me, newer, status=200) for _ in range(40)]:
                    one.result(PATIENCE)
                for one in [pool.submit(site.me, old, status=401, code="auth.tokenInvalid") for _ in range(40)]:
                    one.result(PATIENCE)
    finally:
        site.host.run("cache", "evict", "--prefix", "jwks:")
    wait_until(lambda: site.me(old, status=(200, 401)).status_code == 200, PATIENCE, "the old key to open again")
