# The worker is started by spawn-fcgi or the web server, not from a shell.
pkglibexec_PROGRAMS += gatehouse.fcgi
gatehouse_fcgi_SOURCES = src/worker/main.c
gatehouse_fcgi_LDADD = $(GATEHOUSE_LIBS)

GATEHOUSE_LIBS = $(api_archives) $(service_archives) $(identity_archives) $(blob_archives) $(domain_archives) \
	$(store_archives) libghhttp.a \
	libghcodec.a libghbase.a \
	$(FCGI_LIBS) $(MARIADB_LIBS) $(CURL_LIBS) $(LMDB_LIBS) $(MAGIC_LIBS) $(JWT_LIBS) $(CJSON_LIBS) $(IDN2_LIBS) \
	$(UNISTRING_LIBS) $(SODIUM_LIBS) $(OPENSSL_LIBS) \
	$(INIH_LIBS) $(SECCOMP_LIBS)
