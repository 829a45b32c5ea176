/* SPDX-License-Identifier: MIT */
/*
 * Signing in at the embedded provider, and the second step of a first login.
 *
 * To verify a password takes 40 ms, and no lock is held meanwhile. The session that follows is written in a transaction
 * that first finds the account with the password_version that was verified. So nobody gets in with a password that was
 * replaced meanwhile, and a temporary password is answered once.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "identity/embedded/embedded_int.h"

/* What the transaction of a login writes. */
struct login_rows {
    struct embedded *embedded;
    const struct embedded_account *account; /* as it was when its password was verified */
    struct embedded_new_session session;
    const char *new_hash;          /* of the answer to a challenge; NULL: the password stays */
    bool done;                     /* false: the account has changed since */
    enum provider_outcome outcome; /* of a login without a challenge */
};

/* ---- signing in ----------------------------------------------------------------------------------- */

/* What the right password of this account leads to. */
static enum provider_outcome outcome_of(const struct embedded_account *account, bool new_password_sent)
{
    if (!account->enabled)
        return PROVIDER_DISABLED;
    if (account->status == EMBEDDED_ACCOUNT_UNCONFIRMED)
        return PROVIDER_UNCONFIRMED;
    if (account->password_temporary)
        return account->password_expired ? PROVIDER_TEMPORARY_EXPIRED : PROVIDER_NEW_PASSWORD_REQUIRED;
    return new_password_sent ? PROVIDER_PERMANENT_PASSWORD : PROVIDER_OK;
}

static struct error *add_session(struct database *database, struct arena *arena, struct login_rows *rows)
{
    return embedded_account_begin_session(database, arena, rows->account, rows->session.session,
                                          rows->embedded->options.refresh_token_seconds, &rows->done);
}

/*
 * The account has changed since its password was verified. Its row is locked now, and says what the change led to.
 * Somebody whose password still holds hears that, such as disabled, and not that the password is wrong. One who was
 * enabled again meanwhile gets in.
 */
static struct error *add_session_again(struct database *database, struct arena *arena, struct login_rows *rows)
{
    struct embedded_account *now = NULL;
    rows->outcome = PROVIDER_BAD_CREDENTIALS;
    TRY(embedded_account_hold(database, arena, rows->account->id, &now));
    if (now == NULL || now->password_version != rows->account->password_version)
        return NULL;
    rows->outcome = outcome_of(now, false);
    return rows->outcome == PROVIDER_OK ? add_session(database, arena, rows) : NULL;
}

static struct error *begin_rows(struct database *database, struct arena *arena, void *context)
{
    struct login_rows *rows = context;
    rows->outcome = PROVIDER_OK;
    TRY(add_session(database, arena, rows));
    if (!rows->done)
        TRY(add_session_again(database, arena, rows));
    if (!rows->done)
        return NULL;
    return refresh_token_insert(database, arena, rows->session.refresh_hash, rows->session.session);
}

static struct error *begin(struct embedded *embedded, struct arena *arena, const struct embedded_account *account,
                           struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct login_rows rows = {.embedded = embedded, .account = account};
    TRY(embedded_session_prepare(embedded, arena, account, &rows.session, tokens_out));
    TRY(database_transaction(embedded->options.database, arena, begin_rows, &rows, NULL));
    *outcome_out = rows.outcome;
    return NULL;
}

struct error *embedded_login(struct provider *provider, struct arena *arena, const struct provider_login *login,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out,
                             enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct embedded_account *account;
    struct id id = id_new(); /* nobody's: the same steps are taken for a user who does not exist */
    bool right;
    if (login->subject != NULL)
        (void)id_parse(login->subject, &id);
    TRY(embedded_account_find(embedded->options.database, arena, id, &account));
    TRY(embedded_password_verify(embedded, arena, account, login->password, &right));
    *outcome_out = right ? outcome_of(account, login->new_password_sent) : PROVIDER_BAD_CREDENTIALS;
    if (*outcome_out == PROVIDER_NEW_PASSWORD_REQUIRED)
        *challenge_out = (struct provider_challenge){
            .subject = login->subject,
            .proof = arena_format(arena, "%lld", (long long)account->password_version),
            .password = login->password,
        };
    return *outcome_out == PROVIDER_OK ? begin(embedded, arena, account, tokens_out, outcome_out) : NULL;
}

/* ---- the first login ------------------------------------------------------------------------------ */

static struct error *answer_rows(struct database *database, struct arena *arena, void *context)
{
    struct login_rows *rows = context;
    const struct embedded_account *account = rows->account;
    TRY(embedded_account_answer(database, arena, account->id, account->password_version, rows->new_hash, &rows->done));
    if (!rows->done)
        return NULL;
    TRY(session_insert(database, arena, rows->session.session, rows->session.user,
                       rows->embedded->options.refresh_token_seconds));
    return refresh_token_insert(database, arena, rows->session.refresh_hash, rows->session.session);
}

/* The account that the challenge is about, if its temporary password is still the one; else NULL. */
static struct error *find_challenged(struct embedded *embedded, struct arena *arena,
                                     const struct provider_challenge *challenge, struct embedded_account **account_out)
{
    struct id id;
    int64_t version;
    *account_out = NULL;
    if (!id_parse(challenge->subject, &id) || !text_to_integer(challenge->proof, 1, UINT32_MAX, &version))
        return NULL;
    TRY(embedded_account_find(embedded->options.database, arena, id, account_out));
    const struct embedded_account *account = *account_out;
    if (account != NULL && (account->password_version != version || !account->password_temporary))
        *account_out = NULL;
    return NULL;
}

struct error *embedded_login_answer(struct provider *provider, struct arena *arena,
                                    const struct provider_challenge *challenge, struct secret new_password,
                                    struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct embedded *embedded = embedded_of(provider);
    struct embedded_account *account;
    char *hash;
    *outcome_out = PROVIDER_SAME_PASSWORD;
    if (secret_equal(challenge->password, new_password))
        return NULL;
    *outcome_out = PROVIDER_CHALLENGE_SPENT;
    TRY(find_challenged(embedded, arena, challenge, &account));
    if (account == NULL)
        return NULL;
    TRY(password_hash(arena, new_password, embedded->options.cost, &hash));
    /* Whoever answers has read the mail, and the new tokens say so. */
    account->email_verified = account->email_verified || account->status == EMBEDDED_ACCOUNT_FORCE_CHANGE;
    struct login_rows rows = {.embedded = embedded, .account = account, .new_hash = hash};
    TRY(embedded_session_prepare(embedded, arena, account, &rows.session, tokens_out));
    TRY(database_transaction(embedded->options.database, arena, answer_rows, &rows, NULL));
    if (rows.done)
        *outcome_out = PROVIDER_OK;
    return NULL;
}
