# SPDX-License-Identifier: MIT
"""What is Keycloak's alone, on its own server: calls at the same time, the service account's token, sessions and keys
over there, and what people do in its console. tools/test providers names this file; no other run collects it."""

import base64
import concurrent.futures
import json
import time
import uuid

import pytest

from providers.support_held import Held
from providers.support_realm import Realm
from support import mail, readiness
from support.accounts import fresh_email, fresh_password
from support.client import failing
from support.database import key
from support.members import USERS, body, works
from support.programs import crash
from support.stack import wait_until

AT_ONCE = 6
CERTS = "/protocol/openid-connect/certs"


@pytest.fixture(scope="module")
def realm(stack, database):
    return Realm(stack, database)


def at_once(function, values):
    """The results of calls at the same time."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(function, values))


def login(api, account, password=None, *, status=None, **more):
    """The reply to a login, whatever it says unless a status is given."""
    sent = {"username": account.email, "password": password or account.password, **more}
    return api.post("/customers/login", json=sent, status=status)


def me(api, tokens, status, code=None):
    for _ in range(8):  # Whichever worker answers.
        api.get("/customers/me", token=tokens["accessToken"], status=status, code=code)


def forget_everything(administrator):
    """Every worker reads secrets and keys again, and fetches another token for itself."""
    administrator.post("/system/cache", json={"secrets": True}, status=200)


def is_told(stack, text):
    """Whether a log line of the service holds the text."""
    return text in (stack.logs / "gatehouse.log").read_text(encoding="utf-8", errors="replace")


# ---- at the same time -----------------------------------------------------------------------------------


def test_right_logins_of_one_user_at_the_same_time_all_succeed(api, realm, member):
    before = len(api.repeated)
    replies = at_once(lambda _: login(api, member, status=200), range(24))
    # A login that was sent again may have been carried out before, too late for its answer.
    assert len(replies) <= realm.sessions(member) <= len(replies) + len(api.repeated) - before


def test_of_first_logins_at_the_same_time_one_chooses_the_password(api, accounts):
    invited = accounts.invited()
    chosen = [fresh_password() for _ in range(AT_ONCE)]
    replies = at_once(lambda new: login(api, invited, invited.temporary, newPassword=new), chosen)
    winners = [new for new, reply in zip(chosen, replies) if reply.status_code == 200]
    # 500: who had to wait too long for the others.
    assert len(winners) == 1 and {reply.status_code for reply in replies} <= {200, 400, 401, 429, 500}
    assert [new for new in chosen if login(api, invited, new).status_code == 200] in (winners, [])


def test_of_password_changes_at_the_same_time_one_is_carried_out(api, database, member):
    sessions = [member.session() for _ in range(4)]
    chosen = [fresh_password() for _ in sessions]

    def change(pair):
        sent = {"password": member.password, "newPassword": pair[1]}
        return api.post("/customers/change-password", token=pair[0]["accessToken"], json=sent,
                        status={200, 400, 401, 500})

    replies = at_once(change, list(zip(sessions, chosen)))
    winners = [new for new, reply in zip(chosen, replies) if reply.status_code == 200]
    assert len(winners) == 1
    database.lift_throttles()
    assert [new for new in [member.password, *chosen] if works(member, new)] == winners


def test_changes_of_one_user_at_the_same_time_lose_nothing(stack, database, boss, members, member):
    phones = [f"+4930000{number:03d}" for number in range(8)]

    def change(number):
        sent = {"phone": phones[number // 2]} if number % 2 else {"permissions": [f"inv:part{number}:r"]}
        boss.patch(f"{USERS}/{member.id}", json=sent, status=200)

    at_once(change, range(16))
    members.await_jobs()
    held, user = Held(stack, database).account(member.id), members.user(member.id)
    assert held["permissions"] == set(user["permissions"]) and held["phone"] == user["phone"]
    assert held["enabled"] and held["email_verified"] and works(member)


def test_refreshes_of_one_session_at_the_same_time_all_succeed(api, realm, member):
    tokens = member.session()
    replies = at_once(
        lambda _: api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=200),
        range(AT_ONCE))
    for reply in replies:
        api.get("/customers/me", token=reply.json()["tokens"]["accessToken"], status=200)
    assert realm.sessions(member) == 1


# ---- the service account --------------------------------------------------------------------------------


def set_password(administrator, member, status, code=None):
    """A call that needs the service account."""
    password = fresh_password()
    administrator.post("/customers/admin-set-password", status=status, code=code,
                       json={"username": member.email, "password": password, "permanent": True})
    return password


def revoke_tokens(realm):
    """The tokens that the service account has are not taken any more; those of the next second are."""
    client, now = realm.client(realm.section["admin_client_id"]), int(time.time()) + 1
    realm.ask("PUT", f"/clients/{client['id']}", 204, {**client, "notBefore": now})
    wait_until(lambda: time.time() > now + 1, 10, "the next second")


def test_a_service_account_token_that_is_refused_is_fetched_again(realm, administrator, member):
    for _ in range(8):
        set_password(administrator, member, 200)
    revoke_tokens(realm)
    for _ in range(8):
        password = set_password(administrator, member, 200)
    assert works(member, password)


def test_a_short_lived_service_account_token_is_renewed_in_time(realm, administrator, member):
    client = realm.client(realm.section["admin_client_id"])
    path = f"/clients/{client['id']}"
    attributes = {**client["attributes"], "access.token.lifespan": "5"}
    realm.ask("PUT", path, 204, {**client, "attributes": attributes})
    try:
        forget_everything(administrator)
        until = time.monotonic() + 12
        while time.monotonic() < until:
            password = set_password(administrator, member, 200)
        assert works(member, password)
    finally:
        realm.ask("PUT", path, 204, {**client, "attributes": {**client["attributes"], "access.token.lifespan": ""}})


def test_a_new_secret_of_the_service_account_holds_once_it_is_read(api, realm, administrator, member):
    client = realm.client(realm.section["admin_client_id"])
    file = realm.secrets / "keycloak-admin-client-secret"
    secret = realm.ask("POST", f"/clients/{client['id']}/client-secret", 200).json()["value"]
    try:
        revoke_tokens(realm)
        set_password(administrator, member, 500, "identityProvider.unavailable")
        assert works(member)
    finally:
        file.write_text(secret + "\n", encoding="ascii")
        forget_everything(administrator)
    for _ in range(8):
        password = set_password(administrator, member, 200)
    assert works(member, password)
    readiness.ready(api)


# ---- sessions -------------------------------------------------------------------------------------------


def test_a_session_that_ends_here_ends_there(api, boss, realm, administrator, member):
    first, second = member.session(), member.session()
    assert realm.sessions(member) == 2
    api.post("/customers/logout", token=first["accessToken"], json={}, status=200)
    assert realm.sessions(member) == 1
    member.session()
    api.post("/customers/logout", token=second["accessToken"], json={"everywhere": True}, status=200)
    assert realm.sessions(member) == 0
    member.session()
    boss.patch(f"{USERS}/{member.id}", json={"status": "disabled"}, status=200)
    wait_until(lambda: realm.sessions(member) == 0, mail.PATIENCE_SECONDS,
               "the sessions of a disabled user to end at Keycloak")
    boss.patch(f"{USERS}/{member.id}", json={"status": "active"}, status=200)
    wait_until(lambda: realm.account(member)["enabled"], mail.PATIENCE_SECONDS,
               "the user to be enabled at Keycloak")
    member.session()
    set_password(administrator, member, 200)
    assert realm.sessions(member) == 0


def test_a_changed_password_ends_the_other_sessions_there(api, realm, member):
    kept, other = member.session(), member.session()
    assert realm.grant(member.email, member.password).status_code == 200
    assert realm.sessions(member) == 3
    api.post("/customers/change-password", token=kept["accessToken"], status=200,
             json={"password": member.password, "newPassword": fresh_password()})
    assert realm.sessions(member) == 1
    api.post("/customers/refresh", json={"refreshToken": other["refreshToken"]}, status=401)
    api.post("/customers/refresh", json={"refreshToken": kept["refreshToken"]}, status=200)


def test_no_session_is_left_of_a_login_that_was_not_carried_out(api, realm, member):
    reply = login(api, member, newPassword=fresh_password())
    assert reply.status_code == 400 and failing(reply) == {"newPassword": {"unexpected"}}
    tokens = member.session()
    sent = {"password": member.password, "newPassword": member.password}
    api.post("/customers/change-password", token=tokens["accessToken"], json=sent, status=400)
    api.post("/customers/change-password", token=tokens["accessToken"], status=200,
             json={**sent, "newPassword": fresh_password()})
    assert realm.sessions(member) == 1


def test_a_session_that_is_ended_there_cannot_be_refreshed(api, realm, member):
    tokens = member.session()
    realm.ask("POST", f"/users/{realm.subject(member)}/logout", 204)
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401, code="auth.tokenInvalid")
    me(api, member.session(), 200)


# ---- keys -----------------------------------------------------------------------------------------------


def kid(tokens):
    head = tokens["accessToken"].split(".")[0]
    return json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]


def new_key(realm):
    """Gives the realm another key that signs from now on; returns its component."""
    parent, priority = realm.ask("GET", "", 200).json()["id"], time.time_ns() // 1000000
    config = {"priority": [str(priority)], "keySize": ["2048"], "algorithm": ["RS256"], "active": ["true"],
              "enabled": ["true"]}
    reply = realm.ask("POST", "/components", 201, {
        "name": f"test-{priority}", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
        "parentId": parent, "config": config})
    return reply.headers["Location"].rsplit("/", 1)[1]


def stranger(tokens):
    """A token of a key that nobody has."""
    head, *rest = tokens["accessToken"].split(".")
    said = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    text = json.dumps({**said, "kid": f"stranger-{uuid.uuid4()}"}, separators=(",", ":"))
    return {"accessToken": ".".join([base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode(), *rest])}


def test_a_new_key_of_the_realm_is_fetched_once_and_a_retired_one_stops(api, realm, administrator, member):
    before = member.session()
    me(api, before, 200)
    asked = realm.calls(CERTS)
    forget_everything(administrator)
    me(api, before, 200)
    wait_until(lambda: realm.calls(CERTS) > asked, 20, "the log of the fetch that follows")
    fetched, began = realm.calls(CERTS), time.monotonic()
    retired = new_key(realm)
    middle = member.session()
    assert kid(middle) != kid(before)
    me(api, middle, 200)
    me(api, before, 200)
    for _ in range(20):
        api.get("/customers/me", token=stranger(before)["accessToken"], status=401, code="auth.tokenInvalid")
    assert realm.calls(CERTS) - fetched <= 1 + (time.monotonic() - began) // 30
    forget_everything(administrator)
    me(api, before, 200)
    new_key(realm)
    after = member.session()
    assert len({kid(before), kid(middle), kid(after)}) == 3
    realm.ask("DELETE", f"/components/{retired}", 204)
    forget_everything(administrator)
    me(api, middle, 401, "auth.tokenInvalid")
    me(api, before, 200)
    me(api, after, 200)


# ---- what people do in the console ----------------------------------------------------------------------


def test_another_required_action_keeps_the_user_out_until_it_is_done(api, stack, realm, member):
    tokens = member.session()
    realm.change(member, requiredActions=["CONFIGURE_TOTP"])
    login_reply = login(api, member)
    assert login_reply.status_code == 401 and login_reply.json()["code"] == "auth.userDisabled"
    assert is_told(stack, "CONFIGURE_TOTP")
    assert login(api, member, "not the password").json()["code"] == "auth.credentials"
    me(api, tokens, 200)
    realm.change(member, requiredActions=[])
    assert works(member)


def test_a_user_made_there_by_hand_opens_nothing_here(api, realm, boss, members, administrator):
    address, password = fresh_email("console"), fresh_password()
    made = {"username": address, "email": address, "emailVerified": True, "enabled": True,
            "credentials": [{"type": "password", "value": password, "temporary": False}]}
    subject = realm.ask("POST", "/users", 201, made).headers["Location"].rsplit("/", 1)[1]
    tokens = realm.grant(address, password).json()
    api.get("/customers/me", token=tokens["access_token"], status=401)
    realm.ask("POST", f"/users/{subject}/logout", 204)
    for more in ({}, {"newPassword": fresh_password()}):
        api.post("/customers/login", json={"username": address, "password": password, **more}, status=401,
                 code="auth.credentials")
    assert realm.ask("GET", f"/users/{subject}/sessions", 200).json() == []
    # The address is taken, and the account is nobody's to take over.
    boss.post(USERS, json=body(email=address), status=409, code="user.exists")
    members.await_jobs()
    assert realm.grant(address, password).status_code == 200
    assert not administrator.get(f"{USERS}?search={address}&organisationId={boss.organisation['id']}",
                                 status=200).json()["items"]
    realm.ask("DELETE", f"/users/{subject}", 204)
    boss.post(USERS, json=body(email=address), status=200)


@pytest.mark.parametrize("names_are_addresses", [False, True])
def test_an_address_that_is_changed_there_leaves_the_one_here(api, realm, boss, members, member, names_are_addresses):
    moved, new = fresh_email("moved"), fresh_password()
    realm.ask("PUT", "", 204, {"registrationEmailAsUsername": names_are_addresses})
    try:
        realm.change(member, email=moved)
        assert (realm.account(member)["username"] == moved) == names_are_addresses
        tokens = member.session()
        me(api, tokens, 200)
        assert login(api, member, "not the password").json()["code"] == "auth.credentials"
        for name, status in ((moved, 401), (member.id, 200)):
            api.post("/customers/login", json={"username": name, "password": member.password}, status=status)
        api.post("/customers/change-password", token=tokens["accessToken"], status=200,
                 json={"password": member.password, "newPassword": new})
        assert works(member, new)
        boss.patch(f"{USERS}/{member.id}", json={"phone": "+4930123"}, status=200)
        members.await_jobs()
        held = realm.account(member)
        # What is changed here is brought there with the address, which is the one here.
        assert held["attributes"]["phoneNumber"] == ["+4930123"] and held["email"] == member.email
    finally:
        realm.ask("PUT", "", 204, {"registrationEmailAsUsername": False})


def test_an_invitation_holds_though_the_address_is_changed_there(api, realm, accounts):
    invited, new = accounts.invited(), fresh_password()
    realm.ask("PUT", "", 204, {"registrationEmailAsUsername": True})
    try:
        realm.change(invited, email=fresh_email("moved"))
        assert login(api, invited, "not the password", newPassword=new).status_code == 401
        assert login(api, invited, invited.temporary, newPassword=new).status_code == 200
    finally:
        realm.ask("PUT", "", 204, {"registrationEmailAsUsername": False})


def test_a_login_finishes_what_is_on_its_way_to_the_account(api, stack, database, boss, realm, member):
    realm.change(member, enabled=False)
    with crash.paused_jobs(stack):
        # With nothing on its way, and nothing that has just been there, what the realm says holds.
        database.run("UPDATE outbox SET finished_at = finished_at - INTERVAL 1 MINUTE WHERE user_id = %s",
                     key(member.id))
        assert login(api, member).status_code == 401
        database.run("INSERT INTO outbox (kind, user_id, payload) VALUES ('sync', %s, '')", key(member.id))
        login(api, member, "not the password")
        assert realm.account(member)["enabled"] is True
        realm.ask("PUT", f"/users/{realm.subject(member)}", 204, {**realm.account(member), "enabled": False})
        reply = login(api, member)
        assert reply.status_code == 200, reply.text
        me(api, reply.json()["tokens"], 200)


@pytest.mark.parametrize("path, more", [("/customers/change-email", {"newEmail": None}),
                                        ("/customers/change-password", {"newPassword": None})])
def test_a_password_that_is_asked_for_finishes_what_is_on_its_way(api, stack, database, realm, member, path, more):
    """A provider may know the account by an address that it has only just lost, and then no password is right."""
    fresh = {"newEmail": fresh_email("moved"), "newPassword": fresh_password()}
    sent = {"password": member.password, **{name: fresh[name] for name in more}}
    token = member.token
    realm.change(member, enabled=False)
    with crash.paused_jobs(stack):
        database.run("UPDATE outbox SET finished_at = finished_at - INTERVAL 1 MINUTE WHERE user_id = %s",
                     key(member.id))
        api.post(path, token=token, json=sent, status=400, code="request.invalid", paths=["password"])
        database.run("INSERT INTO outbox (kind, user_id, payload) VALUES ('sync', %s, '')", key(member.id))
        api.post(path, token=token, json=sent, status=200)


def test_who_took_a_users_address_there_does_not_come_in_as_that_user(api, realm, member):
    password = fresh_password()
    made = {"email": member.email, "emailVerified": True, "enabled": True,
            "credentials": [{"type": "password", "value": password, "temporary": False}]}
    realm.ask("PUT", "", 204, {"registrationEmailAsUsername": True})
    try:
        realm.change(member, email=fresh_email("moved"))
        realm.ask("POST", "/users", 201, made)
    finally:
        realm.ask("PUT", "", 204, {"registrationEmailAsUsername": False})
    assert realm.grant(member.email, password).status_code == 200
    for more in ({}, {"newPassword": fresh_password()}):
        assert login(api, member, password, **more).json()["code"] == "identityProvider.unavailable"
    assert works(member)


def test_an_account_that_was_removed_there_is_out(api, realm, administrator, member):
    tokens = member.session()
    realm.ask("DELETE", f"/users/{realm.subject(member)}", 204)
    assert login(api, member).json()["code"] == "auth.credentials"
    reply = administrator.post("/customers/admin-set-password", status=500,
                               json={"username": member.email, "password": fresh_password(), "permanent": True})
    assert reply.json()["message"] == "The identity provider has no account of this user any more."
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401, code="auth.tokenInvalid")
    api.post("/customers/logout", token=tokens["accessToken"], json={}, status=200)
