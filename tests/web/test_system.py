# SPDX-License-Identifier: MIT
"""The service as its operators see it in the console: health with the last hours, settings with their history, the
cache."""

import datetime

import pytest
from playwright.sync_api import expect

from support import settings
from support_console import opened, refused, signed_in_once, told
from support_keyboard import Keyboard
from support_visit import field

SYSTEM = "#/system"
MINUTE = ("INSERT INTO host_minute (host, minute, requests, errors, p50_microseconds, p99_microseconds, logins,"
          " login_failures, uploads, upload_bytes, outbox_depth, free_bytes)"
          " VALUES (%s, %s, %s, 1, 400, 12500, 2, 1, 3, 4000, 5, 60000000000)")


@pytest.fixture(scope="module")
def staff(accounts):
    """The administrator, with the settings that a new service has; afterwards they are so again."""
    with settings.of(accounts.administrator):
        yield accounts.administrator


@pytest.fixture(scope="module")
def visit(visits_of_file, staff):
    """The browser of the administrator, who is signed in."""
    return signed_in_once(visits_of_file(), staff)


@pytest.fixture(scope="module")
def day(database):
    """A host with a day behind it: a row each quarter of an hour, with more and more requests."""
    host, now = "a-host-of-the-plots", datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
    for step in range(95):
        database.run(MINUTE, host, now - datetime.timedelta(minutes=15 * step), 950 - 10 * step)
    yield
    database.run("DELETE FROM host_minute WHERE host = %s", host)


def test_the_last_day_is_plotted(visit, screens, day):
    page = opened(visit, SYSTEM)
    Keyboard(page).use(page.get_by_role("button", name="Look again"))
    expect(page.get_by_role("button", name="Look again")).to_be_enabled()
    expect(page.get_by_text("Database", exact=True)).to_be_visible()
    plot = page.get_by_role("img", name="Requests in the last 24 hours", exact=True)
    expect(plot).to_be_visible()
    expect(page.get_by_role("img")).to_have_count(10)
    # A line from the lower left to the upper right: more requests are higher.
    line = plot.locator("path").get_attribute("d")
    heights = [float(point.split(" ")[1]) for point in line.replace("h0", "").replace("M", "L").split("L")[1:]]
    assert len(heights) > 40 and heights[0] > heights[-2], line
    screens.look(page, "system")


def test_settings_are_changed_compared_and_rolled_back(visit, screens, staff):
    page = opened(visit, f"{SYSTEM}/settings")
    keys = Keyboard(page).fill(field(page, "Other levels for single parts"), "*=warn,files=debug")
    page.get_by_label("What is logged").select_option("warn")
    keys.use(page.get_by_role("button", name="Save the settings"))
    told(page, "Saved.")
    assert settings.get(staff) == {"level": "warn", "filter": "*=warn,files=debug"}
    newest = page.get_by_role("table", name="History").locator("tbody tr").first
    expect(newest).to_contain_text("Holds now")
    expect(newest.locator("del").first).to_have_text("info")
    expect(newest.locator("ins")).to_have_text(["warn", "*=warn,files=debug"])
    screens.look(page, "system-settings")
    before = settings.history(staff)[1]["version"]
    keys.use(page.get_by_role("button", name="Go back").first)
    question = page.get_by_role("dialog", name=f"Go back to version {before}?")
    expect(question).to_contain_text("The level becomes info")
    keys.use(question.get_by_role("button", name="Go back"))
    told(page, f"The settings of version {before} hold again.")
    assert settings.get(staff) == settings.QUIET
    expect(page.get_by_label("What is logged")).to_have_value("info")


def test_what_somebody_else_has_saved_meanwhile_is_not_overwritten(visit, screens, staff):
    page = opened(visit, f"{SYSTEM}/settings")
    expect(page.get_by_label("What is logged")).to_have_value("info")
    settings.put(staff, level="error", filter="")
    page.get_by_label("What is logged").select_option("debug")
    visit.expect(409, settings.PATH)
    keys = Keyboard(page).use(page.get_by_role("button", name="Save the settings"))
    expect(page.get_by_text("Now they are: error")).to_be_visible()
    screens.look(page, "system-settings-stale")
    assert settings.get(staff)["level"] == "error"
    keys.use(page.get_by_role("button", name="Go on with those"))
    expect(page.get_by_label("What is logged")).to_have_value("error")


def test_a_filter_that_is_none_is_refused_at_its_field(visit):
    page = opened(visit, f"{SYSTEM}/settings")
    visit.expect(400, settings.PATH)
    Keyboard(page).fill(field(page, "Other levels for single parts"), "=nonsense").press("Enter")
    refused(page, "The settings are not saved yet")
    expect(field(page, "Other levels for single parts")).to_have_attribute("aria-invalid", "true")
    field(page, "Other levels for single parts").fill("")


def test_the_cache_is_shown_and_emptied(visit, screens, staff):
    page = opened(visit, f"{SYSTEM}/cache")
    expect(page.get_by_role("meter", name="Room in use")).to_be_visible()
    screens.look(page, "system-cache")
    prefixes = {one["prefix"] for one in staff.get("/system/cache", status=200).json()["prefixes"]}
    shown = page.get_by_role("table", name="Kinds of entries").locator("tbody code").all_inner_texts()
    assert set(shown) == prefixes
    keys = Keyboard(page).use(page.get_by_role("button", name="Empty the cache"))
    question = page.get_by_role("dialog", name="Empty the whole cache?")
    with page.expect_response(lambda reply: reply.request.method == "POST") as reply:
        keys.use(question.get_by_role("button", name="Empty the cache"))
    assert reply.value.request.post_data_json == {"flush": True}
    told(page, reply.value.json()["message"])
