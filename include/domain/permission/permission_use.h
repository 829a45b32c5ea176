/* SPDX-License-Identifier: MIT */
/*
 * When people used what they may do (docs/permissions.md, "Permissions that nobody uses").
 *
 * What is stored is what endpoints asked for: for each person and concrete permission the last day on which a request
 * of the person needed it and was let in. What a person holds may be a pattern. A pattern was used on the last of the
 * days on which something was needed that it grants. So a pattern that was not used could have been taken away without
 * any difference.
 *
 * Days are counted from 1970-01-01 and are those of UTC.
 */
#ifndef GATEHOUSE_DOMAIN_PERMISSION_PERMISSION_USE_H
#define GATEHOUSE_DOMAIN_PERMISSION_PERMISSION_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* How long a permission has to be without use until it counts as not used, where nobody says another number. */
#define PERMISSION_USE_DAYS 90

/* How long rows are kept, and the longest time that may be asked about. */
#define PERMISSION_USE_DAYS_MAX 365

/* The day of a permission that was never used. */
#define PERMISSION_USE_NEVER (-1)

/* One permission that an endpoint asked for, and the last day on which it let the user in. */
struct permission_use {
    struct id user;
    const char *permission; /* concrete */
    int64_t day;
};

struct permission_uses {
    struct permission_use *items;
    size_t count;
};

/* Today, by this machine's clock. */
int64_t permission_use_today(void);

/* The first day of a period of `days` days (at least 1) whose last day is today. */
int64_t permission_use_first_day(int64_t days);

/* The most uses that one call of permission_use_add() takes. */
#define PERMISSION_USE_BATCH 64

/*
 * Adds uses, at most PERMISSION_USE_BATCH, with one statement. An older day never replaces a newer one, so uses may be
 * added again, late, in any order and by several hosts at once. Users who do not exist any more, or are erased,
 * are left out.
 */
struct error *permission_use_add(struct database *database, struct arena *arena, const struct permission_uses *uses);

/*
 * The uses of one user on `first_day` or later, by permission. Their number is bounded by the number of permissions
 * that endpoints ask for. Bound by the user alone: the caller has found the user in an organisation that they may see.
 * So far for tests.
 */
struct error *permission_use_of_user(struct database *database, struct arena *arena, struct id user, int64_t first_day,
                                     struct permission_uses *uses_out);

/* The same of all users behind `after` and up to `last` by id: for the operator's commands that go over everyone. */
struct error *permission_use_of_users(struct database *database, struct arena *arena, struct id after, struct id last,
                                      int64_t first_day, struct permission_uses *uses_out);

/*
 * The last day on which `user` used `held`, a pattern: the newest of the user's uses that it grants.
 * PERMISSION_USE_NEVER: none of them, or `held` is malformed.
 */
int64_t permission_use_last_day(const struct permission_uses *uses, struct id user, const char *held);

/* The first moment of the day in RFC 3339, in the arena: "2026-11-23T00:00:00.000Z"; NULL for PERMISSION_USE_NEVER. */
const char *permission_use_day_text(struct arena *arena, int64_t day);

/*
 * The day on which counting began: that of the migration. What was not used since then may have been used before. 0:
 * nobody knows.
 */
struct error *permission_use_began(struct database *database, struct arena *arena, int64_t *day_out);

/* Deletes all that is stored of a user, for who erases a person; part of a transaction. */
struct error *permission_use_forget(struct database *database, struct arena *arena, struct id user);

/* Deletes at most `limit` rows that are older than PERMISSION_USE_DAYS_MAX; *count_out is how many. */
struct error *permission_use_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
