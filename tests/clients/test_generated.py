# SPDX-License-Identifier: MIT
"""What was generated is what the document gives now, and the packages are whole."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from pydantic.alias_generators import to_camel

import gatehouse_client
from conftest import TOP
from gatehouse_client import models

PYTHON = TOP / "clients" / "python"


def run(*command, folder=TOP, **environment):
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)


def schemas():
    return json.loads((TOP / "docs" / "openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]


def test_the_generated_part_is_what_the_document_gives_now(programs):
    done = run(TOP / "tools" / "generate-clients", "--check", "--programs", programs)
    assert done.returncode == 0, done.stdout


def test_members_have_one_name_in_json_and_one_in_python():
    """The records have no list of aliases: a member's name in JSON must follow from that in Python."""
    looked_at = 0
    for name, schema in schemas().items():
        record = getattr(models, name, None)
        if record is None:  # a form, or part of what is written by hand
            continue
        looked_at += 1
        assert {to_camel(member) for member in record.model_fields} == set(schema["properties"]), name
    assert looked_at > 60


def test_a_record_of_a_newer_service_can_be_read():
    """Members and values that this version does not know do no harm."""
    entry = models.PermissionSource.model_validate_json('{"source": "user", "permission": "a:b:r", "since": "2030"}')
    assert entry.to_dict() == {"source": "user", "permission": "a:b:r"}
    assert models.Version(name="Gatehouse", version="9", api_version="2").api_version == "2"
    assert models.Health.model_validate({"status": "better"}).status == "better"


def test_the_python_client_is_strictly_typed(programs, tmp_path):
    done = run(sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--package", "gatehouse_client", folder=PYTHON,
               PYTHONPATH=f"{programs / 'python'}")
    assert done.returncode == 0, done.stdout
    assert re.search(r"no issues found in [0-9]{2,} source files", done.stdout), done.stdout


def test_the_python_package_can_be_published(programs, tmp_path):
    """It is built in a copy, and holds types, licence and its own version."""
    copy = tmp_path / "package"
    shutil.copytree(PYTHON, copy, ignore=shutil.ignore_patterns("__pycache__", "dist", "*.whl", "*.tar.gz"))
    done = run(sys.executable, "-c", "from flit_core import buildapi; buildapi.build_wheel('.'); "
               "buildapi.build_sdist('.')", folder=copy, PYTHONPATH=str(programs / "python"))
    assert done.returncode == 0, done.stdout
    wheel, = copy.glob("*.whl")
    assert wheel.name == f"gatehouse_client-{gatehouse_client.__version__}-py3-none-any.whl"
    assert len(list(copy.glob("*.tar.gz"))) == 1
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.namelist()
    assert {"gatehouse_client/py.typed", "gatehouse_client/client.py", "gatehouse_client/generated/models/user.py"} \
        <= set(inside)
    assert any(name.endswith("LICENSE") for name in inside)


@pytest.mark.parametrize("client", ["python", "typescript"])
def test_the_page_of_a_package_names_nothing_outside_it(client):
    """The registries show it, where the rest of this tree is not."""
    folder = TOP / "clients" / client
    for target in re.findall(r"\]\(([^)]*)\)", (folder / "README.md").read_text(encoding="utf-8")):
        if not target.startswith(("https://", "#")):
            place = (folder / target.split("#")[0]).resolve()
            assert place.is_relative_to(folder) and place.exists(), target


@pytest.mark.parametrize("client", ["python", "typescript"])
def test_a_client_has_the_licence_of_the_tree(client):
    assert (TOP / "clients" / client / "LICENSE").read_bytes() == pathlib.Path(TOP / "LICENSE").read_bytes()
