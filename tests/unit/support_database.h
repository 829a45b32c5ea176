/* SPDX-License-Identifier: MIT */
/*
 * A private MariaDB for unit tests: started in a temporary directory at the first use, reachable through a
 * unix socket only, ended with the test program. Where mariadbd is not installed the program fails.
 *
 *     static void finds_a_user(void **state)
 *     {
 *         struct database *database = database_fixture_new();
 *         ...
 *         database_free(&database);
 *     }
 *
 * The database "gatehouse" has gone through migrate(). Call database_fixture_clear() first in a test that
 * counts rows.
 */
#ifndef GATEHOUSE_TESTS_SUPPORT_DATABASE_H
#define GATEHOUSE_TESTS_SUPPORT_DATABASE_H

#include "store/database/database.h"

/* How to reach the migrated database, with every right; the texts live as long as the program. */
struct database_options database_fixture_options(void);

/* A new handle on it. The caller frees it. */
struct database *database_fixture_new(void);

/* The same with the workers' account, which has the rights of store/database/grants.def alone. */
struct database *database_fixture_worker(void);

/* Empties every table but schema_migration, role, role_permission, change_version and code_decoy. */
void database_fixture_clear(void);

/*
 * Drops and creates an empty database that is not migrated, and gives the options for it. `name` must be
 * static.
 */
struct database_options database_fixture_empty(const char *name);

/* Ends the server with SIGKILL, as a crash would. */
void database_fixture_kill(void);

/*
 * Starts it again on the same data and waits until it answers. `more` are arguments for mariadbd, ended by
 * NULL; NULL for none, and no networking. They must live as long as the program.
 */
void database_fixture_restart(const char *const *more);

/* The server's process, for SIGSTOP and SIGCONT. */
int database_fixture_pid(void);

/* The directory of the sources' sql files. */
const char *database_fixture_sql(void);

#endif
