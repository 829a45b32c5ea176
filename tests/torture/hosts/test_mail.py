# SPDX-License-Identifier: MIT
"""Each reply of the mail server is withheld once, cut in half, or never comes; or nobody is there. The mail is sent in
the end; a second time only where the server has it and could not say so."""

import contextlib
import re

import pytest

from mail.support_smtp_server import Server
from providers import support_remote as remote
from support.accounts import fresh_email, invitation
from support.programs.host import Host
from support.runs.effort import FULL
from support_outbound import MailProxy
from support_site import Site, worker_of

pytestmark = pytest.mark.hosts

PASSWORD = "administrator password 1"
# A silent server is waited for for half a minute.
FAULTS = ("hung up", "half", "silent") if FULL else ("hung up", "half")


@pytest.fixture(scope="module")
def site(stack):
    with contextlib.ExitStack() as started:
        server = started.enter_context(Server("gatehouse", "mail password"))
        proxy = MailProxy(server.port)
        started.callback(proxy.close)
        host = started.enter_context(Host(stack))
        (host.folder / "secrets" / "mail").write_text(server.password + "\n", encoding="utf-8")
        for path in (host.folder / "secrets").iterdir():
            path.chmod(0o600)
        more = {
            "transport": "smtp", "smtp_url": f"smtp://127.0.0.1:{proxy.port}", "smtp_user": server.user,
            "smtp_tls": "none", "smtp_password_file": str(host.folder / "secrets" / "mail")
        }
        text = re.sub(rf"(?m)^({'|'.join(more)}) = .*\n", "", host.configuration.read_text(encoding="utf-8"))
        lines = "".join(f"{name} = {value}\n" for name, value in more.items())
        host.configuration.write_text(text.replace("[mail]\n", "[mail]\n" + lines), encoding="utf-8")
        host.run("migrate")
        (host.folder / "password").write_text(PASSWORD, encoding="utf-8")
        host.run("create-admin", "--email", remote.ADMIN, "--password-file", str(host.folder / "password"))
        found = Site(stack, host, proxy, started.enter_context(worker_of(stack, host)))
        found.server = server
        found.token = found.tokens(remote.ADMIN, PASSWORD)["accessToken"]
        found.finish_jobs()
        yield found


def invite(site):
    """A mail waits for a new customer, at the address that comes back."""
    email = fresh_email()
    site.ask("POST", "/customers/signup", invitation(email=email), token=site.token)
    return email


def test_each_reply_of_the_mail_server_fails_once(site):
    address = invite(site)
    site.proxy.arm()
    assert site.jobs().status == 200
    count = site.proxy.disarm()[0]
    # Its greeting, EHLO, AUTH, MAIL, RCPT, DATA and the message.
    assert count >= 7, "the proxy does not see the replies"
    assert len(site.server.messages(address)) == 1
    faults = [("refused", 1), *((fault, nth) for nth in range(1, count + 1) for fault in FAULTS)]
    twice = 0
    for fault, nth in faults:
        where = f"reply {nth} of {count} is {fault}"
        address = invite(site)
        site.proxy.arm(fault, nth)
        try:
            site.jobs()
        finally:
            met = site.proxy.disarm()[1]
        assert met, f"{where}: it was not met"
        taken = len(site.server.messages(address))
        assert taken in (0, 1), where
        site.finish_jobs()
        sent = len(site.server.messages(address))
        assert sent in (1, 1 + taken), f"{where}: {taken} when it failed, {sent} in the end"
        twice += sent == 2
    print(f"{len(faults)} faults of {count} replies; {twice} mails were sent twice")
    # The reply to the message itself, each way; what comes after it costs no second mail.
    assert twice <= len(FAULTS), twice
