# SPDX-License-Identifier: MIT
"""Rights that are lost while an upload is under way: nothing is stored, whichever right it was and whenever it went."""

import itertools
import os
import threading

import pytest

from support import files, samples
from support.programs import operator
from support.stack import wait_until
from uploads import support_tus as tus

NUMBER = itertools.count()
SIZE = 40_000

# Two hundred losses in all when everything is asked for; the shorter run has two of each kind.
ROUNDS_BETWEEN, ROUNDS_LATE = (15, 14) if os.environ.get("GATEHOUSE_TEST_FULL") else (2, 2)


def binary(identity):
    return identity.replace("-", "")


def used(database, organisation):
    found = database.run("SELECT bytes, files FROM file_usage WHERE organisation_id = UNHEX(%s)", binary(organisation))
    return tuple(map(int, found[0])) if found else (0, 0)


def take_permission(owner, person, database):
    owner.patch(f"/customers/organisations/users/{person.id}", json={"permissions": ["cus:file:r"]}, status=200)


def take_permission_by_sql(owner, person, database):
    database.set_permissions(person.id, "")


def disable_person(owner, person, database):
    owner.patch(f"/customers/organisations/users/{person.id}", json={"status": "disabled"}, status=200)


def disable_by_sql(owner, person, database):
    database.run("UPDATE user SET status = 'disabled' WHERE id = UNHEX(%s)", binary(person.id))


def end_session(owner, person, database):
    owner.delete(f"/customers/organisations/users/{person.id}/sessions", status=200)


def disable_organisation(owner, person, database):
    database.run("UPDATE organisation SET status = 'disabled' WHERE id = UNHEX(%s)",
                 binary(owner.organisation["id"]))


def lower_quota(owner, person, database):
    database.run("UPDATE organisation SET quota_bytes = %s WHERE id = UNHEX(%s)", SIZE - 1,
                 binary(owner.organisation["id"]))


LOSSES = {
    take_permission: {403}, take_permission_by_sql: {403}, disable_person: {401}, disable_by_sql: {401},
    end_session: {401}, disable_organisation: {401}, lower_quota: {409}
}


def give_back(owner, person, database):
    """So that the next upload can begin."""
    organisation = binary(owner.organisation["id"])
    database.run("UPDATE organisation SET status = 'active', quota_bytes = NULL WHERE id = UNHEX(%s)", organisation)
    status, = database.run("SELECT status FROM user WHERE id = UNHEX(%s)", binary(person.id))[0]
    if status == "disabled":
        owner.patch(f"/customers/organisations/users/{person.id}", json={"status": "active"}, status=200)
    database.set_permissions(person.id, "cus:file:w")


def leave(stack, database, person, paths):
    """Every other upload is ended by its person, the rest is left until its time is over."""
    for path in paths[::2]:
        tus.end(person, path)
    for path in paths[1::2]:
        database.run("UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = UNHEX(%s)",
                     binary(path.rsplit("/", 1)[1]))
    operator.run(stack, "uploads", "expire")


def check_nothing_is_left(stack, database, owner, paths):
    """No file, no upload, no bytes, and no room that is taken."""
    organisation = owner.organisation["id"]
    identities = {binary(path.rsplit("/", 1)[1]) for path in paths}

    def kept(table):
        return database.run(f"SELECT 1 FROM {table} WHERE organisation_id = UNHEX(%s)", binary(organisation))

    # The job runner ends uploads as well; those that it has in hand go when it is done.
    wait_until(lambda: not kept("file_upload"), 30, "every upload to end")
    wait_until(lambda: not identities & {path.name for path in (stack.blobs / "partial").glob("*")}, 30,
               "the bytes of the uploads to go")
    assert not kept("file")
    assert used(database, organisation) == (0, 0) and not files.listed(owner)


@pytest.mark.parametrize("loss", list(LOSSES), ids=lambda loss: loss.__name__)
def test_what_is_lost_between_two_pieces_counts_at_the_next(accounts, database, stack, loss):
    owner = accounts.customer()
    person = accounts.user_with("cus:file:w", owner.organisation["id"])
    paths = []
    for _ in range(ROUNDS_BETWEEN):
        data = samples.noise(SIZE)
        path = tus.begin(person, SIZE, meta=tus.metadata(f"lost-{next(NUMBER)}.bin"))
        paths.append(path)
        tus.patch(person, path, 0, data[:SIZE // 2])
        loss(owner, person, database)
        tus.patch(person, path, SIZE // 2, data[SIZE // 2:], status=LOSSES[loss])
        give_back(owner, person, database)
        if LOSSES[loss] == {401}:
            person.tokens = None
    leave(stack, database, person, paths)
    check_nothing_is_left(stack, database, owner, paths)


@pytest.mark.parametrize("loss", list(LOSSES), ids=lambda loss: loss.__name__)
def test_what_is_lost_while_the_last_piece_comes_counts_at_its_end(accounts, database, stack, loss):
    """The piece is under way, its request was allowed before: the check at its end finds the loss."""
    if not tus.streams(stack):
        pytest.skip("mod_fcgid collects a piece before a worker sees it")
    owner = accounts.customer()
    person = accounts.user_with("cus:file:w", owner.organisation["id"])
    paths = []
    for _ in range(ROUNDS_LATE):
        data = samples.noise(SIZE)
        path = tus.begin(person, SIZE, meta=tus.metadata(f"late-{next(NUMBER)}.bin"))
        paths.append(path)
        body = Measured(data, path, database, lambda: loss(owner, person, database))
        tus.patch(person, path, 0, body, status=LOSSES[loss])
        give_back(owner, person, database)
        if LOSSES[loss] == {401}:
            person.tokens = None
    leave(stack, database, person, paths)
    check_nothing_is_left(stack, database, owner, paths)


class Measured:
    """A body of known length that does something in its middle, once its request is allowed and writes the upload."""

    def __init__(self, data, path, database, between):
        self.pieces = [data[:SIZE // 2], data[SIZE // 2:]]
        self.upload = binary(path.rsplit("/", 1)[1])
        self.database = database
        self.between = between
        self.length = len(data)

    def __len__(self):
        return self.length

    def read(self, _size=-1):
        if len(self.pieces) == 1:
            wait_until(self.is_held, 20, "that the first half has come to a worker")
            self.between()
        return self.pieces.pop(0) if self.pieces else b""

    def is_held(self):
        return self.database.run("SELECT 1 FROM file_upload WHERE id = UNHEX(%s) AND holder IS NOT NULL", self.upload)


def test_a_hundred_creations_at_once_take_exactly_the_room_there_is(accounts, database):
    owner = accounts.customer()
    database.run("UPDATE organisation SET quota_bytes = %s WHERE id = UNHEX(%s)", 37 * 1000 + 999,
                 binary(owner.organisation["id"]))
    statuses, token = [], owner.token

    def one():
        reply = owner.api.post("/system/uploads", token=token,
                               headers={**tus.VERSION, "Upload-Length": "1000", "Upload-Metadata": tus.metadata()})
        statuses.append(reply.status_code)

    threads = [threading.Thread(target=one) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] * 37 + [409] * 63
    assert used(database, owner.organisation["id"]) == (37_000, 37)


def test_two_writers_at_once_are_one_after_the_other(accounts, database, stack):
    if not tus.streams(stack):
        pytest.skip("mod_fcgid collects a piece before a worker sees it")
    owner = accounts.customer()
    data = samples.noise(SIZE)
    path = tus.begin(owner, SIZE)
    seen = []
    body = Measured(data, path, database, lambda: seen.append(
        (tus.patch(owner, path, 0, data, status=423, code="upload.locked"), tus.end(owner, path, status=423))))
    identity = tus.patch(owner, path, 0, body).headers["Upload-File-Id"]
    assert seen and files.download(owner, identity, status=200).content == data
