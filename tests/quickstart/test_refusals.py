# SPDX-License-Identifier: MIT
"""Each thing that can go wrong with a start is one plain sentence on the standard error, and nothing is left behind."""

import os
import socket

import pytest


def refusal(quickstart, *options, status=1):
    """The sentence with which this start is refused."""
    done = quickstart.run(*options)
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stderr.startswith("quickstart: ") and done.stderr.strip().endswith(".")
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1
    return done.stderr


def test_a_taken_port(quickstart):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", quickstart.port))
        holder.listen()
        assert f"Port {quickstart.port} is taken" in refusal(quickstart, "--background")
    assert not quickstart.state.exists()


def test_no_build_needs_programs_that_are_there(quickstart, tmp_path):
    assert "Leave out --no-build" in refusal(quickstart, "--no-build", "--build-directory", str(tmp_path))
    assert not any(tmp_path.iterdir())
    assert "not allowed with" in refusal(quickstart, "--no-build", "--build-only", status=2)


def test_a_folder_in_use(quickstart, another):
    quickstart.start()
    another.state = quickstart.state
    for options in ((), ("--background",)):
        assert "is running in" in refusal(another, *options)
    assert quickstart.facts()["baseUrl"].endswith(str(quickstart.port))


@pytest.mark.parametrize("server", ["apache", "apache-fcgid"])
def test_uploads_handed_on_in_a_way_that_only_nginx_knows(quickstart, server):
    for way in ("file", "unbuffered"):
        assert "only nginx" in refusal(quickstart, "--web-server", server, "--uploads", way, status=2)
    assert not quickstart.state.exists()


@pytest.mark.parametrize("options, words", [(("--web-server", "apache"), "run nginx"),
                                            (("--web-server", "apache-fcgid"), "run nginx"),
                                            (("--store", "directory"), "store of kind s3")])
def test_a_cluster_of_what_cannot_be_one(quickstart, options, words):
    assert words in refusal(quickstart, "--cluster", *options, status=2)
    assert not quickstart.state.exists()


@pytest.mark.parametrize("options, data, words", [(("--cluster",), "mariadb", "the data of a single machine"),
                                                  ((), "cluster.json", "Start it with --cluster")])
def test_the_data_of_the_other_kind(quickstart, options, data, words):
    (quickstart.state / "data" / data).mkdir(parents=True)
    (quickstart.state / ".gatehouse-quickstart").touch()
    assert words in refusal(quickstart, *options)


def test_a_path_too_long_for_sockets(quickstart):
    quickstart.state = quickstart.state / ("x" * 100)
    assert "too long for the Unix sockets" in refusal(quickstart)


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "a$b", "a;b", "ü"])
def test_a_path_with_odd_signs(quickstart, name):
    quickstart.state = quickstart.state / name
    assert "Choose a plain one" in refusal(quickstart)
    assert not quickstart.state.exists()


def test_a_folder_with_other_things_in_it(quickstart):
    quickstart.state.mkdir()
    (quickstart.state / "thesis.txt").write_text("irreplaceable")
    assert "holds other things" in refusal(quickstart)
    assert [entry.name for entry in quickstart.state.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_folders_place(quickstart):
    quickstart.state.write_text("")
    assert "is a file, not a folder" in refusal(quickstart)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user(quickstart):
    quickstart.state.mkdir()
    os.chown(quickstart.state, 65534, 65534)
    assert "belongs to nobody" in refusal(quickstart)


@pytest.mark.parametrize("options", [("--port", "0"), ("--port", "65536"), ("--port", "x"), ("--workers", "0"),
                                     ("--workers", "257"), ("--web-server", "iis"), ("--provider", "x"), ("--bogus",),
                                     ("--state", "")])
def test_wrong_usage(quickstart, options):
    refusal(quickstart, *options, status=2)


def test_stopping_what_does_not_run_is_no_fault(quickstart):
    assert "Nothing is running" in quickstart.stop().stdout
    assert not quickstart.state.exists()
