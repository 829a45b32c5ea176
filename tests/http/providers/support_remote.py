# SPDX-License-Identifier: MIT
"""A host whose identity provider is remote: a strict pool or realm of the tests' own (tests/unit/identity), in a
process of its own, and the service set up for it."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from cryptography.hazmat.primitives.asymmetric import rsa

from support.programs import crash
from support.programs.host import Host

SERVERS = pathlib.Path(__file__).parents[2] / "unit" / "identity"
ADMIN = "admin@gatehouse.example"
KID = "provider-key"


class Kind:
    """What differs between the providers. `settings` may name {url}, where calls go, {port} of the server and
    {folder}."""

    def __init__(self, name, settings, secrets):
        self.name, self.settings, self.secrets = name, settings, secrets
        self.server = SERVERS / f"{name}_server.py"


COGNITO = Kind("cognito", """
[cognito]
region = eu-central-1
endpoint = {url}
issuer = https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Tests
jwks_url = {url}/keys
user_pool_id = eu-central-1_Tests
client_id = testclient
client_secret_file = {folder}/secrets/cognito-client
access_key_id = AKIDEXAMPLE
secret_access_key_file = {folder}/secrets/cognito-access
""", {"cognito-client": "client secret\n", "cognito-access": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n"})
KEYCLOAK = Kind("keycloak", """
[keycloak]
url = {url}
realm = gatehouse
issuer = http://127.0.0.1:{port}/realms/gatehouse
client_id = gatehouse
client_secret_file = {folder}/secrets/keycloak-client
admin_client_id = gatehouse-admin
admin_client_secret_file = {folder}/secrets/keycloak-admin
jwks_url = {url}/realms/gatehouse/protocol/openid-connect/certs
""", {"keycloak-client": "login-client-secret\n", "keycloak-admin": "admin-client-secret\n"})
KINDS = {kind.name: kind for kind in (COGNITO, KEYCLOAK)}


class Pool:
    """The provider's process."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, folder
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        numbers = self.key.private_numbers()
        text = json.dumps({"n": f"{numbers.public_numbers.n:x}", "d": f"{numbers.d:x}", "kid": KID})
        (folder / "key.json").write_text(text, encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, "-B", "-s", str(kind.server), str(folder)],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self):
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def calls(self):
        """What a pool was asked, oldest first."""
        lines = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["operation"] for line in lines]

    @contextlib.contextmanager
    def stopped(self):
        """It takes connections meanwhile, and says nothing."""
        os.kill(self.process.pid, signal.SIGSTOP)
        # Until it has been taken, another thread may answer on a connection that is open.
        assert crash.stand_still([self.process.pid]), "the pool has ended"
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)


@contextlib.contextmanager
def pool(kind, folder):
    """A provider of that kind; ends with the `with`."""
    started = Pool(kind, folder)
    try:
        yield started
    finally:
        started.close()


@contextlib.contextmanager
def host(stack, provider, password, url=None, authority=None, more="", testing=""):
    """A host set up for the provider, whose administrator has that password. Calls go to `url`, the provider's own
    address where it is None, which the certificate of `authority` speaks for. `more` are lines of [identity], `testing`
    those of [testing]."""
    kind = provider.kind
    with Host(stack) as made:
        text = made.configuration.read_text(encoding="utf-8")
        text, count = re.subn(r"(?m)^provider = embedded$", f"provider = {kind.name}\n{more}", text)
        assert count == 1
        text += kind.settings.format(url=url or provider.url, port=provider.port, folder=made.folder)
        if authority is not None:
            text += f"ca_file = {authority}\n"
        text += f"\n[testing]\n{testing}"
        made.configuration.write_text(text, encoding="utf-8")
        for name, secret in kind.secrets.items():
            (made.folder / "secrets" / name).write_text(secret, encoding="utf-8")
        for path in (made.folder / "secrets").iterdir():
            path.chmod(0o600)
        made.run("migrate")
        (made.folder / "password").write_text(password, encoding="utf-8")
        made.run("create-admin", "--email", ADMIN, "--password-file", str(made.folder / "password"))
        yield made
