# SPDX-License-Identifier: MIT
"""A small store of the S3 protocol for the tests, which misbehaves as it is told. Prints its port.

DIRECTORY/script has a line for each request that shall meet something: its method, then what to do. The first line is
taken away by the first request of its method; without one the store does as it is asked. DIRECTORY/log gets a line for
each request, and DIRECTORY/objects the keys that are there.

    PUT lost            does it and closes the connection without an answer
    GET drop            closes the connection and does nothing
    GET silent          gives no answer
    PUT slow            does it and answers seven seconds later
    GET half            gives half of the answer
    PUT error 403 Code  refuses
    GET html 200        answers with a page
    GET moved           sends the client elsewhere
    POST failed Code    begins with 200 and says in the body that it failed
    PUT blind           ignores If-None-Match
    PUT dies            keeps the name without an object, and closes the connection
    GET short           gives fewer bytes than were asked for
"""

import hashlib
import html
import http.server
import os
import sys
import threading
import time
import urllib.parse
import uuid

LOCK = threading.Lock()
OBJECTS, UPLOADS, NAMES = {}, {}, set()
PAGE = b"<!DOCTYPE html><html><body>It works!</body></html>"


def error(code):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>said so &amp; so</Message></Error>".encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def order(self):
        """What the script says about this request."""
        with LOCK:
            path = os.path.join(DIRECTORY, "script")
            lines = open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []
            for at, line in enumerate(lines):
                if line.split()[0] == self.command:
                    del lines[at]
                    with open(path, "w", encoding="utf-8") as script:
                        script.write("".join(one + "\n" for one in lines))
                    return line.split()[1:]
        return ["ok"]

    def note(self):
        with LOCK, open(os.path.join(DIRECTORY, "log"), "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('If-None-Match', '-')}\n")

    def serve(self):
        self.connection.settimeout(30)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.note()
        what = self.order()
        if what[0] == "drop":
            self.close_connection = True
            return
        if what[0] == "silent":
            time.sleep(30)
            self.close_connection = True
            return
        if what[0] == "error":
            self.answer(int(what[1]), error(what[2]))
        elif what[0] == "html":
            self.answer(int(what[1]), PAGE)
        elif what[0] == "moved":
            self.answer(301, error("PermanentRedirect"), {"Location": "https://elsewhere.example/"})
        elif what[0] == "failed":
            self.answer(200, error(what[1]))
        else:
            self.obey(body, what[0])

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve

    def obey(self, body, how):
        if hashlib.sha256(body).hexdigest() != self.headers["x-amz-content-sha256"]:
            status, answer, headers = 400, error("XAmzContentSHA256Mismatch"), {}
        elif not self.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=key/"):
            status, answer, headers = 403, error("AccessDenied"), {}
        else:
            with LOCK:
                status, answer, headers = self.carry_out(body, how)
                with open(os.path.join(DIRECTORY, "objects"), "w", encoding="utf-8") as objects:
                    objects.write("".join(f"{key} {len(OBJECTS[key][0])}\n" for key in sorted(OBJECTS)) +
                                  "".join(f"upload {UPLOADS[one][0]}\n" for one in sorted(UPLOADS)))
        if how in ("lost", "dies"):
            self.close_connection = True
            return
        if how == "slow":
            time.sleep(7)
        if how == "short":
            answer = answer[:-1]
        self.answer(status, answer, headers, half=how == "half")

    def carry_out(self, body, how):
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        bucket, _, key = urllib.parse.unquote(path)[1:].partition("/")
        if bucket != "bucket":
            return 404, error("NoSuchBucket"), {}
        if not key:
            return 200, (self.uploads(query) if "uploads" in query else self.listing(query)), {}
        if self.command == "POST":
            return self.post(key, query, body)
        if self.command == "DELETE" and "uploadId" in query:
            return (204, b"", {}) if UPLOADS.pop(query["uploadId"], None) else (404, error("NoSuchUpload"), {})
        if self.command == "DELETE":
            OBJECTS.pop(key, None)
            return 204, b"", {}
        if self.command == "PUT":
            return self.put(key, query, body, how)
        if key not in OBJECTS:
            return 404, error("NoSuchKey"), {}
        return self.get(*OBJECTS[key])

    def put(self, key, query, body, how):
        if "uploadId" in query:
            if query["uploadId"] not in UPLOADS:
                return 404, error("NoSuchUpload"), {}
            copied = self.source()
            if copied is not None and copied not in OBJECTS:
                return 404, error("NoSuchKey"), {}
            part = body if copied is None else OBJECTS[copied][0]
            tag = f'"{hashlib.md5(part).hexdigest()}"'
            UPLOADS[query["uploadId"]][2][int(query["partNumber"])] = part
            if copied is None:
                return 200, b"", {"ETag": tag}
            return 200, f"<CopyPartResult><ETag>{html.escape(tag)}</ETag></CopyPartResult>".encode(), {}
        if self.source() is not None:
            OBJECTS[key] = OBJECTS[self.source()]
            return 200, b"<CopyObjectResult><ETag>x</ETag></CopyObjectResult>", {}
        if key in NAMES.union(OBJECTS) and self.headers.get("If-None-Match") == "*" and how != "blind":
            return 412, error("PreconditionFailed"), {}
        if how == "dies":
            NAMES.add(key)
            return 500, b"", {}
        OBJECTS[key] = (body, self.headers.get("x-amz-meta-sha256"))
        return 200, b"", {}

    def source(self):
        """The key that shall be copied."""
        source = self.headers.get("x-amz-copy-source")
        return source and urllib.parse.unquote(source).split("/", 2)[2]

    def post(self, key, query, body):
        if "uploads" in query:
            name = uuid.uuid4().hex
            UPLOADS[name] = (key, self.headers.get("x-amz-meta-sha256"), {})
            return 200, (f"<InitiateMultipartUploadResult xmlns='x'><Key>{key}</Key><UploadId>{name}</UploadId>"
                         "</InitiateMultipartUploadResult>").encode(), {}
        if query["uploadId"] not in UPLOADS:
            return 404, error("NoSuchUpload"), {}
        _, digest, parts = UPLOADS.pop(query["uploadId"])
        assert body.count(b"<Part>") == len(parts)
        OBJECTS[key] = (b"".join(parts[number] for number in sorted(parts)), digest)
        return 200, b"<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>", {}

    def get(self, data, digest):
        headers = {"Last-Modified": "Mon, 23 Nov 2026 10:00:00 GMT"}
        if digest:
            headers["x-amz-meta-sha256"] = digest
        if "Range" not in self.headers:
            return 200, data, headers
        first, last = (int(number) for number in self.headers["Range"].removeprefix("bytes=").split("-"))
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return 206, data[first:last + 1], headers

    def listing(self, query):
        keys = [key for key in sorted(OBJECTS)
                if key.startswith(query["prefix"]) and key > query.get("start-after", "")]
        most = min(int(query["max-keys"]), PAGE_KEYS)
        rows = "".join(f"<Contents><Key>{html.escape(key)}</Key><Size>{len(OBJECTS[key][0])}</Size>"
                       "<LastModified>2026-11-23T10:00:00.000Z</LastModified></Contents>" for key in keys[:most])
        return (f"<?xml version='1.0' encoding='UTF-8'?>\n<ListBucketResult xmlns='x'>{rows}"
                f"<IsTruncated>{str(len(keys) > most).lower()}</IsTruncated></ListBucketResult>").encode()

    def uploads(self, query):
        names = sorted(UPLOADS, key=lambda name: (UPLOADS[name][0], name))
        names = [name for name in names
                 if (UPLOADS[name][0], name) > (query.get("key-marker", ""), query.get("upload-id-marker", ""))]
        rows = "".join(f"<Upload><Key>{UPLOADS[name][0]}</Key><UploadId>{name}</UploadId>"
                       "<Initiated>2026-11-23T10:00:00.000Z</Initiated></Upload>" for name in names[:PAGE_KEYS])
        return (f"<ListMultipartUploadsResult><IsTruncated>{str(len(names) > PAGE_KEYS).lower()}</IsTruncated>{rows}"
                "</ListMultipartUploadsResult>").encode()

    def answer(self, status, body, headers=None, half=False):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:len(body) // 2] if half else body)
        self.close_connection = self.close_connection or half


DIRECTORY = sys.argv[1]
PAGE_KEYS = 3
SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
SERVER.daemon_threads = True
print(SERVER.server_address[1], flush=True)
SERVER.serve_forever()
