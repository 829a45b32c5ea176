/* SPDX-License-Identifier: MIT */
/*
 * What MariaDB's and libmariadb's error numbers mean to us. A server's number that is not listed is a mistake of ours:
 * it is better to answer "internal" and mend the table than to call a wrong statement an outage.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/database/database_int.h"

#define CLIENT_ERRORS 2000
#define CLIENT_ERRORS_END 3000

struct meaning {
    unsigned number;
    enum failure failure;
};

static const struct meaning meanings[] = {
    {1015, FAILURE_UNAVAILABLE}, /* cannot lock file */
    {1020, FAILURE_CONFLICT},    /* the row changed since it was read (snapshot isolation) */
    {1021, FAILURE_FULL},        /* disk full */
    {1037, FAILURE_UNAVAILABLE}, /* the server is out of memory */
    {1038, FAILURE_UNAVAILABLE}, /* out of sort memory */
    {1040, FAILURE_UNAVAILABLE}, /* too many connections */
    {1041, FAILURE_UNAVAILABLE}, /* out of resources */
    {1044, FAILURE_UNAVAILABLE}, /* access denied to the database */
    {1045, FAILURE_UNAVAILABLE}, /* access denied to the user */
    {1047, FAILURE_UNAVAILABLE}, /* a Galera node without a quorum */
    {1049, FAILURE_UNAVAILABLE}, /* no such database */
    {1053, FAILURE_LOST},        /* shutdown in progress */
    {1062, FAILURE_DUPLICATE},
    {1114, FAILURE_FULL}, /* the table space is full */
    {1129, FAILURE_UNAVAILABLE}, /* host blocked */
    {1130, FAILURE_UNAVAILABLE}, /* host not allowed */
    {1135, FAILURE_UNAVAILABLE}, /* no thread to be had */
    {1152, FAILURE_LOST},
    {1158, FAILURE_LOST}, /* 1158 to 1161: the server could not read or write the connection */
    {1159, FAILURE_LOST},
    {1160, FAILURE_LOST},
    {1161, FAILURE_LOST},
    {1169, FAILURE_DUPLICATE},
    {1180, FAILURE_UNAVAILABLE}, /* error during commit: rolled back */
    {1184, FAILURE_LOST},
    {1203, FAILURE_UNAVAILABLE}, /* the user's connections are used up */
    {1205, FAILURE_CONFLICT},    /* lock wait timeout */
    {1206, FAILURE_UNAVAILABLE}, /* the lock table is full */
    {1213, FAILURE_CONFLICT},    /* deadlock, or Galera's certification failed */
    {1216, FAILURE_REFERENCE},
    {1217, FAILURE_REFERENCE},
    {1226, FAILURE_UNAVAILABLE}, /* the user's resource limit */
    {1243, FAILURE_FORGOTTEN},   /* unknown statement handler */
    {1290, FAILURE_UNAVAILABLE}, /* read_only */
    {1317, FAILURE_UNAVAILABLE}, /* KILL QUERY */
    {1412, FAILURE_CONFLICT},    /* the table's definition changed under the transaction */
    {1451, FAILURE_REFERENCE},
    {1452, FAILURE_REFERENCE},
    {1461, FAILURE_UNAVAILABLE}, /* max_prepared_stmt_count */
    {1586, FAILURE_DUPLICATE},
    {1614, FAILURE_CONFLICT},
    {1615, FAILURE_FORGOTTEN},   /* the server gave up preparing it again */
    {1792, FAILURE_UNAVAILABLE}, /* a read-only transaction */
    {1836, FAILURE_UNAVAILABLE}, /* read-only mode */
    {1927, FAILURE_LOST},        /* KILL CONNECTION */
    {1969, FAILURE_UNAVAILABLE}, /* max_statement_time */
    {2001, FAILURE_UNAVAILABLE},
    {2002, FAILURE_UNAVAILABLE}, /* nobody at the socket */
    {2003, FAILURE_UNAVAILABLE},
    {2005, FAILURE_UNAVAILABLE}, /* unknown host */
    {2006, FAILURE_LOST},        /* could not be sent */
    {2007, FAILURE_UNAVAILABLE},
    {2012, FAILURE_UNAVAILABLE}, /* lost while shaking hands */
    {2013, FAILURE_LOST},        /* no answer */
    {2014, FAILURE_LOST},        /* out of step: nothing but a new connection helps */
    {2026, FAILURE_UNAVAILABLE}, /* TLS */
    {2027, FAILURE_LOST},        /* malformed packet */
    {2055, FAILURE_LOST},
    {2057, FAILURE_FORGOTTEN}, /* the result has another number of columns than when it was prepared */
};

enum failure failure_of(unsigned number, const char *message)
{
    /* The storage engine's own number stands in the words only; 28 is ENOSPC. */
    if (number == 1030)
        return strstr(message, "error 28 ") != NULL ? FAILURE_FULL : FAILURE_UNAVAILABLE;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].number == number)
            return meanings[i].failure;
    /* The client library's own: whatever it is, this connection is of no more use, and no statement is to blame. */
    return number >= CLIENT_ERRORS && number < CLIENT_ERRORS_END ? FAILURE_LOST : FAILURE_MISTAKE;
}

/*
 * "Duplicate entry '<value>' for key '<name>'": the value is anything, so the name is looked for from the
 * end. The session asks for English words.
 */
void failure_key(const char *message, char key_out[65])
{
    static const char before[] = " for key '";
    key_out[0] = '\0';
    const char *found = NULL;
    for (const char *at = strstr(message, before); at != NULL; at = strstr(at + 1, before))
        found = at + sizeof before - 1;
    if (found == NULL)
        return;
    size_t length = strlen(found);
    if (length == 0 || found[length - 1] != '\'' || length - 1 > 64)
        return;
    const char *dot = memchr(found, '.', length - 1);
    if (dot != NULL) {
        length -= (size_t)(dot + 1 - found);
        found = dot + 1;
    }
    (void)snprintf(key_out, 65, "%.*s", (int)(length - 1), found);
}

struct error *fault_error(struct arena *arena, const struct fault *fault, const char *what)
{
    enum error_code code = ERROR_DATABASE_UNAVAILABLE;
    if (fault->failure == FAILURE_FULL)
        code = ERROR_STORAGE_FULL;
    else if (fault->failure == FAILURE_MISTAKE || fault->failure == FAILURE_DUPLICATE ||
             fault->failure == FAILURE_REFERENCE)
        code = ERROR_INTERNAL;
    return error_new(arena, code, "the database, %s: error %u (%s)%s%s", what, fault->number, fault->state,
                     fault->text[0] != '\0' ? ": " : "", fault->text);
}
