# SPDX-License-Identifier: MIT
"""The account flows with a realm of Keycloak, from end to end: a host of its own whose identity provider is a strict
realm of the tests' own (tests/unit/identity/keycloak_server.py). The flows are those of test_cognito.py; what is
Keycloak's alone is looked at in tests/unit/identity/keycloak/test_provider.c."""

import jwt
import pytest

from providers import test_cognito as flows
from providers.test_cognito import admin, member, owner  # noqa: F401 # fixtures


@pytest.fixture(scope="module")
def place(stack, tmp_path_factory):
    yield from flows.make_place("keycloak", stack, tmp_path_factory)


def test_the_flows_lead_to_tokens_of_the_realm(place, owner, member):
    for person in (owner, member):
        claims = jwt.decode(person["accessToken"], options={"verify_signature": False})
        assert claims["azp"] == "gatehouse" and claims["sub"] == place.user(person["email"])[2] != person["id"]
        assert flows.me(place, person["accessToken"])["user"]["id"] == person["id"]


def test_id_tokens_open_nothing(place, owner):
    flows.me(place, owner["idToken"], status=401, code="auth.tokenInvalid")
    flows.me(place, owner["accessToken"][:-4] + "AAAA", status=401, code="auth.tokenInvalid")


def test_refresh_rotates_and_a_copy_ends_the_session(place, member):
    flows.test_refresh_rotates_and_a_copy_ends_the_session(place, member)


def test_logout_holds_at_once_though_the_token_still_verifies(place, member):
    flows.test_logout_holds_at_once_though_the_token_still_verifies(place, member)


def test_a_disabled_user_is_out_at_once_and_back_when_enabled(place, owner, member):
    flows.test_a_disabled_user_is_out_at_once_and_back_when_enabled(place, owner, member)
