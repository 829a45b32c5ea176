# SPDX-License-Identifier: MIT
"""Another master secret, step by step, while tokens, links and codes made before go on holding."""

import os
import pathlib
import re
import signal

import pytest

from support import files
from support.accounts import fresh_password
from support.programs import operator
from support.stack import wait_until

pytestmark = pytest.mark.fault


def restart(stack, api):
    """Ends all workers, as an upgrade does; the supervisor starts others."""
    old = set(stack.workers())
    for pid in old:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not old & set(stack.workers()) and len(stack.workers()) >= len(old), 30, "new workers")
    wait_until(lambda: api.get("/system/version", status={200, 502, 503}).status_code == 200, 30, "an answer")


@pytest.fixture()
def secret_file(stack, api):
    text = re.search(r"(?m)^secret_file\s*=\s*(\S+)", pathlib.Path(stack.configuration).read_text())[1]
    path = pathlib.Path(text)
    before = path.read_text()
    yield path
    # Back to the key that the job runner, which is not restarted here, still has.
    own = [line for line in path.read_text().split() if line != before.strip()]
    path.write_text("\n".join([before.strip(), *own]) + "\n")
    operator.run(stack, "rotate-secret")
    path.write_text(before)
    restart(stack, api)


def test_what_was_made_before_holds_until_the_old_key_is_taken_out(stack, api, accounts, mailbox, secret_file,
                                                                   database):
    owner = accounts.customer()
    token = owner.session()["accessToken"]
    owner.post("/customers/forgotten-password", json={"username": owner.email}, status=200)
    code = re.search(r"(?m)^\d{6}$", mailbox.wait(owner.email, count=2).get_body(("plain",)).get_content())[0]
    refresh = owner.session()["refreshToken"]
    record = files.upload(owner, b"hello", "a.txt")
    link = api.post(f"/system/files/{record['id']}/link", token=token, status=200).json()["url"]

    def everything_holds():
        nonlocal refresh
        api.get("/customers/me", token=token, status=200)
        refresh = api.post("/customers/refresh", json={"refreshToken": refresh},
                           status=200).json()["tokens"]["refreshToken"]
        assert api.session.get(link, timeout=10).content == b"hello"
        owner.login()

    first = secret_file.read_text().split()
    mode = secret_file.stat()
    assert len(first) == 1
    assert operator.run(stack, "rotate-secret", "--use", status=1) == ""
    assert "added" in operator.run(stack, "rotate-secret", "--add")
    assert secret_file.read_text().split()[0] == first[0] and len(secret_file.read_text().split()) == 2
    everything_holds()
    restart(stack, api)
    everything_holds()
    assert "first" in operator.run(stack, "rotate-secret", "--use")
    keys = secret_file.read_text().split()
    # Typed twice it would take itself back.
    operator.run(stack, "rotate-secret", "--use", status=1)
    assert secret_file.read_text().split() == keys
    assert keys[1] == first[0] and (secret_file.stat().st_mode, secret_file.stat().st_uid) == (mode.st_mode,
                                                                                               mode.st_uid)
    everything_holds()
    restart(stack, api)
    everything_holds()
    api.post("/customers/reset-password", status=200, json={
        "username": owner.email, "confirmationCode": code, "newPassword": (password := fresh_password())})
    owner.password = password
    token = owner.session()["accessToken"]
    refresh = owner.session()["refreshToken"]
    assert re.search(r"sealed [1-9][0-9]* anew", operator.run(stack, "rotate-secret"))
    assert "sealed 0 anew" in operator.run(stack, "rotate-secret")
    everything_holds()
    assert "took the older keys out" in operator.run(stack, "rotate-secret", "--remove")
    assert secret_file.read_text().split() == keys[:1]
    restart(stack, api)
    everything_holds()
    assert "ok" in operator.run(stack, "check", status=None).stdout


def test_a_bad_line_is_named(stack, secret_file):
    secret_file.write_text(secret_file.read_text() + "not a key\n")
    try:
        done = operator.run(stack, "rotate-secret", status=None)
        assert done.returncode == 1 and "hexadecimal digits" in done.stderr
    finally:
        secret_file.write_text(secret_file.read_text().split()[0] + "\n")
