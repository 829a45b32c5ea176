/* SPDX-License-Identifier: MIT */
/* Stands between the database's handle and the client library. */
#include "store/support_cut.h"

#include <sys/socket.h>

struct support_cut support_cut;

int __real_mysql_stmt_prepare(MYSQL_STMT *handle, const char *sql, unsigned long length);
int __wrap_mysql_stmt_prepare(MYSQL_STMT *handle, const char *sql, unsigned long length);
int __real_mysql_stmt_execute(MYSQL_STMT *handle);
int __wrap_mysql_stmt_execute(MYSQL_STMT *handle);
int __real_mysql_stmt_fetch(MYSQL_STMT *handle);
int __wrap_mysql_stmt_fetch(MYSQL_STMT *handle);
int __real_mysql_ping(MYSQL *mysql);
int __wrap_mysql_ping(MYSQL *mysql);
MYSQL_RES *__real_mysql_use_result(MYSQL *mysql);
MYSQL_RES *__wrap_mysql_use_result(MYSQL *mysql);

void support_cut_before(MYSQL *mysql)
{
    if (++support_cut.exchanges == support_cut.at)
        (void)shutdown(mysql_get_socket(mysql), SHUT_RDWR);
}

int __wrap_mysql_stmt_prepare(MYSQL_STMT *handle, const char *sql, unsigned long length)
{
    support_cut_before(handle->mysql);
    return __real_mysql_stmt_prepare(handle, sql, length);
}

int __wrap_mysql_stmt_execute(MYSQL_STMT *handle)
{
    support_cut_before(handle->mysql);
    return __real_mysql_stmt_execute(handle);
}

/* The rows are there already: one that cannot be fetched is another fault. */
int __wrap_mysql_stmt_fetch(MYSQL_STMT *handle)
{
    return ++support_cut.exchanges == support_cut.at ? 1 : __real_mysql_stmt_fetch(handle);
}

int __wrap_mysql_ping(MYSQL *mysql)
{
    support_cut_before(mysql);
    return __real_mysql_ping(mysql);
}

MYSQL_RES *__wrap_mysql_use_result(MYSQL *mysql)
{
    support_cut_before(mysql);
    return __real_mysql_use_result(mysql);
}
