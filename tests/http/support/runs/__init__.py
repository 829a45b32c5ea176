# SPDX-License-Identifier: MIT
"""How the cases of a run are drawn, shared out, timed and judged."""
