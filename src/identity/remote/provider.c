/* SPDX-License-Identifier: MIT */
/* The provider's functions over a wire. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/seal.h"
#include "identity/remote_int.h"

/* ---- making and removing -------------------------------------------------------------------------- */

/*
 * The address has an account already. One that carries our id and that nobody has used is what an attempt before left:
 * it gets the password and the attributes of this one.
 */
static struct error *take_over(struct remote *remote, struct arena *arena, const struct provider_account *account,
                               const char **subject_out, enum provider_outcome *outcome_out)
{
    struct remote_account found = {0};
    struct provider_attributes attributes = {
        .email = account->email,
        .set_phone = true,
        .phone = account->phone,
        .set_permissions = true,
        .permissions = account->permissions,
    };
    *outcome_out = PROVIDER_EXISTS;
    TRY(remote->driver->find(remote, arena, account->user_id, account->email, &found));
    if (found.subject == NULL || !found.ours || found.used)
        return NULL;
    /* An account that awaits a code keeps the password it has until it is confirmed: setting one would confirm it. */
    *outcome_out = PROVIDER_OK;
    if (account->kind == PROVIDER_AWAITING_CODE) {
        TRY(remote->driver->remove(remote, arena, found.subject));
        return remote->driver->create(remote, arena, account, subject_out, outcome_out);
    }
    TRY(remote->driver->set_password(remote, arena, found.subject, account->password, account->kind == PROVIDER_INVITED,
                                     outcome_out));
    if (*outcome_out == PROVIDER_OK)
        TRY(remote->driver->set_attributes(remote, arena, found.subject, &attributes, outcome_out));
    *subject_out = found.subject;
    return NULL;
}

static const struct statement find_other = {"SELECT 1 FROM user WHERE provider_subject = ? AND id <> ?"};

/* Two users of one account would each be the other: neither can be let in, so the second is not made. */
static struct error *check_owner(struct remote *remote, struct arena *arena, struct id user, const char *subject)
{
    struct rows *rows;
    TRY(database_query(remote->options.database, arena, &find_other, VALUES(database_text(subject), database_id(user)),
                       &rows));
    return rows->count == 0
               ? NULL
               : error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave the account of somebody else");
}

static struct error *create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(remote->driver->create(remote, arena, account, subject_out, outcome_out));
    if (*outcome_out == PROVIDER_EXISTS)
        TRY(take_over(remote, arena, account, subject_out, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(check_owner(remote, arena, account->user_id, *subject_out));
    return remote_account_note_password(remote, arena, account->user_id, account->kind == PROVIDER_INVITED);
}

static const struct statement remove_tokens = {
    "DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE s.user_id = ?"};
static const struct statement remove_names = {
    "DELETE o FROM outside_session o JOIN session s ON s.id = o.session_id WHERE s.user_id = ?"};
static const struct statement remove_sessions = {"DELETE FROM session WHERE user_id = ?"};
static const struct statement remove_intents = {"DELETE FROM outside_intent WHERE user_id = ?"};
static const struct statement remove_account = {"DELETE FROM outside_account WHERE user_id = ?"};

static struct error *remove_rows(struct database *database, struct arena *arena, void *context)
{
    const struct id *user = context;
    TRY(database_change(database, arena, &remove_tokens, VALUES(database_id(*user)), NULL));
    TRY(database_change(database, arena, &remove_names, VALUES(database_id(*user)), NULL));
    TRY(database_change(database, arena, &remove_sessions, VALUES(database_id(*user)), NULL));
    TRY(database_change(database, arena, &remove_intents, VALUES(database_id(*user)), NULL));
    return database_change(database, arena, &remove_account, VALUES(database_id(*user)), NULL);
}

static struct error *remove_one(struct provider *provider, struct arena *arena, struct id user, const char *email)
{
    struct remote *remote = remote_of(provider);
    struct remote_account found = {0};
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(remote->driver->find(remote, arena, user, email, &found));
    if (found.subject != NULL && found.ours)
        TRY(remote->driver->remove(remote, arena, found.subject));
    return database_transaction(remote->options.database, arena, remove_rows, &user, NULL);
}

/* ---- the account's state -------------------------------------------------------------------------- */

static struct error *confirm(struct provider *provider, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    return remote->driver->confirm(remote, arena, subject, outcome_out);
}

static struct error *set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found = false;
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(remote_account_user(remote, arena, subject, &user, &found));
    if (found && !enabled)
        TRY(remote_session_end_all(remote, arena, user, (struct id){{0}}));
    return remote->driver->set_enabled(remote, arena, subject, enabled, outcome_out);
}

static struct error *set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    return remote->driver->set_attributes(remote, arena, subject, attributes, outcome_out);
}

/* ---- codes of the provider's own ------------------------------------------------------------------ */

static bool has_codes(const struct provider *provider)
{
    return ((const struct remote *)provider)->options.codes;
}

static struct error *send_code(struct provider *provider, struct arena *arena, const char *subject,
                               enum provider_code code, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    return remote->driver->send_code(remote, arena, subject, code, outcome_out);
}

static struct error *confirm_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                     const char *code, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, REMOTE_ADMIN_MILLISECONDS);
    TRY(remote->driver->confirm_by_code(remote, arena, subject, code, outcome_out));
    /* Nobody's code cannot be right, whatever a provider says. */
    if (subject == NULL)
        *outcome_out = PROVIDER_CODE_WRONG;
    return NULL;
}

/* ---- tokens, secrets, the end ----------------------------------------------------------------- */

static void rules(struct provider *provider, struct token_rules *rules_out)
{
    struct remote *remote = remote_of(provider);
    remote->driver->rules(remote, rules_out);
}

static void forget(struct provider *provider)
{
    struct remote *remote = remote_of(provider);
    struct arena *scratch = arena_new();
    struct error *error = remote->driver->read_secrets(remote, scratch);
    if (error != NULL)
        LOG(ERROR, IDENTITY, "the provider's secrets could not be read again; the last ones go on",
            LOG_TEXT("provider", remote->driver->name), LOG_TEXT("detail", error->detail));
    arena_free(&scratch);
    remote_jwks_forget(remote);
}

static void release(struct provider *provider)
{
    struct remote *remote = remote_of(provider);
    remote_jwks_forget(remote);
    circuit_breaker_close(remote);
    arena_free(&remote->secrets);
    struct arena *arena = remote->arena;
    remote->driver->free(remote);
    arena_free(&arena);
}

static const struct provider_functions functions = {
    .name = "outside",
    .create = create,
    .login = remote_login,
    .answer_new_password = remote_login_answer,
    .refresh = remote_session_refresh,
    .logout = remote_session_logout,
    .logout_all = remote_logout_all,
    .change_password = remote_password_change,
    .set_password = remote_password_set,
    .invite_again = remote_password_invite,
    .confirm = confirm,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .has_codes = has_codes,
    .send_code = send_code,
    .confirm_by_code = confirm_by_code,
    .reset_by_code = remote_password_reset_by_code,
    .remove = remove_one,
    .rules = rules,
    .resolve = remote_session_resolve,
    .keys = remote_jwks_get,
    .unsettled = remote_intent_list,
    .settle = remote_intent_reconcile,
    .check = remote_check,
    .forget = forget,
    .tidy = remote_session_tidy,
    .free = release,
};

/* ---- making one ------------------------------------------------------------------------------------- */

struct error *remote_read_secrets(struct remote *remote, struct arena *arena, const struct remote_secret *secrets,
                                  size_t count)
{
    struct arena *own = arena_new();
    struct secret *read = arena_array(own, count, sizeof *read);
    for (size_t i = 0; i < count; i++) {
        struct error *error = secrets[i].path != NULL ? secret_read(own, secrets[i].path, &read[i]) : NULL;
        if (error == NULL)
            continue;
        error = error_message(error_new(arena, ERROR_INTERNAL, "%s", error->detail),
                              "The secret file %s cannot be read.", secrets[i].path);
        arena_free(&own);
        return error;
    }
    for (size_t i = 0; i < count; i++)
        *secrets[i].into = read[i];
    arena_free(&remote->secrets);
    remote->secrets = own;
    return NULL;
}

struct error *remote_check_address(struct arena *arena, const struct remote_driver *driver, const char *name,
                                   const char *url)
{
    if (http_client_url_usable(url))
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, "%s is not usable", name),
                         "%s in [%s] must start with https:// (http:// for this machine only), without a query.", name,
                         driver->name);
}

struct error *remote_init(struct remote *remote, const struct remote_driver *driver,
                          const struct remote_options *options)
{
    remote->provider.functions = &functions;
    remote->driver = driver;
    remote->options = *options;
    remote->arena = arena_new();
    remote->slots_fd = -1;
    remote->known = arena_array(remote->arena, REMOTE_KNOWN_SESSIONS, sizeof *remote->known);
    return http_client_new(remote->arena, options->ca_file, &remote->web);
}

struct error *remote_ready(struct remote *remote, struct arena *arena, struct error *error,
                           struct provider **provider_out)
{
    if (error == NULL)
        error = remote->driver->read_secrets(remote, arena);
    if (error != NULL)
        release(&remote->provider);
    else
        *provider_out = &remote->provider;
    return error;
}
