# SPDX-License-Identifier: MIT
"""The organisation boundary: what belongs to another organisation is as if it were not there, for everyone
but internal staff."""

import uuid

import pytest

from support import files, samples
from support.client import shape
from support.database import key
from support.runs import timing

WAYS = [("GET", ""), ("HEAD", ""), ("GET", "/info"), ("HEAD", "/info"), ("DELETE", ""),
        ("GET", "?download=1")]


@pytest.fixture(scope="module")
def foreign(other):
    """A file of another organisation: (record, bytes)."""
    data = samples.picture()
    return files.upload(other, data, "secret.png", bucket="images", kind="image", tags=["secret"]), data


@pytest.mark.parametrize("method, tail", WAYS)
def test_a_foreign_id_answers_as_an_unknown_one(owner, foreign, method, tail):
    record, data = foreign
    for headers in ({}, {"Range": "bytes=0-3"}, {"If-None-Match": f'"{record["info"]["hash"]}"'},
                    {"If-Match": '"x"'}):
        theirs = owner.api.call(method,
                                f"/system/files/{record['id']}{tail}",
                                token=owner.token,
                                headers=headers,
                                status=400)
        unknown = owner.api.call(method,
                                 f"/system/files/{uuid.uuid4()}{tail}",
                                 token=owner.token,
                                 headers=headers,
                                 status=400)
        assert shape(theirs) == shape(unknown)
        assert data[:8] not in theirs.content and b"secret" not in theirs.content


def test_an_archived_foreign_id_answers_as_an_unknown_one_too(owner, other):
    record = files.upload(other, samples.text(), "archived.txt")
    files.archive(other, record["id"], status=200)
    for method, tail in WAYS:
        theirs = owner.api.call(method, f"/system/files/{record['id']}{tail}", token=owner.token, status=400)
        assert shape(theirs) == shape(
            owner.api.call(method, f"/system/files/{uuid.uuid4()}{tail}", token=owner.token, status=400))


def test_the_foreign_file_is_untouched_by_all_that(other, foreign):
    record, data = foreign
    assert files.download(other, record["id"], status=200).content == data
    assert record in files.listed(other)


def test_a_foreign_and_an_unknown_id_take_the_same_time(owner, foreign):
    record, _ = foreign

    def ask(identity):
        owner.get(f"/system/files/{identity}/info", status=400)

    timing.take_as_long(lambda: timing.by_chance(100, lambda: ask(record["id"]), lambda: ask(uuid.uuid4())))


@pytest.mark.parametrize(
    "filters",
    [{}, {"status": "all"}, {"tag": "secret"}, {"name": "secret"}, {"bucket": "images"}, {"type": "image"}])
def test_no_list_shows_a_foreign_file(owner, foreign, filters):
    record, _ = foreign
    assert record["id"] not in [item["id"] for item in files.listed(owner, **filters)]


def test_a_foreign_user_in_the_filter_finds_nothing(owner, other, foreign):
    assert files.listed(owner, userId=other.id) == []
    assert files.listed(owner, userId=str(uuid.uuid4())) == []


def test_a_foreign_cursor_opens_nothing(owner, other):
    for _ in range(3):
        files.upload(other, samples.text(), f"{uuid.uuid4()}.txt")
    cursor = other.get("/system/files", params={"limit": 1}, status=200).json()["nextCursor"]
    reply = owner.get("/system/files", params={"cursor": cursor}, status={200, 400})
    if reply.status_code == 200:
        assert all(item["organisationId"] == owner.organisation["id"] for item in reply.json()["items"])


def test_a_foreign_organisation_in_the_query_is_403_and_named(owner, other):
    for identity in (other.organisation["id"], str(uuid.uuid4())):
        reply = owner.get("/system/files",
                          params={"organisationId": identity},
                          status=403,
                          code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:file:a"


@pytest.mark.parametrize("path", ["/customers/organisations/users", "/system/files"])
def test_internal_staff_are_told_of_an_unknown_organisation_and_the_trail_has_no_row_of_it(administrator, database,
                                                                                           path):
    unknown = str(uuid.uuid4())
    for identity in (unknown, "00000000-0000-0000-0000-000000000000"):
        administrator.get(path, params={"organisationId": identity}, status=400, code="organisation.unknown",
                          paths=["organisationId"])
        assert administrator.get("/system/audit", params={"organisationId": identity}, status=200).json()["items"] == []
    assert not database.run("SELECT 1 FROM audit WHERE organisation_id = %s", key(unknown))


def test_ones_own_organisation_in_the_query_is_allowed(owner):
    assert owner.get("/system/files", params={"organisationId": owner.organisation["id"]}, status=200)


def test_the_same_bytes_in_another_organisation_are_no_duplicate(owner, foreign):
    record, data = foreign
    mine = files.upload(owner, data, "secret.png", bucket="images", kind="image")
    assert mine["id"] != record["id"] and mine["organisationId"] == owner.organisation["id"]
    files.archive(owner, mine["id"], status=200)
    files.download(owner, record["id"], status=400, code="file.unknown")


def test_archiving_ones_copy_leaves_the_foreign_one_alone(other, foreign):
    record, data = foreign
    assert files.download(other, record["id"], status=200).content == data


def test_internal_staff_cross_the_boundary(administrator, other, foreign):
    record, data = foreign
    assert files.download(administrator, record["id"], status=200).content == data
    assert files.info(administrator, record["id"]) == record["info"]
    found = files.listed(administrator, organisationId=other.organisation["id"], tag="secret")
    assert found == [record]


def test_holding_a_on_the_area_lifts_the_boundary_and_w_does_not(accounts, foreign, subject, database):
    record, _ = foreign
    for patterns, status in (("cus:file:a", 200), ("cus:*:a", 200), ("*:*:a", 200), ("cus:file:w", 400),
                             ("*:*:w", 400), ("rwx:*", 400), ("cus:file:w cus:org:a",
                                                              400), ("inv:*:a cus:file:w", 400)):
        database.set_grants(subject.id, patterns)
        subject.get(f"/system/files/{record['id']}/info",
                    status=status,
                    code=None if status == 200 else "file.unknown")


def test_every_crossing_is_audited(administrator, foreign, database):
    record, _ = foreign
    sql = "SELECT COUNT(*) FROM audit WHERE action = 'access.crossOrganisation' AND user_id = %s"
    before = database.run(sql, key(administrator.id))[0][0]
    files.info(administrator, record["id"])
    files.download(administrator, record["id"], status=200)
    assert database.run(sql, key(administrator.id))[0][0] >= before + 2


def test_owners_see_their_own_organisation_in_me(owner, other):
    for account in (owner, other):
        body = account.get("/customers/me", status=200).json()
        assert body["organisation"]["id"] == account.organisation["id"] == body["user"]["organisationId"]
