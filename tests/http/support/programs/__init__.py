# SPDX-License-Identifier: MIT
"""Programs that tests start, end or hold still: workers, gatehousectl, whole hosts."""
