# SPDX-License-Identifier: MIT
"""Tests the list of users with its filters and pages, and GET and PATCH of one user."""

import uuid

import pytest

from support import members as team
from support.accounts import fresh_email
from support.client import failing, shape
from support.database import key
from support.members import STATUSES, USERS

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def page(account, **filters):
    """One page of the list."""
    return account.get(USERS, params=filters, status=200).json()


def listed(account, **filters):
    """Every user that the list gives, all pages."""
    items, cursor = [], None
    while True:
        body = page(account, **filters, **({"cursor": cursor} if cursor else {}))
        assert set(body) == {"items", "nextCursor"}
        items += body["items"]
        cursor = body["nextCursor"]
        if cursor is None:
            return items


def ids(items):
    return [item["id"] for item in items]


def insert(database, organisation, first, last, email=None, status="active"):
    """Types a user's row in, as the mariadb prompt would; returns its id."""
    identity = str(
        uuid.UUID(int=database.run("SELECT UNIX_TIMESTAMP(NOW(3)) * 1000")[0][0].__int__() << 80
                  | uuid.uuid4().int & (1 << 80) - 1))
    database.run(
        "INSERT INTO `user` (id, organisation_id, email, first_name, last_name, status)"
        " VALUES (%s, %s, %s, %s, %s, %s)", key(identity), key(organisation), email or fresh_email("row"),
        first, last, status)
    return identity


@pytest.fixture(scope="module")
def boss(accounts):
    """The owner of an organisation whose users other modules do not count."""
    return accounts.customer()


@pytest.fixture(scope="module")
def staff(members, boss):
    """Seven members in several states."""
    made = [members.active(boss, firstName=f"Staff {number}", lastName="Person") for number in range(5)]
    boss.patch(f"{USERS}/{made[4].id}", json={"status": "disabled"}, status=200)
    return made + [members.waiting(boss), members.waiting(boss)]


@pytest.fixture()
def member(members, boss):
    return members.active(boss, phone="+442071838750")


def patch(account, target, sent, **arguments):
    return account.patch(f"{USERS}/{target.id}", json=sent, **arguments)


# ---- the list -------------------------------------------------------------------------------------------


def test_the_list_holds_every_user_of_the_organisation_with_all_members(boss, staff):
    items = listed(boss)
    assert {boss.id, *(one.id for one in staff)} <= set(ids(items)) and len(set(ids(items))) == len(items)
    for item in items:
        assert set(item) == team.MEMBERS and item["organisationId"] == boss.organisation["id"]
        assert item["status"] in STATUSES
    assert boss.get("/customers/me", status=200).json()["user"] in items


def test_nobody_of_another_organisation_is_in_it(boss, staff, other, members):
    foreign = members.active(other)
    assert not {foreign.id, other.id} & set(ids(listed(boss)))
    assert not {boss.id, *(one.id for one in staff)} & set(ids(listed(other)))
    assert not listed(boss, search=foreign.email)


@pytest.mark.parametrize("status", STATUSES)
def test_status_filters(boss, staff, accounts, status):
    invited = accounts.invited()
    accounts.database.move(invited.id, boss.organisation["id"])
    everyone = listed(boss)
    found = listed(boss, status=status)
    assert found == [item for item in everyone if item["status"] == status] and found


def test_provisioning_users_are_never_shown(boss, database, administrator):
    hidden = insert(database, boss.organisation["id"], "Half", "Made", status="provisioning")
    assert hidden not in ids(listed(boss)) and not listed(boss, search="Half")
    for account in (boss, administrator):
        account.get(f"{USERS}/{hidden}", status=400, code="user.unknown")
        account.patch(f"{USERS}/{hidden}", json={"firstName": "X"}, status=400, code="user.unknown")
    database.run("DELETE FROM `user` WHERE id = %s", key(hidden))


@pytest.mark.parametrize(
    "parameters, paths",
    [({"limit": "0"}, {"limit"}), ({"limit": "101"}, {"limit"}), ({"limit": "-1"}, {"limit"}),
     ({"limit": "ten"}, {"limit"}), ({"limit": "5.0"}, {"limit"}), ({"limit": ""}, {"limit"}),
     ({"limit": " 5"}, {"limit"}), ({"limit": "0x5"}, {"limit"}),
     ({"limit": "99999999999999999999"}, {"limit"}), ({"cursor": "nonsense"}, {"cursor"}),
     ({"cursor": ""}, {"cursor"}), ({"cursor": "' OR 1=1"}, {"cursor"}),
     ({"status": "provisioning"}, {"status"}), ({"status": "Active"}, {"status"}),
     ({"status": "all"}, {"status"}), ({"organisationId": "mine"}, {"organisationId"}),
     ({"colour": "blue"}, {"colour"}),
     ({"limit": "0", "status": "x", "cursor": "!", "offset": "3"}, {"limit", "status", "cursor", "offset"}),
     ({"Limit": "5"}, {"Limit"}), ({"search": "x" * 5000}, {"search"})])
def test_bad_parameters_are_named(boss, parameters, paths):
    boss.get(USERS, params=parameters, status={400, 414}, edge="search" in parameters)
    if "search" not in parameters:
        boss.get(USERS, params=parameters, status=400, code="request.invalid", paths=paths)


def test_a_parameter_sent_twice_is_refused(boss):
    boss.get(f"{USERS}?limit=5&limit=6", status=400)


def test_pages_are_as_long_as_asked_for_and_hold_everyone_once(boss, staff):
    everyone = ids(listed(boss))
    for limit in (1, 2, 3, 5, 100):
        items, cursor, sizes = [], None, []
        while True:
            body = page(boss, limit=limit, **({"cursor": cursor} if cursor else {}))
            items += ids(body["items"])
            sizes.append(len(body["items"]))
            cursor = body["nextCursor"]
            if cursor is None:
                break
        assert items == everyone and all(size == limit for size in sizes[:-1]) and 0 < sizes[-1] <= limit


def test_a_page_holds_25_by_default(accounts, database):
    boss = accounts.customer()
    for number in range(30):
        insert(database, boss.organisation["id"], f"Row {number}", "Many")
    first = page(boss)
    assert len(first["items"]) == 25 and first["nextCursor"]
    assert len(page(boss, cursor=first["nextCursor"])["items"]) == 6


def test_pages_stay_stable_while_users_come_and_change(accounts, members, database):
    """Whoever was there when the first page was read is seen exactly once, whatever happens meanwhile."""
    boss = accounts.customer()
    there = [boss.id] + [insert(database, boss.organisation["id"], f"Row {n}", "Stable") for n in range(12)]
    seen, cursor, number = [], None, 0
    while True:
        body = page(boss, limit=3, **({"cursor": cursor} if cursor else {}))
        seen += ids(body["items"])
        cursor = body["nextCursor"]
        if cursor is None:
            break
        for _ in range(2):
            number += 1
            if number < 9:
                insert(database, boss.organisation["id"], f"New {number}", "Comer")
        database.run("UPDATE `user` SET first_name = 'Renamed', updated_at = UTC_TIMESTAMP(3) WHERE id = %s",
                     key(there[number % len(there)]))
    assert len(set(seen)) == len(seen) and set(there) <= set(seen)


def test_a_cursor_does_not_open_another_organisation(boss, staff, other):
    cursor = page(boss, limit=1)["nextCursor"]
    reply = other.get(USERS, params={"cursor": cursor}, status={200, 400})
    if reply.status_code == 200:
        assert all(item["organisationId"] == other.organisation["id"] for item in reply.json()["items"])


# ---- search ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people(accounts, database):
    """An organisation with names that are hard to search for: (owner, {name: id})."""
    boss = accounts.customer(firstName="Zoltan", lastName="Zeller")
    names = {
        "percent": ("100%", "Sure"), "plain": ("100x", "Sure"), "score": ("snake_case", "Name"),
        "dash": ("snake-case", "Name"), "slash": ("back\\slash", "Name"), "quote": ("O'Brien", "Name"),
        "accent": ("Élodie", "Lefèvre"), "sharp": ("Anna", "GROẞMANN"), "greek": ("Ευγενία", "Παπαδοπούλου"),
        "cyrillic": ("Наташа", "ИВАНОВА"), "emoji": ("Fox 🦊", "Name"), "two": ("Mary Jane", "Watson Parker")
    }
    found = {word: insert(database, boss.organisation["id"], *pair) for word, pair in names.items()}
    found["mail"] = insert(database,
                           boss.organisation["id"],
                           "First",
                           "Last",
                           email=fresh_email("needle_in.hay%x"))
    return boss, found


@pytest.mark.parametrize("text, words", [("100%", {"percent"}), ("%", {"percent", "mail"}), ("100_", set()),
                                         ("snake_case", {"score"}), ("snake", {"score", "dash"}),
                                         ("SNAKE_", {"score"}), ("back\\slash", {"slash"}), ("\\", {"slash"}),
                                         ("\\%", set()), ("o'brien", {"quote"}), ("'", {"quote"}),
                                         ("' OR '1'='1", set()), ("--", set()), ("élodie", {"accent"}),
                                         ("ÉLODIE", {"accent"}), ("LEFÈVRE", {"accent"}),
                                         ("ευγενία", {"greek"}), ("ΕΥΓΕΝΊΑ", {"greek"}),
                                         ("иванова", {"cyrillic"}), ("НАТАША", {"cyrillic"}),
                                         ("🦊", {"emoji"}), ("🐻", set()), ("ry ja", {"two"}),
                                         ("son par", {"two"}), ("needle_in", {"mail"}),
                                         ("NEEDLE_IN.HAY%", {"mail"}), ("needle-in", set()),
                                         ("no such person", set())])
def test_search_is_a_case_blind_part_of_names_or_email_and_takes_nothing_for_a_wildcard(people, text, words):
    boss, found = people
    assert set(ids(listed(boss, search=text))) == {found[word] for word in words}


def test_search_pages_and_joins_with_the_status(people, database):
    boss, found = people
    assert len(page(boss, search="name", limit=2)["items"]) == 2
    hits = set(ids(listed(boss, search="name", limit=2)))
    assert hits == {found[word] for word in ("score", "dash", "slash", "quote", "emoji")}
    database.run("UPDATE `user` SET status = 'disabled' WHERE id = %s", key(found["dash"]))
    assert ids(listed(boss, search="snake", status="disabled")) == [found["dash"]]
    assert ids(listed(boss, search="snake", status="active")) == [found["score"]]
    database.run("UPDATE `user` SET status = 'active' WHERE id = %s", key(found["dash"]))


# ---- who may read ---------------------------------------------------------------------------------------


def test_an_administrator_lists_another_organisation_and_its_own_by_default(administrator, boss, staff):
    found = listed(administrator, organisationId=boss.organisation["id"])
    assert found == listed(boss)
    assert all(item["organisationId"] == administrator.organisation["id"] for item in listed(administrator))


def test_naming_ones_own_organisation_is_allowed_and_another_is_not(boss, other, staff):
    assert listed(boss, organisationId=boss.organisation["id"]) == listed(boss)
    for organisation in (other.organisation["id"], UNKNOWN):
        reply = boss.get(USERS, params={"organisationId": organisation}, status=403, code="auth.permission")
        assert reply.json()["body"]["required"] == "cus:user:a"


def test_reading_needs_read_permission_on_users(api, members, boss, nobody, staff):
    for path in (USERS, f"{USERS}/{staff[0].id}"):
        assert nobody.get(path, status=403, code="auth.permission").json()["body"]["required"] == "cus:user:r"
        api.get(path, status=401, code="auth.tokenMissing")
    reader = members.holding(boss, "cus:user:r")
    assert staff[0].id in ids(listed(reader))
    reader.get(f"{USERS}/{staff[0].id}", status=200)


# ---- one user -------------------------------------------------------------------------------------------


def test_one_user_is_what_the_list_shows(boss, staff):
    for item in listed(boss):
        body = boss.get(f"{USERS}/{item['id']}", status=200).json()
        assert body == {"user": item}


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_foreign_id_answers_as_an_unknown_one(boss, other, members, method):
    foreign = members.active(other)
    before = members.snapshot(foreign.id)
    arguments = {"json": {"firstName": "Mallory"}} if method == "PATCH" else {}
    shapes = [
        shape(
            boss.api.call(method,
                          f"{USERS}/{one}",
                          token=boss.token,
                          status=400,
                          code="user.unknown",
                          **arguments)) for one in (foreign.id, other.id, UNKNOWN)
    ]
    assert shapes[0] == shapes[1] == shapes[2]
    assert members.snapshot(foreign.id) == before


@pytest.mark.parametrize("text", [
    "1", "me", "%20",
    "01890000-0000-7000-8000-0000000000AB", UNKNOWN + "0",
    UNKNOWN.replace("-", ""), "01890000-0000-7000-8000-00000000000g", "null", "..%2f", "%25"
])
@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_malformed_id_is_named(boss, method, text):
    arguments = {"json": {"firstName": "X"}} if method == "PATCH" else {}
    reply = boss.api.call(method,
                          f"{USERS}/{text}",
                          token=boss.token,
                          status=400,
                          code="request.invalid",
                          **arguments)
    assert failing(reply) == {"id": {"format"}}


# ---- patch ----------------------------------------------------------------------------------------------


def test_a_patch_changes_what_it_names_and_nothing_else(boss, members, member):
    before = members.user(member.id)
    for sent in ({"firstName": "Ada"}, {"lastName": "Lovelace"}, {"phone": "+4915112345678"},
                 {"firstName": "Žofie 漢", "lastName": "O'Neill-&b;", "phone": "+12025550123"}):
        body = patch(boss, member, sent, status=200).json()
        assert set(body) == {"user"}
        after = body["user"]
        expected = {**before, **sent}
        assert {**after, "updatedAt": None, "phoneVerified": None} == \
            {**expected, "updatedAt": None, "phoneVerified": None}
        assert after["updatedAt"] > before["updatedAt"] and after == members.user(member.id)
        before = after


def test_phone_null_clears_it(boss, members, member):
    assert members.user(member.id)["phone"] == "+442071838750"
    user = patch(boss, member, {"phone": None}, status=200).json()["user"]
    assert user["phone"] is None and user["phoneVerified"] is False
    assert patch(boss, member, {"phone": None}, status=200).json()["user"]["phone"] is None


def test_another_number_is_not_verified_by_the_one_before(boss, api, accounts):
    invited = accounts.invited()
    body = {**invited.credentials(), "newPassword": "Correct horse battery staple"}
    assert api.post("/customers/login", json=body, status=200).json()["user"]["phoneVerified"] is True
    path = f"{USERS}/{invited.id}"
    administrator = accounts.administrator
    same = administrator.patch(path, json={"phone": "+442071838750"}, status=200).json()["user"]
    assert same["phoneVerified"] is True
    other = administrator.patch(path, json={"phone": "+442071838751"}, status=200).json()["user"]
    assert other["phoneVerified"] is False


@pytest.mark.parametrize(
    "sent, paths",
    [({"firstName": "", "lastName": "", "phone": "12", "roles": "owner", "permissions": 1, "status": 5
       }, {"firstName", "lastName", "phone", "roles", "permissions", "status"}),
     ({"firstName": None}, {"firstName"}), ({"lastName": None}, {"lastName"}), ({"roles": None}, {"roles"}),
     ({"permissions": None}, {"permissions"}), ({"status": None}, {"status"}),
     ({"status": "Active"}, {"status"}), ({"status": ""}, {"status"}),
     ({"firstName": "x" * 101}, {"firstName"}), ({"firstName": "A\r\nB"}, {"firstName"}),
     ({"email": "a@example.com"}, {"email"}), ({"password": "Correct horse battery staple"}, {"password"}),
     ({"firstName": "Fine", "nickname": "x"}, {"nickname"}),
     ({"roles": ["no-such-role", "inv-manage", "Owner"]}, {"roles[0]", "roles[2]"}),
     ({"permissions": ["cus:file:r", "cus:file", "*:*:*"]}, {"permissions[1]", "permissions[2]"}),
     ({"roles": ["nope"], "permissions": ["nope"]}, {"roles[0]", "permissions[0]"})])
def test_a_bad_patch_names_every_failing_path_and_changes_nothing(boss, members, staff, sent, paths):
    before = members.snapshot(staff[0].id)
    patch(boss, staff[0], sent, status=400, code="request.invalid", paths=paths)
    assert members.snapshot(staff[0].id) == before


def test_an_empty_patch_is_a_400(boss, members, staff):
    before = members.snapshot(staff[0].id)
    patch(boss, staff[0], {}, status=400, code="request.invalid")
    assert members.snapshot(staff[0].id) == before


def test_roles_keep_the_order_in_which_they_are_given(boss, members, member):
    for roles in (["log-manage", "inv-manage", "owner"], ["owner", "log-manage"], []):
        assert patch(boss, member, {"roles": roles}, status=200).json()["user"]["roles"] == roles
        assert members.user(member.id)["roles"] == roles


def test_a_patch_needs_write_permission_on_users(api, members, boss, staff):
    reader = members.holding(boss, "cus:user:r")
    before = members.snapshot(staff[0].id)
    reply = patch(reader, staff[0], {"firstName": "X"}, status=403, code="auth.permission")
    assert reply.json()["body"]["required"] == "cus:user:w"
    api.patch(f"{USERS}/{staff[0].id}", json={"firstName": "X"}, status=401, code="auth.tokenMissing")
    assert members.snapshot(staff[0].id) == before


def test_a_patch_without_a_content_type_is_not_read(boss, staff):
    boss.patch(f"{USERS}/{staff[0].id}", data=b'{"firstName":"X"}', status=415)


def test_a_user_may_rename_itself_where_it_may_write(members, boss):
    writer = members.holding(boss, "cus:user:w")
    assert patch(writer, writer, {"firstName": "Self"}, status=200).json()["user"]["firstName"] == "Self"
