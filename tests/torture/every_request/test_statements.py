# SPDX-License-Identifier: MIT
"""Each statement of a request fails once: lost on its way, carried out without an answer, refused by the server. No
other answer than the right one or an error of the service; what was answered 200 is done, what was refused is not."""

import json
import random
import unittest.mock

import pytest

import support_ledger as ledgers
from support.database import key
from support.members import USERS
from support.runs.effort import FULL
from support_ground import Ground
from support_pool import Pool
from support_proxy import CONNECT_SECONDS, StatementProxy
from support_requests import MORE_REQUESTS, OTHER_REQUESTS, REQUESTS, USUAL, operations

FAULTS = {
    "lost on its way": "before",
    "carried out, its answer lost": "after",
    "refused": (1105, "HY000", "Unknown error"),
    "a conflict": (1213, "40001", "Deadlock found when trying to get lock; try restarting transaction"),
    "read only": (1290, "HY000", "The server is running with the --read-only option"),
}


def read_back(ground, path):
    """What a GET is answered with."""
    return json.loads(ground.call("GET", path).body)


# Of how many statements of a costly kind one fault is tried in an ordinary run.
FEW = 10
# Those that need not ask the database.
WITHOUT = ("updateOwnUser: a wrong body", "authorise: a wrong body", "authorise: one's own permission",
           "listFiles: a wrong cursor", "getLimits", "getBranding", "getVersion", "getMetrics", "getOpenApiDocument",
           "describeUploads", "listPermissions", "listSigningKeys", "checkLiveness")
ALL = REQUESTS | MORE_REQUESTS | OTHER_REQUESTS
# What a change is answered with, and by what it is read again.
CHANGES = {
    "first name": (lambda ground, number: ground.call("PATCH", "/customers/me", {"firstName": f"Olive {number}"}),
                   lambda ground: read_back(ground, "/customers/me")["user"]["firstName"],
                   lambda number: f"Olive {number}"),
    "tags": (lambda ground, number: ground.call("PATCH", f"/system/files/{ground.file}", {"tags": [f"tag{number}"]}),
             lambda ground: read_back(ground, "/system/files")["items"][0]["tags"],
             lambda number: [f"tag{number}"]),
    "name of a colleague": (
        lambda ground, number: ground.call("PATCH", f"{USERS}/{ground.colleague}", {"lastName": f"Grey {number}"}),
        lambda ground: read_back(ground, f"{USERS}/{ground.colleague}")["user"]["lastName"],
        lambda number: f"Grey {number}"),
    "name of the organisation": (
        lambda ground, number: ground.call("PATCH", "/customers/organisation", {"name": f"Example {number}"}),
        lambda ground: read_back(ground, "/customers/organisation")["organisation"]["name"],
        lambda number: f"Example {number}"),
}


@pytest.fixture()
def proxy(stack, tmp_path):
    between = StatementProxy(tmp_path, stack.database["socket"])
    yield between
    between.close()


@pytest.fixture()
def ground(stack, account, accounts, proxy, tmp_path, ledger):
    folder = tmp_path / "files"
    folder.mkdir()
    # A full run makes more accounts than an organisation may in an hour.
    with Pool(stack, 1, database_socket=proxy.path, database_connect_timeout_seconds=CONNECT_SECONDS,
              files_directory=folder, files_delivery="stream", limits_accounts_per_hour=1000000) as pool:
        made = Ground(pool, account, ledger, accounts)
        made.folder = folder
        yield made


def asked(accounts, pool, request):
    """The ids of the operations that a request asks the worker for."""
    with unittest.mock.patch.object(pool, "call", wraps=pool.call) as call:
        request()
    paths = [(one.args[0], one.args[1].partition("?")[0]) for one in call.call_args_list]
    return {accounts.api.document.operation(method, path)["operationId"] for method, path in paths}


def statements(proxy, request):
    """How many a request makes."""
    proxy.arm()
    request()
    return proxy.disarm()[0]


def each(proxy, request):
    """(a sentence, fault, number) for each fault of each statement of the request."""
    count = statements(proxy, request)
    assert count, "the proxy does not see them"
    return [(f"statement {nth} of {count} is {name}", fault, nth)
            for nth in range(1, count + 1) for name, fault in FAULTS.items()]


def some(faults):
    """One fault of each of a few statements, in their order."""
    shuffled = {nth: (where, fault, nth) for where, fault, nth in random.sample(faults, len(faults))}
    return [shuffled[nth] for nth in sorted(random.sample(sorted(shuffled), min(FEW, len(shuffled))))]


def check_answer(where, answer, usual):
    """The right one, or a clean error."""
    assert answer is not None, f"{where}: no answer"
    assert answer.status in (usual, 500), f"{where}: {answer}"
    if answer.status == 500 and answer.body:  # HEAD is told nothing more
        said = json.loads(answer.body)
        assert said["code"] in ("database.unavailable", "internal"), f"{where}: {said}"
        assert said["code"] != "database.unavailable" or "Retry-After" in answer.headers, f"{where}: {answer}"


@pytest.mark.parametrize("name", ALL)
def test_each_statement_of_a_request_fails_once(stack, ground, accounts, proxy, database, name):
    def ask():
        return ALL[name](ground)

    usual = USUAL.get(name, 200)
    assert set(operations(name)) <= asked(accounts, ground.pool, ask), "the kind has another name than what it asks for"
    assert [ask().status for _ in range(2)] == [usual] * 2
    if statements(proxy, ask) == 0:
        assert name in WITHOUT
        return
    seen = {}
    # Each of these makes an account or signs in beforehand; a full run takes the time for all of them.
    faults = each(proxy, ask)
    for where, fault, nth in some(faults) if name in OTHER_REQUESTS and not FULL else faults:
        proxy.arm(fault, nth)
        answer = ask()
        met = proxy.disarm()[1]
        check_answer(f"{name}: {where}", answer, usual)
        seen[answer.status] = seen.get(answer.status, 0) + met
        again = ask()
        assert again is not None and again.status == usual, f"{name}: {where}; afterwards {again}"
        assert ground.pool.living() == 1, f"{name}: {where}: the worker has ended"
    print(f"{name}: {seen}")
    assert seen
    database.run("DELETE FROM file_upload WHERE organisation_id = %s", key(ground.account.organisation["id"]))
    for path in ground.folder.glob("partial/*"):
        path.unlink()
    ledgers.check(ground.ledger, database, ground.folder)
    ledgers.repair(stack, database, ground.folder)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_what_its_answer_says(ground, proxy, name):
    change, read, wanted = CHANGES[name]
    done = 0
    assert change(ground, 0).status == 200
    for number, (where, fault, nth) in enumerate(each(proxy, lambda: change(ground, 1)), 2):
        before = read(ground)
        proxy.arm(fault, nth)
        answer = change(ground, number)
        proxy.disarm()
        check_answer(f"{name}: {where}", answer, 200)
        unknown = ledgers.UNKNOWN in json.loads(answer.body).get("message", "")
        expected = [wanted(number)] if answer.status == 200 else [before, wanted(number)] if unknown else [before]
        assert read(ground) in expected, f"{name}: {where}: {answer}, and now it is {read(ground)}"
        done += answer.status == 200
    print(f"{name}: {done} of them were done all the same")
    assert done
