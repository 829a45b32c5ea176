# Unit tests: one cmocka program a floor, named tests/unit/test-<floor>, linked with that floor's libraries and no
# higher one, so that an upward call does not even link. They speak TAP to automake's driver.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/unit/tap.sh
EXTRA_DIST += tests/unit/tap.sh
EXTRA_DIST += tests/unit/local.mk

if HAVE_CMOCKA
check_LIBRARIES = tests/unit/libharness.a
tests_unit_libharness_a_SOURCES = tests/unit/harness.h tests/unit/harness.c
tests_unit_libharness_a_CPPFLAGS = $(AM_CPPFLAGS) -DGATEHOUSE_TOP_SRCDIR='"$(abs_top_srcdir)"'
tests_unit_libharness_a_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit
unit_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_libs = tests/unit/libharness.a

include $(top_srcdir)/tests/unit/base/local.mk
include $(top_srcdir)/tests/unit/codec/local.mk
include $(top_srcdir)/tests/unit/store/local.mk
include $(top_srcdir)/tests/unit/http/local.mk
include $(top_srcdir)/tests/unit/domain/local.mk
include $(top_srcdir)/tests/unit/identity/local.mk
include $(top_srcdir)/tests/unit/blob/local.mk
include $(top_srcdir)/tests/unit/service/local.mk
include $(top_srcdir)/tests/unit/api/local.mk
endif
