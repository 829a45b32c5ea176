# SPDX-License-Identifier: MIT
"""The kinds of tests that speak to a running service."""

import json
import pathlib
import shutil

import counts
import priorities
from lanes import Job
from runner import API_CLIENTS, CLIENTS, DRIVER, FUZZER, LINT, PROVIDER_OF, Runner
from stacks import Stack

NGINX_SHARES = 3
WEB_SHARES = 2
STORE_FILES = ("files/test_archive", "files/test_downloads", "files/test_storage", "uploads/test_resumable_protocol",
               "uploads/test_resumable_breaks", "uploads/test_resumable_rights")


class KindsOfService(Runner):
    """A method a kind, of its name: its jobs."""

    def http(self):
        """Everything once behind nginx, in shares; what depends on the web server or the way of uploads behind the
        others."""
        if self.chosen.web_server:
            return self.shares(self.chosen.web_server, self.chosen.lanes)
        marks = ("", "") if self.chosen.full else ("web_server", "web_server")
        found = self.shares("nginx", NGINX_SHARES)
        found += [self.behind(server, ["--web-server", server], mark) for server,
                  mark in zip(("apache", "apache-fcgid"), marks)]
        found += [self.behind(f"nginx {way}", ["--uploads", way], "upload_mode") for way in ("buffered", "unbuffered")]
        return found + [Job("last http", lambda: self.run_http("http alone", [], "alone"), alone=True)]

    def shares(self, server, number):
        """Several stacks that share out the cases behind one web server."""
        folder = self.share("cases", server)

        def work(index):
            return lambda: self.run_http(f"http behind {server} {index}", ["--web-server", server], "", folder)
        return [Job(f"http {server}", work(index + 1), share=str(folder)) for index in range(number)]

    def behind(self, name, options, mark):
        return Job(f"http {name}", lambda: self.run_http(f"http behind {name}", options, mark))

    def run_http(self, name, options, mark, share=None):
        """One stack and the cases with the mark; those that need the machine for themselves are another job's."""
        marks = mark if mark == "alone" else f"{mark} and not alone" if mark else "not alone"
        # What is measured alone is measured as it is installed.
        passwords = () if mark == "alone" else self.cheap_passwords
        with Stack(self.chosen, self.steps, name, [*options, *passwords]) as stack:
            if stack.ready:
                self.pytest(name, stack, [*self.marked(mark), "-m", marks, *self.chosen.pytest],
                            {"GATEHOUSE_TEST_SHARE": str(share)} if share else {})

    def quickstart(self):
        """A job a file, since a start mostly waits; the providers' own file belongs to another kind."""
        files = [self.tests / "quickstart" / f"test_{name}.py" for name in ("life", "ends", "guides")]
        files += sorted(set(self.tests.glob("quickstart/test_*.py")) - {
            *files, *(self.tests / "quickstart" / f"test_{name}.py" for name in ("providers", "cluster"))})
        return [Job(f"quickstart {path.stem[5:]}", lambda path=path: self.run_quickstart(
            f"quickstart {path.stem[5:]}", [path])) for path in files]

    def providers(self):
        """Each emulator is fetched at its pinned version, and stands behind the same cases."""
        found = [Job(f"{'keycloak' if name == 'keycloak' else 'providers'} {name}",
                     lambda name=name: self.run_provider(name), waits=True)
                 for name in PROVIDER_OF]
        return found + [Job("providers quickstart", self.run_provider_quickstart, waits=True)]

    def run_provider(self, name):
        if not self.fetch(name):
            return
        http = self.tests / "http"
        cases = [http / "providers" / "test_accounts.py", http / "providers" / "test_people.py",
                 http / "providers" / "test_email_change.py",
                 http / "accounts" / "test_states.py", http / "sessions" / "test_session_list.py",
                 *([http / "sessions" / "test_browser_session.py"] if self.chosen.full else []),
                 *http.glob(f"providers/with_{name}.py")]
        with Stack(self.chosen, self.steps, f"with {name}", ["--provider", PROVIDER_OF[name], "--emulator",
                                                             name]) as stack:
            if stack.ready:
                self.pytest(f"accounts with {name}", stack, cases)
                if name == "keycloak":
                    self.unit_with_keycloak(stack)

    def unit_with_keycloak(self, stack):
        """The adapter's own cases, but those with faults, in the realm of the stack."""
        facts = json.loads(pathlib.Path(stack.facts).read_text(encoding="utf-8"))
        step = self.steps.run("unit with keycloak", ["tests/unit/test-identity", "keycloak"],
                              folder=self.quick / "build",
                              environment={"GATEHOUSE_TEST_KEYCLOAK": facts["providerUrl"],
                                           "srcdir": str(self.chosen.top),
                                           "GATEHOUSE_TEST_KEYCLOAK_SECRETS": f"{stack.state}/secrets"})
        counts.one(step)
        self.steps.note(step)

    def run_provider_quickstart(self):
        if all([self.fetch(name) for name in PROVIDER_OF]):
            self.run_quickstart("quickstart with providers", [self.tests / "quickstart" / "test_providers.py"])

    def store(self):
        return [Job("store", self.run_store)]

    def files_in_a_store(self):
        """The cases of files that tell of an S3 store, too."""
        http = self.tests / "http"
        return [http / "files" / "with_s3.py", http / "maintenance" / "test_fsck_and_purge.py",
                *(http / f"{name}.py" for name in STORE_FILES)]

    def run_store(self):
        """The cases of files once more, with their bytes in an S3 store."""
        if not self.has_store("store"):
            return
        with Stack(self.chosen, self.steps, "with an S3 store", ["--store", "s3", *self.cheap_passwords]) as stack:
            if stack.ready:
                self.pytest("files with an S3 store", stack, [*self.files_in_a_store(), "-m",
                                                              "not directory and not alone"])

    def ceph(self):
        """Daemons of the store die, and how the service goes on is checked, so nothing else runs beside it."""
        return [Job("last ceph", self.run_ceph, alone=True)]

    def run_ceph(self):
        """The cases of files with a real Ceph, then what becomes of them while its daemons die."""
        with Stack(self.chosen, self.steps, "with Ceph", ["--store", "ceph", *self.cheap_passwords]) as stack:
            if stack.ready:
                self.pytest("files with Ceph", stack, [*self.files_in_a_store(), "-m",
                                                       "not directory and not alone and not inode"])
                self.pytest("Ceph", stack, [self.tests / "ceph", "-s", *self.chosen.pytest])

    def cluster(self):
        """Starting clusters again and again takes long, so that is left to a full run and to whoever names the kind.
        How many requests a death costs is counted, so its programs go before all others; or, in a full run and when
        the kind is named, after them."""
        alone = self.chosen.full or "cluster" in self.chosen.named
        found = [Job("cluster", self.run_cluster, waits=not alone, alone=alone, priority=priorities.PROMPT)]
        if alone:
            found.append(Job("cluster quickstart", self.run_cluster_quickstart))
        return found

    def run_cluster(self):
        """One cluster, in which one part after the other dies."""
        if not self.has_store("cluster") or not self.fetch(CLIENTS):
            return
        with Stack(self.chosen, self.steps, "of a cluster", ["--cluster"]) as stack:
            if stack.ready:
                self.pytest("cluster", stack, [self.tests / "cluster", "-s", *self.chosen.pytest],
                            self.clients_of_tus())

    def run_cluster_quickstart(self):
        """What a cluster starts, restarts and leaves."""
        if self.has_store("cluster quickstart"):
            self.run_quickstart("quickstart of a cluster", [self.tests / "quickstart" / "test_cluster.py", "-s"])

    def clients(self):
        return [Job("clients", self.run_clients)]

    def run_clients(self):
        """Resumable uploads with clients as their registries have them, the clients of this tree, and the document that
        those are made of."""
        if not all([self.fetch(name) for name in (CLIENTS, API_CLIENTS, LINT, FUZZER)]):
            return
        fetched = self.quick / "emulators"
        with Stack(self.chosen, self.steps, "with clients", self.cheap_passwords) as stack:
            if stack.ready:
                self.pytest("uploads with clients", stack, [self.tests / "http" / "uploads" / "with_tus_clients.py"],
                            self.clients_of_tus())
                found = {"GATEHOUSE_API_CLIENTS": str(fetched / API_CLIENTS),
                         "GATEHOUSE_DOCUMENT_LINT": str(fetched / LINT),
                         "GATEHOUSE_SCHEMATHESIS": str(fetched / FUZZER)}
                self.pytest("clients", stack, [self.tests / "clients", *self.chosen.pytest], found)
                # Last, since it changes whatever it may.
                self.pytest("schemathesis", stack, [self.tests / "clients" / "with_schemathesis.py"], found)

    def web(self):
        """The pages in a browser, behind nginx, in shares; in a full run behind Apache as well."""
        return [job for server in (("nginx", "apache") if self.chosen.full else ("nginx", ))
                for job in self.web_shares(server)]

    def web_shares(self, server):
        shutil.rmtree(self.chosen.out / "pictures" / server, ignore_errors=True)
        folder = self.share("pages", server)

        def work(index):
            return lambda: self.run_web(f"web behind {server} {index}", server, folder)
        return [Job(f"web {server}", work(index + 1), share=str(folder)) for index in range(WEB_SHARES)]

    def run_web(self, name, server, share):
        if not self.fetch(DRIVER):
            return
        pictures = self.chosen.out / "pictures" / server
        with Stack(self.chosen, self.steps, name, ["--web-server", server, *self.cheap_passwords]) as stack:
            if stack.ready:
                self.pytest(name, stack, [self.tests / "web", *self.chosen.pytest], {
                    "GATEHOUSE_PLAYWRIGHT": str(self.quick / "emulators" / DRIVER),
                    "GATEHOUSE_PICTURES": str(pictures), "GATEHOUSE_TEST_SHARE": str(share),
                    "GATEHOUSE_PICTURES_OF": "everything" if self.chosen.full else "two"})
