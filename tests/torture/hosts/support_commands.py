# SPDX-License-Identifier: MIT
"""The operator's commands: how each is called so that it has something to do."""

from providers import support_remote as remote
from support_prepared import (all_purged, all_there, archived_files, back_to_the_old_key, beside, complete_backup,
                              damage_that_is_known, damaged, empty_host, export_of_one, exported, few_keys,
                              forgotten_password, half_restored, has_keys, interrupted_backup, key_in_use,
                              key_out_of_use, known_faults, last_version, mail_is_sent, moved, new_admin, no_secret,
                              own_secret, person_moved, put_back, repaired, restored, secret_made, status_is,
                              to_directory, two_keys)

# They ask neither the database nor the store.
TALKERS = ("routes", "openapi", "version")


class Command:
    """One way to call a command. `prepare(site)` makes what it is to find, and gives the arguments behind its name;
    `done(site, words)` looks at what a good run has made of it. `goes_on`: the run after one that met a fault gets the
    same arguments and finds what that has left."""

    def __init__(self, name, prepare=lambda site: (), done=lambda site, words: None, goes_on=False, configuration=None,
                 environment=lambda site: {}, statements=True):
        self.name, self.prepare, self.done, self.goes_on = name, prepare, done, goes_on
        self.configuration, self.environment, self.statements = configuration, environment, statements

    def words(self, site):
        return (*self.name.split(), *self.prepare(site))

    def again(self, site, words):
        """The arguments of the run after one that met a fault."""
        return words if self.goes_on else self.words(site)


COMMANDS = {
    "check": Command("check"),
    "check as JSON": Command("check", lambda site: ("--json", )),
    "an e-mail to try": Command("check", lambda site: ("--mail", "somebody@example.org"), statements=False),
    "migrate": Command("migrate", lambda site: ("--sql", str(site.host.folder / "sql"))),
    "migrate without a secret": Command("migrate", no_secret, secret_made, goes_on=True, environment=own_secret,
                                        statements=False),
    "grants": Command("grants", statements=False),
    "grants as JSON": Command("grants", lambda site: ("--json", ), statements=False),
    "create-admin": Command("create-admin", new_admin, lambda site, words: site.user(words[2], "id")),
    "jobs": Command("jobs", forgotten_password, mail_is_sent, goes_on=True),
    "jobs that wait": Command("jobs", lambda site: ("--list", )),
    "jobs that wait, as JSON": Command("jobs", lambda site: ("--list", "--json"), statements=False),
    "unlock": Command("unlock", lambda site: (remote.ADMIN, )),
    "mirror": Command("mirror"),
    "fsck": Command("fsck", lambda site: ("--min-age", "0", "--rate", "1000")),
    "fsck that finds": Command("fsck", damaged("--min-age", "0", "--json"), put_back),
    "fsck that goes on": Command("fsck", lambda site: ("--min-age", "0", "--resume"), statements=False),
    "fsck that repairs": Command("fsck", damaged("--repair", "--min-age", "0", "--from", "{backup}"), repaired,
                                 goes_on=True),
    "scrub": Command("scrub", lambda site: ("--now", )),
    "scrub that finds": Command("scrub", damaged("--now"), put_back),
    "scrub of what was damaged": Command("scrub", damage_that_is_known, repaired, goes_on=True),
    "scrub as JSON": Command("scrub", damaged("--now", "--json", "--rate", "1000"), put_back, statements=False),
    "state of the scrub": Command("scrub status"),
    "state of the scrub as JSON": Command("scrub status", known_faults, put_back, statements=False),
    "uploads": Command("uploads list"),
    "uploads as JSON": Command("uploads list", lambda site: ("--json", ), statements=False),
    "end of uploads": Command("uploads expire"),
    "purge": Command("purge", archived_files, all_purged, goes_on=True),
    "purge of the audit trail": Command("purge", lambda site: ("--audit", "--older-than", "100")),
    "purge that is only told": Command("purge", lambda site: archived_files(site, "--dry-run"), all_there),
    "purge as JSON": Command("purge", lambda site: archived_files(site, "--json"), all_purged, goes_on=True,
                             statements=False),
    "move to the S3 store": Command("blobs move", lambda site: ("--to", "s3"), moved, goes_on=True),
    "move to the directory": Command("blobs move", to_directory, moved, goes_on=True),
    "backup": Command("backup", lambda site: ("--include-secret", site.fresh("backup")), complete_backup, goes_on=True),
    "backup with links": Command("backup", lambda site: ("--link", "--json", site.fresh("backup")), complete_backup,
                                 goes_on=True),
    "backup that goes on": Command("backup", interrupted_backup, complete_backup, goes_on=True),
    "restore": Command("restore", empty_host, restored, goes_on=True, environment=beside),
    "restore that goes on": Command("restore", half_restored, restored, goes_on=True, environment=beside),
    "restore as JSON": Command("restore", lambda site: (*empty_host(site), "--json"), restored, goes_on=True,
                               environment=beside, statements=False),
    "organisations": Command("organisation list"),
    "organisations as JSON": Command("organisation list", lambda site: ("--json", ), statements=False),
    "an organisation": Command("organisation show", lambda site: (site.organisation, )),
    "change of an organisation": Command("organisation set", lambda site: (site.organisation, "--quota-files", "none")),
    "people": Command("user list"),
    "people as JSON": Command("user list", lambda site: ("--json", ), statements=False),
    "a person": Command("user show", lambda site: (remote.ADMIN, )),
    "enabling": Command("user enable", lambda site: (site.colleague, ), status_is("active")),
    "disabling": Command("user disable", lambda site: (site.colleague, ), status_is("disabled")),
    "roles": Command("user set-roles", lambda site: (site.colleague, "none")),
    "unused permissions": Command("permissions unused"),
    "unused permissions as JSON": Command("permissions unused", lambda site: ("--json", ), statements=False),
    "settings": Command("settings get"),
    "change of the settings": Command("settings set", lambda site: ("--level", "info")),
    "settings as they were": Command("settings rollback", last_version),
    "versions of the settings": Command("settings history"),
    "versions of the settings as JSON": Command("settings history", lambda site: ("--json", ), statements=False),
    "keys of the cache": Command("cache keys", statements=False),
    "eviction from the cache": Command("cache evict", lambda site: ("--secrets", )),
    "an empty cache": Command("cache flush"),
    "what a provider needs": Command("identity setup", configuration="cognito", statements=False),
    "export of people": Command("identity export", lambda site: (site.fresh("people"), ), exported),
    "import of people": Command("identity import", export_of_one, person_moved, configuration="cognito", goes_on=True),
    "import that is only told": Command("identity import", lambda site: (*export_of_one(site), "--dry-run", "--json"),
                                        configuration="cognito"),
    "new keys": Command("rotate-keys", few_keys),
    "a new secret": Command("rotate-secret", lambda site: ("--add", ), has_keys(0, (2, 3)), statements=False),
    "use of the new secret": Command("rotate-secret", two_keys, has_keys(1)),
    "everything sealed anew": Command("rotate-secret", key_in_use, back_to_the_old_key, goes_on=True),
    "the end of the old secret": Command("rotate-secret", key_out_of_use, back_to_the_old_key, goes_on=True),
}
