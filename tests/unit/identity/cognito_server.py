# SPDX-License-Identifier: MIT
"""A user pool of Amazon Cognito as its documentation has it, for the tests: strict where emulators are not, in memory.

Prints its port, then serves each client in a thread. DIRECTORY/key.json holds the key that signs tokens
(signer.py). Every call is noted in DIRECTORY/log, one JSON object a line. What it answers instead of what it is asked
for is said in files (answers.py); calls go by the names of their operations, and throttle and limit
are kinds of their own. With DIRECTORY/codes, when there, the pool verifies addresses: it mails codes itself, one JSON
object a line of DIRECTORY/mails. DIRECTORY/denied names operations that the access key may not call, /lacks an
attribute that the pool does not have, /skew the seconds that its clock is ahead; with /noflow the app client allows no
passwords, with /nosecret it has no secret, with /alone the pool takes email_verified without an address, with /expired
signatures are too old, and with /second-factor a right password is not enough. /age holds the seconds that have passed
since the sign-in that tokens tell of."""

import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import secrets
import threading
import time
import uuid

from answers import Answers, lost
from signer import Signer

REGION, POOL, CLIENT, SECRET = "eu-central-1", "eu-central-1_Tests", "testclient", "client secret"
KEY_ID, KEY = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ISSUER = "https://cognito-idp.eu-central-1.amazonaws.com/" + POOL
PUBLIC = {"SignUp", "InitiateAuth", "RespondToAuthChallenge", "ChangePassword", "RevokeToken", "ConfirmSignUp",
          "ResendConfirmationCode", "ForgotPassword", "ConfirmForgotPassword"}
LOCK = threading.RLock()
FAULTS = {"throttle": (400, '{"__type":"com.amazonaws.x#TooManyRequestsException:http://x","message":"slow down"}', {}),
          "limit": (400, '{"__type":"LimitExceededException","message":"Attempt limit exceeded, please try after some '
                         'time."}', {})}


class Fault(Exception):
    """An exception of Cognito's, by its name."""

    def __init__(self, name, message=""):
        super().__init__(message)
        self.name = name


# ---- Signature Version 4, as published
# ---------------------------------------------------------------------------------


def signature(method, path, headers, signed, body, stamp, region, service, key):
    """The signature of a request without a query; `headers` by lower-case name."""
    canonical = "\n".join([method, path, "", *[f"{name}:{' '.join(headers[name].split())}" for name in signed], "",
                           ";".join(signed), hashlib.sha256(body).hexdigest()])
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    derived = ("AWS4" + key).encode()
    for part in (stamp[:8], region, service, "aws4_request"):
        derived = hmac.new(derived, part.encode(), hashlib.sha256).digest()
    return hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()


# Of the published test suite: get-vanilla, post-header-key-sort, post-x-www-form-urlencoded, get-utf8.
VECTORS = (("GET", "/", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
           ("POST", "/", {"my-header1": "value1"}, b"",
            "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
           ("POST", "/", {"content-type": "application/x-www-form-urlencoded"}, b"Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
           ("GET", "/%E1%88%B4", {}, b"", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"))


def check_vectors():
    for method, path, more, body, wanted in VECTORS:
        headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z", **more}
        found = signature(method, path, headers, sorted(headers), body, "20150830T123600Z", "us-east-1", "service", KEY)
        assert found == wanted, (method, path, found)


def check_signature(headers, body):
    match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
                         r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})", headers.get("authorization", ""))
    if not match:
        raise Fault("MissingAuthenticationTokenException")
    key_id, day, region, service, signed, given = match.groups()
    stamp, signed = headers.get("x-amz-date", ""), signed.split(";")
    if (key_id, region, service) != (KEY_ID, REGION, "cognito-idp") or not stamp.startswith(day):
        raise Fault("UnrecognizedClientException")
    if "host" not in signed or "x-amz-target" not in signed or any(name not in headers for name in signed):
        raise Fault("IncompleteSignatureException")
    if given != signature("POST", "/", headers, signed, body, stamp, REGION, "cognito-idp", KEY):
        raise Fault("InvalidSignatureException")


# ---- the pool
# ----------------------------------------------------------------------------------------------------------


class User:
    def __init__(self, email, password, status, attributes):
        self.sub = str(uuid.uuid4())
        self.password, self.status, self.enabled = password, status, True
        self.attributes = {"sub": self.sub, **attributes, "email": email}


class Pool:
    """Operations by their names."""

    def __init__(self, signer, directory):
        self.signer, self.directory, self.codes = signer, directory, {}
        self.users, self.sessions, self.refresh = [], {}, {}

    def has(self, name):
        return os.path.exists(os.path.join(self.directory, name))

    def find(self, name, fault="UserNotFoundException"):
        for user in self.users:
            if name in (user.sub, user.attributes["email"]):
                return user
        raise Fault(fault, "User does not exist.")

    def age(self):
        """For how long whoever signs in has been signed in, as the tokens tell it."""
        path = os.path.join(self.directory, "age")
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as file:
            return int(file.read())

    @staticmethod
    def policy(password):
        if password != password.strip():
            raise Fault("InvalidParameterException", "1 validation error detected: Value at 'password' failed to "
                                                     "satisfy "
                        r"constraint: Member must satisfy regular expression pattern: ^[\S]+.*[\S]+$")
        if len(password) < 12:
            raise Fault("InvalidPasswordException", "Password did not conform with policy: Password not long enough")

    def admin(self, body):
        if body.get("UserPoolId") != POOL:
            raise Fault("ResourceNotFoundException", "User pool does not exist.")
        return self.find(body["Username"])

    def client(self, body, given, name):
        if body.get("ClientId") != CLIENT:
            raise Fault("ResourceNotFoundException", "User pool client does not exist.")
        if self.has("nosecret"):
            if given is not None:
                raise Fault("NotAuthorizedException", f"Client {CLIENT} is not configured for secret but secret was "
                                                      "received")
            return
        digest = hmac.new(SECRET.encode(), (name + CLIENT).encode(), hashlib.sha256).digest()
        if given != base64.b64encode(digest).decode():
            raise Fault("NotAuthorizedException", "Unable to verify secret hash for client " + CLIENT)

    def grant(self, user, origin=None, refresh=None):
        now, origin = int(time.time()), origin or str(uuid.uuid4())
        common = {"sub": user.sub, "iss": ISSUER, "iat": now, "exp": now + 900, "auth_time": now - self.age(),
                  "origin_jti": origin}
        access = {**common, "token_use": "access", "client_id": CLIENT, "jti": str(uuid.uuid4()), "username": user.sub,
                  "scope": "aws.cognito.signin.user.admin"}
        identity = {**common, "token_use": "id", "aud": CLIENT, "cognito:username": user.sub,
                    "email": user.attributes["email"], "jti": str(uuid.uuid4())}
        result = {"AccessToken": self.signer.sign(access), "IdToken": self.signer.sign(identity), "ExpiresIn": 900,
                  "TokenType": "Bearer"}
        if refresh is None:
            result["RefreshToken"] = secrets.token_urlsafe(64)
            self.refresh[result["RefreshToken"]] = (user, origin)
        self.sessions[origin] = user
        return {"ChallengeParameters": {}, "AuthenticationResult": result}

    def AdminCreateUser(self, body):
        if body.get("UserPoolId") != POOL:
            raise Fault("ResourceNotFoundException")
        if body.get("MessageAction") != "SUPPRESS":
            raise Fault("InvalidParameterException", "this pool must not send mail")
        if any(user.attributes["email"] == body["Username"] for user in self.users):
            raise Fault("UsernameExistsException", "User account already exists")
        self.policy(body["TemporaryPassword"])
        attributes = {one["Name"]: one["Value"] for one in body["UserAttributes"]}
        user = User(body["Username"], body["TemporaryPassword"], "FORCE_CHANGE_PASSWORD", attributes)
        self.users.append(user)
        return {"User": {"Username": user.sub, "Enabled": True, "UserStatus": user.status}}

    def SignUp(self, body):
        self.client(body, body.get("SecretHash"), body["Username"])
        if any(user.attributes["email"] == body["Username"] for user in self.users):
            raise Fault("UsernameExistsException", "An account with the given email already exists.")
        self.policy(body["Password"])
        attributes = {one["Name"]: one["Value"] for one in body["UserAttributes"]}
        if any(name.startswith("custom:") for name in attributes):
            raise Fault("NotAuthorizedException", "A client attempted to write unauthorized attribute")
        user = User(body["Username"], body["Password"], "UNCONFIRMED", attributes)
        self.users.append(user)
        if self.has("codes"):
            self.mail(user, "confirm")
        return {"UserConfirmed": False, "UserSub": user.sub}

    # -- codes of the pool's own

    def mail(self, user, purpose):
        """A code, which replaces the one before: a line of DIRECTORY/mails."""
        code = f"{secrets.randbelow(1000000):06}"
        self.codes[user.sub, purpose] = [code, 0]
        with open(os.path.join(self.directory, "mails"), "a", encoding="utf-8") as mails:
            mails.write(json.dumps({"to": user.attributes["email"], "purpose": purpose, "code": code}) + "\n")
        return {"CodeDeliveryDetails": {"AttributeName": "email", "DeliveryMedium": "EMAIL",
                                        "Destination": "x***@y***"}}

    def spend(self, user, purpose, code):
        known = self.codes.get((user.sub, purpose))
        if known is None:
            raise Fault("ExpiredCodeException", "Invalid code provided, please request a code again.")
        known[1] += 1
        if known[1] > 5:
            raise Fault("LimitExceededException", "Attempt limit exceeded, please try after some time.")
        if known[0] != code:
            raise Fault("CodeMismatchException", "Invalid verification code provided, please try again.")
        return known

    def named(self, body, otherwise=None):
        """The user; of a name that nobody has the pool says `otherwise`, if anything."""
        self.client(body, body.get("SecretHash"), body["Username"])
        try:
            return self.find(body["Username"])
        except Fault as fault:
            raise otherwise or fault

    def ConfirmSignUp(self, body):
        user = self.named(body, Fault("ExpiredCodeException", "Invalid code provided, please request a code again."))
        if user.status != "UNCONFIRMED":
            raise Fault("NotAuthorizedException", "User cannot be confirmed. Current status is " + user.status)
        self.spend(user, "confirm", body["ConfirmationCode"])
        del self.codes[user.sub, "confirm"]
        user.status, user.attributes["email_verified"] = "CONFIRMED", "true"
        return {}

    def ResendConfirmationCode(self, body):
        user = self.named(body)
        if user.status != "UNCONFIRMED":
            raise Fault("InvalidParameterException", "User is already confirmed.")
        return self.mail(user, "confirm")

    def ForgotPassword(self, body):
        user = self.named(body)
        if user.status != "CONFIRMED":
            raise Fault("NotAuthorizedException", "User password cannot be reset in the current state.")
        if user.attributes.get("email_verified") != "true":
            raise Fault("InvalidParameterException", "there is no registered/verified email or phone_number")
        return self.mail(user, "reset")

    def ConfirmForgotPassword(self, body):
        user = self.named(body, Fault("CodeMismatchException", "Invalid verification code provided, please try again."))
        self.spend(user, "reset", body["ConfirmationCode"])
        self.policy(body["Password"])
        del self.codes[user.sub, "reset"]
        user.password = body["Password"]
        return {}

    def AdminGetUser(self, body):
        user = self.admin(body)
        return {"Username": user.sub, "Enabled": user.enabled, "UserStatus": user.status,
                "UserAttributes": [{"Name": name, "Value": value} for name, value in user.attributes.items()]}

    def DescribeUserPool(self, body):
        if body.get("UserPoolId") != POOL:
            raise Fault("ResourceNotFoundException", "User pool does not exist.")
        lacks = ""
        if self.has("lacks"):
            with open(os.path.join(self.directory, "lacks"), encoding="utf-8") as file:
                lacks = file.read()
        names = ("sub", "email", "custom:permissions", "custom:svc_user_id")
        pool = {"Id": POOL, "UsernameAttributes": ["email"], "MfaConfiguration": "OFF",
                "SchemaAttributes": [{"Name": name} for name in names if name != lacks]}
        if self.has("codes"):
            pool["AutoVerifiedAttributes"] = ["email"]
        return {"UserPool": pool}

    def AdminConfirmSignUp(self, body):
        user = self.admin(body)
        if user.status != "UNCONFIRMED":
            raise Fault("NotAuthorizedException", "User cannot be confirmed. Current status is " + user.status)
        user.status = "CONFIRMED"
        return {}

    def AdminSetUserPassword(self, body):
        user = self.admin(body)
        self.policy(body["Password"])
        user.password = body["Password"]
        user.status = "CONFIRMED" if body["Permanent"] else "FORCE_CHANGE_PASSWORD"
        return {}

    def AdminUpdateUserAttributes(self, body):
        user = self.admin(body)
        given = {one["Name"]: one["Value"] for one in body["UserAttributes"]}
        if "email_verified" in given and "email" not in given and not self.has("alone"):
            raise Fault("InvalidParameterException", "Email is required to verify/un-verify an email")
        for name, value in given.items():
            if len(value) > 2048:
                raise Fault("InvalidParameterException", "too long")
            user.attributes[name] = value
            if value == "":
                del user.attributes[name]
        return {}

    def AdminDisableUser(self, body):
        self.admin(body).enabled = False
        return {}

    def AdminEnableUser(self, body):
        self.admin(body).enabled = True
        return {}

    def AdminDeleteUser(self, body):
        self.users.remove(self.admin(body))
        return {}

    def AdminUserGlobalSignOut(self, body):
        user = self.admin(body)
        self.refresh = {token: (owner, origin) for token, (owner, origin) in self.refresh.items() if owner is not user}
        return {}

    def InitiateAuth(self, body):
        parameters = body["AuthParameters"]
        if body["AuthFlow"] == "REFRESH_TOKEN_AUTH":
            if parameters["REFRESH_TOKEN"] not in self.refresh:
                raise Fault("NotAuthorizedException", "Refresh Token has been revoked")
            user, origin = self.refresh[parameters["REFRESH_TOKEN"]]
            self.client(body, parameters.get("SECRET_HASH"), user.sub)
            return self.grant(user, origin, parameters["REFRESH_TOKEN"])
        self.client(body, parameters.get("SECRET_HASH"), parameters["USERNAME"])
        user = self.find(parameters["USERNAME"], "NotAuthorizedException")
        if not user.enabled:
            raise Fault("NotAuthorizedException", "User is disabled.")
        if user.status == "UNCONFIRMED":
            raise Fault("UserNotConfirmedException", "User is not confirmed.")
        if user.password != parameters["PASSWORD"]:
            raise Fault("NotAuthorizedException", "Incorrect username or password.")
        if self.has("second-factor"):
            return {"ChallengeName": "SOFTWARE_TOKEN_MFA", "Session": "x" * 20,
                    "ChallengeParameters": {"USER_ID_FOR_SRP": user.sub}}
        if user.status == "CONFIRMED":
            return self.grant(user)
        session = secrets.token_urlsafe(64)
        self.sessions[session] = user
        return {"ChallengeName": "NEW_PASSWORD_REQUIRED", "Session": session, "ChallengeParameters": {
            "USER_ID_FOR_SRP": user.sub, "requiredAttributes": "[]", "userAttributes": "{}"}}

    def RespondToAuthChallenge(self, body):
        responses = body["ChallengeResponses"]
        self.client(body, responses.get("SECRET_HASH"), responses["USERNAME"])
        user = self.sessions.get(body["Session"])
        if user is None or user.sub != responses["USERNAME"] or user.status != "FORCE_CHANGE_PASSWORD":
            raise Fault("NotAuthorizedException", "Invalid session for the user.")
        self.policy(responses["NEW_PASSWORD"])
        del self.sessions[body["Session"]]
        user.password, user.status = responses["NEW_PASSWORD"], "CONFIRMED"
        return self.grant(user)

    def ChangePassword(self, body):
        payload = body["AccessToken"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
        user = self.find(claims["sub"])
        if user.password != body["PreviousPassword"]:
            raise Fault("NotAuthorizedException", "Incorrect username or password.")
        self.policy(body["ProposedPassword"])
        user.password = body["ProposedPassword"]
        return {}

    def RevokeToken(self, body):
        secret = None if self.has("nosecret") else SECRET
        if (body.get("ClientId"), body.get("ClientSecret")) != (CLIENT, secret):
            raise Fault("UnauthorizedException")
        self.refresh.pop(body["Token"], None)
        return {}


# ---- the server
# --------------------------------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in two writes would wait for the other end to say that it has the first one
    pool, directory, answers = None, None, None

    def log_message(self, *_):
        pass

    def flag(self, name):
        """What DIRECTORY/name holds; None: there is no such file."""
        path = os.path.join(self.directory, name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + int(self.flag("skew") or 0))

    def say(self, status, content, kind="application/x-amz-json-1.1", length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def note(self, entry):
        with LOCK, open(os.path.join(self.directory, "log"), "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")

    def do_GET(self):
        self.note({"operation": "GET " + self.path})
        fault = self.answers.meet(self, "Keys")
        if fault is True:
            return
        if fault == "lost":
            lost(self)
            return
        self.say(200, json.dumps(self.pool.signer.jwks("other", "RS512", "sig")).encode(), "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.note({"operation": operation, "signed": "authorization" in headers, "type": headers.get("content-type")})
        fault = self.answers.meet(self, operation)
        if fault is True:
            return
        try:
            with LOCK:
                if operation in PUBLIC:
                    if "authorization" in headers:
                        raise Fault("InvalidParameterException", "a public call must not be signed")
                else:
                    if self.flag("expired") is not None:
                        raise Fault("InvalidSignatureException",
                                    "Signature expired: 20260101T000000Z is now earlier than ...")
                    check_signature(headers, body)
                    if operation in (self.flag("denied") or "").split():
                        raise Fault("AccessDeniedException", "is not authorized to perform: cognito-idp:" + operation)
                if operation == "InitiateAuth" and self.flag("noflow") is not None:
                    raise Fault("InvalidParameterException", "USER_PASSWORD_AUTH flow not enabled for this client")
                answer = getattr(self.pool, operation)(json.loads(body))
            if fault == "lost":
                lost(self)
                return
            self.say(200, json.dumps(answer).encode())
        except Fault as fault:
            self.say(400, json.dumps({"__type": fault.name, "message": str(fault)}).encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    options = parser.parse_args()
    check_vectors()
    Handler.directory = options.directory
    Handler.answers = Answers(options.directory, FAULTS)
    Handler.pool = Pool(Signer(os.path.join(options.directory, "key.json")), options.directory)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
