# SPDX-License-Identifier: MIT
dist_pkgdata_DATA = share/common-passwords.txt share/common-passwords.LICENCE
monitoringdir = $(pkgdatadir)/monitoring
dist_monitoring_DATA = share/monitoring/prometheus.yml share/monitoring/gatehouse-alerts.yml \
	share/monitoring/gatehouse-dashboard.json
EXTRA_DIST += tools/make-common-passwords tools/lib/promtool
# How shells complete gatehousectl's commands: the program names the candidates, see src/ctl/complete.c.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = share/completions/gatehousectl
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = share/completions/_gatehousectl
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = share/completions/gatehousectl.fish
