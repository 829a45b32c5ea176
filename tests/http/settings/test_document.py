# SPDX-License-Identifier: MIT
"""The system settings document: one whole document whoever writes it, and a change that holds on every worker's
next request."""

import concurrent.futures
import json
import re
import uuid

import pytest

from support import settings
from support.programs import system
from support.stack import wait_until

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"]
MODULES = ["worker", "http", "accounts", "files", "system", "identity", "store", "blob", "mail", "jobs", "ctl"]
WRITERS = 50


def fresh():
    return f"test-settings-{uuid.uuid4()}"


@pytest.fixture(autouse=True)
def put_back(administrator):
    settings.put(administrator, **settings.QUIET)
    yield
    settings.put(administrator, **settings.QUIET)


def etag(account):
    return account.get(settings.PATH, status=200).headers["ETag"]


def version(tag):
    """The number in an entity tag."""
    assert re.fullmatch(r'"\d+"', tag), tag
    return int(tag.strip('"'))


# ---- the document ----------------------------------------------------------------------------------------


def test_the_document_has_the_members_of_the_specification(administrator):
    reply = administrator.get(settings.PATH, status=200)
    assert reply.json() == {"logging": {"level": "info", "filter": ""}}
    assert version(reply.headers["ETag"]) > 0


def test_a_change_answers_status_and_message_and_the_new_version(administrator):
    before = version(etag(administrator))
    reply = settings.put(administrator, level="warn", filter="*=warn,files=debug")
    assert set(reply.json()) == {"status", "message"} and reply.json()["status"] == "success"
    assert version(reply.headers["ETag"]) == before + 1
    assert etag(administrator) == reply.headers["ETag"]
    assert settings.get(administrator) == {"level": "warn", "filter": "*=warn,files=debug"}


def test_a_missing_inner_member_keeps_its_value(administrator):
    settings.put(administrator, level="debug", filter="blob=trace")
    settings.put(administrator, level="error")
    assert settings.get(administrator) == {"level": "error", "filter": "blob=trace"}
    settings.put(administrator, filter="mail=warn")
    assert settings.get(administrator) == {"level": "error", "filter": "mail=warn"}
    settings.put(administrator)
    assert settings.get(administrator) == {"level": "error", "filter": "mail=warn"}


GOOD = [
    "", " ", "*=warn", "*=warn,files=debug", " files=debug , *=warn ", "files = debug", "\tfiles=debug\t",
    "files=debug,files=error", "*=trace,*=fatal", ",".join(f"{module}=trace" for module in MODULES),
    *(f"*={level}" for level in LEVELS)
]


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_a_good_filter_is_taken_as_it_is(administrator, text):
    settings.put(administrator, filter=text)
    assert settings.get(administrator)["filter"] == text


BAD = [
    "files", "files=", "=debug", "=", ",", "files=debug,", ",files=debug", "files=debug,,blob=warn", "files==debug",
    "files=debug=warn", "files:debug", "files=debug;blob=warn", "files=debug blob=warn", "nope=debug", "FILES=debug",
    "files=DEBUG", "files=warning", "files=*", "**=debug", "fil*=debug", "*", "files=7", "files=debug\n", "files=débug",
    "\u00a0files=debug", "ﬁles=debug", "x" * 1024 + "=debug", "files=" + "x" * 1000, "," * 1024, "(a+)+$=debug",
    "a" * 1000 + "!", "files=debug\u2028", "'; DROP TABLE settings; --=debug", '"=debug', "\\=debug"
]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_bad_filter_is_refused_by_its_path(administrator, text):
    before = etag(administrator)
    administrator.put(settings.PATH,
                      json={"logging": {"filter": text}},
                      status=400,
                      code="request.invalid",
                      paths={"logging.filter"})
    assert etag(administrator) == before


@pytest.mark.parametrize("body, paths", [
    ({}, {"logging"}), ({"logging": None}, {"logging"}), ({"logging": []}, {"logging"}),
    ({"logging": "debug"}, {"logging"}), ({"logging": {"level": "loud"}}, {"logging.level"}),
    ({"logging": {"level": "INFO"}}, {"logging.level"}), ({"logging": {"level": ""}}, {"logging.level"}),
    ({"logging": {"level": None}}, {"logging.level"}), ({"logging": {"level": 3}}, {"logging.level"}),
    ({"logging": {"filter": None}}, {"logging.filter"}), ({"logging": {"filter": ["*=warn"]}}, {"logging.filter"}),
    ({"logging": {"filter": "x" * 1025}}, {"logging.filter"}),
    ({"logging": {"filter": "é" * 1024}}, {"logging.filter"}),
    ({"logging": {"level": "loud", "filter": "files"}}, {"logging.level", "logging.filter"}),
    ({"logging": {"Level": "info"}}, {"logging.Level"}), ({"logging": {"level": "info"}, "version": 7}, {"version"}),
    ({"logging": {"level": "loud", "filter": "no", "colour": True}, "more": 1},
     {"logging.level", "logging.filter", "logging.colour", "more"}),
])
def test_every_bad_member_is_named(administrator, body, paths):
    before = etag(administrator)
    administrator.put(settings.PATH, json=body, status=400, code="request.invalid", paths=paths)
    assert etag(administrator) == before


def test_only_who_administers_the_settings_reads_and_writes_them(api, owner, members):
    writer = members.holding(owner, "sys:settings:w sys:*:w cus:*:a")
    for account in (owner, writer):
        for method, path in (("GET", settings.PATH), ("PUT", settings.PATH), ("GET", settings.HISTORY)):
            reply = api.call(method, path, token=account.token, status=403, code="auth.permission")
            assert reply.json()["body"]["required"] == "sys:settings:a"
    api.get(settings.PATH, status=401, code="auth.tokenMissing")
    holder = members.holding(owner, "sys:settings:a")
    assert settings.get(holder) == settings.QUIET
    settings.put(holder, level="info")


# ---- versions --------------------------------------------------------------------------------------------


def test_if_match_takes_the_version_that_holds_and_no_other(administrator):
    first = etag(administrator)
    second = settings.put(administrator, etag=first, level="warn").headers["ETag"]
    reply = settings.put(administrator, etag=first, level="error", status=409)
    assert reply.json()["code"] == "settings.stale" and "ETag" not in reply.headers
    assert settings.get(administrator)["level"] == "warn" and etag(administrator) == second


@pytest.mark.parametrize("form, status", [
    ("{0}", 200), ("{0}  ", 200), ("*", 200), ("* ", 200), ('"0", {0}', 200), ('{0},"x"', 200),
    ('"a,b" , ,{0}', 200), ('W/"1", {0}', 200), ("W/{0}", 409), ("w/{0}", 409), ('"0"', 409),
    ('"99999999999999999999"', 409),
    ("{1}", 409), ('"', 409), ("**", 409), ("*,{0}", 409), ('""', 409), ('"-1"', 409), ("{0} {0}", 409),
    ('"{1}\'"', 409), ('"0", "1"', 409)
])
def test_if_match_is_read_as_http_says(administrator, form, status):
    tag = etag(administrator)
    settings.put(administrator, etag=form.format(tag, version(tag)), level="info", status=status)
    assert version(etag(administrator)) == version(tag) + (status == 200)


def test_a_bad_document_is_told_before_a_stale_version(administrator):
    administrator.put(settings.PATH,
                      json={"logging": {"level": "loud"}},
                      headers={"If-Match": '"0"'},
                      status=400,
                      paths={"logging.level"})


def test_history_says_who_wrote_what_and_when(administrator, owner, members):
    holder = members.holding(owner, "sys:settings:a")
    settings.put(holder, level="warn", filter="blob=debug")
    newest = administrator.get(settings.HISTORY, params={"limit": "1"}, status=200).json()
    item = newest["items"][0]
    assert set(item) == {"version", "settings", "userId", "at"}
    assert item["settings"] == {"logging": {"level": "warn", "filter": "blob=debug"}}
    assert item["userId"] == holder.id and TIME.match(item["at"])
    assert item["version"] == version(etag(administrator)) and newest["nextCursor"] == str(item["version"])


def test_history_gives_every_version_once_on_pages_of_any_size(administrator):
    for level in LEVELS:
        settings.put(administrator, level=level)
    whole = settings.history(administrator)
    versions = [item["version"] for item in whole]
    assert versions == sorted(versions, reverse=True) and len(set(versions)) == len(versions)
    assert [item["settings"]["logging"]["level"] for item in whole[:6]] == LEVELS[::-1]
    for limit in ("1", "7", "25"):
        assert settings.history(administrator, limit=limit) == whole
    cursor = str(versions[3])
    page = administrator.get(settings.HISTORY, params={"cursor": cursor, "limit": "2"}, status=200).json()
    assert [item["version"] for item in page["items"]] == versions[4:6]


@pytest.mark.parametrize("query, path", [("limit=0", "limit"), ("limit=101", "limit"), ("limit=x", "limit"),
                                         ("cursor=0", "cursor"), ("cursor=-1", "cursor"), ("cursor=x", "cursor"),
                                         ("cursor=9007199254740992", "cursor"), ("version=1", "version")])
def test_bad_parameters_of_the_history_are_named(administrator, query, path):
    administrator.get(f"{settings.HISTORY}?{query}", status=400, code="request.invalid", paths={path})


def test_a_change_is_in_the_audit_trail(administrator):
    mark = fresh()
    administrator.put(settings.PATH,
                      json={"logging": {"level": "warn"}},
                      headers={"X-Request-Id": mark},
                      status=200)
    rows = administrator.get("/system/audit", params={"action": "settings.update"}, status=200).json()["items"]
    row = next(one for one in rows if one["requestId"] == mark)
    assert row["userId"] == administrator.id and row["outcome"] == "success" and row["targetType"] == "settings"
    assert row["targetId"] == str(version(etag(administrator)))
    assert row["details"]["settings"] == {"logging": {"level": "warn", "filter": ""}}


# ---- writers at the same time ----------------------------------------------------------------------------


def race(api, token, calls):
    """Sends the (headers, logging) of each at once; the replies in that order."""

    def send(one):
        headers, logging = one
        return api.put(settings.PATH, token=token, json={"logging": logging}, headers=headers, status={200, 409})

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(send, calls))


def test_fifty_writers_at_once_leave_fifty_versions_and_one_whole_document(api, administrator):
    before = version(etag(administrator))
    wanted = [{"level": LEVELS[i % 6], "filter": f"files={LEVELS[i % 5]},blob={LEVELS[i // 9]}"}
              for i in range(WRITERS)]
    replies = race(api, administrator.token, [({}, logging) for logging in wanted])
    assert {reply.status_code for reply in replies} == {200}
    versions = [version(reply.headers["ETag"]) for reply in replies]
    assert sorted(versions) == list(range(before + 1, before + 1 + WRITERS))
    told = {item["version"]: item["settings"]["logging"] for item in settings.history(administrator)}
    assert [told[number] for number in versions] == wanted
    assert settings.get(administrator) == wanted[versions.index(max(versions))]


def test_of_fifty_writers_with_the_same_version_one_wins(api, administrator):
    for _ in range(3):
        tag = etag(administrator)
        replies = race(api, administrator.token,
                       [({"If-Match": tag}, {"filter": f"files={LEVELS[i % 6]}"}) for i in range(WRITERS)])
        winners = [i for i, reply in enumerate(replies) if reply.status_code == 200]
        assert len(winners) == 1, winners
        assert {reply.json()["code"] for reply in replies if reply.status_code == 409} == {"settings.stale"}
        assert settings.get(administrator)["filter"] == f"files={LEVELS[winners[0] % 6]}"
        assert version(etag(administrator)) == version(tag) + 1


def test_counting_with_if_match_loses_no_change(api, administrator):
    """Read, change, write: ten at once, each again until it gets through; every one of them is in the history."""
    before = len(settings.history(administrator))
    token = administrator.token

    def change(level):
        while True:
            reply = api.get(settings.PATH, token=token, status=200)
            done = api.put(settings.PATH,
                           token=token,
                           json={"logging": {"level": level}},
                           headers={"If-Match": reply.headers["ETag"]},
                           status={200, 409})
            if done.status_code == 200:
                return

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        list(pool.map(change, (LEVELS * 2)[:10]))
    found = settings.history(administrator)
    assert len(found) == before + 10
    assert sorted(item["settings"]["logging"]["level"] for item in found[:10]) == sorted((LEVELS * 2)[:10])


# ---- the effect ------------------------------------------------------------------------------------------

# What needs the database and what does not, with and without a token, found and not found.
CALLS = [("GET", "/customers/me", True), ("GET", "/system/version", False), ("GET", "/system/health/live", False),
         ("GET", "/nowhere", False), ("GET", "/customers/me", False), ("POST", "/customers/login", False),
         ("GET", "/.well-known/jwks.json", False)]


def lines_of_calls(api, token, logs, mark, rounds):
    """Calls of every kind, many at once so that every worker has some; the number of calls and of their lines."""
    calls = [(method, path, token if with_token else None, fresh()) for method, path, with_token in CALLS * rounds]

    def send(one):
        method, path, bearer, identity = one
        api.call(method, path, token=bearer, headers={"X-Request-Id": identity})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(send, calls))
    found = b"\n".join(logs.since(mark).values())
    return {identity: (path, found.count(b'"message":"request","requestId":"' + identity.encode()))
            for _, path, _, identity in calls}


def test_the_level_holds_on_every_workers_next_request(api, administrator, logs):
    token = administrator.token
    for _ in range(5):
        settings.put(administrator, level="error")
        found = lines_of_calls(api, token, logs, logs.mark(), 6)
        assert {count for _, count in found.values()} == {0}, found
        settings.put(administrator, level="info")
        found = lines_of_calls(api, token, logs, logs.mark(), 6)
        assert {count for _, count in found.values()} == {1}, found


def test_the_filter_overrides_the_level_for_its_modules(api, administrator, logs):
    for logging, wanted in (({"level": "info", "filter": "http=warn"}, 0),
                            ({"level": "fatal", "filter": "http=info"}, 1),
                            ({"level": "trace", "filter": "*=warn"}, 0),
                            ({"level": "error", "filter": "http=warn,*=info"}, 1),
                            ({"level": "info", "filter": "*=info,http=error"}, 0),
                            ({"level": "info", "filter": " http = error , http = info "}, 1)):
        settings.put(administrator, **logging)
        found = lines_of_calls(api, administrator.token, logs, logs.mark(), 1)
        assert {count for _, count in found.values()} == {wanted}, (logging, found)


def test_debug_tells_what_info_does_not(api, administrator, logs):
    for level, wanted in (("debug", 1), ("info", 0), ("trace", 1)):
        settings.put(administrator, level=level)
        mark, identity = logs.mark(), fresh()
        api.get("/customers/me", token="no.good.token", headers={"X-Request-Id": identity}, status=401)
        refused = [line for line in logs.find(mark, identity)
                   if json.loads(line)["message"] == "the request was refused"]
        assert len(refused) == wanted


SILENCERS = [{"level": "fatal"}, {"level": "error"}, {"filter": "*=fatal"},
             {"filter": "accounts=fatal,http=fatal,system=fatal"},
             {"level": "fatal", "filter": "*=fatal"}, {"level": "fatal",
                                                       "filter": ",".join(f"{one}=fatal" for one in MODULES)}]


@pytest.mark.parametrize("silencer", SILENCERS, ids=range(len(SILENCERS)))
def test_settings_cannot_silence_the_audit_trail(api, administrator, customer, database, silencer):
    settings.put(administrator, **silencer)
    mark = fresh()
    customer.put(settings.PATH, json={"logging": {}}, headers={"X-Request-Id": mark}, status=403)
    api.post("/customers/login",
             json={"username": customer.email, "password": "not the password"},
             headers={"X-Request-Id": mark},
             status=401)
    rows = database.run("SELECT action FROM audit WHERE request_id = %s", mark)
    assert {action for action, in rows} == {"access.denied", "user.loginFailed"}


def test_the_job_runner_follows(administrator, logs, stack):
    settings.put(administrator, level="debug")
    runners = stack.pids_named("jobs")

    def followed():
        mark = logs.mark()
        settings.put(administrator, level="debug")
        return wait_until(lambda: [
            line for line in logs.find(mark, "following a change") if json.loads(line)["pid"] in runners
        ], 60, "the job runner to follow a change at level debug")

    assert followed()


# Every public path that asks the database, or may.
PUBLIC = [("GET", "/system/version", None), ("GET", "/system/openapi.json", None), ("GET", "/system/metrics", None),
          ("GET", "/system/health/ready", None), ("GET", "/.well-known/jwks.json", None),
          ("POST", "/customers/login", {"username": "nobody@example.org", "password": "x"}),
          ("POST", "/customers/refresh", {"refreshToken": "x"}),
          ("POST", "/customers/forgotten-password", {"username": "nobody@example.org"})]


def test_the_level_holds_on_the_next_public_request_of_another_host(stack, administrator, tmp_path):
    """No job runner there tells its workers of the change."""
    host = {"log_destination": "stderr", "cache_file": tmp_path / "cache", "metrics_file": tmp_path / "metrics"}
    with system.worker(stack, **host) as one, system.worker(stack, **host) as two:
        for method, path, body in PUBLIC * 3:
            data = b"" if body is None else json.dumps(body).encode()
            for level in ("error", "info"):
                settings.put(administrator, level=level)
                for worker in (one, two):
                    identity = fresh()
                    worker.call(method, stack.prefix + path, body=data,
                                content_type="application/json" if data else None, headers={"X-Request-Id": identity})
                    told = f'"message":"request","requestId":"{identity}"' in read(worker.log)
                    assert told == (level == "info"), (level, path)


def test_a_worker_that_starts_later_follows_at_once(stack, administrator):
    with settings.of(administrator, level="error"), system.worker(stack, log_destination="stderr") as late:
        identity = fresh()
        token = administrator.token
        # The first request with a token tells it of the change, whatever its configuration says.
        assert late.call("GET", "/customers/me", token=token, headers={"X-Request-Id": identity}).status == 200
        assert identity not in read(late.log)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- rows typed in at the prompt -------------------------------------------------------------------------

DAMAGED = [
    "", "{", "null", "[]", '"info"', "{}", '{"logging":{}}', '{"logging":null}', '{"logging":{"level":"info"}}',
    '{"logging":{"level":"loud","filter":""}}', '{"logging":{"level":"info","filter":"files"}}',
    '{"logging":{"level":"info","filter":"nope=debug"}}', '{"logging":{"level":7,"filter":""}}',
    '{"logging":{"level":"info","filter":""}} x', '{"logging":{"level":"info","filter":""},"logging":{}}',
    '{"logging":{"level":"info","filter":"","more":1}}', '{"logging":{"level":"info","filter":""},"more":1}',
    '{"logging":{"level":"info","filter":"\\u0000"}}', '\0{"logging":{"level":"info","filter":""}}',
    '{"Logging":{"level":"info","filter":""}}', "x" * 4096
]


def damage(database, document):
    """Types a newest version in; returns its number."""
    database.run("INSERT INTO settings (version, document) SELECT MAX(version) + 1, %s FROM settings", document)
    return database.run("SELECT MAX(version) FROM settings")[0][0]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_document_is_refused_and_the_last_good_one_serves(api, administrator, database, logs, text):
    tag = settings.put(administrator, level="warn", filter="mail=info").headers["ETag"]
    mark = logs.mark()
    number = damage(database, text)

    def complaints():
        return [line for line in logs.find(mark, "the newest settings are damaged") if b'"pid"' in line]

    wait_until(complaints, 60, "the log to say that the newest settings are damaged")
    lines_of_calls(api, administrator.token, logs, mark, 6)
    reply = administrator.get(settings.PATH, status=200)
    assert reply.json() == {"logging": {"level": "warn", "filter": "mail=info"}} and reply.headers["ETag"] == tag
    told = complaints()
    assert len(told) == 1 and json.loads(told[0])["damagedVersion"] == number
    assert json.loads(told[0])["level"] == "error" and json.loads(told[0])["version"] == version(tag)
    newest = administrator.get(settings.HISTORY, params={"limit": "1"}, status=200).json()["items"][0]
    assert newest["version"] == number and newest["settings"] is None and newest["userId"] is None
    # The version that holds is still the one to change, and the next one is newer than the damaged one.
    assert version(settings.put(administrator, etag=tag, level="error").headers["ETag"]) == number + 1
    assert settings.get(administrator) == {"level": "error", "filter": "mail=info"}


def test_a_version_damaged_in_place_gives_way_to_the_one_before(administrator, database, logs):
    tag = settings.put(administrator, level="warn").headers["ETag"]
    settings.put(administrator, level="trace")
    mark = logs.mark()
    database.run("UPDATE settings SET document = 'broken' ORDER BY version DESC LIMIT 1")
    wait_until(lambda: logs.find(mark, "the newest settings are damaged"), 60, "the log to tell of the damage")
    assert settings.get(administrator)["level"] == "warn" and etag(administrator) == tag


def test_a_good_document_typed_in_takes_effect(api, administrator, database, logs):
    number = damage(database, '{"logging": {"filter": "*=error", "level": "info"}}')

    def silent():
        mark, identity = logs.mark(), fresh()
        api.get("/system/version", headers={"X-Request-Id": identity}, status=200)
        return not logs.requests(mark, identity)

    wait_until(silent, 60, "the workers to follow what was typed in")
    assert version(etag(administrator)) == number and settings.get(administrator)["filter"] == "*=error"


def test_without_any_row_the_configuration_holds(administrator, database):
    rows = database.run("SELECT version, document, user_id, at FROM settings")
    database.run("DELETE FROM settings")
    try:
        reply = administrator.get(settings.PATH, status=200)
        assert reply.json() == {"logging": {"level": "info", "filter": ""}} and reply.headers["ETag"] == '"0"'
        assert settings.history(administrator) == []
        assert settings.put(administrator, etag='"0"', filter="mail=warn").headers["ETag"] == '"1"'
        assert settings.get(administrator) == {"level": "info", "filter": "mail=warn"}
    finally:
        database.run("DELETE FROM settings")
        for row in rows:
            database.run("INSERT INTO settings (version, document, user_id, at) VALUES (%s, %s, %s, %s)", *row)
