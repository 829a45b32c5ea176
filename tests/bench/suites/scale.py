# SPDX-License-Identifier: MIT
"""Lists, searches and audit pages at ten thousand, a million and five million rows: three databases in the same
MariaDB, each with workers of its own, so that the sizes can take turns."""

import concurrent.futures
import datetime
import os
import pathlib
import re
import subprocess

import measure
import tell
from load import Target
from measure import Comparison
from stack import dashed

SIZES = {"10k": 10_000, "1M": 1_000_000, "5M": 5_000_000}
BASE = "10k"
WORKERS, CONNECTIONS = 2, 4
ROUNDS, SECONDS = 5, 1
SHOWN = "13 or 14"  # by SHARED
GOAL = 1.5
CURSORS = 64
WORDS = """\
Three databases of 10,000, 1,000,000 and 5,000,000 files, audit records, users, organisations and sessions each. One \
organisation has half of the files and audit records; the others share the rest evenly. Every database has \
organisations of 5,000 people, since a search for a part of a name reads all people of the organisation; the other \
organisations are empty. One user has half of the sessions, of which 200 are open. What is rare is there three times. \
MariaDB has a quarter of the machine's memory, 4 GiB at most."""

PAGE = "list of files, first page"
DEEP = "list of files, half-way"
COMMON = "files whose names begin as most do"
RARE = "files whose names begin as three do"
BY_NAME = "list of files by name, first page"
LARGEST = "list of files, largest first, first page"
OF_A_DAY = "files of a day, newest first"
AUDIT = "audit page, first"
AUDIT_DEEP = "audit page, half-way"
AUDIT_RARE = "audit page, three such actions"
OWN = "audit of the own organisation, first page"
OWN_FAILED = "audit of the own organisation, failures, first page"
OWN_OF_A_DAY = "audit of the own organisation, a day"
USERS = "list of users, first page"
SEARCH = "users of whom three are found"
ORGANISATIONS = "list of organisations, first page"
ORGANISATIONS_FOUND = "organisations whose names hold what most do"
SESSIONS = "own sessions"
# What is asked, and what it is compared with at the smallest size.
KINDS = {PAGE: PAGE, DEEP: PAGE, COMMON: COMMON, RARE: RARE, AUDIT: AUDIT, AUDIT_DEEP: AUDIT, AUDIT_RARE: AUDIT_RARE,
         USERS: USERS, SEARCH: SEARCH, BY_NAME: BY_NAME, LARGEST: LARGEST, OF_A_DAY: OF_A_DAY, OWN: OWN,
         OWN_FAILED: OWN_FAILED, OWN_OF_A_DAY: OWN_OF_A_DAY, ORGANISATIONS: ORGANISATIONS,
         ORGANISATIONS_FOUND: ORGANISATIONS_FOUND, SESSIONS: SESSIONS}

ID = "UNHEX(CONCAT('{}', LPAD(HEX({}), 13, '0')))"
# Ids that carry times, six seconds apart.
TIMED = "UNHEX(CONCAT(LPAD(HEX({} + seq * 6000), 12, '0'), '7000800', LPAD(HEX(seq), 13, '0')))"
FIRST_TIME = 0x019400000000
A_DAY = 24 * 60 * 10
READER, ADMINISTRATOR, INTERNAL = 1, 2, "00000000000070008000000000000001"
SHARED = "IF(seq MOD 2 = 0, 1, 2 + (seq DIV 2) MOD {others})"
RARE_ROWS = "seq IN ({rows} DIV 4 * 2 - 2, {rows} DIV 4 * 2, {rows} DIV 4 * 2 + 2)"

PEOPLE = """
INSERT INTO organisation (id, name, services, status)
    SELECT {organisation_seq}, CONCAT('Organisation ', seq), 'inventory', 'active' FROM seq_1_to_{organisations};
INSERT INTO organisation (id, name, services, status) VALUES (UNHEX('{internal}'), 'Internal', '', 'active');
INSERT INTO user (id, organisation_id, email, phone, first_name, last_name, status) VALUES
    ({reader}, {organisation_1}, 'reader@example.com', NULL, 'Rea', 'Der', 'active'),
    ({administrator}, UNHEX('{internal}'), 'administrator@example.com', NULL, 'Ad', 'Ministrator', 'active');
INSERT INTO user_role (user_id, role_id, position) VALUES ({reader}, 'owner', 0), ({administrator}, 'admin', 0);
INSERT INTO session (id, user_id, expires_at) VALUES
    ({reader}, {reader}, UTC_TIMESTAMP(3) + INTERVAL 1 DAY),
    ({administrator}, {administrator}, UTC_TIMESTAMP(3) + INTERVAL 1 DAY);
DROP TRIGGER principal_user_insert;
"""
PARTS = {
    "user": """
INSERT INTO user (id, organisation_id, email, phone, first_name, last_name, status)
    SELECT {user_seq}, {user_organisation}, CONCAT('person', seq, '@example.com'), '+4915112345678',
        IF(seq IN (101, 2501, 4801), 'Zuleika', 'Ada'), 'Lovelace', 'active' FROM seq_3_to_{rows};""",
    "file": """
INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, tags,
        created_at, updated_at)
    SELECT {timed}, {shared}, {reader}, 'files', 'contract', CONCAT(IF({rare}, 'rare ', 'contract '), seq, '.pdf'),
        UNHEX(SHA2(seq, 256)), 10000 + seq * 7919 MOD 1000003, 'application/pdf', '', {moment}, {moment}
        FROM seq_1_to_{rows};""",
    "audit": """
INSERT INTO audit (id, at, action, organisation_id, user_id, target_type, target_id, client_address,
        request_id, outcome)
    SELECT {timed}, {moment},
        IF({rare}, 'settings.update', ELT(1 + seq MOD 10, 'file.upload', 'file.upload', 'file.upload', 'file.upload',
        'file.archive', 'user.login', 'user.login', 'user.login', 'user.login', 'user.loginFailed')), {shared},
        {reader}, 'file', seq, '192.0.2.1', CONCAT('request-', seq), IF(seq MOD 10 = 9, 'failure', 'success')
        FROM seq_1_to_{rows};""",
    "organisation": """
INSERT INTO organisation (id, name, services, status)
    SELECT {empty_seq}, CONCAT('Customer ', seq), 'inventory', 'active' FROM seq_1_to_{rows};""",
    "session": """
INSERT INTO session (id, user_id, created_at, expires_at, ended_at)
    SELECT {session_seq}, IF(seq MOD 2 = 0, {reader}, {user_seq}), {moment}, UTC_TIMESTAMP(3) + INTERVAL 1 DAY,
        IF(seq MOD 2 = 0 AND seq > 400, UTC_TIMESTAMP(3), NULL) FROM seq_3_to_{rows};""",
}


def fill(stack, name, rows):
    """The database's rows, once a state folder. The parts are independent of each other and made side by side."""
    if stack.sql("SELECT COUNT(*) FROM session", name).strip() != "0":
        return
    print(f"  making {rows} rows of each kind", flush=True)
    organisations = max(2, rows // 5000)
    words = {"rows": rows, "organisations": organisations, "internal": INTERNAL,
             "moment": f"FROM_UNIXTIME({FIRST_TIME} / 1000 + seq * 6)",
             "organisation_seq": ID.format("0193000000017000800", "seq"),
             "organisation_1": ID.format("0193000000017000800", 1),
             "user_organisation": ID.format("0193000000017000800", f"LEAST({organisations}, 1 + seq DIV 5000)"),
             "user_seq": ID.format("0193000000027000800", "seq"),
             "session_seq": ID.format("0193000000037000800", "seq"),
             "empty_seq": ID.format("0193000000047000800", "seq"), "timed": TIMED.format(FIRST_TIME),
             "reader": f"UNHEX('{person(READER)}')", "administrator": f"UNHEX('{person(ADMINISTRATOR)}')",
             "shared": ID.format("0193000000017000800", SHARED.format(others=organisations - 1)),
             "rare": RARE_ROWS.format(rows=rows)}
    stack.sql(PEOPLE.format(**words), name)
    quick = "SET SESSION unique_checks = 0, foreign_key_checks = 0;"
    with concurrent.futures.ThreadPoolExecutor(len(PARTS)) as pool:
        list(pool.map(lambda part: stack.sql(quick + part.format(**words), name), PARTS.values()))
    stack.sql("ANALYZE TABLE user, file, audit, organisation, session", name)


def person(number):
    """A user's id in hexadecimal digits, and that of the session."""
    return f"0193000000027000800{number:013x}"


def half_way(rows, identity):
    """Cursors round the middle of the rows."""
    return [dashed(identity(rows // 2 - rows // 8 + number * rows // (4 * CURSORS))) for number in range(CURSORS)]


def timed(number):
    """An id that carries its time."""
    return f"{FIRST_TIME + number * 6000:012x}7000800{number:013x}"


def moment(number):
    """When a row was made, as the interface writes it."""
    return datetime.datetime.fromtimestamp(FIRST_TIME / 1000 + number * 6, datetime.timezone.utc).strftime("%FT%TZ")


class Memory:
    """A context: MariaDB with more memory, for the rows, and quicker to fill."""

    def __init__(self, stack):
        self.stack = stack
        self.before = stack.sql("SELECT @@innodb_buffer_pool_size, @@innodb_log_file_size").split()

    def __enter__(self):
        size = min(4 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)
        self.stack.sql(f"SET GLOBAL innodb_buffer_pool_size = {size}; SET GLOBAL innodb_log_file_size = {1 << 30};"
                       "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
        return self

    def filled(self):
        """From now on, every commit is durable again."""
        self.stack.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")

    def __exit__(self, *_):
        self.stack.sql(f"SET GLOBAL innodb_flush_log_at_trx_commit = 1; SET GLOBAL innodb_log_file_size = "
                       f"{self.before[1]};SET GLOBAL innodb_buffer_pool_size = {self.before[0]}")


def database(stack, size):
    """A database of its own, migrated and filled. Returns its configuration."""
    name = f"scale_{size.lower()}"
    configuration = pathlib.Path(stack.facts["configuration"]).read_text(encoding="utf-8")
    configuration = re.sub(r"(?m)^(file = .*/)(cache|metrics)$", rf"\g<1>\g<2>-{name}", configuration)
    configuration, count = re.subn(r"(\[database\][^[]*\nname = )\S+", rf"\g<1>{name}", configuration)
    assert count == 1
    path = stack.folder / f"{name}.conf"
    path.write_text(configuration, encoding="utf-8")
    subprocess.run([stack.facts["gatehousectl"], "--config", path, "migrate"], stdout=subprocess.DEVNULL, check=True)
    fill(stack, name, SIZES[size])
    return path


def targets(stack, size, configuration):
    """What is asked of one size, and the pool that answers."""
    root, address = stack.more_workers(f"scale_{size.lower()}", WORKERS, configuration=configuration)
    rows = SIZES[size]
    reader, administrator = (stack.tokens(f"{who}-{size}.txt", 1, configuration, [[person(number)] * 2])
                             for who, number in (("reader", READER), ("administrator", ADMINISTRATOR)))
    files, audit, users = "/system/files?", "/system/audit?", "/customers/organisations/users?"
    own, day = "/customers/organisation/audit?", f"since={moment(rows // 2)}&until={moment(rows // 2 + A_DAY)}"
    asked = {
        PAGE: ([files + "limit=25"], reader),
        DEEP: ([f"{files}limit=25&cursor={cursor}" for cursor in half_way(rows, timed)], reader),
        COMMON: ([files + "limit=25&name=contract"], reader),
        RARE: ([files + "limit=25&name=rare"], reader),
        AUDIT: ([audit + "limit=25"], administrator),
        AUDIT_DEEP: ([f"{audit}limit=25&cursor={cursor}" for cursor in half_way(rows, timed)], administrator),
        AUDIT_RARE: ([audit + "limit=25&action=settings.update"], administrator),
        BY_NAME: ([files + "limit=25&sort=name"], reader),
        LARGEST: ([files + "limit=25&sort=largest"], reader),
        OF_A_DAY: ([f"{files}limit=25&{day}"], reader),
        OWN: ([own + "limit=25"], reader),
        OWN_FAILED: ([own + "limit=25&outcome=failure"], reader),
        OWN_OF_A_DAY: ([f"{own}limit=25&{day}"], reader),
        ORGANISATIONS: (["/customers/organisations?limit=25"], administrator),
        ORGANISATIONS_FOUND: (["/customers/organisations?limit=25&search=ustomer"], administrator),
        SESSIONS: (["/customers/sessions"], reader),
        USERS: ([users + "limit=25"], reader),
        SEARCH: ([users + "limit=25&search=uleik"], reader),
    }
    found = [Target(f"{kind}, {size}", address, stack.note(f"scale-{size}-{number}.txt", lines), tokens)
             for number, (kind, (lines, tokens)) in enumerate(asked.items()) if size != BASE or KINDS[kind] == kind]
    for target in found:
        target.look()
    return root, found


def is_wanted(target, size, only):
    """Whether a target is driven; those at the base are always, since the others are compared with them."""
    return not only or only in target.name or size == BASE


def told(size):
    """Why staff wait for a page of others' rows: each organisation learns of it by a row in its own trail."""

    def why(measured):
        deep, first = (measure.work(measured, f"{kind}, {size}", CONNECTIONS) for kind in (AUDIT_DEEP, AUDIT))
        return (f"its 25 rows are those of {SHOWN} organisations, and each of these gets a row that says who looked: "
                f"{deep - first:.0f} us of processor time more than {AUDIT}, {size}, which shows such rows only.")

    return why


def comparisons(sizes, there):
    """Each kind of list at each size that was driven, against the same with few rows."""
    return [Comparison(f"{kind}, {size}", f"{base}, {BASE}", GOAL, CONNECTIONS, False,
                       why=told(size) if kind == AUDIT_DEEP else None)
            for kind, base in KINDS.items() for size in sizes if size != BASE and f"{kind}, {size}" in there]


def curves_of(measured, sizes, there):
    """The times of each kind over the number of rows."""
    series = {kind: [(SIZES[size], tell.latency(measured[CONNECTIONS][f"{kind}, {size}"], "50")) for size in sizes
                     if f"{kind}, {size}" in there] for kind in KINDS}
    return [{"title": "p50 in ms by rows (both axes logarithmic)", "log_x": True, "log_y": True,
             "ticks": [(SIZES[size], size) for size in sizes],
             "series": {kind: one for kind, one in series.items() if one}}]


def run(stack, options):
    """The suite."""
    rounds, seconds = options.rounds or ROUNDS, options.seconds or SECONDS
    roots, driven = [], []
    sizes = [size for size, rows in SIZES.items() if rows <= options.rows or size == BASE]
    with Memory(stack) as memory:
        configurations = {size: database(stack, size) for size in sizes}
        memory.filled()
        for size, configuration in configurations.items():
            root, found = targets(stack, size, configuration)
            roots.append(root)
            driven += [target for target in found if is_wanted(target, size, options.only)]
        measured = measure.interleave(stack, driven, (CONNECTIONS, ), rounds, seconds)
        stack.finish(roots)
        if not stack.kept:
            stack.sql("".join(f"DROP DATABASE scale_{size.lower()};" for size in sizes))
    there = {target.name for target in driven}
    return {"title": "Many rows", "notes": [WORDS], "rounds": rounds, "seconds": seconds, "measured": measured,
            "curves": curves_of(measured, sizes, there), "faults": measure.faults(measured),
            "comparisons": measure.describe(measured, comparisons(sizes, there))}
