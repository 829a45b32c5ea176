# SPDX-License-Identifier: MIT
"""One host: its pools of workers, its job runner and its web server, and what the operator's program does for it."""

import http.client
import signal

import configuration
import webserver
from output import tail
from problem import Problem
from supervisor import Service

READY_SECONDS = 120
# How many requests may wait for a worker of a pool, as in the units of systemd.
WAITING, LOGINS_WAITING = 1024, 96


def add(chosen, layout, supervisor, prefix=""):
    """Starts the services of the host, whose names begin with the prefix. Returns the web server's."""
    if chosen.web_server != "apache-fcgid":
        supervisor.add(pool(f"{prefix}workers", layout, layout.worker_socket, chosen.workers))
        supervisor.add(pool(f"{prefix}login", layout, layout.login_socket, chosen.login_workers, LOGINS_WAITING))
        supervisor.add(pool(f"{prefix}uploads", layout, layout.upload_socket, chosen.workers))
    jobs = [layout.gatehousectl, "--config", layout.configuration, "jobs"]
    # As the workers' user, which with mod_fcgid is Apache's: they share files that no other user may write.
    user = webserver.apache_user() if chosen.web_server == "apache-fcgid" else ()
    supervisor.add(Service(f"{prefix}jobs", layout.log / "jobs.log", jobs, prefix=user, ending=((signal.SIGTERM, 30),)))
    server = webserver.service(chosen, layout)
    server.name = f"{prefix}{server.name}"
    supervisor.add(server)
    return server


def pool(name, layout, path, workers, waiting=WAITING):
    """Workers on a socket. A worker that leaves or dies is replaced, however soon and often."""
    return Service(name, layout.log / f"{name.rpartition('-')[2]}.log",
                   ["spawn-fcgi", "-n", "-s", path, "-M", "0600", "-b", waiting, "--",
                    "/usr/bin/multiwatch", "-s", "TERM", "-t", "1000", "-r", "1000000", "-f", workers, "--",
                    layout.worker, "--config", layout.configuration],
                   ending=((signal.SIGTERM, 20),), batch=True)


def gatehousectl(layout, processes, *arguments):
    """Runs the operator's program; what it says about a failure is the Problem."""
    log = layout.log / "gatehousectl.log"
    log.unlink(missing_ok=True)
    if processes.run([layout.gatehousectl, "--config", layout.configuration, *arguments], log) != 0:
        raise Problem(f"gatehousectl {arguments[0]} failed:\n{tail(log)}")


def create_administrator(layout, processes):
    """The first administrator, once; the password stays in the folder for the next starts."""
    made = layout.secrets / "administrator-made"
    layout.secret("administrator-password")
    if made.exists():
        return
    gatehousectl(layout, processes, "create-admin", "--email", configuration.ADMINISTRATOR,
                 "--password-file", layout.secrets / "administrator-password")
    made.touch(mode=0o600)


def is_ready(address, port):
    """Whether /system/health/ready answers 200 there."""
    connection = http.client.HTTPConnection(address, port, timeout=5)
    try:
        connection.request("GET", "/system/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
