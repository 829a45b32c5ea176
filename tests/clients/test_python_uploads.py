# SPDX-License-Identifier: MIT
"""Uploads of the Python client: progress, breaks, and going on after the program was stopped."""

import dataclasses
import hashlib
import io
from unittest import mock

import pytest

from gatehouse_client import Gatehouse, GatehouseError, InvalidRequestError, NotFoundError, UnavailableError
from support import samples

SIZE = 3_000_000
PIECE = 1024 * 1024


@pytest.fixture()
def through(breaker, owner):
    """The owner's client, whose connections the breaker can cut."""
    return Gatehouse(breaker.base_url, tokens=owner.client.tokens)


def stored(owner, record):
    return hashlib.sha256(owner.client.files.download_file(record.id)).hexdigest()


def test_a_file_is_sent_in_pieces_and_its_progress_told(owner, tmp_path):
    path, told = tmp_path / "plan.bin", []
    path.write_bytes(samples.noise(SIZE))
    record = owner.client.upload(path, bucket="files", type="misc", tags=["big", "file"], piece_bytes=PIECE,
                                 progress=lambda *so_far: told.append(so_far))
    assert (record.info.name, record.info.size, record.tags) == ("plan.bin", SIZE, ["big", "file"])
    assert told == [(0, SIZE), (PIECE, SIZE), (2 * PIECE, SIZE), (SIZE, SIZE)]
    assert stored(owner, record) == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("cut", [PIECE // 2, PIECE + PIECE // 2, 2 * SIZE], ids=["first piece", "second", "no break"])
def test_an_upload_goes_on_behind_what_is_safe_after_a_break(through, breaker, owner, cut):
    data, told = samples.noise(SIZE), []
    breaker.break_after(cut)
    record = through.upload(data, bucket="files", type="misc", name="broken.bin", piece_bytes=PIECE,
                            progress=lambda sent, _: told.append(sent))
    assert breaker.cuts == (0 if cut > SIZE else 1)
    assert stored(owner, record) == hashlib.sha256(data).hexdigest()
    assert told == sorted(told) and told[-1] == SIZE, "what is safe stays safe"


def test_an_upload_whose_last_answer_was_lost_gives_its_record(stack, owner):
    """The program was stopped when all bytes had arrived: it asks again."""
    data, begun = samples.noise(SIZE), []
    record = owner.client.upload(data, bucket="files", type="misc", name="whole.bin", on_begin=begun.append)
    again = Gatehouse(stack.base_url, tokens=owner.client.tokens).upload(
        data, bucket="files", type="misc", name="whole.bin", resume=begun[0])
    assert again.id == record.id


def test_a_program_that_was_stopped_goes_on_with_its_upload(stack, owner):
    data, begun, told = samples.noise(SIZE), [], []

    class Stopped(Exception):
        pass

    def stop(sent, _):
        if sent >= PIECE:
            raise Stopped
    with pytest.raises(Stopped):
        owner.client.upload(data, bucket="files", type="misc", name="stopped.bin", piece_bytes=PIECE, progress=stop,
                            on_begin=begun.append)
    record = owner.client.upload(io.BytesIO(data), bucket="files", type="misc", name="stopped.bin", resume=begun[0],
                                 piece_bytes=PIECE, progress=lambda sent, _: told.append(sent))
    assert told[0] == PIECE, "what was safe is not sent again"
    assert stored(owner, record) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, SIZE - 1, SIZE + 1])
def test_a_source_of_another_size_is_no_upload_to_go_on_with(owner, size):
    """A shorter source would never reach the end, a longer one would be stored in part."""
    data, begun = samples.noise(SIZE), []
    with pytest.raises(KeyboardInterrupt):
        owner.client.upload(data, bucket="files", type="misc", name="other.bin", piece_bytes=PIECE,
                            on_begin=begun.append, progress=mock.Mock(side_effect=[None, KeyboardInterrupt]))
    with pytest.raises(ValueError, match=f"of {SIZE} bytes, but the source has {size}"):
        owner.client.upload((data + b"more")[:size], bucket="files", type="misc", name="other.bin", resume=begun[0],
                            progress=mock.Mock(side_effect=[None] * 5))


def test_a_source_that_ends_early_ends_the_upload(owner):
    """The file was cut after its size was read."""
    file = io.BytesIO(samples.noise(SIZE))
    with pytest.raises(GatehouseError, match=f"0 bytes were sent at {PIECE} of {SIZE}"):
        owner.client.upload(file, bucket="files", type="misc", name="cut.bin", piece_bytes=PIECE,
                            progress=mock.Mock(side_effect=[None] * 5),
                            on_begin=lambda _: file.truncate(PIECE))


def test_a_refused_token_is_renewed_in_the_middle_of_an_upload(stack, new_owner):
    owner, begun = new_owner(), []
    data = samples.noise(SIZE)
    with pytest.raises(KeyboardInterrupt):
        owner.client.upload(data, bucket="files", type="misc", name="later.bin", on_begin=begun.append,
                            progress=mock.Mock(side_effect=KeyboardInterrupt))
    later = Gatehouse(stack.base_url, tokens=dataclasses.replace(owner.client.tokens, access_token="spoilt"))
    record = later.upload(data, bucket="files", type="misc", name="later.bin", resume=begun[0])
    assert stored(owner, record) == hashlib.sha256(data).hexdigest()


def test_an_upload_that_is_not_there_is_no_break(owner):
    with pytest.raises(NotFoundError) as caught:
        owner.client.upload(b"bytes", bucket="files", type="misc", name="a.txt",
                            resume="01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77")
    assert caught.value.code == "upload.unknown"


def test_a_file_that_the_service_refuses_is_not_sent_again_and_again(owner):
    with pytest.raises(InvalidRequestError) as caught:
        owner.client.upload(b"#!/bin/sh\n", bucket="images", type="avatar", name="a.sh")
    assert [fault.code for fault in caught.value.validation] == ["contentType"]


def test_an_upload_that_cannot_go_on_ends_with_the_reason(owner, monkeypatch):
    tried = []
    monkeypatch.setattr("gatehouse_client.uploads.time.sleep", tried.append)
    lost = Gatehouse("http://127.0.0.1:9", tokens=owner.client.tokens)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        lost.upload(b"bytes", bucket="files", type="misc", name="a.txt", resume="01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77")
    assert tried == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]


def test_bytes_need_a_name(owner):
    with pytest.raises(ValueError, match="name"):
        owner.client.upload(b"bytes", bucket="files", type="misc")
