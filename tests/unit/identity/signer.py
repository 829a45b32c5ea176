# SPDX-License-Identifier: MIT
"""Tokens signed with RS256 by a key of plain numbers, for the servers beside it: they need Python alone."""

import base64
import hashlib
import json


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    """The key of a file: an object of "n", "d", its primes "p" and "q" (hexadecimal numbers), and "kid"."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            key = json.load(file)
        self.modulus, self.exponent, self.kid = int(key["n"], 16), int(key["d"], 16), key["kid"]
        self.size = (self.modulus.bit_length() + 7) // 8
        self.primes = [int(key[name], 16) for name in ("p", "q")]
        self.inverse = pow(self.primes[1], -1, self.primes[0])

    def power(self, number):
        """To the private exponent, by each prime for itself: a quarter of the work."""
        p, q = self.primes
        one, other = (pow(number % prime, self.exponent % (prime - 1), prime) for prime in (p, q))
        return other + (one - other) * self.inverse % p * q

    def sign(self, claims):
        text = b64(json.dumps({"alg": "RS256", "typ": "JWT", "kid": self.kid}).encode())
        text += "." + b64(json.dumps(claims).encode())
        info = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(text.encode()).digest()
        padded = b"\x00\x01" + b"\xff" * (self.size - len(info) - 3) + b"\x00" + info
        number = self.power(int.from_bytes(padded, "big"))
        return text + "." + b64(number.to_bytes(self.size, "big"))

    def jwks(self, kid, algorithm, use):
        """The key set, with the same numbers once more under another name that tokens must not be taken from."""
        numbers = {"kty": "RSA", "n": b64(self.modulus.to_bytes(self.size, "big")), "e": "AQAB"}
        return {"keys": [{**numbers, "kid": self.kid, "alg": "RS256", "use": "sig"},
                         {**numbers, "kid": kid, "alg": algorithm, "use": use}]}
