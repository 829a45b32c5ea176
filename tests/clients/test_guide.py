# SPDX-License-Identifier: MIT
"""The examples of docs/clients.md and of the clients' own pages work as they stand there."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import TOP
from support import samples

PAGES = {
    "python": ("docs/clients.md", "clients/python/README.md"),
    "ts": ("docs/clients.md", "clients/typescript/README.md"),
}
# Pieces that are no program by themselves; other tests run what they show.
PIECES = ("MePatch(phone=None)", "tokens=kept", "tokens: kept")


def examples():
    for language, pages in PAGES.items():
        for page in pages:
            text = (TOP / page).read_text(encoding="utf-8")
            blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
            assert blocks, f"{page} has no example in {language}"
            for number, block in enumerate(blocks, 1):
                if not any(piece in block for piece in PIECES):
                    yield pytest.param(language, block, id=f"{page} {number}")


@pytest.mark.parametrize("language, program", examples())
def test_an_example_works_as_it_stands_there(compiled, stack, new_owner, programs, tmp_path, language, program):
    owner = new_owner()
    (tmp_path / "large.bin").write_bytes(samples.noise(5_000_000))
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4\n" + os.urandom(5_000_000))
    for said, meant in (("https://gatehouse.example.org", stack.base_url), ("olivia@example.org", owner.email),
                        ("seven grey herons wade", owner.password), ("tom@example.org", f"tom.{owner.email}")):
        assert said in program or said == "tom@example.org"
        program = program.replace(said, meant)
    done = RUN[language](program, tmp_path, programs=programs, compiled=compiled)
    assert done.returncode == 0, done.stdout
    assert "stored as" in done.stdout or "missing: sys:settings:a" in done.stdout


def run(folder, *command, **environment):
    return subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)


def run_python(program, folder, programs, **_):
    (folder / "example.py").write_text(program, encoding="utf-8")
    return run(folder, sys.executable, "-B", "example.py",
               PYTHONPATH=f"{TOP / 'clients' / 'python' / 'src'}:{programs / 'python'}")


def run_typescript(program, folder, compiled, **_):
    """The examples have nothing that JavaScript has not."""
    package = folder / "node_modules" / "gatehouse-client"
    package.mkdir(parents=True)
    shutil.copy(TOP / "clients" / "typescript" / "package.json", package)
    (package / "dist").symlink_to(compiled)
    (folder / "example.mjs").write_text(program, encoding="utf-8")
    return run(folder, "node", "--no-warnings", "example.mjs")


RUN = {"python": run_python, "ts": run_typescript}
