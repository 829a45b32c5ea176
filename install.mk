# SPDX-License-Identifier: MIT
# What is installed beside the programs: the web servers' sites, the sample configuration, the systemd units, the pages
# for people. Documents and data files have their fragments where they lie.
include $(top_srcdir)/docs/local.mk
include $(top_srcdir)/share/local.mk
include $(top_srcdir)/web/local.mk

# The sites are installed twice: as the templates that tools/quickstart fills in, and filled in for the usual places,
# for the administrator to copy.

nginxdir = $(pkgdatadir)/nginx
apachedir = $(pkgdatadir)/apache
confdir = $(pkgdatadir)/conf
logrotatedir = $(pkgdatadir)/logrotate
configdir = $(sysconfdir)/gatehouse
systemddir = $(SYSTEMD_UNIT_DIRECTORY)

FILLED_IN = nginx/gatehouse.conf \
	apache/gatehouse-site.conf apache/gatehouse-proxy-fcgi.conf apache/gatehouse-fcgid.conf \
	systemd/gatehouse.service systemd/gatehouse-login.service systemd/gatehouse-upload.service \
	systemd/gatehouse-jobs.service \
	logrotate/gatehouse

# What the timers start.
FILLED_IN += systemd/gatehouse-backup.service systemd/gatehouse-fsck.service systemd/gatehouse-purge.service \
	systemd/gatehouse-scrub.service

# What starts all of it where no systemd does.
FILLED_IN += share/gatehouse-run
nodist_pkglibexec_SCRIPTS = share/gatehouse-run
EXTRA_DIST += share/gatehouse-run.in

dist_nginx_DATA = nginx/gatehouse.conf.in
nodist_nginx_DATA = nginx/gatehouse.conf
dist_apache_DATA = apache/gatehouse-site.conf.in apache/gatehouse-proxy-fcgi.conf.in apache/gatehouse-fcgid.conf.in \
	apache/shared-hosting.htaccess
nodist_apache_DATA = apache/gatehouse-site.conf apache/gatehouse-proxy-fcgi.conf apache/gatehouse-fcgid.conf
dist_conf_DATA = conf/gatehouse.conf.in
nodist_config_DATA = conf/gatehouse.conf.sample
nodist_systemd_DATA = systemd/gatehouse.service systemd/gatehouse-login.service systemd/gatehouse-upload.service \
	systemd/gatehouse-jobs.service
nodist_systemd_DATA += systemd/gatehouse-backup.service systemd/gatehouse-fsck.service systemd/gatehouse-purge.service \
	systemd/gatehouse-scrub.service
dist_systemd_DATA = systemd/gatehouse-backup.timer systemd/gatehouse-fsck.timer systemd/gatehouse-purge.timer \
	systemd/gatehouse-scrub.timer
nodist_logrotate_DATA = logrotate/gatehouse
EXTRA_DIST += tools/quickstart tools/test tools/lib/needs.py tools/lib/packages tools/lib/packages.txt \
	tools/lib/quickstart tools/lib/emulators \
	tools/lib/testing tests/tools tools/lib/containers tools/lib/debian13 tools/lib/package tools/lib/promtool \
	tools/generate-clients clients
EXTRA_DIST += systemd/gatehouse.service.in systemd/gatehouse-login.service.in systemd/gatehouse-upload.service.in \
	systemd/gatehouse-jobs.service.in \
	logrotate/gatehouse.in
EXTRA_DIST += systemd/gatehouse-backup.service.in systemd/gatehouse-fsck.service.in systemd/gatehouse-purge.service.in \
	systemd/gatehouse-scrub.service.in
# What images are made of, and the tests.
EXTRA_DIST += containers .dockerignore .gitattributes .git-blame-ignore-revs tests/ceph tests/clients tests/cluster \
	tests/fuzz/run tests/guides tests/http tests/monitoring tests/providers tests/quickstart tests/torture tests/web \
	tools/coverage tools/lib/findings.py tools/lib/statements.py
CLEANFILES += $(FILLED_IN) conf/gatehouse.conf.sample

# The largest upload: one MiB more than the default of max_file_bytes.
INSTALLED_MAX_BODY = 5369757696

FILL_IN_DIRECTORIES = \
	-e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' \
	-e 's|@pkgdatadir[@]|$(pkgdatadir)|g' \
	-e 's|@sysconfdir[@]|$(sysconfdir)|g' \
	-e 's|@localstatedir[@]|$(localstatedir)|g'

# Comments name the words between @ signs and keep them. Lines with a mark (#[file]) are no comments: they are filled
# in, so that they work as soon as the mark is taken away.
$(FILLED_IN): Makefile
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) -e '/^ *#$$/b' -e '/^ *#[^[]/b' $(FILL_IN_DIRECTORIES) \
		-e 's|@LISTEN[@]|*:80|g' \
		-e 's|@SERVER_NAME[@]|gatehouse.example.org|g' \
		-e 's|@BASE_PATH[@]|$(BASE_PATH)|g' \
		-e 's|@WORKER_SOCKET[@]|/run/gatehouse/worker.sock|g' \
		-e 's|@LOGIN_SOCKET[@]|/run/gatehouse/login.sock|g' \
		-e 's|@UPLOAD_SOCKET[@]|/run/gatehouse/upload.sock|g' \
		-e 's|@BODY_DIRECTORY[@]|$(localstatedir)/lib/gatehouse/bodies|g' \
		-e 's|@WORKER_DIRECTORY[@]|$(pkglibexecdir)|g' \
		-e 's|@WORKER[@]|$(pkglibexecdir)/gatehouse.fcgi|g' \
		-e 's|@CONFIGURATION[@]|$(configdir)/gatehouse.conf|g' \
		-e 's|@WORKERS[@]|8|g' \
		-e 's|@LOGIN_WORKERS[@]|4|g' \
		-e 's|@FILES_DIRECTORY[@]|$(localstatedir)/lib/gatehouse/files|g' \
		-e 's|@ACCEL_PREFIX[@]|/_gatehouse_files/|g' \
		-e 's|@MAX_BODY[@]|$(INSTALLED_MAX_BODY)|g' \
		-e 's|@STORE[@]|server s3.example.org:443;|g' \
		-e 's|@STORE_SCHEME[@]|https|g' \
		-e 's|@FRONT[@]|192.0.2.10|g' \
		-e 's|@WEB_ROOT[@]|$(webdir)|g' \
		-e 's|@SECURITY_TXT[@]|$(configdir)/security.txt|g' \
		-e 's|@INCLUDE_DIRECTORY[@]|/etc/apache2/sites-available|g' \
		$(srcdir)/$@.in > $@

nginx/gatehouse.conf: nginx/gatehouse.conf.in
apache/gatehouse-site.conf: apache/gatehouse-site.conf.in
apache/gatehouse-proxy-fcgi.conf: apache/gatehouse-proxy-fcgi.conf.in
apache/gatehouse-fcgid.conf: apache/gatehouse-fcgid.conf.in
share/gatehouse-run: share/gatehouse-run.in
systemd/gatehouse.service: systemd/gatehouse.service.in
systemd/gatehouse-login.service: systemd/gatehouse-login.service.in
systemd/gatehouse-upload.service: systemd/gatehouse-upload.service.in
systemd/gatehouse-jobs.service: systemd/gatehouse-jobs.service.in
logrotate/gatehouse: logrotate/gatehouse.in
systemd/gatehouse-backup.service: systemd/gatehouse-backup.service.in
systemd/gatehouse-fsck.service: systemd/gatehouse-fsck.service.in
systemd/gatehouse-purge.service: systemd/gatehouse-purge.service.in
systemd/gatehouse-scrub.service: systemd/gatehouse-scrub.service.in

conf/gatehouse.conf.sample: conf/gatehouse.conf.in Makefile
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) $(FILL_IN_DIRECTORIES) $(srcdir)/conf/gatehouse.conf.in > $@
