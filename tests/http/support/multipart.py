# SPDX-License-Identifier: MIT
"""multipart/form-data (RFC 7578) written by hand, so that the wrong can be written as easily as the right."""

import uuid


class Part:
    """One part. filename None leaves it out; headers replace or follow the usual ones."""

    def __init__(self, name, data, filename=None, content_type=None, headers=None):
        self.name = name
        self.data = data.encode() if isinstance(data, str) else data
        self.filename = filename
        self.content_type = content_type
        self.headers = headers

    def head(self):
        """The part's header lines."""
        if self.headers is not None:
            return self.headers
        line = b'Content-Disposition: form-data; name="' + _quoted(self.name) + b'"'
        if self.filename is not None:
            line += b'; filename="' + _quoted(self.filename) + b'"'
        if self.content_type is not None:
            line += b"\r\nContent-Type: " + self.content_type.encode("latin-1")
        return line


def _quoted(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    # As browsers write it (WHATWG HTML, multipart/form-data encoding algorithm).
    return data.replace(b'"', b"%22").replace(b"\r", b"%0D").replace(b"\n", b"%0A")


def boundary():
    """A boundary that no content holds."""
    return f"----gatehouse-test-{uuid.uuid4().hex}"


def encode(parts, mark, end=True):
    """The body of the parts."""
    line = b"--" + mark.encode("latin-1")
    blocks = [line + b"\r\n" + part.head() + b"\r\n\r\n" + part.data + b"\r\n" for part in parts]
    return b"".join(blocks) + (line + b"--\r\n" if end else b"")


def content_type(mark):
    """The Content-Type header of a body with this boundary."""
    return f"multipart/form-data; boundary={mark}"
