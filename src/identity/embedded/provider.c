/* SPDX-License-Identifier: MIT */
/* The account's life: made, confirmed, opened and closed, described, removed. */
#include "identity/embedded/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/seal.h"
#include "codec/token.h"
#include "identity/embedded/embedded_int.h"

/* ---- making and removing ------------------------------------------------------------------------- */

static const char *const first_status[] = {
    [PROVIDER_INVITED] = "force-change",
    [PROVIDER_AWAITING_CODE] = "unconfirmed",
    [PROVIDER_CONFIRMED_ALREADY] = "confirmed",
};

/* The same columns in the same order in both statements, so that they take the same values. */
static const struct statement insert_account = {
    "INSERT INTO identity_account (username, password_hash, password_temporary, password_expires_at, status,"
    " phone, permissions, email_verified, phone_verified, id)"
    " VALUES (?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND, ?, ?, ?, ?, ?, ?)"};

static const struct statement overwrite_account = {
    "UPDATE identity_account SET username = ?, password_hash = ?, password_temporary = ?,"
    " password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND, status = ?, phone = ?, permissions = ?,"
    " email_verified = ?, phone_verified = ?, password_version = password_version + 1, enabled = TRUE,"
    " updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND NOT EXISTS (SELECT 1 FROM session s WHERE s.user_id = identity_account.id)"};

static struct error *create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    bool temporary = account->kind == PROVIDER_INVITED;
    bool verified = account->kind == PROVIDER_CONFIRMED_ALREADY;
    char *hash;
    TRY(password_hash(arena, account->password, embedded->options.cost, &hash));
    const struct database_value values[] = {
        database_text(account->email),
        database_text(hash),
        database_boolean(temporary),
        temporary ? database_integer(embedded->options.temporary_password_seconds) : database_null(),
        database_text(first_status[account->kind]),
        database_text(account->phone),
        database_text(account->permissions),
        database_boolean(verified),
        database_boolean(verified && account->phone != NULL),
        database_id(account->user_id),
    };
    size_t count = sizeof values / sizeof *values;
    struct change change;
    TRY(database_change(embedded->options.database, arena, &insert_account, values, count, &change));
    if (change.duplicate && strcmp(change.duplicate_key, "PRIMARY") == 0)
        TRY(database_change(embedded->options.database, arena, &overwrite_account, values, count, &change));
    *outcome_out = change.affected == 1 ? PROVIDER_OK : PROVIDER_EXISTS;
    *subject_out = id_text(arena, account->user_id);
    return NULL;
}

static const struct statement remove_tokens = {
    "DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE s.user_id = ?"};
static const struct statement remove_sessions = {"DELETE FROM session WHERE user_id = ?"};
static const struct statement remove_account = {"DELETE FROM identity_account WHERE id = ?"};

static struct error *remove_rows(struct database *database, struct arena *arena, void *context)
{
    struct id *id = context;
    TRY(database_change(database, arena, &remove_account, VALUES(database_id(*id)), NULL));
    TRY(database_change(database, arena, &remove_tokens, VALUES(database_id(*id)), NULL));
    TRY(database_change(database, arena, &remove_sessions, VALUES(database_id(*id)), NULL));
    return NULL;
}

static struct error *remove_one(struct provider *provider, struct arena *arena, struct id user, const char *email)
{
    (void)email;
    return database_transaction(embedded_of(provider)->options.database, arena, remove_rows, &user, NULL);
}

/* ---- changes of state ---------------------------------------------------------------------------- */

/* What became of an UPDATE of one account by its id: no row found means that there is none. */
static struct error *update(struct embedded *embedded, struct arena *arena, const struct statement *statement,
                            const struct database_value *values, size_t count, enum provider_outcome *outcome_out)
{
    struct change change;
    TRY(database_change(embedded->options.database, arena, statement, values, count, &change));
    *outcome_out = change.affected == 1 ? PROVIDER_OK : PROVIDER_ABSENT;
    return NULL;
}

static const struct statement confirm_account = {
    "UPDATE identity_account SET status = 'confirmed', email_verified = TRUE, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'unconfirmed'"};

static struct error *confirm(struct provider *provider, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct id id;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    TRY(update(embedded, arena, &confirm_account, VALUES(database_id(id)), outcome_out));
    if (*outcome_out == PROVIDER_OK)
        return NULL;
    struct embedded_account *account;
    TRY(embedded_account_find(embedded, arena, id, &account));
    *outcome_out = account == NULL ? PROVIDER_ABSENT : PROVIDER_STATE;
    return NULL;
}

struct enabling {
    struct embedded *embedded;
    struct id id;
    bool enabled;
    enum provider_outcome *outcome;
};

static const struct statement enable_account = {
    "UPDATE identity_account SET enabled = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

static struct error *enable_rows(struct database *database, struct arena *arena, void *context)
{
    const struct enabling *enabling = context;
    (void)database;
    TRY(update(enabling->embedded, arena, &enable_account,
               VALUES(database_boolean(enabling->enabled), database_id(enabling->id)), enabling->outcome));
    if (enabling->enabled || *enabling->outcome != PROVIDER_OK)
        return NULL;
    return embedded_session_end_all(enabling->embedded, arena, enabling->id, (struct id){{0}});
}

static struct error *set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct enabling enabling = {.embedded = embedded_of(provider), .enabled = enabled, .outcome = outcome_out};
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &enabling.id))
        return NULL;
    return database_transaction(enabling.embedded->options.database, arena, enable_rows, &enabling, NULL);
}

static const struct statement describe_account = {
    "UPDATE identity_account SET email_verified = IF(?, ?, email_verified),"
    " phone_verified = IF(?, ?, phone_verified), phone = IF(?, ?, phone),"
    " permissions = IF(?, ?, permissions), updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

static struct error *set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    struct id id;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    struct database_value verified = database_boolean(attributes->set_verified);
    return update(embedded_of(provider), arena, &describe_account,
                  VALUES(verified, database_boolean(attributes->email_verified), verified,
                         database_boolean(attributes->phone_verified), database_boolean(attributes->set_phone),
                         database_text(attributes->phone), database_boolean(attributes->set_permissions),
                         database_text(attributes->permissions), database_id(id)),
                  outcome_out);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static void rules(struct provider *provider, struct token_rules *rules_out)
{
    const struct embedded *embedded = embedded_of(provider);
    rules_out->issuer = embedded->options.issuer;
    rules_out->audience = embedded->options.audience;
    rules_out->token_use = TOKEN_USE_ACCESS;
    rules_out->session_claim = "sid";
}

/* Subject and session are our own ids already. */
static struct error *resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                             bool *known_out)
{
    (void)provider;
    (void)arena;
    (void)claims;
    *known_out = true;
    return NULL;
}

/* ---- the provider -------------------------------------------------------------------------------- */

static void release(struct provider *provider)
{
    embedded_signing_keys_free(embedded_of(provider));
    free(provider);
}

static const struct provider_functions functions = {
    .name = "embedded",
    .joins = true,
    .create = create,
    .login = embedded_login,
    .answer_new_password = embedded_login_answer,
    .refresh = embedded_session_refresh,
    .logout = embedded_session_logout,
    .logout_all = embedded_session_logout_all,
    .change_password = embedded_password_change,
    .set_password = embedded_password_set,
    .invite_again = embedded_password_invite,
    .confirm = confirm,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .remove = remove_one,
    .rules = rules,
    .resolve = resolve,
    .keys = embedded_signing_keys_get,
    .opens = embedded_signing_keys_check,
    .forget = embedded_signing_keys_forget,
    .rotate_keys = embedded_signing_keys_rotate,
    .tidy = embedded_session_tidy,
    .free = release,
};

struct error *embedded_new(struct arena *arena, const struct embedded_options *options, struct provider **provider_out)
{
    if (options->master.length < SEAL_MASTER_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the service secret has %zu bytes, not %d", options->master.length,
                         SEAL_MASTER_BYTES);
    if (options->access_token_seconds < 1 || options->refresh_token_seconds < 1 ||
        options->temporary_password_seconds < 1)
        return error_new(arena, ERROR_INTERNAL, "a lifetime of the embedded provider is not positive");
    struct embedded *embedded = calloc(1, sizeof *embedded);
    if (embedded == NULL)
        abort();
    embedded->provider.functions = &functions;
    embedded->options = *options;
    *provider_out = &embedded->provider;
    return NULL;
}
