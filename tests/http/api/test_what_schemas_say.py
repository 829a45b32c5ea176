# SPDX-License-Identifier: MIT
"""Rules between the members of a body, and small languages inside one: the schema and the service agree on them."""

import pytest

from support.client import failing

CONCRETE = "cus:file:w"


def takes(document, method, path, body):
    """Whether the schema of the operation takes the body."""
    content = document.operation(method, path)["requestBody"]["content"]
    return document.faults(body, content["application/json"]["schema"]) == []


@pytest.mark.parametrize("body, wrong", [
    ({"permission": CONCRETE}, None), ({"permissions": [CONCRETE]}, None),
    ({}, {"permission": {"required"}}),
    ({"permission": CONCRETE, "permissions": [CONCRETE]}, {"permission": {"unexpected"}}),
])
def test_a_question_names_one_permission_or_several(document, administrator, body, wrong):
    reply = administrator.post("/customers/authorise", json=body)
    assert takes(document, "POST", "/customers/authorise", body) == (wrong is None) == (reply.status_code == 200)
    if wrong is not None:
        assert failing(reply) == wrong


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("everywhere", [False, True])
def test_who_signs_out_everywhere_does_not_name_the_others(api, document, customer, everywhere, others):
    body = {"everywhere": everywhere, "others": others}
    reply = api.post("/customers/logout", token=customer.session()["accessToken"], json=body)
    good = not (everywhere and others)
    assert takes(document, "POST", "/customers/logout", body) == good == (reply.status_code == 200)


@pytest.mark.parametrize("text", [
    "", " \t ", "*=warn", "files=debug,*=info", " http = error ,\tjobs\t=trace ", ",", "*=warn,", ",*=warn", "files",
    "files=", "=debug", "files=loud", "nope=debug", "files=debug;*=info", "files==debug", "*=WARN",
    "files=debug trace", "*=warn,,files=debug",
])
def test_the_pattern_of_a_filter_takes_what_the_service_takes(document, administrator, text):
    body = {"logging": {"filter": text}}
    reply = administrator.put("/system/settings", json=body)
    assert takes(document, "PUT", "/system/settings", body) == (reply.status_code == 200), reply.text
    administrator.put("/system/settings", json={"logging": {"filter": ""}}, status=200)


@pytest.mark.parametrize("length", [254, 255])
def test_an_address_is_as_long_as_the_limits_say(document, administrator, length):
    """The part before the sign has up to 64 bytes, each label of the domain up to 63."""
    domain = ".".join(["d" * 63] * 2 + ["e" * (length - 64 - 1 - 2 * 64 - 4), "com"])
    email = f"{'a' * 64}@{domain}"
    assert len(email) == length
    body = {"organisation": {"name": "Long Ltd"}, "email": email, "firstName": "L", "lastName": "L"}
    assert takes(document, "POST", "/customers/signup", body) == (length == 254)
    reply = administrator.post("/customers/signup", json={**body, "firstName": ""})
    assert failing(reply) == {"firstName": {"length"}, **({"email": {"length"}} if length == 255 else {})}
