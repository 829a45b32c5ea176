# SPDX-License-Identifier: MIT
"""E-mails: what they hold, how many are sent, and what happens while the mail server or the database is away."""
