# SPDX-License-Identifier: MIT
"""Checks replies against the OpenAPI document that the service itself serves: a reply that the document does not
know is a fault."""

import re

import jsonschema

from support.schema import Shortcut

FORMATS = jsonschema.FormatChecker()
# Headers that clients of the interface read.
OF_THE_INTERFACE = re.compile(r"(Upload-|Tus-|X-(Request-Id|Api-Version|Next-Cursor)$"
                              r"|(Location|ETag|Retry-After|WWW-Authenticate|Content-Range)$)", re.IGNORECASE)
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


@FORMATS.checks("date-time")
def is_time(value):
    """Every time is RFC 3339, in UTC, with milliseconds."""
    return not isinstance(value, str) or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value) is not None


class Document:
    """The served OpenAPI document, with its operations by method and path."""

    def __init__(self, document):
        self.document = document
        assert str(document.get("openapi", "")).startswith("3."), "not an OpenAPI 3 document"
        self.modern = document["openapi"].startswith("3.1")
        self.resolver = jsonschema.RefResolver.from_schema(document)
        self.shortcut = Shortcut(lambda name: self.resolver.resolve(name)[1], FORMATS)
        self.patterns = []
        for template in document["paths"]:
            pattern = "".join(f"(?P<p{number}>[^/]+)" if piece.startswith("{") else re.escape(piece)
                              for number, piece in enumerate(re.split(r"(\{[^}]+\})", template)))
            self.patterns.append((re.compile(pattern + r"\Z"), template))
        # A literal path goes before one with parameters that would also match it.
        self.patterns.sort(key=lambda row: row[1].count("{"))

    def template(self, path):
        """The path template that a concrete path belongs to, or None."""
        for pattern, template in self.patterns:
            if pattern.match(path):
                return template
        return None

    def operation(self, method, path):
        """The operation object of a method and a concrete path, or None; that of GET answers HEAD."""
        template = self.template(path)
        if template is None:
            return None
        entry = self.document["paths"][template]
        found = entry.get(method.lower())
        if found is None and method.upper() == "HEAD":
            found = entry.get("get")
        return found

    def operations(self):
        """Every (METHOD, template, operation) of the document."""
        for template, entry in self.document["paths"].items():
            for method, operation in entry.items():
                if method in METHODS:
                    yield method.upper(), template, operation

    def needs_token(self, operation):
        """Whether the operation's security requirement asks for the token."""
        return bool(operation.get("security", self.document.get("security", [])))

    def resolve(self, thing):
        """Follows $ref until there is none."""
        while isinstance(thing, dict) and "$ref" in thing:
            thing = self.resolver.resolve(thing["$ref"])[1]
        return thing

    def check(self, method, path, status, headers, body):
        """Fails unless the document describes this reply; body is the parsed JSON, or None where it is not
        JSON."""
        where = f"{method} {path} {status}"
        operation = self.operation(method, path)
        assert operation is not None, f"{where}: openapi.json has no such operation"
        responses = operation["responses"]
        assert str(status) in responses, f"{where}: openapi.json documents only {sorted(responses)}"
        response = self.resolve(responses[str(status)])
        self.check_headers(response.get("headers", {}), headers, where)
        content = response.get("content", {})
        if method.upper() == "HEAD" or status == 304:
            return
        if not content:
            assert body is None, f"{where}: openapi.json documents no body, yet there is {body!r:.200}"
            return
        media = headers.get("Content-Type", "").split(";")[0].strip().lower()
        key = next((k for k in (media, media.split("/")[0] + "/*", "*/*") if k in content), None)
        assert key, f"{where}: media type {media!r} is not among {sorted(content)}"
        schema = content[key].get("schema")
        if media == "application/json" and schema is not None and body is not None:
            self.validate(body, schema, where)

    def check_headers(self, declared, headers, where):
        """Those that are required are there, those that are there have their form, and none of the interface is there
        that the document does not declare."""
        for name, header in declared.items():
            header = self.resolve(header)
            value = headers.get(name)
            assert value is not None or not header["required"], f"{where}: the header {name} is missing"
            if value is not None:
                number = header["schema"]["type"] == "integer" and re.fullmatch("[0-9]+", value)
                self.validate(int(value) if number else value, header["schema"], f"{where}: header {name}")
        known = {name.lower() for name in declared}
        unknown = sorted(name for name in headers if OF_THE_INTERFACE.match(name) and name.lower() not in known)
        assert not unknown, f"{where}: openapi.json does not declare the headers {unknown}"

    def validate(self, value, schema, where="value"):
        """Fails unless the value matches the schema."""
        if self.modern and self.shortcut.matches(value, schema):
            return
        faults = self.faults(value, schema)
        text = "; ".join(f"{'.'.join(map(str, fault.absolute_path)) or '(top)'}: {fault.message:.300}"
                         for fault in faults)
        assert not faults, f"{where}: does not match its schema: {text}"

    def faults(self, value, schema):
        """What jsonschema finds."""
        kind = jsonschema.Draft202012Validator if self.modern else jsonschema.Draft4Validator
        schema = schema if self.modern else _without_nullable(schema, self)
        validator = kind(schema, resolver=self.resolver, format_checker=FORMATS)
        return sorted(validator.iter_errors(value), key=lambda fault: list(map(str, fault.path)))


def _without_nullable(schema, document):
    """An OpenAPI 3.0 schema as plain JSON Schema: nullable becomes a type, references are put in place."""
    schema = document.resolve(schema)
    if isinstance(schema, list):
        return [_without_nullable(item, document) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _without_nullable(inner, document) for name, inner in value.items()}
        elif key in ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"):
            plain[key] = _without_nullable(value, document)
        elif key != "nullable":
            plain[key] = value
    return {"anyOf": [{"type": "null"}, plain]} if schema.get("nullable") else plain
