# SPDX-License-Identifier: MIT
"""A user pool of Amazon Cognito, by moto: all in memory, gone with the process. For tests (--emulator)."""

import signal

from providers.base import HOST
from providers.cognito import REGION, Pool
from supervisor import Service


class Moto(Pool):
    """moto's server."""

    emulator = "moto"
    packages = ("moto",)
    # With a secret moto expects a hash of the e-mail address in one call and of the subject in another.
    has_client_secret = False

    def service(self):
        environment = self.processes.environment | {"PYTHONPATH": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        return Service("provider", self.layout.log / "provider.log",
                       ["/usr/bin/python3", "-c", "from moto.server import main; main()", "-H", HOST, "-p", self.port],
                       folder=self.data, environment=environment, ending=((signal.SIGTERM, 10),))

    def issuer(self):
        return f"https://cognito-idp.{REGION}.amazonaws.com/{self.made['user_pool_id']}"

    def answers(self):
        return self.get("/moto-api/data.json") == 200
