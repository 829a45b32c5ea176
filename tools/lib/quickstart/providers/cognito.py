# SPDX-License-Identifier: MIT
"""A user pool of Amazon Cognito, by cognito-local: a folder of files, no check of signatures. For trying and for
tests."""

import re
import signal

from providers.base import HOST, Provider
from supervisor import Service

REGION = "eu-central-1"


class Pool(Provider):
    """What emulators of Cognito share: the section [cognito]."""

    has_client_secret = True

    def __init__(self, chosen, layout, processes):
        super().__init__(chosen, layout, processes)
        self.made = {}  # what setting up has made: user_pool_id, client_id

    def issuer(self):
        """The `iss` of its tokens."""
        return f"{self.url}/{self.made['user_pool_id']}"

    def values(self):
        """The section [cognito]."""
        secrets = self.layout.secrets
        self.layout.secret("cognito-access-key")
        values = {"region": REGION, "endpoint": self.url, "access_key_id": "AKIDEMULATED",
                  "secret_access_key_file": secrets / "cognito-access-key", **self.made}
        if self.has_client_secret:
            values["client_secret_file"] = secrets / "cognito-client-secret"
        if self.made:
            values["issuer"] = self.issuer()
            values["jwks_url"] = f"{self.url}/{self.made['user_pool_id']}/.well-known/jwks.json"
        return {("cognito", name): value for name, value in values.items()}

    def set_up(self):
        """The pool and its client."""
        said = self.gatehousectl("identity", "setup", "--apply")
        self.made = dict(re.findall(r"^(user_pool_id|client_id) = (\S+)$", said, re.MULTILINE))


class CognitoLocal(Pool):
    """cognito-local: its data are files below its working folder, .cognito."""

    emulator = "cognito-local"
    packages = ("cognito-local",)

    def service(self):
        program = self.home / "node_modules" / "cognito-local" / "lib" / "bin" / "start.js"
        return Service("provider", self.layout.log / "provider.log", ["node", program], folder=self.data,
                       environment=self.processes.environment | {"HOST": HOST, "PORT": str(self.port)},
                       ending=((signal.SIGTERM, 10),))

    def answers(self):
        return self.get("/health") == 200
