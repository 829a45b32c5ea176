# SPDX-License-Identifier: MIT
"""gatehousectl check on copies of the configuration that are each wrong in one way: the part is named, in a sentence
that says what is wrong, and nothing else is."""

import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import time

import pytest

from operations import support_mail_server as fake_mail
from operations.test_health import BOUND, PARTS, ask
from support import readiness
from support.client import check_error
from support.database import key
from support.programs import operator
from support.stack import wait_until


class Copy:
    """A copy of the stack's configuration with other values, and `check` run on it."""

    def __init__(self, stack, folder):
        self.stack = stack
        self.folder = folder
        self.path = folder / "gatehouse.conf"
        self.text = pathlib.Path(stack.configuration).read_bytes()

    def set(self, section, **values):
        """Puts values in place of those in the file."""
        head, mark, rest = self.text.partition(f"[{section}]\n".encode())
        end = rest.find(b"\n[") + 1 or len(rest)
        own = rest[:end]
        for name, value in values.items():
            value = value if isinstance(value, bytes) else str(value).encode()
            own = f"{name} = ".encode() + value + b"\n" + re.sub(rf"(?m)^{name} *=.*\n".encode(), b"", own)
        self.text = head + mark + own + rest[end:]
        return self

    def check(self, status, environment=None, *more):
        self.path.write_bytes(self.text)
        done = operator.run(self.stack, "check", *more, configuration=self.path, status=None, environment=environment)
        assert done.returncode == status and done.stderr == "", done.stdout + done.stderr
        return done.stdout

    def findings(self, status, environment=None):
        """What is not in order: {part: (state, all that is said of it)}."""
        answer = json.loads(self.check(status, environment, "--json"))
        found = {one["part"]: (one["state"], " ".join([one["message"], *one["details"], one["advice"] or ""]))
                 for one in answer["items"] if one["state"] not in ("ok", "note")}
        assert answer["status"] == ("error" if status else "warning" if found else "ok")
        return found

    def one(self, part, state, said, environment=None):
        """The only finding."""
        found = self.findings(1 if state == "error" else 0, environment)
        assert list(found) == [part] and found[part][0] == state, found
        assert said in found[part][1], found
        assert "our side" not in found[part][1]
        return found[part][1]


@pytest.fixture(name="copy")
def fixture_copy(stack, tmp_path):
    return Copy(stack, tmp_path)


@pytest.fixture(name="value")
def fixture_value(stack):
    """A setting of the stack."""
    return lambda name: re.search(rf"(?m)^{name} *= *(.*)$", pathlib.Path(stack.configuration).read_text())[1]


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_stack_in_order_has_no_finding(copy):
    assert copy.findings(0) == {}
    lines = copy.check(0).splitlines()
    assert len(lines) > 15 and all(line.endswith(" ok") or " note: " in line for line in lines), lines


# ---- settings ------------------------------------------------------------------------------------------------


def test_bytes_that_are_no_utf_8_are_named_with_their_line(copy):
    said = copy.set("mail", **{"from": b"J\xfcrgen <j@example.org>"}).one("configuration", "error", "mail.from: line ")
    assert "holds bytes that are not UTF-8" in said
    # Once.
    assert copy.check(1).lower().count("not valid") == 1


def test_a_comment_behind_a_value_is_refused_with_that_word(copy):
    copy.set("database", name="gatehouse ; the name").one("configuration", "error",
                                                          "a comment must stand on a line of its own")


def test_a_sender_that_is_no_address_is_named(copy):
    copy.set("mail", **{"from": "Gatehouse"}).one("mail sender", "error", "Gatehouse")


@pytest.mark.parametrize("variable, meant, state", [
    ("GATEHOUSE_MAIL_FORM", "is GATEHOUSE_MAIL_FROM meant?", "error"),
    ("GATEHOUSE_DATABASE_PASSWORDFILE", "is GATEHOUSE_DATABASE_PASSWORD_FILE meant?", "error"),
    ("GATEHOUSE_SERVICE_HOST", "is no setting and does nothing", "warning"),
])
def test_a_misspelt_variable_is_named(copy, variable, meant, state):
    said = copy.one("environment", state, meant, {variable: "x"})
    assert variable in said


def test_plain_http_to_another_machine_is_a_warning(copy):
    copy.set("service", base_url="http://files.example.org", web_url="https://files.example.org").one(
        "addresses", "warning", "base_url in [service] is http")


def test_an_accent_that_cannot_be_read_is_a_warning(copy):
    copy.set("branding", accent="#ffcc00").one("accent", "warning", "its contrast is 1.51:1")


def test_a_setting_that_is_for_tests_is_a_warning(copy):
    copy.set("testing", provider_rest_seconds="3", refresh_grace_seconds="10").one(
        "testing", "warning", "provider_rest_seconds in [testing] is 3 and not 10")


def test_no_sandbox_is_a_warning(copy):
    copy.set("service", sandbox="false").one("sandbox", "warning", "sandbox in [service] is false")


def test_a_security_txt_that_is_missing_is_a_note_and_one_that_has_expired_a_warning(copy, tmp_path):
    path = tmp_path / "security.txt"
    items = json.loads(copy.set("service", security_txt=path).check(0, None, "--json"))["items"]
    (told, ) = [item for item in items if item["part"] == "security.txt"]
    assert told["state"] == "note" and str(path) in told["message"]
    path.write_text("Contact: mailto:security@example.org\nExpires: 2020-01-01T00:00:00Z\n")
    copy.one("security.txt", "warning", f"{path} has expired at 2020-01-01T00:00:00Z")


def test_a_web_server_s_user_that_there_is_not_is_a_warning(copy):
    copy.set("service", web_server_user="root nobody-of-that-name").one("users", "warning", "nobody-of-that-name")


def test_who_reaches_other_organisations_without_being_staff_is_noted(copy, members, accounts):
    """A note: it may be meant. Roles count, disabled people do not, and neither do permissions that only look so."""
    owner = accounts.customer()
    reaching, plain = members.holding(owner, "cus:file:r cus:file:a"), members.holding(owner, "cus:*:w sys:a:r")
    malformed, gone = members.holding(owner, "CUS:file:a cus:file:aa"), members.holding(owner, "*:*:a")
    owner.patch(f"/customers/organisations/users/{plain.id}", json={"firstName": "Plain"}, status=200)
    members.set_status(gone.id, "disabled")
    (note, ) = [one for one in json.loads(copy.check(0, None, "--json"))["items"] if one["part"] == "staff"]
    assert note["state"] == "note" and reaching.id in note["message"] or "and more" in note["message"]
    assert not any(one.id in note["message"] for one in (plain, malformed, gone, owner))


@pytest.mark.fault
def test_accounts_that_nobody_finds_are_counted(copy, stack, database, accounts):
    """Whose address was changed by hand."""
    for number in range(2):
        database.run("UPDATE user SET email = %s, email_key = %s WHERE id = %s",
                     *2 * [f"É{number}.{secrets.token_hex(4)}@example.org"], key(accounts.invited().id))
    said = copy.one("address keys", "warning", "2 accounts cannot be found by their address")
    assert "gatehousectl migrate" in said
    operator.run(stack, "migrate")
    assert copy.findings(0) == {}


# ---- secrets -------------------------------------------------------------------------------------------------


def test_another_secret_file_is_named(copy, tmp_path):
    path = tmp_path / "secret"
    path.write_text(secrets.token_hex(32))
    path.chmod(0o600)
    said = copy.set("service", secret_file=path).one("secret", "error", f"does not open with {path}")
    assert "Put the secret file back" in said


@pytest.mark.parametrize("mode, said", [(0o604, "Everybody"), (0o644, "Everybody"), (0o602, "Everybody"),
                                        (0o660, "A whole group may change")])
def test_a_secret_file_that_others_may_read_or_change_is_named(copy, value, tmp_path, mode, said):
    path = tmp_path / "secret"
    shutil.copy(value("secret_file"), path)
    path.chmod(mode)
    assert str(path) in copy.set("service", secret_file=path).one("secret files", "error", said)


def test_every_secret_file_is_looked_at(copy, tmp_path):
    path = tmp_path / "password"
    path.write_text("p")
    path.chmod(0o644)
    copy.set("mail", smtp_password_file=path).one("secret files", "error", str(path))


def test_a_secret_file_of_mode_0640_is_in_order(copy, value, tmp_path):
    path = tmp_path / "secret"
    shutil.copy(value("secret_file"), path)
    path.chmod(0o640)
    assert copy.set("service", secret_file=path).findings(0) == {}


def test_a_missing_secret_file_is_named_with_how_it_is_made(copy, tmp_path):
    found = copy.set("service", secret_file=tmp_path / "none").findings(1)
    assert "Run gatehousectl migrate to make it" in found["service"][1] and "secret files" in found


# ---- files and folders ---------------------------------------------------------------------------------------


def test_a_log_that_cannot_be_written_is_named(copy, tmp_path):
    copy.set("log", destination="file", file=tmp_path / "missing" / "gatehouse.log").one(
        "log", "error", f"The folder {tmp_path / 'missing'} of [log] file is missing. Make the folder, and give it")
    copy.set("log", destination="file", file=tmp_path).one("log", "error", "is a folder: name a file in it")


def unfit_log(folder, kind):
    """A path that the log does not take, and what is said of it."""
    path, other = folder / "gatehouse.log", folder / "other"
    other.write_text("kept")
    if kind == "pipe":
        os.mkfifo(path)
        return path, "is not a file: set destination = stderr"
    if kind == "hard link":
        os.link(other, path)
        return path, "has another name (a hard link)"
    path.symlink_to("/dev/stdout" if kind == "/dev/stdout" else other)
    return path, "is a symbolic link, which the log does not follow: name the file itself, or set destination = stderr"


@pytest.mark.parametrize("kind", ["symbolic link", "/dev/stdout", "pipe", "hard link"])
def test_a_log_that_is_no_file_of_its_own_is_named_with_the_way_out(copy, tmp_path, kind):
    path, said = unfit_log(tmp_path, kind)
    chosen = copy.set("log", destination="file", file=path)
    assert "Make the folder" not in chosen.one("log", "error", f"{path} of [log] file {said}")
    # A process that would write the log says the same, and starts nothing.
    done = subprocess.run([str(copy.stack.ctl), "--config", str(copy.path), "jobs"], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode != 0 and f"{path} of [log] file {said}" in done.stderr
    assert (tmp_path / "other").read_text() == "kept"


@pytest.mark.parametrize("section", ["cache", "metrics"])
def test_a_missing_folder_of_shared_memory_is_a_warning(copy, tmp_path, section):
    path = tmp_path / "missing" / section
    copy.set(section, file=path).one(section, "warning", f"The folder {path.parent} of [{section}] file is missing")


def test_a_folder_for_bodies_that_is_missing_is_named(copy, tmp_path):
    copy.set("files", body_directory=tmp_path / "missing").one("bodies", "error", str(tmp_path / "missing"))


def test_too_little_room_is_named(copy):
    copy.set("health", free_bytes_min=1 << 50).one("files", "error", "are free where the files are")


@pytest.fixture(name="store")
def fixture_store(copy, stack, tmp_path):
    """A files folder of the test's own, as the workers leave one, and a way to put it into the configuration."""
    folder = tmp_path / "files"
    folder.mkdir(mode=0o750)
    for shard in ("00", "7f", "ff"):
        (folder / shard).mkdir(mode=0o750)
    copy.set("files", directory=folder)
    return folder


def test_a_files_folder_of_the_workers_is_in_order(copy, store):
    assert copy.findings(0) == {} and store.is_dir()


@pytest.mark.parametrize("mode, said", [(0o757, "Everybody on this machine may put files into"),
                                        (0o1777, "Everybody on this machine may put files into"),
                                        (0o770, "A whole group may put files into")])
def test_a_files_folder_that_others_may_write_is_a_warning(copy, store, mode, said):
    store.chmod(mode)
    assert f"{store} of [files] directory (mode {mode:04o})" in copy.one("files mode", "warning", said)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_folder_of_files_that_root_made_is_named(copy, store):
    for path in (store, store / "00", store / "ff"):
        os.chown(path, 65534, 65534)
    said = copy.one("files owner", "error", f"{store / '7f'} belongs to user 0 and not to the user who writes")
    assert "65534" in said and str(store / "ff") not in said and "chown" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_what_the_workers_user_may_not_touch_is_named(copy, value, tmp_path):
    """Run as that user: the log of another, a folder of another, a secret that only another may read."""
    tmp_path.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == pathlib.Path("/tmp"):
            break
        folder.chmod(0o755)
    log, secret, cache = tmp_path / "gatehouse.log", tmp_path / "secret", tmp_path / "cache"
    log.write_text("")
    log.chmod(0o600)
    shutil.copy(value("secret_file"), secret)
    secret.chmod(0o600)
    cache.mkdir(mode=0o700)
    copy.text = (f"[service]\nbase_url = https://files.example.org\nsecret_file = {secret}\n[log]\ndestination = file\n"
                 f"file = {log}\n[cache]\nfile = {cache}/cache\n[metrics]\nfile = {tmp_path}/metrics\n[mail]\n"
                 f"transport = file\ndirectory = {tmp_path}/mail\n").encode()
    copy.path.write_bytes(copy.text)
    program = tmp_path / "gatehousectl"
    shutil.copy(copy.stack.ctl, program)
    done = subprocess.run([str(program), "--config", str(copy.path), "check"], user="nobody", group="nogroup",
                          extra_groups=[], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": "/usr/bin"})
    said = {line[:14].strip(): line for line in done.stdout.splitlines() if line[0] != " "}
    assert done.returncode == 1
    assert f"{log} of [log] file cannot be written: Permission denied" in said["log"]
    assert f"{secret}, cannot be read: Permission denied." in said["secret files"]
    assert "cannot be read." in said["service"]
    assert "takes no file: Permission denied" in said["cache"] and "warning:" in said["cache"]
    assert "cannot write to the mail directory" in said["mail"]


# ---- mail ----------------------------------------------------------------------------------------------------


def test_missing_texts_of_mails_are_named_as_what_they_are(copy, tmp_path):
    said = copy.set("mail", templates=tmp_path / "missing").one("mail texts", "error", 'lacks the mail "first-login"')
    assert str(tmp_path / "missing" / "en") in said


def test_nobody_at_smtp_url_is_named(copy):
    port = closed_port()
    said = copy.set("mail", transport="smtp", smtp_url=f"smtp://127.0.0.1:{port}", smtp_tls="none").one(
        "mail", "error", f"smtp://127.0.0.1:{port}")
    assert "Check that the mail server runs" in said


@pytest.fixture(name="mail_server")
def fixture_mail_server():
    servers = []

    def start(refuse=None):
        servers.append(fake_mail.MailServer(refuse))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_mail_server_that_answers_gets_no_mail_from_a_check(copy, mail_server):
    server = mail_server()
    assert copy.set("mail", transport="smtp", smtp_url=server.url, smtp_tls="none").findings(0) == {}
    assert any(word.startswith("EHLO") for word in server.commands)
    assert not any(word.startswith(("MAIL", "RCPT", "DATA")) for word in server.commands)


def test_one_mail_is_sent_to_try_the_way(copy, mail_server):
    server = mail_server()
    copy.set("mail", transport="smtp", smtp_url=server.url, smtp_tls="none")
    said = copy.check(0, None, "--mail", "ann@example.org")
    assert said == f"the mail to ann@example.org was taken by {server.url}\n"
    assert "RCPT TO:<ann@example.org>" in server.commands
    assert sum(word.startswith("DATA") for word in server.commands) == 1


def test_a_refusal_of_that_mail_is_told_in_the_server_s_words(copy, mail_server):
    server = mail_server("550 5.1.1 nobody here")
    copy.set("mail", transport="smtp", smtp_url=server.url, smtp_tls="none").path.write_bytes(copy.text)
    done = operator.run(copy.stack, "check", "--mail", "ann@example.org", configuration=copy.path, status=None)
    assert done.returncode == 1 and "refused for good" in done.stderr and "550 5.1.1 nobody here" in done.stderr
    done = operator.run(copy.stack, "check", "--mail", "nobody", configuration=copy.path, status=None)
    assert done.returncode == 2 and '"nobody" is no e-mail address' in done.stderr


def test_that_mail_goes_into_the_folder_where_that_is_the_way(copy, tmp_path):
    copy.set("mail", transport="file", directory=tmp_path / "mail").check(0, None, "--mail", "ann@example.org")
    (letter, ) = (tmp_path / "mail").glob("*.eml")
    assert "ann@example.org" in letter.read_text() and "check --mail" in letter.read_text()


# ---- what a worker says of itself ----------------------------------------------------------------------------


def assert_warned(worker, stack, part):
    """The part is a warning: the worker is ready all the same, and says in the log what is wrong."""
    status, states, body = ask(worker, stack)
    assert status == 200 and [name for name in PARTS if states[name] != "ok"] == [part], states
    assert states[part] == "warning" and str(stack.path.parent) not in json.dumps(body)


def test_ready_warns_of_a_missing_cache_folder(stack, tmp_path):
    folder = tmp_path / "run"
    with readiness.worker(stack, cache_file=folder / "cache") as worker:
        assert_warned(worker, stack, "cache")
        assert str(folder) in pathlib.Path(worker.log).read_text() or log_tells(stack, str(folder))
        folder.mkdir()
        wait_until_all_ok(worker, stack)


def log_tells(stack, text):
    return any(text in path.read_text(errors="replace") for path in stack.logs.glob("*.log"))


def wait_until_all_ok(worker, stack):
    wait_until(lambda: set(ask(worker, stack)[1].values()) == {"ok"}, 60, "the warning to go")


def test_ready_warns_of_a_log_that_went_away(stack, tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    with readiness.worker(stack, log_destination="file", log_file=folder / "gatehouse.log") as worker:
        assert set(ask(worker, stack)[1].values()) == {"ok"}
        folder.rename(tmp_path / "away")
        assert_warned(worker, stack, "log")
        (tmp_path / "away").rename(folder)
        wait_until_all_ok(worker, stack)


def test_ready_warns_of_a_mail_server_that_is_not_there(stack):
    with readiness.worker(stack, mail_transport="smtp", mail_smtp_url=f"smtp://127.0.0.1:{closed_port()}",
                          mail_smtp_tls="none") as worker:
        assert_warned(worker, stack, "mail")


def test_ready_warns_of_a_misspelt_variable_and_the_log_names_it(stack, tmp_path):
    log = tmp_path / "worker.log"
    with readiness.worker(stack, mail_form="x", log_destination="file", log_file=log) as worker:
        assert_warned(worker, stack, "configuration")
        text = log.read_text()
        assert "GATEHOUSE_MAIL_FORM" in text and "GATEHOUSE_MAIL_FROM" in text


def test_ready_warns_of_a_secret_that_everybody_may_read(stack, value, tmp_path):
    path = tmp_path / "secret"
    shutil.copy(value("secret_file"), path)
    path.chmod(0o644)
    with readiness.worker(stack, service_secret_file=path) as worker:
        assert_warned(worker, stack, "configuration")
        path.chmod(0o600)
        wait_until_all_ok(worker, stack)


def test_ready_names_another_secret_file(stack, tmp_path):
    path = tmp_path / "secret"
    path.write_text(secrets.token_hex(32))
    path.chmod(0o600)
    with readiness.worker(stack, service_secret_file=path, cache_file=tmp_path / "cache") as worker:
        answer, body = readiness.ask(worker, stack)
        check_error(answer.status, answer.headers, answer.body, "ready")
        assert answer.status == 500 and body["body"]["part"] == "secrets" and str(path) not in json.dumps(body)
        assert [entry["path"] for entry in body["validation"]] == ["secrets"]


def test_a_mail_server_that_says_nothing_holds_ready_for_a_second_alone(stack):
    with socket.create_server(("127.0.0.1", 0)) as silent, readiness.worker(
            stack, mail_transport="smtp", mail_smtp_url=f"smtp://127.0.0.1:{silent.getsockname()[1]}",
            mail_smtp_tls="none") as worker:
        begun = time.monotonic()
        assert_warned(worker, stack, "mail")
        assert time.monotonic() - begun < BOUND
        # Known for a minute.
        assert_warned(worker, stack, "mail")
