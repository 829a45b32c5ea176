/* SPDX-License-Identifier: MIT */
/*
 * The provider that every driver makes: creates and removes accounts, changes their state, hands codes on, reads
 * secrets, and holds the table of functions. Logins, passwords, sessions and keys have files of their own (see
 * remote_int.h).
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "domain/account/password_intent.h"
#include "domain/account/remote_account.h"
#include "domain/account/user.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "domain/session/session_family.h"
#include "identity/remote/circuit_breaker_int.h"
#include "identity/remote/jwks_int.h"
#include "identity/remote/password_intent_int.h"
#include "identity/remote/provider_int.h"
#include "identity/remote/session_int.h"

/* ---- creating and removing ------------------------------------------------------------------------ */

/* Whether an earlier attempt of ours may have left the account. One that may be used at once always looks used. */
static bool is_left_over(const struct provider_account *account, const struct remote_account *found)
{
    return found->subject != NULL && found->ours && (!found->used || account->kind == PROVIDER_CONFIRMED_ALREADY);
}

/*
 * The address has an account already. Where that account carries our id and an earlier attempt of ours left it, it gets
 * the password and the attributes of this attempt.
 */
static struct error *take_over(struct remote *remote, struct arena *arena, const struct provider_account *account,
                               const char **subject_out, enum provider_outcome *outcome_out)
{
    const struct remote_driver_administration *administration = remote->driver->administration;
    struct remote_account found = {0};
    struct provider_attributes attributes = {
        .email = account->email,
        .set_phone = true,
        .phone = account->phone,
        .set_permissions = true,
        .permissions = account->permissions,
    };
    *outcome_out = PROVIDER_EXISTS;
    TRY(administration->find(remote, arena, account->user_id, account->email, &found));
    if (!is_left_over(account, &found))
        return NULL;
    *outcome_out = PROVIDER_OK;
    /* To set a password would confirm an account that awaits its code, so such an account is created again. */
    if (account->kind == PROVIDER_AWAITING_CODE) {
        TRY(administration->remove(remote, arena, found.subject));
        return administration->create(remote, arena, account, subject_out, outcome_out);
    }
    TRY(administration->set_password(remote, arena, found.subject, account->password, account->kind == PROVIDER_INVITED,
                                     outcome_out));
    if (*outcome_out == PROVIDER_OK)
        TRY(administration->set_attributes(remote, arena, found.subject, &attributes, outcome_out));
    *subject_out = found.subject;
    return NULL;
}

/* With two users of one account, each would sign in as the other. So the second user is refused. */
static struct error *check_owner(struct remote *remote, struct arena *arena, struct id user, const char *subject)
{
    bool taken;
    TRY(user_other_has_subject(remote->options.database, arena, subject, user, &taken));
    return taken ? error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave the account of somebody else")
                 : NULL;
}

static struct error *create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(remote->driver->administration->create(remote, arena, account, subject_out, outcome_out));
    if (*outcome_out == PROVIDER_EXISTS)
        TRY(take_over(remote, arena, account, subject_out, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(check_owner(remote, arena, account->user_id, *subject_out));
    return remote_account_set_temporary(remote->options.database, arena, account->user_id,
                                        remote_temporary_seconds(remote, account->kind == PROVIDER_INVITED));
}

static struct error *remove_rows(struct database *database, struct arena *arena, void *context)
{
    const struct id *user = context;
    TRY(refresh_token_delete_user(database, arena, *user));
    TRY(session_family_delete_user(database, arena, *user));
    TRY(session_delete_all(database, arena, *user));
    TRY(password_intent_delete_user(database, arena, *user));
    return remote_account_delete(database, arena, *user);
}

static struct error *remove_account(struct provider *provider, struct arena *arena, struct id user, const char *email)
{
    struct remote *remote = remote_of(provider);
    struct remote_account found = {0};
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(remote->driver->administration->find(remote, arena, user, email, &found));
    if (found.subject != NULL && found.ours)
        TRY(remote->driver->administration->remove(remote, arena, found.subject));
    return database_transaction(remote->options.database, arena, remove_rows, &user, NULL);
}

/* ---- the account's state -------------------------------------------------------------------------- */

static struct error *confirm(struct provider *provider, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    return remote->driver->administration->confirm(remote, arena, subject, outcome_out);
}

static struct error *set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct id user;
    bool found = false;
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(user_find_by_subject(remote->options.database, arena, subject, &user, &found));
    if (found && !enabled)
        TRY(remote_session_end_all(remote, arena, user, id_none));
    return remote->driver->administration->set_enabled(remote, arena, subject, enabled, outcome_out);
}

static struct error *set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    return remote->driver->administration->set_attributes(remote, arena, subject, attributes, outcome_out);
}

/* An address that is nobody's here can be that of an account which another application has made. */
static struct error *holds_address(struct provider *provider, struct arena *arena, const char *subject, struct id user,
                                   const char *email, bool *other_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_account found = {0};
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(remote->driver->administration->find(remote, arena, user, email, &found));
    *other_out = found.subject != NULL && strcmp(found.subject, subject) != 0;
    return NULL;
}

/* ---- codes of the provider's own ------------------------------------------------------------------ */

static struct error *send_code(struct provider *provider, struct arena *arena, const char *subject,
                               enum provider_code code, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    return remote->driver->codes->send(remote, arena, subject, code, outcome_out);
}

static struct error *confirm_by_code(struct provider *provider, struct arena *arena, const char *subject,
                                     const char *code, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(remote->driver->codes->confirm(remote, arena, subject, code, outcome_out));
    /* A user who does not exist has no right code, whatever the provider says. */
    if (subject == NULL)
        *outcome_out = PROVIDER_CODE_WRONG;
    return NULL;
}

/* ---- rules and secrets ---------------------------------------------------------------------------- */

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
        LOG(ERROR, IDENTITY, "the provider's secrets could not be read again; the former ones stay in use",
            LOG_TEXT("provider", remote->driver->name), LOG_TEXT("detail", error->detail));
    arena_free(&scratch);
    remote_jwks_forget(remote);
}

static void release(struct provider *provider)
{
    struct remote *remote = remote_of(provider);
    remote_jwks_forget(remote);
    circuit_breaker_close_file(remote);
    arena_free(&remote->secrets);
    struct arena *arena = remote->arena;
    remote->driver->free(remote);
    arena_free(&arena);
}

/* ---- the tables ----------------------------------------------------------------------------------- */

static const struct provider_administration administration = {
    .create = create,
    .confirm = confirm,
    .set_password = remote_password_set,
    .invite_again = remote_password_invite,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .remove = remove_account,
    .holds_address = holds_address,
};

static const struct provider_codes codes = {
    .send = send_code,
    .confirm = confirm_by_code,
    .reset = remote_password_reset,
};

static const struct provider_password_reconciliation reconciliation = {
    .list = remote_intent_list,
    .reconcile = remote_intent_reconcile,
};

static const struct provider_functions functions = {
    .name = "remote",
    .login = remote_login,
    .answer_new_password = remote_login_answer,
    .refresh = remote_session_refresh,
    .logout = remote_session_logout,
    .logout_all = remote_logout_all,
    .logout_others = remote_session_logout_others,
    .change_password = remote_password_change,
    .rules = rules,
    .resolve = remote_session_resolve,
    .keys = remote_jwks_get,
    .check = remote_check,
    .forget = forget,
    .tidy = remote_session_tidy,
    .free = release,
    .administration = &administration,
    .reconciliation = &reconciliation,
};

/* ---- making one ----------------------------------------------------------------------------------- */

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
    remote->provider.codes = options->codes && driver->codes != NULL ? &codes : NULL;
    remote->driver = driver;
    remote->options = *options;
    remote->arena = arena_new();
    remote->slots_fd = -1;
    remote->known = arena_array(remote->arena, REMOTE_KNOWN_SESSIONS, sizeof *remote->known);
    return http_client_new(remote->arena, options->ca_file, &remote->http);
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
