# SPDX-License-Identifier: MIT
"""gatehousectl backup, restore, fsck, purge and scrub."""
