# SPDX-License-Identifier: MIT
"""Readers paste the commands of README.md and of the guides. Here they are run as they stand there, against a quick
start, and must print what the guides say."""

import re

import pytest

import support_transcript as transcript
from conftest import ENVIRONMENT, TOP

# A guide's commands begin in a folder in which a quick start can be found as in a clone of the sources.
GUIDES = ["docs/api.md", "docs/permissions.md", "docs/backup-drill.md", "docs/first-hour.md"]
START = "tools/quickstart --background"
PREPARED = """
BASE=$(jq -r .baseUrl .quickstart/quickstart.json)
TOKEN=$(jq .admin .quickstart/quickstart.json | curl -sS --json @- "$BASE/customers/login" | jq -r .tokens.accessToken)
{ printf '\\223noise'; head -c 3000000 /dev/urandom; } > large.bin
"""
WRAPPER = "#!/bin/sh\nexec {command} \"$@\"\n"


def follow(guide, folder, address):
    """Runs what the guide says; returns its steps and all faults."""
    steps = transcript.read((TOP / guide).read_text(encoding="utf-8"))
    assert steps, f"{guide} has no commands"
    transcript.run(steps, folder, ENVIRONMENT, address)
    comparison = transcript.Comparison()
    return steps, [f"{fault}\n{step}" for step in steps for fault in comparison.faults(step)]


def commands_of(guide):
    return "\n".join(step.commands for step in transcript.read((TOP / guide).read_text(encoding="utf-8")))


def clone(folder, quickstart):
    """A folder that looks like a clone: tools/quickstart is this test's own one, and .quickstart its state."""
    place = folder / "clone"
    (place / "tools").mkdir(parents=True)
    quickstart.state = place / ".quickstart"
    program = place / "tools" / "quickstart"
    program.write_text(WRAPPER.format(command=" ".join(f"'{word}'" for word in quickstart.command())), encoding="utf-8")
    program.chmod(0o755)
    return place


def test_the_commands_of_the_readme_work_as_they_stand_there(folder, quickstart):
    place = clone(folder, quickstart)
    text = (TOP / "README.md").read_text(encoding="utf-8")
    first = text[text.index("## A first upload"):]
    steps = transcript.read(first[:first.index("\n## ", 1)])
    assert sum(step.commands.count("curl ") for step in steps) >= 4
    transcript.run(steps, place, ENVIRONMENT, f"http://127.0.0.1:{quickstart.port}")
    comparison = transcript.Comparison()
    faults = [f"{fault}\n{step}" for step in steps for fault in comparison.faults(step)]
    assert not faults, "\n".join(faults)


def test_the_commands_for_resumable_uploads_work(folder, quickstart):
    """The clients' own examples are run where the clients are (with_tus_clients.py)."""
    place = clone(folder, quickstart)
    quickstart.start()
    text = (TOP / "docs/files.md").read_text(encoding="utf-8")
    section = text[text.index("## Resumable uploads"):]
    steps = transcript.read(section[:section.index("\n## ", 1)])
    assert [step.commands.count("Tus-Resumable") for step in steps] == [3]
    transcript.run([transcript.Step(PREPARED), *steps], place, ENVIRONMENT, quickstart.facts()["baseUrl"])
    comparison = transcript.Comparison()
    assert not [f"{fault}\n{step}" for step in steps for fault in comparison.faults(step)]


@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_a_guide_print_what_it_says(folder, quickstart, guide):
    place = clone(folder, quickstart)
    if START not in (TOP / guide).read_text(encoding="utf-8"):
        quickstart.start()
    steps, faults = follow(guide, place, f"http://127.0.0.1:{quickstart.port}")
    assert all(step.said is None or step.printed for step in steps)
    assert not faults, "\n\n".join(faults)


def test_guides_can_be_followed_one_after_the_other():
    """On one quick start: an account that a guide makes is not there already because of another one."""
    made = [address for guide in GUIDES
            for address in sorted(set(re.findall(r'"email": "([^"]+)"', commands_of(guide))))]
    assert len(made) >= 5 and len(set(made)) == len(made), made


@pytest.mark.parametrize("said, printed, good", [
    ('{"a": 1}', '{"a": 1}', True), ('{"a": 1}', '{"a": 2}', False), ('{"a": 1}', '{"a": 1, "b": 2}', False),
    ('{"a": 1, "…": "…"}', '{"a": 1, "b": 2}', True), ('{"a": [1, "…"]}', '{"a": [1, 2, 3]}', True),
    ('{"a": true}', '{"a": 1}', False), ('{"a": "x…z"}', '{"a": "xyz"}', True),
    ('{"a": "x…z"}', '{"a": "xy"}', False),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', False),
    ('["2026-01-31T09:30:00.000Z"]', '["2027-02-01T10:00:00.123Z"]', True),
    ('["2026-01-31T09:30:00.000Z"]', '["yesterday"]', False),
    ('["01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77", "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"]',
     '["11980a6e-52c1-7c44-8f3d-3a0b6f1d2e77", "11980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"]', True),
    ('["01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77", "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"]',
     '["11980a6e-52c1-7c44-8f3d-3a0b6f1d2e77", "21980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"]', False),
    ('{"a": 1} {"b": 2}', '{"a": 1}', False),
])
def test_what_a_guide_says_is_compared_value_by_value(said, printed, good):
    step = transcript.Step("")
    step.kind, step.said, step.printed = "json", said, printed
    assert bool(transcript.Comparison().faults(step)) != good
