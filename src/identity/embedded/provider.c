/* SPDX-License-Identifier: MIT */
/*
 * Accounts of the embedded provider: created, confirmed, enabled and disabled, described, removed. And its table of
 * functions.
 */
#include "identity/embedded/provider.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/seal.h"
#include "codec/token.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "identity/embedded/embedded_int.h"

/* ---- creating and removing ------------------------------------------------------------------------ */

static const enum embedded_account_status first_status[] = {
    [PROVIDER_INVITED] = EMBEDDED_ACCOUNT_FORCE_CHANGE,
    [PROVIDER_AWAITING_CODE] = EMBEDDED_ACCOUNT_UNCONFIRMED,
    [PROVIDER_CONFIRMED_ALREADY] = EMBEDDED_ACCOUNT_CONFIRMED,
};

static struct error *create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    bool verified = account->kind == PROVIDER_CONFIRMED_ALREADY;
    bool written;
    char *hash;
    TRY(password_hash(arena, account->password, embedded->options.cost, &hash));
    const struct embedded_account row = {
        .id = account->user_id,
        .username = account->email,
        .phone = account->phone,
        .password_hash = hash,
        .temporary_seconds = embedded->options.temporary_password_seconds,
        .password_temporary = account->kind == PROVIDER_INVITED,
        .email_verified = verified,
        .phone_verified = verified && account->phone != NULL,
        .status = first_status[account->kind],
        .permissions = account->permissions,
    };
    TRY(embedded_account_write(embedded->options.database, arena, &row, &written));
    *outcome_out = written ? PROVIDER_OK : PROVIDER_EXISTS;
    *subject_out = id_text(arena, account->user_id);
    return NULL;
}

static struct error *remove_rows(struct database *database, struct arena *arena, void *context)
{
    const struct id *id = context;
    TRY(embedded_account_delete(database, arena, *id));
    TRY(refresh_token_delete_user(database, arena, *id));
    return session_delete_all(database, arena, *id);
}

static struct error *remove_account(struct provider *provider, struct arena *arena, struct id user, const char *email)
{
    (void)email;
    return database_transaction(embedded_of(provider)->options.database, arena, remove_rows, &user, NULL);
}

/* ---- changes of state ----------------------------------------------------------------------------- */

static struct error *confirm(struct provider *provider, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct database *database = embedded_of(provider)->options.database;
    struct embedded_account *account;
    struct id id;
    bool changed;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    TRY(embedded_account_confirm(database, arena, id, &changed));
    *outcome_out = PROVIDER_OK;
    if (changed)
        return NULL;
    TRY(embedded_account_find(database, arena, id, &account));
    *outcome_out = account == NULL ? PROVIDER_ABSENT : PROVIDER_STATE;
    return NULL;
}

struct enabling {
    struct embedded *embedded;
    struct id id;
    bool enabled;
    bool found;
};

static struct error *enable_rows(struct database *database, struct arena *arena, void *context)
{
    struct enabling *enabling = context;
    TRY(embedded_account_enable(database, arena, enabling->id, enabling->enabled, &enabling->found));
    if (enabling->enabled || !enabling->found)
        return NULL;
    return embedded_session_end_all(enabling->embedded, arena, enabling->id, id_none);
}

static struct error *set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct enabling enabling = {.embedded = embedded_of(provider), .enabled = enabled};
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &enabling.id))
        return NULL;
    TRY(database_transaction(enabling.embedded->options.database, arena, enable_rows, &enabling, NULL));
    *outcome_out = enabling.found ? PROVIDER_OK : PROVIDER_ABSENT;
    return NULL;
}

static struct error *set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    const struct embedded_account_attributes row = {
        .set_verified = attributes->set_verified,
        .set_phone = attributes->set_phone,
        .set_permissions = attributes->set_permissions,
        .email_verified = attributes->email_verified,
        .phone_verified = attributes->phone_verified,
        .phone = attributes->phone,
        .username = attributes->email,
        .permissions = attributes->permissions,
    };
    struct id id;
    bool found;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    TRY(embedded_account_describe(embedded_of(provider)->options.database, arena, id, &row, &found));
    *outcome_out = found ? PROVIDER_OK : PROVIDER_ABSENT;
    return NULL;
}

/* ---- tokens --------------------------------------------------------------------------------------- */

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

/* ---- the provider --------------------------------------------------------------------------------- */

/* No other server is involved, so no setting can be wrong about it. */
static struct error *check(struct provider *provider, struct arena *arena)
{
    (void)provider;
    (void)arena;
    return NULL;
}

static struct error *tidy(struct provider *provider, struct arena *arena)
{
    struct embedded *embedded = embedded_of(provider);
    TRY(refresh_token_tidy(embedded->options.database, arena));
    return embedded_signing_keys_tidy(embedded, arena);
}

static void release(struct provider *provider)
{
    embedded_signing_keys_free(embedded_of(provider));
    free(provider);
}

static const struct provider_administration administration = {
    .create = create,
    .confirm = confirm,
    .set_password = embedded_password_set,
    .invite_again = embedded_password_invite,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .remove = remove_account,
};

static const struct provider_signing_keys signing_keys = {
    .check_sealed = embedded_signing_keys_check,
    .rotate = embedded_signing_keys_rotate,
};

static const struct provider_functions functions = {
    .name = "embedded",
    .joins_transaction = true,
    .login = embedded_login,
    .answer_new_password = embedded_login_answer,
    .refresh = embedded_session_refresh,
    .logout = embedded_session_logout,
    .logout_all = embedded_session_logout_all,
    .logout_others = embedded_session_logout_others,
    .change_password = embedded_password_change,
    .rules = rules,
    .resolve = resolve,
    .keys = embedded_signing_keys_get,
    .check = check,
    .forget = embedded_signing_keys_forget,
    .tidy = tidy,
    .free = release,
    .administration = &administration,
    .signing_keys = &signing_keys,
};

struct error *embedded_new(struct arena *arena, const struct embedded_options *options, struct provider **provider_out)
{
    if (options->master.length < SEAL_MASTER_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the service secret has %zu bytes, not %d", options->master.length,
                         SEAL_MASTER_BYTES);
    if (options->access_token_seconds < 1 || options->refresh_token_seconds < 1 ||
        options->temporary_password_seconds < 1)
        return error_new(arena, ERROR_INTERNAL, "a lifetime of the embedded provider is not positive");
    struct embedded *embedded = memory_new(sizeof *embedded);
    embedded->provider.functions = &functions;
    embedded->options = *options;
    *provider_out = &embedded->provider;
    return NULL;
}
