# SPDX-License-Identifier: MIT
"""Schemathesis makes requests of the OpenAPI document, good ones and bad ones, and compares every answer with it.

schemathesis/rules.toml has what its checks cannot know. GATEHOUSE_SCHEMATHESIS names the folder that
tools/lib/emulators/fetch has filled. Each person makes some requests of each operation, and in a full run as many as
five minutes allow."""

import json
import os
import pathlib
import subprocess

import pytest

from conftest import TOP

PROGRAMS = pathlib.Path(os.environ.get("GATEHOUSE_SCHEMATHESIS", ""))
RULES = TOP / "tests" / "clients" / "schemathesis" / "rules.toml"
HOOKS = RULES.with_name("hooks.py")
SECONDS = int(os.environ.get("GATEHOUSE_SCHEMATHESIS_SECONDS", "300" if os.environ.get("GATEHOUSE_TEST_FULL") else "0"))
# What is bounded by a number has them all on a busy machine, too.
BOUNDS = (["--max-time", str(SECONDS), "--phases", "examples,coverage,fuzzing,stateful"] if SECONDS
          else ["--max-examples", "3", "--phases", "fuzzing"])


def run(stack, who, folder, *options):
    """Runs it as somebody; the status and what was said."""
    environment = {**os.environ, "PYTHONPATH": str(PROGRAMS), "GATEHOUSE_USERNAME": who["username"],
                   "GATEHOUSE_PASSWORD": who["password"], "GATEHOUSE_BASE_URL": stack.base_url,
                   "GATEHOUSE_UNLOCK": json.dumps([str(stack.ctl), "--config", str(stack.configuration), "unlock"]),
                   "SCHEMATHESIS_HOOKS": str(HOOKS), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    done = subprocess.run(["/usr/bin/python3", PROGRAMS / "bin" / "schemathesis", "--config-file", RULES, "run",
                           TOP / "docs" / "openapi.json", "--url", stack.base_url, "--checks", "all",
                           "--exclude-checks", "positive_data_acceptance,negative_data_rejection",
                           "--continue-on-failure", *BOUNDS, "--report", "json",
                           "--report-json-path", folder / "report.json", *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, cwd=folder, timeout=SECONDS + 600, check=False)
    return done.returncode, done.stdout


@pytest.fixture(name="people")
def fixture_people(stack, owner, member):
    """Names and passwords."""
    return {"administrator": stack.admin, **{name: {"username": one.email, "password": one.password}
                                             for name, one in (("owner", owner), ("member", member))}}


# Whoever may do more comes later: they disable those who may do less.
@pytest.mark.parametrize("who", ["member", "owner", "administrator"])
def test_every_answer_is_one_that_the_document_tells_of(stack, people, tmp_path, who):
    status, said = run(stack, people[who], tmp_path)
    print(said[-3000:])
    assert status == 0, said
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["failures"] == report["errors"] == [] and report["test_cases"]["generated"] > 0
