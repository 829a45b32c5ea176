# SPDX-License-Identifier: MIT
"""Stores that speak the S3 protocol. versitygw keeps objects as files in a folder, for trying and for tests; ceph.py
brings a distributed one."""

import signal

from output import say
from providers.base import HOST, Provider, status_of
from supervisor import Service

REGION = "us-east-1"
BUCKET = "gatehouse"
ACCESS_KEY = "gatehouse"


class Bucket:
    """What Gatehouse and tests need to know of a bucket, whichever servers keep it."""

    layout = None
    places = {}  # (address, port) of each server, by its name

    def spread(self, places):
        """Where the servers of a cluster are, by their names."""
        self.places = {name: (place.address, place.ports["http"]) for name, place in places.items()}

    @property
    def urls(self):
        """The addresses of all servers."""
        return [f"http://{address}:{port}" for address, port in self.places.values()]

    def values(self):
        """The lines of the section [files]."""
        self.layout.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.layout.secret("s3-secret-key")
        values = {"store": "s3", "s3_endpoint": " ".join(self.urls), "s3_bucket": BUCKET, "s3_region": REGION,
                  "s3_access_key": ACCESS_KEY, "s3_secret_key_file": self.layout.secrets / "s3-secret-key",
                  "s3_spool": self.layout.spool}
        return {("files", name): value for name, value in values.items()}

    def facts(self):
        """What quickstart.json says of it."""
        return {"store": {"url": self.urls[0], "bucket": BUCKET, "region": REGION, "accessKey": ACCESS_KEY,
                          "secretKeyFile": str(self.layout.secrets / "s3-secret-key")}}


class Store(Bucket, Provider):
    """versitygw, started and supervised as a provider is; in a cluster several over the same folder."""

    emulator = "versitygw"

    def start(self, supervisor):
        """Starts all servers, then waits until each of them answers."""
        if not self.places:
            super().start(supervisor)
            return
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        say(f"Starting {self.emulator}")
        started = [(self.server(name, *place), place) for name, place in self.places.items()]
        for service, _ in started:
            supervisor.add(service)
        for service, place in started:
            supervisor.await_answer(service, lambda place=place: status_of("/health", *place) == 200, self.seconds,
                                    f"{service.name} does not answer")

    def service(self):
        self.places = {"store": (HOST, self.port)}
        return self.server("store", HOST, self.port)

    def server(self, name, address, port):
        """Its folder of buckets, and one beside it for what the protocol keeps of each object."""
        for folder in ("buckets", "attributes"):
            (self.data / folder).mkdir(mode=0o700, exist_ok=True)
        (self.data / "buckets" / BUCKET).mkdir(mode=0o700, exist_ok=True)
        keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": self.layout.secret("s3-secret-key")}
        program = [self.home / "versitygw", "--port", f"{address}:{port}", "--region", REGION, "--health", "/health",
                   "--quiet", "posix", "--sidecar", self.data / "attributes", self.data / "buckets"]
        return Service(name, self.layout.log / f"{name}.log", program,
                       environment=self.processes.environment | keys, ending=((signal.SIGTERM, 10),))

    def answers(self):
        return self.get("/health") == 200

    def set_up(self):
        """The bucket is a folder, and there."""

    def facts(self):
        """Objects are files, so their folder stands for that of the files."""
        return super().facts() | {"blobDirectory": str(self.data / "buckets" / BUCKET)}
