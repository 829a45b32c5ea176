# SPDX-License-Identifier: MIT
"""The mails of the account flows: parts and headers, what stands alone on a line, how many there are, and
that nobody's name gets into a header or into the markup."""

import concurrent.futures
import email.policy
import html.parser
import re
import subprocess

import pytest

from support import mail, members as team
from support.accounts import Account, fresh_email, fresh_password, invitation
from support.client import failing
from support.database import key
from support.members import USERS, works

HEADERS = {"from", "to", "subject", "date", "message-id", "mime-version", "content-type", "auto-submitted"}
MAILS_A_DAY = 5
HOSTILE = [
    "Bob\r\nBcc: spy@example.com", "Bob\nX-Evil: 1", "Bob\rX-Evil: 1", "Bob\r\n\r\n<h1>body</h1>",
    "Bob\u0000", "Bob\u2028Bcc: spy@example.com", "Bob\u2029X-Evil: 1", "Bob\u0085Bcc: spy@example.com",
    "Bob\u000bX: 1", "Bob\u000cX: 1", "\u001b[31mBob", "Bob\u007f", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "</p></body></html><h1>x</h1>",
    "\"><a href=\"https://evil.example\">click</a>", "&lt;b&gt;&#60;i&#62;", "Bob, spy@example.com",
    "\"Bob\" <spy@example.com>", "=?utf-8?q?Bcc=3A_spy=40example.com?=",
    "=?utf-8?b?DQpCY2M6IHNweUBleGFtcGxlLmNvbQ==?=", "{{temporaryPassword}} {{code}} {{link}}",
    "%s%n@LINK@${x}", "\u202eevil\u202c", "Żółć 漢字 🦊", "123456", "https://evil.example/confirm?id=1",
    "x" * 100, "=0D=0ABcc: a@b.c", "--=_boundary", ".", "From me", "漢" * 100, "x" * 18000,
    "=0D=0ABcc=3A a=40b.c", "\"&amp;' onclick=alert(1)", "www.evil.example", "'; DROP TABLE user; --",
    "$(reboot) `reboot`", "%s%n%LINK%${x}", "{{organisation", "Content-Type; text", "\u200fBob\u200e"
]
# What a name may not hold: else the programs of those who read it would make links of it.
MARKS = re.compile("[:/\\\\<>@\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# A dot of a host's name.
HOST_DOT = re.compile(r"\.(?=[A-Za-z0-9]{2}|[A-Za-z0-9]?[^\x00-\x7f])")


def mailed(name):
    """The name as e-mails show it: with nothing of which a program makes a link."""
    return HOST_DOT.sub(". ", MARKS.sub(" ", name))


class Tags(html.parser.HTMLParser):
    """Every tag with its attributes, in order: what a name must not change."""

    def __init__(self, text):
        super().__init__()
        self.seen = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, tuple((name, re.sub(r"id=.*", "id=", value or "")) for name, value in attrs)))

    def handle_endtag(self, tag):
        self.seen.append(("/" + tag, ()))


def parts(message):
    """The text part and the HTML part."""
    plain, page = message.get_body(("plain", )), message.get_body(("html", ))
    assert plain is not None and page is not None
    return plain.get_content(), page.get_content()


def check_form(message, address):
    """What holds for every mail: headers, parts, nobody else addressed."""
    assert not message.defects
    assert {name.lower() for name in message.keys()} == HEADERS
    assert [entry.addr_spec for entry in message["To"].addresses] == [address]
    assert len(message["From"].addresses) == 1
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    for part in message.iter_parts():
        assert part.get_content_charset() == "utf-8" and not part.defects
    for line in message.as_bytes(policy=email.policy.SMTP).split(b"\r\n"):
        assert len(line) <= 998


def changes(members, address):
    """The mails that tell of a changed password: they link to no page of ours."""
    web = members.accounts.stack.web_url
    return [
        message for message in members.mails(address)
        if "password" in message["Subject"] and not any(line.startswith(web) for line in mail.lines(message))
    ]


# ---- what is in them ------------------------------------------------------------------------------------


def test_a_first_login_mail_has_both_parts_with_link_and_password(accounts, stack):
    invited = accounts.invited()
    check_form(invited.message, invited.email)
    text, page = parts(invited.message)
    link = f"{stack.web_url}/first-login?id={invited.id}"
    assert mail.link(invited.message, stack.web_url) == link
    assert invited.temporary in page and f'href="{link}"' in page and invited.user["firstName"] in text
    assert invited.organisation["name"] in text


def test_a_confirmation_mail_has_both_parts_with_link_and_code(members, boss, stack):
    member = members.waiting(boss)
    message = member.message()
    check_form(message, member.email)
    text, page = parts(message)
    link = f"{stack.web_url}/confirm?id={member.id}"
    assert mail.link(message, stack.web_url) == link
    assert mail.code(message) in page and f'href="{link}"' in page
    assert member.password not in text and member.password not in page


def test_a_reset_mail_has_both_parts_with_link_and_code(members, member, stack):
    code = members.reset_code(member)
    message = members.letter(member.email, "reset")
    check_form(message, member.email)
    link = f"{stack.web_url}/reset?id={member.id}"
    assert mail.link(message, stack.web_url) == link and mail.code(message) == code
    assert code in parts(message)[1] and f'href="{link}"' in parts(message)[1]


def test_every_mail_has_a_message_id_of_its_own(stack):
    """What a killed job runner sent twice has its own twice; nobody else's mail has it."""
    recipients = {}
    for path in stack.mail.glob("*.eml"):
        data = path.read_bytes()
        name, to = (re.search(rb"(?im)^%s:\s*(\S+)" % word, data)[1] for word in (b"message-id", b"to"))
        recipients.setdefault(name, set()).add(to)
    assert recipients and all(len(found) == 1 for found in recipients.values())


# ---- told by mail ---------------------------------------------------------------------------------------


def change(members, member, new):
    sent = {"password": member.password, "newPassword": new}
    member.post("/customers/change-password", json=sent, status=200)


def reset(members, member, new):
    sent = {"username": member.id, "confirmationCode": members.reset_code(member), "newPassword": new}
    members.api.post("/customers/reset-password", json=sent, status=200)


def set_temporary(members, member, new):
    sent = {"username": member.id, "password": new}
    members.administrator.post("/customers/admin-set-password", json=sent, status=200)


def set_permanent(members, member, new):
    sent = {"username": member.id, "password": new, "permanent": True}
    members.administrator.post("/customers/admin-set-password", json=sent, status=200)


@pytest.mark.parametrize("way", [change, reset, set_temporary, set_permanent], ids=lambda way: way.__name__)
def test_whoever_changes_a_password_its_owner_is_told_by_mail(members, member, way):
    new = fresh_password()
    way(members, member, new)
    told = changes(members, member.email)
    assert len(told) == 1
    check_form(told[0], member.email)
    for text in parts(told[0]):
        assert new not in text and member.password not in text and not re.search(r"\b\d{6}\b", text)


def test_a_refused_change_tells_nobody(api, members, member):
    sent = {"password": "not the password", "newPassword": fresh_password()}
    member.post("/customers/change-password", json=sent, status=400)
    member.post("/customers/change-password",
                json={"password": member.password, "newPassword": "short"},
                status=400)
    sent = {"username": member.id, "confirmationCode": "123456", "newPassword": fresh_password()}
    api.post("/customers/reset-password", json=sent, status=400)
    assert changes(members, member.email) == []


# ---- how many -------------------------------------------------------------------------------------------


def ask(members, path, account, times):
    for _ in range(times):
        members.api.post(f"/customers/{path}", json={"username": account.email}, status=200)
        members.await_jobs()


@pytest.mark.usefixtures("one_day")
def test_a_member_gets_five_confirmation_mails_a_day_and_the_last_code_works(members, boss):
    member = members.waiting(boss)
    member.code()
    ask(members, "resend-confirmation", member, 7)
    letters = members.letters(member.email, "confirm")
    assert len(letters) == MAILS_A_DAY
    member.confirm(mail.code(letters[-1]), status=200)


@pytest.mark.usefixtures("one_day")
def test_an_owner_gets_five_invitations_a_day_and_the_last_password_works(api, accounts, members):
    invited = accounts.invited()
    ask(members, "resend-confirmation", invited, 6)
    letters = members.letters(invited.email, "first-login")
    assert len(letters) == MAILS_A_DAY
    last = mail.temporary_password(letters[-1])
    accounts.secrets.update(mail.temporary_password(letter) for letter in letters)
    body = {"username": invited.email, "password": last, "newPassword": fresh_password()}
    api.post("/customers/login", json=body, status=200)


@pytest.mark.usefixtures("one_day")
def test_a_user_gets_five_reset_mails_a_day_and_the_last_code_works(members, member):
    ask(members, "forgotten-password", member, 7)
    letters = members.letters(member.email, "reset")
    assert len(letters) == MAILS_A_DAY
    sent = {
        "username": member.id, "confirmationCode": mail.code(letters[-1]), "newPassword": fresh_password()
    }
    members.api.post("/customers/reset-password", json=sent, status=200)


@pytest.mark.usefixtures("one_day")
@pytest.mark.parametrize("path, page", [("resend-confirmation", "confirm"), ("forgotten-password", "reset")])
def test_asking_in_parallel_does_not_go_round_the_five(members, boss, path, page):
    member = members.waiting(boss) if page == "confirm" else members.active(boss)
    members.await_jobs()
    body = {"username": member.email}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: members.api.post(f"/customers/{path}", json=body, status=200), range(20)))
    members.await_jobs()
    assert len(members.letters(member.email, page)) == MAILS_A_DAY


@pytest.mark.usefixtures("one_day")
def test_each_purpose_each_account_and_each_day_counts_for_itself(members, boss, database):
    member, bystander = members.waiting(boss), members.waiting(boss)
    member.code()
    ask(members, "resend-confirmation", member, 6)
    ask(members, "resend-confirmation", bystander, 1)
    assert len(members.letters(bystander.email, "confirm")) == 2
    database.run("UPDATE mail_allowance SET day = day - INTERVAL 1 DAY WHERE user_id = %s", key(member.id))
    ask(members, "resend-confirmation", member, 1)
    letters = members.letters(member.email, "confirm")
    assert len(letters) == MAILS_A_DAY + 1
    member.confirm(mail.code(letters[-1]), status=200)
    ask(members, "forgotten-password", member, 1)
    assert len(members.letters(member.email, "reset")) == 1


def test_asking_again_never_undoes_a_first_login(api, accounts, members):
    """A new invitation that is being made while its user logs in must not replace the chosen password."""
    for number in range(12):
        invited = accounts.invited()
        password = fresh_password()
        api.post("/customers/resend-confirmation", json={"username": invited.email}, status=200)
        members.database.run("DO SLEEP(%s)", 0.025 * number)
        reply = api.post("/customers/login",
                         json=invited.credentials(newPassword=password),
                         status={200, 401})
        members.await_jobs()
        accounts.secrets.update(
            mail.temporary_password(letter) for letter in members.letters(invited.email, "first-login"))
        if reply.status_code == 200:
            body = {"username": invited.email, "password": password}
            api.post("/customers/login", json=body, status=200)


# ---- hostile names --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(accounts, members, boss):
    """The tags of each kind of mail when the names are harmless."""
    invited = accounts.invited()
    member = members.waiting(boss)
    kinds = {"first-login": invited.message, "confirm": member.message()}
    member.confirm(status=200)
    members.reset_code(member)
    kinds["reset"] = members.letter(member.email, "reset")
    set_temporary(members, member, fresh_password())
    kinds["changed"] = changes(members, member.email)[0]
    return {kind: Tags(parts(message)[1]).seen for kind, message in kinds.items()}


def test_the_list_of_hostile_names_is_as_long_as_promised():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 25


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_adds_no_header_and_no_markup_to_any_mail(accounts, members, boss, plain, name):
    body = invitation(firstName=name, lastName=name, organisation={"name": name})
    reply = members.administrator.post("/customers/signup", json=body, status={200, 400})
    sent = team.body(firstName=name, lastName=name)
    created = boss.post(USERS, json=sent, status={200, 400})
    assert created.status_code == reply.status_code
    assert (created.status_code == 400) == bool(MARKS.search(name) or len(name) > 200)
    if created.status_code == 400:
        assert created.json()["code"] in ("request.invalid", "request.malformed")
        if created.json()["code"] == "request.invalid":
            wrong = {"length"} if len(name) > 200 else {"format"}
            assert failing(created) == {"firstName": wrong, "lastName": wrong}
            assert failing(reply) == {"firstName": wrong, "lastName": wrong, "organisation.name": wrong}
        return
    user = created.json()["user"]
    assert user["firstName"] == name and user["lastName"] == name
    messages = {
        "first-login": members.letter(body["email"], "first-login"),
        "confirm": members.letter(sent["email"], "confirm")
    }
    accounts.secrets.add(mail.temporary_password(messages["first-login"]))
    code = mail.code(messages["confirm"])
    members.api.post("/customers/confirm-signup",
                     json={"username": user["id"], "confirmationCode": code},
                     status=200)
    members.api.post("/customers/forgotten-password", json={"username": user["id"]}, status=200)
    messages["reset"] = members.letter(sent["email"], "reset")
    set_temporary(members, Account(members.api, user, None, None), fresh_password())
    messages["changed"] = changes(members, sent["email"])[0]
    for kind, message in messages.items():
        check_form(message, body["email"] if kind == "first-login" else sent["email"])
        assert Tags(parts(message)[1]).seen == plain[kind], kind
        assert mailed(name) in parts(message)[0], kind


def test_hostile_names_reached_the_mails_at_all():
    """Else the cases above would prove little: half of the names are taken."""
    refused = [name for name in HOSTILE if MARKS.search(name) or len(name) > 200]
    assert len(HOSTILE) - len(refused) >= 18 and len(refused) >= 18


FROM_BEFORE = [name for name in HOSTILE if MARKS.search(name) and "\0" not in name and len(name) <= 100]


@pytest.mark.parametrize("name", FROM_BEFORE, ids=range(len(FROM_BEFORE)))
def test_a_name_from_before_is_mailed_without_what_makes_a_link(members, boss, database, plain, name):
    member = members.waiting(boss)
    member.code()
    database.run("UPDATE `user` SET first_name = %s, last_name = %s WHERE id = %s", name, name, key(member.id))
    members.api.post("/customers/resend-confirmation", json={"username": member.id}, status=200)
    message = members.letter(member.email, "confirm", 2)
    check_form(message, member.email)
    assert Tags(parts(message)[1]).seen == plain["confirm"]
    greeting = next(line for line in parts(message)[0].splitlines() if line.startswith("Hello "))
    assert not MARKS.search(greeting) and greeting == f"Hello {mailed(name)},"
    # The rest of the account can be changed; the name, only to a good one.
    path = f"{USERS}/{member.id}"
    assert boss.patch(path, json={"phone": "+442071838750"}, status=200).json()["user"]["firstName"] == name
    boss.patch(path, json={"firstName": name}, status=400, code="request.invalid", paths={"firstName"})
    assert boss.patch(path, json={"firstName": "Bob"}, status=200).json()["user"]["firstName"] == "Bob"


@pytest.mark.parametrize("option", ["--first-name", "--last-name"])
def test_the_operators_command_refuses_such_names_too(stack, option):
    address = fresh_email("admin")
    done = subprocess.run(
        [stack.ctl, "--config", stack.configuration, "create-admin", "--email", address, option,
         "https://evil.example"],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0 and option in done.stderr and "must not hold any of" in done.stderr
    assert not done.stdout


def test_a_member_who_was_mailed_can_sign_in(members, boss):
    member = members.waiting(boss, firstName="Bob \"&\" Ann", lastName="O'Neill & Söhne")
    member.confirm(status=200)
    assert works(member)
