include $(top_srcdir)/src/service/access/local.mk
include $(top_srcdir)/src/service/account/local.mk
include $(top_srcdir)/src/service/file/local.mk
include $(top_srcdir)/src/service/integrity/local.mk
include $(top_srcdir)/src/service/maintenance/local.mk
include $(top_srcdir)/src/service/runtime/local.mk
include $(top_srcdir)/src/service/system/local.mk
# In the order of their dependencies: each uses those behind it only.
service_archives = libghservice_system.a libghservice_integrity.a libghservice_maintenance.a libghservice_account.a \
	libghservice_file.a libghservice_access.a libghservice_runtime.a
