/* SPDX-License-Identifier: MIT */
/*
 * Every limit of the service. Each buffer, and each input from a client, a file or another machine, has its maximum
 * here, so that one page shows the whole memory budget.
 */
#ifndef GATEHOUSE_BASE_LIMITS_H
#define GATEHOUSE_BASE_LIMITS_H

/* A limit as a literal, for a sentence that states its number: "at most " LIMIT_TEXT(LIMIT_FILES) " files". */
#define LIMIT_TEXT(limit) LIMIT_TEXT_OF(limit)
#define LIMIT_TEXT_OF(number) #number

/* A line of gatehouse.conf, without its end. All releases of inih take one byte more. */
#define LIMIT_CONFIGURATION_LINE_BYTES 198

/* The file that says where to report a vulnerability, as RFC 9116 has readers bound it. */
#define LIMIT_SECURITY_TXT_BYTES 32768

/* Request line and headers. The web server limits them first; these are the worker's own limits. */
#define LIMIT_PATH_BYTES 2048
#define LIMIT_QUERY_BYTES 4096
#define LIMIT_QUERY_PARAMETERS 32
#define LIMIT_HEADER_BYTES 8192
/* All FastCGI parameters of a request together: more than the web servers let through by their configurations. */
#define LIMIT_PARAMETERS 4096
#define LIMIT_PARAMETERS_BYTES (256 * 1024)
#define LIMIT_REQUEST_ID_MIN 8
#define LIMIT_REQUEST_ID_MAX 128

/* JSON (docs/api.md, "Rules for every request"). The default body bound is configurable up to LIMIT_JSON_BYTES_MAX. */
#define LIMIT_JSON_BYTES 65536
#define LIMIT_JSON_BYTES_MAX 1048576
#define LIMIT_JSON_DEPTH 16
#define LIMIT_VALIDATION_ENTRIES 100

/* A variable of the environment whose name is compared with those of the settings. */
#define LIMIT_VARIABLE_BYTES 64

/* Tokens (docs/accounts.md, "Sessions"). */
#define LIMIT_TOKEN_BYTES 8192
#define LIMIT_TOKEN_LEEWAY_SECONDS 30
#define LIMIT_TOKEN_MEMO_SLOTS 4096

/* For so long a spent refresh token is answered with its successor again; tests may set less. */
#define LIMIT_REFRESH_GRACE_SECONDS 10

/* Refresh tokens of one session. A session of 30 days that refreshes every 15 minutes has 2,880. */
#define LIMIT_REFRESH_TOKENS 8192

/* How many sessions a process remembers as valid, and for how long (milliseconds). */
#define LIMIT_SESSION_MEMO_SLOTS 1024
#define LIMIT_SESSION_MEMO_AGE 60000

/* Multipart uploads (docs/api.md, "Limits"). */
#define LIMIT_PARTS 32
#define LIMIT_FILES 10
/* Everything in the body of an upload that is no file. The configurations of the web servers allow as much. */
#define LIMIT_UPLOAD_FORM_BYTES INT64_C(1048576)
#define LIMIT_TAGS 16

/*
 * The least speed of an upload: a web server ends a slower one (RequestReadTimeout of Apache), and some seconds more
 * are allowed for the way to a worker; the longest time of an upload; and how many uploads a host counts.
 */
#define LIMIT_UPLOAD_START_SECONDS 60
#define LIMIT_UPLOAD_BYTES_PER_SECOND 4096
#define LIMIT_UPLOAD_SECONDS 604800
#define LIMIT_UPLOAD_SLOTS 8192
/* After so long an upload that arrives in pieces ends. */
#define LIMIT_UPLOAD_HOURS 24
#define LIMIT_TAG_CHARACTERS 64
#define LIMIT_FILE_NAME_BYTES 255
#define LIMIT_PICTURE_MEGAPIXELS 40
#define LIMIT_FIELD_BYTES 4096
#define LIMIT_PART_HEADER_BYTES 4096
#define LIMIT_BOUNDARY_BYTES 70

/* The block in which bodies are read and bytes are written. */
#define LIMIT_BLOCK_BYTES 65536

/*
 * The block in which blobs are written. The larger a write(), the less work a byte is for the page cache, until the
 * block no longer stays in the core's own cache while it is received, digested and written.
 */
#define LIMIT_BLOB_BLOCK_BYTES (256 * 1024)

/* How many bytes of a file libmagic sees. */
#define LIMIT_SNIFF_BYTES 16384

/*
 * What the process that examines files may use: memory, seconds of the processor, milliseconds for one file; and how
 * many files it sees until another one takes its place.
 */
#define LIMIT_SNIFFER_MEMORY_BYTES (64 * 1024 * 1024)
#define LIMIT_SNIFFER_SECONDS 60
#define LIMIT_SNIFFER_MILLISECONDS 5000
#define LIMIT_SNIFFER_FILES 1000

/* The longest answer of the virus scanner, its NUL included. */
#define LIMIT_SCAN_ANSWER_BYTES 1024

/* People and organisations. */
#define LIMIT_EMAIL_BYTES 254
#define LIMIT_LOCAL_PART_BYTES 64
#define LIMIT_NAME_CHARACTERS 100
#define LIMIT_ORGANISATION_NAME_CHARACTERS 200
#define LIMIT_PASSWORD_CHARACTERS 128
#define LIMIT_PASSWORD_MIN 8
/* A password in a request. The password policy checks new ones. */
#define LIMIT_PASSWORD_INPUT_CHARACTERS 1024
#define LIMIT_PERMISSION_BYTES 100
#define LIMIT_PERMISSIONS_BYTES 2048
#define LIMIT_USER_ROLES 32
#define LIMIT_USER_PERMISSIONS 100

/* Uses of permissions that a process has noted and not written yet. */
#define LIMIT_USES_PENDING 256

/* Lists. */
#define LIMIT_PAGE_DEFAULT 25
#define LIMIT_PAGE_MAX 100
/* The audit trail: rows that are read at once, and the most that one export has. */
#define LIMIT_AUDIT_PAGE 200
#define LIMIT_AUDIT_EXPORT 100000
/* Why internal staff look into another organisation: the header X-Reason. */
#define LIMIT_REASON_CHARACTERS 200
/* The most files that one request archives or restores. */
#define LIMIT_BULK_FILES 100
/* Lost files that are remembered; the scrub reports every one. */
#define LIMIT_FILES_LOST 1000

/* The minutes that one reply has: those of two hosts for two days. */
#define LIMIT_STATS_ROWS 5760

/* One log line, written with one write(2). */
#define LIMIT_LOG_LINE_BYTES 8192
#define LIMIT_LOG_FILTER_BYTES 1024
#define LIMIT_LOG_PATH_BYTES 4096

/* The host's shared memory: operations with a row of their own, processes of one host. */
#define LIMIT_METRICS_OPERATIONS 160
#define LIMIT_METRICS_PROCESSES 256

/* The service cache: a key, a value, the keys that one request may evict, the entries that one request counts. */
#define LIMIT_CACHE_KEY_BYTES 200
#define LIMIT_CACHE_VALUE_BYTES 262144
#define LIMIT_CACHE_NAMES 100
#define LIMIT_CACHE_COUNTED 200000

/* Answers of a store of the S3 protocol: XML, and the objects that one page of a list names. */
#define LIMIT_XML_PATH_BYTES 256
#define LIMIT_XML_DEPTH 8
#define LIMIT_XML_TEXT_BYTES 4096
#define LIMIT_S3_PAGE 500
#define LIMIT_S3_KEY_BYTES 1024

/* Keys in the secret file. */
#define LIMIT_MASTER_KEYS 8

/* Hosts in the list of [database] host. */
#define LIMIT_DATABASE_HOSTS 9

/* Prepared statements that one connection keeps. */
#define LIMIT_STATEMENTS 256

#endif
