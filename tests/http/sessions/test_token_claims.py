# SPDX-License-Identifier: MIT
"""Claims and header members checked under a key that the service trusts, so that only the claim at fault can
be the reason.

The private half of the service's key is sealed. But public keys stand in the database in the open, and a
retired one goes on verifying: the tests put a public key of their own there, as one retired a moment ago,
and ask a worker of their own that reads the keys at its start. The genuine-looking token that comes first
must open the door, else nothing here would prove anything.
"""

import base64
import json
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from sessions.token_attacks import b64, dumps, duplicated, without
from support.client import check_error
from support.programs import system

LEEWAY = 30


class Forge:
    """Signs whatever is asked with a key that the worker trusts, and shows it to the worker."""

    def __init__(self, worker, prefix, kid, private, claims):
        self.worker = worker
        self.prefix = prefix
        self.kid = kid
        self.private = private
        self.claims = claims

    def token(self, header=None, claims=None):
        """A token; header and claims may be dicts, texts or bytes."""
        header = {"alg": "RS256", "typ": "JWT", "kid": self.kid} if header is None else header
        claims = self.fresh() if claims is None else claims
        text = f"{b64(dumps(header))}.{b64(dumps(claims))}".encode()
        return f"{text.decode()}.{b64(self.private.sign(text, padding.PKCS1v15(), hashes.SHA256()))}"

    def fresh(self, **change):
        """The claims of a genuine token, of this moment, with some changed."""
        now = int(time.time())
        return {**self.claims, "iat": now, "exp": now + 900, **change}

    def show(self, token):
        """Status and error code of a request with this token."""
        answer = self.worker.call("GET", self.prefix + "/customers/me", token=token)
        if answer.status == 200:
            return 200, None
        return answer.status, check_error(answer.status,
                                          answer.headers,
                                          answer.body,
                                          "forged",
                                          sent_token=True)["code"]


def answer_in_time(forge, claims_at, seconds=4):
    """What is answered to a token with claims of a moment near a bound. It says something only if it came before that
    moment was over; else the next token is asked with."""
    for _ in range(20):
        now = int(time.time())
        answer = forge.show(forge.token(claims=claims_at(now)))
        if time.time() < now + seconds:
            return answer
    pytest.fail(f"no token is answered within {seconds} s")


@pytest.fixture(scope="module")
def forge(stack, accounts, database):
    if stack.facts["provider"] != "embedded":
        pytest.skip("only the embedded provider's keys stand in the database")
    account = accounts.customer()
    part = account.token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    private = rsa.generate_private_key(65537, 2048)
    public = private.public_key().public_bytes(serialization.Encoding.PEM,
                                               serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    kid = "test-of-claims"
    database.run(
        "INSERT INTO identity_signing_key (kid, private_key_sealed, public_key, created_at, retired_at) "
        "VALUES (%s, '', %s, UTC_TIMESTAMP(3) - INTERVAL 1 DAY, UTC_TIMESTAMP(3))", kid, public)
    try:
        with system.worker(stack) as worker:
            yield Forge(worker, stack.prefix, kid, private, claims)
    finally:
        database.run("DELETE FROM identity_signing_key WHERE kid = %s", kid)


def test_the_forge_works(forge):
    assert forge.show(forge.token()) == (200, None)


@pytest.mark.parametrize("change",
                         [{"nbf": "now"}, {"aud": ["gatehouse"]}, {"aud": ["other", "gatehouse"]},
                          {"jti": "another"}, {"extra": {"deep": [1, 2]}}, {"custom:permissions": "*:*:a"}],
                         ids=json.dumps)
def test_claims_that_do_no_harm_pass(forge, change):
    change = {name: int(time.time()) if value == "now" else value for name, value in change.items()}
    assert forge.show(forge.token(claims=forge.fresh(**change))) == (200, None)


def test_the_audience_may_stand_in_client_id(forge):
    claims = without(forge.fresh(), "aud")
    assert forge.show(forge.token(claims=dict(claims, client_id="gatehouse"))) == (200, None)
    assert forge.show(forge.token(claims=dict(claims, client_id="other"))) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("seconds, answer", [(-LEEWAY + 5, (200, None)),
                                             (-LEEWAY - 2, (401, "auth.tokenExpired")),
                                             (-86400, (401, "auth.tokenExpired"))])
def test_expiry_has_30_seconds_of_leeway(forge, seconds, answer):
    assert answer_in_time(forge, lambda now: forge.fresh(iat=now - 90000, exp=now + seconds)) == answer


@pytest.mark.parametrize("seconds, answer", [(LEEWAY - 5, (200, None)),
                                             (LEEWAY + 10, (401, "auth.tokenInvalid")),
                                             (86400, (401, "auth.tokenInvalid"))])
@pytest.mark.parametrize("name", ["nbf", "iat"])
def test_a_time_to_come_has_30_seconds_of_leeway(forge, name, seconds, answer):
    assert answer_in_time(forge, lambda now: forge.fresh(**{name: now + seconds})) == answer


BAD_CLAIMS = [{"iss": "https://evil.example"}, {"iss": "+/"}, {"iss": 5}, {"iss": ["x"]}, {"aud": "other"},
              {"aud": []}, {"aud": ["other"]}, {"aud": 5}, {"aud": {"gatehouse": 1}}, {"aud": "Gatehouse"},
              {"aud": "gatehouse "}, {"token_use": "id"}, {"token_use": "refresh"}, {"token_use": "Access"},
              {"token_use": ["access"]}, {"token_use": None}, {"exp": "99999999999"}, {"exp": None},
              {"exp": True}, {"exp": [9e9]}, {"exp": {}}, {"exp": -1}, {"iat": "1"}, {"iat": None},
              {"iat": []}, {"nbf": "1"}, {"nbf": {}}, {"nbf": True}, {"sub": 1}, {"sub": ""}, {"sub": None},
              {"sub": ["x"]}, {"sub": "admin"}, {"sid": 1}, {"sid": None}, {"sid": "x"}]
BAD_TEXTS = {
    "exp over all numbers": '"exp": 1e400', "exp a huge integer": '"exp": 99999999999999999999999',
    "exp with a leading zero": '"exp": 09999999999', "exp a fraction without digits": '"exp": 9999999999.',
    "exp NaN": '"exp": NaN', "exp Infinity": '"exp": Infinity', "exp hexadecimal": '"exp": 0xFFFFFFFFF'
}


@pytest.mark.parametrize("change", BAD_CLAIMS, ids=json.dumps)
def test_a_claim_of_the_wrong_value_or_type_is_refused(forge, change):
    status, code = forge.show(forge.token(claims=forge.fresh(**change)))
    assert (status, code) in ((401, "auth.tokenInvalid"),
                              (401, "auth.tokenExpired")) and (code == "auth.tokenInvalid"
                                                               or change == {"exp": -1})


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=list(BAD_TEXTS))
def test_a_claim_in_bad_json_is_refused(forge, text):
    claims = json.dumps(without(forge.fresh(), "exp"))[:-1] + ", " + text + "}"
    assert forge.show(forge.token(claims=claims)) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "exp", "iat", "token_use", "sid"])
def test_a_missing_claim_is_refused(forge, name):
    assert forge.show(forge.token(claims=without(forge.fresh(), name))) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "exp", "iat", "token_use", "sid", "jti"])
def test_a_claim_that_comes_twice_is_refused(forge, name):
    claims = forge.fresh()
    assert forge.show(forge.token(claims=duplicated(claims, name, claims[name]))) == (401,
                                                                                      "auth.tokenInvalid")
    escaped = json.dumps(claims)[:-1] + f', "\\u{ord(name[0]):04x}{name[1:]}": {json.dumps(claims[name])}}}'
    assert forge.show(forge.token(claims=escaped)) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("wrap", [
    lambda c: [c], lambda c: "text", lambda c: 5, lambda c: "null", lambda c: {},
    lambda c: json.dumps(c) + "x", lambda c: json.dumps(c) + "\0{}", lambda c: json.dumps(c) + json.dumps(c),
    lambda c: b"\xef\xbb\xbf" + json.dumps(c).encode(), lambda c: json.dumps(c)[:-1],
    lambda c: json.dumps(dict(c, x="@")).replace("@", "\\u0000"),
    lambda c: json.dumps(dict(c, x="@")).replace("@", "\\ud800"),
    lambda c: json.dumps(dict(c, x="@")).encode().replace(b"@", b"\xff"),
    lambda c: json.dumps(dict(c, x="@")).encode().replace(b"@", b"\xc0\x80"),
    lambda c: json.dumps(c)[:-1] + ', "x": ' + "[" * 40 + "]" * 40 + "}",
    lambda c: json.dumps(c).replace('"', "'"), lambda c: b""
],
                         ids=range(17))
def test_claims_in_another_form_are_refused(forge, wrap):
    claims = wrap(forge.fresh())
    claims = json.dumps(claims) if isinstance(claims, str) and claims == "text" else claims
    assert forge.show(forge.token(claims=claims)) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize(
    "change",
    [{"typ": "at+jwt"}, {"typ": "jwt"}, {"typ": "JWE"}, {"typ": None}, {"typ": ["JWT"]}, {"typ": ""},
     {"crit": ["exp"]}, {"crit": []}, {"zip": "DEF"}, {"b64": True}, {"b64": False}, {"cty": "JWT"},
     {"jku": "http://127.0.0.1/"}, {"jwk": {}}, {"x5u": "http://127.0.0.1/"}, {"x5c": []}, {"x5t": "x"},
     {"alg": "rs256"}, {"alg": "RS384"}, {"alg": "none"}, {"alg": ["RS256"]}, {"alg": "RS256 "},
     {"nonce": "1"}, {"kid": None}, {"kid": 1}, {"kid": ["test-of-claims"]}, {"kid": "TEST-OF-CLAIMS"},
     {"kid": "test-of-claims "}, {"kid": ""}],
    ids=json.dumps)
def test_a_header_member_that_is_not_alg_typ_kid_as_pinned_is_refused(forge, change):
    header = {"alg": "RS256", "typ": "JWT", "kid": forge.kid, **change}
    assert forge.show(forge.token(header=header)) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("name", ["alg", "kid"])
def test_a_missing_header_member_is_refused(forge, name):
    header = without({"alg": "RS256", "typ": "JWT", "kid": forge.kid}, name)
    assert forge.show(forge.token(header=header)) == (401, "auth.tokenInvalid")


@pytest.mark.parametrize("name", ["alg", "typ", "kid"])
def test_a_header_member_that_comes_twice_is_refused(forge, name):
    header = {"alg": "RS256", "typ": "JWT", "kid": forge.kid}
    assert forge.show(forge.token(header=duplicated(header, name, header[name]))) == (401,
                                                                                      "auth.tokenInvalid")


def test_a_genuine_token_of_an_unknown_user_or_session_is_refused(forge):
    for change in ({"sub": "01890000-0000-7000-8000-000000000000"},
                   {"sid": "01890000-0000-7000-8000-000000000000"}):
        status, code = forge.show(forge.token(claims=forge.fresh(**change)))
        assert status == 401 and code in ("auth.tokenInvalid", "auth.tokenRevoked")


def test_a_session_of_another_user_is_refused(forge, accounts):
    other = accounts.customer()
    assert forge.show(forge.token(claims=forge.fresh(sub=other.id)))[0] == 401


def test_a_token_over_8_kib_is_refused_though_its_signature_holds(forge):
    assert forge.show(forge.token(claims=forge.fresh(x="y" * 4000))) == (200, None)
    assert forge.show(forge.token(claims=forge.fresh(x="y" * 7000))) == (401, "auth.tokenInvalid")
