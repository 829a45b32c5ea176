# SPDX-License-Identifier: MIT
"""Makes the people of the tables of escalations: those who try to get more rights, and those on whom they try it."""

import json
import uuid

from support import files, samples
from support.database import key
from support.members import USERS

# Callers beside the owner: what each holds, as its own permissions.
CALLERS = {
    "manager": "cus:user:w", "reader": "cus:user:r", "userAdmin": "cus:user:a", "orgAdmin": "cus:org:a",
    "broad": "cus:*:a inv:*:a log:*:a", "nobody": "", "orgWriter": "cus:org:w"
}
# Targets who hold more than most callers, and their roles.
TARGETS = {"secondAdministrator": ["admin"], "secondOwner": ["owner", "inv-manage"]}


class Cast:
    """The people of the table, in one organisation but for the foreign one and the administrators. Those whom
    others depend on are never targets: should an attempt succeed, it harms that one case only."""

    def __init__(self, accounts, members):
        self.members = members
        self.database = members.database
        self.administrator = members.administrator
        self.owner = accounts.customer()
        self.people = {
            "owner": self.owner, "foreign": accounts.customer(), "administrator": self.administrator,
            "secondAdministrator": members.active(self.administrator, roles=["admin"]),
            "secondOwner": members.active(self.owner,
                                          roles=["owner",
                                                 "inv-manage"]), "member": members.active(self.owner),
            "waiting": members.waiting(self.owner), "disabledOwner": members.active(self.owner,
                                                                                    roles=["owner"])
        }
        self.owner.patch(f"{USERS}/{self.people['disabledOwner'].id}",
                         json={"status": "disabled"},
                         status=200)
        for name, grants in CALLERS.items():
            self.people[name] = members.holding(self.owner, grants)
            assert self.people[name].token

        foreign = self.people["foreign"]
        self.marks = {"{foreign organisation}": foreign.organisation["id"], "{unknown}": str(uuid.uuid4()),
                      "{foreign session}": self.session_of(foreign),
                      "{foreign file}": files.upload(foreign, samples.text(), "theirs.txt")["id"]}

    def whole(self, name):
        """The person, as the table takes it to be, whatever an attempt before has done."""
        person, roles = self.people[name], TARGETS.get(name)
        if roles is not None:
            self.database.set_grants(person.id, "")
            self.database.set_roles(person.id, roles)
            self.members.set_status(person.id, "active")
        return person

    def fill(self, value, caller, target, email):
        """Puts the ids of this run into a body."""
        text = json.dumps(value)
        for mark, one in {**self.marks, "{self}": caller.id, "{target}": target.id, "{email}": email,
                          "{target organisation}": target.organisation["id"]}.items():
            text = text.replace(mark, one)
        if "{target session}" in text:
            text = text.replace("{target session}", self.session_of(target))
        return json.loads(text)

    def session_of(self, person):
        """The id of a session that has not ended."""
        assert person.token
        rows = self.database.run("SELECT id FROM session WHERE user_id = %s AND ended_at IS NULL LIMIT 1",
                                 key(person.id))
        return str(uuid.UUID(bytes=rows[0][0]))

    def state(self, *people):
        """All rows about people and their organisations that a refused request must leave as they are."""
        homes = {person.organisation["id"] for person in people}
        return ({person.id: self.members.snapshot(person.id) for person in people},
                {home: self.database.run("SELECT * FROM organisation WHERE id = %s", key(home)) for home in homes},
                {home: self.database.run("SELECT id, name, status FROM file WHERE organisation_id = %s ORDER BY id",
                                         key(home)) for home in homes})
