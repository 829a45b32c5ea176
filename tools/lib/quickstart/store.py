# SPDX-License-Identifier: MIT
"""A store that speaks the S3 protocol, by versitygw: objects are files in a folder. For trying and for tests."""

import signal

from providers.base import HOST, Provider
from supervisor import Service

REGION = "us-east-1"
BUCKET = "gatehouse"
ACCESS_KEY = "gatehouse"


class Store(Provider):
    """The server, started and supervised as a provider is."""

    emulator = "versitygw"

    def service(self):
        """Its folder of buckets, and one beside it for what the protocol keeps of each object."""
        for folder in ("buckets", "attributes"):
            (self.data / folder).mkdir(mode=0o700, exist_ok=True)
        (self.data / "buckets" / BUCKET).mkdir(mode=0o700, exist_ok=True)
        keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": self.layout.secret("s3-secret-key")}
        program = [self.home / "versitygw", "--port", f"{HOST}:{self.port}", "--region", REGION, "--health", "/health",
                   "--quiet", "posix", "--sidecar", self.data / "attributes", self.data / "buckets"]
        return Service("store", self.layout.log / "store.log", program,
                       environment=self.processes.environment | keys, ending=((signal.SIGTERM, 10),))

    def answers(self):
        return self.get("/health") == 200

    def set_up(self):
        """The bucket is a folder, and there."""

    def values(self):
        """The lines of the section [files]."""
        self.layout.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.layout.secret("s3-secret-key")
        values = {"store": "s3", "s3_endpoint": self.url, "s3_bucket": BUCKET, "s3_region": REGION,
                  "s3_access_key": ACCESS_KEY, "s3_secret_key_file": self.layout.secrets / "s3-secret-key",
                  "s3_spool": self.layout.spool}
        return {("files", name): value for name, value in values.items()}

    def facts(self):
        """What quickstart.json says of it. Objects are files, so their folder stands for that of the files."""
        return {"storeUrl": self.url, "blobDirectory": str(self.data / "buckets" / BUCKET)}


def select(chosen, layout, processes):
    """The store that was asked for; None: a folder."""
    return Store(chosen, layout, processes) if chosen.store == "s3" else None
