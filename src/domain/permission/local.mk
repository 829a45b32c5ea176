libghdomain_a_SOURCES += \
	include/domain/permission/permission.h \
	src/domain/permission/permission.c \
	include/domain/permission/permission_use.h \
	src/domain/permission/permission_use.c \
	include/domain/permission/principal.h \
	src/domain/principal_int.h \
	src/domain/permission/principal.c \
	src/domain/permission/principal_rebuild.c \
	src/domain/permission/principal_selftest.c \
	include/domain/permission/role.h \
	src/domain/permission/role.c
