/* SPDX-License-Identifier: MIT */
/*
 * Writes examples for the OpenAPI document. The example of a member is looked up as "Schema.member", then as "member".
 * A member that the table lacks gets a value of its type. So a new endpoint has examples at once, and a line here makes
 * them better.
 */
#include "api/document/examples_int.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "http/schema.h"

struct example {
    const char *key;
    const char *json;
};

#define HASH "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"
#define LINK_TOKEN "AZgKblLBfESPPToLbx0udwGYCm5SwXxEjz06C28dLncBmApuUsF8RI89OgtvHS53Qm9zZXJhbGxlZ2F0ZWhvdXNlbGluaw7k"
#define FILE_PATH "/system/files/01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77"

static const struct example members[] = {
    {"id", "\"01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77\""},
    {"organisationId", "\"01980a6d-0f3e-7a91-b1c2-5d8e9f0a1b2c\""},
    {"userId", "\"01980a6d-10aa-7b52-9c3d-6e7f8091a2b3\""},
    {"username", "\"olivia@example.org\""},
    {"firstName", "\"Olivia\""},
    {"lastName", "\"Owner\""},
    {"permission", "\"cus:file:w\""},
    {"permissions", "[\"cus:file:r\"]"},
    {"roles", "[\"owner\"]"},
    {"confirmationCode", "\"493027\""},
    {"refreshToken", "\"q3vT0mXo5l2bYw8uRk1sNf7dJc4hGz9aPe6iBtCxVyE\""},
    {"nextCursor", "null"},
    {"Organisation.name", "\"Example Ltd\""},
    {"NewOrganisation.name", "\"Example Ltd\""},
    {"SignupRequest.services", "[\"inventory\"]"},
    {"Organisation.services", "[\"inventory\"]"},
    {"Organisation.quotaBytes", "10737418240"},
    {"Organisation.quotaFiles", "null"},
    {"Organisation.usedBytes", "48213"},
    {"Organisation.usedFiles", "1"},
    {"Organisation.userCount", "3"},
    {"OwnOrganisationPatch.name", "\"Example Ltd\""},
    {"OrganisationPatch.services", "[\"inventory\", \"logistics\"]"},
    {"OrganisationPatch.quotaBytes", "10737418240"},
    {"User.permissions", "[]"},
    {"User.status", "\"active\""},
    {"User.emailVerified", "true"},
    {"User.phoneVerified", "true"},
    {"User.locale", "\"en-GB\""},
    {"User.invitationExpiresAt", "null"},
    {"User.lockedUntil", "null"},
    {"Me.permissions", "[\"cus:*:w\", \"inv:*:w\", \"rwx:*\"]"},
    {"MePatch.phone", "\"+441632960123\""},
    {"MePatch.locale", "\"en-GB\""},
    {"Tokens.refreshToken", "\"q3vT0mXo5l2bYw8uRk1sNf7dJc4hGz9aPe6iBtCxVyE\""},
    {"Tokens.accessToken", "\"eyJhbGciOiJSUzI1NiJ9.eyJ0b2tlbl91c2UiOiJhY2Nlc3MifQ.c2lnbmF0dXJl\""},
    {"Tokens.idToken", "\"eyJhbGciOiJSUzI1NiJ9.eyJ0b2tlbl91c2UiOiJpZCJ9.c2lnbmF0dXJl\""},
    {"Tokens.expiresIn", "900"},
    {"LogoutRequest.everywhere", "false"},
    {"Session.createdAt", "\"2026-01-05T08:12:44.120Z\""},
    {"Session.expiresAt", "\"2026-02-04T08:12:44.120Z\""},
    {"Session.clientAddress", "\"192.0.2.17\""},
    {"Session.userAgent", "\"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\""},
    {"Session.current", "true"},
    {"Success.message", "\"It is done.\""},
    {"ChangeEmailRequest.newEmail", "\"olivia@example.net\""},
    {"ChangePasswordRequest.newPassword", "\"nine small foxes run\""},
    {"ResetPasswordRequest.newPassword", "\"nine small foxes run\""},
    {"NewUser.email", "\"tom@example.org\""},
    {"NewUser.firstName", "\"Tom\""},
    {"NewUser.lastName", "\"Member\""},
    {"NewUser.permissions", "[\"cus:file:r\"]"},
    {"UserPatch.permissions", "[\"cus:file:w\"]"},
    {"AdminSetPasswordRequest.permanent", "false"},
    {"Role.id", "\"owner\""},
    {"Role.description", "\"Everything in the own organisation.\""},
    {"Role.permissions", "[\"rwx:*\"]"},
    {"Role.grantable", "true"},
    {"AuthoriseRequest.permission", "\"cus:file:w\""},
    {"AuthoriseReply.allowed", "true"},
    {"AuthoriseReply.required", "\"cus:file:w\""},
    {"AuthoriseReply.missing", "null"},
    {"EffectivePermission.permission", "\"cus:file:w\""},
    {"EffectivePermission.sources", "[\"user\", \"role:inv-manage\"]"},
    {"EffectivePermission.lastUsedAt", "\"2026-01-31T00:00:00.000Z\""},
    {"CatalogueItem.operations", "[\"uploadFiles\", \"archiveFile\"]"},
    {"SimulateRequest.permissions", "[\"cus:file:w\"]"},
    {"SimulateReply.permissions", "[\"cus:file:w\"]"},
    {"SimulateReply.gained", "[\"uploadFiles\", \"archiveFile\"]"},
    {"NotGrantable.path", "\"permissions[1]\""},
    {"NotGrantable.message", "\"sys:audit:a grants more than you hold\""},
    {"NotGrantable.code", "\"notGrantable\""},
    {"PermissionSource.source", "\"role:owner\""},
    {"PermissionSource.permission", "\"rwx:*\""},
    {"bucket", "\"files\""},
    {"type", "\"contract\""},
    {"UploadForm.tags", "[\"2026\"]"},
    {"FileIds.ids", "[\"01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77\"]"},
    {"FileRecord.tags", "[\"2026\"]"},
    {"FileRecord.archivedAt", "null"},
    {"FileRecord.userName", "\"Olivia Owner\""},
    {"FileList.total", "1"},
    {"FileInfo.name", "\"contract.pdf\""},
    {"FileInfo.hash", "\"" HASH "\""},
    {"FileInfo.contentType", "\"application/pdf\""},
    {"FileInfo.url", "\"" FILE_PATH "\""},
    {"FileInfo.size", "48213"},
    {"FilePatch.name", "\"contract of 2026.pdf\""},
    {"FilePatch.tags", "[\"2026\", \"signed\"]"},
    {"LinkRequest.expiresIn", "3600"},
    {"Link.url", "\"https://files.example.org/system/links/" LINK_TOKEN "\""},
    {"AuditItem.action", "\"file.upload\""},
    {"AuditItem.targetType", "\"file\""},
    {"AuditItem.targetId", "\"01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77\""},
    {"AuditItem.clientAddress", "\"192.0.2.17\""},
    {"AuditItem.requestId", "\"8f14e45fceea167a5a36dedd4bea2543\""},
    {"AuditItem.details", "{\"name\": \"contract.pdf\"}"},
    {"CacheUpdate.prefixes", "[\"jwks:\"]"},
    {"CacheUpdate.secrets", "false"},
    {"CacheNumbers.entries", "214"},
    {"CacheNumbers.bytes", "135168"},
    {"CacheNumbers.maximumBytes", "16777216"},
    {"CacheNumbers.hits", "9120"},
    {"CacheNumbers.misses", "311"},
    {"CachePrefix.prefix", "\"token:\""},
    {"CachePrefix.entries", "212"},
    {"Logging.level", "\"info\""},
    {"Logging.filter", "\"*=warn,files=debug\""},
    {"LoggingChange.level", "\"info\""},
    {"LoggingChange.filter", "\"*=warn,files=debug\""},
    {"SettingsVersion.version", "7"},
    {"Health.database", "\"ok\""},
    {"Health.migrations", "\"ok\""},
    {"Health.storage", "\"ok\""},
    {"Health.identityProvider", "\"ok\""},
    {"Health.outbox", "\"ok\""},
    {"Limits.maxFileBytes", "5368709120"},
    {"Limits.maxJsonBytes", LIMIT_TEXT(LIMIT_JSON_BYTES)},
    {"Limits.bulkIds", LIMIT_TEXT(LIMIT_BULK_FILES)},
    {"Limits.pictureTypes", "[\"image/jpeg\", \"image/png\"]"},
    {"Limits.languages", "[\"en\", \"de\"]"},
    {"UploadLimits.files", LIMIT_TEXT(LIMIT_FILES)},
    {"UploadLimits.parts", LIMIT_TEXT(LIMIT_PARTS)},
    {"UploadLimits.fieldBytes", LIMIT_TEXT(LIMIT_FIELD_BYTES)},
    {"UploadLimits.formBytes", "1048576"},
    {"FileLimits.nameBytes", LIMIT_TEXT(LIMIT_FILE_NAME_BYTES)},
    {"FileLimits.tags", LIMIT_TEXT(LIMIT_TAGS)},
    {"FileLimits.tagCharacters", LIMIT_TEXT(LIMIT_TAG_CHARACTERS)},
    {"FileLimits.megapixels", LIMIT_TEXT(LIMIT_PICTURE_MEGAPIXELS)},
    {"PeopleLimits.nameCharacters", LIMIT_TEXT(LIMIT_NAME_CHARACTERS)},
    {"PeopleLimits.emailBytes", LIMIT_TEXT(LIMIT_EMAIL_BYTES)},
    {"PeopleLimits.roles", LIMIT_TEXT(LIMIT_USER_ROLES)},
    {"PeopleLimits.permissions", LIMIT_TEXT(LIMIT_USER_PERMISSIONS)},
    {"PeopleLimits.organisationNameCharacters", LIMIT_TEXT(LIMIT_ORGANISATION_NAME_CHARACTERS)},
    {"PasswordLimits.minimum", "12"},
    {"PasswordLimits.maximum", LIMIT_TEXT(LIMIT_PASSWORD_CHARACTERS)},
    {"Range.minimum", "1"},
    {"Range.maximum", LIMIT_TEXT(LIMIT_PAGE_MAX)},
    {"Range.default", LIMIT_TEXT(LIMIT_PAGE_DEFAULT)},
    {"Bucket.name", "\"images\""},
    {"BucketType.name", "\"avatar\""},
    {"BucketType.content", "\"pictures\""},
    {"Branding.name", "\"Example Cloud\""},
    {"Branding.accent", "\"#1d4f7c\""},
    {"Branding.support", "\"mailto:help@example.org\""},
    {"Branding.languages", "[\"en\", \"de\"]"},
    {"Logos.light", "\"https://files.example.org/assets/logo.svg\""},
    {"Logos.dark", "\"https://files.example.org/assets/logo-dark.svg\""},
    {"HostMinute.host", "\"host1.example.org\""},
    {"HostMinute.requests", "1804"},
    {"HostMinute.p50Ms", "0.412"},
    {"HostMinute.p99Ms", "4.75"},
    {"HostMinute.logins", "12"},
    {"HostMinute.loginFailures", "1"},
    {"HostMinute.uploads", "3"},
    {"HostMinute.uploadBytes", "144639"},
    {"HostMinute.freeBytes", "52613349376"},
    {"Version.name", "\"Gatehouse\""},
    {"Version.version", "\"1.0.0\""},
    {"Version.apiVersion", "\"1.0.0\""},
};

static const struct example operations[] = {
    {"updateCache", "{\"status\": \"success\", \"message\": \"3 entries were evicted.\"}"},
    {"updateSettings", "{\"status\": \"success\", \"message\": \"The settings are saved as version 7.\"}"},
    {"downloadFile", "\"(the bytes)\""},
    {"openFileLink", "\"(the bytes)\""},
    {"text/csv", "\"id,at,action,organisationId,userId,targetType,targetId,clientAddress,requestId,outcome,details"
                 "\\r\\n01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77,2026-11-23T08:52:00.123Z,file.download,01980a6d-0f3e-"
                 "7a91-b1c2-5d8e9f0a1b2c,01980a6d-10aa-7b52-9c3d-6e7f8091a2b3,file,01980a6e-52c1-7c44-8f3d-3a0b6f1"
                 "d2e77,192.0.2.17,8f14e45fceea167a5a36dedd4bea2543,success,\\\"{\\\"\\\"bucket"
                 "\\\"\\\":\\\"\\\"files\\\"\\\",\\\"\\\"size\\\"\\\":1600}\\\"\\r\\n\""},
    {"application/x-ndjson",
     "\"{\\\"id\\\":\\\"01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77\\\",\\\"at\\\":\\\"2026-11-23T08:52:00.12"
     "3Z\\\",\\\"action\\\":\\\"file.download\\\",\\\"organisationId\\\":\\\"01980a6d-0f3e-7a91-b1c2-5"
     "d8e9f0a1b2c\\\",\\\"userId\\\":\\\"01980a6d-10aa-7b52-9c3d-6e7f8091a2b3\\\",\\\"targetType"
     "\\\":\\\"file\\\",\\\"targetId\\\":\\\"01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77\\\",\\\"clientAddres"
     "s\\\":\\\"192.0.2.17\\\",\\\"requestId\\\":\\\"8f14e45fceea167a5a36dedd4bea2543\\\",\\\"outcome"
     "\\\":\\\"success\\\",\\\"details\\\":{\\\"bucket\\\":\\\"files\\\",\\\"size\\\":1600}}\\n\""},
    {"getMetrics", "\"# TYPE gatehouse_requests_total counter\\n"
                   "gatehouse_requests_total{operation=\\\"login\\\",status=\\\"200\\\"} 42\\n\""},
    {"getOpenApiDocument",
     "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"Gatehouse\", \"version\": \"1.0.0\"}, \"paths\": {}}"},
    {"listSigningKeys", "{\"keys\": [{\"kty\": \"RSA\", \"use\": \"sig\", \"alg\": \"RS256\", "
                        "\"kid\": \"8f14e45f\", \"n\": \"sXch8Q\", \"e\": \"AQAB\"}]}"},
};

static const char *find_member(const char *key)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].key, key) == 0)
            return members[i].json;
    return NULL;
}

/* The table's value of the member with its schema; NULL: none. */
static const char *find_own(struct buffer *buffer, const struct schema *schema, const struct schema_field *field)
{
    return find_member(arena_format(buffer->arena, "%s.%s", schema->name, field->name));
}

static void add_first_choice(struct buffer *buffer, const char *choices)
{
    buffer_add_json(buffer, choices, strcspn(choices, "|"));
}

static void add_text(struct buffer *buffer, const struct schema_field *field)
{
    static const char *const values[] = {
        [SCHEMA_TEXT] = "text",
        [SCHEMA_EMAIL] = "olivia@example.org",
        [SCHEMA_PHONE] = "+441632960123",
        [SCHEMA_LANGUAGE] = "en-GB",
        [SCHEMA_TIME] = "2026-01-31T09:30:00.000Z",
        [SCHEMA_SECRET] = "seven grey herons wade",
        [SCHEMA_ID] = "01980a6e-52c1-7c44-8f3d-3a0b6f1d2e77",
    };
    if (field->type == SCHEMA_CHOICE)
        add_first_choice(buffer, field->choices);
    else
        buffer_add_json_text(buffer, values[field->type]);
}

/* An array of one item where the items are known, else an empty one. */
static void add_texts(struct buffer *buffer, const struct schema_field *field)
{
    buffer_add_char(buffer, '[');
    if (field->choices != NULL)
        add_first_choice(buffer, field->choices);
    buffer_add_char(buffer, ']');
}

static void add_by_type(struct buffer *buffer, const struct schema_field *field, bool input)
{
    switch (field->type) {
    case SCHEMA_BOOLEAN:
        buffer_add_text(buffer, field->fallback != NULL ? field->fallback : "true");
        return;
    case SCHEMA_INTEGER:
        buffer_add_integer(buffer, field->minimum);
        return;
    case SCHEMA_THOUSANDTHS:
        buffer_add_text(buffer, "0.5");
        return;
    case SCHEMA_TEXTS:
        add_texts(buffer, field);
        return;
    case SCHEMA_OBJECT:
        examples_write(buffer, field->schema, input);
        return;
    case SCHEMA_OBJECTS:
        buffer_add_char(buffer, '[');
        examples_write(buffer, field->schema, input);
        buffer_add_char(buffer, ']');
        return;
    case SCHEMA_RAW:
        buffer_add_text(buffer, "{}");
        return;
    case SCHEMA_FILES:
        buffer_add_text(buffer, "[\"(the bytes)\"]");
        return;
    default:
        add_text(buffer, field);
        return;
    }
}

void examples_write(struct buffer *buffer, const struct schema *schema, bool input)
{
    const char *separator = "{";
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        const char *json = find_own(buffer, schema, field);
        if (json == NULL && (input ? (field->flags & SCHEMA_REQUIRED) == 0 : (field->flags & SCHEMA_OPTIONAL) != 0))
            continue;
        if (json == NULL && field->type != SCHEMA_OBJECT && field->type != SCHEMA_OBJECTS)
            json = find_member(field->name);
        buffer_add_text(buffer, separator);
        buffer_add_json_text(buffer, field->name);
        buffer_add_char(buffer, ':');
        if (json != NULL)
            buffer_add_text(buffer, json);
        else
            add_by_type(buffer, field, input);
        separator = ",";
    }
    buffer_add_text(buffer, *separator == '{' ? "{}" : "}");
}

const char *examples_of_operation(const char *operation)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].key, operation) == 0)
            return operations[i].json;
    return NULL;
}
