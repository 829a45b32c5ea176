/* SPDX-License-Identifier: MIT */
/*
 * The change log: it tells processes that something they keep from the database or from files (keys, secrets, settings,
 * entries of the service cache) is stale. Whoever makes something stale appends to the log in the same transaction.
 * Every request reads the current version; when it is newer than the last version that the process has followed, the
 * process reads the log (service/runtime/change_follower.h).
 *
 * Versions count up by one in the order of the commits: the one row of change_version is locked from
 * change_log_append() to the end of the transaction, so append last.
 */
#ifndef GATEHOUSE_DOMAIN_CHANGE_LOG_H
#define GATEHOUSE_DOMAIN_CHANGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct error;

enum change_log_kind {
    CHANGE_LOG_CACHE,    /* entries of the service cache; payload {"keys":[…],"prefixes":[…],"flush":false} */
    CHANGE_LOG_SECRETS,  /* secrets must be read again; payload {} */
    CHANGE_LOG_SETTINGS, /* the settings document; the payload identifies the state of its rows */
    CHANGE_LOG_KIND_COUNT,
    CHANGE_LOG_UNKNOWN = CHANGE_LOG_KIND_COUNT /* made by a newer program: everything may be stale */
};

struct change_log_entry {
    int64_t version;
    enum change_log_kind kind;
    const char *payload; /* JSON */
};

struct change_log_entries {
    struct change_log_entry *items; /* in the order of their versions */
    size_t count;
    bool whole; /* false: the log is not complete, so everything may be stale; items are then empty */
};

/*
 * Takes the lock of change_log_append() before the rest of a transaction that must see what earlier ones of its kind
 * have done. Part of the open transaction.
 */
struct error *change_log_lock(struct database *database, struct arena *arena);

/* Appends to the log; part of the open transaction. *version_out (may be NULL) is the new version. */
struct error *change_log_append(struct database *database, struct arena *arena, enum change_log_kind kind,
                                const char *payload, int64_t *version_out);

/* The version of the last change; 0 when the row is missing. One round trip. */
struct error *change_log_current(struct database *database, struct arena *arena, int64_t *version_out);

/*
 * What was appended after version `after`, up to and with version `last`. Not whole where rows are missing (purged, or
 * `after` is of another database's counting) or there are more than CHANGE_LOG_LIST_MAX.
 */
#define CHANGE_LOG_LIST_MAX 1000
struct error *change_log_list(struct database *database, struct arena *arena, int64_t after, int64_t last,
                              struct change_log_entries *entries_out);

/*
 * Removes up to `limit` rows older than `days`; *count_out is their number. A process that missed them discards all
 * that it keeps.
 */
struct error *change_log_purge(struct database *database, struct arena *arena, unsigned days, unsigned limit,
                               uint64_t *count_out);

const char *change_log_kind_text(enum change_log_kind kind);

#endif
