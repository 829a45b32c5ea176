# SPDX-License-Identifier: MIT
"""What the web server itself serves for people: the front page, and what browsers and search engines ask every host
for."""

import html.parser
import re

import pytest

from support.client import check_error

pytestmark = pytest.mark.web_server

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
PAGES = ("/", "/index", "/sign-in", "/first-login", "/confirm", "/reset")


def ask(api, method, path, **headers):
    """A request whose answer need not be the service's own."""
    return api.session.request(method, api.stack.url(path), headers=headers, timeout=10, allow_redirects=False)


@pytest.mark.parametrize("accept", [BROWSER, "text/html", "*/*", "", "text/html, application/json;q=0.5"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_address_itself_is_the_front_page(api, method, accept):
    reply = ask(api, method, "/", Accept=accept)
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["Vary"] == "Accept"
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert ("<h1>Gatehouse</h1>" in reply.text) == (method == "GET")


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


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_html_that_no_other_site_may_frame(api, path):
    reply = ask(api, "GET", path, Accept=BROWSER)
    assert reply.status_code == 200 and reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["X-Content-Type-Options"] == "nosniff" and reply.headers["X-Api-Version"] == "1.0.0"


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


@pytest.mark.parametrize("path", PAGES)
def test_whatever_a_page_names_is_there(api, path):
    named = Reader(ask(api, "GET", path, Accept=BROWSER).text).links
    assert "assets/style.css" in named
    for target in named:
        reply = ask(api, "GET", "/" + target, Accept=BROWSER)
        assert reply.status_code == 200, f"{path} names {target}: {reply.status_code}"
        for imported in re.findall(r'from "\./([a-z-]+\.js)"', reply.text if target.endswith(".js") else ""):
            assert ask(api, "GET", f"/assets/{imported}").status_code == 200, f"{target} imports {imported}"


@pytest.mark.parametrize("path", ["/first-login", "/confirm", "/reset"])
def test_the_end_of_each_page_leads_on_to_signing_in(api, path):
    """The link is there without the script, too."""
    text = ask(api, "GET", path, Accept=BROWSER).text
    assert Reader(text).parts["done"] >= {"sign-in"}
    assert "close this page" not in text


def test_who_signs_in_on_the_page_learns_whose_account_it_is(api, owner):
    """What the page's script does: two calls, and a logout."""
    tokens = api.post("/customers/login", json={"username": owner.email, "password": owner.password},
                      status=200).json()["tokens"]
    me = api.get("/customers/me", token=tokens["accessToken"], status=200).json()
    assert me["user"]["email"] == owner.email and me["organisation"]["name"]
    api.post("/customers/logout", token=tokens["accessToken"], json={}, status=200)
    text = ask(api, "GET", "/sign-in", Accept=BROWSER).text
    assert {'id="name"', 'id="email"', 'id="organisation"', 'id="sign-out"'} <= set(re.findall(r'id="[a-z-]+"', text))
