# SPDX-License-Identifier: MIT
"""A model of who may change whose roles, permissions and status, to compare the service with: one step after the
other."""

import dataclasses
import itertools
import re

LEVELS = {"r": 1, "w": 2, "a": 3}
NAME = r"[a-z][a-z0-9-]*|\*"
EVERYTHING = "*:*:a"
RESERVED = ("admin", "account-admin")
DONE = (200, "")


def parse(pattern):
    """(module, area, level) of a pattern; None stands for every one."""
    general = re.match(r"([rwx]{1,3}):\*\Z", pattern)
    if general:
        return None, None, max(LEVELS.get(letter, 0) for letter in general[1])
    module, area, letter = re.match(rf"({NAME}):({NAME}):([arw])\Z", pattern).groups()
    return None if module == "*" else module, None if area == "*" else area, LEVELS[letter]


def covers(held, candidate):
    """Whether one of the patterns grants everything that the candidate grants."""
    module, area, level = parse(candidate)
    return level == 0 or any(wide[0] in (None, module) and wide[1] in (None, area) and wide[2] >= level
                             for wide in map(parse, held))


@dataclasses.dataclass(frozen=True)
class Person:
    """What of a user decides, as it is at one moment."""

    home: str
    roles: tuple = ()
    permissions: tuple = ()
    status: str = "active"
    session: bool = True


@dataclasses.dataclass(frozen=True)
class Step:
    """One request. caller None is the operator, who is told no code."""

    caller: str
    target: str
    body: dict


class Model:
    """Decides steps on a state, which is a dict of people by their names."""

    def __init__(self, roles, internal):
        self.roles = roles
        self.internal = internal

    def held(self, person):
        """Effective permissions."""
        return set(person.permissions).union(*(self.roles[role] for role in person.roles))

    def is_owner(self, person):
        return person.status == "active" and "owner" in person.roles

    def is_administrator(self, person):
        return person.status == "active" and person.home == self.internal and EVERYTHING in self.held(person)

    def _grantable(self, held, person):
        roles = all(
            all(covers(held, one) for one in self.roles[role]) and (role not in RESERVED or covers(held, EVERYTHING))
            for role in person.roles)
        return roles and all(covers(held, one) for one in person.permissions)

    def _staff_only(self, person, body):
        """Whether the change leaves a customer's user with the role of internal staff."""
        return ("roles" in body or "permissions" in body) and person.home != self.internal and "admin" in person.roles

    def _refuses_caller(self, caller, target, after, body):
        """What keeps the caller from a change, whatever state the target is in."""
        held = self.held(caller)
        if caller.status != "active" or not caller.session:
            return 401, "auth.tokenRevoked"
        if not covers(held, "cus:user:w"):
            return 403, "auth.permission"
        if caller.home != target.home and not covers(held, "cus:user:a"):
            return 400, "user.unknown"
        if not all(covers(held, one) for one in self.held(target)):
            return 403, "role.notGrantable"
        if ("roles" in body or "permissions" in body) and not self._grantable(held, after):
            return 403, "role.notGrantable"
        return None

    def _takes_last(self, state, name, after):
        before = state[name]
        others = [person for other, person in state.items() if other != name and person.home == before.home]
        return any(is_one(before) and not is_one(after) and not any(map(is_one, others))
                   for is_one in (self.is_owner, self.is_administrator))

    def decide(self, state, step):
        """(status, code) of a step, and the state behind it."""
        body, before = step.body, state[step.target]
        after = dataclasses.replace(before, **{name: tuple(body[name]) for name in ("roles", "permissions")
                                               if name in body})
        if step.caller is not None:
            refusal = self._refuses_caller(state[step.caller], before, after, body)
            if refusal:
                return refusal, state
        if self._staff_only(after, body):
            return (403, "role.notGrantable"), state
        loses = set(before.roles) - set(after.roles) or set(before.permissions) - set(after.permissions)
        if step.caller == step.target and (loses or "status" in body):
            return (409, "user.self"), state
        if "status" in body:
            after = dataclasses.replace(after, status=body["status"],
                                        session=after.session and body["status"] == "active")
        if self._takes_last(state, step.target, after):
            return (409, "user.lastOwner"), state
        return DONE, {**state, step.target: after}

    def play(self, state, steps):
        """The answers of steps taken one after the other, and the state behind them."""
        answers = []
        for step in steps:
            answer, state = self.decide(state, step)
            answers.append((1, "") if step.caller is None and answer != DONE else answer)
        return answers, state

    def order(self, before, steps, answers, after):
        """An order in which the steps give these answers and this state; None: there is none."""
        for order in itertools.permutations(range(len(steps))):
            said, state = self.play(before, [steps[index] for index in order])
            if said == [answers[index] for index in order] and state == after:
                return order
        return None

    def broken(self, before, after):
        """What must never happen between two states."""
        faults = []
        for home in {person.home for person in before.values()}:
            had, has = ([name for name, person in state.items() if person.home == home and self.is_owner(person)]
                        for state in (before, after))
            if had and not has:
                faults.append(f"{home} has lost its last owner")
        if not any(map(self.is_administrator, after.values())):
            faults.append("no administrator is left")
        return faults
