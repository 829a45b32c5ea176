# SPDX-License-Identifier: MIT
"""The shortcut by which the client of all tests passes a reply (support/schema.py) passes nothing that jsonschema
refuses, and passes most of what the document gives as examples."""

import copy

import pytest

ODD = [None, True, 0, -1, 7.5, 10**12, "", "x", "x" * 9000, "2026-01-31T09:30:00Z", "not@an@address", [], [None],
       ["x", "x"], {}, {"unknown": 1}]


@pytest.fixture(scope="module")
def examples(document):
    """Every example of a reply: (value, schema)."""
    found = []
    for _, _, operation in document.operations():
        for reply in map(document.resolve, operation["responses"].values()):
            found += [(entry["example"], entry["schema"]) for entry in reply.get("content", {}).values()
                      if "example" in entry and "schema" in entry]
    assert found
    return found


def variants(value):
    """The value with another thing in one place of it, without a member, or with one more."""
    yield from ODD
    if isinstance(value, dict):
        yield {**value, "unknown": 1}
        for name, inner in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            for changed in variants(inner):
                yield {**value, name: changed}
    elif isinstance(value, list) and value:
        yield value + value
        for changed in variants(value[0]):
            yield [changed, *value[1:]]


def test_every_example_passes_by_the_shortcut_unless_it_is_one_of_several_objects(document, examples):
    left = [schema for value, schema in examples if not document.shortcut.matches(value, schema)]
    assert all("oneOf" in schema for schema in left) and len(left) <= len(examples) / 10, left


def test_what_is_broken_in_one_place_passes_only_where_jsonschema_passes_it(document, examples):
    passed = refused = 0
    for value, schema in examples:
        for broken in variants(copy.deepcopy(value)):
            if document.shortcut.matches(broken, schema):
                faults = document.faults(broken, schema)
                assert not faults, f"{broken} passes, yet {faults[0].message}"
                passed += 1
            else:
                refused += 1
    assert refused > passed > 0
