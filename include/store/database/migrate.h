/* SPDX-License-Identifier: MIT */
/*
 * Migrations: numbered files NNN-name.sql, applied once each, in order, by one process at a time.
 *
 * The table schema_migration keeps each file's number, name and SHA-256. A file that was changed after it was applied
 * is refused. DDL commits by itself, so a file can fail half-way: the number of its completed statements is stored, and
 * the next run goes on with the statement that failed, provided that the file is unchanged.
 */
#ifndef GATEHOUSE_STORE_DATABASE_MIGRATE_H
#define GATEHOUSE_STORE_DATABASE_MIGRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/secret.h"

struct arena;
struct database;
struct error;
struct row_lock;

/*
 * Applies the files in `directory` that the selected database does not have. Waits up to a minute for another process
 * that migrates. report(context, file name) is called after each applied file; it may be NULL. Use a handle whose
 * query_timeout_seconds is 0: DDL on large tables takes long.
 *
 * INTERNAL, with a message for the operator that names file, line and statement: a directory that cannot be read or
 * holds no migration, a file name out of order, a changed file, a database newer than the files, a failing statement.
 */
struct error *migrate(struct database *database, struct arena *arena, const char *directory,
                      void (*report)(void *context, const char *file_name), void *context);

/* How many files there are in `directory`. */
struct error *migrate_count(struct arena *arena, const char *directory, unsigned *count_out);

/*
 * Whether at least `count` migrations are completely applied, in one round trip; false where the database has no table
 * of them.
 */
struct error *migrate_applied(struct database *database, struct arena *arena, unsigned count, bool *applied_out);

/* The number of files in `directory` that are not (completely) applied yet; all of them where there is no table yet. */
struct error *migrate_pending(struct database *database, struct arena *arena, const char *directory,
                              size_t *pending_out);

/* How long the lock of a migration lasts when it is not renewed (store/database/row_lock.h). */
#define MIGRATE_LOCK_SECONDS 120

/*
 * Prevents migrations until row_lock_release(), with the lock that migrate() takes. Waits up to a minute; then INTERNAL
 * with a sentence for the operator. Keep the handle's connection open, and call migrate_lock_renew() at least each
 * minute, with any handle: INTERNAL when another process has taken the lock.
 */
struct error *migrate_lock(struct database *database, struct arena *arena, struct row_lock *lock_out);
struct error *migrate_lock_renew(struct database *database, struct arena *arena, const struct row_lock *lock);

/* The file name of the newest migration that the database has, "" for none. */
struct error *migrate_newest(struct database *database, struct arena *arena, const char **name_out);

/* Creates the database `name` where it is missing, in utf8mb4. The handle's options name no database. */
struct error *migrate_create_database(struct database *database, struct arena *arena, const char *name);

/* The rights of an account on one table, as GRANT writes them: "SELECT, UPDATE (version)". */
struct grant {
    const char *table;
    const char *rights;
};

/*
 * The rights that the workers' account needs, and no others (store/database/grants.def, made from the statements of the
 * code).
 */
extern const struct grant migrate_worker_grants[];
extern const size_t migrate_worker_grant_count;

/*
 * Creates `user`@`host` where it is missing. `host` is "localhost" for the unix socket or a pattern such as "%".
 * Without a password a new user is known by the unix socket (the system user of the same name); with one, an existing
 * user's password is set to it. Not for the user that the handle itself connects as.
 */
struct error *migrate_account(struct database *database, struct arena *arena, const char *user, const char *host,
                              struct secret password);

/*
 * Gives `user`@`host` the rights `grants` in the database `name`. It revokes all rights on the whole database that the
 * account had, and those on these tables that change rows or the table; rights on the whole server stay.
 */
struct error *migrate_grant(struct database *database, struct arena *arena, const char *name, const char *user,
                            const char *host, const struct grant *grants, size_t count);

/* The same as text, one GRANT statement a line, for an administrator who runs them by hand. */
struct error *migrate_grant_text(struct arena *arena, const char *name, const char *user, const char *host,
                                 const struct grant *grants, size_t count, const char **text_out);

/*
 * The number of rights to change rows or tables that the connected account has in the selected database, or on the
 * whole server, beyond `grants`. It should be 0.
 */
struct error *migrate_excess(struct database *database, struct arena *arena, const struct grant *grants, size_t count,
                             size_t *excess_out);

#endif
