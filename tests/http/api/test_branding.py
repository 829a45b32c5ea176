# SPDX-License-Identifier: MIT
"""GET /system/branding, and what a changed [branding] does to it: a worker of the test's own reads a configuration of
the test's own."""

import json
import re

import pytest

from operations.test_check import Copy
from support.programs import system

MEMBERS = ["name", "logos", "accent", "support", "languages"]


def test_anybody_may_read_it_and_it_has_an_etag(api, owner):
    reply = api.get("/system/branding", status=200)
    told = reply.json()
    assert list(told) == MEMBERS and list(told["logos"]) == ["light", "dark"]
    assert told["name"] == "Gatehouse" and re.fullmatch("#[0-9a-f]{6}", told["accent"])
    assert told["support"] is None and told["logos"] == {"light": None, "dark": None}
    assert told["languages"][0] == "en" and "de" in told["languages"]
    assert owner.get("/system/branding", status=200).content == reply.content
    api.get("/system/branding", headers={"If-None-Match": reply.headers["ETag"]}, status=304)
    api.get("/system/branding?x=1", status=400, paths=["x"])
    assert api.get("/system/limits", status=200).json()["languages"] == told["languages"]


def test_it_is_what_the_configuration_says(stack, tmp_path):
    templates = tmp_path / "mail"
    for name in ("fr", "de", "en", "notes.d"):
        (templates / name).mkdir(parents=True)
    settings = {
        "branding_name": "Größe & Söhne", "branding_logo": "assets/logo.svg",
        "branding_logo_dark": "https://cdn.example.org/dark.png", "branding_accent": "#A0b1C2",
        "branding_support": "mailto:help@example.org", "service_language": "de", "mail_templates": templates
    }
    with system.worker(stack, **settings) as worker:
        told = json.loads(worker.call("GET", stack.prefix + "/system/branding").body)
    assert told == {
        "name": "Größe & Söhne", "logos": {"light": f"{stack.web_url}/assets/logo.svg",
                                           "dark": "https://cdn.example.org/dark.png"},
        "accent": "#A0b1C2", "support": "mailto:help@example.org", "languages": ["de", "en", "fr"]
    }


@pytest.mark.parametrize("name, value", [("accent", "blue"), ("logo", "/logo.svg"), ("support", "help@example.org")])
def test_a_branding_that_cannot_be_shown_is_named(stack, tmp_path, name, value):
    environment = {f"GATEHOUSE_BRANDING_{name.upper()}": value}
    Copy(stack, tmp_path).one("configuration", "error", f"branding.{name}: ", environment)
