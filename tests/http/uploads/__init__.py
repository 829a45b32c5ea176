# SPDX-License-Identifier: MIT
"""How files come in: whole and resumable uploads, their limits, the sniffer, the virus scanner."""
