# SPDX-License-Identifier: MIT
"""What an operator looks at: health, metrics, alerts, logs, gatehousectl; and parts of the service that are down."""
