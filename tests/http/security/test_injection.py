# SPDX-License-Identifier: MIT
"""Texts that are words of SQL, of a shell, of a path or of a template, in every parameter of a path, every parameter of
a query and every text of a JSON body that the OpenAPI document knows: none is taken for more than a text, and no answer
says a word of what is inside."""

import itertools
import random
import re
import urllib.parse
import uuid

from support import files, samples
from support.accounts import fresh_email
from support.multipart import Part
from support.runs.effort import cases

# A text that is carried out sleeps for longer than the client waits for any answer.
BEGINNINGS = ["'", '"', "`", "')", "'))", '")', "1", "\\'", "%27", "' --"]
GOING_ON = [" OR 1=1 -- ", " OR '1'='1", " UNION SELECT NULL, version() -- ", "; DROP TABLE user; -- ",
            " AND SLEEP(99) -- ", " OR BENCHMARK(9999999999, MD5(1)) -- ", " INTO OUTFILE '/tmp/x' -- ",
            " AND EXTRACTVALUE(1, CONCAT(0x7e, user())) -- ", "; UPDATE user SET permissions = '*:*:a' -- ",
            " LIMIT 0 UNION ALL SELECT token_hash FROM refresh_token #"]
OTHERS = ["%", "_", "\\", "*", "?", "../../../etc/passwd", "${jndi:ldap://127.0.0.1/x}", "{{7*7}}", "%s%s%n",
          "$(sleep 99)", "`sleep 99`", "| sleep 99", "&& sleep 99;", "<?php phpinfo();",
          "\u02bc OR 1=1 -- ", "\uff07 OR 1=1 -- ", "0x27", "CHAR(39)", "\u2019; SELECT 1", "/*!50000 SLEEP(99)*/"]
TEXTS = [beginning + rest for beginning in BEGINNINGS for rest in GOING_ON] + OTHERS
# What an answer that refuses something never says.
INSIDE = re.compile(r"\b(SELECT|UPDATE|INSERT|UNION|errno|SQLSTATE|MariaDB|MySQL|Landlock)\b|SQL syntax|"
                    r"/(usr|etc|var|tmp|home|dev|run)/|\.[ch]:\d|\b0x[0-9a-f]{6}|: No such|uid=")
# Rows that no request of this test may touch: those of another customer, and what everybody's rights are made of.
UNTOUCHED = ("SELECT * FROM role ORDER BY id", "SELECT * FROM role_permission ORDER BY 1, 2",
             "SELECT id, email, permissions, status FROM user WHERE organisation_id = %s ORDER BY id",
             "SELECT id, name, status FROM organisation WHERE id = %s")
# They would change what other tests share; tests/http/settings and tests/http/accounts look at them.
LEFT_OUT = {"PUT /system/settings"}
OF_THE_CUSTOMER_ALONE = {"PATCH /customers/organisation"}
LIFT_EVERY = 10


def texts_of(example, path=()):
    """The places of all texts in an example of a body."""
    if isinstance(example, str):
        yield path
    inner = example.items() if isinstance(example, dict) else enumerate(example) if isinstance(example, list) else ()
    for name, value in inner:
        yield from texts_of(value, (*path, name))


def put(example, path, text):
    """A copy of the example with another text at that place."""
    if not path:
        return text
    found = dict(example) if isinstance(example, dict) else list(example)
    found[path[0]] = put(found[path[0]], path[1:], text)
    return found


def places(document):
    """(method, template, whether a token is needed, parameters, example, where, name) of each place that takes a
    text."""
    for method, template, operation in document.operations():
        if f"{method} {template}" in LEFT_OUT:
            continue
        parameters = [document.resolve(one) for one in operation.get("parameters", [])]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        rest = document.needs_token(operation), parameters, body.get("example")
        for one in parameters:
            if one["in"] in ("path", "query"):
                yield method, template, *rest, one["in"], one["name"]
        for path in texts_of(body.get("example")):
            yield method, template, *rest, "body", path


def request(place, text):
    """Path and arguments of a request with the text at that place, and what else it needs as the document has it."""
    _, template, _, parameters, example, where, name = place
    path = template
    for one in parameters:
        if one["in"] == "path":
            value = text if (where, name) == ("path", one["name"]) else str(uuid.uuid4())
            path = path.replace(f"{{{one['name']}}}", urllib.parse.quote(value, safe=""))
    arguments = {"headers": {"Tus-Resumable": "1.0.0"}} if "/uploads" in template else {}
    if where == "query":
        arguments["params"] = {name: text}
    if example is not None:
        fresh = {**example, "email": fresh_email("injected")} if "email" in example else example
        arguments["json"] = put(fresh, name, text) if where == "body" else fresh
    return path, arguments


def check(reply, sent):
    """The answer is no failure, and tells nothing of what is inside."""
    assert reply.status_code < 500, f"{sent}: {reply.status_code} {reply.text}"
    said = reply.text if reply.status_code >= 400 else ""
    assert not INSIDE.search(said), f"{sent}: {said}"


def drawn():
    """All texts again and again, from another order each time."""
    return itertools.chain.from_iterable(random.sample(TEXTS, len(TEXTS)) for _ in itertools.count())


def test_no_text_is_taken_for_more_than_a_text(api, document, database, customer, other, administrator):
    assert len(set(TEXTS)) == 120
    identity = uuid.UUID(other.organisation["id"]).bytes

    def rows():
        return [database.run(query, *([identity] if "%s" in query else [])) for query in UNTOUCHED]

    before, text, tried = rows(), drawn(), 0
    for place in places(document):
        alone = f"{place[0]} {place[1]}" in OF_THE_CUSTOMER_ALONE
        for account in (customer, ) if alone else (customer, administrator):
            for _ in range(cases(1, len(TEXTS))):
                if tried % LIFT_EVERY == 0:
                    database.lift_throttles()
                path, arguments = request(place, next(text))
                reply = api.call(place[0], path, token=account.token if place[2] else None, edge=True, **arguments)
                check(reply, f"{place[0]} {path} {arguments}")
                tried += 1
    assert tried > 150
    assert rows() == before


def upload_with(field, text):
    """The parts of an upload with the text in one of its fields."""
    parts = files.form(samples.text(), text if field == "filename" else "given.txt")
    return [*(part for part in parts if part.name != field), *([] if field == "filename" else [Part(field, text)])]


def test_no_field_of_an_upload_is_taken_for_more_than_a_text(database, customer):
    before = database.run("SELECT * FROM role_permission ORDER BY 1, 2")
    for field in ("filename", "bucket", "type", "name", "tags", "file"):
        for text in random.sample(TEXTS, cases(20, len(TEXTS))):
            check(files.send(customer, upload_with(field, text), edge=True), f"{field}: {text}")
    assert database.run("SELECT * FROM role_permission ORDER BY 1, 2") == before


def test_no_header_is_taken_for_more_than_a_text(api, customer, stored):
    record, _ = stored
    headers = ("Accept-Language", "If-Match", "If-None-Match", "Origin", "Range", "User-Agent",
               "X-Forwarded-For", "X-Request-Id")
    for header in headers:
        for text in random.sample(TEXTS, cases(10, len(TEXTS))):
            for path in ("/customers/me", f"/system/files/{record['id']}"):
                reply = api.call("GET", path, headers={"Authorization": f"Bearer {customer.token}",
                                                       header: text.encode().decode("latin-1")}, edge=True)
                check(reply, f"{header}: {text}")
