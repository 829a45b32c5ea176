# SPDX-License-Identifier: MIT
"""Asks every route of openapi.json without a token, with a false one, and with tokens that lack the permission, and
compares the answers with the table of routes.json. A route that is not in the table fails, so that somebody decides
about each new one."""

import json
import pathlib
import re
import uuid

import pytest

from permissions import support_rules as permissions

pytestmark = pytest.mark.web_server

TABLE = json.loads((pathlib.Path(__file__).parent / "routes.json").read_text())
MAIN = {
    "POST /customers/signup", "POST /customers/login", "POST /customers/refresh", "POST /customers/logout",
    "GET /customers/me", "POST /system/files", "GET /system/files", "GET /system/files/{id}",
    "GET /system/files/{id}/info", "DELETE /system/files/{id}", "GET /system/health/live",
    "GET /system/health/ready", "GET /system/version", "GET /system/openapi.json",
    "GET /.well-known/jwks.json"
}


def routes(document):
    return {f"{method} {template}": operation for method, template, operation in document.operations()}


def concrete(route):
    """Method and path of a route with its parameters filled in."""
    method, template = route.split(" ")
    return method, re.sub(r"\{[^}]+\}", lambda _: str(uuid.uuid4()), template)


def refused(api, route, status, code, **more):
    """Asks a route, which must refuse so; the reply. That to HEAD has no body that could tell the code."""
    method, path = concrete(route)
    return api.call(method, path, status=status, **({} if method == "HEAD" else {"code": code}), **more)


def known(document):
    """The table's (route, permission) rows that the service has."""
    return [(route, permission) for route, permission in sorted(TABLE["permission"].items())
            if route in routes(document)]


def test_the_document_and_the_table_name_the_same_routes(document):
    every = set(TABLE["public"]) | set(TABLE["token"]) | set(TABLE["permission"])
    normal = {re.sub(r"\{[^}]+\}", "{}", route) for route in every}
    strange = [route for route in routes(document) if re.sub(r"\{[^}]+\}", "{}", route) not in normal]
    assert not strange, f"routes without a row in routes.json: {strange}"
    assert MAIN <= set(routes(document)), f"missing: {sorted(MAIN - set(routes(document)))}"


def test_the_document_says_of_each_route_whether_it_needs_the_token(document):
    for route, operation in routes(document).items():
        public = any(
            re.sub(r"\{[^}]+\}", "{}", route) == re.sub(r"\{[^}]+\}", "{}", one) for one in TABLE["public"])
        assert document.needs_token(operation) != public, route


def test_the_document_names_the_scheme_jwt(document):
    scheme = document.document["components"]["securitySchemes"]["jwt"]
    assert scheme["type"] == "http" and scheme["scheme"].lower(
    ) == "bearer" and scheme["bearerFormat"] == "JWT"
    assert document.document["info"]["version"] == "1.0.0"


def test_without_a_token_every_protected_route_answers_401(api, document):
    tried = 0
    for route, operation in routes(document).items():
        if document.needs_token(operation):
            refused(api, route, 401, "auth.tokenMissing")
            tried += 1
    assert tried >= 8


def test_with_a_false_token_every_protected_route_answers_401(api, document):
    for route, operation in routes(document).items():
        if document.needs_token(operation):
            refused(api, route, 401, "auth.tokenInvalid", token="a.b.c")


def test_without_any_permission_every_route_that_needs_one_answers_403(api, document, nobody):
    rows = known(document)
    assert len(rows) >= 6
    for route, permission in rows:
        reply = refused(api, route, 403, "auth.permission", token=nobody.token)
        assert route.startswith("HEAD") or reply.json()["body"]["required"] == permission, route


def test_head_is_guarded_like_get(api, document, nobody):
    for route in routes(document):
        method, path = concrete(route)
        if method == "GET" and route in TABLE["permission"]:
            api.head(path, status=401)
            api.head(path, token=nobody.token, status=403)


def weaker(permission):
    """Patterns near the permission that do not hold it."""
    module, area, letter = permission.split(":")
    lower = {"a": ["w", "r"], "w": ["r"], "r": []}[letter]
    near = [f"{module}:{area}:{one}"
            for one in lower] + [f"*:*:{one}" for one in lower] + [f"{module}:*:{one}" for one in lower]
    near += [
        f"{module}:{area}x:a", f"{module}x:{area}:a", "inv:*:a" if module != "inv" else "log:*:a",
        f"{module}:elsewhere:a", "x:*"
    ]
    return near + (["rwx:*"] if letter == "a" else [])


def test_all_that_is_near_but_not_enough_still_answers_403(api, document, subject, database):
    for route, permission in known(document):
        patterns = weaker(permission)
        assert not permissions.allowed(patterns, permission)
        database.set_grants(subject.id, " ".join(patterns))
        refused(api, route, 403, "auth.permission", token=subject.token)


@pytest.mark.parametrize("how", ["exact", "wildcards"])
def test_what_is_just_enough_passes_the_gate(api, document, subject, database, how):
    for route, permission in known(document):
        module, area, letter = permission.split(":")
        database.set_grants(subject.id, permission if how == "exact" else f"*:*:{letter}")
        method, path = concrete(route)
        reply = api.call(method, path, token=subject.token)
        assert reply.status_code not in (401, 403, 404,
                                         405), f"{route}: {reply.status_code} {reply.text[:200]}"


def test_a_body_is_not_read_before_401_and_403_are_decided(api, document, nobody):
    """Bodies that would be 400, 413 or 415 make no difference to who may not ask."""
    bodies = [(b"{", "application/json"), (b"x" * 70000, "application/json"), (b"{}", "text/plain"),
              (b"--x", "multipart/form-data"), (b"x", None)]
    for route in routes(document):
        if route.split(" ")[0] in ("GET", "HEAD"):
            continue
        for data, kind in bodies:
            headers = {"Content-Type": kind} if kind else {}
            if route in TABLE["permission"]:
                refused(api, route, 403, "auth.permission", data=data, headers=headers, token=nobody.token)
            if route in TABLE["permission"] or route in TABLE["token"]:
                refused(api, route, 401, "auth.tokenMissing", data=data, headers=headers)
