# SPDX-License-Identifier: MIT
"""The Python client: sessions, errors, lists."""

import dataclasses
import threading
import time

import pytest

from gatehouse_client import (AuthenticationError, DuplicateFileError, Gatehouse, InvalidRequestError,
                              NewPasswordRequiredError, PermissionDeniedError, RateLimitedError, UnavailableError,
                              errors, iterate)
from gatehouse_client.models import AuthoriseRequest, LinkRequest, MePatch, NewUser
from support_names import fresh_password


def session_of(stack, person):
    """Another session of the person, and the list of tokens that it has had."""
    seen = []
    client = Gatehouse(stack.base_url, on_tokens=seen.append)
    client.sign_in(person.email, person.password)
    return client, seen


def with_tokens(stack, client, seen, **changes):
    """The same session, with other tokens in the client's hands."""
    return Gatehouse(stack.base_url, tokens=dataclasses.replace(client.tokens, **changes), on_tokens=seen.append)


# ---- sessions


def test_a_temporary_password_asks_for_a_new_one(stack, invited):
    email, temporary = invited()
    client = Gatehouse(stack.base_url)
    with pytest.raises(NewPasswordRequiredError):
        client.sign_in(email, temporary)
    user = client.sign_in(email, temporary, fresh_password())
    assert user.email == email and user.status == "active"
    assert client.accounts.get_own_user().organisation.name == "Clients Ltd"


def test_who_has_not_signed_in_is_told_so_without_a_request(stack):
    with pytest.raises(AuthenticationError, match="sign_in") as caught:
        Gatehouse("http://127.0.0.1:9").accounts.get_own_user()
    assert caught.value.code == "auth.tokenMissing"


def test_a_session_that_is_signed_out_opens_nothing(stack, owner):
    client, seen = session_of(stack, owner)
    held = client.tokens
    client.sign_out()
    assert client.tokens is None and seen[-1] is None
    with pytest.raises(AuthenticationError) as caught:
        Gatehouse(stack.base_url, tokens=held).accounts.get_own_user()
    assert caught.value.code == "auth.tokenRevoked"


def test_an_access_token_is_renewed_before_it_expires(stack, owner):
    first, seen = session_of(stack, owner)
    client = with_tokens(stack, first, seen, expires_at=time.time() + 5)
    assert client.accounts.get_own_user().user.email == owner.email
    assert len(seen) == 2 and seen[1] == client.tokens
    assert seen[1].refresh_token != seen[0].refresh_token, "a refresh token is used once"
    assert seen[1].expires_at > time.time() + 60


def test_a_refused_access_token_is_renewed_and_the_call_made_again(stack, owner):
    first, seen = session_of(stack, owner)
    client = with_tokens(stack, first, seen, access_token="spoilt")
    assert client.accounts.get_own_user().user.email == owner.email
    assert len(seen) == 2 and client.tokens.access_token == seen[1].access_token


@pytest.mark.parametrize("changes", [{"access_token": "spoilt"}, {"expires_at": 0.0}], ids=["refused", "expired"])
def test_threads_that_need_a_new_token_at_once_share_one_refresh(stack, owner, changes):
    first, seen = session_of(stack, owner)
    client = with_tokens(stack, first, seen, **changes)
    together, answers = threading.Barrier(8), []

    def ask():
        together.wait()
        answers.append(client.accounts.get_own_user().user.email)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [owner.email] * 8
    assert len(seen) == 2, "one refresh for all of them"


def test_a_session_that_cannot_be_renewed_is_over(stack, owner):
    first, seen = session_of(stack, owner)
    client = with_tokens(stack, first, seen, expires_at=0.0, refresh_token="x" * 43)
    with pytest.raises(AuthenticationError):
        client.accounts.get_own_user()
    assert client.tokens is None and seen[-1] is None
    first.sign_out()


def test_a_service_that_is_away_ends_no_session(stack, owner):
    first, seen = session_of(stack, owner)
    lost = Gatehouse("http://127.0.0.1:9", tokens=dataclasses.replace(first.tokens, expires_at=0.0),
                     on_tokens=seen.append)
    with pytest.raises(UnavailableError) as caught:
        lost.accounts.get_own_user()
    assert (caught.value.status, caught.value.code) == (0, "service.notReached")
    assert lost.tokens is not None and len(seen) == 1
    first.sign_out()


# ---- errors


def test_an_error_names_every_wrong_value_and_the_request(owner):
    with pytest.raises(InvalidRequestError) as caught:
        owner.client.accounts.create_user(NewUser(email="nobody", first_name="", last_name="L"))
    error = caught.value
    assert (error.status, error.code) == (400, "request.invalid")
    assert {fault.path for fault in error.validation} == {"email", "firstName"}
    assert len(error.request_id) >= 8 and "requestId" not in error.details


def test_an_error_names_the_permission_that_is_missing(member):
    with pytest.raises(PermissionDeniedError) as caught:
        member.client.accounts.list_users()
    assert caught.value.required == "cus:user:r" and caught.value.status == 403


def test_a_file_that_is_there_already_is_named(owner):
    data = fresh_password().encode()
    record = owner.client.upload(data, bucket="files", type="misc", name="one.txt")
    with pytest.raises(DuplicateFileError) as caught:
        owner.client.upload(data, bucket="files", type="misc", name="one.txt")
    assert caught.value.file_id == record.id


@pytest.mark.parametrize("status, headers, body, kind, code", [
    (429, {"Retry-After": "7"}, b'{"code": "rate.limited", "message": "Too many tries."}', RateLimitedError,
     "rate.limited"),
    (500, {"Retry-After": "7"}, b'{"code": "database.unavailable"}', UnavailableError, "database.unavailable"),
    (502, {"Retry-After": "7"}, b"<html>Bad Gateway</html>", UnavailableError, "http.502"),
    (418, {"Retry-After": "7"}, b'["no", "object"]', errors.GatehouseError, "http.418"),
    (400, {"Retry-After": "7"}, b'{"code": 5, "body": [], "validation": [3, {"path": "a"}]}', InvalidRequestError,
     "http.400"),
])
def test_whatever_is_answered_becomes_an_error(status, headers, body, kind, code):
    error = errors.from_reply(status, headers, body)
    assert type(error) is kind and (error.status, error.code, error.retry_after) == (status, code, 7.0)
    assert error.message


# ---- records and lists


def test_null_is_sent_where_it_was_given_and_only_there(new_owner):
    client = new_owner().client
    assert client.accounts.update_own_user(MePatch(phone="+442071838750")).user.phone == "+442071838750"
    assert client.accounts.update_own_user(MePatch(first_name="Olga")).user.phone == "+442071838750"
    assert client.accounts.update_own_user(MePatch(phone=None)).user.phone is None


def test_an_answer_of_two_forms_has_the_type_of_its_form(owner):
    one = owner.client.accounts.authorise(AuthoriseRequest(permission="cus:file:w"))
    assert one.allowed and one.granted_by[0].source.startswith("role:")
    several = owner.client.accounts.authorise(AuthoriseRequest(permissions=["cus:file:w", "sys:cache:a"]))
    assert [item.allowed for item in several.items] == [True, False]


def test_a_list_is_read_page_after_page(new_owner):
    client = new_owner().client
    names = {f"{number}.txt": f"{number} {fresh_password()}".encode() for number in range(7)}
    made = client.upload_together(names, bucket="files", type="misc", tags=["first", "with blank"])
    assert [record.info.name for record in made] == list(names) and made[0].tags == ["first", "with blank"]
    found = list(iterate(client.files.list_files, limit=2, tag="with blank"))
    assert [record.id for record in found] == [record.id for record in reversed(made)]
    assert next(iterate(client.files.list_files, limit=1, sort="oldest")).id == made[0].id


def test_a_list_below_a_path_is_read_page_after_page(owner):
    record = owner.client.upload(fresh_password().encode(), bucket="files", type="misc", name="linked.txt")
    for _ in range(3):
        owner.client.files.create_file_link(record.id, link_request=LinkRequest(expires_in=60))
    assert len(list(iterate(owner.client.files.list_file_links, record.id, limit=1))) == 3


def test_one_file_is_a_list_of_one(owner):
    data = fresh_password().encode()
    record, = owner.client.upload_together({"small.txt": data}, bucket="files", type="misc")
    assert owner.client.files.download_file(record.id) == data
    assert owner.client.files.get_file_information(record.id).size == len(data)


def test_what_is_not_json_comes_as_it_is(administrator):
    assert "gatehouse_requests_total" in administrator.service.get_metrics()
    assert administrator.service.list_signing_keys()["keys"][0]["kty"] == "RSA"
    assert administrator.service.get_open_api_document()["openapi"].startswith("3.")
