# SPDX-License-Identifier: MIT
"""--provider, as docs/identity-providers.md has it: what a start brings along. tools/test providers has fetched the
programs and runs these."""

import os
import subprocess

import pytest

from conftest import TOP
from test_demo import has_the_example
from test_life import ask, signs_in

FETCH = TOP / "tools" / "lib" / "emulators" / "fetch"
NOWHERE = "http://127.0.0.1:9/"
OFFLINE = {"npm_config_registry": NOWHERE, "npm_config_fetch_retries": "0", "PIP_INDEX_URL": NOWHERE,
           "PIP_RETRIES": "0", "PIP_NO_INDEX": "", "PIP_FIND_LINKS": ""}
MIRROR = f"<mirror><id>none</id><mirrorOf>*</mirrorOf><url>{NOWHERE}</url></mirror>"
MAVEN = f"<settings><mirrors>{MIRROR}</mirrors></settings>\n"


def login(quickstart, name, password):
    """Status of a login."""
    return ask(quickstart, "POST", "/customers/login", {"username": name, "password": password})[0]


@pytest.mark.parametrize("provider", ["cognito", "keycloak"])
def test_a_second_start_finds_the_accounts_and_those_of_the_example(quickstart, provider):
    began = quickstart.start("--demo", "--provider", provider)
    facts = quickstart.facts()
    assert facts["provider"] == provider and facts["emulator"] in began.stdout
    assert facts["providerUrl"] in began.stdout and os.path.isdir(f"/proc/{facts['pids']['provider']}")
    assert signs_in(quickstart)
    has_the_example(quickstart)
    quickstart.stop()
    assert not quickstart.processes()
    quickstart.start("--demo", "--provider", provider)
    again = quickstart.facts()
    assert again["admin"] == facts["admin"] and again["providerUrl"] == facts["providerUrl"]
    assert signs_in(quickstart)
    assert login(quickstart, facts["admin"]["username"], "not the password") == 401
    has_the_example(quickstart)


@pytest.mark.parametrize("emulator", ["cognito-local", "moto", "keycloak"])
def test_without_its_registry_a_sentence_says_what_could_not_be_fetched(tmp_path, emulator):
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(MAVEN, encoding="utf-8")
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "MAVEN_OPTS": f"-Duser.home={tmp_path}",
                   **OFFLINE}
    done = subprocess.run([FETCH, emulator, tmp_path / "new"], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"{emulator} could not be fetched from ") and last.endswith("Is the machine connected?")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"downloads", f"{emulator}.lock"}
