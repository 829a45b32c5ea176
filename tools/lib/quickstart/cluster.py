# SPDX-License-Identifier: MIT
"""--cluster: what three machines of each kind would be, on loopback addresses of this one.

Databases are on 127.0.1.1 to 3, hosts on 127.0.2.1 to 3, the store's addresses on 127.0.3.1 to 3; HAProxy is in front,
at the port that was asked for. The ports behind it are chosen at the first start and kept.
"""

import dataclasses
import json

import balancer
import configuration
import host
import ports
from galera import NODES, Galera
from layout import write_json
from output import say

HOSTS = 3
GATEWAYS = 3
NODE_PORTS = ("sql", "group", "transfer", "copy")


@dataclasses.dataclass
class Place:
    """A loopback address, and the ports of it that a part has."""

    address: str
    ports: dict


class Cluster:
    """All parts of a state folder."""

    def __init__(self, chosen, layout, processes, supervisor):
        self.chosen = chosen
        self.layout = layout
        self.processes = processes
        self.supervisor = supervisor
        kept = json.loads(layout.cluster.read_text(encoding="ascii")) if layout.cluster.exists() else {}
        self.places = {
            name: Place(address, ports.take_ports(kept.get(name, {}), address, names))
            for name, address, names in [
                *((f"db{at}", f"127.0.1.{at}", NODE_PORTS) for at in range(1, NODES + 1)),
                *((f"h{at}", f"127.0.2.{at}", ("http",)) for at in range(1, HOSTS + 1)),
                *((f"store{at}", f"127.0.3.{at}", ("http",)) for at in range(1, GATEWAYS + 1))]}
        self.galera = Galera(chosen, layout, processes, self.named("db"))
        layout.database_socket = self.galera.nodes[0].socket
        self.storage = None
        self.hosts = {}

    def named(self, prefix):
        """The places whose names begin so."""
        return {name: place for name, place in self.places.items() if name.startswith(prefix)}

    def start(self, provider, storage):
        """Databases and store, then tables and accounts, then the hosts, HAProxy last. Returns the hosts' layouts."""
        write_json(self.layout.cluster, {name: place.ports for name, place in self.places.items()})
        self.storage = storage
        storage.spread(self.named("store"))
        storage.start(self.supervisor)
        self.galera.start_all(self.supervisor)
        self.layout.secret("database-password")
        self.hosts = {name: self.layout.host(name, place.address, place.ports["http"])
                      for name, place in self.named("h").items()}
        first = next(iter(self.hosts.values()))
        if provider:
            provider.layout = first
            provider.start(self.supervisor)
            self.configure(first, "h1", provider)
            provider.set_up()
        for name, layout in self.hosts.items():
            self.configure(layout, name, provider)
        host.gatehousectl(first, self.processes, "migrate")
        host.create_administrator(first, self.processes)
        self.galera.flush_tables(self.supervisor)
        self.start_hosts()
        return list(self.hosts.values())

    def configure(self, layout, name, provider):
        """gatehouse.conf of one host."""
        own = {("metrics", "host"): name, ("files", "s3_spool"): layout.spool}
        configuration.write_configuration(self.chosen, layout, provider, self.storage, self.galera, Values(own))

    def start_hosts(self):
        """The services of each host and the way to them."""
        say("Starting the hosts")
        servers = {name: host.add(self.chosen, layout, self.supervisor, f"{name}-")
                   for name, layout in self.hosts.items()}
        listens = [(name, f"{layout.address}:{layout.port}") for name, layout in self.hosts.items()]
        front = balancer.service(self.chosen, self.layout, listens)
        self.supervisor.add(front)
        waits = [(servers[name], layout.address, layout.port) for name, layout in self.hosts.items()]
        for server, address, port in [*waits, (front, configuration.HOST, self.chosen.port)]:
            self.supervisor.await_answer(server, lambda address=address, port=port: host.is_ready(address, port),
                                         host.READY_SECONDS, f"{server.name} is not ready")

    def facts(self):
        """The member `cluster` of quickstart.json."""
        pids = self.supervisor.pids_of
        return {"cluster": {
            "front": configuration.base_url(self.chosen),
            "frontSocket": str(balancer.socket(self.layout)),
            "hosts": [{"name": name, "baseUrl": f"http://{layout.address}:{layout.port}", "pids": pids(f"{name}-"),
                       "configuration": str(layout.configuration)} for name, layout in self.hosts.items()],
            "databases": self.galera.facts(),
            "store": {"endpoint": self.storage.urls[0], "endpoints": self.storage.urls, "pids": pids("store")},
            "hold": str(self.layout.hold)}}


class Values:
    """Lines of gatehouse.conf that one host has for itself."""

    def __init__(self, lines):
        self.lines = lines

    def values(self):
        """As {(section, name): value}."""
        return self.lines
