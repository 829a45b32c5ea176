noinst_LIBRARIES += libghapi_document.a
libghapi_document_a_SOURCES = \
	src/api/document/examples_int.h \
	src/api/document/examples.c \
	src/api/document/headers_int.h \
	src/api/document/headers.c \
	include/api/document/openapi.h \
	src/api/document/openapi.c
