# SPDX-License-Identifier: MIT
"""How the bodies of uploads reach a worker: through the connection, or as a file that the web server names."""

import http.client
import json
import os
import re
import socket

import pytest

from support import files, multipart, samples
from support.client import check_error
from support.programs import system
from support.stack import wait_until
from support.wire import fastcgi_client

pytestmark = [pytest.mark.web_server, pytest.mark.upload_mode]

PARAMETER = "GATEHOUSE_BODY_FILE"


@pytest.fixture()
def bodies(tmp_path):
    folder = tmp_path / "bodies"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture()
def worker(stack, bodies, tmp_path):
    """A worker of the test's own that takes files from a folder of the test's own."""
    with system.worker(stack, files_body_directory=str(bodies)) as one:
        yield one


def hand_over(worker, stack, account, path, body, announced=None, stdin=b""):
    """An upload whose body is in a file; returns the answer."""
    content, content_type = body
    parameters = fastcgi_client.environment("POST", stack.prefix + "/system/files", content_type=content_type,
                                            content_length=len(content) if announced is None else announced,
                                            headers={"Authorization": f"Bearer {account.token}"})
    with worker.connect(30) as connection:
        return connection.request({**parameters, PARAMETER: str(path)}, stdin)


def form(data, name):
    """A multipart body and its content type."""
    mark = multipart.boundary()
    return multipart.encode(files.form(data, name), mark), multipart.content_type(mark)


def spool(folder, content, name="0000000001"):
    """What the web server leaves."""
    path = folder / name
    path.write_bytes(content)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 3_000_000])
def test_a_body_in_a_file_is_stored_like_any_other(stack, keeper, worker, bodies, size):
    data = samples.noise(size)
    body = form(data, f"handed-{size}.bin")
    answer = hand_over(worker, stack, keeper, spool(bodies, body[0]), body)
    assert answer.status == 200, answer
    record = json.loads(answer.body)
    assert record["info"]["hash"] == files.sha256(data) and record["info"]["size"] == size
    assert files.download(keeper, record["id"], status=200).content == data


def test_only_a_plain_file_of_the_web_servers_in_the_folder_is_taken(stack, keeper, worker, bodies, tmp_path,
                                                                     nothing_kept):
    body = form(samples.noise(1000), "refused.bin")
    good = spool(bodies, body[0])
    outside = spool(tmp_path, body[0], "outside")
    (bodies / "link").symlink_to(outside)
    (bodies / "way").symlink_to(tmp_path)
    (bodies / "folder").mkdir()
    os.link(outside, bodies / "second")
    os.mkfifo(bodies / "pipe")
    writable = spool(bodies, body[0], "writable")
    writable.chmod(0o666)
    paths = [outside, bodies / "link", bodies / "way" / "outside", bodies / "folder", bodies / "second",
             bodies / "pipe",
             writable, f"{bodies}/../outside", f"{bodies}/nothing", "0000000001", bodies, "/etc/passwd",
             "/proc/self/environ"]
    for path in paths:
        answer = hand_over(worker, stack, keeper, path, body)
        assert answer.status == 500, f"{path}: {answer}"
        error = check_error(answer.status, answer.headers, answer.body, str(path))
        assert error["code"] == "storage.unavailable" and str(tmp_path) not in answer.body.decode()
    for announced in (len(body[0]) - 1, len(body[0]) + 1):
        assert hand_over(worker, stack, keeper, good, body, announced).status == 500
    assert worker.process.poll() is None


def test_without_the_setting_no_file_is_read(stack, keeper, bodies, nothing_kept):
    body = form(samples.noise(1000), "unset.bin")
    path = spool(bodies, body[0])
    with system.worker(stack, files_body_directory="") as worker:
        answer = hand_over(worker, stack, keeper, path, body, stdin=body[0])
        assert answer.status == 500 and json.loads(answer.body)["code"] == "storage.unavailable"


@pytest.mark.parametrize("name", [
    "Gatehouse-Body-File", "GATEHOUSE_BODY_FILE", "Http-Gatehouse-Body-File", "Content-Gatehouse-Body-File",
    "Gatehouse_Body_File", "Request-Body-File"
])
def test_no_header_of_a_client_names_a_file(stack, keeper, name):
    data = samples.noise(5000)
    body, content_type = form(data, f"header-{name}.bin")
    record = files.send_bytes(keeper, body, content_type, status=200).json()
    files.archive(keeper, record["id"], status=200)
    connection = http.client.HTTPConnection(stack.host, stack.port, timeout=30)
    connection.request("POST", stack.prefix + "/system/files", body, {
        "Authorization": f"Bearer {keeper.token}", "Content-Type": content_type, name: "/etc/passwd"
    })
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    assert reply.status == 200, text
    assert json.loads(text)["info"]["hash"] == files.sha256(data)


@pytest.fixture(name="spool")
def spool_folder(stack):
    """The names in the folder where nginx keeps bodies that it hands over as files."""
    with open(stack.configuration, encoding="utf-8") as file:
        found = re.search(r"^body_directory = (.+)$", file.read(), re.MULTILINE)
    if not found:
        pytest.skip("uploads are handed on in another way here")
    return lambda: os.listdir(found[1])


def start_of_upload(stack, account, body, content_type, length):
    """A connection on which so much of an upload has been sent."""
    connection = socket.create_connection((stack.host, stack.port), 30)
    connection.sendall((f"POST {stack.prefix}/system/files HTTP/1.1\r\nHost: {stack.host}\r\n"
                        f"Authorization: Bearer {account.token}\r\nContent-Type: {content_type}\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n").encode() + body[:length])
    return connection


def test_an_upload_that_is_broken_off_leaves_nothing_in_the_spool(stack, keeper, spool, nothing_kept):
    body, content_type = form(samples.noise(1_500_000), "broken.bin")
    for length in (1_000_000, len(body) - 1):
        with start_of_upload(stack, keeper, body, content_type, length):
            wait_until(spool, 30, "nginx to spool the body")
        wait_until(lambda: not spool(), 60, "nginx to remove what was broken off")


def test_an_upload_that_was_answered_leaves_nothing_in_the_spool(stack, keeper, spool):
    data = samples.noise(1_500_000)
    body, content_type = form(data, "spooled.bin")
    record = files.send_bytes(keeper, body, content_type, status=200).json()
    assert record["info"]["hash"] == files.sha256(data)
    files.send_bytes(keeper, body, content_type, status=409)
    files.send_bytes(keeper, body[:-10], content_type, status=400)
    wait_until(lambda: not spool(), 60, "nginx to remove what the worker has read")


def test_a_chunked_upload_is_stored_whichever_way_it_comes(stack, keeper):
    data = samples.noise(700_000)
    body, content_type = form(data, "chunked.bin")
    connection = http.client.HTTPConnection(stack.host, stack.port, timeout=60)
    connection.request("POST", stack.prefix + "/system/files",
                       iter([body[at:at + 50_000] for at in range(0, len(body), 50_000)]),
                       {"Authorization": f"Bearer {keeper.token}", "Content-Type": content_type}, encode_chunked=True)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    assert reply.status == 200, text
    assert json.loads(text)["info"]["hash"] == files.sha256(data)


def test_more_slow_uploads_than_workers_do_not_hold_up_anybody(stack, api, keeper, nothing_kept):
    """Each has sent half of a body and goes on sending nothing; null requests and reads are answered meanwhile."""
    body, content_type = form(samples.noise(600_000), "slow.bin")
    count = max(8, len(stack.workers())) + 1
    slow = []
    try:
        for _ in range(count):
            slow.append(start_of_upload(stack, keeper, body, content_type, len(body) // 2))
        for _ in range(5):
            api.get("/system/version", status=200, timeout=20)
            keeper.get("/customers/me", status=200, timeout=20)
        for connection in slow:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)
    finally:
        for connection in slow:
            connection.close()
