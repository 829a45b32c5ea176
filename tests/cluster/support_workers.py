# SPDX-License-Identifier: MIT
"""Workers of a test's own, one on each host, beside those that run there: they read the host's configuration, with
settings and programs in front that the test wants."""

import contextlib
import json
import tempfile
import types

from support.programs import system


@contextlib.contextmanager
def workers(cluster, fronts=None, **settings):
    """One for each host; used in a `with`. `fronts` are commands that the workers are started by, such as `env`, in the
    order of the hosts."""
    with contextlib.ExitStack() as started:
        folder = started.enter_context(tempfile.TemporaryDirectory(prefix="gatehouse-own-"))
        found = []
        for number, host in enumerate(cluster.hosts):
            front = fronts[number] if fronts else []
            facts = types.SimpleNamespace(worker_program=cluster.stack.worker_program, base_url=cluster.stack.base_url,
                                          configuration=host.configuration,
                                          as_workers=lambda command, front=front: [*front, *command])
            own = {"cache_file": f"{folder}/cache-{number}", **settings}
            found.append(started.enter_context(system.worker(facts, **own)))
        yield [Own(one, cluster.stack.prefix) for one in found]


class Own:
    """One of them, asked as a client asks."""

    def __init__(self, worker, prefix):
        self.worker, self.prefix = worker, prefix

    def ask(self, method, path, body=None, token=None):
        """The status, the parsed body and the headers of a reply."""
        sent = {} if body is None else {"body": json.dumps(body).encode(), "content_type": "application/json"}
        answer = self.worker.call(method, self.prefix + path, token=token, **sent)
        return answer.status, json.loads(answer.body), answer

    def good(self, method, path, body=None, token=None):
        """The body of a reply that must be good."""
        status, reply, _ = self.ask(method, path, body, token)
        assert status == 200, f"{method} {path}: {status} {reply}"
        return reply
