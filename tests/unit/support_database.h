/* SPDX-License-Identifier: MIT */
/*
 * A private MariaDB for unit tests: started in a temporary directory at the first use, reachable through a
 * unix socket only, ended with the test program. Where mariadbd is not installed the program fails.
 *
 *     static void finds_a_user(void **state)
 *     {
 *         struct database *database = support_database_new();
 *         ...
 *         database_free(&database);
 *     }
 *
 * The database "gatehouse" has gone through migrate(). Call support_database_clear() first in a test that
 * counts rows.
 */
#ifndef GATEHOUSE_TESTS_SUPPORT_DATABASE_H
#define GATEHOUSE_TESTS_SUPPORT_DATABASE_H

#include "store/database/database.h"

/* How to reach the migrated database, with every right; the texts live as long as the program. */
struct database_options support_database_options(void);

/* A new handle on it. The caller frees it. */
struct database *support_database_new(void);

/* The same with the workers' account, which has the rights of store/database/grants.def alone. */
struct database *support_database_worker(void);

/* Empties every table but schema_migration, role, role_permission and change_version. */
void support_database_clear(void);

/*
 * Drops and creates an empty database that is not migrated, and gives the options for it. `name` must be
 * static.
 */
struct database_options support_database_empty(const char *name);

/* Ends the server with SIGKILL, as a crash would. */
void support_database_kill(void);

/*
 * Starts it again on the same data and waits until it answers. `more` are arguments for mariadbd, ended by
 * NULL; NULL for none, and no networking. They must live as long as the program.
 */
void support_database_restart(const char *const *more);

/* The server's process, for SIGSTOP and SIGCONT. */
int support_database_pid(void);

/* The directory of the sources' sql files. */
const char *support_database_sql(void);

#endif
