# SPDX-License-Identifier: MIT
"""The objects of a bucket, asked for with what the tests use of pathlib.Path: for a store whose bytes lie in no folder.
It signs its requests as AWS describes it (Signature Version 4) and shares nothing with the signer under test."""

import datetime
import hashlib
import hmac
import pathlib
import urllib.parse
import xml.etree.ElementTree

from support.connections import ask

NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}
PATIENCE = 60


class Bucket:
    """One bucket, by what quickstart.json says of the store."""

    def __init__(self, facts):
        self.url, self.name, self.region = facts["url"], facts["bucket"], facts["region"]
        self.key = facts["accessKey"]
        self.secret = pathlib.Path(facts["secretKeyFile"]).read_text(encoding="ascii").strip()

    def call(self, method, path="", query=(), body=b"", headers=None):
        """A signed request about an object, or about the bucket; the reply, whatever it says."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        target = f"/{self.name}/{urllib.parse.quote(path)}".rstrip("/")
        parameters = "&".join(f"{name}={urllib.parse.quote(value, safe='')}" for name, value in sorted(query))
        signed = {"host": self.url.split("//")[1], "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
                  "x-amz-date": now, **(headers or {})}
        names = ";".join(sorted(signed))
        lines = [method, target, parameters, *(f"{name}:{signed[name]}" for name in sorted(signed)), "", names,
                 signed["x-amz-content-sha256"]]
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256("\n".join(lines).encode()).hexdigest()])
        made = f"AWS4{self.secret}".encode()
        for part in (*scope.split("/"), text):
            made = hmac.digest(made, part.encode(), "sha256")
        signed["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={names}, "
                                   f"Signature={made.hex()}")
        return ask(method, f"{self.url}{target}?{parameters}".rstrip("?"), data=body, headers=signed, timeout=PATIENCE)

    def sizes(self, prefix=""):
        """The size of every object whose key begins so, by its key."""
        found, token = {}, None
        while token != "":
            query = [("list-type", "2"), ("prefix", prefix)] + ([("continuation-token", token)] if token else [])
            reply = self.call("GET", query=query)
            assert reply.status_code == 200, reply.text
            page = xml.etree.ElementTree.fromstring(reply.content)
            for one in page.iterfind("s3:Contents", NAMESPACE):
                found[one.findtext("s3:Key", None, NAMESPACE)] = int(one.findtext("s3:Size", None, NAMESPACE))
            token = page.findtext("s3:NextContinuationToken", "", NAMESPACE)
        return found


class Object:
    """One object, or what stands before the names of several."""

    def __init__(self, bucket, key=""):
        self.bucket, self.key = bucket, key

    def __truediv__(self, name):
        return Object(self.bucket, f"{self.key}/{name}".lstrip("/"))

    def __str__(self):
        return f"/{self.bucket.name}/{self.key}".rstrip("/")

    @property
    def name(self):
        """What stands after the last slash."""
        return self.key.rpartition("/")[2]

    def relative_to(self, other):
        """The rest of the key."""
        return self.key.removeprefix(other.key).lstrip("/")

    def exists(self):
        """Whether there is such an object."""
        return self.ask("HEAD", {200, 404}).status_code == 200

    def read_bytes(self):
        """All bytes."""
        return self.ask("GET", {200}).content

    def write_bytes(self, data):
        """Other bytes; what the store keeps about the object stays, as it does in a folder."""
        before = self.ask("HEAD", {200, 404}).headers
        kept = {name.lower(): value for name, value in before.items() if name.lower().startswith("x-amz-meta-")}
        self.ask("PUT", {200}, body=data, headers=kept)

    def unlink(self):
        """Away with it."""
        self.ask("DELETE", {204})

    def glob(self, _):
        """The objects whose keys begin with this one and a slash."""
        return [Object(self.bucket, key) for key in self.bucket.sizes(f"{self.key}/")]

    def ask(self, method, statuses, **what):
        """A request that is answered as it should be."""
        reply = self.bucket.call(method, self.key, **what)
        assert reply.status_code in statuses, f"{method} {self}: {reply.status_code} {reply.text}"
        return reply
