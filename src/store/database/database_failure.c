/* SPDX-License-Identifier: MIT */
/*
 * Says what the error numbers of MariaDB and libmariadb mean. A number of the server that is not listed counts as a
 * mistake of ours: it is better to answer "internal" and complete the table than to report a wrong statement as an
 * outage.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/database/database_int.h"

#define CLIENT_ERRORS 2000
#define CLIENT_ERRORS_END 3000

struct meaning {
    unsigned number;
    enum database_failure failure;
};

static const struct meaning meanings[] = {
    {1015, DATABASE_FAILURE_UNAVAILABLE}, /* cannot lock file */
    {1020, DATABASE_FAILURE_CONFLICT},    /* the row changed since it was read (snapshot isolation) */
    {1021, DATABASE_FAILURE_FULL},        /* disk full */
    {1037, DATABASE_FAILURE_UNAVAILABLE}, /* the server is out of memory */
    {1038, DATABASE_FAILURE_UNAVAILABLE}, /* out of sort memory */
    {1040, DATABASE_FAILURE_UNAVAILABLE}, /* too many connections */
    {1041, DATABASE_FAILURE_UNAVAILABLE}, /* out of resources */
    {1044, DATABASE_FAILURE_UNAVAILABLE}, /* access denied to the database */
    {1045, DATABASE_FAILURE_UNAVAILABLE}, /* access denied to the user */
    {1047, DATABASE_FAILURE_LOST},        /* NODE_REFUSES: nothing was done */
    {1049, DATABASE_FAILURE_UNAVAILABLE}, /* no such database */
    {1053, DATABASE_FAILURE_LOST},        /* shutdown in progress */
    {1062, DATABASE_FAILURE_DUPLICATE},
    {1114, DATABASE_FAILURE_FULL},        /* the table space is full */
    {1129, DATABASE_FAILURE_UNAVAILABLE}, /* host blocked */
    {1130, DATABASE_FAILURE_UNAVAILABLE}, /* host not allowed */
    {1135, DATABASE_FAILURE_UNAVAILABLE}, /* no thread available */
    {1152, DATABASE_FAILURE_LOST},
    {1158, DATABASE_FAILURE_LOST}, /* 1158 to 1161: the server could not read or write the connection */
    {1159, DATABASE_FAILURE_LOST},
    {1160, DATABASE_FAILURE_LOST},
    {1161, DATABASE_FAILURE_LOST},
    {1169, DATABASE_FAILURE_DUPLICATE},
    {1180, DATABASE_FAILURE_LOST}, /* error during commit: a Galera node that leaves may have sent it to the others */
    {1184, DATABASE_FAILURE_LOST},
    {1203, DATABASE_FAILURE_UNAVAILABLE}, /* the user's connections are used up */
    {1205, DATABASE_FAILURE_CONFLICT},    /* lock wait timeout */
    {1206, DATABASE_FAILURE_UNAVAILABLE}, /* the lock table is full */
    {1213, DATABASE_FAILURE_CONFLICT},    /* deadlock, or Galera's certification failed */
    {1216, DATABASE_FAILURE_REFERENCE},
    {1217, DATABASE_FAILURE_REFERENCE},
    {1226, DATABASE_FAILURE_UNAVAILABLE}, /* the user's resource limit */
    {1243, DATABASE_FAILURE_FORGOTTEN},   /* unknown statement handler */
    {1290, DATABASE_FAILURE_UNAVAILABLE}, /* read_only */
    {1317, DATABASE_FAILURE_UNAVAILABLE}, /* KILL QUERY */
    {1412, DATABASE_FAILURE_CONFLICT},    /* the table's definition changed under the transaction */
    {1451, DATABASE_FAILURE_REFERENCE},
    {1452, DATABASE_FAILURE_REFERENCE},
    {1461, DATABASE_FAILURE_UNAVAILABLE}, /* max_prepared_stmt_count */
    {1586, DATABASE_FAILURE_DUPLICATE},
    {1614, DATABASE_FAILURE_CONFLICT},
    {1615, DATABASE_FAILURE_FORGOTTEN},   /* the server gave up preparing it again */
    {1792, DATABASE_FAILURE_UNAVAILABLE}, /* a read-only transaction */
    {1836, DATABASE_FAILURE_UNAVAILABLE}, /* read-only mode */
    {1927, DATABASE_FAILURE_LOST},        /* KILL CONNECTION */
    {1969, DATABASE_FAILURE_UNAVAILABLE}, /* max_statement_time */
    {2001, DATABASE_FAILURE_UNAVAILABLE},
    {2002, DATABASE_FAILURE_UNAVAILABLE}, /* no server at the socket */
    {2003, DATABASE_FAILURE_UNAVAILABLE},
    {2005, DATABASE_FAILURE_UNAVAILABLE}, /* unknown host */
    {2006, DATABASE_FAILURE_LOST},        /* could not be sent */
    {2007, DATABASE_FAILURE_UNAVAILABLE},
    {2012, DATABASE_FAILURE_UNAVAILABLE}, /* lost while shaking hands */
    {2013, DATABASE_FAILURE_LOST},        /* no answer */
    {2014, DATABASE_FAILURE_LOST},        /* out of step: nothing but a new connection helps */
    {2026, DATABASE_FAILURE_UNAVAILABLE}, /* TLS */
    {2027, DATABASE_FAILURE_LOST},        /* malformed packet */
    {2055, DATABASE_FAILURE_LOST},
    {2057, DATABASE_FAILURE_FORGOTTEN}, /* the result has another number of columns than when it was prepared */
};

enum database_failure database_failure_of(unsigned number, const char *message)
{
    /* Only the message has the storage engine's own number; 28 is ENOSPC. */
    if (number == 1030)
        return strstr(message, "error 28 ") != NULL ? DATABASE_FAILURE_FULL : DATABASE_FAILURE_UNAVAILABLE;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].number == number)
            return meanings[i].failure;
    /* Any other error of the client library: the connection is of no more use, and no statement is to blame. */
    return number >= CLIENT_ERRORS && number < CLIENT_ERRORS_END ? DATABASE_FAILURE_LOST : DATABASE_FAILURE_MISTAKE;
}

/*
 * "Duplicate entry '<value>' for key '<name>'": the value may hold anything, so the name is searched from the end. The
 * session asks for messages in English.
 */
void database_failure_key(const char *message, char key_out[65])
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

struct error *database_failure_error(struct arena *arena, const struct fault *fault, const char *what)
{
    enum error_code code = ERROR_DATABASE_UNAVAILABLE;
    if (fault->failure == DATABASE_FAILURE_FULL)
        code = ERROR_STORAGE_FULL;
    else if (fault->failure == DATABASE_FAILURE_MISTAKE || fault->failure == DATABASE_FAILURE_DUPLICATE ||
             fault->failure == DATABASE_FAILURE_REFERENCE)
        code = ERROR_INTERNAL;
    return error_new(arena, code, "the database, %s: error %u (%s)%s%s", what, fault->number, fault->state,
                     fault->text[0] != '\0' ? ": " : "", fault->text);
}
