# SPDX-License-Identifier: MIT
"""What the HTTP tests share: the stack, the checking client, accounts, the database, mail, logs and
samples."""
