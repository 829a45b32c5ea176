# SPDX-License-Identifier: MIT
"""Each place of a command at which it opens, reads, writes, syncs, links, renames or removes a file, connects to the
database or sends it a statement fails once: a full disk, a bad one, a right that is missing, a read that is cut short,
a refusal, a connection that is lost. The command ends with an error that says something to the operator, or does all
the same what it was asked; so it does when somebody ends or kills it there. No bytes are lost, and the next run finds
nothing broken and finishes."""

import errno
import os

import pytest

from support_commands import COMMANDS
from support_places import Places, kind_of, told

pytestmark = pytest.mark.hosts
# The sentence for callers of the service, which helps no operator.
FOR_CALLERS = "our side"


@pytest.fixture(scope="module", name="places")
def fixture_places(site, tmp_path_factory):
    library = os.environ.get("GATEHOUSE_PLACES")
    assert library and os.path.exists(library), "GATEHOUSE_PLACES must name the library made from preload/places.c"
    return Places(tmp_path_factory.mktemp("places"), library, site.host.folder)


def fail_once(site, command, name, places, place, number):
    """The command with that call failing, then once more; how it ended, and whether the call has failed."""
    where = f"{name}: {told(place, number)}"
    words = command.words(site)
    places.arm(place, number)
    done = site.call_command(*words, command=command, environment=places.environment)
    fired = places.fired()
    places.arm()
    ended = done.returncode < 0 and number == done.returncode
    assert ended or done.returncode in (0, 1, 2), f"{where}: {done}"
    said = done.stdout + done.stderr
    assert done.returncode <= 0 or said.strip(), f"{where}: no word of it: {done}"
    assert FOR_CALLERS not in said, f"{where}: {said}"
    site.keep(ended)
    if fired and number >= 0:
        places.learn(place, done.returncode != 0)
    try:
        if done.returncode != 0:
            words = command.again(site, words)
            again = site.call_command(*words, command=command)
            assert again.returncode in (0, site.usual), f"afterwards {again}"
        command.done(site, words)
    except (AssertionError, OSError, ValueError) as fault:
        raise AssertionError(f"{where}, which ended {done}; then {fault}") from fault
    return done, fired


def places_of(site, command, places):
    """Those of a run that meets nothing, after which all is as it is to be."""
    words = command.words(site)
    places.arm()
    usual = site.call_command(*words, command=command, environment=places.environment)
    assert usual.returncode in (0, 1), usual
    site.usual = usual.returncode
    seen = places.seen()
    assert seen, "the library sees no call"
    command.done(site, words)
    return seen


@pytest.mark.parametrize("name", COMMANDS)
def test_each_place_of_a_command_fails_once(site, places, name):
    command = COMMANDS[name]
    seen = places_of(site, command, places)
    tried, fired = 0, 0
    for place, number in places.draw(seen):
        tried += 1
        fired += fail_once(site, command, name, places, place, number)[1]
    print(f"{name}: {len(seen)} places, {tried} failures tried, {fired} met")
    assert tried == 0 or fired, "no failure was met"


@pytest.mark.parametrize("name", ["migrate", "backup", "backup that goes on", "restore"])
def test_a_folder_that_cannot_be_read_to_its_end_is_an_error(site, places, name):
    """What stands in it would count as missing: migrations, the newest backup, what an interrupted one has left."""
    command = COMMANDS[name]
    folders = [place for place in places_of(site, command, places) if kind_of(place) == "readdir"]
    assert folders
    for place in folders:
        done, fired = fail_once(site, command, name, places, place, errno.EIO)
        assert fired and done.returncode == 1, f"{told(place, errno.EIO)}: {done}"
        assert os.strerror(errno.EIO) in done.stderr, done
