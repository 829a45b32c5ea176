# SPDX-License-Identifier: MIT
"""Whichever endpoint takes the name of a person or an organisation, or an address, takes it by the same rules: read
from the OpenAPI document, which is written from the tables that check the input, so that no new endpoint escapes."""

import re

from support.client import failing

NAMES = {"firstName", "lastName"}
ADDRESSES = {"email", "newEmail"}
REFUSED = list(":/\\<>@") + ["\n", "\r", "\x00", "\x1b", "\x7f", "\x85", "\u2028", "\u202e"]


def bodies(document):
    """(operation, schema of its JSON body, resolved)."""
    for method, template, operation in document.operations():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content:
            yield f"{method} {template}", resolve(document, content["schema"])


def resolve(document, schema):
    while "$ref" in schema:
        schema = document.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def members(document, schema):
    """Every member of a body with its own schema, nested ones too: (name, schema)."""
    for name, member in schema.get("properties", {}).items():
        options = member.get("oneOf", [member])
        own = next((resolve(document, one) for one in options if one.get("type") != "null"), member)
        yield name, own
        if own.get("properties"):
            yield from members(document, own)


def test_every_name_of_a_person_is_held_to_the_rule(document):
    seen = 0
    for operation, schema in bodies(document):
        for name, own in members(document, schema):
            if name in NAMES:
                seen += 1
                pattern = re.compile(own["pattern"])
                assert own["maxLength"] == 100 and own["minLength"] == 1, operation
                assert not [text for text in REFUSED if pattern.search(f"Ann{text}a")], operation
                assert pattern.search("Zoë O'Brien-Łódź, 3rd (née 漢)"), operation
    assert seen >= 6


def test_every_name_of_an_organisation_is_held_to_the_rule(document):
    patterns = []
    for operation, schema in bodies(document):
        if "organisation" in operation.lower() or "signup" in operation:
            patterns += [(operation, own) for name, own in members(document, schema) if name == "name"]
    assert patterns
    for operation, own in patterns:
        assert own["maxLength"] == 200 and not re.search(own["pattern"], "a/b"), operation


def test_every_address_is_one_by_its_schema(document):
    seen = [(operation, own) for operation, schema in bodies(document)
            for name, own in members(document, schema) if name in ADDRESSES]
    assert len(seen) >= 2 and all(own.get("format") in ("email", "idn-email") for _, own in seen)


def test_the_rule_of_the_document_is_the_one_that_is_kept(customer):
    path = f"/customers/organisations/users/{customer.id}"
    for text in REFUSED:
        reply = customer.patch(path, json={"firstName": f"Ann{text}a", "lastName": f"{text}"}, status=400)
        assert set(failing(reply)) == {"firstName", "lastName"} or text == "\x00", repr(text)
