# SPDX-License-Identifier: MIT
"""Files in the console: upload, look, rename, share, archive, by keyboard alone; and what names can look like."""

import json
import re

import pytest
from playwright.sync_api import expect

import hostile_names
from support import files, samples
from support_console import enter, refused
from support_keyboard import Keyboard
from support_visit import field

FILES = "#/files"
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 20000}
# Three pieces, and a line on which one takes seconds.
LARGE, PIECE = 20 << 20, 8 << 20
STEADY = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 4 << 20}
# What a name must not become: the elements that it could bring in, and where its script would leave a mark.
INTRUDERS = """() => [typeof hacked,
    document.querySelectorAll("main :is(script, iframe, style, base, meta, x-y)").length,
    document.querySelectorAll("main .list h1, main table h1, main [onerror], main [onload], main [onfocus]").length]"""


@pytest.fixture(scope="module")
def keeper(accounts):
    """The owner of a customer with no files yet."""
    return accounts.customer()


def choose(page, *chosen):
    """Chooses files with the button of the page, by keyboard: (name, bytes)."""
    with page.expect_file_chooser() as asked:
        Keyboard(page).use(page.get_by_role("button", name="Upload files").first)
    asked.value.set_files([{"name": name, "mimeType": "", "buffer": data} for name, data in chosen])


def uploads(page):
    """The panel of the uploads."""
    return page.get_by_role("region", name="Uploads")


def test_files_are_uploaded_looked_at_renamed_shared_and_archived(visit, screens, keeper):
    page = enter(visit, keeper, FILES)
    expect(page.get_by_text("There are no files yet.")).to_be_visible()
    screens.look(page, "files-empty")
    choose(page, ("first words.txt", b"Hello, Gatehouse.\n"), ("picture.png", samples.picture()))
    expect(uploads(page).get_by_role("status")).to_have_text("2 files are ready")
    screens.look(page, "files-ready")
    send = page.get_by_role("button", name="Upload 2 files")
    expect(send).to_be_focused()
    keys = Keyboard(page).press("Enter")
    expect(uploads(page).get_by_role("status")).to_have_text("2 files are uploaded")
    link = page.get_by_role("main").get_by_role("link", name="first words.txt")
    expect(link).to_be_visible()
    screens.look(page, "files")
    keys.use(uploads(page).get_by_role("button", name="Close the list of uploads"))
    page.goto(visit.stack.web_url + "/#/files")
    keys.use(link)
    expect(page.get_by_role("dialog").get_by_text("Hello, Gatehouse.")).to_be_visible()
    screens.look(page, "files-one")
    rename(page, keys, "last words.txt")
    share(page, keys, visit)
    keys.use(page.get_by_role("dialog").get_by_role("button", name="Archive"))
    expect(page.get_by_role("dialog").get_by_role("button", name="Restore")).to_be_visible()
    assert [one["info"]["name"] for one in files.listed(keeper, status="archived")] == ["last words.txt"]


def rename(page, keys, name):
    """Another name, through the drawer that is open."""
    keys.use(page.get_by_role("button", name="Rename, tags"))
    keys.fill(field(page, "Name"), name).press("Enter")
    expect(page.get_by_role("dialog").get_by_role("heading", name=name)).to_be_visible()


def share(page, keys, visit):
    """A link, which opens the file without any sign-in. It is shown once, and stays out of the address."""
    keys.use(page.get_by_role("dialog").get_by_role("button", name="Make a link"))
    made = page.get_by_role("dialog").locator("input[readonly]")
    expect(made).to_be_focused()
    address = made.input_value()
    assert visit.context.request.get(address).body() == b"Hello, Gatehouse.\n"
    visit.secret(address.rsplit("/", 1)[1])


def test_what_was_archived_is_taken_back_from_the_word_that_tells_it(visit, accounts):
    account = accounts.customer()
    files.upload(account, b"words", "words.txt")
    page = enter(visit, account, FILES)
    row = page.get_by_role("link", name="words.txt")
    keys = Keyboard(page).use(page.get_by_role("button", name="Archive: words.txt"))
    expect(row).to_have_count(0)
    keys.use(page.get_by_role("button", name="Undo"))
    expect(row).to_be_visible()
    assert len(files.listed(account)) == 1


def test_an_upload_is_cancelled_and_leaves_nothing(visit, accounts):
    account = accounts.customer()
    page = enter(visit, account, FILES)
    choose(page, ("large.bin", bytes(2 << 20)))
    visit.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
    keys = Keyboard(page).use(page.get_by_role("button", name="Upload 1 file"))
    expect(page.get_by_role("progressbar", name="Progress of large.bin")).to_be_visible()
    keys.use(page.get_by_role("button", name="Cancel large.bin"))
    expect(page.get_by_role("progressbar", name="Progress of large.bin")).to_have_count(0)
    assert files.listed(account) == []


def test_an_upload_that_was_cut_off_goes_on_with_the_network(visit, accounts):
    account = accounts.customer()
    page = enter(visit, account, FILES)
    choose(page, ("words.txt", b"some words"))
    visit.offline(True)
    Keyboard(page).use(page.get_by_role("button", name="Upload 1 file"))
    expect(page.get_by_text(re.compile("You are offline"))).to_be_visible()
    expect(uploads(page).get_by_role("status")).to_have_text("0 of 1 uploaded")
    visit.offline(False)
    expect(uploads(page).get_by_role("status")).to_have_text("1 file is uploaded")
    assert [one["info"]["name"] for one in files.listed(account)] == ["words.txt"]


def begin_large(visit, page, path):
    """Chooses a large file and sends it until its second piece is under way."""
    with page.expect_file_chooser() as asked:
        Keyboard(page).use(page.get_by_role("button", name="Upload files").first)
    asked.value.set_files(path)
    visit.context.new_cdp_session(page).send("Network.emulateNetworkConditions", STEADY)
    with page.expect_request(lambda request: request.headers.get("upload-offset") == str(PIECE)):
        Keyboard(page).use(page.get_by_role("button", name="Upload 1 file"))


@pytest.mark.parametrize("broken", ["the network", "the page"])
def test_a_large_upload_that_breaks_in_the_middle_goes_on_where_it_was(visit, accounts, tmp_path, broken):
    """The network comes back; or the page is loaded anew and the same file is chosen again."""
    account, path, sent = accounts.customer(), tmp_path / "large.bin", []
    path.write_bytes(samples.noise(PIECE) + bytes(LARGE - PIECE))
    page = enter(visit, account, FILES)
    page.on("request", lambda request: sent.append((request.method, request.headers.get("upload-offset")))
            if "/system/uploads" in request.url else None)
    begin_large(visit, page, path)
    if broken == "the network":
        visit.offline(True)
        expect(page.get_by_text(re.compile("You are offline"))).to_be_visible()
        visit.offline(False)
    else:
        visit.was_offline = True  # the piece under way may fail
        page.reload()
        with page.expect_file_chooser() as asked:
            Keyboard(page).use(page.get_by_role("button", name="Upload files").first)
        asked.value.set_files(path)
        Keyboard(page).use(page.get_by_role("button", name="Upload 1 file"))
    expect(uploads(page).get_by_role("status")).to_have_text("1 file is uploaded")
    offsets = [int(offset) for method, offset in sent if method == "PATCH"]
    assert [method for method, _ in sent].count("POST") == 1 and offsets[:2] == [0, PIECE]
    assert min(offsets[2:]) >= PIECE, "what was safe is not sent again"
    record, = files.listed(account)
    assert record["info"]["hash"] == files.sha256(path.read_bytes())


def test_a_session_that_has_ended_is_begun_again_where_one_was(visit, screens, accounts):
    account = accounts.customer()
    files.upload(account, b"words", "words.txt")
    page = enter(visit, account, FILES)
    expect(page.get_by_role("link", name="words.txt")).to_be_visible()
    account.post("/customers/logout", json={"everywhere": True}, status=200)
    visit.expect(401, "/system/files")
    visit.expect(401, "/customers/refresh")
    page.get_by_label("Order").select_option("oldest")
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    screens.look(page, "session-ended")
    visit.expect(401, "/customers/login")
    keys = Keyboard(page).fill(dialog.get_by_label("Password", exact=True), "not this one").press("Enter")
    refused(page, "wrong")
    keys.fill(dialog.get_by_label("Password", exact=True), account.password).press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="words.txt")).to_be_visible()
    expect(page).to_have_url(re.compile("sort=oldest"))


def test_a_thousand_hostile_names_are_text(visit, accounts):
    account = accounts.customer()
    files.upload(account, b"words", "words.txt")
    names = hostile_names.names()

    def answer(route):
        """The service's own reply, its one file a thousand times, each with a name of the list."""
        reply = route.fetch()
        body = reply.json()
        one = body["items"][0]
        body["items"] = [{**one, "id": f"{one['id'][:-6]}{number:06x}", "tags": [name], "userName": name,
                          "info": {**one["info"], "name": name}} for number, name in enumerate(names)]
        route.fulfill(response=reply, body=json.dumps(body))
    visit.context.route(re.compile(r"/system/files(\?|$)"), answer)
    page = enter(visit, account, FILES)
    shown = page.locator(".named a")
    expect(shown).to_have_count(len(names))
    assert shown.evaluate_all("(all) => all.map((one) => one.textContent)") == names
    assert page.evaluate(INTRUDERS) == ["undefined", 0, 0]
