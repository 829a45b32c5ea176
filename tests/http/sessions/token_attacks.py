# SPDX-License-Identifier: MIT
"""The table of token attacks: every way known to us of making or bending a token that must not open the API.

A row is (name, build, codes): build(world) gives the headers (and, for a few, more of the request) and codes
the error codes that the refusal may carry. Tokens that the service's real key would have to sign are in
test_token_claims.py.
"""

import base64
import hashlib
import hmac
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

INVALID = {"auth.tokenInvalid"}
# With a comma in it, one header line looks as two that were joined: the web server may refuse it itself.
JOINED = {"auth.tokenInvalid", "request.malformed"}
MISSING = {"auth.tokenMissing"}
EITHER = INVALID | MISSING


def b64(data):
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    """The bytes of base64url text."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def dumps(value):
    """Compact JSON, or the text itself."""
    return value if isinstance(
        value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()


class World:
    """A valid token and everything that an attacker can get hold of."""

    def __init__(self, tokens, key):
        self.tokens = tokens
        self.token = tokens["accessToken"]
        self.key = key
        self.parts = self.token.split(".")
        self.header = json.loads(unb64(self.parts[0]))
        self.claims = json.loads(unb64(self.parts[1]))
        self.signature = unb64(self.parts[2])
        numbers = rsa.RSAPublicNumbers(int.from_bytes(unb64(key["e"]), "big"),
                                       int.from_bytes(unb64(key["n"]), "big"))
        self.public = numbers.public_key()
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.weak = rsa.generate_private_key(65537, 1024)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.ed = ed25519.Ed25519PrivateKey.generate()

    def public_bytes(self, encoding, form):
        """The service's public key in one of its spellings."""
        return self.public.public_bytes(getattr(serialization.Encoding, encoding),
                                        getattr(serialization.PublicFormat, form))

    def own_jwk(self):
        """The attacker's public key as a JWK."""
        numbers = self.rsa.public_key().public_numbers()
        return {
            "kty": "RSA", "kid": self.header["kid"], "e": "AQAB", "n": b64(numbers.n.to_bytes(256, "big"))
        }

    def signed(self, header=None, claims=None, by="rsa", **more):
        """A token signed with a key of the attacker's. header and claims may be dicts, texts or bytes."""
        header = dict(self.header, **more) if header is None else header
        claims = self.claims if claims is None else claims
        text = f"{b64(dumps(header))}.{b64(dumps(claims))}".encode()
        return f"{text.decode()}.{b64(self.sign(text, by))}"

    def sign(self, text, by):
        """The signature of one of the attacker's keys."""
        if by == "rsa":
            return self.rsa.sign(text, padding.PKCS1v15(), hashes.SHA256())
        if by == "weak":
            return self.weak.sign(text, padding.PKCS1v15(), hashes.SHA256())
        if by == "sha384":
            return self.rsa.sign(text, padding.PKCS1v15(), hashes.SHA384())
        if by == "sha512":
            return self.rsa.sign(text, padding.PKCS1v15(), hashes.SHA512())
        if by == "pss":
            return self.rsa.sign(text, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())
        if by == "ec":
            first, second = utils.decode_dss_signature(self.ec.sign(text, ec.ECDSA(hashes.SHA256())))
            return first.to_bytes(32, "big") + second.to_bytes(32, "big")
        if by == "zero-ec":
            return bytes(64)
        if by == "ed":
            return self.ed.sign(text)
        assert by == "nothing"
        return b""

    def mac(self, secret, algorithm="HS256", name=None, **more):
        """A token with a MAC under a secret that is no secret."""
        digest = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}[algorithm]
        header = dict(self.header, alg=name or algorithm, **more)
        text = f"{b64(dumps(header))}.{b64(dumps(self.claims))}".encode()
        return f"{text.decode()}.{b64(hmac.new(secret, text, digest).digest())}"

    def bent(self, header=None, claims=None, signature=None):
        """The valid token with a part exchanged and the rest left alone."""
        head = self.parts[0] if header is None else b64(dumps(header))
        body = self.parts[1] if claims is None else b64(dumps(claims))
        return f"{head}.{body}.{self.parts[2] if signature is None else signature}"


def without(values, name):
    """A dict less one member."""
    return {key: value for key, value in values.items() if key != name}


def duplicated(values, name, value):
    """JSON text in which a member comes twice, the given value last."""
    return json.dumps(values)[:-1] + f", {json.dumps(name)}: {json.dumps(value)}}}"


def bearer(build, codes=INVALID):
    """A row whose attack is the token itself."""
    return lambda world: {"headers": {"Authorization": f"Bearer {build(world)}"}}, codes


ROWS = []


def row(name, build, codes=INVALID):
    ROWS.append((name, *bearer(build, codes)))


def request_row(name, build, codes):
    ROWS.append((name, build, codes))


# The public key as a secret (algorithm confusion).
SPELLINGS = {
    "SPKI PEM": lambda w: w.public_bytes("PEM", "SubjectPublicKeyInfo"),
    "SPKI PEM without its last newline": lambda w: w.public_bytes("PEM", "SubjectPublicKeyInfo").rstrip(b"\n"
                                                                                                        ),
    "SPKI PEM with CRLF": lambda w: w.public_bytes("PEM", "SubjectPublicKeyInfo").replace(b"\n", b"\r\n"),
    "SPKI PEM and a NUL": lambda w: w.public_bytes("PEM", "SubjectPublicKeyInfo") + b"\0",
    "PKCS1 PEM": lambda w: w.public_bytes("PEM", "PKCS1"),
    "PKCS1 PEM without its last newline": lambda w: w.public_bytes("PEM", "PKCS1").rstrip(b"\n"),
    "SPKI DER": lambda w: w.public_bytes("DER", "SubjectPublicKeyInfo"),
    "PKCS1 DER": lambda w: w.public_bytes("DER", "PKCS1"),
    "OpenSSH line": lambda w: w.public_bytes("OpenSSH", "OpenSSH"),
    "modulus": lambda w: unb64(w.key["n"]),
    "modulus in base64url": lambda w: w.key["n"].encode(),
    "JWK": lambda w: json.dumps(w.key).encode(),
    "JWK without blanks": lambda w: json.dumps(w.key, separators=(",", ":")).encode(),
    "kid": lambda w: w.header["kid"].encode(),
    "nothing": lambda w: b"",
    "secret": lambda w: b"secret",
}
for spelling, secret in SPELLINGS.items():
    row(f"HS256 under {spelling}", lambda w, s=secret: w.mac(s(w)))
for algorithm in ("HS384", "HS512"):
    row(f"{algorithm} under the PEM", lambda w, a=algorithm: w.mac(SPELLINGS["SPKI PEM"](w), a))
row("hs256 in small letters under the PEM", lambda w: w.mac(SPELLINGS["SPKI PEM"](w), name="hs256"))
row(
    "HS256 without kid under the PEM", lambda w: w.bent(without(dict(w.header, alg="HS256"), "kid"),
                                                        signature=w.mac(SPELLINGS["SPKI PEM"]
                                                                        (w)).split(".")[2]))
row("HS256 with a kid that names a file", lambda w: w.mac(b"", kid="../../../../dev/null"))

# No signature at all.
for word in ("none", "None", "NONE", "nOnE", "none ", ""):
    row(f"alg {word!r} and no signature", lambda w, a=word: w.signed(by="nothing", alg=a))
row("alg none and the true signature", lambda w: w.bent(dict(w.header, alg="none")))
row("alg null", lambda w: w.signed(by="nothing", alg=None))
row("alg missing", lambda w: w.signed(without(w.header, "alg")))
row("alg an array", lambda w: w.bent(dict(w.header, alg=["RS256"])))
row("alg a number", lambda w: w.bent(dict(w.header, alg=256)))
row("RS256 without a signature", lambda w: f"{w.parts[0]}.{w.parts[1]}.")
row("RS256 without a signature and its dot", lambda w: f"{w.parts[0]}.{w.parts[1]}")

# Other algorithms, other keys.
row("RS256 by another key under the right kid", lambda w: w.signed())
row("RS256 by a key of 1024 bits", lambda w: w.signed(by="weak"))
row("RS384", lambda w: w.signed(by="sha384", alg="RS384"))
row("RS512", lambda w: w.signed(by="sha512", alg="RS512"))
row("PS256", lambda w: w.signed(by="pss", alg="PS256"))
row("PS256 by name, PKCS1 by signature", lambda w: w.bent(dict(w.header, alg="PS256")))
row("ES256", lambda w: w.signed(by="ec", alg="ES256"))
row("ES256 with a signature of zeros", lambda w: w.signed(by="zero-ec", alg="ES256"))
row("EdDSA", lambda w: w.signed(by="ed", alg="EdDSA"))
row("rs256 in small letters", lambda w: w.bent(dict(w.header, alg="rs256")))
row("RS256 with a blank", lambda w: w.bent(dict(w.header, alg="RS256 ")))

# Which key?
for title, kid in (("unknown", "no-such-key"), ("empty", ""), ("null", None), ("a number", 1),
                   ("a path", "../../../etc/passwd"), ("SQL", "' UNION SELECT 'x' -- "),
                   ("an address", "https://evil.example/key"), ("of 4,000 letters", "k" * 4000)):
    row(f"kid {title}", lambda w, k=kid: w.signed(kid=k))
row("kid in capitals", lambda w: w.bent(dict(w.header, kid=w.header["kid"].upper() + "X")))
row("kid and a NUL", lambda w: w.bent(dict(w.header, kid=w.header["kid"] + "\0")))
row("kid missing", lambda w: w.bent(without(w.header, "kid")))
row("kid twice", lambda w: w.bent(duplicated(w.header, "kid", w.header["kid"])))

# Keys that the token brings along, and extensions.
row("jwk", lambda w: w.signed(jwk=w.own_jwk()))
row("jku", lambda w: w.signed(jku="http://127.0.0.1:9/jwks.json"))
row("x5u", lambda w: w.signed(x5u="http://127.0.0.1:9/cert.pem"))
row("x5c", lambda w: w.signed(x5c=["MIIB"]))
row("crit", lambda w: w.bent(dict(w.header, crit=["exp"])))
row("crit with an unknown name", lambda w: w.bent(dict(w.header, crit=["x"], x=1)))
row("b64 false", lambda w: w.bent(dict(w.header, b64=False, crit=["b64"])))
row("zip", lambda w: w.bent(dict(w.header, zip="DEF")))
row("cty", lambda w: w.bent(dict(w.header, cty="JWT")))
row("typ at+jwt", lambda w: w.bent(dict(w.header, typ="at+jwt")))
row("typ JWE", lambda w: w.bent(dict(w.header, typ="JWE")))
row("typ an array", lambda w: w.bent(dict(w.header, typ=["JWT"])))
row("alg twice, none first",
    lambda w: w.bent('{"alg":"none","typ":"JWT","kid":%s,"alg":"RS256"}' % json.dumps(w.header["kid"])))
row("alg twice, none last", lambda w: w.bent(duplicated(w.header, "alg", "none")))
row("alg twice, escaped", lambda w: w.bent(json.dumps(w.header)[:-1] + ', "\\u0061lg": "none"}'))

# The true signature under other words.
row("another sub", lambda w: w.bent(claims=dict(w.claims, sub="01890000-0000-7000-8000-000000000000")))
row("a later exp", lambda w: w.bent(claims=dict(w.claims, exp=w.claims["exp"] + 86400)))
row("permissions added", lambda w: w.bent(claims=dict(w.claims, **{"custom:permissions": "*:*:a"})))
row("the same claims in other order", lambda w: w.bent(claims=dict(reversed(w.claims.items()))))
row("the same claims with a blank", lambda w: w.bent(claims=json.dumps(w.claims, separators=(" ,", ": "))))
row("the same header with a blank", lambda w: w.bent(json.dumps(w.header, separators=(" , ", " : "))))
row("the same header and a blank behind", lambda w: w.bent(unb64(w.parts[0]) + b" "))
row("sub twice", lambda w: w.bent(claims=duplicated(w.claims, "sub", w.claims["sub"])))
row("claims in an array", lambda w: w.bent(claims=[w.claims]))
row("claims and junk behind a NUL", lambda w: w.bent(claims=unb64(w.parts[1]) + b"\0{}"))
row("claims behind a byte order mark", lambda w: w.bent(claims=b"\xef\xbb\xbf" + unb64(w.parts[1])))
row("claims that are not JSON", lambda w: w.bent(claims=b"hello"))
row("claims in invalid UTF-8", lambda w: w.bent(claims=unb64(w.parts[1]).replace(b"{", b'{"\xff":1,', 1)))
row("the id token's claims", lambda w: ".".join([w.parts[0], w.tokens["idToken"].split(".")[1], w.parts[2]]))
row("the id token's signature", lambda w: ".".join([*w.parts[:2], w.tokens["idToken"].split(".")[2]]))
row("the id token", lambda w: w.tokens["idToken"])
row("the refresh token", lambda w: w.tokens["refreshToken"])

# Claims of the attacker's own, signed with his own key.
NOW = int(time.time())
for title, change in {
        "expired": {"exp": NOW - 3600}, "not yet valid": {"nbf": NOW + 3600},
        "issued in the future": {"iat": NOW + 3600}, "of another issuer": {"iss": "https://evil.example"},
        "of another audience": {"aud": "evil", "client_id": "evil"}, "for another use": {"token_use": "id"},
        "exp a text": {"exp": str(NOW + 900)}, "exp a fraction too large": {"exp": 1e300},
        "exp null": {"exp": None}, "exp true": {"exp": True}, "iat a text": {"iat": "now"},
        "nbf an object": {"nbf": {}}, "sub a number": {"sub": 1}, "sub empty": {"sub": ""},
        "sub an array": {"sub": ["x"]}, "exp negative": {"exp": -1}
}.items():
    row(f"own key, {title}", lambda w, c=change: w.signed(claims=dict(w.claims, **c)))
for name in ("exp", "iat", "iss", "sub", "token_use"):
    row(f"own key, {name} missing", lambda w, n=name: w.signed(claims=without(w.claims, n)))

# One token, many spellings.
for place in (0, 1, 100, 200, -2):
    row(f"signature with a flipped bit at {place}",
        lambda w, p=place: w.bent(signature=b64(flip(w.signature, p))))
row("signature cut short", lambda w: w.bent(signature=b64(w.signature[:-1])))
row("signature with a byte more", lambda w: w.bent(signature=b64(w.signature + b"\0")))
row("signature with a zero byte in front", lambda w: w.bent(signature=b64(b"\0" + w.signature)))
row("signature twice", lambda w: w.bent(signature=b64(w.signature * 2)))
row("signature of zeros", lambda w: w.bent(signature=b64(bytes(256))))
row("signature with padding", lambda w: w.token + "==")
row("signature with one padding sign", lambda w: w.token + "=")
row("header with padding",
    lambda w: f"{w.parts[0]}{'=' * (-len(w.parts[0]) % 4 or 4)}.{w.parts[1]}.{w.parts[2]}")
for unused in (1, 2, 4, 8, 15):
    row(f"signature with unused bits {unused}", lambda w, u=unused: w.token[:-1] + loosen(w.token[-1], u))
row("signature in the standard alphabet", lambda w: w.bent(signature=standard(w.parts[2])))
row("signature with a blank within", lambda w: w.bent(signature=w.parts[2][:50] + " " + w.parts[2][50:]))
row("signature with a bad character", lambda w: w.token[:-3] + "!" + w.token[-2:])
row("signature with a percent code", lambda w: w.token[:-1] + f"%{ord(w.token[-1]):02X}")
row("a dot behind", lambda w: w.token + ".")
row("a dot in front", lambda w: "." + w.token)
row("two dots between", lambda w: "..".join(w.parts[:2]) + "." + w.parts[2])
row("a fourth part", lambda w: w.token + ".AAAA")
row("five parts", lambda w: w.token + ".AAAA.AAAA")
row("no header", lambda w: f".{w.parts[1]}.{w.parts[2]}")
row("no claims", lambda w: f"{w.parts[0]}..{w.parts[2]}")
row("only dots", lambda w: "..")
row("one dot", lambda w: ".")
row("a word", lambda w: "token")
row("in quotes", lambda w: f'"{w.token}"')
row("in small letters", lambda w: w.token.lower())
row("in capitals", lambda w: w.token.upper())
row("JSON serialisation",
    lambda w: json.dumps({"protected": w.parts[0], "payload": w.parts[1], "signature": w.parts[2]}), JOINED)
row("a word behind", lambda w: f"{w.token} x")
row("a comma and another token", lambda w: f"{w.token}, {w.token}", JOINED)
row("a semicolon behind", lambda w: w.token + ";")
row("Bearer twice", lambda w: f"Bearer {w.token}")
row("a tab before", lambda w: f"\t{w.token}x")
row("just under 8 KiB of claims, wrongly signed", lambda w: w.signed(claims=dict(w.claims, x="y" * 5000)))

# Another way in.
request_row("no header at all", lambda w: {"headers": {}}, MISSING)
request_row("in the query", lambda w: {"headers": {}, "params": {"access_token": w.token}}, MISSING)
request_row("in a cookie",
            lambda w: {"headers": {"Cookie": f"Authorization=Bearer {w.token}; access_token={w.token}"}},
            MISSING)
for name in ("X-Authorization", "X-Access-Token", "Proxy-Authorization", "X-Forwarded-Authorization",
             "Authentication"):
    request_row(f"in {name}", lambda w, n=name: {"headers": {n: f"Bearer {w.token}"}}, MISSING)
for scheme in ("Basic", "Token", "JWT", "Digest", "Bear", "Bearerx"):
    request_row(f"as {scheme}", lambda w, s=scheme: {"headers": {"Authorization": f"{s} {w.token}"}}, EITHER)
request_row("without a scheme", lambda w: {"headers": {"Authorization": w.token}}, EITHER)
request_row("the scheme alone", lambda w: {"headers": {"Authorization": "Bearer"}}, EITHER)
request_row("the scheme and a colon", lambda w: {"headers": {"Authorization": f"Bearer: {w.token}"}}, EITHER)
request_row("the scheme without a blank", lambda w: {"headers": {"Authorization": f"Bearer{w.token}"}},
            EITHER)


def flip(data, place):
    """The bytes with one bit turned."""
    copy = bytearray(data)
    copy[place] ^= 0x10
    return bytes(copy)


def loosen(letter, bits):
    """The last letter of a signature with some of the four bits set that carry nothing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return alphabet[alphabet.index(letter) ^ bits]


def standard(text):
    """base64url as standard base64, for certain another text."""
    other = text.replace("-", "+").replace("_", "/")
    return other if other != text else other[:-1] + "/"
