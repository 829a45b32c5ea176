# SPDX-License-Identifier: MIT
"""The kinds of requests that fail are of every operation that the service has."""

import json
import pathlib

from support.openapi import Document
from support_requests import MORE_REQUESTS, OTHER_REQUESTS, REQUESTS, USUAL, operations

DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "openapi.json"
TABLES = (REQUESTS, MORE_REQUESTS, OTHER_REQUESTS)


def test_every_operation_of_the_document_is_in_one_of_the_lists():
    document = Document(json.loads(DOCUMENT.read_text(encoding="utf-8")))
    known = {operation["operationId"] for _, _, operation in document.operations()}
    asked = {one for table in TABLES for name in table for one in operations(name)}
    assert known, "the document has no operations"
    assert known - asked == set(), "operations that no kind of request asks for"
    assert asked - known == set(), "kinds of requests for operations that are not in the document"


def test_each_kind_has_a_name_of_its_own():
    names = [name for table in TABLES for name in table]
    assert len(names) == len(set(names))
    assert set(USUAL) <= set(names)
