# SPDX-License-Identifier: MIT
"""People: sign-up, members, addresses, codes, passwords, lists, and what the audit trail says of them."""
