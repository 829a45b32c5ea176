# SPDX-License-Identifier: MIT
"""What several folders of tests share: the stack, the client that checks every reply, accounts, the database, mail,
logs and samples. What only one folder needs stands there, in files that begin with support_."""
