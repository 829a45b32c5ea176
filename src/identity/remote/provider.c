/* SPDX-License-Identifier: MIT */
/* The provider's functions over a wire. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/seal.h"
#include "identity/remote/remote_int.h"

/* Less than an operation has (OUTSIDE_ADMIN_MILLISECONDS), so that some is left to do it in. */
#define LOCK_WAIT_SECONDS 7

/* ---- one at a time -------------------------------------------------------------------------------- */

/* The database's name is utf8mb3, which does not go together with a character of four bytes. */
#define LOCK_NAME "SHA2(CONCAT(CONVERT(DATABASE() USING utf8mb4), '/account/', ?), 256)"

static const struct statement take_lock = {"SELECT GET_LOCK(" LOCK_NAME ", ?)"};
static const struct statement give_lock = {"SELECT RELEASE_LOCK(" LOCK_NAME ")"};

struct error *outside_lock(struct outside *outside, struct arena *arena, const char *subject)
{
    struct rows *rows;
    if (!outside_enter(outside))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, OUTSIDE_NO_PLACE);
    struct error *error = database_query(outside->options.database, arena, &take_lock,
                                         VALUES(database_text(subject), database_integer(LOCK_WAIT_SECONDS)), &rows);
    if (error == NULL && (rows->count == 0 || rows_is_null(rows, 0, 0) || rows_integer(rows, 0, 0) != 1))
        error = error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another change of the account takes too long");
    if (error != NULL)
        outside_leave(outside);
    return error;
}

void outside_unlock(struct outside *outside, struct arena *arena, const char *subject)
{
    struct rows *rows;
    /* A lock that cannot be given back went with its connection. */
    (void)database_query(outside->options.database, arena, &give_lock, VALUES(database_text(subject)), &rows);
    outside_leave(outside);
}

/* ---- temporary passwords -------------------------------------------------------------------------- */

static const struct statement set_temporary = {
    "INSERT INTO outside_account (user_id, temporary_until) VALUES (?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"
    " ON DUPLICATE KEY UPDATE temporary_until = VALUES(temporary_until)"};

struct error *outside_note_password(struct outside *outside, struct arena *arena, struct id user, bool temporary)
{
    int64_t seconds = outside->options.temporary_password_seconds;
    return database_change(outside->options.database, arena, &set_temporary,
                           VALUES(database_id(user), temporary ? database_integer(seconds) : database_null()), NULL);
}

static const struct statement get_temporary = {
    "SELECT COALESCE(temporary_until <= UTC_TIMESTAMP(3), FALSE) FROM outside_account WHERE user_id = ?"};

static struct error *password_is_over(struct outside *outside, struct arena *arena, struct id user, bool *over_out)
{
    struct rows *rows;
    TRY(database_query(outside->options.database, arena, &get_temporary, VALUES(database_id(user)), &rows));
    *over_out = rows->count != 0 && rows_boolean(rows, 0, 0);
    return NULL;
}

static const struct statement find_user = {"SELECT id FROM user WHERE provider_subject = ?"};

struct error *outside_user(struct outside *outside, struct arena *arena, const char *subject, struct id *user_out,
                           bool *found_out)
{
    struct rows *rows;
    TRY(database_query(outside->options.database, arena, &find_user, VALUES(database_text(subject)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        *user_out = rows_id(rows, 0, 0);
    return NULL;
}

/* The user whose account a call is about. The outcome is ABSENT until the provider says another. */
static struct error *find_owner(struct outside *outside, struct arena *arena, const char *subject, struct id *user_out,
                                bool *found_out, enum provider_outcome *outcome_out)
{
    *found_out = false;
    *outcome_out = PROVIDER_ABSENT;
    return outside_user(outside, arena, subject, user_out, found_out);
}

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

/* ---- signing in ----------------------------------------------------------------------------------- */

void outside_give_up(struct outside *outside, struct arena *arena, const struct outside_grant *grant)
{
    if (grant->refresh_token.bytes == NULL)
        return;
    struct error *error = outside->wire->revoke(outside, arena, grant->refresh_token);
    if (error != NULL)
        LOG(WARN, IDENTITY, "a session at the provider was not ended", LOG_TEXT("detail", error->detail));
}

/* Nothing is begun, and only who would have come in is told that the password was right. */
static struct error *refuse_new_password(struct outside *outside, struct arena *arena, const char *subject,
                                         const struct outside_grant *grant)
{
    struct token_claims claims;
    struct error *error = grant->access_token != NULL
                              ? outside_judge(outside, arena, subject, grant->access_token, &claims)
                              : error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no token");
    outside_give_up(outside, arena, grant);
    return error;
}

static struct error *login(struct provider *provider, struct arena *arena, const struct provider_login *attempt,
                           struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                           enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_grant grant = {0};
    const char *proof = NULL;
    bool over = false;
    outside_start(outside, OUTSIDE_LOGIN_MILLISECONDS);
    TRY(outside->wire->login(outside, arena, attempt, &grant, &proof, outcome_out));
    /* Nobody cannot be let in, whatever a provider says. */
    if (attempt->subject == NULL)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED) {
        TRY(password_is_over(outside, arena, attempt->user_id, &over));
        *challenge_out = (struct provider_challenge){
            .subject = attempt->subject, .user_id = attempt->user_id, .proof = proof, .password = attempt->password};
        if (over)
            *outcome_out = PROVIDER_TEMPORARY_EXPIRED;
    }
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    if (!attempt->new_password_sent)
        return outside_begin(outside, arena, attempt->subject, attempt->user_id, &grant, tokens_out);
    struct error *error = refuse_new_password(outside, arena, attempt->subject, &grant);
    *outcome_out = PROVIDER_PERMANENT_PASSWORD;
    return error;
}

/*
 * Whether a password that the provider was told, and said nothing to, is the account's now: that is never sent again, but
 * who it lets in knows.
 */
static bool holds(struct outside *outside, struct arena *arena, const char *subject, struct secret password,
                  struct outside_grant *grant_out)
{
    struct provider_login attempt = {.subject = subject, .password = password};
    enum provider_outcome outcome = PROVIDER_BAD_CREDENTIALS;
    const char *proof = NULL;
    *grant_out = (struct outside_grant){0};
    return outside->wire->login(outside, arena, &attempt, grant_out, &proof, &outcome) == NULL && outcome == PROVIDER_OK;
}

static struct error *answer_locked(struct outside *outside, struct arena *arena, const struct provider_challenge *challenge,
                                   struct secret new_password, struct outside_grant *grant_out,
                                   enum provider_outcome *outcome_out)
{
    struct error *error = outside->wire->answer(outside, arena, challenge, new_password, grant_out, outcome_out);
    if (error != NULL && !holds(outside, arena, challenge->subject, new_password, grant_out))
        return error;
    if (error != NULL)
        *outcome_out = PROVIDER_OK;
    return *outcome_out == PROVIDER_OK ? outside_note_password(outside, arena, challenge->user_id, false) : NULL;
}

/* One answer after the other, and none while an invitation is sent again: see there. */
static struct error *answer_new_password(struct provider *provider, struct arena *arena,
                                         const struct provider_challenge *challenge,
                                         struct secret new_password, struct provider_tokens *tokens_out,
                                         enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_grant grant = {0};
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    TRY(outside_lock(outside, arena, challenge->subject));
    struct error *error = answer_locked(outside, arena, challenge, new_password, &grant, outcome_out);
    outside_unlock(outside, arena, challenge->subject);
    if (error != NULL || *outcome_out != PROVIDER_OK)
        return error;
    return outside_begin(outside, arena, challenge->subject, challenge->user_id, &grant, tokens_out);
}

static struct error *logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found = false;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(outside_user(outside, arena, subject, &user, &found));
    if (!found)
        return NULL;
    /* Ours first: it holds at once, whatever becomes of the call. */
    TRY(outside_end_all(outside, arena, user, (struct id){{0}}));
    struct error *error = outside->wire->sign_out(outside, arena, subject);
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}

/* ---- passwords ------------------------------------------------------------------------------------ */

static struct error *replace_password(struct outside *outside, struct arena *arena, const char *subject,
                                      struct secret password, struct secret new_password,
                                      enum provider_outcome *outcome_out)
{
    struct outside_grant grant;
    struct error *error = outside->wire->change_password(outside, arena, subject, password, new_password, outcome_out);
    /* What was not sent is not asked about: that would be one guess more, which nobody counts. */
    if (error == NULL || !outside->is_unknown || !holds(outside, arena, subject, new_password, &grant))
        return error;
    outside_give_up(outside, arena, &grant);
    *outcome_out = PROVIDER_OK;
    return NULL;
}

static struct error *change_password(struct provider *provider, struct arena *arena, const char *subject,
                                     struct id session, struct secret password, struct secret new_password,
                                     enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    if (!secret_equal(password, new_password)) {
        struct outside_intent intent = {.user = user, .subject = subject, .password = new_password, .keep = session};
        TRY(outside_intend(outside, arena, &intent));
        struct error *error = replace_password(outside, arena, subject, password, new_password, outcome_out);
        return outside_answered(outside, arena, &intent, error, *outcome_out);
    }
    /* Only who knows the password is told that it is the same. */
    struct outside_grant grant = {0};
    const char *proof = NULL;
    struct provider_login attempt = {.subject = subject, .user_id = user, .password = password};
    TRY(outside->wire->login(outside, arena, &attempt, &grant, &proof, outcome_out));
    if (*outcome_out == PROVIDER_BAD_CREDENTIALS)
        return NULL;
    outside_give_up(outside, arena, &grant);
    *outcome_out = PROVIDER_SAME_PASSWORD;
    return NULL;
}

static struct error *set_password(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    struct outside_intent intent = {.user = user, .subject = subject, .password = password, .temporary = temporary};
    TRY(outside_intend(outside, arena, &intent));
    struct error *error = outside->wire->set_password(outside, arena, subject, password, temporary, outcome_out);
    return outside_answered(outside, arena, &intent, error, *outcome_out);
}

static const struct statement awaits_first = {
    "SELECT COALESCE(a.temporary_until IS NOT NULL, FALSE), u.email FROM user u"
    " LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ? AND u.status = 'awaiting-first-login'"};

/* Our rows may not have heard of a first login, so that the provider is asked as well. */
static struct error *invite_locked(struct outside *outside, struct arena *arena, const char *subject, struct id user,
                                   struct secret password, enum provider_outcome *outcome_out)
{
    struct outside_found account = {0};
    struct rows *rows;
    *outcome_out = PROVIDER_STATE;
    TRY(database_query(outside->options.database, arena, &awaits_first, VALUES(database_id(user)), &rows));
    if (rows->count == 0 || !rows_boolean(rows, 0, 0))
        return NULL;
    TRY(outside->wire->find(outside, arena, user, rows_text(rows, 0, 1), &account));
    if (account.subject != NULL && account.used && strcmp(account.subject, subject) == 0)
        return NULL;
    TRY(outside->wire->set_password(outside, arena, subject, password, true, outcome_out));
    return *outcome_out == PROVIDER_OK ? outside_note_password(outside, arena, user, true) : NULL;
}

static struct error *invite_again(struct provider *provider, struct arena *arena, const char *subject,
                                  struct secret password, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user;
    bool found;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(find_owner(outside, arena, subject, &user, &found, outcome_out));
    if (!found)
        return NULL;
    TRY(outside_lock(outside, arena, subject));
    struct error *error = invite_locked(outside, arena, subject, user, password, outcome_out);
    outside_unlock(outside, arena, subject);
    return error;
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

static struct error *reset_by_code(struct provider *provider, struct arena *arena, const char *subject, const char *code,
                                   struct secret new_password, enum provider_outcome *outcome_out)
{
    struct outside *outside = outside_of(provider);
    struct id user = {{0}};
    bool found = false;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    if (subject != NULL)
        TRY(outside_user(outside, arena, subject, &user, &found));
    struct outside_intent intent = {.user = user, .subject = subject, .password = new_password};
    if (!found) {
        TRY(outside->wire->reset_by_code(outside, arena, NULL, code, new_password, outcome_out));
        *outcome_out = PROVIDER_CODE_WRONG;
        return NULL;
    }
    TRY(outside_intend(outside, arena, &intent));
    struct error *error = outside->wire->reset_by_code(outside, arena, subject, code, new_password, outcome_out);
    return outside_answered(outside, arena, &intent, error, *outcome_out);
}

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
    .login = login,
    .answer_new_password = answer_new_password,
    .refresh = outside_refresh,
    .logout = outside_logout,
    .logout_all = logout_all,
    .change_password = change_password,
    .set_password = set_password,
    .invite_again = invite_again,
    .confirm = confirm,
    .set_enabled = set_enabled,
    .set_attributes = set_attributes,
    .has_codes = has_codes,
    .send_code = send_code,
    .confirm_by_code = confirm_by_code,
    .reset_by_code = reset_by_code,
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
