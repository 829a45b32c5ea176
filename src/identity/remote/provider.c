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
 * The address has an account already. One that carries our id and that nobody has used is what an attempt before left: it
 * gets the password and the attributes of this one.
 */
static struct error *take_over(struct outside *outside, struct arena *arena, const struct provider_account *account,
                               const char **subject_out, enum provider_outcome *outcome_out)
{
    struct outside_found found = {0};
    struct provider_attributes attributes = {
        .email = account->email,
        .set_phone = true,
        .phone = account->phone,
        .set_permissions = true,
        .permissions = account->permissions,
    };
    *outcome_out = PROVIDER_EXISTS;
    TRY(outside->wire->find(outside, arena, account->user_id, account->email, &found));
    if (found.subject == NULL || !found.ours || found.used)
        return NULL;
    /* An account that awaits a code keeps the password it has until it is confirmed: setting one would confirm it. */
    *outcome_out = PROVIDER_OK;
    if (account->kind == PROVIDER_AWAITING_CODE) {
        TRY(outside->wire->remove(outside, arena, found.subject));
        return outside->wire->create(outside, arena, account, subject_out, outcome_out);
    }
    TRY(outside->wire->set_password(outside, arena, found.subject, account->password,
                                    account->kind == PROVIDER_INVITED, outcome_out));
    if (*outcome_out == PROVIDER_OK)
        TRY(outside->wire->set_attributes(outside, arena, found.subject, &attributes, outcome_out));
    *subject_out = found.subject;
    return NULL;
}

static const struct statement find_other = {"SELECT 1 FROM user WHERE provider_subject = ? AND id <> ?"};

/* Two users of one account would each be the other: neither can be let in, so the second is not made. */
static struct error *check_owner(struct outside *outside, struct arena *arena, struct id user, const char *subject)
{
    struct rows *rows;
    TRY(database_query(outside->options.database, arena, &find_other, VALUES(database_text(subject), database_id(user)),
                       &rows));
    return rows->count == 0 ? NULL
                            : error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave the account of somebody else");
}

static struct error *create(struct provider *provider, struct arena *arena, const struct provider_account *account,
                            const char **subject_out, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside->wire->create(outside, arena, account, subject_out, outcome_out));
    if (*outcome_out == PROVIDER_EXISTS)
        TRY(take_over(outside, arena, account, subject_out, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(check_owner(outside, arena, account->user_id, *subject_out));
    return outside_note_password(outside, arena, account->user_id, account->kind == PROVIDER_INVITED);
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
    struct outside *outside = outside_of(provider);
    struct outside_found found = {0};
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside->wire->find(outside, arena, user, email, &found));
    if (found.subject != NULL && found.ours)
        TRY(outside->wire->remove(outside, arena, found.subject));
    return database_transaction(outside->options.database, arena, remove_rows, &user, NULL);
}

/* ---- the account's state -------------------------------------------------------------------------- */

static struct error *confirm(struct provider *provider, struct arena *arena, const char *subject,
                             enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    return outside->wire->confirm(outside, arena, subject, outcome_out);
}

static struct error *set_enabled(struct provider *provider, struct arena *arena, const char *subject, bool enabled,
                                 enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found = false;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside_user(outside, arena, subject, &user, &found));
    if (found && !enabled)
        TRY(outside_end_all(outside, arena, user, (struct id){{0}}));
    return outside->wire->set_enabled(outside, arena, subject, enabled, outcome_out);
}

static struct error *set_attributes(struct provider *provider, struct arena *arena, const char *subject,
                                    const struct provider_attributes *attributes, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    return outside->wire->set_attributes(outside, arena, subject, attributes, outcome_out);
}

/* ---- codes of the provider's own ------------------------------------------------------------------ */

static bool has_codes(const struct provider *provider)
{
    return ((const struct outside *)provider)->options.codes;
}

static struct error *send_code(struct provider *provider, struct arena *arena, const char *subject, enum provider_code code,
                               enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    return outside->wire->send_code(outside, arena, subject, code, outcome_out);
}

static struct error *confirm_by_code(struct provider *provider, struct arena *arena, const char *subject, const char *code,
                                     enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside->wire->confirm_by_code(outside, arena, subject, code, outcome_out));
    /* Nobody's code cannot be right, whatever a provider says. */
    if (subject == NULL)
        *outcome_out = PROVIDER_CODE_WRONG;
    return NULL;
}

/* ---- tokens, secrets, the end ----------------------------------------------------------------- */

static void rules(struct provider *provider, struct token_rules *rules_out)
{
    struct outside *outside = outside_of(provider);
    outside->wire->rules(outside, rules_out);
}

static void forget(struct provider *provider)
{
    struct outside *outside = outside_of(provider);
    struct arena *scratch = arena_new();
    struct error *error = outside->wire->read_secrets(outside, scratch);
    if (error != NULL)
        LOG(ERROR, IDENTITY, "the provider's secrets could not be read again; the last ones go on",
            LOG_TEXT("provider", outside->wire->name), LOG_TEXT("detail", error->detail));
    arena_free(&scratch);
    outside_keys_forget(outside);
}

static void release(struct provider *provider)
{
    struct outside *outside = outside_of(provider);
    outside_keys_forget(outside);
    outside_gate_free(outside);
    arena_free(&outside->secrets);
    struct arena *arena = outside->arena;
    outside->wire->free(outside);
    arena_free(&arena);
}

const struct provider_functions outside_functions = {
    .name = "outside",
    .create = create,
    .login = outside_login,
    .answer_new_password = outside_answer_new_password,
    .refresh = outside_refresh,
    .logout = outside_logout,
    .logout_all = outside_logout_all,
    .change_password = outside_change_password,
    .set_password = outside_set_password,
    .invite_again = outside_invite_again,
    .confirm = confirm,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .has_codes = has_codes,
    .send_code = send_code,
    .confirm_by_code = confirm_by_code,
    .reset_by_code = outside_reset_by_code,
    .remove = remove_one,
    .rules = rules,
    .resolve = outside_resolve,
    .keys = outside_keys_get,
    .unsettled = outside_unsettled,
    .settle = outside_settle,
    .check = outside_check,
    .forget = forget,
    .tidy = outside_tidy,
    .free = release,
};

/* ---- making one ------------------------------------------------------------------------------------- */

struct error *outside_read_secrets(struct outside *outside, struct arena *arena, const struct outside_secret *secrets,
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
    arena_free(&outside->secrets);
    outside->secrets = own;
    return NULL;
}

struct error *outside_check_address(struct arena *arena, const struct outside_wire *wire, const char *name,
                                    const char *url)
{
    if (web_url_usable(url))
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, "%s is not usable", name),
                         "%s in [%s] must start with https:// (http:// for this machine only), without a query.", name,
                         wire->name);
}

struct error *outside_open(struct outside *outside, const struct outside_wire *wire,
                           const struct outside_options *options)
{
    outside->provider.functions = &outside_functions;
    outside->wire = wire;
    outside->options = *options;
    outside->arena = arena_new();
    outside->places = -1;
    outside->known = arena_array(outside->arena, OUTSIDE_KNOWN_SLOTS, sizeof *outside->known);
    return web_client_new(outside->arena, options->ca_file, &outside->web);
}

struct error *outside_ready(struct outside *outside, struct arena *arena, struct error *error,
                            struct provider **provider_out)
{
    if (error == NULL)
        error = outside->wire->read_secrets(outside, arena);
    if (error != NULL)
        release(&outside->provider);
    else
        *provider_out = &outside->provider;
    return error;
}
