# SPDX-License-Identifier: MIT
"""The OpenAPI document against the tables of the specification, row by row (specification.json holds them), and what a
reader of the document may expect of every operation."""

import json
import pathlib
import re

import pytest

from support.openapi import FORMATS, METHODS

SPECIFICATION = json.loads((pathlib.Path(__file__).parent / "specification.json").read_text(encoding="utf-8"))
JSON = "application/json"
UPLOAD = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"


def rows(table):
    """(table, row) for each row; a table may share its rows with others."""
    found = table["rows"]
    return [(table, row) for row in (SPECIFICATION["shared"][found] if isinstance(found, str) else found)]


ROWS = [pair for table in SPECIFICATION["tables"] for pair in rows(table)]
ERROR_ROWS = [(name, row) for name in ("errorBody", "errorEntry") for row in SPECIFICATION["shared"][name]]


def operation(document, name):
    """The operation of that id."""
    found = [one for _, _, one in document.operations() if one["operationId"] == name]
    assert len(found) == 1, f"{name} is there {len(found)} times"
    return found[0]


def schema_of(document, table):
    """The object schema that a table is about."""
    if "request" in table:
        content = operation(document, table["request"])["requestBody"]["content"]
        assert list(content) == [table.get("media", JSON)]
        schema = content[table.get("media", JSON)]["schema"]
    else:
        schema = operation(document, table["reply"])["responses"]["200"]["content"][JSON]["schema"]
        # One file or several.
        schema = schema.get("oneOf", [schema])[0]
    schema = document.resolve(schema)
    return document.resolve(schema["properties"][table["member"]]) if "member" in table else schema


def type_of(document, schema):
    """A schema's type in the specification's words."""
    schema = document.resolve(schema)
    kind = schema["type"]
    if kind == "array":
        items = document.resolve(schema["items"])
        inner = "binary" if items.get("format") == "binary" else items["type"]
        return "array of objects" if inner == "object" else f"array of {inner}"
    return " or ".join(kind) if isinstance(kind, list) else kind


@pytest.mark.parametrize("table, row", ROWS, ids=[f"{table['name']}: {row['field']}" for table, row in ROWS])
def test_a_field_is_what_its_table_says(document, table, row):
    schema = schema_of(document, table)
    assert row["field"] in schema["properties"], f"{row['field']} is missing among {list(schema['properties'])}"
    field = document.resolve(schema["properties"][row["field"]])
    assert type_of(document, field) == row["type"]
    if "required" in row:
        assert (row["field"] in schema.get("required", [])) == row["required"]
    if "reply" in table:
        assert row["field"] in schema["required"], "a reply has every member always"
    if "default" in row:
        assert "default" in field and field["default"] is row["default"]
    elif row.get("required"):
        assert "default" not in field
    if "values" in row:
        assert field["enum"] == SPECIFICATION["enumerations"][row["values"]]
    assert set(row.get("includes", [])) <= set(field.get("enum", []))


@pytest.mark.parametrize("name, row", ERROR_ROWS, ids=[f"{name}: {row['field']}" for name, row in ERROR_ROWS])
def test_the_error_body_is_what_its_table_says(document, name, row):
    body = document.document["components"]["schemas"]["ErrorBody"]
    schema = body if name == "errorBody" else document.resolve(body["properties"]["validation"]["items"])
    assert list(schema["properties"]) == [one["field"] for one in SPECIFICATION["shared"][name]]
    assert set(schema["required"]) == set(schema["properties"])
    assert type_of(document, schema["properties"][row["field"]]) == row["type"]


@pytest.mark.parametrize("name", list(SPECIFICATION["operations"]))
def test_an_endpoint_has_the_method_path_parameter_and_statuses_of_the_specification(document, name):
    expected = SPECIFICATION["operations"][name]
    (method, path, found), = [row for row in document.operations() if row[2]["operationId"] == name]
    assert path == expected["path"] and method == expected.get("method", method)
    assert {str(status) for status in expected["statuses"]} <= set(found["responses"])
    assert found["security"] == ([{SPECIFICATION["securityScheme"]: []}] if expected["token"] else [])
    if "parameter" in expected:
        parameter, = [one for one in found["parameters"] if one["in"] == "path"]
        assert (parameter["name"], parameter["required"]) == (expected["parameter"], True)
        assert type_of(document, parameter["schema"]) == "string"
    for status, response in found["responses"].items():
        if int(status) >= 400:
            assert failure(response)[0] == "#/components/schemas/ErrorBody"


def test_name_of_the_security_scheme_and_version(document):
    assert document.document["info"]["version"] == SPECIFICATION["version"]
    assert list(document.document["components"]["securitySchemes"]) == [SPECIFICATION["securityScheme"]]


# ---- what holds for every operation
# -----------------------------------------------------------------------------------


def failure(response):
    """(the reference, the codes) of a failure's schema; codes None where there is no enumeration."""
    schema = response["content"][JSON]["schema"]
    return schema["$ref"], schema["properties"]["code"]["enum"] if "properties" in schema else None


def test_every_failure_lists_its_codes(document):
    reserved = []
    for _, _, found in document.operations():
        for status, response in found["responses"].items():
            if int(status) < 400:
                continue
            reference, codes = failure(response)
            assert reference == "#/components/schemas/ErrorBody"
            if codes is None:
                reserved.append((found["operationId"], status))
            else:
                assert codes and len(codes) == len(set(codes)), f"{found['operationId']} {status}: {codes}"
    assert reserved == [("getFileInformation", "409"), ("updateCache", "409")]


def declared_headers(document, name, status):
    """{name: required} of a reply."""
    headers = operation(document, name)["responses"][str(status)]["headers"]
    return {header: document.resolve(entry)["required"] for header, entry in headers.items()}


def test_the_headers_that_follow_from_a_status_are_declared(document):
    follow = {"401": "WWW-Authenticate", "416": "Content-Range", "429": "Retry-After"}
    seen = set()
    for _, _, found in document.operations():
        for status in found["responses"]:
            declared = declared_headers(document, found["operationId"], status)
            assert declared["X-Request-Id"] and declared["X-Api-Version"]
            assert declared.get("Retry-After") == {"429": True, "500": False}.get(status)
            if status in follow:
                assert declared[follow[status]], f"{found['operationId']} {status}"
                seen.add(status)
    assert seen == set(follow)


@pytest.mark.parametrize("name, status, always, sometimes", [
    ("describeUploads", 204, {"Tus-Version", "Tus-Extension", "Tus-Checksum-Algorithm", "Tus-Max-Size"}, set()),
    ("createUpload", 201, {"Location", "Upload-Offset"}, {"Upload-Expires", "Upload-File-Id"}),
    ("getUploadOffset", 200, {"Upload-Offset"}, {"Upload-Length", "Upload-Defer-Length", "Upload-Metadata",
                                                 "Upload-Expires", "Upload-File-Id"}),
    ("continueUpload", 204, {"Upload-Offset"}, {"Upload-Expires", "Upload-File-Id"}),
    ("terminateUpload", 204, {"Tus-Resumable"}, set()), ("continueUpload", 412, {"Tus-Version"}, {"Tus-Resumable"}),
    *((name, status, {"ETag"}, set()) for name, statuses in (
        ("getSettings", (200, )), ("updateSettings", (200, )), ("getLimits", (200, 304)), ("getBranding", (200, 304)),
        ("getOpenApiDocument", (200, 304)), ("downloadFile", (200, 206, 304)), ("openFileLink", (200, 206, 304)))
      for status in statuses),
    ("downloadFile", 206, {"Content-Range", "Content-Disposition"}, set()),
    ("listAuditEntries", 200, set(), {"X-Next-Cursor"}), ("listOwnAuditEntries", 200, set(), {"X-Next-Cursor"}),
])
def test_the_headers_of_a_reply_are_declared(document, name, status, always, sometimes):
    declared = declared_headers(document, name, status)
    assert {one for one in declared if declared[one]} >= always
    assert {one for one in declared if not declared[one]} == sometimes


@pytest.mark.parametrize("headers, fault", [
    ({}, "Upload-Offset is missing"), ({"Upload-Offset": "some"}, "does not match"),
    ({"Upload-Offset": "5", "Tus-Version": "1.0.0"}, "does not declare"),
    ({"Upload-Offset": "5", "Upload-File-Id": "this one"}, "does not match"),
])
def test_a_reply_with_other_headers_than_its_document_has_fails(document, headers, fault):
    good = {"X-Request-Id": "12345678", "X-Api-Version": "1.0.0", "Tus-Resumable": "1.0.0", "Upload-Offset": "5"}
    path = f"/system/uploads/{UPLOAD}"
    document.check("PATCH", path, 204, good, None)
    del good["Upload-Offset"]
    with pytest.raises(AssertionError, match=fault):
        document.check("PATCH", path, 204, {**good, **headers}, None)


def test_whatever_takes_bytes_may_be_told_to_wait(document):
    """Workers and the web server bound how many bodies are under way."""
    takers = [found for _, _, found in document.operations()
              if JSON not in found.get("requestBody", {"content": {JSON: {}}})["content"]]
    assert {found["operationId"] for found in takers} == {"uploadFiles", "createUpload", "continueUpload"}
    for found in takers:
        assert failure(found["responses"]["429"])[1] == ["rate.limited"]


def test_the_codes_of_values_are_those_of_the_guide(document):
    text = (pathlib.Path(__file__).parents[3] / "docs" / "errors.md").read_text(encoding="utf-8")
    table = text.split("## The codes of values")[1].split("\n## ")[0]
    told = {code for line in table.splitlines() if line.startswith("| `") and "[].code" not in line
            for code in re.findall(r"`(\w+)`", line.split("|")[1])}
    entry = document.document["components"]["schemas"]["ErrorEntry"]["properties"]["code"]
    assert set(entry["enum"]) == told and len(told) > 25


def test_every_operation_has_words_and_a_declared_tag(document):
    declared = {tag["name"]: tag["description"] for tag in document.document["tags"]}
    used = set()
    for method, path, found in document.operations():
        assert len(found["summary"]) > 5 and len(found["description"]) > 15, f"{method} {path}"
        assert set(found["tags"]) <= set(declared), f"{method} {path}: {found['tags']}"
        used |= set(found["tags"])
    assert used == set(declared) and all(declared.values())


def test_every_operation_has_examples_that_fit_its_schemas(document):
    for method, path, found in document.operations():
        done = [reply for status, reply in found["responses"].items() if status.startswith("2")]
        assert done, f"{method} {path} names no success"
        contents = [part.get("content", {}) for part in (found.get("requestBody", {}), *done)]
        for content in contents:
            for media, entry in content.items():
                where = f"example of {method} {path} {media}"
                assert "example" in entry, f"{where} is missing"
                document.validate(entry["example"], entry["schema"], where)


def test_no_pattern_stands_beside_a_time(document):
    def walk(value):
        if isinstance(value, dict):
            assert not (value.get("format") == "date-time" and "pattern" in value), value
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document.document)
    assert not FORMATS.conforms("2026-01-31T09:30:00Z", "date-time")


def test_times_in_a_query_are_described_as_times(document):
    found = [one for _, _, operation in document.operations() for one in operation["parameters"]
             if one["in"] == "query" and one["name"] in ("since", "until")]
    assert len(found) > 5 and {one["schema"].get("format") for one in found} == {"date-time"}


def test_a_change_has_at_least_one_member(document):
    bodies = [document.resolve(found["requestBody"]["content"][JSON]["schema"]) for method, _, found in
              document.operations() if method == "PATCH" and JSON in found["requestBody"]["content"]]
    assert len(bodies) > 4 and {body.get("minProperties") for body in bodies} == {1}


def test_the_pattern_of_permissions_takes_what_may_be_written(document):
    """docs/permissions.md has the grammar."""
    pattern = document.document["components"]["schemas"]["NewUser"]["properties"]["permissions"]["items"]["pattern"]
    for text in ("cus:file:r", "*:*:a", "cus:*:w", "*:file-2:r", "rwx:*", "x:*", "wr:*", "xrw:*"):
        assert re.search(pattern, text), text
    for text in ("*:*:*", "inv:*", "INV:*:w", "cus:file:r ", " cus:file:r", "rr:*", "rwxa:*", ":*", "2:a:r"):
        assert not re.search(pattern, text), text


def test_the_walk_meets_every_operation(document):
    every = [found for entry in document.document["paths"].values() for found in entry if found in METHODS]
    assert len(every) == len(list(document.operations())) > 30


def test_the_guide_names_every_list_that_has_pages(document):
    text = (pathlib.Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `GET (/[^`]*)` \|", text.split("\n## Lists")[1].split("\n## ")[0], re.MULTILINE))
    lists = {path: document.resolve(found["responses"]["200"]["content"][JSON]["schema"]).get("properties", {})
             for method, path, found in document.operations()
             if method == "GET" and JSON in found["responses"]["200"].get("content", {})}
    assert told == {path for path, members in lists.items() if "nextCursor" in members}
    assert {path for path, members in lists.items() if "items" in members} > told
