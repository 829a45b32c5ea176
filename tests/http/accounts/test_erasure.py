# SPDX-License-Identifier: MIT
"""A person is erased: nothing personal is left, files and ids stay, and whatever is killed when, it is finished."""

import base64
import hashlib
import itertools
import random
import uuid

import pytest

from support import files, members as team, samples
from support.accounts import fresh_password
from support.client import shape
from support.database import key
from support.email_changes import ask, changed
from support.members import USERS
from support.programs import crash
from support.runs.effort import cases
from support.stack import wait_until
from uploads import support_tus as tus

MOST = 160
NUMBER = itertools.count(100)


def erase(account, identity, **expected):
    return account.post(f"{USERS}/{identity}/erase", **expected)


def disable(account, identity):
    account.patch(f"{USERS}/{identity}", json={"status": "disabled"}, status=200)


def unusual():
    """Values that nobody else has, as a creation sends them."""
    word = uuid.uuid4().hex[:10]
    return {"email": f"Zwölf.{word}@quälend-{word}.example", "firstName": f"Żwirek{word}", "lastName": f"Öçö {word}",
            "phone": f"+4479{int(word, 16) % 10**8:08d}{next(NUMBER)}"}


def needles(person):
    """The texts and digests by which the person could be found, in lower case."""
    word = person["firstName"].lower().removeprefix("żwirek")
    address = f"zwölf.{word}@xn--qulend-{word}-"  # how it begins in punycode; the whole of it holds the word
    plain = {word, person["phone"][1:], person["phone"][3:], f"zwölf.{word}", address}
    texts = {text.encode() for text in plain} | {text.encode("utf-16-be") for text in plain}
    keys = {person["email"].lower().encode()}
    keys |= {f"zwölf.{word}@".encode() + f"quälend-{word}.example".encode("idna")}
    for one in tuple(keys):
        inner = hashlib.sha256(one).digest()
        texts |= {inner, hashlib.sha256(b"gatehouse throttle n" + inner).digest(), hashlib.md5(one).digest(),
                  hashlib.sha256(one).hexdigest().encode(), one.hex().encode()}
    return texts


def found(values, wanted):
    """Which of them stand in the values of a table's rows or in the bytes of a file."""
    data = b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in values)
    folded = data.decode("utf-8", "replace").lower().encode()
    return {needle for needle in wanted if needle in data or needle in folded}


def everywhere(database, wanted):
    """{table: needles} over every column of every table."""
    seen = {}
    for table in database.tables():
        rows = database.run(f"SELECT * FROM `{table}`")
        hits = found([value for row in rows for value in row if value is not None], wanted)
        if hits:
            seen[table] = hits
    return seen


def live(members, boss):
    """A member with all that a person can have; returns (account, what was sent, the record of a file)."""
    person = unusual()
    for _ in range(2):  # counted under the name, which nobody has yet
        sent = {"username": person["email"], "password": "not the password"}
        members.api.post("/customers/login", json=sent, status=401)
    member = members.waiting(boss, **person, roles=["inv-manage"], permissions=["cus:file:w"])
    member.confirm(status=200)
    member.sign_in()
    member.session()
    record = files.upload(member, samples.text(), "kept.txt")
    member.post(f"/system/files/{record['id']}/link", status=200)
    members.fail_logins(member.email, 1)
    members.reset_code(member)
    members.database.run("UPDATE user SET locale = 'de-CH' WHERE id = %s", key(member.id))
    return member, person, record


@pytest.fixture(scope="module")
def lived(members, boss):
    return live(members, boss)


# ---- nothing is left -------------------------------------------------------------------------------------------------


def test_nothing_of_the_person_is_left_anywhere(members, boss, database, logs, stack, mailbox):
    member, person, record = live(members, boss)
    words = [uuid.uuid4().hex[:10] for _ in range(3)]
    sent = {"username": member.email, "password": member.password, "deviceMark": ""}
    members.api.post("/customers/login", json=sent, headers={"User-Agent": f"Browser {words[0]}"}, status=200)
    database.run("UPDATE user SET locale = 'en-GB' WHERE id = %s", key(member.id))  # what finds the codes reads English
    changed(members, member, f"later.{words[1]}@example.com")
    ask(member, f"latest.{words[2]}@example.com", status=200)
    wanted = needles(person) | {word.encode() for word in words}
    seen = everywhere(database, wanted)
    assert {"user", "throttle", "email_change", "session"} <= set(seen), "the scan sees what is there"
    if stack.provider == "embedded":
        assert "identity_account" in seen
    members.await_jobs()
    with crash.paused_jobs(stack):
        member.post("/customers/change-password", json={"password": member.password, "newPassword": fresh_password()},
                    status=200)
        members.api.post("/customers/forgotten-password", json={"username": member.email}, status=200)
        letters = len(mailbox.messages(member.email))
        disable(boss, member.id)
        assert database.run("SELECT 1 FROM outbox WHERE user_id = %s AND kind = 'mail'", key(member.id))
        mark = logs.mark()
        erase(boss, member.id, status=200)
        assert everywhere(database, wanted) == {}
    members.await_jobs()
    assert everywhere(database, wanted) == {}
    assert len(mailbox.messages(member.email)) == letters, "a mail that was not sent stays unsent"
    for table in ("session", "code", "mail_allowance", "outbox", "user_role", "outside_account", "outside_intent",
                  "email_change", "known_device", "permission_use"):
        assert not database.run(f"SELECT 1 FROM `{table}` WHERE user_id = %s", key(member.id)), table
    assert not database.run("SELECT 1 FROM identity_account WHERE id = %s", key(member.id))
    assert not database.run("SELECT 1 FROM audit WHERE user_id = %s AND client_address IS NOT NULL", key(member.id))
    for path in (f"{USERS}/{member.id}", f"/system/files/{record['id']}/info", USERS, "/system/files"):
        assert not found([boss.get(path, status={200, 400}).content], wanted), path
    members.api.post("/customers/login", json={"username": member.email, "password": member.password}, status=401)
    assert not found(logs.since(mark).values(), wanted), "a log line that was written afterwards"
    assert logs.since(mark)


def test_files_stay_and_name_nobody(members, boss):
    member, _, record = live(members, boss)
    assert boss.get("/system/files", params={"userId": member.id}, status=200).json()["items"][0]["userName"]
    disable(boss, member.id)
    erase(boss, member.id, status=200)
    item, = boss.get("/system/files", params={"userId": member.id}, status=200).json()["items"]
    assert item["id"] == record["id"] and item["userId"] == member.id and item["userName"] is None
    files.download(boss, record["id"], status=200)


def test_uploads_that_were_not_finished_are_abandoned(members, boss, database):
    member, _, _ = live(members, boss)
    name = f"cv-of-{uuid.uuid4().hex}.txt"
    tus.create(member, 100, meta=tus.metadata(filename=name))
    sent, = database.run("SELECT metadata FROM file_upload WHERE user_id = %s", key(member.id))
    assert base64.b64encode(name.encode()) in sent[0]
    disable(boss, member.id)
    erase(boss, member.id, status=200)
    assert database.run("SELECT 1 FROM file_upload WHERE user_id = %s AND (metadata <> '' OR"
                        " expires_at > UTC_TIMESTAMP(3))", key(member.id)) == ()


def test_audit_rows_keep_the_id_alone(members, boss, administrator, database):
    member, _, _ = live(members, boss)
    disable(boss, member.id)
    before = database.run("SELECT id, action, user_id, target_id, details FROM audit WHERE user_id = %s ORDER BY id",
                          key(member.id))
    others = database.run("SELECT * FROM audit WHERE user_id = %s ORDER BY id", key(boss.id))
    assert len(before) > 3
    erase(boss, member.id, status=200)
    assert before == database.run(
        "SELECT id, action, user_id, target_id, details FROM audit WHERE user_id = %s ORDER BY id", key(member.id))
    assert database.run("SELECT * FROM audit WHERE user_id = %s ORDER BY id", key(boss.id))[:len(others)] == others
    items = administrator.get("/system/audit", params={"userId": member.id}, status=200).json()["items"]
    assert items and all(one["userId"] == member.id and one["clientAddress"] is None for one in items)
    row, = database.run("SELECT user_id, outcome FROM audit WHERE action = 'user.erase' AND target_id = %s", member.id)
    assert row == (key(boss.id), "success")


def test_many_audit_rows_are_scrubbed_in_portions(members, boss, database):
    member = members.active(boss)
    # Of a time that is long over: whoever reads the newest rows afterwards must not find these.
    database.run("INSERT INTO audit (id, action, user_id, client_address, outcome)"
                 " SELECT CONCAT(UNHEX('0100000000007000'), RANDOM_BYTES(8)), 'user.login', %s, '192.0.2.99', 'success'"
                 " FROM seq_1_to_2500", key(member.id))
    disable(boss, member.id)
    erase(boss, member.id, status=200)
    count, = database.run("SELECT COUNT(*), COUNT(client_address) FROM audit WHERE user_id = %s", key(member.id))
    assert count[0] >= 2500 and count[1] == 0


# ---- the id is nobody's ----------------------------------------------------------------------------------------------


def test_the_id_is_unknown_to_every_endpoint(members, boss, administrator):
    member, _, _ = live(members, boss)
    token, count = member.token, boss.get("/customers/organisation", status=200).json()["organisation"]["userCount"]
    disable(boss, member.id)
    erase(boss, member.id, status=200)
    assert boss.get("/customers/organisation", status=200).json()["organisation"]["userCount"] == count - 1
    member.api.get("/customers/me", token=token, status=401, code="auth.tokenRevoked")
    unknown = str(uuid.uuid4())
    calls = [("GET", "", None), ("PATCH", "", {"firstName": "Back"}), ("PATCH", "", {"status": "active"}),
             ("POST", "/resend", None), ("POST", "/unlock", None), ("POST", "/erase", None)]
    for who in (boss, administrator):
        for method, tail, body in calls:
            sent = {} if body is None else {"json": body}
            gone, never = (who.api.call(method, f"{USERS}/{one}{tail}", token=who.token, status=400,
                                        code="user.unknown", **sent) for one in (member.id, unknown))
            assert shape(gone) == shape(never)
    for path, body in (("admin-set-password", {"password": fresh_password()}), ("admin-confirm-signup", {})):
        for name in (member.id, member.email):
            administrator.post(f"/customers/{path}", json={"username": name, **body}, status=400, code="user.unknown")
    listed = boss.get(USERS, params={"limit": 100}, status=200).json()["items"]
    assert member.id not in [one["id"] for one in listed]
    for name in (member.id, member.email, f"erased {member.id.replace('-', '')}"):
        member.api.post("/customers/login", json={"username": name, "password": member.password}, status=401,
                        code="auth.credentials")


def test_the_address_is_free_again(members, boss, other):
    member, person, record = live(members, boss)
    disable(boss, member.id)
    other.post(USERS, json=team.body(email=person["email"]), status=409, code="user.exists")
    erase(boss, member.id, status=200)
    again = members.active(other, email=person["email"])
    assert again.id != member.id and again.user["roles"] == [] and again.user["permissions"] == []
    again.login()
    item, = boss.get("/system/files", params={"userId": member.id}, status=200).json()["items"]
    assert item["id"] == record["id"] and item["userName"] is None


# ---- who may, and when -----------------------------------------------------------------------------------------------


def test_only_a_disabled_person_is_erased(members, boss):
    erase(boss, members.active(boss).id, status=409, code="user.state")
    erase(boss, members.waiting(boss).id, status=409, code="user.state")
    erase(boss, boss.id, status=409, code="user.self")
    invited = boss.post(USERS, json=team.body(password=None), status=200).json()["user"]
    erase(boss, invited["id"], status=409, code="user.state")


def test_an_owner_who_was_disabled_is_erased_and_the_other_stays(members, boss):
    second = members.active(boss, roles=["owner"])
    disable(boss, second.id)
    erase(boss, second.id, status=200)
    boss.get(f"{USERS}/{second.id}", status=400, code="user.unknown")
    boss.get(f"{USERS}/{boss.id}", status=200)


@pytest.mark.parametrize("patterns", ["cus:user:r", "cus:org:a", "inv:*:w", "cus:file:w log:*:w", ""])
def test_other_rights_do_not_erase(members, boss, subject, database, patterns):
    database.set_grants(subject.id, patterns)
    erase(subject, str(uuid.uuid4()), status=403, code="auth.permission")


def test_nobody_erases_who_may_do_more_or_belongs_to_others(members, boss, other, database):
    second = members.active(boss, roles=["owner"])
    disable(boss, second.id)
    manager = members.holding(boss, "cus:user:w")
    before = members.snapshot(second.id)
    erase(manager, second.id, status=403, code="role.notGrantable", paths=["id"])
    theirs, unknown = (erase(other, one, status=400, code="user.unknown", paths=["id"])
                       for one in (second.id, str(uuid.uuid4())))
    assert shape(theirs) == shape(unknown)
    assert members.snapshot(second.id) == before


def test_staff_erase_in_every_organisation_and_it_is_a_crossing(members, boss, administrator, database):
    member = members.active(boss)
    disable(boss, member.id)
    erase(administrator, member.id, status=200)
    actions = database.run("SELECT action FROM audit WHERE target_id = %s AND user_id = %s", member.id,
                           key(administrator.id))
    assert {("user.erase", ), ("access.crossOrganisation", )} <= set(actions)


def test_the_workers_scrub_nobody_else(members, boss, database):
    """What the workers' account may insert changes the rows of erased people only."""
    member = members.active(boss)
    member.sign_in()
    sql = "SELECT COUNT(client_address) FROM audit WHERE user_id = %s"
    before = database.run(sql, key(member.id))
    database.run("INSERT INTO audit_scrub (user_id, after_id, until_id) VALUES (%s, %s, %s)", key(member.id),
                 b"\0" * 16, b"\xff" * 16)
    assert before[0][0] > 0 and database.run(sql, key(member.id)) == before


# ---- killed ----------------------------------------------------------------------------------------------------------


def tail_of(database, identity):
    """What is left of a person: (status, whether the row still has data, accounts, sessions, jobs)."""
    status, data = database.run("SELECT status, first_name <> '' OR phone IS NOT NULL OR email LIKE '%%@%%'"
                                " OR provider_subject IS NOT NULL FROM user WHERE id = %s", key(identity))[0]
    counts = (database.run(f"SELECT COUNT(*) FROM {table} WHERE {column} = %s", key(identity))[0][0]
              for table, column in (("identity_account", "id"), ("session", "user_id"), ("outbox", "user_id")))
    return (status, bool(data), *counts)


DONE = ("erased", False, 0, 0, 0)


def numbers():
    """The messages before which a program is killed: a part of them in each run, all of them in tools/test full."""
    step = cases(5, 1)
    return range(1 + random.randrange(step), MOST, step)


def due(database):
    database.run("UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) WHERE kind = 'erase'")


def victim(members, boss):
    member = members.active(boss, phone="+442071838750")
    member.session()
    disable(boss, member.id)
    return member


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_a_worker_killed_at_any_message_leaves_all_or_nothing(stack, doom, members, boss, database):
    """Before the first transaction has committed nothing is changed; afterwards the job runner finishes."""
    members.await_jobs()
    kept = begun = 0
    with crash.paused_jobs(stack):
        for number in numbers():
            database.lift_throttles()
            member = victim(members, boss)
            path = f"{stack.prefix}{USERS}/{member.id}/erase"
            with doom.worker() as worker:
                unknown = f"{stack.prefix}{USERS}/{uuid.uuid4()}/erase"
                assert worker.call("POST", unknown, token=boss.token).status == 400
                doom.arm(number)
                answer = worker.call("POST", path, token=boss.token)
            if answer.ended:
                assert answer.status == 200 and tail_of(database, member.id) == DONE
                break
            if tail_of(database, member.id)[0] == "disabled":
                kept += 1
                assert tail_of(database, member.id)[1]
                erase(boss, member.id, status=200)
            else:
                begun += 1
                boss.get(f"{USERS}/{member.id}", status=400, code="user.unknown")
                due(database)
                doom.jobs_once()
            assert tail_of(database, member.id) == DONE, f"killed at message {number}"
    assert kept >= 1 and begun >= cases(2, 10) and number < MOST - 5, (kept, begun, number)


@pytest.mark.fault
@pytest.mark.usefixtures("killable")
def test_a_job_runner_killed_at_any_message_is_followed_by_one_that_finishes(stack, doom, members, boss, database):
    members.await_jobs()
    done = 0
    with crash.paused_jobs(stack):
        for number in numbers():
            database.lift_throttles()
            member = victim(members, boss)
            doom.jobs_once()
            database.run("UPDATE user SET status = 'erased' WHERE id = %s", key(member.id))
            database.run("INSERT INTO outbox (kind, priority, user_id, payload) VALUES ('erase', 2, %s, '')",
                         key(member.id))
            status = doom.jobs_once(number)
            if status == 0:
                break
            due(database)
            doom.jobs_once()
            assert tail_of(database, member.id) == DONE, f"killed at message {number}"
            done += 1
    assert done >= cases(2, 10) and number < MOST - 5
    wait_until(lambda: tail_of(database, member.id) == DONE, 30, "the last one to be erased")
