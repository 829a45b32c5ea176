# SPDX-License-Identifier: MIT
"""Files: uploads and downloads, ranges, links, lists, quotas, types, the virus scanner."""
