# SPDX-License-Identifier: MIT
"""Files that are there: downloads, ranges, links, lists, orders, quotas, archive."""
