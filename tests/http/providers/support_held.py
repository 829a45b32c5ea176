# SPDX-License-Identifier: MIT
"""What the identity provider itself holds of an account, whichever provider it is: looked up past the service."""

import configparser

from support.connections import ask
from support.database import key


class Held:
    """The provider of a stack. Each look answers {permissions, phone, email, email_verified, phone_verified, enabled},
    permissions as a set; None: the provider has no such account."""

    def __init__(self, stack, database):
        self.database = database
        self.subject = None
        self.configuration = configparser.ConfigParser(interpolation=None, comment_prefixes="#")
        self.configuration.read(stack.configuration)
        self.look = {"embedded": self._embedded, "cognito": self._cognito, "keycloak": self._keycloak}[stack.provider]

    def account(self, identity, subject=None):
        """What it holds of our user; `subject` where our row does not know any more what the account is called."""
        self.subject = subject
        return self.look(identity)

    def _subject(self, identity):
        return self.subject or self.named(identity)

    def named(self, identity):
        """What the provider calls the user's account."""
        return self.database.run("SELECT provider_subject FROM `user` WHERE id = %s", key(identity))[0][0]

    def _embedded(self, identity):
        rows = self.database.run(
            "SELECT permissions, phone, username, email_verified, phone_verified, enabled FROM identity_account"
            " WHERE id = %s", key(identity))
        if not rows:
            return None
        permissions, phone, email, email_verified, phone_verified, enabled = rows[0]
        return {
            "permissions": set(permissions.split()), "phone": phone, "email": email,
            "email_verified": bool(email_verified), "phone_verified": bool(phone_verified), "enabled": bool(enabled)
        }

    def _cognito(self, identity):
        section = self.configuration["cognito"]
        credential = f"Credential=AKIDEMULATED/20260101/{section['region']}/cognito-idp/aws4_request"
        reply = ask(
            "POST", section["endpoint"] + "/",
            json={"UserPoolId": section["user_pool_id"], "Username": self._subject(identity)},
            headers={
                "X-Amz-Target": "AWSCognitoIdentityProviderService.AdminGetUser",
                "Content-Type": "application/x-amz-json-1.1",
                "Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"
            }, timeout=10)
        if reply.status_code != 200:
            assert "UserNotFoundException" in reply.text, reply.text
            return None
        body = reply.json()
        attributes = {one["Name"]: one["Value"] for one in body["UserAttributes"]}
        return {
            "permissions": set(attributes.get("custom:permissions", "").split()),
            "phone": attributes.get("phone_number"), "email": attributes["email"],
            "email_verified": attributes.get("email_verified") == "true",
            "phone_verified": attributes.get("phone_number_verified") == "true", "enabled": body["Enabled"]
        }

    def _keycloak(self, identity):
        section = self.configuration["keycloak"]

        def secret(name):
            with open(section[name], encoding="ascii") as file:
                return file.read().strip()

        token = ask(
            "POST", f"{section['url']}/realms/{section['realm']}/protocol/openid-connect/token",
            data={"grant_type": "client_credentials", "client_id": section["admin_client_id"],
                  "client_secret": secret("admin_client_secret_file")}, timeout=10).json()["access_token"]
        reply = ask("GET", f"{section['url']}/admin/realms/{section['realm']}/users/{self._subject(identity)}",
                    headers={"Authorization": f"Bearer {token}"}, timeout=10)
        if reply.status_code == 404:
            return None
        assert reply.status_code == 200, reply.text
        body = reply.json()
        attributes = {name: values[0] for name, values in body.get("attributes", {}).items() if values}
        return {
            "permissions": set(attributes.get("permissions", "").split()), "phone": attributes.get("phoneNumber"),
            "email": body["email"], "email_verified": body["emailVerified"],
            "phone_verified": attributes.get("phoneNumberVerified") == "true", "enabled": body["enabled"]
        }
