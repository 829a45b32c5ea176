# SPDX-License-Identifier: MIT
"""The table of upload attacks: bodies that must be refused whole, whatever is right about the rest of them.

A row is (name, content type, body, status, code, paths); codes and paths may be None where the contract
leaves them open.
"""

from support import multipart
from support.multipart import Part

MARK = "----attack-4f1c"
TYPE = multipart.content_type(MARK)
BUCKET, KIND, FILE = Part("bucket", "files"), Part("type", "misc"), Part("file", b"some text\n", "a.txt")
GOOD = [BUCKET, KIND, FILE]
INVALID, MALFORMED = "request.invalid", "request.malformed"
ROWS = []


def row(name, body, status=400, code=None, paths=None, kind=TYPE):
    body = multipart.encode(body, MARK) if isinstance(body, list) else body
    ROWS.append((name, kind, body, status, code, paths))


def head(text, data=b"x"):
    """A part with these header bytes."""
    return Part("", data, headers=text)


ENCODED = multipart.encode(GOOD, MARK)
LINE = b"--" + MARK.encode()

# Parts that are missing, empty, wrong or too many: every failing path at once.
row("nothing but the end", LINE + b"--\r\n")
row("no bucket", [KIND, FILE], code=INVALID, paths={"bucket"})
row("no type", [BUCKET, FILE], code=INVALID, paths={"type"})
row("no file", [BUCKET, KIND], code=INVALID, paths={"file"})
row("only a file", [FILE], code=INVALID, paths={"bucket", "type"})
row("only tags", [Part("tags", "x")], code=INVALID, paths={"bucket", "type", "file"})
row("bucket empty", [Part("bucket", ""), KIND, FILE], code=INVALID, paths={"bucket"})
row("bucket unknown", [Part("bucket", "secrets"), KIND, FILE], code=INVALID, paths={"bucket"})
row("bucket in capitals", [Part("bucket", "FILES"), KIND, FILE], code=INVALID, paths={"bucket"})
row("bucket with a blank", [Part("bucket", "files "), KIND, FILE], code=INVALID, paths={"bucket"})
row("bucket a path", [Part("bucket", "../files"), KIND, FILE], code=INVALID, paths={"bucket"})
row("bucket with a NUL", [Part("bucket", b"files\0"), KIND, FILE])
row("type unknown", [BUCKET, Part("type", "virus"), FILE], code=INVALID, paths={"type"})
row("type empty", [BUCKET, Part("type", ""), FILE], code=INVALID, paths={"type"})
row("type with a line end", [BUCKET, Part("type", "misc\n"), FILE], code=INVALID, paths={"type"})
row("everything wrong",
    [Part("bucket", "x"),
     Part("type", "y"),
     Part("file", b"", "e.txt"),
     Part("tags", "t" * 65)],
    code=INVALID,
    paths={"bucket", "type", "file[0]", "tags[0]"})
row("empty file", [BUCKET, KIND, Part("file", b"", "e.txt")], code=INVALID, paths={"file[0]"})
row("two empty files", [BUCKET, KIND, Part("file", b"", "e.txt"),
                        Part("file", b"", "f.txt")],
    code=INVALID,
    paths={"file[0]", "file[1]"})
row("file without a file name", [BUCKET, KIND, Part("file", b"x")], code=INVALID, paths={"file[0]"})
row("file with an empty file name", [BUCKET, KIND, Part("file", b"x", "")], code=INVALID, paths={"file[0]"})
row("second file without a file name", [BUCKET, KIND, FILE, Part("file", b"x")],
    code=INVALID,
    paths={"file[1]"})
row("file name nothing but a path", [BUCKET, KIND, Part("file", b"x", "../../")])
row("file name dots", [BUCKET, KIND, Part("file", b"x", "..")])
row("file name nothing but control characters", [BUCKET, KIND, Part("file", b"x", "\x01\x02")])
row("name for two files",
    [BUCKET, KIND, FILE, Part("file", b"y", "b.txt"),
     Part("name", "n.txt")],
    code=INVALID,
    paths={"name"})
row("name of 256 bytes", GOOD + [Part("name", "n" * 256)], code=INVALID, paths={"name"})
row("name of 128 letters in 256 bytes", GOOD + [Part("name", "é" * 128)], code=INVALID, paths={"name"})
row("name of 4 KiB and more", GOOD + [Part("name", "n" * 5000)])
row("name in invalid UTF-8", GOOD + [Part("name", b"\xff\xfe.txt")])
row("name in overlong UTF-8", GOOD + [Part("name", b"\xc0\xaf.txt")])
row("name with a NUL", GOOD + [Part("name", b"a\0b.txt")])
row("file name in invalid UTF-8", [BUCKET, KIND, Part("file", b"x", b"\xff.txt")])
row("file name of 300 bytes", [BUCKET, KIND, Part("file", b"x", "f" * 300)])
row("tag of 65 letters", GOOD + [Part("tags", "ok"), Part("tags", "t" * 65)], code=INVALID, paths={"tags[1]"})
row("tag empty", GOOD + [Part("tags", "")], code=INVALID, paths={"tags[0]"})
row("tag in invalid UTF-8", GOOD + [Part("tags", b"\xe2\x28")])
row("tag with a line end", GOOD + [Part("tags", "a\r\nb")])
row("17 tags", GOOD + [Part("tags", f"t{n}") for n in range(17)])
row("11 files", [BUCKET, KIND] + [Part("file", b"x%d" % n, f"{n}.txt") for n in range(11)])
row("33 parts", GOOD + [Part("tags", f"t{n}") for n in range(30)])
row("10,000 parts", [BUCKET, KIND] + [Part("tags", "t")] * 9998)
row("10,000 files", [BUCKET, KIND] + [Part("file", b"x", "x.txt")] * 9998)
row("bucket twice", [BUCKET, BUCKET, KIND, FILE])
row("bucket twice, different", [BUCKET, Part("bucket", "images"), KIND, FILE])
row("type twice", [BUCKET, KIND, KIND, FILE])
row("name twice", GOOD + [Part("name", "a.txt"), Part("name", "b.txt")])
row("unknown part", GOOD + [Part("organisationId", "01890000-0000-7000-8000-000000000000")])
row("unknown part file[]", [BUCKET, KIND, Part("file[]", b"x", "a.txt")])
row("unknown part File", [BUCKET, KIND, Part("File", b"x", "a.txt")])
row("unknown part status", GOOD + [Part("status", "archived")])
row("unknown part hash", GOOD + [Part("hash", "0" * 64)])
row("part with an empty name", GOOD + [Part("", "x")])
row("bucket of 5 KiB", [Part("bucket", "f" * 5000), KIND, FILE])

# Framing.
row("empty body", b"")
row("no terminator", multipart.encode(GOOD, MARK, end=False), code=MALFORMED)
row("cut in the content", ENCODED[:-len(MARK) - 20], code=MALFORMED)
row("cut in a part's head", LINE + b"\r\nContent-Dispo", code=MALFORMED)
row("cut behind a part's head",
    LINE + b'\r\nContent-Disposition: form-data; name="bucket"\r\n',
    code=MALFORMED)
row("cut in the first boundary", LINE[:-3], code=MALFORMED)
row("another boundary", multipart.encode(GOOD, "other"), code=MALFORMED)
row("no boundary in the header", ENCODED, kind="multipart/form-data", code=MALFORMED)
row("an empty boundary", ENCODED, kind="multipart/form-data; boundary=", code=MALFORMED)
row("an empty quoted boundary", ENCODED, kind='multipart/form-data; boundary=""', code=MALFORMED)
row("a boundary of 71 letters",
    multipart.encode(GOOD, "b" * 71),
    kind=multipart.content_type("b" * 71),
    code=MALFORMED)
row("a boundary with forbidden letters", ENCODED, kind="multipart/form-data; boundary=a<b>", code=MALFORMED)
row("two boundaries", ENCODED, kind=f"{TYPE}; boundary=other")
row("line feeds only", ENCODED.replace(b"\r\n", b"\n"))
row("text right behind a boundary", ENCODED.replace(LINE + b"\r\n", LINE + b"junk\r\n", 1))
row("JSON instead of parts", b'{"bucket":"files"}', code=MALFORMED)
row("random bytes", bytes(range(256)) * 16, code=MALFORMED)

# A part's head.
row("no Content-Disposition", GOOD + [head(b"Content-Type: text/plain")])
row("no head at all", GOOD + [head(b"")])
row("no name", GOOD + [head(b"Content-Disposition: form-data")])
row("attachment instead of form-data", GOOD + [head(b'Content-Disposition: attachment; name="tags"')])
row(
    "two Content-Dispositions", GOOD +
    [head(b'Content-Disposition: form-data; name="tags"\r\nContent-Disposition: form-data; name="name"')])
row("two names", [KIND, FILE, head(b'Content-Disposition: form-data; name="bucket"; name="tags"', b"files")])
row("two file names",
    [BUCKET, KIND,
     head(b'Content-Disposition: form-data; name="file"; filename="a.txt"; filename="b.txt"')])
row("an open quote", GOOD + [head(b'Content-Disposition: form-data; name="tags')])
row("a folded line", GOOD + [head(b'Content-Disposition: form-data;\r\n name="tags"')])
row("a NUL in the head", GOOD + [head(b'Content-Disposition: form-data; name="tags"\0')])
row("a line without a colon", GOOD + [head(b'Content-Disposition: form-data; name="tags"\r\nnonsense')])
row("a head of 64 KiB",
    GOOD + [head(b'Content-Disposition: form-data; name="tags"\r\nX-Long: ' + b"x" * 65536)])
row("1,000 header lines",
    GOOD + [head(b'Content-Disposition: form-data; name="tags"' + b"\r\nX-More: 1" * 1000)])
for coding in (b"base64", b"quoted-printable", b"8bit", b"7bit", b"gzip"):
    row(f"transfer encoding {coding.decode()}", [
        BUCKET, KIND,
        head(
            b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Transfer-Encoding: ' +
            coding, b"eA==")
    ])
row(
    "a nested multipart", GOOD + [
        head(b'Content-Disposition: form-data; name="tags"\r\nContent-Type: multipart/mixed; boundary=in',
             b"--in--\r\n")
    ])

# Another media type.
for media in ("application/json", "application/x-www-form-urlencoded", "text/plain",
              "multipart/mixed; boundary=x", "multipart/form-datax", "image/png", "*/*"):
    row(f"sent as {media}", ENCODED, 415, "request.mediaType", kind=media)
