# SPDX-License-Identifier: MIT
"""The OpenAPI document has no finding of the linters that others use; tests/clients/lint has their rules, with a reason
for each that is off."""

import json
import os
import pathlib
import subprocess

import pytest

from conftest import TOP

RULES = TOP / "tests" / "clients" / "lint"
PROGRAMS = pathlib.Path(os.environ.get("GATEHOUSE_DOCUMENT_LINT", "")) / "node_modules" / ".bin"
DOCUMENT = TOP / "docs" / "openapi.json"


def spectral(document):
    """What Spectral finds."""
    done = run("spectral", "lint", document, "--ruleset", RULES / "spectral.yaml", "--format", "json",
               "--fail-severity", "hint", "--quiet")
    assert done.returncode in (0, 1), done.stdout
    return [entry["code"] for entry in json.loads(done.stdout)]


def redocly(document):
    """What Redocly CLI finds."""
    done = run("redocly", "lint", document, "--config", RULES / "redocly.yaml", "--format", "json")
    assert done.returncode in (0, 1), done.stdout
    return [problem["ruleId"] for problem in json.loads(done.stdout)["problems"]]


def run(program, *arguments):
    return subprocess.run([PROGRAMS / program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, timeout=300, check=False,
                          env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"})


@pytest.mark.parametrize("lint", [spectral, redocly])
def test_the_document_has_no_finding(lint):
    assert lint(DOCUMENT) == []


@pytest.mark.parametrize("lint, rule", [(spectral, "operation-operationId"), (redocly, "security-defined")])
def test_a_fault_of_the_document_is_found(lint, rule, tmp_path):
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    del document["paths"]["/customers/me"]["get"]["operationId"]
    del document["paths"]["/customers/me"]["get"]["security"]
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert rule in lint(path)
