# SPDX-License-Identifier: MIT
"""Identity providers: Cognito and Keycloak, their faults, setting them up, moving accounts to them."""
