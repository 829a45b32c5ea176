# SPDX-License-Identifier: MIT
"""Completion of gatehousectl's command line by a shell: the program offers what its own help names."""

import os
import re
import subprocess

import pytest

from operations.test_commands import commands, run

SCRIPT = """
source "$1"
shift
COMP_WORDS=(gatehousectl "$@")
COMP_CWORD=$#
_gatehousectl
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(name="known", scope="module")
def fixture_known(stack):
    return commands(run(stack, "--help").stdout)


def offered(stack, *words):
    """Candidates without what they mean."""
    done = run(stack, "complete", *words)
    assert done.returncode == 0 and done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_the_first_words_of_all_commands_are_offered_once(stack, known):
    assert offered(stack, "") == list(dict.fromkeys(name.split()[0] for name in known))
    assert offered(stack) == offered(stack, "")


def test_the_second_words_of_each_group_are_offered(stack, known):
    for group in {name.split()[0] for name in known if " " in name}:
        assert [word for word in offered(stack, group, "") if word != ":files"] == [
            name.split()[1] for name in known if name.startswith(group + " ")]


def test_a_beginning_narrows_what_is_offered(stack):
    assert offered(stack, "organ") == ["organisation"]
    assert offered(stack, "user", "set") == ["set-roles"]
    assert offered(stack, "nothing-like-it") == []
    assert offered(stack, "nothing-like-it", "") == []


def test_each_option_in_the_help_is_offered_with_what_it_does(stack, known):
    for name in known:
        text = run(stack, *name.split(), "--help").stdout
        assert sorted(offered(stack, *name.split(), "--")) == sorted(
            "--" + option for option in re.findall(r"(?m)^  --([a-z0-9-]+)", text)), name
    assert "--json\tprint JSON, for programs" in run(stack, "complete", "user", "list", "--j").stdout


def test_files_are_offered_where_one_is_named(stack):
    assert offered(stack, "--config", "") == [":files"]
    assert offered(stack, "backup", "") == [":files"]
    assert offered(stack, "fsck", "--repair", "--from", "") == [":files"]
    assert offered(stack, "identity", "export", "") == [":files"]
    assert offered(stack, "identity", "export", "there", "") == []


def test_words_are_offered_where_the_value_is_one_of_them(stack):
    assert offered(stack, "blobs", "move", "--to", "") == ["directory", "s3"]
    assert offered(stack, "organisation", "set", "--status", "") == ["active", "disabled"]
    assert offered(stack, "user", "list", "--status", "awaiting-f") == ["awaiting-first-login"]
    assert offered(stack, "settings", "set", "--level", "") == ["fatal", "error", "warn", "info", "debug", "trace"]
    for quota in ("--quota-bytes", "--quota-files"):
        assert offered(stack, "organisation", "set", quota, "") == ["none"]


def test_a_configuration_in_front_changes_nothing(stack):
    assert offered(stack, "--config", "user", "organisation", "s") == ["show", "set"]


def test_bash_completes_with_the_installed_script(stack, tmp_path):
    script = stack.ctl.parent.parent / "share" / "bash-completion" / "completions" / "gatehousectl"
    sanitizers = {name: os.environ[name] for name in ("ASAN_OPTIONS", ) if name in os.environ}
    (tmp_path / "a file").touch()

    def complete(*words):
        done = subprocess.run(["bash", "-c", SCRIPT, "bash", str(script), *words], cwd=tmp_path, capture_output=True,
                              text=True, timeout=60, check=True, env={
                                  **sanitizers, "PATH": f"{stack.ctl.parent}:/usr/bin:/bin"})
        return done.stdout.split("\n")[:-1]

    assert complete("user", "") == offered(stack, "user", "")
    assert complete("backup", "a") == ["a file"]
