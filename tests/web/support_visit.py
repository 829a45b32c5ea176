# SPDX-License-Identifier: MIT
"""A person's browser, and what is looked for in it from its beginning to its end.

No page may load anything from another host, break its content security policy, throw an error or write one to the
console. A reply of 400 or more, and a request that fails, must have been announced by the test with expect(). No
password, code or token may be found in an address, in the history, in the storage or in the service's log.
"""

import fnmatch
import re
import urllib.parse

PATIENCE_MS = 60000
WIDE = {"width": 1280, "height": 900}
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{20,}\.")
# The browser's own words for a reply of 400 or more and for a request that failed; both are counted by themselves.
LOADING = "Failed to load resource"
VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
    gatehouseViolation(`${event.violatedDirective} forbids ${event.blockedURI} at ${event.sourceFile}`));"""
STORED = """async () => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie,
    history.state, (await indexedDB.databases()).map(({ name }) => name), await caches.keys()])"""


class Visit:
    """Cookies, storage and pages of one person."""

    def __init__(self, browser, stack, logs, secrets, **options):
        self.stack, self.logs, self.shared = stack, logs, secrets
        self.origin = "://".join(urllib.parse.urlsplit(stack.web_url)[:2])
        self.scripted = options.get("java_script_enabled", True)
        self.secrets, self.faults, self.addresses, self.expected, self.refused = set(), [], [], [], []
        self.mark, self.was_offline = logs.mark(), False
        self.context = browser.new_context(**{
            "locale": "en-GB", "timezone_id": "Europe/London", "viewport": WIDE, "base_url": stack.web_url + "/",
            "color_scheme": "light", "reduced_motion": "reduce", **options})
        self.context.set_default_timeout(PATIENCE_MS)
        if self.scripted:
            self.context.expose_binding("gatehouseViolation", lambda _, text: self.faults.append(f"policy: {text}"))
            self.context.add_init_script(VIOLATIONS)
        self.context.on("request", self.asked)
        self.context.on("response", self.answered)
        self.context.on("requestfailed", self.failed)
        self.context.on("console", self.said)
        self.context.on("weberror", lambda error: self.faults.append(f"script: {error.error}"))

    def page(self, path=None):
        """A new tab, at a path of the service or at a whole address."""
        made = self.context.new_page()
        if path is not None:
            made.goto(path)
        return made

    def secret(self, text):
        """What the person will type and nobody else may find; returns it."""
        self.secrets.add(text)
        return text

    def expect(self, answer, path):
        """A status of 400 or more, or "failed", that this visit will see at the path (with * as in file names)."""
        self.expected.append((answer, path))

    def offline(self, cut):
        """Cuts the network off, or gives it back. Whatever the page asks for meanwhile may fail."""
        self.was_offline = True
        self.context.set_offline(cut)

    def asked(self, request):
        """Every request goes to the service itself."""
        self.addresses += [request.url, request.headers.get("referer", "")]
        if not request.url.startswith(("data:", "blob:")) and not self.is_ours(request.url):
            self.faults.append(f"another host: {request.url}")

    def is_ours(self, address):
        """Whether an address is of the service."""
        parts = urllib.parse.urlsplit(address)
        return (parts.hostname, parts.port or 80) == (self.stack.host, self.stack.port)

    def answered(self, response):
        if response.status >= 400:
            self.refuse(response.status, response.url)

    def failed(self, request):
        """Of a page that is left, and of one whose scripts are off, the browser gives up what is under way."""
        if self.scripted and request.failure != "net::ERR_ABORTED":
            self.refuse("failed", request.url)

    def refuse(self, answer, address):
        """Notes a refusal by its path below the service's address."""
        self.refused.append((answer, urllib.parse.urlsplit(address).path.removeprefix(self.stack.prefix)))

    def said(self, message):
        """Only errors and warnings count."""
        if message.type in ("error", "warning") and not message.text.startswith(LOADING):
            self.faults.append(f"console: {message.text} ({message.location})")

    def end(self):
        """Ends the browser; returns what was wrong, a line each."""
        kept = "\n".join(text for page in self.context.pages for text in self.traces(page))
        secrets = self.secrets | self.shared | {cookie["value"] for cookie in self.context.cookies()}
        self.context.close()
        for place, text in (("an address", "\n".join(self.addresses)), ("the browser's storage or history", kept)):
            self.faults += [f"a secret is in {place}: {found[:12]}…" for found in leaked(secrets, text)]
        written = b"\n".join(self.logs.since(self.mark).values()).decode("utf-8", "replace")
        long = {secret for secret in secrets if len(secret) >= 12}  # a code may be a number of something else, too
        self.faults += [f"a secret is in the log: {found[:12]}…" for found in leaked(long, written)]
        return self.faults + self.surprises()

    def traces(self, page):
        """What a page leaves in the browser, as texts."""
        yield page.url
        history = self.context.new_cdp_session(page).send("Page.getNavigationHistory")
        yield from (entry["url"] for entry in history["entries"])
        if self.scripted and self.is_ours(page.url):
            yield page.evaluate(STORED)

    def surprises(self):
        """Refusals that were not announced, and those that were and did not come."""
        def fits(seen, wanted):
            return seen[0] == wanted[0] and fnmatch.fnmatchcase(seen[1], wanted[1])
        more = [seen for seen in self.refused if not any(fits(seen, wanted) for wanted in self.expected)
                and not (self.was_offline and seen[0] == "failed")]
        less = [wanted for wanted in self.expected if not any(fits(seen, wanted) for seen in self.refused)]
        return [f"not expected: {one}" for one in more] + [f"expected, but did not come: {one}" for one in less]


def field(page, label):
    """The field with that label in the part of the page that is shown."""
    return page.get_by_label(label, exact=True).filter(visible=True)


def leaked(secrets, text):
    """The secrets that a text holds, and whatever looks like a token."""
    plain = urllib.parse.unquote_plus(text)
    return [secret for secret in secrets if holds(text, secret) or holds(plain, secret)] + TOKEN.findall(text)


def holds(text, secret):
    """Whether the text holds the secret; a code only where it stands alone, since an id may have the same digits."""
    if not secret.isdigit():
        return secret in text
    return re.search(rf"(?<![0-9A-Za-z.:-]){secret}(?![0-9A-Za-z.:-])", text) is not None
