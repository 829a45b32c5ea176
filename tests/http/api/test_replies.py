# SPDX-License-Identifier: MIT
"""Tests the service's own pages, and the rules for every reply: request ids, methods, unknown paths, other origins, the
order of the checks."""

import json
import pathlib
import re
import uuid

import pytest

from support import readiness
from support.client import REQUEST_ID, check_error
from support.connections import ask
from support.stack import wait_until
from support.wire import raw

pytestmark = pytest.mark.web_server

ROOT = pathlib.Path(__file__).resolve().parents[3]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
COMMITTED = ROOT / "docs" / "openapi.json"


def concrete(template):
    return re.sub(r"\{[^}]+\}", lambda _: str(uuid.uuid4()), template)


def test_live_and_ready_answer_200(api):
    api.get("/system/health/live", status=200)
    readiness.ready(api)
    assert api.head("/system/health/live", status=200).content == b""
    wait_until(lambda: api.head("/system/health/ready", status={200, 500}).status_code == 200, readiness.PATIENCE,
               "the service to be ready")


def test_the_version_is_1_0_0(api):
    assert "1.0.0" in json.dumps(api.get("/system/version", status=200).json())


def test_the_served_openapi_document_is_the_committed_one(api):
    served, committed = api.get("/system/openapi.json", status=200).json(), json.loads(COMMITTED.read_text())
    # Where the service runs is the one thing that only the running service knows.
    assert [server["url"] for server in served.pop("servers")] == [api.stack.base_url]
    assert committed.pop("servers") == [{"url": "/"}]
    assert served == committed


def test_openapi_and_key_set_are_valid_json_for_anyone(api):
    for path in ("/system/openapi.json", "/.well-known/jwks.json"):
        reply = api.get(path, status=200)
        assert reply.headers["Content-Type"].split(";")[0] == "application/json"


@pytest.mark.parametrize(
    "path", ["/system/health/live", "/system/version", "/.well-known/jwks.json", "/system/openapi.json"])
def test_public_pages_look_at_no_token(api, path):
    for token in ("nonsense", "a.b.c", "x" * 500):
        api.get(path, token=token, status=200)


@pytest.mark.parametrize("path", [
    "/x", "/system", "/system/", "/system/files/", "/system//files", "/System/files", "/system/file",
    "/customers/Login", "/customers/login/", "/customers", "/system/files/a/b/c", "/customers/me/x",
    "/index.html", "/.well-known/", "/.env", "/.git/config", "/system/files%2finfo", "/customers/%6cogin%00",
    "/a" * 500, "/%E2%82%AC", "/customers/me;x=1", "/nginx_status", "/server-status",
    "/wp-login.php"
])
def test_an_unknown_path_is_404_without_a_token(api, path):
    edge = "%00" in path or "%2f" in path
    for method in ("GET", "POST", "DELETE"):
        status = {400, 404} if edge else 404
        reply = api.call(method, path, status=status, edge=edge)
        if reply.status_code == 404 and not edge:
            assert reply.json()["code"] == "route.unknown"
    if not edge:
        assert api.head(path, status=404).content == b""


@pytest.mark.parametrize("path", [
    "/system/../system/version", "/./system/version", "/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd",
    "/system/%2e%2e/customers/me", "/../../etc/passwd", "//system/version", "/system/files/../../customers/me"
])
def test_a_path_with_dots_never_leaves_the_service(stack, path):
    reply = raw.one(stack, raw.request("GET", stack.prefix + path))
    assert reply.status in (200, 400, 401, 404), reply
    assert b"root:" not in reply.body
    if reply.status >= 400:
        check_error(reply.status, reply.headers, reply.body, path, edge=True)


def test_a_wrong_method_is_405_and_allow_names_the_right_ones(api, document):
    """On every path of openapi.json, without a token, whatever the body."""
    tried = 0
    for template, entry in document.document["paths"].items():
        right = {method.upper() for method in entry if method.upper() in METHODS}
        for method in (*METHODS, "FOO", "PROPFIND", "GETS"):
            if method in right:
                continue
            reply = api.call(method, concrete(template), status=405, code="route.method", data=b"{")
            allowed = {word.strip() for word in reply.headers["Allow"].split(",")}
            assert allowed - {"OPTIONS", "HEAD"} == right, f"{method} {template}: Allow {allowed}"
            assert ("HEAD" in allowed) == ("GET" in right or "head" in entry), f"{method} {template}: Allow {allowed}"
            tried += 1
        if "GET" not in right and "head" not in entry:
            api.call("HEAD", concrete(template), status=405)
    assert tried >= 60


def test_methods_are_told_apart_by_case(stack):
    for method in ("get", "Get"):
        reply = raw.one(stack, raw.request(method, stack.prefix + "/system/version"), method)
        assert reply.status in (400, 405), reply
        check_error(reply.status, reply.headers, reply.body, method, edge=True)


def test_head_works_where_get_does(api, document, owner):
    for template, entry in document.document["paths"].items():
        if "get" in entry and "{" not in template:
            reply = api.head(template, token=owner.token)
            assert reply.status_code == api.get(
                template, token=owner.token).status_code and reply.content == b"", template


def test_trace_and_connect_are_refused(stack):
    for line in ("TRACE /system/version", "CONNECT /system/version", "CONNECT example.com:443"):
        method, path = line.split(" ")
        reply = raw.one(stack, raw.request(method, path, [("X-Secret", "echo")]), method)
        assert reply.status in (400, 405, 501) and b"echo" not in reply.body
        check_error(reply.status, reply.headers, reply.body, line, edge=True)


@pytest.mark.parametrize("identity", ["12345678", "a" * 128, "trace-1.2_3.ABC", str(uuid.uuid4())])
def test_a_good_request_id_is_kept(api, identity):
    reply = api.get("/customers/me", headers={"X-Request-Id": identity}, status=401)
    assert reply.headers["X-Request-Id"] == identity and reply.json()["body"]["requestId"] == identity
    assert api.get("/system/version", headers={"X-Request-Id": identity},
                   status=200).headers["X-Request-Id"] == identity


@pytest.mark.parametrize("identity", [
    "short", "1234567", "a" * 129, "a" * 4000, "with blank", "semi;colon", "<script>", '"quoted"',
    "a/b/c/d/e", "käse-käse".encode().decode("latin-1"), "${jndi:x}", "%0d%0aX: y", "a,b,c,d,e"
])
def test_a_bad_request_id_is_replaced(api, identity):
    reply = api.get("/customers/me", headers={"X-Request-Id": identity}, status=401)
    assert reply.headers["X-Request-Id"] != identity and REQUEST_ID.match(reply.headers["X-Request-Id"])
    assert identity not in reply.text


def test_request_ids_differ(api):
    assert len({api.get("/system/version", status=200).headers["X-Request-Id"] for _ in range(20)}) == 20


def test_no_reply_tells_the_version_of_the_server(api):
    for path in ("/system/version", "/x", "/customers/me"):
        reply = api.get(path)
        assert not re.search(r"\d+\.\d+", reply.headers.get("Server",
                                                            "")) and "X-Powered-By" not in reply.headers


# Order of checks: route, token, permission, body and parameters.


@pytest.mark.parametrize("method, path, status", [("POST", "/nowhere", 404), ("PUT", "/customers/login", 405),
                                                  ("PUT", "/system/files", 405),
                                                  ("GET", "/customers/signup", 405)])
def test_route_and_method_come_before_everything(api, nobody, method, path, status):
    for token in (None, "a.b.c", nobody.token):
        for data, kind in ((None, None), (b"{", "application/json"), (b"x" * 100_000, "text/plain")):
            api.call(method,
                     path,
                     token=token,
                     data=data,
                     headers={"Content-Type": kind} if kind else {},
                     status=status)


def test_the_token_comes_before_the_permission_and_the_permission_before_the_input(api, nobody, owner):
    bad = {"data": b"{", "headers": {"Content-Type": "application/json"}}
    api.post("/customers/signup", status=401, code="auth.tokenMissing", **bad)
    api.post("/customers/signup", token="a.b.c", status=401, code="auth.tokenInvalid", **bad)
    api.post("/customers/signup", token=nobody.token, status=403, code="auth.permission", **bad)
    api.get("/system/files?limit=0", status=401)
    api.get("/system/files?limit=0", token=nobody.token, status=403)
    api.get("/system/files?limit=0", token=owner.token, status=400)
    api.get("/system/files/not-an-id", status=401)
    api.get("/system/files/not-an-id", token=nobody.token, status=403)
    api.get("/system/files/not-an-id", token=owner.token, status=400)


@pytest.mark.parametrize("method, path", [("GET", "/customers/me"), ("GET", "/system/health/live"),
                                          ("GET", "/system/version"), ("GET", "/.well-known/jwks.json"),
                                          ("GET", "/system/openapi.json"), ("GET", "/system/health/ready")])
def test_a_parameter_where_there_is_none_is_refused_by_name(api, owner, method, path):
    reply = api.call(method,
                     f"{path}?colour=red",
                     token=owner.token,
                     status=400,
                     code="request.invalid",
                     paths={"colour"})
    assert reply.json()["validation"][0]["code"] == "unknown"


def test_a_parameter_on_a_post_is_refused_too(api):
    api.post("/customers/login?username=a",
             json={"username": "a", "password": "b"},
             status=400,
             code="request.invalid",
             paths={"username"})


# Cross-origin requests.


def preflight(api, origin, path="/customers/login", method="POST", **more):
    headers = {
        "Origin": origin, "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization,content-type", **more
    }
    return ask("OPTIONS", api.stack.url(path), headers=headers)


@pytest.fixture()
def origin(stack):
    assert stack.cors_origins, "quickstart.json names no CORS origin to test with"
    return stack.cors_origins[0]


@pytest.mark.parametrize("path, method", [("/customers/login", "POST"), ("/system/files", "POST"),
                                          ("/system/files", "GET"),
                                          ("/system/files/01890000-0000-7000-8000-000000000000", "DELETE"),
                                          ("/customers/me", "GET")])
def test_a_preflight_of_a_configured_origin_is_answered(api, origin, path, method):
    reply = preflight(api, origin, path, method)
    assert reply.status_code == 200 and reply.headers["Access-Control-Allow-Origin"] == origin
    assert method in re.split(r",\s*", reply.headers["Access-Control-Allow-Methods"])
    allowed = {word.strip().lower() for word in reply.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"authorization", "content-type"} <= allowed
    assert "Origin" in reply.headers.get("Vary", "")


@pytest.mark.parametrize("spoil", [
    lambda o: "https://evil.example", lambda o: o + ".evil.example", lambda o: o + "/",
    lambda o: o.upper() + "x", lambda o: "null", lambda o: "*", lambda o: o + ":1",
    lambda o: o.replace("http", "ftp"), lambda o: o + " https://evil.example"
])
def test_a_preflight_of_another_origin_opens_nothing(api, origin, spoil):
    reply = preflight(api, spoil(origin))
    assert "Access-Control-Allow-Origin" not in reply.headers
    got = api.get("/system/version", headers={"Origin": spoil(origin)}, status=200)
    assert "Access-Control-Allow-Origin" not in got.headers


def test_replies_to_a_configured_origin_may_be_read_by_its_page(api, origin, owner):
    for path, token, status in (("/system/version", None, 200), ("/customers/me", owner.token, 200),
                                ("/customers/me", None, 401), ("/nowhere", None, 404)):
        reply = api.get(path, token=token, headers={"Origin": origin}, status=status)
        assert reply.headers["Access-Control-Allow-Origin"] == origin and "Origin" in reply.headers.get(
            "Vary", ""), path


def test_without_an_origin_there_is_no_cross_origin_header(api):
    assert "Access-Control-Allow-Origin" not in api.get("/system/version", status=200).headers


def test_a_preflight_of_an_unknown_path_is_404(api, origin):
    assert preflight(api, origin, "/nowhere").status_code == 404
