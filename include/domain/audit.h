/* SPDX-License-Identifier: MIT */
/* The audit trail: who did what to what. Rows are only added; only the operator deletes old ones. */
#ifndef GATEHOUSE_DOMAIN_AUDIT_H
#define GATEHOUSE_DOMAIN_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

/* The width of a target's id. */
#define AUDIT_TARGET_CHARACTERS 64

/*
 * Texts may be NULL but for action and outcome; ids of zeros are stored as NULL. Longer texts than the
 * columns are cut.
 */
struct audit_entry {
    const char *action; /* dotted: "user.login" */
    struct id organisation_id;
    struct id user_id;
    const char *target_type;
    const char *target_id;
    const char *client_address;
    const char *request_id;
    const char *outcome; /* "success" or "failure" */
    const char *details; /* a JSON object, NULL is {}; over 4096 characters it becomes {"truncated":true} */
};

/* Adds a row; alone or as part of a transaction. */
struct error *audit_insert(struct database *database, struct arena *arena, const struct audit_entry *entry);

/* A row as it is read back. */
struct audit_record {
    struct id id;
    const char *at; /* RFC 3339 */
    struct audit_entry entry;
};

/* Which rows to list; texts NULL and ids of zeros ask for all. */
struct audit_filter {
    struct id organisation_id;
    struct id user_id;
    const char *action;
    const char *outcome;
    const char *target_id;
    const char *request_id;
    int64_t since;    /* milliseconds since 1970, included; INT64_MIN: from the start */
    int64_t until;    /* excluded; INT64_MAX: no end */
    struct id before; /* the cursor: the last id of the page before */
    unsigned skip;    /* so many rows are left out first; the server reads them, which takes time */
    unsigned limit;   /* 1 to LIMIT_AUDIT_PAGE */
};

struct audit_page {
    struct audit_record *items;
    size_t count;
    bool more;
};

/* Newest first, by id. Across organisations: only for callers who hold sys:audit:a. */
struct error *audit_list(struct database *database, struct arena *arena, const struct audit_filter *filter,
                         struct audit_page *page_out);

/* Deletes rows of `before` (milliseconds since 1970) or older, the oldest first, `limit` at most. */
struct error *audit_purge(struct database *database, struct arena *arena, int64_t before, unsigned limit,
                          uint64_t *count_out);

/* How many there are. */
struct error *audit_count(struct database *database, struct arena *arena, int64_t before, int64_t *count_out);

#endif
