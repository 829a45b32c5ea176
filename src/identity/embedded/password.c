/* SPDX-License-Identifier: MIT */
/*
 * Passwords of the embedded provider: verified, changed by their owner, set by others, replaced by another invitation.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "identity/embedded/embedded_int.h"

/* ---- verifying ------------------------------------------------------------------------------------ */

/* A well-formed hash of today's cost that no password has: to compare with it takes as long as with a stored one. */
static const char *nobodys_hash(struct arena *arena, struct password_cost cost)
{
    return arena_format(arena, "$argon2id$v=19$m=%u,t=%u,p=1$bm9ib2R5J3Mgc2FsdC4uLg$%s", cost.memory_kib, cost.passes,
                        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
}

/* Hashes the password again, at today's cost. The login succeeds even where this fails. */
static void rehash(struct embedded *embedded, struct arena *arena, const struct embedded_account *account,
                   struct secret password)
{
    char *hash;
    struct error *error = password_hash(arena, password, embedded->options.cost, &hash);
    if (error == NULL)
        error = embedded_account_rehash(embedded->options.database, arena, account, hash);
    if (error != NULL)
        LOG(WARN, IDENTITY, "a password could not be hashed again", LOG_TEXT("detail", error->detail));
}

struct error *embedded_password_verify(struct embedded *embedded, struct arena *arena,
                                       const struct embedded_account *account, struct secret password, bool *right_out)
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

/* ---- replacing ------------------------------------------------------------------------------------ */

/* What the transaction of a change writes. */
struct password_rows {
    struct embedded *embedded;
    struct id id;
    struct id kept; /* the session that goes on */
    const char *new_hash;
    int64_t version; /* of the password that its owner knew */
    bool temporary;
    bool done;
};

static struct error *change_rows(struct database *database, struct arena *arena, void *context)
{
    struct password_rows *rows = context;
    TRY(embedded_account_change(database, arena, rows->id, rows->version, rows->new_hash, &rows->done));
    return rows->done ? embedded_session_end_all(rows->embedded, arena, rows->id, rows->kept) : NULL;
}

/* Verifies the current password; *outcome_out is PROVIDER_OK where it is right and the new one is another. */
static struct error *verify_current(struct password_rows *rows, struct arena *arena, struct secret password,
                                    struct secret new_password, enum provider_outcome *outcome_out)
{
    struct embedded_account *account = NULL;
    bool right;
    *outcome_out = PROVIDER_ABSENT;
    TRY(embedded_account_find(rows->embedded->options.database, arena, rows->id, &account));
    if (account == NULL)
        return NULL;
    TRY(embedded_password_verify(rows->embedded, arena, account, password, &right));
    rows->version = account->password_version;
    if (!right)
        *outcome_out = PROVIDER_BAD_CREDENTIALS;
    else
        *outcome_out = secret_equal(password, new_password) ? PROVIDER_SAME_PASSWORD : PROVIDER_OK;
    return NULL;
}

struct error *embedded_password_change(struct provider *provider, struct arena *arena, const char *subject,
                                       struct id session, struct secret password, struct secret new_password,
                                       enum provider_outcome *outcome_out)
{
    struct password_rows rows = {.embedded = embedded_of(provider), .kept = session};
    char *hash;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &rows.id))
        return NULL;
    TRY(verify_current(&rows, arena, password, new_password, outcome_out));
    if (*outcome_out != PROVIDER_OK)
        return NULL;
    TRY(password_hash(arena, new_password, rows.embedded->options.cost, &hash));
    rows.new_hash = hash;
    TRY(database_transaction(rows.embedded->options.database, arena, change_rows, &rows, NULL));
    *outcome_out = rows.done ? PROVIDER_OK : PROVIDER_BAD_CREDENTIALS;
    return NULL;
}

static struct error *set_rows(struct database *database, struct arena *arena, void *context)
{
    struct password_rows *rows = context;
    int64_t seconds = rows->temporary ? rows->embedded->options.temporary_password_seconds : 0;
    TRY(embedded_account_set(database, arena, rows->id, rows->new_hash, seconds, &rows->done));
    return rows->done ? embedded_session_end_all(rows->embedded, arena, rows->id, rows->kept) : NULL;
}

struct error *embedded_password_set(struct provider *provider, struct arena *arena, const char *subject,
                                    struct secret password, bool temporary, enum provider_outcome *outcome_out)
{
    struct password_rows rows = {.embedded = embedded_of(provider), .temporary = temporary};
    char *hash;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &rows.id))
        return NULL;
    TRY(password_hash(arena, password, rows.embedded->options.cost, &hash));
    rows.new_hash = hash;
    TRY(database_transaction(rows.embedded->options.database, arena, set_rows, &rows, NULL));
    if (rows.done)
        *outcome_out = PROVIDER_OK;
    return NULL;
}

struct error *embedded_password_invite(struct provider *provider, struct arena *arena, const char *subject,
                                       struct secret password, enum provider_outcome *outcome_out)
{
    const struct embedded_options *options = &embedded_of(provider)->options;
    struct embedded_account *account = NULL;
    struct id id;
    bool changed;
    char *hash;
    *outcome_out = PROVIDER_ABSENT;
    if (!id_parse(subject, &id))
        return NULL;
    TRY(embedded_account_find(options->database, arena, id, &account));
    if (account == NULL)
        return NULL;
    TRY(password_hash(arena, password, options->cost, &hash));
    TRY(embedded_account_invite(options->database, arena, id, hash, options->temporary_password_seconds, &changed));
    *outcome_out = changed ? PROVIDER_OK : PROVIDER_STATE;
    return NULL;
}
