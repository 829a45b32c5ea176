/* SPDX-License-Identifier: MIT */
/*
 * The configuration: one row a value (base/configuration.c), read from gatehouse.conf (INI), and overridden by the
 * environment (GATEHOUSE_<SECTION>_<NAME>). Unknown sections and names, values out of bounds and repeated names are
 * refused; one error names all of them with their line numbers. gatehouse.conf(5) describes every row, and a test
 * compares the two.
 */
#ifndef GATEHOUSE_BASE_CONFIGURATION_H
#define GATEHOUSE_BASE_CONFIGURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct arena;
struct error;

struct configuration {
    struct {
        const char *base_url; /* without a trailing slash */
        const char *web_url;  /* without a trailing slash; base_url when not set */
        bool expose_stack;
        int64_t max_json_bytes;
        int64_t max_file_bytes;
        struct text_list cors_origins;
        struct text_list web_server_user;
        int64_t requests_per_worker;
        int64_t io_timeout_seconds;
        const char *language;        /* of mails and pages where nothing tells what the person reads */
        const char *crossing_reason; /* "optional" or "required" */
        const char *secret_file;
        bool sandbox;             /* workers and job runners give up what they do not need */
        const char *security_txt; /* where to report a vulnerability; the web server sends it */
    } service;
    struct { /* what mails and pages show of the installation */
        const char *name;
        const char *logo;      /* as in the file: an address, or a path below the pages; NULL: none */
        const char *logo_dark; /* for a dark ground; NULL: as `logo` */
        const char *accent;    /* #rrggbb */
        const char *support;   /* where people find help: https, http or mailto; NULL: nowhere */
    } branding;
    struct {
        const char *socket; /* NULL: connect to host and port */
        const char *host;
        int64_t port;
        const char *name;
        const char *user;
        const char *password_file; /* NULL: none */
        const char *tls;           /* "required" for a server on another machine, or "off-on-a-trusted-network" */
        const char *tls_ca_file;   /* NULL: no TLS */
        int64_t connect_timeout_seconds;
        int64_t query_timeout_seconds;
        const char *admin_user; /* `user` when not set */
        const char *admin_password_file;
    } database;
    struct {
        const char *directory;
        const char *delivery; /* "accel", "sendfile" or "stream" */
        const char *accel_prefix;
        const char *clamd_socket; /* NULL: files are not checked for viruses */
        int64_t clamd_timeout_seconds;
        const char *body_directory; /* NULL: bodies come over the connection only */
        const char *store;          /* "directory" or "s3" */
        struct text_list s3_endpoint;
        const char *s3_bucket;
        const char *s3_region;
        const char *s3_prefix; /* NULL: none */
        const char *s3_access_key;
        const char *s3_secret_key_file;
        const char *s3_ca_file; /* NULL: the system's certificates */
        const char *s3_spool;
        int64_t s3_timeout_seconds;
    } files;
    struct {
        const char *provider;
        const char *issuer; /* base_url when not set */
        const char *audience;
        int64_t access_token_seconds;
        int64_t refresh_token_seconds;
        int64_t temporary_password_seconds;
        const char *codes; /* who mails the codes: "service" or "provider" */
        int64_t calls_max; /* calls to a remote provider at the same time, by all processes of a host */
    } identity;
    struct {
        const char *region;
        const char *endpoint; /* Amazon's of the region when not set */
        const char *issuer;   /* endpoint/user_pool_id when not set */
        const char *jwks_url; /* issuer/.well-known/jwks.json when not set */
        const char *user_pool_id;
        const char *client_id;
        const char *client_secret_file; /* NULL: the app client has none */
        const char *access_key_id;
        const char *secret_access_key_file;
        const char *ca_file; /* NULL: the system's certificates */
    } cognito;
    struct {
        const char *url;
        const char *realm;
        const char *issuer;   /* url/realms/realm when not set */
        const char *jwks_url; /* issuer/protocol/openid-connect/certs when not set */
        const char *client_id;
        const char *client_secret_file;
        const char *admin_client_id;
        const char *admin_client_secret_file;
        const char *ca_file; /* NULL: the system's certificates */
    } keycloak;
    struct {
        int64_t minimum_length;
        const char *common_list;
        int64_t hash_memory_kib;
        int64_t hash_passes;
    } password;
    struct {
        const char *transport; /* "file" or "smtp" */
        const char *directory;
        const char *from;
        const char *smtp_url;
        const char *smtp_user;
        const char *smtp_password_file;
        const char *smtp_tls; /* "none", "opportunistic" or "required" */
        const char *templates;
    } mail;
    struct {
        const char *file;
        int64_t size_mib; /* 0: no service cache */
    } cache;
    struct {
        const char *destination; /* "stderr", "syslog" or "file" */
        const char *file;
        const char *level;
    } log;
    struct {
        const char *file;
        const char *host;       /* of this host in its minutes; NULL: the system's name of it */
        struct text_list allow; /* addresses and ranges, or the one word "none" */
    } metrics;
    struct {
        int64_t accounts_per_hour;  /* team members that an organisation may create */
        int64_t sessions_per_user;  /* that are open at a time */
        int64_t customers_per_hour; /* that internal staff may create together */
        int64_t uploads_per_token;  /* uploads under way; where Apache asks about them */
        int64_t uploads_per_address;
        int64_t upload_seconds; /* after so long an upload is no longer counted */
    } limits;
    struct {
        int64_t every_days; /* 0: the job runner does not scrub */
        int64_t bytes_per_second;
        int64_t overdue_days;
    } scrub;
    struct {
        int64_t deadline_seconds;
        int64_t free_bytes_min;
        int64_t outbox_lag_seconds;
    } health;
    struct {
        bool files; /* each download and each opened link of the bucket is a row */
        bool images;
    } audit;
    struct { /* intervals that the tests shorten */
        int64_t refresh_grace_seconds;
        int64_t provider_login_seconds;
        int64_t provider_admin_seconds;
        int64_t provider_rest_seconds;
        int64_t stats_seconds; /* the length of a "minute" */
        int64_t use_seconds;
    } testing;
};

enum configuration_type {
    CONFIGURATION_TEXT,
    CONFIGURATION_URL,      /* http or https; a trailing slash is dropped */
    CONFIGURATION_PATH,     /* absolute */
    CONFIGURATION_CHOICE,   /* one of `choices`, separated by | */
    CONFIGURATION_COLOUR,   /* #rrggbb */
    CONFIGURATION_LANGUAGE, /* base/language.h */
    CONFIGURATION_LINK,     /* https, http or mailto */
    CONFIGURATION_PICTURE,  /* https, http, or a path below the pages */
    CONFIGURATION_WORDS,    /* separated by blanks */
    CONFIGURATION_INTEGER,  /* within minimum..maximum */
    CONFIGURATION_BOOLEAN   /* true or false */
};

/* A row of the table; documentation tests and `gatehousectl check` read it. */
struct configuration_row {
    const char *section;
    const char *name;
    enum configuration_type type;
    const char *fallback; /* as in the file; NULL: not set */
    const char *choices;
    int64_t minimum;
    int64_t maximum;
    bool required;
    size_t offset;
};

/* The prefix of variables in the environment. */
#define CONFIGURATION_PREFIX "GATEHOUSE_"

/* The name of a setting in the environment: GATEHOUSE_MAIL_SMTP_URL. */
const char *configuration_variable(struct arena *arena, const struct configuration_row *row);

/* All rows; *count_out is their number. */
const struct configuration_row *configuration_rows(size_t *count_out);

/*
 * Reads `path` (NULL: the environment and the defaults alone) into a new configuration in `arena`. INTERNAL with an
 * entry for every fault (path "section.name" or "line N"); the messages name the file's lines.
 */
struct error *configuration_load(struct arena *arena, const char *path, struct configuration **configuration_out);

/*
 * The environment's variables that begin with GATEHOUSE_ and that no program knows: a misspelt setting has no effect,
 * and nobody is told. Each comes with the setting that it resembles, or NULL.
 */
struct configuration_stray {
    const char *variable;
    const char *resembles;
};
const struct configuration_stray *configuration_strays(struct arena *arena, size_t *count_out);

/* The file to read: `option` when given, else $GATEHOUSE_CONFIG, else the path that was compiled in. */
const char *configuration_path(const char *option);

/* The directory of the shipped data files: $GATEHOUSE_DATA_DIR, else the path that was compiled in. */
const char *configuration_data_directory(void);

#endif
