# SPDX-License-Identifier: MIT
"""GET /system/limits: what it says is what the service holds requests to. Each number is tried at its bound and one
beyond it."""

import pathlib
import re

import pytest

from support import files, samples
from support.client import failing
from support.multipart import Part

DEFAULTS = {"maxFileBytes": 5 * 1024**3, "maxJsonBytes": 64 * 1024}


@pytest.fixture(scope="module")
def limits(api):
    return api.get("/system/limits", status=200).json()


def form(data, tags=(), name="limits.bin"):
    return files.form(data, name, tags=tags)


def test_anybody_may_read_them_and_a_token_changes_nothing(api, owner):
    reply = api.get("/system/limits", status=200)
    assert owner.get("/system/limits", status=200).content == reply.content
    assert api.get("/system/limits", token="a.b.c", status=200).content == reply.content
    api.get("/system/limits?x=1", status=400, paths=["x"])
    api.post("/system/limits", status=405)


def test_the_etag_tells_whether_they_changed(api):
    reply = api.get("/system/limits", status=200)
    tag = reply.headers["ETag"]
    assert tag.startswith('"') and tag.endswith('"') and len(tag) == 34
    for condition in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        same = api.get("/system/limits", headers={"If-None-Match": condition}, status=304)
        assert same.content == b"" and same.headers["ETag"] == tag
    for condition in ('"x"', tag.strip('"'), tag + "x"):
        other = api.get("/system/limits", headers={"If-None-Match": condition}, status=200)
        assert other.content == reply.content
    assert api.head("/system/limits", status=200).headers["ETag"] == tag


def test_they_are_those_of_the_configuration(limits, stack):
    configured = pathlib.Path(stack.configuration).read_text()
    for name, member in (("max_file_bytes", "maxFileBytes"), ("max_json_bytes", "maxJsonBytes")):
        line = re.search(rf"^{name} = (\d+)$", configured, re.MULTILINE)
        assert limits[member] == (int(line[1]) if line else DEFAULTS[member])
    assert limits["services"] == ["inventory", "logistics"]
    assert "en" in limits["languages"]
    assert limits["list"] == {"minimum": 1, "maximum": 100, "default": 25}


def test_a_json_body_is_taken_up_to_the_bound(api, limits):
    head, tail = b'{"username": "', b'"}'
    body = head + b"a" * (limits["maxJsonBytes"] - len(head) - len(tail)) + tail
    kind = {"Content-Type": "application/json"}
    api.post("/customers/forgotten-password", data=body, headers=kind, status=400, code="request.invalid")
    api.post("/customers/forgotten-password", data=body + b" ", headers=kind, status=413)


def test_an_upload_has_at_most_so_many_files_and_tags(keeper, limits):
    parts = [Part("bucket", "files"), Part("type", "misc")]
    each = [Part("file", samples.noise(60), f"{samples.word()}.bin") for _ in range(limits["upload"]["files"] + 1)]
    assert len(files.send(keeper, parts + each[1:], status=200).json()) == limits["upload"]["files"]
    files.send(keeper, parts + each, status=400)
    tags = [f"tag-{number}" for number in range(limits["file"]["tags"] + 1)]
    files.send(keeper, form(samples.noise(61), tags[1:]), status=200)
    files.send(keeper, form(samples.noise(61), tags), status=400, paths=["tags"])
    wide = "ä" * limits["file"]["tagCharacters"]
    files.send(keeper, form(samples.noise(62), [wide]), status=200)
    files.send(keeper, form(samples.noise(62), [wide + "a"]), status=400, paths=["tags[0]"])


def test_a_name_of_a_file_has_at_most_so_many_bytes(keeper, limits):
    longest = "n" * (limits["file"]["nameBytes"] - 4) + ".bin"
    files.send(keeper, form(samples.noise(63), name=longest), status=200)
    files.send(keeper, form(samples.noise(64), name="n" + longest), status=400)


def test_a_page_has_at_most_so_many_items(keeper, limits):
    bounds = limits["list"]
    keeper.get(f"/system/files?limit={bounds['maximum']}", status=200)
    keeper.get(f"/system/files?limit={bounds['minimum']}", status=200)
    for beyond in (bounds["maximum"] + 1, bounds["minimum"] - 1):
        keeper.get(f"/system/files?limit={beyond}", status=400, paths=["limit"])


def test_one_request_archives_at_most_so_many_files(keeper, limits):
    unknown = [f"01980a6e-52c1-7c44-8f3d-{number:012x}" for number in range(limits["bulkIds"] + 1)]
    keeper.post("/system/files/archive", json={"ids": unknown[1:]}, status=400, code="file.unknown")
    reply = keeper.post("/system/files/archive", json={"ids": unknown}, status=400, code="request.invalid")
    assert failing(reply) == {"ids": {"count"}}


def test_a_link_opens_for_so_long(keeper, stored, limits):
    bounds = limits["linkSeconds"]
    path = f"/system/files/{stored[0]['id']}/link"
    for seconds in (bounds["minimum"], bounds["default"], bounds["maximum"]):
        keeper.post(path, json={"expiresIn": seconds}, status=200)
    for seconds in (bounds["minimum"] - 1, bounds["maximum"] + 1):
        keeper.post(path, json={"expiresIn": seconds}, status=400, paths=["expiresIn"])


def test_a_password_has_so_many_characters(accounts, limits):
    person = accounts.customer()
    bounds = limits["password"]
    for length in (bounds["minimum"] - 1, bounds["maximum"] + 1):
        reply = person.post("/customers/change-password",
                            json={"password": person.password, "newPassword": (samples.word() * 5)[:length]},
                            status=400, code="password.policy")
        assert failing(reply) == {"newPassword": {"length"}}


def test_the_buckets_take_what_they_say(keeper, limits):
    kinds = {bucket["name"]: {kind["name"]: kind["content"] for kind in bucket["types"]}
             for bucket in limits["buckets"]}
    assert set(kinds) == {"images", "files"} and set(kinds["images"].values()) == {"pictures"}
    assert kinds["files"]["avatar"] == "pictures" and kinds["files"]["contract"] == "anything"
    for bucket, types in kinds.items():
        for kind, content in types.items():
            status = 200 if content == "anything" else 400
            files.send(keeper, files.form(samples.noise(65), "limits.bin", bucket=bucket, kind=kind), status=status)
            files.send(keeper, files.form(samples.picture(), "limits.png", bucket=bucket, kind=kind), status=200)
    assert "image/png" in limits["pictureTypes"] and "image/svg+xml" not in limits["pictureTypes"]
