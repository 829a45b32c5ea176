# SPDX-License-Identifier: MIT
"""Secrets: where none may be found, how they are changed, and the rights of the database accounts."""
