/* SPDX-License-Identifier: MIT */
/* Issues and redeems one-time codes, with statements that take the same work whether or not there is a code. */
#include "domain/account/one_time_code.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/address.h"
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

/* Locks the decoy of a slot, and makes it where it is missing. Not INSERT IGNORE, which takes a shared lock only. */
static const struct statement lock_decoy = {
    "INSERT INTO code (user_id, purpose, code_hash, expires_at) VALUES (?, ?, ?, '9999-12-31')"
    " ON DUPLICATE KEY UPDATE user_id = user_id"};

/* One row in any case: the user's where it takes a try, else the decoy's. */
static const struct statement read_target = {
    "SELECT c.user_id, c.code_hash FROM code c WHERE c.purpose = ? AND c.user_id = SUBSTRING(CONCAT(COALESCE("
    "(SELECT k.user_id FROM code k WHERE k.user_id = ? AND k.purpose = ? AND k.tries < ? AND"
    " k.expires_at > UTC_TIMESTAMP(3)), ''), ?), 1, 16)"};

/* The modulus is more than a code has tries, so only a decoy's count ever begins again. */
static const struct statement count_try = {
    "UPDATE code SET tries = (tries + 1) MOD ? WHERE user_id = ? AND purpose = ? AND tries < ?"};

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

struct error *one_time_code_issue(struct database *database, struct arena *arena, struct secret master, struct id user,
                                  const char *purpose, int64_t seconds, struct secret *code_out)
{
    uint8_t hash[DIGEST_BYTES];
    const char *code = random_code(arena, ONE_TIME_CODE_DIGITS);
    hash_code(arena, master, user, purpose, code, hash);
    TRY(database_change(
        database, arena, &replace_code,
        VALUES(database_id(user), database_text(purpose), database_bytes(hash, sizeof hash), database_integer(seconds)),
        NULL));
    *code_out = secret_of(code);
    return NULL;
}

/* A try on its way through the transaction. */
struct trial {
    struct id user; /* the decoy's id: nobody's */
    struct id decoy;
    const char *purpose;
    uint8_t hashes[LIMIT_MASTER_KEYS][DIGEST_BYTES]; /* under each key of the master secret */
    size_t count;
    bool good;
};

/* The decoy that a name has: an id that no user has, one of 256. It depends on the name alone. */
static struct id decoy_of(struct arena *arena, const char *username)
{
    uint8_t hash[DIGEST_BYTES];
    const char *key = address_key(arena, username);
    digest_sha256(key, strlen(key), hash);
    return (struct id){.bytes = {[ID_BYTES - 1] = hash[0]}};
}

/* The hash that a right code has, under each key of the master secret. */
static void hash_tried(struct arena *arena, struct secret master, const struct one_time_code_attempt *attempt,
                       struct trial *trial)
{
    for (const struct secret *key = &master; key != NULL && trial->count < LIMIT_MASTER_KEYS; key = key->older)
        hash_code(arena, *key, attempt->user, attempt->purpose, attempt->code, trial->hashes[trial->count++]);
}

/* Whether the first row has such a hash in that column. */
static bool is_right(const struct trial *trial, const struct rows *rows, size_t column)
{
    static const uint8_t nothing[DIGEST_BYTES];
    size_t length = 0;
    const void *stored = rows_bytes(rows, 0, column, &length);
    bool equal = false;
    for (size_t i = 0; i < trial->count; i++)
        equal |= digest_equal(length == DIGEST_BYTES ? stored : nothing, trial->hashes[i]);
    return equal && length == DIGEST_BYTES;
}

/*
 * The time of the answer must not tell whether there is a code. So each try is one transaction of the same statements.
 * First it locks the decoy of the name. So tries at one name wait for one another, whether or not a user has the name.
 * Then it reads one row and counts in it: the code's, or the decoy's where no code takes the try. The lock of the decoy
 * is there already, so neither waits.
 */
static struct error *count_and_compare(struct database *database, struct arena *arena, void *context)
{
    static const uint8_t nothing[DIGEST_BYTES];
    struct trial *trial = context;
    struct change change;
    struct rows *rows;
    struct database_value purpose = database_text(trial->purpose);
    struct database_value decoy = database_id(trial->decoy);
    TRY(database_change(database, arena, &lock_decoy, VALUES(decoy, purpose, database_bytes(nothing, sizeof nothing)),
                        NULL));
    TRY(database_query(database, arena, &read_target,
                       VALUES(purpose, database_id(trial->user), purpose, database_integer(ONE_TIME_CODE_TRIES), decoy),
                       &rows));
    bool own = rows->count == 1 && !id_equal(rows_id(rows, 0, 0), trial->decoy);
    struct id target = own ? trial->user : trial->decoy;
    TRY(database_change(database, arena, &count_try,
                        VALUES(database_integer(ONE_TIME_CODE_TRIES + 1), database_id(target), purpose,
                               database_integer(own ? ONE_TIME_CODE_TRIES : ONE_TIME_CODE_TRIES + 1)),
                        &change));
    trial->good = is_right(trial, rows, 1) && own && change.affected == 1;
    return NULL;
}

struct error *one_time_code_try(struct database *database, struct arena *arena, struct secret master,
                                const struct one_time_code_attempt *attempt, bool *good_out)
{
    struct id decoy = decoy_of(arena, attempt->username);
    struct trial trial = {
        .user = id_is_none(attempt->user) ? decoy : attempt->user, .decoy = decoy, .purpose = attempt->purpose};
    hash_tried(arena, master, attempt, &trial);
    *good_out = false;
    TRY(database_transaction(database, arena, count_and_compare, &trial, NULL));
    *good_out = trial.good;
    return NULL;
}

struct error *one_time_code_give_back(struct database *database, struct arena *arena, struct id user,
                                      const char *purpose)
{
    return database_change(database, arena, &uncount_try, VALUES(database_id(user), database_text(purpose)), NULL);
}

/* Another code may have been issued since this one was tried, and mailed to another address. It stays. */
struct error *one_time_code_spend(struct database *database, struct arena *arena, struct secret master,
                                  const struct one_time_code_attempt *attempt, struct one_time_code_spent *code_out,
                                  bool *spent_out)
{
    struct database_value values[] = {database_id(attempt->user), database_text(attempt->purpose)};
    struct trial trial = {.user = attempt->user, .purpose = attempt->purpose};
    struct change change;
    struct rows *rows;
    size_t length = 0;
    hash_tried(arena, master, attempt, &trial);
    TRY(database_query(database, arena, &read_code, values, 2, &rows));
    *spent_out = rows->count == 1 && is_right(&trial, rows, 0);
    if (!*spent_out)
        return NULL;
    if (code_out != NULL) {
        const void *hash = rows_bytes(rows, 0, 0, &length);
        memcpy(code_out->hash, hash, length < sizeof code_out->hash ? length : sizeof code_out->hash);
        code_out->tries = rows_integer(rows, 0, 1);
        code_out->expires_at = rows_time_milliseconds(rows, 0, 2);
    }
    TRY(database_change(database, arena, &remove_code, values, 2, &change));
    *spent_out = change.affected == 1;
    return NULL;
}

struct error *one_time_code_restore(struct database *database, struct arena *arena, struct id user, const char *purpose,
                                    const struct one_time_code_spent *code)
{
    return database_change(
        database, arena, &put_code_back,
        VALUES(database_id(user), database_text(purpose), database_bytes(code->hash, sizeof code->hash),
               database_integer(code->tries > 0 ? code->tries - 1 : 0), database_time(arena, code->expires_at)),
        NULL);
}

struct error *one_time_code_void(struct database *database, struct arena *arena, struct id user, const char *purpose)
{
    return database_change(database, arena, &remove_code, VALUES(database_id(user), database_text(purpose)), NULL);
}

struct error *one_time_code_mail_allowed(struct database *database, struct arena *arena, struct id user,
                                         const char *purpose, bool *allowed_out)
{
    struct change change;
    TRY(database_change(database, arena, &make_allowance, VALUES(database_id(user), database_text(purpose)), &change));
    TRY(database_change(database, arena, &count_mail,
                        VALUES(database_id(user), database_text(purpose), database_integer(ONE_TIME_CODE_MAILS_A_DAY)),
                        &change));
    *allowed_out = change.affected == 1;
    return NULL;
}

struct error *one_time_code_purge(struct database *database, struct arena *arena, unsigned limit)
{
    TRY(database_change(database, arena, &purge_codes, VALUES(database_integer(limit)), NULL));
    return database_change(database, arena, &purge_allowances, VALUES(database_integer(limit)), NULL);
}

static const struct statement forget_codes = {"DELETE FROM code WHERE user_id = ?"};
static const struct statement forget_allowances = {"DELETE FROM mail_allowance WHERE user_id = ?"};

struct error *one_time_code_forget(struct database *database, struct arena *arena, struct id user)
{
    TRY(database_change(database, arena, &forget_codes, VALUES(database_id(user)), NULL));
    return database_change(database, arena, &forget_allowances, VALUES(database_id(user)), NULL);
}
