# SPDX-License-Identifier: MIT
"""Bytes that no client would send: HTTP, FastCGI and the PROXY protocol by hand."""
