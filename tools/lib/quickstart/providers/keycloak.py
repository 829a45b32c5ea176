# SPDX-License-Identifier: MIT
"""A realm of Keycloak, by its own server: its data are a database in one file."""

import signal

from providers.base import Provider
from supervisor import Service

REALM = "gatehouse"
ADMINISTRATOR = "admin"


class Keycloak(Provider):
    """The server, whose realm gatehousectl sets up as it would for anybody."""

    emulator = "keycloak"
    packages = ("keycloak",)
    seconds = 180

    def __init__(self, chosen, layout, processes):
        super().__init__(chosen, layout, processes)
        self.program = self.fetcher.parent / self.emulator / "start"

    def service(self):
        administrator = {"KC_BOOTSTRAP_ADMIN_USERNAME": ADMINISTRATOR,
                         "KC_BOOTSTRAP_ADMIN_PASSWORD": self.layout.secret("keycloak-administrator")}
        return Service("provider", self.layout.log / "provider.log", [self.program, self.home, self.data, self.port],
                       environment=self.processes.environment | administrator, ending=((signal.SIGTERM, 30),))

    def answers(self):
        return self.get("/realms/master") == 200

    def set_up(self):
        self.gatehousectl("identity", "setup", "--apply", "--as", ADMINISTRATOR,
                          "--secret-file", self.layout.secrets / "keycloak-administrator")

    def values(self):
        values = {"url": self.url, "realm": REALM, "client_id": "gatehouse", "admin_client_id": "gatehouse-admin"}
        for name in ("client", "admin-client"):
            self.layout.secret(f"keycloak-{name}-secret")
            values[f"{name.replace('-', '_')}_secret_file"] = self.layout.secrets / f"keycloak-{name}-secret"
        return {("keycloak", name): value for name, value in values.items()}
