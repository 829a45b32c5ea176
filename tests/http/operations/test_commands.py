# SPDX-License-Identifier: MIT
"""gatehousectl's command line: each command explains itself, what is wrong with one is named, JSON is for programs."""

import json
import re
import subprocess
import uuid

import pytest

from api.test_replies import ROOT
from support.accounts import fresh_email
from support.programs import operator

MANUAL = (ROOT / "docs" / "gatehousectl.8").read_text()


def run(stack, *words):
    """As typed: without --config, with status, standard output and standard error."""
    return subprocess.run([str(stack.ctl), *words], capture_output=True, text=True, timeout=60, check=False)


def commands(text):
    return [match[1].strip() for match in re.finditer(r"(?m)^  (\S.{22})", text)]


@pytest.fixture(name="known", scope="module")
def fixture_known(stack):
    done = run(stack, "--help")
    assert done.returncode == 0 and done.stderr == ""
    names = commands(done.stdout)
    assert {"check", "organisation set", "settings history", "version"} <= set(names)
    return names


def test_each_command_explains_itself(stack, known):
    for name in known:
        for option in ("--help", "-h"):
            done = run(stack, *name.split(), option)
            assert done.returncode == 0 and done.stderr == "", name
            assert done.stdout.startswith(f"usage: gatehousectl [--config FILE] {name}"), name
            assert all(word in done.stdout for word in ("--config FILE", "--help")), name
    # Where something else stands before it, too: nothing is done.
    assert run(stack, "organisation", "set", "x", "--status", "disabled", "--help").returncode == 0


def test_the_commands_of_a_group_are_listed(stack, known):
    # What is a command itself explains itself: scrub, beside scrub status.
    for group in {name.split()[0] for name in known if " " in name} - set(known):
        done = run(stack, group, "--help")
        assert done.returncode == 0 and commands(done.stdout) == [name for name in known
                                                                  if name.startswith(group + " ")]


def test_the_manual_names_every_command_and_option(stack, known):
    plain = re.sub(r"(?m)^\.(Op|It|Nm|Cm|Fl|Ar|Xo|Oo|Oc) ?", "", MANUAL)
    for name in known:
        assert all(re.search(rf"(Cm|^\.It|\|) ?(Cm )?.*\b{re.escape(word)}\b", MANUAL, re.M)
                   for word in name.split()), name
        for option in re.findall(r"(?m)^  --([a-z-]+)", run(stack, *name.split(), "--help").stdout):
            assert f"Fl -{option}" in MANUAL or f"-{option}" in plain, f"{name} --{option}"


@pytest.mark.parametrize("words, said", [
    (("chek", ), "there is no command chek"),
    (("organisation", ), "organisation is not a whole command"),
    (("organisation", "lst"), "there is no command organisation lst"),
    (("--konfig", "x", "check"), "there is no option --konfig"),
    (("--config", ), "no file is named behind --config"),
    (("check", "--quik"), "there is no option --quik"),
    (("check", "-x"), "there is no option -x"),
    (("check", "extra"), "there is one word too many: extra"),
    (("purge", ), "the option --older-than is missing"),
    (("purge", "--older-than"), "the option --older-than takes a value"),
    (("purge", "--older-than", "3 days"), '--older-than takes a whole number from 0 to 36500, not "3 days"'),
    (("purge", "--dry-run=yes", "--older-than", "9"), "the option --dry-run=yes takes no value"),
    (("unlock", ), "USERNAME is missing"),
    (("organisation", "show", "acme"), '"acme" is no id'),
    (("organisation", "set", "acme", "--status", "off"), '"acme" is no id'),
    (("organisation", "set", str(uuid.uuid4())), "there is nothing to set"),
    (("organisation", "set", str(uuid.uuid4()), "--status", "off"), '--status takes active or disabled, not "off"'),
    (("organisation", "set", str(uuid.uuid4()), "--quota-files", "few"),
     '--quota-files takes a whole number or none, not "few"'),
    (("settings", "rollback", "first"), '"first" is no version'),
    (("settings", "set"), "--level, --filter or both say what to set"),
    (("cache", "evict"), "there is nothing to evict"),
    (("fsck", "--from", "/tmp"), "--from goes with --repair"),
    (("jobs", "--once", "--list"), "--once and --list do not go together"),
    (("rotate-keys", "--tokens", "--links"), "--tokens and --links do not go together"),
    (("identity", "setup", "--as", "root"), "--as and --secret-file go together"),
    (("identity", "setup", "--json", "--shell"), "--json and --shell do not go together"),
    (("user", "set-roles", "somebody@example.org"), "ROLES is missing"),
    (("user", "list", "--status", "gone"), "--status takes awaiting-first-login, awaiting-confirmation, active or "
                                           "disabled"),
    (("user", "list", "--organisation", "acme"), '--organisation takes an id, not "acme"'),
    (("organisation", "set", str(uuid.uuid4()), "--name", ""), "--name has 1 to 200 characters"),
    (("organisation", "set", str(uuid.uuid4()), "--name", "n" * 500), "--name has 1 to 200 characters"),
    (("organisation", "set", str(uuid.uuid4()), "--name", "a:b"), "--name has 1 to 200 characters"),
    (("organisation", "set", str(uuid.uuid4()), "--name", "\u200b"), "--name has 1 to 200 characters"),
    (("organisation", "set", str(uuid.uuid4()), "--services", "inventory catering"), "--services takes"),
    (("organisation", "set", str(uuid.uuid4()), "--services", ""), "--services takes"),
    (("organisation", "set", str(uuid.uuid4()), "--quota-bytes", "-1"), "--quota-bytes takes"),
    (("cache", "evict", "--key", ""), "--key takes 1 to"),
    (("cache", "evict", "--prefix", "x" * 5000), "--prefix takes 1 to"),
    (("cache", "evict", *["--key", "x"] * 200), "--key is given more than"),
    (("rotate-secret", "--add", "--use"), "--add, --use and --remove are steps of their own"),
    (("blobs", "move", "--to", "tape"), "--to is directory or s3"),
    (("blobs", "move", "--to", "s3", "--rate", "fast"), "--rate takes a whole number"),
    (("fsck", "--min-age", "old"), "--min-age takes a whole number"),
    (("fsck", "--rate", "fast"), "--rate takes a whole number"),
    (("identity", "import", "/nowhere", "--rate", "0"), "--rate takes a whole number"),
    (("settings", "set", "--level", "info", "--if-version", "old"), "--if-version"),
    (("settings", "history", "--limit", "none"), "--limit takes a whole number"),
    (("permissions", "unused", "--days", "400"), "--days takes a whole number"),
])
def test_what_is_wrong_with_the_line_is_named(stack, words, said):
    done = run(stack, *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(f"gatehousectl: {said}"), done.stderr
    assert "usage: gatehousectl" in done.stderr


def test_each_way_to_ask_for_help_and_for_the_version_is_answered(stack):
    text = run(stack, "--help").stdout
    assert "usage:" in text and "blobs move" in text
    for words in (("-h", ), ("help", )):
        done = run(stack, *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, text, ""), words
    told = run(stack, "version").stdout
    assert run(stack, "--version").stdout == told and told.startswith("gatehousectl ")
    assert f"gatehousectl {json.loads(run(stack, 'version', '--json').stdout)['version']}\n" == told
    done = run(stack, "settings", "--help")
    assert done.returncode == 0 and "settings rollback" in done.stdout and "blobs move" not in done.stdout
    assert run(stack, "settings", "-h").stdout == done.stdout


def test_the_configuration_may_be_named_before_or_behind_the_command(stack, tmp_path):
    missing = str(tmp_path / "gatehouse.conf")
    for words in ((f"--config={missing}", "settings", "get"), ("--config", missing, "settings", "get"),
                  ("settings", "get", "--config", missing), ("settings", "get", f"--config={missing}")):
        done = run(stack, *words)
        assert done.returncode == 1 and missing in done.stderr and done.stdout == "", words


def test_who_names_no_configuration_is_told_so(stack):
    done = run(stack, "settings", "get")
    assert done.returncode == 1 and "service.base_url: must be set" in done.stderr
    assert re.search(r"no file is named \(--config, GATEHOUSE_CONFIG\), and /\S+/gatehouse.conf does not exist",
                     done.stderr), done.stderr


def test_without_a_command_there_is_help_and_a_failure(stack):
    done = run(stack)
    assert done.returncode == 2 and done.stdout == "" and "usage:" in done.stderr


def test_an_unknown_id_or_person_is_named(stack):
    unknown = str(uuid.uuid4())
    for words in (("organisation", "show", unknown), ("organisation", "set", unknown, "--quota-files", "1"),
                  ("unlock", "nobody-here@example.org"), ("unlock", unknown)):
        done = operator.run(stack, *words, status=None)
        name = unknown if unknown in words else words[-1]
        assert done.returncode == 1 and name in done.stderr and done.stdout == "", words


def test_the_configuration_may_be_named_behind_the_command(stack):
    id_line = run(stack, "organisation", "list", "--config", stack.configuration)
    assert id_line.returncode == 0 and id_line.stdout == operator.run(stack, "organisation", "list")


def read(stack, *words):
    return json.loads(operator.run(stack, *words, "--json"))


def test_lists_and_records_come_as_json(stack, owner):
    identity = owner.user["organisationId"]
    (listed, ) = (one for one in read(stack, "organisation", "list")["items"] if one["id"] == identity)
    shown = read(stack, "organisation", "show", identity)
    assert listed.items() <= shown.items()
    assert set(shown) == {"id", "name", "status", "quotaBytes", "quotaFiles", "services", "activeFiles", "activeBytes",
                          "archivedFiles", "archivedBytes", "createdAt", "updatedAt"}
    assert shown["status"] == "active" and shown["quotaBytes"] is None and shown["services"] == ["inventory"]
    changed = json.loads(operator.run(stack, "organisation", "set", "--json", identity, "--quota-files", "12345"))
    assert changed["quotaFiles"] == 12345
    operator.run(stack, "organisation", "set", identity, "--quota-files", "none")


def test_the_tables_come_as_json(stack):
    rows = read(stack, "routes")["items"]
    lines = operator.run(stack, "routes").splitlines()
    assert [[row["method"], row["path"], row["access"], row["operation"]] for row in rows] == [line.split()
                                                                                               for line in lines]
    operator.run(stack, "settings", "set", "--level", "info")
    (newest, ) = read(stack, "settings", "history", "--limit", "1")["items"]
    assert newest["version"] >= 1 and newest["settings"]["logging"]["level"] == "info" and newest["userId"] is None
    assert all(set(job) >= {"number", "kind", "status", "lastError"} for job in read(stack, "jobs", "--list")["items"])
    keys = read(stack, "cache", "keys", "jwks:")["items"]
    assert all(entry["key"].startswith("jwks:") and entry["bytes"] > 0 for entry in keys)


def test_every_command_has_a_form_for_programs(stack, known):
    assert [name for name in known if "  --json " not in run(stack, *name.split(), "--help").stdout] == []


def test_the_openapi_document_is_json_already(stack):
    text = operator.run(stack, "openapi")
    assert operator.run(stack, "openapi", "--json") == text and json.loads(text)["openapi"].startswith("3.")


def test_the_rights_of_the_workers_account_come_as_json(stack):
    said = read(stack, "grants")
    assert set(said) == {"database", "user", "host", "items"} and said["database"] == stack.database["name"]
    place = f"`{said['database']}`.`{{table}}` TO '{said['user']}'@'{said['host']}'"
    for one in said["items"]:
        assert one["statement"] == f"GRANT {one['rights']} ON {place.format(table=one['table'])}"
    assert [one["statement"] + ";" for one in said["items"]] == operator.run(stack, "grants").splitlines()
    done = operator.run(stack, "grants", "--json", environment={"GATEHOUSE_DATABASE_USER": "it's"})
    assert "TO 'it\\'s'@" in json.loads(done)["items"][0]["statement"]


def test_a_new_administrator_comes_as_json(stack, api, tmp_path):
    email = fresh_email()
    made = read(stack, "create-admin", "--email", email)
    assert set(made) == {"id", "organisationId", "email", "password"} and made["email"] == email
    api.post("/customers/login", json={"username": email, "password": made["password"]}, status=200)
    assert read(stack, "user", "show", email)["id"] == made["id"]
    given = tmp_path / "password"
    given.write_text(made["password"])
    given.chmod(0o600)
    assert read(stack, "create-admin", "--email", fresh_email(), "--password-file", str(given))["password"] is None
    freed = read(stack, "unlock", email)
    assert freed == {"id": made["id"], "organisationId": made["organisationId"], "email": email}


def test_a_new_version_of_the_settings_comes_as_json(stack):
    first = read(stack, "settings", "set", "--level", "info")
    assert set(first) == {"version", "settings"} and first["settings"]["logging"]["level"] == "info"
    assert read(stack, "settings", "get") == first
    second = read(stack, "settings", "rollback", str(first["version"]))
    assert second == {"version": first["version"] + 1, "settings": first["settings"]}


def test_counts_of_what_was_done_come_as_json(stack):
    for words in (("cache", "flush"), ("cache", "evict", "--prefix", "jwks:"), ("cache", "evict", "--secrets")):
        said = read(stack, *words)
        assert set(said) == {"evicted"} and said["evicted"] >= 0, words
    said = read(stack, "mirror")
    assert said == {"sent": said["sent"], "failed": 0, "complete": True} and said["sent"] >= 1


def test_new_keys_come_as_json(stack, tmp_path):
    assert read(stack, "rotate-keys", "--links") == {"tokens": False, "links": True, "complete": True}
    copy = tmp_path / "secret"
    copy.write_text("11" * 32 + "\n")
    copy.chmod(0o600)
    own = {"GATEHOUSE_SERVICE_SECRET_FILE": str(copy)}
    done = operator.run(stack, "rotate-secret", "--add", "--json", environment=own)
    assert json.loads(done) == {"file": str(copy), "keys": 2, "changed": True, "sealedAnew": 0, "sealedBefore": 0,
                                "unknown": 0, "complete": True}
    assert len(copy.read_text().split()) == 2
    said = read(stack, "rotate-secret")
    assert said["sealedAnew"] == 0 and said["sealedBefore"] > 0 and not said["changed"] and said["complete"]
