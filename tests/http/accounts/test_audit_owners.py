# SPDX-License-Identifier: MIT
"""GET /customers/organisation/audit: owners see what happened in their organisation, and each access of internal staff
to it, with the operation and the reason. X-Reason: how the reason comes, and what is refused."""

import datetime
import json
import uuid

import pytest

from accounts.test_audit_trail import AUDIT, ITEM, UNKNOWN
from support import files
from support.accounts import fresh_email
from support.database import key
from support.members import USERS
from support.programs import system

OWN = "/customers/organisation/audit"
FILES = "/system/files"
CROSSING = "access.crossOrganisation"


def rows(account, **filters):
    """Every row of the account's own organisation that the filters name, all pages."""
    found, cursor = [], None
    while True:
        parameters = {"limit": "100", **filters, **({"cursor": cursor} if cursor else {})}
        body = account.get(OWN, params=parameters, status=200).json()
        found += body["items"]
        cursor = body["nextCursor"]
        if cursor is None:
            return found


def milliseconds(moment):
    return round(datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp() * 1000)


def mark():
    return f"owner-{uuid.uuid4()}"


def test_owners_read_their_own_trail_and_nobody_elses(customer, other, nobody, api):
    identity = mark()
    customer.get(USERS, headers={"X-Request-Id": identity}, status=200)
    mine = rows(customer)
    assert {row["organisationId"] for row in mine} == {customer.organisation["id"]}
    assert {"customer.create", "user.login"} <= {row["action"] for row in mine}
    assert all(set(row) == ITEM for row in mine)
    # By its id a row is found between two moments, so it tells the same time.
    assert all(int(row["id"].replace("-", "")[:12], 16) == milliseconds(row["at"]) for row in mine)
    assert not {row["id"] for row in mine} & {row["id"] for row in rows(other)}
    # What is somebody else's is what is unknown, also as a filter.
    for name, value in (("userId", other.id), ("targetId", other.id), ("targetId", other.organisation["id"]),
                        ("requestId", rows(other)[0]["requestId"]), ("cursor", UNKNOWN)):
        assert rows(customer, **{name: value}) == [], name
    customer.get(f"{OWN}?organisationId={other.organisation['id']}", status=400, code="request.invalid",
                 paths={"organisationId"})
    reply = nobody.get(OWN, status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:audit:r"
    api.get(OWN, status=401, code="auth.tokenMissing")


def test_the_permission_to_read_the_trail_is_enough(members, customer):
    members.holding(customer, "cus:audit:r").get(OWN, status=200)
    members.holding(customer, "cus:*:w").get(OWN, status=200)
    members.holding(customer, "cus:user:a sys:audit:a").get(OWN, status=403, code="auth.permission")


def test_the_new_filters_find_exactly_the_rows_they_name(customer, administrator, members):
    member = members.active(customer)
    identity = mark()
    member.api.post("/customers/login", json={"username": member.email, "password": "not the password"},
                    headers={"X-Request-Id": identity}, status=401)
    member.login()
    everything = rows(customer)
    until = everything[0]["at"]
    for filters in ({"outcome": "failure"}, {"outcome": "success"}, {"targetId": member.id}, {"requestId": identity},
                    {"targetId": member.id, "outcome": "failure"},
                    {"requestId": identity, "action": "user.loginFailed"},
                    {"outcome": "success", "userId": customer.id, "action": "user.create"}):
        wanted = [row for row in everything if all(row[name] == value for name, value in filters.items())]
        wanted = [row for row in wanted if row["at"] < until]
        assert rows(customer, **filters, until=until) == wanted, filters
        # What internal staff find is the same; that they looked is a row more.
        found = administrator.get(AUDIT, params={**filters, "organisationId": customer.organisation["id"],
                                                 "until": until, "limit": "100"}, status=200).json()
        assert found["items"] == wanted, filters
        alone = administrator.get(AUDIT, params={**filters, "limit": "100"}, status=200).json()["items"]
        assert all(row[name] == value for row in alone for name, value in filters.items())


@pytest.mark.parametrize("parameters, paths",
                         [({"outcome": "maybe"}, {"outcome"}), ({"outcome": ""}, {"outcome"}),
                          ({"targetId": ""}, {"targetId"}), ({"targetId": "x" * 65}, {"targetId"}),
                          ({"requestId": "short"}, {"requestId"}), ({"requestId": "x" * 129}, {"requestId"}),
                          ({"outcome": "x", "requestId": "x", "limit": "0", "since": "x"},
                           {"outcome", "requestId", "limit", "since"})])
def test_bad_filters_are_named(owner, administrator, parameters, paths):
    for account, path in ((owner, OWN), (administrator, AUDIT)):
        account.get(path, params=parameters, status=400, code="request.invalid", paths=paths)


def test_a_failed_login_says_why_and_not_what_was_typed(customer, database, members, api):
    member = members.active(customer)
    known, unknown = mark(), mark()
    typed = fresh_email("secret-word")
    api.post("/customers/login", json={"username": member.email, "password": "not the password"},
             headers={"X-Request-Id": known}, status=401)
    api.post("/customers/login", json={"username": typed, "password": "not the password"},
             headers={"X-Request-Id": unknown}, status=401)
    row, = rows(customer, requestId=known)
    assert (row["userId"], row["targetId"], row["outcome"]) == (member.id, member.id, "failure")
    assert row["details"] == {"code": "auth.credentials"}
    found = database.run("SELECT user_id, target_id, organisation_id, details FROM audit WHERE request_id = %s",
                         unknown)
    assert found == ((None, None, None, '{"code":"auth.credentials"}'),)
    assert not database.run("SELECT id FROM audit WHERE details LIKE %s", f"%{typed.split('@', maxsplit=1)[0]}%")
    members.set_status(member.id, "disabled")
    again = mark()
    member.api.post("/customers/login", json={"username": member.email, "password": member.password},
                    headers={"X-Request-Id": again}, status=401)
    assert rows(customer, requestId=again)[0]["details"] == {"code": "auth.userDisabled"}


# ---- internal staff -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def house(accounts, members):
    """A customer with a member and a file."""
    boss = accounts.customer()
    member = members.active(boss)
    return boss, member, files.upload(boss, b"something to read")["id"]


CROSSINGS = {
    "getUser": ("GET", USERS + "/{member}", None),
    "listUsers": ("GET", USERS + "?organisationId={organisation}", None),
    "updateUser": ("PATCH", USERS + "/{member}", {"firstName": "Renamed"}),
    "authorise": ("POST", "/customers/authorise", {"permission": "cus:file:r", "userId": "{member}"}),
    "simulateGrants": ("POST", "/customers/authorise/simulate", {"userId": "{member}", "roles": []}),
    "listUserPermissions": ("GET", USERS + "/{member}/permissions", None),
    "listUserSessions": ("GET", USERS + "/{member}/sessions", None),
    "endUserSession": ("DELETE", USERS + "/{member}/sessions/{session}", None),
    "endUserSessions": ("DELETE", USERS + "/{member}/sessions", None),
    "resendUserInvitation": ("POST", USERS + "/{waiting}/resend", None),
    "unlockUser": ("POST", USERS + "/{member}/unlock", None),
    "adminSetPassword": ("POST", "/customers/admin-set-password", {"username": "{member}", "password": "{password}"}),
    "adminConfirmSignup": ("POST", "/customers/admin-confirm-signup", {"username": "{waiting}"}),
    "eraseUser": ("POST", USERS + "/{gone}/erase", None),
    "getOrganisation": ("GET", "/customers/organisations/{organisation}", None),
    "updateOrganisation": ("PATCH", "/customers/organisations/{organisation}", {"quotaFiles": 1000}),
    "downloadFile": ("GET", FILES + "/{file}", None),
    "getFileInformation": ("GET", FILES + "/{file}/info", None),
    "createFileLink": ("POST", FILES + "/{file}/link", {}),
    "listFileLinks": ("GET", FILES + "/{file}/links", None),
    "revokeFileLink": ("DELETE", FILES + "/{file}/links/{link}", None),
    "updateFile": ("PATCH", FILES + "/{file}", {"tags": ["seen"]}),
    "listFiles": ("GET", FILES + "?organisationId={organisation}", None),
    "archiveFile": ("DELETE", FILES + "/{file}", None),
    "restoreFile": ("POST", FILES + "/{file}/restore", None),
    "archiveFiles": ("POST", FILES + "/archive", {"ids": ["{file}"]}),
    "restoreFiles": ("POST", FILES + "/restore", {"ids": ["{file}"]}),
    "listAuditEntries": ("GET", AUDIT + "?organisationId={organisation}", None),
}
# They take an id, and nobody reaches another organisation with them: one's own sessions, and uploads of one's own.
OWN_ALONE = {"endSession", "getUploadOffset", "continueUpload", "terminateUpload"}


def test_the_table_has_every_access_that_staff_can_make(document):
    """Whatever takes the id of something, of a user or of an organisation."""
    named = set()
    for method, path, operation in document.operations():
        found = [parameter["name"] for parameter in operation.get("parameters", [])]
        if any(name == "organisationId" or name.lower().endswith("id") and f"{{{name}}}" in path for name in found):
            named.add(operation["operationId"])
        assert method != "GET" or "userId" not in found or "organisationId" in found or path == OWN
    assert named - OWN_ALONE <= set(CROSSINGS)
    assert OWN_ALONE <= named and not OWN_ALONE & set(CROSSINGS)


def filled(value, words):
    """The text, or the body, with the words in their places."""
    if isinstance(value, dict):
        return {name: filled(inner, words) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, words) for inner in value]
    return value.format(**words) if isinstance(value, str) else value


def prepared(members, house, operation):
    """What the call of an operation names beside the house itself; the house's file is active or archived for it."""
    boss, _, file = house
    if operation in ("restoreFile", "restoreFiles"):
        boss.delete(f"{FILES}/{file}", status={200, 409})
    else:
        boss.post(f"{FILES}/{file}/restore", status={200, 409})
    if operation in ("resendUserInvitation", "adminConfirmSignup"):
        return {"waiting": members.waiting(boss).id}
    if operation == "eraseUser":
        gone = members.active(boss)
        boss.patch(f"{USERS}/{gone.id}", json={"status": "disabled"}, status=200)
        return {"gone": gone.id}
    if operation == "endUserSession":
        other = members.active(boss)
        other.sign_in()
        return {"member": other.id,
                "session": boss.get(f"{USERS}/{other.id}/sessions", status=200).json()["items"][0]["id"]}
    if operation == "revokeFileLink":
        boss.post(f"{FILES}/{file}/link", json={}, status=200)
        return {"link": boss.get(f"{FILES}/{file}/links", status=200).json()["items"][0]["id"]}
    return {}


@pytest.mark.parametrize("operation", CROSSINGS)
def test_each_access_of_internal_staff_is_told_with_operation_and_reason(house, administrator, accounts, members,
                                                                         operation):
    boss, member, file = house
    method, path, body = CROSSINGS[operation]
    words = {"member": member.id, "organisation": boss.organisation["id"], "file": file,
             "password": f"Correct horse {uuid.uuid4().hex}", **prepared(members, house, operation)}
    accounts.secrets.add(words["password"])
    identity, reason = mark(), "Ticket 4711: Zähler prüfen — 数字"
    arguments = {} if body is None else {"json": filled(body, words)}
    administrator.api.call(method, filled(path, words), token=administrator.token, status=200,
                           headers={"X-Request-Id": identity, "X-Reason": reason.encode()}, **arguments)
    found = rows(boss, requestId=identity)
    crossing = [row for row in found if row["action"] == CROSSING]
    assert [row["details"] for row in crossing] == [{"operation": operation, "reason": reason}], found
    assert crossing[0]["userId"] == administrator.id
    # What was changed is told by a row of its own, of the same request.
    assert {row["userId"] for row in found} == {administrator.id}
    assert len(found) == 1 or method != "GET" or operation == "downloadFile"


def test_a_look_at_all_organisations_is_told_with_operation_and_reason(administrator):
    identity, reason = mark(), "Which customers are there?"
    administrator.get("/customers/organisations", headers={"X-Request-Id": identity, "X-Reason": reason}, status=200)
    row, = rows(administrator, requestId=identity)
    assert (row["action"], row["userId"], row["targetId"]) == (CROSSING, administrator.id, None)
    assert row["details"] == {"operation": "listOrganisations", "reason": reason}


def look(administrator, accept="application/json", **filters):
    """What a look into the whole trail, without an organisation, shows: the organisations, and the look's id."""
    identity = mark()
    reply = administrator.get(AUDIT, params=filters, status=200,
                              headers={"X-Request-Id": identity, "X-Reason": "Ticket 4712", "Accept": accept})
    text = reply.text
    shown = reply.json()["items"] if accept == "application/json" else [json.loads(line) for line in text.splitlines()]
    return [row["organisationId"] for row in shown], identity


def crossings(account, identity):
    """What the organisation is told of that look."""
    found = rows(account, requestId=identity)
    assert {row["action"] for row in found} <= {CROSSING}
    return [(row["userId"], row["targetId"], row["details"]) for row in found]


@pytest.mark.parametrize("name", ["targetId", "userId", "requestId", "since"])
def test_a_look_at_rows_of_an_organisation_that_is_not_named_is_told_once(house, other, administrator, name):
    boss, member, _ = house
    identity = mark()
    for _ in range(3):
        boss.patch(f"{USERS}/{member.id}", json={"firstName": "Seen"}, headers={"X-Request-Id": identity}, status=200)
    latest = rows(boss, requestId=identity)[-1]
    value = {"targetId": member.id, "userId": boss.id, "requestId": identity, "since": latest["at"]}[name]
    shown, seen = look(administrator, **{name: value})
    assert shown.count(boss.organisation["id"]) >= 3
    told = {"operation": "listAuditEntries", "reason": "Ticket 4712"}
    assert crossings(boss, seen) == [(administrator.id, boss.organisation["id"], told)]
    assert other.organisation["id"] in shown or crossings(other, seen) == []
    assert crossings(administrator, seen) == []


def test_an_export_of_many_organisations_is_told_to_each_of_them_once(accounts, administrator, database):
    """More rows than one page of the export has, in turn of two organisations; a third one is behind the last row."""
    bosses = [accounts.customer() for _ in range(3)]
    action, count = "file.damaged", 500
    for number, boss in enumerate(bosses):
        database.run(
            "INSERT INTO audit (id, at, action, organisation_id, outcome) SELECT"
            " UNHEX(CONCAT(LPAD(HEX(%s + 2 * seq), 12, '0'), '7000', 'a000', RIGHT(HEX(%s), 12))),"
            f" '2016-03-01', %s, %s, 'success' FROM seq_1_to_{count if number < 2 else 1}",
            1_456_800_000_000 + (number if number < 2 else -10_000), key(boss.organisation["id"]), action,
            key(boss.organisation["id"]))
    window = {"action": action, "since": "2016-02-28T00:00:00Z", "until": "2016-04-01T00:00:00Z"}
    shown, seen = look(administrator, "application/x-ndjson", **window, limit="100")
    assert len(shown) == 100
    assert [len(crossings(boss, seen)) for boss in bosses] == [1, 1, 0]
    shown, seen = look(administrator, "application/x-ndjson", **window)
    assert [shown.count(boss.organisation["id"]) for boss in bosses] == [count, count, 1]
    assert [len(crossings(boss, seen)) for boss in bosses] == [1, 1, 1]


def test_rows_of_such_looks_are_not_told_again(house, administrator):
    """Else whoever reads the trail regularly would find the last reading, and add to it, each time."""
    boss, member, _ = house
    _, identity = look(administrator, targetId=member.id)
    shown, seen = look(administrator, requestId=identity)
    assert shown == [boss.organisation["id"]] and crossings(boss, seen) == []


def test_without_a_reason_the_row_says_so(house, administrator):
    boss, member, _ = house
    identity = mark()
    administrator.get(f"{USERS}/{member.id}", headers={"X-Request-Id": identity}, status=200)
    row, = rows(boss, requestId=identity)
    assert row["details"] == {"operation": "getUser", "reason": None}


BAD = {"too long": ("x" * 201).encode(), "a zero-width space": "a\u200bb".encode(), "a tab": b"a\tb",
       "a delete": b"a\x7fb",
       "no UTF-8": b"a\xffb", "latin-1": "Zähler".encode("latin-1"), "a mark of direction": "a\u202eb".encode(),
       "a C1 control": "a\u0085b".encode(), "a line separator": "a\u2028b".encode()}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
def test_what_is_no_reason_is_refused(house, administrator, database, value):
    boss, member, _ = house
    identity = mark()
    administrator.get(f"{USERS}/{member.id}", headers={"X-Request-Id": identity, "X-Reason": value}, status=400,
                      code="request.invalid", paths={"X-Reason"})
    assert not database.run("SELECT id FROM audit WHERE request_id = %s AND organisation_id = %s", identity,
                            key(boss.organisation["id"]))
    # It is told beside everything else that is wrong, and after the permission.
    administrator.get(f"{USERS}?limit=0", headers={"X-Reason": value}, status=400, paths={"X-Reason", "limit"})
    boss.get(AUDIT, headers={"X-Reason": value}, status=403, code="auth.permission")


def test_the_longest_reason_is_kept_whole_and_others_may_send_one(house, administrator):
    boss, member, _ = house
    identity, reason = mark(), "ü" * 200
    administrator.get(f"{USERS}/{member.id}", status=200,
                      headers={"X-Request-Id": identity, "X-Reason": reason.encode()})
    assert rows(boss, requestId=identity)[0]["details"]["reason"] == reason
    boss.get(f"{USERS}/{member.id}", headers={"X-Reason": "none of their business"}, status=200)


def test_a_reason_may_be_required(stack, house, administrator, database, nobody):
    boss, member, file = house
    paths = [(f"{USERS}/{member.id}"), f"{USERS}?organisationId={boss.organisation['id']}", f"{FILES}/{file}/info",
             f"{AUDIT}?organisationId={boss.organisation['id']}"]
    everybody = "/customers/organisations"
    with system.worker(stack, service_crossing_reason="required") as worker:
        for path in paths:
            identity = mark()
            answer = worker.call("GET", stack.prefix + path, token=administrator.token,
                                 headers={"X-Request-Id": identity})
            told = json.loads(answer.body)
            assert (answer.status, told["code"]) == (400, "request.invalid"), path
            assert [(one["path"], one["code"]) for one in told["validation"]] == [("X-Reason", "required")]
            assert not database.run("SELECT id FROM audit WHERE request_id = %s", identity)
            answer = worker.call("GET", stack.prefix + path, token=administrator.token,
                                 headers={"X-Request-Id": identity, "X-Reason": "Ticket 1"})
            assert answer.status == 200, path
            assert [row["details"]["reason"] for row in rows(boss, requestId=identity)] == ["Ticket 1"]
        answer = worker.call("GET", stack.prefix + everybody, token=administrator.token)
        assert (answer.status, json.loads(answer.body)["validation"][0]["code"]) == (400, "required")
        answer = worker.call("GET", stack.prefix + everybody, token=administrator.token,
                             headers={"X-Reason": "Ticket 1"})
        assert answer.status == 200
        # Whatever it shows: the answer does not depend on the rows.
        for filters in ("", f"?userId={administrator.id}", f"?targetId={member.id}"):
            answer = worker.call("GET", f"{stack.prefix}{AUDIT}{filters}", token=administrator.token)
            assert (answer.status, json.loads(answer.body)["validation"][0]["code"]) == (400, "required")
        own = f"{stack.prefix}{AUDIT}?organisationId={administrator.organisation['id']}"
        assert worker.call("GET", own, token=administrator.token).status == 200
        # Nobody else has to say anything, and what is unknown stays unknown.
        assert worker.call("GET", stack.prefix + paths[0], token=boss.token).status == 200
        assert worker.call("GET", stack.prefix + USERS, token=administrator.token).status == 200
        assert worker.call("GET", stack.prefix + paths[0], token=nobody.token).status == 403
        answer = worker.call("GET", f"{stack.prefix}{USERS}/{UNKNOWN}", token=administrator.token)
        assert json.loads(answer.body)["code"] == "user.unknown"
        # A change is not made either.
        answer = worker.call("DELETE", f"{stack.prefix}{FILES}/{file}", token=administrator.token)
        assert (answer.status, json.loads(answer.body)["validation"][0]["path"]) == (400, "X-Reason")
    assert database.run("SELECT status FROM file WHERE id = %s", key(file))[0][0] == "active"


def test_a_page_of_a_configured_origin_may_send_the_reason(stack, api):
    reply = api.call("OPTIONS", USERS, headers={"Origin": stack.cors_origins[0], "Access-Control-Request-Method": "GET",
                                                "Access-Control-Request-Headers": "authorization, x-reason"})
    allowed = reply.headers["Access-Control-Allow-Headers"].lower().replace(" ", "").split(",")
    assert "x-reason" in allowed
