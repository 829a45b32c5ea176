# SPDX-License-Identifier: MIT
"""The system settings and the service cache."""
