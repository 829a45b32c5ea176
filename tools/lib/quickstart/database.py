# SPDX-License-Identifier: MIT
"""The private MariaDB: its data folder, how it is started, when it answers. Whoever started it owns it
(unix_socket)."""

import os
import shutil
import signal

from layout import user_name
from output import say, tail
from problem import Problem
from supervisor import Service

NAME = "gatehouse"


def owner():
    """The database account of whoever runs this: it may do everything, without a password."""
    return user_name(os.geteuid())


def worker_account():
    """The account of the workers; another name where the owner's would be the same."""
    return "gatehouse" if owner() != "gatehouse" else "gatehouse_worker"


def create(layout, processes):
    """Makes the data folder where there is none; half-made ones do not count."""
    if layout.database.exists():
        return
    say("Creating the database")
    install(layout, processes, layout.database)


def install(layout, processes, folder):
    """Makes a data folder, whose server lets whoever runs this do everything."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    log = layout.log / "mariadb-install.log"
    status = processes.run(["mariadb-install-db", "--no-defaults", f"--datadir={new}", f"--user={owner()}",
                            f"--tmpdir={layout.temporary}",
                            "--auth-root-authentication-method=socket", f"--auth-root-socket-user={owner()}",
                            "--skip-test-db", "--skip-name-resolve", "--force", "--innodb-log-file-size=32M"], log)
    if status != 0:
        raise Problem(f"mariadb-install-db failed; the end of {log}:\n{tail(log)}")
    new.rename(folder)


def service(chosen, layout):
    """mariadbd, on its socket only; it keeps an acknowledged change through a power cut."""
    connections = 2 * (2 * chosen.workers + chosen.login_workers) + 100
    return Service(
        "mariadb", layout.log / "mariadb.log",
        ["mariadbd", "--no-defaults", f"--datadir={layout.database}", f"--socket={layout.database_socket}",
         f"--pid-file={layout.run}/mariadb.pid", f"--tmpdir={layout.temporary}", f"--user={owner()}",
         "--skip-networking", "--skip-name-resolve", "--skip-log-bin", f"--max-connections={connections}",
         "--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M",
         "--character-set-server=utf8mb4", "--default-time-zone=+00:00", "--performance-schema=OFF",
         "--innodb-adaptive-hash-index=ON"],
        ending=((signal.SIGTERM, 60),), batch=True)


def answers(layout, processes):
    """Whether it takes a connection now."""
    log = layout.temporary / "ping.log"
    log.unlink(missing_ok=True)
    question = ["mariadb", "--no-defaults", f"--socket={layout.database_socket}", "-e", "SELECT 1"]
    return processes.run(question, log) == 0
