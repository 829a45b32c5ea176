# SPDX-License-Identifier: MIT
"""The worker program itself: what it says of its options, what it cannot start without, and which sockets and web
servers it serves."""

import os
import socket
import subprocess

import pytest

from support.programs import system
from support.stack import wait_until
from support.wire import fastcgi_client


def run(stack, *arguments, stdin=subprocess.DEVNULL, **environment):
    """A worker that ends by itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    return subprocess.run(stack.as_workers([stack.worker_program(), *arguments]), stdin=stdin, capture_output=True,
                          text=True, timeout=60, env={**kept, "GATEHOUSE_LOG_DESTINATION": "stderr", **environment},
                          check=False)


def test_it_tells_its_version(stack, api):
    told = run(stack, "--version")
    assert told.returncode == 0
    assert told.stdout == f"gatehouse {api.get('/system/version', status=200).json()['version']}\n"


def test_an_unknown_option_is_refused_with_the_usage(stack):
    told = run(stack, "--nonsense")
    assert told.returncode == 2
    assert "usage: gatehouse.fcgi [--config FILE]" in told.stderr


def test_without_a_listening_socket_it_ends_and_says_what_to_use(stack):
    told = run(stack, "--config", stack.configuration)
    assert told.returncode == 1
    assert "no listening socket at descriptor 0; start this program through spawn-fcgi" in told.stderr


def test_without_a_configuration_it_ends_and_names_the_file(stack):
    told = run(stack, "--config", "/nowhere/gatehouse.conf")
    assert told.returncode == 1
    assert "/nowhere/gatehouse.conf" in told.stderr


def test_without_the_database_of_file_types_it_does_not_serve(stack, tmp_path):
    """An upload would be taken for whatever its sender says."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "worker.sock"))
        listener.listen()
        told = run(stack, "--config", stack.configuration, stdin=listener, MAGIC="/nowhere/magic")
    assert told.returncode == 1
    assert "the sniffer cannot be started" in told.stderr


def test_an_unknown_web_server_user_is_told_and_the_others_are_served(stack):
    users = "nobody no-such-user-at-all"
    with system.worker(stack, service_web_server_user=users, log_destination="stderr") as worker:
        with open(worker.log, encoding="utf-8") as log:
            assert "no-such-user-at-all" in log.read()
        assert worker.call("GET", stack.prefix + "/system/version").status == 200


@pytest.mark.parametrize("pool", ["login", "7"])
def test_a_socket_of_any_name_is_served(stack, pool):
    """A name that is no pool's stands for the only pool there is."""
    with system.worker(stack, pool=pool) as worker:
        assert worker.call("GET", stack.prefix + "/system/version").status == 200


def test_who_has_connected_already_is_served_when_a_worker_of_mod_fcgid_leaves(stack):
    """mod_fcgid gives each worker a socket of its own, so no other one takes over what waits there."""
    values = fastcgi_client.environment("GET", stack.prefix + "/system/version")
    # The first of its two requests was that which found it ready.
    with system.worker(stack, pool="4711.0", service_requests_per_worker=2) as worker:
        with worker.connect() as second, worker.connect() as third, worker.connect() as fourth:
            assert [one.request(values).status for one in (second, third, fourth)] == [200, 200, 200]
        assert worker.process.wait(60) == 0
        with pytest.raises(ConnectionRefusedError):
            worker.connect()


def test_a_tcp_socket_is_served_on_this_machine(stack):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        process = subprocess.Popen(stack.as_workers([stack.worker_program(), "--config", stack.configuration]),
                                   stdin=listener, stderr=subprocess.DEVNULL)
    try:
        values = fastcgi_client.environment("GET", stack.prefix + "/system/version")
        request = fastcgi_client.begin() + fastcgi_client.stream(
            fastcgi_client.PARAMS, fastcgi_client.pairs(values)) + fastcgi_client.stream(fastcgi_client.STDIN, b"")
        with socket.create_connection(address, 60) as connection:
            connection.sendall(request)
            answer = b""
            while more := connection.recv(65536):
                answer += more
        assert b"Status: 200" in answer
        assert process.poll() is None
        process.terminate()
        wait_until(lambda: process.poll() is not None, 60, "the worker to end")
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
