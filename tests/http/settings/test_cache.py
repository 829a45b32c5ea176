# SPDX-License-Identifier: MIT
"""The service cache: POST /system/cache and gatehousectl cache, on this host and on another."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import threading
import uuid

import pytest

from support.programs import operator, system
from support.stack import wait_until

PATH = "/system/cache"
KEYS = "/.well-known/jwks.json"
ROUNDS = 500
KILLS = 100


def evict(account, **wish):
    """POST /system/cache; the message."""
    body = account.post(PATH, json=wish, status=200).json()
    assert set(body) == {"status", "message"} and body["status"] == "success"
    return body["message"]


def published(api):
    """The kids that this stack publishes."""
    return {key["kid"] for key in api.get(KEYS, status=200).json()["keys"]}


def fetched(api, account):
    """The same, read anew and so stored in the cache: it forgets the keys before the workers do."""
    evict(account, secrets=True)
    return published(api)


def cached(stack):
    """The keys that gatehousectl lists."""
    return {line.split()[0] for line in operator.run(stack, "cache", "keys").splitlines()[1:]}


class Marker:
    """A retired public key in the table, put there as at the prompt: nothing of the service announces it."""

    def __init__(self, database):
        self.database = database
        self.kid = None
        self.public = database.run("SELECT public_key FROM identity_signing_key ORDER BY created_at DESC LIMIT 1")[0][0]

    def change(self):
        """The one before goes, a new one comes; its kid."""
        self.remove()
        self.kid = f"test-{uuid.uuid4()}"
        self.database.run(
            "INSERT INTO identity_signing_key (kid, private_key_sealed, public_key, retired_at)"
            " VALUES (%s, '', %s, UTC_TIMESTAMP(3))", self.kid, self.public)
        return self.kid

    def remove(self):
        if self.kid is not None:
            self.database.run("DELETE FROM identity_signing_key WHERE kid = %s", self.kid)
        self.kid = None


@pytest.fixture()
def marker(database, administrator):
    made = Marker(database)
    yield made
    made.remove()
    evict(administrator, keys=["jwks:embedded"])


# ---- what is asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body, paths", [
    ({"prefixes": [""]}, {"prefixes[0]"}), ({"keys": ["a", ""]}, {"keys[1]"}), ({"keys": "a"}, {"keys"}),
    ({"keys": [1]}, {"keys[0]"}), ({"keys": None}, {"keys"}), ({"prefixes": {}}, {"prefixes"}),
    ({"flush": 1}, {"flush"}), ({"flush": "true"}, {"flush"}), ({"secrets": "yes"}, {"secrets"}),
    ({"keys": ["x" * 201]}, {"keys[0]"}), ({"keys": ["a"] * 101}, {"keys"}), ({"flush": True, "all": 1}, {"all"}),
])
def test_what_asks_badly_is_refused_by_its_path(administrator, body, paths):
    administrator.post(PATH, json=body, status=400, code="request.invalid", paths=paths)


@pytest.mark.parametrize("body", [
    {}, {"keys": []}, {"keys": [], "prefixes": []}, {"flush": False, "secrets": False},
    {"flush": None, "secrets": None}, None,
])
def test_who_asks_for_nothing_is_told_so_and_nothing_goes(api, stack, administrator, body):
    fetched(api, administrator)
    before = cached(stack)
    reply = administrator.post(PATH, **({} if body is None else {"json": body}), status=200).json()
    assert reply == {"status": "success", "message": "Nothing was asked for, so nothing was evicted."}
    assert cached(stack) == before and "jwks:embedded" in before


# ---- what is told ------------------------------------------------------------------------------------------


def numbers(account):
    return account.get(PATH, status=200).json()


def of_prefix(told, prefix):
    return {row["prefix"]: row["entries"] for row in told["prefixes"]}[prefix]


def test_the_numbers_are_those_of_the_entries(api, stack, administrator):
    fetched(api, administrator)
    told = numbers(administrator)
    assert list(told) == ["entries", "bytes", "maximumBytes", "hits", "misses", "prefixes"]
    assert [set(row) for row in told["prefixes"]] == [{"prefix", "entries"}] * 3
    assert {row["prefix"] for row in told["prefixes"]} == {"settings:", "jwks:", "token:"}
    assert sum(row["entries"] for row in told["prefixes"]) == told["entries"]
    assert of_prefix(told, "jwks:") == sum(key.startswith("jwks:") for key in cached(stack)) > 0
    assert 0 < told["bytes"] < told["maximumBytes"] and told["maximumBytes"] % (1 << 20) == 0


def test_the_numbers_follow_an_eviction_and_a_look_up(api, administrator):
    before = numbers(administrator)
    administrator.get("/system/settings", status=200)
    filled = numbers(administrator)
    assert of_prefix(filled, "settings:") == 1
    evict(administrator, flush=True)
    published(api)  # every process has forgotten the keys, and so has the cache: one of them misses
    after = numbers(administrator)
    assert after["misses"] > before["misses"] and after["hits"] >= before["hits"]
    assert of_prefix(after, "jwks:") > 0 and of_prefix(after, "token:") <= of_prefix(filled, "token:") + 1


def test_the_numbers_hold_no_key_and_no_value_and_take_the_permission(api, stack, administrator, owner, nobody):
    fetched(api, administrator)
    text = administrator.get(PATH, status=200).text
    assert all(key not in text for key in cached(stack)) and published(api)
    api.get(PATH, status=401, code="auth.tokenMissing")
    for account in (owner, nobody):
        account.get(PATH, status=403, code="auth.permission")
    administrator.get(f"{PATH}?prefix=jwks:", status=400, paths=["prefix"])


def test_each_fault_is_told_once(administrator):
    reply = administrator.post(PATH, json={"keys": ["a", ""], "prefixes": [""]}, status=400)
    assert [fault["path"] for fault in reply.json()["validation"]] == ["keys[1]", "prefixes[0]"]


def test_it_takes_the_permission(owner, nobody, api):
    api.post(PATH, json={"flush": True}, status=401, code="auth.tokenMissing")
    for account in (owner, nobody):
        account.post(PATH, json={"flush": True}, status=403, code="auth.permission")


def test_entries_go_by_key_by_prefix_and_all_and_the_message_counts_them(api, stack, administrator):
    for wish in ({"keys": ["jwks:embedded"]}, {"prefixes": ["jwks:"]}, {"prefixes": ["j"]}, {"flush": True},
                 {"keys": ["jwks:embedded", "no:such"], "prefixes": ["jwks:emb"]}, {"secrets": True}):
        fetched(api, administrator)
        assert "jwks:embedded" in cached(stack), wish
        message = evict(administrator, **wish)
        assert int(message.split()[0]) >= 1, (wish, message)


def test_the_settings_lie_in_the_cache_and_go_as_the_rest_does(stack, administrator):
    evict(administrator, prefixes=["settings:"])
    for wish in ({"keys": ["settings:current"]}, {"prefixes": ["settings:"]}):
        assert "settings:current" in cached(stack)
        assert evict(administrator, **wish).startswith("1 entry was")
    settings = administrator.get("/system/settings", status=200).json()
    administrator.put("/system/settings", json={"logging": settings["logging"]}, status=200)
    administrator.get("/customers/me", status=200)
    assert "settings:current" in cached(stack)


def test_evicting_is_idempotent(administrator):
    for _ in range(3):
        message = evict(administrator, keys=["no:such"], prefixes=["nor:this"])
        assert message.startswith("0 entries")


def test_it_is_audited(administrator):
    name = f"test:{uuid.uuid4()}"
    evict(administrator, keys=[name], prefixes=["x"])
    rows = administrator.get("/system/audit", params={"action": "cache.update", "limit": 5}, status=200).json()["items"]
    row = next(row for row in rows if name in str(row["details"]))
    assert row["userId"] == administrator.user["id"] and row["outcome"] == "success"


def test_the_file_is_for_its_owner_only_and_holds_no_token_and_no_private_key(stack, api, administrator):
    fetched(api, administrator)
    path = cache_file(stack)
    assert os.stat(path).st_mode & 0o777 == 0o600
    data = pathlib.Path(path).read_bytes()
    assert b"PUBLIC KEY" in data and b"PRIVATE" not in data
    assert administrator.token.encode() not in data and administrator.token.split(".")[2].encode() not in data


def test_a_token_is_shared_when_it_is_met_again(stack, administrator):
    def shared():
        return [key for key in cached(stack) if key.startswith("token:")]

    evict(administrator, flush=True)
    assert shared() == []
    administrator.get("/customers/me", status=200)
    assert shared() == []

    def met_again():
        administrator.get("/customers/me", status=200)
        return shared()

    assert len(wait_until(met_again, 60, "a token in the cache")) == 1
    evict(administrator, prefixes=["token:"])
    assert shared() == []


def cache_file(stack):
    """The path that the configuration names."""
    section = None
    for line in pathlib.Path(stack.configuration).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif section == "cache" and line.startswith("file = "):
            return line.split(" = ", 1)[1]
    raise AssertionError("[cache] file is not set")


# ---- gatehousectl ------------------------------------------------------------------------------------------


def test_the_operator_lists_evicts_and_flushes(stack, api, administrator, marker):
    fetched(api, administrator)
    assert "jwks:embedded" in cached(stack)
    assert operator.run(stack, "cache", "keys", "nothing:").splitlines()[1:] == []
    for words in (("evict", "--key", "jwks:embedded"), ("evict", "--prefix", "jw"), ("flush",), ("evict", "--secrets")):
        kid = marker.change()
        operator.run(stack, "cache", *words)
        assert kid in published(api), words


@pytest.mark.parametrize("words", [(), ("evict",), ("evict", "--key", ""), ("flush", "now"), ("keys", "a", "b"),
                                   ("drop",), ("evict", "--key"), ("evict", "jwks:")])
def test_a_command_that_is_not_one_is_refused(stack, words):
    assert operator.run(stack, "cache", *words, status=None).returncode == 2


# ---- on another host ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def other_file(tmp_path_factory):
    """The other host's cache."""
    return tmp_path_factory.mktemp("host") / "cache"


@pytest.fixture(scope="module")
def elsewhere(stack, other_file):
    """Three workers that share a cache file and numbers of their own, as on another host."""
    settings = {"cache_file": other_file, "metrics_file": other_file.with_name("metrics")}
    with system.worker(stack, **settings) as one, system.worker(stack, **settings) as two, \
            system.worker(stack, **settings) as three:
        yield [one, two, three]


def kids_of(worker):
    answer = worker.call("GET", KEYS)
    assert answer.status == 200
    return {key["kid"] for key in json.loads(answer.body)["keys"]}


def test_a_change_is_seen_by_the_next_read_on_the_other_host(api, administrator, marker, elsewhere):
    ways = [{"keys": ["jwks:embedded"]}, {"prefixes": ["jwks:"]}, {"flush": True}, {"secrets": True}]
    picked = random.Random(11)
    stale = 0
    for number in range(ROUNDS):
        kid = marker.change()
        evict(administrator, **ways[number % len(ways)])
        stale += kid not in kids_of(picked.choice(elsewhere))
        if number % 10 == 0:
            stale += kid not in published(api)
    assert stale == 0


def test_without_an_eviction_what_is_cached_goes_on(api, administrator, marker, elsewhere):
    evict(administrator, keys=["jwks:embedded"])
    published(api)
    kids_of(elsewhere[0])
    kid = marker.change()
    assert kid not in kids_of(elsewhere[0])
    evict(administrator, keys=["jwks:other"])
    assert kid not in kids_of(elsewhere[0])
    evict(administrator, keys=["jwks:embedded"])
    assert all(kid in kids_of(worker) for worker in elsewhere)


def test_keys_that_nobody_can_read_are_not_cached(stack, api, marker):
    marker.public = "no key at all"
    marker.change()
    operator.run(stack, "cache", "evict", "--secrets")
    api.get(KEYS, status=500)
    marker.remove()
    assert published(api)


def test_a_host_that_was_away_reads_nothing_from_before(stack, administrator, marker, tmp_path):
    settings = {"cache_file": tmp_path / "cache", "metrics_file": tmp_path / "metrics"}
    with system.worker(stack, **settings) as worker:
        kids_of(worker)
    assert (tmp_path / "cache").exists()
    kid = marker.change()
    evict(administrator, prefixes=["jwks:"])
    with system.worker(stack, **settings) as worker:
        assert kid in kids_of(worker)


# ---- a file that breaks, processes that die ----------------------------------------------------------------


@pytest.mark.parametrize("how", ["cut", "emptied", "garbage", "removed"])
def test_a_file_that_breaks_costs_no_request(stack, api, administrator, how):
    path = pathlib.Path(cache_file(stack))
    published(api)
    if how == "removed":
        path.unlink()
    elif how == "garbage":
        with open(path, "r+b") as file:
            file.write(random.Random(5).randbytes(1 << 20))
    else:
        os.truncate(path, 8192 if how == "cut" else 0)
    for number in range(60):
        api.get(KEYS, status=200)
        administrator.get("/customers/me", status=200)
        if number % 10 == 0:
            evict(administrator, keys=["jwks:embedded"])

    def is_in_use():
        # Workers that have the keys in memory ask the file again only after an eviction.
        evict(administrator, keys=["jwks:embedded"])
        return published(api) and "jwks:embedded" in cached(stack)

    wait_until(is_in_use, 60, "the cache to be in use again", pause=0.2)


@pytest.mark.parametrize("kind", [fcntl.LOCK_SH, fcntl.LOCK_EX])
def test_whoever_keeps_the_files_lock_holds_nobody_up_and_no_eviction_back(
        stack, api, administrator, marker, elsewhere, other_file, kind):
    """As a process does that is stopped in the middle of a transaction, here and on the other host."""
    evict(administrator, keys=["jwks:embedded"])
    published(api)
    kids_of(elsewhere[0])
    for path in (cache_file(stack), other_file):
        with open(path, "rb") as file:
            fcntl.flock(file, kind)
            for _ in range(3):
                kid = marker.change()
                evict(administrator, prefixes=["jwks:"])
                assert kid in published(api)
                assert all(kid in kids_of(worker) for worker in elsewhere)
            # They left it its file, and made themselves another.
            assert os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
    assert "jwks:embedded" in cached(stack)


@pytest.mark.fault
def test_workers_killed_while_they_write_leave_a_service_and_a_file_that_are_whole(stack, api, administrator, tmp_path):
    """A hundred kills among workers of the test's own; each round evicts, so that whoever answers writes."""
    settings = {"cache_file": tmp_path / "cache", "metrics_file": tmp_path / "metrics"}
    picked = random.Random(3)
    token = administrator.token
    with system.worker(stack, log_destination="stderr", **settings) as survivor:
        for _ in range(KILLS):
            with system.worker(stack, **settings) as victim:
                evict(administrator, prefixes=["jwks:"])
                ending = threading.Timer(picked.uniform(0, 0.01), victim.process.kill)
                ending.start()
                with contextlib.suppress(OSError):
                    while victim.process.poll() is None:
                        victim.call("GET", KEYS, timeout=5)
                ending.join()
            assert survivor.call("GET", KEYS).status == 200
            assert survivor.call("GET", "/customers/me", token=token).status == 200
        assert survivor.process.poll() is None
        written = pathlib.Path(survivor.log).read_text()
        assert "thrown away" not in written and "made anew" not in written, written[-2000:]
    listed = operator.run(stack, "cache", "keys", environment={"GATEHOUSE_CACHE_FILE": str(tmp_path / "cache")})
    assert "jwks:embedded" in listed
