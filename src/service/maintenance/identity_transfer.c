/* SPDX-License-Identifier: MIT */
/* Exports users as JSON lines, and imports them to another identity provider. */
#include "service/maintenance/identity_transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/address.h"
#include "codec/document.h"
#include "codec/random.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/permission/role.h"
#include "domain/session/session.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/grant.h"
#include "service/account/notification.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define FORMAT "gatehouse-identities"
#define VERSION 1
#define PAGE_USERS 100

/* ---- export --------------------------------------------------------------------------------------- */

static void add_text(struct buffer *line, const char *name, const char *value)
{
    buffer_add_char(line, line->length == 0 ? '{' : ',');
    buffer_add_json_text(line, name);
    buffer_add_char(line, ':');
    buffer_add_json_text(line, value);
}

static void write_user(struct arena *arena, FILE *output, const struct user *user, const struct role_list *roles)
{
    struct buffer line;
    buffer_init(&line, arena);
    add_text(&line, "id", id_text(arena, user->id));
    add_text(&line, "subject", user->provider_subject);
    add_text(&line, "email", user->email);
    buffer_add_format(&line, ",\"emailVerified\":%s", user->email_verified ? "true" : "false");
    add_text(&line, "phone", user->phone);
    buffer_add_format(&line, ",\"phoneVerified\":%s", user->phone_verified ? "true" : "false");
    add_text(&line, "firstName", user->first_name);
    add_text(&line, "lastName", user->last_name);
    add_text(&line, "permissions", grant_mirror(arena, roles, &user->roles, &user->permissions));
    add_text(&line, "status", user_status_text(user->status));
    (void)fprintf(output, "%s}\n", line.bytes);
}

struct error *identity_transfer_export(struct service *service, struct arena *arena, FILE *output, size_t *count_out)
{
    struct id after = {{0}};
    struct user_page page = {.more = true};
    struct role_list roles;
    *count_out = 0;
    TRY(role_list(service->database, arena, &roles));
    (void)fprintf(output, "{\"format\":\"" FORMAT "\",\"version\":%d,\"provider\":\"%s\"}\n", VERSION,
                  service->configuration->identity.provider);
    while (page.more) {
        TRY(user_each(service->database, arena, after, PAGE_USERS, &page));
        for (size_t i = 0; i < page.count; i++) {
            write_user(arena, output, &page.items[i], &roles);
            after = page.items[i].id;
        }
        *count_out += page.count;
    }
    if (fflush(output) != 0 || ferror(output) != 0)
        return error_message(error_plain(arena, ERROR_INTERNAL), "The export could not be written.");
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct entry {
    struct id id;
    const char *subject; /* at the provider that it comes from */
    const char *email;
};

struct entries {
    struct arena *arena;
    struct validation validation;
    struct entry *items;
    size_t count;
    size_t capacity;
};

static void add_entry(struct entries *entries, const struct entry *entry)
{
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity == 0 ? 64 : 2 * entries->capacity;
        struct entry *items = arena_array(entries->arena, capacity, sizeof *items);
        for (size_t i = 0; i < entries->count; i++)
            items[i] = entries->items[i];
        entries->items = items;
        entries->capacity = capacity;
    }
    entries->items[entries->count++] = *entry;
}

static const char *text_of(struct entries *entries, const struct document *line, const char *name, bool needed,
                           size_t number)
{
    const struct document *member = document_member(line, name);
    const char *text = document_text(member);
    if (text == NULL && (needed || (member != NULL && document_kind(member) != DOCUMENT_NULL)))
        validation_add(&entries->validation, "type", needed ? "must be a text" : "must be a text or null",
                       "line %zu: %s", number, name);
    return text;
}

static void check_flag(struct entries *entries, const struct document *line, const char *name, size_t number)
{
    bool flag;
    if (!document_boolean(document_member(line, name), &flag))
        validation_add(&entries->validation, "type", "must be true or false", "line %zu: %s", number, name);
}

static void read_entry(struct entries *entries, const struct document *line, size_t number)
{
    enum user_status status;
    struct entry entry = {.subject = text_of(entries, line, "subject", false, number),
                          .email = text_of(entries, line, "email", true, number)};
    const char *id = text_of(entries, line, "id", true, number);
    const char *word = text_of(entries, line, "status", true, number);
    (void)text_of(entries, line, "firstName", true, number);
    (void)text_of(entries, line, "lastName", true, number);
    (void)text_of(entries, line, "permissions", true, number);
    (void)text_of(entries, line, "phone", false, number);
    check_flag(entries, line, "emailVerified", number);
    check_flag(entries, line, "phoneVerified", number);
    if (id != NULL && !id_parse(id, &entry.id))
        validation_add(&entries->validation, "format", "is not an id", "line %zu: id", number);
    if (word != NULL && !user_status_parse(word, &status))
        validation_add(&entries->validation, "format", "is no status of a user", "line %zu: status", number);
    add_entry(entries, &entry);
}

static void read_head(struct entries *entries, const struct document *line)
{
    int64_t version = 0;
    const char *format = document_text(document_member(line, "format"));
    if (format == NULL || strcmp(format, FORMAT) != 0)
        validation_add(&entries->validation, "format", "is not \"" FORMAT "\"", "line 1: format");
    if (!document_integer(document_member(line, "version"), &version) || version != VERSION)
        validation_add(&entries->validation, "format", "is not 1", "line 1: version");
}

static struct error *read_all(FILE *input, struct entries *entries)
{
    char *text = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    while ((length = getline(&text, &capacity, input)) > 0) {
        struct document *line = NULL;
        number++;
        if (length > LIMIT_JSON_BYTES || document_parse(entries->arena, text, (size_t)length, &line) != NULL ||
            document_kind(line) != DOCUMENT_OBJECT)
            validation_add(&entries->validation, "syntax", "is not a JSON object", "line %zu", number);
        else if (number == 1)
            read_head(entries, line);
        else
            read_entry(entries, line, number);
    }
    int failure = ferror(input) != 0 ? errno : 0;
    free(text);
    if (failure != 0)
        return error_message(error_plain(entries->arena, ERROR_INTERNAL), "The export cannot be read: %s.",
                             strerror(failure));
    if (number == 0)
        validation_add(&entries->validation, "syntax", "is missing", "line 1");
    return entries->validation.error == NULL ? NULL
                                             : error_message(entries->validation.error, "The export cannot be read.");
}

/* ---- moving --------------------------------------------------------------------------------------- */

struct moving {
    struct service *service;
    const struct user *user;
    const char *organisation;
    const char *subject;
    struct secret password;
};

/*
 * Moves the row, ends the sessions, queues the mail, writes the audit row: from here on the user belongs to the new
 * account.
 */
static struct error *move_rows(struct database *database, struct arena *arena, void *context)
{
    const struct moving *moving = context;
    const struct user *user = moving->user;
    struct caller nobody = {0};
    bool is_disabled = user->status == USER_DISABLED;
    struct audit_entry entry = {.action = "user.resendInvitation",
                                .organisation_id = user->organisation_id,
                                .target_type = "user",
                                .target_id = id_text(arena, user->id)};
    TRY(user_move(database, arena, user->organisation_id, user->id, moving->subject,
                  is_disabled ? USER_DISABLED : USER_AWAITING_FIRST_LOGIN));
    TRY(session_end_all(database, arena, user->id, id_none, NULL));
    TRY(provider_sync_queue(moving->service, arena, user->id, 0));
    if (is_disabled)
        return NULL;
    TRY(notification_first_login(moving->service, arena, user, moving->organisation, moving->password));
    return caller_audit(moving->service, arena, &nobody, &entry);
}

static struct error *move(struct service *service, struct arena *arena, const struct user *user)
{
    struct role_list roles;
    struct organisation *organisation = NULL;
    enum provider_outcome outcome;
    struct moving moving = {
        .service = service, .user = user, .password = secret_of(random_text(arena, RANDOM_PASSWORD_CHARACTERS))};
    TRY(role_list(service->database, arena, &roles));
    TRY(organisation_find(service->database, arena, user->organisation_id, &organisation));
    struct provider_account account = {
        .kind = PROVIDER_INVITED,
        .user_id = user->id,
        .email = user->email,
        .phone = user->phone,
        .permissions = grant_mirror(arena, &roles, &user->roles, &user->permissions),
        .password = moving.password,
    };
    moving.organisation = organisation != NULL ? organisation->name : "";
    TRY(provider_create(service->provider, arena, &account, &moving.subject, &outcome));
    if (outcome == PROVIDER_EXISTS)
        return error_message(error_plain(arena, ERROR_USER_EXISTS), "the provider has another account of that address");
    if (outcome != PROVIDER_OK)
        return error_message(error_plain(arena, ERROR_INTERNAL), "the provider refuses the account: %s",
                             provider_outcome_text(outcome));
    TRY(database_transaction(service->database, arena, move_rows, &moving, NULL));
    return user->status == USER_DISABLED
               ? provider_set_enabled(service->provider, arena, moving.subject, false, &outcome)
               : NULL;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static void import_one(struct service *service, struct arena *arena, const struct entry *entry,
                       const struct identity_transfer *transfer, bool *made_out)
{
    struct user *user = NULL;
    *made_out = false;
    struct error *error = user_find_any(service->database, arena, entry->id, &user);
    const char *why = error != NULL ? error_words(error) : NULL;
    if (error == NULL && user == NULL)
        why = "there is no such user here";
    else if (error == NULL && !address_same(arena, user->email, entry->email))
        why = "the user has another address here";
    if (why == NULL && !same(user->provider_subject, entry->subject)) {
        transfer->tell(transfer->context, "left", entry->email, NULL);
        return;
    }
    *made_out = why == NULL && !transfer->dry_run;
    if (*made_out && (error = move(service, arena, user)) != NULL)
        why = error_words(error);
    transfer->tell(transfer->context, why == NULL ? "moved" : "failed", entry->email, why);
}

struct error *identity_transfer_import(struct service *service, struct arena *arena, FILE *input,
                                       const struct identity_transfer *transfer)
{
    struct entries entries = {.arena = arena};
    struct arena *scratch = arena_new();
    validation_init(&entries.validation, arena);
    struct error *error = read_all(input, &entries);
    long pause = 1000000000L / (long)(transfer->per_second == 0 ? 1 : transfer->per_second);
    for (size_t i = 0; error == NULL && i < entries.count; i++) {
        struct timespec wait = {.tv_sec = pause / 1000000000L, .tv_nsec = pause % 1000000000L};
        bool made = false;
        import_one(service, scratch, &entries.items[i], transfer, &made);
        if (made)
            (void)nanosleep(&wait, NULL);
        arena_reset(scratch);
    }
    arena_free(&scratch);
    return error;
}
