# SPDX-License-Identifier: MIT
dist_pkgdata_DATA = share/common-passwords.txt share/common-passwords.LICENCE
EXTRA_DIST += tools/make-common-passwords
