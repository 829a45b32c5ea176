# SPDX-License-Identifier: MIT
"""JSON bodies are read strictly: the table json_attacks.json, and the bounds of size and number."""

import json
import pathlib

import pytest

from support.accounts import invitation
from support.client import expect, failing

ATTACKS = json.loads((pathlib.Path(__file__).parent / "json_attacks.json").read_text())
FLOOR = 46
BOUND = 65536


def send(api, data, **arguments):
    return api.post("/customers/login", data=data, headers={"Content-Type": "application/json"}, **arguments)


def body(attack):
    """The bytes of a case: "latin" texts hold one byte a character; "@" stands for a repetition."""
    text = attack["text"]
    if "repeat" in attack:
        left, right, count = attack["repeat"]
        text = text.replace("@", left * count + right * count)
    return text.encode("latin-1" if attack.get("latin") else "utf-8")


def test_the_table_is_as_long_as_promised_and_names_are_unique():
    names = [attack["name"] for attack in ATTACKS]
    assert len(names) == len(set(names)) >= FLOOR


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack["name"] for attack in ATTACKS])
def test_bad_json_is_400_and_says_how(api, attack):
    codes = {"request.malformed", "request.invalid"} if attack["code"] == "either" else attack["code"]
    reply = send(api, body(attack), status=400, code=codes)
    if "paths" in attack:
        expect(reply, paths=set(attack["paths"]))


@pytest.mark.parametrize("text", [
    '{"username":"a@example.com","password":"wrong password"}',
    ' \r\n\t{ "username" : "a@example.com" , "password" : "wrong password" } \n',
    '{"\\u0075sername":"a\\u0040example.com","password":"\\ud83e\\udd8a\\"\\\\\\/\\b\\f\\n\\r\\t"}',
    '{"username":"a@example.com","password":"🦊 漢字 é"}'
])
def test_good_json_in_any_dress_is_read(api, text):
    send(api, text.encode(), status=401, code="auth.credentials")


@pytest.mark.parametrize("kind", [
    "application/json", "application/json; charset=utf-8", "Application/JSON",
    "application/json;charset=UTF-8", 'application/json ; charset="utf-8"'
])
def test_the_media_type_is_read_as_http_says(api, kind):
    api.post("/customers/login",
             data=b"{}",
             headers={"Content-Type": kind},
             status=400,
             code="request.invalid")


@pytest.mark.parametrize("kind", [
    "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "application/jsonx", "application/json+x", "application/merge-patch+json", "*/*", "json", "application/",
    "application/xml"
])
def test_another_media_type_is_415(api, kind):
    api.post("/customers/login",
             data=b'{"username":"a","password":"b"}',
             headers={"Content-Type": kind},
             status=415,
             code="request.mediaType")


def test_no_media_type_is_415(api):
    api.post("/customers/login",
             data=b'{"username":"a","password":"b"}',
             status=415,
             code="request.mediaType")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity", "x-unknown"])
def test_a_content_encoding_is_415(api, coding):
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    api.post("/customers/login",
             data=b'{"username":"a","password":"b"}',
             headers=headers,
             status=415,
             code="request.mediaType")


def padded(size):
    """A good login body of exactly this many bytes."""
    text = b'{"username":"a@example.com","password":"wrong password"}'
    return text + b" " * (size - len(text))


def test_a_body_of_64_kib_is_read(api):
    send(api, padded(BOUND), status=401, code="auth.credentials")


@pytest.mark.parametrize("size", [BOUND + 1, 2 * BOUND, 1 << 20])
def test_a_body_over_64_kib_is_413(api, size):
    send(api, padded(size), status=413, code="request.tooLarge")


def test_a_body_over_64_kib_in_chunks_is_413(api):

    def blocks():
        for _ in range(20):
            yield b" " * 8192

    send(api, blocks(), status=413, code="request.tooLarge")


@pytest.mark.parametrize("size", [17_000, BOUND])
def test_a_long_body_in_chunks_is_read(api, size):
    text = padded(size)
    text = text if isinstance(text, bytes) else text.encode()
    send(api, (text[at:at + 5000] for at in range(0, size, 5000)), status=401, code="auth.credentials")


def test_a_body_in_chunks_is_read(api):

    def blocks():
        yield b'{"username":"a@exa'
        yield b'mple.com","password":"wrong password"}'

    send(api, blocks(), status=401, code="auth.credentials")


def test_64_kib_of_elements_take_no_time_and_no_worker(api):
    data = b'{"username":[' + b"0," * 32000 + b'0],"password":"b"}'
    assert len(data) <= BOUND
    assert send(api, data, status=400, code="request.invalid").seconds < 5


def test_64_kib_of_names_take_no_time(api):
    data = json.dumps({f"n{number}": 1 for number in range(5500)}, separators=(",", ":")).encode()
    assert len(data) <= BOUND
    assert send(api, data, status=400, code="request.invalid").seconds < 5


def test_a_hundred_wrong_members_are_all_named(api):
    names = {f"wrong{number}" for number in range(90)}
    reply = send(api, json.dumps(dict.fromkeys(names, 1)).encode(), status=400, code="request.invalid")
    assert set(failing(reply)) == names | {"username", "password"}


@pytest.mark.parametrize("member, value", [("organisation", {"name": "x" * 201}),
                                           ("organisation", {"name": "   "}), ("firstName", "x" * 101),
                                           ("lastName", "x" * 101), ("firstName", "")])
def test_texts_have_a_longest_and_a_shortest(administrator, member, value):
    path = "organisation.name" if member == "organisation" else member
    administrator.post("/customers/signup",
                       json=invitation(**{member: value}),
                       status=400,
                       code="request.invalid",
                       paths={path})


def test_a_hostile_member_name_comes_back_as_text(api):
    name = '<script>alert(1)</script>"\\\u202e\n'
    reply = send(api,
                 json.dumps({"username": "a", "password": "b", name: 1}).encode(),
                 status=400,
                 code="request.invalid")
    assert name in failing(reply) and reply.headers["Content-Type"].startswith("application/json")
