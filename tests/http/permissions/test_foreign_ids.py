# SPDX-License-Identifier: MIT
"""An id of another organisation is answered as an unknown one by every endpoint that takes ids: the same bytes but for
the request's id, the same time, and nothing is touched. The table has each endpoint of the document that takes an
id."""

import base64
import dataclasses
import re
import uuid

import pytest

from support import files, samples
from support.client import shape
from support.database import key
from support.members import USERS
from support.runs import timing

PAIRS = 100
NIL = "00000000-0000-0000-0000-000000000000"
TUS = {"Tus-Resumable": "1.0.0"}
# Nobody but internal staff may call these; what they may name is every organisation's.
STAFF = {"getOrganisation", "updateOrganisation"}


@dataclasses.dataclass(frozen=True)
class Probe:
    """One question about an id. `kind` is what the id is of: user, session, file, link, upload."""

    operation: str
    call: str
    kind: str
    body: object = None
    headers: dict = None
    ends: bool = False  # a success would be the end of what is asked about
    status: int = 400

    @property
    def name(self):
        return f"{self.operation} {self.kind}{' ' + str(sorted(self.headers)) if self.headers else ''}"


PROBES = [
    Probe("getUser", f"GET {USERS}/{{id}}", "user"),
    Probe("getUser", f"GET {USERS}/{{id}}", "user", headers={"X-Reason": "ticket 4711"}),
    Probe("updateUser", f"PATCH {USERS}/{{id}}", "user", {"firstName": "Mine"}),
    Probe("updateUser", f"PATCH {USERS}/{{id}}", "user", {"status": "disabled", "roles": []}),
    Probe("listUserPermissions", f"GET {USERS}/{{id}}/permissions", "user"),
    Probe("simulateGrants", "POST /customers/authorise/simulate", "user", {"userId": "{id}", "roles": []}),
    Probe("authorise", "POST /customers/authorise", "user", {"userId": "{id}", "permission": "cus:file:r"}),
    Probe("authorise", "POST /customers/authorise", "user", {"userId": "{id}", "permissions": ["cus:file:r"] * 3}),
    Probe("resendUserInvitation", f"POST {USERS}/{{id}}/resend", "user"),
    Probe("unlockUser", f"POST {USERS}/{{id}}/unlock", "user"),
    Probe("eraseUser", f"POST {USERS}/{{id}}/erase", "user"),
    Probe("listUserSessions", f"GET {USERS}/{{id}}/sessions", "user"),
    Probe("endUserSessions", f"DELETE {USERS}/{{id}}/sessions", "user"),
    Probe("endUserSession", f"DELETE {USERS}/{{id}}/sessions/{{session}}", "user"),
    Probe("endUserSession", f"DELETE {USERS}/{{self}}/sessions/{{id}}", "session"),
    Probe("endSession", "DELETE /customers/sessions/{id}", "session"),
    Probe("downloadFile", "GET /system/files/{id}", "file"),
    Probe("getFileInformation", "GET /system/files/{id}/info", "file"),
    Probe("archiveFile", "DELETE /system/files/{id}", "file"),
    Probe("updateFile", "PATCH /system/files/{id}", "file", {"name": "mine.txt"}),
    Probe("restoreFile", "POST /system/files/{id}/restore", "file"),
    Probe("createFileLink", "POST /system/files/{id}/link", "file", {"expiresIn": 60}),
    Probe("archiveFiles", "POST /system/files/archive", "file", {"ids": ["{id}"]}),
    Probe("restoreFiles", "POST /system/files/restore", "file", {"ids": ["{id}"]}),
    Probe("listFileLinks", "GET /system/files/{id}/links", "file"),
    Probe("revokeFileLink", "DELETE /system/files/{id}/links/{link}", "file"),
    Probe("revokeFileLink", "DELETE /system/files/{own}/links/{id}", "link"),
    Probe("getUploadOffset", "HEAD /system/uploads/{id}", "upload", headers=TUS, status=404),
    Probe("continueUpload", "PATCH /system/uploads/{id}", "upload", headers={
        **TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}, status=404),
    Probe("terminateUpload", "DELETE /system/uploads/{id}", "upload", headers=TUS, status=404),
]


class Ground:
    """What is asked about, in another organisation, and the rows that must stay."""

    def __init__(self, database, owner, other):
        self.database, self.owner, self.other = database, owner, other
        self.file = files.upload(other, samples.text(), "theirs.txt")["id"]
        self.own = files.upload(owner, samples.text(), "ours.txt")["id"]
        other.post(f"/system/files/{self.file}/link", json={"expiresIn": 3600}, status=200)
        session = database.run("SELECT id FROM session WHERE user_id = %s AND ended_at IS NULL", key(other.id))[0][0]
        self.ids = {"user": other.id, "file": self.file, "session": str(uuid.UUID(bytes=session)),
                    "link": self.link() or str(uuid.uuid4()), "upload": self.upload()}

    def link(self):
        """The id of a link of the other organisation, where links have ids."""
        if "file_link" not in self.database.tables():
            return None
        rows = self.database.run("SELECT id FROM file_link WHERE file_id = %s", key(self.file))
        return str(uuid.UUID(bytes=rows[0][0]))

    def upload(self):
        """The id of an upload of the other organisation that has begun."""
        named = ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in (
            ("bucket", "files"), ("type", "misc"), ("filename", "theirs.txt")))
        reply = self.other.post("/system/uploads", status=201, headers={
            **TUS, "Upload-Length": "1000", "Upload-Metadata": named})
        return reply.headers["Location"].rpartition("/")[2]

    def ask(self, probe, identity):
        marks = {"{id}": identity, "{self}": self.owner.id, "{own}": self.own, "{session}": self.ids["session"],
                 "{link}": self.ids["link"]}

        def fill(value):
            if isinstance(value, str):
                for mark, one in marks.items():
                    value = value.replace(mark, one)
                return value
            if isinstance(value, list):
                return [fill(one) for one in value]
            return {name: fill(one) for name, one in value.items()} if isinstance(value, dict) else value
        method, path = fill(probe.call).split(" ")
        arguments = {} if probe.body is None else {"json": fill(probe.body)}
        return self.owner.api.call(method, path, token=self.owner.token, headers=probe.headers, **arguments)

    def rows(self):
        """Everything of the other organisation that a probe may not touch."""
        return [self.database.run(sql, identity) for sql, identity in (
            ("SELECT * FROM `user` WHERE id = %s", key(self.other.id)),
            ("SELECT role_id FROM user_role WHERE user_id = %s ORDER BY role_id", key(self.other.id)),
            ("SELECT id, ended_at FROM session WHERE user_id = %s ORDER BY id", key(self.other.id)),
            ("SELECT * FROM file WHERE id = %s", key(self.file)),
            ("SELECT received, expires_at FROM file_upload WHERE id = %s", key(self.ids["upload"])),
            ("SELECT COUNT(*) FROM audit WHERE organisation_id = %s", key(self.other.organisation["id"])))]


@pytest.fixture(scope="module")
def ground(database, owner, other):
    owner.sign_in()
    other.sign_in()
    return Ground(database, owner, other)


def there(document, probe):
    """Skips what the service does not have."""
    method, path = probe.call.split(" ")
    if document.operation(method, re.sub(r"\{[^}]+\}", "x", path)) is None:
        pytest.skip("the service has no such endpoint")


def test_the_table_has_every_endpoint_that_takes_an_id(document):
    named = {re.sub(r"\{[^}]+\}", "{}", probe.call) for probe in PROBES}
    for method, template, operation in document.operations():
        if re.search(r"\{(?!token)", template) and operation["operationId"] not in STAFF:
            call = re.sub(r"\{[^}]+\}", "{}", f"{method} {template}")
            assert call in named, f"{operation['operationId']} takes an id and is not in the table"


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_a_foreign_id_is_answered_as_an_unknown_one(document, ground, probe):
    there(document, probe)
    before = ground.rows()
    foreign, unknown = (ground.ask(probe, identity) for identity in (ground.ids[probe.kind], str(uuid.uuid4())))
    assert foreign.status_code == probe.status, foreign.text
    assert shape(foreign) == shape(unknown)
    assert ground.rows() == before


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_the_nil_id_is_answered_as_an_unknown_one(document, ground, probe):
    there(document, probe)
    if probe.operation in {"archiveFiles", "restoreFiles"}:
        pytest.skip("refuses the form of the nil id, see test_bulk.py")
    session = ground.owner.session()
    nil, unknown = (ground.ask(probe, identity) for identity in (NIL, str(uuid.uuid4())))
    assert nil.status_code == probe.status, nil.text
    assert shape(nil) == shape(unknown)
    ground.owner.api.get("/customers/me", token=session["accessToken"], status=200)


@pytest.mark.parametrize("query", [
    "/system/files?userId={id}", "/customers/organisation/audit?userId={id}", "/system/audit?userId={id}",
    "/system/audit?organisationId={id}", f"{USERS}?organisationId={{id}}", "/system/files?organisationId={id}"])
def test_the_nil_id_is_a_filter_as_an_unknown_one_is(ground, administrator, query):
    caller = ground.owner if "userId" in query and "/system/audit" not in query else administrator
    nil, unknown = (caller.get(query.replace("{id}", identity)) for identity in (NIL, str(uuid.uuid4())))
    assert shape(nil) == shape(unknown)
    assert nil.status_code in {200, 400} and nil.json().get("items", []) == []


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_no_organisation_has_the_nil_id(administrator, method):
    body = {"json": {"name": "Nobody"}} if method == "PATCH" else {}
    administrator.api.call(method, f"/customers/organisations/{NIL}", token=administrator.token, status=400,
                           code="organisation.unknown", **body)


@pytest.mark.alone
@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_a_foreign_id_takes_the_time_of_an_unknown_one(document, ground, probe):
    there(document, probe)

    def ask(identity):
        assert ground.ask(probe, identity).status_code == probe.status

    def one_round():
        ground.owner.sign_in()
        return timing.by_chance(PAIRS, lambda: ask(ground.ids[probe.kind]), lambda: ask(str(uuid.uuid4())))

    timing.take_as_long(one_round)
