# SPDX-License-Identifier: MIT
"""No secret that the tests have used is found where it must not be. Runs last, over everything that the run
has written."""

import os
import subprocess

import pytest

from support.accounts import fresh_password

pytestmark = pytest.mark.last


@pytest.fixture(scope="module")
def secrets(api, accounts, stack):
    """Canaries of every kind, used once more in right and wrong ways, and all that the run has collected."""
    invited = accounts.invited()
    password, wrong = fresh_password("Canary"), fresh_password("Wrong canary")
    login = {"username": invited.email, "password": invited.temporary}
    api.post("/customers/login", json=dict(login, password=wrong), status=401)
    api.post("/customers/login", json=dict(login, newPassword="short"), status=400)
    tokens = api.post("/customers/login", json=dict(login, newPassword=password), status=200).json()["tokens"]
    api.post("/customers/login",
             json={"username": invited.email, "password": password, "newPassword": wrong},
             status=400)
    api.post("/customers/login", json={"username": invited.email, "password": [wrong]}, status=400)
    api.post("/customers/login",
             data=f'{{"username":"a","password":"{wrong}"',
             headers={"Content-Type": "application/json"},
             status=400)
    api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"] + "x"}, status=401)
    api.get("/customers/me", token=tokens["accessToken"] + "x", status=401)
    api.get("/customers/me", token=tokens["accessToken"], status=200)
    newer = api.post("/customers/refresh", json={"refreshToken": tokens["refreshToken"]},
                     status=200).json()["tokens"]
    found = set(accounts.secrets) | {password, wrong, invited.temporary}
    for one in (tokens, newer):
        found |= {one[name] for name in ("accessToken", "idToken", "refreshToken")}
        # The signature alone identifies a token, however it is cut.
        found |= {one[name].split(".")[2] for name in ("accessToken", "idToken")}
    return {secret.encode() for secret in found}


def leaks(path, secrets):
    """Which of the secrets a file holds; big files are read in blocks that overlap."""
    longest = max(map(len, secrets))
    found, tail = set(), b""
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 22):
                data = tail + block
                found |= {secret for secret in secrets if secret in data}
                tail = data[-longest:]
    except (FileNotFoundError, PermissionError, ProcessLookupError, OSError):
        pass
    return found


def test_no_secret_is_in_the_log_folder(stack, logs, secrets):
    paths = list(logs.files())
    assert paths and sum(os.path.getsize(path)
                         for path in paths) > 10_000, "the log folder is as good as empty"
    assert not {path: leaks(path, secrets) for path in paths if leaks(path, secrets)}


def test_no_secret_is_in_the_blob_directory_or_the_configuration(stack, secrets):
    for path in (*(path for path, size in stack.blob_files().items() if size < 1 << 16), stack.configuration):
        assert not leaks(path, secrets), path


def test_no_secret_is_on_a_command_line_or_in_an_environment(stack, secrets):
    processes = stack.processes()
    assert processes
    for pid in processes:
        for name in ("cmdline", "environ"):
            assert not leaks(f"/proc/{pid}/{name}", secrets), f"{pid} {name}"


def test_no_secret_stands_in_the_database_in_the_open(database, secrets, tmp_path):
    patterns, values = tmp_path / "secrets", tmp_path / "values"
    patterns.write_bytes(b"\n".join(sorted(secrets)) + b"\n")
    planted = sorted(secrets)[len(secrets) // 2]
    for table in (None, *database.tables()):
        rows = database.run(f"SELECT * FROM `{table}`") if table else [(b"\0" + planted + b"\xff", )]
        values.write_bytes(b"\n".join(value if isinstance(value, bytes) else str(value).encode()
                                      for row in rows for value in row))
        found = subprocess.run(["grep", "-a", "-o", "-F", "-f", patterns, values], capture_output=True, check=False,
                               env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
        assert found.returncode in (0, 1), found.stderr
        assert found.stdout.splitlines() == ([] if table else [planted]), f"a secret in table {table}"


def test_a_temporary_password_is_only_in_the_mail(stack, secrets):
    mails = b"".join(path.read_bytes() for path in stack.mail.glob("*.eml"))
    assert any(secret in mails
               for secret in secrets), "the detector does not see the temporary passwords where they belong"
