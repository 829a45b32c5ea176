# SPDX-License-Identifier: MIT
"""A client of Gatehouse: accounts, permissions and files of organisations."""

from .client import Gatehouse
from .errors import (AuthenticationError, ConflictError, DuplicateFileError, Fault, GatehouseError, InvalidRequestError,
                     NewPasswordRequiredError, NotFoundError, PermissionDeniedError, QuotaExceededError,
                     RateLimitedError, UnavailableError)
from .pages import iterate
from .session import Tokens
from .transport import VERSION as __version__

__all__ = ["AuthenticationError", "ConflictError", "DuplicateFileError", "Fault", "Gatehouse", "GatehouseError",
           "InvalidRequestError", "NewPasswordRequiredError", "NotFoundError", "PermissionDeniedError",
           "QuotaExceededError", "RateLimitedError", "Tokens", "UnavailableError", "__version__", "iterate"]
