# SPDX-License-Identifier: MIT
dist_pkgdata_DATA = share/common-passwords.txt share/common-passwords.LICENCE
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = share/monitoring/prometheus.yml share/monitoring/gatehouse-alerts.yml \
	share/monitoring/gatehouse-dashboard.json
EXTRA_DIST += tools/make-common-passwords tools/lib/promtool
