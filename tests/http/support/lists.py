# SPDX-License-Identifier: MIT
"""Every list that has pages: how it is asked, and how rows come into it and go, typed into the database by thousands.

A list's rows have numbers. The number decides where a row stands in the order, so a test chooses where rows appear."""

import dataclasses
import random

from support.database import key

# The moment of row 0, in milliseconds; the rows, a second apart, all lie before this service was written.
FIRST_TIME = 0x019400000000
LAST = 30_000_000
START, END = "2024-12-25T22:00:00.000Z", "2025-12-01T00:00:00.000Z"
USERS = "/customers/organisations/users"
FILES = "/system/files"
AUDIT = "/system/audit"
ORGANISATIONS = "/customers/organisations"
# The statement that adds the rows {numbers} of one owner; {id}, {owner} and {home} are expressions for bytes.
FILE_ROWS = (
    "INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, tags, created_at)"
    " SELECT {id}, {home}, {owner}, 'files', 'misc', CONCAT('many ', LPAD(seq, 8, '0')), UNHEX(SHA2({id}, 256)), seq,"
    " 'text/plain', 'many', FROM_UNIXTIME({milliseconds} / 1000) FROM {numbers}")
TAG_ROWS = "INSERT INTO file_tag (file_id, organisation_id, tag) SELECT {id}, {home}, 'many' FROM {numbers}"
USER_ROWS = (
    "INSERT INTO user (id, organisation_id, email, email_key, first_name, last_name, status)"
    " SELECT {id}, {home}, CONCAT(LOWER(HEX({id})), '@example.com'), CONCAT(LOWER(HEX({id})), '@example.com'), 'Mia',"
    " 'Member', 'active' FROM {numbers}")
AUDIT_ROWS = (
    "INSERT INTO audit (id, at, action, organisation_id, user_id, target_type, target_id, outcome)"
    " SELECT {id}, FROM_UNIXTIME({milliseconds} / 1000), 'file.upload', {home}, {owner}, 'file', seq, 'success'"
    " FROM {numbers}")
ORGANISATION_ROWS = ("INSERT INTO organisation (id, name, services, status)"
                     " SELECT {id}, CONCAT('Many ', seq), 'inventory', 'active' FROM {numbers}")


@dataclasses.dataclass(frozen=True)
class Listing:
    """One list, asked in one way. `who` names the caller: the owner of the rows' organisation, or an administrator."""

    path: str
    rows: str
    table: str
    parameters: dict = dataclasses.field(default_factory=dict)
    who: str = "owner"
    also: str = None  # a statement for a second table, `file_tag`


OPERATIONS = {
    "listFiles": {
        "newest": Listing(FILES, FILE_ROWS, "file"),
        "all": Listing(FILES, FILE_ROWS, "file", {"status": "all"}),
        "oldest": Listing(FILES, FILE_ROWS, "file", {"sort": "oldest"}),
        "by name": Listing(FILES, FILE_ROWS, "file", {"sort": "name"}),
        "largest": Listing(FILES, FILE_ROWS, "file", {"sort": "largest", "status": "all"}),
        "of a period": Listing(FILES, FILE_ROWS, "file", {"since": START}),
        "of a period by name": Listing(FILES, FILE_ROWS, "file", {"sort": "name", "since": START}),
        "of a period by size": Listing(FILES, FILE_ROWS, "file", {"sort": "largest",
                                                                  "since": START}),
        "whose names begin so": Listing(FILES, FILE_ROWS, "file", {"name": "many"}),
        "whose names begin so, largest": Listing(FILES, FILE_ROWS, "file", {"name": "many", "sort": "largest"}),
        "with a tag": Listing(FILES, FILE_ROWS, "file", {"tag": "many"}, also=TAG_ROWS),
        "with a tag, by name": Listing(FILES, FILE_ROWS, "file", {"tag": "many", "sort": "name"}, also=TAG_ROWS),
    },
    "listUsers": {
        "all": Listing(USERS, USER_ROWS, "user"),
        "active": Listing(USERS, USER_ROWS, "user", {"status": "active"}),
        "found": Listing(USERS, USER_ROWS, "user", {"search": "memb"}),
    },
    "listOrganisations": {
        "all": Listing(ORGANISATIONS, ORGANISATION_ROWS, "organisation", who="administrator"),
        "active": Listing(ORGANISATIONS, ORGANISATION_ROWS, "organisation", {"status": "active"}, "administrator"),
        "found": Listing(ORGANISATIONS, ORGANISATION_ROWS, "organisation", {"search": "many"}, "administrator"),
    },
    "listOwnAuditEntries": {
        "all": Listing("/customers/organisation/audit", AUDIT_ROWS, "audit", {"until": END}),
        "of an action": Listing("/customers/organisation/audit", AUDIT_ROWS, "audit",
                                {"until": END, "action": "file.upload"}),
    },
    "listAuditEntries": {
        "all": Listing(AUDIT, AUDIT_ROWS, "audit", {"until": END}, "administrator"),
        "of an organisation": Listing(AUDIT, AUDIT_ROWS, "audit", {"until": END, "organisationId": "{home}"},
                                      "administrator"),
        "of an action": Listing(AUDIT, AUDIT_ROWS, "audit", {"until": END, "action": "file.upload"}, "administrator"),
        "of an action and organisation": Listing(
            AUDIT, AUDIT_ROWS, "audit", {"until": END, "organisationId": "{home}", "action": "file.upload"},
            "administrator"),
        "of a user": Listing(AUDIT, AUDIT_ROWS, "audit", {"until": END, "userId": "{owner}"}, "administrator"),
    },
}
# Lists of a few rows by their nature: versions of one document that administrators write by hand, links of one file.
SHORT = {"listSettingsVersions", "listFileLinks"}

WAYS = {f"{operation} {name}": one for operation, ways in OPERATIONS.items() for name, one in ways.items()}


class Rows:
    """Rows of one owner, all gone at the end (a context)."""

    def __init__(self, database, owner, listing):
        self.database, self.owner, self.listing = database, owner, listing
        self.mark = f"{random.getrandbits(24):06x}"
        self.tables = ["file_tag", "file"] if listing.table == "file" else [listing.table]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        home = key(self.owner.organisation["id"])
        for table in self.tables:
            column = "file_id" if table == "file_tag" else "id"
            here = "" if table == "organisation" else f" AND organisation_id = x'{home.hex()}'"
            self.database.run(f"DELETE FROM `{table}` WHERE {column} BETWEEN {self.bytes_of(0)}"
                              f" AND {self.bytes_of(LAST)}{here}")

    def bytes_of(self, number):
        return f"UNHEX('{self.identity(number).replace('-', '')}')"

    def identity(self, number):
        """The id of a row as replies write it. Its time is that of its number, a second apart."""
        text = f"{FIRST_TIME + number * 1000:012x}7{self.mark[:3]}8{self.mark[3:]}{number:012x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def add(self, first, last, step=1):
        """Adds the rows from one number to another."""
        words = {
            "id": f"UNHEX(CONCAT(LPAD(HEX({FIRST_TIME} + seq * 1000), 12, '0'), '7{self.mark[:3]}8{self.mark[3:]}',"
                  " LPAD(HEX(seq), 12, '0')))",
            "home": f"x'{key(self.owner.organisation['id']).hex()}'", "owner": f"x'{key(self.owner.id).hex()}'",
            "milliseconds": f"({FIRST_TIME} + seq * 1000)", "numbers": f"seq_{first}_to_{last}_step_{step}"}
        self.database.run(self.listing.rows.format(**words))
        if self.listing.also:
            self.database.run(self.listing.also.format(**words))

    def remove(self, *numbers):
        """Takes single rows away."""
        places = ", ".join(map(self.bytes_of, numbers))
        for table in self.tables:
            self.database.run(f"DELETE FROM `{table}` WHERE {'file_id' if table == 'file_tag' else 'id'} IN ({places})")


def page(listing, accounts, owner, **more):
    """One page of a list, asked by whom it belongs to."""
    marks = {"{home}": owner.organisation["id"], "{owner}": owner.id}
    parameters = {name: marks.get(value, value) for name, value in listing.parameters.items()}
    caller = owner if listing.who == "owner" else accounts.administrator
    return caller.get(listing.path, params={**parameters, **more}, status=200).json()
