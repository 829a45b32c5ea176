/* SPDX-License-Identifier: MIT */
#include "domain/account/one_time_code.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/digest.h"
#include "codec/random.h"
#include "store/database/database.h"

/* HMAC over user, purpose and code: a hash of one row means nothing in another. */
static void hash_code(struct arena *arena, struct secret master, struct id user, const char *purpose, const char *code,
                      uint8_t hash_out[DIGEST_BYTES])
{
    char hex[ID_HEX_BYTES];
    id_hex(user, hex);
    const char *text = arena_format(arena, "gatehouse code %s %s %s", hex, purpose, code);
    digest_hmac(master, text, strlen(text), hash_out);
}

static const struct statement replace_code = {
    "INSERT INTO code (user_id, purpose, code_hash, expires_at)"
    " VALUES (?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"
    " ON DUPLICATE KEY UPDATE code_hash = VALUES(code_hash), tries = 0, expires_at = VALUES(expires_at),"
    " created_at = UTC_TIMESTAMP(3)"};

static const struct statement count_try = {
    "UPDATE code SET tries = tries + 1"
    " WHERE user_id = ? AND purpose = ? AND tries < ? AND expires_at > UTC_TIMESTAMP(3)"};

/* Where no try was counted, a bit of a row that says nothing changes instead. */
static const struct statement write_decoy = {
    "INSERT INTO code_decoy (slot, mark) VALUES (?, ?) ON DUPLICATE KEY UPDATE mark = mark ^ VALUES(mark)"};

/* One row in any case, NULL where there is no code, so that the answer takes as long. */
static const struct statement read_hash = {
    "SELECT (SELECT code_hash FROM code WHERE user_id = ? AND purpose = ?)"};

static const struct statement uncount_try = {
    "UPDATE code SET tries = tries - 1 WHERE user_id = ? AND purpose = ? AND tries > 0"};

static const struct statement read_code = {
    "SELECT code_hash, tries, expires_at FROM code WHERE user_id = ? AND purpose = ? FOR UPDATE"};

static const struct statement put_code_back = {
    "INSERT IGNORE INTO code (user_id, purpose, code_hash, tries, expires_at)"
    " VALUES (?, ?, ?, ?, ?)"};

static const struct statement remove_code = {"DELETE FROM code WHERE user_id = ? AND purpose = ?"};

static const struct statement make_allowance = {
    "INSERT IGNORE INTO mail_allowance (user_id, purpose, day) VALUES (?, ?, UTC_DATE())"};

static const struct statement count_mail = {
    "UPDATE mail_allowance SET sent = sent + 1 WHERE user_id = ? AND purpose = ? AND day = UTC_DATE() AND sent < ?"};

static const struct statement purge_codes = {"DELETE FROM code WHERE expires_at < UTC_TIMESTAMP(3) LIMIT ?"};

static const struct statement purge_allowances = {
    "DELETE FROM mail_allowance WHERE day < UTC_DATE() - INTERVAL 1 DAY LIMIT ?"};

struct error *code_issue(struct database *database, struct arena *arena, struct secret master, struct id user,
                         const char *purpose, int64_t seconds, struct secret *code_out)
{
    uint8_t hash[DIGEST_BYTES];
    const char *code = random_code(arena, CODE_DIGITS);
    hash_code(arena, master, user, purpose, code, hash);
    TRY(database_change(database, arena, &replace_code,
                        VALUES(database_id(user), database_text(purpose), database_bytes(hash, sizeof hash),
                               database_integer(seconds)),
                        NULL));
    *code_out = secret_of(code);
    return NULL;
}

/* A try on its way through the transaction. */
struct attempt {
    struct id user;
    const char *purpose;
    uint8_t hashes[LIMIT_MASTER_KEYS][DIGEST_BYTES]; /* under each key of the master secret */
    size_t count;
    bool good;
};

/* The decoy's slot is random, so that tries at the same time do not wait for one another. */
static struct error *write_instead(struct database *database, struct arena *arena, bool counted)
{
    uint8_t slot;
    random_bytes(&slot, sizeof slot);
    return database_change(database, arena, &write_decoy, VALUES(database_integer(slot), database_boolean(!counted)), NULL);
}

/*
 * The time of the answer must not tell whether there is a code. So each try is one transaction of the same statements,
 * which writes one row and commits it: the code's, or a decoy where no code takes the try.
 */
static struct error *count_and_compare(struct database *database, struct arena *arena, void *context)
{
    static const uint8_t nothing[DIGEST_BYTES];
    struct attempt *attempt = context;
    struct change change;
    struct rows *rows;
    struct database_value user = database_id(attempt->user);
    struct database_value purpose = database_text(attempt->purpose);
    TRY(database_change(database, arena, &count_try, VALUES(user, purpose, database_integer(CODE_TRIES)), &change));
    TRY(write_instead(database, arena, change.affected == 1));
    TRY(database_query(database, arena, &read_hash, VALUES(user, purpose), &rows));
    size_t length = 0;
    const void *stored = rows_bytes(rows, 0, 0, &length);
    bool equal = false;
    for (size_t i = 0; i < attempt->count; i++)
        equal |= digest_equal(length == DIGEST_BYTES ? stored : nothing, attempt->hashes[i]);
    attempt->good = equal && length == DIGEST_BYTES && change.affected == 1;
    return NULL;
}

struct error *code_try(struct database *database, struct arena *arena, struct secret master, struct id user,
                       const char *purpose, const char *code, bool *good_out)
{
    struct attempt attempt = {.user = user, .purpose = purpose};
    for (const struct secret *key = &master; key != NULL && attempt.count < LIMIT_MASTER_KEYS; key = key->older)
        hash_code(arena, *key, user, purpose, code, attempt.hashes[attempt.count++]);
    *good_out = false;
    TRY(database_transaction(database, arena, count_and_compare, &attempt, NULL));
    *good_out = attempt.good;
    return NULL;
}

struct error *code_give_back(struct database *database, struct arena *arena, struct id user, const char *purpose)
{
    return database_change(database, arena, &uncount_try, VALUES(database_id(user), database_text(purpose)), NULL);
}

struct error *code_spend(struct database *database, struct arena *arena, struct id user, const char *purpose,
                         struct code_spent *code_out, bool *spent_out)
{
    struct database_value values[] = {database_id(user), database_text(purpose)};
    struct change change;
    struct rows *rows;
    size_t length = 0;
    if (code_out != NULL) {
        TRY(database_query(database, arena, &read_code, values, 2, &rows));
        *spent_out = rows->count == 1;
        if (!*spent_out)
            return NULL;
        const void *hash = rows_bytes(rows, 0, 0, &length);
        memcpy(code_out->hash, hash, length < sizeof code_out->hash ? length : sizeof code_out->hash);
        code_out->tries = rows_integer(rows, 0, 1);
        code_out->expires_at = rows_time_milliseconds(rows, 0, 2);
    }
    TRY(database_change(database, arena, &remove_code, values, 2, &change));
    *spent_out = change.affected == 1;
    return NULL;
}

struct error *code_restore(struct database *database, struct arena *arena, struct id user, const char *purpose,
                           const struct code_spent *code)
{
    return database_change(database, arena, &put_code_back,
                           VALUES(database_id(user), database_text(purpose),
                                  database_bytes(code->hash, sizeof code->hash),
                                  database_integer(code->tries > 0 ? code->tries - 1 : 0),
                                  database_time(arena, code->expires_at)),
                           NULL);
}

struct error *code_void(struct database *database, struct arena *arena, struct id user, const char *purpose)
{
    return database_change(database, arena, &remove_code, VALUES(database_id(user), database_text(purpose)), NULL);
}

struct error *code_mail_allowed(struct database *database, struct arena *arena, struct id user, const char *purpose,
                                bool *allowed_out)
{
    struct change change;
    TRY(database_change(database, arena, &make_allowance, VALUES(database_id(user), database_text(purpose)), &change));
    TRY(database_change(database, arena, &count_mail,
                        VALUES(database_id(user), database_text(purpose), database_integer(CODE_MAILS_A_DAY)), &change));
    *allowed_out = change.affected == 1;
    return NULL;
}

struct error *code_purge(struct database *database, struct arena *arena, unsigned limit)
{
    TRY(database_change(database, arena, &purge_codes, VALUES(database_integer(limit)), NULL));
    return database_change(database, arena, &purge_allowances, VALUES(database_integer(limit)), NULL);
}
