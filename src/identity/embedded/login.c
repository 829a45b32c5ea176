/* SPDX-License-Identifier: MIT */
/*
 * Passwords. A decision about one takes 40 ms and is not made under a lock; what follows from it (a session,
 * another password) is written in a transaction that first finds the account with the password_version the
 * decision was about. So nobody gets in with a password that was replaced meanwhile, and a temporary password
 * is answered once.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "identity/embedded/embedded_int.h"
#include "identity/refresh_token_int.h"

/*
 * A well-formed hash of today's cost that no password has: checking one against it takes as long as against a
 * stored one, so that the answer's time does not tell whether the account exists.
 */
static const char *nobodys_hash(struct arena *arena, struct password_cost cost)
{
    return arena_format(arena, "$argon2id$v=19$m=%u,t=%u,p=1$bm9ib2R5J3Mgc2FsdC4uLg$%s", cost.memory_kib, cost.passes,
                        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
}

static const struct statement replace_hash = {
    "UPDATE identity_account SET password_hash = ? WHERE id = ? AND password_hash = ?"};

/* The stored hash is of another cost than asked for now: hashes anew. Not doing it is no failure of the
 * login. */
static void rehash(struct embedded *embedded, struct arena *arena, const struct embedded_account *account,
                   struct secret password)
{
    char *hash;
    struct change change;
    struct error *error = password_hash(arena, password, embedded->options.cost, &hash);
    if (error == NULL)
        error = database_change(
            embedded->options.database, arena, &replace_hash,
            VALUES(database_text(hash), database_id(account->id), database_text(account->password_hash)), &change);
    if (error != NULL)
        LOG(WARN, IDENTITY, "a password could not be hashed anew", LOG_TEXT("detail", error->detail));
}

/* Compares, with an account that is not there as well. */
static struct error *check(struct embedded *embedded, struct arena *arena, const struct embedded_account *account,
                           struct secret password, bool *right_out)
{
    struct password_cost cost = embedded->options.cost;
    const char *hash = account != NULL ? account->password_hash : nobodys_hash(arena, cost);
    enum password_match match = password_verify(hash, password, cost);
    if (match == PASSWORD_UNDECIDED)
        return error_new(arena, ERROR_INTERNAL, "a password could not be compared: damaged hash or no memory");
    *right_out = account != NULL && match != PASSWORD_WRONG;
    if (*right_out && match == PASSWORD_RIGHT_BUT_WEAK)
        rehash(embedded, arena, account, password);
    return NULL;
}

/* ---- opening a session --------------------------------------------------------------------------- */

struct opening {
    struct embedded *embedded;
    const struct embedded_account *account;
    const struct embedded_new_session *rows;
    const char *new_hash; /* NULL: the password stays */
    bool done;
};

/*
 * The session, if the account is still as it was judged. Its row is locked, but shared, so that honest logins at the same
 * time do not wait for one another.
 */
static const struct statement open_session = {
    "INSERT INTO session (id, user_id, expires_at)"
    " SELECT ?, id, UTC_TIMESTAMP(3) + INTERVAL ? SECOND FROM identity_account"
    " WHERE id = ? AND password_version = ? AND enabled LOCK IN SHARE MODE"};

static struct error *open_rows(struct database *database, struct arena *arena, void *context)
{
    struct opening *opening = context;
    const struct embedded_account *account = opening->account;
    struct change change;
    TRY(database_change(database, arena, &open_session,
                        VALUES(database_id(opening->rows->session),
                               database_integer(opening->embedded->options.refresh_token_seconds),
                               database_id(account->id), database_integer(account->password_version)),
                        &change));
    opening->done = change.affected == 1;
    return opening->done
               ? refresh_token_insert(database, arena, opening->rows->refresh_token_hash, opening->rows->session)
               : NULL;
}

/* What the right password of this account is good for; OK is decided elsewhere. */
static enum provider_outcome outcome_of_right_password(const struct embedded_account *account, bool new_password_sent)
{
    if (!account->enabled)
        return PROVIDER_DISABLED;
    if (account->unconfirmed)
        return PROVIDER_UNCONFIRMED;
    if (account->password_temporary)
        return account->password_expired ? PROVIDER_TEMPORARY_EXPIRED : PROVIDER_NEW_PASSWORD_REQUIRED;
    return new_password_sent ? PROVIDER_PERMANENT_PASSWORD : PROVIDER_OK;
}

struct error *embedded_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct embedded_account *account;
    struct id id = id_new(); /* of nobody: the same steps are taken for those who are not there */
    bool right;
    if (login->subject != NULL)
        (void)id_parse(login->subject, &id);
    TRY(embedded_account_find(embedded, arena, id, &account));
    TRY(check(embedded, arena, account, login->password, &right));
    *outcome_out = right ? outcome_of_right_password(account, login->new_password_sent) : PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED)
        *challenge_out = (struct provider_challenge){
            .subject = login->subject,
            .proof = arena_format(arena, "%lld", (long long)account->password_version),
            .password = login->password,
        };
    if (*outcome_out != PROVIDER_OK)
        return NULL;

    struct embedded_new_session rows;
    TRY(embedded_session_prepare(embedded, arena, account, &rows, tokens_out));
    struct opening opening = {.embedded = embedded, .account = account, .rows = &rows};
    TRY(database_transaction(embedded->options.database, arena, open_rows, &opening, NULL));
    if (!opening.done)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    return NULL;
}

/* ---- the first login ----------------------------------------------------------------------------- */

/* Assignments run from left to right: the status they ask about changes last. */
static const struct statement answer_challenge = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = FALSE, password_expires_at = NULL,"
    " email_verified = email_verified OR status = 'force-change',"
    " phone_verified = phone IS NOT NULL AND (phone_verified OR status = 'force-change'),"
    " status = 'confirmed', updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND password_version = ? AND password_temporary AND enabled AND status <> 'unconfirmed'"
    " AND (password_expires_at IS NULL OR password_expires_at > UTC_TIMESTAMP(3))"};

static struct error *answer_rows(struct database *database, struct arena *arena, void *context)
{
    struct opening *opening = context;
    const struct embedded_account *account = opening->account;
    struct change change;
    TRY(database_change(
        database, arena, &answer_challenge,
        VALUES(database_text(opening->new_hash), database_id(account->id), database_integer(account->password_version)),
        &change));
    opening->done = change.affected == 1;
    return opening->done ? embedded_session_insert(opening->embedded, arena, opening->rows) : NULL;
}

struct error *embedded_login_answer(struct provider *provider, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct embedded_account *account = NULL;
    struct id id;
    int64_t version;
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    if (!id_parse(challenge->subject, &id) || !text_to_integer(challenge->proof, 1, UINT32_MAX, &version))
        return NULL;
    TRY(embedded_account_find(embedded, arena, id, &account));
    if (account == NULL || account->password_version != version || !account->password_temporary)
        return NULL;

    char *hash;
    TRY(password_hash(arena, new_password, embedded->options.cost, &hash));
    /* Whoever answers has read the mail: the tokens say so already. */
    account->email_verified = account->email_verified || account->force_change;
    struct embedded_new_session rows;
    TRY(embedded_session_prepare(embedded, arena, account, &rows, tokens_out));
    struct opening opening = {.embedded = embedded, .account = account, .rows = &rows, .new_hash = hash};
    TRY(database_transaction(embedded->options.database, arena, answer_rows, &opening, NULL));
    if (opening.done)
        *outcome_out = PROVIDER_OK;
    return NULL;
}

/* ---- other passwords ----------------------------------------------------------------------------- */

struct replacing {
    struct embedded *embedded;
    struct id id;
    struct id keep; /* the session that goes on */
    const char *new_hash;
    int64_t version; /* of the password that was proven */
    bool temporary;
    bool done;
};

static const struct statement change_known = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = FALSE, password_expires_at = NULL, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND password_version = ?"};

static struct error *change_rows(struct database *database, struct arena *arena, void *context)
{
    struct replacing *replacing = context;
    struct change change;
    TRY(database_change(
        database, arena, &change_known,
        VALUES(database_text(replacing->new_hash), database_id(replacing->id), database_integer(replacing->version)),
        &change));
    replacing->done = change.affected == 1;
    return replacing->done ? embedded_session_end_all(replacing->embedded, arena, replacing->id, replacing->keep)
                           : NULL;
}

struct error *embedded_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out)
{
    struct replacing replacing = {.embedded = embedded_of(provider), .keep = session};
    struct embedded_account *account = NULL;
    bool right;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &replacing.id))
        return NULL;
    TRY(embedded_account_find(replacing.embedded, arena, replacing.id, &account));
    if (account == NULL)
        return NULL;
    TRY(check(replacing.embedded, arena, account, password, &right));
    *outcome_out = PROVIDER_BAD_CREDENTIALS;
    if (!right)
        return NULL;
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(password, new_password))
        return NULL;

    char *hash;
    TRY(password_hash(arena, new_password, replacing.embedded->options.cost, &hash));
    replacing.new_hash = hash;
    replacing.version = account->password_version;
    TRY(database_transaction(replacing.embedded->options.database, arena, change_rows, &replacing, NULL));
    *outcome_out = replacing.done ? PROVIDER_OK : PROVIDER_BAD_CREDENTIALS;
    return NULL;
}

/* A permanent password set by somebody entitled to makes a first login needless. */
static const struct statement set_any = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = ?, password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND,"
    " status = IF(status = 'force-change' AND NOT password_temporary, 'confirmed', status),"
    " updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

static struct error *set_rows(struct database *database, struct arena *arena, void *context)
{
    struct replacing *replacing = context;
    int64_t seconds = replacing->embedded->options.temporary_password_seconds;
    struct change change;
    TRY(database_change(database, arena, &set_any,
                        VALUES(database_text(replacing->new_hash), database_boolean(replacing->temporary),
                               replacing->temporary ? database_integer(seconds) : database_null(),
                               database_id(replacing->id)),
                        &change));
    replacing->done = change.affected == 1;
    return replacing->done ? embedded_session_end_all(replacing->embedded, arena, replacing->id, replacing->keep)
                           : NULL;
}

struct error *embedded_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct replacing replacing = {.embedded = embedded_of(provider), .temporary = temporary};
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &replacing.id))
        return NULL;
    char *hash;
    TRY(password_hash(arena, password, replacing.embedded->options.cost, &hash));
    replacing.new_hash = hash;
    TRY(database_transaction(replacing.embedded->options.database, arena, set_rows, &replacing, NULL));
    if (replacing.done)
        *outcome_out = PROVIDER_OK;
    return NULL;
}

/* Who logs in for the first time at the same moment wins: the password is then no longer temporary. */
static const struct statement set_invitation = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'force-change' AND password_temporary"};

struct error *embedded_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                       struct secret password, enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct embedded_account *account = NULL;
    struct change change;
    struct id id;
    char *hash;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    TRY(embedded_account_find(embedded, arena, id, &account));
    if (account == NULL)
        return NULL;
    TRY(password_hash(arena, password, embedded->options.cost, &hash));
    TRY(database_change(
        embedded->options.database, arena, &set_invitation,
        VALUES(database_text(hash), database_integer(embedded->options.temporary_password_seconds), database_id(id)),
        &change));
    *outcome_out = change.affected == 1 ? PROVIDER_OK : PROVIDER_STATE;
    return NULL;
}
