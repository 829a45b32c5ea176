# SPDX-License-Identifier: MIT
"""What keeps an installation from hurting itself: passwords anybody would guess, data in the clear, root among the
workers' files, secrets in core files."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import subprocess

import pytest

from support.accounts import fresh_email, fresh_password
from support.programs import crash, operator
from support.stack import wait_until


def refused(reply, path):
    assert reply.json()["code"] == "password.policy"
    assert [(e["path"], e["code"]) for e in reply.json()["validation"]] == [(path, "personal")]


def test_no_path_takes_the_name_of_the_organisation(api, accounts, mailbox):
    name = f"Bücher {fresh_password('Ltd')}"
    invited = accounts.invited(organisation={"name": name})
    refused(api.post("/customers/login", json=invited.credentials(newPassword=name.upper()), status=400), "newPassword")
    password = fresh_password()
    token = api.post("/customers/login", json=invited.credentials(newPassword=password),
                     status=200).json()["tokens"]["accessToken"]
    refused(api.post("/customers/change-password", token=token, status=400,
                     json={"password": password, "newPassword": name}), "newPassword")
    refused(api.post("/customers/organisations/users", token=token, status=400, json={
        "email": fresh_email(), "password": name, "firstName": "A", "lastName": "B"}), "password")
    refused(api.post("/customers/admin-set-password", token=accounts.administrator.token, status=400,
                     json={"username": invited.email, "password": name.lower()}), "password")
    api.post("/customers/forgotten-password", json={"username": invited.email}, status=200)
    letter = mailbox.wait(invited.email, count=2)
    code = re.search(r"(?m)^\d{6}$", letter.get_body(("plain",)).get_content())[0]
    refused(api.post("/customers/reset-password", status=400, json={
        "username": invited.email, "confirmationCode": code, "newPassword": name}), "newPassword")


def test_the_first_administrator_neither(stack, tmp_path):
    secret = tmp_path / "password"
    secret.write_text("Internal")
    done = operator.run(stack, "create-admin", "--email", fresh_email(), "--password-file", str(secret), status=None)
    assert done.returncode == 1


def other_configuration(stack, tmp_path, **database):
    """A copy of the configuration with another [database] section's socket, host and so on."""
    text = pathlib.Path(stack.configuration).read_text()
    head, section, rest = re.split(r"(?m)^(\[database\]\n)", text, maxsplit=1)
    own, tail = re.split(r"(?m)^(?=\[)", rest, maxsplit=1) if re.search(r"(?m)^\[", rest) else (rest, "")
    own = re.sub(r"(?m)^(socket|host|tls)\s*=.*\n", "", own)
    path = tmp_path / "gatehouse.conf"
    path.write_text(head + section + "".join(f"{name} = {value}\n" for name, value in database.items()) + own + tail)
    return path


@pytest.mark.parametrize("host", ["192.0.2.1", "127.evil.example", "db.example"])
def test_a_database_elsewhere_without_tls_is_refused(stack, tmp_path, host):
    path = other_configuration(stack, tmp_path, host=host)
    done = operator.run(stack, "check", configuration=path, status=None)
    assert done.returncode == 1 and "tls = off-on-a-trusted-network" in done.stdout + done.stderr
    done = operator.run(stack, "organisation", "list", configuration=path, status=None)
    assert done.returncode == 1 and host in done.stderr and "in the clear" in done.stderr
    worker = subprocess.run([stack.worker_program(), "--config", str(path)], capture_output=True, text=True,
                            timeout=60, check=False)
    assert worker.returncode == 1


def test_words_let_the_operator_have_it(stack, tmp_path):
    path = other_configuration(stack, tmp_path, host="127.0.0.1")
    done = operator.run(stack, "organisation", "list", configuration=path, status=None)
    assert "in the clear" not in done.stderr
    path = other_configuration(stack, tmp_path, host="192.0.2.1", tls="off-on-a-trusted-network", port=1)
    done = operator.run(stack, "organisation", "list", configuration=path, status=None)
    assert "in the clear" not in done.stderr and "tls" not in done.stderr


def test_workers_leave_no_core_file_and_show_no_memory(stack):
    for pid in stack.workers():
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"(?m)^Max core file size +0 +0 ", limits)
        # What is not dumpable belongs to root, whoever runs it.
        assert pathlib.Path(f"/proc/{pid}/mem").stat().st_uid == 0


def test_programs_are_built_to_be_hard_to_take_over(stack):
    """What the compiler and the linker do for it, as the finished programs have it."""
    for program in (stack.worker_program(), stack.ctl):
        done = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "--dyn-syms", program], stdout=subprocess.PIPE,
                              text=True, check=True)
        names = set(re.findall(r" (?:GLOBAL|WEAK) +\w+ +UND (\w+)", done.stdout))
        assert len(names) > 100, done.stdout
        # It lies elsewhere each time, and what the loader has filled in is read only before main() begins.
        assert re.search(r"Type: +DYN \(Position-Independent", done.stdout)
        assert "GNU_RELRO" in done.stdout and re.search(r"\(FLAGS\) +BIND_NOW", done.stdout)
        # No memory is both written and run, and no library comes from a folder that the program names.
        assert re.search(r"GNU_STACK .* RW +0x", done.stdout) and not re.search(r"(?m)^ +LOAD .* RWE ", done.stdout)
        assert not re.search(r"\((?:RPATH|RUNPATH|TEXTREL)\)", done.stdout)
        assert not names & {"gets", "strcpy", "strcat", "stpcpy", "sprintf", "vsprintf", "strtok", "atoi", "mktemp"}
        if not crash.sanitized(stack):
            assert {"__stack_chk_fail", "__memcpy_chk"} <= names


@pytest.fixture(name="public")
def fixture_public():
    """A folder that every user can enter."""
    folder = pathlib.Path(f"/tmp/gatehouse-hardening-{os.getpid()}")
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


@contextlib.contextmanager
def waiting(command, fifo, owner, **options):
    """The command's process, while it waits for the other end of a pipe that it takes for a file."""
    os.mkfifo(fifo)
    shutil.chown(fifo, owner)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def is_dumpable(process):
    # What is not dumpable belongs to root, whoever runs it.
    return pathlib.Path(f"/proc/{process.pid}/mem").stat().st_uid != 0


def user_of(process):
    return int(re.search(r"(?m)^Uid:\t\d+\t(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1])


def test_the_operators_commands_show_no_memory(stack, public):
    """The mark is set before anything is read, so a command that waits for its configuration has it already."""
    somebody = "nobody" if os.geteuid() == 0 else os.geteuid()
    user = {"user": somebody} if os.geteuid() == 0 else {}
    program = shutil.copy(stack.ctl, public / "gatehousectl")
    with waiting(["sleep", "60"], public / "other", somebody, **user) as plain:
        wait_until(lambda: is_dumpable(plain), 30, "a program without the mark")
    with waiting([program, "--config", public / "conf", "check"], public / "conf", somebody, **user) as process:
        wait_until(lambda: not is_dumpable(process), 30, "the mark")
        assert process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="is about root")
def test_root_becomes_the_workers_user_before_a_command_about_the_cache_opens_anything(stack, public):
    """As the folder of the cache says. Then the command waits for a password, and still shows no memory."""
    folder = public / "cache"
    folder.mkdir()
    shutil.chown(folder, "nobody", "nogroup")
    # The workers' user can read the configuration, which is read once more.
    conf = shutil.copy(stack.configuration, public / "conf")
    pathlib.Path(conf).chmod(0o644)
    environment = {**os.environ, "GATEHOUSE_CACHE_FILE": str(folder / "cache"),
                   "GATEHOUSE_SERVICE_SECRET_FILE": str(public / "secret")}
    nobody = pwd.getpwnam("nobody").pw_uid
    for command in (["keys"], ["evict", "--key", "a"], ["flush"]):
        with waiting([stack.ctl, "--config", conf, "cache", *command], public / "secret", "nobody",
                     env=environment) as process:
            wait_until(lambda: process.poll() is not None or user_of(process) == nobody, 30, "the workers' user")
            assert process.poll() is None, command
            wait_until(lambda: not is_dumpable(process), 30, "the mark")
        (public / "secret").unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="is about root")
def test_root_leaves_the_workers_cache_alone(stack, tmp_path):
    folder = pathlib.Path("/tmp") / f"gatehouse-cache-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        shutil.chown(folder, "nobody", "nogroup")
        cache = folder / "cache"
        cache.write_bytes(b"not a cache at all" * 1000)
        shutil.chown(cache, "nobody", "nogroup")
        before = cache.stat()
        environment = {"GATEHOUSE_CACHE_FILE": str(cache)}
        operator.run(stack, "organisation", "list", environment=environment)
        operator.run(stack, "settings", "get", environment=environment)
        after = cache.stat()
        assert (before.st_ino, before.st_mtime_ns, before.st_uid) == (after.st_ino, after.st_mtime_ns, after.st_uid)
        cache.unlink()
        operator.run(stack, "organisation", "list", environment=environment)
        assert list(folder.iterdir()) == []
    finally:
        shutil.rmtree(folder)
