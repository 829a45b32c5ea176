/* SPDX-License-Identifier: MIT */
/* Refuses statements in place of the server. */
#include "support_refusal.h"

#include <mysql.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"
#include "store/database/database.h"

#define NUMBER 1105 /* ER_UNKNOWN_ERROR */
#define LOST 2013   /* CR_SERVER_LOST */
#define STATE "HY000"
#define MESSAGE "refused by the test"
#define COMMIT "COMMIT"

static struct {
    unsigned nth;
    unsigned count;
    const void *handle; /* whose last statement was refused */
    bool commits;       /* COMMITs alone are counted, and their answers lost */
    void (*meet)(void *context);
    void *context;
    bool is_meeting;
} refusal;

int __real_mysql_stmt_execute(MYSQL_STMT *statement);
int __wrap_mysql_stmt_execute(MYSQL_STMT *statement);
unsigned __real_mysql_stmt_errno(MYSQL_STMT *statement);
unsigned __wrap_mysql_stmt_errno(MYSQL_STMT *statement);
const char *__real_mysql_stmt_error(MYSQL_STMT *statement);
const char *__wrap_mysql_stmt_error(MYSQL_STMT *statement);
const char *__real_mysql_stmt_sqlstate(MYSQL_STMT *statement);
const char *__wrap_mysql_stmt_sqlstate(MYSQL_STMT *statement);
int __real_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length);
int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length);
unsigned __real_mysql_errno(MYSQL *mysql);
unsigned __wrap_mysql_errno(MYSQL *mysql);
const char *__real_mysql_error(MYSQL *mysql);
const char *__wrap_mysql_error(MYSQL *mysql);
const char *__real_mysql_sqlstate(MYSQL *mysql);
const char *__wrap_mysql_sqlstate(MYSQL *mysql);

static unsigned number(void)
{
    return refusal.commits ? LOST : NUMBER;
}

static bool is_met(void)
{
    return refusal.nth != 0 && refusal.count >= refusal.nth;
}

static bool refuses(const void *handle, bool counts)
{
    bool was_met = is_met();
    if (refusal.is_meeting)
        return false;
    refusal.count += counts;
    bool due = !was_met && is_met();
    refusal.handle = due && refusal.meet == NULL ? handle : NULL;
    if (due && refusal.meet != NULL) {
        refusal.is_meeting = true;
        refusal.meet(refusal.context);
        refusal.is_meeting = false;
    }
    return refusal.handle != NULL;
}

int __wrap_mysql_stmt_execute(MYSQL_STMT *statement)
{
    return refuses(statement, !refusal.commits) ? 1 : __real_mysql_stmt_execute(statement);
}

unsigned __wrap_mysql_stmt_errno(MYSQL_STMT *statement)
{
    return statement == refusal.handle ? number() : __real_mysql_stmt_errno(statement);
}

const char *__wrap_mysql_stmt_error(MYSQL_STMT *statement)
{
    return statement == refusal.handle ? MESSAGE : __real_mysql_stmt_error(statement);
}

const char *__wrap_mysql_stmt_sqlstate(MYSQL_STMT *statement)
{
    return statement == refusal.handle ? STATE : __real_mysql_stmt_sqlstate(statement);
}

int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length)
{
    bool commit = length == strlen(COMMIT) && memcmp(sql, COMMIT, length) == 0;
    bool due = refuses(mysql, !refusal.commits || commit);
    if (!due || refusal.commits) {
        int code = __real_mysql_real_query(mysql, sql, length);
        return due ? 1 : code;
    }
    return 1;
}

unsigned __wrap_mysql_errno(MYSQL *mysql)
{
    return mysql == refusal.handle ? number() : __real_mysql_errno(mysql);
}

const char *__wrap_mysql_error(MYSQL *mysql)
{
    return mysql == refusal.handle ? MESSAGE : __real_mysql_error(mysql);
}

const char *__wrap_mysql_sqlstate(MYSQL *mysql)
{
    return mysql == refusal.handle ? STATE : __real_mysql_sqlstate(mysql);
}

void refusal_begin(unsigned nth)
{
    refusal.nth = nth;
    refusal.count = 0;
    refusal.handle = NULL;
    refusal.commits = false;
    refusal.meet = NULL;
}

void refusal_lose_commit(unsigned nth)
{
    refusal_begin(nth);
    refusal.commits = true;
}

void refusal_meet(unsigned nth, void (*meet)(void *context), void *context)
{
    refusal_begin(nth);
    refusal.meet = meet;
    refusal.context = context;
}

bool refusal_end(void)
{
    bool met = is_met();
    refusal_begin(0);
    return met;
}

unsigned refusal_each(struct database *database, struct error *(*call)(struct arena *arena, void *context),
                      void *context)
{
    for (unsigned nth = 1;; nth++) {
        struct arena *arena = arena_new();
        refusal_begin(nth);
        struct error *error = call(arena, context);
        bool refused = refusal_end();
        if (!refused && error != NULL)
            fail_msg("without a refusal: %s: %s", error->message, error->detail != NULL ? error->detail : "");
        if (refused && error == NULL)
            fail_msg("statement %u was refused, and the call succeeded", nth);
        if (refused)
            assert_int_equal(error->code, ERROR_INTERNAL);
        assert_false(database_in_transaction(database));
        arena_free(&arena);
        if (!refused)
            return nth - 1;
    }
}
