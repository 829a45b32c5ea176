libghdomain_a_SOURCES += \
	include/domain/file/file.h \
	src/domain/file/file.c \
	include/domain/file/file_admin.h \
	src/domain/file/file_admin_int.h \
	src/domain/file/file_admin.c \
	include/domain/file/file_damage.h \
	src/domain/file/file_damage.c \
	include/domain/file/file_kind.h \
	src/domain/file/file_kind.c \
	src/domain/file/file_list.c \
	src/domain/file/file_list_int.h \
	src/domain/file/file_list_sorted.c \
	src/domain/file/file_purge.c \
	include/domain/file/file_link.h \
	src/domain/file/file_link.c \
	include/domain/file/file_upload.h \
	src/domain/file/file_upload.c \
	include/domain/file/file_usage.h \
	src/domain/file/file_usage.c \
	include/domain/file/link_key.h \
	src/domain/file/link_key.c \
	src/domain/file/link_key_int.h
