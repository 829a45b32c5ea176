# SPDX-License-Identifier: MIT
"""E-mails and pages in the reader's language: the person's own, else the one that the browser asks for, else the
installation's; and that no language lacks a text."""

import html.parser
import pathlib
import re
import shutil

import pytest

from mail import support_smtp_server as smtp
from operations.test_check import Copy
from support import mail
from support.accounts import fresh_email
from support.database import key
from support.programs import crash
from support.stack import wait_until

TOP = pathlib.Path(__file__).resolve().parents[3]
TEMPLATES = TOP / "share" / "mail"
WEB = TOP / "web"
LANGUAGES = sorted(folder.name for folder in TEMPLATES.iterdir())
SUBJECTS = {
    language: (TEMPLATES / language / "reset.subject").read_text(encoding="utf-8").strip().replace("{{product}}",
                                                                                                   "Gatehouse")
    for language in LANGUAGES
}


def forget(api, account, accept=None):
    """Asks for a new password as a browser of these languages does."""
    headers = {} if accept is None else {"Accept-Language": accept}
    api.post("/customers/forgotten-password", json={"username": account.email}, headers=headers, status=200)


def newest(mailbox, account, count):
    return mailbox.wait(account.email, count=count)


def notices(mailbox, account):
    return [one for one in mailbox.messages(account.email) if "/cancel-email?id=" in "\n".join(mail.lines(one))]


# ---- which language ----------------------------------------------------------------------------------------


def test_the_request_s_language_holds_where_the_person_has_none(api, customer, mailbox):
    count = len(mailbox.messages(customer.email))
    for accept, language in ((None, "en"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr, de;q=0.1", "de"), ("fr", "en"),
                             ("de;q=0, en;q=0.5", "en")):
        forget(api, customer, accept)
        count += 1
        assert newest(mailbox, customer, count)["Subject"] == SUBJECTS[language], accept


def test_the_person_s_language_comes_before_the_request_s(api, customer, mailbox, database):
    count = len(mailbox.messages(customer.email))
    for locale, accept, language in (("de-CH", "en", "de"), ("en-GB", "de", "en"), ("fr", "de", "de"),
                                     ("fr", "fr", "en")):
        database.run("UPDATE user SET locale = %s WHERE id = %s", locale, key(customer.id))
        forget(api, customer, accept)
        count += 1
        assert newest(mailbox, customer, count)["Subject"] == SUBJECTS[language], (locale, accept)


def test_an_invitation_follows_the_request_too(api, administrator, mailbox, accounts):
    body = {"organisation": {"name": "Größe GmbH"}, "email": f"de-{accounts.sign_up()['user']['id']}@example.org",
            "firstName": "Jürgen", "lastName": "Müßig"}
    api.post("/customers/signup", token=administrator.token, json=body, headers={"Accept-Language": "de"}, status=200)
    message = mailbox.wait(body["email"])
    assert message["Subject"] == "Willkommen bei Gatehouse: Ihre erste Anmeldung"
    text = "\n".join(mail.lines(message))
    assert "Guten Tag Jürgen Müßig," in text and "bei Größe GmbH" in text and "Mit freundlichen Grüßen" in text
    page = message.get_body(("html", )).get_content()
    assert '<html lang="de">' in page and "Größe GmbH" in page
    assert mail.temporary_password(message)


def subject(name, language):
    text = (TEMPLATES / language / f"{name}.subject").read_text(encoding="utf-8").strip()
    return text.replace("{{product}}", "Gatehouse")


def test_the_mails_about_another_address_follow_their_own_request(api, customer, member, mailbox):
    """They are written by a job, which has answered somebody else before: that one's language is not theirs."""
    for count, (accept, before, language) in enumerate((("de", "en", "de"), ("en", "de", "en"), (None, "de", "en")), 1):
        forget(api, customer, before)
        newest(mailbox, customer, count + 1)  # the first one was the invitation
        new = fresh_email("new")
        member.post("/customers/change-email", json={"newEmail": new, "password": member.password},
                    headers={} if accept is None else {"Accept-Language": accept}, status=200)
        assert mailbox.wait(new)["Subject"] == subject("email-change", language), accept
        notice = wait_until(lambda: notices(mailbox, member)[count - 1:count], mail.PATIENCE_SECONDS, "the notice")[0]
        assert notice["Subject"] == subject("email-notice", language), accept


def test_an_umlaut_in_the_subject_comes_through_a_mail_server(api, customer, stack, tmp_path):
    with smtp.Server("gatehouse", "a password of the mail server") as server, crash.paused_jobs(stack):
        with smtp.runner_of(stack, server, tmp_path):
            forget(api, customer, "de")
            message = server.wait(customer.email)
    assert message["Subject"] == SUBJECTS["de"]
    assert message.as_bytes().split(b"\n\n")[0].isascii()
    assert "Mit freundlichen Grüßen" in mail.lines(message)


@pytest.fixture(name="copy")
def fixture_copy(stack, tmp_path):
    return Copy(stack, tmp_path)


def test_a_language_folder_that_lacks_a_mail_is_named(copy, stack, tmp_path):
    templates = stack.data_file("mail")
    shutil.copytree(templates, tmp_path / "mail")
    copy.set("mail", templates=str(tmp_path / "mail"))
    assert "mail texts" not in copy.findings(0)
    (tmp_path / "mail" / "de" / "reset.subject").unlink()
    said = copy.one("mail texts", "error", 'lacks the mail "reset"')
    assert str(tmp_path / "mail" / "de") in said
    shutil.copytree(templates / "en", tmp_path / "mail" / "fr")
    shutil.copy(templates / "de" / "reset.subject", tmp_path / "mail" / "de")
    (tmp_path / "mail" / "fr" / "confirm.txt").write_text("Bonjour {{prenom}}")
    copy.one("mail texts", "error", "/fr/confirm.txt")


# ---- completeness ------------------------------------------------------------------------------------------


def placeholders(text):
    return set(re.findall(r"\{\{[#/]?[A-Za-z]+\}\}", text))


def test_english_and_german_are_shipped():
    assert {"de", "en"} <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_mail_with_the_same_parts_and_placeholders(language):
    english = {path.name: path.read_text(encoding="utf-8") for path in (TEMPLATES / "en").iterdir()}
    own = {path.name: path.read_text(encoding="utf-8") for path in (TEMPLATES / language).iterdir()}
    assert set(own) == set(english) and len(own) % 3 == 0
    for name, text in own.items():
        wanted = placeholders(english[name]) - {"{{lastName}}"}
        assert placeholders(text) - {"{{lastName}}"} == wanted, f"{language}/{name}"
        assert language == "en" or text != english[name]
        if name.endswith(".html"):
            assert re.search(rf'<html lang="{language}(-[A-Z]+)?">', text)


class Texts(html.parser.HTMLParser):
    """Every text of a page, blanks run together."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_data(self, data):
        text = re.sub(r"\s+", " ", data).strip()
        if text:
            self.found.add(text)


def joined(source):
    """JavaScript without comments, with the parts of each text put together."""
    return re.sub(r'"\s*\+\s*"', "", re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL))


def texts_of_scripts():
    """What the scripts say: texts of several words that begin with a capital."""
    found = set()
    for path in (WEB / "assets").glob("*.js"):
        if not path.name.startswith("texts-"):
            source = joined(path.read_text(encoding="utf-8"))
            for plain, pattern in re.findall(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`', source):
                text = re.sub(r"\$\{.*?\}", "1", plain or pattern).strip()
                if re.match(r"[A-Z].* ", text):
                    found.add(text)
    return found


@pytest.mark.parametrize("table", sorted(path.name for path in (WEB / "assets").glob("texts-*.js")))
def test_every_table_of_the_pages_has_every_text(table):
    source = joined((WEB / "assets" / table).read_text(encoding="utf-8"))
    known = dict(re.findall(r'^\s*\[?"((?:[^"\\]|\\.)*)"\]?:\s*"((?:[^"\\]|\\.)*)",$', source, re.MULTILINE))
    # Pages with scripts of their own have their texts elsewhere; that of the interface is as English as the document.
    pages = [text for page in WEB.glob("*.html") if 'src="assets/' in (text := page.read_text(encoding="utf-8"))]
    assert len(pages) >= 4
    wanted = texts_of_scripts().union(*(Texts(text).found for text in pages))
    assert len(wanted) > 80
    missing = {text for text in wanted if re.sub(r"\d+", "{}", text) not in known}
    assert not missing, sorted(missing)
    for text, translation in known.items():
        assert translation and text.count("{}") == translation.count("{}"), text
    language = table[len("texts-"):-len(".js")]
    assert f'"{language}"' in (WEB / "assets" / "config.js").read_text() and language in LANGUAGES


def test_refusals_that_pages_show_are_those_of_the_service():
    """The sentences of the service in a table are still those that it says."""
    said = (TOP / "include" / "base" / "errors.def").read_text()
    table = joined((WEB / "assets" / "texts-de.js").read_text(encoding="utf-8"))
    part = table[table.index('"The password does not follow the rules'):]
    sentences = re.findall(r'^\s*\[?"((?:[^"\\]|\\.)*)"\]?:', part, re.MULTILINE)
    assert len(sentences) > 5 and all(sentence in said for sentence in sentences)
