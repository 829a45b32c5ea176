# SPDX-License-Identifier: MIT
"""A start, from the empty folder to the service that answers."""

import os
import resource
import signal
import socket

import build
import ceph
import cluster
import configuration
import database
import demo
import host
import layout as layouts
import packages
import providers
import stop
import store
from output import say
from problem import Interrupted, Problem
from processes import Processes, start_time
from supervisor import Supervisor

OPEN_FILES = 16384
STORES = {"directory": lambda *_: None, "s3": store.Store, "ceph": ceph.Ceph}


def run(chosen):
    """In the foreground, until Ctrl-C."""
    layout = prepare(chosen)
    lock = layout.take()
    return serve(chosen, layout, lock, on_ready=lambda: None)


def build_only(chosen):
    """Builds and installs into the build folder, and starts nothing."""
    layout = layouts.Layout(chosen.build_directory, chosen.build_directory)
    packages.require(chosen)
    for folder in (layout.log, layout.temporary):
        folder.mkdir(parents=True, exist_ok=True)
    build.build(chosen, layout, Processes(layout))
    return 0


def prepare(chosen):
    """What can be refused before anything is started: folder, packages, port."""
    layout = layouts.Layout(chosen.state, chosen.build_directory)
    layout.check()
    layout.check_kind(chosen.cluster)
    if not layout.is_free():
        raise Problem(layouts.TAKEN.format(layout.state))
    # Of a supervisor that was killed; among them the web server that has the port.
    stop.end_leftovers(layout)
    check_port(chosen.port)
    if not chosen.no_build:  # tools/test has asked for those of its kinds
        packages.require(chosen)
    layout.prepare(chosen.cluster)
    return layout


def check_port(port):
    """Whether the port can be had, as the web server will ask for it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((configuration.HOST, port))
            probe.listen()
        except PermissionError:
            raise Problem(f"Port {port} is for root only. Choose one above 1023 with --port.") from None
        except OSError:
            raise Problem(f"Port {port} is taken by another program. Choose another one with --port.") from None


def serve(chosen, layout, lock, on_ready):
    """Builds, starts and watches everything; returns when it has been asked to end and all is ended."""
    os.umask(0o022)
    note_owner(lock)
    processes = Processes(layout)
    supervisor = Supervisor(layout, processes)
    try:
        layout.clear()
        allow_open_files()
        provider = providers.select(chosen, layout, processes)
        storage = STORES[chosen.store](chosen, layout, processes)
        for one in filter(None, (provider, storage)):
            one.fetch()
        build.build(chosen, layout, processes)
        if chosen.cluster:
            start_cluster(chosen, layout, processes, supervisor, provider, storage)
        else:
            start_all(chosen, layout, processes, supervisor, provider, storage)
        if chosen.demo:
            supervisor.publish(supervisor.facts | {"demo": demo.make(chosen, layout)}, supervisor.more_facts)
        announce(supervisor.facts, layout.facts)
        on_ready()
        supervisor.forever()
        say("Ending")
        return 0
    except Interrupted:
        say("Ending")
        return 130
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        processes.patient = True
        supervisor.end()
        lock.close()


def note_owner(lock):
    """Writes into the lock file who holds it, for --stop."""
    lock.seek(0)
    lock.truncate()
    lock.write(f"{os.getpid()} {start_time(os.getpid())}\n")
    lock.flush()


def allow_open_files():
    """Servers inherit the limit: a thousand clients need more than the usual 1024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def start_all(chosen, layout, processes, supervisor, provider, storage):
    """Database and provider first, then tables and accounts, then whoever uses them, the web server last."""
    database.create(layout, processes)
    say("Starting the database")
    mariadb = database.service(chosen, layout)
    supervisor.add(mariadb)
    supervisor.await_answer(mariadb, lambda: database.answers(layout, processes), 60, "MariaDB does not answer")
    layout.secret("database-password")
    if storage:
        storage.start(supervisor)
    if provider:
        provider.start(supervisor)
        configuration.write_configuration(chosen, layout, provider, storage)
        provider.set_up()
    configuration.write_configuration(chosen, layout, provider, storage)
    host.gatehousectl(layout, processes, "migrate")
    host.create_administrator(layout, processes)
    say("Starting the service")
    server = host.add(chosen, layout, supervisor)
    supervisor.await_answer(server, lambda: host.is_ready(configuration.HOST, chosen.port), host.READY_SECONDS,
                            "The service is not ready")
    supervisor.publish(facts(chosen, layout, provider) | (storage.facts() if storage else {}))


def start_cluster(chosen, layout, processes, supervisor, provider, storage):
    """What is said of a single machine is said of the first host."""
    one = cluster.Cluster(chosen, layout, processes, supervisor)
    first = one.start(provider, storage)[0]
    common = facts(chosen, first, provider) | storage.facts() | {"logDirectory": str(layout.log)}
    supervisor.publish(common, one.facts)


def facts(chosen, layout, provider):
    """quickstart.json: what programs need to know about the running service. The supervisor adds the pids."""
    return {
        "baseUrl": configuration.base_url(chosen),
        "webUrl": configuration.base_url(chosen),
        "admin": {"username": configuration.ADMINISTRATOR, "password": layout.secret("administrator-password")},
        "mailDirectory": str(layout.mail),
        "configuration": str(layout.configuration),
        "fastcgiSocket": None if chosen.web_server == "apache-fcgid" else str(layout.worker_socket),
        "database": {"socket": str(layout.database_socket), "name": database.NAME, "user": database.owner()},
        "blobDirectory": str(layout.files),
        "logDirectory": str(layout.log),
        "gatehousectl": str(layout.gatehousectl),
        "corsOrigins": list(configuration.CORS_ORIGINS),
        "webServer": chosen.web_server,
        "provider": chosen.provider,
        "emulator": provider.emulator if provider else None,
        "providerUrl": provider.url if provider else None,
        "pids": {},
    }


def announce(known, path):
    """Tells the person where everything is, by what quickstart.json (the path) says."""
    accounts = f"\n  Accounts        {known['emulator']}, {known['providerUrl']}" if known["emulator"] else ""
    owner = known.get("demo")
    example = f"\n  Example owner   {owner['username']}\n  Password        {owner['password']}" if owner else ""
    say(f"""
Gatehouse is running.

  Console         {known["baseUrl"]}/
  Interface       {known["baseUrl"]}/api
  Administrator   {known["admin"]["username"]}
  Password        {known["admin"]["password"]}{example}
  E-mails         {known["mailDirectory"]}
  Logs            {known["logDirectory"]}{accounts}
  Configuration   {known["configuration"]}
  Operator        {known["gatehousectl"]} --config {known["configuration"]}
  For programs    {path}
""")
