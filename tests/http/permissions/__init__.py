# SPDX-License-Identifier: MIT
"""Who may do what: grants, roles, the table of every route, and the boundary of the organisation."""
