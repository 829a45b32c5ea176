# SPDX-License-Identifier: MIT
"""The TypeScript client: it compiles strictly, and its cases in tests/clients/typescript hold in Node."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import TOP

CLIENT = TOP / "clients" / "typescript"
CASES = sorted((TOP / "tests" / "clients" / "typescript").glob("*.test.mjs"))
# What came after Node 20.0, and with which version.
SINCE = {"AbortSignal.any": (20, 3)}
USES = """\
import { type FileRecord, Gatehouse, GatehouseError, iterate, type User } from "gatehouse-client";
const gatehouse = new Gatehouse("https://gatehouse.example.org");
const user: User = await gatehouse.signIn("a", "b");
const files: FileRecord[] = await gatehouse.uploadTogether([], { bucket: "files", type: "misc" });
for await (const file of iterate((page) => gatehouse.files.listFiles({ ...page }))) {
    const size: number = file.info.size;
}
const code: string = new GatehouseError({ status: 0, code: "a", message: user.email }).code;
"""


@pytest.mark.parametrize("path", CASES, ids=[path.name.split(".")[0] for path in CASES])
def test_the_cases_hold_in_node(compiled, stack, new_owner, invited, path):
    owner = new_owner()
    email, temporary = invited()
    facts = {"client": str(compiled / "index.js"), "baseUrl": stack.base_url,
             "owner": {"email": owner.email, "password": owner.password},
             "admin": {"email": stack.admin["username"], "password": stack.admin["password"]},
             "invited": {"email": email, "temporary": temporary}}
    done = subprocess.run(["node", "--test", path], env={**os.environ, "GATEHOUSE_CLIENT_FACTS": json.dumps(facts)},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=180, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\bpass [1-9]", done.stdout), done.stdout


def test_the_types_fit_those_who_use_them(compiled, programs, tmp_path):
    """A program of another package sees them, and a wrong one is refused."""
    package = tmp_path / "node_modules" / "gatehouse-client"
    package.mkdir(parents=True)
    (package / "package.json").write_bytes((CLIENT / "package.json").read_bytes())
    (package / "dist").symlink_to(compiled)
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for text, good in ((USES, True), (USES.replace('type: "misc"', 'type: "mist"'), False),
                       (USES.replace("file.info.size", "file.info.colour"), False)):
        (tmp_path / "program.ts").write_text(text, encoding="utf-8")
        done = subprocess.run([programs / "node_modules" / ".bin" / "tsc", "--noEmit", "--strict", "--target", "ES2022",
                               "--module", "NodeNext", "--types", "", "program.ts"], cwd=tmp_path,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=180, check=False)
        assert (done.returncode == 0) == good, done.stdout


def test_the_package_asks_for_a_node_that_has_what_it_uses():
    asked = re.fullmatch(r">=(\d+)\.(\d+)", json.loads((CLIENT / "package.json").read_text())["engines"]["node"])
    text = "".join(path.read_text(encoding="utf-8") for path in (CLIENT / "src").glob("*.ts"))
    for name, since in SINCE.items():
        assert name in text and (int(asked[1]), int(asked[2])) >= since, name
    assert f"Node {asked[1]}.{asked[2]} and later" in (CLIENT / "README.md").read_text(encoding="utf-8")


def test_the_package_can_be_published(compiled, tmp_path):
    """It holds what is compiled with its types, licence and page, and no source."""
    for name in ("package.json", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((CLIENT / name).read_bytes())
    shutil.copytree(compiled, tmp_path / "dist")
    done = subprocess.run(["npm", "pack", "--json", "--ignore-scripts", "--offline", "--cache", tmp_path / "cache"],
                          cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=180,
                          check=True)
    packed, = json.loads(done.stdout)
    names = {entry["path"] for entry in packed["files"]}
    assert {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"} <= names
    assert all(name.startswith("dist/") or "/" not in name for name in names)
    assert packed["version"] == json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["version"]
