# SPDX-License-Identifier: MIT
"""Organisations: what the own one shows and how it is renamed, and how internal staff list, change and disable them."""

import concurrent.futures
import uuid

import pytest

from support import files, samples
from support.accounts import RUN
from support.client import shape
from support.database import key
from support.programs import operator
from support.stack import wait_until

WAITING = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
OWN, ALL = "/customers/organisation", "/customers/organisations"
MEMBERS = [
    "id", "name", "services", "status", "createdAt", "updatedAt", "quotaBytes", "quotaFiles", "usedBytes", "usedFiles",
    "userCount"
]
CARRIERS = ["http://evil.example", "evil.example/x", "a@b.example", "<b>Ltd</b>", "Ltd\\x", "one\ntwo", "\u200b", ""]


def own(account):
    return account.get(OWN, status=200).json()["organisation"]


def change(administrator, organisation, **members):
    """The organisation as the change leaves it."""
    return administrator.patch(f"{ALL}/{organisation}", json=members, status=200).json()["organisation"]


def rows(database, organisation, action):
    """(user_id, target_id, details) of the audit rows of one action in the organisation."""
    return database.run("SELECT user_id, target_id, details FROM audit WHERE organisation_id = %s AND action = %s",
                        key(organisation), action)


def signed_in(accounts, **more):
    account = accounts.customer(**more)
    account.sign_in()
    return account


# ---- the own one ---------------------------------------------------------------------------------------------------


def test_every_reply_with_an_organisation_has_all_members_in_their_order(accounts):
    account = accounts.customer()
    seen = [accounts.sign_up()["organisation"], account.get("/customers/me", status=200).json()["organisation"],
            own(account), *accounts.administrator.get(ALL, status=200).json()["items"]]
    assert all(list(one) == MEMBERS for one in seen)
    assert own(account) == {**account.organisation, "updatedAt": own(account)["updatedAt"]}
    assert (own(account)["quotaBytes"], own(account)["quotaFiles"]) == (None, None)


def test_use_is_what_the_quota_counts_and_people_are_counted(accounts, members):
    account = accounts.customer()
    assert [own(account)[name] for name in MEMBERS[-3:]] == [0, 0, 1]
    data = samples.text()
    record = files.upload(account, data, "one.txt")
    members.waiting(account)
    disabled = members.active(account)
    account.patch(f"{ALL}/users/{disabled.id}", json={"status": "disabled"}, status=200)
    assert [own(account)[name] for name in MEMBERS[-3:]] == [len(data), 1, 3]
    files.archive(account, record["id"], status=200)
    assert [own(account)[name] for name in MEMBERS[-3:]] == [len(data), 1, 3], "archived bytes count as well"
    change(accounts.administrator, account.organisation["id"], quotaBytes=len(data), quotaFiles=1)
    files.send(account, files.form(samples.text(), "two.txt"), status=409, code="quota.exceeded")
    change(accounts.administrator, account.organisation["id"], quotaBytes=None, quotaFiles=2)
    files.upload(account, samples.text(), "two.txt")
    assert own(account)["usedFiles"] == 2 and own(account)["quotaBytes"] is None and own(account)["quotaFiles"] == 2


def test_people_are_counted_exactly_however_they_come_and_go(accounts, database):
    one, two = accounts.customer(), accounts.customer()
    database.move(two.id, one.organisation["id"])
    assert own(one)["userCount"] == 2
    database.move(two.id, two.organisation["id"])
    assert own(one)["userCount"] == 1 and own(two)["userCount"] == 1
    database.run("UPDATE user SET status = 'erased' WHERE id = %s", key(two.id))
    staff = accounts.administrator.get(f"{ALL}/{two.organisation['id']}", status=200).json()["organisation"]
    assert staff["userCount"] == 0
    database.run("UPDATE user SET status = 'active' WHERE id = %s", key(two.id))
    assert own(two)["userCount"] == 1


def test_the_name_is_changed_and_holds_in_every_reply(accounts, database):
    account = accounts.customer()
    reply = account.patch(OWN, json={"name": "Überseehandel & Söhne"}, status=200).json()["organisation"]
    assert reply["name"] == own(account)["name"] == "Überseehandel & Söhne"
    assert reply["updatedAt"] > account.organisation["updatedAt"]
    (user, target, details), = rows(database, account.organisation["id"], "organisation.update")
    assert user == key(account.id) and target == account.organisation["id"] and details == '{"name":true}'


@pytest.mark.parametrize("name", CARRIERS)
def test_a_name_that_signup_refuses_is_refused(owner, name):
    owner.patch(OWN, json={"name": name}, status=400, code="request.invalid", paths=["name"])


@pytest.mark.parametrize("body, paths", [({}, [""]), ({"services": ["logistics"]}, ["services"]),
                                         ({"name": "X", "quotaBytes": None, "status": "active"},
                                          ["quotaBytes", "status"]),
                                         ({"name": 1}, ["name"]), ({"name": None}, ["name"])])
def test_owners_change_nothing_but_the_name(owner, body, paths):
    owner.patch(OWN, json=body, status=400, code="request.invalid", paths=paths)


def test_the_own_organisation_takes_the_permissions_of_the_area(subject, database):
    database.set_grants(subject.id, "cus:org:r")
    assert own(subject)["id"] == subject.organisation["id"]
    subject.patch(OWN, json={"name": "X"}, status=403, code="auth.permission")
    database.set_grants(subject.id, "cus:user:w cus:file:w")
    subject.get(OWN, status=403, code="auth.permission")


# ---- staff: list -----------------------------------------------------------------------------------------------------


def walk(administrator, **filters):
    """All items, page by page."""
    items, cursor = [], None
    while True:
        query = {**filters, **({"cursor": cursor} if cursor else {})}
        page = administrator.get(ALL, params=query, status=200).json()
        items += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return items


def test_the_list_is_searched_filtered_and_in_pages(accounts):
    word = f"Quirk{uuid.uuid4().hex[:8]}"
    made = [accounts.sign_up(organisation={"name": f"{word} {number}% Straße"})["organisation"]["id"]
            for number in range(5)]
    administrator = accounts.administrator
    assert [one["id"] for one in walk(administrator, search=word.upper(), limit=2)] == made
    assert [one["id"] for one in walk(administrator, search=f"{word} 3%")] == [made[3]]
    assert walk(administrator, search=f"{word}_") == []
    change(administrator, made[1], status="disabled")
    assert [one["id"] for one in walk(administrator, search=word, status="disabled", limit=1)] == [made[1]]
    assert [one["id"] for one in walk(administrator, search=word, status="active", limit=3)] == made[:1] + made[2:]


def test_the_list_is_stable_while_organisations_come_and_change(accounts):
    word = f"Steady{uuid.uuid4().hex[:8]}"
    made = [accounts.sign_up(organisation={"name": f"{word} {number}"})["organisation"]["id"] for number in range(6)]
    administrator, seen, cursor = accounts.administrator, [], None
    while True:
        page = administrator.get(ALL, params={"search": word, "limit": 2, **({"cursor": cursor} if cursor else {})},
                                 status=200).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
        change(administrator, seen[0], name=f"{word} renamed {len(seen)}", quotaFiles=len(seen))
        if len(seen) < 6:
            accounts.sign_up(organisation={"name": f"{word} later"})
    assert seen[:6] == made and len(seen) == len(set(seen)) == 8


@pytest.mark.parametrize("query, paths", [({"limit": 0}, ["limit"]), ({"limit": 101}, ["limit"]),
                                          ({"status": "provisioning"}, ["status"]), ({"search": ""}, ["search"]),
                                          ({"cursor": "x"}, ["cursor"]), ({"name": "x"}, ["name"])])
def test_a_bad_query_names_every_path(administrator, query, paths):
    administrator.get(ALL, params=query, status=400, code="request.invalid", paths=paths)


# ---- staff: one ------------------------------------------------------------------------------------------------------


def test_an_unknown_organisation_is_said_to_be_unknown(administrator, database, accounts):
    hidden = accounts.customer()
    database.run("UPDATE organisation SET status = 'provisioning' WHERE id = %s", key(hidden.organisation["id"]))
    try:
        for identity in (str(uuid.uuid4()), hidden.organisation["id"]):
            administrator.get(f"{ALL}/{identity}", status=400, code="organisation.unknown", paths=["id"])
            administrator.patch(f"{ALL}/{identity}", json={"name": "X"}, status=400, code="organisation.unknown",
                                paths=["id"])
    finally:
        database.run("UPDATE organisation SET status = 'active' WHERE id = %s", key(hidden.organisation["id"]))
    administrator.get(f"{ALL}/x", status=400, code="request.invalid", paths=["id"])


@pytest.mark.parametrize("body, paths", [
    ({}, [""]), ({"services": []}, ["services"]), ({"services": ["inventory", "inventory"]}, ["services[1]"]),
    ({"services": ["files"], "status": "provisioning", "name": ""}, ["services[0]", "status", "name"]),
    ({"quotaBytes": -1, "quotaFiles": 1.5}, ["quotaBytes", "quotaFiles"]), ({"quotaBytes": 2**53}, ["quotaBytes"]),
    ({"name": None}, ["name"]), ({"services": None}, ["services"]), ({"id": "x", "usedBytes": 0}, ["id", "usedBytes"])])
def test_a_bad_change_names_every_path(administrator, other, body, paths):
    administrator.patch(f"{ALL}/{other.organisation['id']}", json=body, status=400, code="request.invalid", paths=paths)


def test_a_look_and_a_change_by_staff_are_rows_of_the_organisations_trail(accounts, database):
    account, administrator = accounts.customer(), accounts.administrator
    identity = account.organisation["id"]
    administrator.get(f"{ALL}/{identity}", status=200)
    change(administrator, identity, quotaFiles=7, name="Other")
    crossings = rows(database, identity, "access.crossOrganisation")
    assert len(crossings) == 2 and all(user == key(administrator.id) for user, _, _ in crossings)
    (user, target, details), = rows(database, identity, "organisation.update")
    assert user == key(administrator.id) and target == identity and details == '{"name":true,"quotaFiles":7}'


def roles_of(administrator, identity):
    return administrator.get(f"{ALL}/users/{identity}", status=200).json()["user"]["roles"]


def test_a_service_brings_and_takes_its_role_at_every_owner(accounts, members, database):
    administrator, account = accounts.administrator, accounts.customer()
    identity = account.organisation["id"]
    second = members.active(account, roles=["owner", "inv-manage"])
    plain = members.active(account, roles=["inv-manage"], permissions=["cus:file:r"])
    reply = change(administrator, identity, services=["logistics", "inventory"])
    assert reply["services"] == ["inventory", "logistics"]
    for owner in (account, second):
        assert roles_of(administrator, owner.id) == ["owner", "inv-manage", "log-manage"]
    assert roles_of(administrator, plain.id) == ["inv-manage"]
    change(administrator, identity, services=["logistics"])
    for owner in (account, second):
        assert roles_of(administrator, owner.id) == ["owner", "log-manage"]
    assert roles_of(administrator, plain.id) == ["inv-manage"], "only owners follow the services"
    account.patch(f"{ALL}/users/{second.id}", json={"roles": ["owner"]}, status=200)
    change(administrator, identity, services=["logistics"], quotaFiles=9)
    assert roles_of(administrator, second.id) == ["owner"], "what did not change brings nothing back"
    told = [details for _, target, details in rows(database, identity, "user.update") if target == account.id]
    assert told == ['{"roles":["owner","inv-manage","log-manage"]}', '{"roles":["owner","log-manage"]}']


def test_the_providers_copies_of_all_owners_follow(accounts, members, database, stack):
    if stack.provider != "embedded":
        pytest.skip("the copy of the embedded provider is a row that the test reads")
    account = accounts.customer()
    second = members.active(account, roles=["owner", "inv-manage"])
    change(accounts.administrator, account.organisation["id"], services=["inventory", "logistics"])
    members.await_jobs()
    for owner in (account, second):
        copy, = database.run("SELECT permissions FROM identity_account WHERE id = %s", key(owner.id))
        assert "log:*:w" in copy[0].split(" ")


def test_staff_give_no_service_whose_role_is_more_than_they_hold(accounts, database):
    account = accounts.customer()
    staff = accounts.user_with("cus:org:a", organisation_id=accounts.administrator.organisation["id"])
    path = f"{ALL}/{account.organisation['id']}"
    staff.patch(path, json={"services": ["inventory", "logistics"], "name": "X"}, status=403, code="role.notGrantable",
                paths=["services"])
    assert own(account) == {**account.organisation}
    database.set_grants(staff.id, "cus:org:a log:*:w cus:*:w")
    staff.patch(path, json={"services": ["inventory", "logistics"]}, status=200)


# ---- staff: disabling ------------------------------------------------------------------------------------------------


def test_disabling_ends_every_session_at_once_and_for_good(accounts, members, stack):
    administrator, account = accounts.administrator, signed_in(accounts)
    member = members.active(account)
    waiting = members.waiting(account)
    sessions = [account.session() for _ in range(3)] + [member.session()]
    record = files.upload(account, samples.text(), "linked.txt")
    link = account.post(f"/system/files/{record['id']}/link", status=200).json()["url"]
    staff_link = administrator.post(f"/system/files/{record['id']}/link", status=200).json()["url"]
    for url in (link, staff_link):
        account.api.get(url[len(stack.base_url):], status=200)
    identity = account.organisation["id"]
    assert change(administrator, identity, status="disabled")["status"] == "disabled"
    for tokens in sessions:
        account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
        account.api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    for who in (account, member):
        account.api.post("/customers/login", json={"username": who.email, "password": who.password}, status=401,
                         code="auth.userDisabled")
    for url in (link, staff_link):
        account.api.get(url[len(stack.base_url):], status=403, code="link.invalid")
    assert change(administrator, identity, status="disabled")["status"] == "disabled", "twice is no harm"
    assert change(administrator, identity, status="active")["status"] == "active"
    for tokens in sessions:
        account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
        account.api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]}, status=401)
    account.login()
    account.api.get(link[len(stack.base_url):], status=200)
    waiting.confirm(status=200)


def test_a_session_that_a_crash_left_does_not_come_back(accounts, database):
    """As if the process had died between the status and the sessions."""
    account, administrator = signed_in(accounts), accounts.administrator
    tokens = account.session()
    database.run("UPDATE organisation SET status = 'disabled' WHERE id = %s", key(account.organisation["id"]))
    account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    change(administrator, account.organisation["id"], status="active")
    account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")


def test_no_worker_answers_from_before_the_organisation_was_disabled(accounts):
    account, administrator = signed_in(accounts), accounts.administrator
    stale = 0

    def asking(token):
        return account.api.get("/customers/me", token=token, status={200, 401}).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            token = account.session()["accessToken"]
            assert set(pool.map(asking, [token] * 16)) == {200}
            change(administrator, account.organisation["id"], status="disabled")
            stale += sum(status == 200 for status in pool.map(asking, [token] * 16))
            change(administrator, account.organisation["id"], status="active")
            stale += sum(status == 200 for status in pool.map(asking, [token] * 4))
    assert stale == 0


def test_the_internal_organisation_stays_active(administrator):
    for body in ({"status": "disabled"}, {"status": "disabled", "name": "Gone"}):
        administrator.patch(f"{ALL}/{administrator.organisation['id']}", json=body, status=409,
                            code="organisation.internal")
    assert own(administrator)["status"] == "active" and own(administrator)["name"] != "Gone"


def test_the_operator_does_the_same(accounts, stack, database):
    account = signed_in(accounts)
    identity = account.organisation["id"]
    tokens = account.session()
    operator.run(stack, "organisation", "set", identity, "--name", f"By Hand {RUN}", "--services",
                 "inventory logistics", "--status", "disabled")
    account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    operator.run(stack, "organisation", "set", identity, "--status", "active")
    account.api.get("/customers/me", token=tokens["accessToken"], status=401, code="auth.tokenRevoked")
    account.tokens = None
    seen = own(account)
    assert (seen["name"], seen["services"]) == (f"By Hand {RUN}", ["inventory", "logistics"])
    assert roles_of(accounts.administrator, account.id) == ["owner", "inv-manage", "log-manage"]
    assert [user for user, _, _ in rows(database, identity, "organisation.disable")] == [None]


# ---- who may not -----------------------------------------------------------------------------------------------------

ESCALATIONS = [(patterns, method, path)
               for patterns in ("rwx:*", "cus:*:w cus:org:w", "*:*:w", "cus:user:a cus:file:a sys:audit:a", "inv:org:a",
                                "cus:org:w", "cus:org:r")
               for method, path in (("GET", ALL), ("GET", "{own}"), ("GET", "{foreign}"), ("PATCH", "{own}"),
                                    ("PATCH", "{foreign}"))]


@pytest.mark.parametrize("patterns, method, path", ESCALATIONS)
def test_nothing_but_a_on_the_area_reaches_the_endpoints_of_staff(subject, other, database, patterns, method, path):
    database.set_grants(subject.id, patterns)
    path = path.format(own=f"{ALL}/{subject.organisation['id']}", foreign=f"{ALL}/{other.organisation['id']}")
    body = {} if method == "GET" else {"json": {"status": "disabled", "quotaBytes": None, "services": ["logistics"]}}
    both = "SELECT * FROM organisation WHERE id IN (%s, %s) ORDER BY id", *(key(one.organisation["id"])
                                                                            for one in (subject, other))
    before = database.run(*both)
    reply = subject.api.call(method, path, token=subject.token, status=403, code="auth.permission", **body)
    assert reply.json()["body"]["required"] == "cus:org:a"
    assert database.run(*both) == before


def test_a_foreign_organisation_answers_as_an_unknown_one(owner, other):
    """Byte for byte, to whoever may not see it."""
    for method in ("GET", "PATCH"):
        body = {} if method == "GET" else {"json": {"name": "X"}}
        theirs, unknown = (owner.api.call(method, f"{ALL}/{identity}", token=owner.token, status=403, **body)
                           for identity in (other.organisation["id"], str(uuid.uuid4())))
        assert shape(theirs) == shape(unknown)


def change_meanwhile(database, account, ask, sql, *values):
    """The reply of ask(), which waits for the account's row until the statement has changed that row."""
    connection = database.fresh()
    try:
        connection.begin()
        with connection.cursor() as cursor, concurrent.futures.ThreadPoolExecutor(1) as pool:
            cursor.execute("SELECT 1 FROM user WHERE id = %s FOR UPDATE", (key(account.id), ))
            asked = pool.submit(ask)
            wait_until(lambda: asked.done() or database.run(WAITING), 20, "the request to wait for the row", 0.15)
            assert not asked.done() or asked.result() is None
            cursor.execute(sql, values)
            connection.commit()
            return asked.result()
    finally:
        connection.close()


def test_a_right_that_is_lost_before_the_change_is_written_changes_nothing(accounts, database):
    """The right is read again under lock, in the transaction that writes."""
    account = accounts.customer()
    staff = accounts.user_with("cus:org:a", organisation_id=accounts.administrator.organisation["id"])
    path, token = f"{ALL}/{account.organisation['id']}", staff.token
    change_meanwhile(database, staff, lambda: staff.api.patch(path, token=token, json={"name": "Late"}, status=403,
                                                              code="auth.permission"),
                     "UPDATE user SET permissions = '' WHERE id = %s", key(staff.id))
    assert own(account)["name"] == account.organisation["name"]


def test_who_is_moved_before_the_change_is_written_changes_neither_organisation(accounts, members, database):
    account, other = signed_in(accounts), signed_in(accounts)
    member = members.holding(account, "cus:org:w")
    token = member.token
    change_meanwhile(database, member, lambda: member.api.patch(OWN, token=token, json={"name": "Late"}, status=400,
                                                                code="organisation.unknown"),
                     "UPDATE user SET organisation_id = %s WHERE id = %s", key(other.organisation["id"]),
                     key(member.id))
    assert [own(one)["name"] for one in (account, other)] == [one.organisation["name"] for one in (account, other)]
