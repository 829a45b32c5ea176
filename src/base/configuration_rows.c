/* SPDX-License-Identifier: MIT */
/* The table of all settings: section, name, type, default and bounds of each, and its place in the configuration. */
#include "base/configuration.h"

#include <stddef.h>

#include "base/limits.h"

#define PLACE(section, name) #section, #name
#define AT(section, name) .offset = offsetof(struct configuration, section.name)
#define TEXT(section, name, fallback)                                                                                  \
    {PLACE(section, name), CONFIGURATION_TEXT, fallback, NULL, 0, 0, false, AT(section, name)}
#define REQUIRED_URL(section, name) {PLACE(section, name), CONFIGURATION_URL, NULL, NULL, 0, 0, true, AT(section, name)}
#define URL(section, name) {PLACE(section, name), CONFIGURATION_URL, NULL, NULL, 0, 0, false, AT(section, name)}
#define LINK(section, name) {PLACE(section, name), CONFIGURATION_LINK, NULL, NULL, 0, 0, false, AT(section, name)}
#define PICTURE(section, name) {PLACE(section, name), CONFIGURATION_PICTURE, NULL, NULL, 0, 0, false, AT(section, name)}
#define COLOUR(section, name, fallback)                                                                                \
    {PLACE(section, name), CONFIGURATION_COLOUR, fallback, NULL, 0, 0, false, AT(section, name)}
#define LANGUAGE(section, name, fallback)                                                                              \
    {PLACE(section, name), CONFIGURATION_LANGUAGE, fallback, NULL, 0, 0, false, AT(section, name)}
#define FILE_PATH(section, name, fallback)                                                                             \
    {PLACE(section, name), CONFIGURATION_PATH, fallback, NULL, 0, 0, false, AT(section, name)}
#define CHOICE(section, name, fallback, choices)                                                                       \
    {PLACE(section, name), CONFIGURATION_CHOICE, fallback, choices, 0, 0, false, AT(section, name)}
#define WORDS(section, name) {PLACE(section, name), CONFIGURATION_WORDS, NULL, NULL, 0, 0, false, AT(section, name)}
#define WORDS_OR(section, name, fallback)                                                                              \
    {PLACE(section, name), CONFIGURATION_WORDS, fallback, NULL, 0, 0, false, AT(section, name)}
#define INTEGER(section, name, fallback, minimum, maximum)                                                             \
    {PLACE(section, name), CONFIGURATION_INTEGER, fallback, NULL, minimum, maximum, false, AT(section, name)}
#define BOOLEAN(section, name, fallback)                                                                               \
    {PLACE(section, name), CONFIGURATION_BOOLEAN, fallback, NULL, 0, 0, false, AT(section, name)}

static const struct configuration_row rows[] = {
    REQUIRED_URL(service, base_url),
    URL(service, web_url),
    BOOLEAN(service, expose_stack, "false"),
    INTEGER(service, max_json_bytes, "65536", 1024, LIMIT_JSON_BYTES_MAX),
    INTEGER(service, max_file_bytes, "5368709120", 1, INT64_C(1) << 50),
    WORDS(service, cors_origins),
    WORDS(service, web_server_user),
    INTEGER(service, requests_per_worker, "50000", 1, 1000000000),
    INTEGER(service, io_timeout_seconds, "60", 1, 3600),
    LANGUAGE(service, language, "en"),
    CHOICE(service, crossing_reason, "optional", "optional|required"),
    FILE_PATH(service, secret_file, GATEHOUSE_SYSCONFDIR "/secret"),
    BOOLEAN(service, sandbox, "true"),
    FILE_PATH(service, security_txt, GATEHOUSE_SYSCONFDIR "/security.txt"),
    FILE_PATH(database, socket, NULL),
    TEXT(database, host, "127.0.0.1"),
    INTEGER(database, port, "3306", 1, 65535),
    TEXT(database, name, "gatehouse"),
    TEXT(database, user, "gatehouse"),
    FILE_PATH(database, password_file, NULL),
    CHOICE(database, tls, "required", "required|off-on-a-trusted-network"),
    FILE_PATH(database, tls_ca_file, NULL),
    INTEGER(database, connect_timeout_seconds, "2", 1, 60),
    INTEGER(database, query_timeout_seconds, "5", 1, 600),
    TEXT(database, admin_user, NULL),
    FILE_PATH(database, admin_password_file, NULL),
    FILE_PATH(files, directory, "/var/lib/gatehouse/files"),
    CHOICE(files, delivery, "stream", "accel|sendfile|stream"),
    TEXT(files, accel_prefix, "/_gatehouse_files/"),
    FILE_PATH(files, clamd_socket, NULL),
    INTEGER(files, clamd_timeout_seconds, "60", 1, 3600),
    FILE_PATH(files, body_directory, NULL),
    CHOICE(files, store, "directory", "directory|s3"),
    WORDS(files, s3_endpoint),
    TEXT(files, s3_bucket, NULL),
    TEXT(files, s3_region, "us-east-1"),
    TEXT(files, s3_prefix, NULL),
    TEXT(files, s3_access_key, NULL),
    FILE_PATH(files, s3_secret_key_file, NULL),
    FILE_PATH(files, s3_ca_file, NULL),
    FILE_PATH(files, s3_spool, "/var/lib/gatehouse/spool"),
    INTEGER(files, s3_timeout_seconds, "15", 1, 300),
    CHOICE(identity, provider, "embedded", "embedded|cognito|keycloak"),
    URL(identity, issuer),
    TEXT(identity, audience, "gatehouse"),
    INTEGER(identity, access_token_seconds, "900", 60, 86400),
    INTEGER(identity, refresh_token_seconds, "2592000", 600, 31536000),
    INTEGER(identity, temporary_password_seconds, "604800", 60, 2592000),
    CHOICE(identity, codes, "service", "service|provider"),
    INTEGER(identity, calls_max, "8", 1, 256),
    TEXT(branding, name, "Gatehouse"),
    PICTURE(branding, logo),
    PICTURE(branding, logo_dark),
    COLOUR(branding, accent, "#1d4f7c"),
    LINK(branding, support),
    TEXT(cognito, region, NULL),
    URL(cognito, endpoint),
    URL(cognito, issuer),
    URL(cognito, jwks_url),
    TEXT(cognito, user_pool_id, NULL),
    TEXT(cognito, client_id, NULL),
    FILE_PATH(cognito, client_secret_file, NULL),
    TEXT(cognito, access_key_id, NULL),
    FILE_PATH(cognito, secret_access_key_file, NULL),
    FILE_PATH(cognito, ca_file, NULL),
    URL(keycloak, url),
    TEXT(keycloak, realm, NULL),
    URL(keycloak, issuer),
    URL(keycloak, jwks_url),
    TEXT(keycloak, client_id, NULL),
    FILE_PATH(keycloak, client_secret_file, NULL),
    TEXT(keycloak, admin_client_id, NULL),
    FILE_PATH(keycloak, admin_client_secret_file, NULL),
    FILE_PATH(keycloak, ca_file, NULL),
    INTEGER(password, minimum_length, "12", LIMIT_PASSWORD_MIN, 64),
    FILE_PATH(password, common_list, GATEHOUSE_DATADIR "/common-passwords.txt"),
    INTEGER(password, hash_memory_kib, "19456", 7168, 1048576),
    INTEGER(password, hash_passes, "2", 1, 16),
    CHOICE(mail, transport, "smtp", "file|smtp"),
    FILE_PATH(mail, directory, NULL),
    TEXT(mail, from, "Gatehouse <no-reply@localhost>"),
    TEXT(mail, smtp_url, "smtp://localhost:25"),
    TEXT(mail, smtp_user, NULL),
    FILE_PATH(mail, smtp_password_file, NULL),
    CHOICE(mail, smtp_tls, "required", "none|opportunistic|required"),
    FILE_PATH(mail, templates, GATEHOUSE_DATADIR "/mail"),
    FILE_PATH(cache, file, "/run/gatehouse/cache"),
    INTEGER(cache, size_mib, "16", 0, 4096),
    CHOICE(log, destination, "stderr", "stderr|syslog|file"),
    FILE_PATH(log, file, NULL),
    CHOICE(log, level, "info", "fatal|error|warn|info|debug|trace"),
    FILE_PATH(metrics, file, "/run/gatehouse/metrics"),
    TEXT(metrics, host, NULL),
    WORDS_OR(metrics, allow, "127.0.0.0/8 ::1/128"),
    INTEGER(limits, accounts_per_hour, "100", 1, 1000000),
    INTEGER(limits, sessions_per_user, "1000", 1, 10000),
    INTEGER(limits, customers_per_hour, "1000", 1, 1000000),
    INTEGER(limits, uploads_per_token, "128", 1, LIMIT_UPLOAD_SLOTS),
    INTEGER(limits, uploads_per_address, "256", 1, LIMIT_UPLOAD_SLOTS),
    INTEGER(limits, upload_seconds, "43200", 1, LIMIT_UPLOAD_SECONDS),
    INTEGER(scrub, every_days, "7", 0, 3650),
    INTEGER(scrub, bytes_per_second, "20971520", 65536, INT64_C(1) << 40),
    INTEGER(scrub, overdue_days, "30", 1, 36500),
    INTEGER(health, deadline_seconds, "3", 1, 60),
    INTEGER(health, free_bytes_min, "67108864", 67108864, INT64_C(1) << 50),
    INTEGER(health, outbox_lag_seconds, "900", 1, 86400),
    BOOLEAN(audit, files, "true"),
    BOOLEAN(audit, images, "true"),
    INTEGER(testing, refresh_grace_seconds, LIMIT_TEXT(LIMIT_REFRESH_GRACE_SECONDS), 1, LIMIT_REFRESH_GRACE_SECONDS),
    INTEGER(testing, provider_login_seconds, "5", 1, 5),
    INTEGER(testing, provider_admin_seconds, "8", 1, 8),
    INTEGER(testing, provider_rest_seconds, "10", 1, 10),
    INTEGER(testing, stats_seconds, "60", 1, 60),
    INTEGER(testing, use_seconds, "45", 1, 45),
};

const struct configuration_row *configuration_rows(size_t *count_out)
{
    *count_out = sizeof rows / sizeof *rows;
    return rows;
}
