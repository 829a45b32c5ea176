# SPDX-License-Identifier: MIT
"""POST /system/files with files made by real programs: what comes in is described rightly and comes out the
same."""

import itertools
import json
import re
import urllib.parse
import uuid

import pytest

from support import files, multipart, samples
from support.multipart import Part

pytestmark = [pytest.mark.web_server, pytest.mark.upload_mode]

RECORD = {
    "id", "tags", "info", "organisationId", "userId", "type", "status", "createdAt", "updatedAt", "archivedAt",
    "userName"
}
INFO = {"bucket", "type", "organisationId", "name", "hash", "contentType", "url", "userId", "size"}
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
IMAGES = {
    "png": ("image/png", lambda: samples.picture("PNG")),
    "jpg": ("image/jpeg", lambda: samples.picture("JPEG")),
    "gif": ("image/gif", lambda: samples.picture("GIF")), "webp": ("image/webp",
                                                                   lambda: samples.picture("WEBP")),
    "tiff": ("image/tiff", lambda: samples.picture("TIFF")), "bmp": ("image/bmp",
                                                                     lambda: samples.picture("BMP")),
    "avif": ("image/avif", lambda: samples.heif("avif")), "heic": ("image/heic", lambda: samples.heif("heic"))
}
OTHERS = {
    "pdf": ("application/pdf", samples.pdf), "docx": (samples.DOCX, samples.word_document),
    "xlsx": (samples.XLSX, samples.spreadsheet), "csv": ("text/csv", samples.table),
    "zip": ("application/zip", samples.archive), "gz": ("application/gzip", samples.compressed),
    "txt": ("text/plain", samples.text), "html": ("text/html", samples.html),
    "svg": ("image/svg+xml", samples.svg)
}
TYPES = [
    "sample", "avatar", "weighbridge", "contract", "image", "logo", "misc", "vehicle", "terms-conditions",
    "logistics-delivery", "logistics-load"
]
ONLY_IMAGES = {"avatar", "image", "logo"}


def check_round_trip(account, record, data):
    """Info tells of the bytes what is so, and the download gives them back."""
    info = files.info(account, record["id"])
    assert info == record["info"]
    assert info["hash"] == files.sha256(data) and info["size"] == len(data)
    reply = files.download(account, record["id"], status=200)
    assert reply.content == data
    assert reply.headers["Content-Type"].split(";")[0] == info["contentType"]


@pytest.mark.parametrize("extension", list(IMAGES) + list(OTHERS))
def test_a_real_file_comes_back_as_it_went(keeper, extension):
    kind, make = {**IMAGES, **OTHERS}[extension]
    data, bucket = make(), "images" if extension in IMAGES else "files"
    record = files.upload(keeper, data, f"sample.{extension}", bucket=bucket, kind="vehicle")
    assert set(record) == RECORD and set(record["info"]) == INFO
    assert UUID7.match(record["id"]) and record["status"] == "active" and record["tags"] == []
    info = record["info"]
    assert record["type"] == info["type"] == "vehicle" and info["bucket"] == bucket and info[
        "name"] == f"sample.{extension}"
    assert record["organisationId"] == info["organisationId"] == keeper.organisation["id"]
    assert record["userId"] == info["userId"] == keeper.id
    assert info["contentType"] == kind
    assert TIME.match(record["createdAt"]) and record["updatedAt"] == record["createdAt"]
    assert record["archivedAt"] is None
    assert record["userName"] == f"{keeper.user['firstName']} {keeper.user['lastName']}"
    check_round_trip(keeper, record, data)


def test_the_url_is_the_download_path(keeper, stack, stored):
    record, data = stored
    address = urllib.parse.urljoin(stack.base_url + "/", record["info"]["url"])
    assert address == stack.url(f"/system/files/{record['id']}")
    assert keeper.api.session.get(address, headers={"Authorization": f"Bearer {keeper.token}"},
                                  timeout=10).content == data


@pytest.mark.parametrize("declared", [None, "application/octet-stream", "nonsense", "application/x-nobody-knows"])
def test_the_bytes_decide_the_content_type_where_the_client_says_nothing(keeper, declared):
    record = files.upload(keeper, samples.pdf(), "page.x", content_type=declared)
    assert record["info"]["contentType"] == "application/pdf"


# What is sent, as what it is declared, how it is named, and the type that the refusal names beside the bytes' own.
LIES = [(samples.pdf, "application/pdf", "text/html", "page", "text/html"),
        (samples.pdf, "application/pdf", None, "page.html", "text/html"),
        (samples.pdf, "application/pdf", "image/png; a=b", "page.pdf", "image/png"),
        (samples.pdf, "application/pdf", "application/pdf", "page.PNG", "image/png"),
        (samples.pdf, "application/pdf", "application/x-msdownload", None, "application/x-msdownload"),
        (samples.pdf, "application/pdf", "text/csv", "t.csv", "text/csv"),
        (lambda: samples.noise(64), "application/octet-stream", "text/csv", "t.csv", "text/csv"),
        (lambda: samples.noise(64), "application/octet-stream", None, "t.docx", samples.DOCX),
        (samples.picture, "image/png", None, "photo.jpg", "image/jpeg"),
        (samples.picture, "image/png", "image/gif", "photo.png", "image/gif"),
        (samples.picture, "image/png", None, "photo.png.exe", "application/vnd.microsoft.portable-executable"),
        (samples.picture, "image/png", "image/svg+xml", None, "image/svg+xml"),
        (samples.text, "text/plain", None, "t.pdf", "application/pdf"),
        (samples.html, "text/html", "image/png", "t", "image/png"),
        (samples.svg, "image/svg+xml", None, "t.jpeg", "image/jpeg"),
        (samples.word_document, samples.DOCX, samples.XLSX, "t", samples.XLSX),
        (samples.archive, "application/zip", None, "t.gz", "application/gzip")]


@pytest.mark.parametrize("make, found, declared, name, claimed", LIES)
def test_bytes_that_contradict_declaration_or_name_are_refused_with_both_types(
        keeper, nothing_kept, make, found, declared, name, claimed):
    form = files.form(make(), name or "unnamed", content_type=declared)
    reply = files.send(keeper, form, status=400, code="request.invalid", paths={"file[0]"})
    entry = reply.json()["validation"][0]
    assert entry["code"] == "mismatch" and found in entry["message"] and claimed in entry["message"]


def test_the_name_that_is_given_beside_the_file_must_not_contradict_it_either(keeper, nothing_kept):
    files.send(keeper,
               files.form(samples.picture(), "a.png", name="a.pdf"),
               status=400,
               code="request.invalid",
               paths={"file[0]"})
    files.send(keeper,
               files.form(samples.picture(), "a.pdf", name="a.png"),
               status=400,
               code="request.invalid",
               paths={"file[0]"})


@pytest.mark.parametrize("make, declared, name",
                         [(samples.table, "application/vnd.ms-excel", "t.csv"), (samples.table, "text/plain", "t.csv"),
                          (samples.table, "text/csv", "t.txt"), (samples.word_document, "application/zip", "t.docx"),
                          (samples.word_document, "application/x-zip-compressed", "t.zip"),
                          (samples.picture, "image/x-png", "PHOTO.PNG"), (samples.svg, "text/xml", "t.svg"),
                          (lambda: samples.picture("JPEG"), "image/pjpeg", "photo.jpe"),
                          (samples.html, "text/plain", "t.txt"), (samples.compressed, "application/x-gzip", "t.tgz")])
def test_other_names_of_the_same_type_agree(keeper, make, declared, name):
    assert files.upload(keeper, make(), name, content_type=declared)["info"]["name"] == name


@pytest.mark.parametrize("name, declared, data, kind",
                         [("t.csv", None, b"one line without a comma\n", "text/csv"),
                          ("T.CSV", None, b"x;y\n1;2\n", "text/csv"),
                          ("t.dat", "text/csv", b"one line without a comma\n", "text/csv"),
                          ("t.dat", "text/csv; charset=utf-8", b"a line\n", "text/csv"),
                          ("t.txt", None, b"one line without a comma\n", "text/plain")])
def test_text_is_csv_where_name_or_declaration_say_so(keeper, name, declared, data, kind):
    data += samples.word().encode() + b"\n"
    assert files.upload(keeper, data, name, content_type=declared)["info"]["contentType"] == kind


@pytest.mark.parametrize("bucket, kind", list(itertools.product(["images", "files"], TYPES)))
def test_every_type_is_taken_in_every_bucket(keeper, bucket, kind):
    form = files.form(samples.picture(), "picture.png", bucket=bucket, kind=kind)
    info = files.send(keeper, form, status=200).json()["info"]
    assert (info["bucket"], info["type"]) == (bucket, kind)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("extension", list(OTHERS))
def test_an_avatar_an_image_and_a_logo_are_pictures_in_the_bucket_files_too(keeper, extension, kind):
    _, make = OTHERS[extension]
    form = files.form(make(), f"other.{extension}", bucket="files", kind=kind)
    if kind in ONLY_IMAGES:
        reply = files.send(keeper, form, status=400, code="request.invalid", paths={"file[0]"})
        fault = reply.json()["validation"][0]
        assert fault["code"] == "contentType" and kind in fault["message"]
    else:
        files.send(keeper, form, status=200)


@pytest.mark.parametrize("extension", list(OTHERS))
def test_only_images_live_in_the_bucket_images(keeper, nothing_kept, extension):
    _, make = OTHERS[extension]
    reply = files.send(keeper,
                       files.form(make(),
                                  "picture.png",
                                  bucket="images",
                                  kind="image",
                                  content_type="image/png"),
                       status=400,
                       code="request.invalid",
                       paths={"file[0]"})
    assert reply.json()["validation"][0]["code"] == "contentType"


def test_a_signature_alone_is_no_image(keeper, nothing_kept):
    files.send(keeper,
               files.form(b"\x89PNG\r\n\x1a\n", "x.png", bucket="images", kind="image"),
               status=400,
               paths={"file[0]"})


@pytest.mark.parametrize("bucket", ["files", "images"])
@pytest.mark.parametrize("make",
                         [samples.elf, samples.windows_program, samples.dos_program, samples.mach_program])
@pytest.mark.parametrize("name", ["photo.png", "setup.exe"])
def test_programs_are_refused_in_both_buckets(keeper, nothing_kept, bucket, make, name):
    reply = files.send(keeper,
                       files.form(make(), name, bucket=bucket, content_type="image/png"),
                       status=400,
                       code="request.invalid",
                       paths={"file[0]"})
    assert reply.json()["validation"][0]["code"] == "contentType"


@pytest.mark.parametrize("size",
                         [1, 2, 3, 4095, 4096, 8191, 8192, 8193, 65535, 65536, 65537, 131072, 1 << 20])
def test_sizes_round_trip(keeper, size):
    data = samples.noise(size)
    check_round_trip(keeper, files.upload(keeper, data, f"noise-{uuid.uuid4()}.bin"), data)


def test_every_size_from_1_to_300_round_trips(keeper):
    sizes = list(range(1, 301))
    for at in range(0, len(sizes), 10):
        contents = [samples.noise(size) for size in sizes[at:at + 10]]
        parts = [Part("bucket", "files"), Part("type", "misc")]
        parts += [Part("file", data, f"{len(data)}-{uuid.uuid4()}.bin") for data in contents]
        records = files.send(keeper, parts, status=200).json()
        for record, data in zip(records, contents, strict=True):
            assert (record["info"]["size"], record["info"]["hash"]) == (len(data), files.sha256(data))
            assert files.download(keeper, record["id"], status=200).content == data


def test_look_alikes_of_the_boundary_at_every_64_kib_edge_are_content(keeper):
    """Pieces of the delimiter lie across each multiple of 64 KiB, shifted byte by byte, so that any block
    edge cuts them anywhere."""
    mark = multipart.boundary() + "Z"
    line = b"\r\n--" + mark.encode()
    near = [
        line[:-1], line[:-1] + b"X", b"\r\r\n--" + mark.encode()[:-1], b"\r\n-" + line[4:],
        b"\r\n--" + mark.encode()[:-1] + b"\r\n", b"\r\n\r\n--", b"\r", b"\r\n", b"\r\n--",
        b"\n--" + mark.encode() + b"--", b"--" + mark.encode() + b"\r\n"
    ]
    head = len(
        multipart.encode(
            [Part("bucket", "files"),
             Part("type", "misc"),
             Part("file", b"", "edges.bin")], mark, end=False)) - 2
    for shift in range(0, len(line) + 1, 3):
        data = bytearray(samples.noise(5 * 65536 + shift, shift).replace(b"\r", b".").replace(b"Z", b"."))
        for edge, piece in zip(itertools.count(1), near):
            for start in (edge * 65536 - shift, edge * 65536 - shift - head):
                if 0 <= start and start + len(piece) <= len(data):
                    data[start:start + len(piece)] = piece
        data += near[shift % len(near)]
        assert line not in bytes(data)
        body = multipart.encode(
            [Part("bucket", "files"),
             Part("type", "misc"),
             Part("file", bytes(data), "edges.bin")], mark)
        record = files.send_bytes(keeper, body, multipart.content_type(mark), status=200).json()
        assert record["info"]["hash"] == files.sha256(bytes(data)), f"shift {shift}"
        assert files.download(keeper, record["id"], status=200).content == bytes(data), f"shift {shift}"


@pytest.mark.parametrize("data", [
    b"\r\n", b"\r", b"\n", b"--", b"\r\n--", b"-", b"\r\n\r\n", b"\0", b"\0" * 100, b"--\r\n", b"a\r",
    b"a\r\n-"
])
def test_awkward_ends_of_content_round_trip(keeper, data):
    data = samples.word().encode() + data
    check_round_trip(keeper, files.upload(keeper, data, "awkward.bin"), data)


def test_64_mib_round_trip(keeper):
    data = samples.noise(1 << 20) * 64
    check_round_trip(keeper, files.upload(keeper, data, "big.bin"), data)


@pytest.mark.parametrize("head", [
    "b8f4c2c32dbcb751", "8c9a22a8a7c32725", "eb6e0c585c28e277", "3cb45b924577a4f8", "e9000100", "4c01", "f01f"
])
def test_data_that_merely_begins_like_an_old_program_is_kept(keeper, head):
    """libmagic takes one in a hundred runs of random bytes for a DOS program; none of these has a loader's
    mark."""
    data = bytes.fromhex(head) + samples.noise(300)
    check_round_trip(keeper, files.upload(keeper, data, "data.bin"), data)


def test_several_files_answer_an_array_in_the_order_sent(keeper):
    contents = [
        samples.text(),
        samples.pdf(),
        samples.picture(),
        samples.noise(100000),
        samples.spreadsheet()
    ]
    parts = [Part("file", data, f"{number}.bin") for number, data in enumerate(contents)]
    parts[2:2] = [Part("bucket", "files")]
    records = files.send(keeper, parts + [Part("type", "contract"), Part("tags", "lot 7")], status=200).json()
    assert isinstance(records, list)
    assert [record["info"]["name"] for record in records] == [f"{number}.bin" for number in range(5)]
    for record, data in zip(records, contents, strict=True):
        assert record["tags"] == ["lot 7"] and record["type"] == "contract"
        check_round_trip(keeper, record, data)


def test_ten_files_pass(keeper):
    parts = [Part("bucket", "files"), Part("type", "misc")
             ] + [Part("file", samples.text(), f"{n}.txt") for n in range(10)]
    assert len(files.send(keeper, parts, status=200).json()) == 10


@pytest.mark.parametrize("bad, code", [(b"", "empty"), (samples.elf(), "contentType")],
                         ids=["empty", "program"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_several_files_are_all_kept_or_none(keeper, nothing_kept, bad, code, place):
    contents = [samples.text(), samples.text()]
    contents.insert(place, bad)
    parts = [Part("bucket", "files"), Part("type", "misc")
             ] + [Part("file", data, f"{n}.txt") for n, data in enumerate(contents)]
    reply = files.send(keeper, parts, status=400, code="request.invalid", paths={f"file[{place}]"})
    assert reply.json()["validation"][0]["code"] == code


def test_the_parts_may_come_in_any_order(keeper):
    for number, order in enumerate(itertools.permutations(range(4))):
        parts = [
            Part("bucket", "files"),
            Part("type", "misc"),
            Part("file", samples.text(), "a.txt"),
            Part("name", f"order {number}.txt")
        ]
        record = files.send(keeper, [parts[index] for index in order], status=200).json()
        assert record["info"]["name"] == f"order {number}.txt"


def test_name_and_tags_are_kept(keeper):
    tags = ["weighbridge 4", "ÄÖÜ", "x" * 64, "漢" * 64] + [f"tag {n}" for n in range(12)]
    record = files.upload(keeper, samples.text(), "client.txt", name="Kept näme.txt", tags=tags)
    assert record["info"]["name"] == "Kept näme.txt" and record["tags"] == tags and len(tags) == 16


def test_a_name_makes_up_for_a_missing_file_name(keeper):
    parts = [
        Part("bucket", "files"),
        Part("type", "misc"),
        Part("name", "given.txt"),
        Part("file", samples.text())
    ]
    assert files.send(keeper, parts, status=200).json()["info"]["name"] == "given.txt"


@pytest.mark.parametrize("sent, kept",
                         [("../../etc/passwd", "passwd"), ("..\\..\\windows\\system32\\cmd.txt", "cmd.txt"),
                          ("/etc/shadow", "shadow"), ("C:\\Users\\me\\a b.txt", "a b.txt"),
                          ("a/b/c.txt", "c.txt"), ("tab\there.txt", None), ("bell\x07.txt", None),
                          ("del\x7f.txt", None), ("name\u0085.txt", None)])
@pytest.mark.parametrize("where", ["file name", "name"])
def test_names_are_cleaned_of_paths_and_control_characters(keeper, stack, sent, kept, where):
    data = samples.text()
    record = files.upload(keeper, data, sent) if where == "file name" else files.upload(
        keeper, data, "c.txt", name=sent)
    name = record["info"]["name"]
    assert name and not re.search(r"[\x00-\x1f\x7f-\x9f/\\]", name) and name not in (".", "..")
    assert kept is None or name == kept
    check_round_trip(keeper, record, data)


def test_names_in_utf8_are_kept(keeper):
    for name in ("Lieferschein März.txt", "納品書.txt", "🦊 fox.txt", 'quote".txt', "semi;colon, comma.txt",
                 "percent%41.txt", "a'b.txt"):
        record = files.upload(keeper, samples.text(), "x.txt", name=name)
        assert record["info"]["name"] == name


def test_a_file_name_with_a_quote_survives_as_browsers_and_curl_write_it(keeper):
    for written in (b'a%22b.txt', b'a\\"b.txt'):
        head = b'Content-Disposition: form-data; name="file"; filename="' + written + b'"'
        parts = [Part("bucket", "files"), Part("type", "misc"), Part("file", samples.text(), headers=head)]
        name = files.send(keeper, parts, status=200).json()["info"]["name"]
        assert name in ('a"b.txt', "a%22b.txt"), name


def test_no_byte_of_a_name_reaches_the_disk(keeper, stack):
    word = uuid.uuid4().hex
    before = stack.blob_files()
    files.upload(keeper, samples.text(), f"{word}.txt", tags=[word])
    assert len(stack.blob_files()) == len(before) + 1
    assert not [path for path in stack.blob_files() if word in path]


def test_chunked_transfer_encoding_works(keeper):
    data = samples.noise(300_000)
    mark = multipart.boundary()
    body = multipart.encode(files.form(data, "chunked.bin"), mark)

    def blocks():
        for at in range(0, len(body), 7919):
            yield body[at:at + 7919]

    record = files.send_bytes(keeper, blocks(), multipart.content_type(mark), status=200).json()
    check_round_trip(keeper, record, data)


def test_a_preamble_and_an_epilogue_are_ignored_or_refused_never_stored(keeper):
    """RFC 2046 allows text before the first and behind the last boundary."""
    mark = multipart.boundary()
    data = samples.text()
    body = b"This is a preamble.\r\n" + multipart.encode(files.form(data, "pre.txt"),
                                                         mark) + b"This is an epilogue.\r\n"
    reply = files.send_bytes(keeper, body, multipart.content_type(mark), status={200, 400})
    if reply.status_code == 200:
        check_round_trip(keeper, reply.json(), data)


@pytest.mark.parametrize("spelling", [
    "multipart/form-data; boundary={}", 'multipart/form-data; boundary="{}"',
    "Multipart/Form-Data;boundary={}", "multipart/form-data; charset=utf-8; boundary={}"
])
def test_the_boundary_is_found_however_it_is_written(keeper, spelling):
    mark = multipart.boundary()
    body = multipart.encode(files.form(samples.text(), "spelt.txt"), mark)
    files.send_bytes(keeper, body, spelling.format(mark), status=200)


def test_an_exact_duplicate_is_refused_and_named(keeper, stored):
    record, data = stored
    reply = files.send(keeper,
                       files.form(data, "picture.png", bucket="images", kind="image"),
                       status=409,
                       code="file.duplicate")
    assert reply.json()["body"]["id"] == record["id"]
    assert len([item for item in files.listed(keeper) if item["info"]["hash"] == files.sha256(data)]) == 1


@pytest.mark.parametrize("change", [{"filename": "other.png"}, {"kind": "logo"},
                                    {"bucket": "files", "kind": "misc"}, {"name": "Picture.png"}])
def test_what_differs_in_one_thing_is_no_duplicate(keeper, stored, change):
    _, data = stored
    arguments = dict({"filename": "picture.png", "bucket": "images", "kind": "image"}, **change)
    files.upload(keeper, data, **arguments)


def test_tags_make_no_difference_to_a_duplicate(keeper, stored):
    _, data = stored
    files.send(keeper,
               files.form(data, "picture.png", bucket="images", kind="image", tags=["x"]),
               status=409,
               code="file.duplicate")


def test_another_user_may_keep_the_same_file(accounts, keeper, stored):
    _, data = stored
    colleague = accounts.user_with("cus:file:w", keeper.organisation["id"])
    record = files.upload(colleague, data, "picture.png", bucket="images", kind="image")
    assert record["organisationId"] == keeper.organisation["id"] and record["userId"] == colleague.id


def test_the_same_file_twice_in_one_request_is_refused(keeper, nothing_kept):
    data = samples.text()
    parts = [
        Part("bucket", "files"),
        Part("type", "misc"),
        Part("file", data, "a.txt"),
        Part("file", samples.text(), "b.txt"),
        Part("file", data, "a.txt")
    ]
    reply = files.send(keeper, parts, status=400, code="request.invalid", paths={"file[2]"})
    assert reply.json()["validation"][0]["code"] == "duplicate"


def test_a_duplicate_among_several_files_keeps_none(keeper, stored):
    record, data = stored
    before = len(files.listed(keeper))
    parts = [
        Part("bucket", "images"),
        Part("type", "image"),
        Part("file", samples.picture(), "new.png"),
        Part("file", data, "picture.png")
    ]
    reply = files.send(keeper, parts, status=409, code="file.duplicate")
    assert reply.json()["body"]["id"] == record["id"] and len(files.listed(keeper)) == before


def test_the_reply_is_the_record_that_the_list_shows(keeper):
    record = files.upload(keeper, samples.text(), "listed.txt", tags=["one"])
    assert files.listed(keeper, name="listed.txt")[0] == record
    assert json.dumps(record).count(record["id"]) == 2  # id and url, and nowhere else
