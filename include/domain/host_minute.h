/* SPDX-License-Identifier: MIT */
/* Keeps what each host did in each minute, for two days: a row for each host and minute. */
#ifndef GATEHOUSE_DOMAIN_HOST_MINUTE_H
#define GATEHOUSE_DOMAIN_HOST_MINUTE_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct error;

#define HOST_MINUTE_KEEP_HOURS 48

/* The column of a duration of a minute without requests. */
#define HOST_MINUTE_NONE INT64_C(-1)

struct host_minute {
    const char *host;   /* at most 64 bytes */
    int64_t time;       /* the beginning of the minute, in milliseconds; not read by the list */
    const char *minute; /* the same as RFC 3339; not read by insert */
    int64_t requests;
    int64_t errors;
    int64_t p50; /* microseconds, or HOST_MINUTE_NONE */
    int64_t p99;
    int64_t logins;
    int64_t login_failures;
    int64_t uploads;
    int64_t upload_bytes;
    int64_t outbox_depth;
    int64_t free_bytes;
};

/* Adds a row. Nothing happens when the host's minute has one: of several job runners the first is right. */
struct error *host_minute_insert(struct database *database, struct arena *arena, const struct host_minute *minute);

struct host_minutes {
    struct host_minute *items;
    size_t count;
};

/*
 * Lists minutes from `since` (milliseconds) on, the oldest first, those of one minute by host. At most `limit`; where
 * there are more, the list ends with a whole minute, unless that one alone has more.
 */
struct error *host_minute_list(struct database *database, struct arena *arena, int64_t since, unsigned limit,
                               struct host_minutes *minutes_out);

/* Deletes at most `limit` rows that are older than HOST_MINUTE_KEEP_HOURS; *count_out is how many. */
struct error *host_minute_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
