# SPDX-License-Identifier: MIT
"""Lets each call to the identity provider fail once, for each kind of request that makes one: the provider does not
listen, it hangs up, it does what it is asked and says nothing, it sends half an answer, it is silent. The request gets
its usual answer or a clean error. Nobody is signed in who must not be, exactly one of the old and the new password
works, and no account is lost or made twice."""

import contextlib
import itertools
import json
import types

import pytest

from providers import support_remote as remote
from support import mail
from support.members import USERS
from support_outbound import HttpProxy
from support_site import Kind, Site, each_call_fails_once, worker_of

pytestmark = pytest.mark.hosts

ADMIN_PASSWORD, OWNER_PASSWORD = "administrator password 1", "owner's own password 2"
TESTING = "provider_rest_seconds = 1\n"
# Where the provider is silent, or nobody is there.
HASTE = {"testing_provider_login_seconds": 2, "testing_provider_admin_seconds": 2}
NUMBERS = itertools.count(1)


def fresh_password():
    return f"a password of number {next(NUMBERS)}"


class ProviderSite(Site):
    """With an administrator, a customer's owner, and members as they are needed."""

    def begin(self):
        self.admin = self.tokens(remote.ADMIN, ADMIN_PASSWORD)["accessToken"]
        email = f"owner-{next(NUMBERS)}@customer.example"
        self.ask("POST", "/customers/signup", customer(email), token=self.admin)
        self.owner = self.first_login(email, OWNER_PASSWORD)

    def person(self, email, password):
        return types.SimpleNamespace(email=email, password=password, identity=self.row(email)[0])

    def temporary(self, email):
        """The newest temporary password of an account."""
        self.finish_jobs()
        letters = [one for one in self.mailbox.messages(email) if any("/login" in line for line in mail.lines(one))]
        return mail.temporary_password((letters or self.mailbox.messages(email))[-1])

    def first_login(self, email, password):
        answer = self.login(email, self.temporary(email), newPassword=password)
        assert answer.status == 200, answer
        found = self.person(email, password)
        found.tokens = json.loads(answer.body)["tokens"]
        return found

    def token(self, person):
        return self.tokens(person.email, person.password)["accessToken"]

    def owner_token(self):
        return self.token(self.owner)

    def invite(self, email, token=None):
        return self.call("POST", USERS, {"email": email, "firstName": "Mia", "lastName": "Member"},
                         token=token or self.owner_token())

    def member(self):
        """An active member of the owner's."""
        email = fresh_email()
        assert self.invite(email).status == 200
        return self.first_login(email, fresh_password())

    def row(self, email):
        """(id, status) of the one user with that address."""
        found = self.host.rows("SELECT LOWER(CONCAT_WS('-', HEX(SUBSTR(id, 1, 4)), HEX(SUBSTR(id, 5, 2)), "
                               "HEX(SUBSTR(id, 7, 2)), HEX(SUBSTR(id, 9, 2)), HEX(SUBSTR(id, 11)))), status "
                               "FROM user WHERE email = %s", email)
        assert len(found) == 1, found
        return found[0]

    def told(self):
        """How many calls the provider has had."""
        return len((self.provider.folder / "log").read_text(encoding="utf-8").splitlines())

    def which(self, person, passwords):
        """The passwords that open the account; one that must be changed counts."""
        found = []
        for one in passwords:
            answer = self.login(person.email, one)
            assert answer.status in (200, 400, 401), answer
            if answer.status != 401:
                found.append(one)
            self.host.forget_failures()
        return found


def fresh_email():
    return f"member-{next(NUMBERS)}@customer.example"


def customer(email):
    return {"organisation": {"name": email.partition("@")[0]}, "email": email, "firstName": "Olga", "lastName": "Owner"}


# ---- signing in and out


def check_first_login(site, given, answer):
    """The chosen password holds, or the temporary one still does."""
    opened = site.which(given, [given.temporary, given.password])
    assert opened == [given.password] or answer.status == 500 and opened == [given.temporary], opened
    if opened == [given.temporary]:
        assert site.login(given.email, given.temporary, newPassword=given.password).status == 200


def prepare_first_login(site):
    email = fresh_email()
    assert site.invite(email).status == 200
    found = site.person(email, fresh_password())
    found.temporary = site.temporary(email)
    return found


def check_login(site, _given, answer):
    if answer.status == 200:
        site.ask("GET", "/customers/me", token=json.loads(answer.body)["tokens"]["accessToken"])
    site.owner_token()


def refresh(site, given):
    return site.call("POST", "/customers/refresh", {"refreshToken": given["refreshToken"]})


def check_refresh(site, given, answer):
    """What was answered holds. What was not may be sent again, unless the provider has spent a token of its own."""
    if answer.status == 200:
        site.ask("GET", "/customers/me", token=json.loads(answer.body)["tokens"]["accessToken"])
        return
    again = refresh(site, given)
    assert again.status in (200, 401), again


def check_logout(site, given, answer):
    if answer.status == 200:
        site.ask("GET", "/customers/me", token=given["accessToken"], status=401)
        site.ask("POST", "/customers/refresh", {"refreshToken": given["refreshToken"]}, status=401)


def owner_tokens(site):
    return site.tokens(site.owner.email, site.owner.password)


# ---- passwords


def change_password(site, given):
    return site.call("POST", "/customers/change-password", {"password": given.password, "newPassword": given.chosen},
                     token=given.tokens["accessToken"])


def prepare_password(site):
    found = site.member()
    found.chosen = fresh_password()
    return found


def check_password(site, given, answer):
    """Exactly one of the two opens the account, and it is the new one where that was answered."""
    opened = site.which(given, [given.password, given.chosen])
    assert opened == [given.chosen] or answer.status == 500 and opened == [given.password], opened


def prepare_reset(site):
    found = prepare_password(site)
    site.ask("POST", "/customers/forgotten-password", {"username": found.email})
    site.finish_jobs()
    letters = [one for one in site.mailbox.messages(found.email) if "/reset?id=" in "\n".join(mail.lines(one))]
    found.code = mail.code(letters[-1])
    return found


def reset_password(site, given):
    return site.call("POST", "/customers/reset-password", {
        "username": given.email, "confirmationCode": given.code, "newPassword": given.chosen})


def admin_set_password(site, given):
    return site.call("POST", "/customers/admin-set-password", {"username": given.identity, "password": given.chosen},
                     token=site.admin)


# ---- accounts


def check_creation(site, given, answer, again):
    """There is one account, made at once or when it is asked for again, and its owner comes in."""
    if answer.status == 500:
        assert site.row(given)[1] in ("provisioning", "awaiting-first-login")
        made = again(site, given)
        assert made.status in (200, 201, 409), made
    assert site.row(given)[1] == "awaiting-first-login"
    site.first_login(given, fresh_password())


def sign_up(site, given):
    return site.call("POST", "/customers/signup", customer(given), token=site.admin)


def check_disabled(site, given, answer):
    """Who was said to be out is out, whatever the provider has heard."""
    if answer.status == 200:
        site.ask("GET", "/customers/me", token=given.tokens["accessToken"], status=401)
        assert not site.which(given, [given.password])
    site.finish_jobs()
    site.ask("PATCH", f"{USERS}/{given.identity}", {"status": "active"}, token=site.owner_token())
    site.finish_jobs()
    assert site.which(given, [given.password])


def disable(site, given):
    return site.call("PATCH", f"{USERS}/{given.identity}", {"status": "disabled"}, token=given.owner)


def prepare_disabling(site):
    found = site.member()
    found.owner = site.owner_token()
    return found


def prepare_telling(site):
    """A change that the provider is to be told of by the job runner."""
    found = site.member()
    site.finish_jobs()
    site.ask("PATCH", f"{USERS}/{found.identity}", {"permissions": ["cus:file:r"], "phone": "+442071838750"},
             token=site.owner_token())
    found.calls = site.told()
    return found


def check_telling(site, given, _answer):
    site.finish_jobs()
    assert site.told() > given.calls
    assert site.which(given, [given.password])


def prepare_erasing(site):
    found = site.member()
    site.ask("PATCH", f"{USERS}/{found.identity}", {"status": "disabled"}, token=site.owner_token())
    site.finish_jobs()
    found.owner = site.owner_token()
    return found


def erase(site, given):
    """In the request and in the job runner's next pass."""
    answer = site.call("POST", f"{USERS}/{given.identity}/erase", token=given.owner)
    site.jobs()
    return answer


def check_erasing(site, given, _answer):
    site.finish_jobs()
    assert not site.which(given, [given.password])


KINDS = {
    "login": Kind(lambda site, _: site.login(site.owner.email, site.owner.password), check=check_login),
    "login with a wrong password": Kind(lambda site, _: site.login(site.owner.email, "not the password"), 401),
    "first login": Kind(lambda site, given: site.login(given.email, given.temporary, newPassword=given.password),
                        prepare=prepare_first_login, check=check_first_login),
    "refresh": Kind(refresh, prepare=owner_tokens, check=check_refresh),
    "logout": Kind(lambda site, given: site.call("POST", "/customers/logout", {}, token=given["accessToken"]),
                   prepare=owner_tokens, check=check_logout),
    "change of the password": Kind(change_password, prepare=prepare_password, check=check_password),
    "reset of the password": Kind(reset_password, prepare=prepare_reset, check=check_password),
    "password by an administrator": Kind(admin_set_password, prepare=prepare_password, check=check_password),
    "sign-up of a customer": Kind(sign_up, prepare=lambda site: fresh_email(),
                                  check=lambda *what: check_creation(*what, sign_up)),
    "invitation of a member": Kind(lambda site, given: site.invite(*given),
                                   prepare=lambda site: (fresh_email(), site.owner_token()),
                                   check=lambda site, given, answer: check_creation(site, given[0], answer,
                                                                                    ProviderSite.invite)),
    "disabling of a member": Kind(disable, prepare=prepare_disabling, check=check_disabled),
    "telling of a change": Kind(lambda site, _: site.jobs(), prepare=prepare_telling, check=check_telling),
    "erasing of a member": Kind(erase, prepare=prepare_erasing, check=check_erasing),
}


@pytest.fixture(scope="module", params=["cognito", "keycloak"])
def site(request, stack, tmp_path_factory):
    with contextlib.ExitStack() as started:
        provider = started.enter_context(remote.pool(remote.KINDS[request.param], tmp_path_factory.mktemp("pool")))
        proxy = HttpProxy(provider.port)
        started.callback(proxy.close)
        host = started.enter_context(remote.host(stack, provider, ADMIN_PASSWORD, proxy.url, testing=TESTING))
        found = ProviderSite(stack, host, proxy, started.enter_context(worker_of(stack, host)))
        found.may_be_hasty(started.enter_context(worker_of(stack, host, **HASTE)), HASTE)
        found.provider = provider
        found.begin()
        yield found


@pytest.mark.parametrize("name", KINDS)
def test_each_call_to_the_provider_fails_once(site, name):
    assert each_call_fails_once(site, f"{site.provider.kind.name}, {name}", KINDS[name]), "the proxy sees no call"
