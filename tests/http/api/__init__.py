# SPDX-License-Identifier: MIT
"""What holds for every endpoint: JSON bodies, headers of replies, the OpenAPI document."""
