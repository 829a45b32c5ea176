# SPDX-License-Identifier: MIT
"""What Schemathesis cannot know of the service: how somebody signs in again, and which good requests are refused for a
reason that no schema can express."""

import http.client
import json
import os
import re
import subprocess
import urllib.parse

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

SESSION_SECONDS = 60
SIGN_IN_ADDRESS = "127.0.0.9"
FORM = "multipart/form-data"
# What a failure says of each rule that a value breaks.
BROKEN = re.compile(r"violates ((?:`\w+`(?:, )?)+)")
# Codes of replies to requests that have the form of the schema, and why. All else that is refused with such a form is a
# failure.
REASONS = {
    "auth.newPasswordRequired": "an account that waits for its first sign-in needs another member",
    "code.mismatch": "the code of an e-mail: the schema has its form, the outbox has its value",
    "file.unknown": "an id of the right form, of which there is no file",
    "link.unknown": "an id of the right form, of which there is no link",
    "organisation.unknown": "an id of the right form, of which there is no organisation",
    "password.policy": "common passwords and those with one's name are refused, by lists that no schema holds",
    "request.tooLarge": "the bound is a setting of the installation",
    "session.unknown": "an id of the right form, of which there is no session",
    "upload.unknown": "an id of the right form, of which there is no upload",
    "user.unknown": "an id of the right form, of which there is nobody",
}
# Faults of single values in a reply "request.invalid": the path, where indexes are left out, and the code.
REASONS_OF_VALUES = {
    ("", "required"): "at least one of several members; the schema of a body has no alternatives",
    ("Upload-Checksum", "format"): "the document has the pattern, but the coverage phase sends other texts in headers",
    ("Upload-Defer-Length", "unexpected"): "headers that exclude each other; a schema has each by itself",
    ("Upload-Length", "required"): "one of two headers; a schema has each by itself",
    ("cursor", "format"): "a cursor is an id that the page before has given, with the same filters",
    ("file", "contentType"): "what the bytes are; a schema does not read them",
    ("file", "count"): "how many files come depends on the type that is named beside them",
    ("file", "duplicate"): "the same bytes twice in one request",
    ("file", "empty"): "a part without a byte; a schema does not bound the bytes of parts",
    ("firstName", "format"): "nothing that can be seen; a pattern does not know which letters there are",
    ("ids", "format"): "the id of nothing (all zeros) is no id",
    ("lastName", "format"): "nothing that can be seen; a pattern does not know which letters there are",
    ("locale", "format"): "the order of the parts of a language tag",
    ("name", "count"): "a name for several files",
    ("name", "encoding"): "a form bounds the bytes of a text, a schema counts characters",
    ("name", "format"): "nothing that can be seen; a pattern does not know which letters there are",
    ("name", "length"): "a file system bounds the bytes of a name, a schema counts characters",
    ("name", "mismatch"): "the ending does not fit the type of the bytes",
    ("organisation.name", "format"): "nothing that can be seen; a pattern does not know which letters there are",
    ("password", "common"): "the list of common passwords is in no schema",
    ("password", "length"): "the least length is a setting of the installation",
    ("password", "mismatch"): "the current password is another one",
    ("password", "personal"): "the name of the organisation is in no request",
    ("roles", "unknown"): "a text of the right form, which is the id of no role",
    ("since", "format"): "a time before 1970",
    ("since", "order"): "two times in the wrong order",
    ("until", "format"): "a time before 1970",
}


# Operations of which every "request.invalid" is right.
REASONS_OF_OPERATIONS = {
    ("POST", "/system/uploads"): "Upload-Metadata is one text for a schema: keys, and values in base64 with rules",
}


class SignIn:
    """A session of the person for whom the run is. The requests end sessions, and wrong passwords among them make the
    account wait, which the operator ends; wrong codes make their address wait, so the sign-in has another one."""

    def get(self, case, context):
        """An access token."""
        status, reply = self._sign_in()
        if status == 429:
            subprocess.run([*json.loads(os.environ["GATEHOUSE_UNLOCK"]), os.environ["GATEHOUSE_USERNAME"]], check=True,
                           stdout=subprocess.DEVNULL)
            status, reply = self._sign_in()
        if status != 200:
            raise RuntimeError(f"the sign-in is answered with {status}: {reply}")
        return reply["tokens"]["accessToken"]

    def _sign_in(self):
        address = urllib.parse.urlsplit(os.environ["GATEHOUSE_BASE_URL"])
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60,
                                                source_address=(SIGN_IN_ADDRESS, 0))
        body = {"username": os.environ["GATEHOUSE_USERNAME"], "password": os.environ["GATEHOUSE_PASSWORD"]}
        try:
            connection.request("POST", "/customers/login", json.dumps(body), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, json.load(reply)
        finally:
            connection.close()

    def set(self, case, data, context):
        """Puts it into a request."""
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


schemathesis.auth(refresh_interval=SESSION_SECONDS, retry_on=[401])(SignIn)


@schemathesis.serializer("application/offset+octet-stream")
def pieces_of_files(_context, value):
    """The body of a resumable upload."""
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


@schemathesis.check
def what_the_schema_allows_is_taken(context, response, case):
    """Stands for positive_data_acceptance, which takes every refusal of a request for a failure."""
    try:
        return positive_data_acceptance(context, response, case)
    except AssertionError:
        if has_reason(response, case):
            return None
        raise


@schemathesis.check
def what_the_schema_forbids_is_refused(context, response, case):
    """Stands for negative_data_rejection, which now and then forgets that the parts of a form are texts: what was null
    before it was sent is the text "null", which the schema allows."""
    try:
        return negative_data_rejection(context, response, case)
    except AssertionError as error:
        broken = {name for names in BROKEN.findall(error.message) for name in re.findall(r"\w+", names)}
        if case.media_type == FORM and broken == {"type"}:
            return None
        raise


def has_reason(response, case):
    """Whether the reply gives a reason that the schema cannot have."""
    try:
        reply = response.json()
    except ValueError:
        return False
    code = reply.get("code")
    faults = {(re.sub(r"\[\d+\]", "", one["path"]), one["code"]) for one in reply.get("validation", [])}
    if response.status_code not in (400, 413):
        return False
    return code in REASONS or code == "request.invalid" and (
        faults <= set(REASONS_OF_VALUES) or (case.method.upper(), case.path) in REASONS_OF_OPERATIONS)
