# SPDX-License-Identifier: MIT
"""What the web server itself serves for people: the front page, and what browsers and search engines ask every host
for."""

import html.parser
import pathlib
import posixpath
import re

import pytest

from support.client import check_error

pytestmark = pytest.mark.web_server

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
PAGES = ("/", "/index", "/sign-in", "/first-login", "/confirm", "/reset", "/api")
GUIDES = ("/docs/", "/docs/api.html", "/docs/gatehouse.conf.5.html", "/docs/decisions/index.html")
POLICY = {
    "default-src": ["'none'"], "script-src": ["'self'"], "style-src": ["'self'"], "img-src": ["'self'", "blob:"],
    "connect-src": ["'self'"], "form-action": ["'self'"], "base-uri": ["'none'"], "frame-ancestors": ["'none'"],
    "require-trusted-types-for": ["'script'"], "trusted-types": ["'none'"],
}


def ask(api, method, path, **headers):
    """A request whose answer need not be the service's own."""
    return api.session.request(method, api.stack.url(path), headers=headers, timeout=10)


@pytest.mark.parametrize("accept", [BROWSER, "text/html", "*/*", "", "text/html, application/json;q=0.5"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_address_itself_is_the_front_page(api, method, accept):
    reply = ask(api, method, "/", Accept=accept)
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Accept" in re.split(", *", reply.headers["Vary"])
    assert ('src="console/main.js"' in reply.text) == (method == "GET")


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/plain, */*",
                                    "application/problem+json"])
def test_who_asks_for_json_gets_json_there(api, accept):
    for method in ("GET", "HEAD"):
        reply = ask(api, method, "/", Accept=accept)
        assert reply.status_code == 404 and reply.headers["Content-Type"].startswith("application/json")
    assert check_error(404, (reply := ask(api, "GET", "/", Accept=accept)).headers, reply.content,
                       "/")["code"] == "route.unknown"


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/robots.txt"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent_there(api, method, path):
    reply = ask(api, method, path)
    assert reply.status_code == 404
    assert check_error(404, reply.headers, reply.content, path)["code"] == "route.unknown"


def test_the_icon_and_the_word_to_search_engines_are_there(api):
    icon = ask(api, "GET", "/favicon.ico")
    assert icon.status_code == 200 and icon.content[:4] == b"\0\0\1\0"
    assert icon.headers["Content-Type"] == "image/x-icon"
    robots = ask(api, "GET", "/robots.txt")
    assert robots.status_code == 200 and robots.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert robots.text.split("\n")[1:3] == ["User-agent: *", "Disallow: /"]
    for reply in (icon, robots):
        assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["X-Request-Id"]


def test_where_to_report_a_vulnerability_is_there_once_the_operator_has_written_it(api, stack):
    path = "/.well-known/security.txt"
    file = pathlib.Path(re.search(r"(?m)^security_txt = (.*)$", pathlib.Path(stack.configuration).read_text())[1])
    reply = ask(api, "GET", path)
    assert check_error(404, reply.headers, reply.content, path)["code"] == "route.unknown"
    file.write_text("Contact: mailto:security@example.org\nExpires: 2030-01-01T00:00:00Z\n")
    file.chmod(0o644)
    try:
        reply = ask(api, "GET", path)
        assert reply.status_code == 200 and reply.text == file.read_text()
        assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["X-Request-Id"]
        assert reply.headers["X-Api-Version"] == "1.0.0" and reply.headers["Cache-Control"] == "no-cache"
        reply = ask(api, "POST", path)
        assert check_error(404, reply.headers, reply.content, path)["code"] == "route.unknown"
    finally:
        file.unlink()


def check_page_headers(reply):
    """What every page, and what it loads, says of itself."""
    policy = [part.split() for part in reply.headers["Content-Security-Policy"].split(";")]
    assert {name: sources for name, *sources in policy} == POLICY
    assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["X-Api-Version"] == "1.0.0"
    assert reply.headers["Referrer-Policy"] == "no-referrer" and reply.headers["X-Request-Id"]
    assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    denied = reply.headers["Permissions-Policy"].split(", ")
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(denied)
    assert reply.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", [*PAGES, *GUIDES])
def test_every_page_is_html_that_loads_nothing_from_elsewhere(api, path):
    reply = ask(api, "GET", path, Accept=BROWSER)
    assert reply.status_code == 200 and reply.headers["Content-Type"] == "text/html; charset=utf-8"
    check_page_headers(reply)


@pytest.mark.parametrize("path, kind", [("/assets/style.css", "text/css"), ("/assets/page.js", "javascript"),
                                        ("/assets/icon.svg", "image/svg+xml"), ("/api/page.js", "javascript"),
                                        ("/console/style/tokens.css", "text/css"), ("/console/main.js", "javascript"),
                                        ("/console/vendor/preact.js", "javascript"), ("/docs/frame.css", "text/css"),
                                        ("/docs/style.css", "text/css"), ("/api/frame.css", "text/css"),
                                        ("/docs/search-index.js", "javascript"),
                                        ("/docs/pictures/floors.svg", "image/svg+xml")])
def test_what_pages_load_has_the_same_headers(api, path, kind):
    reply = ask(api, "GET", path)
    assert reply.status_code == 200 and kind in reply.headers["Content-Type"]
    assert reply.headers["Content-Type"].endswith("; charset=utf-8")
    check_page_headers(reply)


def test_the_guides_and_the_page_of_the_interface_share_a_style(api):
    assert ask(api, "GET", "/docs/frame.css").content == ask(api, "GET", "/api/frame.css").content
    for page, link in (("/docs/", 'href="frame.css"'), ("/api", 'href="api/frame.css"')):
        assert link in ask(api, "GET", page, Accept=BROWSER).text


@pytest.mark.parametrize("path", ["/", "/sign-in", "/assets/style.css", "/assets/page.js", "/api/page.js",
                                  "/console/shell.js"])
def test_pages_come_compressed_and_only_once(api, path):
    whole = ask(api, "GET", path, **{"Accept": BROWSER, "Accept-Encoding": "identity"})
    assert "Content-Encoding" not in whole.headers
    reply = ask(api, "GET", path, **{"Accept": BROWSER, "Accept-Encoding": "gzip"})
    assert reply.headers["Content-Encoding"] == "gzip" and reply.content == whole.content
    assert "Accept-Encoding" in re.split(", *", reply.headers["Vary"])
    for known in (whole, reply):
        again = ask(api, "GET", path, **{"Accept": BROWSER, "Accept-Encoding": "gzip",
                                         "If-None-Match": known.headers["ETag"]})
        assert again.status_code == 304 and again.content == b"", again.headers


def test_the_address_of_the_guides_without_its_slash_leads_to_them(api):
    for method in ("GET", "HEAD"):
        reply = ask(api, method, "/docs", Accept=BROWSER)
        assert reply.status_code == 308 and reply.headers["Location"] == "/docs/"
    reply = ask(api, "POST", "/docs/", Accept=BROWSER)
    assert check_error(404, reply.headers, reply.content, "/docs/")["code"] == "route.unknown"


def test_the_openapi_document_comes_compressed_and_only_once(api):
    """The page of the interface is made from it."""
    path = "/system/openapi.json"
    whole = ask(api, "GET", path, **{"Accept-Encoding": "identity"})
    reply = ask(api, "GET", path, **{"Accept-Encoding": "gzip"})
    assert reply.headers["Content-Encoding"] == "gzip" and reply.json() == whole.json()
    for known in (whole, reply):
        again = ask(api, "GET", path, **{"Accept-Encoding": "gzip", "If-None-Match": known.headers["ETag"]})
        assert again.status_code == 304 and again.content == b"", again.headers
    codes = [(error["status"], error["code"]) for error in whole.json()["x-errors"]]
    assert len(set(codes)) == len(codes) and (409, "file.duplicate") in codes
    assert all(error["message"].endswith(".") for error in whole.json()["x-errors"])


@pytest.mark.parametrize("path", ["/console/none.js", "/api/../conf", "/api/x/y/z.js", "/assets/.hidden", "/console/",
                                  "/console/vendor/", "/docs/pictures/", "/docs/none.html", "/api/%2e%2e/index.html",
                                  "/console/Vendor/x.js"])
def test_what_is_no_page_is_the_services_to_answer(api, path):
    reply = ask(api, "GET", path, Accept=BROWSER)
    assert reply.status_code in (400, 404) and reply.json()["code"] in ("route.unknown", "request.malformed")


class Reader(html.parser.HTMLParser):
    """The links of a page, and those of each of its parts."""

    def __init__(self, text):
        super().__init__()
        self.links, self.parts, self.part = set(), {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag == "main":
            self.part = names.get("id")
        target = names.get("href") or names.get("src")
        if target:
            self.links.add(target)
            self.parts.setdefault(self.part, set()).add(target)


def check_imports(api, target, text, seen):
    """What a script imports is there, and what that imports."""
    for imported in re.findall(r'from ?"(\.[^"]+)"', text if target.endswith(".js") else ""):
        named = posixpath.normpath(posixpath.join(posixpath.dirname(target), imported))
        if named not in seen:
            reply = ask(api, "GET", "/" + named)
            assert reply.status_code == 200, f"{target} imports {imported}"
            check_imports(api, named, reply.text, seen | {named})


@pytest.mark.parametrize("path", PAGES)
def test_whatever_a_page_names_is_there(api, path):
    named = Reader(ask(api, "GET", path, Accept=BROWSER).text).links
    assert any(target.endswith(".css") for target in named)
    for target in {link for link in named if not link.startswith("#")}:
        reply = ask(api, "GET", posixpath.normpath("/" + target), Accept=BROWSER)
        assert reply.status_code == 200, f"{path} names {target}: {reply.status_code}"
        check_imports(api, target, reply.text, {target})


@pytest.mark.parametrize("path", ["/first-login", "/confirm", "/reset"])
def test_the_end_of_each_page_leads_on_to_signing_in(api, path):
    """The link is there without the script, too."""
    text = ask(api, "GET", path, Accept=BROWSER).text
    assert Reader(text).parts["done"] >= {"./"}
    assert "close this page" not in text


@pytest.mark.parametrize("path", ["/index", "/sign-in"])
def test_old_addresses_lead_to_the_front_page(api, path):
    text = ask(api, "GET", path, Accept=BROWSER).text
    assert '<meta http-equiv="refresh" content="0; url=./">' in text and './' in Reader(text).links
