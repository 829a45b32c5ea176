# SPDX-License-Identifier: MIT
"""The identity providers that a start can bring along: one that somebody else's service stands for, by an emulator or
by its own server (tools/lib/emulators), supervised like the database."""

from providers.cognito import CognitoLocal
from providers.keycloak import Keycloak
from providers.moto import Moto

# By the provider's name in the configuration, the one that is taken unless another is asked for first.
KNOWN = {"cognito": (CognitoLocal, Moto), "keycloak": (Keycloak,)}
EMULATORS = tuple(one.emulator for classes in KNOWN.values() for one in classes)


def kind(chosen):
    """The class of the provider that was asked for; None: the embedded one, which needs nobody."""
    if chosen.provider == "embedded":
        return None
    classes = KNOWN[chosen.provider]
    return next((one for one in classes if one.emulator == chosen.emulator), classes[0])


def select(chosen, layout, processes):
    """The provider that was asked for, or None."""
    found = kind(chosen)
    return found(chosen, layout, processes) if found else None
