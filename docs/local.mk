# SPDX-License-Identifier: MIT
dist_man_MANS = docs/gatehouse.8 docs/gatehousectl.8 docs/gatehouse.conf.5
dist_doc_DATA = \
	CHANGELOG.md \
	LICENSE \
	docs/README.md \
	docs/accounts.md \
	docs/api.md \
	docs/asvs.md \
	docs/backup-drill.md \
	docs/clients.md \
	docs/console.md \
	docs/containers.md \
	docs/errors.md \
	docs/files.md \
	docs/first-hour.md \
	docs/identity-providers.md \
	docs/installing.md \
	docs/monitoring.md \
	docs/permissions.md \
	docs/scaling.md \
	docs/security-promises.md \
	docs/security.md \
	docs/shared-hosting.md \
	docs/troubleshooting.md \
	docs/upgrading.md
# The benchmarks' page and pictures are of the developers' machine; the tree and the release have them.
EXTRA_DIST += docs/benchmarks-cluster.svg docs/benchmarks-console.svg \
	docs/benchmarks-files.svg docs/benchmarks-glewlwyd.svg \
	docs/benchmarks-login.svg docs/benchmarks-overload.svg docs/benchmarks-peers.svg docs/benchmarks-pool.svg \
	docs/benchmarks-reads.svg docs/benchmarks-scale.svg \
	docs/benchmarks-soak.svg docs/benchmarks-worker.svg docs/benchmarks.md
EXTRA_DIST += docs/architecture.md docs/containers.md docs/decisions docs/pictures tools/lib/pictures
# All of them as web pages, which the sites serve at /docs/. The folder is made anew when one of these has changed.
EXTRA_DIST += tools/make-guides tools/lib/guides
if GUIDES
GUIDE_INPUTS = $(dist_doc_DATA) $(dist_man_MANS) docs/architecture.md docs/benchmarks.md docs/openapi.json \
	CONTRIBUTING.md \
	README.md SECURITY.md configure.ac tools/make-guides tools/lib/guides/book.py tools/lib/guides/page.py \
	tools/lib/guides/places.py tools/lib/guides/anchor.py tools/lib/guides/search.js tools/lib/guides/style.css \
	web/api/frame.css
all-local: docs/html/index.html
docs/html/index.html: $(GUIDE_INPUTS)
	$(AM_V_at)$(MKDIR_P) docs
	$(AM_V_GEN)$(GUIDES_PYTHON) -I -B $(srcdir)/tools/make-guides docs/html $(srcdir) >/dev/null
install-data-local: docs/html/index.html
	$(MKDIR_P) $(DESTDIR)$(webdir)/docs
	cd docs/html && find . -type f | while read -r file; do \
		$(MKDIR_P) "$(DESTDIR)$(webdir)/docs/$${file%/*}" && \
		$(INSTALL_DATA) "$$file" "$(DESTDIR)$(webdir)/docs/$$file" || exit 1; done
uninstall-local:
	rm -rf $(DESTDIR)$(webdir)/docs
clean-local:
	rm -rf docs/html
endif
EXTRA_DIST += \
	.clang-format \
	.clang-tidy \
	.editorconfig \
	.flake8 \
	tools/lib/csource.py \
	tools/lib/spelling \
	tools/lib/tree.py \
	tools/pre-commit
