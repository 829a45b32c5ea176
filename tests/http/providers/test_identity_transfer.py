# SPDX-License-Identifier: MIT
"""gatehousectl identity export and import: people of the embedded provider move to a strict pool of the tests' own, on
a host of their own. Roles and rows stay; passwords do not move."""

import json
import re
import stat

import pytest

from providers import support_remote as remote, test_cognito as flows
from support import mail
from support.programs.host import Host


def switch(host, pool):
    """The host's provider is the pool from now on."""
    text = host.configuration.read_text(encoding="utf-8")
    text, count = re.subn(r"(?m)^provider = embedded$", f"provider = {pool.kind.name}", text)
    assert count == 1
    host.configuration.write_text(text + pool.kind.settings.format(url=pool.url, port=pool.port, folder=host.folder),
                                  encoding="utf-8")
    for name, secret in pool.kind.secrets.items():
        (host.folder / "secrets" / name).write_text(secret, encoding="utf-8")
        (host.folder / "secrets" / name).chmod(0o600)


@pytest.fixture(scope="module", params=["cognito", "keycloak"])
def moved(stack, tmp_path_factory, request):
    """A host with people of the embedded provider, whose configuration names the pool; the place on it and the
    export."""
    if stack.web_server != "nginx" or stack.emulator is not None:
        pytest.skip("needs a stack of the embedded provider; what a provider does not depend on the web server")
    with remote.pool(remote.KINDS[request.param], tmp_path_factory.mktemp("pool")) as pool, Host(stack) as host:
        host.run("migrate")
        (host.folder / "password").write_text(flows.PASSWORDS["admin"], encoding="utf-8")
        host.run("create-admin", "--email", remote.ADMIN, "--password-file", str(host.folder / "password"))
        with host.worker() as worker:
            place = flows.Place(host, pool, worker, stack.prefix)
            admin = place.login(remote.ADMIN, flows.PASSWORDS["admin"])["tokens"]["accessToken"]
            for email in ("owner@move.example", "gone@move.example"):
                body = {"organisation": {"name": email.partition("@")[0]}, "email": email, "firstName": "Mo",
                        "lastName": "Ve"}
                place.ask("POST", "/customers/signup", body, token=admin)
                place.jobs()
                temporary = mail.temporary_password(place.mailbox.wait(email))
                place.login(email, temporary, body={"newPassword": flows.PASSWORDS["owner"]})
            host.rows("UPDATE user SET status = 'disabled' WHERE email = 'gone@move.example'")
        export = host.folder / "people"
        assert "3 users exported" in host.run("identity", "export", str(export))
        switch(host, pool)
        with host.worker() as worker:
            yield flows.Place(host, pool, worker, stack.prefix), export


def test_an_export_says_who_people_are_and_no_password(moved):
    _, export = moved
    head, *lines = [json.loads(line) for line in export.read_text(encoding="utf-8").splitlines()]
    assert head == {"format": "gatehouse-identities", "version": 1, "provider": "embedded"}
    assert {line["email"] for line in lines} == {remote.ADMIN, "owner@move.example", "gone@move.example"}
    assert stat.S_IMODE(export.stat().st_mode) == 0o600
    assert not any("password" in name.lower() for line in lines for name in line)


def test_a_damaged_export_moves_nobody_and_every_fault_is_named(moved):
    place, export = moved
    lines = export.read_text(encoding="utf-8").splitlines()
    broken = json.loads(lines[1])
    broken.update(id="x", email=None, emailVerified="yes", status="there")
    damaged = place.host.folder / "damaged"
    damaged.write_text("\n".join([lines[0], json.dumps(broken), "{", *lines[3:]]) + "\n", encoding="utf-8")
    done = place.host.run("identity", "import", str(damaged), status=None)
    assert done.returncode == 1
    for fault in ("line 2: id", "line 2: email", "line 2: emailVerified", "line 2: status", "line 3"):
        assert f"{fault}: " in done.stderr, done.stderr
    assert place.user("owner@move.example")[1] == "active"


def test_programs_read_of_a_transfer_as_json(moved, tmp_path):
    place, export = moved
    again = tmp_path / "people"
    switched = place.host.run("identity", "export", str(again), "--json", status=None)
    assert (switched.returncode, json.loads(switched.stdout)) == (0, {"users": 3}), switched.stderr
    said = json.loads(place.host.run("identity", "import", str(export), "--dry-run", "--json"))
    assert {one["email"] for one in said["items"]} == {remote.ADMIN, "owner@move.example", "gone@move.example"}
    assert {(one["result"], one["reason"]) for one in said.pop("items")} == {("moved", None)}
    assert said == {"moved": 3, "left": 0, "failed": 0, "dryRun": True, "complete": True}
    (tmp_path / "damaged").write_text("{\n", encoding="utf-8")
    done = place.host.run("identity", "import", str(tmp_path / "damaged"), "--json", status=None)
    said = json.loads(done.stdout)
    assert done.returncode == 1 and said["items"] == [] and said["complete"] is False and "line 1" in done.stderr


def test_people_move_once_and_sign_in_with_what_was_mailed(moved):
    place, export = moved
    assert "3 to be moved, 0 left, 0 failed" in place.host.run("identity", "import", str(export), "--dry-run")
    assert place.user("owner@move.example")[1] == "active"
    before = place.user("owner@move.example")
    assert "3 moved, 0 left, 0 failed" in place.host.run("identity", "import", str(export), "--rate", "100")
    assert "0 moved, 3 left, 0 failed" in place.host.run("identity", "import", str(export))
    after = place.user("owner@move.example")
    assert after[0] == before[0] and after[1] == "awaiting-first-login" and after[2] != before[2]
    assert place.user("gone@move.example")[1] == "disabled"
    place.jobs()
    assert len(place.mailbox.messages("gone@move.example")) == 1, "the first invitation, and none since"
    place.login("owner@move.example", flows.PASSWORDS["owner"], status=401, code="auth.credentials")
    temporary = mail.temporary_password(place.mailbox.wait("owner@move.example", 2))
    tokens = place.login("owner@move.example", temporary, body={"newPassword": flows.PASSWORDS["changed"]})["tokens"]
    assert flows.me(place, tokens["accessToken"])["permissions"]


def test_an_export_that_cannot_be_read_to_its_end_moves_nobody(moved, tmp_path):
    place, _ = moved
    done = place.host.run("identity", "import", str(tmp_path), status=None)
    assert done.returncode == 1 and done.stdout == "" and "cannot be read: Is a directory" in done.stderr, done
