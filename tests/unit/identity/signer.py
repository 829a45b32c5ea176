# SPDX-License-Identifier: MIT
"""Tokens signed with RS256 by a key of plain numbers, for the servers beside it: they need Python and libcrypto."""

import base64
import ctypes
import hashlib
import json


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# Python's own pow() takes thirty times as long, which is most of what the tests of a provider take.
CRYPTO = ctypes.CDLL("libcrypto.so.3")
for name in ("BN_CTX_new", "BN_new", "BN_bin2bn"):
    getattr(CRYPTO, name).restype = ctypes.c_void_p


def bytes_of(number):
    """The bytes of a number of Python."""
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def number_of(data):
    """A number of libcrypto from its bytes."""
    return ctypes.c_void_p(CRYPTO.BN_bin2bn(data, len(data), None))


class Signer:
    """The key of a file: an object of "n" and "d" (hexadecimal numbers), and "kid"."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            key = json.load(file)
        self.modulus, self.exponent = (bytes_of(int(key[name], 16)) for name in ("n", "d"))
        self.kid = key["kid"]
        self.size = len(self.modulus)

    def power(self, data):
        """To the private exponent."""
        context, result = ctypes.c_void_p(CRYPTO.BN_CTX_new()), ctypes.c_void_p(CRYPTO.BN_new())
        numbers = [number_of(one) for one in (data, self.exponent, self.modulus)]
        written = ctypes.create_string_buffer(self.size)
        assert CRYPTO.BN_mod_exp(result, *numbers, context) == 1
        assert CRYPTO.BN_bn2binpad(result, written, self.size) == self.size
        for one in (result, *numbers):
            CRYPTO.BN_free(one)
        CRYPTO.BN_CTX_free(context)
        return written.raw

    def sign(self, claims):
        text = b64(json.dumps({"alg": "RS256", "typ": "JWT", "kid": self.kid}).encode())
        text += "." + b64(json.dumps(claims).encode())
        info = bytes.fromhex("3031300d060960864801650304020105000420") + hashlib.sha256(text.encode()).digest()
        padded = b"\x00\x01" + b"\xff" * (self.size - len(info) - 3) + b"\x00" + info
        return text + "." + b64(self.power(padded))

    def jwks(self, kid, algorithm, use):
        """The key set, with the same numbers once more under another name that tokens must not be taken from."""
        numbers = {"kty": "RSA", "n": b64(self.modulus), "e": "AQAB"}
        return {"keys": [{**numbers, "kid": self.kid, "alg": "RS256", "use": "sig"},
                         {**numbers, "kid": kid, "alg": algorithm, "use": use}]}
