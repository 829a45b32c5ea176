EXTRA_DIST += tests/unit/blob/s3/s3_server.py
check_PROGRAMS += tests/unit/test-blob
TESTS += tests/unit/test-blob
tests_unit_test_blob_SOURCES = \
	tests/unit/blob/support.h tests/unit/blob/support.c \
	tests/unit/blob/main.c \
	tests/unit/blob/test_content.c \
	tests/unit/blob/test_directory.c \
	tests/unit/blob/test_directory_stored.c \
	tests/unit/blob/test_faults.c \
	tests/unit/blob/test_directory_order.c \
	tests/unit/blob/test_image.c \
	tests/unit/blob/test_partial.c \
	tests/unit/blob/test_partial_faults.c \
	tests/unit/blob/test_directory_sweep.c \
	tests/unit/blob/s3/support_s3.h tests/unit/blob/s3/support_s3.c \
	tests/unit/blob/s3/support_s3_calls.h tests/unit/blob/s3/support_s3_calls.c \
	tests/unit/blob/s3/test_refusal.c \
	tests/unit/blob/s3/test_s3.c \
	tests/unit/blob/s3/test_s3_answers.c \
	tests/unit/blob/s3/test_s3_faults.c \
	tests/unit/blob/s3/test_s3_partial.c \
	tests/unit/store/script_server.h tests/unit/store/script_server.c \
	tests/unit/blob/test_scanner.c \
	tests/unit/blob/test_scanner_faults.c \
	tests/unit/blob/sniffer/support_sniffer.h tests/unit/blob/sniffer/support_sniffer.c \
	tests/unit/blob/sniffer/support_warm_up.h tests/unit/blob/sniffer/support_warm_up.c \
	tests/unit/blob/sniffer/test_sniffer.c \
	tests/unit/blob/sniffer/test_sniffer_child.c \
	tests/unit/blob/sniffer/test_sniffer_faults.c \
	tests/unit/blob/sniffer/test_sniffer_types.c \
	tests/unit/blob/test_sniff.c
tests_unit_test_blob_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/tests/unit/blob -DGATEHOUSE_PYTHON3='"$(PYTHON3)"'
tests_unit_test_blob_CFLAGS = $(unit_cflags)
tests_unit_test_blob_LDADD = $(unit_libs) $(blob_libs) $(CMOCKA_LIBS)
# A test's own keeper, whose sniffers lie, and calls that fail: of the system, and to an S3 store.
tests_unit_test_blob_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sniff_keeper_run,--wrap=socketpair,--wrap=fork \
	-Wl,--wrap=syscall,--wrap=clock_gettime,--wrap=poll,--wrap=recvmsg,--wrap=sendmsg \
	-Wl,--wrap=send,--wrap=recv,--wrap=socket,--wrap=connect \
	-Wl,--wrap=http_client_call,--wrap=http_client_new,--wrap=clock_monotonic
