# SPDX-License-Identifier: MIT
"""Login and its throttle, refresh, logout, and the tokens that are accepted or refused."""
